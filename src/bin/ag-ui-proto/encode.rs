//! `encode`: events to frames.

use ag_ui_proto::codec::Options;
use ag_ui_proto::fidelity::{Checker, Fidelity, Kind};
use bytes::BytesMut;

use crate::args::{Encode, Form};
use crate::failure::Failure;
use crate::input::Input;
use crate::items::Items;
use crate::output::Output;
use crate::place::Item;
use crate::read::{Fault, Reader, text_of, told};
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
    let mut reader = Reader::new(limits.max_depth(), args.validate);
    let mut options = Options::from(limits);
    if args.exact_numbers {
        options = options.with_exact_numbers();
    }
    let mut checker = args.strict.then(|| Checker::new().with_max_depth(limits.max_depth()));
    let (mut frame, mut warnings) = (BytesMut::new(), Vec::new());
    loop {
        let item = items.next(|input| {
            report.progress(input.taken());
            output.flush()
        })?;
        let Some(item) = item else { return Ok(()) };
        let place = |line: u64| format!("{}:{line}", items.input.name());
        let kept = checker.as_mut().map_or(Ok(()), |checker| refuse_loss(&item, checker, args));
        let event = kept.and_then(|()| reader.read(&item, &mut warnings));
        let encoded = event.and_then(|event| {
            let Some(event) = event else { return Ok(None) };
            match options.encode_frame(&event, &mut frame) {
                Ok(left_out) => {
                    warnings.extend(left_out.iter().map(|notice| told(notice, Some(&event))));
                }
                Err(error) => {
                    return Err(Fault { line: item.place.line, reason: error.to_string() });
                }
            }
            Ok(Some(event))
        });
        let event = encoded.map_err(|Fault { line, reason }| {
            Failure::Data(format!("{}: {reason}", place(line)))
        })?;
        for warning in warnings.drain(..) {
            report.warning(place(item.place.line), warning);
        }
        if event.is_some() {
            *events += 1;
            output.write(&frame)?;
            frame.clear();
        }
    }
}

/// Judges the text, since an event that was read has lost digits and keys given twice.
fn refuse_loss(item: &Item, checker: &mut Checker, args: &Encode) -> Result<(), Fault> {
    let found = checker.check(text_of(item)?);
    let precision = [Kind::IntegerPrecision, Kind::DecimalPrecision];
    let lost: Vec<_> = found
        .losses()
        .filter(|loss| !(args.exact_numbers && precision.contains(&loss.kind)))
        // What is malformed is told by the reader, with its line.
        .filter(|loss| loss.kind.fidelity() == Fidelity::Lossy)
        .map(ToString::to_string)
        .collect();
    if lost.is_empty() {
        return Ok(());
    }
    let event_type = found.event_type.map(|name| format!("{name}: ")).unwrap_or_default();
    Err(Fault { line: item.place.line, reason: format!("{event_type}{}", lost.join("; ")) })
}
