//! The agent's state and the conversation's messages: restated or patched.

use super::object::objects;

macro_rules! state_objects {
    ($write:ident) => {
        $write! {
        /// Replaces the agent's state.
        StateSnapshot: StateSnapshotEvent {
            expected {
                /// The state; any JSON value, null included.
                snapshot: crate::value::Value = "snapshot";
            }
            optional {
                /// The subagent that the event belongs to; absent means the parent agent.
                subagent_run_id: String = "subagentRunId", with_subagent;
            }
        }

        /// Patches the agent's state.
        StateDelta: StateDeltaEvent {
            required {
                /// The operations, applied in order, all or none.
                delta: Vec<crate::model::PatchOperation> = "delta";
            }
            optional {
                /// The subagent that the event belongs to; absent means the parent agent.
                subagent_run_id: String = "subagentRunId", with_subagent;
            }
        }

        /// Restates the conversation's messages.
        MessagesSnapshot: MessagesSnapshotEvent {
            required {
                /// The messages, oldest first.
                messages: Vec<crate::model::Message> = "messages";
            }
        }
        }
    };
}

pub(crate) use state_objects;
state_objects!(objects);
