//! `lineage`: which run of a log goes on from which.

use ag_ui_proto::Event;
use ag_ui_proto::conversation::{Lineage as Runs, LineageRun, ParentRun};
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
    let mut log = Vec::new();
    let read = read(&mut events, &mut log, &report);
    report.clear();

    let reading = match args.parent {
        Parent::Branch => ParentRun::Branch,
        Parent::Spawn => ParentRun::Spawn,
    };
    let runs = Runs::new(&log, reading);
    let before = runs.runs().first().map_or(log.len(), |run| run.events.start);
    if before > 0 {
        let before = count(u64::try_from(before).unwrap_or(u64::MAX), "event");
        report.warning(events.name(), format!("{before} before the first run"));
    }
    let mut output = Output::stdout();
    if args.json {
        output.write(format!("{}\n", to_json(&runs, &log, before)).as_bytes())?;
    } else {
        for (mark, depth, run) in forest(&runs) {
            let line = line(mark, depth, run, &log, &runs);
            output.write(format!("{}\n", printable(&line)).as_bytes())?;
        }
    }
    output.flush()?;
    match events.cut() {
        Some(cut) => read.and(Err(Failure::Data(cut.to_owned()))),
        None => read,
    }
}

fn read(events: &mut Events, log: &mut Vec<Event>, report: &Report) -> Result<(), Failure> {
    while let Some(read) = events.next(report, || Ok(()))? {
        let place = read.place.of(events.name());
        log.extend(read.event.map_err(|reason| Failure::Data(format!("{place}: {reason}")))?);
    }
    Ok(())
}

/// The runs in the order in which they are shown, with a mark and how far in they stand.
///
/// The child with the most runs under it keeps the column of its parent and comes last. So no run
/// stands further in than the logarithm of their number.
fn forest<'r, 'e>(runs: &'r Runs<'e>) -> Vec<(char, usize, &'r LineageRun<'e>)> {
    let all = runs.runs();
    let mut children = vec![Vec::new(); all.len()];
    let mut weights = vec![1_usize; all.len()];
    // A run follows one that came before it.
    for (index, run) in all.iter().enumerate().rev() {
        if let Some(parent) = run.follows {
            weights[parent] += weights[index];
            children[parent].push(index);
        }
    }
    let roots = (0..all.len()).rev().filter(|index| all[*index].follows.is_none());
    let mut next: Vec<_> = roots.map(|index| ('*', 0, index)).collect();
    let mut shown = Vec::with_capacity(all.len());
    while let Some((mark, depth, index)) = next.pop() {
        shown.push((mark, depth, &all[index]));
        // Of equal ones, the later keeps the column.
        let heaviest =
            children[index].iter().copied().max_by_key(|child| (weights[*child], *child));
        next.extend(heaviest.map(|child| ('|', depth, child)));
        let branches = children[index].iter().filter(|child| Some(**child) != heaviest);
        next.extend(branches.map(|child| ('+', depth + 1, *child)));
    }
    shown
}

fn line(mark: char, depth: usize, run: &LineageRun, log: &[Event], runs: &Runs) -> String {
    let LineageRun { thread_id, run_id, events, .. } = run;
    let start = events.start;
    let events = count(u64::try_from(events.len()).unwrap_or(u64::MAX), "event");
    let indent = "  ".repeat(depth);
    let parent = match run.parent_run_id {
        Some(parent) if runs.run(parent).is_none_or(|parent| parent.events.start >= start) => {
            format!(", parent {parent:?} is not in the log before it")
        }
        _ => String::new(),
    };
    let outcome = outcome(run, log);
    format!("{indent}{mark} {run_id:?} of thread {thread_id:?}: {events}, {outcome}{parent}")
}

fn to_json(runs: &Runs, log: &[Event], before: usize) -> serde_json::Value {
    let list = runs.runs().iter().map(|run| {
        json!({
            "threadId": run.thread_id,
            "runId": run.run_id,
            "parentRunId": run.parent_run_id,
            "follows": run.follows,
            "events": run.events.len(),
            "outcome": outcome(run, log),
        })
    });
    let mut is_tip = vec![true; runs.runs().len()];
    runs.runs().iter().filter_map(|run| run.follows).for_each(|parent| is_tip[parent] = false);
    let tips: Vec<_> =
        is_tip.iter().enumerate().filter(|(_, is_tip)| **is_tip).map(|(index, _)| index).collect();
    json!({ "runs": list.collect::<Vec<_>>(), "tips": tips, "before": before })
}

/// How the run ended; the first end counts.
fn outcome(run: &LineageRun, log: &[Event]) -> &'static str {
    let mut events = log.get(run.events.clone()).into_iter().flatten();
    events.find_map(ending).unwrap_or("truncated")
}
