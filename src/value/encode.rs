//! Values to bytes: back to front, without recursion.
//!
//! ```text
//! null     08 00            object   2a len { entry* }      entry    0a len { [0a len key] 12 len value }
//! number   11 double LE     list     32 len { element* }    element  0a len value
//! string   1a len text
//! bool     20 00|01
//! ```
//!
//! A length stands in front of what it counts. Written from the end, it is known when its turn
//! comes, so nothing is measured beforehand and the cost is linear at any depth. The length of a
//! message is found by the same code with a [`Length`] in the place of the buffer.
//!
//! A kind is written even when it is zero or empty, an empty key is not, and a value always is.
//!
//! Rule: wire.md 3, points 5 and 6.

use super::children::Children;
use super::input::{EXACT_NUMBER, LEN};
use super::{List, Object, Value};

/// Where bytes are put in front of those that are there.
pub(crate) trait Backward {
    /// How many bytes there are.
    fn written(&self) -> usize;

    /// Puts `bytes` in front.
    fn put(&mut self, bytes: &[u8]);

    /// Puts a varint in front, in as few bytes as it takes.
    fn put_varint(&mut self, mut value: u64) {
        let mut bytes = [0; 10];
        let mut used = 0;
        for byte in &mut bytes {
            let [low, ..] = value.to_le_bytes();
            value >>= 7;
            used += 1;
            if value == 0 {
                *byte = low;
                break;
            }
            *byte = low | 0x80;
        }
        self.put(bytes.get(..used).unwrap_or_default());
    }

    /// Puts the length of what was written since `mark` in front, and before it `tag`.
    #[inline]
    fn put_header(&mut self, tag: u8, mark: usize) {
        let len = self.written() - mark;
        match u8::try_from(len) {
            Ok(len) if len < 0x80 => self.put(&[tag, len]),
            _ => {
                // No platform has a wider `usize`.
                self.put_varint(u64::try_from(len).unwrap_or(u64::MAX));
                self.put(&[tag]);
            }
        }
    }
}

/// Counts bytes and keeps none.
#[derive(Debug, Default)]
pub(crate) struct Length(usize);

impl Backward for Length {
    fn written(&self) -> usize {
        self.0
    }

    fn put(&mut self, bytes: &[u8]) {
        self.0 += bytes.len();
    }
}

/// Bytes at the end of a vector that grows at its front.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    bytes: Vec<u8>,
    start: usize,
}

impl Buffer {
    /// What was written.
    pub(crate) fn as_slice(&self) -> &[u8] {
        self.bytes.get(self.start..).unwrap_or_default()
    }

    #[cold]
    fn grow(&mut self, more: usize) {
        let written = self.written();
        let len = (written + more).next_power_of_two().max(256);
        let mut bytes = vec![0; len];
        if let Some(end) = bytes.get_mut(len - written..) {
            end.copy_from_slice(self.as_slice());
        }
        (self.bytes, self.start) = (bytes, len - written);
    }
}

impl Backward for Buffer {
    #[inline]
    fn written(&self) -> usize {
        self.bytes.len() - self.start
    }

    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        if bytes.len() > self.start {
            self.grow(bytes.len());
        }
        let start = self.start - bytes.len();
        if let Some(room) = self.bytes.get_mut(start..self.start) {
            room.copy_from_slice(bytes);
        }
        self.start = start;
    }
}

/// Puts the fields of the `Value` message of `value`: its kind.
///
/// A number that is out of range is written as an infinity, which every reader refuses; see
/// [`Value::unwritable`].
pub(crate) fn put_value(value: &Value, out: &mut impl Backward) {
    let mark = out.written();
    match value {
        Value::Null => out.put(&[0x08, 0]),
        Value::Bool(value) => out.put(&[0x20, u8::from(*value)]),
        Value::Number(number) => {
            if let Some(text) = number.carried() {
                out.put(text.as_bytes());
                out.put_varint(text.len().try_into().unwrap_or(u64::MAX));
                out.put_varint(u64::from(EXACT_NUMBER) << 3 | u64::from(LEN));
            }
            let infinity = || if number.is_negative() { f64::NEG_INFINITY } else { f64::INFINITY };
            let mut bytes = [0x11; 9];
            let [_, double @ ..] = &mut bytes;
            *double = number.as_f64().unwrap_or_else(infinity).to_le_bytes();
            out.put(&bytes);
        }
        Value::String(text) => {
            out.put(text.as_bytes());
            out.put_header(0x1a, mark);
        }
        Value::List(list) => {
            put_list(list, out);
            out.put_header(0x32, mark);
        }
        Value::Object(object) => {
            put_object(object, out);
            out.put_header(0x2a, mark);
        }
    }
}

/// Puts the fields of the `Struct` message of `object`.
pub(crate) fn put_object(object: &Object, out: &mut impl Backward) {
    put_children(Children::Object(object.as_slice().iter()), out);
}

/// Puts the fields of the `ListValue` message of `list`.
pub(crate) fn put_list(list: &List, out: &mut impl Backward) {
    put_children(Children::List(list.iter()), out);
}

/// A container inside another one: what is left of it, its key, and where its bytes begin.
struct Inner<'a> {
    around: Children<'a>,
    key: Option<&'a str>,
    tag: u8,
    mark: usize,
}

fn put_children<'a>(mut children: Children<'a>, out: &mut impl Backward) {
    let mut open: Vec<Inner<'a>> = Vec::new();
    loop {
        let Some((key, value)) = children.next_back() else {
            let Some(inner) = open.pop() else { return };
            out.put_header(inner.tag, inner.mark);
            put_wrapper(inner.key, inner.mark, out);
            children = inner.around;
            continue;
        };
        let mark = out.written();
        let (inner, tag) = match value {
            Value::List(list) => (Children::List(list.iter()), 0x32),
            Value::Object(object) => (Children::Object(object.as_slice().iter()), 0x2a),
            scalar => {
                put_value(scalar, out);
                put_wrapper(key, mark, out);
                continue;
            }
        };
        open.push(Inner { around: std::mem::replace(&mut children, inner), key, tag, mark });
    }
}

/// Makes the `Value` message since `mark` an entry under `key`, or an element.
fn put_wrapper(key: Option<&str>, mark: usize, out: &mut impl Backward) {
    if let Some(key) = key {
        out.put_header(0x12, mark);
        if !key.is_empty() {
            let mark = out.written();
            out.put(key.as_bytes());
            out.put_header(0x0a, mark);
        }
    }
    out.put_header(0x0a, mark);
}

#[cfg(test)]
mod tests {
    use prost::Message;

    use super::super::{Number, Slot};
    use super::*;

    #[track_caller]
    fn check(json: &str, bytes: &[u8]) {
        let value = Value::from_json(json, 128).unwrap();
        assert_eq!(value.encoded_len(), bytes.len(), "{json}");
        assert_eq!(value.encode_to_vec(), bytes, "{json}");
        assert_eq!(Slot::from(value).encode_to_vec(), bytes, "{json}");
    }

    #[test]
    fn every_kind_is_written_even_when_empty() {
        check("null", b"\x08\x00");
        check("false", b"\x20\x00");
        check("true", b"\x20\x01");
        check("0", b"\x11\x00\x00\x00\x00\x00\x00\x00\x00");
        check("-0.0", b"\x11\x00\x00\x00\x00\x00\x00\x00\x80");
        check("1", b"\x11\x00\x00\x00\x00\x00\x00\xf0\x3f");
        check(r#""""#, b"\x1a\x00");
        check(r#""é""#, b"\x1a\x02\xc3\xa9");
        check("{}", b"\x2a\x00");
        check("[]", b"\x32\x00");
        assert_eq!(Slot(None).encode_to_vec(), b"");
    }

    #[test]
    fn entries_keep_their_order_and_an_empty_key_is_left_out() {
        #[rustfmt::skip]
        check(
            r#"{"b":[null,{"":""}],"a":{}}"#,
            &[
                0x2a, 32,                                   // object
                    0x0a, 21,                               // entry
                        0x0a, 1, b'b',                      // key
                        0x12, 16, 0x32, 14,                 // value: list
                            0x0a, 2, 0x08, 0,               // null
                            0x0a, 8, 0x2a, 6,               // object
                                0x0a, 4,                    // entry without a key
                                    0x12, 2, 0x1a, 0,       // value: ""
                    0x0a, 7,                                // entry
                        0x0a, 1, b'a',                      // key
                        0x12, 2, 0x2a, 0,                   // value: {}
            ],
        );
    }
    #[test]
    fn lengths_of_any_size_are_minimal_varints() {
        for len in [127_usize, 128, 16_383, 16_384, 2_097_152] {
            let bytes = Value::from("x".repeat(len)).encode_to_vec();
            let mut header = b"\x1a".to_vec();
            prost::encoding::encode_varint(u64::try_from(len).unwrap(), &mut header);
            assert_eq!(bytes.len(), header.len() + len);
            assert!(bytes.starts_with(&header));
        }
        let mut out = Buffer::default();
        out.put_varint(u64::MAX);
        out.put_varint(0);
        assert_eq!(out.as_slice(), b"\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
    }

    #[test]
    fn numbers_are_written_as_the_nearest_double() {
        check(
            "9007199254740993",
            &[b"\x11".as_slice(), &9_007_199_254_740_992_f64.to_le_bytes()].concat(),
        );
        let written = |literal| Value::from(Number::parse(literal).unwrap()).encode_to_vec();
        assert_eq!(written("0.10000000000000000001"), Value::from(0.1).encode_to_vec());
        assert_eq!(written("1e400"), [b"\x11".as_slice(), &f64::INFINITY.to_le_bytes()].concat());
        assert_eq!(
            written("-1e400"),
            [b"\x11".as_slice(), &f64::NEG_INFINITY.to_le_bytes()].concat()
        );
    }
}
