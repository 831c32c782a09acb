//! The bytes of each event to events, framing aside: payloads, or JSON texts.
//!
//! `serde_json` and sonic-rs get their JSON as `&str`, and so are spared the check for UTF-8 that
//! frames get. simd-json writes into its input: it gets a copy in a buffer that stays allocated,
//! and the copy counts.

use ag_ui_proto::codec::{Decoded, Limits, decode_payload};
use ag_ui_proto::{Event, convert, wire};
use prost::Message as _;
use serde::Serialize;

use super::{BASELINE, Contender, OURS, check_same, json, reader};
use crate::workloads::Workload;

pub(super) fn contenders(workload: &Workload) -> Vec<Contender<'_>> {
    let mut contenders = typed_json(workload);
    contenders.extend([
        texts("serde_json, type first", workload, of_type_first::<serde_json::Value>, |json| {
            serde_json::from_str(json).expect("an event of ours")
        }),
        texts("sonic-rs, type first", workload, of_type_first::<serde_json::Value>, |json| {
            sonic_rs::from_str(json).expect("an event of ours")
        }),
        texts("sonic-rs, its own values", workload, of_type_first::<sonic_rs::Value>, |json| {
            sonic_rs::from_str(json).expect("an event of ours")
        }),
        texts("serde_json, our model", workload, Event::clone, |json| {
            Event::from_json(json).expect("an event of ours")
        }),
        payloads("prost types alone", workload, of_wire, |payload| {
            wire::Event::decode(payload).expect("a payload of ours")
        }),
        payloads("prost types, converted", workload, Event::clone, |payload| {
            let wire = wire::Event::decode(payload).expect("a payload of ours");
            convert::from_wire(wire).expect("an event of ours").0
        }),
        payloads(
            OURS,
            workload,
            |decoded: &Decoded| decoded.event.clone().expect("an event"),
            |payload| decode_payload(payload, &Limits::new()).expect("a payload of ours"),
        ),
    ]);
    contenders
}

/// Readers of JSON into one and the same typed model, the baseline first.
pub(super) fn typed_json(workload: &Workload) -> Vec<Contender<'_>> {
    let (mut text, mut buffers) = (Vec::new(), simd_json::Buffers::default());
    vec![
        texts(BASELINE, workload, of_typed::<serde_json::Value>, |json| {
            serde_json::from_str(json).expect("an event of ours")
        }),
        texts("sonic-rs", workload, of_typed::<serde_json::Value>, |json| {
            sonic_rs::from_str(json).expect("an event of ours")
        }),
        texts("simd-json", workload, of_typed::<serde_json::Value>, move |json| {
            text.clear();
            text.extend_from_slice(json.as_bytes());
            simd_json::serde::from_slice_with_buffers(&mut text, &mut buffers)
                .expect("an event of ours")
        }),
    ]
}

pub(super) fn texts<'a, T>(
    name: &'static str,
    workload: &'a Workload,
    event_of: impl Fn(&T) -> Event,
    mut read: impl FnMut(&'a str) -> T + 'a,
) -> Contender<'a> {
    let events: Vec<_> = workload.json.iter().map(|json| event_of(&read(json))).collect();
    check_same(name, &events, &workload.events);
    reader(name, workload.json.iter().map(String::as_str).collect(), read)
}

fn payloads<'a, T>(
    name: &'static str,
    workload: &'a Workload,
    event_of: impl Fn(&T) -> Event,
    mut read: impl FnMut(&'a [u8]) -> T + 'a,
) -> Contender<'a> {
    let events: Vec<_> = workload.payloads.iter().map(|bytes| event_of(&read(bytes))).collect();
    check_same(name, &events, &workload.events);
    reader(name, workload.payloads.iter().map(Vec::as_slice).collect(), read)
}

fn of_typed<V: Serialize>(typed: &json::Event<V>) -> Event {
    let json = serde_json::to_string(typed).expect("an event");
    Event::from_json(&json).expect("an event of ours")
}

fn of_type_first<V: Serialize>(json::TypeFirst(typed): &json::TypeFirst<V>) -> Event {
    of_typed(typed)
}

fn of_wire(wire: &wire::Event) -> Event {
    convert::from_wire(wire.clone()).expect("an event of ours").0
}
