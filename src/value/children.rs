//! The children of a container, and what is found by walking all of them: depth, and numbers.
//!
//! Nothing here recurses: each walk keeps the open containers in a list of its own.

use std::slice;

use super::object::Entry;
use super::{ConvertError, List, MAX_DEPTH, Number, Object, Value};

/// The children of a container, from either end: the key, if it is an object, and the value.
#[derive(Debug, Clone)]
pub(super) enum Children<'a> {
    List(slice::Iter<'a, Value>),
    Object(slice::Iter<'a, Entry>),
}

impl<'a> Children<'a> {
    /// The children of `value`, unless it is a scalar.
    pub(super) fn of(value: &'a Value) -> Option<Self> {
        match value {
            Value::List(list) => Some(Self::List(list.iter())),
            Value::Object(object) => Some(Self::Object(object.as_slice().iter())),
            _ => None,
        }
    }
}

impl<'a> Iterator for Children<'a> {
    type Item = (Option<&'a str>, &'a Value);

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::List(list) => list.next().map(|value| (None, value)),
            Self::Object(object) => object.next().map(|(key, value)| (Some(key.as_str()), value)),
        }
    }
}

impl DoubleEndedIterator for Children<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        match self {
            Self::List(list) => list.next_back().map(|value| (None, value)),
            Self::Object(object) => {
                object.next_back().map(|(key, value)| (Some(key.as_str()), value))
            }
        }
    }
}

impl Value {
    /// Shows every number, in no particular order.
    pub(crate) fn for_each_number(&mut self, mut show: impl FnMut(&mut Number)) {
        let mut pending = vec![self];
        while let Some(value) = pending.pop() {
            match value {
                Self::Number(number) => show(number),
                Self::List(list) => pending.extend(list.iter_mut()),
                Self::Object(object) => pending.extend(object.values_mut()),
                _ => {}
            }
        }
    }

    /// Whether `asked` holds for some number.
    pub(crate) fn has_number(&self, asked: impl Fn(&Number) -> bool) -> bool {
        let mut pending = vec![self];
        while let Some(value) = pending.pop() {
            match value {
                Self::Number(number) if asked(number) => return true,
                Self::List(list) => pending.extend(list.iter().filter(|value| value.is_open())),
                Self::Object(object) => {
                    pending.extend(object.values().filter(|value| value.is_open()));
                }
                _ => {}
            }
        }
        false
    }

    /// Whether there can be a number in it.
    fn is_open(&self) -> bool {
        matches!(self, Self::Number(_) | Self::List(_) | Self::Object(_))
    }

    /// Nesting levels: 0 for a scalar, 1 for a container of scalars or of nothing, and so on.
    #[must_use]
    pub fn depth(&self) -> usize {
        Children::of(self).map_or(0, Children::depth)
    }

    /// Whether [`depth`](Self::depth) is more than `max`; stops at the first branch that is.
    #[must_use]
    pub fn is_deeper_than(&self, max: usize) -> bool {
        Children::of(self).is_some_and(|children| children.reach_beyond(max))
    }

    /// The first number, in document order, that has no double and so cannot be written to the
    /// wire: its JSON pointer and the number.
    ///
    /// Only a number kept as text can be out of range; see [`Number::parse`].
    #[must_use]
    pub fn unwritable(&self) -> Option<(String, &Number)> {
        match self {
            Self::Number(number) => out_of_range(number).then(|| (String::new(), number)),
            value => Children::of(value)?.find_number(out_of_range),
        }
    }

    /// Checks that a type which recurses and has doubles only can hold this value.
    pub(super) fn check_convertible(&self) -> Result<(), ConvertError> {
        check_convertible(self.is_deeper_than(MAX_DEPTH), self.unwritable())
    }
}

impl List {
    /// Nesting levels: 1 for a list of scalars or of nothing, and so on.
    #[must_use]
    pub fn depth(&self) -> usize {
        Children::List(self.iter()).depth()
    }

    /// Whether [`depth`](Self::depth) is more than `max`; stops at the first branch that is.
    #[must_use]
    pub fn is_deeper_than(&self, max: usize) -> bool {
        Children::List(self.iter()).reach_beyond(max)
    }

    /// The first number that cannot be written to the wire; see [`Value::unwritable`].
    #[must_use]
    pub fn unwritable(&self) -> Option<(String, &Number)> {
        Children::List(self.iter()).find_number(out_of_range)
    }

    #[cfg(feature = "prost-types")]
    pub(super) fn check_convertible(&self) -> Result<(), ConvertError> {
        check_convertible(self.is_deeper_than(MAX_DEPTH), self.unwritable())
    }
}

impl Object {
    /// Nesting levels: 1 for an object of scalars or of nothing, and so on.
    #[must_use]
    pub fn depth(&self) -> usize {
        Children::Object(self.as_slice().iter()).depth()
    }

    /// Whether [`depth`](Self::depth) is more than `max`; stops at the first branch that is.
    #[must_use]
    pub fn is_deeper_than(&self, max: usize) -> bool {
        Children::Object(self.as_slice().iter()).reach_beyond(max)
    }

    /// The first number that cannot be written to the wire; see [`Value::unwritable`].
    #[must_use]
    pub fn unwritable(&self) -> Option<(String, &Number)> {
        Children::Object(self.as_slice().iter()).find_number(out_of_range)
    }

    pub(super) fn check_convertible(&self) -> Result<(), ConvertError> {
        check_convertible(self.is_deeper_than(MAX_DEPTH), self.unwritable())
    }
}

fn out_of_range(number: &Number) -> bool {
    number.as_f64().is_none()
}

fn check_convertible(
    too_deep: bool,
    unwritable: Option<(String, &Number)>,
) -> Result<(), ConvertError> {
    match unwritable {
        _ if too_deep => Err(ConvertError::TooDeep { max: MAX_DEPTH }),
        Some((pointer, number)) => {
            Err(ConvertError::NotFinite { pointer, number: number.to_string() })
        }
        None => Ok(()),
    }
}

impl<'a> Children<'a> {
    /// How deep these children reach, the container they are in counted.
    fn depth(self) -> usize {
        let mut deepest = 0;
        let mut open = vec![self];
        while let Some(children) = open.last_mut() {
            if let Some(inner) = children.find_map(|(_, child)| Children::of(child)) {
                open.push(inner);
            } else {
                deepest = deepest.max(open.len());
                open.pop();
            }
        }
        deepest
    }

    /// Whether they reach deeper than `max`.
    fn reach_beyond(self, max: usize) -> bool {
        let mut open = vec![self];
        while open.len() <= max {
            let Some(children) = open.last_mut() else { return false };
            match children.find_map(|(_, child)| Children::of(child)) {
                Some(inner) => open.push(inner),
                None => drop(open.pop()),
            }
        }
        true
    }

    /// The first number that `wanted` accepts, in document order, and its JSON pointer.
    fn find_number(self, wanted: impl Fn(&Number) -> bool) -> Option<(String, &'a Number)> {
        // Each open container, and the place reached in it: the key, or how many went before.
        let mut open: Vec<(Self, Option<&str>, usize)> = vec![(self, None, 0)];
        while let Some((children, key, passed)) = open.last_mut() {
            let Some((next_key, child)) = children.next() else {
                open.pop();
                continue;
            };
            *key = next_key;
            *passed += 1;
            match child {
                Value::Number(number) if wanted(number) => {
                    let mut pointer = String::new();
                    for (_, key, passed) in &open {
                        push_token(&mut pointer, *key, passed - 1);
                    }
                    return Some((pointer, number));
                }
                _ => open.extend(Children::of(child).map(|children| (children, None, 0))),
            }
        }
        None
    }
}

/// Appends one step to a JSON pointer: a key, or the index in a list.
pub(super) fn push_token(pointer: &mut String, key: Option<&str>, index: usize) {
    pointer.push('/');
    match key {
        Some(key) => pointer.push_str(&key.replace('~', "~0").replace('/', "~1")),
        None => pointer.push_str(&index.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{nested_lists, nested_objects};
    use super::*;

    #[test]
    fn depth_counts_containers() {
        assert_eq!(Value::Null.depth(), 0);
        assert_eq!(Value::from("x").depth(), 0);
        assert_eq!(Value::from(Object::new()).depth(), 1);
        assert_eq!(Value::from(vec![1, 2]).depth(), 1);
        assert_eq!(Value::from(Object::from([("a", vec![1])])).depth(), 2);
        assert_eq!(nested_lists(7).depth(), 7);
        assert_eq!(nested_objects(7).depth(), 7);
        for max in 0..10 {
            assert_eq!(nested_objects(7).is_deeper_than(max), max < 7, "{max}");
        }
        assert!(!Value::Null.is_deeper_than(0));
    }

    #[test]
    fn an_unwritable_number_is_found_with_its_place() {
        let big = Number::parse("1e400").unwrap();
        let value = Value::from(Object::from([
            ("a", Value::from(vec![1, 2])),
            ("b/~", Value::from(vec![Value::Null, Value::Number(big.clone())])),
        ]));
        assert_eq!(value.unwritable(), Some(("/b~1~0/1".to_owned(), &big)));
        assert_eq!(Value::Number(big.clone()).unwritable(), Some((String::new(), &big)));
        assert_eq!(Value::from(vec![1, 2]).unwritable(), None);
    }
}
