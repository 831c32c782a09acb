//! Looking into a value, in the manner of `serde_json`.

use std::{mem, ops};

use super::{List, Number, Object, Value};

static NULL: Value = Value::Null;

/// What finds a child: a key in an object, or a position in a list.
pub trait ValueIndex: sealed::Sealed {
    /// The child of `value`, if there is one.
    #[doc(hidden)]
    fn find<'a>(&self, value: &'a Value) -> Option<&'a Value>;
    /// The child of `value`, to change.
    #[doc(hidden)]
    fn find_mut<'a>(&self, value: &'a mut Value) -> Option<&'a mut Value>;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for str {}
    impl Sealed for String {}
    impl Sealed for usize {}
    impl<T: Sealed + ?Sized> Sealed for &T {}
}

impl ValueIndex for str {
    fn find<'a>(&self, value: &'a Value) -> Option<&'a Value> {
        value.as_object()?.get(self)
    }

    fn find_mut<'a>(&self, value: &'a mut Value) -> Option<&'a mut Value> {
        value.as_object_mut()?.get_mut(self)
    }
}

impl ValueIndex for String {
    fn find<'a>(&self, value: &'a Value) -> Option<&'a Value> {
        value.as_object()?.get(self)
    }

    fn find_mut<'a>(&self, value: &'a mut Value) -> Option<&'a mut Value> {
        value.as_object_mut()?.get_mut(self)
    }
}

impl ValueIndex for usize {
    fn find<'a>(&self, value: &'a Value) -> Option<&'a Value> {
        value.as_list()?.get(*self)
    }

    fn find_mut<'a>(&self, value: &'a mut Value) -> Option<&'a mut Value> {
        value.as_list_mut()?.get_mut(*self)
    }
}

impl<T: ValueIndex + ?Sized> ValueIndex for &T {
    fn find<'a>(&self, value: &'a Value) -> Option<&'a Value> {
        (**self).find(value)
    }

    fn find_mut<'a>(&self, value: &'a mut Value) -> Option<&'a mut Value> {
        (**self).find_mut(value)
    }
}

/// `value["key"]` and `value[0]`: null where there is no such child.
impl<I: ValueIndex> ops::Index<I> for Value {
    type Output = Value;

    fn index(&self, index: I) -> &Value {
        index.find(self).unwrap_or(&NULL)
    }
}

impl Value {
    /// The child under a key or at a position; nothing if this is not such a container.
    pub fn get(&self, index: impl ValueIndex) -> Option<&Value> {
        index.find(self)
    }

    /// The child under a key or at a position, to change.
    pub fn get_mut(&mut self, index: impl ValueIndex) -> Option<&mut Value> {
        index.find_mut(self)
    }

    /// What a JSON pointer names: `""` is this value, `"/a/0"` the first element under `a`.
    ///
    /// Rule: RFC 6901. A position has no sign and no leading zeros.
    #[must_use]
    pub fn pointer(&self, pointer: &str) -> Option<&Value> {
        tokens(pointer)?.try_fold(self, |value, token| match value {
            Self::List(list) => list.get(position(&token)?),
            Self::Object(object) => object.get(&token),
            _ => None,
        })
    }

    /// What a JSON pointer names, to change.
    #[must_use]
    pub fn pointer_mut(&mut self, pointer: &str) -> Option<&mut Value> {
        tokens(pointer)?.try_fold(self, |value, token| match value {
            Self::List(list) => list.get_mut(position(&token)?),
            Self::Object(object) => object.get_mut(&token),
            _ => None,
        })
    }

    /// Moves the value out and leaves null.
    #[must_use]
    pub fn take(&mut self) -> Value {
        mem::take(self)
    }

    /// Whether this is null.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Whether this is true or false.
    #[must_use]
    pub fn is_bool(&self) -> bool {
        matches!(self, Self::Bool(_))
    }

    /// Whether this is a number.
    #[must_use]
    pub fn is_number(&self) -> bool {
        matches!(self, Self::Number(_))
    }

    /// Whether this is a string.
    #[must_use]
    pub fn is_string(&self) -> bool {
        matches!(self, Self::String(_))
    }

    /// Whether this is a list.
    #[must_use]
    pub fn is_list(&self) -> bool {
        matches!(self, Self::List(_))
    }

    /// Whether this is an object.
    #[must_use]
    pub fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }

    /// The boolean, if this is one.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(value) = self { Some(*value) } else { None }
    }

    /// The number, if this is one.
    #[must_use]
    pub fn as_number(&self) -> Option<&Number> {
        if let Self::Number(number) = self { Some(number) } else { None }
    }

    /// The integer, if this is one and fits; see [`Number::as_i64`].
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        self.as_number()?.as_i64()
    }

    /// The integer, if this is one and fits; see [`Number::as_u64`].
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        self.as_number()?.as_u64()
    }

    /// The nearest double, if this is a number in range; see [`Number::as_f64`].
    #[must_use]
    pub fn as_f64(&self) -> Option<f64> {
        self.as_number()?.as_f64()
    }

    /// The string, if this is one.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        if let Self::String(text) = self { Some(text) } else { None }
    }

    /// The list, if this is one.
    #[must_use]
    pub fn as_list(&self) -> Option<&List> {
        if let Self::List(list) = self { Some(list) } else { None }
    }

    /// The list, if this is one, to change.
    #[must_use]
    pub fn as_list_mut(&mut self) -> Option<&mut List> {
        if let Self::List(list) = self { Some(list) } else { None }
    }

    /// The object, if this is one.
    #[must_use]
    pub fn as_object(&self) -> Option<&Object> {
        if let Self::Object(object) = self { Some(object) } else { None }
    }

    /// The object, if this is one, to change.
    #[must_use]
    pub fn as_object_mut(&mut self) -> Option<&mut Object> {
        if let Self::Object(object) = self { Some(object) } else { None }
    }
}

/// The unescaped tokens of a JSON pointer, unless it does not begin with a slash.
fn tokens(pointer: &str) -> Option<impl Iterator<Item = String>> {
    if !pointer.is_empty() && !pointer.starts_with('/') {
        return None;
    }
    Some(pointer.split('/').skip(1).map(|token| token.replace("~1", "/").replace("~0", "~")))
}

fn position(token: &str) -> Option<usize> {
    let plain = token.bytes().all(|byte| byte.is_ascii_digit());
    let minimal = token == "0" || !token.starts_with('0');
    if plain && minimal { token.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Value {
        Value::from_json(r#"{"a":[10,{"b/c":"x","~":true}],"":1.5,"01":{"01":2}}"#, 128).unwrap()
    }

    #[test]
    fn children_are_indexed_and_absent_ones_are_null() {
        let value = sample();
        assert_eq!(value["a"][1]["b/c"], "x");
        assert_eq!(value["a"][0], 10);
        assert_eq!(value[""], 1.5);
        assert_eq!(value["a"][1][&"~".to_owned()], true);
        for absent in [&value["b"], &value["a"][2], &value["a"]["x"], &value[0], &value["a"][0][0]]
        {
            assert!(absent.is_null());
        }
        assert_eq!(value.get("b"), None);
        assert_eq!(value.get("a").and_then(|a| a.get(0)), Some(&10.into()));
    }

    #[test]
    fn pointers_follow_the_rfc() {
        let mut value = sample();
        for (pointer, found) in [
            ("", Some(value.clone())),
            ("/", Some(1.5.into())),
            ("/a/0", Some(10.into())),
            ("/a/1/b~1c", Some("x".into())),
            ("/a/1/~0", Some(true.into())),
            ("/01/01", Some(2.into())),
            ("/a/00", None),
            ("/a/+0", None),
            ("/a/-", None),
            ("/a/", None),
            ("/a/2", None),
            ("/a/99999999999999999999999", None),
            ("/a/0/x", None),
            ("a", None),
        ] {
            assert_eq!(value.pointer(pointer), found.as_ref(), "{pointer}");
            assert_eq!(value.pointer_mut(pointer).cloned(), found, "{pointer}");
        }
    }

    #[test]
    fn values_are_changed_in_place_and_taken() {
        let mut value = sample();
        *value.pointer_mut("/a/0").unwrap() = "new".into();
        *value.get_mut("").unwrap() = Value::Null;
        value["a"].as_list().unwrap();
        assert_eq!(value.get_mut("a").map(Value::take).unwrap()[0], "new");
        assert!(value["a"].is_null() && value.as_object().unwrap().contains_key("a"));
    }

    #[test]
    fn a_value_tells_what_it_is() {
        let value =
            Value::from(vec![Value::Null, true.into(), 7.into(), "s".into(), Object::new().into()]);
        assert!(value.is_list() && value[0].is_null() && value[1].is_bool());
        assert!(value[2].is_number() && value[3].is_string() && value[4].is_object());
        assert_eq!((value[1].as_bool(), value[2].as_bool()), (Some(true), None));
        assert_eq!(
            (value[2].as_i64(), value[2].as_u64(), value[2].as_f64()),
            (Some(7), Some(7), Some(7.0))
        );
        assert_eq!((value[3].as_str(), value[3].as_i64()), (Some("s"), None));
    }
}
