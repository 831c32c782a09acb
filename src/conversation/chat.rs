//! Messages in the form of the chat completions of `OpenAI`, and back.
//!
//! | here | there |
//! |---|---|
//! | developer, system, assistant, user, tool | the same roles |
//! | tool calls | `tool_calls` of type `function` |
//! | image: data, URL | `image_url`: a `data:` URL, a URL |
//! | audio: data, in WAV or MP3 | `input_audio` |
//! | document: data, a file of the provider | `file`: a `data:` URL, `file_id` |
//!
//! What one side has and the other has no place for is left out, and reported; nothing is put into
//! other words. Ids of messages have no place there, and are not reported.

use super::messages::owner;
use crate::model::{
    AssistantMessage, Content, DataSource, DeveloperMessage, FileSource, MediaPart, Message, Part,
    PartSource, SystemMessage, TextPart, ToolCall, ToolMessage, UrlSource, UserMessage,
};
use crate::value::{List, Object, Value};

/// Messages in another form, and what they lost on the way there.
#[derive(Clone, Debug, PartialEq)]
pub struct Converted<T> {
    /// The messages.
    pub messages: Vec<T>,
    /// What has no place in the other form.
    pub losses: Vec<ChatLoss>,
}

/// Something that has no place in the other form, and was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatLoss {
    /// A JSON Pointer into the list of messages that were converted.
    pub path: String,
    /// What it is: a member, a message of a role, a part of a type.
    pub what: &'static str,
}

impl std::fmt::Display for ChatLoss {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {} has no counterpart", self.path, self.what)
    }
}

/// A chat message that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: expected {expected}")]
pub struct ChatError {
    /// A JSON Pointer into the list of messages.
    pub path: String,
    /// What must stand there.
    pub expected: &'static str,
}

/// Writes messages as chat messages.
///
/// An assistant message without text has null content if it has calls, and empty content if not. A
/// tool result of which every part has no place is the empty text.
#[must_use]
pub fn to_chat<'m>(messages: impl IntoIterator<Item = &'m Message>) -> Converted<Value> {
    let mut out = Converted { messages: Vec::new(), losses: Vec::new() };
    for (index, message) in messages.into_iter().enumerate() {
        let mut writer = Writer { path: format!("/{index}"), losses: &mut out.losses };
        if let Some(message) = writer.message(message) {
            out.messages.push(message.into());
        }
    }
    out
}

/// Reads chat messages; `id` makes the id of each, from its place in the list.
///
/// Text parts of a message that takes only text become one text.
///
/// # Errors
///
/// The first message that is none: without a role, or with a member of another JSON type.
pub fn from_chat(
    messages: &[Value],
    mut id: impl FnMut(usize) -> String,
) -> Result<Converted<Message>, ChatError> {
    let mut out = Converted { messages: Vec::new(), losses: Vec::new() };
    for (index, message) in messages.iter().enumerate() {
        let mut reader = Reader { path: format!("/{index}"), losses: &mut out.losses };
        if let Some(message) = reader.message(message, id(index))? {
            out.messages.push(message);
        }
    }
    Ok(out)
}

struct Writer<'l> {
    path: String,
    losses: &'l mut Vec<ChatLoss>,
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

    fn message(&mut self, message: &Message) -> Option<Object> {
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

struct Reader<'l> {
    path: String,
    losses: &'l mut Vec<ChatLoss>,
}

impl Reader<'_> {
    fn lose(&mut self, place: &str, what: &'static str) {
        self.losses.push(ChatLoss { path: format!("{}{place}", self.path), what });
    }

    fn error(&self, place: &str, expected: &'static str) -> ChatError {
        ChatError { path: format!("{}{place}", self.path), expected }
    }

    /// Reports members that are there, not null, and not among those that are read.
    fn lose_others(&mut self, at: &str, object: &Object, read: &[&str]) {
        for (name, value) in object {
            if !read.contains(&name) && !value.is_null() {
                let name = name.replace('~', "~0").replace('/', "~1");
                self.lose(&format!("{at}/{name}"), "a member");
            }
        }
    }

    fn text(&self, object: &Object, name: &str, at: &str) -> Result<String, ChatError> {
        let text = object.get(name).and_then(Value::as_str);
        text.map(str::to_owned).ok_or_else(|| self.error(&format!("{at}/{name}"), "a string"))
    }

    fn message(&mut self, message: &Value, id: String) -> Result<Option<Message>, ChatError> {
        let object = message.as_object().ok_or_else(|| self.error("", "an object"))?;
        let name = match object.get("name") {
            None | Some(Value::Null) => None,
            Some(Value::String(name)) => Some(name.clone()),
            Some(_) => return Err(self.error("/name", "a string")),
        };
        let role = self.text(object, "role", "")?;
        let mut read = vec!["role", "content", "name"];
        let message = match role.as_str() {
            "developer" => {
                let mut message = DeveloperMessage::new(id, self.only_text(object)?);
                message.name = name;
                message.into()
            }
            "system" => {
                let mut message = SystemMessage::new(id, self.only_text(object)?);
                message.name = name;
                message.into()
            }
            "user" => {
                let mut message = UserMessage::new(id, self.content(object)?);
                message.name = name;
                message.into()
            }
            "assistant" => {
                let mut message = AssistantMessage::new(id);
                message.name = name;
                if object.get("content").is_some_and(|content| !content.is_null()) {
                    message.content = Some(self.only_text(object)?);
                }
                message.tool_calls = self.calls(object)?;
                read.push("tool_calls");
                message.into()
            }
            "tool" => {
                read = vec!["role", "content", "tool_call_id"];
                let call = self.text(object, "tool_call_id", "")?;
                ToolMessage::new(id, self.content(object)?, call).into()
            }
            _ => {
                self.lose("", "a message of this role");
                return Ok(None);
            }
        };
        self.lose_others("", object, &read);
        Ok(Some(message))
    }

    fn only_text(&mut self, object: &Object) -> Result<String, ChatError> {
        match self.content(object)? {
            Content::Text(text) => Ok(text),
            Content::Parts(parts) => {
                let mut text = String::new();
                for part in parts {
                    if let Part::Text(part) = part {
                        text.push_str(&part.text);
                    } else {
                        self.lose("/content", "a part");
                    }
                }
                Ok(text)
            }
        }
    }

    fn content(&mut self, object: &Object) -> Result<Content, ChatError> {
        let parts = match object.get("content") {
            Some(Value::String(text)) => return Ok(Content::Text(text.clone())),
            Some(Value::List(parts)) => parts,
            _ => return Err(self.error("/content", "text or a list of parts")),
        };
        let mut read = Vec::new();
        for (index, part) in parts.iter().enumerate() {
            let at = format!("/content/{index}");
            let part = part.as_object().ok_or_else(|| self.error(&at, "an object"))?;
            match self.part(part, &at)? {
                Some(part) => read.push(part),
                None => self.lose(&at, "a part"),
            }
        }
        Ok(Content::Parts(read))
    }

    fn part(&mut self, part: &Object, at: &str) -> Result<Option<Part>, ChatError> {
        let kind = self.text(part, "type", at)?;
        if kind == "text" {
            self.lose_others(at, part, &["type", "text"]);
            return Ok(Some(Part::Text(TextPart::new(self.text(part, "text", at)?))));
        }
        if !["image_url", "input_audio", "file"].contains(&kind.as_str()) {
            return Ok(None);
        }
        self.lose_others(at, part, &["type", &kind]);
        let at = format!("{at}/{kind}");
        let inner = part.get(&kind).and_then(Value::as_object);
        let inner = inner.ok_or_else(|| self.error(&at, "an object"))?;
        Ok(match kind.as_str() {
            "image_url" => {
                self.lose_others(&at, inner, &["url"]);
                Some(Part::Image(MediaPart::new(source(&self.text(inner, "url", &at)?))))
            }
            "input_audio" => {
                let mime_type = match self.text(inner, "format", &at)?.as_str() {
                    "wav" => "audio/wav",
                    "mp3" => "audio/mpeg",
                    _ => return Ok(None),
                };
                self.lose_others(&at, inner, &["data", "format"]);
                let data = DataSource::new(self.text(inner, "data", &at)?, mime_type);
                Some(Part::Audio(MediaPart::new(PartSource::Data(data))))
            }
            _ if inner.contains_key("file_id") => {
                self.lose_others(&at, inner, &["file_id"]);
                let file = FileSource::new(self.text(inner, "file_id", &at)?);
                Some(Part::Document(MediaPart::new(PartSource::File(file.with_provider("openai")))))
            }
            _ => {
                self.lose_others(&at, inner, &["file_data", "filename"]);
                let mut part = MediaPart::new(source(&self.text(inner, "file_data", &at)?));
                if let Some(filename) = inner.get("filename").filter(|name| name.is_string()) {
                    part.metadata = Some(Object::from([("filename", filename.clone())]).into());
                }
                Some(Part::Document(part))
            }
        })
    }

    fn calls(&mut self, object: &Object) -> Result<Option<Vec<ToolCall>>, ChatError> {
        let calls = match object.get("tool_calls") {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::List(calls)) => calls,
            Some(_) => return Err(self.error("/tool_calls", "a list")),
        };
        let mut read = Vec::new();
        for (index, call) in calls.iter().enumerate() {
            let at = format!("/tool_calls/{index}");
            let call = call.as_object().ok_or_else(|| self.error(&at, "an object"))?;
            if self.text(call, "type", &at)? != "function" {
                self.lose(&at, "a call of this type");
                continue;
            }
            self.lose_others(&at, call, &["id", "type", "function"]);
            let id = self.text(call, "id", &at)?;
            let at = format!("{at}/function");
            let function = call.get("function").and_then(Value::as_object);
            let function = function.ok_or_else(|| self.error(&at, "an object"))?;
            self.lose_others(&at, function, &["name", "arguments"]);
            let name = self.text(function, "name", &at)?;
            read.push(ToolCall::function(id, name, self.text(function, "arguments", &at)?));
        }
        Ok(Some(read))
    }
}

/// A `data:` URL in base64 as data, any other as a URL.
fn source(url: &str) -> PartSource {
    let data = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    match data {
        Some((mime_type, value)) => PartSource::Data(DataSource::new(value, mime_type)),
        None => PartSource::Url(UrlSource::new(url)),
    }
}
