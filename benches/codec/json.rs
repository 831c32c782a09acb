//! Events as an application that only knows serde would write them down: one enum, told apart by
//! `type`, with open values as `serde_json::Value`. Only the benches use it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The JSON of each event in a body of server-sent events.
pub(crate) fn bodies(sse: &str) -> impl Iterator<Item = &str> {
    sse.lines().filter_map(|line| line.strip_prefix("data: "))
}

/// Adds the members of every event, and leaves absent ones out when writing.
macro_rules! events {
    ($(
        $name:ident {
            $( $member:ident: $type:ty, )*
            $(? $optional:ident: $optional_type:ty, )*
        }
    )*) => {
        #[allow(clippy::large_enum_variant, reason = "as it would be written down")]
        #[derive(Serialize, Deserialize)]
        #[serde(
            tag = "type",
            rename_all = "SCREAMING_SNAKE_CASE",
            rename_all_fields = "camelCase"
        )]
        pub(crate) enum Event {
            $( $name {
                $( $member: $type, )*
                $(
                    #[serde(skip_serializing_if = "Option::is_none")]
                    $optional: Option<$optional_type>,
                )*
                #[serde(skip_serializing_if = "Option::is_none")]
                timestamp: Option<i64>,
                #[serde(skip_serializing_if = "Option::is_none")]
                metadata: Option<Value>,
                #[serde(skip_serializing_if = "Option::is_none")]
                raw_event: Option<Value>,
            }, )*
        }
    };
}

macro_rules! objects {
    ($(
        $name:ident {
            $( $member:ident: $type:ty, )*
            $(? $optional:ident: $optional_type:ty, )*
        }
    )*) => {$(
        #[derive(Serialize, Deserialize)]
        #[serde(rename_all = "camelCase")]
        pub(crate) struct $name {
            $( $member: $type, )*
            $(
                #[serde(skip_serializing_if = "Option::is_none")]
                $optional: Option<$optional_type>,
            )*
        }
    )*};
}

events! {
    TextMessageStart { message_id: String, ? role: String, ? name: String, ? subagent_run_id: String, }
    TextMessageContent { message_id: String, delta: String, ? subagent_run_id: String, }
    TextMessageEnd { message_id: String, ? subagent_run_id: String, }
    ToolCallStart {
        tool_call_id: String,
        tool_call_name: String,
        ? parent_message_id: String,
        ? subagent_run_id: String,
    }
    ToolCallArgs { tool_call_id: String, delta: String, ? subagent_run_id: String, }
    ToolCallEnd { tool_call_id: String, ? subagent_run_id: String, }
    StateSnapshot { snapshot: Value, ? subagent_run_id: String, }
    StateDelta { delta: Vec<Operation>, ? subagent_run_id: String, }
    MessagesSnapshot { messages: Vec<Message>, }
    Raw { event: Value, ? source: String, ? subagent_run_id: String, }
    Custom { name: String, value: Value, ? subagent_run_id: String, }
    RunStarted {
        thread_id: String,
        run_id: String,
        ? protocol_version: String,
        ? parent_run_id: String,
        ? input: Input,
    }
    RunFinished {
        thread_id: String,
        run_id: String,
        ? result: Value,
        ? outcome: Value,
        ? usage: Vec<Usage>,
    }
    RunError { message: String, ? code: String, ? usage: Vec<Usage>, }
    StepStarted { step_name: String, ? subagent_run_id: String, }
    StepFinished { step_name: String, ? subagent_run_id: String, }
    TextMessageChunk {
        ? message_id: String,
        ? role: String,
        ? delta: String,
        ? name: String,
        ? subagent_run_id: String,
    }
    ToolCallChunk {
        ? tool_call_id: String,
        ? tool_call_name: String,
        ? parent_message_id: String,
        ? delta: String,
        ? subagent_run_id: String,
    }
    SubagentStarted {
        subagent_run_id: String,
        name: String,
        ? description: String,
        ? parent_subagent_run_id: String,
        ? parent_tool_call_id: String,
        ? parent_message_id: String,
    }
    SubagentFinished { subagent_run_id: String, ? result: Value, ? outcome: Value, }
    SubagentError { subagent_run_id: String, message: String, ? code: String, }
    ToolCallResult {
        message_id: String,
        tool_call_id: String,
        content: Content,
        ? role: String,
        ? subagent_run_id: String,
    }
    ActivitySnapshot {
        message_id: String,
        activity_type: String,
        content: Value,
        ? replace: bool,
        ? subagent_run_id: String,
    }
    ActivityDelta {
        message_id: String,
        activity_type: String,
        patch: Vec<Operation>,
        ? subagent_run_id: String,
    }
    ReasoningStart { message_id: String, ? subagent_run_id: String, }
    ReasoningMessageStart { message_id: String, role: String, ? subagent_run_id: String, }
    ReasoningMessageContent { message_id: String, delta: String, ? subagent_run_id: String, }
    ReasoningMessageEnd { message_id: String, ? subagent_run_id: String, }
    ReasoningMessageChunk { ? message_id: String, ? delta: String, ? subagent_run_id: String, }
    ReasoningEnd { message_id: String, ? subagent_run_id: String, }
    ReasoningEncryptedValue {
        subtype: String,
        entity_id: String,
        encrypted_value: String,
        ? encrypted_value_type: String,
        ? subagent_run_id: String,
    }
}

/// Text, or anything else as it came.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Content {
    Text(String),
    Other(Value),
}

objects! {
    Operation { op: String, path: String, ? from: String, ? value: Value, }
    Message {
        id: String,
        role: String,
        ? content: Content,
        ? name: String,
        ? tool_calls: Vec<ToolCall>,
        ? tool_call_id: String,
        ? error: String,
        ? activity_type: String,
        ? encrypted_value: String,
        ? encrypted_value_type: String,
        ? metadata: Value,
        ? subagent_run_id: String,
    }
    ToolCall {
        id: String,
        r#type: String,
        function: Function,
        ? encrypted_value: String,
        ? encrypted_value_type: String,
        ? metadata: Value,
    }
    Function { name: String, arguments: String, }
    Input {
        thread_id: String,
        run_id: String,
        messages: Vec<Message>,
        ? protocol_version: String,
        ? parent_run_id: String,
        ? state: Value,
        ? tools: Vec<Value>,
        ? context: Vec<Value>,
        ? forwarded_props: Value,
        ? resume: Vec<Value>,
    }
    Usage {
        ? provider: String,
        ? model: String,
        ? input_tokens: i64,
        ? output_tokens: i64,
        ? total_tokens: i64,
        ? reasoning_tokens: i64,
        ? cached_input_tokens: i64,
        ? cache_write_input_tokens: i64,
    }
}
