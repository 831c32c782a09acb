//! What a run waits for, and the next request.

use ag_ui_proto::conversation::{Conversation, InputError, ResumeCheck, is_expired};
use ag_ui_proto::model::{Interrupt, ResumeEntry, ResumeStatus};
use ag_ui_proto::value::Value as Open;
use serde_json::{Value, json};

use crate::{consume, consume_into, events};

fn ended(outcome: Value) -> Conversation {
    let (consumed, _) = consume(events(json!([
        {"type": "RUN_STARTED", "threadId": "t", "runId": "r1"},
        {"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "f"},
        {"type": "TOOL_CALL_END", "toolCallId": "c"},
        {"type": "ACTIVITY_SNAPSHOT", "messageId": "v", "activityType": "p", "content": {}},
        {"type": "STATE_SNAPSHOT", "snapshot": {"n": 1}},
        {"type": "RUN_FINISHED", "threadId": "t", "runId": "r1", "outcome": outcome},
    ])));
    consumed.conversation
}

fn waiting() -> Conversation {
    ended(json!({"type": "interrupt", "interrupts": [
        {"id": "i", "reason": "?", "expiresAt": "2026-12-31T00:00:00Z"}, {"id": "j", "reason": "?"}]}))
}

#[test]
fn every_interrupt_is_answered_once_and_no_other() {
    let conversation = waiting();
    let next = || conversation.next_input("r2");
    assert_eq!(next().build().unwrap_err(), InputError::Unanswered(vec!["i".into(), "j".into()]));
    assert_eq!(
        next().resolve("i", 1).build().unwrap_err().to_string(),
        "interrupts without an answer: j"
    );
    assert_eq!(next().cancel("k").build().unwrap_err(), InputError::NotOpen("k".into()));
    assert_eq!(
        next().cancel("i").resolve("i", 1).build().unwrap_err(),
        InputError::AnsweredTwice("i".into())
    );
    let null = next().resolve("i", Open::Null).cancel("j");
    assert_eq!(null.build().unwrap_err(), InputError::Payload("i".into()));
    let entry = ResumeEntry::new("i", ResumeStatus::Cancelled).with_payload(1);
    assert_eq!(
        next().answer(entry).cancel("j").build().unwrap_err(),
        InputError::Payload("i".into())
    );

    let input = next().resolve("i", json!({"approved": false})).cancel("j").build().unwrap();
    input.validate().unwrap();
    assert_eq!(
        serde_json::to_value(&input).unwrap(),
        json!({"threadId": "t", "runId": "r2", "protocolVersion": "1.1", "state": {"n": 1},
               "messages": [{"role": "assistant", "id": "c", "toolCalls": [
                   {"id": "c", "type": "function", "function": {"name": "f", "arguments": ""}}]}],
               "resume": [{"interruptId": "i", "status": "resolved", "payload": {"approved": false}},
                          {"interruptId": "j", "status": "cancelled"}]})
    );
}

#[test]
fn what_has_expired_can_only_be_cancelled() {
    let conversation = waiting();
    let expiry = 1_798_675_200_000;
    let answer = |now| conversation.next_input("r2").at(now).resolve("i", 1).cancel("j").build();
    assert!(answer(expiry - 1).is_ok());
    assert_eq!(answer(expiry).unwrap_err(), InputError::Expired("i".into()));
    assert!(conversation.next_input("r2").at(expiry).cancel("i").cancel("j").build().is_ok());
    for (text, expired) in [
        ("2026-12-31T00:00:00Z", true),
        ("2026-12-31T02:00:00+02:00", true),
        ("2026-12-31T00:00:00.001Z", false),
        ("2026-12-31", true),
        ("2026-12-31T00:00:00", true),
        ("2027-01-01", false),
        ("soon", false),
        ("", false),
    ] {
        let interrupt = Interrupt::new("i", "?").with_expires_at(text);
        assert_eq!(is_expired(&interrupt, expiry), expired, "{text}");
    }
    assert!(!is_expired(&Interrupt::new("i", "?"), i64::MAX));
}

#[test]
fn calls_left_to_the_consumer_need_an_answer_and_those_of_a_run_that_waits_do_not() {
    let mut conversation = ended(json!({"type": "success"}));
    let error = conversation.next_input("r2").build().unwrap_err();
    assert_eq!(error, InputError::UnansweredCalls(vec!["c".into()]));
    let answer =
        json!({"id": "a", "role": "tool", "toolCallId": "c", "content": "", "error": "declined"});
    conversation.add(serde_json::from_value(answer).unwrap());
    let input = conversation.next_input("r2").build().unwrap();
    assert_eq!(input.messages.len(), 2);
    assert_eq!(input.resume, None);
    assert!(ended(json!({"type": "cancelled"})).next_input("r2").build().is_ok());
}

#[test]
fn a_request_names_its_thread_and_a_new_run() {
    let conversation = ended(json!({"type": "cancelled"}));
    assert_eq!(
        conversation.next_input("r1").build().unwrap_err(),
        InputError::RunIdTaken("r1".into())
    );
    assert_eq!(Conversation::new().next_input("r").build().unwrap_err(), InputError::NoThread);
    let input = Conversation::new()
        .with_state(Open::Null)
        .next_input("r")
        .with_thread("new")
        .build()
        .unwrap();
    assert_eq!((input.thread_id.as_str(), input.state), ("new", None));
}

#[test]
fn a_run_that_does_not_wait_closes_what_was_open() {
    let conversation = waiting();
    let ends = |end: Value| {
        let list = json!([{"type": "RUN_STARTED", "threadId": "t", "runId": "r2"}, end]);
        consume_into(conversation.clone(), events(list)).0.conversation.interrupts().len()
    };
    assert_eq!(ends(json!({"type": "RUN_FINISHED", "threadId": "t", "runId": "r2"})), 0);
    assert_eq!(ends(json!({"type": "RUN_ERROR", "message": "no"})), 2);
    let again = json!({"type": "interrupt", "interrupts": [{"id": "k", "reason": "?"}]});
    assert_eq!(
        ends(json!({"type": "RUN_FINISHED", "threadId": "t", "runId": "r2", "outcome": again})),
        1
    );
}

#[test]
fn an_agent_sees_what_a_request_leaves_open_and_what_answers_nothing() {
    let entries = |ids: &[&str]| -> Vec<ResumeEntry> {
        ids.iter().map(|id| ResumeEntry::new(*id, ResumeStatus::Cancelled)).collect()
    };
    assert_eq!(
        waiting().check_resume(&entries(&["j", "x"])),
        ResumeCheck { uncovered: vec!["i".into()], unknown: vec!["x".into()] }
    );
    assert_eq!(waiting().check_resume(&entries(&["j", "i"])), ResumeCheck::default());
}
