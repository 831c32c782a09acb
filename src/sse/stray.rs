//! What came where server-sent events were expected.
//!
//! A line with a field that nobody knows is skipped, so a page of HTML is a stream without an event,
//! and no more to be told from one that ended too early than by its looks.

use std::fmt::{self, Write as _};

/// Bytes of the beginning that are kept.
const HEAD_LEN: usize = 64;

/// Bytes that are shown of what is no text.
const SHOWN: usize = 16;

/// The names of fields, and what begins a comment.
const FIELDS: [&[u8]; 4] = [b"data", b"event", b"id", b"retry"];

/// The beginning of a stream whose first line is none of server-sent events, and which no data
/// followed. `Display` says what it looks like, and shows it.
///
/// # Examples
///
/// ```
/// use ag_ui_proto::codec::Limits;
/// use ag_ui_proto::sse::DataReader;
/// use bytes::BytesMut;
///
/// let mut reader = DataReader::new(Limits::new());
/// assert_eq!(reader.next_data(&mut BytesMut::from("<html>\n"))?, None);
/// let stray = reader.stray().unwrap();
/// assert_eq!(stray.to_string(), "no server-sent events, but what looks like HTML: \"<html>\"");
/// # Ok::<(), ag_ui_proto::sse::DataError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stray(Head);

/// The beginning of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    bytes: [u8; HEAD_LEN],
    len: usize,
}

impl Head {
    pub(super) fn new() -> Self {
        Self { bytes: [0; HEAD_LEN], len: 0 }
    }

    /// Sees the bytes of the stream from `offset` on, some of which it may have seen.
    pub(super) fn see(&mut self, offset: u64, bytes: &[u8]) {
        let seen = u64::try_from(self.len).ok().and_then(|len| len.checked_sub(offset));
        let Some(seen) = seen.and_then(|seen| usize::try_from(seen).ok()) else { return };
        let unseen = bytes.get(seen..).unwrap_or_default();
        let room = self.bytes.get_mut(self.len..).unwrap_or_default();
        let len = room.len().min(unseen.len());
        for (to, from) in room.iter_mut().zip(unseen) {
            *to = *from;
        }
        self.len += len;
    }

    /// What it is if it is nothing of server-sent events.
    pub(super) fn stray(&self) -> Option<Stray> {
        let head = self.text();
        let line = head.split(|byte| matches!(byte, b'\n' | b'\r')).next().unwrap_or_default();
        let is_cut = line.len() == head.len() && self.len < HEAD_LEN;
        let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
        let is_field = |field: &&[u8]| *field == name || (is_cut && field.starts_with(line));
        let is_line = name.is_empty() || FIELDS.iter().any(is_field);
        (!is_line).then_some(Stray(*self))
    }

    /// From the first line on that is not empty.
    fn text(&self) -> &[u8] {
        let bytes = self.bytes.get(..self.len).unwrap_or_default();
        let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
        bytes.trim_ascii_start()
    }
}

impl Stray {
    fn looks_like(&self) -> &'static str {
        let head = self.0.text();
        let lower = head.to_ascii_lowercase();
        let begins = |text: &str| lower.starts_with(text.as_bytes());
        match head {
            [0, ..] => "frames of the binary binding",
            [0x1f, 0x8b, ..] => "gzip",
            [0x28, 0xb5, 0x2f, 0xfd, ..] => "zstd",
            [b'{' | b'[', ..] => "JSON",
            _ if begins("<!doctype html") || begins("<html") => "HTML",
            _ if begins("<?xml") => "XML",
            [b'<', ..] => "HTML or XML",
            _ if self.line().is_some() => "text",
            _ => "binary data",
        }
    }

    /// The first line, as far as it is known, if it is text.
    fn line(&self) -> Option<&str> {
        let head = self.0.text();
        let line = head.split(|byte| matches!(byte, b'\n' | b'\r')).next()?;
        let text = match str::from_utf8(line) {
            Ok(text) => text,
            // A character that is cut where the head is.
            Err(error) if error.error_len().is_none() => {
                str::from_utf8(line.get(..error.valid_up_to())?).ok()?
            }
            Err(_) => return None,
        };
        let is_text = |char: char| !char.is_control() || char == '\t';
        text.chars().all(is_text).then_some(text)
    }
}

impl fmt::Display for Stray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no server-sent events, but what looks like {}: ", self.looks_like())?;
        if let Some(line) = self.line() {
            return write!(f, "{line:?}");
        }
        for (number, byte) in self.0.text().iter().take(SHOWN).enumerate() {
            if number > 0 {
                f.write_char(' ')?;
            }
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use bytes::BytesMut;

    use super::super::DataReader;
    use crate::codec::Limits;

    fn stray(bytes: &[u8], part: usize) -> Option<String> {
        let mut reader = DataReader::new(Limits::new());
        let mut src = BytesMut::new();
        for part in bytes.chunks(part) {
            src.extend_from_slice(part);
            while reader.next_data(&mut src).unwrap().is_some() {}
        }
        reader.stray().map(|stray| stray.to_string())
    }

    #[test]
    fn what_came_instead_is_told_by_its_looks_in_whatever_parts() {
        let long = [b"x".repeat(63), "\u{e4}b".into()].concat();
        for (bytes, want) in [
            (&b"\n\n<!DOCTYPE html>\n<p>"[..], "HTML: \"<!DOCTYPE html>\""),
            (b"\xef\xbb\xbf<?xml?>", "XML: \"<?xml?>\""),
            (b"<p>", "HTML or XML: \"<p>\""),
            (b"{\"type\":\"RUN_STARTED\"}\n", "JSON: \"{\\\"type\\\":\\\"RUN_STARTED\\\"}\""),
            (b"[\n", "JSON: \"[\""),
            (b"\0\0\0\x0a\x12\x08", "frames of the binary binding: 00 00 00 0a 12 08"),
            (b"\x1f\x8b\x08\0", "gzip: 1f 8b 08 00"),
            (b"Internal error: x", "text: \"Internal error: x\""),
            (b"\xff\xfe", "binary data: ff fe"),
            (&long, &format!("text: {:?}", "x".repeat(63))),
        ] {
            let want = format!("no server-sent events, but what looks like {want}");
            for part in 1..=bytes.len() {
                assert_eq!(stray(bytes, part).as_deref(), Some(&*want), "in parts of {part}");
            }
        }
    }

    #[test]
    fn a_stream_of_server_sent_events_is_none() {
        for bytes in [
            "",
            "\n\n",
            ": ping\n\n",
            "event: x\n",
            "id\n",
            "retry:1\n",
            "eve",
            "\u{feff}data: a",
            "mood: calm\ndata: a\n\n",
            "<html>\ndata: a\n",
        ] {
            for part in 1..=bytes.len().max(1) {
                assert_eq!(stray(bytes.as_bytes(), part), None, "{bytes:?} in parts of {part}");
            }
        }
    }
}
