//! What went wrong for users of the protocol elsewhere, and what happens here.

use ag_ui_proto::Event;
use ag_ui_proto::codec::{
    DecodeError, EncodeError, EventReader, FrameError, Limits, StreamError, decode_payload,
    encode_frame,
};
use ag_ui_proto::model::{
    Body, EventType, Malformed, ReadError, Reason, StrictReader, TolerantReader, UnknownNames,
};
use ag_ui_proto::value::{JsonError, Value};
use bytes::BytesMut;

use crate::notation::{
    bytes, check_decodes, check_error, decode, frame, framed, hex, json, parse, refusal, texts,
};

const STARTED: &str = r#"12: {1: {1: 11} 2: "t1" 3: "r1"}"#;
const STARTED_JSON: &str = r#"{"type":"RUN_STARTED","threadId":"t1","runId":"r1"}"#;

fn read(text: &str) -> Event {
    StrictReader::new().read(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn refused(text: &str) -> Malformed {
    match StrictReader::new().read(text) {
        Err(ReadError::Malformed(error)) => error,
        other => panic!("{text}: {other:?}"),
    }
}

/// JSON over the wire and back, as text.
fn trip(text: &str) -> String {
    let decoded = Event::decode(&read(text).to_payload().unwrap()).unwrap();
    assert_eq!(decoded.notices, []);
    serde_json::to_string(&decoded.event.unwrap()).unwrap()
}

#[track_caller]
fn check_trip(text: &str) {
    assert_eq!(trip(text), text);
}

/// Checks the bytes of a frame, and that they read back.
#[track_caller]
fn check_frame(text: &str, frame: &str) {
    let mut ours = BytesMut::new();
    read(text).encode_frame(&mut ours).unwrap();
    assert_eq!(ours, hex(frame)[..], "{text}");
    assert_eq!(json(&Event::decode(&ours[4..]).unwrap().event), parse(text));
}

/// Reads a stream that arrives in the given parts.
fn read_parts<'a>(
    parts: impl IntoIterator<Item = &'a [u8]>,
) -> (Vec<Event>, Vec<String>, Option<StreamError>) {
    let (mut reader, mut src) = (EventReader::new(), BytesMut::new());
    let (mut events, mut notices) = (Vec::new(), Vec::new());
    for part in parts {
        src.extend_from_slice(part);
        loop {
            match reader.next_event(&mut src) {
                Ok(Some(decoded)) => {
                    notices.extend(texts(&decoded.notices));
                    events.extend(decoded.event);
                }
                Ok(None) => break,
                Err(error) => return (events, notices, Some(error)),
            }
        }
    }
    (events, notices, reader.finish(&src).err())
}

// Framing.

#[test]
fn a_length_over_the_limit_is_refused_by_its_header_alone() {
    for (header, len) in [("ffffffff", 4_294_967_299_u64), ("00a00001", 10_485_765)] {
        let (events, _, error) = read_parts([hex(header).as_slice()]);
        assert_eq!(events, []);
        let source = FrameError::TooLarge { len, max: 10_485_760 };
        assert!(
            matches!(&error, Some(StreamError::Frame { number: 1, offset: 0, source: at }) if *at == source)
        );
        assert_eq!(
            error.unwrap().to_string(),
            format!("frame 1 at byte 0: a frame of {len} bytes is over the limit of 10485760")
        );
    }
    // Whatever follows is not waited for, kept or read.
    let mut reader = EventReader::new();
    let mut src = BytesMut::from(&[0xff; 4][..]);
    assert!(reader.next_event(&mut src).is_err());
    for _ in 0..100 {
        src.resize(64 * 1024, 0);
        assert!(reader.next_event(&mut src).unwrap().is_none());
        src.clear();
    }
}

#[test]
fn a_frame_of_eight_mebibytes_passes_and_the_limit_is_a_setting() {
    // 19 bytes around the text: arm 1 + 4, base 4, field 1 + 4, kind 1 + 4.
    let text = "a".repeat(8_388_609 - 19);
    let event = read(&format!(r#"{{"type":"STATE_SNAPSHOT","snapshot":"{text}"}}"#));
    let mut frame = BytesMut::new();
    event.encode_frame(&mut frame).unwrap();
    assert_eq!(frame[..4], hex("00800001"));
    let (events, _, error) = read_parts([&frame[..]]);
    assert!(error.is_none() && events == [event]);

    let small = Limits::new().with_max_frame_len(1024);
    let error = EventReader::with_limits(small).next_event(&mut frame.clone()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "frame 1 at byte 0: a frame of 8388613 bytes is over the limit of 1024"
    );
}

#[test]
fn an_event_over_the_limit_leaves_the_stream_as_it_was() {
    let big =
        read(&format!(r#"{{"type":"STATE_SNAPSHOT","snapshot":"{}"}}"#, "a".repeat(11 << 20)));
    let small = read(r#"{"type":"RUN_FINISHED","threadId":"t1","runId":"r1"}"#);
    let mut stream = BytesMut::from(&frame(STARTED)[..]);
    let before = stream.clone();
    // 11 MiB and 19 bytes around it, and a header of 4.
    check_error!(
        big.encode_frame(&mut stream).unwrap_err(),
        EncodeError::TooLarge {
            event_type: EventType::StateSnapshot,
            len: 11_534_359,
            max: 10_485_760
        },
        "STATE_SNAPSHOT: a frame of 11534359 bytes is over the limit of 10485760"
    );
    assert_eq!(stream, before);
    small.encode_frame(&mut stream).unwrap();
    let (events, _, error) = read_parts([&stream[..]]);
    assert!(error.is_none());
    assert_eq!(events[1], small);
}

#[test]
fn a_peer_that_stops_inside_a_frame_has_truncated_the_run() {
    let stream = hex("0000000e 620c 0a02080b 12027431 1a027231 0000000e 6a0c0a02");
    let (events, _, error) = read_parts([stream.as_slice()]);
    assert_eq!(json(&events), parse(&format!("[{STARTED_JSON}]")));
    let error = error.unwrap();
    assert!(error.is_truncated());
    check_error!(
        error,
        StreamError::Frame {
            number: 2,
            offset: 18,
            source: FrameError::Truncated { have: 8, len: Some(18) }
        },
        "frame 2 at byte 18: truncated: input ended after 8 bytes of a frame of 18"
    );
}

#[test]
fn the_events_are_the_same_however_their_bytes_are_split() {
    let texts = ["a".repeat(20_000), "é漢😀".repeat(1000), "b".repeat(300_000)];
    let mut stream = BytesMut::new();
    let mut sent = Vec::new();
    for text in texts {
        let event = read(&format!(r#"{{"type":"CUSTOM","name":"n","value":"{text}"}}"#));
        event.encode_frame(&mut stream).unwrap();
        sent.push(event);
    }
    assert_eq!(read_parts([&stream[..]]).0, sent);
    for size in [1, 2, 3, 5, 4096, 65_536] {
        let (events, _, error) = read_parts(stream.chunks(size));
        assert!(error.is_none() && events == sent, "in parts of {size}");
    }
    // Cut in two, at every offset of a small stream and round the borders of this one.
    let small =
        [frame(STARTED), frame(r#"1: {1: {} 2: "m"}"#), frame(r#"3: {1: {1: 2} 2: "m"}"#)].concat();
    let all = read_parts([small.as_slice()]).0;
    assert_eq!(all.len(), 3);
    for cut in 0..=small.len() {
        assert_eq!(read_parts([&small[..cut], &small[cut..]]).0, all, "cut at {cut}");
    }
}

#[test]
fn an_empty_frame_is_no_keep_alive_and_is_never_written() {
    let stream = [frame(STARTED), vec![0; 4], frame(STARTED)].concat();
    let (events, notices, error) = read_parts([stream.as_slice()]);
    assert_eq!((events.len(), notices.len()), (1, 0));
    check_error!(
        error.unwrap(),
        StreamError::Event { number: 2, offset: 18, source: DecodeError::Empty },
        "frame 2 at byte 18: an empty frame names no event"
    );
    // The smallest event that there is: the arm and the base are always written.
    check_frame(r#"{"type":"TEXT_MESSAGE_START","messageId":""}"#, "00000004 0a02 0a00");
}

#[test]
fn frames_of_a_later_version_are_dropped_with_a_warning_each() {
    let stream = hex("00000007 ca3004 0a020863   00000003 ca3000   00000004 caa30900
         0000000e 620c 0a02080b 12027431 1a027231");
    let (events, notices, error) = read_parts([stream.as_slice()]);
    assert!(error.is_none());
    assert_eq!(json(&events), parse(&format!("[{STARTED_JSON}]")));
    // 0x30ca is 6218, field 777 with wire type 2; 0xca 0xa3 0x09 is 19001.
    assert_eq!(
        notices,
        [
            "dropped a frame with an event of a later version (arm 777)",
            "dropped a frame with an event of a later version (arm 777)",
            "dropped a frame with an event of a later version (arm 19001)",
        ]
    );
}

#[test]
fn an_inline_image_of_six_mebibytes_passes_and_over_the_limit_the_error_says_sizes() {
    let data = "QUFB".repeat((6 << 20) / 4);
    let event = read(&format!(
        r#"{{"type":"MESSAGES_SNAPSHOT","messages":[{{"role":"user","id":"u","content":[{{"type":"image","source":{{"type":"data","value":"{data}","mimeType":"image/png"}}}}]}}]}}"#
    ));
    let mut frame = BytesMut::new();
    event.encode_frame(&mut frame).unwrap();
    let (events, _, error) = read_parts(frame.chunks(16 * 1024));
    assert!(error.is_none() && events == [event.clone()]);

    let limits = Limits::new().with_max_frame_len(1 << 20);
    let mut dst = BytesMut::new();
    let error = encode_frame(&event, &limits, &mut dst).unwrap_err();
    let expected =
        format!("MESSAGES_SNAPSHOT: a frame of {} bytes is over the limit of 1048576", frame.len());
    check_error!(error, EncodeError::TooLarge { max: 1_048_576, .. }, expected);
}

// Types, bases and presence.

#[test]
fn a_value_of_another_type_is_refused_and_not_coerced() {
    for (text, reason, expected) in [
        (
            r#"{"type":"TEXT_MESSAGE_START","messageId":12345}"#,
            Reason::Type { expected: "a string", found: "a number" },
            "TEXT_MESSAGE_START: messageId: expected a string, found a number",
        ),
        (
            r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":["x"]}"#,
            Reason::Type { expected: "a string", found: "an array" },
            "TEXT_MESSAGE_CONTENT: delta: expected a string, found an array",
        ),
    ] {
        let error = refused(text);
        assert_eq!((&error.reason, error.to_string().as_str()), (&reason, expected));
        assert_eq!(TolerantReader::new().read(text).unwrap_err().to_string(), expected);
        assert_eq!(Event::from_json(text).unwrap_err().to_string(), expected);
        assert_eq!(serde_json::from_str::<Event>(text).unwrap_err().to_string(), expected);
    }
}

#[test]
fn an_id_that_was_left_out_is_empty_in_bytes_and_an_error_in_json() {
    let payload = hex("1a04 0a020802");
    assert_eq!(
        json(&Event::decode(&payload).unwrap().event),
        parse(r#"{"type":"TEXT_MESSAGE_END","messageId":""}"#)
    );
    assert_eq!(
        refused(r#"{"type":"TEXT_MESSAGE_END"}"#).to_string(),
        "TEXT_MESSAGE_END: messageId: missing"
    );
}

#[test]
fn the_type_with_number_zero_is_an_event_and_needs_its_base_all_the_same() {
    check_frame(r#"{"type":"TEXT_MESSAGE_START","messageId":"m1"}"#, "00000008 0a06 0a00 12026d31");
    let error = Event::decode(&hex("0a04 12026d31")).unwrap_err();
    assert_eq!(error.to_string(), "TEXT_MESSAGE_START: the event has no base_event");
}

#[test]
fn chunks_have_an_arm_and_a_number() {
    check_frame(
        r#"{"type":"TEXT_MESSAGE_CHUNK","messageId":"m1"}"#,
        "0000000b 8a0108 0a020813 12026d31",
    );
    check_frame(
        r#"{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"f"}"#,
        "0000000d 92010a 0a020814 120163 1a0166",
    );
}

#[test]
fn all_thirty_one_types_survive_the_trip() {
    // The list of the protocol, against ours.
    let names = "TEXT_MESSAGE_START TEXT_MESSAGE_CONTENT TEXT_MESSAGE_END TOOL_CALL_START \
        TOOL_CALL_ARGS TOOL_CALL_END STATE_SNAPSHOT STATE_DELTA MESSAGES_SNAPSHOT RAW CUSTOM \
        RUN_STARTED RUN_FINISHED RUN_ERROR STEP_STARTED STEP_FINISHED TEXT_MESSAGE_CHUNK \
        TOOL_CALL_CHUNK SUBAGENT_STARTED SUBAGENT_FINISHED SUBAGENT_ERROR TOOL_CALL_RESULT \
        ACTIVITY_SNAPSHOT ACTIVITY_DELTA REASONING_START REASONING_MESSAGE_START \
        REASONING_MESSAGE_CONTENT REASONING_MESSAGE_END REASONING_MESSAGE_CHUNK REASONING_END \
        REASONING_ENCRYPTED_VALUE";
    let ours: Vec<&str> = EventType::ALL.iter().map(|event_type| event_type.as_str()).collect();
    assert_eq!(ours, names.split_whitespace().collect::<Vec<_>>());
    // Their trips are made in `census`, which is held against the same list.
}

#[test]
fn a_null_for_an_absent_member_names_itself_and_old_ones_are_read_as_absent() {
    let text = r#"{"type":"RUN_STARTED","threadId":"t1","runId":"","parentRunId":null,"input":null,"timestamp":null,"rawEvent":null,"metadata":null}"#;
    let error = refused(text);
    assert!(matches!(error.reason, Reason::Type { found: "null", .. }), "{error:?}");
    assert!(TolerantReader::new().read(text).is_err());
    check_trip(r#"{"type":"RUN_STARTED","threadId":"t1","runId":""}"#);
    // What old peers did write is translated.
    let read = TolerantReader::new()
        .read(r#"{"type":"RUN_STARTED","threadId":"t1","runId":"","rawEvent":null}"#)
        .unwrap();
    assert_eq!(
        serde_json::to_string(&read.event).unwrap(),
        r#"{"type":"RUN_STARTED","threadId":"t1","runId":""}"#
    );
    assert_eq!(
        texts(&read.notices),
        ["/rawEvent: translated the retired null for an absent member"]
    );
}

#[test]
fn a_null_parent_message_is_absent_on_the_wire_and_not_empty() {
    let read = TolerantReader::new()
        .read(r#"{"type":"TOOL_CALL_START","toolCallId":"c1","toolCallName":"f","parentMessageId":null}"#)
        .unwrap();
    assert_eq!(
        read.event.unwrap().to_payload().unwrap(),
        bytes(r#"4: {1: {1: 3} 2: "c1" 3: "f"}"#)
    );
}

#[test]
fn a_whole_payload_may_be_null() {
    check_frame(r#"{"type":"STATE_SNAPSHOT","snapshot":null}"#, "0000000a 3a08 0a020806 1202 0800");
    check_trip(r#"{"type":"STATE_SNAPSHOT","snapshot":null}"#);
    check_trip(r#"{"type":"RAW","event":null}"#);
    check_trip(r#"{"type":"CUSTOM","name":"n","value":null}"#);
}

#[test]
fn metadata_keeps_its_nulls_and_its_emptiness() {
    check_trip(
        r#"{"type":"STEP_STARTED","stepName":"s","metadata":{"a":null,"b":[null,{"c":null}],"ag-ui":{"x":1}}}"#,
    );
    // base_event: type 14, metadata of no bytes.
    check_frame(
        r#"{"type":"STEP_STARTED","stepName":"s","metadata":{}}"#,
        "0000000b 7a09 0a04 080e 2200 120173",
    );
    assert_eq!(
        refused(r#"{"type":"STEP_STARTED","stepName":"s","metadata":null}"#).to_string(),
        "STEP_STARTED: metadata: expected an object, found null"
    );
}

#[test]
fn an_empty_list_of_calls_is_absent_and_empty_text_is_not() {
    let message = |members: &str| {
        format!(
            r#"{{"type":"MESSAGES_SNAPSHOT","messages":[{{"role":"assistant","id":"a"{members}}}]}}"#
        )
    };
    assert_eq!(trip(&message(r#","toolCalls":[]"#)), message(""));
    check_trip(&message(""));
    check_trip(&message(r#","content":"""#));
}

// Numbers.

#[test]
fn an_integer_that_is_no_double_comes_back_as_the_nearest_and_never_as_text() {
    assert_eq!(
        trip(
            r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","metadata":{"n":9007199254740993,"ok":9007199254740991}}"#
        ),
        r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","metadata":{"n":9007199254740992,"ok":9007199254740991}}"#
    );
    // A value tells beforehand whether it is one.
    let value = Value::from_json("[9007199254740993,9007199254740991]", 1).unwrap();
    assert!(!value[0].as_number().unwrap().is_double());
    assert!(value[1].as_number().unwrap().is_double());
}

#[test]
fn whole_numbers_come_back_whole() {
    check_trip(
        r#"{"type":"STATE_SNAPSHOT","snapshot":{"batch":500000,"zero":0,"neg":-3,"half":0.5}}"#,
    );
}

#[test]
fn an_id_of_64_bits_is_rounded_in_an_open_value_and_kept_in_text() {
    let back = trip(
        r#"{"type":"TEXT_MESSAGE_END","messageId":"m","rawEvent":{"id":1234567890123456789}}"#,
    );
    let id = parse(&back)["rawEvent"]["id"].as_f64().unwrap();
    assert_eq!(id.to_bits(), 1_234_567_890_123_456_768.0_f64.to_bits());
    check_trip(
        r#"{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"{\"id\":1234567890123456789}"}"#,
    );
}

#[test]
fn a_number_that_json_cannot_say_is_refused() {
    for number in ["000000000000f87f", "000000000000f07f", "000000000000f0ff"] {
        let payload = format!(r#"11: {{1: {{1: 10}} 2: "n" 3: {{`11 {number}`}}}}"#);
        check_error!(
            refusal(&payload),
            DecodeError::NotFinite { .. },
            "CUSTOM: value: a number that is not finite, which JSON cannot say"
        );
    }
    check_error!(
        refusal("3: {1: {1: 2 4: {1: {1: \"k\" 2: {6: {1: {`11 000000000000f87f`}}}}}}}"),
        DecodeError::NotFinite { .. },
        "TEXT_MESSAGE_END: metadata: a number that is not finite, which JSON cannot say"
    );
}

#[test]
fn a_time_is_an_integer_and_is_never_cut() {
    let event =
        |time: &str| format!(r#"{{"type":"TEXT_MESSAGE_END","messageId":"m","timestamp":{time}}}"#);
    assert_eq!(
        refused(&event("1757600000000.5")).to_string(),
        "TEXT_MESSAGE_END: timestamp: expected an integer, found 1757600000000.5"
    );
    assert_eq!(
        refused(&event(r#""2026-01-01T00:00:00Z""#)).to_string(),
        "TEXT_MESSAGE_END: timestamp: expected an integer, found a string"
    );
    assert_eq!(trip(&event("1757600000000.0")), event("1757600000000"));
    check_trip(&event("-5"));
    check_trip(&event("0"));
}

#[test]
fn no_tokens_and_an_unknown_count_are_two_things() {
    check_trip(
        r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","usage":[{"provider":"p","model":"m","inputTokens":0,"outputTokens":5}]}"#,
    );
    for (count, expected) in [
        (
            "9007199254740992",
            "RUN_FINISHED: usage[0].inputTokens: 9007199254740992 is outside -9007199254740991 to 9007199254740991",
        ),
        ("-1", "RUN_FINISHED: usage[0].inputTokens: -1 is outside 0 to 9007199254740991"),
    ] {
        let error = refused(&format!(
            r#"{{"type":"RUN_FINISHED","threadId":"t","runId":"r","usage":[{{"inputTokens":{count}}}]}}"#
        ));
        assert!(matches!(error.reason, Reason::Range { .. }), "{error:?}");
        // Whatever bounds the text names, it names the place and the number.
        assert_eq!(error.to_string(), expected);
    }
}

// Patches, outcomes and parts.

#[test]
fn adding_null_is_not_adding_nothing() {
    check_frame(
        r#"{"type":"STATE_DELTA","delta":[{"op":"add","path":"/x","value":null}]}"#,
        "00000010 420e 0a020807 1208 12022f78 2202 0800",
    );
    assert_eq!(
        refused(r#"{"type":"STATE_DELTA","delta":[{"op":"add","path":"/x"}]}"#).to_string(),
        "STATE_DELTA: delta[0].value: missing"
    );
}

#[test]
fn an_operation_of_a_later_version_is_dropped_and_never_an_add() {
    let payload = hex("4219 0a020807 1206 082a 12022f6e 120b 0802 12022f6b 2203 1a0176");
    let event = Event::decode(&payload).unwrap().event.unwrap();
    assert_eq!(
        json(&event),
        parse(
            r#"{"type":"STATE_DELTA","delta":[{"op":"42","path":"/n"},{"op":"replace","path":"/k","value":"v"}]}"#
        )
    );
    let enforced = event.enforce(UnknownNames::Strip).unwrap();
    assert_eq!(texts(&enforced.notices), [r#"/delta/0: stripped: unknown patch operation "42""#]);
    assert_eq!(
        json(&enforced.event),
        parse(r#"{"type":"STATE_DELTA","delta":[{"op":"replace","path":"/k","value":"v"}]}"#)
    );
    let read = TolerantReader::new()
        .read(r#"{"type":"STATE_DELTA","delta":[{"op":"increment","path":"/n"}]}"#)
        .unwrap();
    assert_eq!(
        texts(&read.notices),
        [r#"/delta/0: stripped: unknown patch operation "increment""#]
    );
}

#[test]
fn an_empty_delta_is_a_delta() {
    check_trip(r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m1","delta":""}"#);
    check_trip(r#"{"type":"TOOL_CALL_ARGS","toolCallId":"c1","delta":""}"#);
    // It has no bytes: arm, base, id.
    assert_eq!(
        read(r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m1","delta":""}"#)
            .to_payload()
            .unwrap(),
        hex("1208 0a020801 12026d31")
    );
}

#[test]
fn an_outcome_of_a_later_version_arrives_and_is_stripped() {
    let payload = hex("6a14 0a02080c 12027431 1a027231 2a06706175736564");
    let from_bytes = Event::decode(&payload).unwrap().event.unwrap();
    let text =
        r#"{"type":"RUN_FINISHED","threadId":"t1","runId":"r1","outcome":{"type":"paused"}}"#;
    assert_eq!(from_bytes, Event::from_json(text).unwrap());
    let Body::RunFinished(body) = &from_bytes.body else { panic!("{from_bytes:?}") };
    assert_eq!(body.outcome.as_ref().unwrap().tag(), "paused");
    let enforced = from_bytes.enforce(UnknownNames::Strip).unwrap();
    assert_eq!(enforced, TolerantReader::new().read(text).unwrap());
    assert_eq!(texts(&enforced.notices), [r#"/outcome: stripped: unknown outcome "paused""#]);
    assert_eq!(
        json(&enforced.event),
        parse(r#"{"type":"RUN_FINISHED","threadId":"t1","runId":"r1"}"#)
    );
}

#[test]
fn a_part_of_a_later_version_leaves_its_list_and_the_message_lives() {
    let payload = hex("4a1b 0a020808 1215 0a016d 120475736572 42024a00 4206 0a04 0a026f6b");
    let decoded = Event::decode(&payload).unwrap();
    assert_eq!(
        json(&decoded.event),
        parse(
            r#"{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m","role":"user","content":[{"type":"text","text":"ok"}]}]}"#
        )
    );
    assert_eq!(
        texts(&decoded.notices),
        ["/messages/0/content/0: dropped a content part in no arm that this version knows"]
    );
}

#[test]
fn retired_thinking_becomes_reasoning_and_ends_no_run() {
    let mut reader = TolerantReader::new();
    let mut types = Vec::new();
    for text in [
        r#"{"type":"THINKING_TEXT_MESSAGE_START"}"#,
        r#"{"type":"THINKING_TEXT_MESSAGE_CONTENT","delta":"hm"}"#,
        r#"{"type":"THINKING_TEXT_MESSAGE_END"}"#,
    ] {
        let read = reader.read(text).unwrap();
        assert_eq!(read.notices.len(), 1, "{:?}", read.notices);
        let event = read.event.unwrap();
        event.to_payload().unwrap();
        types.push(event.event_type());
    }
    assert_eq!(
        types,
        [
            EventType::ReasoningMessageStart,
            EventType::ReasoningMessageContent,
            EventType::ReasoningMessageEnd
        ]
    );
}

#[test]
fn a_retired_binary_part_is_not_lost() {
    let read = TolerantReader::new()
        .read(
            r#"{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"u","role":"user","content":[{"type":"text","text":"see"},
            {"type":"binary","mimeType":"image/png","data":"iVBORw0KGgo="},
            {"type":"binary","mimeType":"audio/ogg","data":"QQ=="},
            {"type":"binary","mimeType":"video/ogg","data":"QQ=="},
            {"type":"binary","mimeType":"text/csv","data":"QQ=="}]}]}"#,
        )
        .unwrap();
    assert_eq!(
        json(&read.event)["messages"][0]["content"],
        parse(
            r#"[{"type":"text","text":"see"},
            {"type":"image","source":{"type":"data","value":"iVBORw0KGgo=","mimeType":"image/png"}},
            {"type":"audio","source":{"type":"data","value":"QQ==","mimeType":"audio/ogg"}},
            {"type":"video","source":{"type":"data","value":"QQ==","mimeType":"video/ogg"}},
            {"type":"document","source":{"type":"data","value":"QQ==","mimeType":"text/csv"}}]"#
        )
    );
    assert_eq!(read.notices.len(), 4);
}

#[test]
fn every_detail_of_an_interrupt_survives() {
    let text = r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"i1","reason":"approve","message":"ok?","toolCallId":"c1","responseSchema":{"type":"object"},"expiresAt":"2026-12-31T00:00:00Z","metadata":{"k":null}}]}}"#;
    check_trip(text);
    assert_eq!(
        read(text).to_payload().unwrap(),
        bytes(
            r#"13: {1: {1: 12} 2: "t" 3: "r" 5: "interrupt" 6: {
                1: "i1" 2: "approve" 3: "ok?" 4: "c1" 5: {5: {1: {1: "type" 2: {3: "object"}}}}
                6: "2026-12-31T00:00:00Z" 7: {5: {1: {1: "k" 2: {1: 0}}}}}}"#
        )
    );
}

#[test]
fn cancelled_and_pending_calls_have_marks_of_their_own() {
    check_trip(
        r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"cancelled"}}"#,
    );
    let text = r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"success","pendingToolCallIds":["call-1","call-2"]}}"#;
    check_trip(text);
    assert_eq!(
        read(text).to_payload().unwrap(),
        bytes(r#"13: {1: {1: 12} 2: "t" 3: "r" 5: "success" 8: "call-1" 8: "call-2"}"#)
    );
}

#[test]
fn a_tool_result_stays_the_text_or_the_list_it_was() {
    check_trip(
        r#"{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":[{"type":"text","text":"a"},{"type":"image","source":{"type":"url","value":"https://x.invalid/i"}}]}"#,
    );
    check_trip(r#"{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":"a"}"#);
    check_trip(r#"{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":[]}"#);
}

// Text and keys.

#[test]
fn characters_of_several_bytes_survive_every_split() {
    let event = read(r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"Zoë 漢字 😀"}"#);
    let mut frame = BytesMut::new();
    event.encode_frame(&mut frame).unwrap();
    for cut in 0..=frame.len() {
        let (events, _, error) = read_parts([&frame[..cut], &frame[cut..]]);
        assert!(error.is_none());
        assert_eq!(events, std::slice::from_ref(&event), "cut at {cut}");
    }
    let (events, ..) = read_parts(frame.chunks(1));
    let Body::TextMessageContent(body) = &events[0].body else { panic!("{events:?}") };
    assert_eq!(body.delta, "Zoë 漢字 😀");
}

#[test]
fn a_delta_may_begin_with_a_joiner_and_is_not_trimmed() {
    for delta in ["👩", "\u{200d}🚀", " x ", "\n", "\u{feff}", "e\u{301}"] {
        let event = Event::from(ag_ui_proto::model::TextMessageContent::new("m", delta));
        let decoded = Event::decode(&event.to_payload().unwrap()).unwrap().event.unwrap();
        let Body::TextMessageContent(body) = &decoded.body else { panic!("{decoded:?}") };
        assert_eq!(body.delta, delta);
    }
}

#[test]
fn half_a_surrogate_pair_is_no_json_text_here() {
    for text in [
        r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"hi \ud83d"}"#,
        r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"\ude00 hi"}"#,
    ] {
        let strict = StrictReader::new().read(text).unwrap_err();
        let tolerant = TolerantReader::new().read(text).unwrap_err();
        for error in [strict, tolerant] {
            let ReadError::Json(JsonError::LoneSurrogate { pointer, reason }) = &error else {
                panic!("{error:?}")
            };
            assert_eq!(pointer, "/delta");
            assert_eq!(reason.line(), 1);
            assert!(reason.column() > 53, "{reason}");
            let text = error.to_string();
            let begins = "half of a surrogate pair at /delta, which UTF-8 cannot hold: ";
            assert!(text.starts_with(begins), "{text}");
        }
    }
    check_trip(r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"hi 😀"}"#);
}

#[test]
fn text_that_is_not_utf_8_is_refused_by_name_and_not_replaced() {
    check_error!(
        Event::decode(&hex("120d 0a020801 12026d31 1a03eda0bd")).unwrap_err(),
        DecodeError::Utf8 { .. },
        "TEXT_MESSAGE_CONTENT: delta: a string that is not UTF-8"
    );
}

#[test]
fn of_a_member_twice_the_last_one_wins_on_every_way_in() {
    let text = r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"a","messageId":"b","delta":"x"}"#;
    let expected = r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"b","delta":"x"}"#;
    assert_eq!(json(&read(text)), parse(expected));
    assert_eq!(json(&TolerantReader::new().read(text).unwrap().event), parse(expected));
    assert_eq!(json(&Event::from_json(text).unwrap()), parse(expected));
    assert_eq!(json(&serde_json::from_str::<Event>(text).unwrap()), parse(expected));
    check_decodes(r#"2: {1: {1: 1} 2: "a" 2: "b" 3: "x"}"#, expected);

    // It is told of, wherever it stands.
    let text = r#"{"type":"RAW","event":[{"a/b":1,"a/b":2}],"source":"x","source":"y"}"#;
    let told = ["/event/0/a~1b", "/source"]
        .map(|place| format!("{place}: given again later, where the last one counts"));
    let notices = TolerantReader::new().read(text).unwrap().notices;
    assert_eq!(notices.iter().map(ToString::to_string).collect::<Vec<_>>(), told);
    let path = &notices[0].path;
    assert_eq!(path.to_string(), "event[0][\"a/b\"]");
}

#[test]
fn an_object_is_the_same_bytes_each_time_in_the_order_given() {
    let event = read(r#"{"type":"STEP_STARTED","stepName":"s","metadata":{"z":1,"a":2,"m":3}}"#);
    let expected = bytes(
        r#"15: {1: {1: 14 4: {1: {1: "z" 2: {2: 1.0}} 1: {1: "a" 2: {2: 2.0}} 1: {1: "m" 2: {2: 3.0}}}} 2: "s"}"#,
    );
    for _ in 0..100 {
        assert_eq!(event.to_payload().unwrap(), expected);
    }
    // Another order is another text and the same object.
    let other = decode(
        r#"15: {1: {1: 14 4: {1: {1: "m" 2: {2: 3.0}} 1: {1: "z" 2: {2: 1.0}} 1: {1: "a" 2: {2: 2.0}}}} 2: "s"}"#,
    );
    assert_eq!(other.event.unwrap(), event);
}

#[test]
fn what_is_encoded_can_be_decoded_however_deep() {
    for depth in [40, 126] {
        let open = r#"{"a":"#.repeat(depth);
        check_trip(&format!(
            r#"{{"type":"STATE_SNAPSHOT","snapshot":{open}1{}}}"#,
            "}".repeat(depth)
        ));
    }
}

#[test]
fn ten_thousand_levels_are_an_error_both_ways_and_no_overflow() {
    let body = || {
        let text =
            format!(r#"{{"type":"RAW","event":{}{}}}"#, "[".repeat(10_000), "]".repeat(10_000));
        assert!(matches!(
            Event::from_json(&text).unwrap_err(),
            ReadError::Json(JsonError::TooDeep { max: 128, .. })
        ));
        let deep = (0..10_000).fold(Value::Null, |inner, _| Value::from(vec![inner]));
        let event = Event::from(ag_ui_proto::model::Raw::new(deep));
        check_error!(
            event.to_payload().unwrap_err(),
            EncodeError::TooDeep { event_type: EventType::Raw, max: 128, .. },
            "RAW: event: nests the event deeper than 128 levels"
        );
        drop(event);
        // The wire form of it: a list in a list in a list.
        let mut value: Vec<u8> = Vec::new();
        for _ in 0..10_000 {
            let mut outer = Vec::with_capacity(value.len() + 12);
            for tag in [0x0a_u8, 0x32] {
                let inner = if tag == 0x0a { &value } else { &outer };
                let mut field = vec![tag];
                prost::encoding::encode_varint(inner.len() as u64, &mut field);
                field.extend(inner);
                outer = field;
            }
            value = outer;
        }
        let mut body = hex("0a020809 12");
        prost::encoding::encode_varint(value.len() as u64, &mut body);
        body.extend(value);
        let mut payload = vec![0x52];
        prost::encoding::encode_varint(body.len() as u64, &mut payload);
        payload.extend(body);
        check_error!(
            decode_payload(&payload, &Limits::new()).unwrap_err(),
            DecodeError::TooDeep { .. },
            "RAW: event: nests the event deeper than 128 levels"
        );
    };
    std::thread::Builder::new().stack_size(256 * 1024).spawn(body).unwrap().join().unwrap();
}

#[test]
fn argument_text_travels_as_it_is_whatever_it_is() {
    for delta in [r#"{"q": "a"#, ", tru", "", "not json", "{\"a\":1, \"a\":2}\n", "\u{0}"] {
        let event = Event::from(ag_ui_proto::model::ToolCallArgs::new("c", delta));
        let decoded = Event::decode(&event.to_payload().unwrap()).unwrap().event.unwrap();
        let Body::ToolCallArgs(body) = &decoded.body else { panic!("{decoded:?}") };
        assert_eq!(body.delta, delta);
    }
    check_trip(
        r#"{"type":"MESSAGES_SNAPSHOT","messages":[{"role":"assistant","id":"a","toolCalls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"q\": \"a, tru"}}]}]}"#,
    );
}

#[test]
fn odd_keys_are_data_and_are_quoted_in_reports() {
    check_trip(
        r#"{"type":"STEP_STARTED","stepName":"s","metadata":{"__proto__":{"x":1},"constructor":"c","":0,"a.b":1,"a/b":2}}"#,
    );
    let text = r#"{"type":"STEP_STARTED","stepName":"s","a.b/c~d":1,"":2}"#;
    let read = TolerantReader::new().read(text).unwrap();
    assert_eq!(
        texts(&read.notices),
        ["/a.b~1c~0d: stripped: unknown member", "/: stripped: unknown member"]
    );
    assert_eq!(refused(text).to_string(), r#"STEP_STARTED: ["a.b/c~d"]: unknown member"#);
}

#[test]
fn text_is_smaller_in_protobuf_and_a_list_of_small_integers_is_not() {
    let sizes = |text: &str| {
        let mut frame = BytesMut::new();
        read(text).encode_frame(&mut frame).unwrap();
        ("data: \n\n".len() + text.len(), frame.len())
    };
    assert_eq!(
        sizes(r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"msg-1","delta":"Hello"}"#),
        (75, 24)
    );
    let digits: Vec<String> = (0..1000).map(|n| (n % 10).to_string()).collect();
    assert_eq!(
        sizes(&format!(r#"{{"type":"STATE_SNAPSHOT","snapshot":[{}]}}"#, digits.join(","))),
        (2046, 11_017)
    );
    // A double takes as much as a digit, and the frame is no longer.
    let doubles: Vec<String> =
        (0..1000).map(|n| (f64::from(n) + 0.123_456_789_012).to_string()).collect();
    let (text, frame) =
        sizes(&format!(r#"{{"type":"STATE_SNAPSHOT","snapshot":[{}]}}"#, doubles.join(",")));
    assert_eq!(frame, 11_017);
    assert!(frame < text);
    assert_eq!(framed(&[]).len(), 4);
}
