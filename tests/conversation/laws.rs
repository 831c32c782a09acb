//! Laws on generated streams.

use ag_ui_proto::Event;
use ag_ui_proto::codec::EventReader;
use ag_ui_proto::conversation::{
    ChunkExpander, Compactor, Conversation, Delivered, Extras, Lineage, ParentRun, RunResult,
    Verifier, ViolationKind, compact,
};
use ag_ui_proto::model::TolerantReader;
use bytes::BytesMut;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use serde_json::{Value, json};

use crate::{consume, consume_into};

/// So many cases of a law, the same ones in every run.
pub(crate) fn cases(cases: u32) -> Config {
    Config { cases, rng_seed: RngSeed::Fixed(31), failure_persistence: None, ..Config::default() }
}

fn id() -> impl Strategy<Value = &'static str> {
    prop::sample::select(&["a", "b", ""][..])
}

fn owner() -> impl Strategy<Value = Option<&'static str>> {
    prop_oneof![6 => Just(None), 2 => Just(Some("s")), 1 => Just(Some(""))]
}

fn operation() -> impl Strategy<Value = Value> {
    let path = prop::sample::select(&["", "/x", "/y", "/x/0", "/x/-", "/y/z", "/missing/x"][..]);
    let value = prop::sample::select(&[0, 1, 2][..]).prop_map(|choice| match choice {
        0 => json!({"z": 1}),
        1 => json!([1.0]),
        _ => json!(1),
    });
    let op = prop::sample::select(&["add", "replace", "remove", "test", "move", "copy"][..]);
    (op, path.clone(), path, value).prop_map(|(op, path, from, value)| match op {
        "remove" => json!({"op": op, "path": path}),
        "move" | "copy" => json!({"op": op, "path": path, "from": from}),
        _ => json!({"op": op, "path": path, "value": value}),
    })
}

fn message() -> impl Strategy<Value = Value> {
    let role = prop::sample::select(
        &["assistant", "assistant", "user", "tool", "activity", "reasoning", "system"][..],
    );
    (id(), role, owner(), id(), any::<bool>()).prop_map(|(id, role, owner, call, has_calls)| {
        let mut message = json!({"id": id, "role": role, "content": "held"});
        match role {
            "assistant" if has_calls => {
                message["toolCalls"] = json!([{"id": call, "type": "function",
                                               "function": {"name": "f", "arguments": "{"}}]);
            }
            "user" if has_calls => message["content"] = json!([{"type": "text", "text": "part"}]),
            "tool" => message["toolCallId"] = json!(call),
            "activity" => {
                message["activityType"] = json!("plan");
                message["content"] = json!({"x": 1});
            }
            _ => {}
        }
        if let Some(owner) = owner {
            message["subagentRunId"] = json!(owner);
        }
        message
    })
}

/// An event of few ids, so that its rules are met and broken often.
fn event() -> impl Strategy<Value = Value> {
    let kind = prop::sample::select(
        &[
            "TEXT_MESSAGE_START",
            "TEXT_MESSAGE_CONTENT",
            "TEXT_MESSAGE_CONTENT",
            "TEXT_MESSAGE_CONTENT",
            "TEXT_MESSAGE_END",
            "TEXT_MESSAGE_CHUNK",
            "TEXT_MESSAGE_CHUNK",
            "TOOL_CALL_START",
            "TOOL_CALL_START",
            "TOOL_CALL_ARGS",
            "TOOL_CALL_ARGS",
            "TOOL_CALL_ARGS",
            "TOOL_CALL_END",
            "TOOL_CALL_CHUNK",
            "TOOL_CALL_RESULT",
            "STATE_SNAPSHOT",
            "STATE_DELTA",
            "STATE_DELTA",
            "MESSAGES_SNAPSHOT",
            "ACTIVITY_SNAPSHOT",
            "ACTIVITY_DELTA",
            "RAW",
            "CUSTOM",
            "STEP_STARTED",
            "STEP_FINISHED",
            "REASONING_START",
            "REASONING_END",
            "REASONING_MESSAGE_START",
            "REASONING_MESSAGE_CONTENT",
            "REASONING_MESSAGE_CONTENT",
            "REASONING_MESSAGE_END",
            "REASONING_MESSAGE_CHUNK",
            "REASONING_ENCRYPTED_VALUE",
            "SUBAGENT_STARTED",
            "SUBAGENT_FINISHED",
            "SUBAGENT_ERROR",
            "RUN_STARTED",
            "RUN_FINISHED",
            "RUN_FINISHED",
            "RUN_ERROR",
        ][..],
    );
    let metadata = prop::option::weighted(0.4, (prop::sample::select(&["k", "l"][..]), 0..9_i64));
    (
        kind,
        (id(), id(), id()),
        owner(),
        prop::sample::select(&["x", "yz", ""][..]),
        (metadata, 0..6_u8, any::<bool>()),
        vec(operation(), 0..3),
        vec(message(), 0..4),
    )
        .prop_map(
            |(kind, (id, call, other), owner, delta, (metadata, choice, flag), patch, messages)| {
                let mut event = json!({"type": kind});
                let mut set = |name: &str, value: Value| {
                    event[name] = value;
                };
                match kind {
                    "TEXT_MESSAGE_START" => {
                        set("messageId", json!(id));
                        if flag {
                            set(
                                "role",
                                json!(
                                    ["user", "assistant", "system", "developer"]
                                        [usize::from(choice % 4)]
                                ),
                            );
                            set("name", json!("n"));
                        }
                    }
                    "TEXT_MESSAGE_CONTENT" | "REASONING_MESSAGE_CONTENT" => {
                        set("messageId", json!(id));
                        set("delta", json!(delta));
                    }
                    "TEXT_MESSAGE_CHUNK" | "REASONING_MESSAGE_CHUNK" => {
                        if flag {
                            set("messageId", json!(id));
                        }
                        if choice > 0 {
                            set("delta", json!(delta));
                        }
                    }
                    "TOOL_CALL_START" => {
                        set("toolCallId", json!(call));
                        set("toolCallName", json!(if choice == 0 { "g" } else { "f" }));
                        if flag {
                            set("parentMessageId", json!(id));
                        }
                    }
                    "TOOL_CALL_ARGS" => {
                        set("toolCallId", json!(call));
                        set("delta", json!(delta));
                    }
                    "TOOL_CALL_END" => set("toolCallId", json!(call)),
                    "TOOL_CALL_CHUNK" => {
                        if flag {
                            set("toolCallId", json!(call));
                            set("toolCallName", json!("f"));
                        }
                        set("delta", json!(delta));
                    }
                    "TOOL_CALL_RESULT" => {
                        set(
                            "messageId",
                            json!(if flag { format!("t{other}") } else { other.to_owned() }),
                        );
                        set("toolCallId", json!(call));
                        set("content", json!("result"));
                    }
                    "STATE_SNAPSHOT" => set("snapshot", json!({"x": [1, 2], "y": {"z": choice}})),
                    "STATE_DELTA" => set("delta", json!(patch)),
                    "MESSAGES_SNAPSHOT" => set("messages", json!(messages)),
                    "ACTIVITY_SNAPSHOT" => {
                        set("messageId", json!(id));
                        set("activityType", json!("plan"));
                        set("content", json!({"x": [1], "y": {"z": choice}}));
                        if flag {
                            set("replace", json!(choice > 2));
                        }
                    }
                    "ACTIVITY_DELTA" => {
                        set("messageId", json!(id));
                        set("activityType", json!("steps"));
                        set("patch", json!(patch));
                    }
                    "RAW" => set("event", json!(1)),
                    "CUSTOM" => {
                        set("name", json!("n"));
                        set("value", Value::Null);
                    }
                    "STEP_STARTED" | "STEP_FINISHED" => set("stepName", json!(id)),
                    "REASONING_MESSAGE_START" => {
                        set("messageId", json!(id));
                        set("role", json!("reasoning"));
                    }
                    "REASONING_ENCRYPTED_VALUE" => {
                        set("subtype", json!(if flag { "message" } else { "tool-call" }));
                        set("entityId", json!(id));
                        set("encryptedValue", json!(delta));
                        if choice > 2 {
                            set("encryptedValueType", json!("sealed"));
                        }
                    }
                    "SUBAGENT_STARTED" => set("name", json!("n")),
                    "SUBAGENT_ERROR" | "RUN_ERROR" => set("message", json!("no")),
                    "RUN_STARTED" => {
                        let thread = if choice == 1 { "u" } else { "t" };
                        set("threadId", json!(thread));
                        set("runId", json!(id));
                        if flag {
                            set(
                                "input",
                                json!({"threadId": thread, "runId": id, "messages": messages,
                                            "state": {"x": [choice]}}),
                            );
                        }
                        if choice == 0 {
                            set("parentRunId", json!(call));
                        }
                    }
                    "RUN_FINISHED" => {
                        set("threadId", json!("t"));
                        set("runId", json!(id));
                        match choice {
                            0 => set("outcome", json!({"type": "cancelled"})),
                            1 => set(
                                "outcome",
                                json!({"type": "interrupt",
                                                   "interrupts": [{"id": id, "reason": "?"}]}),
                            ),
                            2 => set(
                                "outcome",
                                json!({"type": "success", "pendingToolCallIds": [call]}),
                            ),
                            3 => set("result", json!({"done": true})),
                            _ => {}
                        }
                    }
                    _ => set("messageId", json!(id)),
                }
                let of_a_run = ["RUN_STARTED", "RUN_FINISHED", "RUN_ERROR", "MESSAGES_SNAPSHOT"];
                if kind.starts_with("SUBAGENT") {
                    set("subagentRunId", json!(id));
                } else if let (Some(owner), false) = (owner, of_a_run.contains(&kind)) {
                    set("subagentRunId", json!(owner));
                }
                if let Some((key, value)) = metadata {
                    set("metadata", json!({key: value}));
                    if value > 5 {
                        set("timestamp", json!(value));
                    }
                    if value % 3 == 0 {
                        set("rawEvent", json!({"of": value}));
                    }
                }
                event
            },
        )
}

/// What ends an open item.
fn end(item: &ag_ui_proto::conversation::Item, owner: Option<&str>) -> Event {
    use ag_ui_proto::conversation::ItemKind;
    let id = &item.id;
    let mut event = match item.kind {
        ItemKind::Text => json!({"type": "TEXT_MESSAGE_END", "messageId": id}),
        ItemKind::ToolCall => json!({"type": "TOOL_CALL_END", "toolCallId": id}),
        ItemKind::Reasoning => json!({"type": "REASONING_MESSAGE_END", "messageId": id}),
        ItemKind::Span => json!({"type": "REASONING_END", "messageId": id}),
        ItemKind::Step => json!({"type": "STEP_FINISHED", "stepName": id}),
        ItemKind::Subagent => json!({"type": "SUBAGENT_FINISHED", "subagentRunId": id}),
        ItemKind::Activity => panic!("an activity is never open"),
    };
    if let (ItemKind::Step, Some(owner)) = (item.kind, owner) {
        event["subagentRunId"] = json!(owner);
    }
    serde_json::from_value(event).unwrap()
}

/// What opens an item that is not open.
fn start(item: &ag_ui_proto::conversation::Item) -> Option<Event> {
    use ag_ui_proto::conversation::ItemKind;
    let id = &item.id;
    let event = match item.kind {
        ItemKind::Text => json!({"type": "TEXT_MESSAGE_START", "messageId": id}),
        ItemKind::ToolCall => {
            json!({"type": "TOOL_CALL_START", "toolCallId": id, "toolCallName": "f",
                   "parentMessageId": "a"})
        }
        ItemKind::Reasoning => {
            json!({"type": "REASONING_MESSAGE_START", "messageId": id, "role": "reasoning"})
        }
        _ => return None,
    };
    Some(serde_json::from_value(event).unwrap())
}

/// Keeps of a list of events what makes a stream without faults; a run that would finish with
/// something open closes it first.
fn verified(list: Vec<Value>) -> Vec<Event> {
    let (mut expander, mut verifier) = (ChunkExpander::new(), Verifier::new());
    let mut stream: Vec<Event> = Vec::new();
    let mut take = |event: Event| -> Result<(), ViolationKind> {
        let (mut next_expander, mut next_verifier) = (expander.clone(), verifier.clone());
        let mut ready = Vec::new();
        let verdict = next_expander
            .expand(event.clone(), &mut ready)
            .and_then(|()| ready.iter().try_for_each(|event| next_verifier.verify(event)));
        verdict.map_err(|violation| violation.kind)?;
        (expander, verifier) = (next_expander, next_verifier);
        stream.push(event);
        Ok(())
    };
    let first = json!({"type": "RUN_STARTED", "threadId": "t", "runId": "r0"});
    let mut runs = 0;
    for event in std::iter::once(first).chain(list) {
        let event: Event = serde_json::from_value(event).unwrap();
        match take(event.clone()) {
            Err(ViolationKind::StillOpen(open)) => {
                for item in &open {
                    for owner in [None, Some("s"), Some("")] {
                        if take(end(item, owner)).is_ok() {
                            break;
                        }
                    }
                }
                take(event).expect("nothing is open any more");
            }
            Err(ViolationKind::RunFinished | ViolationKind::RunFailed) => {
                runs += 1;
                let id = format!("r{runs}");
                let start = json!({"type": "RUN_STARTED", "threadId": "t", "runId": id});
                take(serde_json::from_value(start).unwrap()).unwrap();
                // What a run may refuse stays out.
                let _ = take(event);
            }
            Err(ViolationKind::NotOpen(item)) => {
                if let Some(start) = start(&item) {
                    let _ = take(start);
                    let _ = take(event);
                }
            }
            _ => {}
        }
    }
    stream
}

fn stream() -> impl Strategy<Value = Vec<Event>> {
    vec(event(), 0..90).prop_map(verified)
}

fn extras() -> impl Strategy<Value = Extras> {
    prop::sample::select(&[Extras::Keep, Extras::Merge, Extras::Drop][..])
}

fn conversation_of(stream: &[Event]) -> Conversation {
    consume(stream.iter().cloned()).0.conversation
}

fn as_result(result: &RunResult) -> String {
    format!("{result:?}")
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn a_compacted_stream_is_sound_and_comes_to_the_same(stream in stream()) {
        let (before, _) = consume(stream.clone());
        let compacted = compact(stream.clone()).unwrap();
        let (after, _) = consume(compacted.clone());
        prop_assert_eq!(as_result(&after.result), as_result(&before.result));
        prop_assert_eq!(&after.conversation, &before.conversation);
        prop_assert_eq!(compact(compacted.clone()).unwrap(), compacted);
    }

    /// Each cut of a compacted stream between runs is what the stream came to there.
    #[test]
    fn a_compacted_stream_comes_to_the_same_at_the_end_of_each_run(stream in stream()) {
        fn ends(stream: &[Event]) -> Vec<Conversation> {
            let is_end = |event: &Event| {
                let name = event.event_type().as_str();
                name == "RUN_FINISHED" || name == "RUN_ERROR"
            };
            let places = stream.iter().enumerate().filter(|(_, event)| is_end(event));
            places.map(|(place, _)| conversation_of(&stream[..=place])).collect()
        }
        let compacted = compact(stream.clone()).unwrap();
        prop_assert_eq!(ends(&compacted), ends(&stream));
    }

    /// Whichever run is gone back to.
    #[test]
    fn a_compacted_log_has_the_same_branches(stream in stream()) {
        let compacted = compact(stream.clone()).unwrap();
        for reading in [ParentRun::Branch, ParentRun::Spawn] {
            let before = Lineage::new(&stream, reading);
            let after = Lineage::new(&compacted, reading);
            for run in before.runs() {
                let of = |lineage: &Lineage<'_>| lineage.materialize(run.thread_id, run.run_id).unwrap().unwrap();
                prop_assert_eq!(of(&after), of(&before));
            }
        }
    }

    /// Whatever is to be kept, and what is to be kept is.
    #[test]
    fn a_stream_is_sound_and_comes_to_the_same_with_all_options(
        stream in stream(), timestamps in extras(), raw_events in extras(),
    ) {
        let compact = |events: Vec<Event>| {
            let mut compactor =
                Compactor::new().with_timestamps(timestamps).with_raw_events(raw_events);
            let mut out = Vec::new();
            for event in events {
                compactor.push(event, &mut out).unwrap();
            }
            let left_out = compactor.finish(&mut out);
            (out, left_out)
        };
        let (compacted, left_out) = compact(stream.clone());
        let (before, after) = (consume(stream.clone()).0, consume(compacted.clone()).0);
        prop_assert_eq!(as_result(&after.result), as_result(&before.result));
        prop_assert_eq!(&after.conversation, &before.conversation);
        let again = compact(compacted.clone());
        prop_assert_eq!(&again.0, &compacted);
        prop_assert!(again.1.is_empty());

        // What a chunk stands for has its timestamp; one that stands for nothing loses it.
        let mut expanded = Vec::new();
        let mut expander = ChunkExpander::new();
        let (mut timed, mut lost) = (0, 0);
        for event in stream {
            let is_chunk = event.event_type().as_str().ends_with("_CHUNK");
            let timestamp = event.base.timestamp;
            let mut ready = Vec::new();
            expander.expand(event, &mut ready).unwrap();
            if is_chunk {
                let ends = |event: &&mut Event| event.event_type().as_str().ends_with("_END");
                let own: Vec<_> = ready.iter_mut().filter(|event| !ends(event)).collect();
                lost += u64::from(timestamp.is_some() && own.is_empty());
                for event in own {
                    event.base.timestamp = timestamp;
                }
            }
            timed += u64::from(timestamp.is_some());
            expanded.extend(ready);
        }
        let all = |events: &[Event]| {
            let timestamps = events.iter().filter_map(|event| event.base.timestamp);
            let raw_events = events.iter().filter_map(|event| event.base.raw_event.clone());
            (timestamps.collect::<Vec<_>>(), raw_events.collect::<Vec<_>>())
        };
        let (had, has) = (all(&expanded), all(&compacted));
        // What is not there any more was counted.
        let left = u64::try_from(had.0.len() - has.0.len()).unwrap();
        let left = if timestamps == Extras::Drop { timed } else { left + lost };
        prop_assert_eq!(left, left_out.timestamps);
        prop_assert_eq!(u64::try_from(had.1.len() - has.1.len()).unwrap(), left_out.raw_events);
        match timestamps {
            Extras::Keep => prop_assert_eq!(has.0, had.0),
            Extras::Drop => prop_assert!(has.0.is_empty()),
            Extras::Merge => {}
        }
        match raw_events {
            Extras::Keep => prop_assert_eq!(has.1, had.1),
            Extras::Drop => prop_assert!(has.1.is_empty()),
            Extras::Merge => {}
        }
    }

    #[test]
    fn any_batches_give_the_same_conversation(stream in stream(), cut in 0_usize..60) {
        let whole = consume(stream.clone());
        let mut consumer = ag_ui_proto::conversation::Consumer::new(Conversation::new());
        let mut delivered = Delivered::default();
        let cut = cut.min(stream.len());
        for batch in [&stream[..cut], &stream[cut..]] {
            let mut part = Delivered::default();
            for event in batch {
                consumer.push(event.clone(), &mut part).map_err(|error| TestCaseError::fail(error.to_string()))?;
            }
            delivered.events.extend(part.events);
            delivered.warnings.extend(part.warnings);
        }
        prop_assert_eq!(&consumer.finish().conversation, &whole.0.conversation);
        prop_assert_eq!(delivered, whole.1);
    }

    #[test]
    fn a_log_restores_the_conversation_as_lines_and_as_frames(stream in stream()) {
        let conversation = conversation_of(&stream);
        let mut reader = TolerantReader::new();
        let lines = stream.iter().map(|event| serde_json::to_string(event).unwrap());
        let read: Vec<Event> = lines.map(|line| reader.read(&line).unwrap().event.unwrap()).collect();
        prop_assert_eq!(&conversation_of(&read), &conversation);

        let mut bytes = BytesMut::new();
        for event in &stream {
            event.encode_frame(&mut bytes).unwrap();
        }
        let mut reader = EventReader::new();
        let mut read = Vec::new();
        while let Some(decoded) = reader.next_event(&mut bytes).unwrap() {
            read.push(decoded.event.unwrap());
        }
        // The wire writes 1.0 as 1: compare as JSON, by value.
        let restored = conversation_of(&read);
        prop_assert_eq!(by_value(&restored), by_value(&conversation));
        prop_assert_eq!(restored.runs(), conversation.runs());
    }

    #[test]
    fn a_cut_stream_is_finished_only_where_a_run_ends(stream in stream()) {
        for cut in 0..=stream.len() {
            let (consumed, _) = consume(stream[..cut].iter().cloned());
            let last = stream[..cut].last().map(|event| event.event_type().as_str());
            let is_right = match last {
                Some("RUN_FINISHED") => matches!(consumed.result, RunResult::Finished(_)),
                Some("RUN_ERROR") => matches!(consumed.result, RunResult::Failed(_)),
                _ => matches!(consumed.result, RunResult::Truncated),
            };
            prop_assert!(is_right, "{:?} after {:?}", consumed.result, last);
        }
    }

    /// What is no stream is refused or taken, and never does harm.
    #[test]
    fn any_events_in_any_order_are_answered(list in vec(event(), 0..40)) {
        let events: Vec<Event> =
            list.into_iter().map(|event| serde_json::from_value(event).unwrap()).collect();
        let mut conversation = Conversation::new();
        for event in &events {
            conversation.apply(event);
        }
        let ids: Vec<&str> = conversation.messages().map(ag_ui_proto::model::Message::id).collect();
        let unique: std::collections::HashSet<&str> = ids.iter().copied().collect();
        prop_assert_eq!(ids.len(), unique.len());
        let (consumed, _) = consume_into(conversation, events.clone());
        if let RunResult::Rejected(_) = consumed.result {
            prop_assert!(compact(events).is_err());
        }
    }
}

fn by_value(conversation: &Conversation) -> Value {
    fn as_doubles(value: &mut Value) {
        match value {
            Value::Number(number) => *value = number.as_f64().unwrap().into(),
            Value::Array(list) => list.iter_mut().for_each(as_doubles),
            Value::Object(object) => object.values_mut().for_each(as_doubles),
            _ => {}
        }
    }
    let mut value = json!({"messages": conversation.messages().collect::<Vec<_>>(),
                           "state": conversation.state(),
                           "interrupts": conversation.interrupts()});
    as_doubles(&mut value);
    value
}

#[test]
fn the_generator_reaches_what_it_is_for() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::new(cases(1));
    let (mut runs, mut messages, mut len, mut saved) = (0, 0, 0, 0);
    let mut types = std::collections::BTreeSet::new();
    for _ in 0..300 {
        let stream = stream().new_tree(&mut runner).unwrap().current();
        let conversation = conversation_of(&stream);
        runs += conversation.runs().iter().filter(|run| run.outcome.is_some()).count();
        messages += conversation.messages().len();
        len += stream.len();
        saved += compact(stream.clone()).unwrap().len().abs_diff(stream.len());
        types.extend(stream.iter().map(Event::event_type));
    }
    assert!(
        runs > 500 && messages > 500 && len > 5000 && saved > 300,
        "{runs} {messages} {len} {saved}"
    );
    assert_eq!(types.len(), 31);
}
