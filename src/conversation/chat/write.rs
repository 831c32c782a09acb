//! A message as a chat message.

use super::ChatLoss;
use crate::conversation::message::owner;
use crate::model::{AssistantMessage, Content, DataSource, Message, Part, PartSource};
use crate::value::{List, Object, Value};

/// Writes one message.
pub(super) struct Writer<'l> {
    /// A JSON Pointer to the message.
    pub(super) path: String,
    pub(super) losses: &'l mut Vec<ChatLoss>,
}

impl Writer<'_> {
    fn lose(&mut self, place: &str, what: &'static str) {
        self.losses.push(ChatLoss { path: format!("{}{place}", self.path), what });
    }

    /// Reports members that are present, of the message or of one of its parts and calls.
    fn lose_present(&mut self, at: &str, members: &[(&'static str, bool)]) {
        for (name, _) in members.iter().filter(|(_, is_present)| *is_present) {
            self.lose(&format!("{at}/{name}"), name);
        }
    }

    pub(super) fn message(&mut self, message: &Message) -> Option<Object> {
        macro_rules! common {
            ($message:expr) => {
                self.lose_present(
                    "",
                    &[
                        ("encryptedValue", $message.encrypted_value.is_some()),
                        ("metadata", $message.metadata.is_some()),
                        ("subagentRunId", owner(message).is_some()),
                    ],
                )
            };
        }
        let role = message.role();
        let mut chat = Object::from([("role", role.as_str())]);
        let name = match message {
            Message::Developer(held) => {
                common!(held);
                chat.insert("content", held.content.clone().unwrap_or_default());
                &held.name
            }
            Message::System(held) => {
                common!(held);
                chat.insert("content", held.content.clone().unwrap_or_default());
                &held.name
            }
            Message::Assistant(held) => {
                common!(held);
                self.assistant(held, &mut chat);
                &held.name
            }
            Message::User(held) => {
                common!(held);
                let content = self.content(&held.content, true);
                chat.insert("content", content);
                &held.name
            }
            Message::Tool(held) => {
                common!(held);
                self.lose_present("", &[("error", held.error.is_some())]);
                chat.insert("tool_call_id", held.tool_call_id.clone().unwrap_or_default());
                let content = self.content(&held.content, false);
                chat.insert("content", content);
                &None
            }
            Message::Activity(_) => {
                self.lose("", "an activity");
                return None;
            }
            Message::Reasoning(_) => {
                self.lose("", "reasoning");
                return None;
            }
            Message::Unknown(_) => {
                self.lose("", "a message of an unknown role");
                return None;
            }
        };
        if let Some(name) = name {
            chat.insert("name", name.as_str());
        }
        Some(chat)
    }

    fn assistant(&mut self, message: &AssistantMessage, chat: &mut Object) {
        let calls = message.tool_calls.as_deref().unwrap_or_default();
        let content = match &message.content {
            Some(text) => text.as_str().into(),
            None if calls.is_empty() => "".into(),
            None => Value::Null,
        };
        chat.insert("content", content);
        let mut list = List::default();
        for (index, call) in calls.iter().enumerate() {
            self.lose_present(
                &format!("/toolCalls/{index}"),
                &[
                    ("encryptedValue", call.encrypted_value.is_some()),
                    ("metadata", call.metadata.is_some()),
                ],
            );
            let function = call.function.as_ref();
            let (name, arguments) = function
                .map(|function| (function.name.as_str(), function.arguments.as_str()))
                .unwrap_or_default();
            let function = Object::from([("name", name), ("arguments", arguments)]);
            list.push(Value::from(Object::from([
                ("id", Value::from(call.id.as_str())),
                ("type", "function".into()),
                ("function", function.into()),
            ])));
        }
        if !calls.is_empty() {
            chat.insert("tool_calls", list);
        }
    }

    fn content(&mut self, content: &Content, takes_media: bool) -> Value {
        let parts = match content {
            Content::Text(text) => return text.as_str().into(),
            Content::Parts(parts) => parts,
        };
        let mut list = List::default();
        for (index, part) in parts.iter().enumerate() {
            let at = format!("/content/{index}");
            match part {
                Part::Text(part) => {
                    self.lose_present(
                        &at,
                        &[("id", part.id.is_some()), ("metadata", part.metadata.is_some())],
                    );
                    list.push(Value::from(Object::from([
                        ("type", "text"),
                        ("text", part.text.as_str()),
                    ])));
                }
                part => match if takes_media { self.media(part, &at) } else { None } {
                    Some(part) => list.push(part.into()),
                    None => self.lose(&at, "a part"),
                },
            }
        }
        if list.is_empty() && !takes_media { "".into() } else { list.into() }
    }

    /// A part that is no text; nothing if there is no such part there.
    fn media(&mut self, part: &Part, at: &str) -> Option<Object> {
        let (Part::Image(media) | Part::Audio(media) | Part::Document(media)) = part else {
            return None;
        };
        let mut metadata = media.metadata.clone();
        let mut has_mime_type = false;
        let (kind, inner) = match (part, media.source.as_ref()?) {
            (Part::Image(_), PartSource::Data(data)) => {
                ("image_url", Object::from([("url", data_url(data))]))
            }
            (Part::Image(_), PartSource::Url(url)) => {
                has_mime_type = url.mime_type.is_some();
                ("image_url", Object::from([("url", url.value.as_str())]))
            }
            (Part::Audio(_), PartSource::Data(data)) => {
                let format = match data.mime_type.as_str() {
                    "audio/wav" => "wav",
                    "audio/mpeg" => "mp3",
                    _ => return None,
                };
                let inner = Object::from([("data", data.value.as_str()), ("format", format)]);
                ("input_audio", inner)
            }
            (Part::Document(_), PartSource::Data(data)) => {
                let mut inner = Object::from([("file_data", data_url(data))]);
                let filename = metadata.as_ref().and_then(|metadata| metadata.get("filename"));
                if let Some(filename @ Value::String(_)) = filename.cloned() {
                    inner.insert("filename", filename);
                    let Some(Value::Object(members)) = &mut metadata else { return None };
                    members.remove("filename");
                    metadata = metadata.filter(|left| left != &Value::from(Object::new()));
                }
                ("file", inner)
            }
            (Part::Document(_), PartSource::File(file))
                if file.provider.as_deref() == Some("openai") =>
            {
                has_mime_type = file.mime_type.is_some();
                ("file", Object::from([("file_id", file.value.as_str())]))
            }
            _ => return None,
        };
        self.lose_present(at, &[("id", media.id.is_some()), ("metadata", metadata.is_some())]);
        self.lose_present(&format!("{at}/source"), &[("mimeType", has_mime_type)]);
        Some(Object::from([("type", Value::from(kind)), (kind, inner.into())]))
    }
}

fn data_url(data: &DataSource) -> String {
    format!("data:{};base64,{}", data.mime_type, data.value)
}
