//! Chunks and what they stand for.

use ag_ui_proto::conversation::ChunkExpander;
use serde_json::{Value, json};

use crate::events;

fn expand(list: Value) -> Result<Value, String> {
    let mut expander = ChunkExpander::new();
    let mut out = Vec::new();
    for event in events(list) {
        let before = out.len();
        if let Err(violation) = expander.expand(event, &mut out) {
            assert_eq!(out.len(), before);
            return Err(format!("{} ({})", violation.kind, violation.kind.rule()));
        }
    }
    Ok(serde_json::to_value(out).unwrap())
}

fn check(list: Value, expanded: Value) {
    assert_eq!(expand(list), Ok(expanded));
}

fn check_refused(list: Value, text: &str) {
    assert_eq!(expand(list), Err(text.to_owned()));
}

#[test]
fn a_chunk_opens_continues_and_is_closed_by_what_follows() {
    check(
        json!([
            {"type": "TEXT_MESSAGE_CHUNK", "messageId": "m", "name": "n", "delta": "a",
             "timestamp": 5, "metadata": {"k": 1}},
            {"type": "TEXT_MESSAGE_CHUNK", "delta": ""},
            {"type": "TEXT_MESSAGE_CHUNK", "rawEvent": 7},
            {"type": "TEXT_MESSAGE_CHUNK", "metadata": {"k": 2}},
            {"type": "TEXT_MESSAGE_CHUNK", "messageId": "m", "role": "assistant", "name": "n"},
            {"type": "CUSTOM", "name": "x", "value": 1},
        ]),
        json!([
            {"type": "TEXT_MESSAGE_START", "messageId": "m", "role": "assistant", "name": "n",
             "metadata": {"k": 1}},
            {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "a", "metadata": {"k": 1}},
            {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": ""},
            {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "", "rawEvent": 7},
            {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "", "metadata": {"k": 2}},
            {"type": "TEXT_MESSAGE_END", "messageId": "m"},
            {"type": "CUSTOM", "name": "x", "value": 1},
        ]),
    );
}

#[test]
fn an_opener_without_text_is_a_start_alone() {
    check(
        json!([
            {"type": "TOOL_CALL_CHUNK", "toolCallId": "c", "toolCallName": "f",
             "parentMessageId": "m", "metadata": {"k": 1}},
            {"type": "REASONING_MESSAGE_CHUNK", "messageId": "r", "subagentRunId": ""},
            {"type": "RAW", "event": 1},
        ]),
        json!([
            {"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "f",
             "parentMessageId": "m", "metadata": {"k": 1}},
            {"type": "REASONING_MESSAGE_START", "messageId": "r", "role": "reasoning",
             "subagentRunId": ""},
            {"type": "RAW", "event": 1},
        ]),
    );
}

#[test]
fn each_owner_has_a_lane_and_the_end_of_a_run_closes_all_oldest_first() {
    check(
        json!([
            {"type": "TEXT_MESSAGE_CHUNK", "messageId": "a", "subagentRunId": "s", "delta": "1"},
            {"type": "TEXT_MESSAGE_CHUNK", "messageId": "b", "delta": "2"},
            {"type": "TEXT_MESSAGE_CHUNK", "messageId": "a", "delta": "3"},
            {"type": "TEXT_MESSAGE_CHUNK", "delta": "4"},
            {"type": "TEXT_MESSAGE_CHUNK", "subagentRunId": "s", "delta": "5"},
            {"type": "STATE_DELTA", "delta": [], "subagentRunId": "z"},
            {"type": "TOOL_CALL_CHUNK", "toolCallId": "c", "toolCallName": "f",
             "subagentRunId": "u"},
            {"type": "MESSAGES_SNAPSHOT", "messages": []},
        ]),
        json!([
            {"type": "TEXT_MESSAGE_START", "messageId": "a", "role": "assistant",
             "subagentRunId": "s"},
            {"type": "TEXT_MESSAGE_CONTENT", "messageId": "a", "delta": "1", "subagentRunId": "s"},
            {"type": "TEXT_MESSAGE_START", "messageId": "b", "role": "assistant"},
            {"type": "TEXT_MESSAGE_CONTENT", "messageId": "b", "delta": "2"},
            {"type": "TEXT_MESSAGE_CONTENT", "messageId": "a", "delta": "3", "subagentRunId": "s"},
            {"type": "TEXT_MESSAGE_CONTENT", "messageId": "b", "delta": "4"},
            {"type": "TEXT_MESSAGE_CONTENT", "messageId": "a", "delta": "5", "subagentRunId": "s"},
            {"type": "STATE_DELTA", "delta": [], "subagentRunId": "z"},
            {"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "f",
             "subagentRunId": "u"},
            {"type": "TEXT_MESSAGE_END", "messageId": "a", "subagentRunId": "s"},
            {"type": "TEXT_MESSAGE_END", "messageId": "b"},
            {"type": "TOOL_CALL_END", "toolCallId": "c", "subagentRunId": "u"},
            {"type": "MESSAGES_SNAPSHOT", "messages": []},
        ]),
    );
}

#[test]
fn a_bare_chunk_goes_to_the_only_lane_that_assembles_its_kind() {
    let open = |owner: &str| json!({"type": "TEXT_MESSAGE_CHUNK", "messageId": owner, "subagentRunId": owner});
    let bare = json!({"type": "TEXT_MESSAGE_CHUNK", "delta": "x"});
    let expanded = expand(json!([open("s"), bare])).unwrap();
    assert_eq!(expanded[1]["messageId"], "s");
    assert_eq!(expanded[1]["subagentRunId"], "s");
    check_refused(
        json!([open("s"), open("u"), bare]),
        "which of 2 open items the text message chunk continues is ambiguous (C1)",
    );
    check_refused(json!([bare]), "first chunk of a text message has no messageId (C3)");
}

#[test]
fn what_opens_is_whole_and_what_is_repeated_is_the_same() {
    check_refused(
        json!([{"type": "TOOL_CALL_CHUNK", "toolCallId": "c"}]),
        "first chunk of a tool call has no toolCallName (C3)",
    );
    check_refused(
        json!([{"type": "REASONING_MESSAGE_CHUNK", "delta": "x"}]),
        "first chunk of a reasoning message has no messageId (C3)",
    );
    let text = json!({"type": "TEXT_MESSAGE_CHUNK", "messageId": "m"});
    check_refused(
        json!([text, {"type": "TEXT_MESSAGE_CHUNK", "role": "user"}]),
        r#"chunk of text message "m" has role "user", the first one had "assistant" (C2)"#,
    );
    check_refused(
        json!([text, {"type": "TEXT_MESSAGE_CHUNK", "name": "n"}]),
        r#"chunk of text message "m" has name "n", the first one had none (C2)"#,
    );
    check_refused(
        json!([text, {"type": "TEXT_MESSAGE_CHUNK", "messageId": "m", "subagentRunId": "s"}]),
        r#"chunk of subagent "s" continues text message "m", which belongs to the parent agent (C1)"#,
    );
}

#[test]
fn a_chunk_of_another_item_closes_its_own_lane_alone() {
    let expanded = expand(json!([
        {"type": "TEXT_MESSAGE_CHUNK", "messageId": "a", "subagentRunId": "s"},
        {"type": "TEXT_MESSAGE_CHUNK", "messageId": "b"},
        {"type": "TOOL_CALL_CHUNK", "toolCallId": "c", "toolCallName": "f"},
        {"type": "SUBAGENT_ERROR", "subagentRunId": "s", "message": "no"},
    ]))
    .unwrap();
    let types: Vec<&str> =
        expanded.as_array().unwrap().iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(
        types,
        [
            "TEXT_MESSAGE_START",
            "TEXT_MESSAGE_START",
            "TEXT_MESSAGE_END",
            "TOOL_CALL_START",
            "TEXT_MESSAGE_END",
            "SUBAGENT_ERROR"
        ]
    );
    assert_eq!(expanded[2]["messageId"], "b");
    assert_eq!(expanded[4]["messageId"], "a");
}

#[test]
fn an_announcement_closes_nothing() {
    check(
        json!([
            {"type": "TEXT_MESSAGE_CHUNK", "messageId": "m", "delta": "a", "subagentRunId": "s"},
            {"type": "SUBAGENT_STARTED", "subagentRunId": "s", "name": "n"},
            {"type": "TEXT_MESSAGE_CHUNK", "delta": "b", "subagentRunId": "s"},
        ]),
        json!([
            {"type": "TEXT_MESSAGE_START", "messageId": "m", "role": "assistant", "subagentRunId": "s"},
            {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "a", "subagentRunId": "s"},
            {"type": "SUBAGENT_STARTED", "subagentRunId": "s", "name": "n"},
            {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "b", "subagentRunId": "s"},
        ]),
    );
}

/// The parent agent assembles something else, and one subagent what the chunk brings.
#[test]
fn a_bare_chunk_passes_a_parent_that_assembles_something_else() {
    check(
        json!([
            {"type": "TOOL_CALL_CHUNK", "toolCallId": "c", "toolCallName": "f"},
            {"type": "TEXT_MESSAGE_CHUNK", "messageId": "m", "subagentRunId": "s"},
            {"type": "TEXT_MESSAGE_CHUNK", "delta": "a"},
        ]),
        json!([
            {"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "f"},
            {"type": "TEXT_MESSAGE_START", "messageId": "m", "role": "assistant", "subagentRunId": "s"},
            {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "a", "subagentRunId": "s"},
        ]),
    );
}
