//! Faults met in public, and what is right here: order, life of runs, snapshots, metadata,
//! compaction, interrupts.

use ag_ui_proto::conversation::{
    Consumer, Conversation, Delivered, RunOutcome, RunResult, compact,
};
use ag_ui_proto::model::{TextMessageContent, TolerantReader};
use serde_json::{Value, json};

use crate::{consume, events, in_a_run, messages, warnings};

/// A stream that just stopped between events was taken for a finished run.
#[test]
fn a_stream_that_stops_between_events_is_truncated_and_keeps_what_came() {
    let mut list = in_a_run(json!([{"type": "TEXT_MESSAGE_START", "messageId": "m"}]));
    list.pop();
    let (consumed, delivered) = consume(list);
    assert!(matches!(consumed.result, RunResult::Truncated));
    assert_eq!(delivered.events.len(), 2);
    assert_eq!(consumed.conversation.runs()[0].outcome, None);
    assert_eq!(consumed.conversation.messages().len(), 1);
    assert!(matches!(consume([]).0.result, RunResult::Truncated));
}

/// Of several runs only the last one is cut.
#[test]
fn only_the_run_that_was_cut_is_truncated() {
    let mut list = in_a_run(json!([]));
    list.extend(events(json!([{"type": "RUN_STARTED", "threadId": "t", "runId": "r2"}])));
    let (consumed, _) = consume(list);
    assert!(matches!(consumed.result, RunResult::Truncated));
    let outcomes: Vec<bool> =
        consumed.conversation.runs().iter().map(|run| run.outcome.is_some()).collect();
    assert_eq!(outcomes, [true, false]);
}

/// An operation that this version does not know was read as an `add`.
#[test]
fn a_patch_operation_of_a_later_version_is_dropped_and_the_rest_applies() {
    let (consumed, delivered) = consume(in_a_run(json!([
        {"type": "STATE_SNAPSHOT", "snapshot": {"n": 1}},
        {"type": "STATE_DELTA", "delta": [{"op": "increment", "path": "/n"},
                                          {"op": "replace", "path": "/n", "value": 5}]},
    ])));
    assert_eq!(consumed.conversation.state()["n"], 5);
    assert_eq!(
        warnings(&delivered),
        [r#"event 2: /delta/0: stripped: unknown patch operation "increment""#]
    );
}

/// An outcome that a later version names killed the run, or was lost in silence.
#[test]
fn an_outcome_of_a_later_version_is_a_success_with_a_warning() {
    let mut list = in_a_run(json!([]));
    list[1] = events(json!([{"type": "RUN_FINISHED", "threadId": "t", "runId": "r",
                             "outcome": {"type": "paused"}}]))
    .remove(0);
    let (consumed, delivered) = consume(list);
    assert!(consumed.result.is_success());
    assert_eq!(warnings(&delivered), [r#"event 1: /outcome: stripped: unknown outcome "paused""#]);
}

/// The thoughts of old servers were an error, or vanished.
#[test]
fn retired_thinking_events_become_reasoning() {
    let mut consumer = Consumer::new(Conversation::new());
    let mut delivered = Delivered::default();
    let mut reader = TolerantReader::new();
    for line in [
        r#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}"#,
        r#"{"type":"THINKING_START"}"#,
        r#"{"type":"THINKING_TEXT_MESSAGE_START"}"#,
        r#"{"type":"THINKING_TEXT_MESSAGE_CONTENT","delta":"hm"}"#,
        r#"{"type":"THINKING_TEXT_MESSAGE_END"}"#,
        r#"{"type":"THINKING_END"}"#,
        r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r"}"#,
    ] {
        let read = reader.read(line).unwrap();
        consumer.push(read.event.unwrap(), &mut delivered).unwrap();
    }
    let ended = consumer.finish();
    assert!(ended.result.is_success());
    assert_eq!(messages(&ended.conversation)[0]["content"], "hm");
    assert_eq!(messages(&ended.conversation)[0]["role"], "reasoning");
}

/// Clients dropped the details of interrupts, and runs that wait looked finished.
#[test]
fn a_run_that_waits_is_no_success_and_keeps_every_detail() {
    let interrupt = json!({"id": "i1", "reason": "approve", "message": "ok?", "toolCallId": "c1",
        "responseSchema": {"type": "object"}, "expiresAt": "2026-12-31T00:00:00Z", "metadata": {"k": null}});
    let mut list = in_a_run(json!([]));
    list[1] = events(json!([{"type": "RUN_FINISHED", "threadId": "t", "runId": "r",
        "outcome": {"type": "interrupt", "interrupts": [interrupt]}}]))
    .remove(0);
    let (consumed, _) = consume(list);
    assert!(!consumed.result.is_success());
    assert!(matches!(consumed.result, RunResult::Finished(RunOutcome::Interrupted { .. })));
    assert_eq!(serde_json::to_value(&consumed.conversation.interrupts()[0]).unwrap(), interrupt);
}

/// A cancelled run was shown as a success, or as a failure.
#[test]
fn a_cancelled_run_is_neither_a_success_nor_a_failure() {
    let mut list = in_a_run(json!([]));
    list[1] = events(json!([{"type": "RUN_FINISHED", "threadId": "t", "runId": "r",
                             "outcome": {"type": "cancelled"}}]))
    .remove(0);
    let (consumed, _) = consume(list);
    assert!(matches!(consumed.result, RunResult::Finished(RunOutcome::Cancelled)));
    assert!(!consumed.result.is_success());
}

/// Results that are lists broke fields that took text.
#[test]
fn a_result_of_parts_is_a_message_of_parts() {
    let parts = json!([{"type": "text", "text": "a"},
                       {"type": "image", "source": {"type": "url", "value": "https://x.invalid/i"}}]);
    let (consumed, _) = consume(in_a_run(json!([
        {"type": "TOOL_CALL_RESULT", "messageId": "p", "toolCallId": "c", "content": parts},
        {"type": "TOOL_CALL_RESULT", "messageId": "s", "toolCallId": "c", "content": "a"},
    ])));
    let messages = messages(&consumed.conversation);
    assert_eq!(messages[0]["content"], parts);
    assert_eq!(messages[1]["content"], "a");
}

/// One failed run in a thread made every later run unreadable.
#[test]
fn a_run_after_a_failed_one_is_taken() {
    let mut list = events(json!([
        {"type": "RUN_STARTED", "threadId": "t", "runId": "r1"},
        {"type": "TEXT_MESSAGE_START", "messageId": "m"},
        {"type": "RUN_ERROR", "message": "no"},
    ]));
    list.extend(in_a_run(json!([
        {"type": "TEXT_MESSAGE_START", "messageId": "m"},
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "x"},
        {"type": "TEXT_MESSAGE_END", "messageId": "m"},
        {"type": "TEXT_MESSAGE_START", "messageId": "n"},
        {"type": "TEXT_MESSAGE_END", "messageId": "n"},
    ])));
    let (consumed, _) = consume(list);
    assert!(consumed.result.is_success());
    assert_eq!(consumed.conversation.messages().len(), 2);
}

/// Servers finished runs that had failed.
#[test]
fn a_failed_run_does_not_finish() {
    let (consumed, delivered) = consume(events(json!([
        {"type": "RUN_STARTED", "threadId": "t", "runId": "r"},
        {"type": "RUN_ERROR", "message": "no"},
        {"type": "RUN_FINISHED", "threadId": "t", "runId": "r"},
    ])));
    let RunResult::Rejected(rejection) = consumed.result else { panic!() };
    assert_eq!(rejection.to_string(), "event 2: RUN_FINISHED: the run has failed (L4)");
    assert_eq!(delivered.events.len(), 2);
}

/// Tens of thousands of stored deltas ran a server out of memory at each reconnect.
#[test]
fn a_long_message_compacts_to_three_events_in_its_run() {
    for len in [36_000, 72_000] {
        let mut list = in_a_run(json!([
            {"type": "TEXT_MESSAGE_START", "messageId": "m"}, {"type": "TEXT_MESSAGE_END", "messageId": "m"}]));
        list.splice(2..2, (0..len).map(|_| TextMessageContent::new("m", "x").into()));
        let smaller = compact(list).unwrap();
        assert_eq!(smaller.len(), 5);
        assert_eq!(
            serde_json::to_value(&smaller[2]).unwrap()["delta"].as_str().unwrap().len(),
            len
        );
    }
}

/// A snapshot that gives a held message another id moves it to the end; that is the rule today.
#[test]
fn a_message_under_a_new_id_moves_to_the_end() {
    let snapshot = |tool: &str| {
        json!({"type": "MESSAGES_SNAPSHOT", "messages": [
            {"id": "u1", "role": "user", "content": ""},
            {"id": tool, "role": "tool", "toolCallId": "c", "content": ""},
            {"id": "a1", "role": "assistant", "content": ""}]})
    };
    let (consumed, _) = consume(in_a_run(json!([snapshot("tX"), snapshot("tC")])));
    let messages = messages(&consumed.conversation);
    let ids: Vec<&Value> =
        messages.as_array().unwrap().iter().map(|message| &message["id"]).collect();
    assert_eq!(ids, ["u1", "a1", "tC"]);
}

/// Half of a failing patch was applied.
#[test]
fn a_patch_that_fails_changes_nothing_and_the_next_snapshot_counts() {
    let (consumed, delivered) = consume(in_a_run(json!([
        {"type": "STATE_SNAPSHOT", "snapshot": {"a": 1}},
        {"type": "STATE_DELTA", "delta": [{"op": "add", "path": "/b", "value": 2}, {"op": "remove", "path": "/zzz"}]},
        {"type": "STATE_DELTA", "delta": [{"op": "test", "path": "/a", "value": 9}]},
    ])));
    assert_eq!(serde_json::to_value(consumed.conversation.state()).unwrap(), json!({"a": 1}));
    assert_eq!(
        warnings(&delivered),
        [
            r#"event 2: state not patched: operation 1 at "/zzz": no such place"#,
            r#"event 3: state not patched: operation 0 at "/a": the test failed"#,
        ]
    );
}

/// Argument text was parsed and written anew, or refused where it was no JSON.
#[test]
fn argument_text_stays_as_it_came() {
    let (consumed, _) = consume(in_a_run(json!([
        {"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "f"},
        {"type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": "{\"q\": \"a"},
        {"type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": ", tru"},
        {"type": "TOOL_CALL_END", "toolCallId": "c"},
        {"type": "TOOL_CALL_START", "toolCallId": "d", "toolCallName": "f"},
        {"type": "TOOL_CALL_END", "toolCallId": "d"},
    ])));
    let arguments = |id: &str| {
        consumed.conversation.tool_call(id).unwrap().function.as_ref().unwrap().arguments.clone()
    };
    assert_eq!(arguments("c"), "{\"q\": \"a, tru");
    assert_eq!(arguments("d"), "");
}
