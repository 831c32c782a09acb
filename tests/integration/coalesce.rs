//! Merging deltas: what a consumer makes of a stream stays the same, whenever the link is busy.

#![allow(clippy::unwrap_used, reason = "what fails in a helper fails its test")]

use std::cell::Cell;
use std::collections::BTreeMap;

use ag_ui_proto::codec::{Limits, encode_frame};
use ag_ui_proto::model::{
    Body, Event, ReasoningMessageContent, StepStarted, TextMessageContent, TextMessageEnd,
    ToolCallArgs,
};
use ag_ui_proto::stream::Coalescer;
use ag_ui_proto::value::Object;
use bytes::BytesMut;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::properties::{any_event, check, object, text};

/// A delta of one of few items, with or without each thing that can stand in the way.
fn delta() -> impl Strategy<Value = Event> {
    let members = (
        0_usize..3,
        prop::sample::select(&["a", "b"][..]),
        text(),
        prop::option::weighted(0.2, prop::sample::select(&["", "s"][..])),
    );
    let body = members.prop_map(|(kind, id, delta, owner)| match (kind, owner) {
        (0, None) => Event::from(TextMessageContent::new(id, delta)),
        (0, Some(owner)) => TextMessageContent::new(id, delta).with_subagent(owner).into(),
        (1, None) => ReasoningMessageContent::new(id, delta).into(),
        (1, Some(owner)) => ReasoningMessageContent::new(id, delta).with_subagent(owner).into(),
        (_, None) => ToolCallArgs::new(id, delta).into(),
        (_, Some(owner)) => ToolCallArgs::new(id, delta).with_subagent(owner).into(),
    });
    let key = prop::sample::select(&["x", "y", "z"][..]);
    let metadata = vec((key, 0_i64..5), 0..3).prop_map(Object::from_iter);
    let metadata = prop_oneof![8 => metadata, 1 => object()];
    let base = (
        prop::option::weighted(0.2, metadata),
        prop::option::weighted(0.3, 0_i64..9),
        prop::bool::weighted(0.03),
        prop::bool::weighted(0.03),
    );
    (body, base).prop_map(|(mut event, (metadata, timestamp, has_raw, has_extra))| {
        event.base.metadata = metadata;
        event.base.timestamp = timestamp;
        if has_raw {
            event = event.with_raw_event("provider");
        }
        match &mut event.body {
            Body::TextMessageContent(body) if has_extra => body.extra.insert("later", 1),
            _ => {}
        }
        event
    })
}

/// Streams in which the same item is often appended to several times in a row.
fn events() -> impl Strategy<Value = Vec<Event>> {
    let run = (delta(), 1_usize..4).prop_map(|(event, times)| vec![event; times]);
    let other = prop_oneof![
        Just(Event::from(StepStarted::new("s"))),
        Just(Event::from(TextMessageEnd::new("a"))),
        any_event(),
    ];
    vec(prop_oneof![6 => run, 1 => other.prop_map(|event| vec![event])], 0..20)
        .prop_map(|runs| runs.concat())
}

/// What comes out if the link is free after the events that `free` says.
fn run(mut coalescer: Coalescer, events: &[Event], free: impl Fn(usize) -> bool) -> Vec<Event> {
    let mut out = Vec::new();
    for (at, event) in events.iter().enumerate() {
        out.extend(coalescer.push(event.clone()));
        if free(at) {
            out.extend(coalescer.take());
            assert!(coalescer.is_empty());
        }
    }
    out.extend(coalescer.take());
    out
}

/// The kind of an item, its id, and the subagent that a delta of it names.
type Item = (&'static str, String, Option<String>);

/// What was accumulated of each item.
type Metadata = BTreeMap<(&'static str, String), Object>;

/// The item that an event appends to, and what.
fn appended(event: &Event) -> Option<(Item, &str)> {
    let (kind, id, owner, delta) = match &event.body {
        Body::TextMessageContent(body) => {
            ("text", &body.message_id, &body.subagent_run_id, &body.delta)
        }
        Body::ReasoningMessageContent(body) => {
            ("reasoning", &body.message_id, &body.subagent_run_id, &body.delta)
        }
        Body::ToolCallArgs(body) => {
            ("tool", &body.tool_call_id, &body.subagent_run_id, &body.delta)
        }
        _ => return None,
    };
    Some(((kind, id.clone(), owner.clone()), delta))
}

/// One thing that a consumer sees.
#[derive(Debug, PartialEq)]
enum Seen {
    /// A character of an item.
    Char(Item, char),
    /// An event that is not merged, with what was accumulated of every item before it.
    Event(Box<Event>, Metadata),
}

/// All that a consumer sees, in order. Metadata is merged as the protocol says.
fn seen(events: &[Event]) -> (Vec<Seen>, Metadata) {
    let mut metadata = Metadata::new();
    let mut all = Vec::new();
    for event in events {
        let Some((item, delta)) = appended(event) else {
            all.push(Seen::Event(Box::new(event.clone()), metadata.clone()));
            continue;
        };
        if let Some(more) = &event.base.metadata {
            let held = metadata.entry((item.0, item.1.clone())).or_default();
            for (key, value) in more {
                held.insert(key, value.clone());
            }
        }
        if is_kept(event) {
            all.push(Seen::Event(Box::new(event.clone()), metadata.clone()));
        }
        all.extend(delta.chars().map(|char| Seen::Char(item.clone(), char)));
    }
    (all, metadata)
}

/// Whether a delta holds what merging would lose.
fn is_kept(event: &Event) -> bool {
    let has_extra = match &event.body {
        Body::TextMessageContent(body) => !body.extra.is_empty(),
        Body::ReasoningMessageContent(body) => !body.extra.is_empty(),
        Body::ToolCallArgs(body) => !body.extra.is_empty(),
        _ => false,
    };
    has_extra || event.base.raw_event.is_some()
}

#[test]
fn a_consumer_sees_the_same_text_metadata_and_order() {
    let merged = Cell::new(0);
    check(1000, &(events(), any::<u64>()), |(events, free)| {
        let out = run(Coalescer::new(), &events, |at| free >> (at % 64) & 1 == 1);
        prop_assert_eq!(seen(&out), seen(&events));
        merged.set(merged.get() + events.len() - out.len());
        Ok(())
    });
    assert!(merged.get() > 1000, "{}", merged.get());
}

#[test]
fn what_comes_out_holds_every_timestamp_that_went_in_first() {
    check(500, &events(), |events| {
        let out = run(Coalescer::new(), &events, |_| false);
        // Each event that came out is a row of those that went in; the first timestamp stands.
        let mut rest = &events[..];
        for event in &out {
            let Some((item, delta)) = appended(event) else {
                prop_assert_eq!(event, &rest[0]);
                rest = &rest[1..];
                continue;
            };
            let (mut text, mut timestamp, mut count) = (String::new(), None, 0);
            while let Some((next, more)) = rest.get(count).and_then(appended)
                && next == item
                && (count == 0 || !is_kept(&rest[count]) && !is_kept(&rest[0]))
            {
                text.push_str(more);
                timestamp = timestamp.or(rest[count].base.timestamp);
                count += 1;
            }
            prop_assert_eq!(delta, text, "all neighbours are merged");
            prop_assert_eq!(event.base.timestamp, timestamp);
            rest = &rest[count..];
        }
        prop_assert_eq!(rest, &[]);
        Ok(())
    });
}

#[test]
fn a_link_that_is_never_busy_gets_every_event_as_it_came() {
    check(300, &events(), |events| {
        prop_assert_eq!(run(Coalescer::new(), &events, |_| true), events);
        Ok(())
    });
}

#[test]
fn what_fitted_alone_fits_when_merged_in_either_binding() {
    check(500, &(events(), 300_usize..2000), |(events, max)| {
        let limits = Limits::new().with_max_frame_len(max);
        let fits = |event: &Event| {
            encode_frame(event, &limits, &mut BytesMut::new()).is_ok()
                && serde_json::to_string(event).unwrap().len() + "data: \n\n".len() <= max
        };
        let out = run(Coalescer::with_limits(limits), &events, |_| false);
        for event in &out {
            prop_assert!(fits(event) || events.contains(event), "{:?}", event);
        }
        prop_assert_eq!(seen(&out), seen(&events));
        Ok(())
    });
}

/// Field report 63: a joiner of zero width may begin a delta, and belongs to the text.
#[test]
fn field_report_code_points_are_left_alone() {
    let events = ["👩", "\u{200d}🚀", "e", "\u{301}", " \n"]
        .map(|delta| Event::from(TextMessageContent::new("m", delta)));
    let out = run(Coalescer::new(), &events, |_| false);
    assert_eq!(out, [Event::from(TextMessageContent::new("m", "👩\u{200d}🚀e\u{301} \n"))]);
}

/// Field report 92: the text of arguments is no JSON until its end, and is never read as such.
#[test]
fn field_report_arguments_are_text() {
    let events = ["{\"q\": \"a", ", tru"].map(|delta| Event::from(ToolCallArgs::new("c", delta)));
    let out = run(Coalescer::new(), &events, |_| false);
    assert_eq!(out, [Event::from(ToolCallArgs::new("c", "{\"q\": \"a, tru"))]);
}

/// Field report 47: empty deltas are legal, and stay if they stand alone.
#[test]
fn field_report_empty_deltas() {
    let empty = Event::from(TextMessageContent::new("m", ""));
    assert_eq!(run(Coalescer::new(), std::slice::from_ref(&empty), |_| false), [empty]);
}

/// Field report 86: work a token must not grow with the text before it.
#[test]
fn field_report_a_token_at_a_time() {
    let delta = Event::from(TextMessageContent::new("m", "x"));
    let events = vec![delta; 72_000];
    let out = run(Coalescer::new(), &events, |_| false);
    assert_eq!(out, [Event::from(TextMessageContent::new("m", "x".repeat(72_000)))]);
}
