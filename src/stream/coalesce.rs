//! Neighbouring deltas of one item as one delta.
//!
//! ```text
//! CONTENT m "Hel"     \
//! CONTENT m "lo"       > CONTENT m "Hello"
//! CONTENT m ""        /
//! ARGS c "{}"           ARGS c "{}"
//! CONTENT m "!"         CONTENT m "!"
//! ```
//!
//! A delta costs its envelope each time, so a link that falls behind carries the same text in fewer
//! bytes. What a consumer makes of the stream stays the same: text, metadata, and the order of
//! everything.

use std::io;

use prost::Message as _;

use crate::codec::Limits;
use crate::model::{Base, Body, Event, ReasoningMessageContent, TextMessageContent, ToolCallArgs};
use crate::value::Object;

/// Merges an event into the one before it, where that loses nothing.
///
/// Events go in with [`Coalescer::push`] and come out of it and of [`Coalescer::take`]. The one that
/// was pushed last is held, to be merged with the next. A writer pushes while its link is busy, and
/// takes as soon as the link is free: then nothing waits on an idle link, where every delta is shown
/// at once.
///
/// Merged are `TEXT_MESSAGE_CONTENT`, `REASONING_MESSAGE_CONTENT` and `TOOL_CALL_ARGS` with the one
/// before, if both are of the same type, item and subagent.
///
/// | member | of the merged event |
/// |---|---|
/// | `delta` | both, one behind the other |
/// | `metadata` | both, the later one's value where both have a key, as a consumer merges them |
/// | `timestamp` | the earlier one's: when its text began; the later one's if that has none |
/// | `rawEvent`, members of a later version | events that have one are not merged |
///
/// Nor is anything merged that the encoders refuse, so that what is refused takes no other text with
/// it, nor beyond the limit on frames: what comes out fits, in either binding, if what went in did.
///
/// Rule: specification 1.1, basic/patterns/streaming: deltas concatenate in the order they arrive;
/// metadata merges by key, the last write wins. Timestamps order nothing.
///
/// # Examples
///
/// ```
/// use ag_ui_proto::Event;
/// use ag_ui_proto::model::TextMessageContent;
/// use ag_ui_proto::stream::Coalescer;
///
/// let delta = |text| Event::from(TextMessageContent::new("m", text));
/// let mut coalescer = Coalescer::new();
/// assert_eq!(coalescer.push(delta("Hel")), None);
/// assert_eq!(coalescer.push(delta("lo")), None);
/// assert_eq!(coalescer.take(), Some(delta("Hello")));
/// assert_eq!(coalescer.take(), None);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Coalescer {
    limits: Limits,
    held: Option<Held>,
}

#[derive(Clone, Debug)]
struct Held {
    event: Event,
    /// At least the bytes that it takes in either binding; nothing if it is not to be merged.
    len: Option<usize>,
}

impl Coalescer {
    /// Makes an empty one, for the default limits.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes an empty one, for the limits that the events are encoded with.
    #[must_use]
    pub fn with_limits(limits: Limits) -> Self {
        Self { limits, held: None }
    }

    /// Adds the next event of the stream. Gives the one before it, if they cannot be merged; it must
    /// be written first.
    #[must_use = "what is given back is not held any more"]
    pub fn push(&mut self, event: Event) -> Option<Event> {
        let weight = Weight::of(&event, &self.limits);
        let event = match (&mut self.held, weight) {
            (Some(Held { event: held, len: Some(len) }), Some(Weight { content, .. }))
                if len.saturating_add(content) <= self.limits.max_frame_len() =>
            {
                match merge(held, event) {
                    None => {
                        *len += content;
                        return None;
                    }
                    Some(event) => event,
                }
            }
            _ => event,
        };
        let len = weight.map(|weight| weight.envelope.saturating_add(weight.content));
        self.held.replace(Held { event, len }).map(|held| held.event)
    }

    /// Takes the event that is held.
    pub fn take(&mut self) -> Option<Event> {
        self.held.take().map(|held| held.event)
    }

    /// Whether no event is held.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.held.is_none()
    }
}

/// Merges `next` into `held`, or gives it back.
fn merge(held: &mut Event, next: Event) -> Option<Event> {
    let (
        Some(Delta { item, owner, text: _ }),
        Some(Delta { item: next_item, owner: next_owner, text }),
    ) = (Delta::of(&held.body), Delta::of(&next.body))
    else {
        return Some(next);
    };
    if (item, owner) != (next_item, next_owner) {
        return Some(next);
    }
    if let Some(delta) = delta_mut(&mut held.body) {
        delta.push_str(text);
    }
    let Base { timestamp, metadata, raw_event: _ } = next.base;
    held.base.timestamp = held.base.timestamp.or(timestamp);
    match (&mut held.base.metadata, metadata) {
        (Some(metadata), Some(more)) => metadata.extend(more),
        (held @ None, more) => *held = more,
        (Some(_), None) => {}
    }
    None
}

/// What is appended, and to what.
struct Delta<'e> {
    item: Item<'e>,
    owner: Option<&'e str>,
    text: &'e str,
}

#[derive(PartialEq)]
enum Item<'e> {
    Text(&'e str),
    Reasoning(&'e str),
    ToolCall(&'e str),
}

impl<'e> Delta<'e> {
    /// Of an event that appends to an item, and has nothing that merging would lose.
    fn of(body: &'e Body) -> Option<Self> {
        let (item, delta, owner, extra) = match body {
            Body::TextMessageContent(TextMessageContent {
                message_id,
                delta,
                subagent_run_id,
                extra,
            }) => (Item::Text(message_id), delta, subagent_run_id, extra),
            Body::ReasoningMessageContent(ReasoningMessageContent {
                message_id,
                delta,
                subagent_run_id,
                extra,
            }) => (Item::Reasoning(message_id), delta, subagent_run_id, extra),
            Body::ToolCallArgs(ToolCallArgs { tool_call_id, delta, subagent_run_id, extra }) => {
                (Item::ToolCall(tool_call_id), delta, subagent_run_id, extra)
            }
            _ => return None,
        };
        extra.is_empty().then_some(Self { item, owner: owner.as_deref(), text: delta })
    }
}

fn delta_mut(body: &mut Body) -> Option<&mut String> {
    match body {
        Body::TextMessageContent(body) => Some(&mut body.delta),
        Body::ReasoningMessageContent(body) => Some(&mut body.delta),
        Body::ToolCallArgs(body) => Some(&mut body.delta),
        _ => None,
    }
}

/// At least the bytes that an event takes as a frame or as a server-sent event.
#[derive(Clone, Copy)]
struct Weight {
    /// What a merged event has once.
    envelope: usize,
    /// What each of its parts adds.
    content: usize,
}

impl Weight {
    /// Nothing if the event is not to be merged.
    fn of(event: &Event, limits: &Limits) -> Option<Self> {
        /// More than names, quotes, lengths and a timestamp take.
        const NAMES: usize = 256;

        let Delta { item, owner, text } = Delta::of(&event.body)?;
        let (Item::Text(id) | Item::Reasoning(id) | Item::ToolCall(id)) = item;
        let Base { timestamp: _, metadata, raw_event: None } = &event.base else { return None };
        event.refuse_malformed().ok()?;
        let mut content = escaped_len(text);
        if let Some(metadata) = metadata {
            if event.too_deep(limits.max_depth()).is_some() || metadata.unwritable().is_some() {
                return None;
            }
            content = content.saturating_add(metadata_len(metadata)?);
        }
        let envelope = NAMES
            .saturating_add(escaped_len(id))
            .saturating_add(escaped_len(owner.unwrap_or_default()));
        Some(Self { envelope, content })
    }
}

/// The bytes of a string in JSON, at most.
fn escaped_len(text: &str) -> usize {
    let escapes = text.bytes().map(|byte| match byte {
        0..=0x1f => 5,
        b'"' | b'\\' => 1,
        _ => 0,
    });
    text.len().saturating_add(escapes.sum())
}

/// At least the bytes of the object as a `Struct`, with exact numbers, and as JSON.
fn metadata_len(metadata: &Object) -> Option<usize> {
    let mut json = Count(0);
    serde_json::to_writer(&mut json, metadata).ok()?;
    Some(json.0.saturating_add(metadata.encoded_len().saturating_mul(2)))
}

/// Counts what is written.
struct Count(usize);

impl io::Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.saturating_add(bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{StepStarted, TextMessageChunk};
    use crate::value::{Number, Value};

    fn text(delta: &str) -> Event {
        TextMessageContent::new("m", delta).into()
    }

    fn args(delta: &str) -> Event {
        ToolCallArgs::new("m", delta).into()
    }

    fn thought(delta: &str) -> Event {
        ReasoningMessageContent::new("m", delta).into()
    }

    fn run(mut coalescer: Coalescer, events: &[Event]) -> Vec<Event> {
        let mut out: Vec<_> =
            events.iter().filter_map(|event| coalescer.push(event.clone())).collect();
        out.extend(coalescer.take());
        assert!(coalescer.is_empty());
        out
    }

    #[track_caller]
    fn check(events: &[Event], want: &[Event]) {
        assert_eq!(run(Coalescer::new(), events), want);
    }

    #[track_caller]
    fn check_apart(events: &[Event]) {
        check(events, events);
    }

    #[test]
    fn neighbouring_deltas_of_an_item_are_one() {
        check(&[text("Hel"), text(""), text("lo")], &[text("Hello")]);
        check(&[args("{\"a"), args("\":1}")], &[args("{\"a\":1}")]);
        check(&[thought("h"), thought("m")], &[thought("hm")]);
    }

    #[test]
    fn deltas_of_different_items_types_and_subagents_stay_apart() {
        check_apart(&[text("a"), thought("b"), args("c"), text("d")]);
        check_apart(&[text("a"), TextMessageContent::new("n", "b").into()]);
        let tagged = |owner| Event::from(TextMessageContent::new("m", "b").with_subagent(owner));
        check_apart(&[text("a"), tagged(""), tagged("s"), text("c")]);
        check(
            &[tagged("s"), tagged("s")],
            &[TextMessageContent::new("m", "bb").with_subagent("s").into()],
        );
    }

    #[test]
    fn no_delta_passes_another_event() {
        check_apart(&[text("a"), StepStarted::new("s").into(), text("b")]);
        check_apart(&[TextMessageChunk::new().into(), TextMessageChunk::new().into()]);
    }

    #[test]
    fn metadata_merges_by_key_and_the_last_write_wins() {
        let with = |delta, metadata: &[(&str, Value)]| {
            text(delta).with_metadata(metadata.iter().cloned().collect::<Object>())
        };
        let nested = |key: &str| Value::from(Object::from([(key, 1)]));
        check(
            &[
                with("a", &[("x", 1.into()), ("y", nested("p"))]),
                text("b"),
                with("c", &[("y", nested("q")), ("z", Value::Null)]),
            ],
            &[with("abc", &[("x", 1.into()), ("y", nested("q")), ("z", Value::Null)])],
        );
        check(&[text("a"), with("b", &[])], &[with("ab", &[])]);
        check(&[with("a", &[]), text("b")], &[with("ab", &[])]);
    }

    #[test]
    fn the_first_timestamp_stands() {
        let at = |delta, time| text(delta).with_timestamp(time);
        check(&[at("a", 5), at("b", 3)], &[at("ab", 5)]);
        check(&[text("a"), at("b", 3), at("c", 4)], &[at("abc", 3)]);
        check(&[at("a", 0), text("b")], &[at("ab", 0)]);
    }

    #[test]
    fn what_would_be_lost_is_not_merged() {
        check_apart(&[text("a"), text("b").with_raw_event(1), text("c")]);
        let mut later = TextMessageContent::new("m", "b");
        later.extra.insert("mood", "calm");
        check_apart(&[text("a"), later.into(), text("c")]);
    }

    #[test]
    fn what_the_encoders_refuse_takes_no_other_text_with_it() {
        let huge = Number::parse("1e400").unwrap();
        for bad in [
            text("b").with_timestamp(1 << 53),
            text("b").with_metadata(Object::from([("n", Value::from(huge))])),
            text("b").with_metadata(Object::from([("d", nested(127))])),
        ] {
            assert!(bad.encode_frame(&mut bytes::BytesMut::new()).is_err());
            check_apart(&[text("a"), bad, text("c")]);
        }
        let deep = text("b").with_metadata(Object::from([("d", nested(126))]));
        let out = run(Coalescer::new(), &[text("a"), deep, text("c")]);
        assert_eq!(out.len(), 1);
    }

    fn nested(levels: usize) -> Value {
        (0..levels).fold(Value::Null, |inner, _| Value::List(vec![inner].into()))
    }

    #[test]
    fn nothing_grows_over_the_limit_and_nothing_is_dropped_for_it() {
        let limits = Limits::new().with_max_frame_len(1000);
        let events: Vec<_> = (0..500).map(|_| text("ab\u{1}\"")).collect();
        let out = run(Coalescer::with_limits(limits), &events);
        assert!((2..20).contains(&out.len()), "{}", out.len());
        for event in &out {
            crate::codec::encode_frame(event, &limits, &mut bytes::BytesMut::new()).unwrap();
            assert!(serde_json::to_string(event).unwrap().len() + 8 <= 1000);
        }
        let keys: Vec<_> = (0..100)
            .map(|key: i32| text("").with_metadata(Object::from([(key.to_string(), 1.5)])))
            .collect();
        let out = run(Coalescer::with_limits(limits), &keys);
        assert!((2..20).contains(&out.len()), "{}", out.len());
        for event in &out {
            crate::codec::encode_frame(event, &limits, &mut bytes::BytesMut::new()).unwrap();
        }
        let large = text(&"x".repeat(2000));
        let events = [text("a"), large, text("b")];
        assert_eq!(run(Coalescer::with_limits(limits), &events), events);
    }

    #[test]
    fn taking_at_once_gives_every_event_as_it_came() {
        let mut coalescer = Coalescer::new();
        for event in [text("a"), text("b"), StepStarted::new("s").into(), text("c")] {
            assert_eq!(coalescer.push(event.clone()), None);
            assert_eq!(coalescer.take(), Some(event));
        }
    }
}
