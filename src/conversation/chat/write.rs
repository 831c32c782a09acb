//! A message as a chat message.

use super::{ChatLoss, escaped};
use crate::conversation::message::owner;
use crate::model::{
    AssistantMessage, Content, DataSource, Extra, FunctionCall, MediaPart, Message, Part,
    PartSource, ToolCall, ToolCallType,
};
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

    /// Reports members that no version known here has.
    fn lose_extra(&mut self, at: &str, extra: &Extra) {
        for (name, _) in extra.iter() {
            self.lose(&format!("{at}/{}", escaped(name)), "a member");
        }
    }

    pub(super) fn message(&mut self, message: &Message) -> Option<Object> {
        macro_rules! common {
            ($message:expr) => {{
                let encrypted_type = $message.encrypted_value_type.is_some();
                let members = [
                    ("encryptedValue", $message.encrypted_value.is_some()),
                    ("encryptedValueType", encrypted_type),
                    ("metadata", $message.metadata.is_some()),
                    ("subagentRunId", owner(message).is_some()),
                ];
                self.lose_present("", &members);
                self.lose_extra("", &$message.extra);
            }};
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
                let Some(call) = &held.tool_call_id else {
                    self.lose("", "a result without a call");
                    return None;
                };
                common!(held);
                self.lose_present("", &[("error", held.error.is_some())]);
                chat.insert("tool_call_id", call.as_str());
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
        let mut list = List::default();
        for (index, call) in message.tool_calls.iter().flatten().enumerate() {
            if let Some(call) = self.call(call, &format!("/toolCalls/{index}")) {
                list.push(Value::from(call));
            }
        }
        let content = match &message.content {
            Some(text) => text.as_str().into(),
            None if list.is_empty() => "".into(),
            None => Value::Null,
        };
        chat.insert("content", content);
        if !list.is_empty() {
            chat.insert("tool_calls", list);
        }
    }

    /// A call; nothing if it calls nothing, or what is no function.
    fn call(&mut self, call: &ToolCall, at: &str) -> Option<Object> {
        if call.r#type != ToolCallType::Function {
            self.lose(at, "a call of this type");
            return None;
        }
        let Some(FunctionCall { name, arguments, extra }) = &call.function else {
            self.lose(at, "a call without a function");
            return None;
        };
        self.lose_present(
            at,
            &[
                ("encryptedValue", call.encrypted_value.is_some()),
                ("encryptedValueType", call.encrypted_value_type.is_some()),
                ("metadata", call.metadata.is_some()),
            ],
        );
        self.lose_extra(at, &call.extra);
        self.lose_extra(&format!("{at}/function"), extra);
        let function = Object::from([("name", name.as_str()), ("arguments", arguments.as_str())]);
        Some(Object::from([
            ("id", Value::from(call.id.as_str())),
            ("type", "function".into()),
            ("function", function.into()),
        ]))
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
                    self.lose_extra(&at, &part.extra);
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
        // There, a list has a part at least.
        if list.is_empty() { "".into() } else { list.into() }
    }

    /// A part that is no text; nothing if there is no such part there.
    fn media(&mut self, part: &Part, at: &str) -> Option<Object> {
        let (Part::Image(media) | Part::Audio(media) | Part::Document(media)) = part else {
            return None;
        };
        let source = media.source.as_ref()?;
        let mut metadata = media.metadata.clone();
        let (kind, inner, loses_type) = match (part, source) {
            (Part::Image(_), PartSource::Data(data)) => {
                ("image_url", Object::from([("url", data_url(data)?)]), false)
            }
            (Part::Image(_), PartSource::Url(url)) => {
                let inner = Object::from([("url", url.value.as_str())]);
                ("image_url", inner, url.mime_type.is_some())
            }
            (Part::Audio(_), PartSource::Data(data)) => {
                let (essence, parameters) = match data.mime_type.split_once(';') {
                    Some((essence, _)) => (essence, true),
                    None => (data.mime_type.as_str(), false),
                };
                let format = audio_format(essence)?;
                let inner = Object::from([("data", data.value.as_str()), ("format", format)]);
                ("input_audio", inner, parameters)
            }
            (Part::Document(_), PartSource::Data(data)) => {
                let inner = Object::from([("file_data", data_url(data)?)]);
                ("file", named(inner, &mut metadata), false)
            }
            (Part::Document(_), PartSource::File(file))
                if file.provider.as_deref() == Some("openai") =>
            {
                let inner = Object::from([("file_id", file.value.as_str())]);
                ("file", named(inner, &mut metadata), file.mime_type.is_some())
            }
            _ => return None,
        };
        self.lose_present(at, &[("id", media.id.is_some()), ("metadata", metadata.is_some())]);
        self.lose_media_extra(media, source, at);
        self.lose_present(&format!("{at}/source"), &[("mimeType", loses_type)]);
        Some(Object::from([("type", Value::from(kind)), (kind, inner.into())]))
    }

    fn lose_media_extra(&mut self, media: &MediaPart, source: &PartSource, at: &str) {
        self.lose_extra(at, &media.extra);
        let extra = match source {
            PartSource::Data(source) => &source.extra,
            PartSource::Url(source) => &source.extra,
            PartSource::File(source) => &source.extra,
            PartSource::Unknown(_) => return,
        };
        self.lose_extra(&format!("{at}/source"), extra);
    }
}

/// A file with the name that its metadata gives it, which is then no more in there.
fn named(mut file: Object, metadata: &mut Option<Value>) -> Object {
    if let Some(Value::Object(members)) = metadata
        && members.get("filename").is_some_and(Value::is_string)
    {
        file.insert("filename", members.remove("filename").unwrap_or_default());
        if members.is_empty() {
            *metadata = None;
        }
    }
    file
}

/// The format of sound by its media type, which has several names.
fn audio_format(essence: &str) -> Option<&'static str> {
    match essence.trim().to_ascii_lowercase().as_str() {
        "audio/wav" | "audio/x-wav" | "audio/wave" | "audio/vnd.wave" => Some("wav"),
        "audio/mpeg" | "audio/mp3" | "audio/x-mp3" | "audio/x-mpeg" | "audio/mpeg3"
        | "audio/x-mpeg-3" => Some("mp3"),
        _ => None,
    }
}

/// Data as a URL; nothing if its media type is none, and would end too early in one.
fn data_url(data: &DataSource) -> Option<String> {
    let DataSource { mime_type, value, .. } = data;
    (!mime_type.contains(',')).then(|| format!("data:{mime_type};base64,{value}"))
}
