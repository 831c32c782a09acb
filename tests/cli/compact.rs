//! `compact`: fewer events that come to the same.

use serde_json::Value;

use crate::run::{good, in_every_form, run, sample, session};

/// What a session comes to, without what compaction is there to change.
#[track_caller]
fn comes_to(words: &[&str], input: &[u8]) -> Value {
    let done = run(&[&["apply", "--json"], words].concat(), input);
    let mut object: Value = serde_json::from_slice(&done.out).unwrap();
    object.as_object_mut().unwrap().remove("eventTypes");
    object
}

#[test]
fn deltas_become_one_and_the_savings_are_said() {
    let text = session(&["start r", "open m", "say m Hel", "say m lo", "close m", "finish r"]);
    let want = session(&["start r", "open m", "say m Hello", "close m", "finish r"]);
    for (words, input) in in_every_form(&text) {
        let done = run(&[&["compact"], words].concat(), input.clone());
        assert_eq!(done.text(), want, "{words:?}");
        assert_eq!(done.code, 0);
        assert!(done.err.starts_with("stdin: 6 -> 5 events (83 %), "), "{}", done.err);
        let (before, after) = (input.len(), want.len());
        assert!(done.err.contains(&format!("), {before} bytes ")), "{}", done.err);
        assert!(done.err.contains(&format!("-> {after} bytes of JSON (")), "{}", done.err);
    }
}

#[test]
fn the_samples_come_to_the_same_in_fewer_events() {
    for (name, most) in [("chat.jsonl", 22), ("research.jsonl", 170), ("multimodal.sse", 25)] {
        let path = sample(name);
        let compacted = run(&["compact", &path], "");
        assert_eq!(compacted.code, 0, "{}", compacted.err);
        assert!(compacted.text().lines().count() <= most, "{}", compacted.err);
        good(&["verify"], compacted.out.as_slice());
        assert_eq!(comes_to(&[], &compacted.out), comes_to(&[&path], b""), "{name}");
        let again = run(&["compact"], compacted.out.as_slice());
        assert_eq!(again.out, compacted.out, "{name}");
    }
}

#[test]
fn the_output_has_the_form_that_is_asked_for() {
    let path = sample("chat.jsonl");
    let lines = run(&["compact", &path], "").out;
    let want = comes_to(&[], &lines);
    for form in ["array", "sse"] {
        let done = run(&["compact", "--to", form, &path], "");
        assert_eq!(comes_to(&[], &done.out), want, "{form}");
        assert_ne!(done.out, lines);
    }
    let frames = run(&["compact", "--to", "frames", &path], "").out;
    assert_eq!(frames, good(&["encode"], lines));
}

#[test]
fn a_file_is_written_and_never_the_one_that_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let (from, to) = (dir.path().join("a.jsonl"), dir.path().join("b.jsonl"));
    let text = session(&["start r", "chunk m Hel", "chunk m lo", "finish r"]);
    std::fs::write(&from, &text).unwrap();
    let [from, to] = [&from, &to].map(|path| path.to_str().unwrap());
    let done = run(&["compact", from, "-o", to], "");
    assert_eq!((done.code, done.out.len()), (0, 0));
    let want = session(&["start r", "open m", "say m Hello", "close m", "finish r"]);
    assert_eq!(std::fs::read_to_string(to).unwrap(), want);
    assert_eq!(run(&["compact", from, "-o", from], "").code, 2);
    assert_eq!(std::fs::read_to_string(from).unwrap(), text);
}

#[test]
fn timestamps_and_raw_events_go_or_stay_as_they_are_asked_for() {
    let delta = |text: &str, more: &str| {
        format!(r#"{{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"{text}"{more}}}"#)
            + "\n"
    };
    let text = session(&["start r", "open m"])
        + &delta("a", r#","timestamp":1"#)
        + &delta("b", r#","timestamp":2,"rawEvent":{}"#)
        + &session(&["close m", "finish r"]);
    for (words, middle) in [
        (&[][..], delta("ab", r#","timestamp":1"#)),
        (&["--timestamps", "none"], delta("ab", "")),
        (
            &["--timestamps", "none", "--raw-events", "all"],
            delta("a", "") + &delta("b", r#","rawEvent":{}"#),
        ),
        (
            &["--timestamps", "all", "--raw-events", "none"],
            delta("a", r#","timestamp":1"#) + &delta("b", r#","timestamp":2"#),
        ),
    ] {
        let done = run(&[&["compact"], words].concat(), text.as_str());
        let want = session(&["start r", "open m"]) + &middle + &session(&["close m", "finish r"]);
        assert_eq!(done.text(), want, "{words:?}");
    }
}

#[test]
fn what_was_left_out_is_counted() {
    let text = session(&["start r"])
        + concat!(
            r#"{"type":"STATE_SNAPSHOT","snapshot":{},"timestamp":1,"metadata":{"k":1}}"#,
            "\n",
            r#"{"type":"STATE_DELTA","delta":[],"timestamp":2,"rawEvent":1,"metadata":{"k":2}}"#,
            "\n",
            r#"{"type":"STATE_DELTA","delta":[{"op":"remove","path":"/a"}],"timestamp":3}"#,
            "\n",
        )
        + &session(&["finish r"]);
    let done = run(&["compact"], text.as_str());
    let want = r#"{"type":"STATE_SNAPSHOT","timestamp":1,"metadata":{"k":2},"snapshot":{}}"#;
    let lines: Vec<_> = done.text().lines().collect();
    let [want, line] = [want, lines[1]].map(|text| serde_json::from_str::<Value>(text).unwrap());
    assert_eq!((lines.len(), line), (3, want));
    let said: Vec<_> = done.err.lines().collect();
    let left_out = "stdin: left out: 2 timestamps, 1 rawEvent, 1 metadata value, 1 failed patch";
    assert_eq!((said.len(), said[0]), (2, left_out), "{}", done.err);
    let done = run(&["compact", "--timestamps", "all", "--raw-events", "all"], text.as_str());
    assert_eq!((done.text().lines().count(), done.err.lines().count()), (5, 1), "{}", done.err);
}

#[test]
fn what_is_dropped_counts_as_an_event() {
    let text = session(&["start r"]) + "{\"type\":\"NEW\"}\n" + &session(&["finish r"]);
    let done = run(&["compact"], text);
    let said = done.err.lines().last().unwrap();
    assert!(said.starts_with("stdin: 3 -> 2 events (67 %), "), "{said}");
}

#[test]
fn an_array_is_ended_whatever_happens() {
    let text = session(&["start r", "finish r", "raw"]);
    let done = run(&["compact", "--to", "array"], text);
    assert_eq!(serde_json::from_slice::<Value>(&done.out).unwrap().as_array().unwrap().len(), 2);
    assert_eq!(done.code, 1);
}

#[test]
fn what_came_before_a_broken_rule_is_written() {
    let text = session(&["start r", "open m", "say m a", "say m b", "say n c", "close m"]);
    let done = run(&["compact"], text.as_str());
    assert_eq!(done.text(), session(&["start r", "open m", "say m ab"]));
    let error = "error: stdin:5: TEXT_MESSAGE_CONTENT: text message \"n\" is not open (S2)\n";
    // Nothing is said of what was saved, since it was not all.
    assert_eq!(done.err, error);
    assert_eq!(done.code, 1);
    let raw = "\"rawEvent\":1,\"delta\":\"b\"";
    let done = run(&["compact"], text.replace("\"delta\":\"b\"", raw));
    assert_eq!(done.err, "stdin: left out: 1 rawEvent\n".to_owned() + error);
}

#[test]
fn a_stream_that_was_cut_stays_cut() {
    let text = session(&["start r", "open m", "say m a", "say m b"]);
    let done = run(&["compact"], text.as_str());
    assert_eq!(done.text(), session(&["start r", "open m", "say m ab"]));
    assert_eq!(done.code, 0);
    let done = run(&["compact"], &text.as_bytes()[..text.len() - 3]);
    assert_eq!(done.text(), session(&["start r", "open m", "say m a"]));
    assert!(done.err.contains("stdin:4: truncated"), "{}", done.err);
    assert_eq!(done.code, 1);
}
