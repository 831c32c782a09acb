//! Events as server-sent events: the text binding, both ways. No I/O, no `await`.
//!
//! ```text
//! data: {"type":"TEXT_MESSAGE_START","messageId":"m1"}\n
//! \n
//! ```
//!
//! | | one event | a stream of them |
//! |---|---|---|
//! | events | [`Event::encode_sse`](crate::Event::encode_sse) | [`SseReader`], `SseCodec` |
//! | data, unread | [`put_data`] | [`DataReader`] |
//!
//! `SseCodec` is for tokio-util's `Framed` (feature `tokio`). The readers and writers have the
//! shape of those in [`codec`](crate::codec), take the same [`Limits`](crate::codec::Limits), and
//! give the same event the same verdict.
//!
//! # What the reader takes
//!
//! | situation | outcome |
//! |---|---|
//! | lines that end in LF, CRLF or CR, mixed, cut anywhere | read alike |
//! | a byte order mark at the beginning | skipped |
//! | comments, the fields `event`, `id` and `retry`, unknown fields | skipped, and not kept |
//! | one space behind `data:` | not part of the data |
//! | several `data` lines | joined with LF |
//! | an empty line without data before it | nothing |
//! | data that is empty or blank | no JSON, which is an error |
//! | data that is not UTF-8 | an error: nothing is replaced |
//! | more data than the limit on frames, or a skipped line longer than that | [`DataError::TooLarge`], without waiting for its end |
//! | input that ends behind data and before its empty line | [`DataError::Truncated`] |
//!
//! Rule: the HTML standard, 9.2.6 "Interpreting an event stream"; specification 1.1,
//! basic/transports/http-sse.
//!
//! Differs: the reference client splits at two LFs alone, so that CRLF fails there; replaces
//! invalid UTF-8; takes a line `data` without a colon for an unknown field; counts its limit in
//! UTF-16 units; and reads what stands before the end of input as an event, which the
//! specification calls truncated. [`SseReader::take_unterminated`] does so on request.

#[cfg(feature = "tokio")]
mod codec;
mod data;
mod error;
mod members;
mod reader;
mod stray;
mod surrogates;
mod writer;

#[cfg(feature = "tokio")]
pub use self::codec::SseCodec;
pub use self::data::{Data, DataReader, Place, put_data};
pub use self::error::{DataError, SseError, TextError};
pub use self::reader::{Reading, SseReader};
pub use self::stray::Stray;
pub use self::surrogates::{SurrogateJoiner, TornPair};
pub use self::writer::encode_event;

/// A comment that keeps an idle connection open. It is no event, and every client skips it.
pub const KEEP_ALIVE: &[u8] = b":\n\n";
