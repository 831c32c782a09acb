//! What the decoder decides: a test for each rule D1 to D28, and the tables of what bytes become.
//!
//! Rule: wire.md 4.3 to 4.9 and 5.

use ag_ui_proto::Event;
use ag_ui_proto::codec::{DecodeError, EncodeError, EventReader, StreamError};
use ag_ui_proto::convert::{ConvertError, ConvertReason};
use ag_ui_proto::model::{Enforced, EventType, Malformed, NoticeKind, Reason, UnknownNames};
use bytes::BytesMut;

use crate::notation::{
    bytes, check_decodes, check_error, decode, frame, framed, hex, json, parse, refusal, texts,
};

/// Which test shows which rule.
const SHOWN: &[(u8, fn())] = &[
    (1, an_empty_frame_ends_the_stream),
    (2, bytes_that_are_no_protobuf_are_told_with_their_place),
    (3, two_arms_are_refused_and_the_last_does_not_win),
    (4, the_same_arm_twice_is_one_event),
    (5, unknown_fields_beside_an_arm_are_skipped_in_silence),
    (6, a_frame_of_a_later_version_is_dropped_and_the_stream_goes_on),
    (7, a_frame_that_is_no_event_of_any_version_is_refused),
    (8, an_event_without_base_is_refused),
    (9, a_base_that_declares_another_type_is_refused),
    (10, what_is_missing_is_handed_on_and_not_judged),
    (11, a_message_twice_is_merged_field_by_field),
    (12, of_a_scalar_twice_the_last_wins),
    (13, of_a_key_twice_the_later_entry_replaces),
    (14, of_several_kinds_in_a_value_the_last_wins),
    (15, a_part_or_source_in_two_arms_is_refused),
    (16, unknown_fields_below_the_envelope_are_skipped_in_silence),
    (17, a_known_field_of_another_wire_type_is_an_unknown_field),
    (18, groups_are_skipped_with_all_they_hold),
    (19, field_number_zero_is_refused_at_any_depth),
    (20, a_varint_may_be_longer_than_it_must_but_not_without_end),
    (21, a_length_beyond_32_bits_is_refused_and_not_cut),
    (22, an_enum_beyond_32_bits_is_cut),
    (23, any_bool_that_is_not_zero_is_true),
    (24, an_integer_that_a_double_cannot_count_is_refused),
    (25, a_string_that_is_not_utf_8_is_refused_with_its_path),
    (26, a_present_default_is_present),
    (27, an_absent_required_string_is_empty_and_only_sets_and_literals_mind),
    (27, an_absent_literal_is_malformed_later),
    (28, an_absent_required_value_stays_absent_and_is_malformed_later),
];

#[test]
fn every_rule_has_a_test() {
    let mut shown: Vec<u8> = SHOWN.iter().map(|(rule, _)| *rule).collect();
    shown.dedup();
    assert_eq!(shown, (1..=28).collect::<Vec<u8>>());
}

const END: &str = r#"{"type":"TEXT_MESSAGE_END","messageId":"m"}"#;

/// Reads a stream to its end: the events, the notices, and the error if there is one.
fn read(stream: &[u8]) -> (Vec<serde_json::Value>, Vec<String>, Option<StreamError>) {
    let (mut reader, mut src) = (EventReader::new(), BytesMut::from(stream));
    let (mut events, mut notices) = (Vec::new(), Vec::new());
    loop {
        match reader.next_event(&mut src) {
            Ok(Some(decoded)) => {
                notices.extend(texts(&decoded.notices));
                events.extend(decoded.event.map(|event| json(&event)));
            }
            Ok(None) => return (events, notices, reader.finish(&src).err()),
            Err(error) => {
                assert!(reader.next_event(&mut src).unwrap().is_none(), "nothing after an error");
                assert!(reader.finish(&src).is_ok(), "what is left is not truncated");
                return (events, notices, Some(error));
            }
        }
    }
}

#[track_caller]
fn check_malformed(text: &str, at: usize, reason: &str) {
    let error = refusal(text);
    let expected = DecodeError::Malformed { at, reason: reason.to_owned() };
    assert_eq!(error, expected, "{text}");
    assert_eq!(error.to_string(), format!("malformed at byte {at} of the payload: {reason}"));
}

/// Enforces the event of a payload as a consumer does.
fn enforce(text: &str) -> Result<Enforced, Malformed> {
    let mut event = decode(text).event.unwrap();
    let mut notices = Vec::new();
    event.drop_retired_nulls(&mut notices);
    let mut enforced = event.enforce(UnknownNames::Strip)?;
    notices.extend(enforced.notices);
    enforced.notices = notices.into();
    Ok(enforced)
}

#[track_caller]
fn check_later_malformed(text: &str, reason: &Reason, expected: &str) {
    let error = enforce(text).unwrap_err();
    assert_eq!(&error.reason, reason, "{text}");
    assert_eq!(error.to_string(), expected, "{text}");
}

/// Checks what enforcement leaves of a payload's event, and what it says.
#[track_caller]
fn check_later_stripped(text: &str, event: &str, notices: &[&str]) {
    let enforced = enforce(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(json(&enforced.event), parse(event), "{text}");
    assert_eq!(texts(&enforced.notices), notices, "{text}");
}

#[test]
fn an_empty_frame_ends_the_stream() {
    check_error!(
        Event::decode(&[]).unwrap_err(),
        DecodeError::Empty,
        "an empty frame names no event"
    );
    let end = frame(r#"3: {1: {1: 2} 2: "m"}"#); // 13 bytes
    let (events, notices, error) = read(&[end.as_slice(), &[0, 0, 0, 0], &end].concat());
    assert_eq!((events, notices), (vec![parse(END)], vec![]));
    check_error!(
        error.unwrap(),
        StreamError::Event { number: 2, offset: 13, source: DecodeError::Empty },
        "frame 2 at byte 13: an empty frame names no event"
    );
}

#[test]
fn bytes_that_are_no_protobuf_are_told_with_their_place() {
    let past = "varint runs past the end of its message";
    check_malformed("`80`", 0, past);
    check_malformed("`1a`", 1, past);
    check_malformed("`1a 05 0a 00`", 1, "length runs past the end of its message");
    // Field 3 with the wire types 6 and 7, which protobuf does not have.
    check_malformed("`1e 00`", 1, "unknown wire type");
    check_malformed("`1f 00`", 1, "unknown wire type");
    check_malformed("`1c`", 1, "end of a group that is not open");
    // Group 100 opens: it does not end, or it ends as group 101.
    check_malformed("`a3 06`", 2, "group does not end");
    check_malformed("`a3 06 ac 06`", 4, "end of a group that is not open");
    check_malformed("`00 00`", 0, "field number 0");
    // A whole event, and behind it a field that is not complete.
    check_malformed(r#"3: {1: {1: 2} 2: "m"} `1a`"#, 10, past);
    check_malformed(
        r#"3: {1: {1: 2} 2: "m"} `1a 01`"#,
        10,
        "length runs past the end of its message",
    );
    check_malformed(
        r#"3: {1: {1: 2} 2: "m"} `a5 06 00`"#,
        11,
        "field runs past the end of its message",
    );
    check_malformed(
        r#"3: {1: {1: 2} 2: "m"} `a1 06 00`"#,
        11,
        "field runs past the end of its message",
    );
    // Inside base_event, which begins at byte 4, and inside a Value.
    check_malformed("3: {1: {`08`}}", 5, past);
    check_malformed("7: {1: {1: 6} 2: {`11 00 00`}}", 9, "number runs past the end of its message");
}

#[test]
fn two_arms_are_refused_and_the_last_does_not_win() {
    let start = r#"1: {1: {} 2: "m"}"#;
    let end = r#"3: {1: {1: 2} 2: "m"}"#;
    check_error!(
        refusal(&format!("{start} {end}")),
        DecodeError::TwoEvents { first: 1, second: 3 },
        "the envelope names two events, in the arms 1 and 3"
    );
    check_error!(
        refusal(&format!("{end} {start}")),
        DecodeError::TwoEvents { first: 3, second: 1 },
        "the envelope names two events, in the arms 3 and 1"
    );
    // Whatever the wire type of the other one.
    for other in ["1: 0", "1: 0.5", "1: {}", "1~0"] {
        assert_eq!(
            refusal(&format!("{end} {other}")),
            DecodeError::TwoEvents { first: 3, second: 1 }
        );
        assert_eq!(
            refusal(&format!("{other} {end}")),
            DecodeError::TwoEvents { first: 1, second: 3 }
        );
    }
}

#[test]
fn the_same_arm_twice_is_one_event() {
    check_decodes(r#"3: {1: {1: 2}} 3: {2: "m"}"#, END);
    check_decodes(r#"3: {1: {1: 2} 2: "l"} 3: {2: "m"}"#, END);
    check_decodes(
        r#"8: {1: {1: 7} 2: {1: 1 2: "/a"}} 8: {2: {1: 1 2: "/b"}}"#,
        r#"{"type":"STATE_DELTA","delta":[{"op":"remove","path":"/a"},{"op":"remove","path":"/b"}]}"#,
    );
}

#[test]
fn unknown_fields_beside_an_arm_are_skipped_in_silence() {
    // Not a message, a varint, a group, eight bytes, four bytes; before the arm and behind it.
    let unknown = "777: {`ff`} 100: 7 101!{3: {}} 102: 0.5 103~1";
    check_decodes(&format!(r#"{unknown} 3: {{1: {{1: 2}} 2: "m"}} {unknown}"#), END);
}

#[test]
fn a_frame_of_a_later_version_is_dropped_and_the_stream_goes_on() {
    for (payload, arm) in [
        ("777: {1: {1: 99}}", 777),
        ("777: {}", 777),
        ("32: {}", 32),
        // A number that protobuf keeps for itself.
        ("19001: {}", 19001),
        // What the fields of a future event hold is not looked into.
        ("777: {1: {`ff`} 2: 7 3!{4: 1} 5: 0.5 6~1}", 777),
        // The first arm names the frame; other unknown fields do not matter.
        ("500: 1 777: {} 32: {}", 777),
        ("777: {1: -1}", 777),
    ] {
        let decoded = Event::decode(&bytes(payload)).unwrap();
        assert_eq!(decoded.event, None, "{payload}");
        assert_eq!(decoded.notices[0].kind, NoticeKind::UnknownArm { arm }, "{payload}");
        let text = format!("dropped a frame with an event of a later version (arm {arm})");
        assert_eq!(texts(&decoded.notices), [text], "{payload}");
    }
    let end = frame(r#"3: {1: {1: 2} 2: "m"}"#);
    let (events, notices, error) = read(&[frame("777: {}"), end].concat());
    assert_eq!(events, [parse(END)]);
    assert_eq!(notices, ["dropped a frame with an event of a later version (arm 777)"]);
    assert!(error.is_none());
}

#[test]
fn a_frame_that_is_no_event_of_any_version_is_refused() {
    for payload in [
        "100: 1",
        "100: 0.5",
        "100~1",
        "100!{}",
        "777: {`ff`}",
        "777: {`0e`}",
        "777: {`00 00`}",
        "777: {`a3 06`}",
        // One that is a message does not make up for one that is not.
        "777: {} 778: {`ff`}",
        // A known arm with another wire type.
        "3: 5",
        "3: 0.5",
        "3~5",
        "3!{}",
        "3: 5 777: {}",
        "777: {} 3!{}",
        // An encoder writes no length in six bytes, no tag in six, and no varint in eleven.
        "777: {`0a 80 80 80 80 80 00`}",
        "777: {`88 80 80 80 80 00 01`}",
        "777: {`08 80 80 80 80 80 80 80 80 80 80 00`}",
        "777: {`08 ff ff ff ff ff ff ff ff ff 02`}",
    ] {
        check_error!(refusal(payload), DecodeError::NoEvent, "the envelope names no event");
    }
}

#[test]
fn an_event_without_base_is_refused() {
    check_error!(
        refusal(r#"3: {2: "m"}"#),
        DecodeError::Convert(ConvertError { reason: ConvertReason::NoBase, .. }),
        "TEXT_MESSAGE_END: the event has no base_event"
    );
    check_error!(
        refusal(r#"1: {2: "m"}"#),
        DecodeError::Convert(ConvertError { reason: ConvertReason::NoBase, .. }),
        "TEXT_MESSAGE_START: the event has no base_event"
    );
    for arm in 1..=31 {
        check_error!(
            refusal(&format!("{arm}: {{}}")),
            DecodeError::Convert(ConvertError {
                event_type: Some(_),
                reason: ConvertReason::NoBase,
                ..
            }),
            format!("{}: the event has no base_event", EventType::ALL[arm - 1])
        );
    }
}

#[test]
fn a_base_that_declares_another_type_is_refused() {
    let mismatch = |base: &str, declared: i32| {
        let error = refusal(&format!(r#"3: {{{base} 2: "m"}}"#));
        let DecodeError::Convert(ConvertError { event_type, reason, .. }) = &error else {
            panic!("{error:?}")
        };
        assert_eq!(*event_type, Some(EventType::TextMessageEnd));
        assert_eq!(*reason, ConvertReason::TypeMismatch { declared });
        assert_eq!(
            error.to_string(),
            format!(
                "TEXT_MESSAGE_END: base_event declares type number {declared}, which is not the \
                 type of the arm"
            )
        );
    };
    mismatch("1: {1: 1}", 1);
    // An empty base declares TEXT_MESSAGE_START.
    mismatch("1: {}", 0);
    mismatch("1: {1: 31}", 31);
    mismatch("1: {1: -1}", -1);
    // Judged after merging.
    mismatch("1: {1: 2} 1: {1: 1}", 1);
    check_decodes(r#"3: {1: {1: 1} 1: {1: 2} 2: "m"}"#, END);
    check_decodes(r#"1: {1: {} 2: "m"}"#, r#"{"type":"TEXT_MESSAGE_START","messageId":"m"}"#);
}

#[test]
fn what_is_missing_is_handed_on_and_not_judged() {
    check_decodes("3: {1: {1: 2}}", r#"{"type":"TEXT_MESSAGE_END","messageId":""}"#);
    check_decodes("9: {1: {1: 8}}", r#"{"type":"MESSAGES_SNAPSHOT","messages":[]}"#);
    check_decodes("8: {1: {1: 7}}", r#"{"type":"STATE_DELTA","delta":[]}"#);
    check_decodes(
        "23: {1: {1: 22}}",
        r#"{"type":"ACTIVITY_SNAPSHOT","messageId":"","activityType":""}"#,
    );
    check_later_malformed(
        "23: {1: {1: 22}}",
        &Reason::Missing,
        "ACTIVITY_SNAPSHOT: content: missing",
    );
}

#[test]
fn a_message_twice_is_merged_field_by_field() {
    // base_event: the type from one, the time from the other, metadata of both.
    check_decodes(
        r#"3: {
            1: {1: 2 4: {1: {1: "a" 2: {4: 1}}}}
            1: {2: 7 4: {1: {1: "b" 2: {4: 0}}}}
            2: "m"
        }"#,
        r#"{"type":"TEXT_MESSAGE_END","messageId":"m","timestamp":7,"metadata":{"a":true,"b":false}}"#,
    );
    // snapshot: struct into struct.
    check_decodes(
        r#"7: {1: {1: 6} 2: {5: {1: {1: "a" 2: {4: 1}}}} 2: {5: {1: {1: "b" 2: {1: 0}}}}}"#,
        r#"{"type":"STATE_SNAPSHOT","snapshot":{"a":true,"b":null}}"#,
    );
    // function: the name from one, the arguments from the other.
    check_decodes(
        r#"9: {1: {1: 8} 2: {1: "i" 2: "assistant" 5: {
            1: "c" 2: "function" 3: {1: "f"} 3: {2: "x"}
        }}}"#,
        r#"{"type":"MESSAGES_SNAPSHOT","messages":[{"role":"assistant","id":"i","toolCalls":[
            {"id":"c","type":"function","function":{"name":"f","arguments":"x"}}]}]}"#,
    );
    // source: the same arm twice.
    check_decodes(
        r#"22: {1: {1: 21} 3: "m" 4: "c" 7: {2: {
            1: {1: {1: "QQ=="}} 1: {1: {2: "image/png"}}
        }}}"#,
        r#"{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":[
            {"type":"image","source":{"type":"data","value":"QQ==","mimeType":"image/png"}}]}"#,
    );
    // input: scalars are replaced, lists grow.
    check_decodes(
        r#"12: {1: {1: 11} 2: "t" 3: "r"
            5: {1: "t" 2: "r" 5: {1: "u" 2: "user" 3: "x"}}
            5: {2: "q" 5: {1: "v" 2: "user" 3: "y"}}
        }"#,
        r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"threadId":"t","runId":"q",
            "messages":[{"role":"user","id":"u","content":"x"},{"role":"user","id":"v","content":"y"}],
            "tools":[],"context":[],"resume":[]}}"#,
    );
}

#[test]
fn of_a_scalar_twice_the_last_wins() {
    check_decodes(r#"3: {1: {1: 2} 2: "l" 2: "m"}"#, END);
    check_decodes(
        r#"1: {1: {2: 1 2: 2} 2: "m" 4: "a" 4: "b"}"#,
        r#"{"type":"TEXT_MESSAGE_START","messageId":"m","name":"b","timestamp":2}"#,
    );
}

#[test]
fn of_a_key_twice_the_later_entry_replaces() {
    check_decodes(
        r#"3: {1: {1: 2 4: {
            1: {1: "a" 2: {5: {1: {1: "x" 2: {4: 1}}}}}
            1: {1: "a" 2: {5: {1: {1: "y" 2: {4: 1}}}}}
        }} 2: "m"}"#,
        r#"{"type":"TEXT_MESSAGE_END","messageId":"m","metadata":{"a":{"y":true}}}"#,
    );
    // Two values in one entry are one value, merged.
    check_decodes(
        r#"3: {1: {1: 2 4: {1: {
            1: "a" 2: {5: {1: {1: "x" 2: {4: 1}}}} 2: {5: {1: {1: "y" 2: {4: 1}}}}
        }}} 2: "m"}"#,
        r#"{"type":"TEXT_MESSAGE_END","messageId":"m","metadata":{"a":{"x":true,"y":true}}}"#,
    );
}

#[test]
fn of_several_kinds_in_a_value_the_last_wins() {
    let snapshot = |value: &str, expected: &str| {
        check_decodes(
            &format!("7: {{1: {{1: 6}} 2: {{{value}}}}}"),
            &format!(r#"{{"type":"STATE_SNAPSHOT","snapshot":{expected}}}"#),
        );
    };
    snapshot(r#"3: "x" 2: 1.0"#, "1");
    snapshot("2: 1.0 1: 0", "null");
    // A struct after a struct and a list after a list are merged ...
    snapshot(r#"5: {1: {1: "a" 2: {4: 1}}} 5: {1: {1: "b" 2: {4: 1}}}"#, r#"{"a":true,"b":true}"#);
    snapshot("6: {1: {4: 1}} 6: {1: {4: 0}}", "[true,false]");
    // ... unless another kind stood between.
    snapshot(r#"5: {1: {1: "a" 2: {4: 1}}} 4: 1 5: {1: {1: "b" 2: {4: 1}}}"#, r#"{"b":true}"#);
    snapshot("6: {1: {4: 1}} 5: {} 6: {1: {4: 0}}", "[false]");
}

#[test]
fn a_part_or_source_in_two_arms_is_refused() {
    let parts = |part: &str| format!(r#"9: {{1: {{1: 8}} 2: {{1: "i" 2: "user" 8: {{{part}}}}}}}"#);
    check_error!(
        refusal(&parts(r#"1: {1: "x"} 2: {}"#)),
        DecodeError::TwoArms { .. },
        "MESSAGES_SNAPSHOT: messages[0].content[0]: in two arms at once"
    );
    check_error!(
        refusal(&parts(r#"2: {1: {1: {1: "QQ=="} 2: {1: "u"}}}"#)),
        DecodeError::TwoArms { .. },
        "MESSAGES_SNAPSHOT: messages[0].content[0].source: in two arms at once"
    );
    check_error!(
        refusal(r#"22: {1: {1: 21} 7: {1: {1: "x"}} 7: {4: {} 5: {}}}"#),
        DecodeError::TwoArms { .. },
        "TOOL_CALL_RESULT: content[1]: in two arms at once"
    );
    let message = |part: &str| {
        format!(
            r#"{{"type":"MESSAGES_SNAPSHOT","messages":[{{"role":"user","id":"i","content":[{part}]}}]}}"#
        )
    };
    // The same arm twice is merged.
    check_decodes(
        &parts(r#"1: {1: "x"} 1: {2: "p"}"#),
        &message(r#"{"type":"text","text":"x","id":"p"}"#),
    );
    // Two sources, each in one arm, are not in two arms at once: the last one is the source.
    check_decodes(
        &parts(r#"2: {1: {1: {1: "QQ==" 2: "image/png"}} 1: {2: {1: "u"}}}"#),
        &message(r#"{"type":"image","source":{"type":"url","value":"u"}}"#),
    );
}

#[test]
fn unknown_fields_below_the_envelope_are_skipped_in_silence() {
    check_decodes(r#"3: {50: 3 1: {1: 2 99: "x"} 51: {`ff`} 2: "m" 52~1 53: 0.5}"#, END);
    // In a part, a source, and a function.
    check_decodes(
        r#"9: {1: {1: 8} 2: {1: "i" 2: "user" 40: "x" 8: {2: {1: {2: {1: "u" 9: 1} 9: 1} 9: 1} 9: 1}}}"#,
        r#"{"type":"MESSAGES_SNAPSHOT","messages":[
            {"role":"user","id":"i","content":[{"type":"image","source":{"type":"url","value":"u"}}]}]}"#,
    );
    // In a Value, a Struct, an entry of it, and a ListValue.
    check_decodes(
        r#"7: {1: {1: 6} 2: {9: 1 5: {9: 1 1: {9: 1 1: "a" 2: {6: {9: "x" 1: {4: 1}}}}}}}"#,
        r#"{"type":"STATE_SNAPSHOT","snapshot":{"a":[true]}}"#,
    );
}

#[test]
fn a_known_field_of_another_wire_type_is_an_unknown_field() {
    // message_id as a varint, timestamp as a string, subagent_run_id as four bytes.
    check_decodes(
        r#"3: {1: {1: 2 2: "x"} 2: 5 3~1}"#,
        r#"{"type":"TEXT_MESSAGE_END","messageId":""}"#,
    );
    // What was there stays.
    check_decodes(r#"3: {1: {1: 2 1: "x"} 2: "m" 2: 5} 3: 7"#, END);
    check_error!(
        refusal(r#"3: {1: 5 2: "m"}"#),
        DecodeError::Convert(ConvertError { reason: ConvertReason::NoBase, .. }),
        "TEXT_MESSAGE_END: the event has no base_event"
    );
    // A Value's null as a string, its number as a varint, its bool as eight bytes: no kind.
    check_decodes(r#"7: {1: {1: 6} 2: {1: "x" 2: 5 4: 0.5}}"#, r#"{"type":"STATE_SNAPSHOT"}"#);
    // Two arms of a part, of which one has another wire type, are one arm.
    check_decodes(
        r#"22: {1: {1: 21} 3: "m" 4: "c" 7: {1: {1: "x"} 2: 5}}"#,
        r#"{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":[
            {"type":"text","text":"x"}]}"#,
    );
}

#[test]
fn groups_are_skipped_with_all_they_hold() {
    // Not an arm, not a base, not an id.
    check_decodes(r#"60!{1: {1: {}}} 3: {1: {1: 2} 60!{1: {1: 5} 2: "x" 61!{}} 2: "m"}"#, END);
    check_decodes(
        "7: {1: {1: 6} 2: {4: 1 60!{1: 0}}}",
        r#"{"type":"STATE_SNAPSHOT","snapshot":true}"#,
    );
    // A group under a known number is one too.
    check_decodes(r#"3: {1: {1: 2} 2: "m" 2!{1: 0}}"#, END);
}

#[test]
fn field_number_zero_is_refused_at_any_depth() {
    for (payload, at) in [
        ("`00 00`", 0),
        (r#"3: {1: {1: 2} `00 00` 2: "m"}"#, 6),
        ("3: {1: {1: 2 `00 00`}}", 6),
        // A Value, a Struct in it, an entry of that, and the Value of the entry.
        ("7: {1: {1: 6} 2: {`00 00`}}", 8),
        ("7: {1: {1: 6} 2: {5: {`00 00`}}}", 10),
        ("7: {1: {1: 6} 2: {5: {1: {`00 00`}}}}", 12),
        ("7: {1: {1: 6} 2: {5: {1: {2: {`00 00`}}}}}", 14),
        ("7: {1: {1: 6} 2: {6: {`00 00`}}}", 10),
        ("7: {1: {1: 6} 2: {6: {1: {`00 00`}}}}", 12),
        // In a group that is skipped.
        ("3: {1: {1: 2} 60!{`00 00`}}", 8),
    ] {
        check_malformed(payload, at, "field number 0");
    }
}

#[test]
fn a_varint_may_be_longer_than_it_must_but_not_without_end() {
    // A tag in five bytes, a value in ten, a length in ten.
    check_decodes(r#"`9a 80 80 80 00 07` 1: {1: 2} 2: "m""#, END);
    check_decodes(r#"3: {1: {`08 82 80 80 80 80 80 80 80 80 00`} 2: "m"}"#, END);
    check_decodes("3: {1: {1: 2} `12 81 80 80 80 80 80 80 80 80 00 6d`}", END);
    check_malformed("`9a 80 80 80 80 00 00`", 0, "tag longer than 5 bytes");
    check_malformed("`9a 80 80 80 10 00`", 0, "tag exceeds 32 bits");
    check_malformed("3: {1: {`08 82 80 80 80 80 80 80 80 80 80 00`}}", 5, "varint exceeds 64 bits");
    check_malformed("3: {1: {`08 ff ff ff ff ff ff ff ff ff 02`}}", 5, "varint exceeds 64 bits");
    check_malformed(
        "3: {1: {1: 2} `12 81 80 80 80 80 80 80 80 80 80 00 6d`}",
        7,
        "varint exceeds 64 bits",
    );
}

#[test]
fn a_length_beyond_32_bits_is_refused_and_not_cut() {
    // 2^32 + 7; cut to 32 bits it would be right.
    check_malformed(r#"`1a 87 80 80 80 10` 1: {1: 2} 2: "m""#, 1, "length exceeds 32 bits");
    check_malformed("3: {1: {1: 2} `12 81 80 80 80 10 6d`}", 7, "length exceeds 32 bits");
    check_malformed("7: {1: {1: 6} 2: {`1a 81 80 80 80 10 78`}}", 9, "length exceeds 32 bits");
}

#[test]
fn an_enum_beyond_32_bits_is_cut() {
    // 2^32 + 2 is TEXT_MESSAGE_END as much as 2 is, and a replace.
    check_decodes(r#"3: {1: {1: 4294967298} 2: "m"}"#, END);
    check_decodes(
        r#"8: {1: {1: 7} 2: {1: 4294967298 2: "/a" 4: {4: 1}}}"#,
        r#"{"type":"STATE_DELTA","delta":[{"op":"replace","path":"/a","value":true}]}"#,
    );
    // 2^31 is the least of 32 bits.
    check_error!(
        refusal("3: {1: {1: 2147483648}}"),
        DecodeError::Convert(ConvertError {
            reason: ConvertReason::TypeMismatch { declared: i32::MIN },
            ..
        }),
        "TEXT_MESSAGE_END: base_event declares type number -2147483648, which is not the type of \
         the arm"
    );
}

#[test]
fn any_bool_that_is_not_zero_is_true() {
    for value in ["1", "2", "-1", "4294967296"] {
        check_decodes(
            &format!(r#"23: {{1: {{1: 22}} 3: "m" 4: "a" 5: {{}} 6: {value}}}"#),
            r#"{"type":"ACTIVITY_SNAPSHOT","messageId":"m","activityType":"a","content":{},"replace":true}"#,
        );
        check_decodes(
            &format!("7: {{1: {{1: 6}} 2: {{4: {value}}}}}"),
            r#"{"type":"STATE_SNAPSHOT","snapshot":true}"#,
        );
    }
}

#[test]
fn an_integer_that_a_double_cannot_count_is_refused() {
    for count in ["9007199254740991", "-9007199254740991"] {
        check_decodes(
            &format!(r#"3: {{1: {{1: 2 2: {count}}} 2: "m"}}"#),
            &format!(r#"{{"type":"TEXT_MESSAGE_END","messageId":"m","timestamp":{count}}}"#),
        );
        check_decodes(
            &format!(r#"14: {{1: {{1: 13}} 3: "x" 4: {{3: {count}}}}}"#),
            &format!(r#"{{"type":"RUN_ERROR","message":"x","usage":[{{"inputTokens":{count}}}]}}"#),
        );
    }
    for count in [9_007_199_254_740_992_i64, -9_007_199_254_740_992, i64::MAX, i64::MIN] {
        let outside = format!("{count} is outside -9007199254740991 to 9007199254740991");
        let refused = |payload: String, text: String| {
            let error = refusal(&payload);
            let DecodeError::Convert(ConvertError { reason, .. }) = &error else {
                panic!("{error:?}")
            };
            assert_eq!(*reason, ConvertReason::OutOfRange(count));
            assert_eq!(error.to_string(), text);
        };
        refused(
            format!("3: {{1: {{1: 2 2: {count}}}}}"),
            format!("TEXT_MESSAGE_END: timestamp: {outside}"),
        );
        for (field, name) in [
            (3, "inputTokens"),
            (4, "outputTokens"),
            (5, "totalTokens"),
            (6, "reasoningTokens"),
            (7, "cachedInputTokens"),
            (8, "cacheWriteInputTokens"),
        ] {
            refused(
                format!("13: {{1: {{1: 12}} 7: {{}} 7: {{{field}: {count}}}}}"),
                format!("RUN_FINISHED: usage[1].{name}: {outside}"),
            );
        }
    }
}

#[test]
fn a_string_that_is_not_utf_8_is_refused_with_its_path() {
    for (payload, path) in [
        ("3: {1: {1: 2} 2: {`ff`}}", "TEXT_MESSAGE_END: messageId"),
        // A surrogate, an overlong slash, a character cut short.
        ("3: {1: {1: 2} 2: {`ed a0 bd`}}", "TEXT_MESSAGE_END: messageId"),
        ("3: {1: {1: 2} 2: {`c0 af`}}", "TEXT_MESSAGE_END: messageId"),
        ("3: {1: {1: 2} 2: {`e6 bc`}}", "TEXT_MESSAGE_END: messageId"),
        ("3: {1: {1: 2 4: {1: {1: {`ff`} 2: {4: 1}}}}}", "TEXT_MESSAGE_END: metadata"),
        ("3: {1: {1: 2 3: {3: {`ff`}}}}", "TEXT_MESSAGE_END: rawEvent"),
        ("7: {1: {1: 6} 2: {6: {1: {3: {`ff`}}}}}", "STATE_SNAPSHOT: snapshot"),
        ("9: {1: {1: 8} 2: {} 2: {1: {`ff`}}}", "MESSAGES_SNAPSHOT: messages[1].id"),
        (
            r#"9: {1: {1: 8} 2: {2: "user" 8: {1: {1: {`ff`}}}}}"#,
            "MESSAGES_SNAPSHOT: messages[0].content[0].text",
        ),
        (
            "9: {1: {1: 8} 2: {5: {3: {2: {`ff`}}}}}",
            "MESSAGES_SNAPSHOT: messages[0].toolCalls[0].function.arguments",
        ),
        ("13: {1: {1: 12} 8: {`ff`}}", "RUN_FINISHED: pendingToolCallIds[0]"),
        // Overwritten by a later one, it is still what came.
        (r#"3: {1: {1: 2} 2: {`ff`} 2: "m"}"#, "TEXT_MESSAGE_END: messageId"),
    ] {
        check_error!(
            refusal(payload),
            DecodeError::Utf8 { .. },
            format!("{path}: a string that is not UTF-8")
        );
    }
}

#[test]
fn a_present_default_is_present() {
    check_decodes(
        r#"1: {1: {2: 0 4: {}} 2: "m" 4: "" 5: ""}"#,
        r#"{"type":"TEXT_MESSAGE_START","messageId":"m","name":"","subagentRunId":"","timestamp":0,"metadata":{}}"#,
    );
    check_decodes(
        r#"23: {1: {1: 22} 3: "m" 4: "a" 5: {} 6: 0}"#,
        r#"{"type":"ACTIVITY_SNAPSHOT","messageId":"m","activityType":"a","content":{},"replace":false}"#,
    );
    check_decodes(
        r#"14: {1: {1: 13} 2: "" 3: "" 4: {1: "" 2: "" 3: 0 4: 0 5: 0 6: 0 7: 0 8: 0}}"#,
        r#"{"type":"RUN_ERROR","message":"","code":"","usage":[{"provider":"","model":"","inputTokens":0,
            "outputTokens":0,"totalTokens":0,"reasoningTokens":0,"cachedInputTokens":0,"cacheWriteInputTokens":0}]}"#,
    );
    check_decodes(
        r#"17: {1: {1: 19} 2: "" 3: "" 4: "" 5: "" 6: ""}"#,
        r#"{"type":"TEXT_MESSAGE_CHUNK","messageId":"","role":"","delta":"","name":"","subagentRunId":""}"#,
    );
}

#[test]
fn an_absent_required_string_is_empty_and_only_sets_and_literals_mind() {
    check_decodes("2: {1: {1: 1}}", r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"","delta":""}"#);
    check_later_stripped(
        "2: {1: {1: 1}}",
        r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"","delta":""}"#,
        &[],
    );
    // The subtype, a resume status and the role of a message are sets.
    check_later_stripped(
        "31: {1: {1: 30}}",
        "null",
        &[r#"stripped: unknown encrypted value subtype """#],
    );
    check_later_stripped(
        "12: {1: {1: 11} 5: {9: {}}}",
        r#"{"type":"RUN_STARTED","threadId":"","runId":"","input":{"threadId":"","runId":"",
            "messages":[],"tools":[],"context":[],"resume":[]}}"#,
        &[r#"/input/resume/0: stripped: unknown resume status """#],
    );
    check_later_stripped(
        "9: {1: {1: 8} 2: {}}",
        r#"{"type":"MESSAGES_SNAPSHOT","messages":[]}"#,
        &[r#"/messages/0: stripped: unknown message role """#],
    );
}

#[test]
fn an_absent_literal_is_malformed_later() {
    // ToolCall.type and the role of a reasoning message are literals.
    check_later_malformed(
        r#"9: {1: {1: 8} 2: {2: "assistant" 5: {3: {}}}}"#,
        &Reason::Literal { expected: "function", found: String::new() },
        r#"MESSAGES_SNAPSHOT: messages[0].toolCalls[0].type: expected "function", found """#,
    );
    check_later_malformed(
        "26: {1: {1: 25}}",
        &Reason::Literal { expected: "reasoning", found: String::new() },
        r#"REASONING_MESSAGE_START: role: expected "reasoning", found """#,
    );
}

#[test]
fn an_absent_required_value_stays_absent_and_is_malformed_later() {
    for (absent, no_kind, json, text) in [
        (
            "7: {1: {1: 6}}",
            "7: {1: {1: 6} 2: {}}",
            r#"{"type":"STATE_SNAPSHOT"}"#,
            "STATE_SNAPSHOT: snapshot: missing",
        ),
        ("10: {1: {1: 9}}", "10: {1: {1: 9} 2: {}}", r#"{"type":"RAW"}"#, "RAW: event: missing"),
        (
            "11: {1: {1: 10}}",
            "11: {1: {1: 10} 3: {}}",
            r#"{"type":"CUSTOM","name":""}"#,
            "CUSTOM: value: missing",
        ),
    ] {
        for payload in [absent, no_kind] {
            check_decodes(payload, json);
            check_later_malformed(payload, &Reason::Missing, text);
        }
    }
    check_later_malformed(
        "23: {1: {1: 22}}",
        &Reason::Missing,
        "ACTIVITY_SNAPSHOT: content: missing",
    );
    // An optional Value without a kind is absent too, and that is fine.
    check_decodes(r#"3: {1: {1: 2 3: {}} 2: "m"}"#, END);
    // Inside open values: the key goes, the element is null.
    check_decodes(
        r#"7: {1: {1: 6} 2: {5: {1: {1: "a"} 1: {1: "b" 2: {}} 1: {1: "c" 2: {6: {1: {} 1: {4: 1}}}}}}}"#,
        r#"{"type":"STATE_SNAPSHOT","snapshot":{"c":[null,true]}}"#,
    );
}

// 4.3: messages.

fn snapshot(message: &str) -> String {
    format!("9: {{1: {{1: 8}} 2: {{{message}}}}}")
}

fn messages(message: &str) -> String {
    format!(r#"{{"type":"MESSAGES_SNAPSHOT","messages":[{message}]}}"#)
}

#[test]
fn the_content_of_a_message_stands_where_its_role_has_it() {
    for (message, expected) in [
        (r#"1: "i" 2: "developer" 3: "x""#, r#"{"role":"developer","id":"i","content":"x"}"#),
        (r#"1: "i" 2: "system" 3: "x""#, r#"{"role":"system","id":"i","content":"x"}"#),
        (r#"1: "i" 2: "reasoning" 3: "x""#, r#"{"role":"reasoning","id":"i","content":"x"}"#),
        (r#"1: "i" 2: "assistant" 3: """#, r#"{"role":"assistant","id":"i","content":""}"#),
        (r#"1: "i" 2: "assistant""#, r#"{"role":"assistant","id":"i"}"#),
        (r#"1: "i" 2: "user" 3: "x""#, r#"{"role":"user","id":"i","content":"x"}"#),
        (r#"1: "i" 2: "user" 3: """#, r#"{"role":"user","id":"i","content":""}"#),
        (r#"1: "i" 2: "user""#, r#"{"role":"user","id":"i","content":[]}"#),
        (
            r#"1: "i" 2: "tool" 6: "c" 3: """#,
            r#"{"role":"tool","id":"i","content":"","toolCallId":"c"}"#,
        ),
        (r#"1: "i" 2: "tool" 6: "c""#, r#"{"role":"tool","id":"i","content":[],"toolCallId":"c"}"#),
        (
            r#"1: "i" 2: "tool" 6: "c" 8: {1: {1: "x"}}"#,
            r#"{"role":"tool","id":"i","content":[{"type":"text","text":"x"}],"toolCallId":"c"}"#,
        ),
        (
            r#"1: "i" 2: "activity" 12: "a" 13: {}"#,
            r#"{"role":"activity","id":"i","activityType":"a","content":{}}"#,
        ),
    ] {
        check_decodes(&snapshot(message), &messages(expected));
    }
}

#[test]
fn text_and_parts_at_once_are_refused_even_if_the_part_is_empty() {
    for role in ["user", "tool"] {
        for content in [r#"3: "x" 8: {1: {1: "y"}}"#, r#"3: "x" 8: {}"#, r#"3: "" 8: {}"#] {
            check_error!(
                refusal(&snapshot(&format!(r#"2: "{role}" {content}"#))),
                DecodeError::Convert(ConvertError { reason: ConvertReason::TextAndParts, .. }),
                "MESSAGES_SNAPSHOT: messages[0].content: text and parts at once"
            );
        }
    }
}

#[test]
fn content_that_the_role_does_not_have_is_refused() {
    let refused = |role: &str, field: &str, content: &'static str| {
        let error = refusal(&snapshot(&format!(r#"2: "{role}" {field}"#)));
        let DecodeError::Convert(ConvertError { reason, .. }) = &error else { panic!("{error:?}") };
        let expected = ConvertReason::ContentOfAnotherRole { content, role: role.to_owned() };
        assert_eq!(*reason, expected);
        assert_eq!(
            error.to_string(),
            format!(
                r#"MESSAGES_SNAPSHOT: messages[0].content: {content} in a message of role "{role}""#
            )
        );
    };
    for role in ["developer", "system", "assistant", "activity", "reasoning"] {
        refused(role, r#"8: {1: {1: "x"}}"#, "parts");
        refused(role, "8: {}", "parts");
    }
    for role in ["developer", "system", "assistant", "user", "tool", "reasoning"] {
        refused(role, "13: {}", "an activity's content");
    }
    refused("activity", r#"3: """#, "text");
}

#[test]
fn a_message_without_what_its_role_requires_is_malformed_later() {
    for role in ["developer", "system", "reasoning"] {
        let message = format!(r#"1: "i" 2: "{role}""#);
        check_decodes(&snapshot(&message), &messages(&format!(r#"{{"role":"{role}","id":"i"}}"#)));
        check_later_malformed(
            &snapshot(&message),
            &Reason::Missing,
            "MESSAGES_SNAPSHOT: messages[0].content: missing",
        );
    }
    let activity = r#"1: "i" 2: "activity" 12: "a""#;
    check_decodes(
        &snapshot(activity),
        &messages(r#"{"role":"activity","id":"i","activityType":"a"}"#),
    );
    check_later_malformed(
        &snapshot(activity),
        &Reason::Missing,
        "MESSAGES_SNAPSHOT: messages[0].content: missing",
    );
    check_later_malformed(
        &snapshot(r#"2: "activity" 13: {}"#),
        &Reason::Missing,
        "MESSAGES_SNAPSHOT: messages[0].activityType: missing",
    );
    check_later_malformed(
        &snapshot(r#"2: "tool" 3: "x""#),
        &Reason::Missing,
        "MESSAGES_SNAPSHOT: messages[0].toolCallId: missing",
    );
    check_decodes(
        &snapshot(r#"1: "i" 2: "assistant" 5: {1: "c" 2: "function"}"#),
        &messages(r#"{"role":"assistant","id":"i","toolCalls":[{"id":"c","type":"function"}]}"#),
    );
    check_later_malformed(
        &snapshot(r#"2: "assistant" 5: {2: "function"}"#),
        &Reason::Missing,
        "MESSAGES_SNAPSHOT: messages[0].toolCalls[0].function: missing",
    );
}

#[test]
fn members_that_a_role_does_not_have_are_kept_and_stripped_later() {
    let all = [
        ("name", r#"4: "v""#, r#""v""#, "activity tool reasoning"),
        (
            "toolCalls",
            r#"5: {1: "c" 2: "function" 3: {}}"#,
            r#"[{"id":"c","type":"function","function":{"name":"","arguments":""}}]"#,
            "developer system user tool activity reasoning",
        ),
        ("toolCallId", r#"6: "v""#, r#""v""#, "developer system assistant user activity reasoning"),
        ("error", r#"7: "v""#, r#""v""#, "developer system assistant user activity reasoning"),
        ("encryptedValue", r#"11: "v""#, r#""v""#, "activity"),
        ("activityType", r#"12: "v""#, r#""v""#, "developer system assistant user tool reasoning"),
        ("encryptedValueType", r#"14: "v""#, r#""v""#, "activity"),
    ];
    for (member, field, value, roles) in all {
        for role in roles.split(' ') {
            let (own, own_json) = match role {
                "activity" => (r#"12: "a" 13: {}"#, r#""activityType":"a","content":{}"#),
                "tool" => (r#"3: "x" 6: "c""#, r#""content":"x","toolCallId":"c""#),
                _ => (r#"3: "x""#, r#""content":"x""#),
            };
            let payload = snapshot(&format!(r#"1: "i" 2: "{role}" {own} {field}"#));
            let rest = format!(r#""role":"{role}","id":"i",{own_json}"#);
            check_decodes(&payload, &messages(&format!(r#"{{{rest},"{member}":{value}}}"#)));
            check_later_stripped(
                &payload,
                &messages(&format!("{{{rest}}}")),
                &[&format!("/messages/0/{member}: stripped: unknown member")],
            );
        }
    }
}

#[test]
fn a_message_of_an_unknown_role_is_rebuilt_from_its_one_content_and_stripped_later() {
    for role in ["narrator", ""] {
        for (content, expected) in [
            ("", ""),
            (r#"3: "x""#, r#","content":"x""#),
            (r#"3: """#, r#","content":"""#),
            (r#"8: {1: {1: "x"}}"#, r#","content":[{"type":"text","text":"x"}]"#),
            (r#"13: {1: {1: "k" 2: {4: 1}}}"#, r#","content":{"k":true}"#),
            ("13: {}", r#","content":{}"#),
            (
                r#"4: "n" 6: "c" 7: "e" 9: {} 10: "s" 11: "v" 12: "a" 14: "t"
                   5: {1: "c" 2: "function" 3: {}}"#,
                r#","name":"n","toolCallId":"c","error":"e","metadata":{},"subagentRunId":"s",
                  "encryptedValue":"v","activityType":"a","encryptedValueType":"t",
                  "toolCalls":[{"id":"c","type":"function","function":{"name":"","arguments":""}}]"#,
            ),
        ] {
            let payload = snapshot(&format!(r#"1: "i" 2: "{role}" {content}"#));
            check_decodes(
                &payload,
                &messages(&format!(r#"{{"id":"i","role":"{role}"{expected}}}"#)),
            );
            check_later_stripped(
                &payload,
                &messages(""),
                &[&format!("/messages/0: stripped: unknown message role {role:?}")],
            );
        }
        for contents in
            [r#"3: "x" 8: {}"#, r#"3: "x" 13: {}"#, "8: {} 13: {}", r#"3: "x" 8: {} 13: {}"#]
        {
            check_error!(
                refusal(&snapshot(&format!(r#"2: "{role}" {contents}"#))),
                DecodeError::Convert(ConvertError { reason: ConvertReason::SeveralContents, .. }),
                "MESSAGES_SNAPSHOT: messages[0].content: content in more than one form"
            );
        }
    }
}

#[test]
fn the_same_verdicts_hold_for_the_messages_of_an_echoed_input() {
    check_error!(
        refusal(r#"12: {1: {1: 11} 5: {5: {2: "user" 3: "x" 8: {}}}}"#),
        DecodeError::Convert(ConvertError { reason: ConvertReason::TextAndParts, .. }),
        "RUN_STARTED: input.messages[0].content: text and parts at once"
    );
    let decoded = decode(r#"12: {1: {1: 11} 5: {5: {2: "user" 8: {9: {}}}}}"#);
    assert_eq!(
        texts(&decoded.notices),
        ["/input/messages/0/content/0: dropped a content part in no arm that this version knows"]
    );
}

// 4.4: parts and sources.

#[test]
fn a_part_in_no_arm_is_dropped_with_its_place_and_the_others_stay() {
    for unnamed in [
        "8: {}",
        "8: {9: {}}",
        "8: {1: 5}",
        // A source that is there, in no arm.
        "8: {2: {1: {}}}",
        "8: {5: {1: {9: {}} 3: \"p\"}}",
    ] {
        let payload = snapshot(&format!(
            r#"1: "i" 2: "user" 8: {{1: {{1: "x"}}}} {unnamed} 8: {{1: {{1: "y"}}}}"#
        ));
        let decoded = decode(&payload);
        assert_eq!(decoded.notices[0].kind, NoticeKind::UnknownPartArm);
        assert_eq!(
            texts(&decoded.notices),
            ["/messages/0/content/1: dropped a content part in no arm that this version knows"]
        );
        assert_eq!(
            json(&decoded.event),
            parse(&messages(
                r#"{"role":"user","id":"i","content":[{"type":"text","text":"x"},{"type":"text","text":"y"}]}"#
            ))
        );
    }
    let decoded = decode(r#"22: {1: {1: 21} 3: "m" 4: "c" 7: {}}"#);
    assert_eq!(
        texts(&decoded.notices),
        ["/content/0: dropped a content part in no arm that this version knows"]
    );
    assert_eq!(
        json(&decoded.event),
        parse(r#"{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":[]}"#)
    );
}

#[test]
fn a_media_part_without_any_source_is_kept_and_malformed_later() {
    for (arm, kind) in [(2, "image"), (3, "audio"), (4, "video"), (5, "document")] {
        let payload = snapshot(&format!(r#"1: "i" 2: "user" 8: {{{arm}: {{3: "p"}}}}"#));
        check_decodes(
            &payload,
            &messages(&format!(
                r#"{{"role":"user","id":"i","content":[{{"type":"{kind}","id":"p"}}]}}"#
            )),
        );
        check_later_malformed(
            &payload,
            &Reason::Missing,
            "MESSAGES_SNAPSHOT: messages[0].content[0].source: missing",
        );
    }
}

#[test]
fn every_source_reads_with_what_it_has() {
    for (source, expected) in [
        (r#"1: {1: "QQ==" 2: "a/b"}"#, r#"{"type":"data","value":"QQ==","mimeType":"a/b"}"#),
        // An absent type of data cannot be told from an empty one.
        (r#"1: {1: "QQ=="}"#, r#"{"type":"data","value":"QQ==","mimeType":""}"#),
        (r#"2: {1: "u"}"#, r#"{"type":"url","value":"u"}"#),
        (r#"2: {1: "u" 2: ""}"#, r#"{"type":"url","value":"u","mimeType":""}"#),
        (r#"3: {1: "f"}"#, r#"{"type":"file","value":"f"}"#),
        (
            r#"3: {1: "f" 2: "openai" 3: "a/b"}"#,
            r#"{"type":"file","value":"f","provider":"openai","mimeType":"a/b"}"#,
        ),
    ] {
        check_decodes(
            &snapshot(&format!(r#"1: "i" 2: "user" 8: {{2: {{1: {{{source}}}}}}}"#)),
            &messages(&format!(
                r#"{{"role":"user","id":"i","content":[{{"type":"image","source":{expected}}}]}}"#
            )),
        );
    }
}

#[test]
fn null_metadata_is_a_retired_shape_on_media_and_malformed_on_text() {
    let media = snapshot(r#"1: "i" 2: "user" 8: {2: {1: {2: {1: "u"}} 2: {1: 0}}}"#);
    let part = |metadata: &str| {
        messages(&format!(
            r#"{{"role":"user","id":"i","content":[
                {{"type":"image","source":{{"type":"url","value":"u"}}{metadata}}}]}}"#
        ))
    };
    check_decodes(&media, &part(r#","metadata":null"#));
    check_later_stripped(
        &media,
        &part(""),
        &["/messages/0/content/0/metadata: translated the retired null for an absent member"],
    );
    check_later_malformed(
        &snapshot(r#"1: "i" 2: "user" 8: {1: {1: "x" 3: {1: 0}}}"#),
        &Reason::Null,
        "MESSAGES_SNAPSHOT: messages[0].content[0].metadata: null; leave the member out instead",
    );
}

// 4.5: tool results.

#[test]
fn a_tool_result_is_text_or_parts_or_an_empty_list() {
    let result = |fields: &str| format!(r#"22: {{1: {{1: 21}} 3: "m" 4: "c" {fields}}}"#);
    let expected = |content: &str| {
        format!(
            r#"{{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":{content}}}"#
        )
    };
    check_decodes(&result(r#"5: "x""#), &expected(r#""x""#));
    check_decodes(&result(r#"5: """#), &expected(r#""""#));
    check_decodes(&result(""), &expected("[]"));
    check_decodes(&result(r#"7: {1: {1: "x"}}"#), &expected(r#"[{"type":"text","text":"x"}]"#));
    check_error!(
        refusal(&result(r#"5: "" 7: {}"#)),
        DecodeError::Convert(ConvertError { reason: ConvertReason::TextAndParts, .. }),
        "TOOL_CALL_RESULT: content: text and parts at once"
    );
    check_later_stripped(
        &result(r#"5: "x" 6: "tool""#),
        r#"{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":"x","role":"tool"}"#,
        &[],
    );
    check_later_malformed(
        &result(r#"5: "x" 6: "assistant""#),
        &Reason::Literal { expected: "tool", found: "assistant".to_owned() },
        r#"TOOL_CALL_RESULT: role: expected "tool", found "assistant""#,
    );
    check_later_malformed(
        &result(r#"5: "x" 6: """#),
        &Reason::Literal { expected: "tool", found: String::new() },
        r#"TOOL_CALL_RESULT: role: expected "tool", found """#,
    );
}

// 4.6: outcomes.

#[test]
fn the_outcome_of_a_run_is_rebuilt_with_every_list_that_came() {
    let finished = |fields: &str| format!(r#"13: {{1: {{1: 12}} 2: "t" 3: "r" {fields}}}"#);
    let expected =
        |rest: &str| format!(r#"{{"type":"RUN_FINISHED","threadId":"t","runId":"r"{rest}}}"#);
    let interrupt = r#"6: {1: "i" 2: "why"}"#;
    for (fields, decoded, enforced, notices) in [
        ("", "", "", &[][..]),
        (
            r#"5: "success""#,
            r#","outcome":{"type":"success"}"#,
            r#","outcome":{"type":"success"}"#,
            &[],
        ),
        (
            r#"5: "success" 8: "a" 8: "b""#,
            r#","outcome":{"type":"success","pendingToolCallIds":["a","b"]}"#,
            r#","outcome":{"type":"success","pendingToolCallIds":["a","b"]}"#,
            &[],
        ),
        (
            r#"5: "interrupt" INTERRUPT"#,
            r#","outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"why"}]}"#,
            r#","outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"why"}]}"#,
            &[],
        ),
        (
            r#"5: "cancelled""#,
            r#","outcome":{"type":"cancelled"}"#,
            r#","outcome":{"type":"cancelled"}"#,
            &[],
        ),
        // Lists that belong to another outcome.
        (
            r#"5: "success" INTERRUPT"#,
            r#","outcome":{"type":"success","interrupts":[{"id":"i","reason":"why"}]}"#,
            r#","outcome":{"type":"success"}"#,
            &["/outcome/interrupts: stripped: unknown member"],
        ),
        (
            r#"5: "interrupt" INTERRUPT 8: "a""#,
            r#","outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"why"}],"pendingToolCallIds":["a"]}"#,
            r#","outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"why"}]}"#,
            &["/outcome/pendingToolCallIds: stripped: unknown member"],
        ),
        (
            r#"5: "cancelled" INTERRUPT 8: "a""#,
            r#","outcome":{"type":"cancelled","interrupts":[{"id":"i","reason":"why"}],"pendingToolCallIds":["a"]}"#,
            r#","outcome":{"type":"cancelled"}"#,
            &[
                "/outcome/pendingToolCallIds: stripped: unknown member",
                "/outcome/interrupts: stripped: unknown member",
            ],
        ),
        (
            r#"5: "paused" INTERRUPT 8: "a""#,
            r#","outcome":{"type":"paused","interrupts":[{"id":"i","reason":"why"}],"pendingToolCallIds":["a"]}"#,
            "",
            &[r#"/outcome: stripped: unknown outcome "paused""#],
        ),
        (
            r#"5: "paused""#,
            r#","outcome":{"type":"paused"}"#,
            "",
            &[r#"/outcome: stripped: unknown outcome "paused""#],
        ),
        // Without an outcome they stand on the event.
        (
            r#"INTERRUPT 8: "a""#,
            r#","interrupts":[{"id":"i","reason":"why"}],"pendingToolCallIds":["a"]"#,
            "",
            &[
                "/pendingToolCallIds: stripped: unknown member",
                "/interrupts: stripped: unknown member",
            ],
        ),
    ] {
        let payload = finished(&fields.replace("INTERRUPT", interrupt));
        check_decodes(&payload, &expected(decoded));
        check_later_stripped(&payload, &expected(enforced), notices);
    }
    // An interrupt always has its list, which must not be empty.
    let empty = finished(r#"5: "interrupt""#);
    check_decodes(&empty, &expected(r#","outcome":{"type":"interrupt","interrupts":[]}"#));
    check_later_malformed(
        &empty,
        &Reason::Empty,
        "RUN_FINISHED: outcome.interrupts: empty; at least one element is required",
    );
}

#[test]
fn the_outcome_of_a_subagent_is_rebuilt_with_the_list_that_came() {
    let finished = |fields: &str| format!(r#"20: {{1: {{1: 17}} 2: "s" {fields}}}"#);
    let expected =
        |rest: &str| format!(r#"{{"type":"SUBAGENT_FINISHED","subagentRunId":"s"{rest}}}"#);
    for (fields, decoded, enforced, notices) in [
        ("", "", "", &[][..]),
        (
            r#"4: "success""#,
            r#","outcome":{"type":"success"}"#,
            r#","outcome":{"type":"success"}"#,
            &[],
        ),
        (
            r#"4: "suspended""#,
            r#","outcome":{"type":"suspended"}"#,
            r#","outcome":{"type":"suspended"}"#,
            &[],
        ),
        (
            r#"4: "suspended" 5: "a" 5: "b""#,
            r#","outcome":{"type":"suspended","interruptIds":["a","b"]}"#,
            r#","outcome":{"type":"suspended","interruptIds":["a","b"]}"#,
            &[],
        ),
        (
            r#"4: "success" 5: "a""#,
            r#","outcome":{"type":"success","interruptIds":["a"]}"#,
            r#","outcome":{"type":"success"}"#,
            &["/outcome/interruptIds: stripped: unknown member"],
        ),
        (
            r#"4: "paused" 5: "a""#,
            r#","outcome":{"type":"paused","interruptIds":["a"]}"#,
            "",
            &[r#"/outcome: stripped: unknown outcome "paused""#],
        ),
        (r#"5: "a""#, r#","interruptIds":["a"]"#, "", &["/interruptIds: stripped: unknown member"]),
    ] {
        check_decodes(&finished(fields), &expected(decoded));
        check_later_stripped(&finished(fields), &expected(enforced), notices);
    }
}

#[test]
fn objects_of_an_interrupt_that_are_none_decode_and_are_malformed_later() {
    for (field, name) in [(5, "responseSchema"), (7, "metadata")] {
        let payload = format!(
            r#"13: {{1: {{1: 12}} 2: "t" 3: "r" 5: "interrupt" 6: {{1: "i" 2: "why" {field}: {{4: 1}}}}}}"#
        );
        check_decodes(
            &payload,
            &format!(
                r#"{{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{{"type":"interrupt",
                    "interrupts":[{{"id":"i","reason":"why","{name}":true}}]}}}}"#
            ),
        );
        check_later_malformed(
            &payload,
            &Reason::Type { expected: "an object", found: "a boolean" },
            &format!(
                "RUN_FINISHED: outcome.interrupts[0].{name}: expected an object, found a boolean"
            ),
        );
    }
}

// 4.7: patches.

#[test]
fn an_operation_without_a_name_keeps_its_number_and_is_stripped_later() {
    for (number, name) in [("6", "6"), ("9", "9"), ("-1", "-1"), ("4294967305", "9")] {
        let payload =
            format!(r#"8: {{1: {{1: 7}} 2: {{1: {number} 2: "/a"}} 2: {{1: 1 2: "/b"}}}}"#);
        check_decodes(
            &payload,
            &format!(
                r#"{{"type":"STATE_DELTA","delta":[{{"op":"{name}","path":"/a"}},{{"op":"remove","path":"/b"}}]}}"#
            ),
        );
        check_later_stripped(
            &payload,
            r#"{"type":"STATE_DELTA","delta":[{"op":"remove","path":"/b"}]}"#,
            &[&format!(r#"/delta/0: stripped: unknown patch operation "{name}""#)],
        );
    }
    check_later_stripped(
        r#"24: {1: {1: 23} 3: "m" 4: "a" 5: {1: 9}}"#,
        r#"{"type":"ACTIVITY_DELTA","messageId":"m","activityType":"a","patch":[]}"#,
        &[r#"/patch/0: stripped: unknown patch operation "9""#],
    );
}

#[test]
fn path_from_and_value_travel_whatever_the_operation() {
    for (number, op) in
        [(0, "add"), (1, "remove"), (2, "replace"), (3, "move"), (4, "copy"), (5, "test")]
    {
        check_decodes(
            &format!(r#"8: {{1: {{1: 7}} 2: {{1: {number} 2: "/a" 3: "/z" 4: {{1: 0}}}}}}"#),
            &format!(
                r#"{{"type":"STATE_DELTA","delta":[{{"op":"{op}","path":"/a","from":"/z","value":null}}]}}"#
            ),
        );
    }
    // An absent path is the whole document, an absent value is absent.
    check_decodes(
        "8: {1: {1: 7} 2: {}}",
        r#"{"type":"STATE_DELTA","delta":[{"op":"add","path":""}]}"#,
    );
    for op in [0, 2, 5] {
        check_later_malformed(
            &format!("8: {{1: {{1: 7}} 2: {{1: {op}}}}}"),
            &Reason::Missing,
            "STATE_DELTA: delta[0].value: missing",
        );
    }
    for op in [3, 4] {
        check_later_malformed(
            &format!("8: {{1: {{1: 7}} 2: {{1: {op}}}}}"),
            &Reason::Missing,
            "STATE_DELTA: delta[0].from: missing",
        );
    }
    check_later_malformed(
        r#"8: {1: {1: 7} 2: {1: 1 2: "a"}}"#,
        &Reason::Pointer { found: "a".to_owned() },
        r#"STATE_DELTA: delta[0].path: "a" is not a JSON Pointer"#,
    );
}

#[test]
fn an_operation_that_has_no_number_is_not_encoded() {
    for op in ["increment", "9", ""] {
        let text = format!(r#"{{"type":"STATE_DELTA","delta":[{{"op":"{op}","path":"/a"}}]}}"#);
        let event = Event::from_json(&text).unwrap();
        let mut dst = BytesMut::from(&b"before"[..]);
        let error = event.encode(&mut dst).unwrap_err();
        let EncodeError::Convert(ConvertError { reason, .. }) = &error else { panic!("{error:?}") };
        assert_eq!(*reason, ConvertReason::UnknownOperation(op.to_owned()));
        assert_eq!(
            error.to_string(),
            format!(
                r#"STATE_DELTA: delta[0].op: patch operation "{op}" has no number on the wire"#
            )
        );
        assert_eq!(dst, b"before"[..]);
    }
}

// 4.8 and 4.9: the echoed input, and usage.

#[test]
fn the_lists_of_an_echoed_input_are_always_there_and_the_rest_keeps_its_presence() {
    check_decodes(
        r#"12: {1: {1: 11} 2: "t" 3: "r" 5: {1: "t" 2: "r"}}"#,
        r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"threadId":"t","runId":"r",
            "messages":[],"tools":[],"context":[],"resume":[]}}"#,
    );
    check_decodes(
        r#"12: {1: {1: 11} 2: "t" 3: "r" 4: "" 6: "" 5: {1: "t" 2: "r" 3: "" 4: {4: 0} 8: {2: 0.0} 10: ""
            6: {} 7: {} 9: {1: "i" 2: "resolved" 3: {4: 0} 4: {}}}}"#,
        r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","parentRunId":"","protocolVersion":"",
            "input":{"threadId":"t","runId":"r","parentRunId":"","protocolVersion":"","state":false,
            "forwardedProps":0,"messages":[],"tools":[{"name":"","description":""}],
            "context":[{"description":"","value":""}],
            "resume":[{"interruptId":"i","status":"resolved","payload":false,"metadata":{}}]}}"#,
    );
    check_decodes(
        r#"12: {1: {1: 11} 2: "t" 3: "r"}"#,
        r#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}"#,
    );
}

#[test]
fn no_usage_is_absent_and_a_negative_count_is_malformed_later() {
    check_decodes(r#"14: {1: {1: 13} 3: "x"}"#, r#"{"type":"RUN_ERROR","message":"x"}"#);
    check_decodes(
        r#"14: {1: {1: 13} 3: "x" 4: {}}"#,
        r#"{"type":"RUN_ERROR","message":"x","usage":[{}]}"#,
    );
    check_decodes(
        r#"14: {1: {1: 13} 3: "x" 4: {8: -1}}"#,
        r#"{"type":"RUN_ERROR","message":"x","usage":[{"cacheWriteInputTokens":-1}]}"#,
    );
    check_later_malformed(
        r#"14: {1: {1: 13} 3: "x" 4: {8: -1}}"#,
        &Reason::Range { found: "-1".to_owned(), min: 0, max: 9_007_199_254_740_991 },
        "RUN_ERROR: usage[0].cacheWriteInputTokens: -1 is outside 0 to 9007199254740991",
    );
}

// Wire reference 3: the bytes that the vectors give.

#[test]
fn the_vectors_of_the_wire_reference_are_our_bytes() {
    for (text, wire) in [
        (r#"{"type":"TEXT_MESSAGE_START","messageId":"m1"}"#, "0a060a0012026d31"),
        (r#"{"type":"TEXT_MESSAGE_END","messageId":"m"}"#, "1a070a020802 12016d"),
        (r#"{"type":"STATE_SNAPSHOT","snapshot":0}"#, "3a0f0a020806 1209110000000000000000"),
        (r#"{"type":"CUSTOM","name":"n","value":null}"#, "5a0b0a02080a 12016e 1a020800"),
        (
            r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"success"}}"#,
            "6a130a02080c 120174 1a0172 2a0773756363657373",
        ),
        (
            r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","protocolVersion":"1.0","input":{"threadId":"t","runId":"r","messages":[]}}"#,
            "62170a02080b 120174 1a0172 2a060a0174120172 3203312e30",
        ),
        (
            r#"{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":""}"#,
            "b2010c0a020815 1a016d 220163 2a00",
        ),
        (
            r#"{"type":"SUBAGENT_FINISHED","subagentRunId":"s","outcome":{"type":"suspended","interruptIds":[]}}"#,
            "a201120a020811 120173 220973757370656e646564",
        ),
        (
            r#"{"type":"STATE_DELTA","delta":[{"op":"remove","path":"/a","value":1,"from":"/z","x":2}]}"#,
            "421b0a020807 1215 0801 12022f61 1a022f7a 220911000000000000f03f",
        ),
    ] {
        let event = Event::from_json(text).unwrap();
        assert_eq!(event.to_payload().unwrap(), hex(wire), "{text}");
        let mut framed_event = BytesMut::new();
        event.encode_frame(&mut framed_event).unwrap();
        assert_eq!(framed_event, framed(&hex(wire))[..], "{text}");
    }
}
