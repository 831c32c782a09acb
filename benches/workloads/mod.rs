//! Named streams of events, the same ones in every run of every bench.
//!
//! | name | holds |
//! |---|---|
//! | `chat` | 2,000 text deltas of a word each, ids as long as UUIDs, a timestamp each |
//! | `tools` | calls with arguments in fragments, results of 1 to 8 KB, reasoning |
//! | `state` | `snapshot`, `patches`, `metadata` and `history`, one after the other |
//! | `sample-*` | the sessions of `samples/` |
//!
//! Extras, which run only when they are asked for:
//!
//! | name | holds |
//! |---|---|
//! | `snapshot` | a nested state of 50 KB |
//! | `patches` | 500 deltas of three patch operations |
//! | `metadata` | 500 text deltas with metadata and the producer's own event |
//! | `history` | a snapshot of 200 messages |
//! | `integers` | a state of 1,000 small integers |

mod dice;
mod streams;

use ag_ui_proto::Event;
use ag_ui_proto::codec::{HEADER_LEN, Limits, put_frame};
use ag_ui_proto::model::StateSnapshot;
use bytes::BytesMut;

pub(crate) use self::streams::{metadata_of_one_event, nested_state, small_integers};

/// One stream, in the forms that the benches start from.
pub(crate) struct Workload {
    pub(crate) name: &'static str,
    pub(crate) events: Vec<Event>,
    /// The payload of each event.
    pub(crate) payloads: Vec<Vec<u8>>,
    /// The JSON text of each event.
    pub(crate) json: Vec<String>,
}

impl Workload {
    /// Events are taken as one trip over the wire leaves them, so that JSON and frames hold the
    /// same: 14.0 of an open value becomes 14.
    pub(crate) fn new(name: &'static str, events: &[Event]) -> Self {
        let payload = |event: &Event| event.to_payload().expect("an event of ours").to_vec();
        let payloads: Vec<_> = events.iter().map(payload).collect();
        let event = |payload: &Vec<u8>| {
            let decoded = Event::decode(payload).expect("a payload of ours");
            decoded.event.expect("an event of this version")
        };
        let events: Vec<_> = payloads.iter().map(event).collect();
        let json = |event: &Event| serde_json::to_string(event).expect("an event of ours");
        let json = events.iter().map(json).collect();
        Self { name, events, payloads, json }
    }

    /// A session of JSON lines or server-sent events.
    fn recorded(name: &'static str, text: &str) -> Self {
        let events = text.lines().filter_map(|line| {
            let json = line.strip_prefix("data: ").unwrap_or(line);
            json.starts_with('{').then(|| Event::from_json(json).expect("a sample"))
        });
        Self::new(name, &events.collect::<Vec<_>>())
    }

    /// The stream as frames.
    pub(crate) fn frames(&self) -> BytesMut {
        let mut frames = BytesMut::with_capacity(self.frames_len());
        for payload in &self.payloads {
            put_frame(payload, &Limits::new(), &mut frames).expect("within the limits");
        }
        frames
    }

    pub(crate) fn frames_len(&self) -> usize {
        self.payloads.iter().map(|payload| HEADER_LEN + payload.len()).sum()
    }

    /// The stream as the body of server-sent events.
    pub(crate) fn sse(&self) -> String {
        self.json.iter().flat_map(|json| ["data: ", json, "\n\n"]).collect()
    }
}

/// The streams that every bench runs.
pub(crate) fn workloads() -> Vec<Workload> {
    let state = [streams::snapshot(), streams::patches(), streams::metadata(), streams::history()];
    vec![
        Workload::new("chat", &streams::chat()),
        Workload::new("tools", &streams::tools()),
        Workload::new("state", &state.concat()),
        Workload::recorded("sample-chat", include_str!("../../samples/chat.jsonl")),
        Workload::recorded("sample-research", include_str!("../../samples/research.jsonl")),
        Workload::recorded("sample-multimodal", include_str!("../../samples/multimodal.sse")),
    ]
}

/// What `state` is made of, piece by piece, and what suits JSON best.
pub(crate) fn extras() -> Vec<Workload> {
    vec![
        Workload::new("snapshot", &streams::snapshot()),
        Workload::new("patches", &streams::patches()),
        Workload::new("metadata", &streams::metadata()),
        Workload::new("history", &streams::history()),
        Workload::new("integers", &[StateSnapshot::new(small_integers()).into()]),
    ]
}
