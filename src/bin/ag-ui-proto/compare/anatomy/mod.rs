//! What the bytes of a session are: ids, the members that every event may have, content, and the
//! structure that holds them together.
//!
//! Every byte counts once, so that the parts sum to the total:
//!
//! | part | in JSON | in protobuf |
//! |---|---|---|
//! | base members | name, colon and value | tag, length and value |
//! | ids | the characters of a member `id`, `*Id` or `*Ids` of the protocol | the bytes of the field |
//! | content | the characters of every other value; in open values of keys too | the same |
//! | structure | quotes, brackets, commas, names; `data: ` and the empty line | tags, lengths, headers |
//!
//! An id inside an open value is content: the protocol does not know it for an id.

mod json;
mod protobuf;
mod schema;

pub(crate) use self::json::{LIST_MIN, NumberLists};
use self::schema::Schema;

/// What a byte is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Ids,
    Type,
    Timestamp,
    RawEvent,
    Metadata,
    Content,
    Structure,
}

impl Part {
    pub(crate) const ALL: [Self; 7] = [
        Self::Ids,
        Self::Type,
        Self::Timestamp,
        Self::RawEvent,
        Self::Metadata,
        Self::Content,
        Self::Structure,
    ];

    /// The name in reports: of a base member, its name in JSON.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Ids => "ids",
            Self::Type => "type",
            Self::Timestamp => "timestamp",
            Self::RawEvent => "rawEvent",
            Self::Metadata => "metadata",
            Self::Content => "content",
            Self::Structure => "structure",
        }
    }

    /// The part of a base member, by its name in JSON.
    fn of_base(name: &[u8]) -> Option<Self> {
        let base = [Self::Type, Self::Timestamp, Self::RawEvent, Self::Metadata];
        base.into_iter().find(|part| part.as_str().as_bytes() == name)
    }
}

/// Bytes by part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Parts([u64; Part::ALL.len()]);

impl Parts {
    fn add(&mut self, part: Part, len: usize) {
        self.0[part as usize] += u64::try_from(len).unwrap_or(u64::MAX);
    }

    pub(crate) fn of(&self, part: Part) -> u64 {
        self.0[part as usize]
    }

    pub(crate) fn total(&self) -> u64 {
        self.0.iter().sum()
    }
}

/// Takes the bytes of events apart and counts them.
pub(crate) struct Anatomy {
    schema: Schema,
    pub(crate) sse: Parts,
    pub(crate) frames: Parts,
    pub(crate) lists: NumberLists,
}

impl Anatomy {
    pub(crate) fn new() -> Self {
        Self {
            schema: Schema::new(),
            sse: Parts::default(),
            frames: Parts::default(),
            lists: NumberLists::default(),
        }
    }

    /// Counts an event: its JSON as this crate writes it, what server-sent events put around it in
    /// bytes, and its frame.
    pub(crate) fn add(&mut self, json: &[u8], around: usize, frame: &[u8]) {
        self.sse.add(Part::Structure, around);
        json::count(json, &mut self.sse, &mut self.lists);
        protobuf::count(frame, &self.schema, &mut self.frames);
    }
}

#[cfg(test)]
pub(crate) fn parts(counts: [u64; Part::ALL.len()]) -> Parts {
    Parts(counts)
}

#[cfg(test)]
mod tests {
    use ag_ui_proto::Event;
    use bytes::BytesMut;

    use super::*;

    #[test]
    fn the_parts_of_every_sample_sum_to_its_bytes() {
        let samples = [
            include_str!("../../../../../samples/chat.jsonl"),
            include_str!("../../../../../samples/research.jsonl"),
            include_str!("../../../../../samples/multimodal.sse"),
        ];
        for sample in samples {
            let mut anatomy = Anatomy::new();
            let (mut sse, mut frames) = (0, 0);
            for line in sample.lines() {
                let text = line.strip_prefix("data: ").unwrap_or(line);
                if !text.starts_with('{') {
                    continue;
                }
                let event = Event::from_json(text).unwrap();
                let json = serde_json::to_vec(&event).unwrap();
                let mut frame = BytesMut::new();
                event.encode_frame(&mut frame).unwrap();
                sse += json.len() as u64 + 8;
                frames += frame.len() as u64;
                anatomy.add(&json, 8, &frame);
            }
            assert_eq!((anatomy.sse.total(), anatomy.frames.total()), (sse, frames));
            // What both carry as text is the same on both sides, but for the escapes of JSON.
            assert_eq!(anatomy.sse.of(Part::Ids), anatomy.frames.of(Part::Ids));
        }
    }
}
