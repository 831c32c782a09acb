//! Events to the bytes of a body and back, in either binding, compressed or not.

use std::{error, fmt, io};

use bytes::{Bytes, BytesMut};

#[cfg(feature = "compression")]
use super::compress::{Compressor, Decompressor, InflateError, InflateLimits, UnknownCoding};
use crate::codec::{Decoded, EncodeError, EventReader, Options, StreamError};
use crate::model::{Event, Notices};
#[cfg(feature = "compression")]
use crate::negotiate::Coding;
use crate::negotiate::Format;
use crate::sse::{self, SseError, SseReader, Stray};

/// Writes events as the body of a run.
///
/// # Examples
///
/// ```
/// use ag_ui_proto::Event;
/// use ag_ui_proto::model::StepStarted;
/// use ag_ui_proto::negotiate::Format;
/// use ag_ui_proto::stream::{BodyReader, BodyWriter};
///
/// let event = Event::from(StepStarted::new("plan"));
/// let mut writer = BodyWriter::new(Format::Protobuf);
/// writer.put(&event)?;
/// let bytes = writer.flush()?;
///
/// let mut reader = BodyReader::new(Format::Protobuf);
/// reader.push(&bytes);
/// assert_eq!(reader.next_event()?.unwrap().event, Some(event));
/// reader.finish()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct BodyWriter {
    format: Format,
    options: Options,
    held: BytesMut,
    #[cfg(feature = "compression")]
    compressor: Option<Compressor>,
}

impl BodyWriter {
    /// Makes one for the beginning of a body, with the default options.
    #[must_use]
    pub fn new(format: Format) -> Self {
        Self::with_options(format, Options::default())
    }

    /// Makes one for the beginning of a body. Of the options, the text binding has use for the
    /// limits alone: it loses nothing.
    #[must_use]
    pub fn with_options(format: Format, options: Options) -> Self {
        Self {
            format,
            options,
            held: BytesMut::new(),
            #[cfg(feature = "compression")]
            compressor: None,
        }
    }

    /// Compresses the body, so that every flush gives its reader all events before it.
    ///
    /// # Errors
    ///
    /// As [`Compressor::new`].
    #[cfg(feature = "compression")]
    pub fn with_coding(mut self, coding: Coding) -> Result<Self, UnknownCoding> {
        self.compressor = Some(Compressor::new(coding)?);
        Ok(self)
    }

    /// The binding.
    #[must_use]
    pub fn format(&self) -> Format {
        self.format
    }

    /// Adds an event. Gives back a notice for each thing that the wire has no place for.
    ///
    /// # Errors
    ///
    /// [`EncodeError`]. Nothing is added then, and another event can be.
    pub fn put(&mut self, event: &Event) -> Result<Notices, EncodeError> {
        match self.format {
            Format::Protobuf => self.options.encode_frame(event, &mut self.held),
            Format::Sse => {
                sse::encode_event(event, self.options.limits(), &mut self.held)?;
                Ok(Notices::new())
            }
        }
    }

    /// Adds a comment that keeps an idle connection open; nothing in the binary binding, which has
    /// no such thing.
    pub fn put_keep_alive(&mut self) {
        if self.format == Format::Sse {
            self.held.extend_from_slice(sse::KEEP_ALIVE);
        }
    }

    /// Bytes that were added and not yet given, before compression.
    #[must_use]
    pub fn len(&self) -> usize {
        self.held.len()
    }

    /// Whether all that was added has been given.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// Gives the bytes of what was added, from which its reader has every event whole.
    ///
    /// # Errors
    ///
    /// What a compressor says; it is not expected to. The body is then broken. Without one there
    /// is no error.
    pub fn flush(&mut self) -> io::Result<Bytes> {
        #[cfg(feature = "compression")]
        if let Some(compressor) = &mut self.compressor {
            return compressor.compressed(&mut self.held);
        }
        Ok(self.held.split().freeze())
    }

    /// Gives the last bytes of the body.
    ///
    /// # Errors
    ///
    /// As [`BodyWriter::flush`].
    pub fn finish(&mut self) -> io::Result<Bytes> {
        let last = self.flush()?;
        #[cfg(feature = "compression")]
        if let Some(compressor) = &mut self.compressor {
            let mut last = BytesMut::from(last);
            compressor.finish(&mut last)?;
            return Ok(last.freeze());
        }
        Ok(last)
    }
}

/// Reads events from the body of a run, whatever the parts in which its bytes arrive.
#[derive(Debug)]
pub struct BodyReader {
    reader: Reader,
    held: BytesMut,
    #[cfg(feature = "compression")]
    compressed: Option<Compressed>,
}

#[derive(Debug)]
enum Reader {
    Protobuf(EventReader),
    Sse(Box<SseReader>),
}

#[cfg(feature = "compression")]
#[derive(Debug)]
struct Compressed {
    decompressor: Decompressor,
    held: BytesMut,
}

impl BodyReader {
    /// Makes one for the beginning of a body, with the default options.
    #[must_use]
    pub fn new(format: Format) -> Self {
        Self::with_options(format, Options::default())
    }

    /// Makes one for the beginning of a body.
    #[must_use]
    pub fn with_options(format: Format, options: Options) -> Self {
        match format {
            Format::Protobuf => Self::over(Reader::Protobuf(EventReader::with_options(options))),
            Format::Sse => Self::with_sse_reader(SseReader::with_limits(*options.limits())),
        }
    }

    /// Makes one for the beginning of a body of the text binding, which is read as `reader` reads.
    #[must_use]
    pub fn with_sse_reader(reader: SseReader) -> Self {
        Self::over(Reader::Sse(Box::new(reader)))
    }

    fn over(reader: Reader) -> Self {
        Self {
            reader,
            held: BytesMut::new(),
            #[cfg(feature = "compression")]
            compressed: None,
        }
    }

    /// Reads a body that is compressed.
    ///
    /// # Errors
    ///
    /// As [`Decompressor::new`].
    #[cfg(feature = "compression")]
    pub fn with_coding(
        mut self,
        coding: Coding,
        limits: InflateLimits,
    ) -> Result<Self, UnknownCoding> {
        let decompressor = Decompressor::new(coding, limits)?;
        self.compressed = Some(Compressed { decompressor, held: BytesMut::new() });
        Ok(self)
    }

    /// The binding.
    #[must_use]
    pub fn format(&self) -> Format {
        match &self.reader {
            Reader::Protobuf(_) => Format::Protobuf,
            Reader::Sse(_) => Format::Sse,
        }
    }

    /// Adds bytes of the body.
    pub fn push(&mut self, bytes: &[u8]) {
        #[cfg(feature = "compression")]
        if let Some(compressed) = &mut self.compressed {
            compressed.held.extend_from_slice(bytes);
            return;
        }
        self.held.extend_from_slice(bytes);
    }

    /// Takes the next event, or nothing while it is incomplete. Ask until there is nothing before
    /// more is pushed: what is held grows otherwise.
    ///
    /// An event of a later version gives a [`Decoded`] without an event, and the stream goes on.
    ///
    /// # Errors
    ///
    /// [`BodyError`]. There is no next event then: every later call gives nothing.
    pub fn next_event(&mut self) -> Result<Option<Decoded>, BodyError> {
        loop {
            let decoded = match &mut self.reader {
                Reader::Protobuf(reader) => reader.next_event(&mut self.held)?,
                Reader::Sse(reader) => reader
                    .next_event(&mut self.held)
                    .map_err(|error| reader.stray().map_or(error.into(), BodyError::Stray))?,
            };
            if decoded.is_some() || !self.inflate()? {
                return Ok(decoded);
            }
        }
    }

    /// Checks, once input has ended, that it ended between two events, and that compression has
    /// ended too.
    ///
    /// # Errors
    ///
    /// [`BodyError`], for which [`BodyError::is_truncated`] is true if input ended too early. A body
    /// of the text binding that is nothing of server-sent events, such as a page of HTML, is a
    /// [`BodyError::Stray`].
    pub fn finish(&mut self) -> Result<(), BodyError> {
        match &mut self.reader {
            Reader::Protobuf(reader) => reader.finish(&self.held)?,
            Reader::Sse(reader) => {
                reader.finish(&self.held)?;
                if let Some(stray) = reader.stray() {
                    return Err(BodyError::Stray(stray));
                }
            }
        }
        #[cfg(feature = "compression")]
        if let Some(Compressed { decompressor, .. }) = &mut self.compressed {
            decompressor.finish()?;
        }
        Ok(())
    }

    /// Number and offset of the event that comes next, in the body before compression.
    #[must_use]
    pub fn position(&self) -> (u64, u64) {
        match &self.reader {
            Reader::Protobuf(reader) => reader.position(),
            Reader::Sse(reader) => reader.position(),
        }
    }

    /// Whether there are more bytes to read events from.
    #[cfg(feature = "compression")]
    fn inflate(&mut self) -> Result<bool, BodyError> {
        let Some(Compressed { decompressor, held }) = &mut self.compressed else {
            return Ok(false);
        };
        Ok(decompressor.step(held, &mut self.held)?)
    }

    #[cfg(not(feature = "compression"))]
    #[expect(clippy::unnecessary_wraps, clippy::unused_self, reason = "as with compression")]
    fn inflate(&mut self) -> Result<bool, BodyError> {
        Ok(false)
    }
}

/// Why a body cannot be read on.
#[derive(Debug)]
#[non_exhaustive]
pub enum BodyError {
    /// The frames cannot.
    Protobuf(StreamError),
    /// The server-sent events cannot.
    Sse(SseError),
    /// There are no server-sent events.
    Stray(Stray),
    /// What they are compressed in cannot.
    #[cfg(feature = "compression")]
    Inflate(InflateError),
}

impl BodyError {
    /// Whether input ended too early: the peer stopped, its bytes were fine.
    #[must_use]
    pub fn is_truncated(&self) -> bool {
        match self {
            Self::Protobuf(error) => error.is_truncated(),
            Self::Sse(error) => error.is_truncated(),
            Self::Stray(_) => false,
            #[cfg(feature = "compression")]
            Self::Inflate(error) => matches!(error, InflateError::Truncated { .. }),
        }
    }
}

impl fmt::Display for BodyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Protobuf(error) => error.fmt(f),
            Self::Sse(error) => error.fmt(f),
            Self::Stray(stray) => stray.fmt(f),
            #[cfg(feature = "compression")]
            Self::Inflate(error) => error.fmt(f),
        }
    }
}

impl error::Error for BodyError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Protobuf(error) => error.source(),
            Self::Sse(error) => error.source(),
            Self::Stray(_) => None,
            #[cfg(feature = "compression")]
            Self::Inflate(error) => error.source(),
        }
    }
}

impl From<StreamError> for BodyError {
    fn from(error: StreamError) -> Self {
        Self::Protobuf(error)
    }
}

impl From<SseError> for BodyError {
    fn from(error: SseError) -> Self {
        Self::Sse(error)
    }
}

#[cfg(feature = "compression")]
impl From<InflateError> for BodyError {
    fn from(error: InflateError) -> Self {
        Self::Inflate(error)
    }
}
