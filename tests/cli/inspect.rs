//! `inspect`: what is shown of each frame.

use crate::run::{BAD_FRAME, END_FRAME, FUTURE_FRAME, good, run, sample};

#[test]
fn a_frame_is_a_line_in_columns() {
    let frames = good(&["encode", &sample("chat.jsonl")], "");
    let text = String::from_utf8(good(&["inspect"], frames.as_slice())).unwrap();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 164);
    let starts: Vec<_> = lines.iter().map(|line| &line[..28]).collect();
    assert!(starts.iter().all(|start| start.ends_with("  ")), "{starts:?}");
    let mut next = 0;
    for (at, line) in lines.iter().enumerate() {
        let mut words = line.split_whitespace();
        let mut number = || words.next().unwrap().parse::<usize>().unwrap();
        assert_eq!((number(), number()), (at + 1, next));
        next += number();
        assert!(line.chars().count() <= 28 + 27 + 90 + 60, "{line}");
    }
    assert_eq!(next, frames.len(), "offsets and lengths add up");
}

#[test]
fn the_content_is_quoted_cut_and_harmless() {
    let delta = format!("\\u001b[31m\\u009b\\n{}", "é".repeat(100));
    let event = format!(
        r#"{{"type":"TEXT_MESSAGE_CONTENT","messageId":"0123456789abcdefg","delta":"{delta}"}}"#
    );
    let frame = good(&["encode"], event);
    let text = String::from_utf8(good(&["inspect"], frame)).unwrap();
    let look = format!(r#""\u001b[31m\u009b\n{}…"#, "é".repeat(40));
    let want = format!(
        "     1          0      241  TEXT_MESSAGE_CONTENT       message=012345…bcdefg   {look}\n"
    );
    assert_eq!(text, want);
}

#[test]
fn json_has_the_ids_in_full() {
    let event = r#"{"type":"TOOL_CALL_START","toolCallId":"0123456789abcdefg","toolCallName":"f","parentMessageId":"m"}"#;
    let frame = good(&["encode"], event);
    let text = String::from_utf8(good(&["inspect", "--json"], frame)).unwrap();
    let start = r#"{"frame":1,"offset":0,"len":35,"type":"TOOL_CALL_START","#;
    let rest = r#""ids":{"toolCallId":"0123456789abcdefg","parentMessageId":"m"},"content":"toolCallName=\"f\""}"#;
    assert_eq!(text, format!("{start}{rest}\n"));
}

#[test]
fn a_frame_that_is_no_event_is_shown_and_the_rest_too() {
    let input = [END_FRAME, BAD_FRAME, FUTURE_FRAME, END_FRAME].concat();
    let done = run(&["inspect"], input.as_slice());
    assert_eq!((done.code, done.text().lines().count()), (1, 4));
    let lines: Vec<_> = done.text().lines().collect();
    assert!(lines[1].starts_with("     2         13        6  (no event)  "), "{}", lines[1]);
    assert!(lines[2].starts_with("     3         19        9  (later version)  "), "{}", lines[2]);
    assert_eq!(done.err, "error: stdin: 1 of 4 frames is no event\n");

    let done = run(&["inspect", "--json"], input);
    let lines: Vec<_> = done.text().lines().collect();
    assert!(lines[1].starts_with(r#"{"frame":2,"offset":13,"len":6,"error":""#), "{}", lines[1]);
    assert!(lines[2].starts_with(r#"{"frame":3,"offset":19,"len":9,"dropped":""#), "{}", lines[2]);
}

#[test]
fn damaged_input_is_shown_up_to_the_damage() {
    let done = run(&["inspect"], [END_FRAME, &END_FRAME[..7]].concat());
    assert_eq!((done.code, done.text().lines().count()), (1, 1));
    assert_eq!(
        done.err,
        "error: stdin: frame 2 at byte 13: truncated: input ended after 7 bytes of a frame of 13\n"
    );
}
