//! Events to bytes and back: no I/O, no `await`.
//!
//! | | one event | one frame | a stream of them |
//! |---|---|---|---|
//! | events | [`Event::encode`](crate::Event::encode), [`Event::decode`](crate::Event::decode) | [`Event::encode_frame`](crate::Event::encode_frame) | [`EventReader`], `EventCodec` |
//! | events, read where they lie | [`EventView`] | | |
//! | payloads, unread | | [`put_frame`] | [`FrameReader`], `FrameCodec` |
//!
//! `EventCodec` and `FrameCodec` are for tokio-util's `Framed` (feature `tokio`).
//!
//! # What the decoder decides
//!
//! | rule | situation | outcome |
//! |---|---|---|
//! | D1 | an empty frame | [`DecodeError::Empty`] |
//! | D2, D19-D21 | bytes that are not well-formed protobuf | [`DecodeError::Malformed`] |
//! | D3 | two arms of this version | [`DecodeError::TwoEvents`] |
//! | D4, D11-D14 | something twice | merged as protobuf merges |
//! | D5, D16-D18 | unknown fields, known fields with another wire type | skipped |
//! | D6 | only arms of a later version | dropped, with a notice |
//! | D7 | no arm, nor one of a later version | [`DecodeError::NoEvent`] |
//! | D8, D9 | no base, or a base of another type | [`DecodeError::Convert`] |
//! | D15 | a part or source in two arms | [`DecodeError::TwoArms`] |
//! | D24 | an integer that a double cannot count | [`DecodeError::Convert`] |
//! | D25 | a string that is not UTF-8 | [`DecodeError::Utf8`] |
//! | D10, D22, D23, D26-D28 | everything else | handed on, not judged |
//!
//! Differs: the reference decoder replaces invalid UTF-8, takes numbers that are not finite, and
//! cuts lengths to 32 bits. Here each of them is an error, since it would change what was said.

mod direct;
mod error;
#[cfg(feature = "tokio")]
mod event;
mod frame;
mod limits;
mod options;
mod payload;
mod reader;
mod scan;
mod schema;
mod view;

pub use self::error::{DecodeError, EncodeError, FrameError, StreamError, WriteError};
#[cfg(feature = "tokio")]
pub use self::event::{EventCodec, FrameCodec};
pub use self::frame::{Frame, FrameReader, HEADER_LEN, put_frame};
pub use self::limits::Limits;
pub use self::options::Options;
pub use self::payload::{Decoded, decode_payload, encode_frame, encode_payload};
pub use self::reader::EventReader;
pub use self::view::{EventView, Member, Members};

/// The media type of a stream of frames.
pub const MEDIA_TYPE: &str = "application/vnd.ag-ui.event+proto";
