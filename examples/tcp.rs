//! An agent and its client over TCP, without HTTP: the text is printed as it arrives.
//!
//! `cargo run --example tcp`

use std::error::Error;
use std::io::Write;

use ag_ui_proto::Event;
use ag_ui_proto::codec::EventCodec;
use ag_ui_proto::model::{
    Body, RunFinished, RunStarted, TextMessageContent, TextMessageEnd, TextMessageStart,
};
use futures_util::{SinkExt, StreamExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::codec::Framed;

/// Serves one client: a run that says one sentence, a few letters at a time.
async fn agent(listener: TcpListener) -> Result<(), Box<dyn Error>> {
    let (socket, _) = listener.accept().await?;
    let mut events = Framed::new(socket, EventCodec::new());
    events.send(Event::from(RunStarted::new("thread-1", "run-1"))).await?;
    events.send(Event::from(TextMessageStart::new("m1"))).await?;
    for delta in ["Hel", "lo", " from", " the", " agent", "."] {
        events.send(Event::from(TextMessageContent::new("m1", delta))).await?;
    }
    events.send(Event::from(TextMessageEnd::new("m1"))).await?;
    events.send(Event::from(RunFinished::new("thread-1", "run-1"))).await?;
    Ok(())
}

/// Reads a run to its end and writes its text out.
async fn client(socket: TcpStream, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let mut events = Framed::new(socket, EventCodec::new());
    while let Some(event) = events.next().await {
        match event?.body {
            Body::TextMessageContent(content) => {
                write!(out, "{}", content.delta)?;
                out.flush()?;
            }
            Body::TextMessageEnd(_) => writeln!(out)?,
            Body::RunFinished(_) => return Ok(()),
            _ => {}
        }
    }
    // A body that just ends is a run that broke off, not one that finished.
    Err("the agent hung up in the middle of its run".into())
}

pub(crate) async fn run(out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let client = async { client(TcpStream::connect(address).await?, out).await };
    tokio::try_join!(agent(listener), client)?;
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    run(&mut std::io::stdout()).await
}
