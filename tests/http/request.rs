//! Requests that are refused before a run, on a server of hyper and on one of axum.

use ag_ui_proto::model::RunAgentInput;
use ag_ui_proto::server::{InputReader, Refusal, Reply, RunInput};
use axum::body::Body;
use axum::extract::{Extension, FromRequest};
use axum::http::{Request, StatusCode};
use axum::response::IntoResponse;
use futures_util::stream;
use http_body_util::BodyExt;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::loopback::{http, in_time, run};

const SMALLEST: &str = r#"{"threadId":"t","runId":"r","messages":[]}"#;

fn post(content_type: &str, body: impl Into<Body>) -> Request<Body> {
    Request::post("/run").header("content-type", content_type).body(body.into()).unwrap()
}

async fn refused(request: Request<Body>) -> Refusal {
    in_time(InputReader::new().with_max_len(100).read(request)).await.unwrap_err()
}

#[tokio::test]
async fn an_input_is_read_from_parts_of_any_size() {
    for size in [1, 7, 1000] {
        let parts: Vec<_> = SMALLEST.as_bytes().chunks(size).map(Ok::<_, String>).collect();
        let body = Body::from_stream(stream::iter(parts));
        let read =
            in_time(InputReader::new().read(post("application/json; charset=utf-8", body))).await;
        assert_eq!(read.unwrap().input, RunAgentInput::new("t", "r", Vec::new()));
    }
}

#[tokio::test]
async fn another_content_type_is_415() {
    for content_type in ["text/plain", "application/json; charset=latin1", ""] {
        let refusal = refused(post(content_type, SMALLEST)).await;
        assert_eq!(refusal.status(), 415, "{content_type}");
    }
    let without = Request::post("/run").body(Body::from(SMALLEST)).unwrap();
    assert_eq!(refused(without).await.status(), 415);
    let mut compressed = post("application/json", SMALLEST);
    compressed.headers_mut().insert("content-encoding", "gzip".parse().unwrap());
    let refusal = refused(compressed).await;
    assert_eq!(
        refusal.to_string(),
        "415 Unsupported Media Type: expected a body that is not compressed"
    );
    let response = refusal.into_response::<Body>();
    assert_eq!(response.headers()["accept-encoding"], "identity");
}

#[tokio::test]
async fn a_long_body_is_413_by_its_announcement_and_by_counting() {
    let mut announced =
        post("application/json", Body::from_stream(stream::pending::<Result<&str, String>>()));
    announced.headers_mut().insert("content-length", "101".parse().unwrap());
    assert_eq!(refused(announced).await.status(), 413, "without waiting for it");
    let mut huge = post("application/json", "");
    huge.headers_mut().insert("content-length", "18446744073709551615".parse().unwrap());
    assert_eq!(refused(huge).await.status(), 413);
    let endless = Body::from_stream(stream::repeat_with(|| Ok::<_, String>("          ")));
    let refusal = refused(post("application/json", endless)).await;
    assert_eq!(refusal.to_string(), "413 Payload Too Large: a body over the limit of 100 bytes");
}

#[tokio::test]
async fn a_body_that_breaks_off_is_400() {
    let parts = [Ok("{\"threadId\":"), Err("connection reset")];
    let refusal = refused(post("application/json", Body::from_stream(stream::iter(parts)))).await;
    assert_eq!(refusal.to_string(), "400 Bad Request: the body broke off: connection reset");
    assert_eq!(refused(post("application/json", "")).await.status(), 400);
}

#[tokio::test]
async fn a_refusal_reaches_a_client_that_sends_all_before_it_reads() {
    const LEN: usize = 32 << 20;
    async fn agent(_: RunInput) {}
    let app = axum::Router::new().route("/run", axum::routing::post(agent));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async { axum::serve(listener, app).await.unwrap() });
    for (content_type, status) in [("application/json", "413"), ("text/plain", "415")] {
        let mut connection = TcpStream::connect(address).await.unwrap();
        let head = format!(
            "POST /run HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\
             Content-Type: {content_type}\r\nContent-Length: {LEN}\r\n\r\n"
        );
        connection.write_all(head.as_bytes()).await.unwrap();
        in_time(connection.write_all(&vec![b' '; LEN])).await.expect("the connection is reset");
        let mut answer = String::new();
        in_time(connection.read_to_string(&mut answer)).await.expect("the connection is reset");
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
    }
}

#[tokio::test]
async fn a_body_may_fail_with_a_refusal_of_its_own() {
    let late = Refusal::new(StatusCode::REQUEST_TIMEOUT, "too slow");
    let body = Body::from_stream(stream::iter([Ok("{"), Err(late.clone())]));
    // Below the error of axum, and one more of it.
    let body = Body::new(body);
    assert_eq!(refused(post("application/json", body)).await, late);
}

#[tokio::test]
async fn a_refusal_is_a_response_with_the_place_and_the_reason() {
    let body = r#"{"threadId":"t","runId":"r","messages":[{"id":"m","role":"user"}]}"#;
    let response = refused(post("application/json", body)).await.into_response::<Body>();
    assert_eq!(response.status(), 400);
    assert_eq!(response.headers()["content-type"], "application/problem+json");
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(
        serde_json::from_slice::<serde_json::Value>(&bytes).unwrap(),
        serde_json::json!({
            "title": "Bad Request",
            "status": 400,
            "detail": "messages[0].content: missing",
        })
    );
}

#[tokio::test]
async fn the_extractors_of_axum_read_and_refuse_alike_and_take_their_settings_from_a_layer() {
    async fn agent(reply: Reply, RunInput(input): RunInput) -> impl IntoResponse {
        assert_eq!(input.thread_id, "t");
        reply.with_events(stream::iter(run()))
    }
    async fn guarded() -> Result<String, Refusal> {
        Err(Refusal::new(StatusCode::UNAUTHORIZED, "who are you?"))
    }
    let read = RunInput::from_request(post("application/json", SMALLEST), &()).await.unwrap();
    assert_eq!(read.0, RunAgentInput::new("t", "r", Vec::new()));

    let app = axum::Router::new()
        .route("/run", axum::routing::post(agent))
        .route("/guarded", axum::routing::post(guarded))
        .layer(Extension(InputReader::new().with_max_len(50)));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async { axum::serve(listener, app).await.unwrap() });
    let http = http();
    let json = |path: &str, body: String| {
        http.post(format!("{url}{path}")).header("content-type", "application/json").body(body)
    };
    let long = format!("{SMALLEST}{}", " ".repeat(50));
    for (path, body, status) in
        [("/run", SMALLEST, 200), ("/run", "{}", 400), ("/run", &long, 413), ("/guarded", "", 401)]
    {
        let response = in_time(json(path, body.to_owned()).send()).await.unwrap();
        assert_eq!(response.status().as_u16(), status, "{path} {body}");
        if status != 200 {
            assert_eq!(response.headers()["content-type"], "application/problem+json");
        }
    }
}
