//! To and from the `Value`, `Struct` and `ListValue` of `prost-types`.
//!
//! Its maps sort their keys, so the order of an object's entries is lost there. A value without a
//! kind follows the rules of the wire: [`Slot`] holds it as nothing, an object drops its key, and a
//! list has null in its place.
//!
//! Every conversion refuses more than [`MAX_DEPTH`] levels, since these types recurse to drop, and
//! numbers that are not finite doubles.

use std::collections::BTreeMap;

use ::prost_types::value::Kind;
use ::prost_types::{ListValue, Struct, Value as Theirs};

use super::{ConvertError, List, MAX_DEPTH, Number, Object, Slot, Value};

impl TryFrom<Theirs> for Slot {
    type Error = ConvertError;

    fn try_from(value: Theirs) -> Result<Self, ConvertError> {
        ours(value, MAX_DEPTH).map(Self)
    }
}

/// A value without a kind is null; [`Slot`] tells the two apart.
impl TryFrom<Theirs> for Value {
    type Error = ConvertError;

    fn try_from(value: Theirs) -> Result<Self, ConvertError> {
        Ok(ours(value, MAX_DEPTH)?.unwrap_or_default())
    }
}

impl TryFrom<Struct> for Object {
    type Error = ConvertError;

    fn try_from(value: Struct) -> Result<Self, ConvertError> {
        our_object(value, MAX_DEPTH - 1)
    }
}

impl TryFrom<ListValue> for List {
    type Error = ConvertError;

    fn try_from(value: ListValue) -> Result<Self, ConvertError> {
        our_list(value, MAX_DEPTH - 1)
    }
}

impl TryFrom<Slot> for Theirs {
    type Error = ConvertError;

    fn try_from(slot: Slot) -> Result<Self, ConvertError> {
        slot.0.map_or(Ok(Self { kind: None }), Self::try_from)
    }
}

impl TryFrom<Value> for Theirs {
    type Error = ConvertError;

    fn try_from(value: Value) -> Result<Self, ConvertError> {
        value.check_convertible()?;
        Ok(theirs(value))
    }
}

impl TryFrom<Object> for Struct {
    type Error = ConvertError;

    fn try_from(object: Object) -> Result<Self, ConvertError> {
        object.check_convertible()?;
        Ok(their_struct(object))
    }
}

impl TryFrom<List> for ListValue {
    type Error = ConvertError;

    fn try_from(list: List) -> Result<Self, ConvertError> {
        list.check_convertible()?;
        Ok(their_list(list))
    }
}

fn ours(value: Theirs, left: usize) -> Result<Option<Value>, ConvertError> {
    Ok(Some(match value.kind {
        None => return Ok(None),
        Some(Kind::NullValue(_)) => Value::Null,
        Some(Kind::BoolValue(value)) => value.into(),
        Some(Kind::NumberValue(double)) => our_number(double)?,
        Some(Kind::StringValue(text)) => text.into(),
        Some(Kind::ListValue(list)) => our_list(list, inner(left)?)?.into(),
        Some(Kind::StructValue(object)) => our_object(object, inner(left)?)?.into(),
    }))
}

fn inner(left: usize) -> Result<usize, ConvertError> {
    left.checked_sub(1).ok_or(ConvertError::TooDeep { max: MAX_DEPTH })
}

fn our_number(double: f64) -> Result<Value, ConvertError> {
    if double.is_finite() {
        return Ok(Number::from_wire(double).into());
    }
    Err(ConvertError::NotFinite { pointer: String::new(), number: double.to_string() })
}

fn our_list(list: ListValue, left: usize) -> Result<List, ConvertError> {
    let mut values = Vec::with_capacity(list.values.len());
    for (index, value) in list.values.into_iter().enumerate() {
        let value = ours(value, left).map_err(|error| error.inside(None, index))?;
        values.push(value.unwrap_or_default());
    }
    Ok(List::from_values(values))
}

fn our_object(object: Struct, left: usize) -> Result<Object, ConvertError> {
    let mut entries = Vec::with_capacity(object.fields.len());
    for (key, value) in object.fields {
        match ours(value, left) {
            Ok(value) => entries.extend(value.map(|value| (key.into(), value))),
            Err(error) => return Err(error.inside(Some(&key), 0)),
        }
    }
    Ok(Object::from_unique(entries))
}

/// Every number in `value` has a double, and its depth is within the limit.
fn theirs(value: Value) -> Theirs {
    Theirs {
        kind: Some(match value {
            Value::Null => Kind::NullValue(0),
            Value::Bool(value) => Kind::BoolValue(value),
            Value::Number(number) => Kind::NumberValue(number.as_f64().unwrap_or_default()),
            Value::String(text) => Kind::StringValue(text),
            Value::List(list) => Kind::ListValue(their_list(list)),
            Value::Object(object) => Kind::StructValue(their_struct(object)),
        }),
    }
}

fn their_list(list: List) -> ListValue {
    let mut values = Vec::with_capacity(list.len());
    for value in list {
        values.push(theirs(value));
    }
    ListValue { values }
}

fn their_struct(object: Object) -> Struct {
    let mut fields = BTreeMap::new();
    for (key, value) in object {
        fields.insert(key.into(), theirs(value));
    }
    Struct { fields }
}

#[cfg(test)]
mod tests {
    use prost::Message;

    use super::super::tests::nested_objects;
    use super::*;

    #[test]
    fn values_convert_both_ways() {
        let text = r#"{"a":[1,2.5,null,true,"x",[],{}],"b":{"c":-0.0}}"#;
        let value = Value::from_json(text, 128).unwrap();
        let theirs = Theirs::try_from(value.clone()).unwrap();
        assert_eq!(theirs.encode_to_vec(), value.encode_to_vec());
        assert_eq!(Value::try_from(theirs).unwrap().to_string(), text);
        let object = Object::from([("a", 1)]);
        assert_eq!(Object::try_from(Struct::try_from(object.clone()).unwrap()), Ok(object));
        let list = List::from([1]);
        assert_eq!(List::try_from(ListValue::try_from(list.clone()).unwrap()), Ok(list));
    }

    #[test]
    fn a_value_without_a_kind_follows_the_rules_of_the_wire() {
        let kindless = Theirs { kind: None };
        assert_eq!(Slot::try_from(kindless.clone()), Ok(Slot(None)));
        assert_eq!(Theirs::try_from(Slot(None)), Ok(kindless.clone()));
        assert_eq!(Value::try_from(kindless.clone()), Ok(Value::Null));
        let list = ListValue { values: vec![kindless.clone()] };
        assert_eq!(List::try_from(list), Ok(List::from([()])));
        let object = Struct { fields: [("a".to_owned(), kindless)].into() };
        assert_eq!(Object::try_from(object), Ok(Object::new()));
    }

    #[test]
    fn what_has_no_place_is_refused() {
        let nan = Theirs { kind: Some(Kind::NumberValue(f64::NAN)) };
        let list = ListValue { values: vec![Theirs { kind: None }, nan] };
        let error = List::try_from(list).unwrap_err();
        assert_eq!(error.to_string(), r#"number NaN at "/1" is not a finite double"#);
        let value =
            Value::from([("a", Number::parse("1e400").unwrap())].into_iter().collect::<Object>());
        let error = Theirs::try_from(value).unwrap_err();
        assert_eq!(error.to_string(), r#"number 1e400 at "/a" is not a finite double"#);
        assert!(Theirs::try_from(nested_objects(MAX_DEPTH)).is_ok());
        let error = Theirs::try_from(nested_objects(MAX_DEPTH + 1)).unwrap_err();
        assert_eq!(error, ConvertError::TooDeep { max: 512 });
    }
}
