//! Runs over NATS.
//!
//! What asks a server is told to be ignored, since it needs `nats-server`: `.ci/run transports` runs
//! it, with a server of its own for each test.

use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ag_ui_proto::Event;
use ag_ui_proto::codec::Limits;
use ag_ui_proto::model::{Body, RunAgentInput, TextMessageContent};
use async_nats::{Client, ConnectOptions, HeaderMap, Message, StatusCode};
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use tokio::time::sleep;

use self::example::common::{Agent, Bounds, End, Stop};
use self::example::{Lost, Misplaced, SEQUENCE, call, listen, payload, serve};
use crate::sample::{
    check_seen, fails_after, gives, hangs_after, in_time, input, long_input, never_asked,
    says_too_much, session, short,
};

#[allow(dead_code, reason = "the program around what is tested")]
#[path = "../../examples/nats.rs"]
mod example;

const SUBJECT: &str = "agents.test";

fn message(number: Option<&str>, status: Option<StatusCode>) -> Message {
    let headers = number.map(|number| {
        let mut headers = HeaderMap::new();
        headers.insert(SEQUENCE, number);
        headers
    });
    Message {
        subject: "inbox".into(),
        reply: None,
        payload: Bytes::from_static(b"payload"),
        headers,
        status,
        description: None,
        length: 0,
    }
}

/// What stops a run whose messages have these numbers; nothing if they are as they should be.
fn stop_of(numbers: &[Option<&str>]) -> Option<Stop> {
    let mut last = 0;
    numbers.iter().find_map(|number| payload(message(*number, None), &mut last).err())
}

#[track_caller]
fn check_cut(stop: Option<Stop>, lost: &Lost) {
    let Some(Stop::Cut(fault)) = stop else { panic!("{stop:?}") };
    assert_eq!(fault.downcast_ref::<Lost>(), Some(lost));
}

#[track_caller]
fn check_bad(stop: Option<Stop>, misplaced: &Misplaced) {
    let Some(Stop::Bad(fault)) = stop else { panic!("{stop:?}") };
    assert_eq!(fault.downcast_ref::<Misplaced>(), Some(misplaced));
}

#[test]
fn messages_are_taken_in_the_order_of_their_numbers() {
    assert!(stop_of(&[Some("1"), Some("2"), Some("3")]).is_none());
    for (numbers, number, due) in [
        (&[Some("2")][..], 2, 1),
        (&[Some("1"), Some("3"), Some("2")], 3, 2),
        (&[Some("1"), Some("18446744073709551615")], u64::MAX, 2),
    ] {
        check_cut(stop_of(numbers), &Lost::Gap { number, due });
    }
    for (numbers, number, due) in
        [(&[Some("1"), Some("1")][..], 1, 2), (&[Some("1"), Some("2"), Some("1")], 1, 3)]
    {
        check_bad(stop_of(numbers), &Misplaced::Repeated { number, due });
    }
    for number in [None, Some(""), Some("one"), Some("-1"), Some("1.0")] {
        check_bad(stop_of(&[number]), &Misplaced::Unnumbered);
    }
}

#[test]
fn a_subject_without_an_agent_is_told_by_its_status() {
    let none = payload(message(None, Some(StatusCode::NO_RESPONDERS)), &mut 0);
    check_cut(none.err(), &Lost::NoAgent);
}

/// A server on a port of its own, which ends with its test.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    async fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let child = Command::new("nats-server")
            .args(["--addr", "127.0.0.1", "--port", "-1", "--ports_file_dir"])
            .arg(directory.path())
            .stderr(Stdio::null())
            .spawn()
            .expect("nats-server is to be installed");
        let ports = directory.path().join(format!("nats-server_{}.ports", child.id()));
        let mut server = Self { child, url: String::new() };
        let url = async {
            loop {
                let text = std::fs::read(&ports).unwrap_or_default();
                if let Ok(ports) = serde_json::from_slice::<serde_json::Value>(&text) {
                    return ports["nats"][0].as_str().unwrap().to_owned();
                }
                sleep(Duration::from_millis(10)).await;
            }
        };
        server.url = in_time(url).await;
        server
    }

    async fn client_with(&self, options: ConnectOptions) -> Client {
        in_time(options.connect(self.url.as_str())).await.unwrap()
    }

    async fn client(&self) -> Client {
        self.client_with(ConnectOptions::new()).await
    }

    async fn serving(&self, agent: impl Agent, bounds: Bounds) {
        let client = self.client().await;
        let requests = in_time(listen(&client, SUBJECT)).await.unwrap();
        tokio::spawn(serve(client, requests, agent, bounds));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a client sees, and what becomes of the run.
async fn ask_for(client: &Client, input: RunAgentInput, bounds: Bounds) -> (Vec<Event>, End) {
    let mut seen = Vec::new();
    let call = call(client, SUBJECT, &input, bounds, |event| seen.push(event.clone()));
    let end = in_time(call).await.unwrap();
    (seen, end)
}

/// What becomes of a run of an agent that puts up with `bounds`.
async fn ask(agent: impl Agent, bounds: Bounds) -> (Vec<Event>, End) {
    let server = Server::start().await;
    server.serving(agent, bounds).await;
    ask_for(&server.client().await, input(), Bounds::default()).await
}

fn narrow() -> Bounds {
    Bounds { limits: Limits::new().with_max_frame_len(1024), ..Bounds::default() }
}

fn impatient() -> Bounds {
    Bounds { idle: Duration::from_millis(200), ..Bounds::default() }
}

#[tokio::test]
#[ignore = "needs nats-server: .ci/run transports"]
async fn a_session_arrives_whole_and_in_order() {
    let (seen, end) = ask(gives(session()), Bounds::default()).await;
    check_seen(&seen, &session(), "the session");
    assert_eq!(end.to_string(), "finished");
}

#[tokio::test]
#[ignore = "needs nats-server: .ci/run transports"]
async fn an_agent_gets_the_input_as_it_was_sent() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let agent = {
        let asked = Arc::clone(&asked);
        move |input| {
            asked.lock().unwrap().push(input);
            stream::iter(short().into_iter().map(Ok))
        }
    };
    let server = Server::start().await;
    server.serving(agent, Bounds::default()).await;
    let client = server.client().await;
    let (_, end) = ask_for(&client, long_input(100_000), Bounds::default()).await;
    assert_eq!(end.to_string(), "finished");
    assert_eq!(*asked.lock().unwrap(), [long_input(100_000)]);
}

#[tokio::test]
#[ignore = "needs nats-server: .ci/run transports"]
async fn agents_on_one_subject_share_the_runs_and_none_mixes() {
    let server = Server::start().await;
    for _ in 0..2 {
        server.serving(gives(session()), Bounds::default()).await;
    }
    let client = server.client().await;
    let runs = (0..8).map(|_| ask_for(&client, input(), Bounds::default()));
    for (seen, end) in futures_util::future::join_all(runs).await {
        check_seen(&seen, &session(), "one of them");
        assert_eq!(end.to_string(), "finished");
    }
}

#[tokio::test]
#[ignore = "needs nats-server: .ci/run transports"]
async fn a_subject_that_nobody_listens_on_is_told_at_once() {
    let server = Server::start().await;
    let client = server.client().await;
    let (seen, end) = ask_for(&client, input(), Bounds::default()).await;
    assert_eq!(seen, []);
    assert_eq!(end.to_string(), format!("truncated: {}", Lost::NoAgent));
}

/// A reader that is slow has no room for what comes meanwhile. What comes later shows it.
#[tokio::test]
#[ignore = "needs nats-server: .ci/run transports"]
async fn messages_that_were_dropped_truncate_the_run() {
    let agent = |_| {
        let (first, rest) = (session()[..100].to_vec(), session()[100..].to_vec());
        let rest = stream::once(sleep(Duration::from_millis(300)))
            .flat_map(move |()| stream::iter(rest.clone()));
        stream::iter(first).chain(rest).map(Ok)
    };
    let server = Server::start().await;
    server.serving(agent, Bounds::default()).await;
    let client = server.client_with(ConnectOptions::new().subscription_capacity(8)).await;
    let (input, mut seen) = (input(), Vec::new());
    let call = call(&client, SUBJECT, &input, Bounds::default(), |event| {
        if seen.is_empty() {
            std::thread::sleep(Duration::from_millis(100));
        }
        seen.push(event.clone());
    });
    let end = in_time(call).await.unwrap();
    assert!(seen.len() < 100, "nothing was dropped");
    check_seen(&seen, &session()[..seen.len()], "before the gap");
    let End::Truncated(fault) = end else { panic!("{end}") };
    let lost = fault.downcast_ref();
    let due = seen.len() as u64 + 1;
    assert!(
        matches!(lost, Some(Lost::Gap { due: at, number }) if *at == due && *number > due),
        "{fault}"
    );
}

/// Then nothing comes later.
#[tokio::test]
#[ignore = "needs nats-server: .ci/run transports"]
async fn an_end_that_was_dropped_truncates_the_run() {
    let server = Server::start().await;
    server.serving(gives(session()), Bounds::default()).await;
    let client = server.client_with(ConnectOptions::new().subscription_capacity(8)).await;
    let (input, mut seen) = (input(), 0);
    let call = call(&client, SUBJECT, &input, impatient(), |_| {
        if seen == 0 {
            std::thread::sleep(Duration::from_millis(100));
        }
        seen += 1;
    });
    let end = in_time(call).await.unwrap();
    assert!(seen < 164, "nothing was dropped");
    assert!(matches!(end, End::Truncated(_)), "{end}");
}

#[tokio::test]
#[ignore = "needs nats-server: .ci/run transports"]
async fn an_agent_that_is_gone_truncates_its_run() {
    let server = Server::start().await;
    server.serving(hangs_after(session()[..7].to_vec()), Bounds::default()).await;
    let (seen, end) = ask_for(&server.client().await, input(), impatient()).await;
    check_seen(&seen, &session()[..7], "before the pause");
    assert_eq!(end.to_string(), "truncated: the other side did nothing for 200ms");
}

#[tokio::test]
#[ignore = "needs nats-server: .ci/run transports"]
async fn an_agent_that_just_ends_is_not_made_to_look_finished() {
    let server = Server::start().await;
    server.serving(gives(session()[..163].to_vec()), Bounds::default()).await;
    let (seen, end) = ask_for(&server.client().await, input(), impatient()).await;
    check_seen(&seen, &session()[..163], "before the end");
    assert_eq!(end.to_string(), "truncated: the other side did nothing for 200ms");
}

#[tokio::test]
#[ignore = "needs nats-server: .ci/run transports"]
async fn a_server_that_is_gone_truncates_the_run() {
    let mut server = Server::start().await;
    server.serving(hangs_after(session()[..7].to_vec()), Bounds::default()).await;
    let client = server.client().await;
    let (input, mut seen) = (input(), 0);
    let call = call(&client, SUBJECT, &input, impatient(), |_| {
        seen += 1;
        if seen == 7 {
            server.child.kill().unwrap();
        }
    });
    let end = in_time(call).await.unwrap();
    assert_eq!(seen, 7);
    assert!(matches!(end, End::Truncated(_)), "{end}");
}

#[tokio::test]
#[ignore = "needs nats-server: .ci/run transports"]
async fn an_agent_that_fails_says_so_in_its_last_event() {
    let (seen, end) = ask(fails_after(session()[..5].to_vec()), Bounds::default()).await;
    check_seen(&seen[..5], &session()[..5], "before the failure");
    assert_eq!(end.to_string(), "failed: the model is gone (MODEL)");
}

#[tokio::test]
#[ignore = "needs nats-server: .ci/run transports"]
async fn an_event_over_the_limit_of_the_agent_or_the_server_ends_the_run_with_the_reason() {
    let (seen, end) = ask(says_too_much(), narrow()).await;
    assert_eq!(seen.len(), 3);
    assert_eq!(
        end.to_string(),
        "failed: TEXT_MESSAGE_CONTENT: a frame of 2065 bytes is over the limit of 1024 (BAD_EVENT)"
    );
    // A server takes 1 MiB, of which 128 bytes are left to the headers; a frame has 4 bytes more.
    for (len, is_sent) in [(1_048_576 - 128 - 15, true), (1_048_576, false)] {
        let mut events = short();
        events[2] = TextMessageContent::new("m", "x".repeat(len)).into();
        let (seen, end) = ask(gives(events), Bounds::default()).await;
        let end = end.to_string();
        if is_sent {
            assert_eq!((seen.len(), end.as_str()), (5, "finished"));
        } else {
            assert_eq!(seen.len(), 3);
            assert!(end.ends_with("is over the limit of 1048452 (BAD_EVENT)"), "{end}");
        }
    }
}

#[tokio::test]
#[ignore = "needs nats-server: .ci/run transports"]
async fn an_event_over_the_limit_of_the_client_is_rejected() {
    let server = Server::start().await;
    server.serving(says_too_much(), Bounds::default()).await;
    let (seen, end) = ask_for(&server.client().await, input(), narrow()).await;
    assert_eq!(seen.len(), 2);
    let told = "rejected: event 2: a frame of 2065 bytes is over the limit of 1024";
    assert_eq!(end.to_string(), told);
}

#[tokio::test]
#[ignore = "needs nats-server: .ci/run transports"]
async fn an_input_that_is_none_is_refused_with_the_reason() {
    let server = Server::start().await;
    server.serving(never_asked, narrow()).await;
    let client = server.client().await;
    let long = serde_json::to_vec(&long_input(2_000)).unwrap();
    let over = format!("a frame of {} bytes is over the limit of 1024", long.len() + 4);
    for (json, reason) in [
        (&b"{\"threadId\":\"t\"}"[..], "runId: missing"),
        (b"", "EOF while parsing a value at line 1 column 0"),
        (&long, &over),
    ] {
        let inbox = client.new_inbox();
        let mut answers = client.subscribe(inbox.clone()).await.unwrap();
        let json = Bytes::copy_from_slice(json);
        client.publish_with_reply(SUBJECT, inbox, json).await.unwrap();
        let answer = in_time(answers.next()).await.unwrap();
        assert_eq!(answer.headers.unwrap().get(SEQUENCE).unwrap().as_str(), "1");
        let event = Event::decode(&answer.payload).unwrap().event.unwrap();
        let Body::RunError(error) = event.body else { panic!("{event:?}") };
        assert_eq!(error.message, format!("the input is refused: {reason}"));
        assert_eq!(error.code.as_deref(), Some("BAD_INPUT"));
    }
}

#[tokio::test]
#[ignore = "needs nats-server: .ci/run transports"]
async fn an_input_over_the_limit_of_the_server_is_not_sent() {
    let server = Server::start().await;
    server.serving(never_asked, Bounds::default()).await;
    let client = server.client().await;
    let long = long_input(2_000_000);
    let error = call(&client, SUBJECT, &long, Bounds::default(), |_| ()).await.unwrap_err();
    assert!(error.to_string().contains("size limit of 1048576 exceeded"), "{error}");
}

/// Whoever else publishes to the inbox.
#[tokio::test]
#[ignore = "needs nats-server: .ci/run transports"]
async fn a_message_without_a_number_is_rejected() {
    let server = Server::start().await;
    let (client, peer) = (server.client().await, server.client().await);
    let mut requests = listen(&peer, SUBJECT).await.unwrap();
    let answered = async {
        let inbox = requests.next().await.unwrap().reply.unwrap();
        peer.publish(inbox, session()[0].to_payload().unwrap()).await.unwrap();
        peer.flush().await.unwrap();
    };
    let asked = ask_for(&client, input(), Bounds::default());
    let ((seen, end), ()) = in_time(Box::pin(async { tokio::join!(asked, answered) })).await;
    assert_eq!(seen, []);
    assert_eq!(end.to_string(), format!("rejected: event 0: {}", Misplaced::Unnumbered));
}
