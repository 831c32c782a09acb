//! How fast events become bytes and back, floor by floor, with criterion.
//!
//! `cargo bench --bench codec`; a part of it with `-- encode/chat`. To compare contenders with each
//! other use `ratios`, which measures them alternately.

#![allow(clippy::expect_used, reason = "a bench that cannot do its work stops")]

mod floors;
mod workloads;

use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};

fn all_floors(criterion: &mut Criterion) {
    let mut workloads = workloads::workloads();
    workloads.extend(workloads::extras());
    for mut race in floors::races(&workloads, "") {
        let mut group = criterion.benchmark_group(format!("{}/{}", race.floor, race.subject));
        for contender in &mut race.contenders {
            group.throughput(Throughput::ElementsAndBytes {
                elements: race.events as u64,
                bytes: contender.bytes as u64,
            });
            group.bench_function(contender.name, |bencher| bencher.iter(|| contender.run()));
        }
        group.finish();
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .sample_size(30);
    targets = all_floors
}
criterion_main!(benches);
