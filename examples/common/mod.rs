//! What an agent and its client do, whatever carries their payloads.
//!
//! ```text
//!            input ----------->  read_input --> Agent
//!  client                                         |         agent
//!            End <-- follow  <-- payloads <---- answer
//! ```
//!
//! A transport of one's own brings a way to send the input, as JSON, and payloads back, one event
//! each. What the protocol asks of it is kept here, but for the order, which the transport keeps:
//!
//! | promise | kept by |
//! |---|---|
//! | the input comes before events | [`answer`]: there is no agent's stream without an input |
//! | an end is told from a cut | [`follow`]: a run ends with `RUN_FINISHED` or `RUN_ERROR`, and with nothing else |
//! | a refused input, a failing agent reach the client | [`answer`]: a `RUN_ERROR`, which is then the last event |
//! | what is no event ends the run | [`follow`]: [`End::Rejected`], with the place and the reason |
//!
//! Rule: specification 1.1, basic/transports.

use std::error::Error;
use std::fmt::{self, Display};
use std::future::ready;
use std::pin::pin;
use std::time::Duration;

use ag_ui_proto::Event;
use ag_ui_proto::codec::{Decoded, FrameError, HEADER_LEN, Limits, Options};
use ag_ui_proto::conversation::{
    Consumer, Conversation, Delivered, Rejection, RunOutcome, RunResult,
};
use ag_ui_proto::model::{Body, RunAgentInput, RunError, UnknownNames};
use bytes::{Bytes, BytesMut};
use futures_util::future::{Either, select};
use futures_util::{Stream, StreamExt, stream};
use tokio::time::timeout;

pub(crate) mod demo;

/// Any error.
pub(crate) type Fault = Box<dyn Error + Send + Sync>;

/// What either side puts up with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Of the input and of each event.
    pub(crate) limits: Limits,
    /// How long to wait for the other side to say something, or to take what it is sent; longer than the
    /// longest pause of a run.
    pub(crate) idle: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { limits: Limits::default(), idle: Duration::from_secs(60) }
    }
}

/// Whatever turns an input into the events of a run, or says why the run fails.
pub(crate) trait Agent: Clone + Send + 'static {
    /// Starts a run.
    fn run(
        self,
        input: RunAgentInput,
    ) -> impl Stream<Item = Result<Event, RunError>> + Send + 'static;
}

impl<F, S> Agent for F
where
    F: Fn(RunAgentInput) -> S + Clone + Send + 'static,
    S: Stream<Item = Result<Event, RunError>> + Send + 'static,
{
    fn run(
        self,
        input: RunAgentInput,
    ) -> impl Stream<Item = Result<Event, RunError>> + Send + 'static {
        self(input)
    }
}

/// The input that a client sent, within the limit on frames.
///
/// # Errors
///
/// The event that tells the client why it is refused, with the place.
pub(crate) fn read_input(json: &[u8], limits: Limits) -> Result<RunAgentInput, RunError> {
    check_len(json, limits).map_err(refusal)?;
    let mut input: RunAgentInput = serde_json::from_slice(json).map_err(refusal)?;
    for notice in input.enforce(UnknownNames::default()).map_err(refusal)? {
        eprintln!("warning: input: {notice}");
    }
    Ok(input)
}

/// Holds what came without a header to the limit on frames.
fn check_len(payload: &[u8], limits: Limits) -> Result<(), FrameError> {
    let (len, max) = (payload.len().saturating_add(HEADER_LEN), limits.max_frame_len());
    if len > max {
        return Err(FrameError::TooLarge { len: len as u64, max: max as u64 });
    }
    Ok(())
}

/// The event that tells the client why there is no run.
pub(crate) fn refusal(reason: impl Display) -> RunError {
    RunError::new(format!("the input is refused: {reason}")).with_code("BAD_INPUT")
}

/// The payloads that answer an input: those of the agent's events, as it gives them.
///
/// A `RUN_ERROR` comes last if the agent fails or gives an event that cannot be sent; it comes
/// alone if the input is refused. An agent whose stream just ends is not made to look finished.
pub(crate) fn answer(
    input: Result<RunAgentInput, RunError>,
    agent: impl Agent,
    limits: Limits,
) -> impl Stream<Item = Bytes> + Send + 'static {
    let events = match input {
        Ok(input) => agent.run(input).left_stream(),
        Err(refusal) => stream::iter([Err(refusal)]).right_stream(),
    };
    events.scan(false, move |failed, event| {
        let error = match event.map(|event| payload(&event, limits)) {
            _ if *failed => return ready(None),
            Ok(Ok(payload)) => return ready(Some(payload)),
            Ok(Err(error)) => RunError::new(error.to_string()).with_code("BAD_EVENT"),
            Err(error) => error,
        };
        *failed = true;
        ready(payload(&error.into(), limits).ok())
    })
}

fn payload(event: &Event, limits: Limits) -> Result<Bytes, Fault> {
    let mut payload = BytesMut::new();
    for notice in Options::from(limits).encode(event, &mut payload)? {
        eprintln!("warning: {}: {notice}", event.event_type());
    }
    Ok(payload.freeze())
}

/// Why no payload follows, when that is not for the run to say.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The transport broke off.
    Cut(Fault),
    /// What came is no payload.
    Bad(Fault),
}

/// What became of a run.
#[derive(Debug)]
pub(crate) enum End {
    /// The agent ended it: it is done, waits, or was cancelled.
    Finished(RunOutcome),
    /// The agent says that it failed, or that it did not start.
    Failed(RunError),
    /// What came is no stream of events.
    Rejected(Rejection),
    /// It broke off. What came before was seen, and is no success.
    Truncated(Fault),
}

impl Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Finished(RunOutcome::Interrupted { interrupts, .. }) => {
                write!(f, "finished, and waits for {} answers", interrupts.len())
            }
            Self::Finished(RunOutcome::Cancelled) => f.write_str("finished: cancelled"),
            Self::Finished(_) => f.write_str("finished"),
            Self::Failed(error) => match &error.code {
                Some(code) => write!(f, "failed: {} ({code})", error.message),
                None => write!(f, "failed: {}", error.message),
            },
            Self::Rejected(rejection) => write!(f, "rejected: {rejection}"),
            Self::Truncated(fault) => write!(f, "truncated: {fault}"),
        }
    }
}

/// The other side said nothing, or took nothing, for too long.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the other side did nothing for {after:?}")]
pub(crate) struct Idle {
    pub(crate) after: Duration,
}

/// Shows the events of a run to `seen` as they come. What follows its end is not waited for.
pub(crate) async fn follow(
    payloads: impl Stream<Item = Result<Bytes, Stop>>,
    bounds: Bounds,
    mut seen: impl FnMut(&Event),
) -> End {
    let mut payloads = pin!(payloads);
    let mut consumer = Consumer::new(Conversation::new());
    let cut = loop {
        let payload = match timeout(bounds.idle, payloads.next()).await {
            Ok(Some(Ok(payload))) => payload,
            Ok(Some(Err(Stop::Cut(fault)))) => break fault,
            Ok(Some(Err(Stop::Bad(fault)))) => {
                consumer.reject(fault);
                break "unreadable".into();
            }
            Ok(None) => break "the stream ended before the run did".into(),
            Err(_) => break Idle { after: bounds.idle }.into(),
        };
        if take(&payload, bounds.limits, &mut consumer, &mut seen) {
            break "over".into();
        }
    };
    match consumer.finish().result {
        RunResult::Finished(outcome) => End::Finished(outcome),
        RunResult::Failed(error) => End::Failed(error),
        RunResult::Rejected(rejection) => End::Rejected(rejection),
        RunResult::Truncated => End::Truncated(cut),
    }
}

/// Takes one payload; says whether it was the last one.
fn take(
    payload: &[u8],
    limits: Limits,
    consumer: &mut Consumer,
    seen: &mut impl FnMut(&Event),
) -> bool {
    let decoded = match decode(payload, limits) {
        Ok(decoded) => decoded,
        Err(fault) => {
            consumer.reject(fault);
            return true;
        }
    };
    for notice in decoded.notices {
        eprintln!("warning: {notice}");
    }
    let Some(event) = decoded.event else {
        consumer.skip();
        return false;
    };
    let is_last = matches!(event.body, Body::RunFinished(_) | Body::RunError(_));
    let mut delivered = Delivered::default();
    let is_rejected = consumer.push(event, &mut delivered).is_err();
    delivered.events.iter().for_each(seen);
    for warning in delivered.warnings {
        eprintln!("warning: {warning}");
    }
    is_last || is_rejected
}

fn decode(payload: &[u8], limits: Limits) -> Result<Decoded, Fault> {
    check_len(payload, limits)?;
    Ok(Options::from(limits).decode(payload)?)
}

/// A run broke off, and its input was not sent to its end.
#[derive(Debug, thiserror::Error)]
#[error("{cut}; the input was not sent to its end: {error}")]
pub(crate) struct Unsent {
    pub(crate) cut: Fault,
    pub(crate) error: Fault,
}

/// Sends the input while the answer is followed: an agent that refuses a long input may not read it
/// to its end, and then the answer says why.
pub(crate) async fn ask<E: Into<Fault>>(
    asked: impl Future<Output = Result<(), E>>,
    followed: impl Future<Output = End>,
) -> End {
    match select(pin!(asked), pin!(followed)).await {
        Either::Left((Ok(()), followed)) => followed.await,
        Either::Left((Err(error), followed)) => match followed.await {
            End::Truncated(cut) => End::Truncated(Unsent { cut, error: error.into() }.into()),
            end => end,
        },
        Either::Right((end, _)) => end,
    }
}
