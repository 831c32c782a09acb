//! `serve`: a recorded session as an agent.

use std::sync::Arc;
use std::time::Duration;

use ag_ui_proto::Event;
use ag_ui_proto::codec::Options;
use ag_ui_proto::server::{Refusal, Responder, RunInput};
use axum::Router;
use axum::response::IntoResponse;
use axum::routing::post;
use futures_util::{Stream, stream};
use http::header::ACCEPT;
use http::{HeaderMap, StatusCode};
use tokio::time::{Instant, sleep_until};

use crate::args::{Pace, Serve};
use crate::failure::Failure;
use crate::recording;
use crate::report::{Report, count};

pub(crate) fn run(args: &Serve) -> Result<(), Failure> {
    let report = Report::quiet();
    let events = recording::read(&args.input, args.from, &args.limits, &report)?;
    let what = count(u64::try_from(events.len()).unwrap_or(u64::MAX), "event");
    let session = Arc::new(Session { delays: delays(&events, args.pace), events });
    let mut responder =
        Responder::new().with_options(Options::from(args.limits.limits())).compressing();
    if args.listen.merge {
        responder = responder.coalescing();
    }
    let sse_only = args.sse_only;
    let answer = async move |mut headers: HeaderMap, RunInput(_): RunInput| {
        if sse_only {
            headers.remove(ACCEPT);
        }
        responder.respond(&headers, replay(session)).into_response()
    };
    let answer = post(answer).fallback(async || {
        Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "expected a POST with the input of a run")
    });
    crate::listen::serve(&args.listen, Router::new().fallback(answer), &what)
}

struct Session {
    events: Vec<Event>,
    /// When each event is due, counted from the request; nothing if at once.
    delays: Option<Vec<Duration>>,
}

/// Events that come late make none after them later still.
fn replay(session: Arc<Session>) -> impl Stream<Item = Event> {
    let start = Instant::now();
    stream::unfold((session, 0), move |(session, at)| async move {
        let event = session.events.get(at)?.clone();
        let delay = session.delays.as_ref().and_then(|delays| delays.get(at).copied());
        // A time beyond what a clock can say never comes.
        match delay.map(|delay| start.checked_add(delay)) {
            Some(Some(due)) => sleep_until(due).await,
            Some(None) => std::future::pending().await,
            None => {}
        }
        Some((event, (session, at + 1)))
    })
}

/// When each event is due. One without a timestamp, or with an earlier one than those before it,
/// comes with the event before it.
fn delays(events: &[Event], pace: Pace) -> Option<Vec<Duration>> {
    match pace {
        Pace::None => None,
        Pace::Fixed(step) => {
            let numbers = (0_u32..).take(events.len());
            Some(numbers.map(|number| step.saturating_mul(number)).collect())
        }
        Pace::Recorded => {
            let first = events.iter().find_map(|event| event.base.timestamp);
            let mut latest = Duration::ZERO;
            let due = events.iter().map(|event| {
                let passed = event.base.timestamp.zip(first);
                let passed = passed.and_then(|(now, first)| now.checked_sub(first));
                let passed = passed.and_then(|passed| u64::try_from(passed).ok());
                latest = latest.max(passed.map_or(Duration::ZERO, Duration::from_millis));
                latest
            });
            Some(due.collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use ag_ui_proto::model::StepStarted;

    use super::*;

    #[test]
    fn a_pace_is_kept_from_the_first_event_on() {
        let at = |timestamp: Option<i64>| {
            let event = Event::from(StepStarted::new("s"));
            timestamp.map_or(event.clone(), |timestamp| event.with_timestamp(timestamp))
        };
        let events: Vec<_> =
            [None, Some(1000), Some(1250), None, Some(900), Some(3000)].map(at).into();
        let due = |pace| {
            let delays = delays(&events, pace);
            delays.map(|all| all.iter().map(Duration::as_millis).collect::<Vec<_>>())
        };
        assert_eq!(due(Pace::None), None);
        assert_eq!(due(Pace::Recorded).unwrap(), [0, 0, 250, 250, 250, 2000]);
        let fixed = Pace::Fixed(Duration::from_millis(20));
        assert_eq!(due(fixed).unwrap(), [0, 20, 40, 60, 80, 100]);
    }
}
