//! Numbers in open values: which ones a double changes.

use super::{Difference, Kind};
use crate::value::{Number, Object, Value};

/// Notes each number in `value` that does not arrive as it is; `pointer` is where `value` stands.
///
/// Without recursion, since an open value may nest as deep as it likes before a limit is applied.
pub(super) fn compare(value: &Value, pointer: &str, into: &mut Vec<Difference>) {
    let mut pending = vec![(value, pointer.to_owned())];
    while let Some((value, pointer)) = pending.pop() {
        match value {
            Value::Number(number) => into.extend(difference(number, &pointer)),
            Value::List(list) => {
                let elements =
                    list.iter().enumerate().rev().filter(|(_, element)| matters(element));
                pending.extend(elements.map(|(at, element)| (element, format!("{pointer}/{at}"))));
            }
            Value::Object(object) => {
                let members = object.as_slice().iter().rev().filter(|(_, member)| matters(member));
                pending.extend(members.map(|(key, member)| (member, join(&pointer, key))));
            }
            _ => {}
        }
    }
}

/// Whether there can be something to say of `value`: a look without a place.
pub(super) fn may_arrive_otherwise(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => false,
        value => value.has_number(arrives_otherwise),
    }
}

/// As [`compare`], for the members of an object.
pub(super) fn compare_members(object: &Object, pointer: &str, into: &mut Vec<Difference>) {
    for (key, member) in object {
        if matters(member) {
            compare(member, &join(pointer, key), into);
        }
    }
}

/// A place is only written down where there can be something to say of it.
fn matters(value: &Value) -> bool {
    match value {
        Value::Number(number) => arrives_otherwise(number),
        Value::List(_) | Value::Object(_) => true,
        _ => false,
    }
}

fn arrives_otherwise(number: &Number) -> bool {
    const LARGEST: i64 = 1 << 53;
    match number.as_i64() {
        Some(integer) => !(-LARGEST..=LARGEST).contains(&integer),
        None => true,
    }
}

pub(super) fn join(pointer: &str, key: &str) -> String {
    format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"))
}

/// What becomes of one number.
pub(super) fn difference(number: &Number, pointer: &str) -> Option<Difference> {
    let Some(arrived) = number.after_trip() else {
        return Some(Difference::new(pointer, Kind::OutOfRange).json(number));
    };
    let kind = if !number.is_double() {
        let is_integer = number.is_integer()
            || number.exact().is_some_and(|text| !text.contains(['.', 'e', 'E']));
        if is_integer { Kind::IntegerPrecision } else { Kind::DecimalPrecision }
    } else if number.to_string() != arrived.to_string() {
        Kind::NumberForm
    } else {
        return None;
    };
    Some(Difference::new(pointer, kind).json(number).wire(&arrived))
}
