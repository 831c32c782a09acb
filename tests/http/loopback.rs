//! What runs over loopback addresses are made of, and clients for them.

use std::future::Future;
use std::time::Duration;

use ag_ui_proto::Event;
use ag_ui_proto::client::{Client, ClientBuilder};
use ag_ui_proto::model::{
    RunAgentInput, RunFinished, RunStarted, TextMessageContent, TextMessageEnd, TextMessageStart,
};
use ag_ui_proto::negotiate::Format;
use ag_ui_proto::stream::BodyWriter;

/// Long enough for anything that ends at all.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A limit that is meant to be reached.
pub(crate) const SHORT: Duration = Duration::from_millis(200);

pub(crate) async fn in_time<F: Future>(work: F) -> F::Output {
    tokio::time::timeout(PATIENCE, work).await.expect("it never ends")
}

pub(crate) fn input() -> RunAgentInput {
    RunAgentInput::new("t", "r", Vec::new())
}

pub(crate) fn delta(text: &str) -> Event {
    TextMessageContent::new("m", text).into()
}

pub(crate) fn finished() -> Event {
    RunFinished::new("t", "r").into()
}

pub(crate) fn started() -> Event {
    RunStarted::new("t", "r").into()
}

/// A whole run.
pub(crate) fn run() -> Vec<Event> {
    vec![
        started(),
        TextMessageStart::new("m").into(),
        delta("Hel"),
        delta("lo"),
        TextMessageEnd::new("m").into(),
        finished(),
    ]
}

pub(crate) fn body(format: Format, events: &[Event]) -> Vec<u8> {
    let mut writer = BodyWriter::new(format);
    for event in events {
        writer.put(event).unwrap();
    }
    writer.finish().unwrap().to_vec()
}

/// A client that no setting of the machine sends elsewhere.
pub(crate) fn client(builder: ClientBuilder) -> Client {
    builder.build_with(reqwest::Client::builder().no_proxy()).unwrap()
}

/// The same, for requests of any kind.
pub(crate) fn http() -> reqwest::Client {
    // TLS has no default before.
    drop(client(Client::builder()));
    reqwest::Client::builder().no_proxy().build().unwrap()
}

/// The head of an answer whose body ends with its connection.
pub(crate) fn head(status: &str, content_type: &str) -> String {
    format!("HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nConnection: close\r\n\r\n")
}

/// The head of an answer whose body comes in chunks, and says where it ends.
pub(crate) fn chunked_head(content_type: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nTransfer-Encoding: chunked\r\n\r\n")
}

pub(crate) fn chunk(bytes: &[u8]) -> Vec<u8> {
    [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat()
}
