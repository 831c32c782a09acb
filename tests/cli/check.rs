//! `check`, and the flags that act on what it finds.

use crate::run::{END, good, run, sample};

const LOSSY: &str = r#"{"type":"CUSTOM","name":"n","value":{"id":9007199254740993,"rate":1.0}}"#;

#[test]
fn a_loss_is_a_line_and_a_pattern_and_a_status() {
    let done = run(&["check"], format!("{END}\n{LOSSY}\n{LOSSY}\n"));
    assert_eq!(
        done.text(),
        "stdin:2: CUSTOM: /value/id: integer-precision: 9007199254740993 becomes 9007199254740992\n\
         stdin:3: CUSTOM: /value/id: integer-precision: 9007199254740993 becomes 9007199254740992\n\
         \n\
         stdin: 3 events, 2 differences in 2 of them\n\
         \x20 integer-precision  /value/id: 2 times\n"
    );
    assert_eq!((done.code, done.err.as_str()), (1, ""));
}

#[test]
fn nothing_lost_is_said_too() {
    assert_eq!(good(&["check"], END), b"stdin: 1 event, nothing is lost\n");
    let done = run(&["check", &sample("chat.jsonl")], "");
    assert_eq!(done.code, 0);
    assert!(done.text().ends_with("164 events, nothing is lost\n"), "{}", done.text());
}

#[test]
fn json_has_what_a_machine_needs() {
    let done = run(&["check", "--json"], LOSSY);
    assert_eq!(
        done.text(),
        "{\"event\":0,\"line\":1,\"type\":\"CUSTOM\",\"path\":\"/value/id\",\
         \"loss\":\"integer-precision\",\"json\":\"9007199254740993\",\
         \"wire\":\"9007199254740992\"}\n"
    );
    assert_eq!(done.code, 1);
    let done = run(&["check", "--json", "--summary", "--all"], format!("{LOSSY}\n{LOSSY}"));
    assert_eq!(
        done.text(),
        "{\"loss\":\"integer-precision\",\"path\":\"/value/id\",\"times\":2}\n\
         {\"loss\":\"number-form\",\"path\":\"/value/rate\",\"times\":2}\n"
    );
}

#[test]
fn harmless_changes_are_left_out_unless_all_is_asked_for() {
    let harmless = r#"{"type":"RUN_ERROR","message":"m","usage":[],"timestamp":1e3}"#;
    assert_eq!(good(&["check"], harmless), b"stdin: 1 event, nothing is lost\n");
    let all = String::from_utf8(good(&["check", "--all"], harmless)).unwrap();
    assert_eq!(
        all,
        "stdin:1: RUN_ERROR: /timestamp: number-form: 1000.0 becomes 1000\n\
         stdin:1: RUN_ERROR: /usage: empty-list: []: arrives as absent\n\
         \n\
         stdin: 1 event, 2 differences in 1 of them\n\
         \x20 number-form  /timestamp: 1 time\n\
         \x20 empty-list   /usage: 1 time\n"
    );
}

#[test]
fn a_kind_can_be_left_out() {
    let words = ["check", "--ignore", "harmless", "--ignore", "integer-precision"];
    assert_eq!(good(&words, LOSSY), b"stdin: 1 event, nothing is lost\n");
    let done = run(&["check", "--ignore", "colour"], "");
    assert_eq!(done.code, 2);
    assert!(done.err.contains("no such kind"), "{}", done.err);
}

#[test]
fn what_cannot_be_sent_is_found_and_the_rest_is_checked_all_the_same() {
    let bad = concat!(
        "{\"type\":\"TEXT_MESSAGE_CONTENT\",\"messageId\":\"m\",\"delta\":\"hi \\ud83d\"}\n",
        "{\"type\":\"RAW\",\"event\":1e400}\n",
        "{\"type\":\"TOOL_CALL_ARGS\",\"toolCallId\":\"c\",\"delta\":[]}\n",
        "{\"type\":\"NEW\"}\n",
    );
    let done = run(&["check", "--json"], format!("{bad}{END}\n{LOSSY}\n"));
    let found: Vec<_> = done
        .text()
        .lines()
        .map(|line| {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            format!("{} {} {}", line["line"], line["loss"], line["path"])
        })
        .collect();
    assert_eq!(
        found,
        [
            r#"1 "lone-surrogate" "/delta""#,
            r#"2 "out-of-range" "/event""#,
            r#"3 "malformed" "/delta""#,
            r#"4 "unknown-event-type" "/type""#,
            r#"6 "integer-precision" "/value/id""#,
        ]
    );
    assert_eq!(done.code, 1);
}

#[test]
fn strict_refuses_what_check_finds() {
    let done = run(&["encode", "--strict"], format!("{END}\n{LOSSY}\n{END}\n"));
    assert_eq!(
        done.err,
        "error: stdin:2: CUSTOM: /value/id: integer-precision: 9007199254740993 becomes \
         9007199254740992\n"
    );
    assert_eq!((done.code, done.out.len()), (1, 13), "what came before is written");
    for lossy in [
        r#"{"type":"STEP_STARTED","stepName":"s","colour":1}"#,
        r#"{"type":"STEP_STARTED","stepName":"s","stepName":"t"}"#,
        r#"{"type":"NEW"}"#,
    ] {
        assert_eq!(run(&["encode", "--strict"], lossy).code, 1, "{lossy}");
    }
    good(&["encode", "--strict"], r#"{"type":"RUN_ERROR","message":"m","usage":[]}"#);
}

#[test]
fn exact_numbers_arrive_where_they_are_asked_for_at_both_ends() {
    let plain = good(&["encode"], LOSSY);
    let exact = good(&["encode", "--exact-numbers", "--strict"], LOSSY);
    assert!(exact.len() > plain.len());
    let rounded = r#"{"type":"CUSTOM","name":"n","value":{"id":9007199254740992,"rate":1}}"#;
    let whole = rounded.replace("740992", "740993");
    let decoded = |words: &[&str], frames: &[u8]| {
        String::from_utf8(good(&[&["decode"], words].concat(), frames)).unwrap()
    };
    assert_eq!(decoded(&[], &plain), format!("{rounded}\n"));
    assert_eq!(decoded(&[], &exact), format!("{rounded}\n"));
    assert_eq!(decoded(&["--exact-numbers"], &plain), format!("{rounded}\n"));
    assert_eq!(decoded(&["--exact-numbers"], &exact), format!("{whole}\n"));

    let digits = r#"{"type":"RAW","event":[0.10000000000000000001,123456789012345678901234.5]}"#;
    let frames = good(&["encode", "--exact-numbers"], digits);
    assert_eq!(decoded(&["--exact-numbers"], &frames), format!("{digits}\n"));
}

#[test]
fn white_space_that_json_does_not_have_is_one_bad_item_and_no_more() {
    let done = run(&["check"], format!("\u{c}{END}\n{END}\n"));
    assert_eq!(done.code, 1);
    assert!(done.text().starts_with("stdin:1: malformed: "), "{}", done.text());
    assert!(done.text().lines().count() < 8, "{}", done.text());
}

#[test]
fn damaged_input_is_not_called_whole() {
    let done = run(&["check"], format!("[{END}"));
    assert_eq!(done.code, 1);
    assert!(!done.text().contains("nothing is lost"), "{}", done.text());
    assert!(done.err.contains("input ended inside the array"), "{}", done.err);
}
