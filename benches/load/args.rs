//! What is asked for.

use ag_ui_proto::negotiate::{Coding, Format};

use super::proc;

#[derive(Clone, Copy, Debug)]
pub(super) struct Args {
    pub(super) runs: usize,
    pub(super) slow: usize,
    pub(super) seconds: usize,
    pub(super) rate: usize,
    pub(super) text: usize,
    pub(super) format: Format,
    pub(super) coding: Option<Coding>,
    pub(super) json: bool,
}

impl Args {
    pub(super) fn of_process() -> Self {
        let mut args = Self {
            runs: 200,
            slow: 0,
            seconds: 10,
            rate: 50,
            text: 16,
            format: Format::Protobuf,
            coding: None,
            json: false,
        };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let mut value = || words.next().unwrap_or_else(|| panic!("{word} wants a value"));
            match word.as_str() {
                "--runs" => args.runs = number(&value()),
                "--slow" => args.slow = number(&value()),
                "--seconds" => args.seconds = number(&value()),
                "--rate" => args.rate = number(&value()),
                "--text" => args.text = number(&value()),
                "--form" => {
                    args.format = match value().as_str() {
                        "protobuf" => Format::Protobuf,
                        "sse" => Format::Sse,
                        other => panic!("{other}: no form"),
                    };
                }
                "--coding" => args.coding = Some(Coding::from_name(value()).expect("a coding")),
                "--json" => args.json = true,
                // What cargo adds.
                "--bench" => {}
                other => panic!("{other}: unknown; see the head of benches/load/main.rs"),
            }
        }
        args
    }

    /// Stops if the system does not give this process or the server so many connections.
    pub(super) fn refuse_too_many(&self) {
        let (wanted, most) = (self.runs + self.slow + 64, proc::most_open_files());
        if wanted > most {
            eprintln!("{wanted} open files are wanted, {most} are allowed: `ulimit -n {wanted}`");
            std::process::exit(2);
        }
    }
}

fn number(text: &str) -> usize {
    text.parse().ok().filter(|number| *number < 1_000_000).expect("a number below a million")
}
