//! The conversation that the events of a stream build.

mod activity;
mod copied;
mod run;
mod text;
mod tool;

use self::copied::Copied;
use super::message::set_encrypted;
use super::messages::Messages;
use super::patch::{apply_patch, copies};
use super::run::{Run, RunOutcome, Tally};
use super::snapshot::reconcile;
use super::warning::WarningKind;
use crate::model::{
    Body, EncryptedValueSubtype, Event, Interrupt, Message, ReasoningEncryptedValue,
    ReasoningMessage, ToolCall,
};
use crate::value::{Object, Value};

/// What the runs of a thread have come to: messages in order, the agent's state, and what became of
/// each run.
///
/// A log of several threads is several conversations, since ids are unique in a thread alone; runs of
/// another thread are taken, with a warning: see [`WarningKind::OtherThread`].
///
/// It takes the events that [`Verifier`](super::Verifier) let pass, in order; [`Consumer`] does all
/// of it. Other streams do no harm: what has no place is left out, with a warning.
///
/// An event takes as long as what it changes. A delta or a result costs its own length, however many
/// messages there are; a snapshot costs the messages; a patch costs the objects and lists that it
/// changes, and the whole state if it copies. Memory goes with what was said; patches that copy may
/// make the state, and each activity, as large as
/// [`PatchReason::TooLarge`](super::PatchReason::TooLarge) says, and all activities together as
/// [`PatchReason::TooLargeTogether`](super::PatchReason::TooLargeTogether) does.
///
/// Ids stay unique: see [`WarningKind::IdTaken`] and [`WarningKind::ResultReplaced`]. Messages that
/// a newer peer's role makes unreadable are left out.
///
/// [`Consumer`]: super::Consumer
///
/// # Examples
///
/// ```
/// use ag_ui_proto::Event;
/// use ag_ui_proto::conversation::Conversation;
/// use ag_ui_proto::model::{TextMessageContent, TextMessageStart};
///
/// let mut conversation = Conversation::new();
/// conversation.apply(&Event::from(TextMessageStart::new("m1")));
/// conversation.apply(&Event::from(TextMessageContent::new("m1", "Hello")));
/// let message = conversation.message("m1").expect("the message");
/// assert_eq!(serde_json::to_string(message)?, r#"{"role":"assistant","id":"m1","content":"Hello"}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Conversation {
    messages: Messages,
    state: Value,
    /// Whether the first run's input says what the state was before it.
    takes_input_state: bool,
    /// Whether a failure would be one of a run that is not in the list.
    between_streams: bool,
    runs: Vec<Run>,
    tally: Tally,
    interrupts: Vec<Interrupt>,
    copied: Copied,
}

impl Default for Conversation {
    fn default() -> Self {
        Self::new()
    }
}

impl Conversation {
    /// Makes one without messages, whose state is that of the first run's input, or `{}`.
    ///
    /// So a recorded stream is restored by applying all of it.
    #[must_use]
    pub fn new() -> Self {
        Self {
            messages: Messages::default(),
            state: Value::Object(Object::new()),
            takes_input_state: true,
            between_streams: true,
            runs: Vec::new(),
            tally: Tally::default(),
            interrupts: Vec::new(),
            copied: Copied::default(),
        }
    }

    /// Sets the state; no input overrides it.
    #[must_use]
    pub fn with_state(mut self, state: impl Into<Value>) -> Self {
        self.state = state.into();
        self.takes_input_state = false;
        self
    }

    /// Adds messages, as [`Conversation::add`] does.
    #[must_use]
    pub fn with_messages(mut self, messages: impl IntoIterator<Item = Message>) -> Self {
        messages.into_iter().for_each(|message| self.add(message));
        self
    }

    /// Adds a message at the end: what the user says, or the answer to a tool call. A message with
    /// the same id is replaced where it stands.
    pub fn add(&mut self, message: Message) {
        self.copied.changed(message.id());
        self.messages.put(message);
    }

    /// The messages, in order.
    #[must_use]
    pub fn messages(&self) -> impl DoubleEndedIterator<Item = &Message> + ExactSizeIterator {
        self.messages.iter()
    }

    /// The messages, in order.
    #[must_use]
    pub fn into_messages(self) -> Vec<Message> {
        self.messages.into_vec()
    }

    /// The message with an id.
    #[must_use]
    pub fn message(&self, id: &str) -> Option<&Message> {
        self.messages.get(id)
    }

    /// The tool call with an id, whichever message holds it.
    #[must_use]
    pub fn tool_call(&self, id: &str) -> Option<&ToolCall> {
        self.messages.call(id)
    }

    /// The agent's state.
    #[must_use]
    pub fn state(&self) -> &Value {
        &self.state
    }

    /// The runs, in the order in which they started.
    #[must_use]
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// The interrupts that are open: those of the last run that finished, if it waits.
    #[must_use]
    pub fn interrupts(&self) -> &[Interrupt] {
        &self.interrupts
    }

    /// The tool calls of the last run that have no result: as it listed them when it finished, or in
    /// the order in which they were opened.
    #[must_use]
    pub fn pending_tool_calls(&self) -> Vec<String> {
        match self.runs.last().and_then(|run| run.outcome.as_ref()) {
            Some(outcome @ (RunOutcome::Success { .. } | RunOutcome::Interrupted { .. })) => {
                outcome.pending_tool_calls().to_vec()
            }
            _ => self.tally.pending(),
        }
    }

    /// How large the state is, and the activities are, into which patches have copied, as
    /// [`PatchReason::TooLarge`](super::PatchReason::TooLarge) counts it: the part of the memory that
    /// may be more than what was said. For who holds many conversations of peers that are not trusted.
    #[must_use]
    pub fn copied_len(&self) -> usize {
        self.copied.len()
    }

    /// The message that holds a tool call.
    pub(super) fn message_of_call(&self, id: &str) -> Option<&Message> {
        self.messages.host(id)
    }

    /// T3: the tool calls that the present run has started, and that have no result.
    pub(super) fn unanswered_calls(&self) -> Vec<String> {
        self.tally.pending()
    }

    /// Applies an event, and says what a consumer should hear of.
    ///
    /// Chunks must be expanded first; one that is not changes nothing.
    pub fn apply(&mut self, event: &Event) -> Vec<WarningKind> {
        let mut warnings = Vec::new();
        let metadata = event.base.metadata.as_ref();
        match &event.body {
            Body::TextMessageStart(body) => self.start_text(body, metadata, &mut warnings),
            Body::TextMessageContent(body) => {
                self.append(&body.message_id, &body.delta, metadata, &mut warnings);
            }
            Body::TextMessageEnd(body) => self.end(&body.message_id, metadata, &mut warnings),
            Body::ReasoningMessageStart(body) => {
                if !self.messages.contains(&body.message_id) {
                    let mut message = ReasoningMessage::new(&body.message_id, "");
                    message.subagent_run_id.clone_from(&body.subagent_run_id);
                    self.messages.put(message.into());
                }
                self.end(&body.message_id, metadata, &mut warnings);
            }
            Body::ReasoningMessageContent(body) => {
                self.append(&body.message_id, &body.delta, metadata, &mut warnings);
            }
            Body::ReasoningMessageEnd(body) => self.end(&body.message_id, metadata, &mut warnings),
            Body::ToolCallStart(body) => self.start_call(body, metadata, &mut warnings),
            Body::ToolCallArgs(body) => {
                self.on_call(&body.tool_call_id, metadata, &body.delta, &mut warnings);
            }
            Body::ToolCallEnd(body) => {
                self.on_call(&body.tool_call_id, metadata, "", &mut warnings);
            }
            Body::ToolCallResult(body) => self.answer(body, metadata, &mut warnings),
            Body::StateSnapshot(body) => {
                self.state = body.snapshot.clone().unwrap_or_default();
                self.takes_input_state = false;
                self.copied.state_replaced();
            }
            Body::StateDelta(body) => match apply_patch(&mut self.state, &body.delta) {
                Ok(()) if copies(&body.delta) => self.copied.copied_into_state(&self.state),
                Ok(()) => {}
                Err(error) => warnings.push(WarningKind::StatePatch(error)),
            },
            Body::MessagesSnapshot(body) => {
                let snapshot = known(&body.messages);
                warn_of_doubles(&snapshot, &mut warnings);
                let held = std::mem::take(&mut self.messages).into_vec();
                self.messages = Messages::from_vec(reconcile(held, &snapshot));
                self.copied.all_changed();
            }
            Body::ActivitySnapshot(body) => self.set_activity(body, metadata, &mut warnings),
            Body::ActivityDelta(body) => self.patch_activity(body, metadata, &mut warnings),
            Body::ReasoningEncryptedValue(body) => self.encrypt(body, &mut warnings),
            Body::RunStarted(body) => self.start_run(body, &mut warnings),
            Body::RunFinished(body) => self.finish_run(body, &mut warnings),
            Body::RunError(body) => {
                // L8: a late failure is one of the run that finished; one that comes first is one of
                // a run that never started.
                let is_late = !self.between_streams && !self.runs.is_empty();
                if !is_late {
                    self.runs.push(Run::default());
                }
                self.between_streams = false;
                if let Some(run) = self.runs.last_mut() {
                    run.fail(body);
                }
            }
            // Nothing of these is a message or state.
            Body::Raw(_)
            | Body::Custom(_)
            | Body::StepStarted(_)
            | Body::StepFinished(_)
            | Body::SubagentStarted(_)
            | Body::SubagentFinished(_)
            | Body::SubagentError(_)
            | Body::ReasoningStart(_)
            | Body::ReasoningEnd(_)
            | Body::TextMessageChunk(_)
            | Body::ToolCallChunk(_)
            | Body::ReasoningMessageChunk(_) => {}
        }
        warnings
    }

    /// Tells that what comes next is another stream.
    pub(super) fn next_stream(mut self) -> Self {
        self.between_streams = true;
        self
    }

    fn encrypt(&mut self, body: &ReasoningEncryptedValue, warnings: &mut Vec<WarningKind>) {
        let kind = body.encrypted_value_type.as_deref();
        let is_held = match body.subtype {
            EncryptedValueSubtype::ToolCall => {
                self.messages.call_mut(&body.entity_id).is_some_and(|call| {
                    call.encrypted_value = Some(body.encrypted_value.clone());
                    call.encrypted_value_type = kind.map(str::to_owned);
                    true
                })
            }
            EncryptedValueSubtype::Message => self
                .messages
                .get_mut(&body.entity_id)
                .is_some_and(|message| set_encrypted(message, &body.encrypted_value, kind)),
            EncryptedValueSubtype::Unknown(_) => false,
        };
        if !is_held {
            warnings.push(WarningKind::NoEntity { id: body.entity_id.clone() });
        }
    }
}

/// The messages whose role this version knows; enforcement has told of the others.
fn known(messages: &[Message]) -> Vec<Message> {
    messages.iter().filter(|message| !matches!(message, Message::Unknown(_))).cloned().collect()
}

fn warn_of_doubles(messages: &[Message], warnings: &mut Vec<WarningKind>) {
    let mut seen = std::collections::HashSet::new();
    for message in messages {
        if !seen.insert(message.id()) {
            warnings.push(WarningKind::IdTwice { id: message.id().to_owned() });
        }
    }
}
