//! Open values to bytes and back, beside `serde_json::Value` and JSON text.

use std::hint::black_box;

use ag_ui_proto::value::{MAX_DEPTH, Slot, Value};
use criterion::{Criterion, Throughput};
use prost::Message as _;

use crate::data::{meta, nested_state};

pub(crate) fn benches(criterion: &mut Criterion) {
    for (name, value) in [("metadata", Value::from(meta())), ("state", nested_state(50_000))] {
        let mut group = criterion.benchmark_group(format!("value/{name}"));
        let text = value.to_string();
        let json: serde_json::Value = serde_json::from_str(&text).expect("JSON of ours");
        let slot = Slot(Some(value));
        let bytes = slot.encode_to_vec();

        let mut buffer = Vec::new();
        group.throughput(Throughput::Bytes(bytes.len() as u64));
        group.bench_function("encode/wire", |bencher| {
            bencher.iter(|| {
                buffer.clear();
                slot.encode(&mut buffer).expect("a vector grows");
                black_box(buffer.len())
            });
        });
        group.bench_function("decode/wire", |bencher| {
            bencher.iter(|| Slot::from_wire(&bytes, MAX_DEPTH).expect("a value of ours"));
        });

        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function("encode/serde_json", |bencher| {
            bencher.iter(|| {
                buffer.clear();
                serde_json::to_writer(&mut buffer, &json).expect("a vector grows");
                black_box(buffer.len())
            });
        });
        group.bench_function("decode/serde_json", |bencher| {
            bencher.iter(|| serde_json::from_str::<serde_json::Value>(&text).expect("JSON"));
        });
        group.bench_function("decode/json", |bencher| {
            bencher.iter(|| Value::from_json(&text, MAX_DEPTH).expect("JSON"));
        });
        group.finish();
    }
}
