//! Relays frames from standard input to standard output, and counts them on standard error.
//!
//! The frames are not looked into: one that this version cannot name passes through unharmed.
//!
//! `cargo run --example relay <session.bin >copy.bin`

use ag_ui_proto::codec::FrameCodec;
use futures_util::{SinkExt, StreamExt};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::codec::{FramedRead, FramedWrite};

/// What went through.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) frames: u64,
    /// Of the payloads, without headers.
    pub(crate) bytes: u64,
}

pub(crate) async fn relay(
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin,
) -> Result<Counts, Box<dyn std::error::Error>> {
    let mut frames = FramedRead::new(input, FrameCodec::new());
    let mut output = FramedWrite::new(output, FrameCodec::new());
    let mut counts = Counts::default();
    while let Some(frame) = frames.next().await {
        let frame = frame?;
        counts.frames += 1;
        counts.bytes += frame.payload.len() as u64;
        // `send` flushes, so that each frame leaves at once.
        output.send(frame).await?;
    }
    Ok(counts)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let counts = relay(tokio::io::stdin(), tokio::io::stdout()).await?;
    eprintln!("{} frames, {} bytes", counts.frames, counts.bytes);
    Ok(())
}
