//! Rust values as JSON values, and comparing with them.

use std::borrow::Cow;

use super::{List, Number, Object, Value};

impl From<()> for Value {
    fn from((): ()) -> Self {
        Self::Null
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<Number> for Value {
    fn from(number: Number) -> Self {
        Self::Number(number)
    }
}

/// A double. One that is not finite is held, and refused when it is encoded or written as JSON;
/// [`Number::from_f64`] tells before.
impl From<f64> for Value {
    fn from(double: f64) -> Self {
        Self::Number(Number::from_any_f64(double))
    }
}

/// The double of the same value; see there for one that is not finite.
impl From<f32> for Value {
    fn from(float: f32) -> Self {
        f64::from(float).into()
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::String(text)
    }
}

impl From<Cow<'_, str>> for Value {
    fn from(text: Cow<'_, str>) -> Self {
        Self::String(text.into_owned())
    }
}

impl From<List> for Value {
    fn from(list: List) -> Self {
        Self::List(list)
    }
}

impl From<Object> for Value {
    fn from(object: Object) -> Self {
        Self::Object(object)
    }
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(values: Vec<T>) -> Self {
        Self::List(values.into())
    }
}

impl<T: Into<Value>, const N: usize> From<[T; N]> for Value {
    fn from(values: [T; N]) -> Self {
        Self::List(values.into())
    }
}

impl<T: Clone + Into<Value>> From<&[T]> for Value {
    fn from(values: &[T]) -> Self {
        values.iter().cloned().collect()
    }
}

/// Null for `None`.
impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// A list.
impl<T: Into<Value>> FromIterator<T> for Value {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Self::List(values.into_iter().collect())
    }
}

/// An object. Of entries with the same key the last wins, in the place of the first.
impl<K: Into<super::Key>, V: Into<Value>> FromIterator<(K, V)> for Value {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        Self::Object(entries.into_iter().collect())
    }
}

impl PartialEq<str> for Value {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == Some(other)
    }
}

impl PartialEq<&str> for Value {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == Some(*other)
    }
}

impl PartialEq<String> for Value {
    fn eq(&self, other: &String) -> bool {
        self.as_str() == Some(other)
    }
}

impl PartialEq<bool> for Value {
    fn eq(&self, other: &bool) -> bool {
        self.as_bool() == Some(*other)
    }
}

/// By structure: an integer does not equal a double.
impl PartialEq<f64> for Value {
    fn eq(&self, other: &f64) -> bool {
        self.as_number().is_some() && Number::from_f64(*other).as_ref() == self.as_number()
    }
}

macro_rules! integers {
    ($($integer:ty),*) => {$(
        impl From<$integer> for Value {
            fn from(integer: $integer) -> Self {
                Self::Number(integer.into())
            }
        }

        /// By structure: a double does not equal an integer.
        impl PartialEq<$integer> for Value {
            fn eq(&self, other: &$integer) -> bool {
                self.as_number() == Some(&Number::from(*other))
            }
        }
    )*};
}

integers!(i8, i16, i32, i64, isize, u8, u16, u32, u64, usize);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rust_values_become_json_values() {
        let value = Value::from_iter([
            ("null", Value::from(())),
            ("none", None::<i32>.into()),
            ("some", Some("x").into()),
            ("ints", [1_u8, 2].into()),
            ("slice", ["a"].as_slice().into()),
            ("cow", Cow::Borrowed("c").into()),
            ("float", 0.5_f32.into()),
            ("big", u64::MAX.into()),
            ("list", [true].into_iter().collect()),
        ]);
        assert_eq!(
            value.to_string(),
            r#"{"null":null,"none":null,"some":"x","ints":[1,2],"slice":["a"],"cow":"c","float":0.5,"big":18446744073709551615,"list":[true]}"#
        );
    }

    #[test]
    fn values_compare_with_rust_values_by_structure() {
        assert_eq!(Value::from(5), 5_u64);
        assert_ne!(Value::from(5), 5.0);
        assert_ne!(Value::from(5.0), 5);
        assert_eq!(Value::from("x"), *"x");
        assert_eq!(Value::from("x"), "x".to_owned());
        assert_ne!(Value::Null, false);
        assert_ne!(Value::Null, f64::NAN);
        assert_eq!(Value::from(f64::NAN).unwritable().map(|(at, _)| at), Some(String::new()));
        assert!(serde_json::to_string(&Value::from(f32::INFINITY)).is_err());
    }
}
