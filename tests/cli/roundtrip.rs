//! `roundtrip`: sizes, and what does not come back.

use ag_ui_proto::value::Value;

use crate::run::{END, good, run, sample};

#[test]
fn the_samples_lose_one_number() {
    let text = String::from_utf8(good(&["roundtrip", &sample("chat.jsonl")], "")).unwrap();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(
        lines[1..],
        [
            "  as server-sent events  27,915 bytes",
            "  as frames              16,273 bytes  58 %",
            "  1 event changed in form only: first at line 1: /input/resume: (absent) -> []",
        ]
    );
    assert!(lines[0].ends_with("chat.jsonl: 164 events"));

    let done = run(&["roundtrip", &sample("research.jsonl"), &sample("multimodal.sse")], "");
    assert_eq!((done.code, done.err.as_str()), (1, ""));
    let change = "1 event changed: first at line 219: /rawEvent/request_id: \
                  1234567890123456789 -> ";
    assert!(done.text().contains(change), "{}", done.text());
    assert!(done.text().contains("multimodal.sse: 76 events"));
}

#[test]
fn json_is_an_object_a_file() {
    let input = format!("{END}\n{{\"type\":\"CUSTOM\",\"name\":\"n\",\"value\":9007199254740993}}");
    let done = run(&["roundtrip", "--json"], input);
    assert_eq!((done.code, done.err.as_str()), (1, ""));
    let object = Value::from_json(done.text(), 8).unwrap();
    for (pointer, value) in [
        ("/file", Value::from("stdin")),
        ("/events", 2.into()),
        ("/changed/events", 1.into()),
        ("/changed/first/line", 2.into()),
        ("/changed/first/path", "/value".into()),
        ("/changed/first/before", 9_007_199_254_740_993_i64.into()),
        ("/changedInFormOnly/events", 0.into()),
    ] {
        assert_eq!(object.pointer(pointer), Some(&value), "{pointer}");
    }
}

#[test]
fn an_event_that_is_dropped_did_not_come_back() {
    let done = run(&["roundtrip"], format!("{END}\n{{\"type\":\"NEW\"}}\n"));
    assert_eq!(done.code, 1);
    assert_eq!(done.err, "warning: stdin:2: dropped an event of unknown type \"NEW\"\n");
    assert!(done.text().ends_with("  1 event of unknown type dropped\n"), "{}", done.text());
    assert!(
        String::from_utf8(good(&["roundtrip"], END))
            .unwrap()
            .ends_with("  every event came back the same\n")
    );
}

#[test]
fn a_bad_file_does_not_hide_the_next() {
    let dir = tempfile::tempdir().unwrap();
    let [bad, fine] = ["bad.jsonl", "fine.jsonl"].map(|name| dir.path().join(name));
    std::fs::write(&bad, "{}\n").unwrap();
    std::fs::write(&fine, END).unwrap();
    let [bad, fine] = [&bad, &fine].map(|path| path.to_str().unwrap());
    let done = run(&["roundtrip", bad, fine], "");
    assert_eq!(done.code, 1);
    assert_eq!(done.err, format!("error: {bad}:1: type: missing\n"));
    assert!(done.text().contains("fine.jsonl: 1 event\n"), "{}", done.text());
}

#[test]
fn what_is_lost_in_reading_is_a_change_too() {
    for (event, change) in [
        (
            r#"{"type":"RAW","event":123456789012345678901234567890}"#,
            "/event: 123456789012345678901234567890 -> 1.2345678901234568e+29",
        ),
        (r#"{"type":"RAW","event":{"a":1,"a":2}}"#, "/event/a: 1 -> 2"),
        (r#"{"type":"STEP_STARTED","stepName":"s","x":[]}"#, "/x: [] -> (absent)"),
    ] {
        let done = run(&["roundtrip"], event);
        assert_eq!(done.code, 1, "{event}");
        assert!(
            done.text().contains(&format!("1 event changed: first at line 1: {change}\n")),
            "{}",
            done.text()
        );
    }
}

#[test]
fn standard_input_is_not_read_twice() {
    let done = run(&["roundtrip", "-", "-"], END);
    assert_eq!((done.code, done.out.len()), (2, 0));
    assert_eq!(done.err, "error: standard input can be read once, not twice\n");
}
