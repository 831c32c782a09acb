//! The conversation that the events of a stream build.

use super::messages::{Messages, append, merge, metadata_mut, set_encrypted};
use super::patch::{PatchError, PatchReason, apply_patch};
use super::run::{Run, RunOutcome, Tally};
use super::snapshot::reconcile;
use super::version;
use super::warning::WarningKind;
use crate::model::{
    ActivityDelta, ActivityMessage, ActivitySnapshot, AssistantMessage, Body, Content,
    DeveloperMessage, EncryptedValueSubtype, Event, Interrupt, Message, ReasoningEncryptedValue,
    ReasoningMessage, RunFinished, RunStarted, SystemMessage, TextMessageStart, TextRole, ToolCall,
    ToolCallResult, ToolCallStart, ToolMessage, UserMessage,
};
use crate::value::{Object, Value};

/// What a stream has come to: messages in order, the agent's state, and what became of each run.
///
/// It takes the events that [`Verifier`](super::Verifier) let pass, in order; [`Consumer`] does all
/// of it. Other streams do no harm: what has no place is left out, with a warning.
///
/// An event takes as long as what it changes. A delta costs its own length, however many messages
/// there are; a snapshot costs the messages; a result the messages since its call; a patch of several
/// operations, or one that moves or copies, the state.
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
            }
            Body::StateDelta(body) => {
                if let Err(error) = apply_patch(&mut self.state, &body.delta) {
                    warnings.push(WarningKind::StatePatch(error));
                }
            }
            Body::MessagesSnapshot(body) => {
                let snapshot = known(&body.messages);
                warn_of_doubles(&snapshot, &mut warnings);
                let held = std::mem::take(&mut self.messages).into_vec();
                self.messages = Messages::from_vec(reconcile(held, &snapshot));
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

    fn start_run(&mut self, body: &RunStarted, warnings: &mut Vec<WarningKind>) {
        if let Some(declared) = &body.protocol_version {
            warnings.extend(version::judge(declared));
        }
        self.tally = Tally::default();
        self.between_streams = false;
        self.runs.push(Run::started(body));
        let Some(input) = &body.input else {
            self.takes_input_state = false;
            return;
        };
        // B8: what the state was before the first run.
        if std::mem::take(&mut self.takes_input_state)
            && let Some(state) = &input.state
        {
            self.state = state.clone();
        }
        // B5: what is held stays as it is.
        for message in known(&input.messages) {
            if !self.messages.contains(message.id()) {
                self.messages.put(message);
            }
        }
    }

    fn finish_run(&mut self, body: &RunFinished, warnings: &mut Vec<WarningKind>) {
        if self.runs.last().is_none_or(|run| run.outcome.is_some()) {
            self.runs.push(Run::default());
        }
        let Some(run) = self.runs.last_mut() else { return };
        let ids = (run.thread_id.as_deref(), run.run_id.as_deref());
        if let (Some(thread), Some(started)) = ids
            && (thread, started) != (&body.thread_id, &body.run_id)
        {
            warnings.push(WarningKind::OtherRun {
                started: format!("{thread}/{started}"),
                finished: format!("{}/{}", body.thread_id, body.run_id),
            });
        }
        run.finish(body, &self.tally);
        // I3: a run that finishes and does not wait leaves nothing open.
        self.interrupts = match &run.outcome {
            Some(RunOutcome::Interrupted { interrupts, .. }) => interrupts.clone(),
            _ => Vec::new(),
        };
    }

    fn start_text(
        &mut self,
        body: &TextMessageStart,
        metadata: Option<&Object>,
        warnings: &mut Vec<WarningKind>,
    ) {
        // S7: of a message that is held, its role, name and owner stand.
        if !self.messages.contains(&body.message_id) {
            self.messages.put(new_text(body));
        }
        self.end(&body.message_id, metadata, warnings);
    }

    fn append(
        &mut self,
        id: &str,
        delta: &str,
        metadata: Option<&Object>,
        warnings: &mut Vec<WarningKind>,
    ) {
        match self.messages.get_mut(id) {
            None => warnings.push(WarningKind::NoMessage { id: id.to_owned() }),
            Some(message) => {
                if append(message, delta) {
                    if let Some(held) = metadata_mut(message) {
                        merge(held, metadata);
                    }
                } else {
                    warnings.push(WarningKind::TextForActivity { id: id.to_owned() });
                }
            }
        }
    }

    /// Merges the metadata of an event that brings no text.
    fn end(&mut self, id: &str, metadata: Option<&Object>, warnings: &mut Vec<WarningKind>) {
        match self.messages.get_mut(id) {
            None => warnings.push(WarningKind::NoMessage { id: id.to_owned() }),
            Some(Message::Activity(_)) => {
                warnings.push(WarningKind::TextForActivity { id: id.to_owned() });
            }
            Some(message) => {
                if let Some(held) = metadata_mut(message) {
                    merge(held, metadata);
                }
            }
        }
    }

    fn start_call(
        &mut self,
        body: &ToolCallStart,
        metadata: Option<&Object>,
        warnings: &mut Vec<WarningKind>,
    ) {
        let ToolCallStart { tool_call_id: id, tool_call_name: name, .. } = body;
        self.tally.start(id);
        if let Some(call) = self.messages.call_mut(id) {
            let function = call.function.get_or_insert_with(|| new_function(name));
            if function.name != *name {
                warnings.push(WarningKind::CallRenamed {
                    id: id.clone(),
                    before: function.name.clone(),
                    now: name.clone(),
                });
                function.name.clone_from(name);
            }
            merge(&mut call.metadata, metadata);
            return;
        }
        let host = self.host(body, warnings);
        let mut call = ToolCall::function(id, name, "");
        call.metadata = metadata.cloned();
        self.messages.push_call(&host, call);
    }

    /// The id of the assistant message that takes a new call; the message is held.
    fn host(&mut self, body: &ToolCallStart, warnings: &mut Vec<WarningKind>) -> String {
        let id = &body.tool_call_id;
        let mut host = body.parent_message_id.as_ref().unwrap_or(id).clone();
        let role = self.messages.get(&host).map(Message::role);
        if let (Some(role), Some(parent)) = (role, &body.parent_message_id)
            && role != crate::model::Role::Assistant
        {
            warnings.push(WarningKind::ParentNotAssistant {
                id: id.clone(),
                parent: parent.clone(),
                role,
            });
            host.clone_from(id);
        }
        match self.messages.get(&host) {
            Some(Message::Assistant(_)) => return host,
            Some(_) => host = self.free_id(host, warnings),
            None => {}
        }
        let mut message = AssistantMessage::new(&host);
        message.subagent_run_id.clone_from(&body.subagent_run_id);
        self.messages.put(message.into());
        host
    }

    /// An id like one that is taken. The same stream gives the same id each time.
    fn free_id(&self, taken: String, warnings: &mut Vec<WarningKind>) -> String {
        let mut instead = format!("{taken}-2");
        let mut number = 2_u64;
        while self.messages.contains(&instead) {
            number += 1;
            instead = format!("{taken}-{number}");
        }
        warnings.push(WarningKind::IdTaken { id: taken, instead: instead.clone() });
        instead
    }

    fn on_call(
        &mut self,
        id: &str,
        metadata: Option<&Object>,
        delta: &str,
        warnings: &mut Vec<WarningKind>,
    ) {
        let Some(call) = self.messages.call_mut(id) else {
            warnings.push(WarningKind::NoToolCall { id: id.to_owned() });
            return;
        };
        call.function.get_or_insert_with(|| new_function("")).arguments.push_str(delta);
        merge(&mut call.metadata, metadata);
    }

    fn answer(
        &mut self,
        body: &ToolCallResult,
        metadata: Option<&Object>,
        warnings: &mut Vec<WarningKind>,
    ) {
        self.tally.answer(&body.tool_call_id);
        let mut message =
            ToolMessage::new(&body.message_id, body.content.clone(), &body.tool_call_id);
        message.subagent_run_id.clone_from(&body.subagent_run_id);
        message.metadata = metadata.cloned();
        match self.messages.get(&body.message_id) {
            Some(Message::Tool(_)) => {
                warnings.push(WarningKind::ResultReplaced { id: body.message_id.clone() });
                self.messages.put(message.into());
                return;
            }
            Some(_) => message.id = self.free_id(body.message_id.clone(), warnings),
            None => {}
        }
        self.messages.put_answer(message.into(), &body.tool_call_id);
    }

    fn set_activity(
        &mut self,
        body: &ActivitySnapshot,
        metadata: Option<&Object>,
        warnings: &mut Vec<WarningKind>,
    ) {
        let id = &body.message_id;
        let replaces = body.replace != Some(false);
        let mut activity =
            ActivityMessage::new(id, &body.activity_type, body.content.clone().unwrap_or_default());
        activity.subagent_run_id.clone_from(&body.subagent_run_id);
        match self.messages.get_mut(id) {
            // A2, A3: its metadata stays, and takes in the event's, whatever is replaced.
            Some(Message::Activity(held)) => {
                activity.metadata = held.metadata.take();
                if replaces {
                    *held = activity;
                } else {
                    held.metadata = activity.metadata;
                }
                merge(&mut held.metadata, metadata);
            }
            Some(message) => {
                let (id, role) = (id.clone(), message.role());
                if replaces {
                    warnings.push(WarningKind::ActivityReplaces { id, role });
                    activity.metadata = metadata.cloned();
                    self.messages.put(activity.into());
                } else {
                    warnings.push(WarningKind::ActivityLeftOut { id, role });
                }
            }
            None => {
                activity.metadata = metadata.cloned();
                self.messages.put(activity.into());
            }
        }
    }

    fn patch_activity(
        &mut self,
        body: &ActivityDelta,
        metadata: Option<&Object>,
        warnings: &mut Vec<WarningKind>,
    ) {
        let Some(Message::Activity(activity)) = self.messages.get_mut(&body.message_id) else {
            warnings.push(WarningKind::NoActivity { id: body.message_id.clone() });
            return;
        };
        // A6: the metadata merges whatever becomes of the patch.
        merge(&mut activity.metadata, metadata);
        match patch_object(activity.content.get_or_insert_default(), body) {
            Ok(()) => activity.activity_type = Some(body.activity_type.clone()),
            Err(error) => {
                let id = body.message_id.clone();
                warnings.push(WarningKind::ActivityPatch { id, error });
            }
        }
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

/// A7: content that would be no object is a patch that failed.
fn patch_object(content: &mut Object, body: &ActivityDelta) -> Result<(), PatchError> {
    // Only an operation on the whole can make it another thing; then a copy is tried.
    let may_end_otherwise = body.patch.iter().any(|operation| {
        operation.path.is_empty() || operation.from.as_deref().is_some_and(str::is_empty)
    });
    if may_end_otherwise {
        let mut trial = Value::Object(content.clone());
        apply_patch(&mut trial, &body.patch)?;
        let Value::Object(patched) = trial else {
            let reason = PatchReason::NotAnObject;
            return Err(PatchError { index: body.patch.len() - 1, path: String::new(), reason });
        };
        *content = patched;
        return Ok(());
    }
    let mut value = Value::Object(std::mem::take(content));
    let result = apply_patch(&mut value, &body.patch);
    if let Value::Object(patched) = value {
        *content = patched;
    }
    result
}

fn new_text(body: &TextMessageStart) -> Message {
    let (id, name, owner) = (&body.message_id, &body.name, &body.subagent_run_id);
    macro_rules! message {
        ($message:expr) => {{
            let mut message = $message;
            message.name.clone_from(name);
            message.subagent_run_id.clone_from(owner);
            message.into()
        }};
    }
    match body.role {
        Some(TextRole::Developer) => message!(DeveloperMessage::new(id, "")),
        Some(TextRole::System) => message!(SystemMessage::new(id, "")),
        Some(TextRole::User) => message!(UserMessage::new(id, Content::Text(String::new()))),
        None | Some(TextRole::Assistant | TextRole::Unknown(_)) => {
            message!(AssistantMessage::new(id).with_content(""))
        }
    }
}

fn new_function(name: &str) -> crate::model::FunctionCall {
    crate::model::FunctionCall::new(name, "")
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
