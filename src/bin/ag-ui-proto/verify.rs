//! `verify`: whether a stream keeps the rules, and how each of its runs ends.

use std::collections::BTreeMap;

use ag_ui_proto::Event;
use ag_ui_proto::model::Body;

use crate::args::Verify;
use crate::events::{Events, Place};
use crate::failure::Failure;
use crate::input::Input;
use crate::look::printable;
use crate::output::Output;
use crate::report::{Report, count};
use crate::rules::{Rules, ending};

pub(crate) fn run(args: &Verify) -> Result<(), Failure> {
    let input = Input::open(&args.input)?;
    let report = Report::new(&input, false);
    let mut events = Events::new(input, args.from, &args.limits);
    let mut list = List::new(events.name());
    let verified = verify(args.producer, &mut events, &mut list, &report);
    report.clear();
    let result = match verified {
        Err(Failure::BrokenPipe) => verified,
        verified => {
            // One that is still open is one whose input cannot be read on.
            let end = list.close("rejected").and_then(|()| list.end());
            verified.and(end)
        }
    };
    if let Some(cut) = events.cut() {
        report.error(cut);
        return result.and(Err(Failure::Told));
    }
    result
}

fn verify(
    producer: bool,
    events: &mut Events,
    list: &mut List,
    report: &Report,
) -> Result<(), Failure> {
    let mut rules = Rules::new(producer);
    let mut faults = Vec::new();
    loop {
        let flush = || list.output.flush();
        let read = if producer {
            events.next_untold(report, flush)?
        } else {
            events.next(report, flush)?
        };
        let Some(read) = read else { break };
        list.events += 1;
        if producer {
            read.notices.iter().try_for_each(|notice| list.fault(read.place, notice))?;
        }
        let event = match read.event {
            Ok(Some(event)) => event,
            Ok(None) => {
                list.skip();
                continue;
            }
            Err(reason) => return list.refuse(read.place, &reason),
        };
        let bounds = Bounds::of(&event);
        let judged = rules.judge(event, &mut faults);
        faults.drain(..).try_for_each(|fault| list.fault(read.place, &fault))?;
        if let Err(reason) = judged {
            return list.refuse(read.place, &reason);
        }
        list.take(read.place, bounds)?;
    }
    if rules.may_end() {
        return if list.faults == 0 { Ok(()) } else { Err(Failure::Told) };
    }
    let what = if list.open.is_some() { "before its run did" } else { "before any run" };
    list.close("truncated")?;
    Err(Failure::Data(format!("{}: truncated: the stream ended {what}", list.name)))
}

/// What an event says of the bounds of a run.
enum Bounds {
    Start { run_id: String },
    End(&'static str),
    Inside,
}

impl Bounds {
    fn of(event: &Event) -> Self {
        match &event.body {
            Body::RunStarted(body) => Self::Start { run_id: body.run_id.clone() },
            _ => ending(event).map_or(Self::Inside, Self::End),
        }
    }
}

/// What is written: a line a run, a line for what is wrong, a line for all.
struct List {
    name: String,
    output: Output,
    events: u64,
    runs: u64,
    endings: BTreeMap<&'static str, u64>,
    /// What breaks no stream.
    faults: u64,
    open: Option<Open>,
    /// The last run that has ended, and how.
    ended: Option<(Option<String>, &'static str)>,
}

/// A run that has not ended.
struct Open {
    place: Place,
    /// Nothing if it fails before it starts.
    run_id: Option<String>,
    events: u64,
}

impl List {
    fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            output: Output::stdout(),
            events: 0,
            runs: 0,
            endings: BTreeMap::new(),
            faults: 0,
            open: None,
            ended: None,
        }
    }

    /// Counts an event that was dropped.
    fn skip(&mut self) {
        if let Some(open) = &mut self.open {
            open.events += 1;
        }
    }

    fn take(&mut self, place: Place, bounds: Bounds) -> Result<(), Failure> {
        if let Bounds::Start { run_id } = bounds {
            self.open = Some(Open { place, run_id: Some(run_id), events: 1 });
            return Ok(());
        }
        if let (None, Some((run_id, before)), Bounds::End(ending)) =
            (&self.open, &mut self.ended, &bounds)
        {
            // L8: the run has finished, and yet it fails.
            let run = named(run_id.as_deref());
            let before = std::mem::replace(before, ending);
            if let Some(times) = self.endings.get_mut(before) {
                *times -= 1;
            }
            *self.endings.entry(ending).or_default() += 1;
            let line = format!("{}: {run}: {ending} after {before}, 1 event", place.of(&self.name));
            return self.line(&line);
        }
        self.open.get_or_insert(Open { place, run_id: None, events: 0 }).events += 1;
        if let Bounds::End(ending) = bounds { self.close(ending) } else { Ok(()) }
    }

    /// Writes how the open run ended, if there is one.
    fn close(&mut self, ending: &'static str) -> Result<(), Failure> {
        let Some(Open { place, run_id, events }) = self.open.take() else { return Ok(()) };
        self.runs += 1;
        *self.endings.entry(ending).or_default() += 1;
        let run = named(run_id.as_deref());
        self.ended = Some((run_id, ending));
        self.line(&format!("{}: {run}: {ending}, {}", place.of(&self.name), count(events, "event")))
    }

    /// Writes what breaks no stream.
    fn fault(&mut self, place: Place, fault: &str) -> Result<(), Failure> {
        self.faults += 1;
        self.line(&format!("{}: {fault}", place.of(&self.name)))
    }

    fn refuse(&mut self, place: Place, reason: &str) -> Result<(), Failure> {
        self.close("rejected")?;
        self.line(&format!("{}: {reason}", place.of(&self.name)))?;
        Err(Failure::Told)
    }

    fn end(&mut self) -> Result<(), Failure> {
        let endings = self.endings.iter().filter(|(_, times)| **times > 0);
        let endings: Vec<_> = endings.map(|(ending, times)| format!("{times} {ending}")).collect();
        let colon = if endings.is_empty() { "" } else { ": " };
        let endings = endings.join(", ");
        let faults = match self.faults {
            0 => String::new(),
            faults => format!("; {}", count(faults, "fault")),
        };
        let (events, runs) = (count(self.events, "event"), count(self.runs, "run"));
        self.line(&format!("{}: {events}, {runs}{colon}{endings}{faults}", self.name))?;
        self.output.flush()
    }

    fn line(&mut self, text: &str) -> Result<(), Failure> {
        self.output.write(format!("{}\n", printable(text)).as_bytes())
    }
}

/// A run by its id, which one that fails before it starts has not.
fn named(run_id: Option<&str>) -> String {
    run_id.map_or_else(|| "a run".to_owned(), |id| format!("run {id:?}"))
}
