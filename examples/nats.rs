//! An agent and its client over NATS, a message broker: the text is printed as it arrives.
//!
//! `nats-server` first, then `cargo run --features conversation --example nats`; or in two terminals
//! with `-- agent nats://127.0.0.1:4222` and `-- client nats://127.0.0.1:4222`.
//!
//! ```text
//! client --> agent    to the agent's subject, reply subject: an inbox of this run alone
//!                     | JSON of the input |
//! agent --> client    to the inbox
//!                     AG-UI-Sequence: 1    | payload of an event, without a length in front |
//!                     AG-UI-Sequence: 2    | ...
//! ```
//!
//! | promise | how it is kept |
//! |---|---|
//! | order | NATS keeps that of one publisher on one subject, but drops what a slow reader cannot take, and what comes while a connection is down: messages are numbered from 1, and a gap truncates the run |
//! | the input comes before events | it is the request; there is no inbox to answer to without it |
//! | an end is told from a cut | a `RUN_FINISHED` or `RUN_ERROR` ends the run. Nobody says that an agent is gone: no message for too long truncates the run, and so does a subject that nobody listens on, at once |
//! | errors | a refused input is answered with a `RUN_ERROR` alone, a failing agent ends with one, and so does an event that is too long for the server; a message without a number, out of order, or that is no event ends the run as rejected |
//!
//! Agents on one subject share the requests. An agent does not learn that
//! its client is gone, and takes its run to the end.

use std::future::ready;
use std::pin::pin;

use ag_ui_proto::Event;
use ag_ui_proto::codec::HEADER_LEN;
use ag_ui_proto::model::RunAgentInput;
use async_nats::{Client, HeaderMap, Message, StatusCode, Subscriber};
use bytes::Bytes;
use futures_util::StreamExt;

#[allow(dead_code, reason = "an input is sent as one message: there is no waiting to send it")]
pub(crate) mod common;
#[path = "common/role.rs"]
mod role;

use common::{Agent, Bounds, End, Fault, Stop, answer, demo, follow, read_input};
use role::Role;

/// The header with a message's number in its run, from 1.
pub(crate) const SEQUENCE: &str = "AG-UI-Sequence";

/// Of what a server takes, what is left to the headers of a message.
const HEADERS_LEN: usize = 128;

/// The subject of the example's agent.
const SUBJECT: &str = "agents.hello";

/// Listens on `subject`; what is asked from now on comes there. Agents that listen on one subject share
/// the requests.
pub(crate) async fn listen(client: &Client, subject: &'static str) -> Result<Subscriber, Fault> {
    let requests = client.queue_subscribe(subject, subject.to_owned()).await?;
    // A flush says that the server was told, not that it listened. It takes things in order: once it
    // gives back what was sent behind the subscription, it has that, too.
    let inbox = client.new_inbox();
    let mut echo = client.subscribe(inbox.clone()).await?;
    client.publish(inbox, Bytes::new()).await?;
    echo.next().await.ok_or("the connection was closed")?;
    Ok(requests)
}

/// Serves requests, a run each, until the connection is closed for good.
pub(crate) async fn serve(
    client: Client,
    mut requests: Subscriber,
    agent: impl Agent,
    bounds: Bounds,
) {
    while let Some(request) = requests.next().await {
        let (client, agent) = (client.clone(), agent.clone());
        tokio::spawn(async move {
            if let Err(error) = serve_one(client, request, agent, bounds).await {
                eprintln!("a request: {error}");
            }
        });
    }
}

async fn serve_one(
    client: Client,
    request: Message,
    agent: impl Agent,
    bounds: Bounds,
) -> Result<(), Fault> {
    let inbox = request.reply.ok_or("it names no inbox to answer to")?;
    let input = read_input(&request.payload, bounds.limits);
    // An event that the server does not take is refused before.
    let fits = client.max_payload().saturating_sub(HEADERS_LEN).saturating_add(HEADER_LEN);
    let max = bounds.limits.max_frame_len().min(fits);
    let limits = bounds.limits.with_max_frame_len(max);
    let mut payloads = pin!(answer(input, agent, limits));
    let mut number = 0_u64;
    while let Some(payload) = payloads.next().await {
        number += 1;
        let mut headers = HeaderMap::new();
        headers.insert(SEQUENCE, number.to_string());
        client.publish_with_headers(inbox.clone(), headers, payload).await?;
    }
    client.flush().await?;
    Ok(())
}

/// Asks an agent that listens on `subject`.
pub(crate) async fn call(
    client: &Client,
    subject: &'static str,
    input: &RunAgentInput,
    bounds: Bounds,
    seen: impl FnMut(&Event),
) -> Result<End, Fault> {
    let inbox = client.new_inbox();
    let messages = client.subscribe(inbox.clone()).await?;
    client.publish_with_reply(subject, inbox, serde_json::to_vec(input)?.into()).await?;
    let payloads = messages.scan(0, |last, message| ready(Some(payload(message, last))));
    Ok(follow(payloads, bounds, seen).await)
}

/// The payload of a message, which has to be the next one after the `last`.
pub(crate) fn payload(message: Message, last: &mut u64) -> Result<Bytes, Stop> {
    if message.status == Some(StatusCode::NO_RESPONDERS) {
        return Err(Stop::Cut(Lost::NoAgent.into()));
    }
    let header = message.headers.as_ref().and_then(|headers| headers.get(SEQUENCE));
    let number = header.and_then(|number| number.as_str().parse().ok());
    let number = number.ok_or_else(|| Stop::Bad(Misplaced::Unnumbered.into()))?;
    let due = *last + 1;
    if number < due {
        return Err(Stop::Bad(Misplaced::Repeated { number, due }.into()));
    }
    if number > due {
        return Err(Stop::Cut(Lost::Gap { number, due }.into()));
    }
    *last = number;
    Ok(message.payload)
}

/// How a run broke off.
#[derive(Debug, PartialEq, thiserror::Error)]
pub(crate) enum Lost {
    /// Nobody listens on the subject.
    #[error("there is no agent: nobody listens on the subject")]
    NoAgent,
    /// Messages were dropped.
    #[error("messages were lost: number {due} was due, {number} came")]
    Gap { number: u64, due: u64 },
}

/// What came is not from one agent that numbers what it sends.
#[derive(Debug, PartialEq, thiserror::Error)]
pub(crate) enum Misplaced {
    /// The header is not there, or is no number.
    #[error("a message without a number in its header {SEQUENCE}")]
    Unnumbered,
    /// The number came before: two agents answer, for one.
    #[error("a message out of order: number {due} was due, {number} came")]
    Repeated { number: u64, due: u64 },
}

async fn run() -> Result<Option<End>, Fault> {
    const LOCAL: &str = "nats://127.0.0.1:4222";

    let bounds = Bounds::default();
    match Role::of_arguments()? {
        Role::Agent(address) => {
            let client = async_nats::connect(address).await?;
            let requests = listen(&client, SUBJECT).await?;
            serve(client, requests, demo::hello, bounds).await;
            Ok(None)
        }
        Role::Client(address) => {
            let client = async_nats::connect(address).await?;
            Ok(Some(call(&client, SUBJECT, &demo::question(), bounds, demo::show).await?))
        }
        Role::Both => {
            let agent = async_nats::connect(LOCAL).await?;
            let requests = listen(&agent, SUBJECT).await?;
            tokio::spawn(serve(agent, requests, demo::hello, bounds));
            let client = async_nats::connect(LOCAL).await?;
            let end = call(&client, SUBJECT, &demo::question(), bounds, demo::show).await;
            end.map(Some)
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::process::ExitCode {
    demo::exit(run().await)
}
