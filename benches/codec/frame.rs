//! Frames around finished payloads: what a relay pays.

use std::hint::black_box;

use ag_ui_proto::codec::{FrameReader, Limits, put_frame};
use bytes::BytesMut;
use criterion::{BatchSize, Criterion, Throughput};

use crate::data::workloads;

pub(crate) fn benches(criterion: &mut Criterion) {
    let limits = Limits::new();
    let mut group = criterion.benchmark_group("frame");
    for workload in workloads().into_iter().take(3) {
        group.throughput(Throughput::Bytes(workload.frames_len()));
        let mut frames = BytesMut::new();
        group.bench_function(format!("put/{}", workload.name), |bencher| {
            bencher.iter(|| {
                frames.clear();
                for payload in &workload.payloads {
                    put_frame(payload, &limits, &mut frames).expect("within the limits");
                }
                black_box(frames.len())
            });
        });
        group.bench_function(format!("take/{}", workload.name), |bencher| {
            bencher.iter_batched(
                || frames.clone(),
                |mut buffer| {
                    let mut reader = FrameReader::new(limits);
                    while let Ok(Some(frame)) = reader.next_frame(&mut buffer) {
                        black_box(frame);
                    }
                },
                BatchSize::SmallInput,
            );
        });
    }
    group.finish();
}
