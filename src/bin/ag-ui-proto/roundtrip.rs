//! `roundtrip`: events to frames and back, in memory.

use std::path::Path;

use ag_ui_proto::Event;
use ag_ui_proto::codec::{HEADER_LEN, Limits, decode_payload, encode_frame};
use ag_ui_proto::fidelity::{Checker, Difference as Loss};
use ag_ui_proto::value::{ExactJson, MAX_DEPTH, Object, Value};
use bytes::BytesMut;

use crate::args::Roundtrip;
use crate::diff::differences;
use crate::failure::Failure;
use crate::input::{Input, check_stdin};
use crate::items::Items;
use crate::look::{cut, printable};
use crate::output::Output;
use crate::read::{Fault, Reader, text_of};
use crate::report::{self, Report, count, grouped, percent};

/// What `data: ` and the empty line add to the JSON of an event.
const SSE_LEN: u64 = 8;

pub(crate) fn run(args: &Roundtrip) -> Result<(), Failure> {
    check_stdin(&args.inputs)?;
    let mut output = Output::stdout();
    let mut result = Ok(());
    for path in &args.inputs {
        let one = roundtrip(args, path).and_then(|tally| {
            let text = if args.json { tally.json() } else { tally.text() };
            output.write(text.as_bytes())?;
            output.flush()?;
            if tally.is_same() { Ok(()) } else { Err(Failure::Told) }
        });
        match one {
            // The other files have a right to be looked at.
            Err(Failure::Data(text)) => {
                report::error(&text);
                result = Err(Failure::Told);
            }
            Err(Failure::Told) => result = Err(Failure::Told),
            Err(failure) => return Err(failure),
            Ok(()) => {}
        }
    }
    result
}

/// What was found in one file.
#[derive(Default)]
struct Tally {
    name: String,
    events: u64,
    dropped: u64,
    sse: u64,
    frames: u64,
    /// Events that say something else than before.
    changed: Changes,
    /// Events that say the same in another form.
    reformed: Changes,
}

#[derive(Default)]
struct Changes {
    events: u64,
    first: Option<Change>,
}

/// A place in an event that did not come back the same.
struct Change {
    line: u64,
    pointer: String,
    before: Option<Value>,
    after: Option<Value>,
}

fn roundtrip(args: &Roundtrip, path: &Path) -> Result<Tally, Failure> {
    let limits = args.limits.limits();
    let input = Input::open(path)?;
    let report = Report::new(&input, false);
    let mut tally = Tally { name: input.name().to_owned(), ..Tally::default() };
    let mut items = Items::new(input, args.from, &args.limits);
    let mut reader = Reader::new(limits.max_depth(), false);
    let mut checker = Checker::new().with_max_depth(limits.max_depth());
    let mut warnings = Vec::new();
    let mut trip = Trip { limits, frame: BytesMut::new(), text: Vec::new() };
    while let Some(item) = items.next(|input| {
        report.progress(input.taken());
        Ok(())
    })? {
        let line = item.place.line;
        let place = |line: u64| format!("{}:{line}", items.input.name());
        let bad = |Fault { line, reason }| Failure::Data(format!("{}: {reason}", place(line)));
        let event = reader.read(&item, &mut warnings).map_err(bad)?;
        let known = tally.changed.events;
        match &event {
            None => tally.dropped += 1,
            Some(event) => {
                trip.go(event, line, &mut tally)
                    .map_err(|reason| bad(Fault { line, reason: reason.to_string() }))?;
                // What was lost in reading, such as a key given twice, no trip shows.
                let found = checker.check(text_of(&item).map_err(bad)?);
                if let (true, Some(loss)) = (tally.changed.events == known, found.losses().next()) {
                    tally.changed.add(Change::of(loss, line));
                }
            }
        }
        for warning in warnings.drain(..) {
            report.warning(place(line), warning);
        }
    }
    report.clear();
    Ok(tally)
}

/// Buffers that every trip uses.
struct Trip {
    limits: Limits,
    frame: BytesMut,
    text: Vec<u8>,
}

impl Trip {
    /// Counts the event, which stands on `line`, and how it changed.
    fn go(
        &mut self,
        event: &Event,
        line: u64,
        tally: &mut Tally,
    ) -> Result<(), Box<dyn std::error::Error>> {
        self.frame.clear();
        self.text.clear();
        serde_json::to_writer(&mut self.text, event)?;
        encode_frame(event, &self.limits, &mut self.frame)?;
        tally.events += 1;
        tally.sse += u64::try_from(self.text.len())? + SSE_LEN;
        tally.frames += u64::try_from(self.frame.len())?;
        let payload = self.frame.get(HEADER_LEN..).unwrap_or_default();
        let back = decode_payload(payload, &self.limits)?.event;
        if back.as_ref() == Some(event) {
            return Ok(());
        }
        let before = Value::from_serialize(event)?;
        let after = back.map(|event| Value::from_serialize(&event)).transpose()?;
        let (mut worst, after) = (None, after.unwrap_or_default());
        differences(&before, &after, &mut |found| match &worst {
            Some((false, _)) => {}
            Some((true, _)) if found.is_in_form_only() => {}
            _ => worst = Some((found.is_in_form_only(), found)),
        });
        if let Some((is_in_form_only, found)) = worst {
            let changes = if is_in_form_only { &mut tally.reformed } else { &mut tally.changed };
            changes.add(Change {
                line,
                pointer: found.pointer,
                before: found.before.cloned(),
                after: found.after.cloned(),
            });
        }
        Ok(())
    }
}

impl Tally {
    fn is_same(&self) -> bool {
        self.changed.events == 0 && self.dropped == 0
    }

    fn text(&self) -> String {
        let [sse, frames] = [self.sse, self.frames].map(grouped);
        let width = sse.len().max(frames.len());
        let ratio = percent(self.frames, self.sse);
        let mut lines = vec![
            format!("{}: {}", self.name, count(self.events, "event")),
            format!("  as server-sent events  {sse:>width$} bytes"),
            format!("  as frames              {frames:>width$} bytes  {ratio}"),
        ];
        lines.extend(self.changed.text("changed"));
        lines.extend(self.reformed.text("changed in form only"));
        if self.dropped > 0 {
            lines.push(format!("  {} of unknown type dropped", count(self.dropped, "event")));
        }
        if lines.len() == 3 {
            lines.push("  every event came back the same".to_owned());
        }
        lines.iter().flat_map(|line| [printable(line), "\n".into()]).collect()
    }

    fn json(&self) -> String {
        #[allow(clippy::cast_precision_loss, reason = "a ratio is not exact anyway")]
        let ratio = self.frames as f64 / self.sse.max(1) as f64;
        let object = Object::from([
            ("file", Value::from(self.name.as_str())),
            ("events", self.events.into()),
            ("dropped", self.dropped.into()),
            ("sse", self.sse.into()),
            ("frames", self.frames.into()),
            ("ratio", ((ratio * 1e4).round() / 1e4).into()),
            ("changed", self.changed.object().into()),
            ("changedInFormOnly", self.reformed.object().into()),
        ]);
        format!("{object}\n")
    }
}

impl Change {
    fn of(loss: &Loss, line: u64) -> Self {
        let value = |text: &Option<String>| {
            let exact = text.as_deref().map(|text| ExactJson::read(text, MAX_DEPTH));
            exact.and_then(Result::ok).map(|exact| exact.value)
        };
        let (before, after) = (value(&loss.json), value(&loss.wire));
        Self { line, pointer: loss.pointer.clone(), before, after }
    }
}

impl Changes {
    fn add(&mut self, change: Change) {
        self.events += 1;
        self.first.get_or_insert(change);
    }

    fn text(&self, how: &str) -> Option<String> {
        let Change { line, pointer, before, after } = self.first.as_ref()?;
        let [before, after] = [before, after].map(|value| match value {
            Some(value) => cut(&value.to_string(), 60).into_owned(),
            None => "(absent)".to_owned(),
        });
        let events = count(self.events, "event");
        Some(format!("  {events} {how}: first at line {line}: {pointer}: {before} -> {after}"))
    }

    fn object(&self) -> Object {
        let mut object = Object::from([("events", self.events)]);
        if let Some(Change { line, pointer, before, after }) = &self.first {
            let mut first =
                Object::from([("line", Value::from(*line)), ("path", pointer.as_str().into())]);
            for (name, value) in [("before", before), ("after", after)] {
                if let Some(value) = value {
                    first.insert(name, value.clone());
                }
            }
            object.insert("first", first);
        }
        object
    }
}
