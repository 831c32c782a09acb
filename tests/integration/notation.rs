//! Payloads as text, so that a test shows fields and not offsets.
//!
//! ```text
//! 3: {1: {1: 2} 2: "m"}     field 3, length-delimited: its body; field 2 in it: a string
//! 2: -1    2: 1.5           a varint (ten bytes if negative); a double
//! 9!{1: 2}                  a group
//! 4~7                       four bytes
//! `80 00`                   bytes as they are
//! # to the end of the line  a comment
//! ```
//!
//! Lengths are counted here, by the test's own few lines; the crate has no part in it.

use ag_ui_proto::Event;
use ag_ui_proto::codec::{DecodeError, Decoded};
use ag_ui_proto::model::Notice;

/// The bytes that the notation stands for.
pub(crate) fn bytes(text: &str) -> Vec<u8> {
    let mut reader = Reader { rest: text };
    let out = reader.fields();
    assert!(reader.rest.is_empty(), "left over: {}", reader.rest);
    out
}

/// A payload with its header in front.
pub(crate) fn frame(text: &str) -> Vec<u8> {
    framed(&bytes(text))
}

/// A payload with its header in front.
pub(crate) fn framed(payload: &[u8]) -> Vec<u8> {
    let mut frame = u32::try_from(payload.len()).unwrap().to_be_bytes().to_vec();
    frame.extend(payload);
    frame
}

/// The bytes of hex digits, which may stand apart.
pub(crate) fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    assert!(digits.len().is_multiple_of(2), "half a byte: {text}");
    digits
        .chunks(2)
        .map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

/// Any serialisable thing as JSON, to compare whatever the order of members.
pub(crate) fn json(thing: &impl serde::Serialize) -> serde_json::Value {
    parse(&serde_json::to_string(thing).unwrap())
}

/// JSON text, to compare whatever the order of members.
pub(crate) fn parse(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Notices as a user reads them.
pub(crate) fn texts(notices: &[Notice]) -> Vec<String> {
    notices.iter().map(ToString::to_string).collect()
}

/// Decodes a payload that must be one event.
#[track_caller]
pub(crate) fn decode(text: &str) -> Decoded {
    let decoded = Event::decode(&bytes(text)).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert!(decoded.event.is_some(), "dropped: {text}");
    decoded
}

/// Checks that a payload decodes to an event, silently.
#[track_caller]
pub(crate) fn check_decodes(text: &str, expected: &str) {
    let decoded = decode(text);
    assert_eq!(texts(&decoded.notices), [""; 0], "{text}");
    assert_eq!(json(&decoded.event.unwrap()), parse(expected), "{text}");
}

/// Decodes a payload that must be refused.
#[track_caller]
pub(crate) fn refusal(text: &str) -> DecodeError {
    match Event::decode(&bytes(text)) {
        Err(error) => error,
        Ok(decoded) => panic!("{text} decodes to {decoded:?}"),
    }
}

/// Checks the variant of an error and the text that a user reads.
macro_rules! check_error {
    ($error:expr, $pattern:pat, $text:expr) => {{
        let error = $error;
        assert!(matches!(error, $pattern), "not {}: {error:?}", stringify!($pattern));
        assert_eq!(error.to_string(), $text);
    }};
}
pub(crate) use check_error;

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn peek(&mut self) -> Option<char> {
        loop {
            self.rest = self.rest.trim_start();
            let Some(comment) = self.rest.strip_prefix('#') else { break };
            self.rest = comment.split_once('\n').map_or("", |(_, rest)| rest);
        }
        self.rest.chars().next()
    }

    fn takes(&mut self, token: char) -> bool {
        let found = self.peek() == Some(token);
        if found {
            self.rest = &self.rest[token.len_utf8()..];
        }
        found
    }

    fn until(&mut self, end: char) -> &str {
        let (word, rest) = self.rest.split_once(end).unwrap_or_else(|| panic!("no {end}"));
        self.rest = rest;
        word
    }

    fn number(&mut self) -> &str {
        self.peek();
        let part = |c: char| c.is_ascii_digit() || matches!(c, '-' | '.' | 'e');
        let end = self.rest.find(|c| !part(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn fields(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        while let Some(next) = self.peek() {
            match next {
                '}' => break,
                '`' => {
                    self.takes('`');
                    out.extend(hex(self.until('`')));
                }
                '"' => {
                    self.takes('"');
                    out.extend(self.until('"').bytes());
                }
                _ => self.field(&mut out),
            }
        }
        out
    }

    fn body(&mut self) -> Vec<u8> {
        let body = self.fields();
        assert!(self.takes('}'), "not closed: {}", self.rest);
        body
    }

    fn field(&mut self, out: &mut Vec<u8>) {
        let number: u64 = self.number().parse().unwrap_or_else(|_| panic!("at: {}", self.rest));
        if self.takes('!') {
            assert!(self.takes('{'));
            put_varint(number << 3 | 3, out);
            out.extend(self.body());
            return put_varint(number << 3 | 4, out);
        }
        if self.takes('~') {
            put_varint(number << 3 | 5, out);
            return out.extend(self.number().parse::<u32>().unwrap().to_le_bytes());
        }
        assert!(self.takes(':'), "no colon: {}", self.rest);
        if self.takes('{') {
            let body = self.body();
            put_len(number, &body, out);
        } else if self.takes('"') {
            let body = self.until('"').as_bytes().to_vec();
            put_len(number, &body, out);
        } else {
            let value = self.number();
            if value.contains(['.', 'e']) {
                let double: f64 = value.parse().unwrap();
                put_varint(number << 3 | 1, out);
                out.extend(double.to_le_bytes());
            } else {
                let integer: i128 = value.parse().unwrap();
                put_varint(number << 3, out);
                put_varint(integer.rem_euclid(1 << 64).try_into().unwrap(), out);
            }
        }
    }
}

fn put_len(number: u64, body: &[u8], out: &mut Vec<u8>) {
    put_varint(number << 3 | 2, out);
    put_varint(body.len().try_into().unwrap(), out);
    out.extend(body);
}

fn put_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(u8::try_from(value & 0x7f).unwrap() | 0x80);
        value >>= 7;
    }
    out.push(u8::try_from(value).unwrap());
}

#[test]
fn the_notation_stands_for_the_bytes_of_the_wire_reference() {
    for (text, wire) in [
        (r#"1: {1: {} 2: "m1"}"#, "0a060a0012026d31"),
        (r#"3: {1: {1: 2} 2: "m"}"#, "1a070a020802 12016d"),
        ("7: {1: {1: 6} 2: {2: 0.0}}", "3a0f0a020806 1209110000000000000000"),
        (r#"11: {1: {1: 10} 2: "n" 3: {1: 0}}"#, "5a0b0a02080a 12016e 1a020800"),
        (r#"22: {1: {1: 21} 3: "m" 4: "c" 5: ""}"#, "b2010c0a020815 1a016d 220163 2a00"),
        (
            r#"8: {1: {1: 7} 2: {1: 1 2: "/a" 3: "/z" 4: {2: 1.0}}} # a comment"#,
            "421b0a020807 1215 0801 12022f61 1a022f7a 220911000000000000f03f",
        ),
        // 100 << 3 | 3 is 0x323, 100 << 3 | 4 is 0x324, 2 << 3 | 5 is 0x15.
        ("100!{2~7}", "a306 1507000000 a406"),
        ("1: -1", "08 ffffffffffffffffff01"),
        (r#"`80 00` 1: {"a" `ff`}"#, "8000 0a02 61ff"),
    ] {
        assert_eq!(bytes(text), hex(wire), "{text}");
    }
}
