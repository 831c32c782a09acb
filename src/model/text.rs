//! Text messages: opened, appended to, closed; or all three as chunks.

use super::object::{names, objects};

names! {
    /// Who speaks in a text message.
    set TextRole, "text message role" {
        /// Instructions from the developer.
        Developer = "developer";
        /// Instructions from the system.
        System = "system";
        /// The agent. What an absent role means.
        Assistant = "assistant";
        /// The user.
        User = "user";
    }
}

macro_rules! text_objects {
    ($write:ident) => {
        $write! {
        /// Opens a text message.
        TextMessageStart: TextMessageStartEvent {
            required {
                /// Id of the message.
                message_id: String = "messageId";
            }
            optional {
                /// Who speaks; absent means the assistant.
                role: crate::model::TextRole = "role", with_role;
                /// Name of the speaker.
                name: String = "name", with_name;
                /// The subagent that the event belongs to; absent means the parent agent.
                subagent_run_id: String = "subagentRunId", with_subagent;
            }
        }

        /// Appends to a text message.
        TextMessageContent: TextMessageContentEvent {
            required {
                /// Id of the message.
                message_id: String = "messageId";
                /// What is appended; may be empty.
                delta: String = "delta";
            }
            optional {
                /// The subagent that the event belongs to; absent means the parent agent.
                subagent_run_id: String = "subagentRunId", with_subagent;
            }
        }

        /// Closes a text message.
        TextMessageEnd: TextMessageEndEvent {
            required {
                /// Id of the message.
                message_id: String = "messageId";
            }
            optional {
                /// The subagent that the event belongs to; absent means the parent agent.
                subagent_run_id: String = "subagentRunId", with_subagent;
            }
        }

        /// Opens or continues a text message; the next event closes it.
        TextMessageChunk: TextMessageChunkEvent {
            optional {
                /// Id of the message; required when the chunk opens it.
                message_id: String = "messageId", with_message_id;
                /// Who speaks; absent means the assistant.
                role: crate::model::TextRole = "role", with_role;
                /// What is appended; may be empty.
                delta: String = "delta", with_delta;
                /// Name of the speaker.
                name: String = "name", with_name;
                /// The subagent that the event belongs to; absent means the parent agent.
                subagent_run_id: String = "subagentRunId", with_subagent;
            }
        }
        }
    };
}

pub(crate) use text_objects;
text_objects!(objects);
