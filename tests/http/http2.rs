//! Whole runs over HTTP/2, without TLS, as both sides know before (RFC 9113, 3.3).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ag_ui_proto::Event;
use ag_ui_proto::client::{Client, ClientBuilder};
use ag_ui_proto::model::StepStarted;
use ag_ui_proto::negotiate::Coding;
use ag_ui_proto::server::{Reply, Responder, RunInput};
use ag_ui_proto::stream::InflateLimits;
use axum::Router;
use axum::extract::{Extension, Request};
use axum::middleware::map_request;
use axum::routing::post;
use futures_util::{StreamExt, stream};
use http::{HeaderValue, Version};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};

use super::loopback::{in_time, input};

/// Events of a run.
const EVENTS: usize = 20;

/// An agent that gives each event of a run once it is let, and counts its connections.
struct Agent {
    url: String,
    /// How far runs may go.
    go: watch::Sender<usize>,
    connections: Arc<AtomicUsize>,
    /// Told of each run that is over or cancelled.
    over: mpsc::UnboundedReceiver<()>,
}

struct Tells(mpsc::UnboundedSender<()>);

impl Drop for Tells {
    fn drop(&mut self) {
        let _ = self.0.send(());
    }
}

async fn agent(coding: Option<Coding>) -> Agent {
    let (go, went) = watch::channel(0);
    let (tell, over) = mpsc::unbounded_channel();
    let run = move |reply: Reply, RunInput(_): RunInput| async move {
        let events =
            stream::unfold((0, went, Tells(tell)), |(number, mut went, tells)| async move {
                went.wait_for(|count| *count >= number).await.ok()?;
                let event = Event::from(StepStarted::new(number.to_string()));
                Some((event, (number + 1, went, tells)))
            });
        reply.with_events(events.take(EVENTS).boxed())
    };
    let narrow = move |mut request: Request| async move {
        assert_eq!(request.version(), Version::HTTP_2);
        let name = HeaderValue::from_static(coding.map_or("identity", |coding| coding.as_str()));
        request.headers_mut().insert("accept-encoding", name);
        request
    };
    let app = Router::new()
        .route("/run", post(run))
        .layer(Extension(Responder::new().compressing()))
        .layer(map_request(narrow));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/run", listener.local_addr().unwrap());
    let connections = Arc::new(AtomicUsize::new(0));
    let count = connections.clone();
    let listener = axum::serve::ListenerExt::tap_io(listener, move |_| {
        count.fetch_add(1, Ordering::SeqCst);
    });
    tokio::spawn(async { axum::serve(listener, app).await.unwrap() });
    Agent { url, go, connections, over }
}

fn client(builder: ClientBuilder) -> Client {
    builder.build_with(reqwest::Client::builder().no_proxy().http2_prior_knowledge()).unwrap()
}

#[tokio::test]
async fn each_event_is_given_before_the_next_one_is_made() {
    for coding in [None, Some(Coding::Gzip), Some(Coding::Brotli)] {
        for sse_only in [false, true] {
            let agent = agent(coding).await;
            let builder = Client::builder().compressed(InflateLimits::new());
            let builder = if sse_only { builder.sse_only() } else { builder };
            let mut run = in_time(client(builder).run(&agent.url, &input())).await.unwrap();
            let spoken = run.headers().get("content-encoding");
            assert_eq!(spoken.map(HeaderValue::as_bytes), coding.map(|c| c.as_str().as_bytes()));
            for number in 0..EVENTS {
                agent.go.send(number).unwrap();
                let event = in_time(run.next_event()).await;
                assert_eq!(event, Some(StepStarted::new(number.to_string()).into()));
            }
            assert_eq!(in_time(run.next_event()).await, None);
        }
    }
}

#[tokio::test]
async fn a_client_that_leaves_a_run_cancels_it_and_keeps_the_connection() {
    let mut agent = agent(None).await;
    let client = client(Client::builder());
    let mut left = in_time(client.run(&agent.url, &input())).await.unwrap();
    let mut other = in_time(client.run(&agent.url, &input())).await.unwrap();
    assert!(in_time(left.next_event()).await.is_some());
    assert!(in_time(other.next_event()).await.is_some());
    assert!(agent.over.try_recv().is_err());
    drop(left);
    in_time(agent.over.recv()).await.unwrap();

    agent.go.send(EVENTS).unwrap();
    for number in 1..EVENTS {
        let event = in_time(other.next_event()).await;
        assert_eq!(event, Some(StepStarted::new(number.to_string()).into()));
    }
    assert_eq!(in_time(other.next_event()).await, None);
    assert_eq!(agent.connections.load(Ordering::SeqCst), 1);
}
