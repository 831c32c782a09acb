//! What a producer did that it must not, though consumers go on from it.

use crate::conversation::violation::Item;
use crate::model::Role;

/// A rule that the protocol asks of producers alone, broken.
///
/// Consumers need not see it, and the official client does not: the stream is taken all the same.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProducerFault {
    /// A run has an id that an earlier run of its thread has.
    #[error("run {id:?} of thread {thread_id:?} was started before")]
    RunIdUsed {
        /// Id of the thread.
        thread_id: String,
        /// Id of the run.
        id: String,
    },
    /// L10: a run starts under another id, or in another thread, than the request that it restates.
    #[error("{member} is {started:?}, but {requested:?} in the input")]
    OtherInput {
        /// Which of the two.
        member: &'static str,
        /// As the run has it.
        started: String,
        /// As the request has it.
        requested: String,
    },
    /// L17: an item of an earlier run is streamed again, and what was appended repeats what was there.
    #[error("{0} is streamed again, and so holds its text twice")]
    StreamedAgain(Item),
    /// S6: an item is opened again as another one than it was.
    #[error("{item} is opened again with {member} {now:?}, it has {held:?}")]
    ReopenedOtherwise {
        /// The item.
        item: Item,
        /// The member.
        member: &'static str,
        /// What the item has.
        held: String,
        /// What it would have now.
        now: String,
    },
    /// A message is opened under the id of one that holds something else.
    #[error("{item} has the id of a message of role {role}")]
    MessageIdUsed {
        /// What is opened.
        item: Item,
        /// The role of the message that has the id.
        role: Role,
    },
    /// T1: a call to a tool of the consumer has a result in its own run.
    #[error("tool call {id:?} is answered, but the consumer has the tool {name:?}")]
    FrontendCallAnswered {
        /// Id of the call.
        id: String,
        /// Name of the tool.
        name: String,
    },
    /// T2: the list of pending tool calls is not that of the calls which the run has left open.
    #[error("pendingToolCallIds: {}", lists(.missing, .extra))]
    PendingCalls {
        /// Calls that were started in the run, have no result, and are not in the list.
        missing: Vec<String>,
        /// What the list has besides, or twice.
        extra: Vec<String>,
    },
    /// I1: two interrupts of a run have one id.
    #[error("interrupt {id:?} occurs twice")]
    InterruptTwice {
        /// The id.
        id: String,
    },
    /// G13: an event belongs to an invocation that is announced only later in the run.
    #[error("subagent {id:?} is announced after event {first}, which belongs to it")]
    AnnouncedLate {
        /// Id of the invocation.
        id: String,
        /// The first event that belongs to it, counted from 0.
        first: usize,
    },
    /// G13: the run announces invocations, but not one that events belong to.
    #[error("subagent {id:?} is not announced in a run that announces others; see event {first}")]
    NotAnnounced {
        /// Id of the invocation.
        id: String,
        /// The first event that belongs to it, counted from 0.
        first: usize,
    },
}

impl ProducerFault {
    /// The number of the rule, as [`ViolationKind::rule`](super::super::ViolationKind::rule) gives
    /// it: B for runs, L for their life, S for streamed items, T for tool calls, I for interrupts, G
    /// for subagents, ID for ids.
    #[must_use]
    pub fn rule(&self) -> &'static str {
        match self {
            Self::RunIdUsed { .. } | Self::MessageIdUsed { .. } => "ID",
            Self::OtherInput { .. } => "L10",
            Self::StreamedAgain(_) => "L17",
            Self::ReopenedOtherwise { .. } => "S6",
            Self::FrontendCallAnswered { .. } => "T1",
            Self::PendingCalls { .. } => "T2",
            Self::InterruptTwice { .. } => "I1",
            Self::AnnouncedLate { .. } | Self::NotAnnounced { .. } => "G13",
        }
    }
}

fn lists(missing: &[String], extra: &[String]) -> String {
    let named = |what: &str, ids: &[String]| {
        let ids: Vec<_> = ids.iter().map(|id| format!("{id:?}")).collect();
        format!("{what} {}", ids.join(", "))
    };
    match (missing, extra) {
        (missing, []) => named("lacks", missing),
        ([], extra) => named("should not have", extra),
        (missing, extra) => {
            format!("{}, {}", named("lacks", missing), named("should not have", extra))
        }
    }
}
