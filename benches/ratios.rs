//! How many times as fast as `serde_json`: all contenders, measured in turn in one run.
//!
//! ```sh
//! cargo bench --bench ratios                      # everything, in two minutes
//! cargo bench --bench ratios -- encode/chat       # one floor, one workload
//! cargo bench --bench ratios -- decode --extras   # with the extra workloads
//! cargo bench --bench ratios -- --json            # a line a contender, for machines
//! cargo bench --bench ratios -- --rounds 101      # when the machine is busy
//! cargo bench --bench ratios -- --dump DIR        # the workloads, for other languages
//! ```
//!
//! A ratio compares the time for the same events, whatever bytes they become: it is taken in each
//! round, between turns a few milliseconds apart, and the median of the rounds is shown with the
//! quartiles. In `cargo test --benches` every contender does its work once.

#![allow(clippy::expect_used, reason = "a bench that cannot do its work stops")]

mod floors;
mod measure;
mod workloads;

use std::io::BufRead as _;
use std::path::Path;
use std::{fs, io};

use self::floors::{OURS, Race};
use self::measure::{Args, Effort, Spread, in_turn, markdown, passes_in, seconds_per_pass};
use self::workloads::Workload;

fn main() {
    let args = Args::of_process();
    let mut workloads = workloads::workloads();
    if args.extras {
        workloads.extend(workloads::extras());
    }
    if let Some(directory) = &args.dump {
        dump(&workloads, directory).expect("a directory to write to");
    } else if args.answer {
        answer(&workloads);
    } else {
        print(&args, floors::races(&workloads, &args.filter));
    }
}

fn print(args: &Args, races: Vec<Race<'_>>) {
    let measured: Vec<_> = races.into_iter().map(|race| Measured::of(race, args)).collect();
    if args.json {
        measured.iter().for_each(Measured::print_json);
        return;
    }
    for floor in measured.chunk_by(|one, other| one.floor == other.floor) {
        let name = floor[0].floor;
        let first = floor[0].results[0].name;
        if name.starts_with("framed/") {
            println!("## {name}\n\npercent more time than {first}\n");
            println!("{}", table(floor, Figures::overhead_text));
        } else {
            println!("## {name}\n\nratio of events a second, {first} = 1.0\n");
            println!("{}", table(floor, Figures::ratio_text));
        }
        println!("megabytes a second, thousand events a second\n");
        println!("{}", table(floor, Figures::speed_text));
    }
}

/// A race that has been run.
struct Measured {
    floor: &'static str,
    subject: &'static str,
    results: Vec<Figures>,
}

struct Figures {
    name: &'static str,
    events: usize,
    bytes: usize,
    /// Of the first contender's time to this one's.
    ratio: Spread,
    seconds: Spread,
}

impl Measured {
    fn of(mut race: Race<'_>, args: &Args) -> Self {
        eprintln!("{}/{}", race.floor, race.subject);
        let seconds = in_turn(&mut race.contenders, args.effort);
        let results = race.contenders.iter().zip(&seconds).map(|(contender, own)| Figures {
            name: contender.name,
            events: race.events,
            bytes: contender.bytes,
            ratio: Spread::of(seconds[0].iter().zip(own).map(|(first, own)| first / own)),
            seconds: Spread::of(own.iter().copied()),
        });
        Self { floor: race.floor, subject: race.subject, results: results.collect() }
    }

    fn print_json(&self) {
        for figures in &self.results {
            let Spread { low, median, high } = figures.ratio;
            let line = serde_json::json!({
                "floor": self.floor,
                "workload": self.subject,
                "contender": figures.name,
                "ratio": { "low": low, "median": median, "high": high },
                "events": figures.events,
                "bytes": figures.bytes,
                "secondsPerPass": figures.seconds.median,
            });
            println!("{line}");
        }
    }
}

impl Figures {
    fn ratio_text(&self) -> String {
        let Spread { low, median, high } = self.ratio;
        format!("**{median:.2}** ({low:.2}-{high:.2})")
    }

    fn overhead_text(&self) -> String {
        let Spread { low, median, high } = self.ratio;
        let [low, median, high] = [high, median, low].map(|ratio| (ratio.recip() - 1.0) * 100.0);
        format!("**{median:+.0}** ({low:+.0} to {high:+.0})")
    }

    #[allow(clippy::cast_precision_loss, reason = "a count for a reader")]
    fn speed_text(&self) -> String {
        let seconds = self.seconds.median;
        let megabytes = self.bytes as f64 / seconds / 1e6;
        let thousands = self.events as f64 / seconds / 1e3;
        format!("{megabytes:.0}, {thousands:.0}")
    }
}

/// A row for each contender, a column for each workload.
fn table(floor: &[Measured], cell: fn(&Figures) -> String) -> String {
    let mut rows = vec![vec![String::new()]];
    rows[0].extend(floor.iter().map(|race| race.subject.to_owned()));
    for (index, figures) in floor[0].results.iter().enumerate() {
        let mut row = vec![figures.name.to_owned()];
        row.extend(floor.iter().map(|race| cell(&race.results[index])));
        rows.push(row);
    }
    markdown(&rows)
}

/// Each workload as JSON lines and as frames.
fn dump(workloads: &[Workload], directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    for workload in workloads {
        let lines: String = workload.json.iter().flat_map(|json| [json, "\n"]).collect();
        fs::write(directory.join(format!("{}.jsonl", workload.name)), lines)?;
        fs::write(directory.join(format!("{}.frames", workload.name)), workload.frames())?;
    }
    Ok(())
}

/// Gives our seconds for one pass for every line `floor/workload`, so that a program in another
/// language can measure itself in turn with us.
fn answer(workloads: &[Workload]) {
    let mut races = floors::races(workloads, "code/");
    for line in io::stdin().lock().lines() {
        let name = line.expect("a line of text");
        let race = races.iter_mut().find(|race| format!("{}/{}", race.floor, race.subject) == name);
        let contenders = &mut race.expect("the name of a race").contenders;
        let ours = contenders.iter_mut().find(|contender| contender.name == OURS);
        let ours = ours.expect("a race of ours");
        let passes = passes_in(Effort::FULL.turn * 4, ours);
        println!("{}", seconds_per_pass(ours, passes));
    }
}
