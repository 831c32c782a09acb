//! Reading JSON text: strictly, or as a consumer does.

use super::error::{Malformed, Notice, NoticeKind, ReadError};
use super::{Enforced, Event, Notices, Path, Translator, UnknownNames, direct};
use crate::value::{Duplicate, ExactJson};

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
        read(text, DEFAULT_MAX_DEPTH)
    }
}

/// Reads an event from JSON text, of whatever shape.
fn read(text: &str, max_depth: usize) -> Result<Event, ReadError> {
    let mut event = None;
    read_directly(text, max_depth, &mut event);
    match event {
        Some(event) => Ok(event),
        None => read_by_value(text, max_depth),
    }
}

fn read_by_value(text: &str, max_depth: usize) -> Result<Event, ReadError> {
    Event::from_value(ExactJson::read_quickly(text, max_depth)?.value)
}

/// Reads an event from JSON text in its usual shape, and puts it where it is wanted; nothing for any
/// other text, which can be an event all the same. Nothing in the event is retired, save for nulls
/// that both bindings can hold.
fn read_directly(text: &str, max_depth: usize, into: &mut Option<Event>) {
    direct::read(text, max_depth, into);
    if cfg!(debug_assertions)
        && let Some(event) = into
    {
        let expected = read_by_value(text, max_depth).ok();
        debug_assert_eq!(expected.as_ref(), Some(&*event), "{text}");
        // The order of members does not count there.
        let json = |event: &Event| serde_json::to_string(event).ok();
        debug_assert_eq!(expected.as_ref().and_then(json), json(event), "{text}");
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
        let event = read(text, self.max_depth)?;
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
        let Enforced { event, mut notices } = self.translator.read(text, self.max_depth)?;
        let Some(mut event) = event else { return Ok(Enforced { event, notices }) };
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

impl Translator {
    /// Reads the next event of the stream, as its JSON alone can hold it: retired shapes are
    /// translated, an event of an unknown type is dropped, of a member that is given twice the last one
    /// counts, and all of it is reported.
    pub(crate) fn read(&mut self, text: &str, max_depth: usize) -> Result<Enforced, ReadError> {
        let mut read = Enforced { event: None, notices: Notices::new() };
        read_directly(text, max_depth, &mut read.event);
        if let Some(event) = &read.event {
            self.saw(event);
            return Ok(read);
        }
        let ExactJson { mut value, duplicates } = ExactJson::read_quickly(text, max_depth)?;
        let given_again = |duplicate: &Duplicate| Notice {
            path: Path::of_pointer(&duplicate.pointer, &value),
            kind: NoticeKind::GivenAgain,
        };
        let mut notices: Vec<_> = duplicates.iter().map(given_again).collect();
        self.translate(&mut value, &mut notices);
        match Event::from_value(value) {
            Ok(event) => Ok(Enforced { event: Some(event), notices: notices.into() }),
            Err(ReadError::UnknownEventType(name)) => {
                let kind = NoticeKind::UnknownEventType(name);
                notices.push(Notice { path: Path::root(), kind });
                Ok(Enforced { event: None, notices: notices.into() })
            }
            Err(error) => Err(error),
        }
    }
}
