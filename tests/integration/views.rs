//! A view says what the event says, of the same bytes, without taking any of them away.

use ag_ui_proto::Event;
use ag_ui_proto::codec::{DecodeError, EventView, Limits, Member};
use ag_ui_proto::convert::ConvertReason;
use ag_ui_proto::model::{Custom, PatchOperation, StateDelta, StateSnapshot, TextMessageContent};
use ag_ui_proto::value::{Object, Value};
use proptest::prelude::*;

use crate::golden::golden_payloads;
use crate::properties::{any_event, check};

/// The view of a payload in the usual layout, held against the event that is decoded from it.
#[track_caller]
fn check_view(payload: &[u8]) {
    let event = Event::decode(payload).unwrap().event.unwrap();
    let view = EventView::read(payload).unwrap_or_else(|| panic!("no view of {event:?}"));
    assert_eq!(view.event_type(), event.event_type());
    assert_eq!(view.timestamp(), event.base.timestamp);
    let metadata = view.metadata().map(|bytes| Object::from_wire(bytes, 128).unwrap());
    assert_eq!(metadata, event.base.metadata);
    let raw_event = view.raw_event().map(|bytes| Value::from_wire(bytes, 128).unwrap());
    assert_eq!(raw_event.as_ref(), event.base.raw_event.as_deref());

    let json = Value::from_serialize(&event).unwrap();
    let (mut lists, mut open) = (Vec::new(), Vec::new());
    for (name, member) in view.members() {
        let inside = |bytes: &[u8]| payload.as_ptr_range().contains(&bytes.as_ptr());
        let shown = &json[name];
        match member {
            Member::Text(text) if name == "outcome" => assert_eq!(shown["type"], Value::from(text)),
            Member::Text(text) if shown.is_list() || json["outcome"][name].is_list() => {
                lists.push((name, text));
            }
            Member::Text(text) => {
                assert_eq!(*shown, Value::from(text), "{name}");
                assert_eq!(view.text(name), Some(text), "{name}");
                assert!(text.is_empty() || inside(text.as_bytes()), "{name}");
            }
            Member::Integer(flag) => assert_eq!(shown.as_bool(), Some(flag != 0), "{name}"),
            Member::Value(bytes) => {
                open.push(name);
                assert_eq!(*shown, Value::from_wire(bytes, 128).unwrap(), "{name}");
            }
            Member::Object(bytes) => {
                assert_eq!(*shown, Value::from(Object::from_wire(bytes, 128).unwrap()), "{name}");
            }
            Member::Message(bytes) => assert!(bytes.is_empty() || inside(bytes), "{name}"),
            other => panic!("{name}: {other:?}"),
        }
    }
    for (name, list) in
        ["pendingToolCallIds", "interruptIds"].map(|name| (name, &json["outcome"][name]))
    {
        let shown: Vec<_> =
            lists.iter().filter(|(of, _)| *of == name).map(|(_, text)| *text).collect();
        let ids = list.as_list().into_iter().flat_map(|list| list.iter());
        assert_eq!(shown, ids.map(|id| id.as_str().unwrap()).collect::<Vec<_>>());
    }
    // Nothing that the event says is left out.
    for (name, value) in json.as_object().unwrap() {
        let is_text = name != "type" && !open.contains(&name) && name != "rawEvent";
        if let Some(text) = value.as_str().filter(|text| is_text && !text.is_empty()) {
            assert_eq!(view.text(name), Some(text), "{name}");
        }
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

#[test]
fn every_golden_document_has_a_view() {
    for payload in golden_payloads() {
        check_view(&payload);
    }
}

#[test]
fn any_event_has_a_view_once_it_is_encoded() {
    check(400, &any_event(), |event| {
        check_view(&event.to_payload().unwrap());
        Ok(())
    });
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

#[test]
fn bytes_with_a_view_are_an_event() {
    let changed = (any_event(), any::<prop::sample::Index>(), any::<u8>(), any::<bool>());
    check(3000, &changed, |(event, at, byte, cut)| {
        let mut payload = event.to_payload().unwrap().to_vec();
        let at = at.index(payload.len());
        if cut {
            payload.truncate(at);
        } else {
            payload[at] = byte;
        }
        if let Some(view) = EventView::read(&payload) {
            match Event::decode(&payload) {
                Ok(decoded) => {
                    prop_assert_eq!(decoded.event.unwrap().event_type(), view.event_type());
                }
                Err(error) => prop_assert!(is_about_content(&error), "{error}"),
            }
            // What was checked reads to the end.
            let _ = view.members().count();
        }
        Ok(())
    });
}

#[test]
fn what_is_not_in_the_usual_layout_has_no_view() {
    let usual = b"\x1a\x07\x0a\x02\x08\x02\x12\x01m";
    assert!(EventView::read(usual).is_some());
    let others: [(&str, &[u8]); 10] = [
        ("nothing", b""),
        ("a field of a later version", b"\x1a\x0a\x0a\x02\x08\x02\x12\x01m\x52\x01x"),
        ("a field beside the arm", b"\x1a\x07\x0a\x02\x08\x02\x12\x01m\x98\x06\x01"),
        ("fields in another order", b"\x1a\x07\x12\x01m\x0a\x02\x08\x02"),
        ("a field twice", b"\x1a\x0a\x0a\x02\x08\x02\x12\x01m\x12\x01n"),
        ("no base", b"\x1a\x03\x12\x01m"),
        ("the base twice", b"\x1a\x0b\x0a\x02\x08\x02\x0a\x02\x08\x02\x12\x01m"),
        ("two bases that are one of another type", b"\x5a\x08\x0a\x02\x08\x0a\x0a\x02\x08\x00"),
        ("the base of another type", b"\x1a\x07\x0a\x02\x08\x03\x12\x01m"),
        ("a text that is not UTF-8", b"\x1a\x07\x0a\x02\x08\x02\x12\x01\xff"),
    ];
    for (what, payload) in others {
        assert!(EventView::read(payload).is_none(), "{what}");
    }
}

#[test]
fn a_view_keeps_the_limit_on_depth_where_the_decoder_does() {
    let nested = |levels| (0..levels).fold(Value::from(1), |inner, _| Value::from(vec![inner]));
    let events: [fn(Value) -> Event; 4] = [
        |value| StateSnapshot::new(value).into(),
        |value| Event::from(TextMessageContent::new("m", "x")).with_raw_event(value),
        |value| StateDelta::new([PatchOperation::add("/a", value)]).into(),
        |value| Event::from(Custom::new("n", 1)).with_metadata(Object::from([("a", value)])),
    ];
    for event in events {
        for levels in 1..14 {
            let payload = event(nested(levels)).to_payload().unwrap();
            let limits = Limits::new().with_max_depth(10);
            let decoded = ag_ui_proto::codec::decode_payload(&payload, &limits);
            assert_eq!(
                EventView::read_within(&payload, &limits).is_some(),
                decoded.is_ok(),
                "{levels}"
            );
        }
    }
}
