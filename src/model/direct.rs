//! JSON text straight to the model, where the text is as usual.
//!
//! The general way reads text as a [`Value`] and makes an event of that, so that an error can name
//! its place and whatever a newer peer sends can be kept. Nearly all text needs none of this: `type`
//! comes first, and each member once, under a name that this version knows, with the JSON type that
//! it must have. Such text is read member by member, and nothing is held twice.
//!
//! Nothing is judged here. Any other text is given back as `None`, and goes the general way, which
//! knows what it is and says so. A debug build goes both ways and compares, so that every test holds
//! one against the other.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::message::Members as MessageMembers;
use super::node::Node;
use super::path::At;
use super::{
    Base, Content, DEFAULT_MAX_DEPTH, EncryptedValueSubtype, Event, EventType, Message, Part,
    PartSource, PatchOp, PatchOperation, ResumeStatus, Role, RunFinishedOutcome,
    SubagentFinishedOutcome, TextRole, ToolCallType,
};
use crate::value::{ExactJson, Level, Object, Seen, Value};

/// How many levels of text are read this way: all that the default limit allows. A level takes stack,
/// most of it serde's, and so does what is around them; without optimisation they take four times as
/// much, and 96 levels as much as the general way takes for 128.
const DIRECT_DEPTH: usize = if cfg!(debug_assertions) { 96 } else { DEFAULT_MAX_DEPTH };

/// Reads an event from text, and puts it where it is wanted; nothing if the text is not usual.
pub(crate) fn read(text: &str, max_depth: usize, into: &mut Option<Event>) {
    let (seen, max) = (Seen::default(), max_depth.min(DIRECT_DEPTH));
    let mut reader = serde_json::Deserializer::from_str(text);
    reader.disable_recursion_limit();
    let cx = Cx { max, left: max, seen: &seen };
    // Handing the event up would take a move at each step.
    let read = reader.deserialize_map(EventVisitor(cx, into)).and_then(|()| reader.end());
    // A number may have been rounded, which does not show.
    let is_exact = !seen.double() || !ExactJson::is_called_for(text);
    if read.is_err() || !is_exact || seen.duplicate() {
        *into = None;
    }
}

/// How deep the place at hand may go on, and what has been seen.
#[derive(Clone, Copy)]
pub(crate) struct Cx<'a> {
    max: usize,
    left: usize,
    seen: &'a Seen,
}

impl Cx<'_> {
    /// Inside a container that opens here.
    fn inside<E: Error>(self) -> Result<Self, E> {
        let left = self.left.checked_sub(1).ok_or_else(unusual)?;
        Ok(Self { left, ..self })
    }
}

/// The one error. Why it was raised is for the general way to find.
fn unusual<E: Error>() -> E {
    E::custom("")
}

/// What can be read from text.
pub(crate) trait FromText: Sized {
    fn from_text<'de, D: Deserializer<'de>>(text: D, cx: Cx<'_>) -> Result<Self, D::Error>;
}

/// A [`FromText`] as serde wants it.
struct Seed<'a, T>(Cx<'a>, PhantomData<T>);

impl<'a, T> Seed<'a, T> {
    fn new(cx: Cx<'a>) -> Self {
        Self(cx, PhantomData)
    }
}

impl<'de, T: FromText> DeserializeSeed<'de> for Seed<'_, T> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, text: D) -> Result<T, D::Error> {
        T::from_text(text, self.0)
    }
}

/// Reads the next value of an object into a member that must not have one yet.
pub(crate) fn set<'de, T: FromText, A: MapAccess<'de>>(
    member: &mut Option<T>,
    members: &mut A,
    cx: Cx<'_>,
) -> Result<(), A::Error> {
    match member.replace(members.next_value_seed(Seed::new(cx))?) {
        Some(_) => Err(unusual()),
        None => Ok(()),
    }
}

/// Takes a member that has to be there.
pub(crate) fn required<T, E: Error>(member: Option<T>) -> Result<T, E> {
    member.ok_or_else(unusual)
}

/// A closed object, member by member.
pub(crate) trait FromMembers: Sized {
    /// Reads the members that are left; those of `base`, if there is one, among them.
    fn from_members<'de, A: MapAccess<'de>>(
        members: &mut A,
        base: Option<&mut Base>,
        cx: Cx<'_>,
    ) -> Result<Self, A::Error>;
}

impl<T: FromMembers> FromMembers for Box<T> {
    fn from_members<'de, A: MapAccess<'de>>(
        members: &mut A,
        base: Option<&mut Base>,
        cx: Cx<'_>,
    ) -> Result<Self, A::Error> {
        T::from_members(members, base, cx).map(Self::new)
    }
}

/// Reads a closed object.
pub(crate) fn read_object<'de, T: FromMembers, D: Deserializer<'de>>(
    text: D,
    cx: Cx<'_>,
) -> Result<T, D::Error> {
    struct ObjectVisitor<'a, T>(Cx<'a>, PhantomData<T>);

    impl<'de, T: FromMembers> Visitor<'de> for ObjectVisitor<'_, T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<T, A::Error> {
            T::from_members(&mut members, None, self.0.inside()?)
        }
    }

    text.deserialize_map(ObjectVisitor(cx, PhantomData))
}

/// The next member that `own` knows; those of `base` are read on the way. Any other is unusual.
pub(crate) fn next_name<'de, N, A: MapAccess<'de>>(
    members: &mut A,
    base: &mut Option<&mut Base>,
    cx: Cx<'_>,
    own: impl Fn(&str) -> Option<N>,
) -> Result<Option<N>, A::Error> {
    enum Found<N> {
        Own(N),
        Timestamp,
        Metadata,
        RawEvent,
    }
    loop {
        let find = |name: &str| {
            own(name).map(Found::Own).or(match name {
                "timestamp" => Some(Found::Timestamp),
                "metadata" => Some(Found::Metadata),
                "rawEvent" => Some(Found::RawEvent),
                _ => None,
            })
        };
        let (found, base) = match (members.next_key_seed(Name(find))?, base.as_deref_mut()) {
            (None, _) => return Ok(None),
            (Some(Found::Own(name)), _) => return Ok(Some(name)),
            (Some(_), None) => return Err(unusual()),
            (Some(found), Some(base)) => (found, base),
        };
        match found {
            Found::Timestamp => set(&mut base.timestamp, members, cx)?,
            Found::Metadata => set(&mut base.metadata, members, cx)?,
            Found::RawEvent | Found::Own(_) => set(&mut base.raw_event, members, cx)?,
        }
    }
}

/// Text of which something is made without holding it, unless there is nothing to make of it.
struct Name<F>(F);

impl<'de, T, F: FnOnce(&str) -> Option<T>> DeserializeSeed<'de> for Name<F> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, text: D) -> Result<T, D::Error> {
        text.deserialize_str(self)
    }
}

impl<T, F: FnOnce(&str) -> Option<T>> Visitor<'_> for Name<F> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        (self.0)(text).ok_or_else(unusual)
    }
}

struct EventVisitor<'a>(Cx<'a>, &'a mut Option<Event>);

impl<'de> Visitor<'de> for EventVisitor<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an event")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let cx = self.0.inside()?;
        let is_type = |name: &str| (name == "type").then_some(());
        members.next_key_seed(Name(is_type))?.ok_or_else(unusual)?;
        let event_type = members.next_value_seed(Name(|name: &str| EventType::of(name)))?;
        Event::read_members(event_type, &mut members, cx, self.1)
    }
}

macro_rules! as_serde_reads {
    ($($type:ty),*) => {$(
        impl FromText for $type {
            fn from_text<'de, D: Deserializer<'de>>(text: D, _: Cx<'_>) -> Result<Self, D::Error> {
                Self::deserialize(text)
            }
        }
    )*};
}

as_serde_reads!(String, bool, i64);

macro_rules! names {
    ($($name:ty),*) => {$(
        impl FromText for $name {
            fn from_text<'de, D: Deserializer<'de>>(text: D, _: Cx<'_>) -> Result<Self, D::Error> {
                text.deserialize_str(Name(|name: &str| Some(Self::from(name))))
            }
        }
    )*};
}

names!(EncryptedValueSubtype, PatchOp, ResumeStatus, Role, TextRole, ToolCallType);

impl FromText for Value {
    fn from_text<'de, D: Deserializer<'de>>(text: D, cx: Cx<'_>) -> Result<Self, D::Error> {
        Level::new(cx.max, cx.left, cx.seen).deserialize(text)
    }
}

impl FromText for Object {
    fn from_text<'de, D: Deserializer<'de>>(text: D, cx: Cx<'_>) -> Result<Self, D::Error> {
        match Value::from_text(text, cx)? {
            Value::Object(object) => Ok(object),
            _ => Err(unusual()),
        }
    }
}

impl<T: FromText> FromText for Box<T> {
    fn from_text<'de, D: Deserializer<'de>>(text: D, cx: Cx<'_>) -> Result<Self, D::Error> {
        T::from_text(text, cx).map(Self::new)
    }
}

impl<T: FromText> FromText for Vec<T> {
    fn from_text<'de, D: Deserializer<'de>>(text: D, cx: Cx<'_>) -> Result<Self, D::Error> {
        text.deserialize_seq(List(cx, PhantomData))
    }
}

struct List<'a, T>(Cx<'a>, PhantomData<T>);

impl<'de, T: FromText> Visitor<'de> for List<'_, T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Vec<T>, A::Error> {
        let cx = self.0.inside()?;
        let mut list = Vec::new();
        while let Some(element) = elements.next_element_seed(Seed::new(cx))? {
            list.push(element);
        }
        Ok(list)
    }
}

/// The tag of a union need not come first, and unions are rare: they are read as a value. One of an
/// unknown tag may be a retired shape, which is not usual.
macro_rules! unions {
    ($($union:ty),*) => {$(
        impl FromText for $union {
            fn from_text<'de, D: Deserializer<'de>>(text: D, cx: Cx<'_>) -> Result<Self, D::Error> {
                let value = Value::from_text(text, cx)?;
                let union = Self::from_json(value, &At::Root).map_err(|_| unusual())?;
                if union.unrecognised().is_some() { Err(unusual()) } else { Ok(union) }
            }
        }
    )*};
}

unions!(Part, PartSource, RunFinishedOutcome, SubagentFinishedOutcome);

/// Content in any of its forms.
enum AnyContent {
    Text(String),
    Parts(Vec<Part>),
    Object(Object),
}

struct ContentVisitor<'a>(Cx<'a>);

impl<'de> Visitor<'de> for ContentVisitor<'_> {
    type Value = AnyContent;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("content")
    }

    fn visit_str<E>(self, text: &str) -> Result<AnyContent, E> {
        Ok(AnyContent::Text(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<AnyContent, E> {
        Ok(AnyContent::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, elements: A) -> Result<AnyContent, A::Error> {
        List(self.0, PhantomData).visit_seq(elements).map(AnyContent::Parts)
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<AnyContent, A::Error> {
        let Cx { max, left, seen } = self.0;
        match Level::new(max, left, seen).visit_map(members)? {
            Value::Object(object) => Ok(AnyContent::Object(object)),
            _ => Err(unusual()),
        }
    }
}

impl FromText for AnyContent {
    fn from_text<'de, D: Deserializer<'de>>(text: D, cx: Cx<'_>) -> Result<Self, D::Error> {
        text.deserialize_any(ContentVisitor(cx))
    }
}

impl FromText for Content {
    fn from_text<'de, D: Deserializer<'de>>(text: D, cx: Cx<'_>) -> Result<Self, D::Error> {
        match AnyContent::from_text(text, cx)? {
            AnyContent::Text(text) => Ok(Self::Text(text)),
            AnyContent::Parts(parts) => Ok(Self::Parts(parts)),
            AnyContent::Object(_) => Err(unusual()),
        }
    }
}

impl FromText for Message {
    fn from_text<'de, D: Deserializer<'de>>(text: D, cx: Cx<'_>) -> Result<Self, D::Error> {
        read_object(text, cx)
    }
}

/// What a message has is decided by its role, which may stand anywhere among its members.
impl FromMembers for Message {
    fn from_members<'de, A: MapAccess<'de>>(
        members: &mut A,
        mut base: Option<&mut Base>,
        cx: Cx<'_>,
    ) -> Result<Self, A::Error> {
        let (mut id, mut role, mut content) = (None, None, None);
        let mut of = MessageMembers::default();
        loop {
            macro_rules! members {
                ($($name:literal $member:expr;)*) => {{
                    const NAMES: &[&str] = &[$($name),*];
                    let own = |name: &str| NAMES.iter().find(|own| **own == name).copied();
                    match next_name(members, &mut base, cx, own)? {
                        $( Some($name) => set($member, members, cx)?, )*
                        Some(_) => return Err(unusual()),
                        None => break,
                    }
                }};
            }
            members! {
                "id" &mut id;
                "role" &mut role;
                "content" &mut content;
                "name" &mut of.name;
                "toolCalls" &mut of.tool_calls;
                "toolCallId" &mut of.tool_call_id;
                "error" &mut of.error;
                "metadata" &mut of.metadata;
                "subagentRunId" &mut of.subagent_run_id;
                "encryptedValue" &mut of.encrypted_value;
                "encryptedValueType" &mut of.encrypted_value_type;
                "activityType" &mut of.activity_type;
            }
        }
        let role: Role = required(role)?;
        match content {
            Some(AnyContent::Text(text)) => of.content = Some(text),
            Some(AnyContent::Parts(parts)) => of.content_parts = parts,
            Some(AnyContent::Object(object)) => of.activity_content = Some(object),
            // Bytes do not say that it is missing; text does.
            None if matches!(role, Role::User | Role::Tool) => return Err(unusual()),
            None => {}
        }
        of.into_message(&role, required(id)?).ok_or_else(unusual)
    }
}

impl FromText for PatchOperation {
    fn from_text<'de, D: Deserializer<'de>>(text: D, cx: Cx<'_>) -> Result<Self, D::Error> {
        read_object(text, cx)
    }
}

impl FromMembers for PatchOperation {
    fn from_members<'de, A: MapAccess<'de>>(
        members: &mut A,
        mut base: Option<&mut Base>,
        cx: Cx<'_>,
    ) -> Result<Self, A::Error> {
        enum Own {
            Op,
            Path,
            From,
            Value,
        }
        let (mut op, mut path, mut from, mut value) = (None, None, None, None);
        loop {
            let own = |name: &str| {
                Some(match name {
                    "op" => Own::Op,
                    "path" => Own::Path,
                    "from" => Own::From,
                    "value" => Own::Value,
                    _ => return None,
                })
            };
            match next_name(members, &mut base, cx, own)? {
                None => break,
                Some(Own::Op) => set(&mut op, members, cx)?,
                Some(Own::Path) => set(&mut path, members, cx)?,
                Some(Own::From) => set(&mut from, members, cx)?,
                Some(Own::Value) => set(&mut value, members, cx)?,
            }
        }
        let (op, path): (PatchOp, String) = (required(op)?, required(path)?);
        let lacks_from = matches!(op, PatchOp::Move | PatchOp::Copy) && from.is_none();
        if lacks_from || matches!(op, PatchOp::Unknown(_)) {
            return Err(unusual());
        }
        let mut operation = Self::new(op, path);
        (operation.from, operation.value) = (from, value);
        Ok(operation)
    }
}
