//! Runs over a WebSocket.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ag_ui_proto::Event;
use ag_ui_proto::codec::Limits;
use ag_ui_proto::model::{Body, RunAgentInput};
use bytes::Bytes;
use futures_util::{SinkExt, StreamExt, stream};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{CloseCode, Data, OpCode};
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, accept_async, connect_async};

use self::example::common::{Agent, Bounds, End};
use self::example::{Closed, Text, call, serve};
use crate::sample::{
    check_seen, endless, fails_after, gives, hangs_after, in_time, input, long_input, never_asked,
    says_too_much, session, short,
};
#[cfg(unix)]
use crate::sample::{has_few_descriptors, take_all};

#[allow(dead_code, reason = "the program around what is tested")]
#[path = "../../examples/websocket.rs"]
mod example;

/// Puts up with less than usual.
fn narrow() -> Bounds {
    Bounds { limits: Limits::new().with_max_frame_len(1024), ..Bounds::default() }
}

async fn listening() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

async fn serving(agent: impl Agent, bounds: Bounds) -> SocketAddr {
    let (listener, address) = listening().await;
    tokio::spawn(serve(listener, agent, bounds));
    address
}

async fn ask_for(address: SocketAddr, input: RunAgentInput, bounds: Bounds) -> (Vec<Event>, End) {
    let (url, mut seen) = (format!("ws://{address}/"), Vec::new());
    let call = call(&url, &input, bounds, |event| seen.push(event.clone()));
    let end = in_time(call).await.unwrap();
    (seen, end)
}

async fn ask(agent: impl Agent) -> (Vec<Event>, End) {
    ask_for(serving(agent, Bounds::default()).await, input(), Bounds::default()).await
}

/// What a client makes of an agent that sends these messages after the first `events` of the session,
/// and then leaves without a word.
async fn ask_peer(events: usize, more: Vec<Message>, bounds: Bounds) -> (Vec<Event>, End) {
    let (listener, address) = listening().await;
    let peer = async move {
        let mut socket = accept_async(listener.accept().await.unwrap().0).await.unwrap();
        assert!(socket.next().await.unwrap().unwrap().is_text());
        let said = session().into_iter().take(events);
        for message in said.map(|event| binary(&event)).chain(more) {
            // The client may have left at an earlier one.
            let _ = socket.send(message).await;
        }
        // Closed with bytes unread, the connection would be reset, and take what was sent with it.
        let mut socket = socket.into_inner();
        socket.shutdown().await.unwrap();
        let _ = socket.read_to_end(&mut Vec::new()).await;
    };
    let (asked, ()) = tokio::join!(ask_for(address, input(), bounds), peer);
    asked
}

fn binary(event: &Event) -> Message {
    Message::Binary(event.to_payload().unwrap())
}

fn part(bytes: &[u8], code: Data, is_final: bool) -> Message {
    Message::Frame(Frame::message(Bytes::copy_from_slice(bytes), OpCode::Data(code), is_final))
}

type Peer = WebSocketStream<MaybeTlsStream<TcpStream>>;

async fn connected(address: SocketAddr) -> Peer {
    connect_async(format!("ws://{address}/")).await.unwrap().0
}

/// The only event that the peer is answered with, which is a refusal.
async fn refusal(mut peer: Peer) -> String {
    let Message::Binary(payload) = in_time(peer.next()).await.unwrap().unwrap() else {
        panic!("no event")
    };
    let event = Event::decode(&payload).unwrap().event.unwrap();
    let Body::RunError(error) = event.body else { panic!("{event:?}") };
    assert_eq!(error.code.as_deref(), Some("BAD_INPUT"));
    assert!(in_time(peer.next()).await.unwrap().unwrap().is_close());
    error.message
}

#[cfg(unix)]
#[tokio::test]
async fn an_agent_without_descriptors_goes_on_once_there_are_some() {
    if has_few_descriptors("websocket::an_agent_without_descriptors_goes_on_once_there_are_some") {
        let address = serving(gives(short()), Bounds::default()).await;
        take_all(|| std::net::TcpStream::connect(address)).await;
        let (_, end) = ask_for(address, input(), Bounds::default()).await;
        assert_eq!(end.to_string(), "finished");
    }
}

#[tokio::test]
async fn a_session_arrives_whole_and_in_order() {
    let (seen, end) = ask(gives(session())).await;
    check_seen(&seen, &session(), "the session");
    assert_eq!(end.to_string(), "finished");
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
    let address = serving(agent, Bounds::default()).await;
    let (_, end) = ask_for(address, long_input(100_000), Bounds::default()).await;
    assert_eq!(end.to_string(), "finished");
    assert_eq!(*asked.lock().unwrap(), [long_input(100_000)]);
}

#[tokio::test]
async fn nothing_is_said_before_the_input_is_whole() {
    let mut peer = connected(serving(gives(short()), Bounds::default()).await).await;
    let json = serde_json::to_vec(&input()).unwrap();
    let (first, last) = json.split_at(10);
    peer.send(part(first, Data::Text, false)).await.unwrap();
    peer.send(Message::Ping(Bytes::new())).await.unwrap();
    assert!(in_time(peer.next()).await.unwrap().unwrap().is_pong());
    let early = timeout(Duration::from_millis(100), peer.next()).await;
    assert!(early.is_err(), "{early:?}");
    peer.send(part(last, Data::Continue, true)).await.unwrap();
    let answer = in_time(peer.next()).await.unwrap().unwrap();
    assert_eq!(answer, binary(&short()[0]));
}

#[tokio::test]
async fn runs_side_by_side_do_not_mix() {
    let address = serving(gives(session()), Bounds::default()).await;
    let runs = (0..8).map(|_| ask_for(address, input(), Bounds::default()));
    for (seen, end) in futures_util::future::join_all(runs).await {
        check_seen(&seen, &session(), "one of them");
        assert_eq!(end.to_string(), "finished");
    }
}

#[tokio::test]
async fn a_close_frame_before_the_end_truncates_the_run_whatever_it_says() {
    let close = |code, reason: &'static str| CloseFrame { code, reason: reason.into() };
    for (frame, told) in [
        (None, ""),
        (Some(close(CloseCode::Normal, "")), ": 1000"),
        (Some(close(CloseCode::Away, "restarting")), ": 1001 \"restarting\""),
        (Some(close(CloseCode::Error, "panic")), ": 1011 \"panic\""),
    ] {
        let more = vec![Message::Close(frame.clone())];
        let (seen, end) = ask_peer(9, more, Bounds::default()).await;
        check_seen(&seen, &session()[..9], "before the close");
        let End::Truncated(fault) = end else { panic!("{end}") };
        let closed = fault.downcast::<Closed>().unwrap();
        assert_eq!(closed.0, frame);
        let text = "the agent closed the connection before its run ended";
        assert_eq!(closed.to_string(), format!("{text}{told}"));
    }
}

#[tokio::test]
async fn a_close_frame_behind_the_end_is_an_end() {
    let (seen, end) = ask_peer(164, vec![Message::Close(None)], Bounds::default()).await;
    check_seen(&seen, &session(), "the session");
    assert_eq!(end.to_string(), "finished");
}

#[tokio::test]
async fn a_connection_that_breaks_truncates_the_run() {
    for events in [0, 9, 163] {
        let (seen, end) = ask_peer(events, Vec::new(), Bounds::default()).await;
        check_seen(&seen, &session()[..events], "before the break");
        assert!(matches!(end, End::Truncated(_)), "{end}");
        assert!(end.to_string().contains("reset without closing"), "{end}");
    }
}

#[tokio::test]
async fn a_cut_in_a_message_truncates_the_run() {
    let (listener, address) = listening().await;
    let peer = async move {
        let mut socket = accept_async(listener.accept().await.unwrap().0).await.unwrap();
        socket.next().await.unwrap().unwrap();
        socket.send(binary(&session()[0])).await.unwrap();
        // The header of a binary message of 100 bytes, and the first of them.
        socket.get_mut().write_all(b"\x82\x64\x12").await.unwrap();
        drop(socket);
    };
    let ((seen, end), ()) = tokio::join!(ask_for(address, input(), Bounds::default()), peer);
    check_seen(&seen, &session()[..1], "before the cut");
    assert!(matches!(end, End::Truncated(_)), "{end}");
}

#[tokio::test]
async fn a_cut_between_the_parts_of_a_message_truncates_the_run() {
    let Message::Binary(last) = binary(&session()[163]) else { panic!() };
    let (seen, end) =
        ask_peer(163, vec![part(&last[..5], Data::Binary, false)], Bounds::default()).await;
    check_seen(&seen, &session()[..163], "before the cut");
    assert!(matches!(end, End::Truncated(_)), "{end}");
}

#[tokio::test]
async fn a_message_may_come_in_parts_with_pings_between() {
    let Message::Binary(last) = binary(&session()[163]) else { panic!() };
    let (first, rest) = last.split_at(5);
    let more = vec![
        Message::Ping(Bytes::from_static(b"there?")),
        part(first, Data::Binary, false),
        Message::Ping(Bytes::new()),
        Message::Pong(Bytes::from_static(b"never asked for")),
        part(rest, Data::Continue, true),
    ];
    let (seen, end) = ask_peer(163, more, Bounds::default()).await;
    check_seen(&seen, &session(), "the session");
    assert_eq!(end.to_string(), "finished");
}

#[tokio::test]
async fn a_text_message_is_rejected() {
    for text in ["", "{\"type\":\"RUN_STARTED\"}"] {
        let (seen, end) = ask_peer(9, vec![Message::text(text)], Bounds::default()).await;
        check_seen(&seen, &session()[..9], "before the text");
        let told = "rejected: event 9: a text message, where every event is a binary one";
        assert_eq!(end.to_string(), told);
        let End::Rejected(rejection) = end else { panic!() };
        let source = std::error::Error::source(&rejection).unwrap();
        assert!(source.is::<Text>(), "{source:?}");
    }
}

#[tokio::test]
async fn a_message_that_is_no_event_is_rejected() {
    // The last one is a frame of the other transports, length in front.
    let framed = crate::sample::frames(&session()[9..10]);
    for (payload, told) in [
        (&b""[..], "an empty frame names no event"),
        (
            b"\x12\x05",
            "malformed at byte 1 of the payload: length runs past the end of its message",
        ),
        (&framed, "malformed at byte 0 of the payload: "),
    ] {
        let more = vec![Message::Binary(Bytes::copy_from_slice(payload)), binary(&session()[9])];
        let (seen, end) = ask_peer(9, more, Bounds::default()).await;
        check_seen(&seen, &session()[..9], told);
        assert!(end.to_string().starts_with(&format!("rejected: event 9: {told}")), "{end}");
    }
}

#[tokio::test]
async fn a_message_over_the_limit_is_rejected_whole_or_in_parts() {
    let long = vec![0; 1021];
    let whole = vec![Message::Binary(Bytes::copy_from_slice(&long))];
    let parts =
        vec![part(&long[..1000], Data::Binary, false), part(&long[1000..], Data::Continue, false)];
    for (more, len) in [(whole, "1021"), (parts, "1021")] {
        let (seen, end) = ask_peer(0, more, narrow()).await;
        assert_eq!(seen, []);
        let text = end.to_string();
        assert!(matches!(end, End::Rejected(_)), "{end}");
        assert!(text.contains(len) && text.contains("1020"), "{text}");
    }
    // At the limit it is judged for what it is.
    let (_, end) = ask_peer(0, vec![Message::Binary(vec![0; 1020].into())], narrow()).await;
    assert!(end.to_string().contains("malformed at byte 0"), "{end}");
}

#[tokio::test]
async fn an_agent_that_fails_says_so_in_its_last_event() {
    let (seen, end) = ask(fails_after(session()[..5].to_vec())).await;
    check_seen(&seen[..5], &session()[..5], "before the failure");
    assert_eq!(seen.len(), 6);
    assert_eq!(end.to_string(), "failed: the model is gone (MODEL)");
}

#[tokio::test]
async fn an_event_that_cannot_be_sent_ends_the_run_with_the_reason() {
    let address = serving(says_too_much(), narrow()).await;
    let (seen, end) = ask_for(address, input(), Bounds::default()).await;
    assert_eq!(seen.len(), 3);
    assert_eq!(
        end.to_string(),
        "failed: TEXT_MESSAGE_CONTENT: a frame of 2065 bytes is over the limit of 1024 (BAD_EVENT)"
    );
}

#[tokio::test]
async fn an_agent_that_just_ends_is_not_made_to_look_finished() {
    let (seen, end) = ask(gives(session()[..7].to_vec())).await;
    check_seen(&seen, &session()[..7], "the first events");
    let told = "truncated: the agent closed the connection before its run ended";
    assert_eq!(end.to_string(), told);
}

#[tokio::test]
async fn an_agent_that_says_nothing_for_too_long_truncates_the_run() {
    let address = serving(hangs_after(session()[..7].to_vec()), Bounds::default()).await;
    let idle = Bounds { idle: Duration::from_millis(50), ..Bounds::default() };
    let (seen, end) = ask_for(address, input(), idle).await;
    check_seen(&seen, &session()[..7], "the first events");
    assert_eq!(end.to_string(), "truncated: the other side did nothing for 50ms");
}

#[tokio::test]
async fn an_input_that_is_none_is_refused_with_the_reason() {
    let json = serde_json::to_vec(&input()).unwrap();
    for (message, reason) in [
        (Message::text("{\"threadId\":\"t\"}"), "runId: missing"),
        (Message::text(""), "EOF while parsing a value at line 1 column 0"),
        (Message::Binary(json.into()), "expected a text message of JSON"),
        (part(b"\xff\xfe", Data::Text, true), "UTF-8 encoding error: "),
    ] {
        let mut peer = connected(serving(never_asked, Bounds::default()).await).await;
        peer.send(message).await.unwrap();
        let told = refusal(peer).await;
        assert!(told.starts_with(&format!("the input is refused: {reason}")), "{told}");
    }
}

#[tokio::test]
async fn an_input_over_the_limit_is_refused_and_the_client_reads_why() {
    let address = serving(never_asked, narrow()).await;
    for len in [2_000, 200_000, 3_000_000] {
        let (seen, end) = ask_for(address, long_input(len), Bounds::default()).await;
        assert_eq!(seen.len(), 1);
        let end = end.to_string();
        assert!(end.starts_with("failed: the input is refused: Space limit exceeded: "), "{end}");
        assert!(end.ends_with("1020 (BAD_INPUT)"), "{end}");
    }
    let url = format!("ws://{address}/");
    let error = call(&url, &long_input(2_000), narrow(), |_| ()).await.unwrap_err();
    assert!(error.to_string().ends_with("bytes is over the limit of 1020"), "{error}");
}

/// Else the connection would be reset, and the reason might be lost.
#[tokio::test]
async fn an_agent_that_refuses_an_input_reads_on_until_the_client_hangs_up() {
    let mut peer = connected(serving(never_asked, narrow()).await).await;
    peer.send(part(&vec![b' '; 100_000], Data::Text, false)).await.unwrap();
    let Message::Binary(_) = in_time(peer.next()).await.unwrap().unwrap() else { panic!() };
    assert!(in_time(peer.next()).await.unwrap().unwrap().is_close());
    let mut socket = peer.into_inner();
    for _ in 0..3 {
        in_time(socket.write_all(&vec![b' '; 300_000])).await.unwrap();
    }
}

#[tokio::test]
async fn a_client_that_leaves_without_asking_gets_no_run() {
    let mut peer = connected(serving(never_asked, Bounds::default()).await).await;
    peer.close(None).await.unwrap();
    let said: Vec<_> = in_time(peer.collect::<Vec<_>>()).await;
    assert!(said.iter().all(|said| matches!(said, Ok(Message::Close(_)))), "{said:?}");
}

#[tokio::test]
async fn a_client_that_never_asks_is_told_so() {
    let idle = Bounds { idle: Duration::from_millis(50), ..Bounds::default() };
    let peer = connected(serving(never_asked, idle).await).await;
    assert_eq!(refusal(peer).await, "the input is refused: the other side did nothing for 50ms");
}

/// Even while the agent has nothing to say.
#[tokio::test]
async fn pings_of_the_client_are_answered_in_its_run() {
    let mut peer = connected(serving(hangs_after(Vec::new()), Bounds::default()).await).await;
    peer.send(Message::text(serde_json::to_string(&input()).unwrap())).await.unwrap();
    peer.send(Message::Ping(Bytes::from_static(b"there?"))).await.unwrap();
    let answer = in_time(peer.next()).await.unwrap().unwrap();
    assert_eq!(answer, Message::Pong(Bytes::from_static(b"there?")));
}

/// Whether it says so or not, and whether the agent has something to say or not.
#[tokio::test]
async fn the_run_of_a_client_that_is_gone_is_dropped() {
    for (closes, talks) in [(true, true), (true, false), (false, true), (false, false)] {
        let (gone, mut is_gone) = tokio::sync::mpsc::channel::<()>(1);
        let address = if talks {
            serving(endless(gone), Bounds::default()).await
        } else {
            let hangs = hangs_after(short()[..1].to_vec());
            let gone = Arc::new(Mutex::new(Some(gone)));
            let agent = move |input| {
                let alive = gone.lock().unwrap().take();
                hangs(input).inspect(move |_| assert!(alive.is_some()))
            };
            serving(agent, Bounds::default()).await
        };
        let mut peer = connected(address).await;
        peer.send(Message::text(serde_json::to_string(&input()).unwrap())).await.unwrap();
        assert!(in_time(peer.next()).await.unwrap().unwrap().is_binary());
        assert!(is_gone.try_recv().is_err());
        if closes {
            peer.close(None).await.unwrap();
        }
        drop(peer);
        assert_eq!(in_time(is_gone.recv()).await, None, "closes {closes}, talks {talks}");
    }
}

#[tokio::test]
async fn the_run_of_a_client_that_does_not_read_is_dropped() {
    let (gone, mut is_gone) = tokio::sync::mpsc::channel::<()>(1);
    let idle = Bounds { idle: Duration::from_millis(200), ..Bounds::default() };
    let mut peer = connected(serving(endless(gone), idle).await).await;
    peer.send(Message::text(serde_json::to_string(&input()).unwrap())).await.unwrap();
    assert_eq!(in_time(is_gone.recv()).await, None);
    drop(peer);
}

#[tokio::test]
async fn a_server_that_speaks_no_websocket_is_an_error_and_no_run() {
    let (listener, address) = listening().await;
    let peer = async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        socket.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n").await.unwrap();
        let _ = socket.read_to_end(&mut Vec::new()).await;
    };
    let (url, input) = (format!("ws://{address}/"), input());
    let (error, ()) = tokio::join!(in_time(call(&url, &input, Bounds::default(), |_| ())), peer);
    let error = error.unwrap_err();
    assert!(matches!(error.downcast_ref(), Some(Error::Http(_))), "{error}");
    assert_eq!(error.to_string(), "HTTP error: 404 Not Found");
}
