//! What a compressed stream holds: as much as its window takes, and no more as it goes on.

use ag_ui_proto::Event;
use ag_ui_proto::model::TextMessageContent;
use ag_ui_proto::negotiate::{Coding, Format};
use ag_ui_proto::stream::{BodyReader, BodyWriter, Compressor, Decompressor, InflateLimits};
use bytes::{Bytes, BytesMut};

use super::{SLACK, alone, held_by, peak_of};

/// Most bytes that the documentation says, to write and to read. zstd allocates where no allocator
/// of Rust counts.
const CODINGS: [(Coding, usize, usize); 2] =
    [(Coding::Gzip, 400_000, 100_000), (Coding::Brotli, 1_900_000, 500_000)];

fn write(writer: &mut BodyWriter, events: usize) -> Vec<Bytes> {
    let parts = (0..events).map(|number| {
        let delta = format!("{} ", number * 7919 % 10_007);
        writer.put(&Event::from(TextMessageContent::new("message-1", delta))).unwrap();
        writer.flush().unwrap()
    });
    parts.collect()
}

#[test]
fn a_compressed_stream_holds_its_window_however_long_it_is() {
    let _alone = alone();
    for (coding, to_write, to_read) in CODINGS {
        let (mut writer, held) =
            held_by(|| BodyWriter::new(Format::Protobuf).with_coding(coding).unwrap());
        let ((), peak) = peak_of(|| {
            for _ in 0..10 {
                drop(write(&mut writer, 1000));
            }
        });
        assert!(held + peak <= to_write + SLACK, "{coding}: {held} and {peak}");

        let mut writer = BodyWriter::new(Format::Protobuf).with_coding(coding).unwrap();
        let parts = write(&mut writer, 10_000);
        let (mut reader, held) = held_by(|| {
            BodyReader::new(Format::Protobuf).with_coding(coding, InflateLimits::new()).unwrap()
        });
        let ((), peak) = peak_of(|| {
            for part in &parts {
                reader.push(part);
                while reader.next_event().unwrap().is_some() {}
            }
        });
        assert!(held + peak <= to_read + SLACK, "{coding}: {held} and {peak}");
    }
}

/// What `compare` says of the memory of compressors, which it cannot ask.
#[cfg(feature = "cli")]
#[test]
fn compressors_hold_what_compare_says() {
    use ag_ui_proto::value::Value;

    let told = assert_cmd::Command::cargo_bin("ag-ui-proto")
        .unwrap()
        .args(["compare", "--json", "--rounds", "0"])
        .write_stdin(r#"{"type":"TEXT_MESSAGE_END","messageId":"m"}"#)
        .output()
        .unwrap();
    let told = Value::from_json(str::from_utf8(&told.stdout).unwrap(), 16).unwrap();
    let _alone = alone();
    for (coding, _, _) in CODINGS {
        let told = told["compressors"][coding.as_str()]["frames"]["memory"].as_u64().unwrap();
        let (_writer, held) = held_by(|| {
            let mut writer = BodyWriter::new(Format::Protobuf).with_coding(coding).unwrap();
            drop(write(&mut writer, 10_000));
            writer
        });
        assert!((held as u64).abs_diff(told) < SLACK as u64, "{coding}: {held}, not {told}");
    }
}

#[test]
fn a_bomb_is_inflated_a_step_at_a_time() {
    let _alone = alone();
    for (coding, _, _) in CODINGS {
        let mut bomb = BytesMut::new();
        Compressor::new(coding).unwrap().push(&vec![0; 32 << 20], &mut bomb).unwrap();
        let ((), peak) = peak_of(|| {
            let limits = InflateLimits::new().with_grace(u64::MAX);
            let mut decompressor = Decompressor::new(coding, limits).unwrap();
            let mut out = BytesMut::new();
            while decompressor.step(&mut bomb, &mut out).unwrap() {
                out.clear();
            }
        });
        assert!(peak <= 1_000_000, "{coding}: {peak}");
    }
}
