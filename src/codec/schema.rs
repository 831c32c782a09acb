//! The fields of every message on the wire, as the scan needs them; written by `build.rs`.

/// A message: its fields by ascending number.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) fields: &'static [Field],
}

/// A field of a message.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) number: u32,
    /// What stands in front of it, if that is one byte; else 0.
    pub(crate) tag: u8,
    /// The name in JSON.
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) repeated: bool,
    /// Whether the field is an arm of a oneof.
    pub(crate) arm: bool,
}

/// What stands behind a field.
#[derive(Debug)]
pub(crate) enum Kind {
    String,
    Int64,
    /// A bool or an enum.
    Varint,
    Message(&'static Message),
    /// `google.protobuf.Value`.
    Value,
    /// `google.protobuf.Struct`.
    Struct,
}

impl Message {
    /// The field with this number, and its place among the fields.
    pub(crate) fn field(&self, number: u32) -> Option<(usize, &'static Field)> {
        let place = self.fields.binary_search_by_key(&number, |field| field.number).ok()?;
        Some((place, self.fields.get(place)?))
    }
}

include!(concat!(env!("OUT_DIR"), "/schema.rs"));
