//! Events straight to bytes and back, where both are as usual.
//!
//! ```text
//!             usual                            anything else
//! Event  <---- direct ---->  bytes  <---- scan, wire, convert ---->  Event
//! ```
//!
//! An event is usual if there is nothing to say about it: nothing malformed, unrecognised or left
//! out. Bytes are usual if each field stands once and in ascending order, and nothing else does:
//! what every encoder writes. Then neither the schema types nor a place for each value is needed:
//! an event is written back to front in one pass, and read front to back in one.
//!
//! Nothing is judged here. Whatever is not usual is given back as `None`, and goes the general way,
//! which knows what it is and says so. A debug build goes both ways and compares, so that every test
//! holds one against the other.
//!
//! | file | holds |
//! |---|---|
//! | `piece` | what can stand in a field, and how it is read and written there |
//! | `layout` | the objects that the model and the wire have alike, from the schema |
//! | `reshaped` | those that they have not |
//! | `read`, `write` | the bytes that are left; the bytes so far |

mod layout;
mod piece;
mod read;
mod reshaped;
mod write;

use bytes::BytesMut;

pub(super) use self::layout::read_arm;
use self::write::{Form, append, append_by_scratch};
use super::Options;
use crate::model::Event;
use crate::model::enforce::Plain;

/// Appends the payload of an event, with a header in front if `framed`.
///
/// `None` if the event is not usual; `dst` is then untouched.
pub(super) fn encode(
    event: &Event,
    options: &Options,
    framed: bool,
    dst: &mut BytesMut,
) -> Option<()> {
    if options.refuses_loss() || options.has_exact_numbers() || !Plain::is(event) {
        return None;
    }
    let form = Form::new(framed, options.limits());
    match layout::size(event) {
        Some(len) => append(&form, len, dst, |into, end| layout::write_event(event, into, end)),
        None => append_by_scratch(&form, dst, event),
    }
}

/// Reads a payload.
///
/// `None` if the bytes are not usual; they may still be an event, and what is in `into` is not.
pub(super) fn decode(payload: &[u8], options: &Options, into: &mut Option<Event>) -> Option<()> {
    layout::read_event(payload, options.limits().max_depth(), into)
}
