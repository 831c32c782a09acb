//! `compare`: JSON against protobuf, on sessions that somebody recorded.
//!
//! | module | holds |
//! |---|---|
//! | `session` | reading the inputs into a [`Comparison`]; what is kept of all of them |
//! | `sizes`, `compress`, `histogram` | bytes by event type, raw and flushed out of compressors; what those take |
//! | `anatomy` | what the bytes are |
//! | `sample`, `timing` | events kept to be timed; the clock |
//! | `link` | how long bytes take on a link |
//! | `pace` | how long the agent took |
//! | `simulation` | what a session takes on a link while the agent speaks |
//! | `verdict` | what the numbers say |
//! | `text`, `json`, `html`, `plot` | the three ways to show it |
//! | `format` | numbers as people read them |
//!
//! Sessions are read once, event by event. Memory holds the sums, the compressors of one session,
//! and the sample of events that are timed, which is bounded.

mod anatomy;
mod compress;
mod format;
mod histogram;
mod html;
mod json;
mod link;
mod pace;
mod plot;
mod sample;
mod session;
mod simulation;
mod sizes;
mod text;
mod timing;
mod verdict;

use self::sample::Sample;
use self::session::Comparison;
use self::timing::{Span, Speed};
use crate::args::Compare;
use crate::failure::Failure;
use crate::input::{Input, check_stdin, is_stdio};
use crate::output::Output;
use crate::report::{self, Report};

/// How many links a session is sent over. Each has the compressors of all codings: 5 MB.
const MAX_LINKS: usize = 32;

pub(crate) fn run(args: &Compare) -> Result<(), Failure> {
    let is_page_alone = args.html.as_deref().is_some_and(is_stdio);
    if is_page_alone && args.json {
        let text = "`--html -` and `--json` both want standard output";
        return Err(Failure::Trouble(text.to_owned()));
    }
    check_stdin(&args.inputs)?;
    if args.links.len() > MAX_LINKS {
        let text = format!("{} links are too many; the most is {MAX_LINKS}", args.links.len());
        return Err(Failure::Trouble(text));
    }
    let page = open_page(args)?;
    let mut comparison = Comparison::new();
    let mut sample = Sample::default();
    for path in &args.inputs {
        session::read(args, path, &mut comparison, &mut sample)?;
    }
    let mut is_timed = true;
    match time(args, &sample) {
        Ok(speed) => comparison.speed = speed,
        Err(reason) => {
            is_timed = false;
            report::error(&format!("time is not measured, an event does not come back: {reason}"));
        }
    }
    drop(sample);
    if let Some(mut page) = page {
        page.write(html::page(&comparison)?.as_bytes())?;
        page.flush()?;
    }
    if !is_page_alone {
        let mut output = Output::stdout();
        let shown = if args.json { json::object(&comparison) } else { text::whole(&comparison) };
        output.write(shown.as_bytes())?;
        output.flush()?;
    }
    if comparison.is_sound() && is_timed { Ok(()) } else { Err(Failure::Told) }
}

/// Opens the page before the work is done, so that a name that is no good is told at once; but not
/// before each input could be opened. A pipe is left alone: whoever writes to it is read once.
fn open_page(args: &Compare) -> Result<Option<Output>, Failure> {
    for path in &args.inputs {
        if std::fs::metadata(path).is_ok_and(|data| !data.is_file() && !data.is_dir()) {
            continue;
        }
        let input = Input::open(path)?;
        if let Some(page) = args.html.as_deref().filter(|page| input.is_at(page)) {
            let name = page.display();
            return Err(Failure::Trouble(format!("{name}: is an input as well as the page")));
        }
    }
    match args.html.as_deref() {
        None => Ok(None),
        Some(page) if is_stdio(page) => Ok(Some(Output::stdout())),
        Some(page) => Output::create(page).map(Some),
    }
}

/// What was measured, if there was something to measure and somebody asked.
fn time(args: &Compare, sample: &Sample) -> Result<Option<Speed>, String> {
    let span = match args.rounds {
        Some(0) => return Ok(None),
        Some(rounds) => Span::Rounds(rounds),
        None => Span::Time(args.seconds),
    };
    if sample.is_empty() {
        return Ok(None);
    }
    let report = Report::steps(timing::STEPS, "measuring time");
    let speed = timing::measure(sample, span, &args.limits.limits(), |steps| {
        report.progress(steps);
    });
    report.clear();
    speed.map(Some)
}
