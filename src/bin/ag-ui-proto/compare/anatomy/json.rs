//! Taking JSON apart, as this crate writes it: compact, every object of the protocol known by the
//! names around it.

use super::{Part, Parts};

/// Members of the protocol whose value is open, whatever it is.
const OPEN: [&[u8]; 10] = [
    b"snapshot",
    b"event",
    b"value",
    b"result",
    b"state",
    b"parameters",
    b"forwardedProps",
    b"payload",
    b"responseSchema",
    b"metadata",
];

/// Fewest numbers of a list that counts as one.
pub(crate) const LIST_MIN: u64 = 4;

/// Lists in open values that hold numbers alone, at least four of them.
///
/// In JSON a number is as long as its digits and a comma; on the wire it takes 11 bytes, whatever
/// it is: tag and length of the element, tag and double of the value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct NumberLists {
    pub(crate) lists: u64,
    pub(crate) numbers: u64,
    pub(crate) json: u64,
    pub(crate) protobuf: u64,
}

impl NumberLists {
    fn add(&mut self, numbers: u64, json_len: usize) {
        if numbers < LIST_MIN {
            return;
        }
        let body = numbers * 11;
        let len_of_len = (70 - u64::from(body.leading_zeros())) / 7;
        self.lists += 1;
        self.numbers += numbers;
        self.json += u64::try_from(json_len).unwrap_or(u64::MAX);
        self.protobuf += 1 + len_of_len + body;
    }
}

/// Where a value stands.
#[derive(Clone, Copy)]
enum Zone {
    /// Among members of the protocol; characters of values are of this part.
    Protocol(Part),
    /// In an open value.
    Open,
    /// In a base member, which is of one part as a whole.
    Base(Part),
}

impl Zone {
    fn of_structure(self) -> Part {
        match self {
            Self::Protocol(_) | Self::Open => Part::Structure,
            Self::Base(part) => part,
        }
    }

    fn of_characters(self) -> Part {
        match self {
            Self::Protocol(part) | Self::Base(part) => part,
            Self::Open => Part::Content,
        }
    }

    /// The zone of a member's value, which begins with `first`.
    fn of_member(self, name: &[u8], first: u8, is_root: bool) -> Self {
        match (self, Part::of_base(name)) {
            (Self::Open | Self::Base(_), _) => self,
            (Self::Protocol(_), Some(part)) if is_root => Self::Base(part),
            (Self::Protocol(_), _) if OPEN.contains(&name) => Self::Open,
            // Text, or the content of an activity.
            (Self::Protocol(_), _) if name == b"content" && first == b'{' => Self::Open,
            (Self::Protocol(_), _) if is_id(name) => Self::Protocol(Part::Ids),
            (Self::Protocol(_), _) => Self::Protocol(Part::Content),
        }
    }
}

fn is_id(name: &[u8]) -> bool {
    name == b"id" || name.ends_with(b"Id") || name.ends_with(b"Ids")
}

/// An object or list that is open.
struct Level {
    is_object: bool,
    zone: Zone,
    start: usize,
    /// How many numbers it holds, as long as it holds nothing else.
    numbers: Option<u64>,
}

/// Counts the bytes of one event's JSON.
///
/// What is no JSON is structure: the sum stays right.
pub(super) fn count(json: &[u8], parts: &mut Parts, lists: &mut NumberLists) {
    let mut levels: Vec<Level> = Vec::new();
    let mut zone = Zone::Protocol(Part::Content);
    let mut at = 0;
    while let Some(byte) = json.get(at).copied() {
        let around = levels.last().map_or(Zone::Protocol(Part::Content), |level| level.zone);
        match byte {
            b'{' | b'[' => {
                parts.add(zone.of_structure(), 1);
                is_no_number(levels.last_mut());
                let is_object = byte == b'{';
                levels.push(Level { is_object, zone, start: at, numbers: Some(0) });
                at += 1;
            }
            b'}' | b']' => {
                parts.add(around.of_structure(), 1);
                at += 1;
                if let Some(Level { is_object: false, zone, start, numbers: Some(numbers) }) =
                    levels.pop()
                    && !matches!(zone, Zone::Protocol(_))
                {
                    lists.add(numbers, at - start);
                }
            }
            b',' => {
                parts.add(around.of_structure(), 1);
                at += 1;
                zone = around;
            }
            b'"' if is_name(json, at, levels.last()) => {
                let end = string_end(json, at);
                let name = json.get(at + 1..end - 1).unwrap_or_default();
                let first = json.get(end + 1).copied().unwrap_or_default();
                zone = around.of_member(name, first, levels.len() == 1);
                match around {
                    Zone::Open => {
                        parts.add(Part::Content, name.len());
                        parts.add(Part::Structure, end - at - name.len() + 1);
                    }
                    _ => parts.add(zone_of_name(zone), end - at + 1),
                }
                at = end + 1;
            }
            b'"' => {
                let end = string_end(json, at);
                let quotes = (end - at).min(2);
                parts.add(zone.of_structure(), quotes);
                parts.add(zone.of_characters(), end - at - quotes);
                is_no_number(levels.last_mut());
                at = end;
            }
            _ => {
                let rest = json.get(at..).unwrap_or_default();
                let is_end = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b'"' | b'{' | b'[');
                let len = rest.iter().position(is_end).unwrap_or(rest.len());
                parts.add(zone.of_characters(), len);
                match levels.last_mut() {
                    Some(Level { numbers: Some(numbers), .. })
                        if byte == b'-' || byte.is_ascii_digit() =>
                    {
                        *numbers += 1;
                    }
                    level => is_no_number(level),
                }
                at += len;
            }
        }
    }
}

/// The part of a name outside of open values, with its quotes and colon.
fn zone_of_name(zone: Zone) -> Part {
    match zone {
        Zone::Base(part) => part,
        Zone::Protocol(_) | Zone::Open => Part::Structure,
    }
}

fn is_no_number(level: Option<&mut Level>) {
    if let Some(level) = level {
        level.numbers = None;
    }
}

/// Whether the string at `at` is the name of a member: it is, if it follows the bracket or a comma
/// of an object and a colon follows it.
fn is_name(json: &[u8], at: usize, level: Option<&Level>) -> bool {
    let before = at.checked_sub(1).and_then(|at| json.get(at));
    level.is_some_and(|level| level.is_object)
        && matches!(before, Some(b'{' | b','))
        && json.get(string_end(json, at)) == Some(&b':')
}

/// Where the string that begins at `at` ends, behind its quote.
fn string_end(json: &[u8], at: usize) -> usize {
    let mut end = at + 1;
    while let Some(byte) = json.get(end) {
        match byte {
            b'"' => return end + 1,
            b'\\' => end += 2,
            _ => end += 1,
        }
    }
    json.len()
}

#[cfg(test)]
mod tests {
    use super::super::parts;
    use super::*;

    /// Checks ids, type, timestamp, rawEvent, metadata, content, structure.
    #[track_caller]
    fn check(json: &str, want: [u64; 7]) -> NumberLists {
        let (mut found, mut lists) = (Parts::default(), NumberLists::default());
        count(json.as_bytes(), &mut found, &mut lists);
        assert_eq!(found, parts(want), "{json}");
        assert_eq!(found.total(), json.len() as u64);
        lists
    }

    #[test]
    fn a_delta_is_ids_base_content_and_structure() {
        // "type":"TEXT_MESSAGE_CONTENT" 29, "timestamp":5 13; the names "messageId": 12 and
        // "delta": 8, quotes 4, commas 3, brackets 2.
        check(
            r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m1","delta":"Hel","timestamp":5}"#,
            [2, 29, 13, 0, 0, 3, 29],
        );
    }

    #[test]
    fn base_members_count_whole() {
        // "type":"RAW" 12, "rawEvent":{"type":"x"} 23, "metadata":{"id":[1]} 21.
        check(
            r#"{"type":"RAW","event":7,"metadata":{"id":[1]},"rawEvent":{"type":"x"}}"#,
            [0, 12, 0, 23, 21, 1, 13],
        );
    }

    #[test]
    fn keys_and_scalars_of_an_open_value_are_content() {
        // "type":"CUSTOM" 15. Content: n, id, t, true, and \" of two characters. Structure: the
        // names 7 and 8, quotes 2 of n, 2 and 2 of keys, 2 of the string; 2 colons of keys, commas
        // 2 and 1 and 1, brackets 2 and 2 and 2.
        check(
            r#"{"type":"CUSTOM","name":"n","value":{"id":[true,"\""],"t":1}}"#,
            [0, 15, 0, 0, 0, 11, 35],
        );
    }

    #[test]
    fn ids_inside_objects_of_the_protocol_are_ids() {
        check(
            r#"{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"a","role":"tool","toolCallId":"b","content":"hi"}]}"#,
            [2, 26, 0, 0, 0, 6, 64],
        );
        let outcome = r#"{"type":"RUN_FINISHED","outcome":{"type":"x","interruptIds":["p","q"]}}"#;
        check(outcome, [2, 21, 0, 0, 0, 1, 47]);
    }

    #[test]
    fn lists_of_numbers_are_found_in_open_values() {
        let lists = check(
            r#"{"type":"CUSTOM","name":"n","value":[[1,2,3,4],[1,2,3],[1,2,3,"4"],{"a":[5.5,-6,7,8]}]}"#,
            [0, 15, 0, 0, 0, 20, 52],
        );
        // 1 tag, 1 length, 44 bytes each.
        assert_eq!(lists, NumberLists { lists: 2, numbers: 8, json: 21, protobuf: 92 });
    }

    #[test]
    fn what_is_no_json_keeps_the_sum() {
        for text in ["", "{", "\"", "{\"a", "]]", "{\"a\\", ",,:\"x\":", "nonsense"] {
            let (mut found, mut lists) = (Parts::default(), NumberLists::default());
            count(text.as_bytes(), &mut found, &mut lists);
            assert_eq!(found.total(), text.len() as u64, "{text}");
        }
    }
}
