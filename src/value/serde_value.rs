//! To and from `serde_json::Value`.
//!
//! Its maps sort their keys, unless the user's build turns on `preserve_order`. Whatever order they
//! give is kept here; the order given here may be lost there.

use serde_json::{Map, Value as Json};

use super::{ConvertError, List, Number, Object, Value};

impl From<serde_json::Number> for Number {
    fn from(number: serde_json::Number) -> Self {
        (&number).into()
    }
}

impl From<&serde_json::Number> for Number {
    fn from(number: &serde_json::Number) -> Self {
        if let Some(integer) = number.as_i64() {
            return integer.into();
        }
        if let Some(integer) = number.as_u64() {
            return integer.into();
        }
        // A finite double, except in a build with `arbitrary_precision`: then it is any literal.
        let double = number.as_f64().and_then(Number::from_f64);
        double.or_else(|| Number::parse(&number.to_string())).unwrap_or_else(|| 0.into())
    }
}

/// Any depth, without recursion.
impl From<Json> for Value {
    fn from(json: Json) -> Self {
        let mut root = Value::Null;
        let mut todo = vec![(json, &mut root)];
        while let Some((json, into)) = todo.pop() {
            match json {
                Json::Null => {}
                Json::Bool(value) => *into = value.into(),
                Json::Number(number) => *into = Number::from(number).into(),
                Json::String(text) => *into = text.into(),
                Json::Array(values) => {
                    *into = Value::List(List::from_values(vec![Value::Null; values.len()]));
                    if let Value::List(list) = into {
                        todo.extend(values.into_iter().zip(list));
                    }
                }
                Json::Object(members) => {
                    let (keys, values): (Vec<_>, Vec<_>) = members.into_iter().unzip();
                    let entries = keys.into_iter().map(|key| (key.into(), Value::Null)).collect();
                    *into = Value::Object(Object::from_unique(entries));
                    if let Value::Object(object) = into {
                        todo.extend(values.into_iter().zip(object.values_mut()));
                    }
                }
            }
        }
        root
    }
}

/// Any depth, without recursion.
impl From<&Json> for Value {
    fn from(json: &Json) -> Self {
        let mut root = Value::Null;
        let mut todo = vec![(json, &mut root)];
        while let Some((json, into)) = todo.pop() {
            match json {
                Json::Null => {}
                Json::Bool(value) => *into = (*value).into(),
                Json::Number(number) => *into = Number::from(number).into(),
                Json::String(text) => *into = text.as_str().into(),
                Json::Array(values) => {
                    *into = Value::List(List::from_values(vec![Value::Null; values.len()]));
                    if let Value::List(list) = into {
                        todo.extend(values.iter().zip(list));
                    }
                }
                Json::Object(members) => {
                    let entries = members.keys().map(|key| (key.into(), Value::Null)).collect();
                    *into = Value::Object(Object::from_unique(entries));
                    if let Value::Object(object) = into {
                        todo.extend(members.values().zip(object.values_mut()));
                    }
                }
            }
        }
        root
    }
}

impl From<Map<String, Json>> for Object {
    fn from(members: Map<String, Json>) -> Self {
        members.into_iter().collect()
    }
}

impl From<Map<String, Json>> for Value {
    fn from(members: Map<String, Json>) -> Self {
        Self::Object(members.into())
    }
}

/// A number kept as text becomes the nearest double.
///
/// # Errors
///
/// [`ConvertError::NotFinite`] if a number is out of the range of doubles;
/// [`ConvertError::TooDeep`] beyond [`MAX_DEPTH`](super::MAX_DEPTH), since a `serde_json::Value`
/// recurses to drop.
impl TryFrom<Value> for Json {
    type Error = ConvertError;

    fn try_from(value: Value) -> Result<Self, ConvertError> {
        (&value).try_into()
    }
}

/// As from an owned value.
impl TryFrom<&Value> for Json {
    type Error = ConvertError;

    fn try_from(value: &Value) -> Result<Self, ConvertError> {
        value.check_convertible()?;
        Ok(to_json(value))
    }
}

/// As of the [`Value`] that holds the object.
impl TryFrom<&Object> for Map<String, Json> {
    type Error = ConvertError;

    fn try_from(object: &Object) -> Result<Self, ConvertError> {
        object.check_convertible()?;
        Ok(to_members(object))
    }
}

/// As of the [`Value`] that holds the object.
impl TryFrom<Object> for Map<String, Json> {
    type Error = ConvertError;

    fn try_from(object: Object) -> Result<Self, ConvertError> {
        (&object).try_into()
    }
}

/// Every number in `value` has a double, and its depth is within the limit.
fn to_json(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(value) => Json::Bool(*value),
        Value::Number(number) => to_json_number(number),
        Value::String(text) => Json::String(text.clone()),
        Value::List(list) => {
            let mut values = Vec::with_capacity(list.len());
            for value in list {
                values.push(to_json(value));
            }
            Json::Array(values)
        }
        Value::Object(object) => Json::Object(to_members(object)),
    }
}

fn to_members(object: &Object) -> Map<String, Json> {
    let mut members = Map::new();
    for (key, value) in object {
        members.insert(key.to_owned(), to_json(value));
    }
    members
}

fn to_json_number(number: &Number) -> Json {
    match (number.as_i64(), number.as_u64()) {
        (Some(integer), _) => integer.into(),
        (_, Some(integer)) => integer.into(),
        _ => number.as_f64().into(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::MAX_DEPTH;
    use super::super::tests::{nested_lists, on_a_small_stack};
    use super::*;

    #[test]
    fn json_values_convert_both_ways() {
        let json = json!({"a": [1, -2.5, u64::MAX, null, true, {"x": []}], "b": {"c": "d"}});
        let value = Value::from(json.clone());
        assert_eq!(value.to_string(), json.to_string());
        assert_eq!(Value::from(&json), value);
        assert_eq!(Json::try_from(value).unwrap(), json);
        let Json::Object(map) = json else { panic!() };
        let object = Object::from(map.clone());
        assert_eq!(Map::try_from(object).unwrap(), map);
        assert_eq!(List::from(vec![json!(1)]), List::from([1]));
        assert_eq!(Object::from([("k", json!({"n": 1}))])["k"]["n"], 1);
    }

    #[test]
    fn a_deep_json_value_converts_on_a_small_stack() {
        on_a_small_stack(|| {
            let deep = (0..100_000).fold(json!({}), |inner, level| match level % 2 {
                0 => Json::Array(vec![inner]),
                _ => Json::Object(Map::from_iter([("in".to_owned(), inner)])),
            });
            let value = Value::from(&deep);
            assert_eq!(value.depth(), 100_001);
            // It is taken apart, since it recurses to drop.
            assert_eq!(Value::from(deep), value);
        });
    }

    #[test]
    fn what_json_values_cannot_hold_is_refused_with_its_place() {
        let number = |text| Value::from(Number::parse(text).unwrap());
        assert_eq!(Json::try_from(number("0.10000000000000000001")).unwrap(), json!(0.1));
        let value = Value::from(Object::from([("a/b", vec![Value::Null, number("-1e400")])]));
        let error = Json::try_from(&value).unwrap_err();
        assert_eq!(error.to_string(), r#"number -1e400 at "/a~1b/1" is not a finite double"#);
        assert!(Json::try_from(nested_lists(MAX_DEPTH)).is_ok());
        let error = Json::try_from(nested_lists(MAX_DEPTH + 1)).unwrap_err();
        assert_eq!(error.to_string(), "value nested deeper than 512 levels");
    }
}
