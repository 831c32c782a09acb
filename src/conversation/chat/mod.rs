//! Messages in the form of the chat completions of `OpenAI`, and back.
//!
//! | here | there |
//! |---|---|
//! | developer, system, assistant, user, tool | the same roles |
//! | tool calls | `tool_calls` of type `function` |
//! | image: data, URL | `image_url`: a `data:` URL, a URL |
//! | audio: data, in WAV or MP3 by whatever name | `input_audio` |
//! | document: data, a file of the provider; `filename` in its metadata | `file`: a `data:` URL, `file_id`; `filename` |
//!
//! What one side has and the other has no place for is left out, and reported; nothing is put into
//! other words. Ids of messages have no place there, and are not reported.

mod read;
mod write;

use self::read::Reader;
use self::write::Writer;
use crate::model::Message;
use crate::value::Value;

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
/// An assistant message without text has null content if it has calls, and empty content if not. So
/// has a message of parts if there are none, or none that has a place: there, a list is never empty. A
/// call without a function, and a result without a call, are left out.
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
/// Text parts of a message that takes only text become one text. A member that is null is absent. Data
/// of a file that says no type is `application/octet-stream`, and a file with nothing but a name is left
/// out.
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

/// A name as a token of a JSON Pointer.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
