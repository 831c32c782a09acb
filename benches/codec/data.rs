//! Named streams of events, the same ones in every run.
//!
//! | name | holds |
//! |---|---|
//! | `chat` | 2,000 text deltas of a few letters, ids as long as UUIDs, a timestamp each |
//! | `tools` | calls with arguments in fragments, results of 1 to 8 KB, reasoning |
//! | `state` | a nested snapshot of 50 KB, 500 patches |
//! | `metadata` | 500 deltas with metadata and the producer's own event |
//! | `history` | a snapshot of 200 messages |
//! | `sample-*` | the sessions of `samples/` |

use std::fmt::Write as _;

use ag_ui_proto::Event;
use ag_ui_proto::model::{
    AssistantMessage, Message, MessagesSnapshot, PatchOperation, ReasoningMessageContent,
    StateDelta, StateSnapshot, TextMessageContent, ToolCall, ToolCallArgs, ToolCallEnd,
    ToolCallResult, ToolCallStart, ToolMessage, UserMessage,
};
use ag_ui_proto::value::{List, Object, Value};

/// One stream, in the forms that the benches start from.
pub(crate) struct Workload {
    pub(crate) name: &'static str,
    pub(crate) events: Vec<Event>,
    /// The payload of each event.
    pub(crate) payloads: Vec<Vec<u8>>,
    /// The body of the stream as server-sent events.
    pub(crate) sse: String,
}

impl Workload {
    fn new(name: &'static str, events: Vec<Event>) -> Self {
        let payload = |event: &Event| event.to_payload().expect("an event of ours").to_vec();
        let payloads = events.iter().map(payload).collect();
        let sse = events.iter().fold(String::new(), |mut sse, event| {
            let json = serde_json::to_string(event).expect("an event of ours");
            let _ = write!(sse, "data: {json}\n\n");
            sse
        });
        Self { name, events, payloads, sse }
    }

    /// Bytes of the stream as frames.
    pub(crate) fn frames_len(&self) -> u64 {
        self.payloads.iter().map(|payload| payload.len() as u64 + 4).sum()
    }
}

pub(crate) fn workloads() -> Vec<Workload> {
    vec![
        Workload::new("chat", chat()),
        Workload::new("tools", tools()),
        Workload::new("state", state()),
        Workload::new("metadata", metadata()),
        Workload::new("history", history()),
        sample("sample-chat", include_str!("../../samples/chat.jsonl")),
        sample("sample-research", include_str!("../../samples/research.jsonl")),
        sample("sample-multimodal", include_str!("../../samples/multimodal.sse")),
    ]
}

fn sample(name: &'static str, text: &str) -> Workload {
    let events = text.lines().filter_map(|line| {
        let json = line.strip_prefix("data: ").unwrap_or(line);
        json.starts_with('{').then(|| Event::from_json(json).expect("a sample"))
    });
    Workload::new(name, events.collect())
}

/// A nested state of about `len` bytes of JSON.
pub(crate) fn nested_state(len: usize) -> Value {
    let mut dice = Dice::new(3);
    let mut sections = Object::new();
    let mut written = 0;
    for section in 0.. {
        if written > len {
            break;
        }
        let rows = (0..8).map(|row| {
            Value::from(Object::from([
                ("id", Value::from(dice.id())),
                ("title", Value::from(dice.words(6))),
                ("done", Value::from(row % 3 == 0)),
                ("priority", Value::from(row)),
                ("score", Value::from(f64::from(dice.up_to(1000)) / 8.0)),
                ("owner", Value::Null),
                ("tags", Value::from([dice.word(), dice.word()])),
            ]))
        });
        let section_state = Object::from([
            ("rows", Value::from(rows.collect::<List>())),
            ("view", Value::from(Object::from([("page", 1), ("size", 50)]))),
        ]);
        written += Value::from(section_state.clone()).to_string().len();
        sections.insert(format!("section{section}"), section_state);
    }
    Value::from(Object::from([("version", Value::from(7)), ("sections", Value::from(sections))]))
}

/// Metadata as a framework attaches it to every event.
pub(crate) fn meta() -> Object {
    Object::from([
        ("traceId", Value::from("4bf92f3577b34da6a3ce929d0e0e4736")),
        ("node", Value::from("planner")),
        ("step", Value::from(17)),
        ("costUsd", Value::from(0.001_25)),
        ("flags", Value::from(["streamed", "cached"])),
    ])
}

fn chat() -> Vec<Event> {
    let mut dice = Dice::new(1);
    let id = dice.id();
    (0..2000)
        .map(|tick| {
            let delta = format!(" {}", dice.word());
            Event::from(TextMessageContent::new(id.as_str(), delta))
                .with_timestamp(1_760_000_000_000 + tick * 18)
        })
        .collect()
}

fn tools() -> Vec<Event> {
    let mut dice = Dice::new(2);
    let mut events = Vec::new();
    for _ in 0..20 {
        let (call, message, thought) = (dice.id(), dice.id(), dice.id());
        for _ in 0..15 {
            let delta = dice.words(4);
            events.push(ReasoningMessageContent::new(thought.as_str(), delta).into());
        }
        let start = ToolCallStart::new(call.as_str(), "search_documents");
        events.push(start.with_parent_message(message.as_str()).into());
        for _ in 0..20 {
            let delta = format!("\"{}\":\"{}\",", dice.word(), dice.words(2));
            events.push(ToolCallArgs::new(call.as_str(), delta).into());
        }
        events.push(ToolCallEnd::new(call.as_str()).into());
        let len = 1024 + dice.up_to(7 * 1024) as usize;
        let mut content = String::new();
        while content.len() < len {
            let _ = writeln!(content, "{{\"title\": \"{}\"}}", dice.words(8));
        }
        events.push(ToolCallResult::new(message, call, content).into());
    }
    events
}

fn state() -> Vec<Event> {
    let mut dice = Dice::new(4);
    let mut events = vec![Event::from(StateSnapshot::new(nested_state(50_000)))];
    events.extend((0..500).map(|index| {
        let row = format!("/sections/section{}/rows/{}", index % 20, index % 8);
        Event::from(StateDelta::new([
            PatchOperation::replace(format!("{row}/score"), f64::from(dice.up_to(1000)) / 8.0),
            PatchOperation::replace(format!("{row}/title"), dice.words(6)),
            PatchOperation::add(
                format!("{row}/owner"),
                Object::from([("id", dice.id()), ("name", dice.words(2))]),
            ),
        ]))
    }));
    events
}

fn metadata() -> Vec<Event> {
    let mut dice = Dice::new(5);
    let id = dice.id();
    (0..500)
        .map(|tick| {
            let raw = Object::from([
                ("event", Value::from("on_chat_model_stream")),
                ("run_id", Value::from(id.as_str())),
                ("data", Value::from(Object::from([("chunk", dice.word())]))),
            ]);
            Event::from(TextMessageContent::new(id.as_str(), dice.word()))
                .with_timestamp(1_760_000_000_000 + tick * 18)
                .with_metadata(meta())
                .with_raw_event(raw)
        })
        .collect()
}

fn history() -> Vec<Event> {
    let mut dice = Dice::new(6);
    let messages =
        (0..50).flat_map(|_| {
            let call = dice.id();
            let arguments = format!("{{\"query\":\"{}\"}}", dice.words(5));
            [
                Message::from(UserMessage::new(dice.id(), dice.words(20))),
                Message::from(AssistantMessage::new(dice.id()).with_tool_calls([
                    ToolCall::function(call.as_str(), "search_documents", arguments),
                ])),
                Message::from(ToolMessage::new(dice.id(), dice.words(60), call)),
                Message::from(AssistantMessage::new(dice.id()).with_content(dice.words(80))),
            ]
        });
    vec![MessagesSnapshot::new(messages.collect::<Vec<_>>()).into()]
}

/// Numbers without pattern, the same ones for the same seed (xorshift64).
struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn up_to(&mut self, end: u32) -> u32 {
        u32::try_from(self.roll() % u64::from(end)).unwrap_or_default()
    }

    /// As long as a UUID.
    fn id(&mut self) -> String {
        let (high, low) = (self.roll(), self.roll());
        format!(
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            high >> 32,
            high >> 16 & 0xffff,
            high & 0xffff,
            low >> 48,
            low & 0xffff_ffff_ffff
        )
    }

    fn word(&mut self) -> &'static str {
        const WORDS: [&str; 16] = [
            "the", "train", "leaves", "at", "noon", "and", "arrives", "before", "evening", "if",
            "weather", "permits", "it", "größer", "ticket", "seat",
        ];
        WORDS[self.up_to(16) as usize]
    }

    fn words(&mut self, count: usize) -> String {
        let words: Vec<_> = (0..count).map(|_| self.word()).collect();
        words.join(" ")
    }
}
