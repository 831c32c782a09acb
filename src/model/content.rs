//! Content of messages and tool results: text, or a list of parts.

use serde::{Serialize, Serializer};

use super::node::{Inspector, Node, mistyped};
use super::object::{deserialize, objects, unions};
use super::path::At;
use super::{Malformed, Unrecognised};
use crate::value::Value;

/// Text or parts, never both.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Text; may be empty.
    Text(String),
    /// Parts; there may be none.
    Parts(Vec<Part>),
}

unions! {
    /// A part of a content list.
    Part by "type", "content part" {
        /// Text.
        Text(TextPart) = "text";
        /// An image.
        Image(MediaPart) = "image";
        /// Sound.
        Audio(MediaPart) = "audio";
        /// Moving pictures.
        Video(MediaPart) = "video";
        /// Any other file.
        Document(MediaPart) = "document";
    }

    /// Where the bytes of a media part are.
    PartSource by "type", "part source" {
        /// Here, in base64.
        Data(DataSource) = "data";
        /// At a URL.
        Url(UrlSource) = "url";
        /// With a provider.
        File(FileSource) = "file";
    }
}

objects! {
    /// A part that is text.
    TextPart {
        required {
            /// The text.
            text: String = "text";
        }
        optional {
            /// Id of the part.
            id: String = "id", with_id;
            /// Any JSON value but null.
            metadata: Value = "metadata", with_metadata;
        }
    }

    /// A part that is an image, sound, moving pictures or another file.
    MediaPart {
        expected {
            /// Where the bytes are.
            source: PartSource = "source";
        }
        optional {
            /// Id of the part.
            id: String = "id", with_id;
            /// Any JSON value but null.
            metadata: Value = "metadata", with_metadata;
        }
    }

    /// Bytes that the part carries.
    DataSource {
        required {
            /// The bytes in base64. Not checked: who decodes them finds out.
            value: String = "value";
            /// Their media type.
            mime_type: String = "mimeType";
        }
    }

    /// Bytes at a URL.
    UrlSource {
        required {
            /// The URL. Not checked.
            value: String = "value";
        }
        optional {
            /// Media type of the bytes.
            mime_type: String = "mimeType", with_mime_type;
        }
    }

    /// Bytes that a provider holds.
    FileSource {
        required {
            /// The provider's handle, never looked into.
            value: String = "value";
        }
        optional {
            /// The provider, by its lower-case vendor id.
            provider: String = "provider", with_provider;
            /// Media type of the bytes.
            mime_type: String = "mimeType", with_mime_type;
        }
    }
}

impl Content {
    /// The text, unless the content is parts.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Parts(_) => None,
        }
    }

    /// The parts, unless the content is text.
    #[must_use]
    pub fn as_parts(&self) -> Option<&[Part]> {
        match self {
            Self::Text(_) => None,
            Self::Parts(parts) => Some(parts),
        }
    }
}

impl Content {
    /// The content of a text or of parts: not of both, and of an empty list if there is neither.
    pub(crate) fn of(text: Option<String>, parts: Vec<Part>) -> Option<Self> {
        match text {
            Some(_) if !parts.is_empty() => None,
            Some(text) => Some(Self::Text(text)),
            None => Some(Self::Parts(parts)),
        }
    }
}

impl Part {
    /// Makes a part that is text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextPart::new(text))
    }

    /// Makes a part that is an image.
    #[must_use]
    pub fn image(source: impl Into<PartSource>) -> Self {
        Self::Image(MediaPart::new(source))
    }

    /// Makes a part that is sound.
    #[must_use]
    pub fn audio(source: impl Into<PartSource>) -> Self {
        Self::Audio(MediaPart::new(source))
    }

    /// Makes a part that is moving pictures.
    #[must_use]
    pub fn video(source: impl Into<PartSource>) -> Self {
        Self::Video(MediaPart::new(source))
    }

    /// Makes a part that is any other file.
    #[must_use]
    pub fn document(source: impl Into<PartSource>) -> Self {
        Self::Document(MediaPart::new(source))
    }
}

impl From<DataSource> for PartSource {
    fn from(source: DataSource) -> Self {
        Self::Data(source)
    }
}

impl From<UrlSource> for PartSource {
    fn from(source: UrlSource) -> Self {
        Self::Url(source)
    }
}

impl From<FileSource> for PartSource {
    fn from(source: FileSource) -> Self {
        Self::File(source)
    }
}

impl From<TextPart> for Part {
    fn from(part: TextPart) -> Self {
        Self::Text(part)
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Vec<Part>> for Content {
    fn from(parts: Vec<Part>) -> Self {
        Self::Parts(parts)
    }
}

impl<const N: usize> From<[Part; N]> for Content {
    fn from(parts: [Part; N]) -> Self {
        Self::Parts(parts.into())
    }
}

impl Node for Content {
    const EXPECTED: &'static str = "a string or an array";

    fn from_json(value: Value, at: &At<'_>) -> Result<Self, Malformed> {
        match value {
            Value::String(text) => Ok(Self::Text(text)),
            list @ Value::List(_) => Vec::from_json(list, at).map(Self::Parts),
            other => Err(mistyped::<Self>(&other, at)),
        }
    }

    fn unrecognised(&self) -> Option<Unrecognised> {
        None
    }

    fn inspect(&self, at: &At<'_>, with: &mut impl Inspector) {
        if let Self::Parts(parts) = self {
            parts.inspect(at, with);
        }
    }

    fn strip(&mut self) {
        if let Self::Parts(parts) = self {
            parts.strip();
        }
    }
}

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Parts(parts) => parts.serialize(serializer),
        }
    }
}

deserialize!(Content);
