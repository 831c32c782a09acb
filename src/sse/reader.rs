//! Events off a buffer of server-sent events, without I/O.

use std::borrow::Cow;

use bytes::BytesMut;

use super::data::{Data, DataReader};
use super::error::{DataError, SseError, TextError};
use super::stray::Stray;
use super::surrogates::SurrogateJoiner;
use crate::codec::{Decoded, Limits};
use crate::model::node::{Inspector, MAX_SAFE_INTEGER};
use crate::model::path::At;
use crate::model::{
    Enforced, EventType, Malformed, Notices, ReadError, Reason, StrictReader, TolerantReader,
    Translator, UnknownNames,
};

/// How the JSON of events is read.
///
/// | reading | retired shapes | unknown material | malformed material |
/// |---|---|---|---|
/// | `AsItCame` | translated | kept; an unknown event is dropped | refused where no event can hold it |
/// | `Tolerant` | translated | stripped | refused |
/// | `Strict` | refused | refused | refused |
///
/// What is translated, stripped or dropped is told of in a [`Notice`](crate::model::Notice).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reading {
    /// As [`EventReader`](crate::codec::EventReader) reads frames: what a newer peer sends is kept,
    /// and the event not judged; see [`Event::enforce`](crate::Event::enforce). Refused is what a frame cannot hold
    /// either: another JSON type, an absent member, an integer beyond 2^53 - 1.
    #[default]
    AsItCame,
    /// As [`TolerantReader`].
    Tolerant(UnknownNames),
    /// As [`StrictReader`].
    Strict,
}

/// Takes events off a buffer, whatever the parts in which their bytes arrive.
///
/// As [`DataReader`], one floor up: data that is no event ends the stream too.
///
/// # Examples
///
/// ```
/// use ag_ui_proto::sse::SseReader;
/// use bytes::BytesMut;
///
/// let mut reader = SseReader::new();
/// let mut buffer = BytesMut::new();
/// for part in ["data: {\"type\":\"STEP_STARTED\",", "\"stepName\":\"plan\"}\n\n"] {
///     buffer.extend_from_slice(part.as_bytes());
///     while let Some(decoded) = reader.next_event(&mut buffer)? {
///         println!("{:?}", decoded.event);
///     }
/// }
/// reader.finish(&buffer)?;
/// # Ok::<(), ag_ui_proto::sse::SseError>(())
/// ```
#[derive(Clone, Debug)]
pub struct SseReader {
    data: DataReader,
    limits: Limits,
    reader: Reader,
    joiner: Option<SurrogateJoiner>,
}

impl Default for SseReader {
    fn default() -> Self {
        Self::with_limits(Limits::default())
    }
}

impl SseReader {
    /// Makes a reader for the beginning of a stream, with the default limits.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes a reader for the beginning of a stream, with limits. The limit on a frame is here the
    /// limit on the data of one event.
    #[must_use]
    pub fn with_limits(limits: Limits) -> Self {
        let reader = Reader::new(Reading::default(), &limits);
        Self { data: DataReader::new(limits), limits, reader, joiner: None }
    }

    /// Sets how the JSON is read.
    #[must_use]
    pub fn with_reading(mut self, reading: Reading) -> Self {
        self.reader = Reader::new(reading, &self.limits);
        self
    }

    /// Joins surrogate pairs that were torn across two deltas of one item, as [`SurrogateJoiner`]
    /// does. Without it half of a pair is an error.
    #[must_use]
    pub fn joining_surrogates(mut self) -> Self {
        self.joiner = Some(SurrogateJoiner::new());
        self
    }

    /// Takes the next event off the front of `src`, or nothing while it is incomplete.
    ///
    /// An event of a later version gives a [`Decoded`] without an event, and the stream goes on.
    ///
    /// # Errors
    ///
    /// [`SseError::Data`] or [`SseError::Event`], with the place of the event. There is no next
    /// event then: every later call gives nothing.
    pub fn next_event(&mut self, src: &mut BytesMut) -> Result<Option<Decoded>, SseError> {
        let data = self.data.next_data(src).map_err(|source| self.lost(source))?;
        data.map(|data| self.read(&data)).transpose()
    }

    /// Checks, once input has ended, that it ended between two events.
    ///
    /// # Errors
    ///
    /// [`SseError::Data`] with [`DataError::Truncated`] if not;
    /// [`SseError::Event`] with [`TextError::TornPair`] if the other half of a surrogate pair did
    /// not come.
    pub fn finish(&mut self, src: &[u8]) -> Result<(), SseError> {
        self.data.finish(src).map_err(|source| self.lost(source))?;
        self.finish_pairs()
    }

    /// Takes the event that input ended behind, as if its empty line had come.
    ///
    /// For recordings, and for peers that are known to leave that line out. Call it when
    /// [`SseReader::next_event`] has given all it has, and [`SseReader::finish`] after it; the
    /// stream is then over.
    ///
    /// # Errors
    ///
    /// As [`SseReader::next_event`], for an event that was cut too.
    pub fn take_unterminated(&mut self, src: &mut BytesMut) -> Result<Option<Decoded>, SseError> {
        let data = self.data.take_unterminated(src).map_err(|source| self.lost(source))?;
        data.map(|data| self.read(&data)).transpose()
    }

    /// Number and offset of the event that comes next; see [`DataReader::position`].
    #[must_use]
    pub fn position(&self) -> (u64, u64) {
        self.data.position()
    }

    /// What came instead of server-sent events; see [`DataReader::stray`].
    #[must_use]
    pub fn stray(&self) -> Option<Stray> {
        self.data.stray()
    }

    fn read(&mut self, data: &Data) -> Result<Decoded, SseError> {
        let read = self.read_text(&data.bytes);
        read.map_err(|source| self.no_event(data.number, data.place.offset, source))
    }

    fn read_text(&mut self, bytes: &[u8]) -> Result<Decoded, TextError> {
        let text =
            str::from_utf8(bytes).map_err(|error| TextError::Utf8 { at: error.valid_up_to() })?;
        let text = match &mut self.joiner {
            Some(joiner) => joiner.push(text)?,
            None => Cow::Borrowed(text),
        };
        Ok(self.reader.read(&text)?)
    }

    fn finish_pairs(&mut self) -> Result<(), SseError> {
        let Some(joiner) = &mut self.joiner else { return Ok(()) };
        let (number, offset) = self.data.position();
        joiner.finish().map_err(|torn| self.no_event(number, offset, torn.into()))
    }

    /// Ends the stream at data that could not be had.
    fn lost(&mut self, source: DataError) -> SseError {
        self.joiner = None;
        let (number, offset) = self.data.position();
        SseError::Data { number, offset, source }
    }

    /// Ends the stream at data that is no event.
    fn no_event(&mut self, number: u64, offset: u64, source: TextError) -> SseError {
        self.joiner = None;
        self.data.fail();
        SseError::Event { number, offset, source }
    }
}

#[derive(Clone, Debug)]
enum Reader {
    AsItCame { translator: Translator, max_depth: usize },
    Tolerant(TolerantReader),
    Strict(StrictReader),
}

impl Reader {
    fn new(reading: Reading, limits: &Limits) -> Self {
        let max_depth = limits.max_depth();
        match reading {
            Reading::AsItCame => Self::AsItCame { translator: Translator::new(), max_depth },
            Reading::Tolerant(names) => Self::Tolerant(
                TolerantReader::new().with_max_depth(max_depth).with_unknown_names(names),
            ),
            Reading::Strict => Self::Strict(StrictReader::new().with_max_depth(max_depth)),
        }
    }

    fn read(&mut self, text: &str) -> Result<Decoded, ReadError> {
        match self {
            Self::AsItCame { translator, max_depth } => {
                read_as_it_came(text, translator, *max_depth)
            }
            Self::Tolerant(reader) => {
                let read = reader.read(text)?;
                Ok(Decoded { event: read.event, notices: read.notices })
            }
            Self::Strict(reader) => {
                Ok(Decoded { event: Some(reader.read(text)?), notices: Notices::new() })
            }
        }
    }
}

fn read_as_it_came(
    text: &str,
    translator: &mut Translator,
    max_depth: usize,
) -> Result<Decoded, ReadError> {
    let Enforced { event, notices } = translator.read(text, max_depth)?;
    let Some(event) = event else { return Ok(Decoded { event, notices }) };
    let mut beyond = Beyond { event_type: event.event_type(), fault: None };
    event.inspect(&mut beyond);
    match beyond.fault {
        Some(fault) => Err(Malformed { path: translator.original(&fault.path), ..fault }.into()),
        None => Ok(Decoded { event: Some(event), notices }),
    }
}

/// Looks for an integer that a double cannot count, which no frame may hold either.
///
/// Rule: D24 of the decoder of frames.
struct Beyond {
    event_type: EventType,
    fault: Option<Malformed>,
}

impl Inspector for Beyond {
    fn enters_unknown_names(&self) -> bool {
        true
    }

    fn malformed(&mut self, at: &At<'_>, reason: Reason) {
        let is_beyond = matches!(reason, Reason::Range { min, .. } if min == -MAX_SAFE_INTEGER);
        if is_beyond && self.fault.is_none() {
            let event_type = Some(self.event_type);
            self.fault = Some(Malformed { event_type, path: at.to_path(), reason });
        }
    }
}
