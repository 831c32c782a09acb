//! Bytes to values: one walk over a payload, without recursion.
//!
//! ```text
//! Value     1 null: enum  2 number: double  3 string  4 bool  5 Struct  6 ListValue   (a oneof)
//! Struct    1 entry*      { 1 key: string   2 Value }
//! ListValue 1 Value*
//! ```
//!
//! The walk keeps its own stack of open messages and tells a [`Sink`] what it meets. A sink that
//! does nothing makes it a check; [`Draft`](super::draft::Draft)s make it a value.
//!
//! Several kinds in one `Value`: the last wins; `Struct` after `Struct` and list after list merge.
//! The same key in several entries: the last entry replaces, while several values inside one entry
//! merge. An entry whose value has no kind drops its key; a list element without one is null. A
//! known field with another wire type, and any unknown field, is skipped.
//!
//! Rule: wire.md D11 to D25, after the protobuf encoding guide. Differs: the official decoder
//! replaces invalid UTF-8, cuts lengths to 32 bits and lets NaN through; here they are errors.

use super::ValueError;
use super::input::{EXACT_NUMBER, FIXED64, Input, LEN, VARINT};

/// What message a payload is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Root {
    /// `google.protobuf.Value`.
    Value,
    /// `google.protobuf.Struct`.
    Struct,
    /// `google.protobuf.ListValue`.
    List,
    /// One entry of a struct, as the payload of its field 1.
    Entry,
    /// One element of a list, as the payload of its field 1.
    Element,
}

/// Checks that a payload is well-formed, finite, UTF-8 and within `max_depth`, and builds nothing.
/// Says whether the exact text of some number travels along.
///
/// # Errors
///
/// Any [`ValueError`]; the first one that the bytes give.
pub(crate) fn check(bytes: &[u8], root: Root, max_depth: usize) -> Result<bool, ValueError> {
    let mut check = Check { exact: false };
    walk(bytes, root, max_depth, &mut check)?;
    Ok(check.exact)
}

struct Check {
    exact: bool,
}

impl Sink<'_> for Check {
    fn exact(&mut self, _: &str) {
        self.exact = true;
    }
}

/// What the walk meets. Containers are closed by their parents: an entry or an element ends.
pub(super) trait Sink<'a> {
    /// A scalar, as the value at hand.
    fn scalar(&mut self, _: Scalar<'a>) {}
    /// A struct opens, or opens again, in the value at hand.
    fn object(&mut self) {}
    /// A list opens, or opens again, in the value at hand.
    fn list(&mut self) {}
    /// An entry of the struct at hand; its value is at hand now.
    fn entry(&mut self) {}
    fn key(&mut self, _: &'a str) {}
    fn end_entry(&mut self) {}
    /// An element of the list at hand; it is the value at hand now.
    fn element(&mut self) {}
    fn end_element(&mut self) {}
    /// A whole entry of the struct at hand.
    fn scalar_entry(&mut self, _: &'a str, _: Scalar<'a>) {}
    /// The exact text of the number at hand, if there is one.
    fn exact(&mut self, _: &'a str) {}
    /// A whole element of the list at hand.
    fn scalar_element(&mut self, _: Scalar<'a>) {}
}

/// A value without parts.
pub(super) enum Scalar<'a> {
    Null,
    Bool(bool),
    /// Finite.
    Number(f64),
    String(&'a str),
}

/// A message that is being read, and where it ends.
struct Open {
    message: Message,
    end: usize,
}

#[derive(Clone, Copy)]
enum Message {
    /// A `Value` that is the root, or the value of an entry.
    Value,
    /// A `Value` that is an element of a list.
    Element,
    Struct,
    Entry,
    List,
}

/// Reads all of `bytes` as the message `root` and tells `sink`.
///
/// A root that is a container, or a part of one, counts as one level.
pub(super) fn walk<'a>(
    bytes: &'a [u8],
    root: Root,
    max_depth: usize,
    sink: &mut impl Sink<'a>,
) -> Result<(), ValueError> {
    let mut input = Input::new(bytes);
    let mut open = Vec::with_capacity(16);
    let mut depth = usize::from(root != Root::Value);
    let message = match root {
        Root::Value => Message::Value,
        Root::Struct => Message::Struct,
        Root::List => Message::List,
        Root::Entry => {
            sink.entry();
            Message::Entry
        }
        Root::Element => {
            sink.element();
            Message::Element
        }
    };
    if depth > max_depth {
        return Err(ValueError::TooDeep { max: max_depth });
    }
    open.push(Open { message, end: bytes.len() });

    while let Some(&Open { message, end }) = open.last() {
        if input.at() >= end {
            open.pop();
            match message {
                Message::Entry => sink.end_entry(),
                Message::Element => sink.end_element(),
                Message::Struct | Message::List => depth -= 1,
                Message::Value => {}
            }
            continue;
        }
        let (field, wire_type) = input.tag(end)?;
        let inner = match (message, field, wire_type) {
            (Message::Value | Message::Element, 1, VARINT) => {
                input.varint(end)?;
                sink.scalar(Scalar::Null);
                continue;
            }
            (Message::Value | Message::Element, 2, FIXED64) => {
                sink.scalar(Scalar::Number(input.double(end)?));
                continue;
            }
            (Message::Value | Message::Element, 3, LEN) => {
                sink.scalar(Scalar::String(input.text(end)?));
                continue;
            }
            (Message::Value | Message::Element, 4, VARINT) => {
                sink.scalar(Scalar::Bool(input.varint(end)? != 0));
                continue;
            }
            (Message::Value | Message::Element, EXACT_NUMBER, LEN) => {
                // Like any unknown field, it may hold anything.
                let text = input.field(field, wire_type, end)?.unwrap_or_default();
                if let Ok(text) = str::from_utf8(text) {
                    sink.exact(text);
                }
                continue;
            }
            (Message::Value | Message::Element, 5, LEN) => {
                depth += 1;
                sink.object();
                Message::Struct
            }
            (Message::Value | Message::Element, 6, LEN) => {
                depth += 1;
                sink.list();
                Message::List
            }
            (Message::Struct, 1, LEN) => {
                if let Some((key, scalar)) = input.try_field(end, scalar_entry) {
                    sink.scalar_entry(key, scalar);
                    continue;
                }
                sink.entry();
                Message::Entry
            }
            (Message::Entry, 1, LEN) => {
                sink.key(input.text(end)?);
                continue;
            }
            (Message::Entry, 2, LEN) => Message::Value,
            (Message::List, 1, LEN) => {
                if let Some(scalar) = input.try_field(end, scalar) {
                    sink.scalar_element(scalar);
                    continue;
                }
                sink.element();
                Message::Element
            }
            _ => {
                input.skip(field, wire_type, end)?;
                continue;
            }
        };
        if depth > max_depth {
            return Err(ValueError::TooDeep { max: max_depth });
        }
        let len = input.len(end)?;
        open.push(Open { message: inner, end: input.at() + len });
    }
    Ok(())
}

/// The usual entry of a scalar: a short key, then a short value, each once and in this order.
///
/// Whatever else an entry may be, or is wrong with it, is for the walk to find.
fn scalar_entry(entry: &[u8]) -> Option<(&str, Scalar<'_>)> {
    let [0x0a, len @ ..0x80, rest @ ..] = entry else { return None };
    let (key, rest) = rest.split_at_checked(usize::from(*len))?;
    let [0x12, len @ ..0x80, value @ ..] = rest else { return None };
    if value.len() != usize::from(*len) {
        return None;
    }
    Some((str::from_utf8(key).ok()?, scalar(value)?))
}

/// The usual `Value` message of a scalar: one kind, in as few bytes as it takes.
fn scalar(value: &[u8]) -> Option<Scalar<'_>> {
    match value {
        [0x1a, len @ ..0x80, text @ ..] if text.len() == usize::from(*len) => {
            str::from_utf8(text).ok().map(Scalar::String)
        }
        [0x11, double @ ..] => {
            let double = f64::from_le_bytes(double.try_into().ok()?);
            double.is_finite().then_some(Scalar::Number(double))
        }
        [0x20, value @ ..0x80] => Some(Scalar::Bool(*value != 0)),
        [0x08, ..0x80] => Some(Scalar::Null),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{nested_lists, nested_objects, on_a_small_stack};
    use super::super::{List, Object, Slot, Value};
    use super::*;
    use prost::Message as _;

    /// Reads `bytes` as a `Value` message; the check must agree.
    fn read(bytes: &[u8]) -> Result<Option<Value>, ValueError> {
        let slot = Slot::from_wire(bytes, 128);
        assert_eq!(check(bytes, Root::Value, 128).map(|_| ()), slot.clone().map(|_| ()));
        slot.map(Slot::into_value)
    }

    #[track_caller]
    fn check_json(bytes: &[u8], json: &str) {
        let value = read(bytes).unwrap();
        assert_eq!(value.map(|value| value.to_string()).as_deref(), Some(json));
        // prost's way in gives the same.
        let merged = Slot::decode(bytes).unwrap();
        assert_eq!(merged.into_value().map(|value| value.to_string()).as_deref(), Some(json));
    }

    #[track_caller]
    fn check_malformed(bytes: &[u8], at: usize, reason: &'static str) {
        assert_eq!(read(bytes), Err(ValueError::Malformed { at, reason }));
        // Tags between the fields of a root are prost's to read, and it allows ten bytes.
        assert!(Slot::decode(bytes).is_err() || reason == "tag longer than 5 bytes");
    }

    #[test]
    fn every_kind_reads() {
        check_json(b"\x08\x00", "null");
        check_json(b"\x08\x05", "null");
        check_json(b"\x11\x00\x00\x00\x00\x00\x00\xf0\x3f", "1");
        check_json(b"\x11\x00\x00\x00\x00\x00\x00\xf8\x3f", "1.5");
        check_json(b"\x11\x00\x00\x00\x00\x00\x00\x00\x80", "-0.0");
        check_json(b"\x1a\x00", r#""""#);
        check_json(b"\x1a\x02\xc3\xa9", r#""é""#);
        check_json(b"\x20\x00", "false");
        check_json(b"\x20\x02", "true");
        check_json(b"\x2a\x00", "{}");
        check_json(b"\x32\x00", "[]");
        assert_eq!(read(b""), Ok(None));
    }

    #[test]
    fn an_entry_is_a_key_and_a_value() {
        #[rustfmt::skip]
        check_json(
            &[
                0x2a, 16,                               // struct
                    0x0a, 8,                            // entry
                        0x0a, 2, b'_', b'_',            // key
                        0x12, 2, 0x20, 1,               // value: true
                    0x0a, 4,                            // entry without a key
                        0x12, 2, 0x32, 0,               // value: []
            ],
            r#"{"__":true,"":[]}"#,
        );
        // The value may come first, the key twice.
        check_json(b"\x2a\x0c\x0a\x0a\x12\x02\x20\x01\x0a\x01a\x0a\x01b", r#"{"b":true}"#);
    }

    #[test]
    fn the_last_kind_wins() {
        check_json(b"\x20\x01\x1a\x01x\x08\x00", "null");
        check_json(b"\x08\x00\x1a\x01x\x20\x01", "true");
        // A struct, then a number, then a struct: nothing of the first is left.
        check_json(
            b"\x2a\x09\x0a\x07\x0a\x01a\x12\x02\x20\x01\x08\x00\x2a\x09\x0a\x07\x0a\x01b\x12\x02\x20\x01",
            r#"{"b":true}"#,
        );
        check_json(b"\x32\x04\x0a\x02\x20\x01\x2a\x00", "{}");
    }

    #[test]
    fn struct_after_struct_merges_and_list_after_list_appends() {
        check_json(
            b"\x2a\x09\x0a\x07\x0a\x01a\x12\x02\x20\x01\x2a\x12\x0a\x07\x0a\x01b\x12\x02\x20\x01\x0a\x07\x0a\x01a\x12\x02\x20\x00",
            r#"{"a":false,"b":true}"#,
        );
        check_json(b"\x32\x04\x0a\x02\x20\x01\x32\x04\x0a\x02\x20\x00", "[true,false]");
    }

    #[test]
    fn the_same_key_again_replaces_and_two_values_in_one_entry_merge() {
        #[rustfmt::skip]
        let struct_a = |key: u8| [0x2a, 9, 0x0a, 7, 0x0a, 1, key, 0x12, 2, 0x20, 1];
        // Two entries "m", each with a struct.
        let entry = |values: &[[u8; 11]]| {
            let mut entry = b"\x0a\x01m".to_vec();
            for value in values {
                entry.extend(b"\x12\x0b");
                entry.extend(value);
            }
            entry
        };
        let in_struct = |entries: &[Vec<u8>]| {
            let entries = entries.iter().flat_map(|entry| {
                [[0x0a, u8::try_from(entry.len()).unwrap()].as_slice(), entry].concat()
            });
            let entries: Vec<u8> = entries.collect();
            [[0x2a, u8::try_from(entries.len()).unwrap()].as_slice(), &entries].concat()
        };
        let twice = in_struct(&[entry(&[struct_a(b'a')]), entry(&[struct_a(b'b')])]);
        check_json(&twice, r#"{"m":{"b":true}}"#);
        let merged = in_struct(&[entry(&[struct_a(b'a'), struct_a(b'b')])]);
        check_json(&merged, r#"{"m":{"a":true,"b":true}}"#);
    }

    #[test]
    fn an_entry_without_a_kind_drops_its_key() {
        check_json(b"\x2a\x05\x0a\x03\x0a\x01a", "{}");
        check_json(b"\x2a\x07\x0a\x05\x0a\x01a\x12\x00", "{}");
        // a: true, b: true, a without a kind.
        let gone =
            b"\x0a\x07\x0a\x01a\x12\x02\x20\x01\x0a\x07\x0a\x01b\x12\x02\x20\x01\x0a\x03\x0a\x01a";
        check_json(&[b"\x2a\x17".as_slice(), gone].concat(), r#"{"b":true}"#);
        // Set again within the same message, it has its first place.
        let again = b"\x0a\x07\x0a\x01a\x12\x02\x20\x00";
        check_json(&[b"\x2a\x20".as_slice(), gone, again].concat(), r#"{"a":false,"b":true}"#);
    }

    #[test]
    fn an_element_without_a_kind_is_null() {
        check_json(b"\x32\x06\x0a\x00\x0a\x02\x20\x01", "[null,true]");
    }

    #[test]
    fn unknown_fields_and_other_wire_types_are_skipped() {
        // 7: varint, 8: fixed64, 9: len, 10: fixed32, then true.
        check_json(b"\x38\xff\x01\x41abcdefgh\x4a\x02xy\x55abcd\x20\x01", "true");
        // Known numbers with a wire type that is not theirs: 1 as len, 3 as varint, 5 as fixed32.
        check_json(b"\x20\x01\x0a\x01x\x18\x05\x2dabcd", "true");
        // A group 1000 that holds a known field and a group 1.
        check_json(b"\x20\x01\xc3\x3e\x08\x00\x0b\x0c\x1a\x01x\xc4\x3e", "true");
        // Inside structs, entries and lists.
        check_json(b"\x2a\x0d\x10\x05\x0a\x09\x18\x01\x0a\x01a\x12\x02\x20\x01", r#"{"a":true}"#);
        check_json(b"\x32\x06\x12\x00\x0a\x02\x20\x01", "[true]");
        // In an entry, the value with another wire type is no value.
        check_json(b"\x2a\x07\x0a\x05\x0a\x01a\x10\x01", "{}");
    }

    #[test]
    fn varints_need_not_be_minimal() {
        check_json(b"\xa0\x80\x80\x80\x00\x01", "true");
        check_json(b"\x20\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", "true");
        check_json(b"\x1a\x81\x80\x80\x80\x80\x80\x80\x80\x80\x00x", r#""x""#);
    }

    #[test]
    fn malformed_bytes_are_told_with_their_place() {
        check_malformed(b"\x20\x01\x00\x01", 2, "field number 0");
        check_malformed(b"\x2a\x04\x0a\x02\x01\x00", 4, "field number 0");
        check_malformed(b"\xa0\x80\x80\x80\x80\x00\x01", 0, "tag longer than 5 bytes");
        check_malformed(b"\xa0\x80\x80\x80\x10\x01", 0, "tag exceeds 32 bits");
        check_malformed(
            b"\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02",
            1,
            "varint exceeds 64 bits",
        );
        check_malformed(b"\x20\x80", 1, "varint runs past the end of its message");
        check_malformed(b"\x20", 1, "varint runs past the end of its message");
        check_malformed(b"\x1a\x80\x80\x80\x80\x10x", 1, "length exceeds 32 bits");
        check_malformed(b"\x1a\x02x", 1, "length runs past the end of its message");
        check_malformed(b"\x32\x02\x0a\x01\x20\x01", 3, "length runs past the end of its message");
        check_malformed(b"\x11abcdefg", 1, "number runs past the end of its message");
        check_malformed(b"\x39abcdefg", 1, "field runs past the end of its message");
        check_malformed(b"\x3eabcdefg", 1, "unknown wire type");
        check_malformed(b"\x3fabcdefg", 1, "unknown wire type");
        check_malformed(b"\x3c", 1, "end of a group that is not open");
        check_malformed(b"\x3b\x44", 2, "end of a group that is not open");
        check_malformed(b"\x3b\x3b\x3c", 1, "group does not end");
    }

    #[test]
    fn text_that_is_not_utf8_and_numbers_that_are_not_finite_are_refused() {
        assert_eq!(read(b"\x1a\x02\xc3x"), Err(ValueError::Utf8 { at: 2 }));
        assert_eq!(read(b"\x2a\x05\x0a\x03\x0a\x01\xff"), Err(ValueError::Utf8 { at: 6 }));
        for double in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let bytes = [b"\x11".as_slice(), &double.to_le_bytes()].concat();
            let error = read(&bytes).unwrap_err();
            assert_eq!(error.to_string(), "number at byte 1 is not finite");
            assert!(Slot::decode(&*bytes).is_err());
        }
    }

    #[test]
    fn depth_is_limited_in_containers() {
        for value in [nested_lists(3), nested_objects(3)] {
            let bytes = Slot::from(value.clone()).encode_to_vec();
            assert_eq!(Slot::from_wire(&bytes, 3), Ok(value.into()));
            let error = Slot::from_wire(&bytes, 2).unwrap_err();
            assert_eq!(error.to_string(), "value nested deeper than 2 levels");
            assert_eq!(check(&bytes, Root::Value, 2), Err(error));
        }
        assert_eq!(Object::from_wire(b"", 0), Err(ValueError::TooDeep { max: 0 }));
        assert_eq!(List::from_wire(b"", 1), Ok(List::new()));
        assert_eq!(Slot::from_wire(b"\x20\x01", 0), Ok(true.into()));
    }

    #[test]
    fn deep_bytes_are_refused_or_read_on_a_small_stack() {
        for make in [nested_lists, nested_objects] {
            on_a_small_stack(move || {
                let value = make(100_000);
                let bytes = Slot(Some(value.clone())).encode_to_vec();
                assert_eq!(
                    Slot::from_wire(&bytes, 128).unwrap_err(),
                    ValueError::TooDeep { max: 128 }
                );
                assert!(Slot::decode(&*bytes).is_err());
                assert!(Slot::from_wire(&bytes, 100_000).unwrap() == Slot(Some(value)));
            });
        }
        on_a_small_stack(|| {
            let groups = [vec![0x3b; 100_000], vec![0x3c; 100_000]].concat();
            assert_eq!(Slot::from_wire(&groups, 1), Ok(Slot(None)));
            assert_eq!(Slot::decode(&*groups).unwrap(), Slot(None));
        });
    }

    #[test]
    fn wide_bytes_are_read_in_linear_time() {
        // Merging or looking up one at a time would take the square of these.
        let mut object = Vec::new();
        let mut again = Vec::new();
        for n in 0..100_000_u32 {
            let key = format!("{n:06}");
            object.extend([b"\x0a\x0c\x0a\x06", key.as_bytes(), b"\x12\x02\x20\x01"].concat());
            again.extend(
                [b"\x2a\x0e\x0a\x0c\x0a\x06", key.as_bytes(), b"\x12\x02\x20\x00"].concat(),
            );
            again.extend([b"\x2a\x0a\x0a\x08\x0a\x06", key.as_bytes()].concat());
        }
        let wide = Object::from_wire(&object, 1).unwrap();
        assert_eq!(wide.len(), 100_000);
        assert!(Object::decode(&*object).unwrap() == wide);
        assert_eq!(Slot::from_wire(&again, 1), Ok(Object::new().into()));
        assert_eq!(Slot::decode(&*again).unwrap(), Object::new().into());
        let mut merged = wide;
        let gone: Vec<u8> = (0..100_000_u32)
            .flat_map(|n| [b"\x0a\x08\x0a\x06", format!("{n:06}").as_bytes()].concat())
            .collect();
        merged.merge(&*gone).unwrap();
        assert!(merged.is_empty());
    }
}
