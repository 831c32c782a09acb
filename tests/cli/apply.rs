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
                "threadId": "t",
                "outcome": "completed",
                "eventTypes": [
                    "RUN_STARTED", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT",
                    "TEXT_MESSAGE_END", "STATE_SNAPSHOT", "RUN_FINISHED",
                ],
                "messages": [{ "role": "assistant", "id": "m", "content": "Hel" }],
                "state": { "n": 1.5 },
                "runs": [{ "threadId": "t", "runId": "r", "outcome": "success" }],
                "interrupts": [],
                "pendingToolCallIds": [],
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

/// A run that leaves a call open, and waits for an answer.
const WAITING: &str = concat!(
    r#"{"type":"RUN_STARTED","threadId":"t","runId":"r2","parentRunId":"r1"}"#,
    "\n",
    r#"{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"pay"}"#,
    "\n",
    r#"{"type":"TOOL_CALL_END","toolCallId":"c"}"#,
    "\n",
    r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r2","usage":[{"model":"m","inputTokens":3}],"#,
    r#""outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"approve"}]}}"#,
    "\n",
);

#[test]
fn what_waits_is_told_in_both_forms() {
    let text = session(&["start r1", "finish r1"]) + WAITING;
    let object: Value = serde_json::from_slice(&good(&["apply", "--json"], text.as_str())).unwrap();
    let interrupt = json!({ "id": "i", "reason": "approve" });
    assert_eq!(object["interrupts"], json!([interrupt]));
    assert_eq!(object["pendingToolCallIds"], json!(["c"]));
    assert_eq!(
        object["runs"],
        json!([
            { "threadId": "t", "runId": "r1", "outcome": "success" },
            { "threadId": "t", "runId": "r2", "parentRunId": "r1", "outcome": "interrupted",
              "interrupts": [interrupt], "pendingToolCallIds": ["c"],
              "usage": [{ "model": "m", "inputTokens": 3 }] },
        ])
    );
    assert_eq!(
        String::from_utf8(good(&["apply"], text)).unwrap(),
        "completed: the run waits\nassistant c: null\n  pay c: \nstate: {}\ninterrupt i: approve\n\
         pending call c\n"
    );
}

#[test]
fn each_run_says_how_it_ended() {
    let finish = |run: &str, more: &str| {
        format!(r#"{{"type":"RUN_FINISHED","threadId":"t","runId":"{run}"{more}}}"#) + "\n"
    };
    let text = session(&["start a"])
        + &finish("a", r#","result":{"n":1e3}"#)
        + &session(&["start b"])
        + &finish("b", r#","outcome":{"type":"cancelled"}"#)
        + &session(&["start c"])
        + "{\"type\":\"RUN_ERROR\",\"message\":\"no luck\",\"code\":\"E\"}\n";
    let run_of =
        |id: &str, outcome: &str| json!({"threadId": "t", "runId": id, "outcome": outcome});
    let mut runs = json!([run_of("a", "success"), run_of("b", "cancelled"), run_of("c", "failed")]);
    runs[0]["result"] = json!({"n": 1e3});
    runs[2]["error"] = json!("no luck");
    runs[2]["code"] = json!("E");
    let check = |text: &str, runs: &Value| {
        let done = run(&["apply", "--json"], text);
        assert_eq!(object(&done)["runs"], *runs);
    };
    check(&text, &runs);
    // A failure is that of its run: later ones have their own end.
    let text = text + &session(&["start d"]);
    runs.as_array_mut().unwrap().push(run_of("d", "truncated"));
    check(&text, &runs);
    runs[3] = run_of("d", "rejected");
    check(&(text.clone() + &session(&["start e"])), &runs);
    let finished = good(&["apply"], text + &session(&["finish d"]));
    assert!(finished.starts_with(b"completed\n"));
    let cancelled = session(&["start b"]) + &finish("b", r#","outcome":{"type":"cancelled"}"#);
    assert!(good(&["apply"], cancelled).starts_with(b"completed: the run was cancelled\n"));
}

/// Two threads that use the same ids, the second one within the first.
const THREADS: &[&str] = &[
    "start 1",
    "chunk m Hel",
    "finish 1", //
    "start 1 of u",
    "chunk m other",
    "finish 1 of u", //
    "start 2",
    "chunk m lo",
    "finish 2",
];

#[test]
fn each_thread_of_a_log_comes_to_its_own() {
    for (words, input) in in_every_form(&session(THREADS)) {
        let text = good(&[&["apply"], words].concat(), input.clone());
        assert_eq!(
            String::from_utf8(text).unwrap(),
            "thread \"t\": completed\nassistant m: \"Hello\"\nstate: {}\n\n\
             thread \"u\": completed\nassistant m: \"other\"\nstate: {}\n"
        );
        let text = good(&[&["apply", "--json"], words].concat(), input.clone());
        let list: Vec<Value> = String::from_utf8(text)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let ids: Vec<_> = list.iter().map(|object| object["threadId"].clone()).collect();
        let runs: Vec<_> =
            list.iter().map(|object| object["runs"].as_array().unwrap().len()).collect();
        assert_eq!((json!(ids), runs), (json!(["t", "u"]), vec![2, 1]));
        for object in list {
            let id = object["threadId"].as_str().unwrap();
            let one = good(&[&["apply", "--json", "--thread", id], words].concat(), input.clone());
            assert_eq!(serde_json::from_slice::<Value>(&one).unwrap(), object);
        }
        let one = good(&[&["apply", "--thread", "u"], words].concat(), input);
        assert_eq!(one, b"completed\nassistant m: \"other\"\nstate: {}\n");
    }
}

#[test]
fn a_thread_that_is_refused_or_cut_leaves_the_others() {
    let log = session(&["start 1", "say m x", "start 1 of u", "finish 1 of u", "start 1 of v"]);
    let done = run(&["apply"], log.as_str());
    assert_eq!(
        done.text(),
        "thread \"t\": failed\nstate: {}\n\nthread \"u\": completed\nstate: {}\n\n\
         thread \"v\": truncated\nstate: {}\n"
    );
    let refused = "error: stdin:2: TEXT_MESSAGE_CONTENT: text message \"m\" is not open (S2)\n";
    let cut = "error: stdin: truncated: the stream ended before a run of thread \"v\" did\n";
    assert_eq!((done.code, done.err), (1, format!("{refused}{cut}")));
    assert_eq!(good(&["apply", "--thread", "u"], log.as_str()), b"completed\nstate: {}\n");
    let done = run(&["apply", "--thread", "t"], log.as_str());
    assert_eq!((done.code, done.err.as_str()), (1, refused));

    // What is no event may be of any thread, and nothing is read behind it.
    let bad = log + "nonsense\n";
    let done = run(&["apply"], bad.as_str());
    assert_eq!(done.text().matches("\": failed\n").count(), 3);
    assert_eq!(done.err.lines().count(), 2, "{}", done.err);
    let done = run(&["apply", "--thread", "u"], bad);
    assert!(done.text().starts_with("failed\n"), "{}", done.text());
    assert!(done.err.starts_with("error: stdin:6: malformed JSON"), "{}", done.err);
}

#[test]
fn a_thread_that_is_not_there_is_told_with_those_that_are() {
    let done = run(&["apply", "--thread", "x"], session(THREADS));
    assert_eq!((done.code, done.text()), (1, ""));
    assert_eq!(done.err, "error: stdin: no thread \"x\", but \"t\", \"u\"\n");
    let done = run(&["apply", "--thread", "x"], "");
    assert_eq!(done.err, "error: stdin: no thread \"x\", and no other\n");
    let done = run(&["apply", "--thread", "x"], session(&["start r"]) + "nonsense\n");
    assert!(done.err.starts_with("error: stdin: no thread \"x\" before stdin:2: malformed JSON"));
}

#[test]
fn what_comes_before_any_run_is_of_the_first_thread() {
    let log = session(&["fail", "start 1", "finish 1"]);
    let object: Value =
        serde_json::from_slice(&good(&["apply", "--json", "--thread", "t"], log)).unwrap();
    assert_eq!(object["runs"].as_array().unwrap().len(), 2);
    let object: Value =
        serde_json::from_slice(&good(&["apply", "--json"], session(&["fail"]))).unwrap();
    assert_eq!(object["runs"], json!([{ "outcome": "failed", "error": "no luck" }]));
    assert_eq!(object.get("threadId"), None);
}

/// A thread may copy as much as one conversation may, but each of a log may not.
#[test]
fn what_all_threads_copy_has_a_bound() {
    let snapshot =
        |text: &str| json!({"type": "STATE_SNAPSHOT", "snapshot": {"a": text}}).to_string() + "\n";
    let copies: Vec<_> =
        (0..60).map(|n| json!({"op": "copy", "from": "/a", "path": format!("/{n}")})).collect();
    let copies = json!({"type": "STATE_DELTA", "delta": copies}).to_string() + "\n";
    let large = snapshot(&"x".repeat(1 << 20)) + &copies;
    let (mut log, mut end) = (String::new(), String::new());
    for thread in 0..5 {
        log += &(session(&[&format!("start 1 of {thread}")]) + &large);
        log += &session(&[&format!("finish 1 of {thread}")]);
        end += &(session(&[&format!("start 2 of {thread}")]) + &snapshot(""));
        end += &session(&[&format!("finish 2 of {thread}")]);
    }
    let done = run(&["apply"], log + &end);
    let good = |thread: usize| format!("thread \"{thread}\": completed\nstate: {{\"a\":\"\"}}\n");
    let want: Vec<String> = (0..4).map(good).collect();
    let want = want.join("\n") + "\nthread \"4\": failed\nstate: {}\n";
    assert_eq!((done.code, done.text()), (1, want.as_str()));
    assert_eq!(
        done.err,
        "error: stdin:19: copies beyond 268435456 bytes in all threads: see --thread\n"
    );
}
