//! `lineage`: which run of a log goes on from which.

use std::collections::HashSet;

use ag_ui_proto::Event;
use ag_ui_proto::conversation::{Lineage as Runs, LineageRun, ParentRun};
use ag_ui_proto::model::{Body, RunStarted};
use serde_json::json;

use crate::args::{Lineage, Parent};
use crate::events::Events;
use crate::failure::Failure;
use crate::input::Input;
use crate::look::printable;
use crate::output::Output;
use crate::report::{Report, count};
use crate::rules::ending;

pub(crate) fn run(args: &Lineage) -> Result<(), Failure> {
    let input = Input::open(&args.input)?;
    let report = Report::new(&input, false);
    let mut events = Events::new(input, args.from, &args.limits);
    let mut log = Log::default();
    let read = read(&mut events, &mut log, &report);
    report.clear();

    let reading = match args.parent {
        Parent::Branch => ParentRun::Branch,
        Parent::Spawn => ParentRun::Spawn,
    };
    let runs = Runs::new(&log.starts, reading);
    if log.before > 0 {
        let before = count(log.before, "event");
        report.warning(events.name(), format!("{before} before the first run"));
    }
    let mut output = Output::stdout();
    if args.json {
        output.write(format!("{}\n", to_json(&runs, &log)).as_bytes())?;
    } else {
        let links = links(runs.runs(), args.parent);
        for (mark, depth, index) in forest(runs.runs()) {
            let (run, seen) = (&runs.runs()[index], &log.seen[index]);
            let line = line(mark, depth, run, seen, &links[index]);
            output.write(format!("{}\n", printable(&line)).as_bytes())?;
        }
    }
    output.flush()?;
    match events.cut() {
        Some(cut) => read.and(Err(Failure::Data(cut.to_owned()))),
        None => read,
    }
}

/// What is kept of a log: of each run its start, how long it is, and how it ended.
#[derive(Default)]
struct Log {
    /// Events before the first run.
    before: u64,
    /// With their ids alone.
    starts: Vec<Event>,
    seen: Vec<Seen>,
}

struct Seen {
    events: u64,
    outcome: Option<&'static str>,
}

impl Log {
    fn take(&mut self, event: &Event) {
        if let Body::RunStarted(body) = &event.body {
            let mut start = RunStarted::new(&body.thread_id, &body.run_id);
            start.parent_run_id.clone_from(&body.parent_run_id);
            self.starts.push(start.into());
            self.seen.push(Seen { events: 1, outcome: None });
        } else if let Some(seen) = self.seen.last_mut() {
            seen.events += 1;
            // A run that has finished can still fail.
            let may_end = |ending: &&str| seen.outcome.is_none() || *ending == "failed";
            seen.outcome = ending(event).filter(may_end).or(seen.outcome);
        } else {
            self.before += 1;
        }
    }
}

impl Seen {
    fn outcome(&self) -> &'static str {
        self.outcome.unwrap_or("truncated")
    }
}

fn read(events: &mut Events, log: &mut Log, report: &Report) -> Result<(), Failure> {
    while let Some(read) = events.next(report, || Ok(()))? {
        let place = read.place.of(events.name());
        let event = read.event.map_err(|reason| Failure::Data(format!("{place}: {reason}")))?;
        if let Some(event) = event {
            log.take(&event);
        }
    }
    Ok(())
}

/// The runs in the order in which they are shown, with a mark and how far in they stand.
///
/// The child with the most runs under it keeps the column of its parent and comes last. So no run
/// stands further in than the logarithm of their number.
fn forest(runs: &[LineageRun]) -> Vec<(char, usize, usize)> {
    let mut children = vec![Vec::new(); runs.len()];
    let mut weights = vec![1_usize; runs.len()];
    // A run follows one that came before it.
    for (index, run) in runs.iter().enumerate().rev() {
        if let Some(parent) = run.follows {
            weights[parent] += weights[index];
            children[parent].push(index);
        }
    }
    let roots = (0..runs.len()).rev().filter(|index| runs[*index].follows.is_none());
    let mut next: Vec<_> = roots.map(|index| ('*', 0, index)).collect();
    let mut shown = Vec::with_capacity(runs.len());
    while let Some((mark, depth, index)) = next.pop() {
        shown.push((mark, depth, index));
        // Of equal ones, the later keeps the column.
        let heaviest =
            children[index].iter().copied().max_by_key(|child| (weights[*child], *child));
        next.extend(heaviest.map(|child| ('|', depth, child)));
        let branches = children[index].iter().filter(|child| Some(**child) != heaviest);
        next.extend(branches.map(|child| ('+', depth + 1, *child)));
    }
    shown
}

/// What is to be said of the id of each run, and of the one that it names as its parent.
fn links(runs: &[LineageRun], reading: Parent) -> Vec<String> {
    let all: HashSet<&str> = runs.iter().map(|run| run.run_id).collect();
    let (mut before, mut in_threads) = (HashSet::new(), HashSet::new());
    let links = runs.iter().map(|run| {
        let parent = run.parent_run_id.map(|id| {
            if let Some(parent) = run.parent.and_then(|parent| runs.get(parent)) {
                return found(run, parent, reading);
            }
            let reason = match id {
                id if id == run.run_id => Nowhere::Itself,
                id if before.contains(id) => Nowhere::SeveralThreads,
                id if all.contains(id) => Nowhere::Later,
                _ => Nowhere::Absent,
            };
            not_found(id, &reason, reading)
        });
        before.insert(run.run_id);
        let is_first = in_threads.insert((run.thread_id, run.run_id));
        let id = if is_first { "" } else { ", under an id that an earlier run of the thread has" };
        format!("{}{id}", parent.unwrap_or_default())
    });
    links.collect()
}

/// Why a link leads nowhere.
enum Nowhere {
    Itself,
    /// Several threads have such a run, and that of the link has none.
    SeveralThreads,
    Later,
    Absent,
}

/// What is to be said of a parent: a run that is gone on from is shown by its place.
fn found(run: &LineageRun, parent: &LineageRun, reading: Parent) -> String {
    let LineageRun { run_id, thread_id, .. } = parent;
    match reading {
        Parent::Branch => String::new(),
        Parent::Spawn if *thread_id == run.thread_id => format!(", launched by {run_id:?}"),
        Parent::Spawn => format!(", launched by {run_id:?} of thread {thread_id:?}"),
    }
}

fn not_found(id: &str, reason: &Nowhere, reading: Parent) -> String {
    match (reading, reason) {
        (Parent::Branch, Nowhere::Itself) => ", its own parent".to_owned(),
        (Parent::Branch, Nowhere::SeveralThreads) => {
            format!(", parent {id:?} is one of several other threads")
        }
        (Parent::Branch, Nowhere::Later) => format!(", parent {id:?} comes later in the log"),
        (Parent::Branch, Nowhere::Absent) => format!(", parent {id:?} is not in the log"),
        (Parent::Spawn, Nowhere::Itself) => ", launched by itself".to_owned(),
        (Parent::Spawn, Nowhere::SeveralThreads) => {
            format!(", launched by {id:?}, one of several other threads")
        }
        (Parent::Spawn, Nowhere::Later) => {
            format!(", launched by {id:?}, which comes later in the log")
        }
        (Parent::Spawn, Nowhere::Absent) => {
            format!(", launched by {id:?}, which is not in the log")
        }
    }
}

fn line(mark: char, depth: usize, run: &LineageRun, seen: &Seen, links: &str) -> String {
    let LineageRun { thread_id, run_id, .. } = run;
    let (events, outcome) = (count(seen.events, "event"), seen.outcome());
    let indent = "  ".repeat(depth);
    format!("{indent}{mark} {run_id:?} of thread {thread_id:?}: {events}, {outcome}{links}")
}

fn to_json(runs: &Runs, log: &Log) -> serde_json::Value {
    let list = runs.runs().iter().zip(&log.seen).map(|(run, seen)| {
        json!({
            "threadId": run.thread_id,
            "runId": run.run_id,
            "parentRunId": run.parent_run_id,
            "parent": run.parent,
            "follows": run.follows,
            "events": seen.events,
            "outcome": seen.outcome(),
        })
    });
    let mut is_tip = vec![true; runs.runs().len()];
    runs.runs().iter().filter_map(|run| run.follows).for_each(|parent| is_tip[parent] = false);
    let tips: Vec<_> =
        is_tip.iter().enumerate().filter(|(_, is_tip)| **is_tip).map(|(index, _)| index).collect();
    json!({ "runs": list.collect::<Vec<_>>(), "tips": tips, "before": log.before })
}
