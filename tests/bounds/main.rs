//! What input can make us hold, measured by an allocator that keeps its peak.
//!
//! A growing buffer counts twice while it moves, so that the peaks here are upper bounds.

#![allow(clippy::unwrap_used, reason = "what fails here fails the test")]

#[cfg(feature = "compression")]
mod compression;
#[cfg(feature = "conversation")]
mod conversation;
#[cfg(feature = "sse")]
mod sse;

use std::sync::{Mutex, MutexGuard, PoisonError};

use ag_ui_proto::Event;
use ag_ui_proto::codec::{
    DecodeError, EncodeError, EventReader, FrameError, FrameReader, Limits, StreamError,
    encode_frame,
};
use ag_ui_proto::model::{
    Custom, MessagesSnapshot, PatchOperation, ReadError, StateDelta, StateSnapshot, StepStarted,
    UserMessage,
};
use ag_ui_proto::value::{JsonError, List, Number, Object, Value};
use bytes::BytesMut;
use peak_alloc::PeakAlloc;
use prost::encoding::encode_varint;

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// What the test harness may allocate while a test measures.
const SLACK: usize = 64 * 1024;

const MAX_FRAME: usize = 10 * 1024 * 1024;

/// One test at a time, since all of them share one heap.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What `work` gives, and the bytes that it held at its peak.
fn peak_of<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = HEAP.current_usage();
    HEAP.reset_peak_usage();
    let result = work();
    (result, HEAP.peak_usage().saturating_sub(before))
}

/// What `work` gives, and the bytes that it left allocated.
fn held_by<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = HEAP.current_usage();
    let result = work();
    (result, HEAP.current_usage().saturating_sub(before))
}

fn len_field(number: u32, body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(body.len() + 12);
    encode_varint(u64::from(number << 3 | 2), &mut bytes);
    encode_varint(body.len() as u64, &mut bytes);
    bytes.extend_from_slice(body);
    bytes
}

/// The payload of an event of this type, with `members` behind its base.
fn payload(arm: u32, event_type: u8, members: &[u8]) -> Vec<u8> {
    len_field(arm, &[&[0x0a, 2, 8, event_type], members].concat())
}

fn snapshot(len: usize) -> Event {
    StateSnapshot::new("s".repeat(len)).into()
}

/// A snapshot whose payload has so many bytes; from 2 MiB on, when no length changes its own.
fn snapshot_of_payload_len(len: usize) -> Event {
    let around = snapshot(1 << 22).to_payload().unwrap().len() - (1 << 22);
    snapshot(len - around)
}

// --- announced -------------------------------------------------------------------------------

#[test]
fn an_announced_payload_reserves_nothing() {
    let _alone = alone();
    let unlimited = Limits::new().with_max_frame_len(usize::MAX);
    for (limits, len) in [(Limits::new(), 10_485_756_u32), (unlimited, u32::MAX)] {
        let mut buffer = BytesMut::with_capacity(16);
        buffer.extend_from_slice(&len.to_be_bytes());
        buffer.extend_from_slice(&[0x12, 1]);
        let capacity = buffer.capacity();
        let ((), peak) = peak_of(|| {
            assert_eq!(FrameReader::new(limits).next_frame(&mut buffer), Ok(None));
            let decoded = EventReader::with_limits(limits).next_event(&mut buffer).unwrap();
            assert_eq!(decoded, None);
        });
        assert!(peak < SLACK, "{peak} bytes for a header that says {len}");
        assert_eq!(buffer.capacity(), capacity);
    }
}

#[test]
fn a_header_over_the_limit_is_refused_at_once() {
    let _alone = alone();
    let mut buffer = BytesMut::from(&[0xff; 4][..]);
    let mut reader = EventReader::new();
    let (error, peak) = peak_of(|| reader.next_event(&mut buffer).unwrap_err());
    assert!(peak < SLACK, "{peak} bytes");
    assert!(matches!(
        error,
        StreamError::Frame {
            number: 1,
            offset: 0,
            source: FrameError::TooLarge { len: 4_294_967_299, max: 10_485_760 }
        }
    ));
    // Whatever follows is not looked at.
    for _ in 0..3 {
        buffer.extend_from_slice(&[0; 1000]);
        assert_eq!(reader.next_event(&mut buffer).unwrap(), None);
    }
    reader.finish(&buffer).unwrap();
}

#[cfg(feature = "tokio")]
#[test]
fn a_header_over_the_limit_ends_a_stream_that_never_ends() {
    use ag_ui_proto::codec::EventCodec;
    use futures_util::StreamExt as _;
    use tokio::io::AsyncReadExt as _;
    use tokio_util::codec::FramedRead;

    let _alone = alone();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let ((), peak) = peak_of(|| {
        runtime.block_on(async {
            let input = (&[0xff; 4][..]).chain(tokio::io::repeat(0));
            let mut events = FramedRead::new(input, EventCodec::new());
            assert_eq!(
                events.next().await.unwrap().unwrap_err().to_string(),
                "frame 1 at byte 0: a frame of 4294967299 bytes is over the limit of 10485760"
            );
            assert!(events.next().await.is_none());
        });
    });
    assert!(peak < SLACK, "{peak} bytes");
}

// --- received --------------------------------------------------------------------------------

#[test]
fn a_thousand_readers_hold_about_what_they_received() {
    let _alone = alone();
    for received in [1_000, 40_000] {
        let part = [0x12; 500];
        let (readers, held) = held_by(|| {
            let mut readers: Vec<_> =
                (0..1000).map(|_| (EventReader::new(), BytesMut::new())).collect();
            for (reader, buffer) in &mut readers {
                buffer.extend_from_slice(&1_000_000_u32.to_be_bytes());
                while buffer.len() < received {
                    buffer.extend_from_slice(&part);
                    assert_eq!(reader.next_event(buffer).unwrap(), None);
                }
            }
            readers
        });
        let each = held / readers.len();
        // The buffer doubles as it grows.
        assert!(each < 2 * received + 1024, "{each} bytes after {received}");
    }
}

#[test]
fn a_million_small_frames_pass_in_constant_memory() {
    const PARTS: usize = 1000;
    let _alone = alone();
    let mut part = BytesMut::new();
    for _ in 0..1000 {
        Event::from(StepStarted::new("plan")).encode_frame(&mut part).unwrap();
    }
    // Cut within a frame, so that something always stays behind.
    let mut reader = FrameReader::new(Limits::new());
    let mut buffer = BytesMut::from(&part[..7]);
    part.rotate_left(7);
    let (last, peak) = peak_of(|| {
        let mut last = None;
        for _ in 0..PARTS {
            buffer.extend_from_slice(&part);
            while let Some(frame) = reader.next_frame(&mut buffer).unwrap() {
                last = Some((frame.number, frame.offset));
            }
        }
        last
    });
    assert_eq!(last, Some((1_000_000, (PARTS * part.len() - 16) as u64)));
    assert!(peak < 4 * part.len() + SLACK, "{peak} bytes for parts of {}", part.len());
}

#[test]
fn many_small_events_pass_in_constant_memory() {
    let _alone = alone();
    let mut part = BytesMut::new();
    for _ in 0..100 {
        Event::from(StepStarted::new("plan")).encode_frame(&mut part).unwrap();
    }
    let (mut reader, mut buffer) = (EventReader::new(), BytesMut::new());
    let (count, peak) = peak_of(|| {
        let mut count = 0;
        for _ in 0..500 {
            buffer.extend_from_slice(&part);
            while let Some(decoded) = reader.next_event(&mut buffer).unwrap() {
                assert!(decoded.event.is_some());
                count += 1;
            }
        }
        count
    });
    assert_eq!(count, 50_000);
    assert!(peak < 4 * part.len() + SLACK, "{peak} bytes for parts of {}", part.len());
}

// --- at the limit ----------------------------------------------------------------------------

#[test]
fn a_frame_of_ten_mebibytes_passes_both_ways() {
    let _alone = alone();
    let event = snapshot_of_payload_len(MAX_FRAME - 4);
    let mut buffer = BytesMut::new();
    event.encode_frame(&mut buffer).unwrap();
    assert_eq!(buffer.len(), 10_485_760);
    assert_eq!(buffer[..4], 10_485_756_u32.to_be_bytes());
    let decoded = EventReader::new().next_event(&mut buffer).unwrap().unwrap();
    assert!(decoded.event == Some(event), "too long to print");
    assert!(buffer.is_empty());
}

#[test]
fn one_byte_over_ten_mebibytes_is_refused_both_ways() {
    let _alone = alone();
    let event = snapshot_of_payload_len(MAX_FRAME - 3);
    let mut buffer = BytesMut::from(&b"before"[..]);
    for error in [event.encode(&mut buffer), event.encode_frame(&mut buffer)] {
        let error = error.unwrap_err();
        assert!(matches!(error, EncodeError::TooLarge { len: 10_485_761, max: 10_485_760, .. }));
        assert_eq!(
            error.to_string(),
            "STATE_SNAPSHOT: a frame of 10485761 bytes is over the limit of 10485760"
        );
        assert_eq!(buffer, b"before"[..]);
    }

    let wider = Limits::new().with_max_frame_len(MAX_FRAME + 1);
    let mut buffer = BytesMut::new();
    encode_frame(&event, &wider, &mut buffer).unwrap();
    let error = EventReader::new().next_event(&mut buffer).unwrap_err();
    assert_eq!(
        error.to_string(),
        "frame 1 at byte 0: a frame of 10485761 bytes is over the limit of 10485760"
    );
    let decoded = EventReader::with_limits(wider).next_event(&mut buffer).unwrap().unwrap();
    assert!(decoded.event == Some(event), "too long to print");
}

/// tokio-util's own codec for lengths stops at 8 MiB.
#[test]
fn a_payload_of_more_than_eight_mebibytes_passes() {
    let _alone = alone();
    let event = snapshot_of_payload_len(8_388_609);
    let mut buffer = BytesMut::new();
    event.encode_frame(&mut buffer).unwrap();
    assert_eq!(buffer.len(), 8_388_613);
    let decoded = EventReader::new().next_event(&mut buffer).unwrap().unwrap();
    assert!(decoded.event == Some(event), "too long to print");
}

#[test]
fn a_refused_event_leaves_the_buffer_byte_for_byte() {
    let _alone = alone();
    let over = Event::from_json(
        r#"{"type":"STATE_DELTA","delta":[{"op":"add","path":"/a","value":1},
        {"op":"upsert","path":"/b","value":1}]}"#,
    );
    let refused: [(Event, &str); 5] = [
        (
            snapshot(MAX_FRAME),
            "STATE_SNAPSHOT: a frame of 10485783 bytes is over the limit of 10485760",
        ),
        (
            StateSnapshot::new(nested(200)).into(),
            "STATE_SNAPSHOT: snapshot: nests the event deeper than 128 levels",
        ),
        (
            MessagesSnapshot::new([
                UserMessage::new("u", "hi").into(),
                UserMessage::new("v", "hi").with_metadata(unwritable()).into(),
            ])
            .into(),
            "MESSAGES_SNAPSHOT: messages[1].metadata: the number 1e999 at /n in it is outside the range \
             of a double",
        ),
        (
            StateDelta::new([PatchOperation::remove("/a"), PatchOperation::remove("b")]).into(),
            "STATE_DELTA: delta[1].path: \"b\" is not a JSON Pointer",
        ),
        (
            over.unwrap(),
            "STATE_DELTA: delta[1].op: patch operation \"upsert\" has no number on the wire",
        ),
    ];
    for (event, text) in refused {
        let mut buffer = BytesMut::from(&b"\0\x01before\xff"[..]);
        assert_eq!(event.encode(&mut buffer).unwrap_err().to_string(), text);
        assert_eq!(event.encode_frame(&mut buffer).unwrap_err().to_string(), text);
        assert_eq!(buffer, b"\0\x01before\xff"[..], "{text}");
    }
}

fn unwritable() -> Object {
    Object::from([("n", Number::parse("1e999").unwrap())])
}

// --- deep ------------------------------------------------------------------------------------

const DEEP: usize = 100_000;

fn nested(levels: usize) -> Value {
    (0..levels).fold(Value::Null, |inner, _| Value::from(List::from(vec![inner])))
}

#[test]
fn deep_json_is_refused_with_little_memory() {
    let _alone = alone();
    let text = format!(
        r#"{{"type":"CUSTOM","name":"n","value":{}{}}}"#,
        "[".repeat(DEEP),
        "]".repeat(DEEP)
    );
    let (error, peak) = peak_of(|| Event::from_json(&text).unwrap_err());
    assert!(peak < SLACK, "{peak} bytes");
    assert!(matches!(error, ReadError::Json(JsonError::TooDeep { max: 128, line: 1, .. })));
}

/// A `google.protobuf.Value` with so many lists in one another, written from its end.
fn nested_on_the_wire(levels: usize) -> Vec<u8> {
    let mut backwards = vec![0, 0x08];
    for _ in 0..levels {
        for tag in [0x0a, 0x32] {
            let mut len = Vec::new();
            encode_varint(backwards.len() as u64, &mut len);
            backwards.extend(len.iter().rev());
            backwards.push(tag);
        }
    }
    backwards.reverse();
    backwards
}

#[test]
fn deep_bytes_are_refused_with_little_memory() {
    let _alone = alone();
    for levels in [DEEP, 128] {
        let deep = payload(7, 6, &len_field(2, &nested_on_the_wire(levels)));
        let (error, peak) = peak_of(|| Event::decode(&deep).unwrap_err());
        assert!(peak < SLACK, "{peak} bytes for {levels} levels");
        assert!(matches!(error, DecodeError::TooDeep { max: 128, .. }));
        assert_eq!(
            error.to_string(),
            "STATE_SNAPSHOT: snapshot: nests the event deeper than 128 levels"
        );
    }
    let fine = payload(7, 6, &len_field(2, &nested_on_the_wire(127)));
    assert!(Event::decode(&fine).unwrap().event.is_some());
}

#[test]
fn a_deep_event_is_refused_by_the_encoder_with_little_memory() {
    let _alone = alone();
    let event = Event::from(Custom::new("n", nested(DEEP)));
    let (error, peak) = peak_of(|| event.to_payload().unwrap_err());
    // Its depth is counted to the bottom, with a place kept for each level.
    assert!(peak < 50 * DEEP, "{peak} bytes");
    assert_eq!(error.to_string(), "CUSTOM: value: nests the event deeper than 128 levels");
}

// --- proportion ------------------------------------------------------------------------------

/// The decoder's factor: bytes held at the peak for one byte of payload.
///
/// A byte of text takes one. Elements that say nothing take two bytes each and become a whole
/// struct, so that they take most; the worst is a snapshot of empty messages.
#[test]
fn decoding_allocates_in_proportion_to_the_payload() {
    const BYTES: usize = 200_000;
    let _alone = alone();
    let full_of = |element: &[u8]| element.repeat(BYTES / element.len());
    let value = |value: &[u8]| payload(7, 6, &len_field(2, value));
    let list = |element: &[u8]| value(&len_field(6, &full_of(&len_field(1, element))));
    let input = |element: &[u8]| payload(12, 11, &len_field(5, &full_of(element)));
    let user = [&len_field(2, b"user")[..], &full_of(b"\x42\0")].concat();
    let entries: Vec<u8> = (0..BYTES / 16)
        .flat_map(|key| {
            let key = format!("{key:06x}");
            len_field(1, &[&len_field(1, key.as_bytes())[..], b"\x12\x02\x08\0"].concat())
        })
        .collect();

    let table = [
        ("a long text", 2, value(&len_field(3, &vec![b'a'; BYTES]))),
        ("numbers in a list", 6, list(b"\x11\0\0\0\0\0\0\0\0")),
        ("nothing in a list", 48, list(b"")),
        ("entries of an object", 8, value(&len_field(5, &entries))),
        ("empty operations", 128, payload(8, 7, &full_of(b"\x12\0"))),
        ("empty usage", 160, payload(14, 13, &full_of(b"\x22\0"))),
        (
            "empty interrupts",
            256,
            payload(13, 12, &[b"\x2a\x09interrupt", &full_of(b"\x32\0")[..]].concat()),
        ),
        ("empty ids", 40, payload(13, 12, &full_of(b"\x42\0"))),
        ("empty tools", 128, input(b"\x32\0")),
        ("parts in no arm", 256, payload(9, 8, &len_field(2, &user))),
        ("empty messages", 512, payload(9, 8, &full_of(b"\x12\0"))),
    ];
    for (what, most, payload) in &table {
        let (decoded, peak) = peak_of(|| Event::decode(payload));
        assert!(decoded.unwrap().event.is_some(), "{what}");
        let factor = peak.div_ceil(payload.len());
        // A debug build decodes every payload in two ways, and compares.
        let most = if cfg!(debug_assertions) { 2 * most + 32 } else { *most };
        assert!(factor <= most, "{what}: {factor} bytes for a byte of payload");
    }
}
