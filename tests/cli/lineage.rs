//! `lineage`: the runs of a log as a forest.

use serde_json::{Value, json};

use crate::run::{good, in_every_form, run, sample, session};

const LOG: &[&str] = &[
    "start r1",
    "raw",
    "finish r1", //
    "start r2",
    "fail", //
    "start r3 < r1",
    "raw",
    "raw",
    "finish r3", //
    "start r4",
    "finish r4", //
    "start r5 < gone",
    "raw",
];

#[test]
fn a_branch_stands_further_in_and_the_longest_keeps_its_column() {
    for (words, input) in in_every_form(&session(LOG)) {
        assert_eq!(
            String::from_utf8(good(&[&["lineage"], words].concat(), input)).unwrap(),
            "* \"r1\" of thread \"t\": 3 events, success\n\
             \x20 + \"r2\" of thread \"t\": 2 events, failed\n\
             | \"r3\" of thread \"t\": 4 events, success\n\
             | \"r4\" of thread \"t\": 2 events, success\n\
             * \"r5\" of thread \"t\": 2 events, truncated, parent \"gone\" is not in the log\n",
            "{words:?}"
        );
    }
}

#[test]
fn json_has_each_run_and_which_it_follows() {
    let out = good(&["lineage", "--json"], session(LOG));
    let object: Value = serde_json::from_slice(&out).unwrap();
    let follows: Vec<_> =
        object["runs"].as_array().unwrap().iter().map(|run| run["follows"].clone()).collect();
    assert_eq!(json!(follows), json!([null, 0, 0, 2, null]));
    assert_eq!(object["tips"], json!([1, 3, 4]));
    assert_eq!(object["before"], 0);
    assert_eq!(
        object["runs"][2],
        json!({
            "threadId": "t", "runId": "r3", "parentRunId": "r1",
            "parent": 0, "follows": 0, "events": 4, "outcome": "success",
        })
    );
}

#[test]
fn a_parent_may_be_the_run_that_launched_this_one() {
    let out = good(&["lineage", "--json", "--parent", "spawn"], session(LOG));
    let object: Value = serde_json::from_slice(&out).unwrap();
    let follows: Vec<_> =
        object["runs"].as_array().unwrap().iter().map(|run| run["follows"].clone()).collect();
    assert_eq!(json!(follows), json!([null, 0, 1, 2, 3]));
}

#[test]
fn what_is_odd_about_ids_and_parents_is_said_as_it_is() {
    let log = session(&[
        "start a < b",
        "finish a", //
        "start b < a",
        "finish b", //
        "start a < b",
        "finish a", //
        "start c < a",
        "finish c", //
        "start d < d",
        "fail",
    ]);
    assert_eq!(
        String::from_utf8(good(&["lineage"], log.as_str())).unwrap(),
        "* \"a\" of thread \"t\": 2 events, success, parent \"b\" comes later in the log\n\
         | \"b\" of thread \"t\": 2 events, success\n\
         | \"a\" of thread \"t\": 2 events, success, under an id that an earlier run of the thread has\n\
         | \"c\" of thread \"t\": 2 events, success\n\
         * \"d\" of thread \"t\": 2 events, failed, its own parent\n"
    );
    let spawned =
        good(&["lineage", "--parent", "spawn"], session(&["start a", "fail", "start b < a"]));
    assert_eq!(
        String::from_utf8(spawned).unwrap(),
        "* \"a\" of thread \"t\": 2 events, failed\n\
         | \"b\" of thread \"t\": 1 event, truncated, launched by \"a\"\n"
    );
}

/// Where a run hangs says nothing of who launched it.
#[test]
fn who_launched_a_run_is_said_as_it_is() {
    let log = session(&[
        "start a < b",
        "finish a", //
        "start b < gone",
        "finish b", //
        "start c < c",
        "finish c", //
        "start d of u < a",
        "finish d of u", //
        "start a of u < a",
        "finish a of u", //
        "start e of v < a",
        "finish e of v",
    ]);
    assert_eq!(
        String::from_utf8(good(&["lineage", "--parent", "spawn"], log.as_str())).unwrap(),
        "* \"a\" of thread \"t\": 2 events, success, launched by \"b\", which comes later in the log\n\
         | \"b\" of thread \"t\": 2 events, success, launched by \"gone\", which is not in the log\n\
         | \"c\" of thread \"t\": 2 events, success, launched by itself\n\
         * \"d\" of thread \"u\": 2 events, success, launched by \"a\" of thread \"t\"\n\
         | \"a\" of thread \"u\": 2 events, success, launched by \"a\" of thread \"t\"\n\
         * \"e\" of thread \"v\": 2 events, success, launched by \"a\", one of several other threads\n"
    );
    let object: Value =
        serde_json::from_slice(&good(&["lineage", "--json", "--parent", "spawn"], log)).unwrap();
    let parents: Vec<_> =
        object["runs"].as_array().unwrap().iter().map(|run| run["parent"].clone()).collect();
    assert_eq!(json!(parents), json!([null, null, null, 0, 0, null]));
}

/// Agents that count their runs give each thread a run "1".
#[test]
fn a_parent_is_one_of_the_same_thread_or_of_the_only_other() {
    let log = session(&[
        "start 1",
        "finish 1", //
        "start 1 of u",
        "finish 1 of u", //
        "start 2 < 1",
        "finish 2", //
        "start 3 of v < 1",
        "finish 3 of v", //
        "start 4 of w < 2",
        "finish 4 of w",
    ]);
    assert_eq!(
        String::from_utf8(good(&["lineage"], log)).unwrap(),
        "* \"1\" of thread \"t\": 2 events, success\n\
         | \"2\" of thread \"t\": 2 events, success\n\
         | \"4\" of thread \"w\": 2 events, success\n\
         * \"1\" of thread \"u\": 2 events, success\n\
         * \"3\" of thread \"v\": 2 events, success, parent \"1\" is one of several other threads\n"
    );
}

#[test]
fn a_run_that_fails_after_it_has_finished_has_failed() {
    let out = good(&["lineage"], session(&["start r", "finish r", "fail"]));
    assert_eq!(String::from_utf8(out).unwrap(), "* \"r\" of thread \"t\": 3 events, failed\n");
}

#[test]
fn a_log_of_many_runs_stays_narrow() {
    // Each run has two that follow: one alone, and the rest.
    let mut log = session(&["start r0", "finish r0"]);
    for at in 1..2000 {
        log += &session(&[&format!("start s{at} < r{}", at - 1), "fail"]);
        log += &session(&[&format!("start r{at} < r{}", at - 1), "fail"]);
    }
    let out = String::from_utf8(good(&["lineage"], log)).unwrap();
    assert_eq!(out.lines().count(), 3999);
    assert!(out.lines().all(|line| line.len() < 60));
}

#[test]
fn the_samples_have_their_runs() {
    let out = String::from_utf8(good(&["lineage", &sample("research.jsonl")], "")).unwrap();
    let marks: Vec<_> = out.lines().map(|line| line.chars().next().unwrap()).collect();
    assert_eq!(marks, ['*', '|', '|']);
    assert!(out.contains(": 488 events, interrupted\n"), "{out}");
}

#[test]
fn what_came_before_what_is_no_event_is_shown() {
    let done = run(&["lineage"], session(&["raw", "start r", "finish r"]) + "nonsense\n");
    assert_eq!(done.text(), "* \"r\" of thread \"t\": 2 events, success\n");
    let (warning, error) = done.err.split_once('\n').unwrap();
    assert_eq!(warning, "warning: stdin: 1 event before the first run");
    assert!(error.starts_with("error: stdin:4: malformed JSON"), "{error}");
    assert_eq!(done.code, 1);
    assert_eq!(good(&["lineage", "--json"], ""), b"{\"before\":0,\"runs\":[],\"tips\":[]}\n");
}
