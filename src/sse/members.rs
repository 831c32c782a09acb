//! Which item an event is of, found in its JSON text without reading it.

use std::borrow::Cow;

use crate::model::EventType;

/// The members of an event that say which item it is of, in its JSON text.
#[derive(Debug, Default)]
pub(super) struct Members<'t> {
    event_type: Option<&'t str>,
    message_id: Option<&'t str>,
    tool_call_id: Option<&'t str>,
    owner: Option<&'t str>,
    /// The text before the characters of the delta, those characters, and the text behind them.
    /// Nothing if it is no string.
    pub(super) delta: Option<(&'t str, &'t str, &'t str)>,
}

impl<'t> Members<'t> {
    /// Finds them in the object that `text` begins with; nothing if it does not end. Of a member
    /// given twice the last counts.
    pub(super) fn of(text: &'t str) -> Option<Self> {
        let mut members = Self::default();
        let mut scan = Scan { text, at: 0 };
        scan.token(b'{')?;
        if scan.token(b'}').is_some() {
            return Some(members);
        }
        loop {
            let key = unescaped(scan.string()?)?;
            scan.token(b':')?;
            scan.space();
            let start = scan.at;
            let literal = scan.value()?;
            match key.as_ref() {
                "type" => members.event_type = Some(literal),
                "messageId" => members.message_id = Some(literal),
                "toolCallId" => members.tool_call_id = Some(literal),
                "subagentRunId" => members.owner = Some(literal),
                "delta" => {
                    let inside = literal.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
                    members.delta = inside.and_then(|inside| {
                        let (before, rest) = text.split_at_checked(start + 1)?;
                        Some((before, inside, rest.get(inside.len()..)?))
                    });
                }
                _ => {}
            }
            if scan.token(b',').is_none() {
                scan.token(b'}')?;
                return Some(members);
            }
        }
    }

    pub(super) fn event_type(&self) -> Option<EventType> {
        string(self.event_type)?.parse().ok()
    }

    pub(super) fn id(&self, event_type: EventType) -> Option<String> {
        match event_type {
            EventType::ToolCallArgs | EventType::ToolCallChunk => string(self.tool_call_id),
            _ => string(self.message_id),
        }
    }

    pub(super) fn owner(&self) -> Option<String> {
        string(self.owner)
    }
}

/// The string that a JSON literal is, if it is one that UTF-8 can hold.
fn string(literal: Option<&str>) -> Option<String> {
    serde_json::from_str(literal?).ok()
}

fn unescaped(literal: &str) -> Option<Cow<'_, str>> {
    if literal.contains('\\') {
        return Some(Cow::Owned(string(Some(literal)).unwrap_or_default()));
    }
    literal.strip_prefix('"')?.strip_suffix('"').map(Cow::Borrowed)
}

/// A walk over the tokens of a JSON text, which sees only where they end.
struct Scan<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Scan<'t> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Takes one byte, with the white space before it.
    fn token(&mut self, byte: u8) -> Option<()> {
        self.space();
        (self.peek() == Some(byte)).then(|| self.at += 1)
    }

    /// Takes a string with its quotes.
    fn string(&mut self) -> Option<&'t str> {
        self.space();
        let start = self.at;
        self.token(b'"')?;
        loop {
            let rest = self.text.as_bytes().get(self.at..)?;
            self.at += memchr::memchr2(b'"', b'\\', rest)? + 1;
            if self.text.as_bytes().get(self.at - 1) == Some(&b'"') {
                return self.text.get(start..self.at);
            }
            self.at += 1;
        }
    }

    /// Takes any value. Containers are only counted.
    fn value(&mut self) -> Option<&'t str> {
        self.space();
        let start = self.at;
        let mut open = 0_usize;
        loop {
            match self.peek()? {
                b'"' => {
                    self.string()?;
                }
                b'{' | b'[' => {
                    open += 1;
                    self.at += 1;
                }
                b'}' | b']' if open > 0 => {
                    open -= 1;
                    self.at += 1;
                }
                b',' | b'}' | b']' if open == 0 => break,
                _ => self.at += 1,
            }
            if open == 0 && matches!(self.peek(), Some(b',' | b'}' | b' ' | b'\t' | b'\n' | b'\r'))
            {
                break;
            }
        }
        self.text.get(start..self.at)
    }
}
