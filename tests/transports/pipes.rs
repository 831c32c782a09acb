//! Runs over the pipes of a child process.
//!
//! The agent is this program once more, started with one test, which then is the agent and writes
//! frames to standard error, since the test harness has its own use for standard output. A shell
//! between changes the two. Other agents are but a shell that copies a file.

use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

use ag_ui_proto::Event;
use ag_ui_proto::codec::Limits;
use ag_ui_proto::model::{Body, RunAgentInput};
use futures_util::{StreamExt, stream};
use tokio::process::Command;

use self::example::common::{Agent, Bounds, End};
use self::example::{Exit, byte_stream, call};
use crate::sample::{
    cases, check_seen, fails_after, frames, gives, hangs_after, in_time, input, long_input,
    never_asked, session, short,
};

#[allow(dead_code, reason = "the program around what is tested")]
#[path = "../../examples/pipes.rs"]
mod example;

/// Says that this program is the agent of its test.
const AGENT: &str = "AG_UI_PROTO_TEST_AGENT";

/// What a client sees of an agent, and what becomes of the run.
async fn ask_for(agent: Command, input: &RunAgentInput, bounds: Bounds) -> (Vec<Event>, End) {
    let mut seen = Vec::new();
    let end = in_time(call(agent, input, bounds, |event| seen.push(event.clone()))).await.unwrap();
    (seen, end)
}

async fn ask(agent: Command) -> (Vec<Event>, End) {
    ask_for(agent, &input(), Bounds::default()).await
}

/// This program as the agent of the test `name`.
fn myself(name: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", "exec \"$0\" \"$@\" 2>&1 >/dev/null"]);
    command.arg(std::env::current_exe().unwrap());
    command.args(["--exact", "--nocapture", name]).env(AGENT, "1");
    command
}

/// A shell that reads the input, writes the bytes, and then does what the script says.
fn shell(directory: &Path, bytes: &[u8], script: &str) -> Command {
    let path = directory.join("output");
    std::fs::write(&path, bytes).unwrap();
    let len = serde_json::to_vec(&input()).unwrap().len() + 4;
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("head -c {len} >/dev/null; cat \"$0\"; {script}")).arg(path);
    command
}

/// How an agent exited in the middle of its run, and what is told of it.
#[track_caller]
fn exit_of(end: End) -> (ExitStatus, String) {
    let End::Truncated(fault) = end else { panic!("{end}") };
    let exit = fault.downcast::<Exit>().unwrap();
    (exit.status.unwrap(), exit.to_string())
}

/// Whether this is the agent of its test; if it is, it serves its one run before.
async fn is_agent(agent: impl Agent, bounds: Bounds) -> bool {
    let is_agent = std::env::var_os(AGENT).is_some();
    if is_agent {
        let (read, write) = (tokio::io::stdin(), tokio::io::stderr());
        byte_stream::serve(read, write, agent, bounds).await.unwrap();
    }
    is_agent
}

#[tokio::test]
async fn a_session_arrives_whole_and_in_order() {
    if is_agent(gives(session()), Bounds::default()).await {
        return;
    }
    let (seen, end) = ask(myself("pipes::a_session_arrives_whole_and_in_order")).await;
    check_seen(&seen, &session(), "the session");
    assert_eq!(end.to_string(), "finished");
}

/// It names the thread and the run that it was asked for.
#[tokio::test]
async fn the_agent_gets_the_input_as_it_was_sent() {
    let echo = |asked: RunAgentInput| {
        assert_eq!(asked, long_input(100_000));
        stream::iter(short().into_iter().map(Ok))
    };
    if is_agent(echo, Bounds::default()).await {
        return;
    }
    let agent = myself("pipes::the_agent_gets_the_input_as_it_was_sent");
    let (_, end) = ask_for(agent, &long_input(100_000), Bounds::default()).await;
    assert_eq!(end.to_string(), "finished");
}

#[tokio::test]
async fn an_agent_that_fails_says_so_in_its_last_event() {
    if is_agent(fails_after(session()[..5].to_vec()), Bounds::default()).await {
        return;
    }
    let (seen, end) = ask(myself("pipes::an_agent_that_fails_says_so_in_its_last_event")).await;
    check_seen(&seen[..5], &session()[..5], "before the failure");
    assert_eq!(end.to_string(), "failed: the model is gone (MODEL)");
}

#[tokio::test]
async fn an_input_over_the_limit_is_refused_by_its_header_and_the_client_reads_why() {
    let narrow = Bounds { limits: Limits::new().with_max_frame_len(1024), ..Bounds::default() };
    if is_agent(never_asked, narrow).await {
        return;
    }
    let agent =
        myself("pipes::an_input_over_the_limit_is_refused_by_its_header_and_the_client_reads_why");
    // More than a pipe holds.
    let (seen, end) = ask_for(agent, &long_input(3_000_000), Bounds::default()).await;
    assert!(matches!(&seen[..], [Event { body: Body::RunError(_), .. }]), "{seen:?}");
    let end = end.to_string();
    assert!(end.starts_with("failed: the input is refused: frame 1 at byte 0: a frame"), "{end}");
    assert!(end.ends_with("bytes is over the limit of 1024 (BAD_INPUT)"), "{end}");
}

/// The process ends while its run goes on, without a word.
#[tokio::test]
async fn an_agent_that_exits_in_its_run_truncates_it() {
    let dies = |_| {
        let first = stream::iter(session().into_iter().take(9));
        first.map(Ok).chain(stream::poll_fn(|_| std::process::exit(3)))
    };
    if is_agent(dies, Bounds::default()).await {
        return;
    }
    let (seen, end) = ask(myself("pipes::an_agent_that_exits_in_its_run_truncates_it")).await;
    check_seen(&seen, &session()[..9], "before the exit");
    let (status, text) = exit_of(end);
    assert_eq!(status.code(), Some(3));
    let reason = "the stream ended before the run did; the agent exited with exit status: 3";
    assert_eq!(text, reason);
}

#[tokio::test]
async fn an_agent_that_is_killed_truncates_its_run() {
    let directory = tempfile::tempdir().unwrap();
    let whole = frames(&session());
    let agent = shell(directory.path(), &whole[..whole.len() - 1], "kill -9 $$");
    let (seen, end) = ask(agent).await;
    check_seen(&seen, &session()[..163], "before the kill");
    let (status, text) = exit_of(end);
    assert_eq!(status.signal(), Some(9));
    assert!(text.contains("truncated: input ended after "), "{text}");
    assert!(text.ends_with("; the agent exited with signal: 9 (SIGKILL)"), "{text}");
}

#[tokio::test]
async fn every_peer_comes_to_what_it_is() {
    for case in cases() {
        for (script, told) in [("exit 0", "exit status: 0"), ("exit 7", "exit status: 7")] {
            let directory = tempfile::tempdir().unwrap();
            let (seen, end) = ask(shell(directory.path(), &case.bytes, script)).await;
            let want = match end {
                End::Truncated(_) => format!("{}; the agent exited with {told}", case.end),
                _ => case.end.clone(),
            };
            assert_eq!(end.to_string(), want, "{}, {script}", case.name);
            check_seen(&seen, &session()[..case.seen], case.name);
        }
    }
}

/// It exits while its client still writes, and what it said before counts.
#[tokio::test]
async fn an_agent_that_does_not_read_its_input_is_followed_all_the_same() {
    for (events, told) in [
        (164, "finished"),
        (9, "truncated: the stream ended before the run did; the input was not sent to its end: "),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("output");
        std::fs::write(&path, frames(&session()[..events])).unwrap();
        let mut agent = Command::new("cat");
        agent.arg(path);
        let (seen, end) = ask_for(agent, &long_input(3_000_000), Bounds::default()).await;
        check_seen(&seen, &session()[..events], told);
        assert!(end.to_string().starts_with(told), "{end}");
    }
}

#[tokio::test]
async fn output_of_another_kind_is_rejected_and_the_process_is_not_waited_for() {
    let mut agent = Command::new("sh");
    agent.args(["-c", "echo INFO starting; exec sleep 60"]);
    let (_, end) = ask(agent).await;
    assert!(matches!(end, End::Rejected(_)), "{end}");
}

#[tokio::test]
async fn an_agent_that_says_nothing_for_too_long_truncates_the_run() {
    if is_agent(hangs_after(session()[..7].to_vec()), Bounds::default()).await {
        return;
    }
    let name = "pipes::an_agent_that_says_nothing_for_too_long_truncates_the_run";
    let idle = Bounds { idle: Duration::from_millis(500), ..Bounds::default() };
    let (seen, end) = ask_for(myself(name), &input(), idle).await;
    check_seen(&seen, &session()[..7], "before the pause");
    let End::Truncated(fault) = end else { panic!("{end}") };
    let exit = fault.downcast::<Exit>().unwrap();
    assert!(exit.status.is_none(), "it goes on, until it is killed");
    assert_eq!(
        exit.to_string(),
        "the other side did nothing for 500ms; the agent did not exit, and was killed"
    );
}

#[tokio::test]
async fn a_program_that_is_not_there_is_an_error_and_no_run() {
    let agent = Command::new("/nonexistent/agent");
    let error = call(agent, &input(), Bounds::default(), |_| ()).await.unwrap_err();
    assert!(error.to_string().contains("No such file"), "{error}");
}
