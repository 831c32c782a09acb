//! One event from its JSON text, with a reason and a line if it is none.

use std::error::Error;

use ag_ui_proto::Event;
use ag_ui_proto::model::{Notice, NoticeKind, Path, ReadError, Translator};
use ag_ui_proto::value::{ExactJson, JsonError, Value};

use crate::items::{Cursor, Item};

/// Reads the events of one stream.
pub(crate) struct Reader {
    max_depth: usize,
    how: How,
    translator: Translator,
}

/// How events are read.
#[derive(Clone, Copy, Default)]
pub(crate) struct How {
    /// Whether what this version does not describe is refused. Otherwise it is kept, for the
    /// encoder to say what the wire has no place for.
    pub(crate) validate: bool,
    /// Whether every digit of a number is kept.
    pub(crate) exact: bool,
}

/// Why a text is no event.
pub(crate) struct Fault {
    pub(crate) line: u64,
    pub(crate) reason: String,
}

/// The text of an item.
///
/// # Errors
///
/// The line at which it stops being UTF-8.
pub(crate) fn text_of(item: &Item) -> Result<&str, Fault> {
    str::from_utf8(&item.text).map_err(|error| {
        let mut place = item.place;
        place.pass(item.text.get(..error.valid_up_to()).unwrap_or_default());
        let reason = format!("malformed JSON: not UTF-8 at column {}", place.column);
        Fault { line: place.line, reason }
    })
}

impl Reader {
    pub(crate) fn new(max_depth: usize, how: How) -> Self {
        Self { max_depth, how, translator: Translator::new() }
    }

    /// Reads an event. One of an unknown type is dropped, with a notice.
    pub(crate) fn read(
        &mut self,
        item: &Item,
        notices: &mut Vec<Notice>,
    ) -> Result<Option<Event>, Fault> {
        self.read_text(text_of(item)?, notices).map_err(|error| fault(&error, item.place))
    }

    fn read_text(
        &mut self,
        text: &str,
        notices: &mut Vec<Notice>,
    ) -> Result<Option<Event>, ReadError> {
        let mut value = if self.how.exact && ExactJson::is_called_for(text) {
            ExactJson::read(text, self.max_depth)?.value
        } else {
            Value::from_json(text, self.max_depth)?
        };
        if self.how.validate {
            let event = Event::from_value(value)?;
            event.validate()?;
            return Ok(Some(event));
        }
        self.translator.translate(&mut value, notices);
        match Event::from_value(value) {
            Ok(mut event) => {
                event.drop_retired_nulls(notices);
                Ok(Some(event))
            }
            Err(ReadError::UnknownEventType(name)) => {
                let kind = NoticeKind::UnknownEventType(name);
                notices.push(Notice { path: Path::root(), kind });
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

/// The fault that `error` is in the text that begins at `start`. A place within the text becomes a
/// place in the input.
fn fault(error: &ReadError, start: Cursor) -> Fault {
    let (line, column, reason) = match error {
        ReadError::Json(JsonError::TooDeep { max, line, column }) => {
            (*line, *column, format!("JSON nested deeper than {max} levels"))
        }
        ReadError::Json(error) => match error.source().and_then(|e| e.downcast_ref()) {
            Some(source) => {
                let source: &serde_json::Error = source;
                let text = source.to_string();
                let place = format!(" at line {} column {}", source.line(), source.column());
                let text = text.strip_suffix(&place).unwrap_or(&text);
                (source.line(), source.column(), format!("{error}: {text}"))
            }
            None => return Fault { line: start.line, reason: error.to_string() },
        },
        error => return Fault { line: start.line, reason: error.to_string() },
    };
    let [line, column] = [line, column].map(|n| u64::try_from(n).unwrap_or(u64::MAX));
    let before = if line <= 1 { start.column - 1 } else { 0 };
    Fault {
        line: start.line + line.saturating_sub(1),
        reason: format!("{reason} at column {}", before + column),
    }
}
