//! What is asked of producers alone: told where it is asked for, and no stream is refused for it.

use ag_ui_proto::Event;
use ag_ui_proto::conversation::{Consumer, Conversation, Delivered};
use serde_json::{Value, json};

use crate::{consume, events, in_a_run};

/// The faults of a stream that is taken, as a user reads them.
fn faults(list: Vec<Event>) -> Vec<String> {
    let mut consumer = Consumer::new(Conversation::new()).with_producer_rules();
    let mut delivered = Delivered::default();
    for event in list.clone() {
        consumer.push(event, &mut delivered).unwrap();
    }
    let judged = consumer.finish();
    // All is taken as if nobody had looked, and without a word.
    let (taken, quiet) = consume(list);
    assert_eq!(judged.conversation, taken.conversation);
    assert_eq!(delivered.events, quiet.events);
    let faults = delivered.warnings.iter().filter(|warning| !quiet.warnings.contains(warning));
    faults.map(ToString::to_string).collect()
}

fn check(list: Value, want: &[&str]) {
    assert_eq!(faults(events(list)), want);
}

fn check_in_a_run(list: Value, want: &[&str]) {
    assert_eq!(faults(in_a_run(list)), want);
}

fn started(id: &str) -> Value {
    json!({"type": "RUN_STARTED", "threadId": "t", "runId": id})
}

fn finished(id: &str) -> Value {
    json!({"type": "RUN_FINISHED", "threadId": "t", "runId": id})
}

fn call(id: &str, name: &str) -> Value {
    json!({"type": "TOOL_CALL_START", "toolCallId": id, "toolCallName": name})
}

fn end_call(id: &str) -> Value {
    json!({"type": "TOOL_CALL_END", "toolCallId": id})
}

fn result(id: &str, call: &str) -> Value {
    json!({"type": "TOOL_CALL_RESULT", "messageId": id, "toolCallId": call, "content": ""})
}

fn text(event_type: &str, id: &str) -> Value {
    json!({"type": event_type, "messageId": id, "delta": "Hello", "role": "assistant"})
}

#[test]
fn a_run_goes_by_the_ids_of_its_request_and_by_no_other_runs() {
    let of_another = json!({"type": "RUN_STARTED", "threadId": "t", "runId": "r", "input": {
        "threadId": "u", "runId": "q", "messages": [], "tools": [], "context": []}});
    check(
        json!([of_another, finished("r")]),
        &[
            r#"event 0: threadId is "t", but "u" in the input (L10)"#,
            r#"event 0: runId is "r", but "q" in the input (L10)"#,
        ],
    );
    check(
        json!([started("r"), finished("r"), started("s"), finished("s"), started("r")]),
        &[r#"event 4: run "r" of thread "t" was started before (ID)"#],
    );
    let of_u = json!({"type": "RUN_STARTED", "threadId": "u", "runId": "r"});
    check(json!([started("r"), finished("r"), of_u]), &[]);
}

#[test]
fn what_was_said_is_not_streamed_again() {
    let said = |start, content, end| json!([text(start, "m"), text(content, "m"), text(end, "m")]);
    let said = [
        said("TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END"),
        json!([{"type": "REASONING_MESSAGE_START", "messageId": "m", "role": "reasoning"},
               text("REASONING_MESSAGE_CONTENT", "m"), text("REASONING_MESSAGE_END", "m")]),
        json!([call("m", "f"), {"type": "TOOL_CALL_ARGS", "toolCallId": "m", "delta": "{}"}, end_call("m")]),
    ];
    let names = ["text message", "reasoning message", "tool call"];
    for (said, name) in said.into_iter().zip(names) {
        let mut twice = in_a_run(said.clone());
        twice.extend(events(json!([started("r2")])));
        twice.extend(events(said.clone()));
        let want =
            format!("event 8: {name} \"m\" is streamed again, and so holds its text twice (L17)");
        assert_eq!(faults(twice), [want]);
        // In one run it may be meant.
        let mut list = said.as_array().unwrap().clone();
        list.extend(said.as_array().unwrap().clone());
        check_in_a_run(json!(list), &[]);
    }
}

#[test]
fn what_is_opened_again_is_what_it_was() {
    let open = |members: Value| {
        let mut event = json!({"type": "TEXT_MESSAGE_START", "messageId": "m"});
        event.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        event
    };
    let end = text("TEXT_MESSAGE_END", "m");
    check_in_a_run(
        json!([
            open(json!({"role": "user", "name": "a"})),
            end,
            open(json!({})),
            end,
            open(json!({"role": "user", "name": "a"})),
            end,
            open(json!({"role": "assistant", "name": "b"})),
            end,
        ]),
        &[
            r#"event 7: text message "m" is opened again with role "assistant", it has "user" (S6)"#,
            r#"event 7: text message "m" is opened again with name "b", it has "a" (S6)"#,
        ],
    );
    let mut under_another = call("c", "f");
    under_another["parentMessageId"] = json!("m");
    check_in_a_run(
        json!([call("c", "f"), end_call("c"), under_another, end_call("c")]),
        &[r#"event 3: tool call "c" is opened again with parentMessageId "m", it has "c" (S6)"#],
    );
}

#[test]
fn a_message_is_not_opened_under_the_id_of_something_else() {
    let thought = json!({"type": "REASONING_MESSAGE_START", "messageId": "m", "role": "reasoning"});
    check_in_a_run(
        json!([
            text("TEXT_MESSAGE_START", "m"),
            text("TEXT_MESSAGE_END", "m"),
            thought,
            text("REASONING_MESSAGE_END", "m"),
            result("a", "c"),
            text("TEXT_MESSAGE_START", "a"),
            text("TEXT_MESSAGE_END", "a"),
        ]),
        &[
            r#"event 3: reasoning message "m" has the id of a message of role assistant (ID)"#,
            r#"event 6: text message "a" has the id of a message of role tool (ID)"#,
        ],
    );
}

#[test]
fn calls_to_the_consumers_tools_are_left_to_it() {
    let started = json!({"type": "RUN_STARTED", "threadId": "t", "runId": "r", "input": {
        "threadId": "t", "runId": "r", "messages": [], "context": [],
        "tools": [{"name": "ask", "description": ""}]}});
    let calls = [call("c", "ask"), end_call("c"), call("d", "search"), end_call("d")];
    let [a, b, c, d] = calls;
    check(json!([started, a, b, c, d, result("1", "d"), finished("r")]), &[]);
    check(
        json!([started, a, b, c, d, result("1", "c"), finished("r")]),
        &[r#"event 5: tool call "c" is answered, but the consumer has the tool "ask" (T1)"#],
    );
}

#[test]
fn pending_calls_are_listed_exactly_or_not_at_all() {
    let check = |listed: Value, want: &[&str]| {
        let mut finished = finished("r");
        finished["outcome"] = json!({"type": "success", "pendingToolCallIds": listed});
        let mut list = vec![started("r")];
        for id in ["a", "b", "c"] {
            list.extend([call(id, "f"), end_call(id)]);
        }
        list.extend([result("m", "b"), finished]);
        check(json!(list), want);
    };
    check(json!(["a", "c"]), &[]);
    check(json!(["c", "a"]), &[]);
    check(json!([]), &[]);
    check(json!(["c"]), &[r#"event 8: pendingToolCallIds: lacks "a" (T2)"#]);
    check(
        json!(["a", "b", "c", "c"]),
        &[r#"event 8: pendingToolCallIds: should not have "b", "c" (T2)"#],
    );
    check(
        json!(["x"]),
        &[r#"event 8: pendingToolCallIds: lacks "a", "c", should not have "x" (T2)"#],
    );
}

#[test]
fn interrupts_of_a_run_have_different_ids() {
    let mut finished = finished("r");
    finished["outcome"] = json!({"type": "interrupt", "interrupts": [
        {"id": "i", "reason": "?"}, {"id": "j", "reason": "?"}, {"id": "i", "reason": "!"}]});
    check(json!([started("r"), finished]), &[r#"event 1: interrupt "i" occurs twice (I1)"#]);
}

#[test]
fn who_announces_subagents_announces_each_before_it_does_anything() {
    let announced =
        |id: &str| json!({"type": "SUBAGENT_STARTED", "subagentRunId": id, "name": "n"});
    let ended = |id: &str| json!({"type": "SUBAGENT_FINISHED", "subagentRunId": id});
    let raw = |id: &str| json!({"type": "RAW", "event": 1, "subagentRunId": id});
    check_in_a_run(json!([raw("a"), raw("b")]), &[]);
    check_in_a_run(json!([announced("a"), raw("a"), ended("a"), raw("a")]), &[]);
    check_in_a_run(
        json!([raw("a"), raw("a"), announced("a"), raw("a"), ended("a")]),
        &[r#"event 3: subagent "a" is announced after event 1, which belongs to it (G13)"#],
    );
    check_in_a_run(
        json!([raw("b"), announced("a"), ended("a")]),
        &[
            r#"event 4: subagent "b" is not announced in a run that announces others; see event 1 (G13)"#,
        ],
    );
    // Each run announces anew.
    let mut list = in_a_run(json!([announced("a"), ended("a")]));
    list.extend(events(
        json!([started("r2"), raw("a"), announced("a"), {"type": "RUN_ERROR", "message": ""}]),
    ));
    assert_eq!(faults(list).len(), 1);
}
