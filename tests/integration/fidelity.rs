//! What a trip changes, as reports say it: each kind, each place, each sample, and FIDELITY.md.

use std::collections::BTreeSet;
use std::path::Path;

use ag_ui_proto::Event;
use ag_ui_proto::codec::Options;
use ag_ui_proto::fidelity::{Checker, Difference, Fidelity, Kind, Report};
use ag_ui_proto::model::{Custom, Notice, Translator};
use ag_ui_proto::value::{ExactJson, Number, Value};
use bytes::BytesMut;

use crate::fidelity_law::agrees;

fn check(json: &str) -> Report {
    Checker::new().check(json)
}

/// The kinds and places of a report.
fn places(report: &Report) -> Vec<(Kind, &str)> {
    report.differences.iter().map(|found| (found.kind, found.pointer.as_str())).collect()
}

fn custom(value: &str) -> String {
    format!(r#"{{"type":"CUSTOM","name":"n","value":{value}}}"#)
}

fn message(message: &str) -> String {
    format!(r#"{{"type":"MESSAGES_SNAPSHOT","messages":[{message}]}}"#)
}

fn input(members: &str) -> String {
    let fixed = r#""threadId":"t","runId":"r""#;
    let mut members = members.to_owned();
    for name in ["messages", "tools", "context", "resume"] {
        if !members.contains(&format!(r#""{name}":"#)) {
            members = format!(r#"{members},"{name}":[]"#);
        }
    }
    format!(r#"{{"type":"RUN_STARTED",{fixed},"input":{{{fixed},{members}}}}}"#)
}

/// The JSON that arrives, if any does.
fn trip(json: &str) -> Option<Value> {
    let mut value = ExactJson::read(json, 128).ok()?.value;
    let mut notices: Vec<Notice> = Vec::new();
    Translator::new().translate(&mut value, &mut notices);
    let mut event = Event::from_value(value).ok()?;
    event.drop_retired_nulls(&mut notices);
    let mut payload = BytesMut::new();
    event.encode(&mut payload).ok()?;
    let arrived = Event::decode(&payload).unwrap().event.unwrap();
    Some(Value::from_serialize(&arrived).unwrap())
}

// --- kinds ---------------------------------------------------------------------------------------

struct Shown {
    kind: Kind,
    json: &'static str,
    pointer: &'static str,
    before: Option<&'static str>,
    after: Option<&'static str>,
    text: &'static str,
}

/// The smallest document for each kind that can come alone.
const SHOWN: [Shown; 18] = [
    Shown {
        kind: Kind::IntegerPrecision,
        json: r#"{"type":"CUSTOM","name":"n","value":9007199254740993}"#,
        pointer: "/value",
        before: Some("9007199254740993"),
        after: Some("9007199254740992"),
        text: "/value: integer-precision: 9007199254740993 becomes 9007199254740992",
    },
    Shown {
        kind: Kind::DecimalPrecision,
        json: r#"{"type":"CUSTOM","name":"n","value":0.10000000000000000001}"#,
        pointer: "/value",
        before: Some("0.10000000000000000001"),
        after: Some("0.1"),
        text: "/value: decimal-precision: 0.10000000000000000001 becomes 0.1",
    },
    Shown {
        kind: Kind::DuplicateKey,
        json: r#"{"type":"CUSTOM","name":"n","value":{"a":1,"a":2}}"#,
        pointer: "/value/a",
        before: Some("1"),
        after: Some("2"),
        text: "/value/a: duplicate-key: 1 becomes 2",
    },
    Shown {
        kind: Kind::UnknownMember,
        json: r#"{"type":"STEP_STARTED","stepName":"s","colour":["red"]}"#,
        pointer: "/colour",
        before: Some(r#"["red"]"#),
        after: None,
        text: r#"/colour: unknown-member: ["red"] is lost"#,
    },
    Shown {
        kind: Kind::UnknownPart,
        json: r#"{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":[{"type":"hologram"}]}"#,
        pointer: "/content/0",
        before: Some(r#""hologram""#),
        after: None,
        text: r#"/content/0: unknown-part: "hologram" is lost"#,
    },
    Shown {
        kind: Kind::PatchExtension,
        json: r#"{"type":"STATE_DELTA","delta":[{"op":"remove","path":"/a","note":true}]}"#,
        pointer: "/delta/0/note",
        before: Some("true"),
        after: None,
        text: "/delta/0/note: patch-extension: true is lost",
    },
    Shown {
        kind: Kind::OutcomePayload,
        json: r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"paused","until":5}}"#,
        pointer: "/outcome/until",
        before: Some("5"),
        after: None,
        text: "/outcome/until: outcome-payload: 5 is lost",
    },
    Shown {
        kind: Kind::UnknownEventType,
        json: r#"{"type":"DAYDREAM"}"#,
        pointer: "/type",
        before: Some(r#""DAYDREAM""#),
        after: None,
        text: r#"/type: unknown-event-type: "DAYDREAM" is lost"#,
    },
    Shown {
        kind: Kind::OutOfRange,
        json: r#"{"type":"CUSTOM","name":"n","value":1e400}"#,
        pointer: "/value",
        before: Some("1e400"),
        after: None,
        text: "/value: out-of-range: 1e400",
    },
    Shown {
        kind: Kind::UnknownOperation,
        json: r#"{"type":"STATE_DELTA","delta":[{"op":"increment","path":"/n"}]}"#,
        pointer: "/delta/0",
        before: Some(r#""increment""#),
        after: None,
        text: r#"/delta/0: unknown-operation: "increment""#,
    },
    Shown {
        kind: Kind::LoneSurrogate,
        json: r#"{"type":"CUSTOM","name":"n","value":"\ud800"}"#,
        pointer: "/value",
        before: None,
        after: None,
        text: "/value: lone-surrogate: half of a surrogate pair, which UTF-8 cannot hold",
    },
    Shown {
        kind: Kind::TooDeep,
        json: r#"{"type":"CUSTOM","name":"n","value":[[…]]}"#,
        pointer: "",
        before: None,
        after: None,
        text: "too-deep: JSON nested deeper than 128 levels at line 1 column 164",
    },
    Shown {
        kind: Kind::Malformed,
        json: r#"{"type":"STEP_STARTED","stepName":7}"#,
        pointer: "/stepName",
        before: None,
        after: None,
        text: "/stepName: malformed: expected a string, found a number",
    },
    Shown {
        kind: Kind::NumberForm,
        json: r#"{"type":"CUSTOM","name":"n","value":1.0}"#,
        pointer: "/value",
        before: Some("1.0"),
        after: Some("1"),
        text: "/value: number-form: 1.0 becomes 1",
    },
    Shown {
        kind: Kind::EmptyList,
        json: r#"{"type":"RUN_ERROR","message":"m","usage":[]}"#,
        pointer: "/usage",
        before: Some("[]"),
        after: None,
        text: "/usage: empty-list: []: arrives as absent",
    },
    Shown {
        kind: Kind::AbsentList,
        json: r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"threadId":"t","runId":"r","messages":[],"tools":[],"context":[]}}"#,
        pointer: "/input/resume",
        before: None,
        after: Some("[]"),
        text: "/input/resume: absent-list: becomes []",
    },
    Shown {
        kind: Kind::AbsentId,
        json: r#"{"type":"MESSAGES_SNAPSHOT","messages":[{"role":"critic"}]}"#,
        pointer: "/messages/0/id",
        before: None,
        after: Some(r#""""#),
        text: r#"/messages/0/id: absent-id: becomes """#,
    },
    Shown {
        kind: Kind::RetiredShape,
        json: r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":null}"#,
        pointer: "/outcome",
        before: None,
        after: None,
        text: "/outcome: retired-shape: translated the retired null for an absent member",
    },
];

fn shown() -> impl Iterator<Item = (&'static Shown, String)> {
    SHOWN.iter().map(|shown| (shown, shown.json.replace("[[…]]", &nested(128))))
}

fn nested(levels: usize) -> String {
    "[".repeat(levels) + &"]".repeat(levels)
}

#[test]
fn each_kind_is_shown_by_a_smallest_document() {
    for (&Shown { kind, pointer, before, after, text, .. }, json) in shown() {
        let report = check(&json);
        let [found] = report.differences.as_slice() else {
            panic!("{kind}: {:?}", report.differences)
        };
        assert_eq!(found.kind, kind, "{json}");
        assert_eq!(found.pointer, pointer, "{kind}");
        assert_eq!(found.json.as_deref(), before, "{kind}");
        assert_eq!(found.wire.as_deref(), after, "{kind}");
        assert_eq!(found.to_string(), text);
        assert_eq!(report.fidelity(), kind.fidelity());
        assert_eq!(report.losses().count(), usize::from(!kind.is_harmless()));
    }
    // The one kind that never comes alone.
    let report = check(r#"{"type":"THINKING_START","title":"plan"}"#);
    assert_eq!(
        report.differences.iter().map(Difference::to_string).collect::<Vec<_>>(),
        [
            "retired-shape: translated the retired THINKING_START",
            "/title: retired-member: dropped title of the retired THINKING_START, which has no \
             present form",
        ]
    );
    let covered: BTreeSet<_> =
        SHOWN.iter().map(|shown| shown.kind).chain([Kind::RetiredMember]).collect();
    assert_eq!(covered, Kind::ALL.iter().copied().collect());
}

#[test]
fn an_event_shows_what_it_can_without_its_text() {
    for (&Shown { kind, .. }, json) in shown() {
        let Some(event) = check(&json).event else { continue };
        // Reading lets the last key win and drops old nulls.
        if matches!(kind, Kind::DuplicateKey | Kind::RetiredShape) {
            assert_eq!(event.differences(), [], "{kind}");
        } else {
            assert_eq!(event.differences(), check(&json).differences, "{kind}");
        }
    }
    let deep = Event::from(Custom::new("n", ExactJson::read(&nested(128), 128).unwrap().value));
    let [difference] = deep.differences().try_into().unwrap();
    assert_eq!(difference.to_string(), "/value: too-deep: more than 128 levels");
}

#[test]
fn an_event_type_is_reported_as_json_has_it() {
    assert_eq!(check(r#"{"type":"DAYDREAM"}"#).event_type.as_deref(), Some("DAYDREAM"));
    assert_eq!(check(r#"{"type":"STEP_STARTED"}"#).event_type.as_deref(), Some("STEP_STARTED"));
    assert_eq!(check("[]").event_type, None);
    let retired = check(r#"{"type":"THINKING_START"}"#);
    assert_eq!(retired.event_type.as_deref(), Some("THINKING_START"));
}

#[test]
fn a_checker_knows_the_stream() {
    let mut checker = Checker::new();
    checker.check(r#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}"#);
    let started = checker.check(r#"{"type":"THINKING_TEXT_MESSAGE_START"}"#).event.unwrap();
    let content = checker.check(r#"{"type":"THINKING_TEXT_MESSAGE_CONTENT","delta":"hm"}"#);
    let of = |event: &Event| Value::from_serialize(event).unwrap()["messageId"].clone();
    assert_eq!(of(&started), of(&content.event.unwrap()));
}

// --- numbers -------------------------------------------------------------------------------------

#[track_caller]
fn check_number(literal: &str, kind: Option<Kind>, arrives: &str) {
    let report = check(&custom(literal));
    let kinds: Vec<_> = report.differences.iter().map(|found| found.kind).collect();
    assert_eq!(kinds, kind.into_iter().collect::<Vec<_>>(), "{literal}");
    let event = trip(&custom(literal)).unwrap();
    assert_eq!(event["value"].to_string(), arrives, "{literal}");
    if let [found] = report.differences.as_slice() {
        assert_eq!(found.wire.as_deref(), Some(arrives), "{literal}");
        if !found.kind.is_harmless() {
            assert_eq!(found.json.as_deref(), Some(literal));
        }
    }
}

#[test]
fn a_number_survives_if_a_double_names_it_shortest_or_in_full() {
    let form = Some(Kind::NumberForm);
    for (literal, kind, arrives) in [
        ("0", None, "0"),
        ("-0", None, "-0.0"),
        ("-0.0", None, "-0.0"),
        ("0.1", None, "0.1"),
        ("0.10", None, "0.1"),
        ("1.0", form, "1"),
        ("1e2", form, "100"),
        ("100E-2", form, "1"),
        ("0e999999999", form, "0"),
        ("5e-324", None, "5e-324"),
        ("1.7976931348623157e308", None, "1.7976931348623157e+308"),
        ("9007199254740991", None, "9007199254740991"),
        ("-9007199254740992", None, "-9007199254740992"),
        ("9007199254740994", form, "9007199254740994.0"),
        ("9223372036854775808", form, "9.223372036854776e+18"),
        ("18446744073709551616", None, "1.8446744073709552e+19"),
        ("18446744073709552000", None, "1.8446744073709552e+19"),
        ("3364326223160287232", form, "3.364326223160287e+18"),
        ("3.364326223160287232e18", None, "3.364326223160287e+18"),
        ("0.1000000000000000055511151231257827021181583404541015625", None, "0.1"),
    ] {
        check_number(literal, kind, arrives);
    }
}

#[test]
fn an_integer_survives_as_the_shortest_text_of_its_double() {
    // Of 64 bits, and no double in full: ...768 and ...648 are.
    for literal in ["1234567890123456800", "-4611686018427388000", "9223372036854776000"] {
        let report = check(&custom(literal));
        assert_eq!(places(&report), [(Kind::NumberForm, "/value")], "{literal}");
        let number = Number::parse(literal).unwrap();
        assert!(number.is_double(), "{literal}");
        let arrived = trip(&custom(literal)).unwrap()["value"].as_f64();
        assert_eq!(arrived, number.as_f64(), "{literal}");
    }
}

#[test]
fn a_number_that_no_double_names_is_lost() {
    let integer = Some(Kind::IntegerPrecision);
    let decimal = Some(Kind::DecimalPrecision);
    for (literal, kind, arrives) in [
        ("9007199254740993", integer, "9007199254740992"),
        ("-9007199254740993", integer, "-9007199254740992"),
        ("9007199254740995", integer, "9007199254740996.0"),
        ("9223372036854775807", integer, "9.223372036854776e+18"),
        ("18446744073709551615", integer, "1.8446744073709552e+19"),
        ("18446744073709551617", integer, "1.8446744073709552e+19"),
        ("12345678901234567890", integer, "1.2345678901234567e+19"),
        ("1234567890123456789", integer, "1.2345678901234568e+18"),
        ("9007199254740993.0", decimal, "9007199254740992"),
        ("0.10000000000000000001", decimal, "0.1"),
        ("0.10000000000000001", decimal, "0.1"),
        ("0.1000000000000000055511151231257827021181583404541015624", decimal, "0.1"),
        // Halfway between 1 and the next double, and between zero and the smallest one.
        ("1.00000000000000011102230246251565404236316680908203125", decimal, "1"),
        ("1.00000000000000011102230246251565404236316680908203126", decimal, "1.0000000000000002"),
        ("2.4703282292062327e-324", decimal, "0"),
        ("2.4703282292062328e-324", decimal, "5e-324"),
        ("3e-324", decimal, "5e-324"),
        ("1e-400", decimal, "0"),
        ("-1e-400", decimal, "-0.0"),
        ("1.7976931348623158e308", decimal, "1.7976931348623157e+308"),
    ] {
        check_number(literal, kind, arrives);
    }
}

#[test]
fn a_number_beyond_the_range_is_refused() {
    let zeros = format!("1{}", "0".repeat(309));
    for literal in ["1e400", "-1e400", "1.7976931348623159e308", "1e99999999999999999999", &zeros] {
        let report = check(&custom(literal));
        assert_eq!(places(&report), [(Kind::OutOfRange, "/value")], "{literal}");
        assert_eq!(report.differences[0].json.as_deref(), Some(literal));
        assert_eq!(report.fidelity(), Fidelity::Unrepresentable);
        assert_eq!(trip(&custom(literal)), None);
    }
}

#[test]
fn an_integer_of_the_protocol_is_whole_and_within_bounds() {
    let step =
        |timestamp| format!(r#"{{"type":"STEP_STARTED","stepName":"s","timestamp":{timestamp}}}"#);
    let usage = |count| {
        format!(r#"{{"type":"RUN_ERROR","message":"m","usage":[{{"inputTokens":{count}}}]}}"#)
    };
    for (literal, kind) in [
        ("0", None),
        ("9007199254740991", None),
        ("1e3", Some(Kind::NumberForm)),
        ("1000.0", Some(Kind::NumberForm)),
        ("9007199254740991.0", Some(Kind::NumberForm)),
        ("9007199254740992", Some(Kind::Malformed)),
        ("1e400", Some(Kind::Malformed)),
        ("1.5", Some(Kind::Malformed)),
    ] {
        for (json, pointer) in
            [(step(literal), "/timestamp"), (usage(literal), "/usage/0/inputTokens")]
        {
            let report = check(&json);
            let expected: Vec<_> = kind.into_iter().map(|kind| (kind, pointer)).collect();
            assert_eq!(places(&report), expected, "{json}");
            assert_eq!(trip(&json).is_none(), kind == Some(Kind::Malformed), "{json}");
        }
    }
    assert_eq!(places(&check(&step("-5"))), []);
    assert_eq!(places(&check(&usage("-5"))), [(Kind::Malformed, "/usage/0/inputTokens")]);
    assert_eq!(
        check(&step("1.5")).differences[0].to_string(),
        "/timestamp: malformed: expected an integer, found 1.5"
    );
}

#[test]
fn a_fraction_too_small_for_a_double_is_a_fraction() {
    let json = r#"{"type":"STEP_STARTED","stepName":"s","timestamp":1000.00000000000000000001}"#;
    assert_eq!(
        check(json).differences[0].to_string(),
        "/timestamp: malformed: expected an integer, found 1000.00000000000000000001"
    );
}

#[test]
fn a_zero_below_zero_is_zero_where_the_protocol_has_an_integer() {
    let json = r#"{"type":"STEP_STARTED","stepName":"s","timestamp":-0}"#;
    assert_eq!(trip(json).unwrap()["timestamp"].to_string(), "0");
    assert_eq!(places(&check(json)), [(Kind::NumberForm, "/timestamp")]);
}

#[test]
fn only_what_arrives_has_a_form() {
    let json = r#"{"type":"RUN_ERROR","message":"m","usage":[{"colour":1.0,"inputTokens":5.0}]}"#;
    let expected =
        [(Kind::NumberForm, "/usage/0/inputTokens"), (Kind::UnknownMember, "/usage/0/colour")];
    assert_eq!(places(&check(json)), expected);
    let json = r#"{"type":"CUSTOM","name":"n","value":1,"usage":[{"inputTokens":1.0}]}"#;
    assert_eq!(places(&check(json)), [(Kind::UnknownMember, "/usage")]);
}

// --- surrogates ----------------------------------------------------------------------------------

#[test]
fn half_of_a_pair_is_named_wherever_it_stands() {
    for (text, pointer) in [
        (r#""\ud800""#, "/value"),
        (r#""\uD83D and more""#, "/value"),
        (r#""\ude00""#, "/value"),
        (r#""low first \ude00\ud83d""#, "/value"),
        (r#""two high \ud83d\ud83d\ude00""#, "/value"),
        (r#""high, then an escape \ud83d\n""#, "/value"),
        (r#""high, then another \ud83d\u0041""#, "/value"),
        (r#""an escaped backslash before \\\ud83d""#, "/value"),
        (r#""a pair, then half \ud83d\ude00\ud83d""#, "/value"),
        (r#"["\ud83d\ude00",{"a":"\ud83d"}]"#, "/value/1/a"),
        (r#"{"a":{"\ud83d":1}}"#, "/value/a"),
    ] {
        let report = check(&custom(text));
        assert_eq!(places(&report), [(Kind::LoneSurrogate, pointer)], "{text}");
        assert_eq!(report.fidelity(), Fidelity::Unrepresentable);
        assert_eq!(trip(&custom(text)), None, "{text}");
    }
}

#[test]
fn a_whole_pair_and_an_escaped_backslash_are_no_half() {
    for text in [
        r#""\ud83d\ude00""#,
        r#""\uD83D\uDE00 \u00e9 \ud83d\ude00""#,
        r#""\\ud83d""#,
        r#""\\\\ude00""#,
        r#""\"\\ud800\"""#,
        r#""\ue000 \ud7ff""#,
    ] {
        assert_eq!(places(&check(&custom(text))), [], "{text}");
        assert!(trip(&custom(text)).is_some(), "{text}");
    }
}

#[test]
fn what_breaks_first_is_named() {
    for text in [r#"{"a":01,"b":"\ud83d"}"#, r#"["\x","\ud83d"]"#, r#"[1 2,"\ud83d"]"#] {
        let report = check(&custom(text));
        assert_eq!(report.differences[0].kind, Kind::Malformed, "{text}");
    }
}

// --- keys given twice ----------------------------------------------------------------------------

#[test]
fn a_key_given_twice_is_named_wherever_it_stands() {
    for (json, pointers) in [
        (custom(r#"{"a":1,"a":2,"a":3}"#), vec!["/value/a", "/value/a"]),
        (custom(r#"[{"x":{"a~/":1,"a~/":1}}]"#), vec!["/value/0/x/a~0~1"]),
        (custom(r#"{"a":1,"\u0061":2}"#), vec!["/value/a"]),
        (custom(r#"{"a":{"b":1,"b":2},"a":3}"#), vec!["/value/a/b", "/value/a"]),
        (r#"{"type":"DAYDREAM","type":"STEP_STARTED","stepName":"s"}"#.into(), vec!["/type"]),
        (
            r#"{"type":"STEP_STARTED","stepName":7,"stepName":"s","metadata":{}}"#.into(),
            vec!["/stepName"],
        ),
    ] {
        let report = check(&json);
        let expected: Vec<_> =
            pointers.into_iter().map(|pointer| (Kind::DuplicateKey, pointer)).collect();
        assert_eq!(places(&report), expected, "{json}");
        assert!(trip(&json).is_some(), "{json}");
    }
}

#[test]
fn a_key_given_twice_in_an_unknown_member_is_named_too() {
    let json = r#"{"type":"STEP_STARTED","stepName":"s","colour":{"a":1,"a":2}}"#;
    let expected = [(Kind::DuplicateKey, "/colour/a"), (Kind::UnknownMember, "/colour")];
    assert_eq!(places(&check(json)), expected);
}

#[test]
fn a_key_given_twice_becomes_what_arrives() {
    let report = check(&custom(r#"{"a":1,"a":9007199254740993}"#));
    assert_eq!(report.differences[0].wire.as_deref(), Some("9007199254740992"));
    let report = check(r#"{"type":"STEP_STARTED","stepName":"s","colour":1,"colour":2}"#);
    assert_eq!(report.differences[0].wire, None);
}

// --- places --------------------------------------------------------------------------------------

/// Each place of an open value: the event with `@` for the value, and the place.
fn open_places() -> Vec<(String, &'static str)> {
    let call =
        r#"{"id":"c","type":"function","function":{"name":"f","arguments":""},"metadata":@}"#;
    let part = |part: &str| message(&format!(r#"{{"role":"user","id":"m","content":[{part}]}}"#));
    let media = |kind: &str| {
        part(&format!(r#"{{"type":"{kind}","source":{{"type":"url","value":"u"}},"metadata":@}}"#))
    };
    let finished = r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r""#;
    let interrupt = |member: &str| {
        format!(
            r#"{finished},"outcome":{{"type":"interrupt","interrupts":[{{"id":"i","reason":"r",{member}}}]}}}}"#
        )
    };
    let delta = |op: &str| {
        format!(r#"{{"type":"STATE_DELTA","delta":[{{"op":"{op}","path":"/a","value":@}}]}}"#)
    };
    let content = "/messages/0/content/0/metadata";
    vec![
        (r#"{"type":"STEP_STARTED","stepName":"s","metadata":@}"#.into(), "/metadata"),
        (r#"{"type":"STEP_STARTED","stepName":"s","rawEvent":@}"#.into(), "/rawEvent"),
        (message(r#"{"role":"system","id":"m","content":"","metadata":@}"#), "/messages/0/metadata"),
        (message(r#"{"role":"critic","id":"m","metadata":@}"#), "/messages/0/metadata"),
        (message(r#"{"role":"critic","id":"m","content":@}"#), "/messages/0/content"),
        (
            message(&format!(r#"{{"role":"assistant","id":"m","toolCalls":[{call}]}}"#)),
            "/messages/0/toolCalls/0/metadata",
        ),
        (
            message(&format!(r#"{{"role":"critic","id":"m","toolCalls":[{call}]}}"#)),
            "/messages/0/toolCalls/0/metadata",
        ),
        (part(r#"{"type":"text","text":"","metadata":@}"#), content),
        (media("image"), content),
        (media("audio"), content),
        (media("video"), content),
        (media("document"), content),
        (
            r#"{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":[{"type":"text","text":"","metadata":@}]}"#.into(),
            "/content/0/metadata",
        ),
        (
            message(r#"{"role":"activity","id":"m","activityType":"a","content":@}"#),
            "/messages/0/content",
        ),
        (
            r#"{"type":"ACTIVITY_SNAPSHOT","messageId":"m","activityType":"a","content":@}"#.into(),
            "/content",
        ),
        (
            r#"{"type":"ACTIVITY_DELTA","messageId":"m","activityType":"a","patch":[{"op":"test","path":"","value":@}]}"#.into(),
            "/patch/0/value",
        ),
        (delta("add"), "/delta/0/value"),
        (delta("replace"), "/delta/0/value"),
        (delta("remove"), "/delta/0/value"),
        (r#"{"type":"STATE_SNAPSHOT","snapshot":@}"#.into(), "/snapshot"),
        (r#"{"type":"RAW","event":@}"#.into(), "/event"),
        (custom("@"), "/value"),
        (format!(r#"{finished},"result":@}}"#), "/result"),
        (r#"{"type":"SUBAGENT_FINISHED","subagentRunId":"s","result":@}"#.into(), "/result"),
        (interrupt(r#""metadata":@"#), "/outcome/interrupts/0/metadata"),
        (interrupt(r#""responseSchema":@"#), "/outcome/interrupts/0/responseSchema"),
        (input(r#""state":@"#), "/input/state"),
        (input(r#""forwardedProps":@"#), "/input/forwardedProps"),
        (
            input(r#""messages":[{"role":"developer","id":"m","content":"","metadata":@}]"#),
            "/input/messages/0/metadata",
        ),
        (
            input(r#""tools":[{"name":"t","description":"","parameters":@}]"#),
            "/input/tools/0/parameters",
        ),
        (
            input(r#""tools":[{"name":"t","description":"","metadata":@}]"#),
            "/input/tools/0/metadata",
        ),
        (
            input(r#""resume":[{"interruptId":"i","status":"resolved","payload":@}]"#),
            "/input/resume/0/payload",
        ),
        (
            input(r#""resume":[{"interruptId":"i","status":"resolved","metadata":@}]"#),
            "/input/resume/0/metadata",
        ),
    ]
}

#[test]
fn every_place_of_an_open_value_is_looked_into() {
    for (template, place) in open_places() {
        let pointer = format!("{place}/a/1/b~1c");
        let with =
            |number: &str| template.replace('@', &format!(r#"{{"a":[0.1,{{"b/c":{number}}}]}}"#));
        for (number, kind, wire) in [
            ("9007199254740993", Kind::IntegerPrecision, "9007199254740992"),
            ("-0.10000000000000000001", Kind::DecimalPrecision, "-0.1"),
            ("7.0", Kind::NumberForm, "7"),
        ] {
            let json = with(number);
            let report = check(&json);
            assert_eq!(places(&report), [(kind, pointer.as_str())], "{json}");
            assert_eq!(report.differences[0].json.as_deref(), Some(number), "{json}");
            assert_eq!(report.differences[0].wire.as_deref(), Some(wire), "{json}");
            let arrived = trip(&json).unwrap();
            assert_eq!(arrived.pointer(&pointer).unwrap().to_string(), wire, "{json}");
        }
        let json = with("1e400");
        assert_eq!(places(&check(&json)), [(Kind::OutOfRange, pointer.as_str())], "{json}");
        assert_eq!(trip(&json), None, "{json}");

        let json = with("null");
        assert_eq!(places(&check(&json)), [], "{json}");
        agrees(&json);
    }
}

#[test]
fn every_closed_object_names_its_unknown_members() {
    for (json, pointer) in [
        (message(r#"{"role":"user","id":"m","content":"","x":1}"#), "/messages/0/x"),
        (
            message(r#"{"role":"user","id":"m","content":[{"type":"text","text":"","x":1}]}"#),
            "/messages/0/content/0/x",
        ),
        (
            message(
                r#"{"role":"user","id":"m","content":[{"type":"image","source":{"type":"url","value":"u","x":1}}]}"#,
            ),
            "/messages/0/content/0/source/x",
        ),
        (
            message(
                r#"{"role":"assistant","id":"m","toolCalls":[{"id":"c","type":"function","function":{"name":"f","arguments":"","x":1}}]}"#,
            ),
            "/messages/0/toolCalls/0/function/x",
        ),
        (
            r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"cancelled","x":1}}"#.into(),
            "/outcome/x",
        ),
        (input(r#""x":1"#), "/input/x"),
        (input(r#""context":[{"description":"","value":"","x":1}]"#), "/input/context/0/x"),
    ] {
        let report = check(&json);
        assert_eq!(places(&report), [(Kind::UnknownMember, pointer)], "{json}");
        assert_eq!(report.differences[0].json.as_deref(), Some("1"));
        agrees(&json);
    }
}

// --- what this version does not know ---------------------------------------------------------------

#[test]
fn a_message_of_an_unknown_role_takes_along_what_some_role_has() {
    let json = message(
        r#"{"role":"critic","id":"m","content":"no","name":"n","score":1,"error":7,"metadata":{"n":9007199254740993}}"#,
    );
    let expected = [
        (Kind::UnknownMember, "/messages/0/score"),
        (Kind::UnknownMember, "/messages/0/error"),
        (Kind::IntegerPrecision, "/messages/0/metadata/n"),
    ];
    assert_eq!(places(&check(&json)), expected);
    agrees(&json);
}

#[test]
fn what_is_unknown_within_a_message_of_an_unknown_role_is_named() {
    let call = |extra: &str| {
        message(&format!(
            r#"{{"role":"critic","id":"m","toolCalls":[{{"id":"c","type":"function","function":{{"name":"f","arguments":""{extra}}}}}]}}"#
        ))
    };
    let content =
        |part: &str| message(&format!(r#"{{"role":"critic","id":"m","content":[{part}]}}"#));
    for (json, kind, pointer) in [
        (call(r#","x":1"#), Kind::UnknownMember, "/messages/0/toolCalls/0/function/x"),
        (
            content(r#"{"type":"text","text":"","x":1.0}"#),
            Kind::UnknownMember,
            "/messages/0/content/0/x",
        ),
        (
            content(r#"{"type":"text","text":"","x":1e400}"#),
            Kind::UnknownMember,
            "/messages/0/content/0/x",
        ),
        (
            content(r#"{"type":"image","source":{"type":"url","value":"u","x":1}}"#),
            Kind::UnknownMember,
            "/messages/0/content/0/source/x",
        ),
        (
            content(r#"{"type":"hologram"},{"type":"text","text":"t"}"#),
            Kind::UnknownPart,
            "/messages/0/content/0",
        ),
    ] {
        assert_eq!(places(&check(&json)), [(kind, pointer)], "{json}");
    }
}

#[test]
fn an_empty_list_in_a_message_of_an_unknown_role_arrives_as_absent() {
    for name in ["content", "toolCalls"] {
        let json = message(&format!(r#"{{"role":"critic","id":"m","{name}":[]}}"#));
        let arrived = trip(&json).unwrap();
        assert_eq!(arrived.pointer(&format!("/messages/0/{name}")), None);
        let pointer = format!("/messages/0/{name}");
        assert_eq!(places(&check(&json)), [(Kind::EmptyList, pointer.as_str())], "{json}");
    }
}

#[test]
fn an_unknown_outcome_keeps_its_name_and_loses_its_payload() {
    for (event, outcome) in [
        (r#""RUN_FINISHED","threadId":"t","runId":"r""#, "paused"),
        (r#""SUBAGENT_FINISHED","subagentRunId":"s""#, "evicted"),
    ] {
        let json = format!(
            r#"{{"type":{event},"outcome":{{"type":"{outcome}","until":[1.0],"interrupts":[]}}}}"#
        );
        let expected = [
            (Kind::OutcomePayload, "/outcome/until"),
            (Kind::OutcomePayload, "/outcome/interrupts"),
        ];
        assert_eq!(places(&check(&json)), expected);
        let arrived = trip(&json).unwrap();
        assert_eq!(arrived["outcome"].to_string(), format!(r#"{{"type":"{outcome}"}}"#));
    }
}

#[test]
fn an_outcome_without_a_name_is_reported_as_lost() {
    for event in [
        r#""RUN_FINISHED","threadId":"t","runId":"r""#,
        r#""SUBAGENT_FINISHED","subagentRunId":"s""#,
    ] {
        let json = format!(r#"{{"type":{event},"outcome":{{"type":""}}}}"#);
        let lost = trip(&json).is_some_and(|arrived| arrived.get("outcome").is_none());
        assert_eq!(check(&json).losses().count(), usize::from(lost), "{json}");
    }
}

#[test]
fn an_unknown_name_in_a_set_of_names_arrives() {
    for json in [
        r#"{"type":"TEXT_MESSAGE_START","messageId":"m","role":"narrator"}"#.to_owned(),
        r#"{"type":"REASONING_ENCRYPTED_VALUE","subtype":"thought","entityId":"e","encryptedValue":"v"}"#.to_owned(),
        input(r#""resume":[{"interruptId":"i","status":"postponed"}]"#),
    ] {
        assert_eq!(places(&check(&json)), [], "{json}");
        agrees(&json);
    }
}

// --- what is retired -------------------------------------------------------------------------------

#[test]
fn an_old_null_is_harmless_where_old_producers_wrote_it() {
    let media = r#"{"role":"user","id":"m","content":[{"type":"image","source":{"type":"url","value":"u"},"metadata":null}]}"#;
    for (json, pointer) in [
        (r#"{"type":"STEP_STARTED","stepName":"s","rawEvent":null}"#.to_owned(), "/rawEvent"),
        (r#"{"type":"SUBAGENT_FINISHED","subagentRunId":"s","result":null}"#.into(), "/result"),
        (
            r#"{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f","parentMessageId":null}"#.into(),
            "/parentMessageId",
        ),
        (message(media), "/messages/0/content/0/metadata"),
        (input(r#""state":null"#), "/input/state"),
        (input(r#""forwardedProps":null"#), "/input/forwardedProps"),
        (
            input(r#""tools":[{"name":"t","description":"","parameters":null}]"#),
            "/input/tools/0/parameters",
        ),
        (
            input(r#""resume":[{"interruptId":"i","status":"resolved","payload":null}]"#),
            "/input/resume/0/payload",
        ),
    ] {
        let report = check(&json);
        assert_eq!(places(&report), [(Kind::RetiredShape, pointer)], "{json}");
        assert_eq!(report.fidelity(), Fidelity::Normalized);
        assert_eq!(trip(&json).unwrap().pointer(pointer), None, "{json}");
    }
}

#[test]
fn a_null_elsewhere_is_refused_or_kept() {
    for json in [
        r#"{"type":"STEP_STARTED","stepName":"s","metadata":null}"#.to_owned(),
        r#"{"type":"STEP_STARTED","stepName":"s","timestamp":null}"#.into(),
        message(
            r#"{"role":"user","id":"m","content":[{"type":"text","text":"","metadata":null}]}"#,
        ),
    ] {
        assert_eq!(check(&json).fidelity(), Fidelity::Unrepresentable, "{json}");
        assert_eq!(trip(&json), None, "{json}");
    }
    for json in [
        custom("null"),
        r#"{"type":"STATE_SNAPSHOT","snapshot":null}"#.into(),
        r#"{"type":"STATE_DELTA","delta":[{"op":"add","path":"/x","value":null}]}"#.into(),
    ] {
        assert_eq!(places(&check(&json)), [], "{json}");
        agrees(&json);
    }
}

#[test]
fn a_binary_part_loses_what_its_present_form_has_no_place_for() {
    let part = |members: &str| {
        message(&format!(
            r#"{{"role":"user","id":"m","content":[{{"type":"binary","mimeType":"image/png"{members}}}]}}"#
        ))
    };
    let whole = part(r#","data":"eA==","filename":"f.png""#);
    assert_eq!(places(&check(&whole)), [(Kind::RetiredShape, "/messages/0/content/0")]);
    for (json, pointer) in [
        (part(r#","data":"eA==","url":"https://x.invalid""#), "/messages/0/content/0/url"),
        (part(r#","data":"eA==","id":"b1""#), "/messages/0/content/0/id"),
        (part(r#","url":"https://x.invalid","note":1"#), "/messages/0/content/0/note"),
    ] {
        let report = check(&json);
        assert_eq!(report.fidelity(), Fidelity::Lossy, "{json}");
        assert!(report.losses().any(|found| found.pointer == pointer), "{json}");
    }
    // No bytes are to be had: it stays what it is, and is unknown.
    let without = part(r#","id":"b1""#);
    assert_eq!(places(&check(&without)), [(Kind::UnknownPart, "/messages/0/content/0")]);
}

#[test]
fn a_place_is_that_of_the_text_though_a_part_before_it_went() {
    let json = message(
        r#"{"role":"user","id":"m","content":[{"type":"binary","mimeType":"image/png","data":"eA=="},{"type":"image","source":{"type":"data","value":"eA==","mimeType":"image/png"}},{"type":"text","text":"","metadata":9007199254740993}]}"#,
    );
    let lost: Vec<_> = check(&json).losses().map(|found| found.pointer.clone()).collect();
    assert_eq!(lost, ["/messages/0/content/2/metadata"]);
}

// --- what cannot go out ----------------------------------------------------------------------------

#[test]
fn nesting_is_judged_by_the_limit_of_the_checker() {
    let json = custom(&nested(7));
    assert_eq!(places(&Checker::new().with_max_depth(8).check(&json)), []);
    let report = Checker::new().with_max_depth(7).check(&json);
    assert_eq!(places(&report), [(Kind::TooDeep, "")]);
    assert_eq!(
        report.differences[0].to_string(),
        "too-deep: JSON nested deeper than 7 levels at line 1 column 43"
    );
    assert_eq!(places(&check(&custom(&nested(127)))), []);
    assert_eq!(places(&check(&custom(&nested(128)))), [(Kind::TooDeep, "")]);
    assert_eq!(places(&check(&custom(&nested(100_000)))), [(Kind::TooDeep, "")]);
}

#[test]
fn what_the_encoder_refuses_is_reported_with_its_reason() {
    for (json, text) in [
        ("", "malformed: EOF while parsing a value, in \"\""),
        ("[]", "malformed: expected an object, found an array"),
        ("{}", "/type: malformed: missing"),
        (r#"{"type":7}"#, "/type: malformed: expected a string, found a number"),
        (r#"{"type":"STEP_STARTED"}"#, "/stepName: malformed: missing"),
        (
            r#"{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":["x"]}"#,
            "/delta: malformed: expected a string, found an array",
        ),
        (
            r#"{"type":"STATE_DELTA","delta":[{"op":"add","path":"/x"}]}"#,
            "/delta/0/value: malformed: missing",
        ),
        (
            r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[]}}"#,
            "/outcome/interrupts: malformed: empty; at least one element is required",
        ),
    ] {
        let report = check(json);
        let texts: Vec<_> = report.differences.iter().map(Difference::to_string).collect();
        assert_eq!(texts, [text], "{json}");
        assert_eq!(report.fidelity(), Fidelity::Unrepresentable);
        assert_eq!(trip(json), None, "{json}");
    }
}

#[test]
fn a_strict_encoder_refuses_what_is_reported_as_lost() {
    for (&Shown { kind, .. }, json) in shown() {
        let Some(event) = check(&json).event else { continue };
        let refused = Options::new().refusing_loss().encode(&event, &mut BytesMut::new()).is_err();
        // Of keys given twice the event knows nothing.
        assert_eq!(refused, !kind.is_harmless() && kind != Kind::DuplicateKey, "{kind}");
    }
}

// --- real documents --------------------------------------------------------------------------------

fn samples() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = |name, text: &'static str| text.lines().map(move |line| (name, line));
    let chat = lines("chat.jsonl", include_str!("../../samples/chat.jsonl"));
    let research = lines("research.jsonl", include_str!("../../samples/research.jsonl"));
    let multimodal = lines("multimodal.sse", include_str!("../../samples/multimodal.sse"))
        .filter_map(|(name, line)| Some((name, line.strip_prefix("data: ")?)));
    chat.chain(research).chain(multimodal)
}

#[test]
fn a_report_and_the_trip_agree_on_every_sample() {
    let mut lost = Vec::new();
    let mut count = 0;
    let mut checker = Checker::new();
    for (name, json) in samples() {
        agrees(json);
        let report = checker.check(json);
        lost.extend(report.losses().map(|found| format!("{name}: {found}")));
        count += 1;
    }
    assert_eq!(count, 164 + 768 + 76);
    assert_eq!(
        lost,
        ["research.jsonl: /rawEvent/request_id: integer-precision: 1234567890123456789 becomes \
          1.2345678901234568e+18"]
    );
}

#[test]
fn no_golden_document_loses_anything() {
    let documents = include_str!("../data/documents.jsonl");
    let mut count = 0;
    for line in documents.lines() {
        let document = ExactJson::read(line, 128).unwrap().value;
        let json = document["event"].to_string();
        let lost: Vec<_> = check(&json).losses().map(Difference::to_string).collect();
        assert!(lost.is_empty(), "{}: {lost:?}", document["name"]);
        agrees(&json);
        count += 1;
    }
    assert!(count > 1000);
}

#[test]
fn a_report_and_the_trip_agree_on_the_public_documents() {
    let Some(directory) = std::env::var_os("AG_UI_CONFORMANCE") else {
        println!("skipped: AG_UI_CONFORMANCE is not set");
        return;
    };
    let documents = Path::new(&directory).join("events/documents.tsv");
    let documents = std::fs::read_to_string(documents).unwrap();
    let mut lost = Vec::new();
    for row in documents.lines() {
        let columns: Vec<_> = row.split('\t').collect();
        let &[name, "valid", json, payload] = columns.as_slice() else { continue };
        if payload == "-" {
            continue;
        }
        agrees(json);
        lost.extend(check(json).losses().map(|found| format!("{name}: {}", found.kind)));
    }
    lost.sort();
    lost.dedup();
    // What its schema of 1.0 leaves open has no place on the wire either.
    let known = ["unknown-member", "patch-extension", "outcome-payload"];
    for loss in lost {
        assert!(known.iter().any(|kind| loss.ends_with(kind)), "{loss}");
    }
}

#[test]
fn the_numbers_of_the_field_reports_are_judged_as_they_arrive() {
    let thousand = (0..1000).map(|n| (n % 10).to_string()).collect::<Vec<_>>().join(",");
    let usage = |counts: &str| {
        format!(
            r#"{{"type":"RUN_FINISHED","threadId":"t","runId":"r","usage":[{{"provider":"p","model":"m",{counts}}}]}}"#
        )
    };
    let time = |timestamp: &str| {
        format!(r#"{{"type":"STEP_STARTED","stepName":"s","timestamp":{timestamp}}}"#)
    };
    for (row, json, expected) in [
        (
            25,
            r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","metadata":{"n":9007199254740993,"ok":9007199254740991}}"#.to_owned(),
            vec!["/metadata/n: integer-precision: 9007199254740993 becomes 9007199254740992"],
        ),
        (
            28,
            r#"{"type":"STATE_SNAPSHOT","snapshot":{"batch":500000,"zero":0,"neg":-3,"half":0.5}}"#.into(),
            vec![],
        ),
        (
            29,
            r#"{"type":"TEXT_MESSAGE_END","messageId":"m","rawEvent":{"id":1234567890123456789}}"#.into(),
            vec!["/rawEvent/id: integer-precision: 1234567890123456789 becomes 1.2345678901234568e+18"],
        ),
        (
            29,
            r#"{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"{\"id\":1234567890123456789}"}"#.into(),
            vec![],
        ),
        (
            33,
            time("1757600000000.5"),
            vec!["/timestamp: malformed: expected an integer, found 1757600000000.5"],
        ),
        (
            33,
            time(r#""2026-01-01T00:00:00Z""#),
            vec!["/timestamp: malformed: expected an integer, found a string"],
        ),
        (
            33,
            time("1757600000000.0"),
            vec!["/timestamp: number-form: 1757600000000.0 becomes 1757600000000"],
        ),
        (33, time("-5"), vec![]),
        (35, usage(r#""inputTokens":0,"outputTokens":5"#), vec![]),
        (
            35,
            usage(r#""inputTokens":9007199254740992"#),
            vec!["/usage/0/inputTokens: malformed: 9007199254740992 is outside -9007199254740991 to 9007199254740991"],
        ),
        (
            35,
            usage(r#""inputTokens":-1"#),
            vec!["/usage/0/inputTokens: malformed: -1 is outside 0 to 9007199254740991"],
        ),
        (
            95,
            r#"{"type":"STEP_STARTED","stepName":"s","metadata":{"__proto__":{"x":1},"constructor":"c","":0,"a.b":1,"a/b":9007199254740993}}"#.into(),
            vec!["/metadata/a~1b: integer-precision: 9007199254740993 becomes 9007199254740992"],
        ),
        (96, format!(r#"{{"type":"STATE_SNAPSHOT","snapshot":[{thousand}]}}"#), vec![]),
    ] {
        let report = check(&json);
        let found: Vec<_> = report.differences.iter().map(Difference::to_string).collect();
        assert_eq!(found, expected, "row {row}");
        if report.fidelity() == Fidelity::Unrepresentable {
            assert_eq!(trip(&json), None, "row {row}");
        } else {
            agrees(&json);
        }
    }
    // Row 28: what arrives is printed as it was written.
    let json =
        r#"{"type":"STATE_SNAPSHOT","snapshot":{"batch":500000,"zero":0,"neg":-3,"half":0.5}}"#;
    assert_eq!(trip(json).unwrap().to_string(), json);
    // Row 29: the double that arrives is that of 1234567890123456768.
    let json =
        r#"{"type":"TEXT_MESSAGE_END","messageId":"m","rawEvent":{"id":1234567890123456789}}"#;
    let arrived = trip(json).unwrap()["rawEvent"]["id"].as_f64().unwrap();
    assert_eq!(format!("{arrived:.0}"), "1234567890123456768");
}

// --- the page --------------------------------------------------------------------------------------

/// FIDELITY.md: each row makes the trip that it tells of.
mod page {
    use super::*;

    const PAGE: &str = include_str!("../../FIDELITY.md");

    struct Row {
        json: String,
        arrives: Option<String>,
        verdict: String,
        kinds: Vec<String>,
        test: String,
    }

    /// The code spans of a cell.
    fn codes(cell: &str) -> impl Iterator<Item = String> {
        cell.split('`').skip(1).step_by(2).map(|code| code.replace("\\|", "|"))
    }

    /// The cells of a line; a `|` in a cell is written `\|`.
    fn cells(line: &str) -> Vec<String> {
        let marked = line.replace("\\|", "\0");
        let inner = marked.trim().trim_start_matches('|').trim_end_matches('|');
        inner.split('|').map(|cell| cell.trim().replace('\0', "\\|")).collect()
    }

    fn rows() -> Vec<Row> {
        let table = PAGE.lines().filter(|line| line.starts_with('|')).skip(2);
        table
            .map(|line| {
                let cells = cells(line);
                let [says, arrives, survives, advice, test] = cells.as_slice() else {
                    panic!("not five cells: {line}")
                };
                assert!(advice.ends_with('.'), "{line}");
                Row {
                    json: codes(says).next().unwrap().replace("[[…]]", &nested(128)),
                    arrives: codes(arrives).next(),
                    verdict: survives.split(':').next().unwrap().to_owned(),
                    kinds: codes(survives).collect(),
                    test: codes(test).next().unwrap(),
                }
            })
            .collect()
    }

    fn check_row(test: &str) {
        let row = rows().into_iter().find(|row| row.test == test);
        let row = row.unwrap_or_else(|| panic!("FIDELITY.md has no row {test}"));
        let is_event = row.json.starts_with(r#"{"type":"#);
        let json = if is_event { row.json } else { custom(&row.json) };

        let report = check(&json);
        let kinds: Vec<_> = report.differences.iter().map(|found| found.kind.to_string()).collect();
        assert_eq!(kinds, row.kinds, "{json}");
        let verdict = match report.fidelity() {
            Fidelity::Exact => "yes",
            Fidelity::Normalized => "yes, written otherwise",
            Fidelity::Lossy => "no",
            Fidelity::Unrepresentable => "refused",
        };
        assert_eq!(row.verdict, verdict, "{json}");

        let arrived = trip(&json);
        if report.fidelity() == Fidelity::Unrepresentable {
            assert_eq!(arrived, None, "{json}");
        }
        let arrived = arrived
            .map(|event| if is_event { event.to_string() } else { event["value"].to_string() });
        assert_eq!(arrived, row.arrives, "{json}");
    }

    macro_rules! rows {
        ($($test:ident)*) => {
            $(
                #[test]
                fn $test() {
                    check_row(stringify!($test));
                }
            )*

            #[test]
            fn every_row_is_a_test_and_every_test_a_row() {
                let rows: Vec<_> = rows().into_iter().map(|row| row.test).collect();
                assert_eq!(rows, [$( stringify!($test) ),*]);
            }
        };
    }

    rows! {
        an_integer_that_a_double_counts
        an_integer_that_no_double_is
        an_id_of_64_bits
        a_large_integer_that_a_double_is
        a_large_integer_as_a_double_prints
        an_integer_just_beyond_that_a_double_is
        a_decimal_of_few_digits
        a_decimal_that_ends_in_zeros
        a_decimal_of_many_digits
        a_double_in_full
        a_decimal_between_two_doubles
        an_integer_with_a_decimal_point
        an_integer_with_an_exponent
        zero_below_zero
        the_smallest_double
        a_number_that_becomes_zero
        a_number_beyond_every_double
        null_in_an_open_value
        null_as_an_open_value
        empty_containers_in_an_open_value
        keys_of_an_open_object
        a_key_given_twice
        a_pair_of_surrogates
        half_of_a_pair
        digits_in_a_text
        nesting_beyond_the_limit
        an_empty_list_of_tool_calls
        an_empty_list_of_usage
        an_empty_list_in_an_outcome
        an_input_without_its_lists
        empty_content_and_metadata
        an_integer_of_the_protocol_with_an_exponent
        a_fraction_where_the_protocol_has_an_integer
        an_integer_of_the_protocol_out_of_bounds
        null_for_an_absent_member
        null_for_any_other_member
        a_part_of_protocol_0
        an_event_of_protocol_0
        a_member_that_no_version_describes
        a_patch_extension
        an_unknown_patch_operation
        an_unknown_content_part
        an_unknown_outcome
        an_unknown_role
        an_unknown_role_without_an_id
        an_unknown_event
        what_the_protocol_refuses
    }

    #[test]
    fn every_kind_has_a_row() {
        let told: BTreeSet<_> = rows().into_iter().flat_map(|row| row.kinds).collect();
        let kinds: BTreeSet<_> = Kind::ALL.iter().map(ToString::to_string).collect();
        assert_eq!(told, kinds);
    }
}
