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
use crate::rules::{Rules, ending, told};

pub(crate) fn run(args: &Verify) -> Result<(), Failure> {
    let input = Input::open(&args.input)?;
    let report = Report::new(&input, false);
    let mut events = Events::new(input, args.from, &args.limits);
    let mut list = List::new(events.name());
    let verified = verify(&mut events, &mut list, &report);
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

fn verify(events: &mut Events, list: &mut List, report: &Report) -> Result<(), Failure> {
    let mut rules = Rules::default();
    while let Some(read) = events.next(report, || list.output.flush())? {
        list.events += 1;
        let event = match read.event {
            Ok(Some(event)) => event,
            Ok(None) => {
                list.skip();
                continue;
            }
            Err(reason) => return list.refuse(read.place, &reason),
        };
        let bounds = Bounds::of(&event);
        if let Err(violation) = rules.judge(event) {
            return list.refuse(read.place, &told(&violation));
        }
        list.take(read.place, bounds)?;
    }
    if rules.is_terminated() {
        return Ok(());
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
    open: Option<Open>,
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
            open: None,
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
        self.open.get_or_insert(Open { place, run_id: None, events: 0 }).events += 1;
        if let Bounds::End(ending) = bounds { self.close(ending) } else { Ok(()) }
    }

    /// Writes how the open run ended, if there is one.
    fn close(&mut self, ending: &'static str) -> Result<(), Failure> {
        let Some(Open { place, run_id, events }) = self.open.take() else { return Ok(()) };
        self.runs += 1;
        *self.endings.entry(ending).or_default() += 1;
        let run = run_id.map_or_else(|| "a run".to_owned(), |id| format!("run {id:?}"));
        self.line(&format!("{}: {run}: {ending}, {}", place.of(&self.name), count(events, "event")))
    }

    fn refuse(&mut self, place: Place, reason: &str) -> Result<(), Failure> {
        self.close("rejected")?;
        self.line(&format!("{}: {reason}", place.of(&self.name)))?;
        Err(Failure::Told)
    }

    fn end(&mut self) -> Result<(), Failure> {
        let endings: Vec<_> =
            self.endings.iter().map(|(ending, times)| format!("{times} {ending}")).collect();
        let colon = if endings.is_empty() { "" } else { ": " };
        let endings = endings.join(", ");
        let (events, runs) = (count(self.events, "event"), count(self.runs, "run"));
        self.line(&format!("{}: {events}, {runs}{colon}{endings}", self.name))?;
        self.output.flush()
    }

    fn line(&mut self, text: &str) -> Result<(), Failure> {
        self.output.write(format!("{}\n", printable(text)).as_bytes())
    }
}
