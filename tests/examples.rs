//! The examples do what they say; those of transports are tested in `tests/transports`.
//!
//! Their files are compiled in here, so that a test never runs an example built from other sources.

#[cfg(feature = "compression")]
#[allow(dead_code, reason = "the program around what is tested")]
#[path = "../examples/compressed.rs"]
mod compressed;
#[cfg(feature = "conversation")]
#[allow(dead_code, reason = "the program around what is tested")]
#[path = "../examples/consume.rs"]
mod consume;

#[allow(dead_code, reason = "the program around what is tested")]
#[path = "../examples/encode_one.rs"]
mod encode_one;

#[cfg(feature = "tokio")]
#[allow(dead_code, reason = "the program around what is tested")]
#[path = "../examples/relay.rs"]
mod relay;

#[cfg(feature = "compression")]
#[test]
fn compressed_prints_a_line_for_each_event_and_one_for_the_end() {
    use ag_ui_proto::negotiate::{Coding, Format};

    let event = || ag_ui_proto::model::StepStarted::new("plan").into();
    let lines = compressed::lines(&[event(), event()], Format::Protobuf, Coding::Gzip).unwrap();
    let lines: Vec<Vec<_>> = lines.lines().map(|line| line.split(' ').collect()).collect();
    assert_eq!(lines.len(), 3);
    for line in &lines[..2] {
        assert_eq!(line[..2], ["gzip", "application/vnd.ag-ui.event+proto"]);
        assert!(line[2].starts_with("0000000c") && line[2].ends_with("706c616e"), "{}", line[2]);
    }
    assert!(lines[1][3].len() < lines[1][2].len(), "the second one is told by the first");
    assert_eq!(lines[2][2], "");
    // How long both events are, in the last four bytes.
    assert!(lines[2][3].ends_with("20000000"), "{}", lines[2][3]);
}

#[test]
fn encode_one_prints_header_and_payload() {
    let frame = [
        "00000018 ",        // 24 bytes
        "1216",             // arm 2, 22 bytes
        "0a09",             // the base, 9 bytes
        "0801",             // type 1
        "1080d095ffbc31",   // timestamp 1700000000000
        "12026d31",         // messageId "m1"
        "1a0548656c6c6f\n", // delta "Hello"
    ];
    assert_eq!(encode_one::report().unwrap(), frame.concat());
}

#[cfg(feature = "tokio")]
#[tokio::test]
async fn relay_copies_frames_and_counts_them() {
    let frames = b"\0\0\0\x09\x1a\x07\x0a\x02\x08\x02\x12\x01m\0\0\0\x03\x82\x02\0";
    let mut copy = Vec::new();
    let counts = relay::relay(&frames[..], &mut copy).await.unwrap();
    assert_eq!(counts, relay::Counts { frames: 2, bytes: 12 });
    assert_eq!(copy, frames);
}

#[cfg(feature = "conversation")]
#[test]
fn consume_says_what_a_stream_came_to() {
    let stream = r#"[{"type":"RUN_STARTED","threadId":"t","runId":"r"},
        {"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"Hi"}]"#;
    let answer = consume::consume(stream).unwrap();
    assert_eq!(answer["outcome"], "truncated");
    assert_eq!(answer["messages"][0]["content"], "Hi");
    assert_eq!(answer["events"].as_array().unwrap().len(), 3);
    let refused = consume::consume(r#"[{"type":"STEP_STARTED","stepName":"s"}]"#).unwrap();
    assert_eq!(refused["rule"], "L1");
}
