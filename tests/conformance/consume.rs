//! `streams/*.json`: what a consumer makes of each of them, as JSON and through frames.

use ag_ui_proto::codec::EventReader;
use ag_ui_proto::conversation::{
    Consumed, Consumer, Conversation, Delivered, RunResult, Warning, WarningKind,
};
use ag_ui_proto::model::{Body, Event, EventType, NoticeKind, TolerantReader};
use bytes::BytesMut;
use serde_json::{Map, Value, json};

use super::{as_doubles, directory};

/// We follow the prose, which strips an unknown role; the fixture pins the reference client.
const BY_THE_PROSE: [&str; 1] = ["unknown-enum-value-role-fatal"];

/// Streams to peers of 0.x that a consumer may translate for, and need not: what is delivered is
/// then the stream as it is.
const PERMITTED: [&str; 2] =
    ["era-0-0-39-flattens-content", "era-0-0-57-subagent-dropped-with-warning"];

struct Lane {
    consumed: Consumed,
    delivered: Delivered,
}

/// The conversation before the run: the messages of the input, read as a consumer reads old ones.
fn before(case: &Value) -> Conversation {
    let Some(messages) = case["input"].get("messages") else { return Conversation::new() };
    let snapshot = json!({"type": "MESSAGES_SNAPSHOT", "messages": messages});
    let read = TolerantReader::new().read(&snapshot.to_string()).unwrap();
    let Some(Body::MessagesSnapshot(snapshot)) = read.event.map(|event| event.body) else {
        panic!("no snapshot")
    };
    Conversation::new().with_messages(snapshot.messages)
}

fn start(case: &Value) -> Consumer {
    Consumer::new(before(case))
}

fn through_json(case: &Value) -> Lane {
    let (mut consumer, mut delivered) = (start(case), Delivered::default());
    let mut reader = TolerantReader::new();
    for event in case["stream"].as_array().unwrap() {
        let read = match reader.read(&event.to_string()) {
            Ok(read) => read,
            Err(error) => {
                consumer.reject(error);
                break;
            }
        };
        match read.event {
            Some(event) => {
                if consumer.push(event, &mut delivered).is_err() {
                    break;
                }
            }
            None => consumer.skip(),
        }
        delivered.warnings.extend(
            read.notices.into_iter().map(|notice| Warning { index: 0, kind: notice.into() }),
        );
    }
    Lane { consumed: consumer.finish(), delivered }
}

/// A bridge reads the JSON as a consumer does, since names of a later version have no bytes, and
/// tells of what it strips; it writes frames, and a consumer reads those.
fn through_frames(case: &Value) -> Lane {
    let (mut consumer, mut delivered) = (start(case), Delivered::default());
    let mut bridge = TolerantReader::new();
    let mut stream = BytesMut::new();
    let mut fault = None;
    for event in case["stream"].as_array().unwrap() {
        let read = match bridge.read(&event.to_string()) {
            Ok(read) => read,
            Err(error) => {
                fault = Some(error);
                break;
            }
        };
        delivered.warnings.extend(
            read.notices.into_iter().map(|notice| Warning { index: 0, kind: notice.into() }),
        );
        if let Some(event) = read.event {
            event.encode_frame(&mut stream).unwrap();
        }
    }
    let mut reader = EventReader::new();
    while let Some(decoded) = reader.next_event(&mut stream).unwrap() {
        if consumer.push(decoded.event.unwrap(), &mut delivered).is_err() {
            break;
        }
    }
    if let Some(fault) = fault {
        consumer.reject(fault);
    }
    Lane { consumed: consumer.finish(), delivered }
}

/// Whether all of `part` is in `whole`; lists have the same length.
fn holds(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => {
            part.iter().all(|(key, part)| whole.get(key).is_some_and(|whole| holds(whole, part)))
        }
        (Value::Array(whole), Value::Array(part)) => {
            whole.len() == part.len() && whole.iter().zip(part).all(|(a, b)| holds(a, b))
        }
        _ => whole == part,
    }
}

fn at<'v>(events: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.').try_fold(events, |value, token| match value {
        Value::Array(list) => list.get(token.parse::<usize>().ok()?),
        Value::Object(object) => object.get(token),
        _ => None,
    })
}

fn to_json(value: &impl serde::Serialize) -> Value {
    let mut json = serde_json::to_value(value).unwrap();
    as_doubles(&mut json);
    json
}

fn check(name: &str, expect: &Map<String, Value>, lane: &Lane) {
    let Lane { consumed, delivered } = lane;
    let refused = matches!(consumed.result, RunResult::Rejected(_));
    let must_fail = expect["outcome"] == "failed" && !BY_THE_PROSE.contains(&name);
    assert_eq!(refused, must_fail, "{name}: {:?}", consumed.result);
    if !refused {
        assert!(!matches!(consumed.result, RunResult::Truncated), "{name}");
    }
    let events = to_json(&delivered.events);
    let types: Vec<&str> =
        events.as_array().unwrap().iter().map(|event| event["type"].as_str().unwrap()).collect();
    let messages: Vec<Value> = consumed.conversation.messages().map(to_json).collect();
    for (key, wanted) in expect {
        let mut wanted = wanted.clone();
        as_doubles(&mut wanted);
        match key.as_str() {
            // Held elsewhere, or wordings of another implementation.
            "outcome" | "errorContains" | "request" | "requestAbsentPaths" => {}
            _ if PERMITTED.contains(&name) && key != "messages" => {}
            "eventTypes" => assert_eq!(json!(types), wanted, "{name}"),
            "eventTypesAbsent" => {
                for absent in wanted.as_array().unwrap() {
                    assert!(!types.iter().any(|found| absent == found), "{name}: {absent}");
                }
            }
            "eventPaths" => {
                for (path, wanted) in wanted.as_object().unwrap() {
                    assert_eq!(at(&events, path), Some(wanted), "{name}: {path}");
                }
            }
            "eventAbsentPaths" => {
                for path in wanted.as_array().unwrap() {
                    assert_eq!(at(&events, path.as_str().unwrap()), None, "{name}: {path}");
                }
            }
            "messageCount" => assert_eq!(
                json!(f64::from(u32::try_from(messages.len()).unwrap())),
                wanted,
                "{name}"
            ),
            "messages" => {
                for wanted in wanted.as_array().unwrap() {
                    let found = messages.iter().any(|message| holds(message, wanted));
                    assert!(found, "{name}: {wanted} in {messages:#?}");
                }
            }
            "state" => {
                let state = to_json(consumed.conversation.state());
                assert!(holds(&state, &wanted), "{name}: {wanted} in {state}");
            }
            "runError" => {
                let text = delivered.events.iter().find_map(|event| match &event.body {
                    Body::RunError(error) => Some(error.message.clone()),
                    _ => None,
                });
                assert_eq!(text.as_deref(), wanted.as_str(), "{name}");
            }
            "warnings" => {
                let told = !delivered.warnings.is_empty();
                let wanted = !wanted.as_array().unwrap().is_empty();
                assert_eq!(told, wanted, "{name}: {:?}", delivered.warnings);
            }
            "noWarnings" => assert_eq!(delivered.warnings, [], "{name}"),
            other => panic!("{name}: {other} is not known"),
        }
    }
}

#[test]
fn every_stream_comes_to_what_a_consumer_must_make_of_it_in_both_bindings() {
    let Some(directory) = directory() else { return };
    let (mut count, mut requests) = (0, 0);
    for entry in std::fs::read_dir(directory.join("streams")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let case: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let mut expect = case["expect"].as_object().unwrap().clone();
        for (key, value) in case["expectOverrides"]["typescript"].as_object().into_iter().flatten()
        {
            if key != "intentional" {
                expect.insert(key.clone(), value.clone());
            }
        }
        let json = through_json(&case);
        let frames = through_frames(&case);
        check(&name, &expect, &json);
        check(&name, &expect, &frames);
        assert_eq!(
            to_json(&json.consumed.conversation.messages().collect::<Vec<_>>()),
            to_json(&frames.consumed.conversation.messages().collect::<Vec<_>>()),
            "{name}"
        );
        assert_eq!(
            to_json(json.consumed.conversation.state()),
            to_json(frames.consumed.conversation.state()),
            "{name}"
        );
        let types = |lane: &Lane| -> Vec<EventType> {
            lane.delivered.events.iter().map(Event::event_type).collect()
        };
        assert_eq!(types(&json), types(&frames), "{name}");
        // A peer of 0.x is told no version, and may be sent less; both are the caller's to do.
        let is_permitted = PERMITTED.contains(&name.as_str());
        if let (Some(request), false) = (expect.get("request"), is_permitted) {
            let input = before(&case).next_input("r").with_thread("t").build().unwrap();
            input.validate().unwrap();
            assert!(holds(&to_json(&input), request), "{name}: {request} in {input:?}");
            requests += 1;
        }
        count += 1;
    }
    assert_eq!((count, requests), (68, 3));
}

#[test]
fn the_stream_that_follows_the_prose_strips_the_role_with_a_notice() {
    let Some(directory) = directory() else { return };
    for name in BY_THE_PROSE {
        let path = directory.join(format!("streams/{name}.json"));
        let case: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let Lane { consumed, delivered } = through_json(&case);
        assert!(consumed.result.is_success(), "{:?}", consumed.result);
        let [warning] = &delivered.warnings[..] else { panic!("{:?}", delivered.warnings) };
        let WarningKind::Notice(notice) = &warning.kind else { panic!("{warning:?}") };
        assert!(matches!(notice.kind, NoticeKind::Stripped(_)), "{notice}");
    }
}
