//! `roundtrip`: events to frames and back, in memory.

use std::path::Path;

use ag_ui_proto::Event;
use ag_ui_proto::codec::{HEADER_LEN, Limits, decode_payload, encode_frame};
use ag_ui_proto::value::Value;
use bytes::BytesMut;
use serde_json::json;

use crate::args::Roundtrip;
use crate::diff::first_difference;
use crate::encode::told;
use crate::failure::Failure;
use crate::input::Input;
use crate::items::Items;
use crate::look::{cut, printable};
use crate::output::Output;
use crate::read::{Fault, Reader};
use crate::report::{self, Report, count, grouped, percent};

/// What `data: ` and the empty line add to the JSON of an event.
const SSE_LEN: u64 = 8;

pub(crate) fn run(args: &Roundtrip) -> Result<(), Failure> {
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
    changed: u64,
    first: Option<Change>,
}

/// An event that did not come back the same, and the first place where it did not.
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
    let mut notices = Vec::new();
    let mut trip = Trip { limits, frame: BytesMut::new(), text: Vec::new() };
    while let Some(item) = items.next(|input| {
        report.progress(input.taken());
        Ok(())
    })? {
        let line = item.place.line;
        let place = |line: u64| format!("{}:{line}", items.input.name());
        let bad = |Fault { line, reason }| Failure::Data(format!("{}: {reason}", place(line)));
        let event = reader.read(&item, &mut notices).map_err(bad)?;
        match &event {
            None => tally.dropped += 1,
            Some(event) => {
                let change = trip
                    .go(event, &mut tally)
                    .map_err(|reason| bad(Fault { line, reason: reason.to_string() }))?;
                if let Some(change) = change {
                    tally.changed += 1;
                    tally.first.get_or_insert(Change { line, ..change });
                }
            }
        }
        for notice in notices.drain(..) {
            report.warning(place(line), told(&notice, event.as_ref()));
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
    /// Counts the event, and gives back how it changed.
    fn go(
        &mut self,
        event: &Event,
        tally: &mut Tally,
    ) -> Result<Option<Change>, Box<dyn std::error::Error>> {
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
            return Ok(None);
        }
        let before = Value::from_serialize(event)?;
        let after = back.map(|event| Value::from_serialize(&event)).transpose()?;
        let after = after.unwrap_or_default();
        Ok(first_difference(&before, &after).map(|found| Change {
            line: 0,
            pointer: found.pointer,
            before: found.before.cloned(),
            after: found.after.cloned(),
        }))
    }
}

impl Tally {
    fn is_same(&self) -> bool {
        self.changed == 0 && self.dropped == 0
    }

    fn text(&self) -> String {
        let Self { name, events, dropped, sse, frames, changed, first } = self;
        let width = grouped(*sse).len().max(grouped(*frames).len());
        let came_back = match first {
            None => "every event came back the same".to_owned(),
            Some(Change { line, pointer, before, after }) => {
                let [before, after] = [before, after].map(|value| shown(value.as_ref()));
                let changed = count(*changed, "event");
                format!("{changed} changed: first at line {line}: {pointer}: {before} -> {after}")
            }
        };
        let dropped = match dropped {
            0 => String::new(),
            dropped => format!("  {} of unknown type dropped\n", count(*dropped, "event")),
        };
        format!(
            "{}: {}\n  as server-sent events  {:>width$} bytes\n  as frames              {:>width$} bytes  {}\n  {}\n{dropped}",
            printable(name),
            count(*events, "event"),
            grouped(*sse),
            grouped(*frames),
            percent(*frames, *sse),
            printable(&came_back),
        )
    }

    fn json(&self) -> String {
        let Self { name, events, dropped, sse, frames, changed, first } = self;
        #[allow(clippy::cast_precision_loss, reason = "a ratio is not exact anyway")]
        let ratio = (*sse > 0).then(|| (*frames as f64 / *sse as f64 * 1e4).round() / 1e4);
        let first = first.as_ref().map(|Change { line, pointer, before, after }| {
            let mut change = json!({ "line": line, "path": pointer });
            for (name, value) in [("before", before), ("after", after)] {
                if let Some(value) = value {
                    change[name] = json!(value);
                }
            }
            change
        });
        let object = json!({
            "file": name, "events": events, "dropped": dropped, "sse": sse, "frames": frames,
            "ratio": ratio, "changed": changed, "first": first,
        });
        format!("{object}\n")
    }
}

fn shown(value: Option<&Value>) -> String {
    value.map_or_else(|| "(absent)".to_owned(), |value| cut(&value.to_string(), 60).into_owned())
}
