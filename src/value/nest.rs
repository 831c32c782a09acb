//! What reaches every level of a value without using the stack for it.
//!
//! Rule: no input overflows a stack, and a value that came in must also go out. Dropping, cloning
//! and comparing therefore keep their own list of what is still to do. Most values are shallow, so
//! each first looks whether there is anything deep at all; a child counts as deep if it is a
//! container that holds another one which is not empty.

use std::mem;

use super::index::KeyIndex;
use super::{List, Object, Value};

/// Whether `value` is a container that holds another one which is not empty.
fn is_deep(value: &Value) -> bool {
    fn holds(value: &Value) -> bool {
        match value {
            Value::List(list) => !list.is_empty(),
            Value::Object(object) => !object.is_empty(),
            _ => false,
        }
    }
    match value {
        Value::List(list) => list.iter().any(holds),
        Value::Object(object) => object.values().any(holds),
        _ => false,
    }
}

/// Drops whatever lies deep in the children of a container that is about to go.
pub(super) fn drop_children<'a>(children: impl Iterator<Item = &'a mut Value>) {
    let mut todo: Vec<Value> = children.filter(|value| is_deep(value)).map(mem::take).collect();
    while let Some(value) = todo.pop() {
        // What is left of each container is shallow when it drops at the end of its arm.
        match value {
            Value::List(list) => {
                let mut values = list.into_vec();
                todo.extend(values.iter_mut().filter(|value| is_deep(value)).map(mem::take));
            }
            Value::Object(object) => {
                let mut entries = object.into_vec();
                let values = entries.iter_mut().map(|entry| &mut entry.1);
                todo.extend(values.filter(|value| is_deep(value)).map(mem::take));
            }
            _ => {}
        }
    }
}

/// A copy of a list.
pub(super) fn clone_list(list: &List) -> List {
    let mut copy = copy_list(list);
    let mut todo = Vec::new();
    note_deep_values(list, &mut copy, &mut todo);
    fill_in(todo);
    copy
}

/// A copy of an object.
pub(super) fn clone_object(object: &Object) -> Object {
    let mut copy = copy_object(object);
    let mut todo = Vec::new();
    note_deep_entries(object, &mut copy, &mut todo);
    fill_in(todo);
    copy
}

/// Copies that are still to be made: from, into.
type Copies<'a, 'b> = Vec<(&'a Value, &'b mut Value)>;

fn fill_in(mut todo: Copies<'_, '_>) {
    while let Some((from, into)) = todo.pop() {
        match from {
            Value::List(from) => {
                *into = Value::List(copy_list(from));
                if let Value::List(into) = into {
                    note_deep_values(from, into, &mut todo);
                }
            }
            Value::Object(from) => {
                *into = Value::Object(copy_object(from));
                if let Value::Object(into) = into {
                    note_deep_entries(from, into, &mut todo);
                }
            }
            scalar => *into = scalar.clone(),
        }
    }
}

/// A copy with null in the place of each deep child.
fn copy_list(list: &List) -> List {
    list.iter().map(copy_shallow).collect()
}

/// A copy with null in the place of each deep child.
fn copy_object(object: &Object) -> Object {
    let entries = object.as_slice().iter();
    Object::from_unique(entries.map(|(key, value)| (key.clone(), copy_shallow(value))).collect())
}

fn copy_shallow(value: &Value) -> Value {
    if is_deep(value) { Value::Null } else { value.clone() }
}

fn note_deep_values<'a, 'b>(from: &'a List, into: &'b mut List, todo: &mut Copies<'a, 'b>) {
    todo.extend(from.iter().zip(into).filter(|(from, _)| is_deep(from)));
}

fn note_deep_entries<'a, 'b>(from: &'a Object, into: &'b mut Object, todo: &mut Copies<'a, 'b>) {
    todo.extend(from.values().zip(into.values_mut()).filter(|(from, _)| is_deep(from)));
}

/// Whether two lists have the same elements.
pub(super) fn same_lists(left: &List, right: &List) -> bool {
    let mut todo = Vec::new();
    note_list(left, right, &mut todo) && all_same(todo)
}

/// Whether two objects have the same entries, in any order.
pub(super) fn same_objects(left: &Object, right: &Object) -> bool {
    let mut todo = Vec::new();
    note_object(left, right, &mut todo) && all_same(todo)
}

/// Containers that are still to be compared.
type Pairs<'a> = Vec<(&'a Value, &'a Value)>;

fn all_same(mut todo: Pairs<'_>) -> bool {
    while let Some(pair) = todo.pop() {
        let same = match pair {
            (Value::List(left), Value::List(right)) => note_list(left, right, &mut todo),
            (Value::Object(left), Value::Object(right)) => note_object(left, right, &mut todo),
            _ => false,
        };
        if !same {
            return false;
        }
    }
    true
}

/// Compares two values if they are scalars, and notes them if they are containers.
fn note_pair<'a>(left: &'a Value, right: &'a Value, todo: &mut Pairs<'a>) -> bool {
    match (left, right) {
        (Value::List(_), Value::List(_)) | (Value::Object(_), Value::Object(_)) => {
            todo.push((left, right));
            true
        }
        (Value::Null, Value::Null) => true,
        (Value::Bool(left), Value::Bool(right)) => left == right,
        (Value::Number(left), Value::Number(right)) => left == right,
        (Value::String(left), Value::String(right)) => left == right,
        _ => false,
    }
}

fn note_list<'a>(left: &'a List, right: &'a List, todo: &mut Pairs<'a>) -> bool {
    left.len() == right.len()
        && left.iter().zip(right).all(|(left, right)| note_pair(left, right, todo))
}

fn note_object<'a>(left: &'a Object, right: &'a Object, todo: &mut Pairs<'a>) -> bool {
    /// Fewer lookups than this are not worth an index.
    const FEW: usize = 16;

    let (left, right) = (left.as_slice(), right.as_slice());
    if left.len() != right.len() {
        return false;
    }
    // The usual case: the same order. What follows is looked up.
    let in_step = left.iter().zip(right).take_while(|(left, right)| left.0 == right.0).count();
    let (left_step, left_rest) = left.split_at(in_step);
    let (right_step, right_rest) = right.split_at(in_step);
    if !left_step.iter().zip(right_step).all(|(left, right)| note_pair(&left.1, &right.1, todo)) {
        return false;
    }
    let index = (left_rest.len() > FEW).then(|| KeyIndex::of(right_rest));
    left_rest.iter().all(|(key, left)| {
        let at = match &index {
            Some(index) => index.find(right_rest, key),
            None => right_rest.iter().position(|entry| entry.0 == *key),
        };
        at.and_then(|at| right_rest.get(at)).is_some_and(|right| note_pair(left, &right.1, todo))
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{nested_lists, nested_objects, on_a_small_stack};
    use super::*;

    const DEEP: usize = 100_000;

    #[test]
    fn a_deep_value_drops_clones_compares_and_prints_on_a_small_stack() {
        for make in [nested_lists, nested_objects] {
            on_a_small_stack(move || {
                let value = make(DEEP);
                assert_eq!(value.depth(), DEEP);
                assert!(value.is_deeper_than(DEEP - 1) && !value.is_deeper_than(DEEP));
                let copy = value.clone();
                assert!(copy == value);
                assert!(copy != make(DEEP - 1));
                assert!(value.to_string().len() >= 2 * DEEP);
                assert!(format!("{value:?}").len() < 2000);
                assert_eq!(value.unwritable(), None);
            });
        }
    }

    #[test]
    fn a_deep_value_drops_from_inside_its_containers() {
        on_a_small_stack(|| {
            let Value::List(list) = nested_lists(DEEP) else { panic!() };
            drop(list.into_vec());
            let Value::Object(object) = nested_objects(DEEP) else { panic!() };
            let mut entries = object.into_iter();
            entries.next();
            drop(entries);
            let mut object = Object::from([("a", nested_objects(DEEP))]);
            object.insert("a", nested_lists(DEEP));
            object.remove("a");
        });
    }

    #[test]
    fn a_clone_is_equal_and_keeps_the_order() {
        let text = r#"{"b":[{"x":[[],{}]},[1,[2,[3,{"y":{"z":null}}]]]],"a":{"c":{"d":[true]}}}"#;
        let value = Value::from_json(text, 128).unwrap();
        assert_eq!(value.clone().to_string(), text);
        assert_eq!(value.clone(), value);
    }

    #[test]
    fn objects_compare_in_any_order_and_lists_in_theirs() {
        let read = |text| Value::from_json(text, 128).unwrap();
        assert_eq!(read(r#"{"a":1,"b":[{"c":2}]}"#), read(r#"{"b":[{"c":2}],"a":1}"#));
        assert_ne!(read(r#"{"a":1,"b":2}"#), read(r#"{"a":1,"b":3}"#));
        assert_ne!(read(r#"{"a":1,"b":2}"#), read(r#"{"a":1,"c":2}"#));
        assert_ne!(read(r#"{"a":1}"#), read(r#"{"a":1,"b":2}"#));
        assert_ne!(read("[1,2]"), read("[2,1]"));
        assert_ne!(read("[[1]]"), read("[[1.0]]"));
        assert_ne!(read("[{}]"), read("[[]]"));
        let many: Object = (0..100).map(|n| (n.to_string(), n)).collect();
        let turned: Object = (0..100).rev().map(|n| (n.to_string(), n)).collect();
        assert_eq!(many, turned);
    }
}
