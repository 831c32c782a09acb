//! `inspect`: one line a frame.

use std::io::{self, IsTerminal};

use ag_ui_proto::codec::{Decoded, EventView, Frame, decode_payload};
use ag_ui_proto::value::{Object, Value};
use ag_ui_proto::{Event, EventType};
use console::Term;

use crate::args::Inspect;
use crate::decode::no_events;
use crate::failure::Failure;
use crate::frames::{Frames, frame_len};
use crate::input::Input;
use crate::look::{content, cut, ids, printable, short_id};
use crate::output::Output;

/// Columns of the look where no terminal sets them.
const LOOK: usize = 60;

pub(crate) fn run(args: &Inspect) -> Result<(), Failure> {
    let mut frames = Frames::new(Input::open(&args.input)?, args.limits.limits());
    let mut output = Output::stdout();
    let columns = io::stdout().is_terminal().then(|| Term::stdout().size_checked()).flatten();
    let columns = columns.map(|(_, columns)| usize::from(columns));
    if columns.is_some() && !args.json {
        let head = format!(
            "{:>6} {:>10} {:>8}  {:<25}  {:<22}  content\n",
            "frame", "offset", "len", "type", "ids"
        );
        output.write(head.as_bytes())?;
    }
    let result = inspect(args, &mut frames, &mut output, columns);
    let last = output.flush();
    result.and(last)
}

fn inspect(
    args: &Inspect,
    frames: &mut Frames,
    output: &mut Output,
    columns: Option<usize>,
) -> Result<(), Failure> {
    let limits = args.limits.limits();
    let (mut seen, mut refused) = (0, 0);
    while let Some(frame) = frames.next(|_| output.flush())? {
        seen += 1;
        let view = EventView::read_within(&frame.payload, &limits);
        let look = view.and_then(|view| Look::delta(&view));
        let look = look.unwrap_or_else(|| match decode_payload(&frame.payload, &limits) {
            Ok(Decoded { event: Some(event), .. }) => Look::event(&event),
            Ok(Decoded { event: None, notices, .. }) => {
                let reasons: Vec<_> = notices.iter().map(ToString::to_string).collect();
                Look::Dropped(reasons.join("; "))
            }
            Err(error) => Look::Refused(error.to_string()),
        });
        refused += u64::from(matches!(look, Look::Refused(_)));
        let line = if args.json { look.object(&frame) } else { look.line(&frame, columns) };
        output.write(line.as_bytes())?;
        output.write(b"\n")?;
    }
    no_events(frames.input.name(), refused, seen)
}

/// What is shown of a frame.
enum Look {
    Event(&'static str, Value),
    Dropped(String),
    Refused(String),
}

impl Look {
    /// A delta, which nearly every frame of a stream is: it is looked at where it lies.
    fn delta(view: &EventView<'_>) -> Option<Self> {
        let (name, id) = match view.event_type() {
            EventType::TextMessageContent | EventType::ReasoningMessageContent => {
                ("messageId", view.message_id()?)
            }
            EventType::ToolCallArgs => ("toolCallId", view.tool_call_id()?),
            _ => return None,
        };
        let mut event = Object::from([(name, id), ("delta", view.delta()?)]);
        if let Some(subagent) = view.subagent_run_id() {
            event.insert("subagentRunId", subagent);
        }
        Some(Self::Event(view.event_type().as_str(), event.into()))
    }

    fn event(event: &Event) -> Self {
        match Value::from_serialize(event) {
            Ok(value) => Self::Event(event.event_type().as_str(), value),
            Err(error) => Self::Refused(error.to_string()),
        }
    }

    fn line(&self, frame: &Frame, columns: Option<usize>) -> String {
        let start = format!("{:>6} {:>10} {:>8}  ", frame.number, frame.offset, frame_len(frame));
        let (start, content) = match self {
            Self::Event(name, event) => {
                let ids: Vec<_> = ids(event)
                    .map(|(name, id)| {
                        format!("{}={}", name.trim_end_matches("Id"), printable(&short_id(id)))
                    })
                    .collect();
                (format!("{start}{name:<25}  {:<22}  ", ids.join(" ")), content(event, 4 * 256))
            }
            Self::Dropped(reason) => {
                (format!("{start}{:<25}  ", "(later version)"), reason.clone())
            }
            Self::Refused(reason) => (format!("{start}{:<25}  ", "(no event)"), reason.clone()),
        };
        let content = printable(&content);
        let line = match (columns, self) {
            (Some(columns), _) => cut(&format!("{start}{content}"), columns).into_owned(),
            (None, Self::Event(..)) => start + &cut(&content, LOOK),
            (None, _) => start + &content,
        };
        line.trim_end().to_owned()
    }

    fn object(&self, frame: &Frame) -> String {
        let mut object = Object::from([
            ("frame", frame.number),
            ("offset", frame.offset),
            ("len", frame_len(frame)),
        ]);
        match self {
            Self::Event(name, event) => {
                let ids = ids(event).map(|(name, id)| (name.to_owned(), Value::from(id)));
                object.insert("type", *name);
                object.insert("ids", ids.collect::<Object>());
                object.insert("content", cut(&content(event, 4 * LOOK), LOOK).into_owned());
            }
            Self::Dropped(reason) => {
                object.insert("dropped", reason.as_str());
            }
            Self::Refused(reason) => {
                object.insert("error", reason.as_str());
            }
        }
        object.to_string()
    }
}
