//! Builds one event and prints its frame in hex: header, then payload.
//!
//! `cargo run --example encode_one`

use std::fmt::Write as _;

use ag_ui_proto::Event;
use ag_ui_proto::codec::HEADER_LEN;
use ag_ui_proto::model::TextMessageContent;
use bytes::BytesMut;

/// The frame of one piece of text.
fn frame() -> Result<BytesMut, Box<dyn std::error::Error>> {
    let event =
        Event::from(TextMessageContent::new("m1", "Hello")).with_timestamp(1_700_000_000_000);
    let mut frame = BytesMut::new();
    // What the wire has no place for would be told here; this event loses nothing.
    let notices = event.encode_frame(&mut frame)?;
    assert!(notices.is_empty());
    Ok(frame)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// What the program prints.
pub(crate) fn report() -> Result<String, Box<dyn std::error::Error>> {
    let frame = frame()?;
    let (header, payload) = frame.split_at(HEADER_LEN);
    Ok(format!("{} {}\n", hex(header), hex(payload)))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    print!("{}", report()?);
    Ok(())
}
