//! Faults that were there once, each by the smallest input that showed it.

use ag_ui_proto::Event;
use ag_ui_proto::codec::{EncodeError, Options};
use ag_ui_proto::fidelity::{Checker, Fidelity, Kind};
use ag_ui_proto::model::{
    Custom, ResumeEntry, ResumeStatus, RunAgentInput, RunStarted, StepStarted, StrictReader,
    TolerantReader,
};
use ag_ui_proto::value::Value;
use bytes::BytesMut;

/// A resume entry of a status that a later version may define: enforcement drops it, the wire
/// carries it.
fn resumed(entry: ResumeEntry) -> Event {
    let input = RunAgentInput::new("t", "r", Vec::new()).with_resume([entry]);
    Event::from(RunStarted::new("t", "r").with_input(input))
}

fn deferred() -> ResumeEntry {
    ResumeEntry::new("i", ResumeStatus::Unknown("deferred".into()))
}

#[test]
fn what_the_wire_carries_though_enforcement_drops_it_is_no_deeper_than_the_limit() {
    let deep = (0..100_000).fold(Value::Null, |inner, _| Value::from(vec![inner]));
    let event = resumed(deferred().with_payload(deep));
    let error = event.encode(&mut BytesMut::new()).unwrap_err();
    assert!(matches!(error, EncodeError::TooDeep { max: 128, .. }), "{error}");
    assert_eq!(
        error.to_string(),
        "RUN_STARTED: input.resume[0].payload: nests the event deeper than 128 levels"
    );
}

#[test]
fn what_the_wire_carries_though_enforcement_drops_it_is_checked() {
    let event = resumed(deferred().with_payload(9_007_199_254_740_993_i64));
    let lost: Vec<_> = event
        .differences()
        .into_iter()
        .filter(|difference| !difference.kind.is_harmless())
        .map(|difference| (difference.kind, difference.pointer))
        .collect();
    assert_eq!(lost, [(Kind::IntegerPrecision, "/input/resume/0/payload".to_owned())]);
    assert!(matches!(
        Options::new().refusing_loss().encode(&event, &mut BytesMut::new()),
        Err(EncodeError::Lossy { .. })
    ));
}

#[test]
fn a_fraction_too_small_for_a_double_is_a_fraction_all_the_same() {
    for timestamp in ["1767225600000.0000001", "1e-400", "7.00000000000000000001"] {
        let text =
            format!(r#"{{"type":"TEXT_MESSAGE_END","messageId":"m","timestamp":{timestamp}}}"#);
        let error = StrictReader::new().read(&text).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("TEXT_MESSAGE_END: timestamp: expected an integer, found {timestamp}")
        );
        assert!(serde_json::from_str::<Event>(&text).is_ok(), "serde itself rounds: {text}");
    }
}

#[test]
fn a_number_that_is_none_is_refused_and_not_null() {
    for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let event = Event::from(Custom::new("n", number));
        let error = event.encode(&mut BytesMut::new()).unwrap_err().to_string();
        assert_eq!(
            error,
            format!("CUSTOM: value: the number {number} is outside the range of a double")
        );
        let error = serde_json::to_string(&event).unwrap_err();
        assert_eq!(error.to_string(), format!("number {number} is not finite"));
        assert_eq!(event.differences()[0].kind, Kind::OutOfRange);
    }
}

#[test]
fn a_number_beyond_the_doubles_is_lost_with_the_member_that_holds_it() {
    let text = r#"{"type":"STEP_STARTED","stepName":"s","x":1e400}"#;
    let report = Checker::new().check(text);
    assert_eq!(report.fidelity(), Fidelity::Lossy);
    // So the encoder takes the rest.
    let event = Event::from_json(text).unwrap();
    assert_eq!(event.encode(&mut BytesMut::new()).unwrap().len(), 1);
}

#[test]
fn an_error_is_told_whole_and_once() {
    use std::error::Error as _;

    let error = Event::from_json(r#"{"type":"RAW","event":[1,]}"#).unwrap_err();
    assert_eq!(error.to_string(), "malformed JSON at /event/1: trailing comma at line 1 column 26");
    assert!(error.source().is_none());

    let mut reader = ag_ui_proto::codec::EventReader::new();
    let error = reader.next_event(&mut BytesMut::from(&[0, 0, 0, 0][..])).unwrap_err();
    assert_eq!(error.to_string(), "frame 1 at byte 0: an empty frame names no event");
    assert!(error.source().is_none());
}

#[test]
fn nesting_is_too_deep_at_the_bracket_that_opens_too_much() {
    for inner in ["[]", "[1]", "[ \n]", "{}", "{\"a\":1}"] {
        let text = format!("{{\"type\":\"CUSTOM\",\"name\":\"[[\",\n\"value\":[{inner}]}}");
        for error in [
            StrictReader::new().with_max_depth(2).read(&text).unwrap_err(),
            TolerantReader::new().with_max_depth(2).read(&text).unwrap_err(),
        ] {
            assert_eq!(error.to_string(), "JSON nested deeper than 2 levels at line 2 column 10");
        }
    }
}

#[test]
fn a_number_beyond_the_doubles_moves_no_place_behind_it() {
    let error = Event::from_json(r#"{"type":"CUSTOM","name":"n","value":1e400 oops}"#).unwrap_err();
    assert_eq!(error.to_string(), "malformed JSON: expected `,` or `}` at line 1 column 43");
}

/// Encodes an event when its thread ends, which may be after what the codec keeps for a thread is gone.
struct AtTheEnd(Option<std::sync::mpsc::Sender<(BytesMut, Event)>>);

impl Drop for AtTheEnd {
    fn drop(&mut self) {
        let events = ["short".to_owned(), "long".repeat(50_000)]
            .map(|text| Event::from(StepStarted::new("plan")).with_raw_event(text));
        for event in events {
            let mut payload = BytesMut::new();
            event.encode(&mut payload).unwrap();
            self.0.as_ref().unwrap().send((payload, event)).unwrap();
        }
    }
}

#[test]
fn a_thread_encodes_until_its_very_end() {
    thread_local! {
        static AT_THE_END: std::cell::RefCell<AtTheEnd> =
            const { std::cell::RefCell::new(AtTheEnd(None)) };
    }
    let (sender, encoded) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(|| {
        // What is used first is dropped last.
        AT_THE_END.with_borrow_mut(|it| it.0 = Some(sender));
        let event = Event::from(StepStarted::new("plan")).with_raw_event("x");
        event.encode(&mut BytesMut::new()).unwrap();
    });
    thread.join().unwrap();
    let encoded: Vec<_> = encoded.iter().collect();
    assert_eq!(encoded.len(), 2);
    for (payload, event) in encoded {
        assert_eq!(Event::decode(&payload).unwrap().event, Some(event));
    }
}
