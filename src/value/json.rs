//! Values and serde: JSON text in and out, with a limit of depth.
//!
//! Reading refuses a container beyond the limit before it is opened, writing beyond [`MAX_DEPTH`].
//! `serde_json`'s own limit, 128, is lifted for reading text and ours stands in its place, so one
//! number governs JSON and protobuf alike.

use std::cell::Cell;
use std::fmt;
use std::sync::OnceLock;

use serde::de::{DeserializeOwned, DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::{Error as _, SerializeMap, SerializeSeq};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::object::Entry;
use super::{ExactJson, JsonError, List, MAX_DEPTH, Number, Object, Value};

impl Value {
    /// Reads all of `text` as one JSON value of at most `max_depth` levels.
    ///
    /// An integer of 64 bits stays an integer, any other number is the nearest double. Of entries
    /// with the same key the last wins, in the place of the first. A level takes 1.8 KiB of stack in
    /// a debug build, nearly all of it serde's: the default 128 levels fit a thread of 256 KiB, and
    /// [`MAX_DEPTH`] one of 1 MiB.
    ///
    /// # Errors
    ///
    /// [`JsonError::Malformed`] if the text is not JSON, has more after the value, or a number out
    /// of the range of doubles; [`JsonError::TooDeep`] beyond `max_depth`.
    pub fn from_json(text: &str, max_depth: usize) -> Result<Self, JsonError> {
        Self::from_json_noting(text, max_depth, &Seen::default())
    }

    /// Reads as [`Value::from_json`], and notes what cannot be seen in the value.
    pub(crate) fn from_json_noting(
        text: &str,
        max_depth: usize,
        seen: &Seen,
    ) -> Result<Self, JsonError> {
        let max = max_depth.min(MAX_DEPTH);
        let mut reader = serde_json::Deserializer::from_str(text);
        reader.disable_recursion_limit();
        let level = Level { max, left: max, seen: Some(seen) };
        let read = level.deserialize(&mut reader).and_then(|value| reader.end().map(|()| value));
        read.map_err(|error| {
            if seen.too_deep.get() {
                JsonError::too_deep(text, max)
            } else {
                // The place is looked for only when it is needed.
                let pointer = match ExactJson::read(text, max) {
                    Err(
                        JsonError::Malformed { pointer, .. }
                        | JsonError::LoneSurrogate { pointer, .. },
                    ) => pointer,
                    Ok(exact) => exact.value.unwritable().map(|(at, _)| at).unwrap_or_default(),
                    Err(JsonError::TooDeep { .. }) => String::new(),
                };
                JsonError::refused(pointer, error, text)
            }
        })
    }

    /// Reads this value into a type of the user's. A key is text, and read as a number or a boolean
    /// where the keys of a map are one.
    ///
    /// # Errors
    ///
    /// What the type's `Deserialize` says; also if the value nests deeper than [`MAX_DEPTH`].
    pub fn to<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        T::deserialize(self)
    }

    /// The value that `data` serialises to, by way of JSON text: members keep their order.
    ///
    /// # Errors
    ///
    /// What the type's `Serialize` says; also if it is not JSON, as with keys that are not strings,
    /// or nests deeper than [`MAX_DEPTH`].
    pub fn from_serialize<T: Serialize + ?Sized>(data: &T) -> Result<Self, serde_json::Error> {
        let text = serde_json::to_string(data)?;
        if ExactJson::is_called_for(&text)
            && let Ok(exact) = ExactJson::read(&text, MAX_DEPTH)
        {
            return Ok(exact.value);
        }
        let mut reader = serde_json::Deserializer::from_str(&text);
        reader.disable_recursion_limit();
        ValueSeed::new(MAX_DEPTH).deserialize(&mut reader)
    }
}

/// Reads a [`Value`] of at most so many levels, from any format that serde reads.
///
/// A format with a limit of its own may refuse earlier; see
/// `serde_json::Deserializer::disable_recursion_limit`.
#[derive(Debug, Clone, Copy)]
pub struct ValueSeed {
    max_depth: usize,
}

impl ValueSeed {
    /// A seed for values of at most `max_depth` levels, and never more than [`MAX_DEPTH`].
    #[must_use]
    pub fn new(max_depth: usize) -> Self {
        Self { max_depth: max_depth.min(MAX_DEPTH) }
    }
}

impl<'de> DeserializeSeed<'de> for ValueSeed {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        Level { max: self.max_depth, left: self.max_depth, seen: None }.deserialize(deserializer)
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        ValueSeed::new(MAX_DEPTH).deserialize(deserializer)
    }
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Object(object) => Ok(object),
            other => Err(D::Error::invalid_type(other.unexpected(), &"an object")),
        }
    }
}

impl<'de> Deserialize<'de> for List {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::List(list) => Ok(list),
            other => Err(D::Error::invalid_type(other.unexpected(), &"an array")),
        }
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Number(number) => Ok(number),
            other => Err(D::Error::invalid_type(other.unexpected(), &"a number")),
        }
    }
}

/// One level of a value being read: how many more may open inside it.
#[derive(Clone, Copy)]
pub(crate) struct Level<'a> {
    max: usize,
    left: usize,
    seen: Option<&'a Seen>,
}

/// What a reading tells beside its result.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// The limit was the reason, which an error of serde's cannot say.
    too_deep: Cell<bool>,
    /// Some key was given twice, which the value does not show.
    duplicate: Cell<bool>,
    /// Some number was read as a double, and may have been rounded.
    double: Cell<bool>,
}

impl Seen {
    /// Whether some number was read as a double, and may have been rounded.
    pub(crate) fn double(&self) -> bool {
        self.double.get()
    }

    /// Whether some key was given twice.
    pub(crate) fn duplicate(&self) -> bool {
        self.duplicate.get()
    }
}

impl<'a> Level<'a> {
    /// A value at which `left` of `max` levels may still open.
    pub(crate) fn new(max: usize, left: usize, seen: &'a Seen) -> Self {
        Self { max, left, seen: Some(seen) }
    }

    /// Whether a container may open: true, or the error.
    fn open<E: serde::de::Error>(self) -> Result<bool, E> {
        if self.left > 0 {
            return Ok(true);
        }
        if let Some(seen) = self.seen {
            seen.too_deep.set(true);
        }
        Err(E::custom(format_args!("value nested deeper than {} levels", self.max)))
    }

    fn inner(self) -> Self {
        Self { left: self.left.saturating_sub(1), ..self }
    }
}

impl<'de> DeserializeSeed<'de> for Level<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Level<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<Value, D::Error> {
        self.deserialize(inner)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        if let Some(seen) = self.seen {
            seen.double.set(true);
        }
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("number is not finite"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        let mut list = List::new();
        let mut more = self.open();
        // What an element needs is kept off this frame: there is one at every level.
        while let Ok(true) = more {
            more = push_element(&mut list, elements.next_element_seed(self.inner()));
        }
        more.map(|_| list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut entries = Vec::new();
        let mut more = self.open();
        while let Ok(true) = more {
            more = members.next_key_seed(KeyOf(&mut entries)).map(|key| key.is_some());
            if let Ok(true) = more {
                more = set_value(&mut entries, members.next_value_seed(self.inner()));
            }
        }
        finish_object(more, entries, self.seen)
    }
}

/// The key under which `serde_json` shows a number to a visitor, in a build that turns on its
/// feature `arbitrary_precision`. This crate never does, but Cargo gives one `serde_json` to all
/// crates of a build.
pub(super) const NUMBER_KEY: &str = "$serde_json::private::Number";

/// Whether this build is such a one: there, a number comes as its text. It is read as it would be
/// in any other build.
pub(super) fn has_arbitrary_precision() -> bool {
    static KEEPS_TEXT: OnceLock<bool> = OnceLock::new();
    *KEEPS_TEXT.get_or_init(|| {
        serde_json::from_str::<serde_json::Number>("1.00")
            .is_ok_and(|number| number.to_string() == "1.00")
    })
}

fn push_element<E>(list: &mut List, element: Result<Option<Value>, E>) -> Result<bool, E> {
    let element = element?;
    let more = element.is_some();
    list.extend(element);
    Ok(more)
}

/// Reads a key and begins its entry.
// It is made where it stands: moving it there would take longer than making it.
struct KeyOf<'a>(&'a mut Vec<Entry>);

impl<'de> DeserializeSeed<'de> for KeyOf<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for KeyOf<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<(), E> {
        self.0.push((key.into(), Value::Null));
        Ok(())
    }
}

fn set_value<E>(entries: &mut [Entry], value: Result<Value, E>) -> Result<bool, E> {
    let value = value?;
    if let Some(last) = entries.last_mut() {
        last.1 = value;
    }
    Ok(true)
}

fn finish_object<E: serde::de::Error>(
    ended: Result<bool, E>,
    entries: Vec<Entry>,
    seen: Option<&Seen>,
) -> Result<Value, E> {
    ended?;
    match entries.as_slice() {
        [(key, Value::String(literal))] if key == NUMBER_KEY && has_arbitrary_precision() => {
            let nearest = |number: Number| match number.exact() {
                None => Some(number),
                Some(_) => Number::from_f64(number.as_f64()?),
            };
            let number = Number::parse(literal).and_then(nearest);
            if let Some(seen) = seen {
                seen.double.set(true);
            }
            number.map(Value::Number).ok_or_else(|| E::custom("number out of range"))
        }
        _ => {
            // Its keys are made unique now, and not before.
            let given = entries.len();
            let object = Object::from_entries(entries);
            if let Some(seen) = seen
                && object.len() < given
            {
                seen.duplicate.set(true);
            }
            Ok(Value::Object(object))
        }
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Nested { value: self, left: MAX_DEPTH }.serialize(serializer)
    }
}

impl Serialize for List {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_list(self, MAX_DEPTH - 1, serializer)
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_object(self, MAX_DEPTH - 1, serializer)
    }
}

/// An integer, a double, or the exact text as it is.
///
/// serde has no numbers of any length. Exact text goes out by way of `serde_json`'s `RawValue`, which
/// `serde_json` writes as the number that it is; another format shows it as it can.
impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some(text) = self.exact() {
            let raw = RawValue::from_string(text.to_owned());
            // Only text that JSON has no number for is refused.
            let raw =
                raw.map_err(|_| S::Error::custom(format_args!("number {text} is not finite")));
            return raw?.serialize(serializer);
        }
        match (self.as_i64(), self.as_u64(), self.as_f64()) {
            (Some(integer), _, _) => serializer.serialize_i64(integer),
            (_, Some(integer), _) => serializer.serialize_u64(integer),
            (_, _, Some(double)) => serializer.serialize_f64(double),
            _ => Err(S::Error::custom(format_args!("number {self} is out of range"))),
        }
    }
}

/// A value being written, and how many levels may open.
struct Nested<'a> {
    value: &'a Value,
    left: usize,
}

impl Serialize for Nested<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (self.value, self.left.checked_sub(1)) {
            (Value::Null, _) => serializer.serialize_unit(),
            (Value::Bool(value), _) => serializer.serialize_bool(*value),
            (Value::Number(number), _) => number.serialize(serializer),
            (Value::String(text), _) => serializer.serialize_str(text),
            (Value::List(list), Some(left)) => serialize_list(list, left, serializer),
            (Value::Object(object), Some(left)) => serialize_object(object, left, serializer),
            (Value::List(_) | Value::Object(_), None) => {
                Err(S::Error::custom(format_args!("value nested deeper than {MAX_DEPTH} levels")))
            }
        }
    }
}

fn serialize_list<S: Serializer>(list: &List, left: usize, to: S) -> Result<S::Ok, S::Error> {
    let mut elements = to.serialize_seq(Some(list.len()))?;
    for value in list {
        elements.serialize_element(&Nested { value, left })?;
    }
    elements.end()
}

fn serialize_object<S: Serializer>(object: &Object, left: usize, to: S) -> Result<S::Ok, S::Error> {
    let mut members = to.serialize_map(Some(object.len()))?;
    for (key, value) in object {
        members.serialize_entry(key, &Nested { value, left })?;
    }
    members.end()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{nested_lists, nested_objects, on_a_small_stack};
    use super::*;

    fn read(text: &str) -> Result<Value, JsonError> {
        Value::from_json(text, 128)
    }

    #[test]
    fn numbers_are_read_as_what_they_are() {
        let value =
            read("[5, -5, 5.0, 1e3, -0, 18446744073709551615, 18446744073709551616]").unwrap();
        assert_eq!(
            value.to_string(),
            "[5,-5,5.0,1000.0,-0.0,18446744073709551615,1.8446744073709552e+19]"
        );
    }

    #[test]
    fn the_last_of_equal_keys_wins_in_the_place_of_the_first() {
        let value = read(r#"{"a":1,"b":2,"a":[3]}"#).unwrap();
        assert_eq!(value.to_string(), r#"{"a":[3],"b":2}"#);
    }

    #[track_caller]
    fn check_malformed(text: &str, place: &str, reason: &str) {
        let error = read(text).unwrap_err();
        assert_eq!(error.to_string(), format!("malformed JSON{place}: {reason}"));
    }

    #[test]
    fn text_that_is_not_one_json_value_is_refused() {
        check_malformed("", "", "EOF while parsing a value at line 1 column 0");
        check_malformed("[1,]", " at /1", "trailing comma at line 1 column 4");
        check_malformed("1 2", "", "trailing characters at line 1 column 3");
        check_malformed("{\"a\":1}\n]", "", "trailing characters at line 2 column 1");
        check_malformed("[1e400]", " at /0", "number out of range at line 1 column 6");
        check_malformed("NaN", "", "expected value at line 1 column 1");
    }

    #[test]
    fn text_deeper_than_the_limit_is_refused_where_it_is_too_deep() {
        for value in [nested_lists(5), nested_objects(5)] {
            let text = value.to_string();
            assert_eq!(Value::from_json(&text, 5).unwrap(), value);
            assert!(matches!(
                Value::from_json(&text, 4),
                Err(JsonError::TooDeep { max: 4, line: 1, .. })
            ));
        }
        for text in
            ["[\n[[]]]", "[\n[[1]]]", "[\n[{}]]", "[\n[[\n ]]]", "[\n[[], 1]]", "[\n[[1e400]]]"]
        {
            for error in [
                Value::from_json(text, 2).unwrap_err(),
                ExactJson::read(text, 2).unwrap_err(),
                ExactJson::read_quickly(text, 2).unwrap_err(),
            ] {
                assert_eq!(
                    error.to_string(),
                    "JSON nested deeper than 2 levels at line 2 column 2"
                );
            }
        }
        let error = Value::from_json(r#"{"[\"{":[], "k\\":[[]]}"#, 2).unwrap_err();
        assert_eq!(error.to_string(), "JSON nested deeper than 2 levels at line 1 column 20");
        assert!(Value::from_json("1", 0).is_ok());
        let beyond = Value::from_json(&"[".repeat(1_000_000), usize::MAX).unwrap_err();
        assert!(matches!(beyond, JsonError::TooDeep { max: MAX_DEPTH, .. }));
    }

    #[test]
    fn the_default_depth_fits_a_small_stack_and_the_greatest_a_mebibyte() {
        for make in [nested_lists, nested_objects] {
            on_a_small_stack(move || {
                let value = make(128);
                assert_eq!(read(&value.to_string()).unwrap(), value);
                assert!(serde_json::to_string(&value).is_ok());
            });
            let at_most = std::thread::Builder::new().stack_size(1024 * 1024).spawn(move || {
                let value = make(MAX_DEPTH);
                let text = serde_json::to_string(&value).unwrap();
                assert_eq!(Value::from_json(&text, MAX_DEPTH).unwrap(), value);
                assert_eq!(value.to::<Value>().unwrap(), value);
            });
            at_most.unwrap().join().unwrap();
        }
    }

    #[test]
    fn exact_digits_are_written_and_read_back() {
        for text in ["1e400", "0.10000000000000000001", "[-123456789012345678901234567890.5]"] {
            let value = ExactJson::read(text, 8).unwrap().value;
            assert_eq!(serde_json::to_string(&value).unwrap(), text);
            assert_eq!(Value::from_serialize(&value).unwrap(), value);
        }
    }

    #[test]
    fn serde_refuses_what_it_cannot_hold() {
        let error = serde_json::to_string(&nested_objects(MAX_DEPTH + 1)).unwrap_err();
        assert_eq!(error.to_string(), "value nested deeper than 512 levels");
        let seed = ValueSeed::new(1);
        let mut reader = serde_json::Deserializer::from_str("[[1]]");
        let error = seed.deserialize(&mut reader).unwrap_err();
        assert!(error.to_string().starts_with("value nested deeper than 1 levels at line 1"));
    }

    #[test]
    fn parts_of_a_value_are_read_alone() {
        assert_eq!(serde_json::from_str::<Object>(r#"{"a":1}"#).unwrap(), Object::from([("a", 1)]));
        assert_eq!(serde_json::from_str::<List>("[1]").unwrap(), List::from([1]));
        assert_eq!(serde_json::from_str::<Number>("1.5").unwrap().as_f64(), Some(1.5));
        let error = serde_json::from_str::<Object>("[]").unwrap_err();
        assert_eq!(error.to_string(), "invalid type: sequence, expected an object");
        let error = serde_json::from_str::<List>(r#""x""#).unwrap_err();
        assert_eq!(error.to_string(), r#"invalid type: string "x", expected an array"#);
        let error = serde_json::from_str::<Number>("null").unwrap_err();
        assert_eq!(error.to_string(), "invalid type: null, expected a number");
    }

    #[test]
    fn serialisable_data_becomes_a_value_in_its_order() {
        #[derive(Serialize)]
        struct Data<'a> {
            z: &'a str,
            a: Option<f32>,
            #[serde(skip_serializing_if = "Option::is_none")]
            absent: Option<u8>,
            big: u64,
        }
        let data = Data { z: "x", a: Some(0.1), absent: None, big: u64::MAX };
        let value = Value::from_serialize(&data).unwrap();
        assert_eq!(value.to_string(), r#"{"z":"x","a":0.1,"big":18446744073709551615}"#);
        assert!(
            Value::from_serialize(
                &[(1, 2)].into_iter().collect::<std::collections::BTreeMap<_, _>>()
            )
            .is_ok()
        );
        assert!(Value::from_serialize(&std::collections::BTreeMap::from([([1], 2)])).is_err());
    }
}
