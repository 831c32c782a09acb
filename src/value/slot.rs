//! A `google.protobuf.Value` message, which may hold no value.

use super::Value;

/// What one `google.protobuf.Value` message holds: a JSON value, or no kind at all.
///
/// A message without a kind (`None`) is no bytes and carries no JSON value. Where it stands for a
/// member, the member is absent; in an object its key is dropped; in a list it reads as null, so
/// that later elements keep their index.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Slot(pub Option<Value>);

impl Slot {
    /// The value, if there is one.
    #[must_use]
    pub fn value(&self) -> Option<&Value> {
        self.0.as_ref()
    }

    /// The value, if there is one.
    #[must_use]
    pub fn into_value(self) -> Option<Value> {
        self.0
    }
}

impl<T: Into<Value>> From<T> for Slot {
    fn from(value: T) -> Self {
        Self(Some(value.into()))
    }
}
