//! How the streams are made.

use std::fmt::Write as _;

use ag_ui_proto::Event;
use ag_ui_proto::model::{
    AssistantMessage, Message, MessagesSnapshot, PatchOperation, ReasoningMessageContent,
    StateDelta, StateSnapshot, TextMessageContent, ToolCall, ToolCallArgs, ToolCallEnd,
    ToolCallResult, ToolCallStart, ToolMessage, UserMessage,
};
use ag_ui_proto::value::{List, Object, Value};

use super::dice::Dice;

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

/// Integers as a list of token ids or a small image has them.
pub(crate) fn small_integers() -> Value {
    let mut dice = Dice::new(7);
    Value::from((0..1000).map(|_| Value::from(dice.up_to(256))).collect::<List>())
}

/// Metadata as a framework attaches it to every event.
pub(crate) fn metadata_of_one_event() -> Object {
    Object::from([
        ("traceId", Value::from("4bf92f3577b34da6a3ce929d0e0e4736")),
        ("node", Value::from("planner")),
        ("step", Value::from(17)),
        ("costUsd", Value::from(0.001_25)),
        ("flags", Value::from(["streamed", "cached"])),
    ])
}

pub(super) fn chat() -> Vec<Event> {
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

pub(super) fn tools() -> Vec<Event> {
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

pub(super) fn snapshot() -> Vec<Event> {
    vec![StateSnapshot::new(nested_state(50_000)).into()]
}

pub(super) fn patches() -> Vec<Event> {
    let mut dice = Dice::new(4);
    let patch = |index| {
        let row = format!("/sections/section{}/rows/{}", index % 20, index % 8);
        Event::from(StateDelta::new([
            PatchOperation::replace(format!("{row}/score"), f64::from(dice.up_to(1000)) / 8.0),
            PatchOperation::replace(format!("{row}/title"), dice.words(6)),
            PatchOperation::add(
                format!("{row}/owner"),
                Object::from([("id", dice.id()), ("name", dice.words(2))]),
            ),
        ]))
    };
    (0..500).map(patch).collect()
}

pub(super) fn metadata() -> Vec<Event> {
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
                .with_metadata(metadata_of_one_event())
                .with_raw_event(raw)
        })
        .collect()
}

pub(super) fn history() -> Vec<Event> {
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
