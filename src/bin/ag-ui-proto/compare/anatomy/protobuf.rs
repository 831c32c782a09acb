//! Taking a frame apart.

use ag_ui_proto::codec::HEADER_LEN;

use super::schema::{Field, Schema};
use super::{Part, Parts};

/// Counts the bytes of a frame, its header included.
///
/// What is no frame of the schema is structure from there on: the sum stays right.
pub(super) fn count(frame: &[u8], schema: &Schema, parts: &mut Parts) {
    parts.add(Part::Structure, frame.len().min(HEADER_LEN));
    let payload = frame.get(HEADER_LEN..).unwrap_or_default();
    let mut rest = Rest { bytes: payload, at: 0 };
    // The messages that are open, each with the place of its end.
    let mut open = vec![(payload.len(), schema.envelope())];
    while let Some(&(end, message)) = open.last() {
        if rest.at >= end {
            open.pop();
            continue;
        }
        let start = rest.at;
        let Some((number, value)) = rest.field() else { break };
        let before = value.start - start;
        let len = value.end - value.start;
        match schema.field(message, number) {
            Some(Field::Message(inner)) => {
                parts.add(Part::Structure, before);
                open.push((value.end, inner));
                rest.at = value.start;
            }
            Some(Field::Value(part)) => {
                parts.add(Part::Structure, before);
                parts.add(part, len);
            }
            Some(Field::Base(part)) => parts.add(part, before + len),
            None => parts.add(Part::Structure, before + len),
        }
    }
    parts.add(Part::Structure, payload.len() - rest.at);
}

/// Bytes of protobuf that are still to be read.
struct Rest<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl Rest<'_> {
    /// Reads a field: its number, and where its value stands. Nothing, and not moved, if there is
    /// no whole field.
    fn field(&mut self) -> Option<(u64, std::ops::Range<usize>)> {
        let (tag, mut start) = self.varint(self.at)?;
        let end = match tag & 7 {
            0 => self.varint(start)?.1,
            1 => start.checked_add(8)?,
            2 => {
                let (len, value) = self.varint(start)?;
                start = value;
                start.checked_add(usize::try_from(len).ok()?)?
            }
            5 => start.checked_add(4)?,
            _ => return None,
        };
        if end > self.bytes.len() {
            return None;
        }
        self.at = end;
        Some((tag >> 3, start..end))
    }

    fn varint(&self, mut at: usize) -> Option<(u64, usize)> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = *self.bytes.get(at)?;
            at += 1;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some((number, at));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::parts;
    use super::*;

    /// Checks a frame given as payload: ids, type, timestamp, rawEvent, metadata, content,
    /// structure.
    #[track_caller]
    fn check(payload: &[u8], want: [u64; 7]) {
        let mut frame = vec![0, 0, 0, u8::try_from(payload.len()).unwrap()];
        frame.extend_from_slice(payload);
        let mut found = Parts::default();
        count(&frame, &Schema::new(), &mut found);
        assert_eq!(found, parts(want));
        assert_eq!(found.total(), frame.len() as u64);
    }

    #[test]
    fn a_delta_is_ids_base_content_and_structure() {
        // TEXT_MESSAGE_CONTENT, messageId "m1", delta "Hel", timestamp 5: header 4, arm 2, base 2,
        // tag and length of both strings 4.
        check(b"\x12\x0f\x0a\x04\x08\x01\x10\x05\x12\x02m1\x1a\x03Hel", [2, 2, 2, 0, 0, 3, 12]);
        // TEXT_MESSAGE_START is type 0, which takes no bytes.
        check(b"\x0a\x06\x0a\x00\x12\x02m1", [2, 0, 0, 0, 0, 0, 10]);
    }

    #[test]
    fn base_members_count_whole() {
        // rawEvent true: 1a 02 20 01; metadata {"k": null}: 22 09 0a 07 0a 01 k 12 02 08 00
        check(
            b"\x1a\x16\x0a\x11\x08\x02\x1a\x02\x20\x01\x22\x09\x0a\x07\x0a\x01k\x12\x02\x08\x00\x12\x01m",
            [1, 2, 0, 4, 11, 0, 10],
        );
    }

    #[test]
    fn keys_and_scalars_of_an_open_value_are_content() {
        // CUSTOM, name "n", value [1, "ab"]: the name 1, the number 8, the string 2.
        check(
            b"\x5a\x1c\x0a\x02\x08\x0a\x12\x01n\x1a\x13\x32\x11\x0a\x09\x11\0\0\0\0\0\0\xf0\x3f\x0a\x04\x1a\x02ab",
            [0, 2, 0, 0, 0, 11, 21],
        );
        // CUSTOM, name "n", value {"id": true}: not an id of the protocol.
        check(
            b"\x5a\x15\x0a\x02\x08\x0a\x12\x01n\x1a\x0c\x2a\x0a\x0a\x08\x0a\x02id\x12\x02\x20\x01",
            [0, 2, 0, 0, 0, 4, 21],
        );
    }

    #[test]
    fn what_is_no_frame_of_the_schema_is_structure() {
        check(b"\xc2\x3e\x02\x0a\x00", [0, 0, 0, 0, 0, 0, 9]);
        check(b"\x12\x0f\x0a", [0, 0, 0, 0, 0, 0, 7]);
        check(b"\x12\x03\x12\x09x", [0, 0, 0, 0, 0, 0, 9]);
        check(b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", [0, 0, 0, 0, 0, 0, 15]);
    }
}
