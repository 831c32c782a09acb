//! What the codec refuses, and what it did not get.

use std::error::Error;
use std::{fmt, io};

use crate::convert::ConvertError;
use crate::fidelity::Difference;
use crate::model::{EventType, Path};

/// Why an event was not encoded. The buffer is as it was.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// The protocol refuses the event, or the wire cannot say what it holds.
    #[error(transparent)]
    Convert(#[from] ConvertError),
    /// The event nests too deep.
    #[error("{event_type}: {path}: nests the event deeper than {max} levels")]
    TooDeep {
        /// The type of the event.
        event_type: EventType,
        /// The open value that goes too deep.
        path: Path,
        /// The limit.
        max: usize,
    },
    /// The event would not arrive with all its meaning, and loss is refused.
    #[error("{event_type}: {}", listed(losses))]
    Lossy {
        /// The type of the event.
        event_type: EventType,
        /// What would be lost; at least one.
        losses: Vec<Difference>,
    },
    /// The frame would be too long.
    #[error("{event_type}: a frame of {len} bytes is over the limit of {max}")]
    TooLarge {
        /// The type of the event.
        event_type: EventType,
        /// Bytes of the frame, header included.
        len: usize,
        /// The limit.
        max: usize,
    },
}

fn listed(losses: &[Difference]) -> String {
    let losses: Vec<_> = losses.iter().map(Difference::to_string).collect();
    losses.join("; ")
}

/// Why a payload is no event. The numbers D1 to D28 are those of the crate's decoder rules.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// D1: the payload is empty.
    #[error("an empty frame names no event")]
    Empty,
    /// D2, D19 to D21: the bytes are not well-formed protobuf.
    #[error("malformed at byte {at} of the payload: {reason}")]
    Malformed {
        /// Where in the payload.
        at: usize,
        /// What is wrong there.
        reason: String,
    },
    /// D3: the envelope names two events.
    #[error("the envelope names two events, in the arms {first} and {second}")]
    TwoEvents {
        /// The arm that came first.
        first: u32,
        /// Another one.
        second: u32,
    },
    /// D7: the envelope names no event, nor one of a later version.
    #[error("the envelope names no event")]
    NoEvent,
    /// D15: a part or a source in two arms.
    #[error("{event_type}: {path}: in two arms at once")]
    TwoArms {
        /// The type of the event.
        event_type: EventType,
        /// The part or source.
        path: Path,
    },
    /// D25: a string that is not UTF-8.
    #[error("{event_type}: {path}: a string that is not UTF-8")]
    Utf8 {
        /// The type of the event.
        event_type: EventType,
        /// The string, or the open value that holds it.
        path: Path,
    },
    /// A number that is not finite.
    #[error("{event_type}: {path}: a number that is not finite, which JSON cannot say")]
    NotFinite {
        /// The type of the event.
        event_type: EventType,
        /// The open value that holds it.
        path: Path,
    },
    /// The event nests too deep.
    #[error("{event_type}: {path}: nests the event deeper than {max} levels")]
    TooDeep {
        /// The type of the event.
        event_type: EventType,
        /// The open value that goes too deep.
        path: Path,
        /// The limit.
        max: usize,
    },
    /// D8, D9, D24, and content in two forms: no event could hold what the bytes say.
    #[error(transparent)]
    Convert(#[from] ConvertError),
    /// The schema types refuse what the scan let through; a fault of this crate.
    #[error("the schema types refuse the payload")]
    Schema(#[from] prost::DecodeError),
}

/// Why the next frame cannot be had. Nothing after it can, either.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// The header announces more than is allowed. Judged before the payload is waited for.
    ///
    /// Where text comes instead of frames, its first bytes are taken for a length: `Display` shows
    /// them.
    #[error("a frame of {len} bytes is over the limit of {max}{}", text_of_header(*.len))]
    TooLarge {
        /// Bytes of the frame, header included.
        len: u64,
        /// The limit.
        max: u64,
    },
    /// Input ended inside a frame.
    #[error("truncated: input ended after {have} bytes of a frame{}", promised(*.len))]
    Truncated {
        /// Bytes of the frame that arrived, header included.
        have: usize,
        /// Bytes of the frame, header included, if the header arrived.
        len: Option<u64>,
    },
}

/// What a header of this length says when it is read as text, if it can be.
fn text_of_header(len: u64) -> String {
    let payload_len = len.checked_sub(super::HEADER_LEN as u64);
    let header = payload_len.and_then(|len| u32::try_from(len).ok()).map(u32::to_be_bytes);
    let is_text = |byte: &u8| matches!(byte, b' '..=b'~' | b'\t' | b'\r' | b'\n');
    let text = header.filter(|header| header.iter().all(is_text));
    text.map(|text| format!(", and its header is the text \"{}\"", text.escape_ascii()))
        .unwrap_or_default()
}

fn promised(len: Option<u64>) -> String {
    len.map(|len| format!(" of {len}")).unwrap_or_default()
}

/// Why a stream of frames ended before its input did, or in the middle of a frame.
///
/// `Display` says all there is: the place and the reason. `source` goes on below the reason.
#[derive(Debug)]
#[non_exhaustive]
pub enum StreamError {
    /// A frame could not be had.
    Frame {
        /// The frame, counted from 1.
        number: u64,
        /// Where its header begins in the stream.
        offset: u64,
        /// Why.
        source: FrameError,
    },
    /// A frame is no event.
    Event {
        /// The frame, counted from 1.
        number: u64,
        /// Where its header begins in the stream.
        offset: u64,
        /// Why.
        source: DecodeError,
    },
    /// Reading failed.
    Io(io::Error),
}

impl fmt::Display for StreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Frame { number, offset, source } => {
                write!(f, "frame {number} at byte {offset}: {source}")
            }
            Self::Event { number, offset, source } => {
                write!(f, "frame {number} at byte {offset}: {source}")
            }
            Self::Io(error) => error.fmt(f),
        }
    }
}

impl Error for StreamError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Frame { source, .. } => source.source(),
            Self::Event { source, .. } => source.source(),
            Self::Io(error) => error.source(),
        }
    }
}

impl From<io::Error> for StreamError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl StreamError {
    /// Whether input ended inside a frame: the peer stopped, its bytes were fine.
    #[must_use]
    pub fn is_truncated(&self) -> bool {
        matches!(self, Self::Frame { source: FrameError::Truncated { .. }, .. })
    }
}

/// Why an event or a frame was not written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The event was not encoded.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// The payload is too long for a frame.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// Writing failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}
