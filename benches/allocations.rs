//! What an event costs in allocations: each contender does its work once, with an allocator that
//! counts.
//!
//! `cargo bench --bench allocations`; a part of it with `-- decode/chat`; `--extras` adds the
//! extra workloads.
//!
//! Buffers that stay allocated from pass to pass have grown before, and are not counted. A string
//! that grows by reallocation counts once for its allocation and once for each reallocation.

#![allow(clippy::expect_used, reason = "a bench that cannot do its work stops")]
#![allow(dead_code, unused_imports, reason = "the benches share modules, and each uses a part")]

mod floors;
mod measure;
mod pieces;
mod workloads;

use std::alloc::System;

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

use self::measure::{Args, markdown};
use self::pieces::Pieces;
use self::workloads::Workload;

#[global_allocator]
static HEAP: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const FLOORS: [&str; 4] = ["encode", "decode", "view", "json"];

fn main() {
    let args = Args::of_process();
    let mut workloads = workloads::workloads();
    if args.extras {
        workloads.extend(workloads::extras());
    }
    println!("{}", pieces(&workloads));
    for floor in FLOORS {
        let mut races = floors::races(&workloads, &args.filter);
        races.retain(|race| race.floor == floor);
        let Some(first) = races.first() else { continue };
        println!("## {floor}\n\nallocations an event, bytes allocated an event\n");
        let mut rows = vec![vec![String::new()]];
        rows.extend(first.contenders.iter().map(|contender| vec![contender.name.to_owned()]));
        for race in &mut races {
            rows[0].push(race.subject.to_owned());
            for (contender, row) in race.contenders.iter_mut().zip(&mut rows[1..]) {
                contender.run();
                let region = Region::new(HEAP);
                contender.run();
                let counted = region.change();
                let allocations = counted.allocations + counted.reallocations;
                let bytes = counted.bytes_allocated;
                row.push(format!(
                    "{}, {}",
                    per_event(allocations, race.events),
                    per_event(bytes, race.events)
                ));
            }
        }
        println!("{}", markdown(&rows));
    }
}

/// What the events hold, to compare the allocations with.
fn pieces(workloads: &[Workload]) -> String {
    let head = ["an event of", "strings", "containers", "bytes of JSON", "bytes of payload"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for workload in workloads {
        let pieces = Pieces::of(workload);
        let events = workload.events.len();
        let json = workload.json.iter().map(String::len).sum();
        let payload = workload.payloads.iter().map(Vec::len).sum();
        let mut row = vec![workload.name.to_owned()];
        row.extend(
            [pieces.strings, pieces.containers, json, payload].map(|sum| per_event(sum, events)),
        );
        rows.push(row);
    }
    markdown(&rows)
}

#[allow(clippy::cast_precision_loss, reason = "a count for a reader")]
fn per_event(sum: usize, events: usize) -> String {
    let each = sum as f64 / events as f64;
    if each < 100.0 { format!("{each:.2}") } else { format!("{each:.0}") }
}
