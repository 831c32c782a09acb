//! Whether time grows as the data does: a state at doubling widths and at doubling depths.
//!
//! `cargo bench --bench growth`; `--json` for machines, `--rounds N` when the machine is busy. Time
//! that is linear doubles with the size, and stays the same for one element.

#![allow(clippy::expect_used, reason = "a bench that cannot do its work stops")]
#![allow(dead_code, unused_imports, reason = "the benches share modules, and each uses a part")]

mod floors;
mod measure;
mod workloads;

use ag_ui_proto::Event;
use ag_ui_proto::model::StateSnapshot;
use ag_ui_proto::value::{List, MAX_DEPTH, Object, Value};

use self::floors::{BASELINE, Contender, OURS};
use self::measure::{Args, Effort, Spread, in_turn, markdown};
use self::workloads::Workload;

/// What is measured: floor, contender, and what the table calls it.
const MEASURED: [(&str, &str, &str); 7] = [
    ("encode", OURS, "encode"),
    ("decode", OURS, "decode"),
    ("json", "Event::from_json", "read JSON"),
    ("encode", BASELINE, "serde_json, writing"),
    ("decode", BASELINE, "serde_json, reading"),
    ("encode", "prost types alone", "prost, writing"),
    ("decode", "prost types alone", "prost, reading"),
];

/// A way in which a state can be large.
struct Axis {
    name: &'static str,
    sizes: Vec<usize>,
    state: fn(usize) -> Value,
}

fn main() {
    let mut args = Args::of_process();
    // One pass over the largest states fills many turns.
    args.effort.rounds = args.effort.rounds.min(25);
    let measured_fully = args.effort.rounds > Effort::LEAST.rounds;
    let widths: Vec<_> = (0..=7).map(|doublings| 1000 << doublings).collect();
    let mut depths = vec![8, 16, 32, 64];
    depths.push(deepest());
    let mut axes = [
        Axis { name: "members of an object", sizes: widths.clone(), state: wide_object },
        Axis { name: "numbers of a list", sizes: widths.clone(), state: wide_list },
        Axis { name: "rows of a list", sizes: widths, state: rows },
        Axis { name: "levels", sizes: depths, state: deep },
    ];
    for axis in &mut axes {
        if !measured_fully {
            axis.sizes.truncate(1);
        }
        if axis.name.contains(&args.filter) {
            print(axis, &args);
        }
    }
}

fn wide_object(width: usize) -> Value {
    let member = |index| (format!("member{index:06}"), Value::from("a short text"));
    Value::from((0..width).map(member).collect::<Object>())
}

fn wide_list(width: usize) -> Value {
    Value::from((0..width).map(|index| Value::from(index as u64 % 256)).collect::<List>())
}

fn rows(width: usize) -> Value {
    let row = |index: usize| {
        Value::from(Object::from([
            ("id", Value::from(index as u64)),
            ("done", Value::from(index.is_multiple_of(2))),
        ]))
    };
    Value::from((0..width).map(row).collect::<List>())
}

/// Objects in objects, each with one member beside.
fn deep(depth: usize) -> Value {
    (0..depth).fold(Value::Null, |inner, _| {
        Value::from(Object::from([("name", Value::from("a level")), ("inner", inner)]))
    })
}

/// The levels of state that an event may have here, and that `serde_json` reads too.
fn deepest() -> usize {
    let fits = |depth: &usize| {
        let event = Event::from(StateSnapshot::new(deep(*depth)));
        let json = serde_json::to_string(&event).expect("an event of ours");
        event.to_payload().is_ok() && serde_json::from_str::<serde_json::Value>(&json).is_ok()
    };
    (64..=MAX_DEPTH).take_while(fits).last().expect("a limit of more than 64 levels")
}

/// Measures all sizes in turn, and prints a row for each.
fn print(axis: &Axis, args: &Args) {
    let state = |size: &usize| {
        let state = StateSnapshot::new((axis.state)(*size));
        Workload::new("state", &[state.into()])
    };
    let workloads: Vec<_> = axis.sizes.iter().map(state).collect();
    let mut contenders: Vec<_> = workloads.iter().flat_map(contenders).collect();
    let seconds = in_turn(&mut contenders, args.effort);
    let sizes: Vec<_> = axis.sizes.iter().zip(seconds.chunks_exact(MEASURED.len())).collect();
    if args.json {
        for (size, seconds) in sizes {
            print_json(axis, *size, seconds);
        }
        return;
    }
    let mut rows = vec![vec![axis.name.to_owned()]];
    rows[0].extend(MEASURED.map(|(_, _, name)| name.to_owned()));
    for (index, (size, seconds)) in sizes.iter().enumerate() {
        let mut row = vec![size.to_string()];
        for (column, rounds) in seconds.iter().enumerate() {
            let each = Spread::of(rounds.iter().copied()).median / as_f64(**size) * 1e9;
            let before = index.checked_sub(1).map(|before| sizes[before]);
            row.push(before.map_or(format!("{each:.0}"), |(smaller, seconds)| {
                let doublings = (as_f64(**size) / as_f64(*smaller)).log2();
                let times =
                    rounds.iter().zip(&seconds[column]).map(|(larger, smaller)| larger / smaller);
                let a_doubling = Spread::of(times).median.powf(doublings.recip());
                format!("{each:.0} ({a_doubling:.2})")
            }));
        }
        rows.push(row);
    }
    println!("nanoseconds an element (how many times the time for twice the size)\n");
    println!("{}", markdown(&rows));
}

fn print_json(axis: &Axis, size: usize, seconds: &[Vec<f64>]) {
    for ((_, _, name), rounds) in MEASURED.iter().zip(seconds) {
        let seconds = Spread::of(rounds.iter().copied()).median;
        let line = serde_json::json!({
            "axis": axis.name, "size": size, "what": name, "seconds": seconds,
        });
        println!("{line}");
    }
}

/// The contenders for one state, in the order of [`MEASURED`].
fn contenders(workload: &Workload) -> Vec<Contender<'_>> {
    let mut contenders = Vec::new();
    for race in floors::races(std::slice::from_ref(workload), "/state") {
        for contender in race.contenders {
            let is_this =
                |(floor, name, _): &(_, _, _)| *floor == race.floor && *name == contender.name;
            contenders.extend(MEASURED.iter().position(is_this).map(|place| (place, contender)));
        }
    }
    assert_eq!(contenders.len(), MEASURED.len());
    contenders.sort_by_key(|(place, _)| *place);
    contenders.into_iter().map(|(_, contender)| contender).collect()
}

#[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
fn as_f64(size: usize) -> f64 {
    size as f64
}
