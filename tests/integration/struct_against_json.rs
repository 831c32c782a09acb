//! Open values over the wire: what JSON text comes back from every place that carries one.
//!
//! Rule: wire.md 4.2 and 8.

use ag_ui_proto::Event;
use ag_ui_proto::model::StrictReader;
use ag_ui_proto::value::Value;

/// Every place with an open value: an event with `@` there, and the place as a pointer.
const PLACES: &[(&str, &str)] = &[
    (r#"{"type":"STEP_STARTED","stepName":"s","metadata":{"k":@}}"#, "/metadata/k"),
    (r#"{"type":"STEP_STARTED","stepName":"s","rawEvent":@}"#, "/rawEvent"),
    (r#"{"type":"STATE_SNAPSHOT","snapshot":@}"#, "/snapshot"),
    (r#"{"type":"STATE_DELTA","delta":[{"op":"add","path":"/a","value":@}]}"#, "/delta/0/value"),
    (
        r#"{"type":"ACTIVITY_DELTA","messageId":"m","activityType":"a","patch":[{"op":"test","path":"/a","value":@}]}"#,
        "/patch/0/value",
    ),
    (r#"{"type":"RAW","event":@}"#, "/event"),
    (r#"{"type":"CUSTOM","name":"n","value":@}"#, "/value"),
    (r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":@}"#, "/result"),
    (r#"{"type":"SUBAGENT_FINISHED","subagentRunId":"s","result":@}"#, "/result"),
    (
        r#"{"type":"ACTIVITY_SNAPSHOT","messageId":"m","activityType":"a","content":{"k":@}}"#,
        "/content/k",
    ),
    (
        r#"{"type":"MESSAGES_SNAPSHOT","messages":[{"role":"activity","id":"i","activityType":"a","content":{"k":@}}]}"#,
        "/messages/0/content/k",
    ),
    (
        r#"{"type":"MESSAGES_SNAPSHOT","messages":[{"role":"system","id":"i","content":"x","metadata":{"k":@}}]}"#,
        "/messages/0/metadata/k",
    ),
    (
        r#"{"type":"MESSAGES_SNAPSHOT","messages":[{"role":"assistant","id":"i","toolCalls":[
            {"id":"c","type":"function","function":{"name":"f","arguments":""},"metadata":{"k":@}}]}]}"#,
        "/messages/0/toolCalls/0/metadata/k",
    ),
    (
        r#"{"type":"MESSAGES_SNAPSHOT","messages":[{"role":"user","id":"i","content":[{"type":"text","text":"x","metadata":@}]}]}"#,
        "/messages/0/content/0/metadata",
    ),
    (
        r#"{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":[
            {"type":"image","source":{"type":"url","value":"u"},"metadata":@}]}"#,
        "/content/0/metadata",
    ),
    (
        r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[
            {"id":"i","reason":"r","metadata":{"k":@}}]}}"#,
        "/outcome/interrupts/0/metadata/k",
    ),
    (
        r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[
            {"id":"i","reason":"r","responseSchema":{"k":@}}]}}"#,
        "/outcome/interrupts/0/responseSchema/k",
    ),
    (
        r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"threadId":"t","runId":"r","messages":[],"state":@}}"#,
        "/input/state",
    ),
    (
        r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"threadId":"t","runId":"r","messages":[],"forwardedProps":@}}"#,
        "/input/forwardedProps",
    ),
    (
        r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"threadId":"t","runId":"r","messages":[],
            "tools":[{"name":"n","description":"d","parameters":@}]}}"#,
        "/input/tools/0/parameters",
    ),
    (
        r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"threadId":"t","runId":"r","messages":[],
            "tools":[{"name":"n","description":"d","metadata":{"k":@}}]}}"#,
        "/input/tools/0/metadata/k",
    ),
    (
        r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"threadId":"t","runId":"r","messages":[],
            "resume":[{"interruptId":"i","status":"resolved","payload":@}]}}"#,
        "/input/resume/0/payload",
    ),
    (
        r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"threadId":"t","runId":"r","messages":[],
            "resume":[{"interruptId":"i","status":"resolved","metadata":{"k":@}}]}}"#,
        "/input/resume/0/metadata/k",
    ),
    (
        r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"threadId":"t","runId":"r","messages":[
            {"role":"user","id":"i","content":"x","metadata":{"k":@}}]}}"#,
        "/input/messages/0/metadata/k",
    ),
];

/// The value at a place after encoding and decoding.
fn after_the_trip(event: &str, place: &str, value: &str) -> Value {
    let text = event.replace('@', value);
    let event = StrictReader::new().read(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let payload = event.to_payload().unwrap_or_else(|error| panic!("{error}: {text}"));
    let decoded = Event::decode(&payload).unwrap();
    let mut decoded = Value::from_serialize(&decoded.event).unwrap();
    decoded.pointer_mut(place).unwrap_or_else(|| panic!("nothing at {place}: {text}")).take()
}

/// Checks that `value` comes back as `expected`, text for text, from everywhere.
#[track_caller]
fn check_text(value: &str, expected: &str) {
    for (event, place) in PLACES {
        assert_eq!(after_the_trip(event, place, value).to_string(), expected, "{place}: {value}");
    }
}

/// Checks that `value` comes back as the double `expected`, however it is printed.
#[track_caller]
fn check_double(value: &str, expected: f64) {
    for (event, place) in PLACES {
        let printed = after_the_trip(event, place, value).to_string();
        let double: f64 = printed.parse().unwrap();
        assert_eq!(double.to_bits(), expected.to_bits(), "{place}: {value}: {printed}");
    }
}

#[test]
fn integers_up_to_two_to_the_53_come_back_as_they_were() {
    for integer in [
        "0",
        "1",
        "-1",
        "4294967296",
        "9007199254740990",
        "9007199254740991",
        "9007199254740992",
        "-9007199254740991",
        "-9007199254740992",
    ] {
        check_text(integer, integer);
    }
}

#[test]
fn larger_integers_come_back_as_the_nearest_double() {
    // Halves go to the even neighbour.
    check_text("9007199254740993", "9007199254740992");
    check_text("-9007199254740993", "-9007199254740992");
    check_double("9007199254740994", 9_007_199_254_740_994.0);
    check_double("9007199254740995", 9_007_199_254_740_996.0);
    check_double("1234567890123456789", 1_234_567_890_123_456_768.0);
    check_double("9223372036854775807", 9_223_372_036_854_775_808.0);
    check_double("9223372036854775808", 9_223_372_036_854_775_808.0);
    check_double("-9223372036854775808", -9_223_372_036_854_775_808.0);
    check_double("18446744073709551615", 18_446_744_073_709_551_616.0);
}

#[test]
fn decimals_come_back_as_they_were() {
    for decimal in ["0.1", "0.5", "-0.25", "1.5", "3.141592653589793", "0.30000000000000004"] {
        check_text(decimal, decimal);
    }
}

#[test]
fn a_decimal_that_is_an_integer_comes_back_as_one() {
    for (value, expected) in [
        ("1.0", "1"),
        ("-7.00", "-7"),
        ("1e3", "1000"),
        ("1E+3", "1000"),
        ("12e-1", "1.2"),
        ("9.007199254740992e15", "9007199254740992"),
    ] {
        check_text(value, expected);
    }
}

#[test]
fn minus_zero_stays_minus_zero() {
    check_text("-0.0", "-0.0");
    check_text("-0", "-0.0");
    check_text("0.0", "0");
}

#[test]
fn the_extremes_of_a_double_come_back() {
    check_double("5e-324", 5e-324);
    check_double("-5e-324", -5e-324);
    check_double("2.2250738585072014e-308", f64::MIN_POSITIVE);
    check_double("1.7976931348623157e308", f64::MAX);
    check_double("-1.7976931348623157e308", f64::MIN);
    check_double("1e-7", 1e-7);
    check_double("1e21", 1e21);
    check_double("1e300", 1e300);
}

#[test]
fn nulls_and_empty_containers_are_data() {
    for value in [
        "[]",
        "{}",
        r#""""#,
        "false",
        "[null]",
        r#"{"a":null}"#,
        r#"[null,[],{},"",0,false,[[]],[{}]]"#,
        r#"{"a":{},"b":[],"c":{"d":[null,{"e":null}]}}"#,
    ] {
        check_text(value, value);
    }
}

#[test]
fn a_whole_null_is_the_payload_where_it_may_be() {
    for (event, place) in PLACES {
        let any = place.ends_with("/k")
            || ["/snapshot", "/event", "/value", "/delta/0/value", "/patch/0/value"]
                .contains(place);
        if any {
            assert_eq!(after_the_trip(event, place, "null").to_string(), "null", "{place}");
        }
    }
}

#[test]
fn keys_keep_their_order_and_any_string_is_a_key() {
    for object in [
        r#"{"z":1,"a":2,"m":3}"#,
        r#"{"10":1,"2":2,"1":3,"b":4,"a":5}"#,
        r#"{"":0}"#,
        r#"{"__proto__":{"x":1},"constructor":"c","toString":null,"a.b":1,"a/b":2,"~":3}"#,
        r#"{"type":"RAW","numberValue":1,"nullValue":0}"#,
        r#"{"ключ":"値","😀":"\u0001"}"#,
        r#"{"z":{"z":1,"a":[{"y":1,"b":2}]},"a":{}}"#,
    ] {
        check_text(object, object);
    }
}

#[test]
fn a_key_twice_is_one_key_with_the_last_value() {
    check_text(r#"{"a":1,"b":2,"a":3}"#, r#"{"a":3,"b":2}"#);
}

#[test]
fn text_comes_back_code_point_for_code_point() {
    for (value, expected) in [
        (r#""Zoë 漢字 😀""#, r#""Zoë 漢字 😀""#),
        (r#""\u200d🚀""#, "\"\u{200d}🚀\""),
        (r#""e\u0301 \ufeff \u2028""#, "\"e\u{301} \u{feff} \u{2028}\""),
        (r#""\u0000\b\f\n\r\t\"\\""#, r#""\u0000\b\f\n\r\t\"\\""#),
        (r#""\ud83d\ude00 \/""#, r#""😀 /""#),
        (r#""  padded  ""#, r#""  padded  ""#),
    ] {
        check_text(value, expected);
    }
}

#[test]
fn nested_numbers_obey_the_same_rules() {
    check_text(
        r#"{"batch":500000,"zero":0,"neg":-3,"half":0.5,"list":[1.0,2,{"n":9007199254740993}]}"#,
        r#"{"batch":500000,"zero":0,"neg":-3,"half":0.5,"list":[1,2,{"n":9007199254740992}]}"#,
    );
}
