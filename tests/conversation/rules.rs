//! Each rule that a stream can break, broken: the number, and what a user reads.

use ag_ui_proto::conversation::{Conversation, Rejection, RunOutcome, RunResult};
use serde_json::{Value, json};

use crate::{consume, events, in_a_run};

/// What refuses the stream, without the number of the event.
fn refusal(list: Value) -> String {
    let (consumed, _) = consume(events(list));
    match consumed.result {
        RunResult::Rejected(Rejection::Violation(violation)) => {
            format!("{} ({})", violation.kind, violation.kind.rule())
        }
        other => panic!("{other:?}"),
    }
}

fn refusal_in_a_run(mut list: Value) -> String {
    let run = json!({"type": "RUN_STARTED", "threadId": "t", "runId": "r"});
    list.as_array_mut().unwrap().insert(0, run);
    refusal(list)
}

fn check_refused(list: Value, text: &str) {
    assert_eq!(refusal_in_a_run(list), text);
}

fn check_accepted(list: Value) {
    let (consumed, delivered) = consume(in_a_run(list));
    assert!(consumed.result.is_success(), "{:?}", consumed.result);
    assert_eq!(delivered.warnings, []);
}

fn finished() -> Value {
    json!({"type": "RUN_FINISHED", "threadId": "t", "runId": "r"})
}

#[test]
fn the_life_of_runs() {
    let step = json!({"type": "STEP_STARTED", "stepName": "s"});
    let error = json!({"type": "RUN_ERROR", "message": "no"});
    let started = json!({"type": "RUN_STARTED", "threadId": "t", "runId": "r2"});
    assert_eq!(refusal(json!([step])), "no run was started (L1)");
    check_refused(json!([started]), "a run is active (L2)");
    check_refused(json!([finished(), step]), "the run has finished (L3)");
    check_refused(json!([finished(), finished()]), "the run has finished (L3)");
    check_refused(json!([error, finished()]), "the run has failed (L4)");
    check_refused(json!([error, error]), "the run has failed (L4)");
    assert_eq!(refusal(json!([error, step])), "the run has failed (L4)");
}

#[test]
fn a_violation_names_the_event_by_its_place_before_chunks_are_expanded() {
    let (consumed, delivered) = consume(in_a_run(json!([
        {"type": "TEXT_MESSAGE_CHUNK", "messageId": "m", "delta": "a"},
        {"type": "TEXT_MESSAGE_END", "messageId": "m"},
    ])));
    let RunResult::Rejected(rejection) = consumed.result else { panic!("{:?}", consumed.result) };
    let text = r#"event 2: TEXT_MESSAGE_END: text message "m" is not open (S2)"#;
    assert_eq!(rejection.to_string(), text);
    // The chunk's end came before the event that is refused, and stands.
    assert_eq!(delivered.events.len(), 4);
}

#[test]
fn a_run_finishes_with_nothing_open() {
    for (event, text) in [
        (json!({"type": "TEXT_MESSAGE_START", "messageId": "i"}), "text message"),
        (json!({"type": "TOOL_CALL_START", "toolCallId": "i", "toolCallName": "f"}), "tool call"),
        (
            json!({"type": "REASONING_MESSAGE_START", "messageId": "i", "role": "reasoning"}),
            "reasoning message",
        ),
        (json!({"type": "REASONING_START", "messageId": "i"}), "reasoning span"),
        (json!({"type": "STEP_STARTED", "stepName": "i"}), "step"),
        (json!({"type": "SUBAGENT_STARTED", "subagentRunId": "i", "name": "n"}), "subagent"),
    ] {
        for outcome in [
            json!({"type": "success"}),
            json!({"type": "cancelled"}),
            json!({"type": "interrupt", "interrupts": [{"id": "i", "reason": "?"}]}),
        ] {
            let mut finished = finished();
            finished["outcome"] = outcome;
            check_refused(json!([event, finished]), &format!("still open: {text} \"i\" (L7)"));
        }
        // L5: a failure leaves open what is open; L6: the next run starts afresh.
        let error = json!({"type": "RUN_ERROR", "message": "no"});
        let mut list = events(json!([{"type": "RUN_STARTED", "threadId": "t", "runId": "r0"}]));
        list.extend(events(json!([event, error])));
        list.extend(in_a_run(json!([])));
        let (consumed, _) = consume(list);
        assert!(consumed.result.is_success(), "{:?}", consumed.result);
    }
}

#[test]
fn of_much_that_is_open_the_first_is_named_and_the_rest_counted() {
    let mut list: Vec<_> = (0..1010)
        .map(|number| json!({"type": "TEXT_MESSAGE_START", "messageId": format!("{number:04}")}))
        .collect();
    list.push(finished());
    let said = refusal_in_a_run(json!(list));
    assert!(
        said.starts_with(r#"still open: text message "0000", text message "0001", "#),
        "{said}"
    );
    assert!(said.ends_with(r#", text message "0009", and 1000 more (L7)"#), "{said}");
}

/// G6: one that replaces nothing owns nothing. G8: what a snapshot restates is whose it says.
#[test]
fn what_restates_says_whose_it_is() {
    let activity = |more: Value| {
        let mut event = json!({"type": "ACTIVITY_SNAPSHOT", "messageId": "v", "activityType": "p", "content": {}});
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        event
    };
    let delta = json!({"type": "ACTIVITY_DELTA", "messageId": "v", "activityType": "p", "patch": [],
                       "subagentRunId": "a"});
    let of_b = r#"activity "v" belongs to subagent "b", not to subagent "a" (G2)"#;
    check_refused(
        json!([activity(json!({})), activity(json!({"subagentRunId": "b"})), delta]),
        of_b,
    );
    check_accepted(json!([
        activity(json!({"subagentRunId": "a"})),
        activity(json!({"subagentRunId": "b", "replace": false})),
        delta
    ]));

    let start = json!({"type": "TEXT_MESSAGE_START", "messageId": "m", "subagentRunId": "a"});
    let end = json!({"type": "TEXT_MESSAGE_END", "messageId": "m", "subagentRunId": "a"});
    let snapshot = json!({"type": "MESSAGES_SNAPSHOT", "messages": [
        {"id": "m", "role": "assistant", "subagentRunId": "b"}]});
    check_refused(
        json!([start, snapshot, end]),
        r#"text message "m" belongs to subagent "b", not to subagent "a" (G2)"#,
    );
}

#[test]
fn steps_belong_to_whom_they_were_opened_by() {
    let start = json!({"type": "STEP_STARTED", "stepName": "s", "subagentRunId": "a"});
    let parent = json!({"type": "STEP_STARTED", "stepName": "s"});
    let end = json!({"type": "STEP_FINISHED", "stepName": "s"});
    let end_of_a = json!({"type": "STEP_FINISHED", "stepName": "s", "subagentRunId": "a"});
    check_refused(json!([start, start]), r#"step "s" of subagent "a" is open (L11)"#);
    check_refused(json!([end]), r#"step "s" is not open (L12)"#);
    check_refused(
        json!([start, end]),
        r#"step "s" was opened by subagent "a", not by the parent agent (L12)"#,
    );
    check_accepted(json!([start, parent, end_of_a, end]));
}

#[test]
fn items_are_opened_once_and_continued_while_they_are_open() {
    let start = json!({"type": "TEXT_MESSAGE_START", "messageId": "m"});
    let content = json!({"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": ""});
    let end = json!({"type": "TEXT_MESSAGE_END", "messageId": "m"});
    check_refused(json!([start, start]), r#"text message "m" is open (S1)"#);
    check_refused(json!([content]), r#"text message "m" is not open (S2)"#);
    check_refused(json!([start, end, content]), r#"text message "m" is not open (S2)"#);
    check_refused(
        json!([{"type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": ""}]),
        r#"tool call "c" is not open (S2)"#,
    );
    // S3: a span opens no message.
    let span = json!({"type": "REASONING_START", "messageId": "m"});
    check_refused(
        json!([span, {"type": "REASONING_MESSAGE_CONTENT", "messageId": "m", "delta": ""}]),
        r#"reasoning message "m" is not open (S2)"#,
    );
    // S4, S5: one id in each namespace, and open again once it is closed.
    check_accepted(json!([
        start, span, content,
        {"type": "TOOL_CALL_START", "toolCallId": "m", "toolCallName": "f"},
        end, start, content, end,
        {"type": "TOOL_CALL_END", "toolCallId": "m"},
        {"type": "REASONING_END", "messageId": "m"},
    ]));
}

#[test]
fn another_owner_neither_continues_nor_opens_again() {
    let start = json!({"type": "TEXT_MESSAGE_START", "messageId": "m", "subagentRunId": "a"});
    let end = json!({"type": "TEXT_MESSAGE_END", "messageId": "m"});
    let of_b = |event_type: &str| json!({"type": event_type, "messageId": "m", "delta": "", "subagentRunId": "b"});
    check_refused(
        json!([start, of_b("TEXT_MESSAGE_CONTENT")]),
        r#"text message "m" belongs to subagent "a", not to subagent "b" (G2)"#,
    );
    check_refused(
        json!([{"type": "REASONING_START", "messageId": "m"},
               {"type": "REASONING_END", "messageId": "m", "subagentRunId": ""}]),
        r#"reasoning span "m" belongs to the parent agent, not to subagent "" (G2)"#,
    );
    check_refused(
        json!([start, end, {"type": "TEXT_MESSAGE_START", "messageId": "m", "subagentRunId": "b"}]),
        r#"text message "m" was opened by subagent "a", and is opened again by subagent "b" (G3)"#,
    );
    check_refused(
        json!([
            {"type": "ACTIVITY_SNAPSHOT", "messageId": "v", "activityType": "p", "content": {}},
            {"type": "ACTIVITY_DELTA", "messageId": "v", "activityType": "p", "patch": [],
             "subagentRunId": "a"},
        ]),
        r#"activity "v" belongs to the parent agent, not to subagent "a" (G2)"#,
    );
    check_refused(
        json!([start, end, {"type": "REASONING_ENCRYPTED_VALUE", "subtype": "message",
               "entityId": "m", "encryptedValue": "x", "subagentRunId": "b"}]),
        r#"text message "m" belongs to subagent "a", not to subagent "b" (G2)"#,
    );
    check_refused(
        json!([
            {"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "f"},
            {"type": "REASONING_ENCRYPTED_VALUE", "subtype": "tool-call", "entityId": "c",
             "encryptedValue": "x", "subagentRunId": "b"},
        ]),
        r#"tool call "c" belongs to the parent agent, not to subagent "b" (G2)"#,
    );
    // G1: an untagged event goes with whatever is there.
    check_accepted(
        json!([start, {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": ""}, end, {"type": "TEXT_MESSAGE_START", "messageId": "m"}, end]),
    );
}

#[test]
fn a_call_belongs_to_whom_its_message_belongs_to() {
    let parent = json!({"type": "MESSAGES_SNAPSHOT", "messages": [
        {"id": "m", "role": "assistant", "subagentRunId": "a",
         "toolCalls": [{"id": "old", "type": "function",
                        "function": {"name": "f", "arguments": ""}}]}]});
    let call = |id: &str, owner: Value| {
        let mut call = json!({"type": "TOOL_CALL_START", "toolCallId": id, "toolCallName": "f",
                              "parentMessageId": "m"});
        if !owner.is_null() {
            call["subagentRunId"] = owner;
        }
        call
    };
    let args = json!({"type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": "",
                      "subagentRunId": "b"});
    let end = json!({"type": "TOOL_CALL_END", "toolCallId": "c", "subagentRunId": "a"});
    check_refused(
        json!([parent, call("c", json!("b"))]),
        r#"tool call "c" belongs to subagent "b", its message "m" to subagent "a" (G4)"#,
    );
    // Untagged, it inherits the owner of its message.
    check_refused(
        json!([parent, call("c", Value::Null), args]),
        r#"tool call "c" belongs to subagent "a", not to subagent "b" (G2)"#,
    );
    check_accepted(json!([parent, call("c", Value::Null), end]));
    // Open again under a message of another owner.
    check_refused(
        json!([
            {"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "f"},
            {"type": "TOOL_CALL_END", "toolCallId": "c"},
            parent, call("c", Value::Null),
        ]),
        r#"tool call "c" belongs to the parent agent, its message "m" to subagent "a" (G4)"#,
    );
    // G8: the snapshot says whose the calls of its messages are.
    check_refused(
        json!([parent, {"type": "TOOL_CALL_START", "toolCallId": "old", "toolCallName": "f",
                        "subagentRunId": "b"}]),
        r#"tool call "old" was opened by subagent "a", and is opened again by subagent "b" (G3)"#,
    );
}

#[test]
fn invocations_start_once_in_a_run_and_end_once() {
    let start = json!({"type": "SUBAGENT_STARTED", "subagentRunId": "a", "name": "n"});
    let end = json!({"type": "SUBAGENT_FINISHED", "subagentRunId": "a"});
    let error = json!({"type": "SUBAGENT_ERROR", "subagentRunId": "a", "message": "no"});
    check_refused(json!([start, start]), r#"subagent "a" is active (G10)"#);
    check_refused(json!([start, error, start]), r#"subagent "a" has ended in this run (G10)"#);
    check_refused(json!([end]), r#"subagent "a" is not active (G12)"#);
    check_refused(json!([start, end, error]), r#"subagent "a" is not active (G12)"#);
    let child = |parent: &str| {
        json!({"type": "SUBAGENT_STARTED", "subagentRunId": "b", "name": "n",
               "parentSubagentRunId": parent})
    };
    let text =
        |parent| format!("parent {parent:?} of subagent \"b\" was not announced in this run (G11)");
    check_refused(json!([child("a")]), &text("a"));
    check_refused(json!([child("b")]), &text("b"));
    let end_of_b = json!({"type": "SUBAGENT_FINISHED", "subagentRunId": "b"});
    check_accepted(json!([start, end, child("a"), end_of_b]));
    // G15: what an invocation opened may be closed once it has ended.
    check_accepted(json!([
        start,
        {"type": "TEXT_MESSAGE_START", "messageId": "m", "subagentRunId": "a"},
        end,
        {"type": "TEXT_MESSAGE_END", "messageId": "m", "subagentRunId": "a"},
    ]));
}

#[test]
fn owners_are_forgotten_with_the_run() {
    let run = |owner: &str| {
        in_a_run(json!([
            {"type": "TEXT_MESSAGE_START", "messageId": "m", "subagentRunId": owner},
            {"type": "TEXT_MESSAGE_END", "messageId": "m"},
            {"type": "SUBAGENT_STARTED", "subagentRunId": "a", "name": "n"},
            {"type": "SUBAGENT_FINISHED", "subagentRunId": "a"},
        ]))
    };
    let (consumed, _) = consume(run("a").into_iter().chain(run("b")));
    assert!(consumed.result.is_success(), "{:?}", consumed.result);
    // G8: an echoed input owns only what nobody owns.
    let (consumed, _) = consume(events(json!([
        {"type": "RUN_STARTED", "threadId": "t", "runId": "r", "input": {
            "threadId": "t", "runId": "r",
            "messages": [{"id": "m", "role": "assistant", "subagentRunId": "a"}]}},
        {"type": "TEXT_MESSAGE_START", "messageId": "m", "subagentRunId": "b"},
    ])));
    assert!(matches!(consumed.result, RunResult::Rejected(_)));
}

#[test]
fn a_rejected_stream_takes_no_more() {
    let mut list = in_a_run(json!([{"type": "STEP_FINISHED", "stepName": "s"}]));
    list.extend(in_a_run(json!([])));
    let mut consumer = ag_ui_proto::conversation::Consumer::new(Conversation::new());
    let mut delivered = ag_ui_proto::conversation::Delivered::default();
    let verdicts: Vec<bool> =
        list.into_iter().map(|event| consumer.push(event, &mut delivered).is_ok()).collect();
    assert_eq!(verdicts, [true, false, false, false, false]);
    assert_eq!(delivered.events.len(), 1);
    assert!(matches!(consumer.finish().result, RunResult::Rejected(_)));
}

#[test]
fn a_malformed_event_is_rejected_by_its_place() {
    let mut list = in_a_run(json!([]));
    list[1] = events(json!([{"type": "RUN_FINISHED", "threadId": "t", "runId": "r",
                             "outcome": {"type": "interrupt", "interrupts": []}}]))
    .remove(0);
    let (consumed, _) = consume(list);
    let RunResult::Rejected(rejection @ Rejection::Malformed { .. }) = &consumed.result else {
        panic!("{:?}", consumed.result)
    };
    assert_eq!(
        rejection.to_string(),
        "event 1: RUN_FINISHED: outcome.interrupts: empty; at least one element is required"
    );
}

#[test]
fn a_failure_is_told_apart_from_a_rejection_and_a_late_one_replaces_success() {
    let error = events(json!([{"type": "RUN_ERROR", "message": "no", "code": "X"}]));
    let (consumed, _) = consume(in_a_run(json!([])).into_iter().chain(error.clone()));
    assert!(matches!(&consumed.result, RunResult::Failed(error) if error.message == "no"));
    let [run] = consumed.conversation.runs() else { panic!() };
    assert!(matches!(&run.outcome, Some(RunOutcome::Failed(_))));

    // In a stream of its own it is the failure of another run.
    let (consumed, _) = consume(in_a_run(json!([])));
    let (consumed, _) = crate::consume_into(consumed.conversation, error);
    let [first, second] = consumed.conversation.runs() else { panic!() };
    assert!(matches!(&first.outcome, Some(RunOutcome::Success { .. })));
    assert!(matches!(&second.outcome, Some(RunOutcome::Failed(_))));
}
