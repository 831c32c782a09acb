//! Subagents: invocations that are announced, and that end one way or another.

use super::object::{objects, unions};

macro_rules! subagent_objects {
    ($write:ident) => {
        $write! {
        /// Announces the invocation of a subagent.
        SubagentStarted: SubagentStartedEvent {
            required {
                /// Id of the invocation.
                subagent_run_id: String = "subagentRunId";
                /// Name of the subagent.
                name: String = "name";
            }
            optional {
                /// What the subagent is for.
                description: String = "description", with_description;
                /// Id of the invocation that this one was made from.
                parent_subagent_run_id: String = "parentSubagentRunId", with_parent_subagent;
                /// Id of the tool call that made it.
                parent_tool_call_id: String = "parentToolCallId", with_parent_tool_call;
                /// Id of the message that it was made from.
                parent_message_id: String = "parentMessageId", with_parent_message;
            }
        }

        /// Ends the invocation of a subagent that failed.
        SubagentError: SubagentErrorEvent {
            required {
                /// Id of the invocation.
                subagent_run_id: String = "subagentRunId";
                /// What went wrong.
                message: String = "message";
            }
            optional {
                /// A code for it.
                code: String = "code", with_code;
            }
        }
        }
    };
}

pub(crate) use subagent_objects;
subagent_objects!(objects);

objects! {
    /// Ends the invocation of a subagent that did not fail.
    SubagentFinished {
        required {
            /// Id of the invocation.
            subagent_run_id: String = "subagentRunId";
        }
        optional {
            /// What the subagent came to.
            result: crate::value::Value = "result", with_result;
            /// How it ended; absent means success.
            outcome: SubagentFinishedOutcome = "outcome", with_outcome;
        }
    }

    /// The subagent did what it was asked to.
    SubagentSuccess {}

    /// The subagent waits for an answer.
    SubagentSuspended {
        optional {
            /// The interrupts it waits for.
            interrupt_ids: Vec<String> = "interruptIds", with_interrupt_ids;
        }
    }
}

unions! {
    /// How the invocation of a subagent ended.
    SubagentFinishedOutcome by "type", "outcome" {
        /// It did what it was asked to.
        Success(SubagentSuccess) = "success";
        /// It waits for an answer.
        Suspended(SubagentSuspended) = "suspended";
    }
}

impl From<SubagentSuccess> for SubagentFinishedOutcome {
    fn from(outcome: SubagentSuccess) -> Self {
        Self::Success(outcome)
    }
}

impl From<SubagentSuspended> for SubagentFinishedOutcome {
    fn from(outcome: SubagentSuspended) -> Self {
        Self::Suspended(outcome)
    }
}
