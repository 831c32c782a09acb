//! `check`: what a trip over the wire would change, before anything is sent.

use std::collections::BTreeMap;

use ag_ui_proto::fidelity::{Checker, Difference, Kind, Report as Found};
use ag_ui_proto::value::Object;

use crate::args::{Check, Ignored};
use crate::failure::Failure;
use crate::input::Input;
use crate::items::Items;
use crate::look::{cut, printable};
use crate::output::Output;
use crate::place::Item;
use crate::read::{Fault, text_of};
use crate::report::{Report, count, grouped};

/// Path patterns told apart; what comes after is counted together, so that memory stays bounded.
const MAX_PATTERNS: usize = 1000;

pub(crate) fn run(args: &Check) -> Result<(), Failure> {
    let input = Input::open(&args.input)?;
    let mut output = Output::open(args.output.as_deref(), &input)?;
    let report = Report::new(&input, false);
    let mut items = Items::new(input, args.from, &args.limits);
    let mut tally = Tally::default();
    let checked = check(args, &mut items, &mut output, &report, &mut tally);
    report.clear();
    if !matches!(checked, Err(Failure::BrokenPipe)) {
        tally.write(args, items.input.name(), checked.is_ok(), &mut output)?;
    }
    output.flush()?;
    checked?;
    if tally.losses > 0 { Err(Failure::Told) } else { Ok(()) }
}

fn check(
    args: &Check,
    items: &mut Items,
    output: &mut Output,
    report: &Report,
    tally: &mut Tally,
) -> Result<(), Failure> {
    let limits = args.limits.limits();
    let mut checker = Checker::new().with_max_depth(limits.max_depth());
    loop {
        let item = items.next(|input| {
            report.progress(input.taken());
            output.flush()
        })?;
        let Some(item) = item else { return Ok(()) };
        let text = text_of(&item).map_err(|Fault { line, reason }| {
            Failure::Data(format!("{}:{line}: {reason}", items.input.name()))
        })?;
        let found = checker.check(text);
        let mut is_changed = false;
        for difference in &found.differences {
            if args.ignores(difference.kind) {
                continue;
            }
            is_changed = true;
            tally.add(difference);
            if !args.summary {
                let line = if args.json {
                    as_json(difference, &found, &item, tally.events)
                } else {
                    as_text(difference, &found, &item, items.input.name())
                };
                output.write(line.as_bytes())?;
            }
        }
        tally.events += 1;
        tally.changed += u64::from(is_changed);
    }
}

impl Check {
    fn ignores(&self, kind: Kind) -> bool {
        !self.all
            && self.ignore.iter().any(|ignored| match ignored {
                Ignored::Harmless => kind.is_harmless(),
                Ignored::Kind(ignored) => *ignored == kind,
            })
    }
}

fn as_text(difference: &Difference, found: &Found, item: &Item, name: &str) -> String {
    let mut shown = difference.clone();
    for value in [&mut shown.json, &mut shown.wire].into_iter().flatten() {
        *value = cut(value, 80).into_owned();
    }
    let event_type = found.event_type.as_ref().filter(|name| !name.is_empty());
    let event_type = event_type.map(|name| format!("{name}: ")).unwrap_or_default();
    let line = format!("{name}:{}: {event_type}{shown}", item.place.line);
    format!("{}\n", printable(&line))
}

fn as_json(difference: &Difference, found: &Found, item: &Item, event: u64) -> String {
    let mut object = Object::new();
    object.insert("event", event);
    object.insert("line", item.place.line);
    let mut put = |name: &str, text: Option<&str>| {
        if let Some(text) = text {
            object.insert(name, text);
        }
    };
    put("type", found.event_type.as_deref());
    put("path", Some(&difference.pointer));
    put("loss", Some(difference.kind.as_str()));
    put("json", difference.json.as_deref());
    put("wire", difference.wire.as_deref());
    put("note", difference.note.as_deref());
    format!("{object}\n")
}

/// What was found in all.
#[derive(Default)]
struct Tally {
    events: u64,
    /// Events with a difference that counts.
    changed: u64,
    /// Differences that change the meaning.
    losses: u64,
    differences: u64,
    patterns: BTreeMap<(Kind, String), u64>,
}

impl Tally {
    fn add(&mut self, difference: &Difference) {
        self.differences += 1;
        self.losses += u64::from(!difference.kind.is_harmless());
        let mut key = (difference.kind, pattern(&difference.pointer));
        if self.patterns.len() >= MAX_PATTERNS && !self.patterns.contains_key(&key) {
            "(elsewhere)".clone_into(&mut key.1);
        }
        *self.patterns.entry(key).or_default() += 1;
    }

    fn write(
        &self,
        args: &Check,
        name: &str,
        is_whole: bool,
        output: &mut Output,
    ) -> Result<(), Failure> {
        if args.json {
            if args.summary {
                for ((kind, path), times) in &self.patterns {
                    let mut object = Object::from([("loss", kind.as_str()), ("path", path)]);
                    object.insert("times", *times);
                    output.write(format!("{object}\n").as_bytes())?;
                }
            }
            return Ok(());
        }
        if self.differences > 0 && !args.summary {
            output.write(b"\n")?;
        }
        let events = count(self.events, "event");
        let verdict = if self.differences == 0 && !is_whole {
            "then the input is damaged".to_owned()
        } else if self.differences == 0 {
            "nothing is lost".to_owned()
        } else {
            let differences = count(self.differences, "difference");
            format!("{differences} in {} of them", grouped(self.changed))
        };
        output.write(
            format!("{}\n", printable(&format!("{name}: {events}, {verdict}"))).as_bytes(),
        )?;
        let width = self.patterns.keys().map(|(kind, _)| kind.as_str().len()).max().unwrap_or(0);
        for ((kind, path), times) in &self.patterns {
            let path = if path.is_empty() { "(the event)" } else { path };
            let line = format!("  {kind:width$}  {path}: {}", count(*times, "time"));
            output.write(format!("{}\n", printable(&line)).as_bytes())?;
        }
        Ok(())
    }
}

/// The pointer with `*` for indexes and for keys that look like ids: `/metadata/*/id`.
fn pattern(pointer: &str) -> String {
    let step = |step: &str| {
        let digits = step.bytes().filter(u8::is_ascii_digit).count();
        let is_index = digits > 0 && digits == step.len();
        let is_id = digits > 0 && step.len() >= 8;
        if is_index || is_id { "*".to_owned() } else { step.to_owned() }
    };
    pointer.split('/').map(step).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_has_stars_for_indexes_and_ids() {
        for (pointer, expected) in [
            ("", ""),
            ("/metadata/3/id", "/metadata/*/id"),
            ("/snapshot/5f2b9c1e-77/order_id", "/snapshot/*/order_id"),
            ("/value/x2", "/value/x2"),
        ] {
            assert_eq!(pattern(pointer), expected);
        }
    }
}
