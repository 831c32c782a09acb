//! `ag-ui-proto`: AG-UI events between JSON and the frames of the protobuf binding.
//!
//! | module | holds |
//! |---|---|
//! | `args` | what can be said on the command line |
//! | `encode`, `decode`, `inspect`, `check`, `roundtrip`, `compare`, `extras` | one command each |
//! | `verify`, `apply`, `compact`, `lineage` | the same, of what a stream means |
//! | `serve`, `run`, `bridge` | the same, over HTTP (feature `cli-http`) |
//! | `recording`, `listen`, `origins` | a session in memory; a server until it is told to stop; which pages may call it |
//! | `connections`, `traffic`, `bodies` | a server's connections, and what goes over them; bodies of requests |
//! | `input`, `items`, `place`, `json`, `sse`, `frames` | bytes in, cut into JSON texts or frames |
//! | `events`, `rules` | events of any form, as a consumer reads them; the rules between them |
//! | `read`, `diff`, `look` | an event from its text; two events compared; one event in short |
//! | `output`, `report`, `failure` | results on stdout, the rest on stderr, the exit status |
//!
//! A command pulls one item at a time and writes it before the next; what is written is flushed
//! before every read, so that a reader down the pipe sees all that there is.

mod apply;
mod args;
#[cfg(feature = "cli-http")]
mod bodies;
#[cfg(feature = "cli-http")]
mod bridge;
mod check;
mod compact;
mod compare;
#[cfg(feature = "cli-http")]
mod connections;
mod decode;
mod diff;
mod encode;
mod events;
mod extras;
mod failure;
mod frames;
mod input;
mod inspect;
mod items;
mod json;
mod lineage;
#[cfg(feature = "cli-http")]
mod listen;
mod look;
#[cfg(feature = "cli-http")]
mod origins;
mod output;
mod place;
mod read;
#[cfg(feature = "cli-http")]
mod recording;
mod report;
mod roundtrip;
mod rules;
#[cfg(feature = "cli-http")]
mod run;
#[cfg(feature = "cli-http")]
mod serve;
mod sse;
#[cfg(feature = "cli-http")]
mod traffic;
mod verify;

use std::process::ExitCode;

use clap::Parser;

use self::args::{Args, Command};

fn main() -> ExitCode {
    let result = match Args::parse().command {
        Command::Encode(args) => encode::run(&args),
        Command::Decode(args) => decode::run(&args),
        Command::Inspect(args) => inspect::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Roundtrip(args) => roundtrip::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Verify(args) => verify::run(&args),
        Command::Apply(args) => apply::run(&args),
        Command::Compact(args) => compact::run(&args),
        Command::Lineage(args) => lineage::run(&args),
        #[cfg(feature = "cli-http")]
        Command::Serve(args) => serve::run(&args),
        #[cfg(feature = "cli-http")]
        Command::Run(args) => run::run(&args),
        #[cfg(feature = "cli-http")]
        Command::Bridge(args) => bridge::run(&args),
        Command::Completions { shell } => extras::completions(shell),
        Command::Man { command } => extras::man(command.as_deref()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if let Some(text) = failure.text() {
                report::error(text);
            }
            failure.exit_code()
        }
    }
}
