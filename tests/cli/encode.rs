//! `encode`: what is written, what is said, and how it ends.

use predicates::prelude::*;

use crate::run::{END, END_FRAME, good, run};

#[test]
fn an_event_becomes_a_frame() {
    assert_eq!(good(&["encode"], END), END_FRAME);
    assert_eq!(good(&["encode", "-"], format!("\n{END}\r\n\n")), END_FRAME);
    assert_eq!(good(&["encode", "-o", "-"], END), END_FRAME);
    assert_eq!(good(&["encode"], ""), b"");
}

#[test]
fn files_are_read_and_written_and_named() {
    let dir = tempfile::tempdir().unwrap();
    let [from, to] = ["session.jsonl", "session.frames"].map(|name| dir.path().join(name));
    std::fs::write(&from, format!("{END}\n{{\"type\":\"NEW\"}}\n{END}\n")).unwrap();
    let [from, into] = [&from, &to].map(|path| path.to_str().unwrap());
    let done = run(&["encode", from, "-o", into], "");
    assert_eq!((done.code, done.out.len()), (0, 0));
    assert_eq!(done.err, format!("warning: {from}:2: dropped an event of unknown type \"NEW\"\n"));
    assert_eq!(std::fs::read(&to).unwrap(), [END_FRAME, END_FRAME].concat());

    let same = run(&["encode", from, "-o", from], "");
    assert_eq!(same.code, 2);
    assert_eq!(same.err, format!("error: {from}: is the input as well as the output\n"));
    assert!(std::fs::metadata(from).unwrap().len() > 0, "the input is still there");
}

/// Checks that two good events, the second on line 2, are followed by one that ends the work.
#[track_caller]
fn check_bad(words: &[&str], bad: &str, error: &str) {
    let done = run(&[&["encode"], words].concat(), format!("{END}\n{END}\n{bad}\n{END}\n"));
    assert_eq!(done.err, format!("error: stdin:{error}\n"));
    assert_eq!(done.code, 1);
    assert_eq!(done.out, [END_FRAME, END_FRAME].concat(), "what came before is written");
}

#[test]
fn a_bad_event_is_named_by_place_and_reason() {
    for (bad, error) in [
        (
            r#"{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":[]}"#,
            "3: TOOL_CALL_ARGS: delta: expected a string, found an array",
        ),
        (
            r#"{"type":"CUSTOM","name":"n","value":1"#,
            "3: malformed JSON: EOF while parsing an object at column 37",
        ),
        ("{\n\"type\":\n  nonsense}", "5: malformed JSON at /type: expected ident at column 4"),
    ] {
        check_bad(&[], bad, error);
    }
    let done = run(&["encode"], "nonsense");
    assert_eq!(done.err, "error: stdin:1: malformed JSON: expected ident at column 2\n");
    let done = run(&["encode"], b"{\"type\":\"\xff\"}".as_slice());
    assert_eq!(done.err, "error: stdin:1: malformed JSON: not UTF-8 at column 10\n");
}

#[test]
fn input_cut_in_the_middle_is_bad_and_what_came_before_is_written() {
    for cut in 1..END.len() {
        let done = run(&["encode"], format!("{END}\n{}", &END[..cut]));
        assert_eq!((done.code, done.out.as_slice()), (1, END_FRAME));
        assert!(predicate::str::contains("error: stdin:2: malformed JSON").eval(&done.err));
    }
}

#[test]
fn limits_are_kept() {
    let deep = format!("{{\"type\":\"RAW\",\"event\":{}{}}}", "[".repeat(20), "]".repeat(20));
    let error = "3: JSON nested deeper than 20 levels at column 42";
    check_bad(&["--max-depth", "20"], &deep, error);
    let long = format!(
        r#"{{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"{}"}}"#,
        "x".repeat(80)
    );
    let error = "3: TEXT_MESSAGE_CONTENT: a frame of 95 bytes is over the limit of 64";
    check_bad(&["--max-frame", "64"], &long, error);
    let error = "3: an event of more than 128 bytes of JSON; see `--max-frame`";
    check_bad(&["--max-frame", "32"], &long, error);
}

#[test]
fn what_is_left_out_is_told() {
    let input = r#"{"type":"STEP_STARTED","stepName":"s","colour":"red"}
{"type":"THINKING_START","title":"t"}"#;
    let done = run(&["encode"], input);
    assert_eq!(done.code, 0);
    let lines: Vec<_> = done.err.lines().collect();
    assert_eq!(
        lines,
        [
            "warning: stdin:1: STEP_STARTED: /colour: left out, since the wire has no place for it: \
         unknown member",
            "warning: stdin:2: REASONING_START: translated the retired THINKING_START",
            "warning: stdin:2: REASONING_START: /title: dropped title of the retired THINKING_START, \
         which has no present form",
        ]
    );
}

#[test]
fn validate_refuses_what_is_not_described() {
    for (bad, error) in [
        (r#"{"type":"NEW"}"#, "3: unknown event type \"NEW\""),
        (r#"{"type":"THINKING_START"}"#, "3: unknown event type \"THINKING_START\""),
        (
            r#"{"type":"STEP_STARTED","stepName":"s","colour":"red"}"#,
            "3: STEP_STARTED: colour: unknown member",
        ),
    ] {
        check_bad(&["--validate"], bad, error);
    }
}

#[test]
fn a_message_cannot_steer_the_terminal() {
    let done = run(&["encode"], "{\"type\":\"STEP_STARTED\",\"stepName\":\"s\",\"\\u001b[31m\":1}");
    assert!(done.err.starts_with("warning: stdin:1: STEP_STARTED: /\\u001b[31m: "), "{}", done.err);
}

#[test]
fn a_summary_is_given_if_asked_for() {
    let done = run(&["encode", "--summary"], END);
    assert_eq!(done.err, "1 event: 43 bytes of JSON -> 13 bytes in frames (30 %)\n");
}

#[test]
fn the_input_is_not_overwritten_by_any_of_its_names() {
    let dir = tempfile::tempdir().unwrap();
    let [from, link] = ["session.jsonl", "link.frames"].map(|name| dir.path().join(name));
    std::fs::write(&from, END).unwrap();
    std::fs::hard_link(&from, &link).unwrap();
    let [from, link] = [&from, &link].map(|path| path.to_str().unwrap());
    for words in [vec!["encode", from, "-o", link], vec!["encode", "-o", from]] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_ag-ui-proto"));
        let stdin = std::fs::File::open(from).unwrap();
        let done = command.args(&words).stdin(stdin).output().unwrap();
        assert_eq!(done.status.code(), Some(2), "{words:?}");
        assert_eq!(std::fs::read_to_string(from).unwrap(), END, "{words:?}");
    }
    // What is no file may well be both.
    good(&["encode", "/dev/null", "-o", "/dev/null"], "");
}

#[test]
fn a_key_given_twice_is_a_warning() {
    let done = run(&["encode"], r#"{"type":"STEP_STARTED","stepName":"a","stepName":"b"}"#);
    assert_eq!(
        done.err,
        "warning: stdin:1: /stepName: given again later, where the last one counts\n"
    );
    assert_eq!(done.code, 0);
}
