//! Checking the JSON text of a stream, event by event.

use super::number::difference;
use super::{Difference, Fidelity, Kind};
use crate::model::{
    DEFAULT_MAX_DEPTH, Event, Malformed, Notice, NoticeKind, ReadError, Translator,
};
use crate::value::{ExactJson, JsonError, Seen, Value};

/// Says what a trip over the wire would change, for the JSON texts of one stream.
///
/// # Examples
///
/// ```
/// use ag_ui_proto::fidelity::{Checker, Fidelity};
///
/// let mut checker = Checker::new();
/// let report = checker.check(r#"{"type":"CUSTOM","name":"n","value":0.10000000000000000001}"#);
/// assert_eq!(report.fidelity(), Fidelity::Lossy);
/// assert_eq!(
///     report.differences[0].to_string(),
///     "/value: decimal-precision: 0.10000000000000000001 becomes 0.1",
/// );
/// ```
#[derive(Clone, Debug)]
pub struct Checker {
    max_depth: usize,
    translator: Translator,
}

/// What a trip over the wire would change in one event.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// The type of the event, if it could be read that far; as JSON had it.
    pub event_type: Option<String>,
    /// The differences, harmless ones included.
    pub differences: Vec<Difference>,
    /// The event, if it could be read, as it goes out.
    pub event: Option<Event>,
}

impl Report {
    /// The worst that happens to the event.
    #[must_use]
    pub fn fidelity(&self) -> Fidelity {
        let worst = self.differences.iter().map(|difference| difference.kind.fidelity()).max();
        worst.unwrap_or(Fidelity::Exact)
    }

    /// The differences that change the meaning.
    pub fn losses(&self) -> impl Iterator<Item = &Difference> {
        self.differences.iter().filter(|difference| !difference.kind.is_harmless())
    }
}

impl Default for Checker {
    fn default() -> Self {
        Self { max_depth: DEFAULT_MAX_DEPTH, translator: Translator::new() }
    }
}

impl Checker {
    /// Makes a checker for a new stream.
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

    /// Checks the next event.
    pub fn check(&mut self, text: &str) -> Report {
        let mut report = Report::default();
        let mut value = match self.read(text, &mut report.differences) {
            Ok(value) => value,
            Err(error) => {
                report.differences.push(not_json(text, &error));
                return report;
            }
        };
        let mut notices = Vec::new();
        self.translator.translate(&mut value, &mut notices);
        report.event_type = value.get("type").and_then(Value::as_str).map(str::to_owned);
        integer_forms(&value, &mut report.differences);
        match Event::from_value(value) {
            Ok(mut event) => {
                event.drop_retired_nulls(&mut notices);
                event.differences_into(self.max_depth, &mut report.differences);
                report.event = Some(event);
            }
            Err(ReadError::UnknownEventType(name)) => report
                .differences
                .push(Difference::new("/type", Kind::UnknownEventType).json(&Value::from(name))),
            Err(ReadError::Malformed(Malformed { path, reason, .. })) => report
                .differences
                .push(Difference::new(path.pointer(), Kind::Malformed).note(&reason)),
            Err(ReadError::Json(error)) => report.differences.push(not_json(text, &error)),
        }
        report.differences.extend(notices.iter().map(translated));
        report
    }

    /// The value of `text` to the last digit; keys given twice are noted.
    fn read(&self, text: &str, found: &mut Vec<Difference>) -> Result<Value, JsonError> {
        let seen = Seen::default();
        let read = Value::from_json_noting(text, self.max_depth, &seen);
        let is_rounded = seen.double() && ExactJson::is_called_for(text);
        if let (Ok(_), false) = (&read, is_rounded || seen.duplicate()) {
            return read;
        }
        let ExactJson { value, duplicates } = ExactJson::read(text, self.max_depth)?;
        for duplicate in duplicates {
            let mut lost =
                Difference::new(&duplicate.pointer, Kind::DuplicateKey).json(&duplicate.value);
            lost.wire = value.pointer(&duplicate.pointer).map(Value::to_string);
            found.push(lost);
        }
        Ok(value)
    }
}

fn not_json(text: &str, error: &JsonError) -> Difference {
    match error {
        JsonError::TooDeep { .. } => Difference::new("", Kind::TooDeep).note(error),
        JsonError::Malformed { pointer, source } => {
            let kind = if has_lone_surrogate(text) { Kind::LoneSurrogate } else { Kind::Malformed };
            Difference::new(pointer, kind).note(source)
        }
    }
}

/// Whether an escape of the text is half of a surrogate pair without its other half.
fn has_lone_surrogate(text: &str) -> bool {
    let mut high = false;
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        if high && at > 0 {
            return true;
        }
        let escape = rest.get(at + 1..).unwrap_or_default();
        let unit = escape
            .strip_prefix('u')
            .and_then(|digits| digits.get(..4))
            .and_then(|digits| u16::from_str_radix(digits, 16).ok());
        let was_high = std::mem::replace(&mut high, matches!(unit, Some(0xd800..=0xdbff)));
        if was_high != matches!(unit, Some(0xdc00..=0xdfff)) {
            return true;
        }
        let len = if unit.is_some() { 6 } else { 2 };
        rest = rest.get(at + len..).unwrap_or_default();
    }
    high
}

/// The protocol's own integers, where they are written as decimals: `1000.0` arrives as `1000`.
fn integer_forms(event: &Value, found: &mut Vec<Difference>) {
    let mut form = |member: Option<&Value>, pointer: &str| {
        if let Some(Value::Number(number)) = member
            && number.is_f64()
        {
            found.extend(
                difference(number, pointer).filter(|difference| difference.kind.is_harmless()),
            );
        }
    };
    form(event.get("timestamp"), "/timestamp");
    for (index, entry) in event
        .get("usage")
        .and_then(Value::as_list)
        .into_iter()
        .flat_map(|list| list.iter())
        .enumerate()
    {
        for (name, count) in entry.as_object().into_iter().flatten() {
            form(Some(count), &format!("/usage/{index}/{name}"));
        }
    }
}

fn translated(notice: &Notice) -> Difference {
    let kind = match notice.kind {
        NoticeKind::RetiredLoss { .. } => Kind::RetiredMember,
        _ => Kind::RetiredShape,
    };
    Difference::new(notice.path.pointer(), kind).note(&notice.kind)
}
