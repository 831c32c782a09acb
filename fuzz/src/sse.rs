//! A stream of server-sent events, in whatever parts it arrives.

use ag_ui_proto::codec::{Decoded, Limits};
use ag_ui_proto::model::UnknownNames;
use ag_ui_proto::sse::{Reading, SseReader};
use bytes::BytesMut;

use super::parts::parts;

/// Reads a stream whole and in parts. The first byte says in which parts, the second how to read.
pub fn sse(input: &[u8]) {
    let [cut, how, bytes @ ..] = input else { return };
    let limits = match how & 8 {
        0 => Limits::new(),
        _ => Limits::new().with_max_frame_len(64).with_max_depth(4),
    };
    let whole = events(&[bytes], *how, limits);
    assert_eq!(whole, events(&parts(bytes, *cut), *how, limits));
}

fn reader(how: u8, limits: Limits) -> SseReader {
    let reading = match how & 3 {
        0 => Reading::AsItCame,
        1 => Reading::Strict,
        2 => Reading::Tolerant(UnknownNames::Strip),
        _ => Reading::Tolerant(UnknownNames::Refuse),
    };
    let reader = SseReader::with_limits(limits).with_reading(reading);
    if how & 4 == 0 { reader } else { reader.joining_surrogates() }
}

/// What a stream gives, and how it ended.
fn events(parts: &[&[u8]], how: u8, limits: Limits) -> (Vec<Decoded>, Option<String>) {
    let mut reader = reader(how, limits);
    let (mut buffer, mut events) = (BytesMut::new(), Vec::new());
    for part in parts {
        buffer.extend_from_slice(part);
        loop {
            match reader.next_event(&mut buffer) {
                Ok(Some(event)) => events.push(event),
                Ok(None) => break,
                Err(error) => {
                    assert!(matches!(reader.next_event(&mut buffer), Ok(None)), "the end");
                    return (events, Some(error.to_string()));
                }
            }
        }
    }
    if how & 16 != 0 {
        match reader.take_unterminated(&mut buffer) {
            Ok(event) => events.extend(event),
            Err(error) => return (events, Some(error.to_string())),
        }
    }
    let error = reader.finish(&buffer).err();
    (events, error.map(|error| error.to_string()))
}
