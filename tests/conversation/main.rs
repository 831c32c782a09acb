//! The contents page: one module a subject.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test stops where it fails")]
#![allow(clippy::needless_pass_by_value, reason = "JSON is written where it is passed")]
#![allow(clippy::too_many_lines, reason = "a table of all events")]

mod apply;
mod chat;
mod chunks;
mod compact;
mod field_reports;
mod interrupts;
mod laws;
mod lineage;
mod patch;
mod producer;
mod rules;

use ag_ui_proto::Event;
use ag_ui_proto::conversation::{Consumed, Consumer, Conversation, Delivered};
use serde_json::{Value, json};

/// Events from the JSON of each.
fn events(list: Value) -> Vec<Event> {
    let Value::Array(list) = list else { panic!("no list") };
    list.into_iter().map(|event| serde_json::from_value(event).unwrap()).collect()
}

/// The events within a run that starts before them and finishes after them.
fn in_a_run(list: Value) -> Vec<Event> {
    let mut all = events(json!([{"type": "RUN_STARTED", "threadId": "t", "runId": "r"}]));
    all.extend(events(list));
    all.extend(events(json!([{"type": "RUN_FINISHED", "threadId": "t", "runId": "r"}])));
    all
}

fn consume(events: impl IntoIterator<Item = Event>) -> (Consumed, Delivered) {
    consume_into(Conversation::new(), events)
}

fn consume_into(
    conversation: Conversation,
    events: impl IntoIterator<Item = Event>,
) -> (Consumed, Delivered) {
    let mut consumer = Consumer::new(conversation);
    let mut delivered = Delivered::default();
    for event in events {
        if consumer.push(event, &mut delivered).is_err() {
            break;
        }
    }
    (consumer.finish(), delivered)
}

fn messages(conversation: &Conversation) -> Value {
    serde_json::to_value(conversation.messages().collect::<Vec<_>>()).unwrap()
}

fn warnings(delivered: &Delivered) -> Vec<String> {
    delivered.warnings.iter().map(ToString::to_string).collect()
}
