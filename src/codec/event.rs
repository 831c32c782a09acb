//! The codec for tokio-util's `Framed`, `FramedRead` and `FramedWrite`.

use std::fmt;

use bytes::{Bytes, BytesMut};
use tokio_util::codec::{Decoder, Encoder};

use super::error::{StreamError, WriteError};
use super::frame::{Frame, FrameReader, put_frame};
use super::{EventReader, Limits, Options};
use crate::model::{Event, Notice, Notices};

/// Who is told of what was dropped or left out.
type OnNotice = Box<dyn FnMut(Notice) + Send>;

/// Events over any byte stream.
///
/// Reading gives events; a frame of a later version is dropped. Writing takes events. What was
/// dropped or left out is told to the function of [`EventCodec::on_notice`], or else logged with
/// `tracing` as a warning.
///
/// Input that ends inside a frame gives a last error, for which [`StreamError::is_truncated`] is
/// true. Input that ends between frames just ends: whether the run had is for its reader to see.
///
/// # Examples
///
/// ```
/// # use ag_ui_proto::Event;
/// # use ag_ui_proto::codec::EventCodec;
/// # use ag_ui_proto::model::StepStarted;
/// use tokio_util::bytes::BytesMut;
/// use tokio_util::codec::{Decoder, Encoder};
///
/// // Framed::new(io, EventCodec::new()) does this over a socket.
/// let mut codec = EventCodec::new();
/// let mut buffer = BytesMut::new();
/// codec.encode(Event::from(StepStarted::new("plan")), &mut buffer)?;
/// assert_eq!(codec.decode(&mut buffer)?, Some(Event::from(StepStarted::new("plan"))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct EventCodec {
    reader: EventReader,
    options: Options,
    on_notice: Option<OnNotice>,
}

impl EventCodec {
    /// Makes a codec for the beginning of a stream, with the default limits.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes a codec for the beginning of a stream, with limits.
    #[must_use]
    pub fn with_limits(limits: Limits) -> Self {
        Self::with_options(limits.into())
    }

    /// Makes a codec for the beginning of a stream, with options.
    #[must_use]
    pub fn with_options(options: Options) -> Self {
        Self { reader: EventReader::with_options(options), options, on_notice: None }
    }

    /// Sets who is told of what was dropped or left out, instead of the log.
    #[must_use]
    pub fn on_notice(mut self, tell: impl FnMut(Notice) + Send + 'static) -> Self {
        self.on_notice = Some(Box::new(tell));
        self
    }

    /// Takes the next event that this version can name.
    #[inline(never)]
    fn decode_any(&mut self, src: &mut BytesMut) -> Result<Option<Event>, StreamError> {
        loop {
            let position = self.reader.position();
            let Some(decoded) = self.reader.next_any(src)? else { return Ok(None) };
            self.tell(decoded.notices, Some(position));
            if decoded.event.is_some() {
                return Ok(decoded.event);
            }
        }
    }

    #[inline]
    fn tell(&mut self, notices: Notices, frame: Option<(u64, u64)>) {
        if !notices.is_empty() {
            self.tell_all(notices, frame);
        }
    }

    #[cold]
    fn tell_all(&mut self, notices: Notices, frame: Option<(u64, u64)>) {
        for notice in notices {
            match (&mut self.on_notice, frame) {
                (Some(tell), _) => tell(notice),
                (None, Some((number, offset))) => {
                    tracing::warn!(frame = number, offset, "{notice}");
                }
                (None, None) => tracing::warn!("{notice}"),
            }
        }
    }
}

impl fmt::Debug for EventCodec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventCodec")
            .field("reader", &self.reader)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

impl Decoder for EventCodec {
    type Item = Event;
    type Error = StreamError;

    fn decode(&mut self, src: &mut BytesMut) -> Result<Option<Event>, StreamError> {
        // Put where it is wanted, since an event is large and would be moved several times.
        let mut event = Ok(None);
        if !event.as_mut().is_ok_and(|into| self.reader.next_usual(src, into)) {
            event = self.decode_any(src);
        }
        event
    }

    fn decode_eof(&mut self, src: &mut BytesMut) -> Result<Option<Event>, StreamError> {
        if let Some(event) = self.decode(src)? {
            return Ok(Some(event));
        }
        self.reader.finish(src)?;
        src.clear();
        Ok(None)
    }
}

impl Encoder<&Event> for EventCodec {
    type Error = WriteError;

    fn encode(&mut self, event: &Event, dst: &mut BytesMut) -> Result<(), WriteError> {
        let notices = self.options.encode_frame(event, dst)?;
        self.tell(notices, None);
        Ok(())
    }
}

impl Encoder<Event> for EventCodec {
    type Error = WriteError;

    fn encode(&mut self, event: Event, dst: &mut BytesMut) -> Result<(), WriteError> {
        Encoder::<&Event>::encode(self, &event, dst)
    }
}

/// Frames over any byte stream, not looked into: for relays and logs.
///
/// A frame that this version cannot name passes through unharmed.
#[derive(Clone, Debug)]
pub struct FrameCodec {
    reader: FrameReader,
    limits: Limits,
}

impl Default for FrameCodec {
    fn default() -> Self {
        Self::with_limits(Limits::default())
    }
}

impl FrameCodec {
    /// Makes a codec for the beginning of a stream, with the default limits.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes a codec for the beginning of a stream.
    #[must_use]
    pub fn with_limits(limits: Limits) -> Self {
        Self { reader: FrameReader::new(limits), limits }
    }
}

impl Decoder for FrameCodec {
    type Item = Frame;
    type Error = StreamError;

    fn decode(&mut self, src: &mut BytesMut) -> Result<Option<Frame>, StreamError> {
        let (number, offset) = self.reader.position();
        self.reader.next_frame(src).map_err(|source| StreamError::Frame { number, offset, source })
    }

    fn decode_eof(&mut self, src: &mut BytesMut) -> Result<Option<Frame>, StreamError> {
        if let Some(frame) = self.decode(src)? {
            return Ok(Some(frame));
        }
        let (number, offset) = self.reader.position();
        self.reader.finish(src).map_err(|source| StreamError::Frame { number, offset, source })?;
        src.clear();
        Ok(None)
    }
}

/// Writes a payload as a frame.
impl Encoder<Bytes> for FrameCodec {
    type Error = WriteError;

    fn encode(&mut self, payload: Bytes, dst: &mut BytesMut) -> Result<(), WriteError> {
        Ok(put_frame(&payload, &self.limits, dst)?)
    }
}

/// Writes a frame as it was read.
impl Encoder<Frame> for FrameCodec {
    type Error = WriteError;

    fn encode(&mut self, frame: Frame, dst: &mut BytesMut) -> Result<(), WriteError> {
        self.encode(frame.payload, dst)
    }
}
