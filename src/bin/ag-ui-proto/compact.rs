//! `compact`: the same conversation in fewer events.

use ag_ui_proto::Event;
use ag_ui_proto::codec::Options;
use ag_ui_proto::conversation::{Compactor, Extras, LeftOut};
use bytes::BytesMut;

use crate::args::{Compact, Keep, Source};
use crate::decode::List;
use crate::events::Events;
use crate::failure::Failure;
use crate::input::Input;
use crate::output::Output;
use crate::read::told;
use crate::report::{Report, count, grouped, percent};
use crate::rules;

pub(crate) fn run(args: &Compact) -> Result<(), Failure> {
    let input = Input::open(&args.input)?;
    let path = args.output.as_deref();
    let output = match args.to {
        Source::Frames => Output::open_binary(path, &input)?,
        _ => Output::open(path, &input)?,
    };
    let report = Report::new(&input, false);
    let mut events = Events::new(input, args.from, &args.limits);
    let mut sink = Sink::new(args, output);
    let compacted = compact(args, &mut events, &mut sink, &report);
    // A reader of an array is owed its end, whatever happened; one that is gone is not.
    let counted = match compacted {
        Err(Failure::BrokenPipe) => compacted,
        compacted => {
            let end = sink.end();
            compacted.and_then(|compacted| end.map(|()| compacted))
        }
    };
    report.clear();
    let Compacted { before, left_out, refusal } = counted?;
    if let Some(left_out) = list(&left_out) {
        report.note(format!("{}: left out: {left_out}", events.name()));
    }
    refusal?;
    if let Some(cut) = events.cut() {
        return Err(Failure::Data(cut.to_owned()));
    }
    let (taken, of) = events.taken();
    let (written, into) = sink.written();
    report.note(format!(
        "{}: {} -> {} events ({}), {} {of} -> {} {into} ({})",
        events.name(),
        grouped(before),
        grouped(sink.events),
        percent(sink.events, before),
        grouped(taken),
        grouped(written),
        percent(written, taken),
    ));
    Ok(())
}

/// What was left out in words, if anything was.
fn list(left_out: &LeftOut) -> Option<String> {
    let LeftOut { timestamps, raw_events, metadata, tags, failed_patches, .. } = *left_out;
    let counts = [
        (timestamps, "timestamp"),
        (raw_events, "rawEvent"),
        (metadata, "metadata value"),
        (tags, "subagent tag"),
        (failed_patches, "failed patch"),
    ];
    let counts = counts.iter().filter(|(number, _)| *number > 0);
    let words: Vec<_> = counts
        .map(|(number, what)| match (number, what.strip_suffix("patch")) {
            (2.., Some(what)) => format!("{} {what}patches", grouped(*number)),
            _ => count(*number, what),
        })
        .collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// What became of a stream.
struct Compacted {
    /// The events that were read, those included that this version does not know.
    before: u64,
    left_out: LeftOut,
    /// Why it was not read to its end.
    refusal: Result<(), Failure>,
}

/// Compacts up to the first event that breaks a rule.
fn compact(
    args: &Compact,
    events: &mut Events,
    sink: &mut Sink,
    report: &Report,
) -> Result<Compacted, Failure> {
    let mut compactor = Compactor::new()
        .with_timestamps(args.timestamps.into())
        .with_raw_events(args.raw_events.into());
    let mut ready = Vec::new();
    let mut before = 0;
    let mut refusal = Ok(());
    while let Some(read) = events.next(report, || Ok(())).transpose() {
        let pushed = read.and_then(|read| {
            let refuse =
                |reason| Failure::Data(format!("{}: {reason}", read.place.of(events.name())));
            let Some(event) = read.event.map_err(refuse)? else { return Ok(()) };
            let pushed = compactor.push(event, &mut ready);
            pushed.map_err(|violation| refuse(rules::told(&violation)))
        });
        before += 1;
        sink.put_all(&mut ready, report)?;
        if pushed.is_err() {
            refusal = pushed;
            break;
        }
    }
    let left_out = compactor.finish(&mut ready);
    sink.put_all(&mut ready, report)?;
    Ok(Compacted { before, left_out, refusal })
}

impl From<Keep> for Extras {
    fn from(keep: Keep) -> Self {
        match keep {
            Keep::All => Self::Keep,
            Keep::Own => Self::Merge,
            Keep::None => Self::Drop,
        }
    }
}

/// Where events go, in the form that is asked for.
struct Sink {
    events: u64,
    form: Form,
}

enum Form {
    Texts { list: List, name: &'static str },
    Frames { output: Output, options: Options, frame: BytesMut },
}

impl Sink {
    fn new(args: &Compact, output: Output) -> Self {
        let form = match args.to.form() {
            None => {
                let options = Options::from(args.limits.limits());
                Form::Frames { output, options, frame: BytesMut::new() }
            }
            Some(form) => {
                let is_sse = args.to == Source::Sse;
                let name = if is_sse { "bytes of SSE" } else { "bytes of JSON" };
                Form::Texts { list: List::new(form, output), name }
            }
        };
        Self { events: 0, form }
    }

    fn put_all(&mut self, events: &mut Vec<Event>, report: &Report) -> Result<(), Failure> {
        events.drain(..).try_for_each(|event| self.put(&event, report))
    }

    fn put(&mut self, event: &Event, report: &Report) -> Result<(), Failure> {
        self.events += 1;
        let number = self.events;
        let place = || format!("compacted event {number}");
        match &mut self.form {
            Form::Texts { list, .. } => list.put(event, place),
            Form::Frames { output, options, frame } => {
                frame.clear();
                let notices = options
                    .encode_frame(event, frame)
                    .map_err(|error| Failure::Data(format!("{}: {error}", place())))?;
                for notice in notices {
                    report.warning(place(), told(&notice, Some(event)));
                }
                output.write(frame)
            }
        }
    }

    fn end(&mut self) -> Result<(), Failure> {
        match &mut self.form {
            Form::Texts { list, .. } => list.end(),
            Form::Frames { output, .. } => output.flush(),
        }
    }

    /// The bytes that were written, and what they are.
    fn written(&self) -> (u64, &'static str) {
        match &self.form {
            Form::Texts { list, name } => (list.output.written(), name),
            Form::Frames { output, .. } => (output.written(), "bytes in frames"),
        }
    }
}
