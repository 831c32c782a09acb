//! Smaller streams that come to the same.

use ag_ui_proto::Event;
use ag_ui_proto::conversation::{Compactor, Extras, LeftOut, compact};
use serde_json::{Value, json};

use crate::{consume, events, in_a_run, messages};

fn compacted(list: Vec<Event>) -> Value {
    let before = consume(list.clone()).0.conversation;
    let smaller = compact(list).unwrap();
    assert_eq!(consume(smaller.clone()).0.conversation, before);
    assert_eq!(compact(smaller.clone()).unwrap(), smaller);
    serde_json::to_value(smaller).unwrap()
}

/// A run of `list` becomes a run of `smaller`.
fn check(list: Value, smaller: Value) {
    let all = compacted(in_a_run(list));
    let all = all.as_array().unwrap();
    assert_eq!(json!(all[1..all.len() - 1]), smaller);
}

/// Nothing of a run can go.
fn check_kept(list: Value) {
    check(list.clone(), list);
}

fn start(id: &str) -> Value {
    json!({"type": "TEXT_MESSAGE_START", "messageId": id})
}

fn content(id: &str, delta: &str) -> Value {
    json!({"type": "TEXT_MESSAGE_CONTENT", "messageId": id, "delta": delta})
}

fn end(id: &str) -> Value {
    json!({"type": "TEXT_MESSAGE_END", "messageId": id})
}

fn call(id: &str) -> Value {
    json!({"type": "TOOL_CALL_START", "toolCallId": id, "toolCallName": "f"})
}

fn args(id: &str, delta: &str) -> Value {
    json!({"type": "TOOL_CALL_ARGS", "toolCallId": id, "delta": delta})
}

fn end_call(id: &str) -> Value {
    json!({"type": "TOOL_CALL_END", "toolCallId": id})
}

#[test]
fn deltas_become_one_and_everything_else_keeps_its_place() {
    let custom = json!({"type": "CUSTOM", "name": "n", "value": 1});
    check(
        json!([
            start("a"),
            start("b"),
            call("c"),
            content("b", "1"),
            args("c", "{"),
            custom,
            content("a", "2"),
            content("b", "3"),
            args("c", "}"),
            call("d"),
            end_call("c"),
            end("b"),
            content("a", ""),
            end("a"),
            end_call("d"),
        ]),
        json!([
            start("a"),
            start("b"),
            call("c"),
            content("b", "13"),
            args("c", "{}"),
            custom,
            content("a", "2"),
            call("d"),
            end_call("c"),
            end("b"),
            end("a"),
            end_call("d"),
        ]),
    );
}

#[test]
fn what_merged_deltas_say_besides_is_merged_in_order() {
    check(
        json!([
            with(start("a"), json!({"metadata": {"k": 0}})),
            content("a", "1"),
            with(
                content("a", "2"),
                json!({"timestamp": 5, "rawEvent": 1, "metadata": {"k": 1, "l": [1]}})
            ),
            with(content("a", "3"), json!({"timestamp": 6, "metadata": {"l": [2]}})),
            with(end("a"), json!({"metadata": {"k": 2}})),
        ]),
        json!([
            with(start("a"), json!({"metadata": {"k": 0}})),
            with(content("a", "123"), json!({"timestamp": 5, "metadata": {"k": 1, "l": [2]}})),
            with(end("a"), json!({"metadata": {"k": 2}})),
        ]),
    );
}

fn with(mut event: Value, members: Value) -> Value {
    for (name, value) in members.as_object().unwrap() {
        event[name] = value.clone();
    }
    event
}

/// What a compactor makes of the inside of a run.
fn compacted_by(compactor: Compactor, list: Value) -> Value {
    told_by(compactor, list).0
}

/// The same, and what went: timestamps, `rawEvent`s, metadata, tags and failed patches.
fn told_by(mut compactor: Compactor, list: Value) -> (Value, [u64; 5]) {
    let mut out = Vec::new();
    for event in in_a_run(list) {
        compactor.push(event, &mut out).unwrap();
    }
    let left_out = compactor.finish(&mut out);
    let LeftOut { timestamps, raw_events, metadata, tags, failed_patches, .. } = left_out;
    let counts = [timestamps, raw_events, metadata, tags, failed_patches];
    assert_eq!(left_out.is_empty(), counts == [0; 5]);
    (serde_json::to_value(&out[1..out.len() - 1]).unwrap(), counts)
}

fn delta(path: &str) -> Value {
    json!({"type": "STATE_DELTA", "delta": [{"op": "add", "path": path, "value": 1}]})
}

fn snapshot(value: Value) -> Value {
    json!({"type": "STATE_SNAPSHOT", "snapshot": value})
}

#[test]
fn what_state_events_say_besides_is_merged_or_counted() {
    let list = json!([
        with(delta("/x"), json!({"timestamp": 1, "rawEvent": 1, "metadata": {"k": 0, "old": 0}})),
        with(snapshot(json!({})), json!({"metadata": {"k": 1}, "subagentRunId": "s"})),
        with(delta("/a"), json!({"timestamp": 5, "rawEvent": 1, "subagentRunId": "s"})),
        with(delta("/b"), json!({"timestamp": 6, "metadata": {"k": 1, "l": [1]}})),
        with(delta("/no/where"), json!({"metadata": {"l": [2]}, "subagentRunId": "other"})),
    ]);
    let state = json!({"a": 1, "b": 1});
    let metadata = json!({"k": 1, "old": 0, "l": [2]});
    let one = |more: Value| {
        let more = with(json!({"metadata": metadata, "subagentRunId": "s"}), more);
        json!([with(snapshot(state.clone()), more)])
    };
    assert_eq!(
        told_by(Compactor::new(), list.clone()),
        (one(json!({"timestamp": 5})), [2, 2, 2, 1, 1])
    );
    let none = Compactor::new().with_timestamps(Extras::Drop).with_raw_events(Extras::Drop);
    assert_eq!(told_by(none, list.clone()), (one(json!({})), [3, 2, 2, 1, 1]));
    let all = Compactor::new().with_timestamps(Extras::Keep).with_raw_events(Extras::Keep);
    assert_eq!(told_by(all, list.clone()), (list, [0; 5]));
}

#[test]
fn a_timestamp_of_a_snapshot_is_its_own() {
    let list = json!([
        with(snapshot(json!(0)), json!({"timestamp": 1})),
        with(snapshot(json!({})), json!({"timestamp": 2})),
        with(delta("/a"), json!({"timestamp": 3})),
    ]);
    let one = json!([with(snapshot(json!({"a": 1})), json!({"timestamp": 2}))]);
    assert_eq!(told_by(Compactor::new(), list), (one, [2, 0, 0, 0, 0]));
}

#[test]
fn what_goes_with_merged_deltas_is_counted() {
    let list = json!([
        start("a"),
        with(content("a", "1"), json!({"timestamp": 1, "rawEvent": 1, "metadata": {"k": 1}})),
        with(content("a", "2"), json!({"timestamp": 2, "rawEvent": 2, "metadata": {"k": 2}})),
        with(content("a", "3"), json!({"timestamp": 3})),
        end("a"),
    ]);
    let merged = json!({"timestamp": 1, "metadata": {"k": 2}});
    let want = json!([start("a"), with(content("a", "123"), merged), end("a")]);
    assert_eq!(told_by(Compactor::new(), list), (want, [2, 2, 0, 0, 0]));
}

/// Patches of a few bytes can make the state twice as large, again and again.
#[test]
fn a_log_does_not_grow_by_what_its_patches_copy() {
    let copy = |path: &str| json!({"op": "copy", "from": "", "path": path});
    let patch = |operations: Vec<Value>| json!({"type": "STATE_DELTA", "delta": operations});
    let few = patch(vec![copy("/a"), copy("/b")]);
    let state = json!({"x": 1, "a": {"x": 1}, "b": {"x": 1, "a": {"x": 1}}});
    check(json!([snapshot(json!({"x": 1})), few]), json!([snapshot(state)]));

    let many = patch((0..16).map(|n| copy(&format!("/{n}"))).collect());
    let list = json!([snapshot(json!({})), delta("/y"), many, delta("/z")]);
    check(list, json!([snapshot(json!({"y": 1})), many, delta("/z")]));
    check(json!([many, delta("/b"), snapshot(json!(1))]), json!([snapshot(json!(1))]));
}

#[test]
fn chunks_hand_their_timestamps_on() {
    let chunk = |members: Value| with(json!({"type": "TEXT_MESSAGE_CHUNK"}), members);
    let list = json!([
        chunk(json!({"messageId": "a", "delta": "1", "timestamp": 1})),
        chunk(json!({"delta": "2", "timestamp": 2})),
        chunk(json!({"timestamp": 3})),
        chunk(json!({"messageId": "b", "delta": "3", "timestamp": 4})),
    ]);
    let at = |event: Value, time: i64| with(event, json!({"timestamp": time}));
    let open =
        |id: &str, time: i64| with(start(id), json!({"role": "assistant", "timestamp": time}));
    let merged = json!([
        open("a", 1),
        at(content("a", "12"), 1),
        end("a"),
        open("b", 4),
        at(content("b", "3"), 4),
        end("b"),
    ]);
    assert_eq!(told_by(Compactor::new(), list.clone()), (merged, [2, 0, 0, 0, 0]));
    let kept = json!([
        open("a", 1),
        at(content("a", "1"), 1),
        at(content("a", "2"), 2),
        end("a"),
        open("b", 4),
        at(content("b", "3"), 4),
        end("b"),
    ]);
    let all = Compactor::new().with_timestamps(Extras::Keep);
    // A chunk that says nothing stands for nothing.
    assert_eq!(told_by(all, list.clone()), (kept, [1, 0, 0, 0, 0]));
    let (none, counts) = told_by(Compactor::new().with_timestamps(Extras::Drop), list);
    assert_eq!((counts, none.to_string().contains("timestamp")), ([4, 0, 0, 0, 0], false));
}

#[test]
fn timestamps_and_raw_events_stay_merge_or_go() {
    let list = json!([
        with(start("a"), json!({"timestamp": 1, "rawEvent": 1})),
        content("a", "1"),
        content("a", "2"),
        with(content("a", "3"), json!({"timestamp": 2})),
        with(content("a", "4"), json!({"rawEvent": 2})),
        content("a", "5"),
        end("a"),
    ]);
    let check = |timestamps, raw_events, middle: Value| {
        let compactor = Compactor::new().with_timestamps(timestamps).with_raw_events(raw_events);
        let out = compacted_by(compactor, list.clone());
        let out = out.as_array().unwrap();
        assert_eq!(json!(out[1..out.len() - 1]), middle);
        out[0].clone()
    };
    let all = check(
        Extras::Keep,
        Extras::Keep,
        json!([
            content("a", "12"),
            with(content("a", "3"), json!({"timestamp": 2})),
            with(content("a", "45"), json!({"rawEvent": 2})),
        ]),
    );
    assert_eq!(all, list[0]);
    let merged = json!([with(content("a", "12345"), json!({"timestamp": 2}))]);
    assert_eq!(check(Extras::Merge, Extras::Merge, merged), list[0]);
    let none = check(Extras::Drop, Extras::Drop, json!([content("a", "12345")]));
    assert_eq!(none, start("a"));
    let raw_events =
        json!([content("a", "123"), with(content("a", "45"), json!({"rawEvent": 2})),]);
    let kept = check(Extras::Drop, Extras::Keep, raw_events);
    assert_eq!(kept, with(start("a"), json!({"rawEvent": 1})));
}

#[test]
fn state_events_with_what_is_kept_stay() {
    let raw = json!({"rawEvent": 1});
    let list = json!([
        with(delta("/gone"), raw.clone()),
        delta("/gone"),
        with(snapshot(json!({})), raw.clone()),
        delta("/a"),
        with(delta("/b"), raw.clone()),
        delta("/c"),
    ]);
    let kept = compacted_by(Compactor::new().with_raw_events(Extras::Keep), list.clone());
    assert_eq!(
        kept,
        json!([list[0], with(snapshot(json!({"a": 1})), raw.clone()), list[4], list[5],])
    );
    let merged = compacted_by(Compactor::new(), list);
    assert_eq!(merged, json!([snapshot(json!({"a": 1, "b": 1, "c": 1}))]));
}

#[test]
fn runs_come_out_as_they_end() {
    let mut compactor = Compactor::new();
    let mut out = Vec::new();
    let mut lens = Vec::new();
    for event in in_a_run(json!([start("a"), content("a", "1"), content("a", "2"), end("a")])) {
        compactor.push(event, &mut out).unwrap();
        lens.push(out.len());
    }
    assert_eq!(lens, [1, 1, 1, 1, 1, 5]);
    let late = events(json!([{"type": "RUN_ERROR", "message": "no"}, start("a")]));
    let [late, wrong] = late.try_into().unwrap();
    compactor.push(late, &mut out).unwrap();
    assert_eq!(compactor.push(wrong, &mut out).unwrap_err().kind.rule(), "L4");
    compactor.finish(&mut out);
    assert_eq!(out.len(), 6);
}

#[test]
fn no_delta_crosses_what_changes_the_message_it_appends_to() {
    let snapshot = json!({"type": "MESSAGES_SNAPSHOT", "messages": [
        {"id": "a", "role": "assistant", "content": "restated "}]});
    check_kept(json!([start("a"), content("a", "1"), snapshot, content("a", "2"), end("a")]));
    check_kept(json!([
        start("a"),
        content("a", "1"),
        end("a"),
        start("a"),
        content("a", "2"),
        end("a")
    ]));

    // Text and reasoning of one id are one message.
    let thought = |event_type: &str, members: Value| {
        let mut event = members;
        event["type"] = json!(event_type);
        event["messageId"] = json!("a");
        event
    };
    let think =
        thought("REASONING_MESSAGE_START", json!({"role": "reasoning", "metadata": {"k": 2}}));
    let thinks = thought("REASONING_MESSAGE_CONTENT", json!({"delta": "b"}));
    let thought_end = thought("REASONING_MESSAGE_END", json!({}));
    let mut with_metadata = content("a", "1");
    with_metadata["metadata"] = json!({"k": 1});
    let mut last = content("a", "2");
    last["metadata"] = json!({"k": 3});
    check_kept(json!([
        start("a"),
        with_metadata,
        think,
        last,
        thinks,
        content("a", "4"),
        thought_end,
        end("a")
    ]));

    // A message that a snapshot removed comes back as the one of a tool call.
    let mut child = call("c");
    child["parentMessageId"] = json!("a");
    check_kept(
        json!([start("a"), {"type": "MESSAGES_SNAPSHOT", "messages": []}, content("a", "1"),
                      child, content("a", "2"), end_call("c"), end("a")]),
    );

    // A result that takes the place of the message text is streamed onto.
    let tool = json!({"type": "MESSAGES_SNAPSHOT", "messages": [
        {"id": "a", "role": "tool", "toolCallId": "c", "content": ""}]});
    let result =
        json!({"type": "TOOL_CALL_RESULT", "messageId": "a", "toolCallId": "c", "content": "new "});
    check_kept(json!([tool, start("a"), content("a", "1"), result, content("a", "2"), end("a")]));
}

#[test]
fn state_becomes_one_snapshot_where_a_snapshot_was() {
    check(
        json!([
            delta("/x"),
            snapshot(json!({})),
            delta("/y"),
            snapshot(json!({"a": 1})),
            start("m"),
            delta("/b"),
            delta("/no/where"),
            delta("/c"),
            end("m")
        ]),
        json!([snapshot(json!({"a": 1, "b": 1, "c": 1})), start("m"), end("m")]),
    );
    check_kept(json!([delta("/x"), delta("/y")]));
}

#[test]
fn the_state_is_the_same_after_each_run() {
    let run = |id: &str, event: Value| {
        json!([{"type": "RUN_STARTED", "threadId": "t", "runId": id}, event,
               {"type": "RUN_FINISHED", "threadId": "t", "runId": id}])
    };
    let mut log = Vec::new();
    for (id, event) in [
        ("1", json!({"type": "STATE_SNAPSHOT", "snapshot": {"a": 1}})),
        ("2", json!({"type": "STATE_DELTA", "delta": [{"op": "add", "path": "/b", "value": 2}]})),
        ("3", json!({"type": "STATE_DELTA", "delta": [{"op": "remove", "path": "/a"}]})),
    ] {
        log.extend(events(run(id, event)));
    }
    let smaller = compact(log.clone()).unwrap();
    for (len, state) in [(3, json!({"a": 1})), (6, json!({"a": 1, "b": 2})), (9, json!({"b": 2}))] {
        for stream in [&log, &smaller] {
            let (consumed, _) = consume(stream[..len].iter().cloned());
            assert_eq!(serde_json::to_value(consumed.conversation.state()).unwrap(), state);
        }
    }
}

#[test]
fn echoed_messages_that_are_held_go_but_for_those_that_say_whose_they_are() {
    let run = |id: &str, messages: Value, parent: Option<&str>| {
        let mut started = json!({"type": "RUN_STARTED", "threadId": "t", "runId": id, "input": {
            "threadId": "t", "runId": id, "messages": messages, "state": {"kept": true}}});
        if let Some(parent) = parent {
            started["parentRunId"] = json!(parent);
        }
        json!([started, {"type": "RUN_FINISHED", "threadId": "t", "runId": id}])
    };
    let user = json!({"role": "user", "id": "u", "content": "x"});
    let of_a_subagent = json!({"role": "assistant", "id": "s", "subagentRunId": "a"});
    let both = json!([user, of_a_subagent]);
    let mut log = events(run("1", both.clone(), None));
    log.extend(events(run("2", both.clone(), Some("1"))));
    log.extend(events(run("3", both.clone(), Some("1"))));
    log.extend(events(run("4", both.clone(), None)));
    let smaller = compacted(log);
    let echoes: Vec<Value> =
        (0..4).map(|run| smaller[run * 2]["input"]["messages"].clone()).collect();
    // The third run branches off, and from there on all is kept.
    assert_eq!(echoes, [both.clone(), json!([of_a_subagent]), both.clone(), both]);
    assert_eq!(smaller[2]["input"]["state"], json!({"kept": true}));
}

/// In one log, threads are branches whatever `parentRunId` says.
#[test]
fn echoes_of_another_thread_are_kept() {
    let run = |thread: &str, id: &str| {
        json!([{"type": "RUN_STARTED", "threadId": thread, "runId": id, "input": {
                "threadId": thread, "runId": id,
                "messages": [{"role": "user", "id": "u", "content": "x"}]}},
               {"type": "RUN_FINISHED", "threadId": thread, "runId": id}])
    };
    let mut log = events(run("t", "1"));
    log.extend(events(run("other", "2")));
    log.extend(events(run("t", "3")));
    assert_eq!(compacted(log.clone()), serde_json::to_value(log).unwrap());
}

#[test]
fn an_echo_that_owns_a_message_is_needed_by_the_rules() {
    let mut log = events(json!([
        {"type": "RUN_STARTED", "threadId": "t", "runId": "1"},
        {"type": "TEXT_MESSAGE_START", "messageId": "m", "subagentRunId": "a"}, end("m"),
        {"type": "RUN_FINISHED", "threadId": "t", "runId": "1"},
    ]));
    log.extend(events(json!([
        {"type": "RUN_STARTED", "threadId": "t", "runId": "2", "input": {
            "threadId": "t", "runId": "2",
            "messages": [{"role": "assistant", "id": "m", "content": "", "subagentRunId": "a"}]}},
        {"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "f", "parentMessageId": "m"},
        {"type": "TOOL_CALL_END", "toolCallId": "c", "subagentRunId": "a"},
        {"type": "RUN_FINISHED", "threadId": "t", "runId": "2"},
    ])));
    assert_eq!(compacted(log.clone()), serde_json::to_value(log).unwrap());
}

#[test]
fn what_a_failed_run_left_open_stays_in_front_of_its_failure() {
    let mut log = events(json!([{"type": "RUN_STARTED", "threadId": "t", "runId": "r"},
        call("c"), args("c", "{\"a"), args("c", "\":1"), {"type": "RUN_ERROR", "message": "no"}]));
    let smaller = compacted(log.clone());
    assert_eq!(smaller[2]["delta"], "{\"a\":1");
    assert_eq!(smaller.as_array().unwrap().len(), 4);
    assert_eq!(smaller[3]["type"], "RUN_ERROR");
    // Cut before it, the stream is as cut as it was.
    log.pop();
    assert_eq!(compacted(log).as_array().unwrap().len(), 3);
}

#[test]
fn chunks_are_expanded() {
    check(
        json!([
            {"type": "TEXT_MESSAGE_CHUNK", "messageId": "a", "delta": "1"},
            {"type": "TEXT_MESSAGE_CHUNK", "delta": "2"},
        ]),
        json!([
            {"type": "TEXT_MESSAGE_START", "messageId": "a", "role": "assistant"},
            content("a", "12"), end("a"),
        ]),
    );
}

#[test]
fn a_stream_that_breaks_a_rule_is_not_compacted() {
    let violation = compact(in_a_run(json!([start("a"), start("a")]))).unwrap_err();
    assert_eq!(
        violation.to_string(),
        r#"event 2: TEXT_MESSAGE_START: text message "a" is open (S1)"#
    );
}

#[test]
fn code_points_are_neither_joined_nor_trimmed() {
    let deltas = json!([start("a"), content("a", "👩"), content("a", "\u{200d}🚀 "), end("a")]);
    let smaller = compacted(in_a_run(deltas));
    assert_eq!(smaller[2]["delta"], "👩\u{200d}🚀 ");
    let conversation = consume(events(smaller)).0.conversation;
    assert_eq!(messages(&conversation)[0]["content"], "👩\u{200d}🚀 ");
}
