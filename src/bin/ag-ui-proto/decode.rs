//! `decode`: frames to events.

use ag_ui_proto::codec::{Decoded, Options};
use serde_json::json;

use crate::args::{Decode, Form};
use crate::failure::Failure;
use crate::frames::Frames;
use crate::input::Input;
use crate::output::Output;
use crate::read::told;
use crate::report::{Report, Summary, count};

pub(crate) fn run(args: &Decode) -> Result<(), Failure> {
    let input = Input::open(&args.input)?;
    let output = Output::open(args.output.as_deref(), &input)?;
    let report = Report::new(&input, args.summary);
    let mut frames = Frames::new(input, args.limits.limits());
    let mut list = List::new(args.to, output);
    let mut events = 0;
    let decoded = decode(args, &mut frames, &mut list, &report, &mut events);
    // A reader of an array is owed its end, whatever happened; one that is gone is not.
    let result = match decoded {
        Err(Failure::BrokenPipe) => decoded,
        decoded => {
            let end = list.end();
            decoded.and(end)
        }
    };
    let before = (frames.input.taken(), "bytes in frames");
    let of = if args.to == Form::Sse { "bytes of SSE" } else { "bytes of JSON" };
    report.finish(&Summary { events, before, after: (list.output.written(), of) });
    result
}

fn decode(
    args: &Decode,
    frames: &mut Frames,
    list: &mut List,
    report: &Report,
    events: &mut u64,
) -> Result<(), Failure> {
    let mut options = Options::from(args.limits.limits());
    if args.exact_numbers {
        options = options.with_exact_numbers();
    }
    let (mut seen, mut refused) = (0, 0);
    loop {
        let frame = frames.next(|input| {
            report.progress(input.taken());
            list.output.flush()
        })?;
        let Some(frame) = frame else { break };
        seen += 1;
        match options.decode(&frame.payload) {
            Ok(Decoded { event: Some(event), notices, .. }) => {
                for notice in notices {
                    report.warning(frames.place(&frame), told(&notice, Some(&event)));
                }
                *events += 1;
                list.put(&event, || frames.place(&frame))?;
            }
            Ok(Decoded { event: None, notices, .. }) => {
                let reasons: Vec<_> = notices.iter().map(ToString::to_string).collect();
                let reason = reasons.join("; ");
                if args.keep_going {
                    list.put(&json!({ "dropped": reason }), || frames.place(&frame))?;
                } else {
                    report.warning(frames.place(&frame), reason);
                }
            }
            Err(error) if args.keep_going => {
                refused += 1;
                list.put(&json!({ "error": error.to_string() }), || frames.place(&frame))?;
            }
            Err(error) => {
                return Err(Failure::Data(format!("{}: {error}", frames.place(&frame))));
            }
        }
    }
    no_events(frames.input.name(), refused, seen)
}

/// The failure that `refused` of `seen` frames were no events, if any was.
pub(crate) fn no_events(name: &str, refused: u64, seen: u64) -> Result<(), Failure> {
    if refused == 0 {
        return Ok(());
    }
    let (are, events) = if refused == 1 { ("is", "no event") } else { ("are", "no events") };
    Err(Failure::Data(format!("{name}: {refused} of {} {are} {events}", count(seen, "frame"))))
}

/// JSON values on their way out, in one of the forms.
pub(crate) struct List {
    form: Form,
    items: u64,
    text: Vec<u8>,
    pub(crate) output: Output,
}

impl List {
    pub(crate) fn new(form: Form, output: Output) -> Self {
        Self { form, items: 0, text: Vec::new(), output }
    }

    pub(crate) fn put(
        &mut self,
        value: &impl serde::Serialize,
        place: impl FnOnce() -> String,
    ) -> Result<(), Failure> {
        let (before, after) = match self.form {
            Form::Jsonl => ("", "\n"),
            Form::Array if self.items == 0 => ("[\n", ""),
            Form::Array => (",\n", ""),
            Form::Sse => ("data: ", "\n\n"),
        };
        self.text.clear();
        self.text.extend_from_slice(before.as_bytes());
        serde_json::to_writer(&mut self.text, value)
            .map_err(|error| Failure::Data(format!("{}: {error}", place())))?;
        self.text.extend_from_slice(after.as_bytes());
        self.items += 1;
        self.output.write(&self.text)
    }

    pub(crate) fn end(&mut self) -> Result<(), Failure> {
        match self.form {
            Form::Array if self.items == 0 => self.output.write(b"[]\n")?,
            Form::Array => self.output.write(b"\n]\n")?,
            Form::Jsonl | Form::Sse => {}
        }
        self.output.flush()
    }
}
