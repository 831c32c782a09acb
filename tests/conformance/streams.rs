//! `streams/*.json`: every valid event of them, over the wire and back.
//!
//! What a consumer makes of the streams is not asked here.

use ag_ui_proto::codec::EventReader;
use ag_ui_proto::model::StrictReader;
use bytes::BytesMut;
use serde_json::{Value, json};

use super::{as_doubles, directory};

/// What a trip over the wire changes without changing what is said.
///
/// Rule: wire.md 8.
pub(super) fn normalize(event: &mut Value) {
    if event["usage"] == json!([]) {
        remove(event, "usage");
    }
    for list in ["pendingToolCallIds", "interruptIds"] {
        if event["outcome"][list] == json!([]) {
            remove(&mut event["outcome"], list);
        }
    }
    for list in ["delta", "patch"] {
        for operation in event.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
            operation
                .as_object_mut()
                .unwrap()
                .retain(|name, _| ["op", "path", "from", "value"].contains(&name.as_str()));
        }
    }
    normalize_messages(event);
    if let Some(input) = event.get_mut("input") {
        normalize_messages(input);
        for list in ["tools", "context", "resume"] {
            if input.get(list).is_none() {
                input[list] = json!([]);
            }
        }
    }
}

fn normalize_messages(holder: &mut Value) {
    for message in holder.get_mut("messages").and_then(Value::as_array_mut).into_iter().flatten() {
        if message["toolCalls"] == json!([]) {
            remove(message, "toolCalls");
        }
    }
}

fn remove(object: &mut Value, name: &str) {
    object.as_object_mut().unwrap().remove(name);
}

#[test]
fn every_valid_event_of_every_stream_survives_the_trip() {
    let Some(directory) = directory() else { return };
    let (mut files, mut valid, mut others) = (0, 0, Vec::new());
    let mut paths: Vec<_> = std::fs::read_dir(directory.join("streams"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    paths.sort();
    for path in paths {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let case: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        files += 1;
        let mut stream = BytesMut::new();
        let mut sent = Vec::new();
        for event in case["stream"].as_array().unwrap() {
            let Ok(read) = StrictReader::new().read(&event.to_string()) else {
                others.push(format!("{name}: {}", event["type"]));
                continue;
            };
            read.encode_frame(&mut stream).unwrap_or_else(|error| panic!("{name}: {error}"));
            let mut event = event.clone();
            normalize(&mut event);
            as_doubles(&mut event);
            sent.push(event);
            valid += 1;
        }
        let mut reader = EventReader::new();
        let mut received = Vec::new();
        while let Some(decoded) = reader.next_event(&mut stream).unwrap() {
            assert_eq!(decoded.notices, [], "{name}");
            let mut event = serde_json::to_value(decoded.event.unwrap()).unwrap();
            as_doubles(&mut event);
            received.push(event);
        }
        reader.finish(&stream).unwrap();
        assert_eq!(received, sent, "{name}");
    }
    assert_eq!(files, 68);
    assert!(valid > 300, "{valid} valid events");
    // Few are not valid, and each is what its stream is about.
    println!("not valid: {others:#?}");
    assert!(others.len() < 30, "{others:#?}");
}
