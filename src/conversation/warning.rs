//! What a consumer should hear of and goes on from.

use std::fmt;

use super::patch::PatchError;
use super::producer::ProducerFault;
use crate::model::{Notice, Role};

/// Something that a consumer went on from: in which event, and what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Which event of the stream, counted from 0 and before chunks are expanded.
    pub index: usize,
    /// What happened.
    pub kind: WarningKind,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "event {}: {}", self.index, self.kind)
    }
}

/// What a consumer went on from. A stream of this version without faults gives none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WarningKind {
    /// Something was stripped, dropped or translated.
    #[error("{0}")]
    Notice(Notice),
    /// The state was not patched, and is as it was.
    #[error("state not patched: {0}")]
    StatePatch(PatchError),
    /// An activity was not patched, and its content is as it was.
    #[error("activity {id:?} not patched: {error}")]
    ActivityPatch {
        /// Id of the activity.
        id: String,
        /// Why.
        error: PatchError,
    },
    /// What an activity's patch names is not held, or is no activity. Nothing was patched.
    #[error("no activity {id:?} to patch")]
    NoActivity {
        /// The id.
        id: String,
    },
    /// An activity took the place of a message of another role.
    #[error("activity {id:?} takes the place of a message of role {role}")]
    ActivityReplaces {
        /// The id.
        id: String,
        /// The role.
        role: Role,
    },
    /// An activity that replaces nothing has the id of a message of another role; it was left out.
    #[error("activity {id:?} has the id of a message of role {role}, and was left out")]
    ActivityLeftOut {
        /// The id.
        id: String,
        /// The role.
        role: Role,
    },
    /// The message or tool call that an encrypted value belongs to is not held, or cannot have one.
    #[error("nothing {id:?} to hold an encrypted value")]
    NoEntity {
        /// The id.
        id: String,
    },
    /// The message that an event continues is not held any more.
    #[error("no message {id:?}")]
    NoMessage {
        /// The id.
        id: String,
    },
    /// The tool call that an event continues is not held any more.
    #[error("no tool call {id:?}")]
    NoToolCall {
        /// The id.
        id: String,
    },
    /// Text was addressed to an activity, which has none.
    #[error("message {id:?} is an activity and takes no text")]
    TextForActivity {
        /// The id.
        id: String,
    },
    /// A tool call names a message that is not the assistant's; it got a message of its own.
    #[error("parent message {parent:?} of tool call {id:?} has the role {role}")]
    ParentNotAssistant {
        /// Id of the call.
        id: String,
        /// Id of the message.
        parent: String,
        /// The message's role.
        role: Role,
    },
    /// A tool call was opened again under another name, which it has now.
    #[error("tool call {id:?} was named {before:?}, and is named {now:?}")]
    CallRenamed {
        /// Id of the call.
        id: String,
        /// Its name before.
        before: String,
        /// Its name now.
        now: String,
    },
    /// A new message would have an id that is taken; it got another one.
    #[error("message id {id:?} is taken, {instead:?} is used instead")]
    IdTaken {
        /// The id.
        id: String,
        /// The id it got.
        instead: String,
    },
    /// A tool result replaced the one with its id.
    #[error("tool message {id:?} was replaced")]
    ResultReplaced {
        /// The id.
        id: String,
    },
    /// A list of messages has an id twice; the last one counts.
    #[error("message id {id:?} occurs twice")]
    IdTwice {
        /// The id.
        id: String,
    },
    /// The producer speaks a later version of the protocol than this crate.
    #[error("the producer speaks version {declared}, this consumer {}", crate::PROTOCOL_VERSION)]
    NewerVersion {
        /// The version it declares.
        declared: String,
    },
    /// The producer declares a version that is none.
    #[error(
        "cannot read the producer's version {declared:?}; this consumer speaks {}",
        crate::PROTOCOL_VERSION
    )]
    OddVersion {
        /// What it declares.
        declared: String,
    },
    /// A run finished under other ids than it started with.
    #[error("the run started as {started:?} and finished as {finished:?}")]
    OtherRun {
        /// Its id at the start.
        started: String,
        /// Its id at the end.
        finished: String,
    },
    /// A run is of another thread than the one before it. Threads are conversations of their own, and
    /// may use the same ids: each is to be given one of its own.
    #[error("a run of thread {now:?} in a conversation of thread {before:?}")]
    OtherThread {
        /// Id of the thread before.
        before: String,
        /// Id of the thread now.
        now: String,
    },
    /// The producer broke a rule that consumers do not hold it to. Given only by a consumer
    /// [that looks](super::Consumer::with_producer_rules).
    #[error("{0} ({rule})", rule = .0.rule())]
    Producer(ProducerFault),
}

impl From<Notice> for WarningKind {
    fn from(notice: Notice) -> Self {
        Self::Notice(notice)
    }
}
