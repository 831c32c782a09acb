//! Tool calls: opened, given their arguments, closed, answered; or opened and fed as chunks.

use super::node::Inspector;
use super::object::objects;
use super::path::At;
use super::{Content, Reason, Role};

macro_rules! tool_objects {
    ($write:ident) => {
        $write! {
        /// Opens a tool call.
        ToolCallStart: ToolCallStartEvent {
            required {
                /// Id of the call.
                tool_call_id: String = "toolCallId";
                /// Name of the tool.
                tool_call_name: String = "toolCallName";
            }
            optional {
                /// Id of the assistant message that the call belongs to.
                parent_message_id: String = "parentMessageId", with_parent_message;
                /// The subagent that the event belongs to; absent means the parent agent.
                subagent_run_id: String = "subagentRunId", with_subagent;
            }
        }

        /// Appends to the arguments of a tool call.
        ToolCallArgs: ToolCallArgsEvent {
            required {
                /// Id of the call.
                tool_call_id: String = "toolCallId";
                /// A piece of the arguments: text, which need not be JSON by itself.
                delta: String = "delta";
            }
            optional {
                /// The subagent that the event belongs to; absent means the parent agent.
                subagent_run_id: String = "subagentRunId", with_subagent;
            }
        }

        /// Closes a tool call: its arguments are complete.
        ToolCallEnd: ToolCallEndEvent {
            required {
                /// Id of the call.
                tool_call_id: String = "toolCallId";
            }
            optional {
                /// The subagent that the event belongs to; absent means the parent agent.
                subagent_run_id: String = "subagentRunId", with_subagent;
            }
        }

        /// Opens or continues a tool call; the next event closes it.
        ToolCallChunk: ToolCallChunkEvent {
            optional {
                /// Id of the call; required when the chunk opens it.
                tool_call_id: String = "toolCallId", with_tool_call_id;
                /// Name of the tool; required when the chunk opens the call.
                tool_call_name: String = "toolCallName", with_tool_call_name;
                /// Id of the assistant message that the call belongs to.
                parent_message_id: String = "parentMessageId", with_parent_message;
                /// A piece of the arguments.
                delta: String = "delta", with_delta;
                /// The subagent that the event belongs to; absent means the parent agent.
                subagent_run_id: String = "subagentRunId", with_subagent;
            }
        }
        }
    };
}

objects! {
    /// Answers a tool call.
    ToolCallResult: ToolCallResultEvent {
        required {
            /// Id of the tool message that the answer becomes.
            message_id: String = "messageId";
            /// Id of the call.
            tool_call_id: String = "toolCallId";
            /// The answer.
            content: Content = "content";
        }
        optional {
            /// [`Role::Tool`] when present.
            role: Role = "role", with_role;
            /// The subagent that the event belongs to; absent means the parent agent.
            subagent_run_id: String = "subagentRunId", with_subagent;
        }
        check check_role;
    }
}

pub(crate) use tool_objects;
tool_objects!(objects);

fn check_role(result: &ToolCallResult, at: &At<'_>, with: &mut impl Inspector) {
    if let Some(role) = &result.role
        && *role != Role::Tool
    {
        with.malformed(
            &at.member("role"),
            Reason::Literal { expected: "tool", found: role.to_string() },
        );
    }
}
