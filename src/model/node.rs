//! What every piece of an event can do: be read from JSON, be inspected, be stripped.
//!
//! The three are one trait, so that a rule about a piece stands in one place whoever asks: strict
//! reading, tolerant reading, the encoder and the fidelity report all see an event through
//! [`Node::inspect`].

use super::error::{Reason, Unrecognised};
use super::path::At;
use super::{Extra, Malformed};
use crate::value::{Object, Value};

/// The largest integer that a double and all its neighbours tell apart, 2^53 - 1.
pub(crate) const MAX_SAFE_INTEGER: i64 = (1 << 53) - 1;

/// A piece of an event.
pub(crate) trait Node: Sized {
    /// What this is, with its article, for an error about another JSON type in its place.
    const EXPECTED: &'static str;

    /// Reads the piece, holding what a newer peer may send and refusing another JSON type.
    fn from_json(value: Value, at: &At<'_>) -> Result<Self, Malformed>;

    /// Whether this version cannot name the piece, so that whoever holds it must drop it.
    fn unrecognised(&self) -> Option<Unrecognised> {
        None
    }

    /// Whether the piece is a whole JSON null.
    fn is_null(&self) -> bool {
        false
    }

    /// Shows all that is malformed, unrecognised or open in the piece, in the order of its members.
    fn inspect(&self, _at: &At<'_>, _with: &mut impl Inspector) {}

    /// Shows what an unrecognised piece holds.
    fn inspect_unknown(&self, _at: &At<'_>, _with: &mut impl Inspector) {}

    /// Removes all that is unrecognised in the piece.
    fn strip(&mut self) {}
}

/// Who looks at an event, and is told what there is to say.
pub(crate) trait Inspector {
    /// Whether to look into an object that is unrecognised only for a name in it. Enforcement drops
    /// it, so that nothing in it counts; the wire carries it.
    fn enters_unknown_names(&self) -> bool {
        false
    }
    /// A value that the protocol refuses.
    fn malformed(&mut self, _at: &At<'_>, _reason: Reason) {}
    /// Material that this version does not describe.
    fn unrecognised(&mut self, _at: &At<'_>, _what: Unrecognised) {}
    /// A member that a closed object does not have.
    fn unknown_member(&mut self, at: &At<'_>, _value: &Value) {
        self.unrecognised(at, Unrecognised::Member);
    }
    /// A member of a union that this version does not know, as it came; told after
    /// [`Inspector::unrecognised`].
    fn unknown_object(&mut self, _at: &At<'_>, _object: &Object) {}
    /// A value in an unrecognised patch operation.
    fn unknown_value(&mut self, _at: &At<'_>, _value: &Value) {}
    /// A member beside those that a patch operation defines, which RFC 6902 allows.
    fn extension(&mut self, _at: &At<'_>, _value: &Value) {}
    /// An open value.
    fn open(&mut self, _at: &At<'_>, _value: &Value) {}
    /// An open object.
    fn open_object(&mut self, _at: &At<'_>, _object: &Object) {}
}

/// A JSON type with its article.
pub(crate) fn found(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::List(_) => "an array",
        Value::Object(_) => "an object",
    }
}

pub(crate) fn malformed(at: &At<'_>, reason: Reason) -> Malformed {
    Malformed { event_type: None, path: at.to_path(), reason }
}

/// The error for a value of another JSON type.
pub(crate) fn mistyped<T: Node>(value: &Value, at: &At<'_>) -> Malformed {
    malformed(at, Reason::Type { expected: T::EXPECTED, found: found(value) })
}

/// Takes a member that had to be there.
pub(crate) fn required<T>(member: Option<T>, name: &str, at: &At<'_>) -> Result<T, Malformed> {
    member.ok_or_else(|| malformed(&at.member(name), Reason::Missing))
}

/// Inspects a required member that bytes can lack.
pub(crate) fn inspect_expected<T: Node>(
    member: Option<&T>,
    at: &At<'_>,
    with: &mut impl Inspector,
) {
    match member {
        Some(member) => member.inspect(at, with),
        None => with.malformed(at, Reason::Missing),
    }
}

/// Inspects an optional member.
pub(crate) fn inspect_optional<T: Node>(
    member: Option<&T>,
    at: &At<'_>,
    with: &mut impl Inspector,
) {
    let Some(member) = member else { return };
    if member.is_null() {
        with.malformed(at, Reason::Null);
    } else if let Some(what) = member.unrecognised() {
        inspect_unrecognised(member, what, at, with);
    } else {
        member.inspect(at, with);
    }
}

fn inspect_unrecognised<T: Node>(
    node: &T,
    what: Unrecognised,
    at: &At<'_>,
    with: &mut impl Inspector,
) {
    let is_name = matches!(what, Unrecognised::Name { .. });
    with.unrecognised(at, what);
    if is_name && with.enters_unknown_names() {
        node.inspect(at, with);
    } else {
        node.inspect_unknown(at, with);
    }
}

/// Inspects members that a closed object does not have.
pub(crate) fn inspect_extra(extra: &Extra, at: &At<'_>, with: &mut impl Inspector) {
    for (name, value) in extra.iter() {
        with.unknown_member(&at.member(name), value);
    }
}

/// Strips an optional member.
pub(crate) fn strip_optional<T: Node>(member: &mut Option<T>) {
    if member.as_ref().is_some_and(|member| member.unrecognised().is_some()) {
        *member = None;
    } else if let Some(member) = member {
        member.strip();
    }
}

/// Inspects counts: none may be below zero. That none is too large, `i64` has seen to.
pub(crate) fn inspect_counts(
    counts: &[(&str, Option<i64>)],
    at: &At<'_>,
    with: &mut impl Inspector,
) {
    for (name, count) in counts {
        if let Some(count) = count.filter(|count| (-MAX_SAFE_INTEGER..0).contains(count)) {
            let reason = Reason::Range { found: count.to_string(), min: 0, max: MAX_SAFE_INTEGER };
            with.malformed(&at.member(name), reason);
        }
    }
}

impl Node for String {
    const EXPECTED: &'static str = "a string";

    fn from_json(value: Value, at: &At<'_>) -> Result<Self, Malformed> {
        match value {
            Value::String(text) => Ok(text),
            other => Err(mistyped::<Self>(&other, at)),
        }
    }
}

impl Node for bool {
    const EXPECTED: &'static str = "a boolean";

    fn from_json(value: Value, at: &At<'_>) -> Result<Self, Malformed> {
        match value {
            Value::Bool(flag) => Ok(flag),
            other => Err(mistyped::<Self>(&other, at)),
        }
    }
}

/// An integer of the protocol: `1000`, `1000.0` and `1e3` are one, `1.5` is none.
impl Node for i64 {
    const EXPECTED: &'static str = "an integer";

    fn from_json(value: Value, at: &At<'_>) -> Result<Self, Malformed> {
        let Value::Number(number) = value else { return Err(mistyped::<Self>(&value, at)) };
        if let Some(integer) = number.to_i64() {
            return Ok(integer);
        }
        let reason = if number.is_integral() {
            out_of_range(&number)
        } else {
            Reason::Fraction { found: number.to_string() }
        };
        Err(malformed(at, reason))
    }

    fn inspect(&self, at: &At<'_>, with: &mut impl Inspector) {
        if !(-MAX_SAFE_INTEGER..=MAX_SAFE_INTEGER).contains(self) {
            with.malformed(at, out_of_range(self));
        }
    }
}

fn out_of_range(number: &impl ToString) -> Reason {
    Reason::Range { found: number.to_string(), min: -MAX_SAFE_INTEGER, max: MAX_SAFE_INTEGER }
}

/// An open value: any JSON, never looked into.
impl Node for Value {
    const EXPECTED: &'static str = "a value";

    fn from_json(value: Value, _at: &At<'_>) -> Result<Self, Malformed> {
        Ok(value)
    }

    fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    fn inspect(&self, at: &At<'_>, with: &mut impl Inspector) {
        with.open(at, self);
    }
}

/// An open object: any members, never looked into.
impl Node for Object {
    const EXPECTED: &'static str = "an object";

    fn from_json(value: Value, at: &At<'_>) -> Result<Self, Malformed> {
        match value {
            Value::Object(object) => Ok(object),
            other => Err(mistyped::<Self>(&other, at)),
        }
    }

    fn inspect(&self, at: &At<'_>, with: &mut impl Inspector) {
        with.open_object(at, self);
    }
}

impl<T: Node> Node for Vec<T> {
    const EXPECTED: &'static str = "an array";

    fn from_json(value: Value, at: &At<'_>) -> Result<Self, Malformed> {
        match value {
            Value::List(list) => list
                .into_iter()
                .enumerate()
                .map(|(index, element)| T::from_json(element, &at.index(index)))
                .collect(),
            other => Err(mistyped::<Self>(&other, at)),
        }
    }

    fn inspect(&self, at: &At<'_>, with: &mut impl Inspector) {
        for (index, element) in self.iter().enumerate() {
            let at = at.index(index);
            match element.unrecognised() {
                Some(what) => inspect_unrecognised(element, what, &at, with),
                None => element.inspect(&at, with),
            }
        }
    }

    fn strip(&mut self) {
        self.retain(|element| element.unrecognised().is_none());
        self.iter_mut().for_each(Node::strip);
    }
}

impl<T: Node> Node for Box<T> {
    const EXPECTED: &'static str = T::EXPECTED;

    fn from_json(value: Value, at: &At<'_>) -> Result<Self, Malformed> {
        T::from_json(value, at).map(Box::new)
    }

    fn unrecognised(&self) -> Option<Unrecognised> {
        T::unrecognised(self)
    }

    fn is_null(&self) -> bool {
        T::is_null(self)
    }

    fn inspect(&self, at: &At<'_>, with: &mut impl Inspector) {
        T::inspect(self, at, with);
    }

    fn inspect_unknown(&self, at: &At<'_>, with: &mut impl Inspector) {
        T::inspect_unknown(self, at, with);
    }

    fn strip(&mut self) {
        T::strip(self);
    }
}
