//! Messages: one type for each role in the model, one message for all of them on the wire.

use super::{
    ConvertError, ConvertReason, ElementFromWire, ElementToWire, FromWire, FromWireCx, ToWire,
    ToWireCx, json_of, leave_out,
};
use crate::model::node::Node as _;
use crate::model::path::At;
use crate::model::{
    ActivityMessage, AssistantMessage, Content, DeveloperMessage, Extra, FunctionCall, Message,
    Notice, NoticeKind, Part, ReasoningMessage, Role, SystemMessage, ToolCall, ToolMessage,
    Unrecognised, UserMessage,
};
use crate::value::{Object, Value};
use crate::wire;

/// The two fields that the JSON member `content` of text or parts travels in.
impl Content {
    pub(super) fn to_fields(
        &self,
        at: &At<'_>,
        cx: &mut ToWireCx,
    ) -> Result<(Option<String>, Vec<wire::InputContent>), ConvertError> {
        match self {
            Self::Text(text) => Ok((Some(text.clone()), Vec::new())),
            Self::Parts(parts) => Ok((None, parts.to_wire(at, cx)?)),
        }
    }

    /// Neither field is an empty list: content that was left out cannot be told from it.
    pub(super) fn from_fields(
        text: Option<String>,
        parts: Vec<wire::InputContent>,
        at: &At<'_>,
        cx: &mut FromWireCx,
    ) -> Result<Self, ConvertError> {
        match text {
            Some(_) if !parts.is_empty() => Err(ConvertError::new(at, ConvertReason::TextAndParts)),
            Some(text) => Ok(Self::Text(text)),
            None => Vec::<Part>::from_wire(parts, at, cx).map(Self::Parts),
        }
    }
}

/// A message of an unknown role goes out by the names of its members, or not at all.
impl ElementToWire<wire::Message> for Message {
    fn element_to_wire(
        &self,
        at: &At<'_>,
        cx: &mut ToWireCx,
    ) -> Result<Option<wire::Message>, ConvertError> {
        let mut wire = wire::Message { role: self.tag().to_owned(), ..Default::default() };
        let content = at.member("content");
        macro_rules! members {
            ($message:expr; $($member:ident),*) => {{
                leave_out(&$message.extra, at, cx);
                wire.id.clone_from(&$message.id);
                wire.metadata = $message.metadata.to_wire(&at.member("metadata"), cx)?;
                wire.subagent_run_id.clone_from(&$message.subagent_run_id);
                $( wire.$member.clone_from(&$message.$member); )*
            }};
        }
        match self {
            Self::Developer(message) => {
                members!(message; content, name, encrypted_value, encrypted_value_type);
            }
            Self::System(message) => {
                members!(message; content, name, encrypted_value, encrypted_value_type);
            }
            Self::Assistant(message) => {
                members!(message; content, name, encrypted_value, encrypted_value_type);
                wire.tool_calls = message.tool_calls.to_wire(&at.member("toolCalls"), cx)?;
            }
            Self::User(message) => {
                members!(message; name, encrypted_value, encrypted_value_type);
                (wire.content, wire.content_parts) = message.content.to_fields(&content, cx)?;
            }
            Self::Tool(message) => {
                members!(message; tool_call_id, error, encrypted_value, encrypted_value_type);
                (wire.content, wire.content_parts) = message.content.to_fields(&content, cx)?;
            }
            Self::Activity(message) => {
                members!(message; activity_type);
                wire.activity_content = message.content.to_wire(&content, cx)?;
            }
            Self::Reasoning(message) => {
                members!(message; content, encrypted_value, encrypted_value_type);
            }
            Self::Unknown(object) => return unknown_to_wire(object, wire, at, cx),
        }
        Ok(Some(wire))
    }
}

fn unknown_to_wire(
    object: &Object,
    mut wire: wire::Message,
    at: &At<'_>,
    cx: &mut ToWireCx,
) -> Result<Option<wire::Message>, ConvertError> {
    let mut left_out = Vec::new();
    for (name, value) in object {
        let at = at.member(name);
        let text = value.as_str().map(str::to_owned);
        match (name, value) {
            ("role", _) => {}
            ("id", Value::String(id)) => wire.id.clone_from(id),
            ("content", Value::String(_)) => wire.content = text,
            ("content", Value::Object(content)) => {
                wire.activity_content = Some(content.to_wire(&at, cx)?);
            }
            ("content", Value::List(_)) => match Vec::<Part>::from_json(value.clone(), &at) {
                Ok(parts) => wire.content_parts = parts.to_wire(&at, cx)?,
                Err(_) => left_out.push(at.to_path()),
            },
            ("name", Value::String(_)) => wire.name = text,
            ("toolCalls", Value::List(_)) => match Vec::<ToolCall>::from_json(value.clone(), &at) {
                Ok(calls) => wire.tool_calls = calls.to_wire(&at, cx)?,
                Err(_) => left_out.push(at.to_path()),
            },
            ("toolCallId", Value::String(_)) => wire.tool_call_id = text,
            ("error", Value::String(_)) => wire.error = text,
            ("metadata", Value::Object(metadata)) => {
                wire.metadata = Some(metadata.to_wire(&at, cx)?);
            }
            ("subagentRunId", Value::String(_)) => wire.subagent_run_id = text,
            ("encryptedValue", Value::String(_)) => wire.encrypted_value = text,
            ("encryptedValueType", Value::String(_)) => wire.encrypted_value_type = text,
            ("activityType", Value::String(_)) => wire.activity_type = text,
            _ => left_out.push(at.to_path()),
        }
    }
    for path in left_out {
        cx.notices.push(Notice { path, kind: NoticeKind::NotOnWire(Unrecognised::Member) });
    }
    Ok(Some(wire))
}

/// Whether a message of an unknown role takes this member over the wire: asked by taking it there.
pub(crate) fn unknown_message_member(name: &str, value: &Value) -> bool {
    let member = Object::from([(name, value.clone())]);
    let mut cx = ToWireCx::default();
    // An error is about what the member holds, not about whether there is a place for it.
    let _ = unknown_to_wire(&member, wire::Message::default(), &At::Root, &mut cx);
    let place = At::Root.member(name).to_path();
    cx.notices.iter().all(|notice| notice.path != place)
}

impl ElementFromWire<wire::Message> for Message {
    fn element_from_wire(
        mut wire: wire::Message,
        at: &At<'_>,
        cx: &mut FromWireCx,
    ) -> Result<Option<Self>, ConvertError> {
        let role = Role::from(std::mem::take(&mut wire.role));
        refuse_contradiction(&role, &wire, &at.member("content"))?;
        let content_at = at.member("content");

        // Each role takes what it has; what is left in `wire` afterwards is no member of the role.
        macro_rules! message {
            ($type:ident { $($member:ident),* } $($name:ident: $value:expr),*) => {{
                $( let $name = $value; )*
                $type {
                    id: std::mem::take(&mut wire.id),
                    metadata: FromWire::from_wire(wire.metadata.take(), at, cx)?,
                    subagent_run_id: wire.subagent_run_id.take(),
                    $( $member: wire.$member.take(), )*
                    $( $name, )*
                    extra: left_over(wire, at, cx)?,
                }
                .into()
            }};
        }
        let message = match role {
            Role::Developer => {
                message!(DeveloperMessage { content, name, encrypted_value, encrypted_value_type })
            }
            Role::System => {
                message!(SystemMessage { content, name, encrypted_value, encrypted_value_type })
            }
            Role::Assistant => message!(
                AssistantMessage { content, name, encrypted_value, encrypted_value_type }
                tool_calls: FromWire::from_wire(
                    std::mem::take(&mut wire.tool_calls),
                    &at.member("toolCalls"),
                    cx,
                )?
            ),
            Role::User => message!(
                UserMessage { name, encrypted_value, encrypted_value_type }
                content: Content::from_fields(
                    wire.content.take(),
                    std::mem::take(&mut wire.content_parts),
                    &content_at,
                    cx,
                )?
            ),
            Role::Tool => message!(
                ToolMessage { tool_call_id, error, encrypted_value, encrypted_value_type }
                content: Content::from_fields(
                    wire.content.take(),
                    std::mem::take(&mut wire.content_parts),
                    &content_at,
                    cx,
                )?
            ),
            Role::Activity => message!(
                ActivityMessage { activity_type }
                content: FromWire::from_wire(wire.activity_content.take(), at, cx)?
            ),
            Role::Reasoning => {
                message!(ReasoningMessage { content, encrypted_value, encrypted_value_type })
            }
            Role::Unknown(role) => {
                let mut object =
                    Object::from([("id", std::mem::take(&mut wire.id)), ("role", role)]);
                object.extend(members_of(wire, at, cx)?);
                Self::Unknown(object)
            }
        };
        Ok(Some(message))
    }
}

/// Content comes in one form, and in one that the role has.
fn refuse_contradiction(
    role: &Role,
    wire: &wire::Message,
    at: &At<'_>,
) -> Result<(), ConvertError> {
    let forms = [
        ("text", wire.content.is_some()),
        ("parts", !wire.content_parts.is_empty()),
        ("an activity's content", wire.activity_content.is_some()),
    ];
    let allowed: &[&str] = match role {
        Role::User | Role::Tool => &["text", "parts"],
        Role::Activity => &["an activity's content"],
        Role::Developer | Role::System | Role::Assistant | Role::Reasoning => &["text"],
        Role::Unknown(_) => {
            return match forms.iter().filter(|(_, present)| *present).count() {
                0 | 1 => Ok(()),
                _ => Err(ConvertError::new(at, ConvertReason::SeveralContents)),
            };
        }
    };
    for (content, present) in forms {
        if present && !allowed.contains(&content) {
            let role = role.to_string();
            let reason = ConvertReason::ContentOfAnotherRole { content, role };
            return Err(ConvertError::new(at, reason));
        }
    }
    Ok(())
}

/// What a message carries that its role does not have: kept, for enforcement to strip.
fn left_over(wire: wire::Message, at: &At<'_>, cx: &mut FromWireCx) -> Result<Extra, ConvertError> {
    if wire == wire::Message::default() {
        return Ok(Extra::default());
    }
    Ok(Extra::from_object(members_of(wire, at, cx)?))
}

/// The members of a message by their names in JSON, without `id` and `role`.
fn members_of(
    wire: wire::Message,
    at: &At<'_>,
    cx: &mut FromWireCx,
) -> Result<Object, ConvertError> {
    let wire::Message {
        id: _,
        role: _,
        content,
        name,
        tool_calls,
        tool_call_id,
        error,
        content_parts,
        metadata,
        subagent_run_id,
        encrypted_value,
        activity_type,
        activity_content,
        encrypted_value_type,
    } = wire;
    let metadata: Option<Object> = FromWire::from_wire(metadata, at, cx)?;
    let activity_content: Option<Object> = FromWire::from_wire(activity_content, at, cx)?;
    let mut object = Object::new();
    let mut put = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            object.insert(name, value);
        }
    };
    put("content", content.map(Value::from));
    put("content", activity_content.map(Value::from));
    if !content_parts.is_empty() {
        let parts = Vec::<Part>::from_wire(content_parts, &at.member("content"), cx)?;
        put("content", Some(json_of(&parts, &at.member("content"))?));
    }
    put("name", name.map(Value::from));
    if !tool_calls.is_empty() {
        let calls = Vec::<ToolCall>::from_wire(tool_calls, &at.member("toolCalls"), cx)?;
        put("toolCalls", Some(json_of(&calls, &at.member("toolCalls"))?));
    }
    put("toolCallId", tool_call_id.map(Value::from));
    put("error", error.map(Value::from));
    put("metadata", metadata.map(Value::from));
    put("subagentRunId", subagent_run_id.map(Value::from));
    put("encryptedValue", encrypted_value.map(Value::from));
    put("activityType", activity_type.map(Value::from));
    put("encryptedValueType", encrypted_value_type.map(Value::from));
    Ok(object)
}

impl ToWire<wire::ToolCall> for ToolCall {
    fn to_wire(&self, at: &At<'_>, cx: &mut ToWireCx) -> Result<wire::ToolCall, ConvertError> {
        leave_out(&self.extra, at, cx);
        let function = self.function.as_ref().map(|function| {
            leave_out(&function.extra, &at.member("function"), cx);
            wire::tool_call::Function {
                name: function.name.clone(),
                arguments: function.arguments.clone(),
            }
        });
        Ok(wire::ToolCall {
            id: self.id.clone(),
            r#type: self.r#type.as_str().to_owned(),
            function,
            metadata: self.metadata.to_wire(&at.member("metadata"), cx)?,
            encrypted_value: self.encrypted_value.clone(),
            encrypted_value_type: self.encrypted_value_type.clone(),
        })
    }
}

impl FromWire<wire::ToolCall> for ToolCall {
    fn from_wire(
        wire: wire::ToolCall,
        at: &At<'_>,
        cx: &mut FromWireCx,
    ) -> Result<Self, ConvertError> {
        Ok(Self {
            id: wire.id,
            r#type: wire.r#type.into(),
            function: wire
                .function
                .map(|function| FunctionCall::new(function.name, function.arguments)),
            encrypted_value: wire.encrypted_value,
            encrypted_value_type: wire.encrypted_value_type,
            metadata: FromWire::from_wire(wire.metadata, at, cx)?,
            extra: Extra::default(),
        })
    }
}
