//! Reading a value into a type of one's own: `serde::Deserializer` for `&Value`.

use serde::Deserializer;
use serde::de::value::{BorrowedStrDeserializer, MapDeserializer, SeqDeserializer};
use serde::de::{
    DeserializeSeed, EnumAccess, Error as _, IntoDeserializer, Unexpected, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::Error;

use super::{MAX_DEPTH, Number, Value};

impl Value {
    /// What this value is, for a message of serde's.
    pub(super) fn unexpected(&self) -> Unexpected<'_> {
        match self {
            Self::Null => Unexpected::Unit,
            Self::Bool(value) => Unexpected::Bool(*value),
            Self::Number(number) => unexpected_number(number),
            Self::String(text) => Unexpected::Str(text),
            Self::List(_) => Unexpected::Seq,
            Self::Object(_) => Unexpected::Map,
        }
    }
}

fn unexpected_number(number: &Number) -> Unexpected<'_> {
    match (number.as_i64(), number.as_u64(), number.as_f64()) {
        (Some(integer), _, _) => Unexpected::Signed(integer),
        (_, Some(integer), _) => Unexpected::Unsigned(integer),
        (_, _, Some(double)) => Unexpected::Float(double),
        _ => Unexpected::Other("number out of range"),
    }
}

/// A value, and how many levels may open.
#[derive(Clone, Copy)]
struct Reader<'de> {
    value: &'de Value,
    left: usize,
}

impl Reader<'_> {
    fn inner(self) -> Result<usize, Error> {
        let error = || Error::custom(format_args!("value nested deeper than {MAX_DEPTH} levels"));
        self.left.checked_sub(1).ok_or_else(error)
    }
}

impl<'de> IntoDeserializer<'de, Error> for Reader<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Reader<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Number(number) => visit_number(number, visitor),
            Value::String(text) => visitor.visit_borrowed_str(text),
            Value::List(list) => {
                let left = self.inner()?;
                let elements = list.iter().map(|value| Reader { value, left });
                let mut elements = SeqDeserializer::new(elements);
                let result = visitor.visit_seq(&mut elements)?;
                elements.end().map(|()| result)
            }
            Value::Object(object) => {
                let left = self.inner()?;
                let members = object.iter().map(|(key, value)| (Name(key), Reader { value, left }));
                let mut members = MapDeserializer::new(members);
                let result = visitor.visit_map(&mut members)?;
                members.end().map(|()| result)
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.value.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.value {
            Value::String(variant) => visitor.visit_enum(Variant { variant, payload: None }),
            Value::Object(object) => match object.as_slice() {
                [(variant, value)] => {
                    let payload = Some(Reader { value, left: self.inner()? });
                    visitor.visit_enum(Variant { variant, payload })
                }
                _ => Err(Error::invalid_value(Unexpected::Map, &"an object with a single key")),
            },
            other => Err(Error::invalid_type(other.unexpected(), &"a string or an object")),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map struct identifier
    }
}

/// A key. It is text, and read as a number or a boolean where one is asked for, as in JSON.
#[derive(Clone, Copy)]
struct Name<'de>(&'de str);

impl<'de> IntoDeserializer<'de, Error> for Name<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

macro_rules! numbers {
    ($($deserialize:ident)*) => {$(
        fn $deserialize<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            match Number::parse(self.0) {
                Some(number) => visit_number(&number, visitor),
                None => self.deserialize_any(visitor),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for Name<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_borrowed_str(self.0)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            "true" => visitor.visit_bool(true),
            "false" => visitor.visit_bool(false),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_enum(BorrowedStrDeserializer::new(self.0))
    }

    numbers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
        deserialize_f32 deserialize_f64
    }

    forward_to_deserialize_any! {
        char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier
        ignored_any
    }
}

fn visit_number<'de, V: Visitor<'de>>(number: &Number, visitor: V) -> Result<V::Value, Error> {
    if let Some(integer) = number.as_u64() {
        visitor.visit_u64(integer)
    } else if let Some(integer) = number.as_i64() {
        visitor.visit_i64(integer)
    } else if let Some(double) = number.as_f64() {
        visitor.visit_f64(double)
    } else {
        Err(Error::custom(format_args!("number {number} is out of range")))
    }
}

/// A variant of an enum: its name, and its payload if it is written as an object.
struct Variant<'de> {
    variant: &'de str,
    payload: Option<Reader<'de>>,
}

impl<'de> EnumAccess<'de> for Variant<'de> {
    type Error = Error;
    type Variant = Payload<'de>;

    fn variant_seed<V: DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, Payload<'de>), Error> {
        let name = BorrowedStrDeserializer::new(self.variant);
        Ok((seed.deserialize(name)?, Payload(self.payload)))
    }
}

struct Payload<'de>(Option<Reader<'de>>);

impl<'de> Payload<'de> {
    fn required(self, expected: &'static str) -> Result<Reader<'de>, Error> {
        self.0.ok_or_else(|| Error::invalid_type(Unexpected::UnitVariant, &expected))
    }
}

impl<'de> VariantAccess<'de> for Payload<'de> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        self.0.map_or(Ok(()), serde::Deserialize::deserialize)
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        seed.deserialize(self.required("newtype variant")?)
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Error> {
        self.required("tuple variant")?.deserialize_tuple(len, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.required("struct variant")?.deserialize_struct("", fields, visitor)
    }
}

/// Deserialises a value that stands in memory; strings are borrowed from it. A number kept as text
/// is given as the nearest double, and is an error out of the range of doubles.
impl<'de> Deserializer<'de> for &'de Value {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        Reader { value: self, left: MAX_DEPTH }.deserialize_any(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        Reader { value: self, left: MAX_DEPTH }.deserialize_option(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        Reader { value: self, left: MAX_DEPTH }.deserialize_newtype_struct(name, visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        Reader { value: self, left: MAX_DEPTH }.deserialize_enum(name, variants, visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::super::tests::nested_lists;
    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    struct Weather<'a> {
        city: &'a str,
        degrees: f32,
        humidity: Option<u8>,
        wind: Option<(i32, Unit)>,
        #[serde(default)]
        tags: BTreeMap<String, Newtype>,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    struct Newtype(u64);

    #[derive(Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
    enum Unit {
        Kmh,
        Other(String),
        Pair(u8, u8),
        Named { name: String },
    }

    fn read(text: &str) -> Value {
        Value::from_json(text, 128).unwrap()
    }

    #[test]
    fn a_value_is_read_into_the_types_of_its_user() {
        let value = read(
            r#"{"city":"Ulm","degrees":7,"humidity":null,"wind":[-3,"Kmh"],"tags":{"a":1},"x":[{}]}"#,
        );
        let weather = Weather::deserialize(&value).unwrap();
        assert_eq!(weather.city, "Ulm");
        assert_eq!((weather.degrees, weather.humidity), (7.0, None));
        assert_eq!(weather.wind, Some((-3, Unit::Kmh)));
        assert_eq!(weather.tags, BTreeMap::from([("a".to_owned(), Newtype(1))]));
        assert_eq!(value.to::<Value>().unwrap(), value);
    }

    #[test]
    fn members_are_read_into_maps_whose_keys_are_not_strings() {
        #[derive(Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
        struct Id(String);

        #[track_caller]
        fn check<K>(text: &str)
        where
            K: serde::de::DeserializeOwned + Ord + std::fmt::Debug,
        {
            let expected: BTreeMap<K, u8> = serde_json::from_str(text).unwrap();
            assert_eq!(read(text).to::<BTreeMap<K, u8>>().unwrap(), expected);
        }

        check::<Id>(r#"{"a":1,"":2}"#);
        check::<Option<Id>>(r#"{"a":1}"#);
        check::<u64>(r#"{"1":1,"18446744073709551615":2}"#);
        check::<i8>(r#"{"-5":1,"7":2}"#);
        check::<bool>(r#"{"true":1,"false":2}"#);
        check::<char>(r#"{"é":1}"#);
        check::<Unit>(r#"{"Kmh":1}"#);
        let value = read(r#"{"a":1,"a key of more than 22 bytes":2}"#);
        let borrowed = BTreeMap::<&str, u8>::deserialize(&value).unwrap();
        assert_eq!(borrowed, BTreeMap::from([("a", 1), ("a key of more than 22 bytes", 2)]));
        check_error::<BTreeMap<u8, u8>>(r#"{"a":1}"#, r#"invalid type: string "a", expected u8"#);
        check_error::<BTreeMap<u8, u8>>(
            r#"{"256":1}"#,
            "invalid value: integer `256`, expected u8",
        );
        check_error::<BTreeMap<bool, u8>>(
            r#"{"yes":1}"#,
            r#"invalid type: string "yes", expected a boolean"#,
        );
    }

    #[test]
    fn enums_are_read_as_serde_json_writes_them() {
        let units = read(r#"["Kmh",{"Other":"kn"},{"Pair":[1,2]},{"Named":{"name":"m"}}]"#);
        assert_eq!(
            units.to::<Vec<Unit>>().unwrap(),
            [
                Unit::Kmh,
                Unit::Other("kn".into()),
                Unit::Pair(1, 2),
                Unit::Named { name: "m".into() },
            ]
        );
    }

    #[track_caller]
    fn check_error<T: serde::de::DeserializeOwned + std::fmt::Debug>(text: &str, error: &str) {
        assert_eq!(read(text).to::<T>().unwrap_err().to_string(), error);
    }

    #[test]
    fn a_value_that_does_not_fit_is_told() {
        check_error::<u8>("300", "invalid value: integer `300`, expected u8");
        check_error::<bool>("[]", "invalid type: sequence, expected a boolean");
        check_error::<(u8,)>("[1,2]", "invalid length 2, expected 1 element in sequence");
        check_error::<Unit>("1", "invalid type: integer `1`, expected a string or an object");
        check_error::<Unit>(r#""Other""#, "invalid type: unit variant, expected newtype variant");
        check_error::<Unit>(
            r#"{"a":1,"b":2}"#,
            "invalid value: map, expected an object with a single key",
        );
        let huge = Value::from(Number::parse("1e400").unwrap());
        assert_eq!(huge.to::<f64>().unwrap_err().to_string(), "number 1e400 is out of range");
        let error = nested_lists(MAX_DEPTH + 1).to::<Value>().unwrap_err();
        assert_eq!(error.to_string(), "value nested deeper than 512 levels");
        assert!(nested_lists(MAX_DEPTH).to::<Value>().is_ok());
    }
}
