//! The fields of every message on the wire, as the scan needs them; written by `build.rs`.

use crate::model::EventType;

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

/// An event in the envelope.
#[derive(Debug)]
pub(crate) struct Arm {
    pub(crate) event_type: EventType,
    /// The number of the type.
    pub(crate) number: u8,
    pub(crate) message: &'static Message,
    /// How many of the fields 2 and 3 are one text each, the first of them first.
    pub(crate) leading_texts: u8,
    // The numbers of text fields that many events have; 0 where there is none.
    pub(crate) message_id: u32,
    pub(crate) tool_call_id: u32,
    pub(crate) thread_id: u32,
    pub(crate) run_id: u32,
    pub(crate) subagent_run_id: u32,
    pub(crate) delta: u32,
}

impl Message {
    /// The field with this number, and its place among the fields.
    pub(crate) fn field(&self, number: u32) -> Option<(usize, &'static Field)> {
        let place = self.fields.binary_search_by_key(&number, |field| field.number).ok()?;
        Some((place, self.fields.get(place)?))
    }
}

include!(concat!(env!("OUT_DIR"), "/schema.rs"));
