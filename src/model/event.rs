//! Events: the members that all of them have, and one body for each of the 31 types.

use std::fmt;
use std::str::FromStr;

use serde::de::MapAccess;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::direct::{Cx, FromMembers};
use super::error::{Malformed, ReadError, Reason, Unrecognised};
use super::node::{Inspector, Node, inspect_optional, malformed, mistyped};
use super::object::{Members, tag};
use super::path::At;
use super::{
    ActivityDelta, ActivitySnapshot, Custom, MessagesSnapshot, Raw, ReasoningEncryptedValue,
    ReasoningEnd, ReasoningMessageChunk, ReasoningMessageContent, ReasoningMessageEnd,
    ReasoningMessageStart, ReasoningStart, RunError, RunFinished, RunStarted, StateDelta,
    StateSnapshot, StepFinished, StepStarted, SubagentError, SubagentFinished, SubagentStarted,
    TextMessageChunk, TextMessageContent, TextMessageEnd, TextMessageStart, ToolCallArgs,
    ToolCallChunk, ToolCallEnd, ToolCallResult, ToolCallStart,
};
use crate::value::{Object, Value};

/// One event of the stream between an agent and its user interface.
///
/// An event that was read or decoded may hold what a newer peer sends, and what the protocol
/// refuses; [`Event::validate`] and [`Event::enforce`] judge it. An event that was built here holds
/// what it was built from.
///
/// # Examples
///
/// ```
/// use ag_ui_proto::Event;
/// use ag_ui_proto::model::TextMessageContent;
///
/// let event = Event::from(TextMessageContent::new("m1", "Hel")).with_timestamp(1_700_000_000_000);
/// assert_eq!(
///     serde_json::to_string(&event)?,
///     r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m1","delta":"Hel","timestamp":1700000000000}"#,
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The members that every event may carry.
    pub base: Base,
    /// The members of the event's type.
    pub body: Body,
}

/// The members that every event may carry.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Base {
    /// By convention milliseconds since the Unix epoch; never used for ordering. Within 2^53 - 1.
    pub timestamp: Option<i64>,
    /// Open by key.
    pub metadata: Option<Object>,
    /// The producer's own event that this one was made from.
    pub raw_event: Option<Box<Value>>,
}

macro_rules! events {
    ($($variant:ident($body:ty) = $name:literal $(from $unboxed:ty)?;)*) => {
        /// The type of an event: its tag in JSON, its arm on the wire.
        ///
        /// The list is complete on purpose, so that a new event stops a build that forgot it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum EventType {
            $( #[doc = concat!("`", $name, "`.")] $variant, )*
        }

        impl EventType {
            /// All types, in the order of their arms on the wire.
            pub const ALL: [Self; 31] = [$( Self::$variant, )*];

            /// The tag in JSON.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self {
                    $( Self::$variant => $name, )*
                }
            }
        }

        impl EventType {
            /// The type with this tag, if there is one.
            pub(crate) fn of(name: &str) -> Option<Self> {
                match name {
                    $( $name => Some(Self::$variant), )*
                    _ => None,
                }
            }
        }

        /// The members of an event's type.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Body {
            $( #[doc = concat!("`", $name, "`.")] $variant($body), )*
        }

        impl Body {
            /// The type of the event.
            #[must_use]
            pub fn event_type(&self) -> EventType {
                match self {
                    $( Self::$variant(_) => EventType::$variant, )*
                }
            }

            fn from_object(
                event_type: EventType,
                object: Object,
                at: &At<'_>,
            ) -> Result<Self, Malformed> {
                match event_type {
                    $( EventType::$variant => <$body>::from_object(object, at).map(Self::$variant), )*
                }
            }

            fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
                match self {
                    $( Self::$variant(body) => body.write(map), )*
                }
            }

            #[inline]
            fn inspect(&self, at: &At<'_>, with: &mut impl Inspector) {
                match self {
                    $( Self::$variant(body) => body.inspect(at, with), )*
                }
            }

            #[inline]
            fn unrecognised(&self) -> Option<Unrecognised> {
                match self {
                    $( Self::$variant(body) => body.unrecognised(), )*
                }
            }

            fn strip(&mut self) {
                match self {
                    $( Self::$variant(body) => body.strip(), )*
                }
            }
        }

        impl Event {
            /// Reads the members of an event of this type straight from text.
            ///
            /// It is put where it is wanted, since moving it there would take time.
            pub(crate) fn read_members<'de, A: MapAccess<'de>>(
                event_type: EventType,
                members: &mut A,
                cx: Cx<'_>,
                into: &mut Option<Self>,
            ) -> Result<(), A::Error> {
                let mut base = Base::default();
                match event_type {
                    $( EventType::$variant => {
                        let body = <$body>::from_members(members, Some(&mut base), cx)?;
                        *into = Some(Self { base, body: Body::$variant(body) });
                    } )*
                }
                Ok(())
            }
        }

        $(
            impl From<$body> for Body {
                fn from(body: $body) -> Self {
                    Self::$variant(body)
                }
            }

            impl From<$body> for Event {
                fn from(body: $body) -> Self {
                    Self { base: Base::default(), body: body.into() }
                }
            }

            $(
                impl From<$unboxed> for Body {
                    fn from(body: $unboxed) -> Self {
                        Self::$variant(Box::new(body))
                    }
                }

                impl From<$unboxed> for Event {
                    fn from(body: $unboxed) -> Self {
                        Self::from(Box::new(body))
                    }
                }
            )?
        )*
    };
}

// Rare bodies of more than four strings are boxed: every event is as large as its largest body.
events! {
    TextMessageStart(TextMessageStart) = "TEXT_MESSAGE_START";
    TextMessageContent(TextMessageContent) = "TEXT_MESSAGE_CONTENT";
    TextMessageEnd(TextMessageEnd) = "TEXT_MESSAGE_END";
    ToolCallStart(ToolCallStart) = "TOOL_CALL_START";
    ToolCallArgs(ToolCallArgs) = "TOOL_CALL_ARGS";
    ToolCallEnd(ToolCallEnd) = "TOOL_CALL_END";
    StateSnapshot(StateSnapshot) = "STATE_SNAPSHOT";
    StateDelta(StateDelta) = "STATE_DELTA";
    MessagesSnapshot(MessagesSnapshot) = "MESSAGES_SNAPSHOT";
    Raw(Raw) = "RAW";
    Custom(Custom) = "CUSTOM";
    RunStarted(Box<RunStarted>) = "RUN_STARTED" from RunStarted;
    RunFinished(Box<RunFinished>) = "RUN_FINISHED" from RunFinished;
    RunError(RunError) = "RUN_ERROR";
    StepStarted(StepStarted) = "STEP_STARTED";
    StepFinished(StepFinished) = "STEP_FINISHED";
    TextMessageChunk(Box<TextMessageChunk>) = "TEXT_MESSAGE_CHUNK" from TextMessageChunk;
    ToolCallChunk(Box<ToolCallChunk>) = "TOOL_CALL_CHUNK" from ToolCallChunk;
    SubagentStarted(Box<SubagentStarted>) = "SUBAGENT_STARTED" from SubagentStarted;
    SubagentFinished(Box<SubagentFinished>) = "SUBAGENT_FINISHED" from SubagentFinished;
    SubagentError(SubagentError) = "SUBAGENT_ERROR";
    ToolCallResult(ToolCallResult) = "TOOL_CALL_RESULT";
    ActivitySnapshot(Box<ActivitySnapshot>) = "ACTIVITY_SNAPSHOT" from ActivitySnapshot;
    ActivityDelta(ActivityDelta) = "ACTIVITY_DELTA";
    ReasoningStart(ReasoningStart) = "REASONING_START";
    ReasoningMessageStart(ReasoningMessageStart) = "REASONING_MESSAGE_START";
    ReasoningMessageContent(ReasoningMessageContent) = "REASONING_MESSAGE_CONTENT";
    ReasoningMessageEnd(ReasoningMessageEnd) = "REASONING_MESSAGE_END";
    ReasoningMessageChunk(ReasoningMessageChunk) = "REASONING_MESSAGE_CHUNK";
    ReasoningEnd(ReasoningEnd) = "REASONING_END";
    ReasoningEncryptedValue(Box<ReasoningEncryptedValue>) = "REASONING_ENCRYPTED_VALUE"
        from ReasoningEncryptedValue;
}

impl FromStr for EventType {
    type Err = UnknownEventType;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::of(name).ok_or_else(|| UnknownEventType(name.to_owned()))
    }
}

/// A string that names no event type of this version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown event type {0:?}")]
pub struct UnknownEventType(pub String);

impl fmt::Display for EventType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Base {
    /// Shows all that there is to say about what every event may have.
    #[inline]
    pub(crate) fn inspect(&self, at: &At<'_>, with: &mut impl Inspector) {
        inspect_optional(self.timestamp.as_ref(), &at.member("timestamp"), with);
        inspect_optional(self.metadata.as_ref(), &at.member("metadata"), with);
        inspect_optional(self.raw_event.as_ref(), &at.member("rawEvent"), with);
    }
}

impl Event {
    /// The type of the event.
    #[must_use]
    pub fn event_type(&self) -> EventType {
        self.body.event_type()
    }

    /// Sets the time of the event, by convention in milliseconds since the Unix epoch.
    #[must_use]
    pub fn with_timestamp(mut self, timestamp: i64) -> Self {
        self.base.timestamp = Some(timestamp);
        self
    }

    /// Sets the metadata.
    #[must_use]
    pub fn with_metadata(mut self, metadata: impl Into<Object>) -> Self {
        self.base.metadata = Some(metadata.into());
        self
    }

    /// Sets the producer's own event that this one was made from.
    #[must_use]
    pub fn with_raw_event(mut self, raw_event: impl Into<Value>) -> Self {
        self.base.raw_event = Some(Box::new(raw_event.into()));
        self
    }

    /// Reads an event from its JSON value, holding what a newer peer may send.
    ///
    /// # Errors
    ///
    /// [`ReadError::UnknownEventType`] if `type` names no event of this version, and
    /// [`ReadError::Malformed`] if `type` is no string, a required member is absent, or a member
    /// has another JSON type than it must.
    pub fn from_value(value: Value) -> Result<Self, ReadError> {
        let at = At::Root;
        let Value::Object(object) = value else {
            return Err(mistyped::<Object>(&value, &at).into());
        };
        let name = tag(&object, "type", &at)?;
        let Ok(event_type) = name.parse::<EventType>() else {
            if name.is_empty() {
                let reason = Reason::Type { expected: "an event type", found: "an empty string" };
                return Err(malformed(&at.member("type"), reason).into());
            }
            return Err(ReadError::UnknownEventType(name.to_owned()));
        };
        Self::from_members(event_type, object, &at)
            .map_err(|error| Malformed { event_type: Some(event_type), ..error }.into())
    }

    fn from_members(
        event_type: EventType,
        mut object: Object,
        at: &At<'_>,
    ) -> Result<Self, Malformed> {
        fn member<T: Node>(
            value: Option<Value>,
            name: &str,
            at: &At<'_>,
        ) -> Result<Option<T>, Malformed> {
            value.map(|value| T::from_json(value, &at.member(name))).transpose()
        }
        let [_, timestamp, metadata, raw_event] =
            object.take_members(["type", "timestamp", "metadata", "rawEvent"]);
        let base = Base {
            timestamp: member(timestamp, "timestamp", at)?,
            metadata: member(metadata, "metadata", at)?,
            raw_event: member(raw_event, "rawEvent", at)?,
        };
        Ok(Self { base, body: Body::from_object(event_type, object, at)? })
    }

    /// Shows all that there is to say about the event.
    #[inline]
    pub(crate) fn inspect(&self, with: &mut impl Inspector) {
        self.body.inspect(&At::Root, with);
        self.base.inspect(&At::Root, with);
    }

    /// Whether a required member is unrecognised, so that the whole event is.
    #[inline]
    pub(crate) fn unrecognised(&self) -> Option<Unrecognised> {
        self.body.unrecognised()
    }

    /// Removes all that is unrecognised.
    pub(crate) fn strip(&mut self) {
        self.body.strip();
    }
}

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", self.event_type().as_str())?;
        self.body.write(&mut map)?;
        if let Some(timestamp) = &self.base.timestamp {
            map.serialize_entry("timestamp", timestamp)?;
        }
        if let Some(metadata) = &self.base.metadata {
            map.serialize_entry("metadata", metadata)?;
        }
        if let Some(raw_event) = &self.base.raw_event {
            map.serialize_entry("rawEvent", raw_event)?;
        }
        map.end()
    }
}

/// Reads as [`Event::from_value`] does: nothing that is known is judged, nothing is lost.
impl<'de> serde::Deserialize<'de> for Event {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        Self::from_value(value).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_stays_small() {
        assert!(size_of::<Event>() <= 184, "{}", size_of::<Event>());
    }

    #[test]
    fn every_type_is_named_and_found_by_its_name() {
        for event_type in EventType::ALL {
            assert_eq!(event_type.as_str().parse(), Ok(event_type));
        }
    }
}
