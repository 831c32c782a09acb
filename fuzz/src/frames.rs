//! A stream of frames, in whatever parts it arrives.

use ag_ui_proto::Event;
use ag_ui_proto::codec::{Decoded, EventReader, FrameReader, HEADER_LEN, Limits};
use bytes::BytesMut;

use super::parts::parts;

/// Reads a stream whole and in parts. The first byte says in which parts.
pub fn frames(input: &[u8]) {
    let Some((cut, bytes)) = input.split_first() else { return };
    let parts = parts(bytes, *cut);
    for limits in [Limits::new(), Limits::new().with_max_frame_len(40).with_max_depth(4)] {
        let whole = events(&[bytes], limits);
        assert_eq!(whole, events(&parts, limits));
        check_frames(&parts, bytes, &whole, limits);
    }
}

/// What a stream gives, and how it ended.
type Events = (Vec<Decoded>, Option<String>);

fn events(parts: &[&[u8]], limits: Limits) -> Events {
    let mut reader = EventReader::with_limits(limits);
    let (mut buffer, mut events) = (BytesMut::new(), Vec::new());
    for part in parts {
        buffer.extend_from_slice(part);
        loop {
            match reader.next_event(&mut buffer) {
                Ok(Some(event)) => events.push(event),
                Ok(None) => break,
                Err(error) => {
                    assert!(matches!(reader.next_event(&mut buffer), Ok(None)), "the end");
                    assert!(reader.finish(&buffer).is_ok(), "one error a stream");
                    return (events, Some(error.to_string()));
                }
            }
        }
    }
    let error = reader.finish(&buffer).err();
    assert_eq!(error.is_none(), buffer.is_empty());
    (events, error.map(|error| error.to_string()))
}

/// Frames are the bytes of the stream, and each is the event that it is alone.
fn check_frames(parts: &[&[u8]], bytes: &[u8], events: &Events, limits: Limits) {
    let mut reader = FrameReader::new(limits);
    let (mut buffer, mut at, mut read) = (BytesMut::new(), 0, 0);
    for part in parts {
        buffer.extend_from_slice(part);
        while let Ok(Some(frame)) = reader.next_frame(&mut buffer) {
            read += 1;
            assert_eq!((frame.number, frame.offset), (read, at as u64));
            let end = at + HEADER_LEN + frame.payload.len();
            assert_eq!(bytes[at + HEADER_LEN..end], frame.payload);
            at = end;
            let index = usize::try_from(read).expect("few frames") - 1;
            if let Some(event) = events.0.get(index)
                && limits == Limits::new()
            {
                assert_eq!(Event::decode(&frame.payload).as_ref(), Ok(event));
            }
        }
    }
    assert!(read >= events.0.len() as u64);
}
