//! What the protocol asks of producers alone.
//!
//! | rule | asks |
//! |---|---|
//! | L10 | a run goes by the ids of its request |
//! | L17 | what was said before is restated by snapshots, not streamed again |
//! | S6 | what is opened again is what it was |
//! | T1 | a call to a tool of the consumer is left to it |
//! | T2 | pending calls, if they are listed, are listed exactly |
//! | I1 | the interrupts of a run have different ids |
//! | G13 | who announces subagents announces each before it does anything |
//! | ID | ids of runs and messages are used once in a thread |
//!
//! Which tools are the consumer's is known from an input that the run restates; without one, T1 is not
//! asked for. Owners that differ between runs are allowed (G18). That the ids of a run's end are those
//! of its start every consumer sees, see [`WarningKind::OtherRun`].
//!
//! Rule: specification 1.1, events/lifecycle, events/tool-calls, events/subagents,
//! basic/patterns/streaming, basic/patterns/interrupt-resume.
//!
//! [`WarningKind::OtherRun`]: super::WarningKind::OtherRun

mod fault;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

pub use self::fault::ProducerFault;
use super::apply::Conversation;
use super::message::text;
use super::tag::tag;
use super::violation::{Item, ItemKind};
use crate::model::{
    Body, Event, Message, Role, RunFinished, RunFinishedOutcome, RunStarted, TextMessageStart,
    TextRole, ToolCallStart,
};

/// Holds a verified stream to the rules for producers.
#[derive(Clone, Debug, Default)]
pub(super) struct ProducerRules {
    /// Threads and their runs.
    runs: HashMap<String, HashSet<String>>,
    run: RunFacts,
}

/// What has come in the present run.
#[derive(Clone, Debug, Default)]
struct RunFacts {
    frontend_tools: HashSet<String>,
    frontend_calls: HashMap<String, String>,
    /// Messages and calls that the run has begun.
    begun: HashSet<(bool, String)>,
    /// Of those that it has opened again, how long their text was.
    reopened: HashMap<(bool, String), usize>,
    announced: BTreeSet<String>,
    /// Invocations that events belong to, without an announcement: the first such event.
    unannounced: BTreeMap<String, usize>,
}

impl ProducerRules {
    /// Judges an event that is about to be applied to `held`.
    pub(super) fn judge(
        &mut self,
        index: usize,
        event: &Event,
        held: &Conversation,
    ) -> Vec<ProducerFault> {
        let mut faults = Vec::new();
        let run = &mut self.run;
        match &event.body {
            Body::RunStarted(body) => self.start_run(body, &mut faults),
            Body::RunFinished(body) => run.finish(body, held, &mut faults),
            Body::RunError(_) => run.end(&mut faults),
            Body::SubagentStarted(body) => {
                let id = body.subagent_run_id.clone();
                if let Some(first) = run.unannounced.remove(&id) {
                    faults.push(ProducerFault::AnnouncedLate { id: id.clone(), first });
                }
                run.announced.insert(id);
            }
            Body::TextMessageStart(body) => {
                reopened_text(body, held, &mut faults);
                run.open(ItemKind::Text, &body.message_id, held);
            }
            Body::ReasoningMessageStart(body) => {
                let id = &body.message_id;
                let role = held.message(id).map(Message::role);
                if let Some(role) = role.filter(|role| !matches!(role, Role::Reasoning)) {
                    let item = Item::new(ItemKind::Reasoning, id);
                    faults.push(ProducerFault::MessageIdUsed { item, role });
                }
                run.open(ItemKind::Reasoning, id, held);
            }
            Body::ToolCallStart(body) => {
                reopened_call(body, held, &mut faults);
                if run.frontend_tools.contains(&body.tool_call_name) {
                    let (id, name) = (body.tool_call_id.clone(), body.tool_call_name.clone());
                    run.frontend_calls.insert(id, name);
                }
                run.open(ItemKind::ToolCall, &body.tool_call_id, held);
            }
            Body::TextMessageEnd(body) => {
                faults.extend(run.close(ItemKind::Text, &body.message_id, held));
            }
            Body::ReasoningMessageEnd(body) => {
                faults.extend(run.close(ItemKind::Reasoning, &body.message_id, held));
            }
            Body::ToolCallEnd(body) => {
                faults.extend(run.close(ItemKind::ToolCall, &body.tool_call_id, held));
            }
            Body::ToolCallResult(body) => {
                let id = &body.tool_call_id;
                if let Some(name) = run.frontend_calls.get(id).cloned() {
                    faults.push(ProducerFault::FrontendCallAnswered { id: id.clone(), name });
                }
            }
            _ => {}
        }
        if let Some(tag) = tag(&event.body)
            && !self.run.announced.contains(tag)
        {
            self.run.unannounced.entry(tag.to_owned()).or_insert(index);
        }
        faults
    }

    fn start_run(&mut self, body: &RunStarted, faults: &mut Vec<ProducerFault>) {
        self.run = RunFacts::default();
        let (thread_id, id) = (body.thread_id.clone(), body.run_id.clone());
        if !self.runs.entry(thread_id.clone()).or_default().insert(id.clone()) {
            faults.push(ProducerFault::RunIdUsed { thread_id, id });
        }
        let Some(input) = &body.input else { return };
        for (member, started, requested) in [
            ("threadId", &body.thread_id, &input.thread_id),
            ("runId", &body.run_id, &input.run_id),
        ] {
            if started != requested {
                let (started, requested) = (started.clone(), requested.clone());
                faults.push(ProducerFault::OtherInput { member, started, requested });
            }
        }
        let tools = input.tools.iter().flatten();
        self.run.frontend_tools = tools.map(|tool| tool.name.clone()).collect();
    }
}

impl RunFacts {
    /// Remembers how long the text of an item is that an earlier run, or a snapshot, has brought.
    fn open(&mut self, kind: ItemKind, id: &str, held: &Conversation) {
        let key = (kind == ItemKind::ToolCall, id.to_owned());
        if self.begun.contains(&key) {
            return;
        }
        match text_of(kind, id, held).filter(|text| !text.is_empty()) {
            Some(text) => drop(self.reopened.insert(key, text.len())),
            None => drop(self.begun.insert(key)),
        }
    }

    /// L17.
    fn close(&mut self, kind: ItemKind, id: &str, held: &Conversation) -> Option<ProducerFault> {
        let len = self.reopened.remove(&(kind == ItemKind::ToolCall, id.to_owned()))?;
        let (before, since) = text_of(kind, id, held)?.split_at_checked(len)?;
        (before == since).then(|| ProducerFault::StreamedAgain(Item::new(kind, id)))
    }

    fn finish(&mut self, body: &RunFinished, held: &Conversation, faults: &mut Vec<ProducerFault>) {
        match &body.outcome {
            Some(RunFinishedOutcome::Success(outcome)) => {
                let listed = outcome.pending_tool_call_ids.as_deref().unwrap_or_default();
                faults.extend(compare_pending(listed, &held.unanswered_calls()));
            }
            Some(RunFinishedOutcome::Interrupt(outcome)) => {
                let mut seen = HashSet::new();
                let ids = outcome.interrupts.iter().map(|interrupt| &interrupt.id);
                let twice = ids.filter(|id| !seen.insert(*id));
                faults.extend(twice.map(|id| ProducerFault::InterruptTwice { id: id.clone() }));
            }
            _ => {}
        }
        self.end(faults);
    }

    fn end(&mut self, faults: &mut Vec<ProducerFault>) {
        let unannounced = std::mem::take(&mut self.unannounced);
        if !self.announced.is_empty() {
            let fault = |(id, first)| ProducerFault::NotAnnounced { id, first };
            faults.extend(unannounced.into_iter().map(fault));
        }
    }
}

/// T2: an empty list says nothing.
fn compare_pending(listed: &[String], unanswered: &[String]) -> Option<ProducerFault> {
    if listed.is_empty() {
        return None;
    }
    let mut left: HashSet<&str> = unanswered.iter().map(String::as_str).collect();
    let extra: Vec<_> = listed.iter().filter(|id| !left.remove(id.as_str())).cloned().collect();
    let missing: Vec<_> =
        unanswered.iter().filter(|id| left.contains(id.as_str())).cloned().collect();
    let is_exact = missing.is_empty() && extra.is_empty();
    (!is_exact).then_some(ProducerFault::PendingCalls { missing, extra })
}

/// S6: what a start leaves out, it does not say.
fn reopened_text(body: &TextMessageStart, held: &Conversation, faults: &mut Vec<ProducerFault>) {
    let Some(message) = held.message(&body.message_id) else { return };
    let item = || Item::new(ItemKind::Text, &body.message_id);
    let (role, name) = (message.role(), name_of(message));
    if matches!(role, Role::Tool | Role::Reasoning | Role::Activity) {
        faults.push(ProducerFault::MessageIdUsed { item: item(), role });
        return;
    }
    let mut differs = |member, held: &str, now: Option<&str>| {
        if let Some(now) = now.filter(|now| *now != held) {
            let (held, now) = (held.to_owned(), now.to_owned());
            faults.push(ProducerFault::ReopenedOtherwise { item: item(), member, held, now });
        }
    };
    differs("role", role.as_str(), body.role.as_ref().map(TextRole::as_str));
    differs("name", name.unwrap_or_default(), body.name.as_deref());
}

/// S6: a call under another name every consumer sees.
fn reopened_call(body: &ToolCallStart, held: &Conversation, faults: &mut Vec<ProducerFault>) {
    let id = &body.tool_call_id;
    if let (Some(now), Some(host)) = (&body.parent_message_id, held.message_of_call(id))
        && host.id() != now
    {
        let (held, now) = (host.id().to_owned(), now.clone());
        let item = Item::new(ItemKind::ToolCall, id);
        let member = "parentMessageId";
        faults.push(ProducerFault::ReopenedOtherwise { item, member, held, now });
    }
}

fn text_of<'c>(kind: ItemKind, id: &str, held: &'c Conversation) -> Option<&'c str> {
    match kind {
        ItemKind::ToolCall => Some(&held.tool_call(id)?.function.as_ref()?.arguments),
        _ => text(held.message(id)?),
    }
}

fn name_of(message: &Message) -> Option<&str> {
    match message {
        Message::Developer(message) => message.name.as_deref(),
        Message::System(message) => message.name.as_deref(),
        Message::Assistant(message) => message.name.as_deref(),
        Message::User(message) => message.name.as_deref(),
        _ => None,
    }
}
