//! The same conversation in fewer events.
//!
//! ```text
//! START m                START m
//! CONTENT m "Hel"        CONTENT m "Hello"
//! START c                START c
//! CONTENT m "lo"
//! END m                  END m
//! ```
//!
//! Every start, end and other event stays where it is, so nothing changes its order; the deltas of
//! an item become its first one.

use std::collections::HashMap;

use super::apply::Conversation;
use super::chunks::ChunkExpander;
use super::messages::{merge, owner};
use super::patch::apply_patch;
use super::verify::Verifier;
use super::violation::{ItemKind, Violation};
use crate::model::{Body, Event};
use crate::value::Value;

/// Makes a recorded stream smaller; what it comes to, and what each of its runs came to, stays the
/// same.
///
/// - Chunks are expanded.
/// - The deltas of an item become one, where nothing comes between that changes what they append to:
///   its end, a new start, a result or activity with its id, a snapshot of the messages, or the
///   bounds of a run.
/// - Of the state events of a run, the last snapshot and the patches that follow it become one
///   snapshot, in its place; patches alone stay, since what they patch is not known.
/// - Of the messages in an echoed input, those go that are held when the run starts, as long as each
///   run follows the one before it; those of subagents stay, since the rules look at them.
///
/// Of deltas that become one, the metadata is merged in their order, the first timestamp and tag
/// stay, and `rawEvent` goes, as it does from state events that become one. A stream that was cut
/// stays cut. Compacting again changes nothing.
///
/// The time goes with the length of the stream.
///
/// # Errors
///
/// The rule that the stream breaks: what it comes to is then not known.
///
/// Differs: the reference `compactEvents` moves items to where they end, which changes the order of
/// messages and calls on replay, and items that never end behind their run.
pub fn compact(events: impl IntoIterator<Item = Event>) -> Result<Vec<Event>, Violation> {
    let (mut expander, mut verifier) = (ChunkExpander::new(), Verifier::new());
    let mut compactor = Compactor::default();
    let mut ready = Vec::new();
    for (index, event) in events.into_iter().enumerate() {
        let at = |violation| Violation { index, ..violation };
        expander.expand(event, &mut ready).map_err(at)?;
        for event in ready.drain(..) {
            verifier.verify(&event).map_err(at)?;
            compactor.push(event);
        }
    }
    Ok(compactor.finish())
}

#[derive(Debug)]
struct Compactor {
    /// What was folded into another event is nothing.
    kept: Vec<Option<Event>>,
    /// Where the delta stands that takes in the next one: of text and reasoning by the id of the
    /// message, since both append to the same.
    messages: HashMap<String, (ItemKind, usize)>,
    calls: HashMap<String, usize>,
    /// Where the state events of the run stand.
    states: Vec<usize>,
    /// What has been built, to know which echoed messages are held.
    held: Conversation,
    last_run: Option<String>,
    is_linear: bool,
}

impl Default for Compactor {
    fn default() -> Self {
        Self {
            kept: Vec::new(),
            messages: HashMap::new(),
            calls: HashMap::new(),
            states: Vec::new(),
            held: Conversation::new(),
            last_run: None,
            is_linear: true,
        }
    }
}

impl Compactor {
    fn push(&mut self, mut event: Event) {
        let here = self.kept.len();
        let target = match &event.body {
            Body::TextMessageContent(body) => {
                self.message_target(&body.message_id, ItemKind::Text, here)
            }
            Body::ReasoningMessageContent(body) => {
                self.message_target(&body.message_id, ItemKind::Reasoning, here)
            }
            Body::ToolCallArgs(body) => {
                let id = &body.tool_call_id;
                let target = self.calls.get(id).copied();
                if target.is_none() && self.held.tool_call(id).is_some() {
                    self.calls.insert(id.clone(), here);
                }
                target
            }
            _ => None,
        };
        // Deltas make no message known, nor forgotten.
        if !is_delta(&event.body) {
            self.barrier(&event.body);
            if let Body::RunStarted(_) = &event.body {
                self.normalize(&mut event);
            }
            if has_messages(&event.body) {
                self.held.apply(&event);
            }
        }
        if let Some(target) = target.and_then(|target| self.kept.get_mut(target)?.as_mut()) {
            absorb(target, event);
            return;
        }
        if matches!(event.body, Body::StateSnapshot(_) | Body::StateDelta(_)) {
            self.states.push(here);
        }
        self.kept.push(Some(event));
    }

    fn finish(mut self) -> Vec<Event> {
        self.fold_state();
        self.kept.into_iter().flatten().collect()
    }

    /// Where the delta stands that takes in one for a message.
    ///
    /// What comes for a message that a snapshot removed is lost when it is applied, and takes in
    /// nothing: a tool call can make a message with that id again.
    fn message_target(&mut self, id: &str, kind: ItemKind, here: usize) -> Option<usize> {
        match self.messages.get(id) {
            Some((open, target)) if *open == kind => Some(*target),
            _ => {
                if self.held.message(id).is_some() {
                    self.messages.insert(id.to_owned(), (kind, here));
                }
                None
            }
        }
    }

    /// K8: lets no delta move across an event that changes what it appends to.
    fn barrier(&mut self, body: &Body) {
        match body {
            Body::TextMessageStart(body) => drop(self.messages.remove(&body.message_id)),
            Body::TextMessageEnd(body) => drop(self.messages.remove(&body.message_id)),
            Body::ReasoningMessageStart(body) => drop(self.messages.remove(&body.message_id)),
            Body::ReasoningMessageEnd(body) => drop(self.messages.remove(&body.message_id)),
            Body::ToolCallResult(body) => drop(self.messages.remove(&body.message_id)),
            Body::ActivitySnapshot(body) => drop(self.messages.remove(&body.message_id)),
            Body::ToolCallStart(body) => drop(self.calls.remove(&body.tool_call_id)),
            Body::ToolCallEnd(body) => drop(self.calls.remove(&body.tool_call_id)),
            Body::MessagesSnapshot(_) => {
                self.messages.clear();
                self.calls.clear();
            }
            // K7.
            Body::RunStarted(_) | Body::RunFinished(_) | Body::RunError(_) => {
                self.messages.clear();
                self.calls.clear();
                self.fold_state();
            }
            _ => {}
        }
    }

    /// K5: the state events since the last bound of a run.
    fn fold_state(&mut self) {
        let states = std::mem::take(&mut self.states);
        let is_snapshot = |place: &usize| {
            let event = self.kept.get(*place).and_then(Option::as_ref);
            event.is_some_and(|event| matches!(event.body, Body::StateSnapshot(_)))
        };
        let Some(last) = states.iter().rposition(is_snapshot) else { return };
        let mut state = Value::Null;
        for (position, place) in states.iter().enumerate() {
            let Some(kept) = self.kept.get_mut(*place) else { continue };
            match kept.as_mut().map(|event| &mut event.body) {
                Some(Body::StateSnapshot(body)) if position == last => {
                    state = body.snapshot.take().unwrap_or_default();
                    continue;
                }
                // K6: a patch that fails changes nothing here, as it does when it is applied.
                Some(Body::StateDelta(body)) if position > last => {
                    let _ = apply_patch(&mut state, &body.delta);
                }
                _ => {}
            }
            *kept = None;
        }
        let snapshot = states.get(last).and_then(|place| self.kept.get_mut(*place)?.as_mut());
        if let Some(Event { base, body: Body::StateSnapshot(body) }) = snapshot {
            body.snapshot = Some(state);
            if states.len() > 1 {
                base.raw_event = None;
            }
        }
    }

    /// K10, B6: an echo changes no message that is held, so it need not be there.
    ///
    /// A run that branches off sees other messages than those of the run before it; from there on
    /// nothing is left out.
    fn normalize(&mut self, event: &mut Event) {
        let Body::RunStarted(body) = &mut event.body else { return };
        let last = self.last_run.replace(body.run_id.clone());
        self.is_linear &= body.parent_run_id.is_none() || body.parent_run_id == last;
        if let (true, Some(input)) = (self.is_linear, &mut body.input) {
            input.messages.retain(|message| {
                self.held.message(message.id()).is_none() || owner(message).is_some()
            });
        }
    }
}

fn is_delta(body: &Body) -> bool {
    matches!(
        body,
        Body::TextMessageContent(_) | Body::ReasoningMessageContent(_) | Body::ToolCallArgs(_)
    )
}

/// Whether an event can make a message known or forgotten.
fn has_messages(body: &Body) -> bool {
    !matches!(
        body,
        Body::StateSnapshot(_) | Body::StateDelta(_) | Body::ActivityDelta(_) | Body::Raw(_)
    )
}

/// K1, K2: appends a delta to an earlier one.
fn absorb(target: &mut Event, event: Event) {
    let (text, tag) = match event.body {
        Body::TextMessageContent(body) => (body.delta, body.subagent_run_id),
        Body::ReasoningMessageContent(body) => (body.delta, body.subagent_run_id),
        Body::ToolCallArgs(body) => (body.delta, body.subagent_run_id),
        _ => return,
    };
    let (delta, held_tag) = match &mut target.body {
        Body::TextMessageContent(body) => (&mut body.delta, &mut body.subagent_run_id),
        Body::ReasoningMessageContent(body) => (&mut body.delta, &mut body.subagent_run_id),
        Body::ToolCallArgs(body) => (&mut body.delta, &mut body.subagent_run_id),
        _ => return,
    };
    delta.push_str(&text);
    *held_tag = held_tag.take().or(tag);
    merge(&mut target.base.metadata, event.base.metadata.as_ref());
    target.base.timestamp = target.base.timestamp.or(event.base.timestamp);
    target.base.raw_event = None;
}
