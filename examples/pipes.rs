//! An agent that is a child process, spoken to over its standard input and output: the text is
//! printed as it arrives.
//!
//! `cargo run --features conversation --example pipes` starts itself as the agent;
//! `-- client PROGRAM ARGUMENTS...` starts another program, `-- agent` is one.
//!
//! | promise | how it is kept |
//! |---|---|
//! | order | the pipe's; a process carries one run |
//! | the input comes before events | it is one frame of JSON on standard input; the agent writes nothing before |
//! | an end is told from a cut | a `RUN_FINISHED` or `RUN_ERROR` ends the run; output that ends before, in a frame or between two, truncates it, and the reason names the exit status |
//! | errors | a refused input is answered with a `RUN_ERROR` alone, a failing agent ends with one; output that is no frame or no event, such as a line of a log, ends the run as rejected |
//!
//! Standard error is the agent's own, for people. An agent must write nothing but frames to standard
//! output. Once the run is over its input is closed, and it may clean up; one that does not exit is
//! killed, and so is one whose caller goes away.

use std::fmt;
use std::io;
use std::process::{ExitCode, ExitStatus, Stdio};
use std::time::Duration;

use ag_ui_proto::Event;
use ag_ui_proto::codec::WriteError;
use ag_ui_proto::model::RunAgentInput;
use tokio::process::{Child, Command};
use tokio::time::timeout;

#[path = "common/byte_stream.rs"]
pub(crate) mod byte_stream;
pub(crate) mod common;

use common::{Agent, Bounds, End, Fault, demo};

/// How long a process may take to exit once its run is over, if it may be silent for as long.
const EXIT: Duration = Duration::from_secs(5);

/// Answers the one input on standard input.
pub(crate) async fn serve(agent: impl Agent, bounds: Bounds) -> Result<(), WriteError> {
    byte_stream::serve(tokio::io::stdin(), tokio::io::stdout(), agent, bounds).await?;
    Ok(())
}

/// Starts the agent, and asks it.
pub(crate) async fn call(
    mut agent: Command,
    input: &RunAgentInput,
    bounds: Bounds,
    seen: impl FnMut(&Event),
) -> Result<End, Fault> {
    agent.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut child = agent.spawn()?;
    let (Some(write), Some(read)) = (child.stdin.take(), child.stdout.take()) else {
        return Err("a process without pipes".into());
    };
    let end = byte_stream::call(read, write, input, bounds, seen).await?;
    Ok(match end {
        // What it wrote is not to be trusted, nor is it to be waited for.
        End::Rejected(_) => end,
        End::Truncated(cut) => {
            End::Truncated(Exit { status: exited(&mut child, bounds).await?, cut }.into())
        }
        End::Finished(_) | End::Failed(_) => {
            match exited(&mut child, bounds).await? {
                Some(status) if status.success() => {}
                status => eprintln!("warning: after its run the agent {}", Told(status)),
            }
            end
        }
    })
}

/// How the process exited; nothing if it had to be killed.
async fn exited(child: &mut Child, bounds: Bounds) -> io::Result<Option<ExitStatus>> {
    match timeout(EXIT.min(bounds.idle), child.wait()).await {
        Ok(status) => Ok(Some(status?)),
        Err(_) => child.kill().await.map(|()| None),
    }
}

/// The process is gone, or was made to go, in the middle of its run.
#[derive(Debug, thiserror::Error)]
#[error("{cut}; the agent {}", Told(*.status))]
pub(crate) struct Exit {
    /// Nothing if it had to be killed.
    pub(crate) status: Option<ExitStatus>,
    /// How its output ended.
    pub(crate) cut: Fault,
}

struct Told(Option<ExitStatus>);

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(status) => write!(f, "exited with {status}"),
            None => f.write_str("did not exit, and was killed"),
        }
    }
}

async fn run() -> Result<Option<End>, Fault> {
    let bounds = Bounds::default();
    let mut args = std::env::args().skip(1);
    let command = match (args.next().as_deref(), args.next()) {
        (None, _) => {
            let mut command = Command::new(std::env::current_exe()?);
            command.arg("agent");
            command
        }
        (Some("agent"), None) => {
            serve(demo::hello, bounds).await?;
            return Ok(None);
        }
        (Some("client"), Some(program)) => {
            let mut command = Command::new(program);
            command.args(args);
            command
        }
        _ => return Err("usage: [agent | client PROGRAM ARGUMENTS...]".into()),
    };
    Ok(Some(call(command, &demo::question(), bounds, demo::show).await?))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    demo::exit(run().await)
}
