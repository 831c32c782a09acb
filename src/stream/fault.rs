//! What can be asked of a reading error without knowing the binding.

use std::error::Error;
use std::io;

use crate::codec::StreamError;
#[cfg(feature = "sse")]
use crate::sse::SseError;

/// Why a stream of events ended before its input did, or in the middle of an event.
///
/// For code that is generic over the codec, as in
/// `C: Decoder<Item = Event>, C::Error: StreamFault`.
pub trait StreamFault: Error + From<io::Error> + Send + Sync + 'static {
    /// Whether input ended inside an event: the peer stopped, its bytes were fine.
    fn is_truncated(&self) -> bool;

    /// The number of the event or frame, counted from 1, and where it begins in the stream; nothing
    /// if reading failed.
    fn position(&self) -> Option<(u64, u64)>;
}

impl StreamFault for StreamError {
    fn is_truncated(&self) -> bool {
        self.is_truncated()
    }

    fn position(&self) -> Option<(u64, u64)> {
        match self {
            Self::Frame { number, offset, .. } | Self::Event { number, offset, .. } => {
                Some((*number, *offset))
            }
            Self::Io(_) => None,
        }
    }
}

#[cfg(feature = "sse")]
impl StreamFault for SseError {
    fn is_truncated(&self) -> bool {
        self.is_truncated()
    }

    fn position(&self) -> Option<(u64, u64)> {
        match self {
            Self::Data { number, offset, .. } | Self::Event { number, offset, .. } => {
                Some((*number, *offset))
            }
            Self::Io(_) => None,
        }
    }
}
