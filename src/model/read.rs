//! Reading JSON text: strictly, or as a consumer does.

use super::error::{Malformed, Notice, NoticeKind, ReadError};
use super::{Enforced, Event, Path, Translator, UnknownNames};
use crate::value::ExactJson;

/// How many levels the JSON of an event may nest by default, the event's own object included.
pub const DEFAULT_MAX_DEPTH: usize = 128;

impl Event {
    /// Reads an event from JSON text, holding what a newer peer may send, and every digit of every
    /// number.
    ///
    /// # Errors
    ///
    /// [`ReadError::Json`] if the text is not JSON or nests deeper than [`DEFAULT_MAX_DEPTH`];
    /// else as [`Event::from_value`].
    pub fn from_json(text: &str) -> Result<Self, ReadError> {
        Self::from_value(ExactJson::read_quickly(text, DEFAULT_MAX_DEPTH)?.value)
    }
}

/// Reads JSON text strictly: an event must be what this version describes, and nothing else.
///
/// # Examples
///
/// ```
/// use ag_ui_proto::model::StrictReader;
///
/// let error = StrictReader::new()
///     .read(r#"{"type":"STEP_STARTED","stepName":"plan","colour":"red"}"#)
///     .unwrap_err();
/// assert_eq!(error.to_string(), "STEP_STARTED: colour: unknown member");
/// ```
#[derive(Clone, Debug)]
pub struct StrictReader {
    max_depth: usize,
}

impl Default for StrictReader {
    fn default() -> Self {
        Self { max_depth: DEFAULT_MAX_DEPTH }
    }
}

impl StrictReader {
    /// Makes a reader with the default limit on nesting.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how many levels an event may nest, its own object included.
    #[must_use]
    pub fn with_max_depth(mut self, max_depth: usize) -> Self {
        self.max_depth = max_depth;
        self
    }

    /// Reads one event.
    ///
    /// # Errors
    ///
    /// As [`Event::from_json`] and [`Event::validate`].
    pub fn read(&self, text: &str) -> Result<Event, ReadError> {
        let event = Event::from_value(ExactJson::read_quickly(text, self.max_depth)?.value)?;
        event.validate()?;
        Ok(event)
    }
}

/// Reads the JSON texts of one stream as a consumer does: retired shapes are translated,
/// unrecognised material is stripped, both are reported; malformed material is refused.
#[derive(Clone, Debug)]
pub struct TolerantReader {
    max_depth: usize,
    names: UnknownNames,
    translator: Translator,
}

impl Default for TolerantReader {
    fn default() -> Self {
        Self {
            max_depth: DEFAULT_MAX_DEPTH,
            names: UnknownNames::default(),
            translator: Translator::new(),
        }
    }
}

impl TolerantReader {
    /// Makes a reader for a new stream.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how many levels an event may nest, its own object included.
    #[must_use]
    pub fn with_max_depth(mut self, max_depth: usize) -> Self {
        self.max_depth = max_depth;
        self
    }

    /// Sets what is done with an unknown string in a closed set.
    #[must_use]
    pub fn with_unknown_names(mut self, names: UnknownNames) -> Self {
        self.names = names;
        self
    }

    /// Reads the next event.
    ///
    /// # Errors
    ///
    /// As [`Event::from_json`] and [`Event::enforce`], except that an event of an unknown type is
    /// no error: it is dropped and reported.
    pub fn read(&mut self, text: &str) -> Result<Enforced, ReadError> {
        let mut notices = Vec::new();
        let mut value = ExactJson::read_quickly(text, self.max_depth)?.value;
        self.translator.translate(&mut value, &mut notices);
        let mut event = match Event::from_value(value) {
            Ok(event) => event,
            Err(ReadError::UnknownEventType(name)) => {
                let kind = NoticeKind::UnknownEventType(name);
                notices.push(Notice { path: Path::root(), kind });
                return Ok(Enforced { event: None, notices });
            }
            Err(error) => return Err(error),
        };
        let mut later = Vec::new();
        event.drop_retired_nulls(&mut later);
        let original = |place: &Path| self.translator.original(place);
        let enforced = event
            .enforce(self.names)
            .map_err(|fault| Malformed { path: original(&fault.path), ..fault })?;
        later.extend(enforced.notices);
        notices.extend(
            later.into_iter().map(|notice| Notice { path: original(&notice.path), ..notice }),
        );
        Ok(Enforced { event: enforced.event, notices })
    }
}
