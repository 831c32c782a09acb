//! Compresses a recorded session event by event, and prints what each takes.
//!
//! `cargo run --example compressed --features compression -- samples/chat.jsonl`
//!
//! A line holds the coding, the media type, and in hex the bytes of the event before and after
//! compression. The last line of each body has no event: it is what ends the compression.

use std::fmt::Write as _;

use ag_ui_proto::Event;
use ag_ui_proto::negotiate::{Coding, Format};
use ag_ui_proto::stream::{BodyWriter, CODINGS};

type Failure = Box<dyn std::error::Error>;

/// The lines of one body.
pub(crate) fn lines(events: &[Event], format: Format, coding: Coding) -> Result<String, Failure> {
    let mut plain = BodyWriter::new(format);
    let mut writer = BodyWriter::new(format).with_coding(coding)?;
    let mut text = String::new();
    let mut line = |before: &[u8], after: &[u8]| {
        let (before, after) = (hex(before), hex(after));
        writeln!(text, "{coding} {format} {before} {after}")
    };
    for event in events {
        plain.put(event)?;
        writer.put(event)?;
        line(&plain.flush()?, &writer.flush()?)?;
    }
    line(&[], &writer.finish()?)?;
    Ok(text)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn main() -> Result<(), Failure> {
    let path = std::env::args().nth(1).ok_or("usage: compressed SESSION.jsonl")?;
    let mut events = Vec::new();
    for line in std::fs::read_to_string(path)?.lines() {
        events.push(Event::from_json(line)?);
    }
    for format in [Format::Protobuf, Format::Sse] {
        for coding in CODINGS {
            print!("{}", lines(&events, format, *coding)?);
        }
    }
    Ok(())
}
