//! Events as an application that only knows serde would write them down: one enum, told apart by
//! `type`, with open values as `V`: as `serde_json::Value`, or as the like of another library.
//!
//! The derived reader of such an enum buffers an event until it has seen its `type`.
//! [`TypeFirst`] does without, for texts that begin with their `type`.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// An event read by hand, in one go, from a text whose first member is its `type`.
pub(crate) struct TypeFirst<V>(pub(crate) Event<V>);

struct TypeFirstVisitor<V>(PhantomData<V>);

impl<'de, V: Deserialize<'de>> Deserialize<'de> for TypeFirst<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(TypeFirstVisitor(PhantomData))
    }
}

/// Adds the members of every event, and leaves absent ones out when writing.
macro_rules! events {
    ($(
        $type:literal => $name:ident {
            $( $member:ident: $member_type:ty, )*
            $(? $optional:ident: $optional_type:ty, )*
        }
    )*) => {
        #[allow(clippy::large_enum_variant, reason = "as it would be written down")]
        #[derive(Serialize, Deserialize)]
        #[serde(tag = "type")]
        pub(crate) enum Event<V> {
            $( #[serde(rename = $type)] $name($name<V>), )*
        }

        $(
            #[derive(Serialize, Deserialize)]
            #[serde(rename_all = "camelCase")]
            pub(crate) struct $name<V> {
                $( $member: $member_type, )*
                $(
                    #[serde(skip_serializing_if = "Option::is_none")]
                    $optional: Option<$optional_type>,
                )*
                #[serde(skip_serializing_if = "Option::is_none")]
                timestamp: Option<i64>,
                #[serde(skip_serializing_if = "Option::is_none")]
                metadata: Option<V>,
                #[serde(skip_serializing_if = "Option::is_none")]
                raw_event: Option<V>,
            }
        )*

        impl<'de, V: Deserialize<'de>> Visitor<'de> for TypeFirstVisitor<V> {
            type Value = TypeFirst<V>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an event that begins with its type")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<TypeFirst<V>, A::Error> {
                let ("type", name) = members.next_entry()?.unwrap_or_default() else {
                    return Err(A::Error::custom("the first member is not the type"));
                };
                let rest = MapAccessDeserializer::new(members);
                match name {
                    $( $type => $name::deserialize(rest).map(Event::$name).map(TypeFirst), )*
                    other => Err(A::Error::custom(format!("no event: {other}"))),
                }
            }
        }
    };
}

macro_rules! objects {
    ($(
        $name:ident $(<$value:ident>)? {
            $( $member:ident: $type:ty, )*
            $( $(#[$attribute:meta])* ? $optional:ident: $optional_type:ty, )*
        }
    )*) => {$(
        #[derive(Serialize, Deserialize)]
        #[serde(rename_all = "camelCase")]
        pub(crate) struct $name $(<$value>)? {
            $( $member: $type, )*
            $(
                $(#[$attribute])*
                #[serde(skip_serializing_if = "Option::is_none")]
                $optional: Option<$optional_type>,
            )*
        }
    )*};
}

events! {
    "TEXT_MESSAGE_START" => TextMessageStart { message_id: String, ? role: String, ? name: String, ? subagent_run_id: String, }
    "TEXT_MESSAGE_CONTENT" => TextMessageContent { message_id: String, delta: String, ? subagent_run_id: String, }
    "TEXT_MESSAGE_END" => TextMessageEnd { message_id: String, ? subagent_run_id: String, }
    "TOOL_CALL_START" => ToolCallStart {
        tool_call_id: String,
        tool_call_name: String,
        ? parent_message_id: String,
        ? subagent_run_id: String,
    }
    "TOOL_CALL_ARGS" => ToolCallArgs { tool_call_id: String, delta: String, ? subagent_run_id: String, }
    "TOOL_CALL_END" => ToolCallEnd { tool_call_id: String, ? subagent_run_id: String, }
    "STATE_SNAPSHOT" => StateSnapshot { snapshot: V, ? subagent_run_id: String, }
    "STATE_DELTA" => StateDelta { delta: Vec<Operation<V>>, ? subagent_run_id: String, }
    "MESSAGES_SNAPSHOT" => MessagesSnapshot { messages: Vec<Message<V>>, }
    "RAW" => Raw { event: V, ? source: String, ? subagent_run_id: String, }
    "CUSTOM" => Custom { name: String, value: V, ? subagent_run_id: String, }
    "RUN_STARTED" => RunStarted {
        thread_id: String,
        run_id: String,
        ? protocol_version: String,
        ? parent_run_id: String,
        ? input: Input<V>,
    }
    "RUN_FINISHED" => RunFinished {
        thread_id: String,
        run_id: String,
        ? result: V,
        ? outcome: V,
        ? usage: Vec<Usage>,
    }
    "RUN_ERROR" => RunError { message: String, ? code: String, ? usage: Vec<Usage>, }
    "STEP_STARTED" => StepStarted { step_name: String, ? subagent_run_id: String, }
    "STEP_FINISHED" => StepFinished { step_name: String, ? subagent_run_id: String, }
    "TEXT_MESSAGE_CHUNK" => TextMessageChunk {
        ? message_id: String,
        ? role: String,
        ? delta: String,
        ? name: String,
        ? subagent_run_id: String,
    }
    "TOOL_CALL_CHUNK" => ToolCallChunk {
        ? tool_call_id: String,
        ? tool_call_name: String,
        ? parent_message_id: String,
        ? delta: String,
        ? subagent_run_id: String,
    }
    "SUBAGENT_STARTED" => SubagentStarted {
        subagent_run_id: String,
        name: String,
        ? description: String,
        ? parent_subagent_run_id: String,
        ? parent_tool_call_id: String,
        ? parent_message_id: String,
    }
    "SUBAGENT_FINISHED" => SubagentFinished { subagent_run_id: String, ? result: V, ? outcome: V, }
    "SUBAGENT_ERROR" => SubagentError { subagent_run_id: String, message: String, ? code: String, }
    "TOOL_CALL_RESULT" => ToolCallResult {
        message_id: String,
        tool_call_id: String,
        content: Content,
        ? role: String,
        ? subagent_run_id: String,
    }
    "ACTIVITY_SNAPSHOT" => ActivitySnapshot {
        message_id: String,
        activity_type: String,
        content: V,
        ? replace: bool,
        ? subagent_run_id: String,
    }
    "ACTIVITY_DELTA" => ActivityDelta {
        message_id: String,
        activity_type: String,
        patch: Vec<Operation<V>>,
        ? subagent_run_id: String,
    }
    "REASONING_START" => ReasoningStart { message_id: String, ? subagent_run_id: String, }
    "REASONING_MESSAGE_START" => ReasoningMessageStart { message_id: String, role: String, ? subagent_run_id: String, }
    "REASONING_MESSAGE_CONTENT" => ReasoningMessageContent { message_id: String, delta: String, ? subagent_run_id: String, }
    "REASONING_MESSAGE_END" => ReasoningMessageEnd { message_id: String, ? subagent_run_id: String, }
    "REASONING_MESSAGE_CHUNK" => ReasoningMessageChunk { ? message_id: String, ? delta: String, ? subagent_run_id: String, }
    "REASONING_END" => ReasoningEnd { message_id: String, ? subagent_run_id: String, }
    "REASONING_ENCRYPTED_VALUE" => ReasoningEncryptedValue {
        subtype: String,
        entity_id: String,
        encrypted_value: String,
        ? encrypted_value_type: String,
        ? subagent_run_id: String,
    }
}

/// Text, or anything else as it came. Serde buffers it, which not every `V` can be read from.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Content {
    Text(String),
    Other(serde_json::Value),
}

objects! {
    Operation<V> {
        op: String,
        path: String,
        ? from: String,
        #[serde(default = "Option::default", deserialize_with = "present", bound(deserialize = "V: Deserialize<'de>"))]
        ? value: V,
    }
    Message<V> {
        id: String,
        role: String,
        ? content: Content,
        ? name: String,
        ? tool_calls: Vec<ToolCall<V>>,
        ? tool_call_id: String,
        ? error: String,
        ? activity_type: String,
        ? encrypted_value: String,
        ? encrypted_value_type: String,
        ? metadata: V,
        ? subagent_run_id: String,
    }
    ToolCall<V> {
        id: String,
        r#type: String,
        function: Function,
        ? encrypted_value: String,
        ? encrypted_value_type: String,
        ? metadata: V,
    }
    Function { name: String, arguments: String, }
    Input<V> {
        thread_id: String,
        run_id: String,
        messages: Vec<Message<V>>,
        ? protocol_version: String,
        ? parent_run_id: String,
        ? state: V,
        ? tools: Vec<V>,
        ? context: Vec<V>,
        ? forwarded_props: V,
        ? resume: Vec<V>,
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

/// A member whose `null` is a value, and not the same as no member.
fn present<'de, D, V>(deserializer: D) -> Result<Option<V>, D::Error>
where
    D: Deserializer<'de>,
    V: Deserialize<'de>,
{
    V::deserialize(deserializer).map(Some)
}
