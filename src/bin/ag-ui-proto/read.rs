//! One event from its JSON text, with a reason and a line if it is none.

use ag_ui_proto::Event;
use ag_ui_proto::model::{Notice, NoticeKind, Path, ReadError, Translator};
use ag_ui_proto::value::{ExactJson, JsonError, Value};

use crate::place::{Cursor, Item};

/// Reads the events of one stream.
pub(crate) struct Reader {
    max_depth: usize,
    /// Whether what this version does not describe is refused. Otherwise it is kept, for the
    /// encoder to say what the wire has no place for.
    validate: bool,
    translator: Translator,
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
    pub(crate) fn new(max_depth: usize, validate: bool) -> Self {
        Self { max_depth, validate, translator: Translator::new() }
    }

    /// Reads an event, to the last digit. One of an unknown type is dropped, with a warning.
    pub(crate) fn read(
        &mut self,
        item: &Item,
        warnings: &mut Vec<String>,
    ) -> Result<Option<Event>, Fault> {
        let mut notices = Vec::new();
        let read = ExactJson::read_quickly(text_of(item)?, self.max_depth)
            .map_err(ReadError::from)
            .and_then(|ExactJson { value, duplicates, .. }| {
                warnings.extend(duplicates.iter().map(|duplicate| {
                    format!("{}: given again later, where the last one counts", duplicate.pointer)
                }));
                self.read_value(value, &mut notices)
            })
            .map_err(|error| fault(&error, item.place));
        let event = read.as_ref().ok().and_then(Option::as_ref);
        warnings.extend(notices.iter().map(|notice| told(notice, event)));
        read
    }

    fn read_value(
        &mut self,
        mut value: Value,
        notices: &mut Vec<Notice>,
    ) -> Result<Option<Event>, ReadError> {
        if self.validate {
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

/// A notice with the type of its event in front, if it does not say that itself.
pub(crate) fn told(notice: &Notice, event: Option<&Event>) -> String {
    match event {
        Some(event) if !matches!(notice.kind, NoticeKind::UnknownEventType(_)) => {
            format!("{}: {notice}", event.event_type())
        }
        _ => notice.to_string(),
    }
}

/// The fault that `error` is in the text that begins at `start`. A place within the text becomes a
/// place in the input.
pub(crate) fn fault(error: &ReadError, start: Cursor) -> Fault {
    let (line, column, reason) = match error {
        ReadError::Json(JsonError::TooDeep { max, line, column }) => {
            (*line, *column, format!("JSON nested deeper than {max} levels"))
        }
        ReadError::Json(
            error @ (JsonError::Malformed { reason, .. } | JsonError::LoneSurrogate { reason, .. }),
        ) => {
            let text = error.to_string();
            let place = format!(" at line {} column {}", reason.line(), reason.column());
            let text = text.strip_suffix(&place).unwrap_or(&text);
            (reason.line(), reason.column(), text.to_owned())
        }
        error => return Fault { line: start.line, reason: error.to_string() },
    };
    let [line, column] = [line, column].map(|n| u64::try_from(n).unwrap_or(u64::MAX));
    let before = if line <= 1 { start.column - 1 } else { 0 };
    Fault {
        line: start.line + line.saturating_sub(1),
        reason: format!("{reason} at column {}", before + column),
    }
}
