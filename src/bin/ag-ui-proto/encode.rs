//! `encode`: events to frames.

use ag_ui_proto::codec::encode_frame;
use ag_ui_proto::model::{Event, Notice, NoticeKind};
use bytes::BytesMut;

use crate::args::{Encode, Form};
use crate::failure::Failure;
use crate::input::Input;
use crate::items::Items;
use crate::output::Output;
use crate::read::{Fault, Reader};
use crate::report::{Report, Summary};

pub(crate) fn run(args: &Encode) -> Result<(), Failure> {
    let input = Input::open(&args.input)?;
    let mut output = Output::open_binary(args.output.as_deref(), &input)?;
    let report = Report::new(&input, args.summary);
    let mut items = Items::new(input, args.from, &args.limits);
    let mut events = 0;
    let encoded = encode(args, &mut items, &mut output, &report, &mut events);
    let flushed = output.flush();
    let result = encoded.and(flushed);

    let of = if items.form() == Some(Form::Sse) { "bytes of SSE" } else { "bytes of JSON" };
    let before = (items.input.taken(), of);
    report.finish(&Summary { events, before, after: (output.written(), "bytes in frames") });
    result
}

fn encode(
    args: &Encode,
    items: &mut Items,
    output: &mut Output,
    report: &Report,
    events: &mut u64,
) -> Result<(), Failure> {
    let limits = args.limits.limits();
    let mut reader = Reader::new(limits.max_depth(), args.strict);
    let (mut frame, mut notices) = (BytesMut::new(), Vec::new());
    loop {
        let item = items.next(|input| {
            report.progress(input.taken());
            output.flush()
        })?;
        let Some(item) = item else { return Ok(()) };
        let place = |line: u64| format!("{}:{line}", items.input.name());
        let event = reader.read(&item, &mut notices);
        let encoded = event.and_then(|event| {
            let Some(event) = event else { return Ok(None) };
            match encode_frame(&event, &limits, &mut frame) {
                Ok(left_out) => notices.extend(left_out),
                Err(error) => {
                    return Err(Fault { line: item.place.line, reason: error.to_string() });
                }
            }
            Ok(Some(event))
        });
        let event = encoded.map_err(|Fault { line, reason }| {
            Failure::Data(format!("{}: {reason}", place(line)))
        })?;
        for notice in notices.drain(..) {
            report.warning(place(item.place.line), told(&notice, event.as_ref()));
        }
        if event.is_some() {
            *events += 1;
            output.write(&frame)?;
            frame.clear();
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
