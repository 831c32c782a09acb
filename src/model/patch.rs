//! JSON Patch (RFC 6902), as state and activities are patched with.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::node::{Inspector, Node, malformed, mistyped, required};
use super::object::{deserialize, names, tag};
use super::path::At;
use super::{Extra, Malformed, Reason, Unrecognised};
use crate::value::Value;

names! {
    /// What an operation does.
    set PatchOp, "patch operation" {
        /// Adds a value.
        Add = "add";
        /// Removes a value.
        Remove = "remove";
        /// Replaces a value.
        Replace = "replace";
        /// Moves a value.
        Move = "move";
        /// Copies a value.
        Copy = "copy";
        /// Compares a value.
        Test = "test";
    }
}

/// One operation of a JSON Patch.
///
/// The object is open: RFC 6902 lets an operation carry members that it does not define. `from`
/// and `value` travel whatever the operation; any other member is in `extra`, lives in JSON, and
/// has no place on the wire.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PatchOperation {
    /// What the operation does.
    pub op: PatchOp,
    /// A JSON Pointer to where; empty names the whole document.
    pub path: String,
    /// A JSON Pointer to the source of a move or copy.
    pub from: Option<String>,
    /// The value to add, to replace by, or to compare with; null is a value.
    pub value: Option<Value>,
    /// Members that no operation defines.
    pub extra: Extra,
}

impl PatchOperation {
    /// Makes an operation without `from` and `value`.
    #[must_use]
    pub fn new(op: impl Into<PatchOp>, path: impl Into<String>) -> Self {
        Self { op: op.into(), path: path.into(), from: None, value: None, extra: Extra::default() }
    }

    /// Adds `value` at `path`.
    #[must_use]
    pub fn add(path: impl Into<String>, value: impl Into<Value>) -> Self {
        Self { value: Some(value.into()), ..Self::new(PatchOp::Add, path) }
    }

    /// Removes what is at `path`.
    #[must_use]
    pub fn remove(path: impl Into<String>) -> Self {
        Self::new(PatchOp::Remove, path)
    }

    /// Replaces what is at `path` by `value`.
    #[must_use]
    pub fn replace(path: impl Into<String>, value: impl Into<Value>) -> Self {
        Self { value: Some(value.into()), ..Self::new(PatchOp::Replace, path) }
    }

    /// Moves what is at `from` to `path`.
    #[must_use]
    pub fn r#move(from: impl Into<String>, path: impl Into<String>) -> Self {
        Self { from: Some(from.into()), ..Self::new(PatchOp::Move, path) }
    }

    /// Copies what is at `from` to `path`.
    #[must_use]
    pub fn copy(from: impl Into<String>, path: impl Into<String>) -> Self {
        Self { from: Some(from.into()), ..Self::new(PatchOp::Copy, path) }
    }

    /// Fails the patch unless `value` is what is at `path`.
    #[must_use]
    pub fn test(path: impl Into<String>, value: impl Into<Value>) -> Self {
        Self { value: Some(value.into()), ..Self::new(PatchOp::Test, path) }
    }
}

impl Node for PatchOperation {
    const EXPECTED: &'static str = "an object";

    fn from_json(value: Value, at: &At<'_>) -> Result<Self, Malformed> {
        let Value::Object(object) = value else { return Err(mistyped::<Self>(&value, at)) };
        let op = PatchOp::from(tag(&object, "op", at)?);
        let known = !matches!(op, PatchOp::Unknown(_));
        let needs_from = matches!(op, PatchOp::Move | PatchOp::Copy);

        let mut operation = Self::new(op, "");
        let mut path = None;
        for (name, member) in object {
            match (name.as_str(), member) {
                ("op", _) => {}
                ("value", member) => operation.value = Some(member),
                ("path", Value::String(pointer)) => path = Some(pointer),
                ("from", Value::String(pointer)) => operation.from = Some(pointer),
                // What an operation of a later version means by its members is not ours to judge,
                // and a `from` that this operation does not define is an extension.
                ("path", member) if known => {
                    return Err(mistyped::<String>(&member, &at.member("path")));
                }
                ("from", member) if needs_from => {
                    return Err(mistyped::<String>(&member, &at.member("from")));
                }
                (_, member) => operation.extra.insert(name, member),
            }
        }
        operation.path = if known { required(path, "path", at)? } else { path.unwrap_or_default() };
        if needs_from && operation.from.is_none() {
            return Err(malformed(&at.member("from"), Reason::Missing));
        }
        Ok(operation)
    }

    fn unrecognised(&self) -> Option<Unrecognised> {
        match &self.op {
            PatchOp::Unknown(op) => {
                Some(Unrecognised::Tag { union: "patch operation", tag: op.clone() })
            }
            _ => None,
        }
    }

    fn inspect(&self, at: &At<'_>, with: &mut impl Inspector) {
        inspect_pointer(&self.path, &at.member("path"), with);
        match (&self.from, &self.op) {
            (Some(from), PatchOp::Move | PatchOp::Copy) => {
                inspect_pointer(from, &at.member("from"), with);
            }
            (None, PatchOp::Move | PatchOp::Copy) => {
                with.malformed(&at.member("from"), Reason::Missing);
            }
            _ => {}
        }
        match (&self.value, &self.op) {
            (Some(value), _) => with.open(&at.member("value"), value),
            (None, PatchOp::Add | PatchOp::Replace | PatchOp::Test) => {
                with.malformed(&at.member("value"), Reason::Missing);
            }
            _ => {}
        }
        for (name, value) in self.extra.iter() {
            with.extension(&at.member(name), value);
        }
    }

    fn inspect_unknown(&self, at: &At<'_>, with: &mut impl Inspector) {
        let value = self.value.iter().map(|value| ("value", value));
        for (name, value) in value.chain(self.extra.iter()) {
            with.unknown_value(&at.member(name), value);
        }
    }
}

fn inspect_pointer(pointer: &str, at: &At<'_>, with: &mut impl Inspector) {
    let escapes_are_whole =
        pointer.split('~').skip(1).all(|rest| rest.starts_with('0') || rest.starts_with('1'));
    if !escapes_are_whole || !(pointer.is_empty() || pointer.starts_with('/')) {
        with.malformed(at, Reason::Pointer { found: pointer.to_owned() });
    }
}

impl Serialize for PatchOperation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("op", &self.op)?;
        if let Some(from) = &self.from {
            map.serialize_entry("from", from)?;
        }
        // An operation of a later version may have come without a path, or with another kind.
        let has_path = !matches!(self.op, PatchOp::Unknown(_)) || self.extra.get("path").is_none();
        if has_path {
            map.serialize_entry("path", &self.path)?;
        }
        if let Some(value) = &self.value {
            map.serialize_entry("value", value)?;
        }
        self.extra.write(&mut map)?;
        map.end()
    }
}

deserialize!(PatchOperation);
