//! `compact`: the same conversation in fewer events.

use ag_ui_proto::Event;
use ag_ui_proto::codec::Options;
use ag_ui_proto::conversation;
use bytes::BytesMut;

use crate::args::{Compact, Source};
use crate::decode::List;
use crate::events::Events;
use crate::failure::Failure;
use crate::input::Input;
use crate::output::Output;
use crate::read::told;
use crate::report::{Report, grouped, percent};
use crate::rules::{self, Rules};

pub(crate) fn run(args: &Compact) -> Result<(), Failure> {
    let input = Input::open(&args.input)?;
    let path = args.output.as_deref();
    let output = match args.to {
        Source::Frames => Output::open_binary(path, &input)?,
        _ => Output::open(path, &input)?,
    };
    let report = Report::new(&input, false);
    let mut events = Events::new(input, args.from, &args.limits);
    let mut kept = Vec::new();
    let read = read(&mut events, &mut kept, &report);
    report.clear();

    let count = kept.len();
    let compacted = conversation::compact(kept)
        .map_err(|violation| Failure::Data(format!("{}: {violation}", events.name())))?;
    let after = compacted.len();
    let (written, into) = write(args, compacted, output, &report)?;
    let (taken, of) = events.taken();
    let [before, after] = [count, after].map(|count| u64::try_from(count).unwrap_or(u64::MAX));
    report.note(format!(
        "{}: {} -> {} events ({}), {} {of} -> {} {into} ({})",
        events.name(),
        grouped(before),
        grouped(after),
        percent(after, before),
        grouped(taken),
        grouped(written),
        percent(written, taken),
    ));
    match events.cut() {
        Some(cut) => read.and(Err(Failure::Data(cut.to_owned()))),
        None => read,
    }
}

/// Reads events up to the first that breaks a rule.
fn read(events: &mut Events, kept: &mut Vec<Event>, report: &Report) -> Result<(), Failure> {
    let mut rules = Rules::default();
    while let Some(read) = events.next(report, || Ok(()))? {
        let refuse = |reason| Failure::Data(format!("{}: {reason}", read.place.of(events.name())));
        let Some(event) = read.event.map_err(refuse)? else { continue };
        rules.judge(event.clone()).map_err(|violation| refuse(rules::told(&violation)))?;
        kept.push(event);
    }
    Ok(())
}

/// Writes the events in the form that is asked for: the bytes, and what they are.
fn write(
    args: &Compact,
    events: Vec<Event>,
    mut output: Output,
    report: &Report,
) -> Result<(u64, &'static str), Failure> {
    let Some(form) = args.to.form() else {
        let options = Options::from(args.limits.limits());
        let mut frame = BytesMut::new();
        for (number, event) in (1_u64..).zip(events) {
            let place = || format!("compacted event {number}");
            let notices = options
                .encode_frame(&event, &mut frame)
                .map_err(|error| Failure::Data(format!("{}: {error}", place())))?;
            for notice in notices {
                report.warning(place(), told(&notice, Some(&event)));
            }
            output.write(&frame)?;
            frame.clear();
        }
        output.flush()?;
        return Ok((output.written(), "bytes in frames"));
    };
    let mut list = List::new(form, output);
    for (number, event) in (1_u64..).zip(events) {
        list.put(&event, || format!("compacted event {number}"))?;
    }
    list.end()?;
    let into = if args.to == Source::Sse { "bytes of SSE" } else { "bytes of JSON" };
    Ok((list.output.written(), into))
}
