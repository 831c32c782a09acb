//! Text and reasoning messages: opened, appended to, closed.

use super::Conversation;
use crate::conversation::message::{append, merge, metadata_mut};
use crate::conversation::warning::WarningKind;
use crate::model::{
    AssistantMessage, Content, DeveloperMessage, Message, SystemMessage, TextMessageStart,
    TextRole, UserMessage,
};
use crate::value::Object;

impl Conversation {
    pub(super) fn start_text(
        &mut self,
        body: &TextMessageStart,
        metadata: Option<&Object>,
        warnings: &mut Vec<WarningKind>,
    ) {
        // S7: of a message that is held, its role, name and owner stand.
        if !self.messages.contains(&body.message_id) {
            self.messages.put(new_text(body));
        }
        self.end(&body.message_id, metadata, warnings);
    }

    pub(super) fn append(
        &mut self,
        id: &str,
        delta: &str,
        metadata: Option<&Object>,
        warnings: &mut Vec<WarningKind>,
    ) {
        match self.messages.get_mut(id) {
            None => warnings.push(WarningKind::NoMessage { id: id.to_owned() }),
            Some(message) => {
                if append(message, delta) {
                    if let Some(held) = metadata_mut(message) {
                        merge(held, metadata);
                    }
                } else {
                    warnings.push(WarningKind::TextForActivity { id: id.to_owned() });
                }
            }
        }
    }

    /// Merges the metadata of an event that brings no text.
    pub(super) fn end(
        &mut self,
        id: &str,
        metadata: Option<&Object>,
        warnings: &mut Vec<WarningKind>,
    ) {
        match self.messages.get_mut(id) {
            None => warnings.push(WarningKind::NoMessage { id: id.to_owned() }),
            Some(Message::Activity(_)) => {
                warnings.push(WarningKind::TextForActivity { id: id.to_owned() });
            }
            Some(message) => {
                if let Some(held) = metadata_mut(message) {
                    merge(held, metadata);
                }
            }
        }
    }
}

fn new_text(body: &TextMessageStart) -> Message {
    let (id, name, owner) = (&body.message_id, &body.name, &body.subagent_run_id);
    macro_rules! message {
        ($message:expr) => {{
            let mut message = $message;
            message.name.clone_from(name);
            message.subagent_run_id.clone_from(owner);
            message.into()
        }};
    }
    match body.role {
        Some(TextRole::Developer) => message!(DeveloperMessage::new(id, "")),
        Some(TextRole::System) => message!(SystemMessage::new(id, "")),
        Some(TextRole::User) => message!(UserMessage::new(id, Content::Text(String::new()))),
        None | Some(TextRole::Assistant | TextRole::Unknown(_)) => {
            message!(AssistantMessage::new(id).with_content(""))
        }
    }
}
