//! Messages of a conversation, one type for each role.

use super::node::Inspector;
use super::object::{names, objects, unions};
use super::path::At;
use super::{Content, Extra, Part, Reason};
use crate::value::Object;

names! {
    /// Whose a message is.
    literal Role, "message role" {
        /// Instructions from the developer.
        Developer = "developer";
        /// Instructions from the system.
        System = "system";
        /// The agent.
        Assistant = "assistant";
        /// The user.
        User = "user";
        /// The answer to a tool call.
        Tool = "tool";
        /// Something that the user sees and the agent does not.
        Activity = "activity";
        /// The agent's thoughts.
        Reasoning = "reasoning";
    }

    /// What is called by a tool call.
    literal ToolCallType, "tool call type" {
        /// A function.
        Function = "function";
    }
}

unions! {
    /// A message of a conversation.
    ///
    /// # Examples
    ///
    /// ```
    /// use ag_ui_proto::model::{AssistantMessage, Message, ToolCall, UserMessage};
    ///
    /// let history = [
    ///     Message::from(UserMessage::new("u1", "Is it raining in Oslo?")),
    ///     Message::from(AssistantMessage::new("a1").with_tool_calls([
    ///         ToolCall::function("c1", "weather", r#"{"city":"Oslo"}"#),
    ///     ])),
    /// ];
    /// assert_eq!(history[0].id(), "u1");
    /// ```
    Message by "role", "message role" {
        /// Instructions from the developer.
        Developer(DeveloperMessage) = "developer";
        /// Instructions from the system.
        System(SystemMessage) = "system";
        /// The agent.
        Assistant(AssistantMessage) = "assistant";
        /// The user.
        User(UserMessage) = "user";
        /// The answer to a tool call.
        Tool(ToolMessage) = "tool";
        /// Something that the user sees and the agent does not.
        Activity(ActivityMessage) = "activity";
        /// The agent's thoughts.
        Reasoning(ReasoningMessage) = "reasoning";
    }
}

objects! {
    /// Instructions from the developer.
    DeveloperMessage {
        required {
            /// Id of the message.
            id: String = "id";
        }
        expected {
            /// The text.
            content: String = "content";
        }
        optional {
            /// Name of the speaker.
            name: String = "name", with_name;
            /// What only the provider can read.
            encrypted_value: String = "encryptedValue", with_encrypted_value;
            /// How the value is encrypted. Since 1.1.
            encrypted_value_type: String = "encryptedValueType", with_encrypted_value_type;
            /// Open by key.
            metadata: Object = "metadata", with_metadata;
            /// The subagent that the message belongs to; absent means the parent agent.
            subagent_run_id: String = "subagentRunId", with_subagent;
        }
    }

    /// Instructions from the system.
    SystemMessage {
        required {
            /// Id of the message.
            id: String = "id";
        }
        expected {
            /// The text.
            content: String = "content";
        }
        optional {
            /// Name of the speaker.
            name: String = "name", with_name;
            /// What only the provider can read.
            encrypted_value: String = "encryptedValue", with_encrypted_value;
            /// How the value is encrypted. Since 1.1.
            encrypted_value_type: String = "encryptedValueType", with_encrypted_value_type;
            /// Open by key.
            metadata: Object = "metadata", with_metadata;
            /// The subagent that the message belongs to; absent means the parent agent.
            subagent_run_id: String = "subagentRunId", with_subagent;
        }
    }

    /// What the agent says, and the calls it asks for.
    AssistantMessage {
        required {
            /// Id of the message.
            id: String = "id";
        }
        optional {
            /// The text.
            content: String = "content", with_content;
            /// The calls, in the order they were opened.
            tool_calls: Vec<ToolCall> = "toolCalls", with_tool_calls;
            /// Name of the speaker.
            name: String = "name", with_name;
            /// What only the provider can read.
            encrypted_value: String = "encryptedValue", with_encrypted_value;
            /// How the value is encrypted. Since 1.1.
            encrypted_value_type: String = "encryptedValueType", with_encrypted_value_type;
            /// Open by key.
            metadata: Object = "metadata", with_metadata;
            /// The subagent that the message belongs to; absent means the parent agent.
            subagent_run_id: String = "subagentRunId", with_subagent;
        }
    }

    /// What the user says.
    UserMessage {
        required {
            /// Id of the message.
            id: String = "id";
            /// Text, or parts.
            content: Content = "content";
        }
        optional {
            /// Name of the speaker.
            name: String = "name", with_name;
            /// What only the provider can read.
            encrypted_value: String = "encryptedValue", with_encrypted_value;
            /// How the value is encrypted. Since 1.1.
            encrypted_value_type: String = "encryptedValueType", with_encrypted_value_type;
            /// Open by key.
            metadata: Object = "metadata", with_metadata;
            /// The subagent that the message belongs to; absent means the parent agent.
            subagent_run_id: String = "subagentRunId", with_subagent;
        }
    }

    /// The answer to a tool call.
    ToolMessage {
        required {
            /// Id of the message.
            id: String = "id";
            /// Text, or parts.
            content: Content = "content";
        }
        expected {
            /// Id of the call.
            tool_call_id: String = "toolCallId";
        }
        optional {
            /// What went wrong, if the call failed.
            error: String = "error", with_error;
            /// What only the provider can read.
            encrypted_value: String = "encryptedValue", with_encrypted_value;
            /// How the value is encrypted. Since 1.1.
            encrypted_value_type: String = "encryptedValueType", with_encrypted_value_type;
            /// Open by key.
            metadata: Object = "metadata", with_metadata;
            /// The subagent that the message belongs to; absent means the parent agent.
            subagent_run_id: String = "subagentRunId", with_subagent;
        }
    }

    /// Something that the user sees and the agent does not.
    ActivityMessage {
        required {
            /// Id of the message.
            id: String = "id";
        }
        expected {
            /// What kind of activity it is.
            activity_type: String = "activityType";
            /// The activity itself.
            content: Object = "content";
        }
        optional {
            /// Open by key.
            metadata: Object = "metadata", with_metadata;
            /// The subagent that the message belongs to; absent means the parent agent.
            subagent_run_id: String = "subagentRunId", with_subagent;
        }
    }

    /// The agent's thoughts.
    ReasoningMessage {
        required {
            /// Id of the message.
            id: String = "id";
        }
        expected {
            /// The text.
            content: String = "content";
        }
        optional {
            /// What only the provider can read.
            encrypted_value: String = "encryptedValue", with_encrypted_value;
            /// How the value is encrypted. Since 1.1.
            encrypted_value_type: String = "encryptedValueType", with_encrypted_value_type;
            /// Open by key.
            metadata: Object = "metadata", with_metadata;
            /// The subagent that the message belongs to; absent means the parent agent.
            subagent_run_id: String = "subagentRunId", with_subagent;
        }
    }

    /// A call that an assistant message asks for.
    ToolCall {
        required {
            /// Id of the call.
            id: String = "id";
            /// [`ToolCallType::Function`].
            r#type: ToolCallType = "type";
        }
        expected {
            /// What is called, and with what.
            function: FunctionCall = "function";
        }
        optional {
            /// What only the provider can read.
            encrypted_value: String = "encryptedValue", with_encrypted_value;
            /// How the value is encrypted. Since 1.1.
            encrypted_value_type: String = "encryptedValueType", with_encrypted_value_type;
            /// Open by key.
            metadata: Object = "metadata", with_metadata;
        }
        check check_type;
    }

    /// A function and its arguments.
    FunctionCall {
        required {
            /// Name of the tool.
            name: String = "name";
            /// Text as the model wrote it; often but not always a JSON document.
            arguments: String = "arguments";
        }
    }
}

impl Message {
    /// Id of the message; empty if a message of an unknown role has none.
    #[must_use]
    pub fn id(&self) -> &str {
        match self {
            Self::Developer(message) => &message.id,
            Self::System(message) => &message.id,
            Self::Assistant(message) => &message.id,
            Self::User(message) => &message.id,
            Self::Tool(message) => &message.id,
            Self::Activity(message) => &message.id,
            Self::Reasoning(message) => &message.id,
            Self::Unknown(object) => {
                object.get("id").and_then(crate::value::Value::as_str).unwrap_or_default()
            }
        }
    }

    /// Whose the message is.
    #[must_use]
    pub fn role(&self) -> Role {
        Role::from(self.tag())
    }
}

/// What a message may hold beside its id and role, whatever the role.
#[derive(Default, PartialEq)]
pub(crate) struct Members {
    pub(crate) content: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) tool_calls: Option<Vec<ToolCall>>,
    pub(crate) tool_call_id: Option<String>,
    pub(crate) error: Option<String>,
    pub(crate) content_parts: Vec<Part>,
    pub(crate) metadata: Option<Object>,
    pub(crate) subagent_run_id: Option<String>,
    pub(crate) encrypted_value: Option<String>,
    pub(crate) activity_type: Option<String>,
    pub(crate) activity_content: Option<Object>,
    pub(crate) encrypted_value_type: Option<String>,
}

impl Members {
    /// The message of a role; nothing if the role is unknown, or has not all of these members.
    pub(crate) fn into_message(mut self, role: &Role, id: String) -> Option<Message> {
        // Each role takes what it has.
        macro_rules! take {
            ($message:ident; $($member:ident)* $(; $name:ident: $value:expr)*) => {
                $message {
                    id,
                    metadata: self.metadata.take(),
                    subagent_run_id: self.subagent_run_id.take(),
                    $( $member: self.$member.take(), )*
                    $( $name: $value, )*
                    extra: Extra::default(),
                }
                .into()
            };
        }
        let message = match role {
            Role::Developer => {
                take!(DeveloperMessage; content name encrypted_value encrypted_value_type)
            }
            Role::System => take!(SystemMessage; content name encrypted_value encrypted_value_type),
            Role::Assistant => take!(
                AssistantMessage; content tool_calls name encrypted_value encrypted_value_type
            ),
            Role::User => take!(
                UserMessage; name encrypted_value encrypted_value_type; content: self.content()?
            ),
            Role::Tool => take!(
                ToolMessage; tool_call_id error encrypted_value encrypted_value_type;
                content: self.content()?
            ),
            Role::Activity => take!(
                ActivityMessage; activity_type; content: self.activity_content.take()
            ),
            Role::Reasoning => {
                take!(ReasoningMessage; content encrypted_value encrypted_value_type)
            }
            Role::Unknown(_) => return None,
        };
        (self == Self::default()).then_some(message)
    }

    fn content(&mut self) -> Option<Content> {
        Content::of(self.content.take(), std::mem::take(&mut self.content_parts))
    }
}

macro_rules! messages {
    ($($variant:ident($message:ident))*) => {$(
        impl From<$message> for Message {
            fn from(message: $message) -> Self {
                Self::$variant(message)
            }
        }
    )*};
}

messages! {
    Developer(DeveloperMessage)
    System(SystemMessage)
    Assistant(AssistantMessage)
    User(UserMessage)
    Tool(ToolMessage)
    Activity(ActivityMessage)
    Reasoning(ReasoningMessage)
}

impl ToolCall {
    /// Makes a call of a function. `arguments` is text, normally a JSON document.
    #[must_use]
    pub fn function(
        id: impl Into<String>,
        name: impl Into<String>,
        arguments: impl Into<String>,
    ) -> Self {
        Self::new(id, ToolCallType::Function, FunctionCall::new(name, arguments))
    }
}

fn check_type(call: &ToolCall, at: &At<'_>, with: &mut impl Inspector) {
    if call.r#type != ToolCallType::Function {
        with.malformed(
            &at.member("type"),
            Reason::Literal { expected: "function", found: call.r#type.to_string() },
        );
    }
}
