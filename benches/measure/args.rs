//! The command line of the benches without criterion.

use std::path::PathBuf;

use super::Effort;

/// `[FILTER] [--json] [--extras] [--rounds N] [--dump DIR] [--answer]`
pub(crate) struct Args {
    /// Only races of which `floor/workload` contains this run.
    pub(crate) filter: String,
    /// Figures as JSON lines instead of tables.
    pub(crate) json: bool,
    /// The extra workloads run too.
    pub(crate) extras: bool,
    /// Writes the workloads to this directory instead of measuring.
    pub(crate) dump: Option<PathBuf>,
    /// Measures one turn for each line of standard input.
    pub(crate) answer: bool,
    pub(crate) effort: Effort,
}

impl Args {
    /// Cargo adds `--bench` in `cargo bench`, and not in `cargo test`, where little is measured.
    pub(crate) fn of_process() -> Self {
        let mut args = Self {
            filter: String::new(),
            json: false,
            extras: false,
            dump: None,
            answer: false,
            effort: Effort::LEAST,
        };
        let mut rounds = None;
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            match word.as_str() {
                "--bench" => args.effort = Effort::FULL,
                "--json" => args.json = true,
                "--extras" => args.extras = true,
                "--answer" => args.answer = true,
                "--dump" => args.dump = Some(words.next().expect("--dump DIR").into()),
                "--rounds" => {
                    let number = words.next().and_then(|number| number.parse().ok());
                    rounds = Some(number.expect("--rounds N"));
                }
                flag if flag.starts_with('-') => {
                    // What `cargo test` hands to every test, such as `--quiet`.
                }
                filter => filter.clone_into(&mut args.filter),
            }
        }
        args.effort.rounds = rounds.unwrap_or(args.effort.rounds).max(1);
        args
    }
}
