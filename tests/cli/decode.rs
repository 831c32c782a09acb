//! `decode`: what is written, what is said, and how it ends.

use crate::run::{BAD_FRAME, END, END_FRAME, FUTURE_FRAME, good, run, sample, sample_text};

const FUTURE: &str = "dropped a frame with an event of a later version (arm 1000)";

#[test]
fn a_frame_becomes_an_event() {
    let two = [END_FRAME, END_FRAME].concat();
    for (words, text) in [
        (&["decode"][..], format!("{END}\n{END}\n")),
        (&["decode", "--to", "jsonl", "-"], format!("{END}\n{END}\n")),
        (&["decode", "--to", "array"], format!("[\n{END},\n{END}\n]\n")),
        (&["decode", "--to", "sse"], format!("data: {END}\n\ndata: {END}\n\n")),
    ] {
        assert_eq!(good(words, two.as_slice()), text.as_bytes());
    }
    assert_eq!(good(&["decode"], ""), b"");
    assert_eq!(good(&["decode", "--to", "array"], ""), b"[]\n");
}

#[test]
fn a_session_comes_back_as_it_was() {
    let frames = good(&["encode", &sample("chat.jsonl")], "");
    let text = String::from_utf8(good(&["decode"], frames)).unwrap();
    let sent = sample_text("chat.jsonl");
    assert_eq!(text.lines().count(), sent.lines().count());
    // The first event echoes an input, whose absent lists come back empty.
    for (sent, came) in sent.lines().zip(text.lines()).skip(1) {
        let [sent, came] = [sent, came].map(|text| {
            let value: serde_json::Value = serde_json::from_str(text).unwrap();
            value
        });
        assert_eq!(sent, came);
    }
}

#[test]
fn an_event_of_a_later_version_is_dropped_and_told() {
    let done = run(&["decode"], [END_FRAME, FUTURE_FRAME, END_FRAME].concat());
    assert_eq!((done.code, done.text()), (0, format!("{END}\n{END}\n").as_str()));
    assert_eq!(done.err, format!("warning: stdin: frame 2 at byte 13: {FUTURE}\n"));
}

#[test]
fn a_frame_that_is_no_event_ends_the_work() {
    for (to, text) in [("jsonl", format!("{END}\n")), ("array", format!("[\n{END}\n]\n"))] {
        let done = run(&["decode", "--to", to], [END_FRAME, BAD_FRAME, END_FRAME].concat());
        assert_eq!((done.code, done.text()), (1, text.as_str()));
        assert!(done.err.starts_with("error: stdin: frame 2 at byte 13: "), "{}", done.err);
        assert_eq!(done.err.lines().count(), 1);
    }
}

#[test]
fn a_cut_frame_is_reported_not_dropped() {
    for cut in 1..END_FRAME.len() {
        let done = run(&["decode", "--to", "array"], [END_FRAME, &END_FRAME[..cut]].concat());
        assert_eq!((done.code, done.text()), (1, format!("[\n{END}\n]\n").as_str()));
        let start = format!("error: stdin: frame 2 at byte 13: truncated: input ended after {cut}");
        assert!(done.err.starts_with(&start), "{}", done.err);
    }
}

#[test]
fn a_frame_over_the_limit_is_refused_by_its_header() {
    let done = run(&["decode", "--max-frame", "13"], [END_FRAME, b"\0\0\0\x0a"].concat());
    assert_eq!((done.code, done.text()), (1, format!("{END}\n").as_str()));
    assert_eq!(
        done.err,
        "error: stdin: frame 2 at byte 13: a frame of 14 bytes is over the limit of 13\n"
    );
    let done = run(&["decode"], END);
    assert!(done.err.ends_with("; the input looks like text, not like frames\n"), "{}", done.err);
}

#[test]
fn keep_going_writes_a_line_for_every_frame() {
    let input = [END_FRAME, BAD_FRAME, FUTURE_FRAME, b"\0\0\0\0", END_FRAME].concat();
    let done = run(&["decode", "--keep-going"], input.as_slice());
    assert_eq!(done.code, 1);
    assert_eq!(done.err, "error: stdin: 2 of 5 frames are no events\n");
    let lines: Vec<_> = done.text().lines().collect();
    assert_eq!(lines.len(), 5);
    assert_eq!([lines[0], lines[4]], [END, END]);
    assert!(lines[1].starts_with("{\"error\":\""), "{}", lines[1]);
    assert_eq!(lines[2], format!("{{\"dropped\":\"{FUTURE}\"}}"));
    assert_eq!(lines[3], "{\"error\":\"an empty frame names no event\"}");

    let done = run(&["decode", "--keep-going"], &input[..input.len() - 1]);
    assert_eq!((done.code, done.text().lines().count()), (1, 4));
    assert!(done.err.starts_with("error: stdin: frame 5 at byte 32: truncated"), "{}", done.err);

    let done = run(&["decode", "--keep-going"], FUTURE_FRAME);
    assert_eq!((done.code, done.err.as_str()), (0, ""), "a drop is no error");
}

#[test]
fn output_goes_to_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("out.jsonl");
    let done = run(&["decode", "--summary", "-o", path.to_str().unwrap()], END_FRAME);
    assert_eq!((done.code, done.out.len()), (0, 0));
    assert_eq!(done.err, "1 event: 13 bytes in frames -> 44 bytes of JSON (338 %)\n");
    assert_eq!(std::fs::read_to_string(path).unwrap(), format!("{END}\n"));
}
