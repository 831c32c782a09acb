//! A chat message as a message.

use super::{ChatError, ChatLoss, escaped};
use crate::model::{
    AssistantMessage, Content, DataSource, DeveloperMessage, FileSource, MediaPart, Message, Part,
    PartSource, SystemMessage, TextPart, ToolCall, ToolMessage, UrlSource, UserMessage,
};
use crate::value::{Object, Value};

/// Reads one message.
pub(super) struct Reader<'l> {
    /// A JSON Pointer to the message.
    pub(super) path: String,
    pub(super) losses: &'l mut Vec<ChatLoss>,
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
                self.lose(&format!("{at}/{}", escaped(name)), "a member");
            }
        }
    }

    /// A text that may be absent, which null says as well.
    fn optional(&self, object: &Object, name: &str, at: &str) -> Result<Option<String>, ChatError> {
        match object.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(_) => self.text(object, name, at).map(Some),
        }
    }

    fn text(&self, object: &Object, name: &str, at: &str) -> Result<String, ChatError> {
        let text = object.get(name).and_then(Value::as_str);
        text.map(str::to_owned).ok_or_else(|| self.error(&format!("{at}/{name}"), "a string"))
    }

    pub(super) fn message(
        &mut self,
        message: &Value,
        id: String,
    ) -> Result<Option<Message>, ChatError> {
        let object = message.as_object().ok_or_else(|| self.error("", "an object"))?;
        let name = self.optional(object, "name", "")?;
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
            _ => self.file(inner, &at)?,
        })
    }

    /// A file; nothing for one of which only the name is there.
    fn file(&mut self, file: &Object, at: &str) -> Result<Option<Part>, ChatError> {
        let id = self.optional(file, "file_id", at)?;
        let data = self.optional(file, "file_data", at)?;
        let filename = self.optional(file, "filename", at)?;
        let (source, read) = match (id, data) {
            (Some(id), _) => {
                let source = FileSource::new(id).with_provider("openai");
                (PartSource::File(source), ["file_id", "filename"])
            }
            (None, Some(data)) => (file_source(data), ["file_data", "filename"]),
            (None, None) => return Ok(None),
        };
        self.lose_others(at, file, &read);
        let mut part = MediaPart::new(source);
        part.metadata = filename.map(|name| Object::from([("filename", name)]).into());
        Ok(Some(Part::Document(part)))
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
    let data = url.strip_prefix("data:").and_then(|rest| rest.split_once(','));
    match data.and_then(|(header, value)| Some((header.strip_suffix(";base64")?, value))) {
        Some((mime_type, value)) => PartSource::Data(DataSource::new(value, mime_type)),
        None => PartSource::Url(UrlSource::new(url)),
    }
}

/// The data of a file: a URL, or base64 of whatever type.
fn file_source(data: String) -> PartSource {
    if data.starts_with("data:") || data.contains("://") {
        return source(&data);
    }
    PartSource::Data(DataSource::new(data, "application/octet-stream"))
}
