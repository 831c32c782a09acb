//! The text binding for tokio-util's `Framed`, `FramedRead` and `FramedWrite`.

use std::fmt;

use bytes::BytesMut;
use tokio_util::codec::{Decoder, Encoder};

use super::error::SseError;
use super::{Reading, SseReader, encode_event};
use crate::codec::{Limits, WriteError};
use crate::model::{Event, Notice, Notices};

/// Who is told of what was dropped, stripped or translated.
type OnNotice = Box<dyn FnMut(Notice) + Send>;

/// Events as server-sent events over any byte stream.
///
/// Beside [`EventCodec`](crate::codec::EventCodec): it gives and takes the same events, writes with
/// the same error, and its reading errors are of the same classes. What was dropped, stripped or
/// translated is told to the function of [`SseCodec::on_notice`], or else logged with `tracing` as
/// a warning.
///
/// # Examples
///
/// ```
/// # use ag_ui_proto::Event;
/// # use ag_ui_proto::model::StepStarted;
/// # use ag_ui_proto::sse::SseCodec;
/// use tokio_util::bytes::BytesMut;
/// use tokio_util::codec::{Decoder, Encoder};
///
/// // Framed::new(io, SseCodec::new()) does this over a socket.
/// let mut codec = SseCodec::new();
/// let mut buffer = BytesMut::new();
/// codec.encode(Event::from(StepStarted::new("plan")), &mut buffer)?;
/// assert_eq!(codec.decode(&mut buffer)?, Some(Event::from(StepStarted::new("plan"))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct SseCodec {
    reader: SseReader,
    limits: Limits,
    on_notice: Option<OnNotice>,
}

impl SseCodec {
    /// Makes a codec for the beginning of a stream, with the default limits.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes a codec for the beginning of a stream, with limits.
    #[must_use]
    pub fn with_limits(limits: Limits) -> Self {
        Self { reader: SseReader::with_limits(limits), limits, on_notice: None }
    }

    /// Sets how the JSON is read.
    #[must_use]
    pub fn with_reading(mut self, reading: Reading) -> Self {
        self.reader = self.reader.with_reading(reading);
        self
    }

    /// Joins surrogate pairs that were torn across two deltas; see
    /// [`SseReader::joining_surrogates`].
    #[must_use]
    pub fn joining_surrogates(mut self) -> Self {
        self.reader = self.reader.joining_surrogates();
        self
    }

    /// Sets who is told of what was dropped, stripped or translated, instead of the log.
    #[must_use]
    pub fn on_notice(mut self, tell: impl FnMut(Notice) + Send + 'static) -> Self {
        self.on_notice = Some(Box::new(tell));
        self
    }

    fn tell(&mut self, notices: Notices, number: u64) {
        for notice in notices {
            if let Some(tell) = &mut self.on_notice {
                tell(notice);
            } else {
                tracing::warn!(event = number, "{notice}");
            }
        }
    }
}

impl fmt::Debug for SseCodec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SseCodec")
            .field("reader", &self.reader)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl Decoder for SseCodec {
    type Item = Event;
    type Error = SseError;

    fn decode(&mut self, src: &mut BytesMut) -> Result<Option<Event>, SseError> {
        loop {
            let (number, _) = self.reader.position();
            let Some(decoded) = self.reader.next_event(src)? else { return Ok(None) };
            self.tell(decoded.notices, number);
            if decoded.event.is_some() {
                return Ok(decoded.event);
            }
        }
    }

    fn decode_eof(&mut self, src: &mut BytesMut) -> Result<Option<Event>, SseError> {
        if let Some(event) = self.decode(src)? {
            return Ok(Some(event));
        }
        self.reader.finish(src)?;
        src.clear();
        Ok(None)
    }
}

impl Encoder<&Event> for SseCodec {
    type Error = WriteError;

    fn encode(&mut self, event: &Event, dst: &mut BytesMut) -> Result<(), WriteError> {
        Ok(encode_event(event, &self.limits, dst)?)
    }
}

impl Encoder<Event> for SseCodec {
    type Error = WriteError;

    fn encode(&mut self, event: Event, dst: &mut BytesMut) -> Result<(), WriteError> {
        Encoder::<&Event>::encode(self, &event, dst)
    }
}
