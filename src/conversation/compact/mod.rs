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

mod extras;
mod state;

use std::collections::HashMap;

use self::extras::Kept;
pub use self::extras::{Extras, LeftOut};
use self::state::fold;
use super::apply::Conversation;
use super::chunks::{ChunkExpander, is_chunk};
use super::message::owner;
use super::verify::Verifier;
use super::violation::{ItemKind, Violation};
use crate::model::{Body, Event, RunStarted};

/// Makes a recorded stream smaller, as a [`Compactor`] without options does; that one also says what
/// was left out.
///
/// # Errors
///
/// The rule that the stream breaks: what it comes to is then not known.
pub fn compact(events: impl IntoIterator<Item = Event>) -> Result<Vec<Event>, Violation> {
    let mut compactor = Compactor::new();
    let mut out = Vec::new();
    for event in events {
        compactor.push(event, &mut out)?;
    }
    compactor.finish(&mut out);
    Ok(out)
}

/// Makes a recorded stream smaller; what it comes to, and what each of its runs came to, stays the
/// same.
///
/// - Chunks are expanded, so an item of one chunk becomes three events; what each stands for takes
///   over its timestamp, but for the end of the item before it.
/// - The deltas of an item become one, where nothing comes between that changes what they append to:
///   its end, a new start, a result or activity with its id, a snapshot of the messages, or the
///   bounds of a run.
/// - Of the state events of a run, the last snapshot and the patches that follow it become one
///   snapshot, in its place; patches alone stay, since what they patch is not known, as does one whose
///   copies make the state larger than 64 KiB, with those behind it, since a log must not grow.
/// - Of the messages in an echoed input, those go that are held when the run starts, as long as each
///   run follows the one before it in one thread; those of subagents stay, since the rules look at
///   them.
///
/// Of events that become one, the metadata is merged in their order. Of deltas the first tag stays, and
/// of state events that of the snapshot. [`Extras`] says what becomes of timestamps and `rawEvent`, and
/// [`LeftOut`] what went. A stream that was cut stays cut.
/// Compacting again changes nothing.
///
/// Time goes with the length of the stream. Memory goes with the length of a run once it is
/// compacted, and with the messages; it does not grow with the number of deltas.
///
/// A run does not become a snapshot of the messages (K9). Each snapshot would have to carry what all
/// runs before it brought, so that a log would grow with the square of its runs; the calls that a
/// waiting run leaves open would have no place; and nobody could go back to a point within a run. Who
/// wants the end alone makes a [`MessagesSnapshot`](crate::model::MessagesSnapshot) of
/// [`Conversation::messages`] and a [`StateSnapshot`](crate::model::StateSnapshot) of its state.
///
/// Differs: the reference `compactEvents` moves items to where they end, which changes the order of
/// messages and calls on replay, and items that never end behind their run.
///
/// # Examples
///
/// ```
/// use ag_ui_proto::Event;
/// use ag_ui_proto::conversation::{Compactor, Extras};
/// use ag_ui_proto::model::{RunStarted, TextMessageContent, TextMessageStart};
///
/// let mut compactor = Compactor::new().with_timestamps(Extras::Drop);
/// let mut smaller = Vec::new();
/// compactor.push(RunStarted::new("t", "r").into(), &mut smaller)?;
/// compactor.push(TextMessageStart::new("m").into(), &mut smaller)?;
/// for delta in ["Hel", "lo"] {
///     let delta = Event::from(TextMessageContent::new("m", delta)).with_timestamp(1);
///     compactor.push(delta, &mut smaller)?;
/// }
/// compactor.finish(&mut smaller);
/// assert_eq!(smaller[2], TextMessageContent::new("m", "Hello").into());
/// # Ok::<(), ag_ui_proto::conversation::Violation>(())
/// ```
#[derive(Debug, Default)]
pub struct Compactor {
    index: usize,
    expander: ChunkExpander,
    verifier: Verifier,
    ready: Vec<Event>,
    extras: Kept,
    /// The run so far; what was folded into another event is nothing.
    run: Vec<Option<Event>>,
    /// Where the delta stands that takes in the next one: of text and reasoning by the id of the
    /// message, since both append to the same.
    messages: HashMap<String, (ItemKind, usize)>,
    calls: HashMap<String, usize>,
    /// Where the state events of the run stand.
    states: Vec<usize>,
    /// What has been built, to know which messages are held. Deltas are not put into it.
    held: Conversation,
    lineage: Lineage,
    left_out: LeftOut,
}

/// The runs so far, as far as they make a single line.
#[derive(Debug, Default)]
enum Lineage {
    #[default]
    Empty,
    /// Each run followed the one before it, in this thread; the last one has this id.
    Line { thread_id: String, run_id: String },
    /// A run went on from elsewhere, or in another thread.
    Branched,
}

impl Compactor {
    /// Makes one for a new stream.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets what becomes of timestamps.
    #[must_use]
    pub fn with_timestamps(mut self, extras: Extras) -> Self {
        self.extras.timestamps = extras;
        self
    }

    /// Sets what becomes of `rawEvent`.
    #[must_use]
    pub fn with_raw_events(mut self, extras: Extras) -> Self {
        self.extras.raw_events = extras;
        self
    }

    /// Takes the next event, and appends to `out` the run that it ends, if it does.
    ///
    /// # Errors
    ///
    /// The rule that the event breaks: what would come of the stream is not known. What came before
    /// stands, and [`Compactor::finish`] gives it.
    pub fn push(&mut self, mut event: Event, out: &mut Vec<Event>) -> Result<(), Violation> {
        let index = self.index;
        self.index += 1;
        let at = |violation| Violation { index, ..violation };
        let mut ready = std::mem::take(&mut self.ready);
        ready.clear();
        self.extras.strip_timestamp(&mut event.base, &mut self.left_out);
        let of_chunk = event.base.timestamp.filter(|_| is_chunk(event.event_type()));
        self.expander.expand(event, &mut ready).map_err(at)?;
        let mut is_kept = of_chunk.is_none();
        for mut event in ready.drain(..) {
            // An end is that of another item, which the chunk closes.
            if of_chunk.is_some() && !is_end(&event.body) {
                event.base.timestamp = of_chunk;
                is_kept = true;
            }
            self.verifier.verify(&event).map_err(at)?;
            self.take(event, out);
        }
        self.left_out.timestamps += u64::from(!is_kept);
        self.ready = ready;
        Ok(())
    }

    /// Appends what is left: the run that was cut, if one was. Says what was left out of the stream.
    pub fn finish(mut self, out: &mut Vec<Event>) -> LeftOut {
        self.end_run(out);
        self.left_out
    }

    fn take(&mut self, mut event: Event, out: &mut Vec<Event>) {
        self.extras.strip_raw_event(&mut event.base, &mut self.left_out);
        if is_bound(&event.body) {
            // K7: nothing moves across, and what came before is as small as it gets.
            self.end_run(out);
        }
        match &mut event.body {
            Body::RunStarted(body) => self.normalize(body),
            Body::StateSnapshot(_) | Body::StateDelta(_) => self.states.push(self.run.len()),
            _ => {}
        }
        if is_delta(&event.body) {
            let (extras, mut left_out) = (self.extras, self.left_out);
            if let Some(target) = self.target(&event) {
                absorb(target, event, extras, &mut left_out);
                self.left_out = left_out;
                return;
            }
        } else {
            self.barrier(&event.body);
            if has_messages(&event.body) {
                self.held.apply(&event);
            }
        }
        if is_bound(&event.body) {
            out.push(event);
        } else {
            self.run.push(Some(event));
        }
    }

    fn end_run(&mut self, out: &mut Vec<Event>) {
        fold(&mut self.run, &self.states, self.extras, &mut self.left_out);
        out.extend(self.run.drain(..).flatten());
        self.states.clear();
        self.messages.clear();
        self.calls.clear();
    }

    /// The event that takes in a delta. Without one the delta is the next to take in others.
    ///
    /// What comes for a message that a snapshot removed is lost when it is applied, and takes in
    /// nothing: a tool call can make a message with that id again.
    fn target(&mut self, event: &Event) -> Option<&mut Event> {
        let here = self.run.len();
        let is_apart = self.extras.keep_apart(&event.base);
        let target = match &event.body {
            Body::ToolCallArgs(body) => {
                let id = &body.tool_call_id;
                let target = self.calls.get(id).copied().filter(|_| !is_apart);
                if target.is_none() && self.held.tool_call(id).is_some() {
                    self.calls.insert(id.clone(), here);
                }
                target
            }
            Body::TextMessageContent(body) => {
                self.message_target(&body.message_id, ItemKind::Text, is_apart)
            }
            Body::ReasoningMessageContent(body) => {
                self.message_target(&body.message_id, ItemKind::Reasoning, is_apart)
            }
            _ => None,
        };
        self.run.get_mut(target?)?.as_mut()
    }

    fn message_target(&mut self, id: &str, kind: ItemKind, is_apart: bool) -> Option<usize> {
        match self.messages.get(id) {
            Some((open, target)) if *open == kind && !is_apart => Some(*target),
            _ => {
                if self.held.message(id).is_some() {
                    self.messages.insert(id.to_owned(), (kind, self.run.len()));
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
            _ => {}
        }
    }

    /// K10, B6: an echo changes no message that is held, so it need not be there.
    ///
    /// A run that branches off, or is of another thread, sees other messages than those of the run
    /// before it; from there on nothing is left out.
    fn normalize(&mut self, body: &mut RunStarted) {
        let follows = match &self.lineage {
            Lineage::Empty => true,
            Lineage::Line { thread_id, run_id } => {
                *thread_id == body.thread_id
                    && body.parent_run_id.as_ref().is_none_or(|parent| parent == run_id)
            }
            Lineage::Branched => false,
        };
        if !follows {
            self.lineage = Lineage::Branched;
            return;
        }
        let (thread_id, run_id) = (body.thread_id.clone(), body.run_id.clone());
        self.lineage = Lineage::Line { thread_id, run_id };
        if let Some(input) = &mut body.input {
            input.messages.retain(|message| {
                self.held.message(message.id()).is_none() || owner(message).is_some()
            });
        }
    }
}

fn is_bound(body: &Body) -> bool {
    matches!(body, Body::RunStarted(_) | Body::RunFinished(_) | Body::RunError(_))
}

fn is_delta(body: &Body) -> bool {
    matches!(
        body,
        Body::TextMessageContent(_) | Body::ReasoningMessageContent(_) | Body::ToolCallArgs(_)
    )
}

fn is_end(body: &Body) -> bool {
    matches!(body, Body::TextMessageEnd(_) | Body::ReasoningMessageEnd(_) | Body::ToolCallEnd(_))
}

/// Whether an event can make a message known or forgotten.
fn has_messages(body: &Body) -> bool {
    !matches!(
        body,
        Body::StateSnapshot(_) | Body::StateDelta(_) | Body::ActivityDelta(_) | Body::Raw(_)
    )
}

/// K1, K2: appends a delta to an earlier one.
fn absorb(target: &mut Event, event: Event, extras: Kept, left_out: &mut LeftOut) {
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
    extras.merge(&mut target.base, event.base, left_out);
}
