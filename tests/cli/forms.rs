//! The forms of input: JSON lines, an array, server-sent events, and what people make of them.

use crate::run::{END, END_FRAME, good, run, sample, sample_text};

/// The events of a sample, one JSON text each.
fn events(name: &str) -> Vec<String> {
    let text = sample_text(name);
    let lines = text.lines().map(|line| line.strip_prefix("data: ").unwrap_or(line));
    lines.filter(|line| line.starts_with('{')).map(str::to_owned).collect()
}

#[test]
fn all_forms_of_a_session_give_the_same_frames() {
    for (name, count) in [("chat.jsonl", 164), ("research.jsonl", 768), ("multimodal.sse", 76)] {
        let events = events(name);
        assert_eq!(events.len(), count, "{name}");
        let frames = good(&["encode", &sample(name)], "");
        assert!(!frames.is_empty());
        for (form, text) in [
            ("jsonl", events.join("\n")),
            ("jsonl", events.join("\r\n\r\n")),
            ("jsonl", events.concat()),
            ("jsonl", pretty(&events)),
            ("array", format!("\n [{}]\n", events.join(" ,\n"))),
            ("array", format!("[{}]", pretty(&events).replace("\n}\n{", "\n},\n{"))),
            ("sse", sse(&events, "\n", "data: ")),
            ("sse", sse(&events, "\r\n", "data:")),
            ("sse", sse(&events, "\r", "id: 7\rdata: ")),
            ("sse", format!("event: x\n{}", sse(&events, "\n", "data: ").trim_end())),
        ] {
            assert!(good(&["encode"], text.as_str()) == frames, "{name} as {form}");
            assert!(good(&["encode"], format!("\u{feff}{text}")) == frames, "{name} as {form}");
            assert!(good(&["encode", "--from", form], text) == frames, "{name} from {form}");
        }
    }
}

fn sse(events: &[String], end: &str, start: &str) -> String {
    events.iter().flat_map(|event| [start, event, end, end]).collect()
}

/// The events over many lines each.
fn pretty(events: &[String]) -> String {
    let values = events.iter().map(|event| {
        let value: ag_ui_proto::value::Value = serde_json::from_str(event).unwrap();
        serde_json::to_string_pretty(&value).unwrap() + "\n"
    });
    values.collect()
}

#[test]
fn what_is_nothing_of_server_sent_events_is_told_by_its_looks() {
    for (text, looks) in [
        (format!("{END}\n").into_bytes(), "JSON: \"{\\\"type\\\":"),
        (b"<html>\n".to_vec(), "HTML: \"<html>\""),
        (END_FRAME.to_vec(), "frames of the binary binding: 00 00 00 09 1a"),
    ] {
        for command in ["encode", "verify", "compact"] {
            let done = run(&[command, "--from", "sse"], text.clone());
            let want = format!("stdin:1: no server-sent events, but what looks like {looks}");
            assert_eq!(done.code, 1, "{command} {}", done.err);
            assert!(done.err.contains(&want), "{command} {}", done.err);
        }
    }
    assert_eq!(good(&["encode", "--from", "sse"], ": nothing\n\n"), b"");
}

#[test]
fn a_place_in_an_array_or_a_body_is_a_line() {
    let text = format!("[\n{END},\n\n{{\"type\":1}}]");
    let done = run(&["encode"], text);
    assert_eq!((done.code, done.out.as_slice()), (1, END_FRAME));
    assert_eq!(done.err, "error: stdin:4: type: expected a string, found a number\n");

    let text = format!(": hi\r\ndata: {END}\r\n\r\ndata: {{\"type\":\r\ndata: x}}\r\n\r\n");
    let done = run(&["encode"], text);
    assert_eq!((done.code, done.out.as_slice()), (1, END_FRAME));
    assert!(done.err.starts_with("error: stdin:5: malformed JSON"), "{}", done.err);
}

#[test]
fn an_array_that_is_not_closed_is_bad() {
    let done = run(&["encode"], format!("[{END}\n"));
    assert_eq!((done.code, done.out.as_slice()), (1, END_FRAME));
    assert_eq!(done.err, "error: stdin:2: truncated: input ended inside the array\n");
}

#[test]
fn frames_are_recognised_as_no_json() {
    let done = run(&["encode"], END_FRAME);
    assert_eq!(done.code, 1);
    assert_eq!(done.err, "error: stdin:1: the input looks like frames, which `decode` reads\n");
    for command in ["verify", "apply", "compact", "lineage", "compare"] {
        let done = run(&[command], END_FRAME);
        assert_eq!(done.code, 1, "{command}");
        let said = "the input looks like frames, which are read with `--from frames`";
        assert!(done.err.contains(said), "{command}: {}", done.err);
    }
}

#[test]
fn a_form_that_was_said_counts() {
    let done = run(&["encode", "--from", "array"], END);
    assert_eq!((done.code, done.err.as_str()), (1, "error: stdin:1: expected an array\n"));
    let done = run(&["encode", "--from", "sse"], END);
    assert_eq!((done.code, done.out.as_slice()), (1, &b""[..]), "no data: line");
}
