//! Consumes recorded streams: a JSON array of events a line in, what each came to a line out.
//!
//! `cargo run --features conversation --example consume <streams.jsonl`

use std::io::{BufRead, Write};

use ag_ui_proto::conversation::{
    Consumed, Consumer, Conversation, Delivered, Rejection, RunResult, compact,
};
use ag_ui_proto::model::{Event, TolerantReader};
use serde_json::{Value, json};

/// What a stream came to: `outcome`, the events as delivered, messages, state and interrupts; and
/// how many events it takes when it is compacted.
pub(crate) fn consume(stream: &str) -> Result<Value, Box<dyn std::error::Error>> {
    let mut consumer = Consumer::new(Conversation::new());
    let mut delivered = Delivered::default();
    let mut reader = TolerantReader::new();
    let mut read: Vec<Event> = Vec::new();
    for event in serde_json::from_str::<Vec<Value>>(stream)? {
        let event = match reader.read(&event.to_string()) {
            Ok(enforced) => enforced.event,
            Err(error) => {
                consumer.reject(error);
                break;
            }
        };
        let Some(event) = event else {
            consumer.skip();
            continue;
        };
        read.push(event.clone());
        if consumer.push(event, &mut delivered).is_err() {
            break;
        }
    }
    let Consumed { conversation, result, .. } = consumer.finish();
    let (outcome, rule) = match &result {
        RunResult::Finished(_) => ("finished", None),
        RunResult::Failed(_) => ("failed", None),
        RunResult::Truncated => ("truncated", None),
        RunResult::Rejected(Rejection::Violation(violation)) => {
            ("rejected", Some(violation.kind.rule()))
        }
        RunResult::Rejected(_) => ("rejected", None),
    };
    Ok(json!({
        "outcome": outcome,
        "rule": rule,
        "events": delivered.events,
        "warnings": delivered.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "messages": conversation.messages().collect::<Vec<_>>(),
        "state": conversation.state(),
        "interrupts": conversation.interrupts(),
        "pendingToolCalls": conversation.pending_tool_calls(),
        "compacted": compact(read).ok(),
    }))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        writeln!(out, "{}", consume(&line?)?)?;
    }
    Ok(())
}
