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
pub(super) use self::read::safe_integer;
pub(super) use self::reshaped::{ReadBase, read_base};
use self::write::{Form, count_event};
use super::Options;
use crate::model::Event;

/// Appends the payload of an event, with a header in front if `framed`.
///
/// `None` if the event is not usual; `dst` is then untouched.
pub(super) fn encode(
    event: &Event,
    options: &Options,
    framed: bool,
    dst: &mut BytesMut,
) -> Option<()> {
    if options.refuses_loss() || options.has_exact_numbers() {
        return None;
    }
    count_event();
    layout::append_event(event, &Form::new(framed, options.limits()), dst)
}

/// Reads a payload.
///
/// `None` if the bytes are not usual; they may still be an event, and what is in `into` is not.
pub(super) fn decode(payload: &[u8], options: &Options, into: &mut Option<Event>) -> Option<()> {
    layout::read_event(payload, options.limits().max_depth(), into)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{DEFAULT_MAX_DEPTH, StepStarted, TextMessageContent, direct};

    const SAMPLES: [&str; 3] = [
        include_str!("../../../samples/chat.jsonl"),
        include_str!("../../../samples/research.jsonl"),
        include_str!("../../../samples/multimodal.sse"),
    ];

    /// The JSON of each event of the sample sessions, which hold all types.
    fn samples() -> impl Iterator<Item = &'static str> {
        let lines = SAMPLES.into_iter().flat_map(str::lines);
        lines.map(|line| line.trim_start_matches("data: ")).filter(|line| line.starts_with('{'))
    }

    /// What no other test can see: they would pass if everything went the general way.
    #[test]
    fn every_sample_event_goes_straight_in_every_direction() {
        let mut types = Vec::new();
        for json in samples() {
            // One sample holds a number that no double is, and so asks for its digits.
            let mut event = None;
            direct::read(json, DEFAULT_MAX_DEPTH, &mut event);
            let event = event.unwrap_or_else(|| {
                assert!(json.contains("1234567890123456789"), "{json}");
                Event::from_json(json).unwrap()
            });
            types.push(event.event_type());
            let options = Options::default();
            let mut payload = BytesMut::new();
            assert_eq!(encode(&event, &options, false, &mut payload), Some(()), "{json}");
            let mut decoded = None;
            assert_eq!(decode(&payload, &options, &mut decoded), Some(()), "{json}");
            assert_eq!(decoded.unwrap().event_type(), event.event_type());
        }
        types.sort();
        types.dedup();
        assert_eq!(types.len(), crate::EventType::ALL.len());
    }

    #[test]
    fn what_is_not_usual_leaves_the_buffer_as_it_was() {
        let limits = crate::codec::Limits::new().with_max_frame_len(30);
        let small = Options::from(limits);
        let mut unknown = StepStarted::new("plan");
        unknown.extra.insert("mood", "calm");
        let unusual = [
            (Event::from(unknown), Options::default()),
            (Event::from(TextMessageContent::new("m1", "x".repeat(40))), small),
            (Event::from(StepStarted::new("plan")).with_timestamp(i64::MAX), Options::default()),
            (Event::from(StepStarted::new("plan")).with_raw_event(()), Options::default()),
            (Event::from(StepStarted::new("plan")), Options::default().with_exact_numbers()),
        ];
        for (event, options) in unusual {
            for framed in [false, true] {
                let mut dst = BytesMut::from(&b"before"[..]);
                assert_eq!(encode(&event, &options, framed, &mut dst), None, "{event:?}");
                assert_eq!(dst, b"before"[..]);
            }
        }
    }

    #[test]
    fn scratch_space_grows_to_the_event_and_not_beyond_the_limit() {
        let text = "x".repeat(100_000);
        let event = Event::from(StepStarted::new("plan")).with_raw_event(text.as_str());
        let mut dst = BytesMut::new();
        assert_eq!(encode(&event, &Options::default(), true, &mut dst), Some(()));
        assert!(dst.len() > text.len());
        // To the byte: the frame as long as the limit passes, and one byte less is refused.
        for (less, appended) in [(0, Some(())), (1, None)] {
            let limits = crate::codec::Limits::new().with_max_frame_len(dst.len() - less);
            let encoded = encode(&event, &Options::from(limits), true, &mut BytesMut::new());
            assert_eq!(encoded, appended);
        }
    }
}
