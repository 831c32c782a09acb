//! `Framed` with the codec over a pipe in memory, against the codec alone on the same events.

use std::hint::black_box;

use ag_ui_proto::Event;
use ag_ui_proto::codec::{EventCodec, EventReader, Limits, encode_frame};
use bytes::BytesMut;
use futures_util::{SinkExt, StreamExt};
use tokio::runtime::{Builder, Runtime};
use tokio_util::codec::{Framed, FramedRead};

use super::Contender;
use crate::workloads::Workload;

/// Bytes that the pipe holds.
const PIPE: usize = 64 * 1024;

pub(super) fn over_a_pipe(workload: &Workload) -> Vec<Contender<'_>> {
    let bytes = workload.frames_len();
    vec![
        Contender::new("codec alone, both ways", bytes, {
            let mut buffer = BytesMut::new();
            move || {
                for event in &workload.events {
                    encode_frame(event, &Limits::new(), &mut buffer).expect("an event of ours");
                }
                assert!(read_buffered(&mut buffer) == workload.events.len());
            }
        }),
        Contender::new("Framed, flushed at the end", bytes, {
            let runtime = runtime();
            move || runtime.block_on(send_all(workload, Flush::AtTheEnd))
        }),
        Contender::new("Framed, flushed after each event", bytes, {
            let runtime = runtime();
            move || runtime.block_on(send_all(workload, Flush::AfterEachEvent))
        }),
    ]
}

/// Reading alone, when a read gives many frames.
pub(super) fn reading(workload: &Workload) -> Vec<Contender<'_>> {
    let frames = workload.frames();
    vec![
        Contender::new("codec alone, reading", frames.len(), {
            let (frames, mut buffer) = (frames.clone(), BytesMut::new());
            move || {
                buffer.extend_from_slice(&frames);
                assert!(read_buffered(&mut buffer) == workload.events.len());
            }
        }),
        Contender::new("FramedRead, 8 KiB a read", frames.len(), {
            let (runtime, frames) = (runtime(), frames.clone());
            move || {
                let read = FramedRead::new(&frames[..], EventCodec::new());
                runtime.block_on(read_all(read, workload.events.len()));
            }
        }),
        Contender::new("FramedRead, all in one read", frames.len(), {
            let runtime = runtime();
            move || {
                let capacity = frames.len() + 1;
                let read = FramedRead::with_capacity(&frames[..], EventCodec::new(), capacity);
                runtime.block_on(read_all(read, workload.events.len()));
            }
        }),
    ]
}

#[derive(Clone, Copy)]
enum Flush {
    AtTheEnd,
    AfterEachEvent,
}

/// Writes all events into one end, and reads them at the other in turn.
async fn send_all(workload: &Workload, flush: Flush) {
    let (near, far) = tokio::io::duplex(PIPE);
    let mut near = Framed::new(near, EventCodec::new());
    let far = Framed::new(far, EventCodec::new());
    let write = async move {
        for event in &workload.events {
            match flush {
                Flush::AtTheEnd => near.feed(event).await.expect("an event of ours"),
                Flush::AfterEachEvent => near.send(event).await.expect("an event of ours"),
            }
        }
        SinkExt::<&Event>::close(&mut near).await.expect("a pipe");
    };
    tokio::join!(write, read_all(far, workload.events.len()));
}

async fn read_all<S, E: std::fmt::Debug>(mut stream: S, events: usize)
where
    S: StreamExt<Item = Result<Event, E>> + Unpin,
{
    let mut read = 0;
    while let Some(event) = stream.next().await {
        black_box(event.expect("an event of ours"));
        read += 1;
    }
    assert!(read == events);
}

fn read_buffered(buffer: &mut BytesMut) -> usize {
    let (mut reader, mut read) = (EventReader::new(), 0);
    while let Some(decoded) = reader.next_event(buffer).expect("frames of ours") {
        black_box(decoded.event);
        read += 1;
    }
    read
}

fn runtime() -> Runtime {
    Builder::new_current_thread().build().expect("a runtime")
}
