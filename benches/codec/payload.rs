//! Events to frames and back, beside server-sent events written and read by `serde_json`.
//!
//! `schema` is prost on the wire's own types alone, without the model and its rules.

use std::hint::black_box;
use std::io::Write as _;

use ag_ui_proto::codec::{Limits, decode_payload, encode_frame};
use ag_ui_proto::wire;
use bytes::BytesMut;
use criterion::{Criterion, Throughput};
use prost::Message as _;

use crate::data::{Workload, workloads};
use crate::json;

pub(crate) fn benches(criterion: &mut Criterion) {
    let workloads = workloads();
    for workload in &workloads {
        encode(criterion, workload);
    }
    for workload in &workloads {
        decode(criterion, workload);
    }
}

fn encode(criterion: &mut Criterion, workload: &Workload) {
    let mut group = criterion.benchmark_group(format!("encode/{}", workload.name));

    let (limits, mut frames) = (Limits::new(), BytesMut::new());
    group.throughput(Throughput::Bytes(workload.frames_len()));
    group.bench_function("frames", |bencher| {
        bencher.iter(|| {
            frames.clear();
            for event in &workload.events {
                encode_frame(event, &limits, &mut frames).expect("an event of ours");
            }
            black_box(frames.len())
        });
    });

    let schema: Vec<_> = workload
        .payloads
        .iter()
        .map(|payload| wire::Event::decode(&payload[..]).expect("a payload of ours"))
        .collect();
    let mut buffer = Vec::new();
    group.bench_function("schema", |bencher| {
        bencher.iter(|| {
            buffer.clear();
            for event in &schema {
                event.encode_length_delimited(&mut buffer).expect("a vector grows");
            }
            black_box(buffer.len())
        });
    });

    let typed: Vec<json::Event> = json::bodies(&workload.sse)
        .map(|json| serde_json::from_str(json).expect("an event of ours"))
        .collect();
    let mut sse = Vec::new();
    group.throughput(Throughput::Bytes(workload.sse.len() as u64));
    group.bench_function("serde_json", |bencher| {
        bencher.iter(|| {
            sse.clear();
            for event in &typed {
                sse.extend_from_slice(b"data: ");
                serde_json::to_writer(&mut sse, event).expect("a vector grows");
                sse.write_all(b"\n\n").expect("a vector grows");
            }
            black_box(sse.len())
        });
    });
    group.finish();
}

fn decode(criterion: &mut Criterion, workload: &Workload) {
    let mut group = criterion.benchmark_group(format!("decode/{}", workload.name));

    let limits = Limits::new();
    group.throughput(Throughput::Bytes(workload.frames_len()));
    group.bench_function("frames", |bencher| {
        bencher.iter(|| {
            for payload in &workload.payloads {
                black_box(decode_payload(payload, &limits).expect("a payload of ours"));
            }
        });
    });
    group.bench_function("schema", |bencher| {
        bencher.iter(|| {
            for payload in &workload.payloads {
                black_box(wire::Event::decode(&payload[..]).expect("a payload of ours"));
            }
        });
    });

    group.throughput(Throughput::Bytes(workload.sse.len() as u64));
    group.bench_function("serde_json", |bencher| {
        bencher.iter(|| {
            for json in json::bodies(&workload.sse) {
                let event: json::Event = serde_json::from_str(json).expect("an event of ours");
                black_box(event);
            }
        });
    });
    group.finish();
}
