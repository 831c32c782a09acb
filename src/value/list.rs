//! JSON arrays.

use std::ops::{Deref, DerefMut};
use std::{mem, slice, vec};

use super::{Value, nest};

/// A JSON array, and `google.protobuf.ListValue` on the wire. It derefs to a vector.
///
/// # Examples
///
/// ```
/// # use ag_ui_proto::value::{List, Value};
/// let mut list = List::from([1, 2]);
/// list.push(Value::Null);
/// assert_eq!(Value::from(list).to_string(), "[1,2,null]");
/// ```
#[derive(Default)]
pub struct List(Vec<Value>);

impl List {
    /// A list of nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// The list of `values`, which need no conversion.
    pub(super) const fn from_values(values: Vec<Value>) -> Self {
        Self(values)
    }

    /// The elements.
    #[must_use]
    pub fn into_vec(mut self) -> Vec<Value> {
        mem::take(&mut self.0)
    }
}

impl Drop for List {
    fn drop(&mut self) {
        nest::drop_children(self.0.iter_mut());
    }
}

impl Clone for List {
    fn clone(&self) -> Self {
        nest::clone_list(self)
    }
}

impl PartialEq for List {
    fn eq(&self, other: &Self) -> bool {
        nest::same_lists(self, other)
    }
}

impl Eq for List {}

impl Deref for List {
    type Target = Vec<Value>;

    fn deref(&self) -> &Vec<Value> {
        &self.0
    }
}

impl DerefMut for List {
    fn deref_mut(&mut self) -> &mut Vec<Value> {
        &mut self.0
    }
}

impl<T: Into<Value>> From<Vec<T>> for List {
    fn from(values: Vec<T>) -> Self {
        values.into_iter().collect()
    }
}

impl<T: Into<Value>, const N: usize> From<[T; N]> for List {
    fn from(values: [T; N]) -> Self {
        values.into_iter().collect()
    }
}

impl From<List> for Vec<Value> {
    fn from(list: List) -> Self {
        list.into_vec()
    }
}

impl<T: Into<Value>> FromIterator<T> for List {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Self(values.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<Value>> Extend<T> for List {
    fn extend<I: IntoIterator<Item = T>>(&mut self, values: I) {
        self.0.extend(values.into_iter().map(Into::into));
    }
}

impl IntoIterator for List {
    type Item = Value;
    type IntoIter = vec::IntoIter<Value>;

    fn into_iter(self) -> Self::IntoIter {
        self.into_vec().into_iter()
    }
}

impl<'a> IntoIterator for &'a List {
    type Item = &'a Value;
    type IntoIter = slice::Iter<'a, Value>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<'a> IntoIterator for &'a mut List {
    type Item = &'a mut Value;
    type IntoIter = slice::IterMut<'a, Value>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_a_vector_with_conversions() {
        let mut list: List = [1, 2].into_iter().collect();
        list.extend(["x"]);
        list.push(Value::Null);
        for value in &mut list {
            if value.is_null() {
                *value = true.into();
            }
        }
        assert_eq!(Value::from(list.clone()).to_string(), r#"[1,2,"x",true]"#);
        assert_eq!((&list).into_iter().count(), 4);
        assert_eq!(list.clone().into_iter().next_back(), Some(true.into()));
        assert_eq!(Vec::from(list).len(), 4);
    }
}
