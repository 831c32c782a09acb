//! `apply`: what a stream comes to, and how it ended.

use serde_json::{Value, json};

use crate::run::{Run, good, in_every_form, run, sample, session};

fn object(done: &Run) -> Value {
    assert_eq!(done.text().lines().count(), 1, "{}", done.text());
    serde_json::from_str(done.text()).unwrap()
}

#[test]
fn messages_and_state_are_lines() {
    let text = session(&["start r", "chunk m Hel", "chunk m lo", "finish r"]);
    assert_eq!(
        String::from_utf8(good(&["apply"], text)).unwrap(),
        "completed\nassistant m: \"Hello\"\nstate: {}\n"
    );
}

#[test]
fn json_is_one_object_and_the_same_for_every_form() {
    let state = "{\"type\":\"STATE_SNAPSHOT\",\"snapshot\":{\"n\":1.5}}\n";
    let text = session(&["start r", "chunk m Hel"]) + state + &session(&["finish r"]);
    for (words, input) in in_every_form(&text) {
        let out = good(&[&["apply", "--json"], words].concat(), input);
        assert_eq!(
            serde_json::from_slice::<Value>(&out).unwrap(),
            json!({
                "outcome": "completed",
                "eventTypes": [
                    "RUN_STARTED", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT",
                    "TEXT_MESSAGE_END", "STATE_SNAPSHOT", "RUN_FINISHED",
                ],
                "messages": [{ "role": "assistant", "id": "m", "content": "Hel" }],
                "state": { "n": 1.5 },
                "warnings": [],
            }),
            "{words:?}"
        );
    }
}

#[test]
fn a_failure_that_the_agent_reports_is_no_fault_of_the_stream() {
    let done = run(&["apply", "--json"], session(&["start r", "fail"]));
    let object = object(&done);
    assert_eq!(object["outcome"], "completed");
    assert_eq!(object["runError"], "no luck");
    assert_eq!(object.get("error"), None);
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    let text = String::from_utf8(good(&["apply"], session(&["start r", "fail"]))).unwrap();
    assert!(text.starts_with("completed: the agent reports: no luck\n"), "{text}");
}

#[test]
fn what_came_before_a_broken_rule_stands() {
    let text = session(&["start r", "open m", "say m Hi", "say n Ho", "close m"]);
    let done = run(&["apply", "--json"], text);
    let object = object(&done);
    let error = "stdin:4: TEXT_MESSAGE_CONTENT: text message \"n\" is not open (S2)";
    assert_eq!(object["outcome"], "failed");
    assert_eq!(object["error"], error);
    assert_eq!(object["messages"], json!([{ "role": "assistant", "id": "m", "content": "Hi" }]));
    assert_eq!(object["eventTypes"].as_array().unwrap().len(), 3);
    assert_eq!((done.code, done.err), (1, format!("error: {error}\n")));
}

#[test]
fn a_stream_that_was_cut_is_truncated() {
    let text = session(&["start r", "open m", "say m Hi"]);
    for input in [text.as_str(), &text[..text.len() - 1], &format!("{text}{{\"type\":\"RA"), ""] {
        let done = run(&["apply", "--json"], input);
        assert_eq!(object(&done)["outcome"], "truncated");
        assert!(done.err.contains("truncated"), "{}", done.err);
        assert_eq!(done.code, 1);
    }
    let frames = good(&["encode"], text);
    let done = run(&["apply", "--json", "--from", "frames"], &frames[..frames.len() - 1]);
    assert_eq!(object(&done)["outcome"], "truncated");
    assert_eq!(done.code, 1);
}

#[test]
fn malformed_and_damaged_input_is_a_stream_that_fails() {
    for (text, place) in [
        (session(&["start r"]) + "nonsense\n", "stdin:2: malformed JSON"),
        (format!("[{}", session(&["start r"])), "stdin:2: truncated: input ended inside the array"),
        (session(&["start r"]) + "{\"type\":\"RAW\"}\n", "stdin:2: "),
    ] {
        let done = run(&["apply", "--json"], text);
        let object = object(&done);
        assert_eq!(object["outcome"], "failed");
        assert!(object["error"].as_str().unwrap().starts_with(place), "{object}");
        assert_eq!(object["eventTypes"], json!(["RUN_STARTED"]));
        assert_eq!(done.code, 1);
    }
}

#[test]
fn warnings_are_told_with_their_place_and_listed() {
    let delta = concat!(
        r#"{"type":"STATE_DELTA","delta":[{"op":"remove","path":"/none"}]}"#,
        "\n",
        r#"{"type":"NEW"}"#,
        "\n"
    );
    let text = session(&["start r"]) + delta + &session(&["finish r"]);
    let done = run(&["apply", "--json"], text);
    let object = object(&done);
    let warnings: Vec<_> =
        object["warnings"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(warnings[0].starts_with("stdin:2: state not patched"), "{warnings:?}");
    assert!(warnings[1].starts_with("stdin:3: "), "{warnings:?}");
    let told = format!("warning: {}\n", warnings.join("\nwarning: "));
    assert_eq!((done.code, done.err), (0, told));
}

#[test]
fn the_samples_come_to_their_messages() {
    for (name, messages, error) in
        [("chat.jsonl", 9, false), ("research.jsonl", 39, true), ("multimodal.sse", 8, false)]
    {
        let done = run(&["apply", "--json", &sample(name)], "");
        let object = object(&done);
        assert_eq!(object["outcome"], "completed", "{name}");
        assert_eq!(object.get("runError").is_some(), error, "{name}");
        assert_eq!(object["messages"].as_array().unwrap().len(), messages, "{name}");
        assert_eq!(done.code, 0, "{name}");
    }
}
