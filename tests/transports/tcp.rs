//! Runs over TCP.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ag_ui_proto::codec::Limits;
use ag_ui_proto::model::{Body, Event, RunAgentInput};
use futures_util::stream;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use self::example::common::{Agent, Bounds, Idle, demo};
use self::example::{call, serve};
use crate::sample::{
    cases, check_seen, endless, fails_after, frames, gives, hangs_after, in_time, input,
    long_input, never_asked, says_too_much, session, short,
};
#[cfg(unix)]
use crate::sample::{has_few_descriptors, take_all};

#[allow(dead_code, reason = "the program around what is tested")]
#[path = "../../examples/tcp.rs"]
mod example;

/// Puts up with less than usual.
fn narrow() -> Bounds {
    Bounds { limits: Limits::new().with_max_frame_len(1024), ..Bounds::default() }
}

async fn serving(agent: impl Agent, bounds: Bounds) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(serve(listener, agent, bounds));
    address
}

/// What a client sees that asks at `address`, and what it is told of the run.
async fn ask_for(
    address: SocketAddr,
    input: RunAgentInput,
    bounds: Bounds,
) -> (Vec<Event>, String) {
    let (address, mut seen) = (address.to_string(), Vec::new());
    let call = call(&address, &input, bounds, |event| seen.push(event.clone()));
    let end = in_time(call).await.unwrap();
    (seen, end.to_string())
}

async fn ask(agent: impl Agent) -> (Vec<Event>, String) {
    ask_for(serving(agent, Bounds::default()).await, input(), Bounds::default()).await
}

/// What a peer reads that sends `request` and then ends its side.
async fn answer_to(request: &[u8], bounds: Bounds) -> Vec<u8> {
    let mut peer = TcpStream::connect(serving(never_asked, bounds).await).await.unwrap();
    peer.write_all(request).await.unwrap();
    peer.shutdown().await.unwrap();
    let mut answer = Vec::new();
    in_time(peer.read_to_end(&mut answer)).await.unwrap();
    answer
}

#[track_caller]
fn check_refused(answer: &[u8], reason: &str) {
    let mut answer = bytes::BytesMut::from(answer);
    let mut reader = ag_ui_proto::codec::EventReader::new();
    let event = reader.next_event(&mut answer).unwrap().unwrap().event.unwrap();
    let Body::RunError(error) = event.body else { panic!("{event:?}") };
    assert_eq!(error.message, format!("the input is refused: {reason}"));
    assert_eq!(error.code.as_deref(), Some("BAD_INPUT"));
    assert_eq!(reader.next_event(&mut answer).unwrap(), None, "the refusal stands alone");
    reader.finish(&answer).unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn an_agent_without_descriptors_goes_on_once_there_are_some() {
    if has_few_descriptors("tcp::an_agent_without_descriptors_goes_on_once_there_are_some") {
        let address = serving(gives(short()), Bounds::default()).await;
        take_all(|| std::net::TcpStream::connect(address)).await;
        assert_eq!(ask_for(address, input(), Bounds::default()).await.1, "finished");
    }
}

#[tokio::test]
async fn a_session_arrives_whole_and_in_order() {
    let (seen, end) = ask(gives(session())).await;
    check_seen(&seen, &session(), "the session");
    assert_eq!(end, "finished");
}

#[tokio::test]
async fn the_agent_of_the_example_says_its_sentence() {
    let (seen, end) = ask(demo::hello).await;
    let text: String = seen
        .iter()
        .filter_map(|event| match &event.body {
            Body::TextMessageContent(content) => Some(content.delta.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!((text.as_str(), end.as_str()), ("Hello from the agent.", "finished"));
}

#[tokio::test]
async fn the_agent_gets_the_input_as_it_was_sent() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let agent = {
        let asked = Arc::clone(&asked);
        move |input| {
            asked.lock().unwrap().push(input);
            stream::iter(short().into_iter().map(Ok))
        }
    };
    let input = long_input(100_000);
    let address = serving(agent, Bounds::default()).await;
    let (_, end) = ask_for(address, input.clone(), Bounds::default()).await;
    assert_eq!(end, "finished");
    assert_eq!(*asked.lock().unwrap(), [input]);
}

#[tokio::test]
async fn nothing_is_said_before_the_input_is_whole() {
    let address = serving(gives(short()), Bounds::default()).await;
    let mut peer = TcpStream::connect(address).await.unwrap();
    let json = serde_json::to_vec(&input()).unwrap();
    peer.write_all(&u32::try_from(json.len()).unwrap().to_be_bytes()).await.unwrap();
    peer.write_all(&json[..json.len() - 1]).await.unwrap();
    let mut answer = vec![0; frames(&short()).len()];
    let early = timeout(Duration::from_millis(100), peer.read(&mut answer)).await;
    assert!(early.is_err(), "{early:?}");
    peer.write_all(&json[json.len() - 1..]).await.unwrap();
    in_time(peer.read_exact(&mut answer)).await.unwrap();
    assert_eq!(answer, frames(&short()));
}

#[tokio::test]
async fn runs_side_by_side_do_not_mix() {
    let address = serving(gives(session()), Bounds::default()).await;
    let runs = (0..8).map(|_| ask_for(address, input(), Bounds::default()));
    for (seen, end) in futures_util::future::join_all(runs).await {
        check_seen(&seen, &session(), "the session");
        assert_eq!(end, "finished");
    }
}

#[tokio::test]
async fn every_peer_comes_to_what_it_is() {
    for case in cases() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let peer = async move {
            let (mut socket, _) = listener.accept().await.unwrap();
            socket.write_all(&case.bytes).await.unwrap();
            socket.shutdown().await.unwrap();
            // Open until the client hangs up.
            let _ = socket.read_to_end(&mut Vec::new()).await;
        };
        let asked = ask_for(address, input(), Bounds::default());
        let ((seen, end), ()) = tokio::join!(asked, peer);
        assert_eq!(end, case.end, "{}", case.name);
        check_seen(&seen, &session()[..case.seen], case.name);
    }
}

#[tokio::test]
async fn a_connection_that_is_reset_truncates_the_run() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let peer = async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        socket.write_all(&frames(&session()[..5])).await.unwrap();
        // What the client sent is not read: its end is a reset.
        socket.peek(&mut [0]).await.unwrap();
    };
    let ((_, end), ()) = tokio::join!(ask_for(address, input(), Bounds::default()), peer);
    assert!(end.starts_with("truncated: Connection reset by peer"), "{end}");
}

#[tokio::test]
async fn an_agent_that_fails_says_so_in_its_last_event() {
    let (seen, end) = ask(fails_after(session()[..5].to_vec())).await;
    check_seen(&seen[..5], &session()[..5], "before the failure");
    assert!(matches!(&seen[5..], [Event { body: Body::RunError(_), .. }]), "{seen:?}");
    assert_eq!(end, "failed: the model is gone (MODEL)");
}

#[tokio::test]
async fn an_event_that_cannot_be_sent_ends_the_run_with_the_reason() {
    let address = serving(says_too_much(), narrow()).await;
    let (seen, end) = ask_for(address, input(), Bounds::default()).await;
    assert_eq!(seen.len(), 3);
    assert_eq!(
        end,
        "failed: TEXT_MESSAGE_CONTENT: a frame of 2065 bytes is over the limit of 1024 (BAD_EVENT)"
    );
}

#[tokio::test]
async fn an_agent_that_just_ends_is_not_made_to_look_finished() {
    let (seen, end) = ask(gives(session()[..7].to_vec())).await;
    check_seen(&seen, &session()[..7], "the first events");
    assert_eq!(end, "truncated: the stream ended before the run did");
}

#[tokio::test]
async fn an_agent_that_says_nothing_for_too_long_truncates_the_run() {
    let address = serving(hangs_after(session()[..7].to_vec()), Bounds::default()).await;
    let idle = Bounds { idle: Duration::from_millis(50), ..Bounds::default() };
    let (seen, end) = ask_for(address, input(), idle).await;
    check_seen(&seen, &session()[..7], "the first events");
    assert_eq!(end, format!("truncated: {}", Idle { after: idle.idle }));
}

#[tokio::test]
async fn an_event_over_the_limit_of_the_client_is_rejected() {
    let address = serving(says_too_much(), Bounds::default()).await;
    let (seen, end) = ask_for(address, input(), narrow()).await;
    assert_eq!(seen.len(), 2);
    assert!(end.contains("a frame of 2065 bytes is over the limit of 1024"), "{end}");
    assert!(end.starts_with("rejected: event 2: frame 3 at byte "), "{end}");
}

#[tokio::test]
async fn an_input_that_is_none_is_refused_with_the_reason() {
    for (json, reason) in [
        (&b"{\"threadId\":\"t\"}"[..], "runId: missing"),
        (b"{\"threadId\":", "EOF while parsing a value at line 1 column 12"),
        (b"\xff", "expected value at line 1 column 1"),
        (b"", "EOF while parsing a value at line 1 column 0"),
    ] {
        let header = u32::try_from(json.len()).unwrap().to_be_bytes();
        let answer = answer_to(&[&header[..], json].concat(), Bounds::default()).await;
        check_refused(&answer, reason);
    }
}

#[tokio::test]
async fn an_input_that_was_cut_is_refused() {
    let answer = answer_to(b"\0\0\0\x10{\"threadId\"", Bounds::default()).await;
    check_refused(
        &answer,
        "frame 1 at byte 0: truncated: input ended after 15 bytes of a frame of 20",
    );
    check_refused(&answer_to(b"", Bounds::default()).await, "none came");
}

/// The agent closes a socket of which it has read a header alone, while the client still writes.
#[tokio::test]
async fn an_input_over_the_limit_is_refused_by_its_header_and_the_client_reads_why() {
    let address = serving(never_asked, narrow()).await;
    for len in [2_000, 200_000, 3_000_000] {
        let input = long_input(len);
        let frame_len = serde_json::to_vec(&input).unwrap().len() + 4;
        let (seen, end) = ask_for(address, input, Bounds::default()).await;
        assert_eq!(seen.len(), 1);
        let reason = format!("a frame of {frame_len} bytes is over the limit of 1024");
        let refused = "failed: the input is refused: frame 1 at byte 0";
        assert_eq!(end, format!("{refused}: {reason} (BAD_INPUT)"));
    }
}

/// Else the connection would be reset, and the reason might be lost.
#[tokio::test]
async fn an_agent_that_refuses_an_input_reads_on_until_the_client_hangs_up() {
    let mut peer = TcpStream::connect(serving(never_asked, narrow()).await).await.unwrap();
    peer.write_all(&[&1_000_000_u32.to_be_bytes()[..], &vec![b' '; 100_000]].concat())
        .await
        .unwrap();
    let mut answer = Vec::new();
    in_time(peer.read_to_end(&mut answer)).await.unwrap();
    check_refused(&answer, "frame 1 at byte 0: a frame of 1000004 bytes is over the limit of 1024");
    for _ in 0..3 {
        in_time(peer.write_all(&vec![b' '; 300_000])).await.unwrap();
    }
}

#[tokio::test]
async fn an_input_over_the_limit_of_the_client_is_not_sent() {
    let address = serving(never_asked, Bounds::default()).await;
    let error = call(&address.to_string(), &long_input(2_000), narrow(), |_| ()).await.unwrap_err();
    assert!(error.to_string().ends_with("bytes is over the limit of 1024"), "{error}");
}

#[tokio::test]
async fn a_client_that_never_asks_is_told_so() {
    let idle = Bounds { idle: Duration::from_millis(50), ..Bounds::default() };
    let mut peer = TcpStream::connect(serving(never_asked, idle).await).await.unwrap();
    let mut answer = Vec::new();
    in_time(peer.read_to_end(&mut answer)).await.unwrap();
    check_refused(&answer, "the other side did nothing for 50ms");
}

/// The agent learns of it when it sends.
#[tokio::test]
async fn the_run_of_a_client_that_is_gone_is_dropped() {
    let (gone, mut is_gone) = tokio::sync::mpsc::channel::<()>(1);
    let address = serving(endless(gone), Bounds::default()).await;
    let (address, input, mut seen) = (address.to_string(), input(), 0);
    let call = call(&address, &input, Bounds::default(), |_| seen += 1);
    let _ = timeout(Duration::from_millis(100), call).await;
    assert!(seen > 2, "{seen}");
    assert_eq!(in_time(is_gone.recv()).await, None);
}

#[tokio::test]
async fn the_run_of_a_client_that_does_not_read_is_dropped() {
    let (gone, mut is_gone) = tokio::sync::mpsc::channel::<()>(1);
    let idle = Bounds { idle: Duration::from_millis(200), ..Bounds::default() };
    let mut peer = TcpStream::connect(serving(endless(gone), idle).await).await.unwrap();
    let json = serde_json::to_vec(&input()).unwrap();
    peer.write_all(&u32::try_from(json.len()).unwrap().to_be_bytes()).await.unwrap();
    peer.write_all(&json).await.unwrap();
    assert_eq!(in_time(is_gone.recv()).await, None);
    peer.peek(&mut [0]).await.unwrap();
}
