//! What each event does to messages and state.

use ag_ui_proto::Event;
use ag_ui_proto::conversation::{Conversation, RunOutcome, reconcile};
use ag_ui_proto::model::{
    AssistantMessage, Content, Message, MessagesSnapshot, TextMessageContent, TextMessageStart,
    ToolCall, ToolCallArgs, ToolCallResult, ToolMessage, UserMessage,
};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::laws::cases;
use crate::{consume, consume_into, events, in_a_run, messages, warnings};

/// The messages that a run builds, which warns of nothing.
fn built(list: Value) -> Value {
    let (consumed, delivered) = consume(in_a_run(list));
    assert!(consumed.result.is_success(), "{:?}", consumed.result);
    assert_eq!(warnings(&delivered), [] as [&str; 0]);
    messages(&consumed.conversation)
}

/// The messages that a run builds, and the warnings without their places.
fn built_with_warnings(list: Value) -> (Value, Vec<String>) {
    let (consumed, delivered) = consume(in_a_run(list));
    assert!(consumed.result.is_success(), "{:?}", consumed.result);
    let warnings = delivered.warnings.iter().map(|warning| warning.kind.to_string()).collect();
    (messages(&consumed.conversation), warnings)
}

fn call(id: &str, parent: Option<&str>) -> Value {
    let mut call = json!({"type": "TOOL_CALL_START", "toolCallId": id, "toolCallName": "f"});
    if let Some(parent) = parent {
        call["parentMessageId"] = json!(parent);
    }
    call
}

fn end_call(id: &str) -> Value {
    json!({"type": "TOOL_CALL_END", "toolCallId": id})
}

fn result(message: &str, call: &str) -> Value {
    json!({"type": "TOOL_CALL_RESULT", "messageId": message, "toolCallId": call, "content": call})
}

fn held(list: Value) -> Value {
    json!({"type": "MESSAGES_SNAPSHOT", "messages": list})
}

fn ids(messages: &Value) -> Vec<&str> {
    messages.as_array().unwrap().iter().map(|message| message["id"].as_str().unwrap()).collect()
}

#[test]
fn calls_stand_in_the_order_of_their_starts_and_results_behind_their_call() {
    let messages = built(json!([
        call("c1", Some("a")), call("c2", Some("a")), call("c3", None),
        {"type": "TOOL_CALL_ARGS", "toolCallId": "c2", "delta": "2"},
        end_call("c3"), end_call("c2"),
        {"type": "TOOL_CALL_ARGS", "toolCallId": "c1", "delta": "1"},
        end_call("c1"),
        result("t3", "c3"), result("t2", "c2"), result("t1", "c1"), result("t0", "unknown"),
    ]));
    assert_eq!(ids(&messages), ["a", "t2", "t1", "c3", "t3", "t0"]);
    let calls = messages[0]["toolCalls"].as_array().unwrap();
    let calls: Vec<_> =
        calls.iter().map(|call| (&call["id"], &call["function"]["arguments"])).collect();
    assert_eq!(calls, [(&json!("c1"), &json!("1")), (&json!("c2"), &json!("2"))]);
}

#[test]
fn roles_names_and_owners_are_those_of_the_first_start() {
    let start = |members: Value| {
        let mut event = json!({"type": "TEXT_MESSAGE_START", "messageId": "m"});
        event.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        event
    };
    let end = json!({"type": "TEXT_MESSAGE_END", "messageId": "m"});
    for role in ["user", "assistant", "system", "developer"] {
        let messages = built(json!([
            start(json!({"role": role, "name": "n", "subagentRunId": "s"})), end,
            start(json!({"role": "assistant", "name": "other"})),
            {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "more"}, end,
        ]));
        assert_eq!(
            messages,
            json!([{"id": "m", "role": role, "name": "n", "content": "more", "subagentRunId": "s"}])
        );
    }
}

#[test]
fn metadata_merges_by_key_into_what_it_belongs_to() {
    let with = |mut event: Value, metadata: Value| {
        event["metadata"] = metadata;
        event
    };
    let messages = built(json!([
        with(call("c", None), json!({"a": {"deep": 1}, "b": 1})),
        with(
            json!({"type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": ""}),
            json!({"a": {"other": 2}})
        ),
        with(end_call("c"), json!({"ag-ui": null, "__proto__": 1, "": 2})),
        with(result("t", "c"), json!({})),
        with(json!({"type": "CUSTOM", "name": "n", "value": 1}), json!({"lost": 1})),
    ]));
    assert_eq!(
        messages[0]["toolCalls"][0]["metadata"],
        json!({"a": {"other": 2}, "b": 1, "ag-ui": null, "__proto__": 1, "": 2})
    );
    assert_eq!(messages[0].get("metadata"), None);
    assert_eq!(messages[1]["metadata"], json!({}));
}

#[test]
fn a_snapshot_replaces_what_it_names_and_keeps_what_only_the_consumer_holds() {
    let text = |id: &str, role: &str| json!({"id": id, "role": role, "content": "x"});
    let activity =
        |id: &str| json!({"id": id, "role": "activity", "activityType": "p", "content": {}});
    let before = json!([
        text("u", "user"),
        activity("v"),
        text("r", "reasoning"),
        text("a", "assistant"),
        text("gone", "user")
    ]);
    let after = |list: Value| built(json!([held(before.clone()), held(list)]));
    let restated = json!({"id": "a", "role": "user", "content": "new"});
    assert_eq!(
        after(json!([text("new", "user"), restated])),
        json!([{"role": "activity", "id": "v", "activityType": "p", "content": {}},
               {"role": "reasoning", "id": "r", "content": "x"},
               {"role": "user", "id": "a", "content": "new"},
               {"role": "user", "id": "new", "content": "x"}])
    );
    assert_eq!(ids(&after(json!([activity("w")]))), ["r", "w"]);
    assert_eq!(ids(&after(json!([text("q", "reasoning")]))), ["v", "q"]);
    assert_eq!(ids(&after(json!([]))), ["v", "r"]);
}

#[test]
fn of_two_messages_with_one_id_in_a_snapshot_the_last_one_counts() {
    let user = |text: &str| json!({"id": "u", "role": "user", "content": text});
    let (messages, warnings) = built_with_warnings(json!([held(json!([user("1"), user("2")]))]));
    assert_eq!(messages[0]["content"], "2");
    assert_eq!(ids(&messages), ["u"]);
    assert_eq!(warnings, [r#"message id "u" occurs twice"#]);
}

#[test]
fn content_for_a_message_that_a_snapshot_removed_is_left_out_with_a_warning() {
    let (messages, warnings) = built_with_warnings(json!([
        {"type": "TEXT_MESSAGE_START", "messageId": "m"},
        call("c", None),
        held(json!([])),
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "x"},
        {"type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": "x"},
        {"type": "TEXT_MESSAGE_END", "messageId": "m"},
        end_call("c"),
    ]));
    assert_eq!(messages, json!([]));
    let (message, call) = (r#"no message "m""#, r#"no tool call "c""#);
    assert_eq!(warnings, [message, call, message, call]);
}

#[test]
fn activities_are_made_replaced_patched_and_left() {
    let activity = |members: Value| {
        let mut event = json!({"type": "ACTIVITY_SNAPSHOT", "messageId": "v", "activityType": "plan",
                               "content": {"n": 1}});
        event.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        event
    };
    let delta = |patch: Value| {
        json!({"type": "ACTIVITY_DELTA", "messageId": "v", "activityType": "steps", "patch": patch,
               "metadata": {"d": 1}})
    };
    let add = json!([{"op": "add", "path": "/m", "value": 2}]);
    assert_eq!(
        built(json!([
            activity(json!({"replace": false, "subagentRunId": "s", "metadata": {"k": 1}})),
            activity(
                json!({"replace": false, "content": {}, "activityType": "no", "metadata": {"l": 1}})
            ),
        ])),
        json!([{"role": "activity", "id": "v", "activityType": "plan", "content": {"n": 1},
                "metadata": {"k": 1, "l": 1}, "subagentRunId": "s"}])
    );
    assert_eq!(
        built(json!([
            activity(json!({"metadata": {"k": 1}})),
            activity(json!({"subagentRunId": "s", "metadata": {"l": 1}})),
            delta(add.clone())
        ])),
        json!([{"role": "activity", "id": "v", "activityType": "steps", "content": {"n": 1, "m": 2},
                "metadata": {"k": 1, "l": 1, "d": 1}, "subagentRunId": "s"}])
    );
    for patch in [
        json!([{"op": "remove", "path": "/x"}]),
        json!([{"op": "replace", "path": "", "value": 5}]),
    ] {
        let (messages, warnings) = built_with_warnings(json!([activity(json!({})), delta(patch)]));
        assert_eq!(messages[0]["content"], json!({"n": 1}));
        assert_eq!(messages[0]["activityType"], "plan");
        assert_eq!(messages[0]["metadata"], json!({"d": 1}));
        assert_eq!(warnings.len(), 1);
        assert!(
            warnings[0].starts_with(r#"activity "v" not patched: operation 0"#),
            "{warnings:?}"
        );
    }
    let (messages, warnings) = built_with_warnings(json!([delta(add)]));
    assert_eq!((messages, warnings), (json!([]), vec![r#"no activity "v" to patch"#.to_owned()]));
}

#[test]
fn encrypted_values_are_set_replaced_withdrawn_and_never_make_a_message() {
    let value = |subtype: &str, id: &str, value: &str, kind: Option<&str>| {
        let mut event = json!({"type": "REASONING_ENCRYPTED_VALUE", "subtype": subtype, "entityId": id,
                               "encryptedValue": value});
        if let Some(kind) = kind {
            event["encryptedValueType"] = json!(kind);
        }
        event
    };
    let message = json!({"id": "a", "role": "assistant", "toolCalls": [
        {"id": "c", "type": "function", "function": {"name": "f", "arguments": ""}}]});
    let messages = built(json!([
        held(json!([message])),
        value("message", "a", "1", Some("k")),
        value("tool-call", "c", "2", Some("k")),
        value("message", "a", "3", None)
    ]));
    assert_eq!(messages[0]["encryptedValue"], "3");
    assert_eq!(messages[0].get("encryptedValueType"), None);
    assert_eq!(messages[0]["toolCalls"][0]["encryptedValueType"], "k");
    let messages = built(json!([
        held(json!([message])),
        value("message", "a", "1", None),
        held(json!([message]))
    ]));
    assert_eq!(messages[0].get("encryptedValue"), None);

    let activity = json!({"id": "v", "role": "activity", "activityType": "p", "content": {}});
    let (messages, warnings) = built_with_warnings(json!([
        held(json!([activity])),
        value("message", "v", "1", None),
        value("message", "x", "1", None),
        value("tool-call", "v", "1", None),
    ]));
    assert_eq!(ids(&messages), ["v"]);
    assert_eq!(warnings.len(), 3);
    assert_eq!(warnings[1], r#"nothing "x" to hold an encrypted value"#);
}

#[test]
fn ids_stay_unique_and_nothing_is_lost() {
    let user = json!({"id": "c", "role": "user", "content": [{"type": "image", "source": {"type": "url", "value": "u"}}]});
    let (messages, warnings) = built_with_warnings(json!([
        held(json!([user])), call("c", Some("c")), end_call("c"), result("c", "c"), result("c-3", "c"),
        {"type": "TEXT_MESSAGE_START", "messageId": "c"},
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": "c", "delta": "te"},
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": "c", "delta": "xt"},
        {"type": "TEXT_MESSAGE_END", "messageId": "c"},
    ]));
    assert_eq!(ids(&messages), ["c", "c-2", "c-3"]);
    assert_eq!(messages[0]["content"][1], json!({"type": "text", "text": "text"}));
    assert_eq!(
        warnings,
        [
            r#"parent message "c" of tool call "c" has the role user"#,
            r#"message id "c" is taken, "c-2" is used instead"#,
            r#"message id "c" is taken, "c-3" is used instead"#,
            r#"tool message "c-3" was replaced"#,
        ]
    );
}

#[test]
fn a_call_opened_again_keeps_its_place_and_takes_the_new_name() {
    let mut renamed = call("c", Some("b"));
    renamed["toolCallName"] = json!("g");
    let (messages, warnings) = built_with_warnings(json!([
        call("c", Some("a")), {"type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": "1"}, end_call("c"),
        renamed, {"type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": "2"}, end_call("c"),
    ]));
    assert_eq!(messages[0]["toolCalls"][0]["function"], json!({"name": "g", "arguments": "12"}));
    assert_eq!(ids(&messages), ["a"]);
    assert_eq!(warnings, [r#"tool call "c" was named "f", and is named "g""#]);
}

#[test]
fn runs_keep_what_became_of_them() {
    let finished = |id: &str, members: Value| {
        let mut event = json!({"type": "RUN_FINISHED", "threadId": "t", "runId": id});
        event.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        event
    };
    let run = |id: &str, end: Value| {
        events(json!([{"type": "RUN_STARTED", "threadId": "t", "runId": id},
                      call("c2", None), end_call("c2"), call("c1", None), end_call("c1"),
                      result(&format!("t{id}"), "c1"), end]))
    };
    let interrupt =
        json!({"outcome": {"type": "interrupt", "interrupts": [{"id": "i", "reason": "?"}]}});
    let mut log = run("1", finished("1", json!({"result": 5})));
    log.extend(run(
        "2",
        finished("2", json!({"outcome": {"type": "success", "pendingToolCallIds": []}})),
    ));
    log.extend(run(
        "3",
        finished("3", json!({"outcome": {"type": "success", "pendingToolCallIds": ["x"]}})),
    ));
    log.extend(run("4", finished("4", interrupt)));
    log.extend(run("5", json!({"type": "RUN_ERROR", "message": "no"})));
    let (consumed, delivered) = consume(log.clone());
    assert_eq!(delivered.warnings, []);
    let conversation = consumed.conversation;
    let pending: Vec<Vec<String>> = conversation
        .runs()
        .iter()
        .map(|run| run.outcome.as_ref().unwrap().pending_tool_calls().to_vec())
        .collect();
    assert_eq!(pending, [vec!["c2"], vec!["c2"], vec!["x"], vec!["c2"], vec![]]);
    // A failure answers nothing: what the run before it waits for is still open.
    assert_eq!(conversation.interrupts().len(), 1);
    assert_eq!(conversation.pending_tool_calls(), ["c2"]);
    let (consumed, _) = consume_into(
        conversation,
        run("6", finished("6", json!({"outcome": {"type": "cancelled"}}))),
    );
    assert!(matches!(consumed.conversation.runs()[5].outcome, Some(RunOutcome::Cancelled)));
    assert_eq!(consumed.conversation.interrupts(), []);
    assert!(!consumed.result.is_success());
}

#[test]
fn the_state_begins_with_the_first_input_and_lives_on() {
    let run = |id: &str, state: Value, path: &str| {
        events(json!([
            {"type": "RUN_STARTED", "threadId": "t", "runId": id,
             "input": {"threadId": "t", "runId": id, "messages": [], "state": state}},
            {"type": "STATE_DELTA", "delta": [{"op": "add", "path": path, "value": 1}]},
            {"type": "RUN_FINISHED", "threadId": "t", "runId": id},
        ]))
    };
    let log: Vec<Event> =
        run("1", json!({"a": 0}), "/b").into_iter().chain(run("2", json!({}), "/c")).collect();
    let (consumed, _) = consume(log.clone());
    assert_eq!(
        serde_json::to_value(consumed.conversation.state()).unwrap(),
        json!({"a": 0, "b": 1, "c": 1})
    );
    let (consumed, _) = consume_into(Conversation::new().with_state(json!({"own": 1})), log);
    assert_eq!(
        serde_json::to_value(consumed.conversation.state()).unwrap(),
        json!({"own": 1, "b": 1, "c": 1})
    );
}

#[test]
fn an_echo_adds_only_what_is_not_held() {
    let user = |id: &str, text: &str| json!({"id": id, "role": "user", "content": text});
    let (consumed, _) = consume(events(json!([
        {"type": "RUN_STARTED", "threadId": "t", "runId": "1",
         "input": {"threadId": "t", "runId": "1", "messages": [user("u", "first"), user("u", "again")]}},
        {"type": "RUN_FINISHED", "threadId": "t", "runId": "1"},
        {"type": "RUN_STARTED", "threadId": "t", "runId": "2",
         "input": {"threadId": "t", "runId": "2", "messages": [user("w", "new"), user("u", "changed")]}},
    ])));
    assert_eq!(
        messages(&consumed.conversation),
        json!([
        {"role": "user", "id": "u", "content": "first"}, {"role": "user", "id": "w", "content": "new"}])
    );
}

#[test]
fn a_run_that_ends_under_another_id_is_told() {
    let mut list = in_a_run(json!([]));
    list[1] =
        events(json!([{"type": "RUN_FINISHED", "threadId": "t", "runId": "other"}])).remove(0);
    let (consumed, delivered) = consume(list);
    assert!(consumed.result.is_success());
    assert_eq!(
        warnings(&delivered),
        [r#"event 1: the run started as "t/r" and finished as "t/other""#]
    );
}

/// A cost that grew with the messages would make this a matter of minutes.
#[test]
fn deltas_cost_the_same_however_many_messages_there_are() {
    let mut conversation = Conversation::new();
    for number in 0..10_000 {
        conversation.apply(&TextMessageStart::new(format!("m{number}")).into());
        let call = json!([call(&format!("c{number}"), Some(&format!("m{number}")))]);
        conversation.apply(&events(call)[0]);
    }
    for number in 0..50_000 {
        let number = number % 10_000;
        conversation.apply(&TextMessageContent::new(format!("m{number}"), "x").into());
        conversation.apply(&ToolCallArgs::new(format!("c{number}"), "y").into());
    }
    assert_eq!(conversation.messages().len(), 10_000);
    for message in conversation.messages() {
        let Message::Assistant(message) = message else { panic!("{message:?}") };
        assert_eq!(message.content.as_deref(), Some("xxxxx"));
        let calls = message.tool_calls.as_ref().unwrap();
        assert_eq!(calls[0].function.as_ref().unwrap().arguments, "yyyyy");
    }
}

/// As many answers to one message as would take minutes if each were looked for.
#[test]
fn answers_follow_their_message_however_many_there_are() {
    let mut conversation = Conversation::new();
    conversation.apply(&events(json!([call("c", None)]))[0]);
    conversation.apply(&events(json!([call("d", None)]))[0]);
    for number in 0..40_000 {
        let result = ToolCallResult::new(format!("t{number}"), "c", Content::Text(String::new()));
        conversation.apply(&result.into());
    }
    let ids: Vec<&str> = conversation.messages().map(Message::id).collect();
    assert_eq!(ids.len(), 40_002);
    assert_eq!((ids[0], ids[1], ids[40_000], ids[40_001]), ("c", "t0", "t39999", "d"));
}

/// In turn to two messages, with many behind them.
#[test]
fn answers_in_turn_find_their_messages_however_many_there_are() {
    let mut conversation = Conversation::new();
    conversation.apply(&events(json!([call("c", None)]))[0]);
    conversation.apply(&events(json!([call("d", None)]))[0]);
    for number in 0..50_000 {
        conversation.apply(&TextMessageStart::new(format!("m{number}")).into());
    }
    for number in 0..50_000 {
        let call = if number % 2 == 0 { "c" } else { "d" };
        conversation.apply(&ToolCallResult::new(format!("t{number}"), call, "").into());
    }
    let ids: Vec<&str> = conversation.messages().map(Message::id).collect();
    assert_eq!(ids.len(), 100_002);
    let [c, first, last, d] = [0, 1, 25_000, 25_001].map(|place| ids[place]);
    assert_eq!([c, first, last, d], ["c", "t0", "t49998", "d"]);
}

proptest! {
    #![proptest_config(cases(300))]

    /// Held against a plain list that is searched from its start.
    #[test]
    fn messages_stand_where_a_plain_list_has_them(steps in vec((0..4, 0..8), 0..40)) {
        let mut conversation = Conversation::new();
        let mut plain: Vec<(String, bool)> = Vec::new();
        for (step, number) in steps {
            let id = format!("m{number}");
            let held = plain.iter().position(|(held, _)| *held == id);
            match step {
                0 | 1 => {
                    let is_tool = step == 1;
                    let message = if is_tool {
                        ToolMessage::new(&id, "", "none").into()
                    } else {
                        UserMessage::new(&id, "").into()
                    };
                    conversation.add(message);
                    match held {
                        Some(place) => plain[place].1 = is_tool,
                        None => plain.push((id, is_tool)),
                    }
                }
                2 => {
                    // A message with a call of the same id.
                    let host = AssistantMessage::new(&id).with_tool_calls([ToolCall::function(&id, "f", "")]);
                    conversation.add(host.into());
                    match held {
                        Some(place) => plain[place].1 = false,
                        None => plain.push((id, false)),
                    }
                }
                _ => {
                    let answer = format!("t{}", plain.len());
                    let holds = |message: &Message| matches!(message, Message::Assistant(_));
                    let holder = held.filter(|_| conversation.message(&id).is_some_and(holds));
                    conversation.apply(&ToolCallResult::new(&answer, &id, "").into());
                    let tools = |place: usize| plain[place + 1..].iter().take_while(|(_, is_tool)| *is_tool);
                    let place = holder.map_or(plain.len(), |place| place + 1 + tools(place).count());
                    plain.insert(place, (answer, true));
                }
            }
            let ids: Vec<&str> = conversation.messages().map(Message::id).collect();
            let want: Vec<&str> = plain.iter().map(|(id, _)| id.as_str()).collect();
            prop_assert_eq!(&ids, &want);
            let mut backwards: Vec<&str> = conversation.messages().rev().map(Message::id).collect();
            backwards.reverse();
            prop_assert_eq!(&backwards, &want);
            prop_assert_eq!(conversation.messages().len(), want.len());
        }
        let ids: Vec<String> = conversation.clone().into_messages().iter().map(|message| message.id().to_owned()).collect();
        prop_assert_eq!(ids, plain.into_iter().map(|(id, _)| id).collect::<Vec<_>>());
    }
}

#[test]
fn an_answer_does_not_pass_what_took_the_place_of_another_one() {
    let (messages, _) = built_with_warnings(json!([
        call("c", None), end_call("c"), result("t1", "c"), result("t2", "c"),
        {"type": "ACTIVITY_SNAPSHOT", "messageId": "t1", "activityType": "p", "content": {}},
        result("t3", "c"),
    ]));
    assert_eq!(ids(&messages), ["c", "t3", "t1", "t2"]);
}

#[test]
fn the_rule_of_snapshots_can_be_asked_for_alone() {
    let list = |ids: &[&str]| -> Vec<Message> {
        ids.iter()
            .map(|id| {
                serde_json::from_value(json!({"id": id, "role": "user", "content": ""})).unwrap()
            })
            .collect()
    };
    let merged = reconcile(list(&["a", "b", "c"]), &list(&["d", "c", "a"]));
    let ids: Vec<&str> = merged.iter().map(Message::id).collect();
    assert_eq!(ids, ["a", "c", "d"]);
}

/// Each was looked for from the first on, which took the square of their number.
#[test]
fn ids_like_a_taken_one_are_found_at_once() {
    let mut conversation = Conversation::new();
    conversation.apply(&TextMessageStart::new("m").into());
    for _ in 0..50_000 {
        conversation.apply(&ToolCallResult::new("m", "c", "").into());
    }
    assert_eq!(conversation.messages().len(), 50_001);
    assert!(conversation.message("m-50001").is_some());
    // A snapshot forgets them, and then they are free again.
    conversation.apply(&MessagesSnapshot::new([UserMessage::new("m", "").into()]).into());
    conversation.apply(&ToolCallResult::new("m", "c", "").into());
    assert!(conversation.message("m-2").is_some());
}

#[test]
fn a_run_of_another_thread_is_told() {
    let run = |thread: &str, id: &str| {
        events(json!([{"type": "RUN_STARTED", "threadId": thread, "runId": id},
                      {"type": "RUN_FINISHED", "threadId": thread, "runId": id}]))
    };
    let log = [run("t", "1"), run("t", "2"), run("u", "1"), run("u", "2"), run("t", "3")];
    let (_, delivered) = consume(log.concat());
    assert_eq!(
        warnings(&delivered),
        [
            "event 4: a run of thread \"u\" in a conversation of thread \"t\"",
            "event 8: a run of thread \"t\" in a conversation of thread \"u\"",
        ]
    );
}

/// Each activity could grow by copies anew; together they have a bound, told with its place.
#[test]
fn activities_that_copy_have_a_bound_together() {
    let mut conversation = Conversation::new();
    let mut warnings = Vec::new();
    let text = "x".repeat(1 << 20);
    let copies: Vec<Value> =
        (0..60).map(|n| json!({"op": "copy", "from": "/a", "path": format!("/{n}")})).collect();
    for id in ["a", "b", "c"] {
        for event in events(json!([
            {"type": "ACTIVITY_SNAPSHOT", "messageId": id, "activityType": "t", "content": {"a": text}},
            {"type": "ACTIVITY_DELTA", "messageId": id, "activityType": "t", "patch": copies},
        ])) {
            warnings.extend(conversation.apply(&event).iter().map(ToString::to_string));
        }
    }
    assert_eq!(
        warnings,
        [
            "activity \"c\" not patched: operation 4 at \"/4\": copies beyond 134217728 bytes in all \
          activities"
        ]
    );
}

#[test]
fn what_was_copied_is_weighed_until_it_is_replaced() {
    let mut conversation = Conversation::new();
    let mut lens = Vec::new();
    for event in events(json!([
        {"type": "STATE_SNAPSHOT", "snapshot": {"a": "1234"}},
        {"type": "STATE_DELTA", "delta": [{"op": "add", "path": "/b", "value": 1}]},
        {"type": "STATE_DELTA", "delta": [{"op": "copy", "from": "/a", "path": "/c"}]},
        {"type": "ACTIVITY_SNAPSHOT", "messageId": "v", "activityType": "t", "content": {"a": "12"}},
        {"type": "ACTIVITY_DELTA", "messageId": "v", "activityType": "t",
         "patch": [{"op": "copy", "from": "/a", "path": "/c"}]},
        {"type": "STATE_SNAPSHOT", "snapshot": {}},
    ])) {
        assert!(conversation.apply(&event).is_empty());
        lens.push(conversation.copied_len());
    }
    // An object of two texts of 4 bytes and a number, and two texts of 2 bytes.
    let (state, activity) = (4 * 32 + 3 + 2 * 4, 2 * (32 + 2));
    assert_eq!(lens, [0, 0, state, state, state + activity, activity]);
}
