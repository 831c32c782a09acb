//! What messages of all roles have, and what may be added to them.

use crate::model::{Content, Message, Part, TextPart, ToolMessage, UserMessage};
use crate::value::Object;

/// Whose a message is; nothing for the parent agent.
pub(super) fn owner(message: &Message) -> Option<&str> {
    match message {
        Message::Developer(message) => message.subagent_run_id.as_deref(),
        Message::System(message) => message.subagent_run_id.as_deref(),
        Message::Assistant(message) => message.subagent_run_id.as_deref(),
        Message::User(message) => message.subagent_run_id.as_deref(),
        Message::Tool(message) => message.subagent_run_id.as_deref(),
        Message::Activity(message) => message.subagent_run_id.as_deref(),
        Message::Reasoning(message) => message.subagent_run_id.as_deref(),
        Message::Unknown(_) => None,
    }
}

/// The metadata of a message; nothing for one of an unknown role.
pub(super) fn metadata_mut(message: &mut Message) -> Option<&mut Option<Object>> {
    Some(match message {
        Message::Developer(message) => &mut message.metadata,
        Message::System(message) => &mut message.metadata,
        Message::Assistant(message) => &mut message.metadata,
        Message::User(message) => &mut message.metadata,
        Message::Tool(message) => &mut message.metadata,
        Message::Activity(message) => &mut message.metadata,
        Message::Reasoning(message) => &mut message.metadata,
        Message::Unknown(_) => return None,
    })
}

/// The text of a message; nothing if it has none, or parts.
pub(super) fn text(message: &Message) -> Option<&str> {
    match message {
        Message::Developer(message) => message.content.as_deref(),
        Message::System(message) => message.content.as_deref(),
        Message::Assistant(message) => message.content.as_deref(),
        Message::Reasoning(message) => message.content.as_deref(),
        Message::User(UserMessage { content: Content::Text(text), .. })
        | Message::Tool(ToolMessage { content: Content::Text(text), .. }) => Some(text),
        _ => None,
    }
}

/// Sets the encrypted value of a message and how it is encrypted; false if its role has none.
pub(super) fn set_encrypted(message: &mut Message, value: &str, kind: Option<&str>) -> bool {
    let (held, held_kind) = match message {
        Message::Developer(message) => {
            (&mut message.encrypted_value, &mut message.encrypted_value_type)
        }
        Message::System(message) => {
            (&mut message.encrypted_value, &mut message.encrypted_value_type)
        }
        Message::Assistant(message) => {
            (&mut message.encrypted_value, &mut message.encrypted_value_type)
        }
        Message::User(message) => (&mut message.encrypted_value, &mut message.encrypted_value_type),
        Message::Tool(message) => (&mut message.encrypted_value, &mut message.encrypted_value_type),
        Message::Reasoning(message) => {
            (&mut message.encrypted_value, &mut message.encrypted_value_type)
        }
        Message::Activity(_) | Message::Unknown(_) => return false,
    };
    *held = Some(value.to_owned());
    *held_kind = kind.map(str::to_owned);
    true
}

/// Merges metadata by key: the last write wins, nothing under a key is merged.
pub(super) fn merge(held: &mut Option<Object>, incoming: Option<&Object>) {
    if let Some(incoming) = incoming {
        let members = incoming.iter().map(|(key, value)| (key, value.clone()));
        held.get_or_insert_default().extend(members);
    }
}

/// Appends text to a message's content; false if its role has no text.
///
/// Differs: content that is parts gets its text in the last part, or in a new one; the reference
/// client replaces the parts by the text. Parts are never lost here.
pub(super) fn append(message: &mut Message, delta: &str) -> bool {
    match message {
        Message::Developer(message) => message.content.get_or_insert_default().push_str(delta),
        Message::System(message) => message.content.get_or_insert_default().push_str(delta),
        Message::Assistant(message) => message.content.get_or_insert_default().push_str(delta),
        Message::Reasoning(message) => message.content.get_or_insert_default().push_str(delta),
        Message::User(message) => append_content(&mut message.content, delta),
        Message::Tool(message) => append_content(&mut message.content, delta),
        Message::Activity(_) | Message::Unknown(_) => return false,
    }
    true
}

fn append_content(content: &mut Content, delta: &str) {
    match content {
        Content::Text(text) => text.push_str(delta),
        Content::Parts(parts) => match parts.last_mut() {
            Some(Part::Text(part)) => part.text.push_str(delta),
            _ => parts.push(Part::Text(TextPart::new(delta))),
        },
    }
}
