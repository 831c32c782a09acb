//! `prost::Message` for the three messages of `google/protobuf/struct.proto`, and the way in with
//! a depth of one's own.
//!
//! Generated code takes these types in the place of prost's. What prost hands over a field at a
//! time is read by the same walk as a whole payload. Three things differ from the walk alone: the
//! depth is limited by [`MAX_DEPTH`], since prost has no room for a limit; tags between the fields
//! that prost reads itself may be ten bytes long, and not five; and in an object of 32 entries or
//! more, or that had so many, the last entry takes the place of one that is dropped.

use std::borrow::Cow;
use std::fmt;

use bytes::{Buf, BufMut};
use prost::encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field};
use prost::{DecodeError, Message};

use super::decode::Root;
use super::direct;
use super::draft::Draft;
use super::encode::{Backward, Buffer, Length, put_list, put_object, put_value};
use super::input::EXACT_NUMBER;
use super::{List, MAX_DEPTH, Number, Object, Slot, Value, ValueError};

impl Slot {
    /// Reads all of `bytes` as a `google.protobuf.Value` of at most `max_depth` levels.
    ///
    /// # Errors
    ///
    /// [`ValueError`] by what is wrong with the bytes.
    pub fn from_wire(bytes: &[u8], max_depth: usize) -> Result<Self, ValueError> {
        usual_or(direct::read_value(bytes, max_depth).map(Self::from), || {
            Ok(Self(Draft::read(bytes, Root::Value, max_depth)?.finish()))
        })
    }
}

impl Value {
    /// Reads all of `bytes` as a `google.protobuf.Value` of at most `max_depth` levels; a message
    /// without a kind reads as null. [`Slot::from_wire`] tells the two apart.
    ///
    /// # Errors
    ///
    /// [`ValueError`] by what is wrong with the bytes.
    pub fn from_wire(bytes: &[u8], max_depth: usize) -> Result<Self, ValueError> {
        Ok(Slot::from_wire(bytes, max_depth)?.0.unwrap_or_default())
    }
}

impl Object {
    /// Reads all of `bytes` as a `google.protobuf.Struct` of at most `max_depth` levels, of which
    /// the struct is one.
    ///
    /// # Errors
    ///
    /// [`ValueError`] by what is wrong with the bytes.
    pub fn from_wire(bytes: &[u8], max_depth: usize) -> Result<Self, ValueError> {
        usual_or(direct::read_object(bytes, max_depth), || {
            Ok(Draft::read(bytes, Root::Struct, max_depth)?.into_entries().finish())
        })
    }
}

impl List {
    /// Reads all of `bytes` as a `google.protobuf.ListValue` of at most `max_depth` levels, of which
    /// the list is one.
    ///
    /// # Errors
    ///
    /// [`ValueError`] by what is wrong with the bytes.
    pub fn from_wire(bytes: &[u8], max_depth: usize) -> Result<Self, ValueError> {
        usual_or(direct::read_list(bytes, max_depth), || {
            Ok(Self::from_values(Draft::read(bytes, Root::List, max_depth)?.into_elements()))
        })
    }
}

/// What is in the usual layout is read the short way, anything else the general way. A debug build
/// goes both ways and compares.
fn usual_or<T: PartialEq + fmt::Debug>(
    usual: Option<T>,
    general: impl FnOnce() -> Result<T, ValueError>,
) -> Result<T, ValueError> {
    let Some(usual) = usual else { return general() };
    if cfg!(debug_assertions) {
        debug_assert_eq!(Ok(&usual), general().as_ref());
    }
    Ok(usual)
}

impl Message for Slot {
    fn encode_raw(&self, buf: &mut impl BufMut) {
        if let Some(value) = &self.0 {
            value.encode_raw(buf);
        }
    }

    fn merge_field(
        &mut self,
        tag: u32,
        wire_type: WireType,
        buf: &mut impl Buf,
        ctx: DecodeContext,
    ) -> Result<(), DecodeError> {
        self.0 = Some(match (tag, wire_type) {
            (1, WireType::Varint) => decode_varint(buf).map(|_| Value::Null)?,
            (2, WireType::SixtyFourBit) => Value::Number(take_number(buf)?),
            (3, WireType::LengthDelimited) => {
                let text = take_payload(buf, |text| str::from_utf8(text).map(str::to_owned))?;
                Value::String(text.map_err(|_| error("text is not UTF-8"))?)
            }
            (4, WireType::Varint) => Value::Bool(decode_varint(buf)? != 0),
            (EXACT_NUMBER, WireType::LengthDelimited) => {
                let text = take_payload(buf, |text| str::from_utf8(text).map(str::to_owned))?;
                match (self.0.take(), text) {
                    (Some(Value::Number(number)), Ok(text)) => {
                        let double = number.as_f64().unwrap_or_default();
                        Value::Number(Number::from_wire_with(double, &text))
                    }
                    (Some(other), _) => other,
                    (None, _) => return Ok(()),
                }
            }
            (5, WireType::LengthDelimited) => {
                let entries = take_draft(buf, Root::Struct)?.into_entries();
                let mut object = match self.0.take() {
                    Some(Value::Object(object)) => object,
                    _ => Object::new(),
                };
                entries.merge_into(&mut object);
                Value::Object(object)
            }
            (6, WireType::LengthDelimited) => {
                let elements = take_draft(buf, Root::List)?.into_elements();
                let mut list = match self.0.take() {
                    Some(Value::List(list)) => list,
                    _ => List::new(),
                };
                list.append(&mut { elements });
                Value::List(list)
            }
            _ => return skip(tag, wire_type, buf, &ctx),
        });
        Ok(())
    }

    fn encoded_len(&self) -> usize {
        self.0.as_ref().map_or(0, Message::encoded_len)
    }

    fn clear(&mut self) {
        self.0 = None;
    }
}

/// A message without a kind reads as null.
impl Message for Value {
    fn encode_raw(&self, buf: &mut impl BufMut) {
        let mut out = Buffer::default();
        put_value(self, &mut out);
        buf.put_slice(out.as_slice());
    }

    fn merge_field(
        &mut self,
        tag: u32,
        wire_type: WireType,
        buf: &mut impl Buf,
        ctx: DecodeContext,
    ) -> Result<(), DecodeError> {
        let mut slot = Slot(Some(self.take()));
        let merged = slot.merge_field(tag, wire_type, buf, ctx);
        *self = slot.0.unwrap_or_default();
        merged
    }

    fn encoded_len(&self) -> usize {
        let mut length = Length::default();
        put_value(self, &mut length);
        length.written()
    }

    fn clear(&mut self) {
        *self = Self::Null;
    }
}

impl Message for Object {
    fn encode_raw(&self, buf: &mut impl BufMut) {
        let mut out = Buffer::default();
        put_object(self, &mut out);
        buf.put_slice(out.as_slice());
    }

    fn merge_field(
        &mut self,
        tag: u32,
        wire_type: WireType,
        buf: &mut impl Buf,
        ctx: DecodeContext,
    ) -> Result<(), DecodeError> {
        if (tag, wire_type) != (1, WireType::LengthDelimited) {
            return skip(tag, wire_type, buf, &ctx);
        }
        take_draft(buf, Root::Entry)?.into_entries().merge_into(self);
        Ok(())
    }

    fn encoded_len(&self) -> usize {
        let mut length = Length::default();
        put_object(self, &mut length);
        length.written()
    }

    fn clear(&mut self) {
        *self = Self::new();
    }
}

impl Message for List {
    fn encode_raw(&self, buf: &mut impl BufMut) {
        let mut out = Buffer::default();
        put_list(self, &mut out);
        buf.put_slice(out.as_slice());
    }

    fn merge_field(
        &mut self,
        tag: u32,
        wire_type: WireType,
        buf: &mut impl Buf,
        ctx: DecodeContext,
    ) -> Result<(), DecodeError> {
        if (tag, wire_type) != (1, WireType::LengthDelimited) {
            return skip(tag, wire_type, buf, &ctx);
        }
        self.extend(take_draft(buf, Root::Element)?.into_elements());
        Ok(())
    }

    fn encoded_len(&self) -> usize {
        let mut length = Length::default();
        put_list(self, &mut length);
        length.written()
    }

    fn clear(&mut self) {
        *self = Self::new();
    }
}

/// Takes a length and as many bytes, without copying them if they lie in one piece.
fn take_payload<T>(buf: &mut impl Buf, read: impl FnOnce(&[u8]) -> T) -> Result<T, DecodeError> {
    let len = u32::try_from(decode_varint(buf)?).map_err(|_| error("length exceeds 32 bits"))?;
    let len = usize::try_from(len).map_err(|_| error("length exceeds the address space"))?;
    if len > buf.remaining() {
        return Err(error("length runs past the end of its message"));
    }
    match buf.chunk().get(..len) {
        Some(payload) => {
            let result = read(payload);
            buf.advance(len);
            Ok(result)
        }
        None => Ok(read(&buf.copy_to_bytes(len))),
    }
}

fn take_draft(buf: &mut impl Buf, root: Root) -> Result<Draft, DecodeError> {
    take_payload(buf, |payload| Draft::read(payload, root, MAX_DEPTH))?
        .map_err(|reason| error(reason.to_string()))
}

fn take_number(buf: &mut impl Buf) -> Result<Number, DecodeError> {
    let double = buf.try_get_f64_le().map_err(|_| error("number runs past the end"))?;
    if double.is_finite() {
        Ok(Number::from_wire(double))
    } else {
        Err(error("number is not finite"))
    }
}

/// Skips the contents of an unknown field. Groups are skipped here and not by prost, which recurses
/// into them.
fn skip(
    mut tag: u32,
    mut wire_type: WireType,
    buf: &mut impl Buf,
    ctx: &DecodeContext,
) -> Result<(), DecodeError> {
    let mut groups = Vec::new();
    loop {
        match wire_type {
            WireType::StartGroup => groups.push(tag),
            WireType::EndGroup if groups.pop() == Some(tag) => {}
            WireType::EndGroup => return Err(error("end of a group that is not open")),
            _ => skip_field(wire_type, tag, buf, ctx.clone())?,
        }
        if groups.is_empty() {
            return Ok(());
        }
        (tag, wire_type) = decode_key(buf)?;
    }
}

/// An error of prost's with our reason.
#[allow(deprecated, reason = "prost 0.14 has no other way for a hand-written message to fail")]
fn error(reason: impl Into<Cow<'static, str>>) -> DecodeError {
    DecodeError::new(reason)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use ::prost_types as theirs;
    use proptest::prelude::*;

    use super::super::tests::cases;
    use super::*;

    /// Any value as the wire can give it back: numbers as they read from a double.
    fn any_value() -> impl Strategy<Value = Value> {
        let double = any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |d| d.is_finite());
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            double.prop_map(|double| Value::Number(Number::from_wire(double))),
            ".{0,12}".prop_map(Value::from),
        ];
        leaf.prop_recursive(6, 60, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::vec(("[a-c]{0,2}|.{0,6}", inner), 0..6)
                    .prop_map(|entries| Value::Object(entries.into_iter().collect())),
            ]
        })
    }

    fn to_theirs(value: &Value) -> theirs::Value {
        use theirs::value::Kind;
        let kind = match value {
            Value::Null => Kind::NullValue(0),
            Value::Bool(value) => Kind::BoolValue(*value),
            Value::Number(number) => Kind::NumberValue(number.as_f64().unwrap()),
            Value::String(text) => Kind::StringValue(text.clone()),
            Value::List(list) => {
                Kind::ListValue(theirs::ListValue { values: list.iter().map(to_theirs).collect() })
            }
            Value::Object(object) => {
                let fields = object.iter().map(|(key, value)| (key.to_owned(), to_theirs(value)));
                Kind::StructValue(theirs::Struct { fields: fields.collect::<BTreeMap<_, _>>() })
            }
        };
        theirs::Value { kind: Some(kind) }
    }

    proptest! {
        #![proptest_config(cases(300))]

        #[test]
        fn prost_types_reads_what_we_write_and_we_what_it_writes(value in any_value()) {
            let bytes = value.encode_to_vec();
            prop_assert_eq!(bytes.len(), value.encoded_len());
            let expected = to_theirs(&value);
            prop_assert_eq!(theirs::Value::decode(&*bytes).unwrap(), expected.clone());
            let back = Value::decode(&*expected.encode_to_vec()).unwrap();
            prop_assert_eq!(&back, &value);
            // In the order given, and by either way in.
            for back in [Value::decode(&*bytes).unwrap(), Value::from_wire(&bytes, 128).unwrap()] {
                prop_assert_eq!(back.to_string(), value.to_string());
                prop_assert_eq!(back, value.clone());
            }
        }

        #[test]
        fn containers_are_messages_of_their_own(value in any_value()) {
            match &value {
                Value::List(list) => {
                    let bytes = list.encode_to_vec();
                    prop_assert_eq!(bytes.len(), list.encoded_len());
                    prop_assert_eq!(&theirs::ListValue::decode(&*bytes).unwrap().encode_to_vec().len(), &bytes.len());
                    prop_assert_eq!(&List::decode(&*bytes).unwrap(), list);
                    prop_assert_eq!(&List::from_wire(&bytes, 128).unwrap(), list);
                }
                Value::Object(object) => {
                    let bytes = object.encode_to_vec();
                    prop_assert_eq!(bytes.len(), object.encoded_len());
                    prop_assert_eq!(&theirs::Struct::decode(&*bytes).unwrap().encode_to_vec().len(), &bytes.len());
                    prop_assert_eq!(&Object::decode(&*bytes).unwrap(), object);
                    prop_assert_eq!(&Object::from_wire(&bytes, 128).unwrap(), object);
                }
                _ => {}
            }
        }

        #[test]
        fn merging_is_decoding_the_concatenation(first in any_value(), second in any_value()) {
            let bytes = [first.encode_to_vec(), second.encode_to_vec()].concat();
            let together = Value::from_wire(&bytes, 128).unwrap();
            let mut merged = first;
            merged.merge(&*second.encode_to_vec()).unwrap();
            prop_assert_eq!(&merged.to_string(), &together.to_string());
        }

        #[test]
        fn any_bytes_are_a_value_or_an_error_and_alike_by_both_ways_in(
            value in any_value(), at: prop::sample::Index, byte: u8, cut: prop::sample::Index,
        ) {
            let mut bytes = value.encode_to_vec();
            let index = at.index(bytes.len());
            bytes[index] = byte;
            bytes.truncate(cut.index(bytes.len() * 3).max(1));
            let slot = Slot::from_wire(&bytes, MAX_DEPTH);
            prop_assert_eq!(super::super::check(&bytes, Root::Value, MAX_DEPTH).map(drop), slot.clone().map(drop));
            if let Ok(slot) = &slot {
                let merged = Slot::decode(&*bytes).unwrap();
                prop_assert_eq!(&merged, slot);
            }
            // A split buffer reads the same.
            let (head, tail) = bytes.split_at(bytes.len() / 2);
            prop_assert_eq!(Slot::decode(head.chain(tail)).ok(), Slot::decode(&*bytes).ok());
        }
    }

    #[test]
    fn a_message_without_a_kind_reads_as_null_or_as_nothing() {
        assert_eq!(Value::decode(&b""[..]).unwrap(), Value::Null);
        assert_eq!(Slot::decode(&b""[..]).unwrap(), Slot(None));
        assert_eq!(Slot::decode(&b"\x08\x00"[..]).unwrap(), Slot(Some(Value::Null)));
    }

    #[test]
    fn a_refusal_reaches_the_user_of_prost_with_its_reason() {
        let error = Slot::decode(&b"\x2a\x04\x0a\x02\x00\x00"[..]).unwrap_err().to_string();
        assert!(error.ends_with("malformed value at byte 2: field number 0"), "{error}");
        let error = Object::decode(&b"\x0a\x03\x0a\x01\xff"[..]).unwrap_err().to_string();
        assert!(error.ends_with("text at byte 2 is not UTF-8"), "{error}");
    }

    #[test]
    fn clear_empties_a_message() {
        let mut slot = Slot::from(1);
        slot.clear();
        assert_eq!(slot, Slot(None));
        let mut object = Object::from([("a", 1)]);
        object.clear();
        assert!(object.is_empty());
    }
}
