//! An agent and its client over a WebSocket: the text is printed as it arrives.
//!
//! `cargo run --features conversation --example websocket`, or in two terminals with
//! `-- agent 127.0.0.1:7001` and `-- client ws://127.0.0.1:7001/`.
//!
//! ```text
//! client --> agent    text message: JSON of the input
//! agent --> client    binary message: payload of an event, without a length in front; ...
//! ```
//!
//! | promise | how it is kept |
//! |---|---|
//! | order | the connection's, which carries one run; pings and pongs may come between |
//! | the input comes before events | it is the first message; the agent sends nothing before |
//! | an end is told from a cut | a `RUN_FINISHED` or `RUN_ERROR` ends the run; a close frame before, whatever its code, a connection that breaks, or one that is silent for too long, truncates it |
//! | errors | a refused input is answered with a `RUN_ERROR` alone, a failing agent ends with one; a text message, a message over the limit or one that is no event end the run as rejected |
//!
//! The limit on messages is that on frames of the other transports, without their header. An agent
//! whose client closes or breaks the connection drops the run at once.

use std::convert::Infallible;
use std::future::ready;
use std::pin::pin;
use std::time::Duration;

use ag_ui_proto::Event;
use ag_ui_proto::codec::HEADER_LEN;
use ag_ui_proto::model::{RunAgentInput, RunError};
use bytes::Bytes;
use futures_util::future::{Either, select};
use futures_util::stream::SplitStream;
use futures_util::{SinkExt, StreamExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::error::ProtocolError;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, accept_async_with_config, connect_async_with_config};

#[path = "common/accept.rs"]
mod accept;
pub(crate) mod common;
#[path = "common/linger.rs"]
mod linger;
#[path = "common/role.rs"]
mod role;

use accept::pause;
use common::{
    Agent, Bounds, End, Fault, Idle, Stop, answer, ask, demo, follow, read_input, refusal,
};
use linger::linger;
use role::Role;

/// How long the agent may take to take leave.
const LEAVE: Duration = Duration::from_secs(2);

/// Serves each client that comes, a run each.
pub(crate) async fn serve(listener: TcpListener, agent: impl Agent, bounds: Bounds) -> Infallible {
    loop {
        let (socket, peer) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                pause(&error).await;
                continue;
            }
        };
        let agent = agent.clone();
        tokio::spawn(async move {
            if let Err(error) = serve_one(socket, agent, bounds).await {
                eprintln!("{peer}: {error}");
            }
        });
    }
}

async fn serve_one(socket: TcpStream, agent: impl Agent, bounds: Bounds) -> Result<(), Fault> {
    // Small events must not wait for one another.
    socket.set_nodelay(true)?;
    let idle = Idle { after: bounds.idle };
    let accepted = timeout(bounds.idle, accept_async_with_config(socket, Some(config(bounds))));
    let (mut out, mut messages) = accepted.await.map_err(|_| idle)??.split();
    let input = match timeout(bounds.idle, first(&mut messages, bounds)).await {
        Ok(Some(input)) => input,
        Ok(None) => return Ok(out.close().await?),
        Err(_) => Err(refusal(idle)),
    };
    let is_refused = input.is_err();
    let answered = async {
        let mut payloads = pin!(answer(input, agent, bounds.limits));
        while let Some(payload) = payloads.next().await {
            let sent = timeout(bounds.idle, out.send(Message::Binary(payload))).await;
            sent.map_err(|_| idle)??;
        }
        Ok::<_, Fault>(out.close().await?)
    };
    if is_refused {
        // What is left of a message that was refused is no message.
        answered.await?;
    } else {
        let gone = gone(&mut messages);
        if let Either::Left((answered, _)) = select(pin!(answered), pin!(gone)).await {
            answered?;
        } else {
            return Ok(out.close().await?);
        }
    }
    linger(out.reunite(messages)?.into_inner()).await;
    Ok(())
}

type Messages = SplitStream<WebSocketStream<TcpStream>>;

/// The input; nothing if the client went away before it came.
async fn first(messages: &mut Messages, bounds: Bounds) -> Option<Result<RunAgentInput, RunError>> {
    loop {
        return match messages.next().await? {
            Ok(Message::Text(json)) => Some(read_input(json.as_bytes(), bounds.limits)),
            Ok(Message::Binary(_)) => Some(Err(refusal("expected a text message of JSON"))),
            Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_)) => continue,
            Err(error) if !is_cut(&error) => Some(Err(refusal(error))),
            Ok(Message::Close(_)) | Err(_) => None,
        };
    }
}

/// Waits until the client is gone. Pings are answered meanwhile.
async fn gone(messages: &mut Messages) {
    while let Some(Ok(message)) = messages.next().await {
        if message.is_close() {
            return;
        }
    }
}

/// Asks the agent at `url`.
pub(crate) async fn call(
    url: &str,
    input: &RunAgentInput,
    bounds: Bounds,
    seen: impl FnMut(&Event),
) -> Result<End, Fault> {
    let json = serde_json::to_string(input)?;
    if json.len() > max_len(bounds) {
        let max = max_len(bounds);
        return Err(format!("an input of {} bytes is over the limit of {max}", json.len()).into());
    }
    let idle = Idle { after: bounds.idle };
    let connected =
        timeout(bounds.idle, connect_async_with_config(url, Some(config(bounds)), true));
    let (socket, _) = connected.await.map_err(|_| idle)??;
    let (mut out, messages) = socket.split();
    let payloads = messages.filter_map(|message| ready(payload(message)));
    let asked = out.send(Message::text(json));
    let end = ask(asked, follow(payloads, bounds, seen)).await;
    // The run is over, whether the agent takes leave or not.
    let _ = timeout(LEAVE, out.close()).await;
    Ok(end)
}

/// What a message of the agent brings, if it brings anything.
fn payload(message: Result<Message, Error>) -> Option<Result<Bytes, Stop>> {
    match message {
        Ok(Message::Binary(payload)) => Some(Ok(payload)),
        Ok(Message::Text(_)) => Some(Err(Stop::Bad(Text.into()))),
        Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_)) => None,
        Ok(Message::Close(frame)) => Some(Err(Stop::Cut(Closed(frame).into()))),
        Err(error) if is_cut(&error) => Some(Err(Stop::Cut(error.into()))),
        Err(error) => Some(Err(Stop::Bad(error.into()))),
    }
}

/// Whether the connection ended; else what came over it is wrong.
fn is_cut(error: &Error) -> bool {
    matches!(
        error,
        Error::Io(_)
            | Error::ConnectionClosed
            | Error::AlreadyClosed
            | Error::Protocol(ProtocolError::ResetWithoutClosingHandshake)
    )
}

fn config(bounds: Bounds) -> WebSocketConfig {
    let max = Some(max_len(bounds));
    WebSocketConfig::default().max_message_size(max).max_frame_size(max)
}

fn max_len(bounds: Bounds) -> usize {
    bounds.limits.max_frame_len() - HEADER_LEN
}

/// The agent sent a text message.
#[derive(Debug, thiserror::Error)]
#[error("a text message, where every event is a binary one")]
pub(crate) struct Text;

/// The agent closed the connection in the middle of its run.
#[derive(Debug, thiserror::Error)]
#[error("the agent closed the connection before its run ended{}", told(.0.as_ref()))]
pub(crate) struct Closed(pub(crate) Option<CloseFrame>);

fn told(frame: Option<&CloseFrame>) -> String {
    match frame {
        Some(frame) if frame.reason.is_empty() => format!(": {}", u16::from(frame.code)),
        Some(frame) => format!(": {} {:?}", u16::from(frame.code), frame.reason.as_str()),
        None => String::new(),
    }
}

async fn run() -> Result<Option<End>, Fault> {
    let bounds = Bounds::default();
    match Role::of_arguments()? {
        Role::Agent(address) => {
            match serve(TcpListener::bind(address).await?, demo::hello, bounds).await {}
        }
        Role::Client(url) => Ok(Some(call(&url, &demo::question(), bounds, demo::show).await?)),
        Role::Both => {
            let listener = TcpListener::bind("127.0.0.1:0").await?;
            let url = format!("ws://{}/", listener.local_addr()?);
            tokio::spawn(serve(listener, demo::hello, bounds));
            Ok(Some(call(&url, &demo::question(), bounds, demo::show).await?))
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::process::ExitCode {
    demo::exit(run().await)
}
