//! The rules between events: what may follow what, and who may continue what.
//!
//! Rule: specification 1.1, events/lifecycle, basic/patterns/streaming, events/subagents. Rules that
//! the specification asks of producers alone are [`ProducerFault`](super::ProducerFault)s, and break
//! no stream.

mod item;
mod owners;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use self::item::Named;
use self::owners::Owners;
use super::chunks::is_chunk;
use super::violation::{Item, ItemKind, Violation, ViolationKind};
use crate::model::{Body, EncryptedValueSubtype, Event, SubagentStarted, ToolCallStart};

/// Where a stream stands between its events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// No event has come.
    #[default]
    NoRun,
    /// A run is active.
    Active,
    /// The last run has finished, one way or another.
    Finished,
    /// The last run has failed.
    Failed,
}

/// Holds a stream to its rules, one event after the other.
///
/// It takes enforced events with their chunks expanded. Memory grows with what is open, and with
/// the items that the present run has named.
#[derive(Clone, Debug, Default)]
pub struct Verifier {
    index: usize,
    phase: Phase,
    run: RunItems,
}

/// L6: what a run has opened and named; nothing of it outlives the run.
#[derive(Clone, Debug, Default)]
struct RunItems {
    texts: BTreeSet<String>,
    calls: BTreeSet<String>,
    reasonings: BTreeSet<String>,
    spans: BTreeSet<String>,
    steps: BTreeMap<Option<String>, BTreeSet<String>>,
    active: BTreeSet<String>,
    ended: HashSet<String>,
    owners: Owners,
}

impl Verifier {
    /// Makes one for a new stream.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Where the stream stands.
    #[must_use]
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Whether the stream may end here: its last run has finished or failed.
    #[must_use]
    pub fn is_terminated(&self) -> bool {
        matches!(self.phase, Phase::Finished | Phase::Failed)
    }

    /// Judges the next event of the stream.
    ///
    /// # Errors
    ///
    /// The rule that the event breaks. What the verifier knows is then as it was.
    pub fn verify(&mut self, event: &Event) -> Result<(), Violation> {
        let index = self.index;
        self.index += 1;
        let violation = |kind| Violation::new(index, event.event_type(), kind);
        self.admit(&event.body).map_err(violation)?;
        match &event.body {
            Body::RunStarted(body) => {
                self.run = RunItems::default();
                let messages = body.input.iter().flat_map(|input| &input.messages);
                messages.for_each(|message| self.run.owners.seed(message, false));
                self.phase = Phase::Active;
            }
            Body::RunFinished(_) => {
                let open = self.run.open();
                if !open.is_empty() {
                    return Err(violation(ViolationKind::StillOpen(open)));
                }
                self.phase = Phase::Finished;
            }
            // L5, L8: a failure is well formed wherever a run is, and closes all by itself.
            Body::RunError(_) => self.phase = Phase::Failed,
            body => self.run.verify(body).map_err(violation)?,
        }
        Ok(())
    }

    /// Whether an event of the type may come where the stream stands.
    fn admit(&self, body: &Body) -> Result<(), ViolationKind> {
        if is_chunk(body.event_type()) {
            return Err(ViolationKind::NotExpanded);
        }
        match (self.phase, body) {
            (Phase::NoRun | Phase::Finished, Body::RunStarted(_) | Body::RunError(_))
            | (Phase::Failed, Body::RunStarted(_)) => Ok(()),
            (Phase::NoRun, _) => Err(ViolationKind::NoRun),
            (Phase::Finished, _) => Err(ViolationKind::RunFinished),
            (Phase::Failed, _) => Err(ViolationKind::RunFailed),
            (Phase::Active, Body::RunStarted(_)) => Err(ViolationKind::RunActive),
            (Phase::Active, _) => Ok(()),
        }
    }
}

impl RunItems {
    fn verify(&mut self, body: &Body) -> Result<(), ViolationKind> {
        let Self { texts, calls, reasonings, spans, owners, .. } = self;
        match body {
            Body::TextMessageStart(body) => {
                let item = Named(ItemKind::Text, &body.message_id, body.subagent_run_id.as_deref());
                item.open(texts, &mut owners.messages)
            }
            Body::TextMessageContent(body) => {
                let item = Named(ItemKind::Text, &body.message_id, body.subagent_run_id.as_deref());
                item.continues(texts, &owners.messages)
            }
            Body::TextMessageEnd(body) => {
                let item = Named(ItemKind::Text, &body.message_id, body.subagent_run_id.as_deref());
                item.close(texts, &owners.messages)
            }
            Body::ToolCallStart(body) => open_call(body, calls, owners),
            Body::ToolCallArgs(body) => {
                let item =
                    Named(ItemKind::ToolCall, &body.tool_call_id, body.subagent_run_id.as_deref());
                item.continues(calls, &owners.calls)
            }
            Body::ToolCallEnd(body) => {
                let item =
                    Named(ItemKind::ToolCall, &body.tool_call_id, body.subagent_run_id.as_deref());
                item.close(calls, &owners.calls)
            }
            // G7: who answers need not be who called.
            Body::ToolCallResult(body) => {
                owners.messages.insert(body.message_id.clone(), body.subagent_run_id.clone());
                Ok(())
            }
            Body::ReasoningStart(body) => {
                let item = Named(ItemKind::Span, &body.message_id, body.subagent_run_id.as_deref());
                item.open(spans, &mut owners.reasonings)
            }
            Body::ReasoningEnd(body) => {
                let item = Named(ItemKind::Span, &body.message_id, body.subagent_run_id.as_deref());
                item.close(spans, &owners.reasonings)
            }
            Body::ReasoningMessageStart(body) => {
                let item =
                    Named(ItemKind::Reasoning, &body.message_id, body.subagent_run_id.as_deref());
                item.open(reasonings, &mut owners.reasonings)
            }
            Body::ReasoningMessageContent(body) => {
                let item =
                    Named(ItemKind::Reasoning, &body.message_id, body.subagent_run_id.as_deref());
                item.continues(reasonings, &owners.reasonings)
            }
            Body::ReasoningMessageEnd(body) => {
                let item =
                    Named(ItemKind::Reasoning, &body.message_id, body.subagent_run_id.as_deref());
                item.close(reasonings, &owners.reasonings)
            }
            Body::ReasoningEncryptedValue(body) => {
                let (kind, owners) = match body.subtype {
                    EncryptedValueSubtype::ToolCall => (ItemKind::ToolCall, &owners.calls),
                    EncryptedValueSubtype::Message
                        if owners.messages.contains_key(&body.entity_id) =>
                    {
                        (ItemKind::Text, &owners.messages)
                    }
                    _ => (ItemKind::Reasoning, &owners.reasonings),
                };
                Named(kind, &body.entity_id, body.subagent_run_id.as_deref()).belongs(owners)
            }
            Body::ActivitySnapshot(body) => {
                owners.take_activity(body);
                Ok(())
            }
            Body::ActivityDelta(body) => {
                let item =
                    Named(ItemKind::Activity, &body.message_id, body.subagent_run_id.as_deref());
                item.belongs(&owners.activities)
            }
            Body::MessagesSnapshot(body) => {
                body.messages.iter().for_each(|message| owners.seed(message, true));
                Ok(())
            }
            Body::StepStarted(body) => {
                self.open_step(&body.step_name, body.subagent_run_id.as_deref())
            }
            Body::StepFinished(body) => {
                self.close_step(&body.step_name, body.subagent_run_id.as_deref())
            }
            Body::SubagentStarted(body) => self.announce(body),
            Body::SubagentFinished(body) => self.end_subagent(&body.subagent_run_id),
            Body::SubagentError(body) => self.end_subagent(&body.subagent_run_id),
            // S10, G16: these stand for themselves.
            _ => Ok(()),
        }
    }

    /// L11.
    fn open_step(&mut self, name: &str, tag: Option<&str>) -> Result<(), ViolationKind> {
        let open = self.steps.entry(tag.map(str::to_owned)).or_default();
        if !open.insert(name.to_owned()) {
            return Err(ViolationKind::StepOpen { name: name.to_owned(), owner: tag.into() });
        }
        Ok(())
    }

    /// L12, G5: the owner counts, absence included.
    fn close_step(&mut self, name: &str, tag: Option<&str>) -> Result<(), ViolationKind> {
        let tag = tag.map(str::to_owned);
        if let Some(open) = self.steps.get_mut(&tag)
            && open.remove(name)
        {
            if open.is_empty() {
                self.steps.remove(&tag);
            }
            return Ok(());
        }
        let name = name.to_owned();
        Err(match self.steps.iter().find(|(_, open)| open.contains(&name)) {
            Some((owner, _)) => ViolationKind::StepOwner {
                name,
                owner: owner.as_deref().into(),
                tag: tag.as_deref().into(),
            },
            None => ViolationKind::StepNotOpen { name },
        })
    }

    /// G10, G11.
    fn announce(&mut self, started: &SubagentStarted) -> Result<(), ViolationKind> {
        let id = started.subagent_run_id.clone();
        if self.active.contains(&id) {
            return Err(ViolationKind::SubagentActive { id });
        }
        if self.ended.contains(&id) {
            return Err(ViolationKind::SubagentEnded { id });
        }
        if let Some(parent) = &started.parent_subagent_run_id
            && !self.active.contains(parent)
            && !self.ended.contains(parent)
        {
            return Err(ViolationKind::SubagentParent { id, parent: parent.clone() });
        }
        self.active.insert(id);
        Ok(())
    }

    /// G12, G15: the invocation ends, what it opened may still be closed.
    fn end_subagent(&mut self, id: &str) -> Result<(), ViolationKind> {
        if !self.active.remove(id) {
            return Err(ViolationKind::SubagentNotActive { id: id.to_owned() });
        }
        self.ended.insert(id.to_owned());
        Ok(())
    }

    /// L7: what is open.
    fn open(&self) -> Vec<Item> {
        fn named(kind: ItemKind, ids: &BTreeSet<String>) -> impl Iterator<Item = Item> {
            ids.iter().map(move |id| Item::new(kind, id))
        }
        let steps = self.steps.values().flat_map(|names| named(ItemKind::Step, names));
        named(ItemKind::Text, &self.texts)
            .chain(named(ItemKind::ToolCall, &self.calls))
            .chain(named(ItemKind::Reasoning, &self.reasonings))
            .chain(named(ItemKind::Span, &self.spans))
            .chain(steps)
            .chain(named(ItemKind::Subagent, &self.active))
            .collect()
    }
}

/// G4, and S1 and G3 of calls.
fn open_call(
    start: &ToolCallStart,
    open: &mut BTreeSet<String>,
    owners: &mut Owners,
) -> Result<(), ViolationKind> {
    let id = &start.tool_call_id;
    let tag = start.subagent_run_id.as_deref();
    let call = Named(ItemKind::ToolCall, id, tag);
    call.is_closed(open)?;
    let parent = start.parent_message_id.as_deref();
    let parent = parent.and_then(|id| Some((id, owners.messages.get(id)?.as_deref())));
    let agrees = |owner: Option<&str>| match parent {
        Some((parent, parent_owner)) if parent_owner != owner => Err(ViolationKind::ParentOwner {
            id: id.clone(),
            parent: parent.to_owned(),
            owner: parent_owner.into(),
            tag: owner.into(),
        }),
        _ => Ok(()),
    };
    if tag.is_some() {
        agrees(tag)?;
    }
    if let Some(recorded) = owners.calls.get(id).map(Option::as_deref) {
        call.is_reopened_by(recorded)?;
        agrees(recorded)?;
    } else {
        // An untagged call belongs to whom its message belongs to.
        let owner = tag.or_else(|| parent.and_then(|(_, owner)| owner)).map(str::to_owned);
        owners.calls.insert(id.clone(), owner);
    }
    open.insert(id.clone());
    Ok(())
}
