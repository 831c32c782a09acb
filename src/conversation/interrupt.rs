//! The next request: what a run waits for, and the answers to it.
//!
//! Rule: specification 1.1, basic/patterns/interrupt-resume and events/tool-calls.

use std::collections::{BTreeMap, HashSet};

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::apply::Conversation;
use super::run::RunOutcome;
use crate::PROTOCOL_VERSION;
use crate::model::{Interrupt, Message, ResumeEntry, ResumeStatus, RunAgentInput};
use crate::value::Value;

/// Builds the next request of a conversation, and holds it to what the protocol asks of one.
///
/// # Examples
///
/// ```
/// use ag_ui_proto::Event;
/// use ag_ui_proto::conversation::{Conversation, InputError};
/// use ag_ui_proto::model::{Interrupt, RunFinished, RunFinishedOutcome, RunInterrupt, RunStarted};
///
/// let mut conversation = Conversation::new();
/// conversation.apply(&Event::from(RunStarted::new("t", "r1")));
/// let outcome = RunInterrupt::new([Interrupt::new("i1", "approve the payment")]);
/// let outcome = RunFinishedOutcome::from(outcome);
/// conversation.apply(&Event::from(RunFinished::new("t", "r1").with_outcome(outcome)));
///
/// let error = conversation.next_input("r2").build().unwrap_err();
/// assert_eq!(error, InputError::Unanswered(vec!["i1".to_owned()]));
///
/// let input = conversation.next_input("r2").resolve("i1", true).build()?;
/// assert_eq!(input.thread_id, "t");
/// # Ok::<(), InputError>(())
/// ```
#[derive(Clone, Debug)]
pub struct NextInput<'c> {
    conversation: &'c Conversation,
    run_id: String,
    thread_id: Option<String>,
    now: Option<i64>,
    entries: Vec<ResumeEntry>,
}

/// Why a request must not be sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// No run has named the thread, and the caller has not either.
    #[error("the thread is not known")]
    NoThread,
    /// A run of the conversation has the id.
    #[error("a run has the id {0:?}")]
    RunIdTaken(String),
    /// I4: interrupts without an entry.
    #[error("interrupts without an answer: {}", .0.join(", "))]
    Unanswered(Vec<String>),
    /// I5: an entry for what is not open.
    #[error("no interrupt {0:?} is open")]
    NotOpen(String),
    /// An interrupt has two entries.
    #[error("interrupt {0:?} is answered twice")]
    AnsweredTwice(String),
    /// I6: an answer to an interrupt that has expired; it can only be cancelled.
    #[error("interrupt {0:?} has expired, and can only be cancelled")]
    Expired(String),
    /// I7: an answer that is null, or one to what is cancelled.
    #[error("the entry of interrupt {0:?} has a payload that it must not have")]
    Payload(String),
    /// The status of an entry is neither of the two.
    #[error("the entry of interrupt {0:?} has an unknown status")]
    Status(String),
    /// T4: tool calls that the last run left to the consumer, and that no tool message answers.
    #[error("tool calls without a result: {}", .0.join(", "))]
    UnansweredCalls(Vec<String>),
}

impl Conversation {
    /// Begins the request for a run with a new id.
    pub fn next_input(&self, run_id: impl Into<String>) -> NextInput<'_> {
        NextInput {
            conversation: self,
            run_id: run_id.into(),
            thread_id: None,
            now: None,
            entries: Vec::new(),
        }
    }

    /// What the answers in a request leave open, and which of them answer nothing; for an agent that
    /// keeps its conversations.
    #[must_use]
    pub fn check_resume(&self, resume: &[ResumeEntry]) -> ResumeCheck {
        let answered: HashSet<&str> =
            resume.iter().map(|entry| entry.interrupt_id.as_str()).collect();
        let open: HashSet<&str> =
            self.interrupts().iter().map(|interrupt| interrupt.id.as_str()).collect();
        let ids = self.interrupts().iter().map(|interrupt| &interrupt.id);
        ResumeCheck {
            uncovered: ids.filter(|id| !answered.contains(id.as_str())).cloned().collect(),
            unknown: answered_but_not_open(resume, &open),
        }
    }
}

fn answered_but_not_open(resume: &[ResumeEntry], open: &HashSet<&str>) -> Vec<String> {
    let ids = resume.iter().map(|entry| &entry.interrupt_id);
    ids.filter(|id| !open.contains(id.as_str())).cloned().collect()
}

/// What the answers in a request come to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResumeCheck {
    /// I8: open interrupts without an answer. They are not abandoned: the agent must not do what they
    /// ask about, nor finish as a success.
    pub uncovered: Vec<String>,
    /// I5, I9: answers to nothing that is open. The agent drops them, with a warning.
    pub unknown: Vec<String>,
}

impl NextInput<'_> {
    /// Sets the thread, which is otherwise that of the last run.
    #[must_use]
    pub fn with_thread(mut self, thread_id: impl Into<String>) -> Self {
        self.thread_id = Some(thread_id.into());
        self
    }

    /// Sets the time, in milliseconds since the Unix epoch, by which interrupts expire. Without it
    /// none has.
    #[must_use]
    pub fn at(mut self, now: i64) -> Self {
        self.now = Some(now);
        self
    }

    /// Answers an interrupt. A refusal is an answer too.
    #[must_use]
    pub fn resolve(self, interrupt_id: impl Into<String>, payload: impl Into<Value>) -> Self {
        self.answer(
            ResumeEntry::new(interrupt_id, ResumeStatus::Resolved).with_payload(payload.into()),
        )
    }

    /// Abandons an interrupt.
    #[must_use]
    pub fn cancel(self, interrupt_id: impl Into<String>) -> Self {
        self.answer(ResumeEntry::new(interrupt_id, ResumeStatus::Cancelled))
    }

    /// Adds an answer as it is.
    #[must_use]
    pub fn answer(mut self, entry: ResumeEntry) -> Self {
        self.entries.push(entry);
        self
    }

    /// Makes the request: the messages but for activities, the state unless it is null, and the
    /// answers. Tools, context and forwarded properties are the caller's to set.
    ///
    /// # Errors
    ///
    /// The first thing for which the request must not be sent.
    pub fn build(self) -> Result<RunAgentInput, InputError> {
        let Self { conversation, run_id, thread_id, now, entries } = self;
        let runs = conversation.runs();
        let last_thread = runs.iter().rev().find_map(|run| run.thread_id.clone());
        let thread_id = thread_id.or(last_thread).ok_or(InputError::NoThread)?;
        if runs.iter().any(|run| run.run_id.as_ref() == Some(&run_id)) {
            return Err(InputError::RunIdTaken(run_id));
        }
        check_entries(conversation, &entries, now)?;
        let unanswered = unanswered_calls(conversation);
        if !unanswered.is_empty() {
            return Err(InputError::UnansweredCalls(unanswered));
        }
        // A8: what only the consumer sees is not sent.
        let messages = conversation.messages().filter(|message| !is_activity(message)).cloned();
        let mut input = RunAgentInput::new(thread_id, run_id, messages.collect::<Vec<_>>())
            .with_protocol_version(PROTOCOL_VERSION);
        input.state = Some(conversation.state()).filter(|state| !state.is_null()).cloned();
        input.resume = Some(entries).filter(|entries| !entries.is_empty());
        Ok(input)
    }
}

fn is_activity(message: &Message) -> bool {
    matches!(message, Message::Activity(_))
}

fn check_entries(
    conversation: &Conversation,
    entries: &[ResumeEntry],
    now: Option<i64>,
) -> Result<(), InputError> {
    let mut open: BTreeMap<&str, (&Interrupt, bool)> = BTreeMap::new();
    for interrupt in conversation.interrupts() {
        open.insert(&interrupt.id, (interrupt, false));
    }
    for entry in entries {
        let id = || entry.interrupt_id.clone();
        let (interrupt, is_answered) =
            open.get_mut(entry.interrupt_id.as_str()).ok_or_else(|| InputError::NotOpen(id()))?;
        if std::mem::replace(is_answered, true) {
            return Err(InputError::AnsweredTwice(id()));
        }
        let may_have_payload = match entry.status {
            ResumeStatus::Resolved => {
                if now.is_some_and(|now| is_expired(interrupt, now)) {
                    return Err(InputError::Expired(id()));
                }
                entry.payload != Some(Value::Null)
            }
            ResumeStatus::Cancelled => entry.payload.is_none(),
            ResumeStatus::Unknown(_) => return Err(InputError::Status(id())),
        };
        if !may_have_payload {
            return Err(InputError::Payload(id()));
        }
    }
    let left = open.values().filter(|(_, is_answered)| !is_answered);
    let left: Vec<String> = left.map(|(interrupt, _)| interrupt.id.clone()).collect();
    if left.is_empty() { Ok(()) } else { Err(InputError::Unanswered(left)) }
}

/// T4, I11: the calls that a run which succeeded has left, and that are held without an answer. A
/// run that waits takes up its own calls again.
fn unanswered_calls(conversation: &Conversation) -> Vec<String> {
    let Some(RunOutcome::Success { pending_tool_calls, .. }) =
        conversation.runs().last().and_then(|run| run.outcome.as_ref())
    else {
        return Vec::new();
    };
    if pending_tool_calls.is_empty() {
        return Vec::new();
    }
    let answered: HashSet<&str> = conversation
        .messages()
        .filter_map(|message| match message {
            Message::Tool(message) => message.tool_call_id.as_deref(),
            _ => None,
        })
        .collect();
    let is_left =
        |id: &&String| !answered.contains(id.as_str()) && conversation.tool_call(id).is_some();
    pending_tool_calls.iter().filter(is_left).cloned().collect()
}

/// Whether an interrupt has expired at a time, in milliseconds since the Unix epoch.
///
/// `expiresAt` is read as an ISO 8601 time, or a date; without an offset it is UTC. One that cannot
/// be read never expires, nor does an absent one. At its very time it has expired.
#[must_use]
pub fn is_expired(interrupt: &Interrupt, now: i64) -> bool {
    let Some(text) = &interrupt.expires_at else { return false };
    let timestamp = text
        .parse::<Timestamp>()
        .ok()
        .or_else(|| TimeZone::UTC.to_timestamp(text.parse::<DateTime>().ok()?).ok());
    timestamp.is_some_and(|timestamp| timestamp.as_millisecond() <= now)
}
