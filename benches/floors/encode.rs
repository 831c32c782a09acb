//! Events to the bytes of a stream: frames, or server-sent events.

use std::ops::Deref;
use std::rc::Rc;

use ag_ui_proto::codec::{Limits, encode_frame};
use ag_ui_proto::{Event, convert, wire};
use bytes::{BufMut, BytesMut};
use prost::Message as _;

use super::{BASELINE, Contender, OURS, check_same, events_of_frames, events_of_sse, json, writer};
use crate::workloads::Workload;

pub(super) fn contenders(workload: &Workload) -> Vec<Contender<'_>> {
    let read = |json: &String| serde_json::from_str(json).expect("an event of ours");
    let typed: Rc<[json::Event<serde_json::Value>]> = workload.json.iter().map(read).collect();
    let read = |json: &String| {
        let json::TypeFirst(event) = sonic_rs::from_str(json).expect("an event of ours");
        event
    };
    let typed_of_sonic: Vec<json::Event<sonic_rs::Value>> =
        workload.json.iter().map(read).collect();
    vec![
        server_sent_events(BASELINE, workload, Rc::clone(&typed), |event, sse| {
            serde_json::to_writer(sse, event).expect("a vector grows");
        }),
        server_sent_events("sonic-rs", workload, Rc::clone(&typed), |event, sse| {
            sonic_rs::to_writer(sse, event).expect("a vector grows");
        }),
        server_sent_events("sonic-rs, its own values", workload, typed_of_sonic, |event, sse| {
            sonic_rs::to_writer(sse, event).expect("a vector grows");
        }),
        server_sent_events("simd-json", workload, typed, |event, sse| {
            simd_json::serde::to_writer(sse, event).expect("a vector grows");
        }),
        server_sent_events(
            "serde_json, our model",
            workload,
            &workload.events[..],
            |event, sse| {
                serde_json::to_writer(sse, event).expect("a vector grows");
            },
        ),
        prost_types_alone(workload),
        frames("prost types, converted", workload, |event, frames| {
            let (wire, _) = convert::to_wire(event).expect("an event of ours");
            put(&wire, frames);
        }),
        frames(OURS, workload, |event, frames| {
            encode_frame(event, &Limits::new(), frames).expect("an event of ours");
        }),
        copy(workload),
    ]
}

/// What a writer of JSON does around each event is done for it.
fn server_sent_events<'a, E: 'a>(
    name: &'static str,
    workload: &'a Workload,
    events: impl Deref<Target = [E]> + 'a,
    write: impl Fn(&E, &mut Vec<u8>) + 'a,
) -> Contender<'a> {
    let write_all = move |sse: &mut Vec<u8>| {
        sse.clear();
        for event in events.iter() {
            sse.extend_from_slice(b"data: ");
            write(event, sse);
            sse.extend_from_slice(b"\n\n");
        }
    };
    writer(name, Vec::new(), write_all, |sse| {
        check_same(name, &events_of_sse(sse), &workload.events);
    })
}

fn frames<'a>(
    name: &'static str,
    workload: &'a Workload,
    write: impl Fn(&Event, &mut BytesMut) + 'a,
) -> Contender<'a> {
    let write_all = move |frames: &mut BytesMut| {
        frames.clear();
        for event in &workload.events {
            write(event, frames);
        }
    };
    writer(name, BytesMut::new(), write_all, |frames| check_frames(frames, workload))
}

/// Without a model and its rules: what a program pays that holds the generated types.
fn prost_types_alone(workload: &Workload) -> Contender<'_> {
    let decode = |payload: &Vec<u8>| wire::Event::decode(&payload[..]).expect("a payload of ours");
    let events: Vec<_> = workload.payloads.iter().map(decode).collect();
    let write_all = move |frames: &mut BytesMut| {
        frames.clear();
        for event in &events {
            put(event, frames);
        }
    };
    let check = |frames: &[u8]| check_frames(frames, workload);
    writer("prost types alone", BytesMut::new(), write_all, check)
}

/// The bound on all: the finished bytes, copied event by event.
fn copy(workload: &Workload) -> Contender<'_> {
    let write_all = |frames: &mut BytesMut| {
        frames.clear();
        for payload in &workload.payloads {
            frames.put_u32(u32::try_from(payload.len()).expect("a short payload"));
            frames.put_slice(payload);
        }
    };
    let check = |frames: &[u8]| check_frames(frames, workload);
    writer("copy of the finished bytes", BytesMut::new(), write_all, check)
}

fn put(event: &wire::Event, frames: &mut BytesMut) {
    let len = event.encoded_len();
    frames.reserve(4 + len);
    frames.put_u32(u32::try_from(len).expect("a short payload"));
    event.encode_raw(frames);
}

fn check_frames(frames: &[u8], workload: &Workload) {
    assert!(frames == workload.frames(), "other bytes");
    check_same("frames", &events_of_frames(frames), &workload.events);
}
