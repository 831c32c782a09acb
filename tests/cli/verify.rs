//! `verify`: runs, and the first thing that is wrong.

use crate::run::{good, in_every_form, in_sse, run, sample, session};

#[test]
fn each_run_is_a_line_and_all_are_one() {
    let text =
        session(&["start r1", "open m", "say m Hi", "close m", "finish r1", "start r2", "fail"]);
    assert_eq!(
        String::from_utf8(good(&["verify"], text)).unwrap(),
        "stdin:1: run \"r1\": success, 5 events\n\
         stdin:6: run \"r2\": failed, 2 events\n\
         stdin: 7 events, 2 runs: 1 failed, 1 success\n"
    );
}

#[test]
fn a_run_that_fails_after_it_has_finished_is_one_run() {
    let text = session(&["start r", "finish r", "fail", "start s", "finish s"]);
    assert_eq!(
        String::from_utf8(good(&["verify"], text)).unwrap(),
        "stdin:1: run \"r\": success, 2 events\n\
         stdin:3: run \"r\": failed after success, 1 event\n\
         stdin:4: run \"s\": success, 2 events\n\
         stdin: 5 events, 2 runs: 1 failed, 1 success\n"
    );
}

#[test]
fn what_is_asked_of_producers_is_asked_of_each_thread() {
    let said = |id: &str| [format!("open {id}"), format!("say {id} Hi"), format!("close {id}")];
    let text = |words: &[&[String]]| {
        let words = words.concat();
        session(&words.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let bounds = |run: &str| [format!("start {run}"), format!("finish {run}")];
    let ([start_a, end_a], [start_b, end_b]) = (bounds("1 of a"), bounds("1 of b"));
    let one = [&[start_a][..], &said("m"), &[end_a]].concat();
    let other = [&[start_b][..], &said("m"), &[end_b]].concat();
    good(&["verify", "--producer"], text(&[&one, &other]));
    let again = [&["start 2 of a".to_owned()][..], &said("m"), &["finish 2 of a".to_owned()]];
    let done = run(&["verify", "--producer"], text(&[&one, &other, &again.concat()]));
    let fault = "stdin:14: TEXT_MESSAGE_END: text message \"m\" is streamed again";
    assert!(done.text().lines().any(|line| line.starts_with(fault)), "{}", done.text());
    assert!(done.text().ends_with("3 success; 1 fault\n"), "{}", done.text());
    // Places within a thread are those of the stream.
    let event = |text: &str| text.to_owned() + "\n";
    let late = text(&[&one])
        + &text(&[&["start 1 of b".to_owned()]])
        + &event(r#"{"type":"STEP_STARTED","stepName":"s","subagentRunId":"x"}"#)
        + &event(r#"{"type":"SUBAGENT_STARTED","subagentRunId":"x","name":"n"}"#);
    let done = run(&["verify", "--producer"], late);
    let fault = "stdin:8: SUBAGENT_STARTED: subagent \"x\" is announced after event 6, which";
    assert!(done.text().lines().any(|line| line.starts_with(fault)), "{}", done.text());
}

#[test]
fn a_run_that_starts_in_that_of_another_thread_breaks_the_stream_for_producers_too() {
    let text = session(&["start 1 of a", "start 1 of b", "finish 1 of b", "finish 1 of a"]);
    for words in [&["verify"][..], &["verify", "--producer"]] {
        let done = run(words, text.as_str());
        let line = "stdin:2: RUN_STARTED: a run is active (L2)";
        assert_eq!(done.text().lines().nth(1), Some(line), "{words:?}");
        assert_eq!(done.code, 1);
    }
}

#[test]
fn what_is_asked_of_producers_alone_is_held_to_where_it_is_asked_for() {
    let pending = r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"success","pendingToolCallIds":["c"]}}"#;
    let patch = r#"{"type":"STATE_DELTA","delta":[{"op":"remove","path":"/no"}],"mood":1}"#;
    let text = session(&["start r"]) + patch + "\n" + pending + "\n";
    let done = run(&["verify"], text.as_str());
    assert_eq!(
        done.text(),
        "stdin:1: run \"r\": success, 3 events\nstdin: 3 events, 1 run: 1 success\n"
    );
    assert_eq!(done.code, 0);

    for (words, input) in in_every_form(&text.replace(",\"mood\":1", "")) {
        let done = run(&[&["verify", "--producer"], words].concat(), input);
        let lines: Vec<_> = done.text().lines().collect();
        assert!(
            lines[0]
                .ends_with("STATE_DELTA: state not patched: operation 0 at \"/no\": no such place"),
            "{lines:?}"
        );
        assert!(lines[1].ends_with("RUN_FINISHED: pendingToolCallIds: should not have \"c\" (T2)"));
        assert!(lines[2].ends_with(": run \"r\": success, 3 events"));
        assert_eq!(lines[3], "stdin: 3 events, 1 run: 1 success; 2 faults");
        assert_eq!((done.code, done.err.as_str()), (1, ""), "{words:?}");
    }
    let done = run(&["verify", "--producer"], text);
    assert!(done.text().starts_with("stdin:2: STATE_DELTA: /mood: stripped"), "{}", done.text());
    assert!(done.text().ends_with("; 3 faults\n"), "{}", done.text());
    assert_eq!(done.err, "");

    let clean = session(&["start r", "open m", "say m Hi", "close m", "finish r"]);
    good(&["verify", "--producer"], clean);
    let done = run(&["verify", "--producer"], session(&["start r", "say m Hi"]));
    assert!(
        done.text().contains("stdin:2: TEXT_MESSAGE_CONTENT: text message \"m\" is not open (S2)")
    );
    let done = run(&["verify", "--producer"], session(&["start r"]));
    assert_eq!(done.err, "error: stdin: truncated: the stream ended before its run did\n");
}

#[test]
fn a_broken_rule_is_told_with_its_place_ids_and_number_behind_what_came_before() {
    let text = session(&["start r1", "finish r1", "start r2", "raw", "say m Hi", "finish r2"]);
    let done = run(&["verify"], text.as_str());
    assert_eq!(
        done.text(),
        "stdin:1: run \"r1\": success, 2 events\n\
         stdin:3: run \"r2\": rejected, 2 events\n\
         stdin:5: TEXT_MESSAGE_CONTENT: text message \"m\" is not open (S2)\n\
         stdin: 5 events, 2 runs: 1 rejected, 1 success\n"
    );
    assert_eq!((done.code, done.err.as_str()), (1, ""));

    let frames = good(&["encode"], text);
    let done = run(&["verify", "--from", "frames"], frames);
    let place = "stdin: frame 5 at byte ";
    assert!(done.text().lines().nth(2).unwrap().starts_with(place), "{}", done.text());
    assert_eq!(done.code, 1);
}

#[test]
fn rules_of_runs_and_of_what_is_open_are_held() {
    for (short, rule) in [
        (&["raw"][..], "(L1)"),
        (&["start r", "start s"], "(L2)"),
        (&["start r", "finish r", "raw"], "(L3)"),
        (&["fail", "raw"], "(L4)"),
        (&["start r", "open m", "finish r"], "still open: text message \"m\" (L7)"),
        (&["start r", "open m", "open m"], "text message \"m\" is open (S1)"),
    ] {
        let done = run(&["verify"], session(short));
        assert_eq!(done.code, 1, "{short:?}");
        let line = done.text().lines().rev().nth(1).unwrap();
        assert!(line.ends_with(rule), "{short:?}: {line}");
        assert!(line.starts_with(&format!("stdin:{}: ", short.len())), "{short:?}: {line}");
    }
}

#[test]
fn chunks_are_held_to_the_rules_as_what_they_stand_for() {
    let text = session(&["start r", "chunk m Hel", "chunk m lo", "finish r"]);
    assert_eq!(
        String::from_utf8(good(&["verify"], text)).unwrap(),
        "stdin:1: run \"r\": success, 4 events\nstdin: 4 events, 1 run: 1 success\n"
    );
    let chunk = r#"{"type":"TEXT_MESSAGE_CHUNK","delta":"x"}"#;
    let done = run(&["verify"], session(&["start r"]) + chunk);
    assert!(done.text().contains("stdin:2: TEXT_MESSAGE_"), "{}", done.text());
    assert!(done.text().contains("(C3)"), "{}", done.text());
}

#[test]
fn a_stream_that_was_cut_is_truncated_and_no_success() {
    let done = run(&["verify"], session(&["start r", "open m", "say m Hi"]));
    assert_eq!(
        done.text(),
        "stdin:1: run \"r\": truncated, 3 events\nstdin: 3 events, 1 run: 1 truncated\n"
    );
    assert_eq!(done.err, "error: stdin: truncated: the stream ended before its run did\n");
    assert_eq!(done.code, 1);
    let done = run(&["verify"], "");
    assert_eq!(done.err, "error: stdin: truncated: the stream ended before any run\n");
    assert_eq!((done.code, done.text()), (1, "stdin: 0 events, 0 runs\n"));
}

#[test]
fn input_that_ends_inside_an_event_is_cut_not_malformed() {
    let text = session(&["start r", "open m", "say m Hé"]);
    let sse = in_sse(&text);
    let frames = good(&["encode"], text.as_str());
    for (words, whole) in [
        (&["verify"][..], text.trim_end().as_bytes()),
        (&["verify"], sse.trim_end().as_bytes()),
        (&["verify", "--from", "frames"], &frames),
    ] {
        for less in 1..12 {
            let done = run(words, &whole[..whole.len() - less]);
            assert_eq!(
                done.text(),
                "stdin:1: run \"r\": truncated, 2 events\nstdin: 2 events, 1 run: 1 truncated\n"
                    .replace(":1:", if words.len() > 1 { ": frame 1 at byte 0:" } else { ":1:" })
            );
            assert!(done.err.contains("truncated: input ended"), "{}", done.err);
            assert_eq!(done.code, 1);
        }
    }
    // In the middle of the input the same is malformed.
    let done = run(
        &["verify"],
        format!("{}{{\"type\":\"RA\n{}", session(&["start r"]), session(&["raw"])),
    );
    assert!(done.text().contains("stdin:2: malformed JSON"), "{}", done.text());
    assert_eq!(done.code, 1);
}

#[test]
fn what_is_no_event_is_told_and_what_is_unknown_is_passed_over() {
    let start = session(&["start r"]);
    let done = run(&["verify"], format!("{start}{{\"type\":\"RAW\"}}\n"));
    assert!(done.text().contains("\nstdin:2: "), "{}", done.text());
    assert!(done.text().contains("event"), "{}", done.text());
    assert_eq!((done.code, done.err.as_str()), (1, ""));

    let end = session(&["finish r"]);
    let done = run(&["verify"], format!("{start}{{\"type\":\"NEW\"}}\n{end}"));
    assert!(done.text().starts_with("stdin:1: run \"r\": success, 3 events\n"), "{}", done.text());
    assert!(done.err.starts_with("warning: stdin:2: "), "{}", done.err);
    assert_eq!(done.code, 0);
}

#[test]
fn a_run_in_damaged_input_is_rejected() {
    let done = run(&["verify"], format!("[{}", session(&["start r"])));
    assert_eq!(
        done.text(),
        "stdin:1: run \"r\": rejected, 1 event\nstdin: 1 event, 1 run: 1 rejected\n"
    );
    assert_eq!(done.err, "error: stdin:2: truncated: input ended inside the array\n");
    assert_eq!(done.code, 1);
}

#[test]
fn every_form_of_input_gives_the_same_verdict() {
    let text = session(&["start r", "open m", "say m Hi", "close m", "finish r"]);
    for (words, input) in in_every_form(&text) {
        let out = String::from_utf8(good(&[&["verify"], words].concat(), input)).unwrap();
        assert!(out.ends_with("\nstdin: 5 events, 1 run: 1 success\n"), "{words:?}: {out}");
    }
}

#[test]
fn the_samples_keep_the_rules() {
    for name in ["chat.jsonl", "research.jsonl", "multimodal.sse"] {
        good(&["verify", "--producer", &sample(name)], "");
    }
    for (name, all) in [
        ("chat.jsonl", "164 events, 1 run: 1 success"),
        ("research.jsonl", "768 events, 3 runs: 1 failed, 1 interrupted, 1 success"),
        ("multimodal.sse", "76 events, 1 run: 1 cancelled"),
    ] {
        let out = String::from_utf8(good(&["verify", &sample(name)], "")).unwrap();
        assert!(out.trim_end().ends_with(all), "{out}");
    }
}

#[test]
fn an_id_cannot_steer_the_terminal() {
    let text = session(&["start r"]).replace("\"r\"", "\"\\u001b[31m\"");
    let done = run(&["verify"], text);
    assert!(!done.text().contains('\u{1b}'), "{}", done.text());
}
