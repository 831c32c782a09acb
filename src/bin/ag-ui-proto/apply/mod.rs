//! `apply`: what a stream comes to, or each thread of a log.

mod text;
mod threads;

use std::fmt::Write as _;

use ag_ui_proto::EventType;
use ag_ui_proto::conversation::{Consumed, Conversation, Run, RunOutcome, RunResult};
use serde::Serialize;

use self::threads::{Thread, Threads};
use crate::args::Apply;
use crate::events::Events;
use crate::failure::Failure;
use crate::input::Input;
use crate::output::Output;
use crate::report::Report;

pub(crate) fn run(args: &Apply) -> Result<(), Failure> {
    let input = Input::open(&args.input)?;
    let report = Report::new(&input, false);
    let mut events = Events::new(input, args.from, &args.limits);
    let mut threads = Threads::new(args.thread.as_deref());
    let read = threads.read(&mut events, &report);
    report.clear();
    match read {
        // Input that cannot be cut into events is a stream that is refused.
        Err(Failure::Data(reason)) => threads.fail(&reason),
        read => read?,
    }
    let name = events.name().to_owned();
    let threads =
        threads.into_wanted().map_err(|reason| Failure::Data(format!("{name}: {reason}")))?;
    let is_one = threads.len() == 1;
    let mut output = Output::stdout();
    let (mut told, mut is_good) = (Vec::new(), true);
    for (index, thread) in threads.into_iter().enumerate() {
        let Thread { id, consumer, found } = thread;
        let Consumed { conversation, result } = consumer.finish();
        let come_to = ComeTo { thread_id: id, found, conversation, result };
        let text = if args.json {
            come_to.json()
        } else {
            let gap = if index > 0 { "\n" } else { "" };
            come_to.text(!is_one).map(|text| format!("{gap}{text}"))
        };
        output.write(text.map_err(|error| Failure::Data(error.to_string()))?.as_bytes())?;
        output.flush()?;
        if let Some(error) = &come_to.found.error {
            // One that all threads have is told once.
            if !told.contains(error) {
                report.error(error);
                told.push(error.clone());
            }
        } else if come_to.outcome() == "truncated" && events.cut().is_none() {
            let of = match &come_to.thread_id {
                Some(id) if !is_one => format!(" of thread {id:?}"),
                _ => String::new(),
            };
            report.error(format!("{name}: truncated: the stream ended before a run{of} did"));
            is_good = false;
        }
    }
    if let (true, Some(cut)) = (told.is_empty(), events.cut()) {
        report.error(cut);
        is_good = false;
    }
    if told.is_empty() && is_good { Ok(()) } else { Err(Failure::Told) }
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

/// What the events of a thread come to.
struct ComeTo {
    /// Nothing if no run has started.
    thread_id: Option<String>,
    found: Found,
    conversation: Conversation,
    result: RunResult,
}

impl ComeTo {
    fn outcome(&self) -> &'static str {
        match (&self.found.error, &self.result) {
            (Some(_), _) | (None, RunResult::Rejected(_)) => "failed",
            (None, RunResult::Truncated) => "truncated",
            (None, RunResult::Finished(_) | RunResult::Failed(_)) => "completed",
        }
    }

    /// One object on one line. Numbers keep all their digits.
    fn json(&self) -> serde_json::Result<String> {
        let (found, conversation) = (&self.found, &self.conversation);
        let mut object = Members::default();
        object.add_some("threadId", self.thread_id.as_ref())?;
        object.add("outcome", self.outcome())?;
        object.add_some("error", found.error.as_ref())?;
        object.add_some("runError", found.run_error.as_ref())?;
        let types: Vec<_> = found.event_types.iter().map(ToString::to_string).collect();
        object.add("eventTypes", &types)?;
        object.add("messages", &conversation.messages().collect::<Vec<_>>())?;
        object.add("state", conversation.state())?;
        let unended = if self.outcome() == "failed" { "rejected" } else { "truncated" };
        let runs = conversation.runs().iter().map(|run| run_json(run, unended));
        object.add_text("runs", &format!("[{}]", runs.collect::<Result<Vec<_>, _>>()?.join(",")));
        object.add("interrupts", conversation.interrupts())?;
        object.add("pendingToolCallIds", &conversation.pending_tool_calls())?;
        object.add("warnings", &found.warnings)?;
        Ok(object.end() + "\n")
    }
}

fn run_outcome(run: &Run, unended: &'static str) -> &'static str {
    match &run.outcome {
        Some(RunOutcome::Success { .. }) => "success",
        Some(RunOutcome::Interrupted { .. }) => "interrupted",
        Some(RunOutcome::Cancelled) => "cancelled",
        Some(RunOutcome::Failed(_)) => "failed",
        _ => unended,
    }
}

/// A run, with how it ended; `unended` is what became of one without an end.
fn run_json(run: &Run, unended: &'static str) -> serde_json::Result<String> {
    let mut object = Members::default();
    object.add_some("threadId", run.thread_id.as_ref())?;
    object.add_some("runId", run.run_id.as_ref())?;
    object.add_some("parentRunId", run.parent_run_id.as_ref())?;
    object.add("outcome", run_outcome(run, unended))?;
    match &run.outcome {
        Some(RunOutcome::Success { result, .. }) => object.add_some("result", result.as_ref())?,
        Some(RunOutcome::Interrupted { interrupts, .. }) => {
            object.add("interrupts", interrupts)?;
        }
        Some(RunOutcome::Failed(error)) => {
            object.add("error", &error.message)?;
            object.add_some("code", error.code.as_ref())?;
        }
        _ => {}
    }
    let pending = run.outcome.as_ref().map_or(&[][..], RunOutcome::pending_tool_calls);
    object.add_some("pendingToolCallIds", Some(pending).filter(|ids| !ids.is_empty()))?;
    object.add_some("usage", Some(&run.usage).filter(|usage| !usage.is_empty()))?;
    Ok(object.end())
}

/// The members of an object of JSON, in order.
#[derive(Default)]
struct Members(String);

impl Members {
    fn add(&mut self, name: &str, value: &(impl Serialize + ?Sized)) -> serde_json::Result<()> {
        let text = to_json(value)?;
        self.add_text(name, &text);
        Ok(())
    }

    /// Adds what has a value.
    fn add_some(
        &mut self,
        name: &str,
        value: Option<&(impl Serialize + ?Sized)>,
    ) -> serde_json::Result<()> {
        value.map_or(Ok(()), |value| self.add(name, value))
    }

    fn add_text(&mut self, name: &str, json: &str) {
        let comma = if self.0.is_empty() { '{' } else { ',' };
        let _ = write!(self.0, "{comma}\"{name}\":{json}");
    }

    fn end(self) -> String {
        if self.0.is_empty() { "{}".to_owned() } else { self.0 + "}" }
    }
}

fn to_json(value: &(impl Serialize + ?Sized)) -> serde_json::Result<String> {
    serde_json::to_string(value)
}
