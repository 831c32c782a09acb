//! One run, read to its end.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ag_ui_proto::negotiate::Format;
use ag_ui_proto::stream::{BodyReader, InflateLimits};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::watch;
use tokio::time::sleep;

use super::chunks::Chunks;
use super::session::Session;

const INPUT: &str = r#"{"threadId":"thread-1","runId":"run-1","state":{},"messages":[],"tools":[],"context":[],"forwardedProps":{}}"#;

/// What came of a run.
pub(super) struct Run {
    /// How late each event was, in microseconds.
    pub(super) delays: Vec<u32>,
}

/// Reads nothing before it is released, or a byte at a time.
pub(super) struct Slow {
    pub(super) released: watch::Receiver<bool>,
    pub(super) one_byte: Option<Duration>,
}

/// Asks for a run and reads it. Each event is held against the one that is to come.
///
/// # Errors
///
/// What came instead.
pub(super) async fn read(
    server: SocketAddr,
    session: Arc<Session>,
    slow: Option<Slow>,
) -> Result<Run, String> {
    let is_slow = slow.is_some();
    let sent = Instant::now();
    let mut connection = connect(server, is_slow).await.map_err(|error| error.to_string())?;
    let request = request(&session);
    connection.write_all(request.as_bytes()).await.map_err(|error| error.to_string())?;

    let mut reader = Reader::new(&session);
    let mut part = vec![0; if is_slow { 1024 } else { 4096 }];
    if let Some(mut slow) = slow {
        while !*slow.released.borrow() {
            tokio::select! {
                changed = slow.released.changed() => changed.map_err(|error| error.to_string())?,
                () = pause(slow.one_byte) => {
                    let len = connection.read(&mut part[..1]).await;
                    reader.take(&part[..len.map_err(|error| error.to_string())?], sent)?;
                }
            }
        }
    }
    while !reader.chunks.has_ended {
        match connection.read(&mut part).await {
            Ok(0) => return Err(format!("the body ends after {} events", reader.delays.len())),
            Ok(len) => reader.take(&part[..len], sent)?,
            Err(error) => return Err(format!("after {} events: {error}", reader.delays.len())),
        }
    }
    reader.end()
}

async fn connect(server: SocketAddr, is_slow: bool) -> std::io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    if is_slow {
        socket.set_recv_buffer_size(2048)?;
        socket2::SockRef::from(&socket).set_tcp_mss(536)?;
    }
    socket.connect(server).await
}

fn request(session: &Session) -> String {
    let accept = session.format.media_type();
    let coding = session.coding.map_or("identity", |coding| coding.as_str());
    let len = INPUT.len();
    format!(
        "POST / HTTP/1.1\r\nHost: localhost\r\nAccept: {accept}\r\nAccept-Encoding: {coding}\r\n\
         Content-Type: application/json\r\nContent-Length: {len}\r\n\r\n{INPUT}"
    )
}

async fn pause(one_byte: Option<Duration>) {
    match one_byte {
        Some(pause) => sleep(pause).await,
        None => std::future::pending().await,
    }
}

struct Reader<'s> {
    session: &'s Session,
    /// Bytes of the head, until it is complete.
    head: Option<Vec<u8>>,
    chunks: Chunks,
    body: BodyReader,
    delays: Vec<u32>,
}

impl<'s> Reader<'s> {
    fn new(session: &'s Session) -> Self {
        let body = BodyReader::new(session.format);
        let body = match session.coding {
            None => body,
            Some(coding) => {
                body.with_coding(coding, InflateLimits::new()).expect("a coding of ours")
            }
        };
        let delays = Vec::with_capacity(session.events.len());
        Self { session, head: Some(Vec::new()), chunks: Chunks::default(), body, delays }
    }

    fn take(&mut self, bytes: &[u8], sent: Instant) -> Result<(), String> {
        let passed = sent.elapsed();
        let Some(mut head) = self.head.take() else { return self.take_body(bytes, passed) };
        head.extend_from_slice(bytes);
        match head.windows(4).position(|four| four == b"\r\n\r\n") {
            None => self.head = Some(head),
            Some(end) => {
                let text = String::from_utf8_lossy(&head[..end]).to_ascii_lowercase();
                let content_type = format!("content-type: {}", self.session.format.media_type());
                if !text.starts_with("http/1.1 200") || !text.contains(&content_type) {
                    return Err(text);
                }
                self.take_body(&head[end + 4..], passed)?;
            }
        }
        Ok(())
    }

    fn take_body(&mut self, bytes: &[u8], passed: Duration) -> Result<(), String> {
        let body = &mut self.body;
        self.chunks.push(bytes, |part| body.push(part));
        while let Some(decoded) = self.body.next_event().map_err(|error| error.to_string())? {
            let number = self.delays.len();
            if decoded.event.as_ref() != self.session.events.get(number) {
                return Err(format!("event {number} is another: {:?}", decoded.event));
            }
            let late = passed.saturating_sub(self.session.due(number));
            self.delays.push(u32::try_from(late.as_micros()).unwrap_or(u32::MAX));
        }
        Ok(())
    }

    fn end(mut self) -> Result<Run, String> {
        self.body.finish().map_err(|error| error.to_string())?;
        let (have, want) = (self.delays.len(), self.session.events.len());
        if have == want {
            Ok(Run { delays: self.delays })
        } else {
            Err(format!("{have} of {want}"))
        }
    }
}

/// The form that is asked for, in short.
pub(super) fn name_of(format: Format) -> &'static str {
    match format {
        Format::Protobuf => "protobuf",
        Format::Sse => "sse",
    }
}
