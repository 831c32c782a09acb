//! Runs over NATS.
//!
//! What asks a server is told to be ignored, since it needs `nats-server`: `.ci/run transports` runs
//! it, with a server of its own for each test.

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use ag_ui_proto::Event;
use ag_ui_proto::codec::Limits;
use ag_ui_proto::model::{Body, RunAgentInput, TextMessageContent};
use async_nats::{Client, ConnectOptions, HeaderMap, Message, StatusCode};
use bytes::Bytes;
use futures_util::{StreamExt, stream};

use self::example::common::{Agent, Bounds, End, Fault, Stop};
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

/// A server on a free port, which ends with its test.
struct Server {
    child: Child,
    port: u16,
}

impl Server {
    fn start() -> Self {
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let child = Command::new("nats-server")
            .args(["--addr", "127.0.0.1", "--port", &port.to_string()])
            .stderr(Stdio::null())
            .spawn()
            .expect("nats-server is to be installed");
        Self { child, port }
    }

    async fn client_with(&self, options: ConnectOptions) -> Client {
        // The server may not listen yet.
        let options = options.retry_on_initial_connect();
        let client = options.connect(("127.0.0.1", self.port)).await.unwrap();
        in_time(client.flush()).await.unwrap();
        client
    }

    async fn client(&self) -> Client {
        self.client_with(ConnectOptions::new()).await
    }

    async fn serving(&self, agent: impl Agent, bounds: Bounds) {
        let client = self.client().await;
        let requests = listen(&client, SUBJECT).await.unwrap();
        tokio::spawn(serve(client, requests, agent, bounds));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
