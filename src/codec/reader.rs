//! Events off a buffer, without I/O.

use bytes::{Buf, BytesMut};

use super::error::StreamError;
use super::frame::FrameReader;
use super::payload::{Decoded, decode_by_schema, decode_usual};
use super::{HEADER_LEN, Limits, Options};
use crate::model::Event;

/// Takes events off a buffer, whatever the parts in which their bytes arrive.
///
/// As [`FrameReader`], one floor up: a frame that is no event ends the stream too.
///
/// # Examples
///
/// ```
/// use ag_ui_proto::codec::EventReader;
/// use bytes::{Buf, BytesMut};
///
/// let mut reader = EventReader::new();
/// let mut buffer = BytesMut::new();
/// for part in [&b"\0\0\0\x09\x1a\x07\x0a\x02"[..], b"\x08\x02\x12\x01m"] {
///     buffer.extend_from_slice(part);
///     while let Some(decoded) = reader.next_event(&mut buffer)? {
///         println!("{:?}", decoded.event);
///     }
/// }
/// reader.finish(&buffer)?;
/// # Ok::<(), ag_ui_proto::codec::StreamError>(())
/// ```
#[derive(Clone, Debug)]
pub struct EventReader {
    frames: FrameReader,
    options: Options,
}

impl Default for EventReader {
    fn default() -> Self {
        Self::with_options(Options::default())
    }
}

impl EventReader {
    /// Makes a reader for the beginning of a stream, with the default limits.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes a reader for the beginning of a stream, with limits.
    #[must_use]
    pub fn with_limits(limits: Limits) -> Self {
        Self::with_options(limits.into())
    }

    /// Makes a reader for the beginning of a stream, with options.
    #[must_use]
    pub fn with_options(options: Options) -> Self {
        Self { frames: FrameReader::new(*options.limits()), options }
    }

    /// Takes the next event off the front of `src`, or nothing while its frame is incomplete.
    ///
    /// A frame of a later version gives a [`Decoded`] without an event, and the stream goes on.
    ///
    /// # Errors
    ///
    /// [`StreamError::Frame`] or [`StreamError::Event`], with the place of the frame. There is no
    /// next event then: every later call gives nothing.
    pub fn next_event(&mut self, src: &mut BytesMut) -> Result<Option<Decoded>, StreamError> {
        // Put where it is wanted, since an event is large and would be moved several times.
        let mut next = Ok(Some(Decoded::default()));
        if let Ok(Some(into)) = &mut next
            && !self.next_usual(src, &mut into.event)
        {
            next = self.next_any(src);
        }
        next
    }

    /// As [`EventReader::next_event`], once [`EventReader::next_usual`] has given nothing.
    #[inline(never)]
    pub(super) fn next_any(&mut self, src: &mut BytesMut) -> Result<Option<Decoded>, StreamError> {
        let (number, offset) = self.frames.position();
        let payload = match self.frames.payload(src) {
            Ok(Some(payload)) => payload,
            Ok(None) => return Ok(None),
            Err(source) => return Err(StreamError::Frame { number, offset, source }),
        };
        let (len, decoded) = (payload.len(), decode_by_schema(payload, &self.options));
        src.advance(HEADER_LEN + len);
        self.frames.pass(len);
        decoded.map(Some).map_err(|source| {
            self.frames.fail();
            StreamError::Event { number, offset, source }
        })
    }

    /// Takes the next event if it is whole and in the usual layout, and puts it where it is wanted.
    ///
    /// Whether there is one. If not, [`EventReader::next_any`] tells why.
    #[inline]
    pub(super) fn next_usual(&mut self, src: &mut BytesMut, into: &mut Option<Event>) -> bool {
        let Ok(Some(payload)) = self.frames.peek(src) else { return false };
        if decode_usual(payload, &self.options, into).is_none() {
            *into = None;
            return false;
        }
        let len = payload.len();
        src.advance(HEADER_LEN + len);
        self.frames.pass(len);
        true
    }

    /// Checks, once input has ended, that it ended between two frames.
    ///
    /// # Errors
    ///
    /// [`StreamError::Frame`] with [`FrameError::Truncated`](super::FrameError::Truncated) if not.
    pub fn finish(&mut self, src: &[u8]) -> Result<(), StreamError> {
        let (number, offset) = self.frames.position();
        self.frames.finish(src).map_err(|source| StreamError::Frame { number, offset, source })
    }

    /// Number and offset of the frame that comes next.
    #[must_use]
    pub fn position(&self) -> (u64, u64) {
        self.frames.position()
    }
}
