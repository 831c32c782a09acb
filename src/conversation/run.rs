//! What became of a run.

use std::collections::HashSet;

use crate::model::{Interrupt, RunError, RunFinished, RunFinishedOutcome, RunStarted, TokenUsage};
use crate::value::Value;

/// One run of a conversation.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Run {
    /// Id of the thread; absent if the run failed before it started.
    pub thread_id: Option<String>,
    /// Id of the run; absent if the run failed before it started.
    pub run_id: Option<String>,
    /// Id of the run that it was launched from, or branches off.
    pub parent_run_id: Option<String>,
    /// What became of it; nothing while it is active, and for good if its stream was cut.
    pub outcome: Option<RunOutcome>,
    /// Tokens used, as the end of the run reports them.
    pub usage: Vec<TokenUsage>,
}

/// What became of a run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum RunOutcome {
    /// It did what it was asked to.
    Success {
        /// What it came to.
        result: Option<Value>,
        /// The tool calls that it leaves to the consumer, in call order.
        pending_tool_calls: Vec<String>,
    },
    /// It waits for answers.
    Interrupted {
        /// What it waits for.
        interrupts: Vec<Interrupt>,
        /// The tool calls that it leaves unanswered, in call order.
        pending_tool_calls: Vec<String>,
    },
    /// It was stopped on purpose: neither a success nor a failure.
    Cancelled,
    /// It failed, and said so.
    Failed(RunError),
}

impl RunOutcome {
    /// The tool calls that the run leaves unanswered, in call order.
    #[must_use]
    pub fn pending_tool_calls(&self) -> &[String] {
        match self {
            Self::Success { pending_tool_calls, .. }
            | Self::Interrupted { pending_tool_calls, .. } => pending_tool_calls,
            Self::Cancelled | Self::Failed(_) => &[],
        }
    }
}

impl Run {
    pub(super) fn started(body: &RunStarted) -> Self {
        Self {
            thread_id: Some(body.thread_id.clone()),
            run_id: Some(body.run_id.clone()),
            parent_run_id: body.parent_run_id.clone(),
            ..Self::default()
        }
    }

    /// L15: an outcome that was stripped is a success.
    pub(super) fn finish(&mut self, body: &RunFinished, tally: &Tally) {
        self.usage = body.usage.clone().unwrap_or_default();
        self.outcome = Some(match &body.outcome {
            Some(RunFinishedOutcome::Interrupt(outcome)) => RunOutcome::Interrupted {
                interrupts: outcome.interrupts.clone(),
                pending_tool_calls: tally.pending(),
            },
            Some(RunFinishedOutcome::Cancelled(_)) => RunOutcome::Cancelled,
            // T2, T3: a list that says something is believed; none and an empty one say nothing.
            Some(RunFinishedOutcome::Success(outcome)) => {
                let listed = outcome.pending_tool_call_ids.clone().unwrap_or_default();
                let pending = if listed.is_empty() { tally.pending() } else { listed };
                RunOutcome::Success { result: body.result.clone(), pending_tool_calls: pending }
            }
            None | Some(RunFinishedOutcome::Unknown(_)) => RunOutcome::Success {
                result: body.result.clone(),
                pending_tool_calls: tally.pending(),
            },
        });
    }

    pub(super) fn fail(&mut self, body: &RunError) {
        self.usage = body.usage.clone().unwrap_or_default();
        self.outcome = Some(RunOutcome::Failed(body.clone()));
    }
}

/// The tool calls of a run, and which of them were answered in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Tally {
    started: Vec<String>,
    known: HashSet<String>,
    answered: HashSet<String>,
}

impl Tally {
    pub(super) fn start(&mut self, id: &str) {
        if self.known.insert(id.to_owned()) {
            self.started.push(id.to_owned());
        }
    }

    pub(super) fn answer(&mut self, id: &str) {
        self.answered.insert(id.to_owned());
    }

    /// T3: in the order in which they were first opened.
    pub(super) fn pending(&self) -> Vec<String> {
        self.started.iter().filter(|id| !self.answered.contains(*id)).cloned().collect()
    }
}
