//! Whole runs, compressed on the way.

use ag_ui_proto::Event;
use ag_ui_proto::client::{Client, ClientError, RunEnd, Truncation};
use ag_ui_proto::codec::MEDIA_TYPE;
use ag_ui_proto::model::StepStarted;
use ag_ui_proto::negotiate::{Coding, Format};
use ag_ui_proto::server::{Reply, Responder, RunInput};
use ag_ui_proto::stream::{BodyWriter, CODINGS, Compressor, InflateLimits};
use axum::Router;
use axum::extract::{Extension, Request};
use axum::middleware::map_request;
use axum::response::IntoResponse;
use axum::routing::post;
use bytes::BytesMut;
use futures_util::{StreamExt, stream};
use http::{HeaderMap, HeaderValue};
use tokio::net::TcpListener;

use super::agent::{close, scripted};
use super::loopback::{client, in_time, input, run};

fn compressed() -> Client {
    client(Client::builder().compressed(InflateLimits::new()))
}

fn accepting(accept_encoding: &'static str) -> HeaderMap {
    HeaderMap::from_iter([(
        http::header::ACCEPT_ENCODING,
        HeaderValue::from_static(accept_encoding),
    )])
}

#[test]
fn a_coding_is_chosen_by_accept_encoding_if_compression_is_on() {
    for (accept, coding) in [
        ("gzip, br", Some("gzip")),
        ("gzip;q=0.1, br", Some("br")),
        ("gzip;q=0, identity", None),
        ("identity;q=1, *;q=0.5", None),
        ("deflate", None),
    ] {
        let events = || stream::iter(run());
        let response = Responder::new().compressing().respond(&accepting(accept), events());
        let told = response.headers().get("content-encoding");
        assert_eq!(told.map(|value| value.to_str().unwrap()), coding, "{accept}");
        assert_eq!(response.headers()["vary"], "accept, accept-encoding");
        let response = Responder::new().respond(&accepting(accept), events());
        assert_eq!(response.headers().get("content-encoding"), None);
        assert_eq!(response.headers()["vary"], "accept");
    }
}

#[tokio::test]
async fn each_event_is_given_before_the_next_one_is_made() {
    for coding in CODINGS {
        for sse_only in [false, true] {
            let (go, went) = tokio::sync::watch::channel(0);
            let agent = move |reply: Reply, RunInput(_): RunInput| async move {
                let events = stream::unfold((0, went), |(number, mut went)| async move {
                    went.wait_for(|count| *count >= number).await.ok()?;
                    let event = Event::from(StepStarted::new(number.to_string()));
                    Some((event, (number + 1, went)))
                });
                reply.with_events(events.take(20).boxed())
            };
            // A proxy that leaves one coding of those that the client accepts.
            let narrow = |mut request: Request| async {
                let name = HeaderValue::from_static(coding.as_str());
                request.headers_mut().insert("accept-encoding", name);
                request
            };
            let app = Router::new()
                .route("/run", post(agent))
                .layer(Extension(Responder::new().compressing()))
                .layer(map_request(narrow));
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let url = format!("http://{}/run", listener.local_addr().unwrap());
            tokio::spawn(async { axum::serve(listener, app).await.unwrap() });

            let builder = Client::builder().compressed(InflateLimits::new());
            let builder = if sse_only { builder.sse_only() } else { builder };
            let mut run = in_time(client(builder).run(&url, &input())).await.unwrap();
            assert_eq!(run.headers()["content-encoding"], coding.as_str());
            for number in 0..20 {
                go.send(number).unwrap();
                let event = in_time(run.next_event()).await;
                assert_eq!(event, Some(StepStarted::new(number.to_string()).into()));
            }
            assert_eq!(in_time(run.next_event()).await, None);
        }
    }
}

fn answer(coding: Coding, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {MEDIA_TYPE}\r\nContent-Encoding: {coding}\r\n\
         Connection: close\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}

#[tokio::test]
async fn every_coding_is_read_and_a_cut_one_is_truncated() {
    for coding in CODINGS {
        let mut writer = BodyWriter::new(Format::Protobuf).with_coding(*coding).unwrap();
        for event in run() {
            writer.put(&event).unwrap();
        }
        let mut body = writer.flush().unwrap().to_vec();
        let events_len = body.len();
        body.extend_from_slice(&writer.finish().unwrap());
        for (cut, is_finished) in [(body.len(), true), (events_len, true), (events_len / 2, false)]
        {
            let (url, _) = scripted(answer(*coding, &body[..cut]), close);
            let mut run = in_time(compressed().run(&url, &input())).await.unwrap();
            let events: Vec<_> = in_time((&mut run).collect()).await;
            if is_finished {
                assert_eq!(events, self::run());
            }
            match in_time(run.into_end()).await {
                RunEnd::Finished(_) => assert!(is_finished, "{coding}"),
                RunEnd::Truncated(Truncation::InEvent(_)) => assert!(!is_finished, "{coding}"),
                end => panic!("{coding}: {end:?}"),
            }
        }
    }
}

#[tokio::test]
async fn a_bomb_is_rejected_and_so_is_what_is_not_of_the_coding() {
    for coding in CODINGS {
        let mut bomb = BytesMut::new();
        let event = Event::from(StepStarted::new("x".repeat(1 << 20)));
        let mut frames = BytesMut::new();
        for _ in 0..32 {
            event.encode_frame(&mut frames).unwrap();
        }
        Compressor::new(*coding).unwrap().push(&frames, &mut bomb).unwrap();
        let limits = InflateLimits::new().with_grace(1 << 20).with_max_ratio(2);
        let client = client(Client::builder().compressed(limits));
        for (body, reason) in [(&bomb[..], "inflate to more than"), (&[0xff; 100], "malformed")] {
            let (url, _) = scripted(answer(*coding, body), close);
            let run = in_time(client.run(&url, &input())).await.unwrap();
            let end = in_time(run.into_end()).await;
            assert!(matches!(end, RunEnd::Rejected(_)), "{coding}: {end:?}");
            assert!(end.to_string().contains(reason), "{coding}: {end}");
        }
    }
}

#[tokio::test]
async fn codings_are_asked_for_in_one_line_and_others_refused() {
    let (url, requests) = scripted(answer(Coding::Gzip, &[]), close);
    let run = in_time(compressed().run(&url, &input())).await.unwrap();
    let end = in_time(run.into_end()).await;
    assert!(matches!(end, RunEnd::Truncated(_)), "{end:?}");
    let request = requests.recv().unwrap().to_ascii_lowercase();
    let names: Vec<_> = CODINGS.iter().map(|coding| coding.as_str()).collect();
    let line = format!("\r\naccept-encoding: {}\r\n", names.join(", "));
    assert!(request.contains(&line), "{request}");

    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {MEDIA_TYPE}\r\nContent-Encoding: deflate\r\n\
         Content-Length: 0\r\n\r\n"
    );
    let (url, _) = scripted(head, close);
    let error = in_time(compressed().run(&url, &input())).await.unwrap_err();
    assert!(matches!(error, ClientError::ContentEncoding { .. }), "{error:?}");
}

#[tokio::test]
async fn a_refusal_is_not_compressed() {
    async fn agent(RunInput(_): RunInput) -> impl IntoResponse {}
    let app = Router::new()
        .route("/run", post(agent))
        .layer(Extension(Responder::new().compressing()))
        .layer(Extension(ag_ui_proto::server::InputReader::new().with_max_len(1)));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/run", listener.local_addr().unwrap());
    tokio::spawn(async { axum::serve(listener, app).await.unwrap() });
    let error = in_time(compressed().run(&url, &input())).await.unwrap_err();
    let answer = error.answer().unwrap();
    assert_eq!(answer.status, 413);
    assert!(answer.body.starts_with(b"{"), "{answer}");
}
