//! What a body of server-sent events can make us hold.

use ag_ui_proto::codec::Limits;
use ag_ui_proto::sse::{DataError, DataReader, SseError, SseReader};
use bytes::BytesMut;

use super::{MAX_FRAME, SLACK, alone, held_by, peak_of};

#[test]
fn a_thousand_readers_hold_about_what_they_received() {
    let _alone = alone();
    for (received, part) in [(1_000, "xxxx".repeat(100)), (40_000, "data: x\n".repeat(50))] {
        let (readers, held) = held_by(|| {
            let mut readers: Vec<_> =
                (0..1000).map(|_| (SseReader::new(), BytesMut::from("data: "))).collect();
            for (reader, buffer) in &mut readers {
                for _ in 0..received / part.len() {
                    buffer.extend_from_slice(part.as_bytes());
                    assert_eq!(reader.next_event(buffer).unwrap(), None);
                }
            }
            readers
        });
        let each = held / readers.len();
        // A buffer doubles as it grows, and there are two: of the line, and of the lines before it.
        assert!(each < 2 * received + 2048, "{each} bytes after {received}");
    }
}

/// Every byte is seen once, or this would not end.
#[test]
fn data_of_the_longest_kind_arrives_byte_by_byte() {
    let _alone = alone();
    let ((), peak) = peak_of(|| {
        let mut reader = DataReader::new(Limits::new());
        let mut buffer = BytesMut::from("data:");
        for _ in 0..MAX_FRAME {
            buffer.extend_from_slice(b"x");
            assert_eq!(reader.next_data(&mut buffer), Ok(None));
        }
        buffer.extend_from_slice(b"\n\n");
        let data = reader.next_data(&mut buffer).unwrap().unwrap();
        assert_eq!(data.bytes.len(), MAX_FRAME);
        assert_eq!(reader.finish(&buffer), Ok(()));
    });
    assert!(peak < 4 * MAX_FRAME, "{peak} bytes");
}

#[test]
fn lines_of_data_are_held_once_and_lines_of_comment_not_at_all() {
    let _alone = alone();
    let line = format!("data: {}\n", "x".repeat(1000));
    let ((), peak) = peak_of(|| {
        let mut reader = DataReader::new(Limits::new());
        let mut buffer = BytesMut::new();
        for _ in 0..MAX_FRAME / 1001 {
            buffer.extend_from_slice(line.as_bytes());
            assert_eq!(reader.next_data(&mut buffer), Ok(None));
        }
        buffer.extend_from_slice(b"\n");
        assert!(reader.next_data(&mut buffer).unwrap().is_some());
    });
    assert!(peak < 4 * MAX_FRAME, "{peak} bytes");

    let ((), peak) = peak_of(|| {
        let mut reader = DataReader::new(Limits::new());
        let mut buffer = BytesMut::new();
        for _ in 0..100_000 {
            buffer.extend_from_slice(b": keep the connection open, whatever it costs\n\n");
            assert_eq!(reader.next_data(&mut buffer), Ok(None));
        }
    });
    assert!(peak < SLACK, "{peak} bytes");
}

#[test]
fn data_without_an_end_is_held_up_to_the_limit() {
    let _alone = alone();
    let limits = Limits::new().with_max_frame_len(1 << 20);
    for part in ["x".repeat(1000), "\ndata: ".repeat(100)] {
        let (error, peak) = peak_of(|| {
            let mut reader = SseReader::with_limits(limits);
            let mut buffer = BytesMut::from("data: ");
            loop {
                buffer.extend_from_slice(part.as_bytes());
                if let Err(error) = reader.next_event(&mut buffer) {
                    return error;
                }
            }
        });
        assert!(peak < 4 << 20, "{peak} bytes");
        let source = DataError::TooLarge { max: 1 << 20 };
        assert!(matches!(error, SseError::Data { source: at, .. } if at == source));
    }
}
