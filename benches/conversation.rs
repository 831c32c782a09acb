//! What a conversation costs: events a second, bytes held, what compaction saves, and whether a delta
//! costs more the more messages there are.
//!
//! `cargo bench --bench conversation`; one part with `-- speed`, `-- memory`, `-- compaction` or
//! `-- history`; `--rounds N` when the machine is busy. The allocator counts, which costs some
//! nanoseconds an allocation.

#![allow(clippy::expect_used, reason = "a bench that cannot do its work stops")]
#![allow(dead_code, unused_imports, reason = "the benches share modules, and each uses a part")]

mod floors;
mod measure;
mod workloads;

use std::alloc::System;
use std::hint::black_box;

use ag_ui_proto::Event;
use ag_ui_proto::conversation::{
    ChunkExpander, Consumer, Conversation, Delivered, Verifier, compact,
};
use ag_ui_proto::model::{
    Body, RunFinished, RunStarted, TextMessageContent, TextMessageEnd, TextMessageStart,
};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

use self::floors::Contender;
use self::measure::{Args, Effort, Spread, in_turn, markdown};
use self::workloads::Workload;

#[global_allocator]
static HEAP: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// A part of the report: the rows of its table.
type Part = fn(&[Workload], Effort) -> Vec<Vec<String>>;

/// Deltas of one pass over a history.
const DELTAS: usize = 100_000;

fn main() {
    let args = Args::of_process();
    let sessions = sessions();
    let parts: [(&str, Part); 4] =
        [("speed", speed), ("memory", memory), ("compaction", compaction), ("history", history)];
    for (name, part) in parts {
        if name.contains(&args.filter) {
            println!("## {name}\n\n{}", markdown(&part(&sessions, args.effort)));
        }
    }
}

/// The sample sessions, and a chat of 2,000 deltas as a whole run.
fn sessions() -> Vec<Workload> {
    let mut sessions = workloads::workloads();
    sessions.retain(|workload| workload.name == "chat" || workload.name.starts_with("sample-"));
    for workload in &mut sessions {
        if workload.name == "chat" {
            *workload = Workload::new("chat", &in_a_run(&workload.events));
        }
    }
    sessions
}

fn in_a_run(deltas: &[Event]) -> Vec<Event> {
    let Some(Body::TextMessageContent(first)) = deltas.first().map(|event| &event.body) else {
        panic!("no deltas");
    };
    let id = first.message_id.as_str();
    let mut events: Vec<Event> =
        vec![RunStarted::new("thread-1", "run-1").into(), TextMessageStart::new(id).into()];
    events.extend_from_slice(deltas);
    events.push(TextMessageEnd::new(id).into());
    events.push(RunFinished::new("thread-1", "run-1").into());
    events
}

/// Thousand events a second. What takes events by value is given a copy, which counts.
fn speed(sessions: &[Workload], effort: Effort) -> Vec<Vec<String>> {
    let mut rows = vec![vec!["thousand events a second".to_owned()]];
    for (column, session) in sessions.iter().enumerate() {
        rows[0].push(session.name.to_owned());
        let expanded = expanded(&session.events);
        let events = &session.events;
        let mut contenders = [
            Contender::new("a copy of the events", 0, || drop(black_box(events.clone()))),
            Contender::new("chunks and rules", 0, || {
                let mut verifier = Verifier::new();
                let events = expanded_by(&mut ChunkExpander::new(), events);
                for event in &events {
                    verifier.verify(event).expect("a sound stream");
                }
            }),
            Contender::new("apply", 0, || drop(black_box(applied(&expanded)))),
            Contender::new("the whole consumer", 0, || {
                let mut consumer = Consumer::new(Conversation::new());
                let mut delivered = Delivered::default();
                for event in events {
                    consumer.push(event.clone(), &mut delivered).expect("a sound stream");
                    delivered.events.clear();
                }
                black_box(consumer.finish());
            }),
            Contender::new("compact", 0, || {
                black_box(compact(events.iter().cloned()).expect("a sound stream"));
            }),
        ];
        let seconds = in_turn(&mut contenders, effort);
        for (row, (contender, seconds)) in contenders.iter().zip(seconds).enumerate() {
            if column == 0 {
                rows.push(vec![contender.name.to_owned()]);
            }
            let spread = Spread::of(seconds.iter().map(|seconds| as_f64(events.len()) / seconds));
            let [low, median, high] =
                [spread.low, spread.median, spread.high].map(|each| format!("{:.0}", each / 1e3));
            rows[row + 1].push(format!("**{median}** ({low}-{high})"));
        }
    }
    rows
}

/// Bytes an event.
fn memory(sessions: &[Workload], _: Effort) -> Vec<Vec<String>> {
    let mut rows =
        ["bytes an event", "JSON text", "frames", "a list of the events", "conversation"]
            .map(|name| vec![name.to_owned()]);
    for session in sessions {
        let of_each = |sum: usize| format!("{:.0}", as_f64(sum) / as_f64(session.events.len()));
        let expanded = expanded(&session.events);
        let column = [
            session.name.to_owned(),
            of_each(session.json.iter().map(String::len).sum()),
            of_each(session.frames_len()),
            of_each(held_by(|| session.events.clone())),
            of_each(held_by(|| applied(&expanded))),
        ];
        rows.iter_mut().zip(column).for_each(|(row, figure)| row.push(figure));
    }
    rows.to_vec()
}

/// Events and bytes before and after.
fn compaction(sessions: &[Workload], _: Effort) -> Vec<Vec<String>> {
    let mut rows =
        vec![["", "events", "bytes of JSON", "bytes of frames"].map(str::to_owned).to_vec()];
    for session in sessions {
        let smaller = compact(session.events.iter().cloned()).expect("a sound stream");
        let smaller = Workload::new("smaller", &smaller);
        let sizes = |workload: &Workload| {
            let json = workload.json.iter().map(|json| json.len() + 1).sum();
            [workload.events.len(), json, workload.frames_len()]
        };
        let figures = sizes(session).into_iter().zip(sizes(&smaller)).map(|(before, after)| {
            let part = as_f64(after) / as_f64(before) * 100.0;
            format!("{before} to {after} ({part:.1} %)")
        });
        rows.push(std::iter::once(session.name.to_owned()).chain(figures).collect());
    }
    rows
}

/// Nanoseconds a delta, on conversations of more and more messages.
fn history(_: &[Workload], effort: Effort) -> Vec<Vec<String>> {
    let lens: &[usize] = if effort.rounds == 1 { &[10] } else { &[10, 100, 1_000, 10_000] };
    let mut rows = vec![["messages", "nanoseconds a delta"].map(str::to_owned).to_vec()];
    let histories: Vec<_> = lens.iter().map(|len| History::new(*len)).collect();
    let mut contenders: Vec<_> = histories
        .iter()
        .map(|history| Contender::new("deltas", 0, || drop(black_box(history.with_deltas()))))
        .collect();
    // Making the conversation is no part of what its deltas cost.
    let mut made: Vec<_> = histories
        .iter()
        .map(|history| Contender::new("made", 0, || drop(black_box(history.conversation.clone()))))
        .collect();
    let effort = Effort { rounds: effort.rounds.min(15), ..effort };
    let (with, without) = (in_turn(&mut contenders, effort), in_turn(&mut made, effort));
    for ((len, with), without) in lens.iter().zip(with).zip(without) {
        let median = |seconds: Vec<f64>| Spread::of(seconds).median;
        let each = (median(with) - median(without)) / as_f64(DELTAS) * 1e9;
        rows.push(vec![len.to_string(), format!("{each:.0}")]);
    }
    rows
}

struct History {
    conversation: Conversation,
    /// One for each message, in an order in which no two neighbours are near one another.
    deltas: Vec<Event>,
}

impl History {
    fn new(len: usize) -> Self {
        let mut conversation = Conversation::new();
        let id = |number: usize| format!("message-{number}");
        (0..len).for_each(|number| {
            conversation.apply(&TextMessageStart::new(id(number)).into());
        });
        let deltas = (0..len).map(|number| TextMessageContent::new(id(number * 7 % len), " word"));
        Self { conversation, deltas: deltas.map(Event::from).collect() }
    }

    fn with_deltas(&self) -> Conversation {
        let mut conversation = self.conversation.clone();
        for delta in self.deltas.iter().cycle().take(DELTAS) {
            conversation.apply(delta);
        }
        conversation
    }
}

fn applied(events: &[Event]) -> Conversation {
    let mut conversation = Conversation::new();
    for event in events {
        conversation.apply(event);
    }
    conversation
}

fn expanded(events: &[Event]) -> Vec<Event> {
    expanded_by(&mut ChunkExpander::new(), events)
}

fn expanded_by(expander: &mut ChunkExpander, events: &[Event]) -> Vec<Event> {
    let mut out = Vec::with_capacity(events.len());
    for event in events {
        expander.expand(event.clone(), &mut out).expect("a sound stream");
    }
    out
}

fn held_by<T>(work: impl FnOnce() -> T) -> usize {
    let region = Region::new(HEAP);
    let held = work();
    let change = region.change();
    drop(held);
    change.bytes_allocated - change.bytes_deallocated
}

#[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
fn as_f64(size: usize) -> f64 {
    size as f64
}
