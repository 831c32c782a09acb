//! An event in short: its ids, and a look at the rest. Text that is safe to print.

use std::borrow::Cow;
use std::fmt::Write as _;

use ag_ui_proto::value::Value;
use console::measure_text_width;

/// The ids of an event, in the order of its members, with their names.
pub(crate) fn ids(event: &Value) -> impl Iterator<Item = (&str, &str)> {
    let members = event.as_object().into_iter().flat_map(|object| object.iter());
    members
        .filter(|(name, _)| name.ends_with("Id"))
        .filter_map(|(name, value)| value.as_str().map(|id| (name, id)))
}

/// What an event says apart from its type, ids and time: a delta alone as a JSON string, else
/// `name=JSON` for each member. No more than about `max` bytes of each value are written.
pub(crate) fn content(event: &Value, max: usize) -> String {
    let members = event.as_object().into_iter().flat_map(|object| object.iter());
    let shown: Vec<_> = members
        .filter(|(name, value)| !(name.ends_with("Id") && value.is_string()))
        .filter(|(name, _)| !["type", "timestamp", "metadata", "rawEvent"].contains(name))
        .collect();
    let mut out = String::new();
    for (at, (name, value)) in shown.iter().enumerate() {
        if out.len() > max {
            break;
        }
        if at > 0 {
            out.push(' ');
        }
        if shown.len() > 1 || *name != "delta" || !value.is_string() {
            let _ = write!(out, "{name}=");
        }
        let _ = write!(Short { out: &mut out, left: max }, "{value}");
    }
    out
}

/// Writes no more than so many bytes; what follows fails, which ends the writing.
struct Short<'a> {
    out: &'a mut String,
    left: usize,
}

impl std::fmt::Write for Short<'_> {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let bound = self.left.min(text.len());
        let end = (0..=bound).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
        self.out.push_str(text.get(..end).unwrap_or_default());
        self.left -= end;
        if end < text.len() { Err(std::fmt::Error) } else { Ok(()) }
    }
}

/// Cuts text to so many columns of a terminal, with `…` at the cut.
pub(crate) fn cut(text: &str, columns: usize) -> Cow<'_, str> {
    if text.len() <= columns || measure_text_width(text) <= columns {
        return Cow::Borrowed(text);
    }
    let (mut out, mut left) = (String::new(), columns.saturating_sub(1));
    let mut buffer = [0; 4];
    for char in text.chars() {
        let width = measure_text_width(char.encode_utf8(&mut buffer));
        let Some(rest) = left.checked_sub(width) else { break };
        left = rest;
        out.push(char);
    }
    out.push('…');
    Cow::Owned(out)
}

/// An id of more than 15 characters cut in the middle, where ids differ least.
pub(crate) fn short_id(id: &str) -> Cow<'_, str> {
    let len = id.chars().count();
    if len <= 15 {
        return Cow::Borrowed(id);
    }
    let head: String = id.chars().take(6).collect();
    let tail: String = id.chars().skip(len - 6).collect();
    Cow::Owned(format!("{head}…{tail}"))
}

/// Text with the characters escaped that steer a terminal or turn the direction of writing.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    let steers = |char: char| {
        char.is_control()
            || matches!(char, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for char in text.chars() {
        if steers(char) {
            let _ = write!(out, "\\u{:04x}", u32::from(char));
        } else {
            out.push(char);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(printable("a\u{1b}[31m\u{9b}\u{202e}é"), r"a\u001b[31m\u009b\u202eé");
    }

    #[test]
    fn wide_characters_count_twice() {
        assert_eq!(cut("日本語", 6), "日本語");
        assert_eq!(cut("日本語!", 6), "日本…");
        assert_eq!(cut("plain", 4), "pla…");
    }

    #[test]
    fn a_long_id_is_cut_in_the_middle() {
        assert_eq!(short_id("msg-12345678901"), "msg-12345678901");
        assert_eq!(short_id("7839a70d-6505-454e-bf53-0cddce66d443"), "7839a7…66d443");
    }

    #[test]
    fn a_look_is_short_whatever_the_event() {
        let text = format!(r#"{{"type":"T","messageId":"m","delta":"{}"}}"#, "é".repeat(1000));
        let event = Value::from_json(&text, 8).unwrap();
        assert_eq!(ids(&event).collect::<Vec<_>>(), [("messageId", "m")]);
        let look = content(&event, 21);
        assert_eq!(look, format!("\"{}", "é".repeat(10)));
    }
}
