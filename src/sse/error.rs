//! What the text binding refuses, and what it did not get.

use std::error::Error;
use std::{fmt, io};

use super::TornPair;
use crate::model::ReadError;

/// Why the data of the next event cannot be had. Nothing after it can, either.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// The data of one event, or one skipped line, is longer than is allowed. Judged before its end
    /// is waited for.
    #[error("too large: an event of more than {max} bytes, which is the limit")]
    TooLarge {
        /// The limit, in bytes.
        max: usize,
    },
    /// Input ended inside an event.
    #[error("truncated: input ended after {have} bytes of an event, before its empty line")]
    Truncated {
        /// Bytes of the event that arrived: of its data, and of its last line.
        have: usize,
    },
}

/// Why data is no event.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TextError {
    /// The data is not UTF-8.
    #[error("not UTF-8 at byte {at} of the data")]
    Utf8 {
        /// Where in the data, counted from 0.
        at: usize,
    },
    /// Half of a surrogate pair came, and its other half did not follow.
    #[error(transparent)]
    TornPair(#[from] TornPair),
    /// The data is no JSON, or no event.
    #[error(transparent)]
    Read(#[from] ReadError),
}

/// Why a stream of server-sent events ended before its input did, or in the middle of an event.
///
/// As [`StreamError`](crate::codec::StreamError), of the other binding. `Display` says all there
/// is: the place and the reason. `source` goes on below the reason.
#[derive(Debug)]
#[non_exhaustive]
pub enum SseError {
    /// The data of an event could not be had.
    Data {
        /// The event, counted from 1. What has no data is none.
        number: u64,
        /// Where its data begins in the stream, or the line that should have had some.
        offset: u64,
        /// Why.
        source: DataError,
    },
    /// Data is no event.
    Event {
        /// The event, counted from 1. What has no data is none.
        number: u64,
        /// Where its data begins in the stream.
        offset: u64,
        /// Why.
        source: TextError,
    },
    /// Reading failed.
    Io(io::Error),
}

impl fmt::Display for SseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Data { number, offset, source } => {
                write!(f, "event {number} at byte {offset}: {source}")
            }
            Self::Event { number, offset, source } => {
                write!(f, "event {number} at byte {offset}: {source}")
            }
            Self::Io(error) => error.fmt(f),
        }
    }
}

impl Error for SseError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Data { source, .. } => source.source(),
            Self::Event { source, .. } => source.source(),
            Self::Io(error) => error.source(),
        }
    }
}

impl From<io::Error> for SseError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl SseError {
    /// Whether input ended inside an event: the peer stopped, its bytes were fine.
    #[must_use]
    pub fn is_truncated(&self) -> bool {
        matches!(self, Self::Data { source: DataError::Truncated { .. }, .. })
    }
}
