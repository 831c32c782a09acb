//! Compressed streams: every event at once, whole, and bounded.

use std::io::{Read, Write};

use ag_ui_proto::Event;
use ag_ui_proto::codec::{FrameError, StreamError};
use ag_ui_proto::model::{RunFinished, RunStarted, StateSnapshot, TextMessageContent};
use ag_ui_proto::negotiate::{Coding, Format};
use ag_ui_proto::stream::{
    BodyError, BodyReader, BodyWriter, CODINGS, Compressor, Decompressor, InflateError,
    InflateLimits, STEP_LEN,
};
use bytes::{Bytes, BytesMut};
use flate2::{Decompress, FlushDecompress};
use zlib_rs::{Deflate, DeflateFlush};

const FORMATS: [Format; 2] = [Format::Protobuf, Format::Sse];

fn events() -> Vec<Event> {
    let mut events = vec![Event::from(RunStarted::new("thread-1", "run-1"))];
    for number in 0..300 {
        let words = ["the", "answer", "is", "\u{1f600}", "", "forty-two"];
        let delta = format!("{} {}", words[number % words.len()], number * 7919 % 101);
        let event = Event::from(TextMessageContent::new("message-1", delta));
        events.push(event.with_timestamp(1_767_225_600_000 + i64::try_from(number * 37).unwrap()));
    }
    events.push(StateSnapshot::new("x".repeat(100_000)).into());
    events.push(RunFinished::new("thread-1", "run-1").into());
    events
}

/// The bytes of each event, and of the end.
fn parts(format: Format, coding: Coding) -> (Vec<Bytes>, Bytes) {
    let mut writer = BodyWriter::new(format).with_coding(coding).unwrap();
    let parts = events()
        .iter()
        .map(|event| {
            writer.put(event).unwrap();
            writer.flush().unwrap()
        })
        .collect();
    (parts, writer.finish().unwrap())
}

fn reader(format: Format, coding: Coding) -> BodyReader {
    BodyReader::new(format).with_coding(coding, InflateLimits::new()).unwrap()
}

#[test]
fn every_event_is_there_as_soon_as_its_bytes_are() {
    for format in FORMATS {
        for coding in CODINGS {
            let (parts, end) = parts(format, *coding);
            let mut reader = reader(format, *coding);
            for (part, event) in parts.iter().zip(events()) {
                reader.push(part);
                let decoded = reader.next_event().unwrap();
                assert_eq!(decoded.unwrap().event, Some(event), "{format} {coding}");
                assert!(reader.next_event().unwrap().is_none());
            }
            assert!(reader.finish().unwrap_err().is_truncated(), "{coding} has an end of its own");
            let mut reader = self::reader(format, *coding);
            for part in parts.iter().chain([&end]) {
                reader.push(part);
                while reader.next_event().unwrap().is_some() {}
            }
            reader.finish().unwrap();
        }
    }
}

#[test]
fn parts_of_any_size_give_the_same_events() {
    for format in FORMATS {
        for coding in CODINGS {
            let (parts, end) = parts(format, *coding);
            let body = [parts.concat(), end.to_vec()].concat();
            for size in [1, 3, 1000, body.len()] {
                let mut reader = reader(format, *coding);
                let mut read = Vec::new();
                for part in body.chunks(size) {
                    reader.push(part);
                    while let Some(decoded) = reader.next_event().unwrap() {
                        read.extend(decoded.event);
                    }
                    for _ in 0..20 {
                        assert!(reader.next_event().unwrap().is_none(), "asking again is harmless");
                    }
                }
                assert_eq!(read, events(), "{format} {coding} {size}");
                reader.finish().unwrap();
            }
        }
    }
}

#[test]
fn a_partial_flush_takes_fewer_bytes_and_zlib_decoders_give_each_event_at_once() {
    let (parts, _) = parts(Format::Protobuf, Coding::Gzip);
    let mut inflate = Decompress::new(false);
    let mut sync = Deflate::new(6, false, 15);
    let mut partial_len = 0;
    for (number, (part, event)) in parts.iter().zip(events()).enumerate() {
        let mut frame = BytesMut::new();
        event.encode_frame(&mut frame).unwrap();

        let deflate = if number == 0 { &part[10..] } else { part };
        let mut out = vec![0; frame.len() + 1];
        let before = inflate.total_out();
        inflate.decompress(deflate, &mut out, FlushDecompress::None).unwrap();
        out.truncate(usize::try_from(inflate.total_out() - before).unwrap());
        assert_eq!(out, frame);

        partial_len += deflate.len();
        let mut out = vec![0; 200_000];
        sync.compress(&frame, &mut out, DeflateFlush::SyncFlush).unwrap();
    }
    let saved = usize::try_from(sync.total_out()).unwrap() - partial_len;

    assert!(saved >= 3 * parts.len(), "{saved} bytes in {} events", parts.len());
}

#[test]
fn other_readers_read_what_is_written() {
    for format in FORMATS {
        let mut plain = BodyWriter::new(format);
        for event in events() {
            plain.put(&event).unwrap();
        }
        let plain = plain.flush().unwrap();
        for coding in CODINGS {
            let (parts, end) = parts(format, *coding);
            let body = [parts.concat(), end.to_vec()].concat();
            let mut out = Vec::new();
            match coding {
                Coding::Gzip => drop(flate2::read::GzDecoder::new(&body[..]).read_to_end(&mut out)),
                Coding::Brotli => {
                    drop(brotli::Decompressor::new(&body[..], 4096).read_to_end(&mut out));
                }
                #[cfg(feature = "zstd")]
                Coding::Zstd => out = zstd::decode_all(&body[..]).unwrap(),
                #[cfg(not(feature = "zstd"))]
                Coding::Zstd => panic!("zstd is offered without its feature"),
            }
            assert_eq!(out, plain, "{format} {coding}");
        }
    }
}

#[test]
fn a_gzip_header_may_have_all_its_parts_and_members_may_follow() {
    let header =
        flate2::GzBuilder::new().extra(vec![7; 300]).filename("name").comment("a comment").mtime(5);
    let mut body = Vec::new();
    let mut encoder = header.write(&mut body, flate2::Compression::fast());
    encoder.write_all(b"one ").unwrap();
    encoder.finish().unwrap();
    let mut encoder = flate2::write::GzEncoder::new(&mut body, flate2::Compression::fast());
    encoder.write_all(b"two").unwrap();
    encoder.finish().unwrap();
    for size in [1, body.len()] {
        let mut decompressor = Decompressor::new(Coding::Gzip, InflateLimits::new()).unwrap();
        let (mut src, mut out) = (BytesMut::new(), BytesMut::new());
        for part in body.chunks(size) {
            src.extend_from_slice(part);
            while decompressor.step(&mut src, &mut out).unwrap() {}
        }
        assert_eq!(out, "one two");
        decompressor.finish().unwrap();
    }
}

#[test]
fn bytes_that_are_not_of_the_coding_are_refused_and_a_changed_checksum_too() {
    for coding in CODINGS {
        let mut decompressor = Decompressor::new(*coding, InflateLimits::new()).unwrap();
        let mut src = BytesMut::from(&[0xff; 64][..]);
        let mut out = BytesMut::new();
        let error = decompressor.step(&mut src, &mut out).unwrap_err();
        assert!(matches!(error, InflateError::Malformed { .. }), "{coding}: {error:?}");
        assert_eq!(decompressor.step(&mut src, &mut out), Ok(false), "an error ends the stream");
        assert_eq!(decompressor.finish(), Ok(()), "what is left is not truncated, it is unread");
    }
    let mut body = BytesMut::new();
    let mut compressor = Compressor::new(Coding::Gzip).unwrap();
    compressor.push(b"event", &mut body).unwrap();
    compressor.finish(&mut body).unwrap();
    let at = body.len() - 8;
    body[at] ^= 1;
    let mut decompressor = Decompressor::new(Coding::Gzip, InflateLimits::new()).unwrap();
    let mut out = BytesMut::new();
    assert_eq!(decompressor.step(&mut body, &mut out), Ok(true));
    assert_eq!(out, "event");
    let error = decompressor.step(&mut body, &mut out).unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("malformed gzip checksum after "), "{text}");
}

#[test]
fn a_bomb_is_refused_and_never_held() {
    let zeros = vec![0; 64 << 20];
    for coding in CODINGS {
        let mut body = BytesMut::new();
        let mut compressor = Compressor::new(*coding).unwrap();
        compressor.push(&zeros, &mut body).unwrap();
        compressor.finish(&mut body).unwrap();
        let limits = InflateLimits::new().with_max_ratio(10).with_grace(1 << 20);
        let mut decompressor = Decompressor::new(*coding, limits).unwrap();
        let mut total = 0;
        let error = loop {
            let mut out = BytesMut::new();
            match decompressor.step(&mut body, &mut out) {
                Ok(more) => {
                    assert!(more && out.len() <= STEP_LEN, "{coding}: {}", out.len());
                    total += out.len();
                }
                Err(error) => break error,
            }
        };
        assert!(matches!(error, InflateError::TooLarge { .. }), "{coding}: {error:?}");
        assert!(total < 16 << 20, "{coding}: {total}");
    }
}

#[test]
fn a_frame_over_the_limit_is_refused_by_its_header_inside_compression_too() {
    for coding in CODINGS {
        let mut body = BytesMut::new();
        let mut compressor = Compressor::new(*coding).unwrap();
        compressor.push(&vec![0xff; 1 << 20], &mut body).unwrap();
        let mut reader = reader(Format::Protobuf, *coding);
        reader.push(&body);
        let error = reader.next_event().unwrap_err();
        assert!(
            matches!(
                error,
                BodyError::Protobuf(StreamError::Frame { source: FrameError::TooLarge { .. }, .. })
            ),
            "{coding}: {error:?}"
        );
    }
}

#[test]
fn a_cut_anywhere_is_truncated_and_never_malformed() {
    for format in FORMATS {
        for coding in CODINGS {
            let (parts, end) = parts(format, *coding);
            let body = [parts[..4].concat(), end.to_vec()].concat();
            let whole: usize = parts[..4].iter().map(Bytes::len).sum();
            for cut in 0..whole {
                let mut reader = reader(format, *coding);
                reader.push(&body[..cut]);
                while reader.next_event().unwrap().is_some() {}
                assert!(reader.finish().unwrap_err().is_truncated(), "{format} {coding} {cut}");
            }
        }
    }
}

/// Compressors make bytes a part at a time: every length around the ends of parts is met.
#[test]
fn bytes_that_do_not_compress_come_at_once_whatever_their_number() {
    let mut dice = 1_u32;
    let mut bytes = || {
        dice = dice.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        dice.to_be_bytes()[0]
    };
    for coding in CODINGS {
        let mut compressor = Compressor::new(*coding).unwrap();
        let mut decompressor = Decompressor::new(*coding, InflateLimits::new()).unwrap();
        let mut link = BytesMut::new();
        for len in (990..1040).chain(2000..2060).chain(4060..4110).chain([100_000]) {
            let pushed: Vec<u8> = (0..len).map(|_| bytes()).collect();
            compressor.push(&pushed, &mut link).unwrap();
            let mut out = BytesMut::new();
            while decompressor.step(&mut link, &mut out).unwrap() {}
            assert_eq!(out, pushed, "{coding} {len}");
        }
    }
}

#[test]
fn an_empty_body_is_a_whole_one() {
    for coding in CODINGS {
        let mut writer = BodyWriter::new(Format::Sse).with_coding(*coding).unwrap();
        assert_eq!(writer.flush().unwrap(), "", "nothing is written for nothing");
        let mut reader = reader(Format::Sse, *coding);
        reader.push(&writer.finish().unwrap());
        assert!(reader.next_event().unwrap().is_none());
        reader.finish().unwrap();
    }
}

#[test]
fn a_comment_keeps_a_body_of_text_alive_and_is_no_event() {
    for (format, len) in [(Format::Protobuf, 0), (Format::Sse, 3)] {
        let mut writer = BodyWriter::new(format);
        writer.put_keep_alive();
        let bytes = writer.flush().unwrap();
        assert_eq!(bytes.len(), len);
        let mut reader = BodyReader::new(format);
        reader.push(&bytes);
        assert!(reader.next_event().unwrap().is_none());
        reader.finish().unwrap();
    }
}
