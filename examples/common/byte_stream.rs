//! A run over anything that reads and writes bytes in order: a frame that holds the input as JSON
//! one way, the frames of the events the other way.
//!
//! ```text
//! client --> agent    | len: u32, BE | JSON of the input |
//! agent --> client    | len: u32, BE | event | | len: u32, BE | event | ...
//! ```
//!
//! A length in front bounds the input before it is held, and makes one that was cut look like
//! nothing else.

use std::io;

use ag_ui_proto::Event;
use ag_ui_proto::codec::{FrameCodec, StreamError, WriteError, put_frame};
use ag_ui_proto::model::RunAgentInput;
use bytes::BytesMut;
use futures_util::{SinkExt, StreamExt};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::time::timeout;
use tokio_util::codec::{FramedRead, FramedWrite};

use super::common::{Agent, Bounds, End, Fault, Idle, Stop, answer, ask, follow};
use super::common::{read_input, refusal};

/// Reads an input and answers it, then ends the writing side. Gives back the reading side.
///
/// # Errors
///
/// The client is gone, or does not read. The agent's stream is dropped then; one that waits for its next
/// event is dropped when that comes.
pub(crate) async fn serve<R: AsyncRead + Unpin>(
    read: R,
    write: impl AsyncWrite + Unpin,
    agent: impl Agent,
    bounds: Bounds,
) -> Result<R, WriteError> {
    let mut read = FramedRead::new(read, FrameCodec::with_limits(bounds.limits));
    let mut write = FramedWrite::new(write, FrameCodec::with_limits(bounds.limits));
    let input = match timeout(bounds.idle, read.next()).await {
        Ok(Some(Ok(frame))) => read_input(&frame.payload, bounds.limits),
        Ok(Some(Err(error))) => Err(refusal(error)),
        Ok(None) => Err(refusal("none came")),
        Err(_) => Err(refusal(Idle { after: bounds.idle })),
    };
    let mut payloads = Box::pin(answer(input, agent, bounds.limits));
    while let Some(payload) = payloads.next().await {
        // `send` flushes, so that each event leaves at once.
        match timeout(bounds.idle, write.send(payload)).await {
            Ok(sent) => sent?,
            Err(_) => return Err(io::Error::other(Idle { after: bounds.idle }).into()),
        }
    }
    SinkExt::<bytes::Bytes>::close(&mut write).await?;
    Ok(read.into_inner())
}

/// Sends an input and follows the answer.
///
/// # Errors
///
/// The input is over the limits of this side, and was not sent.
pub(crate) async fn call(
    read: impl AsyncRead + Unpin,
    mut write: impl AsyncWrite + Unpin,
    input: &RunAgentInput,
    bounds: Bounds,
    seen: impl FnMut(&Event),
) -> Result<End, Fault> {
    let mut frame = BytesMut::new();
    put_frame(&serde_json::to_vec(input)?, &bounds.limits, &mut frame)?;
    let asked = async {
        write.write_all(&frame).await?;
        write.flush().await
    };
    let frames = FramedRead::new(read, FrameCodec::with_limits(bounds.limits));
    let payloads = frames.map(|frame| match frame {
        Ok(frame) => Ok(frame.payload),
        Err(error) if is_cut(&error) => Err(Stop::Cut(error.into())),
        Err(error) => Err(Stop::Bad(error.into())),
    });
    Ok(ask::<io::Error>(asked, follow(payloads, bounds, seen)).await)
}

fn is_cut(error: &StreamError) -> bool {
    error.is_truncated() || matches!(error, StreamError::Io(_))
}
