//! Reasoning: spans, the messages within and without them, and what only a provider can read.

use super::Reason;
use super::node::Inspector;
use super::object::{names, objects};
use super::path::At;

names! {
    /// What an encrypted value belongs to.
    set EncryptedValueSubtype, "encrypted value subtype" {
        /// A tool call.
        ToolCall = "tool-call";
        /// A message.
        Message = "message";
    }
}

macro_rules! reasoning_objects {
    ($write:ident) => {
        $write! {
        /// Opens a span of reasoning.
        ReasoningStart: ReasoningStartEvent {
            required {
                /// Id of the span.
                message_id: String = "messageId";
            }
            optional {
                /// The subagent that the event belongs to; absent means the parent agent.
                subagent_run_id: String = "subagentRunId", with_subagent;
            }
        }

        /// Opens a reasoning message.
        ReasoningMessageStart: ReasoningMessageStartEvent {
            required {
                /// Id of the message.
                message_id: String = "messageId";
                /// [`Role::Reasoning`](crate::model::Role::Reasoning).
                role: crate::model::Role = "role";
            }
            optional {
                /// The subagent that the event belongs to; absent means the parent agent.
                subagent_run_id: String = "subagentRunId", with_subagent;
            }
            check crate::model::reasoning::check_role;
        }

        /// Appends to a reasoning message.
        ReasoningMessageContent: ReasoningMessageContentEvent {
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

        /// Closes a reasoning message.
        ReasoningMessageEnd: ReasoningMessageEndEvent {
            required {
                /// Id of the message.
                message_id: String = "messageId";
            }
            optional {
                /// The subagent that the event belongs to; absent means the parent agent.
                subagent_run_id: String = "subagentRunId", with_subagent;
            }
        }

        /// Opens or continues a reasoning message; the next event closes it.
        ReasoningMessageChunk: ReasoningMessageChunkEvent {
            optional {
                /// Id of the message; required when the chunk opens it.
                message_id: String = "messageId", with_message_id;
                /// What is appended; may be empty.
                delta: String = "delta", with_delta;
                /// The subagent that the event belongs to; absent means the parent agent.
                subagent_run_id: String = "subagentRunId", with_subagent;
            }
        }

        /// Closes a span of reasoning.
        ReasoningEnd: ReasoningEndEvent {
            required {
                /// Id of the span.
                message_id: String = "messageId";
            }
            optional {
                /// The subagent that the event belongs to; absent means the parent agent.
                subagent_run_id: String = "subagentRunId", with_subagent;
            }
        }

        /// Carries reasoning that only its provider can read.
        ReasoningEncryptedValue: ReasoningEncryptedValueEvent {
            required {
                /// What `entity_id` names.
                subtype: crate::model::EncryptedValueSubtype = "subtype";
                /// Id of the tool call or message.
                entity_id: String = "entityId";
                /// The value.
                encrypted_value: String = "encryptedValue";
            }
            optional {
                /// How the value is encrypted. Since 1.1.
                encrypted_value_type: String = "encryptedValueType", with_encrypted_value_type;
                /// The subagent that the event belongs to; absent means the parent agent.
                subagent_run_id: String = "subagentRunId", with_subagent;
            }
        }
        }
    };
}

pub(crate) use reasoning_objects;
reasoning_objects!(objects);

fn check_role(start: &ReasoningMessageStart, at: &At<'_>, with: &mut impl Inspector) {
    if start.role != crate::model::Role::Reasoning {
        with.malformed(
            &at.member("role"),
            Reason::Literal { expected: "reasoning", found: start.role.to_string() },
        );
    }
}
