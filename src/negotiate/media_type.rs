//! The two media types, and which of them a response has.

use std::fmt;

use super::accept::trim;
use crate::codec::MEDIA_TYPE;

/// A binding of the protocol to the body of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Frames of protobuf.
    Protobuf,
    /// Server-sent events, the data of each one event's JSON.
    Sse,
}

impl Format {
    /// The media type, as it is sent: in lower case, without parameters.
    ///
    /// Rule: the reference client picks its parser by the exact text.
    #[must_use]
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Protobuf => MEDIA_TYPE,
            Self::Sse => "text/event-stream",
        }
    }

    /// The format that a response's `Content-Type` names, whatever its case and parameters; nothing
    /// for any other type, whose body must not be read as events.
    ///
    /// Differs: the reference client reads every type but the exact one as SSE, and so gives an
    /// empty run for frames that are sent with a parameter.
    ///
    /// # Examples
    ///
    /// ```
    /// use ag_ui_proto::negotiate::Format;
    ///
    /// let format = Format::from_content_type("Text/Event-Stream; charset=utf-8");
    /// assert_eq!(format, Some(Format::Sse));
    /// assert_eq!(Format::from_content_type("text/html"), None);
    /// ```
    #[must_use]
    pub fn from_content_type(value: impl AsRef<[u8]>) -> Option<Self> {
        let value = value.as_ref();
        let name = trim(value.split(|byte| *byte == b';').next()?);
        [Self::Protobuf, Self::Sse]
            .into_iter()
            .find(|format| name.eq_ignore_ascii_case(format.media_type().as_bytes()))
    }
}

/// The media type.
impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.media_type())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_is_told_by_its_type_alone() {
        let (proto, sse) = (Some(Format::Protobuf), Some(Format::Sse));
        for (value, format) in [
            (&b"application/vnd.ag-ui.event+proto"[..], proto),
            (b"application/vnd.ag-ui.event+proto; charset=utf-8", proto),
            (b"APPLICATION/VND.AG-UI.EVENT+PROTO", proto),
            (b"\tapplication/vnd.ag-ui.event+proto ;", proto),
            (b"application/vnd.ag-ui.event+proto;x=\"\xff\"", proto),
            (b"text/event-stream", sse),
            (b"Text/Event-Stream;charset=UTF-8", sse),
            (b"", None),
            (b";", None),
            (b"text/html", None),
            (b"*/*", None),
            (b"application/vnd.ag-ui.event+protobuf", None),
            (b"application/vnd.ag-ui.event+proto text/event-stream", None),
            (b"text/event-stream, text/event-stream", None),
            (b"text/event-stream\xff", None),
        ] {
            assert_eq!(Format::from_content_type(value), format, "{}", value.escape_ascii());
        }
    }
}
