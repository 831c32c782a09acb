//! Streams of frames over pipes, sockets and processes, cut wherever the carrier cuts them.

#![allow(clippy::unwrap_used, reason = "what fails in a helper fails its test")]

use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ag_ui_proto::Event;
use ag_ui_proto::codec::{
    EncodeError, EventCodec, EventReader, FrameCodec, FrameError, Limits, StreamError, WriteError,
};
use ag_ui_proto::model::{
    Custom, EventType, Notice, NoticeKind, Path, StepFinished, StepStarted, TextMessageContent,
};
use bytes::{Bytes, BytesMut};
use futures_util::{FutureExt, SinkExt, StreamExt, stream};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::codec::{Decoder, Encoder, Framed, FramedRead, FramedWrite};

use crate::properties::normalised;

/// A frame whose event stands in arm 32, which no version has yet.
const FUTURE: &[u8] = b"\0\0\0\x05\x82\x02\x02\x0a\0";

/// The sample sessions, as they come out of a trip over the wire.
fn sessions() -> Vec<(&'static str, Vec<Event>)> {
    [
        ("chat", include_str!("../../samples/chat.jsonl")),
        ("research", include_str!("../../samples/research.jsonl")),
        ("multimodal", include_str!("../../samples/multimodal.sse")),
    ]
    .map(|(name, text)| {
        let events = text.lines().filter_map(|line| {
            let json = line.strip_prefix("data: ").unwrap_or(line);
            json.starts_with('{').then(|| normalised(&Event::from_json(json).unwrap()))
        });
        (name, events.collect())
    })
    .into()
}

fn steps() -> [Event; 3] {
    [
        StepStarted::new("plan").into(),
        Event::from(StepFinished::new("plan")).with_timestamp(0),
        StepStarted::new("").into(),
    ]
}

fn frames<'a>(events: impl IntoIterator<Item = &'a Event>) -> BytesMut {
    let mut bytes = BytesMut::new();
    for event in events {
        assert_eq!(event.encode_frame(&mut bytes).unwrap(), []);
    }
    bytes
}

/// Writes the events into one end while it takes events off the other.
async fn pass(
    events: &[Event],
    into: impl AsyncWrite + Unpin,
    out_of: impl AsyncRead + Unpin,
) -> Vec<Event> {
    let mut sink = FramedWrite::new(into, EventCodec::new());
    let send = async move {
        sink.send_all(&mut stream::iter(events).map(Ok)).await.unwrap();
        sink.get_mut().shutdown().await.unwrap();
    };
    let received = FramedRead::new(out_of, EventCodec::new()).map(Result::unwrap).collect();
    tokio::join!(send, received).1
}

/// Everything that `read` gives, and the error at its end if there is one.
async fn drain<D: Decoder<Error = StreamError>>(
    read: &mut FramedRead<impl AsyncRead + Unpin, D>,
) -> (Vec<D::Item>, Option<StreamError>) {
    let mut items = Vec::new();
    while let Some(item) = read.next().await {
        match item {
            Ok(item) => items.push(item),
            Err(error) => return (items, Some(error)),
        }
    }
    (items, None)
}

fn check_frame_error(error: &StreamError, number: u64, offset: u64, source: FrameError) {
    match *error {
        StreamError::Frame { number: n, offset: o, source: s } => {
            assert_eq!((n, o, s), (number, offset, source));
        }
        ref other => panic!("{other}"),
    }
}

#[tokio::test]
async fn sessions_pass_through_a_pipe_of_any_size() {
    for (name, events) in sessions() {
        for size in [1, 2, 3, 7, 64, 1 << 20] {
            let (into, out_of) = tokio::io::duplex(size);
            assert_eq!(pass(&events, into, out_of).await, events, "{name}, {size} bytes");
        }
    }
}

#[tokio::test]
async fn sessions_pass_through_a_tcp_socket() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    for (name, events) in sessions() {
        let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (server, _) = listener.accept().await.unwrap();
        assert_eq!(pass(&events, server, client).await, events, "{name}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn sessions_pass_through_a_unix_socket() {
    for (name, events) in sessions() {
        let (into, out_of) = tokio::net::UnixStream::pair().unwrap();
        assert_eq!(pass(&events, into, out_of).await, events, "{name}");
    }
}

/// The other process is this test once more, which then passes events on. It writes them to standard
/// error, since the test harness has its own use for standard output.
#[tokio::test]
async fn sessions_pass_through_the_pipes_of_another_process() {
    const CHILD: &str = "AG_UI_PROTO_TEST_CHILD";
    if std::env::var_os(CHILD).is_some() {
        let frames = FramedRead::new(tokio::io::stdin(), EventCodec::new()).map(Result::unwrap);
        let mut output = FramedWrite::new(tokio::io::stderr(), EventCodec::new());
        output.send_all(&mut frames.map(Ok)).await.unwrap();
        return;
    }
    for (name, events) in sessions() {
        let mut child = tokio::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "streams::sessions_pass_through_the_pipes_of_another_process"])
            .env(CHILD, "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (into, out_of) = (child.stdin.take().unwrap(), child.stderr.take().unwrap());
        assert_eq!(pass(&events, into, out_of).await, events, "{name}");
        assert!(child.wait().await.unwrap().success(), "{name}");
    }
}

#[tokio::test]
async fn both_sides_speak_at_once() {
    let [(_, chat), (_, research), _] = sessions().try_into().unwrap();
    for size in [1, 64, 1 << 20] {
        let (client, server) = tokio::io::duplex(size);
        let speak = |events, io| async move {
            let (mut sink, stream) = Framed::new(io, EventCodec::new()).split();
            let send = async move {
                sink.send_all(&mut stream::iter(events).map(Ok)).await.unwrap();
                SinkExt::<&Event>::close(&mut sink).await.unwrap();
            };
            tokio::join!(stream.map(Result::unwrap).collect::<Vec<_>>(), send).0
        };
        let (by_client, by_server) = tokio::join!(speak(&chat, client), speak(&research, server));
        assert_eq!(by_client, research);
        assert_eq!(by_server, chat);
    }
}

#[test]
fn an_event_reader_takes_parts_of_any_length() {
    for (name, events) in sessions() {
        let bytes = frames(&events);
        for len in [1, 2, 3, 5, 64, 4096, bytes.len()] {
            let (mut reader, mut buffer) = (EventReader::new(), BytesMut::new());
            let mut seen = Vec::new();
            for part in bytes.chunks(len) {
                buffer.extend_from_slice(part);
                while let Some(decoded) = reader.next_event(&mut buffer).unwrap() {
                    assert_eq!(decoded.notices, []);
                    seen.push(decoded.event.unwrap());
                }
            }
            reader.finish(&buffer).unwrap();
            assert_eq!(seen, events, "{name}, parts of {len} bytes");
            let place = (events.len() as u64 + 1, bytes.len() as u64);
            assert_eq!(reader.position(), place, "{name}");
        }
    }
}

#[test]
fn frames_that_came_in_one_read_are_taken_one_by_one() {
    let events = steps();
    let mut buffer = frames(&events);
    let mut codec = EventCodec::new();
    for event in events {
        assert_eq!(codec.decode(&mut buffer).unwrap(), Some(event));
    }
    assert_eq!(codec.decode(&mut buffer).unwrap(), None);
    assert!(buffer.is_empty());
}

#[tokio::test]
async fn a_peer_that_stops_inside_a_frame_is_told_from_one_that_stops_after_it() {
    let events = steps();
    let bytes = frames(&events);
    let ends: Vec<usize> = (0..=events.len()).map(|count| frames(&events[..count]).len()).collect();

    for cut in 0..=bytes.len() {
        let (mut peer, socket) = tokio::io::duplex(bytes.len());
        peer.write_all(&bytes[..cut]).await.unwrap();
        drop(peer);
        let mut read = FramedRead::new(socket, EventCodec::new());
        let (seen, error) = drain(&mut read).await;

        let whole = ends.iter().filter(|end| **end <= cut).count() - 1;
        assert_eq!(seen, events[..whole], "cut at {cut}");
        if ends.contains(&cut) {
            assert!(error.is_none(), "cut at {cut}");
        } else {
            let (start, have) = (ends[whole], cut - ends[whole]);
            let len = (have >= 4).then(|| (ends[whole + 1] - start) as u64);
            let error = error.unwrap();
            assert!(error.is_truncated());
            let source = FrameError::Truncated { have, len };
            check_frame_error(&error, whole as u64 + 1, start as u64, source);
        }
        assert!(read.next().await.is_none(), "cut at {cut}");
    }
}

#[tokio::test]
async fn a_truncated_stream_says_how_far_it_got() {
    let bytes = frames(&steps());
    for (cut, text) in [
        (17, "frame 2 at byte 16: truncated: input ended after 1 bytes of a frame"),
        (22, "frame 2 at byte 16: truncated: input ended after 6 bytes of a frame of 19"),
    ] {
        let (seen, error) = drain(&mut FramedRead::new(&bytes[..cut], FrameCodec::new())).await;
        assert_eq!(seen.len(), 1);
        let error = error.unwrap();
        assert!(error.is_truncated());
        assert_eq!(error.to_string(), text);
    }
}

#[tokio::test]
async fn a_future_frame_is_dropped_and_told_once_and_the_stream_goes_on() {
    let [first, second, third] = steps();
    let bytes =
        [&frames([&first])[..], FUTURE, &frames([&second])[..], &frames([&third])[..]].concat();
    let told = Arc::new(Mutex::new(Vec::new()));
    let teller = Arc::clone(&told);
    let codec = EventCodec::new().on_notice(move |notice| teller.lock().unwrap().push(notice));

    let (seen, error) = drain(&mut FramedRead::new(&bytes[..], codec)).await;
    assert_eq!(seen, [first, second, third]);
    assert!(error.is_none());
    let told = told.lock().unwrap();
    let kind = NoticeKind::UnknownArm { arm: 32 };
    assert_eq!(*told, [Notice { path: Path::root(), kind }]);
    assert_eq!(told[0].to_string(), "dropped a frame with an event of a later version (arm 32)");
}

#[tokio::test]
async fn a_stream_of_future_frames_alone_ends_cleanly() {
    let bytes = FUTURE.repeat(3);
    let (seen, error) = drain(&mut FramedRead::new(&bytes[..], EventCodec::new())).await;
    assert_eq!(seen, []);
    assert!(error.is_none());
}

#[tokio::test]
async fn what_an_event_loses_on_the_wire_is_told_when_it_is_written() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let teller = Arc::clone(&told);
    let codec =
        EventCodec::new().on_notice(move |notice| teller.lock().unwrap().push(notice.to_string()));
    let mut sink = FramedWrite::new(Vec::new(), codec);
    let json = r#"{"type":"STEP_STARTED","stepName":"plan","colour":"red"}"#;
    sink.send(Event::from_json(json).unwrap()).await.unwrap();
    assert_eq!(
        *told.lock().unwrap(),
        ["/colour: left out, since the wire has no place for it: unknown member"]
    );
    assert_eq!(sink.get_ref()[..], frames(&steps()[..1])[..]);
}

#[tokio::test]
async fn a_frame_over_the_limit_is_refused_by_its_header_while_the_peer_still_holds_the_payload() {
    let limits = Limits::new().with_max_frame_len(64);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let socket = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let (mut peer, _) = listener.accept().await.unwrap();
    let [first, ..] = steps();
    peer.write_all(&frames([&first])).await.unwrap();
    peer.write_all(&61_u32.to_be_bytes()).await.unwrap();

    let mut read = FramedRead::new(socket, EventCodec::with_limits(limits));
    let drained = tokio::time::timeout(Duration::from_secs(10), drain(&mut read));
    let (seen, error) = drained.await.expect("the payload is not waited for");
    assert_eq!(seen, [first]);
    let error = error.unwrap();
    check_frame_error(&error, 2, 16, FrameError::TooLarge { len: 65, max: 64 });
    assert_eq!(
        error.to_string(),
        "frame 2 at byte 16: a frame of 65 bytes is over the limit of 64"
    );
    assert!(!error.is_truncated());
    drop(peer);
}

#[tokio::test]
async fn after_an_error_nothing_more_is_read_however_often_one_asks() {
    let [first, second, third] = steps();
    for (bad, text) in [
        (&b"\0\0\0\0"[..], "frame 2 at byte 16: an empty frame names no event"),
        (&b"\0\0\0\x02\x08\x01"[..], "frame 2 at byte 16: the envelope names no event"),
        (
            &b"\xff\xff\xff\xff"[..],
            "frame 2 at byte 16: a frame of 4294967299 bytes is over the limit of 10485760",
        ),
    ] {
        let bytes = [&frames([&first])[..], bad, &frames([&second, &third])[..]].concat();
        for size in [1, 7, bytes.len()] {
            let (mut peer, socket) = tokio::io::duplex(size);
            let mut read = FramedRead::new(socket, EventCodec::new());
            let write = async {
                peer.write_all(&bytes).await.unwrap();
                drop(peer);
            };
            let asked = async {
                let (seen, error) = drain(&mut read).await;
                assert_eq!(seen.as_slice(), std::slice::from_ref(&first));
                assert_eq!(error.unwrap().to_string(), text);
                for _ in 0..3 {
                    assert!(read.next().await.is_none(), "{text}");
                }
            };
            tokio::join!(write, asked);
        }
    }
}

#[tokio::test]
async fn a_relay_passes_on_frames_that_it_cannot_name() {
    let bytes = [
        &frames(&steps())[..],
        FUTURE,
        b"\0\0\0\0",
        b"\0\0\0\x03\xff\xff\xff",
        &frames(&steps())[..],
    ]
    .concat();
    for size in [1, 3, 64] {
        let (into, out_of) = tokio::io::duplex(size);
        let mut into = FramedWrite::new(into, FrameCodec::new());
        let mut read = FramedRead::new(&bytes[..], FrameCodec::new()).map(Result::unwrap).map(Ok);
        let send = async move { into.send_all(&mut read).await.unwrap() };
        let relayed = FramedRead::new(out_of, FrameCodec::new()).map(Result::unwrap);
        let ((), relayed) = tokio::join!(send, relayed.collect::<Vec<_>>());

        let mut copy = BytesMut::new();
        let mut codec = FrameCodec::new();
        for (index, frame) in relayed.into_iter().enumerate() {
            assert_eq!((frame.number, frame.offset), (index as u64 + 1, copy.len() as u64));
            codec.encode(frame, &mut copy).unwrap();
        }
        assert_eq!(copy, bytes);
    }
}

#[tokio::test]
async fn a_sink_holds_back_while_its_peer_does_not_read() {
    let event = Event::from(TextMessageContent::new("m1", "a delta of some length"));
    let len = frames([&event]).len();
    let (into, out_of) = tokio::io::duplex(2 * len);
    let mut sink = FramedWrite::new(into, EventCodec::new());
    sink.set_backpressure_boundary(4 * len);

    let mut taken = 0;
    while sink.feed(&event).now_or_never().is_some() {
        taken += 1;
        assert!(taken < 100, "a sink without backpressure");
    }
    // The sink takes frames up to its boundary, then gives the pipe what goes in.
    assert_eq!(taken, 4);
    assert_eq!(sink.write_buffer().len(), 2 * len);
    assert!(SinkExt::<&Event>::flush(&mut sink).now_or_never().is_none());

    let rest = pass_on(sink, out_of);
    assert_eq!(rest.await, vec![event; taken]);
}

/// Flushes and closes `sink` while it takes events off the other end.
async fn pass_on(
    mut sink: FramedWrite<impl AsyncWrite + Unpin, EventCodec>,
    out_of: impl AsyncRead + Unpin,
) -> Vec<Event> {
    let close = async move { SinkExt::<&Event>::close(&mut sink).await.unwrap() };
    let received = FramedRead::new(out_of, EventCodec::new()).map(Result::unwrap).collect();
    tokio::join!(close, received).1
}

#[tokio::test]
async fn a_refused_event_leaves_the_stream_as_it_was() {
    let limits = Limits::new().with_max_frame_len(64);
    let [first, second, _] = steps();
    let mut sink = FramedWrite::new(Vec::new(), EventCodec::with_limits(limits));
    sink.feed(&first).await.unwrap();
    let error = sink.feed(&Custom::new("n", "v".repeat(64)).into()).await.unwrap_err();
    assert!(matches!(
        error,
        WriteError::Encode(EncodeError::TooLarge { event_type: EventType::Custom, max: 64, .. })
    ));
    assert_eq!(error.to_string(), "CUSTOM: a frame of 81 bytes is over the limit of 64");
    sink.send(&second).await.unwrap();
    assert_eq!(sink.get_ref()[..], frames([&first, &second])[..]);
}

#[tokio::test]
async fn a_payload_over_the_limit_is_not_written_as_a_frame() {
    let mut sink =
        FramedWrite::new(Vec::new(), FrameCodec::with_limits(Limits::new().with_max_frame_len(8)));
    sink.feed(Bytes::from_static(b"four")).await.unwrap();
    let error = sink.feed(Bytes::from_static(b"five5")).await.unwrap_err();
    assert!(matches!(error, WriteError::Frame(FrameError::TooLarge { len: 9, max: 8 })));
    assert_eq!(error.to_string(), "a frame of 9 bytes is over the limit of 8");
    SinkExt::<Bytes>::flush(&mut sink).await.unwrap();
    assert_eq!(sink.get_ref()[..], b"\0\0\0\x04four"[..]);
}
