//! The life of a run: started, divided into steps, finished or failed.

use super::object::{objects, unions};
use super::path::At;
use super::{Interrupt, Reason};
use crate::model::node::Inspector;

macro_rules! run_objects {
    ($write:ident) => {
        $write! {
        /// Opens a run.
        RunStarted: RunStartedEvent {
            required {
                /// Id of the conversation.
                thread_id: String = "threadId";
                /// Id of the run.
                run_id: String = "runId";
            }
            optional {
                /// The protocol version that the producer speaks.
                protocol_version: String = "protocolVersion", with_protocol_version;
                /// Id of the run that launched this one.
                parent_run_id: String = "parentRunId", with_parent_run;
                /// The request that the run answers, echoed.
                input: Box<crate::model::RunAgentInput> = "input", with_input;
            }
        }

        /// Ends a run that failed.
        RunError: RunErrorEvent {
            required {
                /// What went wrong.
                message: String = "message";
            }
            optional {
                /// A code for it.
                code: String = "code", with_code;
                /// Tokens used, one entry a model.
                usage: Vec<crate::model::TokenUsage> = "usage", with_usage;
            }
        }

        /// Opens a step.
        StepStarted: StepStartedEvent {
            required {
                /// Name of the step.
                step_name: String = "stepName";
            }
            optional {
                /// The subagent that the event belongs to; absent means the parent agent.
                subagent_run_id: String = "subagentRunId", with_subagent;
            }
        }

        /// Closes a step.
        StepFinished: StepFinishedEvent {
            required {
                /// Name of the step.
                step_name: String = "stepName";
            }
            optional {
                /// The subagent that the event belongs to; absent means the parent agent.
                subagent_run_id: String = "subagentRunId", with_subagent;
            }
        }
        }
    };
}

pub(crate) use run_objects;
run_objects!(objects);

objects! {
    /// Closes a run that was not broken off.
    RunFinished {
        required {
            /// Id of the conversation.
            thread_id: String = "threadId";
            /// Id of the run.
            run_id: String = "runId";
        }
        optional {
            /// What the run came to.
            result: crate::value::Value = "result", with_result;
            /// How it ended; absent means success.
            outcome: RunFinishedOutcome = "outcome", with_outcome;
            /// Tokens used, one entry a model.
            usage: Vec<crate::model::TokenUsage> = "usage", with_usage;
        }
    }

    /// The run did what it was asked to.
    RunSuccess {
        optional {
            /// The tool calls that it leaves to the consumer, in call order.
            pending_tool_call_ids: Vec<String> = "pendingToolCallIds", with_pending_tool_call_ids;
        }
    }

    /// The run waits for an answer.
    RunInterrupt {
        required {
            /// What it waits for; at least one.
            interrupts: Vec<Interrupt> = "interrupts";
        }
        check check_interrupts;
    }

    /// The run was stopped on purpose.
    RunCancelled {}
}

unions! {
    /// How a run ended.
    RunFinishedOutcome by "type", "outcome" {
        /// It did what it was asked to.
        Success(RunSuccess) = "success";
        /// It waits for an answer.
        Interrupt(RunInterrupt) = "interrupt";
        /// It was stopped on purpose.
        Cancelled(RunCancelled) = "cancelled";
    }
}

impl From<RunSuccess> for RunFinishedOutcome {
    fn from(outcome: RunSuccess) -> Self {
        Self::Success(outcome)
    }
}

impl From<RunInterrupt> for RunFinishedOutcome {
    fn from(outcome: RunInterrupt) -> Self {
        Self::Interrupt(outcome)
    }
}

impl From<RunCancelled> for RunFinishedOutcome {
    fn from(outcome: RunCancelled) -> Self {
        Self::Cancelled(outcome)
    }
}

fn check_interrupts(outcome: &RunInterrupt, at: &At<'_>, with: &mut impl Inspector) {
    if outcome.interrupts.is_empty() {
        with.malformed(&at.member("interrupts"), Reason::Empty);
    }
}
