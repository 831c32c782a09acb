//! Whole runs, from an agent of ours to a client of ours.

use std::convert::Infallible;
use std::future::pending;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use ag_ui_proto::Event;
use ag_ui_proto::client::{Client, RunEnd, Truncation};
use ag_ui_proto::model::{RunAgentInput, RunFinished, RunStarted, TextMessageContent, UserMessage};
use ag_ui_proto::negotiate::Format;
use ag_ui_proto::server::{InputReader, Reply, Responder, RunInput};
use axum::Router;
use axum::response::IntoResponse;
use axum::routing::post;
use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt, stream};
use http::{Request, Response};
use http_body_util::Either;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::sync::Notify;

use super::loopback::{client, in_time, input};

/// An agent that says what it is told, a character at a time.
fn echo(input: &RunAgentInput) -> BoxStream<'static, Event> {
    let text: String = input
        .messages
        .iter()
        .filter_map(|message| match message {
            ag_ui_proto::model::Message::User(message) => Some(format!("{:?}", message.content)),
            _ => None,
        })
        .collect();
    let (thread, run) = (input.thread_id.clone(), input.run_id.clone());
    let first = Event::from(RunStarted::new(thread.clone(), run.clone()));
    let last = Event::from(RunFinished::new(thread, run));
    let deltas: Vec<_> =
        text.chars().map(|char| TextMessageContent::new("m", char.to_string()).into()).collect();
    stream::iter(std::iter::once(first).chain(deltas).chain([last]))
        .then(|event| async {
            tokio::task::yield_now().await;
            event
        })
        .boxed()
}

async fn serve(app: Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/run", listener.local_addr().unwrap());
    tokio::spawn(async { axum::serve(listener, app).await.unwrap() });
    url
}

async fn axum_agent() -> String {
    async fn agent(reply: Reply, RunInput(input): RunInput) -> impl IntoResponse {
        reply.with_events(echo(&input))
    }
    serve(Router::new().route("/run", post(agent))).await
}

/// The same agent without a framework.
async fn hyper_agent() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/run", listener.local_addr().unwrap());
    let answer = |request: Request<Incoming>| async {
        let headers = request.headers().clone();
        Ok::<_, Infallible>(match InputReader::new().read(request).await {
            Ok(read) => {
                let response = Responder::new().respond(&headers, echo(&read.input));
                response.map(Either::Left)
            }
            Err(refusal) => {
                let response: Response<http_body_util::Full<bytes::Bytes>> =
                    refusal.into_response();
                response.map(Either::Right)
            }
        })
    };
    tokio::spawn(async move {
        while let Ok((connection, _)) = listener.accept().await {
            let connection = TokioIo::new(connection);
            let http = hyper::server::conn::http1::Builder::new();
            tokio::spawn(http.serve_connection(connection, service_fn(answer)));
        }
    });
    url
}

fn asking(number: usize) -> RunAgentInput {
    let text = format!("question {number}, with \u{e9} and \u{1f600}");
    let message = UserMessage::new("u", text);
    RunAgentInput::new("t", format!("run-{number}"), vec![message.into()])
}

#[tokio::test]
async fn a_run_arrives_whole_in_either_binding_from_either_server() {
    for url in [axum_agent().await, hyper_agent().await] {
        for (builder, format) in
            [(Client::builder(), Format::Protobuf), (Client::builder().sse_only(), Format::Sse)]
        {
            let run = in_time(client(builder).run(&url, &asking(1))).await.unwrap();
            assert_eq!(run.format(), format);
            assert_eq!(run.headers()["content-type"], format.media_type());
            let mut run = run;
            let events: Vec<_> = in_time((&mut run).collect()).await;
            let want: Vec<_> = echo(&asking(1)).collect().await;
            assert_eq!(events, want);
            assert!(matches!(run.end(), Some(RunEnd::Finished(_))), "{:?}", run.end());
        }
    }
}

#[tokio::test]
async fn concurrent_runs_keep_their_events_apart_and_in_order() {
    for url in [axum_agent().await, hyper_agent().await] {
        let client = client(Client::builder());
        let runs = (0..40).map(|number| {
            let (client, url) = (client.clone(), url.clone());
            tokio::spawn(async move {
                let mut run = client.run(&url, &asking(number)).await.unwrap();
                let events: Vec<_> = (&mut run).collect().await;
                let want: Vec<_> = echo(&asking(number)).collect().await;
                assert_eq!(events, want);
                assert!(run.into_end().await.is_finished());
            })
        });
        for run in runs.collect::<Vec<_>>() {
            in_time(run).await.unwrap();
        }
    }
}

/// Counts what is taken from it, and says when it is dropped.
struct Watched<S> {
    events: S,
    taken: Arc<AtomicUsize>,
    dropped: Arc<Notify>,
}

impl<S> Drop for Watched<S> {
    fn drop(&mut self) {
        self.dropped.notify_one();
    }
}

impl<S: Stream + Unpin> Stream for Watched<S> {
    type Item = S::Item;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<S::Item>> {
        let item = self.events.poll_next_unpin(context);
        if item.is_ready() {
            self.taken.fetch_add(1, Ordering::SeqCst);
        }
        item
    }
}

/// An agent of these events, how many were taken from it, and when it was dropped.
async fn watched<S, F>(events: F) -> (String, Arc<AtomicUsize>, Arc<Notify>)
where
    S: Stream<Item = Event> + Send + Unpin + 'static,
    F: Fn() -> S + Clone + Send + Sync + 'static,
{
    let (taken, dropped) = (Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()));
    let (count, tell) = (taken.clone(), dropped.clone());
    let agent = move |reply: Reply, RunInput(_): RunInput| async move {
        reply.with_events(Watched { events: events(), taken: count, dropped: tell })
    };
    (serve(Router::new().route("/run", post(agent))).await, taken, dropped)
}

#[tokio::test]
async fn an_agent_is_cancelled_when_its_client_goes_away() {
    let first = || stream::iter([Event::from(RunStarted::new("t", "r"))]);
    let (url, _, dropped) =
        watched(move || first().chain(stream::once(pending::<Event>()).boxed())).await;
    let mut run = in_time(client(Client::builder()).run(&url, &input())).await.unwrap();
    assert!(in_time(run.next_event()).await.is_some());
    drop(run);
    in_time(dropped.notified()).await;
}

#[tokio::test]
async fn a_client_that_does_not_read_stops_the_agent_and_not_its_neighbours() {
    const DELTA: usize = 1024;
    let endless = || stream::repeat_with(|| TextMessageContent::new("m", "x".repeat(DELTA)).into());
    let (url, taken, dropped) = watched(endless).await;
    let mut run = in_time(client(Client::builder()).run(&url, &input())).await.unwrap();
    assert!(in_time(run.next_event()).await.is_some());

    // It stands still when nothing is taken any more; what is taken fits into the buffers between.
    in_time(async {
        let mut before = usize::MAX;
        while before != taken.load(Ordering::SeqCst) {
            before = taken.load(Ordering::SeqCst);
            tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        }
    })
    .await;
    let taken = taken.load(Ordering::SeqCst) * DELTA;
    assert!(taken < 64 << 20, "{taken} bytes for a client that reads none");

    let other = axum_agent().await;
    let run_beside = in_time(client(Client::builder()).run(&other, &asking(2))).await.unwrap();
    assert!(in_time(run_beside.into_end()).await.is_finished());

    for _ in 0..10_000 {
        assert!(in_time(run.next_event()).await.is_some(), "it goes on when it is read");
    }
    drop(run);
    in_time(dropped.notified()).await;
}

#[tokio::test]
async fn an_agent_that_fails_midway_is_a_failed_run() {
    async fn agent(reply: Reply, RunInput(_): RunInput) -> impl IntoResponse {
        let first = Event::from(RunStarted::new("t", "r"));
        reply.with_events(stream::iter([Ok(first), Err("the model is gone")]))
    }
    let url = serve(Router::new().route("/run", post(agent))).await;
    let run = in_time(client(Client::builder()).run(&url, &input())).await.unwrap();
    assert_eq!(in_time(run.into_end()).await.to_string(), "failed: the model is gone");
}

#[tokio::test]
async fn an_agent_that_just_stops_is_a_truncated_run() {
    async fn agent(reply: Reply, RunInput(_): RunInput) -> impl IntoResponse {
        reply.with_events(stream::iter([Event::from(RunStarted::new("t", "r"))]))
    }
    let url = serve(Router::new().route("/run", post(agent))).await;
    let run = in_time(client(Client::builder()).run(&url, &input())).await.unwrap();
    let end = in_time(run.into_end()).await;
    assert!(matches!(end, RunEnd::Truncated(Truncation::BeforeEnd)), "{end:?}");
}
