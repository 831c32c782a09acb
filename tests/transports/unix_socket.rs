//! Runs over Unix sockets.

use std::path::{Path, PathBuf};

use ag_ui_proto::Event;
use ag_ui_proto::codec::Limits;
use ag_ui_proto::model::RunAgentInput;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixListener;

use self::example::common::{Agent, Bounds};
use self::example::socket::{bind, call, serve};
use crate::sample::{
    cases, check_seen, fails_after, gives, has_few_descriptors, in_time, input, long_input,
    never_asked, session, short, take_all,
};

#[allow(dead_code, reason = "the program around what is tested")]
#[path = "../../examples/unix_socket.rs"]
mod example;

/// A path for a socket, and the directory that is removed with it.
fn place() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("agent.sock");
    (directory, path)
}

async fn serving(path: &Path, agent: impl Agent, bounds: Bounds) {
    tokio::spawn(serve(bind(path).await.unwrap(), agent, bounds));
}

async fn ask_for(path: &Path, input: RunAgentInput) -> (Vec<Event>, String) {
    let mut seen = Vec::new();
    let call = call(path, &input, Bounds::default(), |event| seen.push(event.clone()));
    let end = in_time(call).await.unwrap();
    (seen, end.to_string())
}

#[tokio::test]
async fn an_agent_without_descriptors_goes_on_once_there_are_some() {
    if has_few_descriptors("unix_socket::an_agent_without_descriptors_goes_on_once_there_are_some")
    {
        let (_directory, path) = place();
        serving(&path, gives(short()), Bounds::default()).await;
        take_all(|| std::os::unix::net::UnixStream::connect(&path)).await;
        assert_eq!(ask_for(&path, input()).await.1, "finished");
    }
}

#[tokio::test]
async fn a_session_arrives_whole_and_in_order() {
    let (_directory, path) = place();
    serving(&path, gives(session()), Bounds::default()).await;
    let (seen, end) = ask_for(&path, input()).await;
    check_seen(&seen, &session(), "the session");
    assert_eq!(end, "finished");
}

#[tokio::test]
async fn every_peer_comes_to_what_it_is() {
    for case in cases() {
        let (_directory, path) = place();
        let listener = UnixListener::bind(&path).unwrap();
        let peer = async move {
            let (mut socket, _) = listener.accept().await.unwrap();
            socket.write_all(&case.bytes).await.unwrap();
            socket.shutdown().await.unwrap();
            // Open until the client hangs up.
            let _ = socket.read_to_end(&mut Vec::new()).await;
        };
        let ((seen, end), ()) = tokio::join!(ask_for(&path, input()), peer);
        assert_eq!(end, case.end, "{}", case.name);
        check_seen(&seen, &session()[..case.seen], case.name);
    }
}

#[tokio::test]
async fn an_agent_that_fails_says_so_in_its_last_event() {
    let (_directory, path) = place();
    serving(&path, fails_after(session()[..5].to_vec()), Bounds::default()).await;
    let (seen, end) = ask_for(&path, input()).await;
    assert_eq!(seen.len(), 6);
    assert_eq!(end, "failed: the model is gone (MODEL)");
}

/// The agent closes a socket of which it has read a header alone, while the client still writes.
#[tokio::test]
async fn an_input_over_the_limit_is_refused_by_its_header_and_the_client_reads_why() {
    let (_directory, path) = place();
    let narrow = Bounds { limits: Limits::new().with_max_frame_len(1024), ..Bounds::default() };
    serving(&path, never_asked, narrow).await;
    for len in [2_000, 3_000_000] {
        let (seen, end) = ask_for(&path, long_input(len)).await;
        assert_eq!(seen.len(), 1);
        assert!(
            end.starts_with("failed: the input is refused: frame 1 at byte 0: a frame"),
            "{end}"
        );
        assert!(end.ends_with("bytes is over the limit of 1024 (BAD_INPUT)"), "{end}");
    }
}

#[tokio::test]
async fn nobody_listening_is_an_error_and_no_run() {
    let (_directory, path) = place();
    assert!(call(&path, &input(), Bounds::default(), |_| ()).await.is_err());
}

#[tokio::test]
async fn the_socket_of_an_agent_that_is_gone_is_replaced() {
    let (_directory, path) = place();
    drop(bind(&path).await.unwrap());
    assert!(path.exists());
    serving(&path, gives(short()), Bounds::default()).await;
    assert_eq!(ask_for(&path, input()).await.1, "finished");
}

#[tokio::test]
async fn what_is_not_the_socket_of_an_agent_that_is_gone_stays() {
    let (_directory, path) = place();
    serving(&path, gives(short()), Bounds::default()).await;
    assert_eq!(bind(&path).await.unwrap_err().kind(), std::io::ErrorKind::AddrInUse);
    assert_eq!(ask_for(&path, input()).await.1, "finished");

    let (_directory, path) = place();
    std::fs::write(&path, "a file").unwrap();
    bind(&path).await.unwrap_err();
    assert_eq!(std::fs::read(&path).unwrap(), b"a file");
}
