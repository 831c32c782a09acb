//! A view of a payload, and the event that it is.

use std::fmt::Display;

use ag_ui_proto::Event;
use ag_ui_proto::codec::{DecodeError, EventView, Limits, Member};
use ag_ui_proto::convert::ConvertReason;
use ag_ui_proto::value::{Object, Value};

/// Looks at a payload, and holds what is seen against the event.
pub fn view(payload: &[u8]) {
    // What the schema itself nests takes 7 levels; a view counts those around open values alone.
    for max_depth in [128, 8] {
        let limits = Limits::new().with_max_depth(max_depth);
        let Some(view) = EventView::read_within(payload, &limits) else { continue };
        match ag_ui_proto::codec::decode_payload(payload, &limits) {
            Ok(decoded) => {
                check(payload, &view, &decoded.event.expect("an event of this version"));
            }
            Err(error) => {
                assert!(is_about_content(&error), "{error}");
                // What was checked reads to the end.
                let _ = view.members().count();
            }
        }
    }
}

/// Whether what is wrong with a payload is what no view can see.
fn is_about_content(error: &DecodeError) -> bool {
    matches!(
        error,
        DecodeError::Convert(error) if matches!(
            error.reason,
            ConvertReason::TextAndParts
                | ConvertReason::SeveralContents
                | ConvertReason::ContentOfAnotherRole { .. }
        )
    )
}

fn check(payload: &[u8], view: &EventView<'_>, event: &Event) {
    assert_eq!(view.event_type(), event.event_type());
    assert_eq!(view.timestamp(), event.base.timestamp);
    // As text, since a value keeps the exact number that may travel beside its double.
    let text = |value: &dyn Display| value.to_string();
    let metadata = view.metadata().map(object);
    assert_eq!(
        metadata.as_ref().map(|object| text(object)),
        event.base.metadata.as_ref().map(|object| text(object)),
    );
    let raw_event = view.raw_event().map(value);
    assert_eq!(
        raw_event.as_ref().map(|value| text(value)),
        event.base.raw_event.as_deref().map(|value| text(value)),
    );
    let json = Value::from_serialize(event).expect("an event is JSON");
    for (name, member) in view.members() {
        check_member(payload, view, &json, name, member);
    }
    let ids = [
        ("messageId", view.message_id()),
        ("toolCallId", view.tool_call_id()),
        ("threadId", view.thread_id()),
        ("runId", view.run_id()),
        ("subagentRunId", view.subagent_run_id()),
        ("delta", view.delta()),
    ];
    for (name, text) in ids {
        assert_eq!(text, view.text(name), "{name}");
    }
}

fn check_member(
    payload: &[u8],
    view: &EventView<'_>,
    json: &Value,
    name: &str,
    member: Member<'_>,
) {
    let is_inside =
        |bytes: &[u8]| bytes.is_empty() || payload.as_ptr_range().contains(&bytes.as_ptr());
    let shown = &json[name];
    match member {
        Member::Text(text) if name == "outcome" => {
            assert_eq!(shown["type"].as_str().unwrap_or_default(), text);
        }
        Member::Text(_) if shown.is_list() || json["outcome"][name].is_list() => {}
        Member::Text(text) => {
            assert_eq!(view.text(name), Some(text), "{name}");
            assert!(is_inside(text.as_bytes()), "{name}");
            if shown.is_string() {
                assert_eq!(*shown, Value::from(text), "{name}");
            }
        }
        Member::Integer(flag) => assert_eq!(shown.as_bool().unwrap_or(false), flag != 0, "{name}"),
        Member::Value(bytes) => {
            assert!(is_inside(bytes));
            assert_eq!(shown.to_string(), value(bytes).to_string(), "{name}");
        }
        Member::Object(bytes) => {
            assert!(is_inside(bytes));
            assert_eq!(shown.to_string(), object(bytes).to_string(), "{name}");
        }
        Member::Message(bytes) => assert!(is_inside(bytes), "{name}"),
        other => panic!("{name}: {other:?}"),
    }
}

fn value(bytes: &[u8]) -> Value {
    Value::from_wire(bytes, 128).expect("a view checks open values")
}

fn object(bytes: &[u8]) -> Object {
    Object::from_wire(bytes, 128).expect("a view checks open objects")
}
