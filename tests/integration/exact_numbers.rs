//! The extension of WIRE-EXTENSIONS.md: exact numbers beside their doubles.

use ag_ui_proto::Event;
use ag_ui_proto::codec::Options;
use ag_ui_proto::value::{ExactJson, Value};
use bytes::BytesMut;

use crate::golden::hex;

fn event(json: &str) -> Event {
    Event::from_value(ExactJson::read(json, 128).unwrap().value).unwrap()
}

fn encode(event: &Event, options: Options) -> Vec<u8> {
    let mut payload = BytesMut::new();
    assert_eq!(options.encode(event, &mut payload).unwrap(), []);
    payload.to_vec()
}

fn exact() -> Options {
    Options::new().with_exact_numbers()
}

#[test]
fn the_bytes_are_those_of_the_page() {
    let page = include_str!("../../WIRE-EXTENSIONS.md");
    let example = page.split("```text\n").nth(1).unwrap().split("```").next().unwrap();
    let bytes: String = example
        .lines()
        .flat_map(str::split_whitespace)
        .filter(|word| {
            let is_hex = word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
            is_hex && (word.len() == 2 || word.len() == 32)
        })
        .collect();
    let event = event(r#"{"type":"CUSTOM","name":"n","value":9007199254740993}"#);
    assert_eq!(encode(&event, exact()), hex(&bytes));
    assert_eq!(encode(&event, Options::new()), hex("5a120a02080a12016e1a09110000000000004043"));
}

#[test]
fn a_number_that_a_double_is_costs_nothing() {
    let event = event(r#"{"type":"RAW","event":[0,-0,0.1,1e300,9007199254740994,{"a":2.5}]}"#);
    assert_eq!(encode(&event, exact()), encode(&event, Options::new()));
}

#[test]
fn every_open_value_takes_exact_numbers_along() {
    let json = concat!(
        r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"threadId":"t","runId":"r","#,
        r#""messages":[{"role":"assistant","id":"a","toolCalls":[{"id":"c","type":"function","#,
        r#""function":{"name":"f","arguments":"1"},"metadata":{"n":18446744073709551615}}],"#,
        r#""metadata":{"n":[0.10000000000000000001]}},"#,
        r#"{"role":"user","id":"u","content":[{"type":"text","text":"x","metadata":12345678901234567891}]},"#,
        r#"{"role":"activity","id":"v","activityType":"x","content":{"n":9007199254740993}}],"#,
        r#""state":{"n":-9007199254740993},"tools":[{"name":"n","description":"d","#,
        r#""parameters":{"maximum":9223372036854775807},"metadata":{"n":1.00000000000000000001}}],"#,
        r#""context":[],"forwardedProps":{"n":9007199254740993},"#,
        r#""resume":[{"interruptId":"i","status":"resolved","payload":9007199254740995,"#,
        r#""metadata":{"n":9007199254740997}}]},"#,
        r#""metadata":{"n":9007199254740999},"rawEvent":123456789012345678901234567890.5}"#,
    );
    let sent = event(json);
    let arrived = exact().decode(&encode(&sent, exact())).unwrap().event.unwrap();
    assert_eq!(arrived, sent);

    // Without the option at either end the doubles arrive, and nothing else.
    let rounded = Event::decode(&encode(&sent, Options::new())).unwrap().event.unwrap();
    let ignored = Event::decode(&encode(&sent, exact())).unwrap().event.unwrap();
    assert_eq!(ignored, rounded);
    assert_ne!(rounded, sent);
    let nothing_came = exact().decode(&encode(&sent, Options::new())).unwrap().event.unwrap();
    assert_eq!(nothing_came, rounded);
}

/// `CUSTOM` with name `n` and these bytes as the `google.protobuf.Value`.
fn custom(value: &str) -> Vec<u8> {
    let len = value.len() / 2;
    hex(&format!("5a{:02x}0a02080a12016e1a{len:02x}{value}", len + 9))
}

fn value_of(payload: &[u8], options: Options) -> Value {
    let event = options.decode(payload).unwrap().event.unwrap();
    let json = Value::from_serialize(&event).unwrap();
    json["value"].clone()
}

#[test]
fn text_that_does_not_belong_to_its_double_is_ignored() {
    // number_value: 2.0, then field 53053 with ...
    for text in ["33", "322e35", "78", "", "3032", "ff", "2032"] {
        let field = format!("eaf319{:02x}{text}", text.len() / 2);
        let payload = custom(&format!("110000000000000040{field}"));
        assert_eq!(value_of(&payload, exact()), Value::from(2), "{text}");
        // ... before the number, or beside another kind.
        let payload = custom(&format!("{field}110000000000000040"));
        assert_eq!(value_of(&payload, exact()), Value::from(2), "{text}");
        let payload = custom(&format!("2001{field}"));
        assert_eq!(value_of(&payload, exact()), Value::from(true), "{text}");
    }
}

#[test]
fn a_later_kind_takes_the_text_away() {
    let number = "110000000000004043eaf3191039303037313939323534373430393933";
    let payload = custom(number);
    assert_eq!(value_of(&payload, exact()), Value::from(9_007_199_254_740_993_i64));
    let payload = custom(&format!("{number}1a0178"));
    assert_eq!(value_of(&payload, exact()), Value::from("x"));
    let payload = custom(&format!("{number}110000000000000840"));
    assert_eq!(value_of(&payload, exact()), Value::from(3));
}

#[test]
fn refusing_loss_lets_an_exact_number_pass_and_no_other_loss() {
    let number = event(r#"{"type":"CUSTOM","name":"n","value":{"a":[9007199254740993]}}"#);
    let mut dst = BytesMut::from(&b"before"[..]);
    let error = Options::new().refusing_loss().encode(&number, &mut dst).unwrap_err();
    assert_eq!(
        error.to_string(),
        "CUSTOM: /value/a/0: integer-precision: 9007199254740993 becomes 9007199254740992"
    );
    assert_eq!(dst, b"before"[..]);
    exact().refusing_loss().encode(&number, &mut BytesMut::new()).unwrap();

    let member = event(r#"{"type":"STEP_STARTED","stepName":"s","colour":["red"]}"#);
    let error = exact().refusing_loss().encode(&member, &mut BytesMut::new()).unwrap_err();
    assert_eq!(error.to_string(), r#"STEP_STARTED: /colour: unknown-member: ["red"] is lost"#);

    let harmless = event(r#"{"type":"RUN_ERROR","message":"m","usage":[],"timestamp":1e3}"#);
    Options::new().refusing_loss().encode(&harmless, &mut BytesMut::new()).unwrap();
}
