//! Checking the JSON text of a stream, event by event.

use super::{Difference, Fidelity, Kind};
use crate::model::{
    DEFAULT_MAX_DEPTH, Event, Malformed, Notice, NoticeKind, ReadError, Translator,
};
use crate::value::{Duplicate, ExactJson, JsonError, Value};

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
        let (mut value, duplicates) = match self.read(text) {
            Ok(read) => read,
            Err(error) => {
                report.differences.push(not_json(text, &error));
                return report;
            }
        };
        report.event_type = value.get("type").and_then(Value::as_str).map(str::to_owned);
        integer_forms(&value, &mut report.differences);
        for duplicate in &duplicates {
            report.differences.push(given_twice(duplicate, &value));
        }
        let mut notices = Vec::new();
        self.translator.translate(&mut value, &mut notices);
        let translated = report.differences.len();
        match Event::from_value(value) {
            Ok(mut event) => {
                let mut nulls = Vec::new();
                event.drop_retired_nulls(&mut nulls);
                event.differences_into(self.max_depth, &mut report.differences);
                report.differences.extend(nulls.iter().map(retired));
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
        for difference in report.differences.iter_mut().skip(translated) {
            if let Some(original) = self.translator.original_pointer(&difference.pointer) {
                difference.pointer = original;
            }
        }
        report.differences.extend(notices.iter().map(retired));
        if !duplicates.is_empty() {
            forget_what_is_lost(&mut report);
        }
        report
    }

    /// The value of `text` to the last digit, and the members that are given again later.
    fn read(&self, text: &str) -> Result<(Value, Vec<Duplicate>), JsonError> {
        let ExactJson { value, duplicates } = ExactJson::read_quickly(text, self.max_depth)?;
        Ok((value, duplicates))
    }
}

/// The earlier value is lost; the last one is what arrives, with its numbers as they arrive.
fn given_twice(duplicate: &Duplicate, event: &Value) -> Difference {
    let mut lost = Difference::new(&duplicate.pointer, Kind::DuplicateKey).json(&duplicate.value);
    if let Some(last) = event.pointer(&duplicate.pointer) {
        let mut arrives = last.clone();
        arrives.for_each_number(|number| {
            if let Some(arrived) = number.after_trip() {
                *number = arrived;
            }
        });
        lost.wire = Some(arrives.to_string());
    }
    lost
}

/// Of a member given twice, nothing arrives if it is in something that does not.
fn forget_what_is_lost(report: &mut Report) {
    let lost: Vec<String> = report
        .losses()
        .filter(|loss| loss.kind != Kind::DuplicateKey && loss.wire.is_none())
        .map(|loss| match loss.kind.fidelity() {
            Fidelity::Unrepresentable => String::new(),
            _ if loss.kind == Kind::UnknownEventType => String::new(),
            _ => loss.pointer.clone(),
        })
        .collect();
    let is_lost = |pointer: &str| {
        lost.iter().any(|lost| {
            pointer
                .strip_prefix(lost.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    };
    for difference in &mut report.differences {
        if difference.kind == Kind::DuplicateKey && is_lost(&difference.pointer) {
            difference.wire = None;
        }
    }
}

fn not_json(text: &str, error: &JsonError) -> Difference {
    let (pointer, reason) = match error {
        JsonError::TooDeep { .. } => return Difference::new("", Kind::TooDeep).note(error),
        JsonError::LoneSurrogate { pointer, .. } => {
            let note = "half of a surrogate pair, which UTF-8 cannot hold";
            return Difference::new(pointer, Kind::LoneSurrogate).note(&note);
        }
        JsonError::Malformed { pointer, reason } => (pointer, reason),
    };
    // Its lines are those of the event's text, not of the file that it stands in.
    let place = format!(" at line {} column {}", reason.line(), reason.column());
    let reason = reason.to_string();
    let reason = reason.strip_suffix(&place).unwrap_or(&reason);
    let shown = text.trim_start().get(..40).unwrap_or(text.trim_start());
    let note =
        if pointer.is_empty() { format!("{reason}, in {shown:?}") } else { reason.to_owned() };
    Difference::new(pointer, Kind::Malformed).note(&note)
}

/// The protocol's own integers, where they are written as decimals: `1000.0` arrives as `1000`.
fn integer_forms(event: &Value, found: &mut Vec<Difference>) {
    const COUNTS: [&str; 6] = [
        "inputTokens",
        "outputTokens",
        "totalTokens",
        "reasoningTokens",
        "cachedInputTokens",
        "cacheWriteInputTokens",
    ];
    let mut form = |member: Option<&Value>, pointer: &dyn Fn() -> String| {
        if let Some(Value::Number(number)) = member
            && !number.is_integer()
            && let Some(integer) = number.to_i64()
        {
            let arrives = Difference::new(pointer(), Kind::NumberForm).json(number);
            found.push(arrives.wire(&integer));
        }
    };
    form(event.get("timestamp"), &|| "/timestamp".to_owned());
    let has_usage =
        matches!(event.get("type").and_then(Value::as_str), Some("RUN_FINISHED" | "RUN_ERROR"));
    let usage = event.get("usage").filter(|_| has_usage).and_then(Value::as_list);
    for (index, entry) in usage.into_iter().flat_map(|list| list.iter()).enumerate() {
        for name in COUNTS {
            form(entry.get(name), &|| format!("/usage/{index}/{name}"));
        }
    }
}

fn retired(notice: &Notice) -> Difference {
    let kind = match notice.kind {
        NoticeKind::RetiredLoss { .. } => Kind::RetiredMember,
        _ => Kind::RetiredShape,
    };
    Difference::new(notice.path.pointer(), kind).note(&notice.kind)
}
