//! Framing alone, around finished payloads: what a relay pays.

use std::hint::black_box;

use ag_ui_proto::codec::{FrameReader, Limits, put_frame};
use bytes::BytesMut;

use super::{Contender, OURS, writer};
use crate::workloads::Workload;

const SSE: &str = "server-sent events";

pub(super) fn putting(workload: &Workload) -> Vec<Contender<'_>> {
    let put_lines = |sse: &mut Vec<u8>| {
        sse.clear();
        for json in &workload.json {
            sse.extend_from_slice(b"data: ");
            sse.extend_from_slice(json.as_bytes());
            sse.extend_from_slice(b"\n\n");
        }
    };
    let put_frames = |frames: &mut BytesMut| {
        frames.clear();
        for payload in &workload.payloads {
            put_frame(payload, &Limits::new(), frames).expect("within the limits");
        }
    };
    vec![
        writer(SSE, Vec::new(), put_lines, |sse| assert!(sse == workload.sse().as_bytes())),
        writer(OURS, BytesMut::new(), put_frames, |frames| assert!(frames == workload.frames())),
    ]
}

/// The bytes arrive in a buffer first, all of them; the copy counts on both sides.
pub(super) fn taking(workload: &Workload) -> Vec<Contender<'_>> {
    vec![
        Contender::new(SSE, workload.sse().len(), {
            let (sse, mut buffer) = (workload.sse(), Vec::new());
            move || {
                buffer.clear();
                buffer.extend_from_slice(sse.as_bytes());
                let taken = data_lines(&buffer).map(|json| black_box(json).len());
                assert!(taken.count() == workload.json.len());
            }
        }),
        Contender::new(OURS, workload.frames_len(), {
            let (frames, mut buffer) = (workload.frames(), BytesMut::new());
            move || {
                buffer.extend_from_slice(&frames);
                let mut reader = FrameReader::new(Limits::new());
                let mut taken = 0;
                while let Some(frame) = reader.next_frame(&mut buffer).expect("frames of ours") {
                    black_box(frame);
                    taken += 1;
                }
                assert!(taken == workload.payloads.len());
            }
        }),
    ]
}

/// The least that a reader of server-sent events does: it finds the lines with data.
fn data_lines(mut sse: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        loop {
            let end = memchr::memchr(b'\n', sse)?;
            let line = &sse[..end];
            sse = &sse[end + 1..];
            if let Some(json) = line.strip_prefix(b"data: ") {
                return Some(json);
            }
        }
    })
}
