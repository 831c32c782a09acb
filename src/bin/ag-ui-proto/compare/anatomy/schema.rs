//! The wire schema as `proto/` has it: what stands behind the number of a field.
//!
//! The text is read when a session is taken apart, so that there is no second table to keep. It is
//! our own and plain: one field a line, comments on lines of their own.

use std::collections::HashMap;

use super::Part;

/// The files of `proto/`, and the messages of `google/protobuf/struct.proto`.
const TEXTS: [&str; 5] = [
    include_str!("../../../../../proto/ag_ui/event.proto"),
    include_str!("../../../../../proto/ag_ui/message.proto"),
    include_str!("../../../../../proto/ag_ui/patch.proto"),
    include_str!("../../../../../proto/ag_ui/run.proto"),
    "message Struct {
       repeated Entry fields = 1;
     }
     message Entry {
       string key = 1;
       Value value = 2;
     }
     message Value {
       NullValue null_value = 1;
       double number_value = 2;
       string string_value = 3;
       bool bool_value = 4;
       Struct struct_value = 5;
       ListValue list_value = 6;
     }
     message ListValue {
       repeated Value values = 1;
     }",
];

/// The messages of the schema. A message is known by its place.
pub(crate) struct Schema {
    messages: Vec<HashMap<u64, Field>>,
    envelope: usize,
}

/// What the value of a field is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    /// A message, whose fields count for themselves.
    Message(usize),
    /// Bytes of one part.
    Value(Part),
    /// A field of the base, which is of one part as a whole.
    Base(Part),
}

impl Schema {
    pub(crate) fn new() -> Self {
        let fields: Vec<_> = TEXTS.iter().flat_map(|text| Lines::new(text)).collect();
        let mut places = HashMap::new();
        for field in &fields {
            let next = places.len();
            places.entry(field.message).or_insert(next);
        }
        let mut messages = vec![HashMap::new(); places.len()];
        for Line { message, type_name, name, number } in fields {
            let type_name = type_name.rsplit('.').next().unwrap_or(type_name);
            let field = match (message, places.get(type_name)) {
                ("BaseEvent", _) => Field::Base(base_part(name)),
                (_, Some(place)) => Field::Message(*place),
                (_, None) if is_id(name) => Field::Value(Part::Ids),
                (_, None) => Field::Value(Part::Content),
            };
            let fields = places.get(message).and_then(|place| messages.get_mut(*place));
            if let Some(fields) = fields {
                fields.insert(number, field);
            }
        }
        Self { messages, envelope: places.get("Event").copied().unwrap_or_default() }
    }

    /// The message that a payload is.
    pub(crate) fn envelope(&self) -> usize {
        self.envelope
    }

    /// The field of a message with this number, if the schema has one.
    pub(crate) fn field(&self, message: usize, number: u64) -> Option<Field> {
        self.messages.get(message)?.get(&number).copied()
    }
}

fn base_part(name: &str) -> Part {
    match name {
        "type" => Part::Type,
        "timestamp" => Part::Timestamp,
        "raw_event" => Part::RawEvent,
        _ => Part::Metadata,
    }
}

fn is_id(name: &str) -> bool {
    name == "id" || name.ends_with("_id") || name.ends_with("_ids")
}

/// A field, as its line says.
#[derive(Debug, PartialEq, Eq)]
struct Line<'t> {
    message: &'t str,
    type_name: &'t str,
    name: &'t str,
    number: u64,
}

/// The fields of messages in a text of the schema.
struct Lines<'t> {
    lines: std::str::Lines<'t>,
    /// The blocks that are open: of a message its name, of any other nothing.
    open: Vec<Option<&'t str>>,
}

impl<'t> Lines<'t> {
    fn new(text: &'t str) -> Self {
        Self { lines: text.lines(), open: Vec::new() }
    }
}

impl<'t> Iterator for Lines<'t> {
    type Item = Line<'t>;

    fn next(&mut self) -> Option<Line<'t>> {
        loop {
            let line = self.lines.next()?.trim();
            let words: Vec<_> = line.trim_end_matches(';').split_whitespace().collect();
            match words.as_slice() {
                ["}"] => {
                    self.open.pop();
                }
                ["message", name, "{"] => self.open.push(Some(name)),
                // The arms of a oneof are fields of the message around it.
                ["oneof", _, "{"] => self.open.push(self.open.last().copied().flatten()),
                [.., "{"] => self.open.push(None),
                ["//", ..] => {}
                [.., type_name, name, "=", number] => {
                    let message = self.open.last().copied().flatten();
                    if let (Some(message), Ok(number)) = (message, number.parse()) {
                        return Some(Line { message, type_name, name, number });
                    }
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use ag_ui_proto::EventType;

    use super::*;

    #[test]
    fn every_field_of_a_text_is_read() {
        let text = "syntax = \"proto3\";\nenum E {\n  A = 0;\n}\n// Says x = 1.\nmessage M {\n  \
                    message N {\n    string inner = 3;\n  }\n  oneof o {\n    N arm = 1;\n  }\n  \
                    optional google.protobuf.Value value = 2;\n}\n";
        let fields: Vec<_> = Lines::new(text)
            .map(|line| (line.message, line.type_name, line.name, line.number))
            .collect();
        let want = [
            ("N", "string", "inner", 3),
            ("M", "N", "arm", 1),
            ("M", "google.protobuf.Value", "value", 2),
        ];
        assert_eq!(fields, want);
    }

    #[test]
    fn the_envelope_has_an_arm_for_every_type_and_each_has_a_base() {
        let schema = Schema::new();
        for arm in 1..=EventType::ALL.len() as u64 {
            let Some(Field::Message(event)) = schema.field(schema.envelope(), arm) else {
                panic!("arm {arm}");
            };
            let Some(Field::Message(base)) = schema.field(event, 1) else { panic!("arm {arm}") };
            let parts = [Part::Type, Part::Timestamp, Part::RawEvent, Part::Metadata];
            for (number, part) in (1..).zip(parts) {
                assert_eq!(schema.field(base, number), Some(Field::Base(part)));
            }
        }
        assert_eq!(schema.field(schema.envelope(), 32), None);
    }
}
