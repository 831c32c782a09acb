//! `apply`: what a stream comes to.

use std::fmt::Write as _;

use ag_ui_proto::EventType;
use ag_ui_proto::conversation::{Consumed, Consumer, Conversation, Delivered, RunResult};
use ag_ui_proto::model::{Body, Message};
use serde::Serialize;

use crate::args::Apply;
use crate::events::Events;
use crate::failure::Failure;
use crate::input::Input;
use crate::look::printable;
use crate::output::Output;
use crate::report::Report;
use crate::rules::refusal;

pub(crate) fn run(args: &Apply) -> Result<(), Failure> {
    let input = Input::open(&args.input)?;
    let report = Report::new(&input, false);
    let mut events = Events::new(input, args.from, &args.limits);
    let mut found = Found::default();
    let mut consumer = Consumer::new(Conversation::new());
    let read = consume(&mut events, &mut consumer, &mut found, &report);
    report.clear();
    match read {
        // Input that cannot be cut into events is a stream that is refused.
        Err(Failure::Data(reason)) => found.error = Some(reason),
        read => read?,
    }
    let Consumed { conversation, result } = consumer.finish();
    let outcome = match (&found.error, result) {
        (Some(_), _) | (None, RunResult::Rejected(_)) => "failed",
        (None, RunResult::Truncated) => "truncated",
        (None, RunResult::Finished(_) | RunResult::Failed(_)) => "completed",
    };
    let mut output = Output::stdout();
    let text = if args.json {
        found.json(outcome, &conversation)
    } else {
        found.text(outcome, &conversation)
    };
    output.write(text.map_err(|error| Failure::Data(error.to_string()))?.as_bytes())?;
    output.flush()?;
    match (&found.error, events.cut()) {
        (Some(error), _) => report.error(error),
        (None, Some(cut)) => report.error(cut),
        (None, None) if outcome == "truncated" => {
            let name = events.name();
            report.error(format!("{name}: truncated: the stream ended before a run did"));
        }
        (None, None) => return Ok(()),
    }
    Err(Failure::Told)
}

/// What is found on the way, besides the conversation.
#[derive(Default)]
struct Found {
    /// Why the stream is refused, and where.
    error: Option<String>,
    run_error: Option<String>,
    event_types: Vec<EventType>,
    warnings: Vec<String>,
}

fn consume(
    events: &mut Events,
    consumer: &mut Consumer,
    found: &mut Found,
    report: &Report,
) -> Result<(), Failure> {
    let mut delivered = Delivered::default();
    while let Some(read) = events.next(report, || Ok(()))? {
        let place = || read.place.of(events.name());
        found.warnings.extend(read.notices.iter().map(|notice| format!("{}: {notice}", place())));
        let event = match read.event {
            Ok(Some(event)) => event,
            Ok(None) => continue,
            Err(reason) => {
                found.error = Some(format!("{}: {reason}", place()));
                return Ok(());
            }
        };
        if let Err(rejection) = consumer.push(event, &mut delivered) {
            found.error = Some(format!("{}: {}", place(), refusal(rejection)));
        }
        for warning in delivered.warnings.drain(..) {
            report.warning(place(), &warning.kind);
            found.warnings.push(format!("{}: {}", place(), warning.kind));
        }
        for event in delivered.events.drain(..) {
            found.event_types.push(event.event_type());
            if let Body::RunError(body) = event.body {
                found.run_error = Some(body.message);
            }
        }
        if found.error.is_some() {
            return Ok(());
        }
    }
    Ok(())
}

impl Found {
    /// One object on one line. Numbers keep all their digits.
    fn json(&self, outcome: &str, conversation: &Conversation) -> serde_json::Result<String> {
        let mut out = format!("{{\"outcome\":{}", to_json(&outcome)?);
        let mut member = |name: &str, json: String| {
            let _ = write!(out, ",\"{name}\":{json}");
        };
        if let Some(error) = &self.error {
            member("error", to_json(error)?);
        }
        if let Some(message) = &self.run_error {
            member("runError", to_json(message)?);
        }
        let types: Vec<_> = self.event_types.iter().map(ToString::to_string).collect();
        member("eventTypes", to_json(&types)?);
        member("messages", to_json(&conversation.messages().collect::<Vec<_>>())?);
        member("state", to_json(conversation.state())?);
        member("warnings", to_json(&self.warnings)?);
        out.push_str("}\n");
        Ok(out)
    }

    /// A line for the outcome, one for each message and call, one for the state.
    fn text(&self, outcome: &str, conversation: &Conversation) -> serde_json::Result<String> {
        let mut out = outcome.to_owned();
        if let Some(message) = &self.run_error {
            let _ = write!(out, ": the agent reports: {}", printable(message));
        }
        out.push('\n');
        for message in conversation.messages() {
            let (role, id) = (message.role(), printable(message.id()));
            let _ = writeln!(out, "{role} {id}: {}", printable(&content(message)?));
            let Message::Assistant(message) = message else { continue };
            for call in message.tool_calls.iter().flatten() {
                let function = call.function.as_ref();
                let name = function.map_or("a call", |function| &function.name);
                let arguments = function.map_or("", |function| &function.arguments);
                let [name, id, arguments] = [name, &call.id, arguments].map(printable);
                let _ = writeln!(out, "  {name} {id}: {arguments}");
            }
        }
        let _ = writeln!(out, "state: {}", printable(&to_json(conversation.state())?));
        Ok(out)
    }
}

/// The content of a message as JSON; `null` if it has none.
fn content(message: &Message) -> serde_json::Result<String> {
    let json = to_json(message)?;
    let members: std::collections::BTreeMap<&str, &serde_json::value::RawValue> =
        serde_json::from_str(&json)?;
    Ok(members.get("content").map_or("null", |content| content.get()).to_owned())
}

fn to_json(value: &(impl Serialize + ?Sized)) -> serde_json::Result<String> {
    serde_json::to_string(value)
}
