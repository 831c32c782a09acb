//! Servers on loopback addresses, and what they are asked with.

use std::future::Future;
use std::time::Duration;

use ag_ui_proto::Event;
use ag_ui_proto::client::{Client, ClientBuilder};
use ag_ui_proto::model::{
    RunAgentInput, RunFinished, RunStarted, TextMessageContent, TextMessageEnd, TextMessageStart,
};
use ag_ui_proto::negotiate::Format;
use ag_ui_proto::stream::BodyWriter;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

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

/// Answers every request with these bytes, then does what `then` does with the connection.
/// Gives the URL, and each request as it came.
pub(crate) async fn scripted<T, F>(
    answer: Vec<u8>,
    then: T,
) -> (String, tokio::sync::mpsc::UnboundedReceiver<String>)
where
    T: Fn(TcpStream) -> F + Send + Clone + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/run", listener.local_addr().unwrap());
    let (tell, told) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((mut connection, _)) = listener.accept().await {
            let (answer, tell, then) = (answer.clone(), tell.clone(), then.clone());
            tokio::spawn(async move {
                drop(tell.send(request(&mut connection).await));
                drop(connection.write_all(&answer).await);
                then(connection).await;
            });
        }
    });
    (url, told)
}

/// Closes a connection in good order.
pub(crate) async fn close(mut connection: TcpStream) {
    drop(connection.shutdown().await);
    let mut rest = Vec::new();
    drop(connection.read_to_end(&mut rest).await);
}

/// Holds a connection open until its client closes it.
pub(crate) async fn hold(mut connection: TcpStream) {
    let mut rest = Vec::new();
    drop(connection.read_to_end(&mut rest).await);
}

/// Reads a request whose body has a length.
async fn request(connection: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let head = head.to_ascii_lowercase();
            let len = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if len.map_or(0, |len| len.parse().unwrap()) <= body.len() {
                return text;
            }
        }
        if connection.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
            return text;
        }
    }
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
