//! Surrogate pairs that were torn across two deltas, joined again.
//!
//! A producer that counts in UTF-16 may cut its text between the two halves of a pair:
//!
//! ```text
//! {"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"hi \ud83d"}
//! {"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"\ude00!"}
//! ```
//!
//! Either delta alone has no UTF-8, and so no Rust string and no protobuf. Together they have: the
//! text of the message is what its deltas are concatenated. So the first half is carried over:
//!
//! ```text
//! {"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"hi "}
//! {"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"\ud83d\ude00!"}
//! ```
//!
//! This is done in the JSON text, before it is read. No event waits for another, none is made or
//! dropped, and nothing but the two deltas changes.

use std::borrow::Cow;

use memchr::memchr;

use super::members::Members;
use crate::model::EventType;

/// How many items may wait for the other half of a pair at once.
const MAX_HALVES: usize = 64;

/// Bytes of the ids of such an item.
const MAX_ID_LEN: usize = 4096;

/// Bytes of an escape, `\ud83d`.
const ESCAPE_LEN: usize = 6;

/// Joins surrogate pairs that were torn across two deltas of one item, in JSON text.
///
/// An item is a text message, a reasoning message or a tool call, streamed as such or as chunks;
/// events of others may stand between its deltas. A half that is not at such a seam stays where it
/// is, for the reader to refuse; so does one in another member, `rawEvent` say.
///
/// # Examples
///
/// ```
/// use ag_ui_proto::sse::SurrogateJoiner;
///
/// let mut joiner = SurrogateJoiner::new();
/// let first = r#"{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"\ud83d"}"#;
/// let second = r#"{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"\ude00"}"#;
/// assert_eq!(joiner.push(first)?, r#"{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":""}"#);
/// assert_eq!(joiner.push(second)?, second.replace(r"\ude00", r"\ud83d\ude00"));
/// joiner.finish()?;
/// # Ok::<(), ag_ui_proto::sse::TornPair>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct SurrogateJoiner {
    halves: Vec<Half>,
}

/// Half of a surrogate pair at the end of a delta, whose other half did not come.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{event_type}: delta: half of a surrogate pair, whose other half does not follow{}",
    of(id.as_deref())
)]
pub struct TornPair {
    /// The type of the event that ended in it.
    pub event_type: EventType,
    /// The id of its message or tool call, if it named one.
    pub id: Option<String>,
}

fn of(id: Option<&str>) -> String {
    id.map(|id| format!(" in {id:?}")).unwrap_or_default()
}

/// The first half of a pair, taken off the end of a delta.
#[derive(Clone, Debug)]
struct Half {
    delta: Delta,
    escape: String,
}

/// Which item a delta belongs to.
#[derive(Clone, Debug)]
struct Delta {
    event_type: EventType,
    id: Option<String>,
    owner: Option<String>,
}

impl SurrogateJoiner {
    /// Makes a joiner for the beginning of a stream.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Passes the JSON text of the next event on, changed if it is at a seam.
    ///
    /// Text that is no JSON, or no event, passes as it is.
    ///
    /// # Errors
    ///
    /// [`TornPair`] if the event continues or ends an item without the half that it waits for, or
    /// finishes the run. A run that fails may leave items as they are.
    pub fn push<'t>(&mut self, text: &'t str) -> Result<Cow<'t, str>, TornPair> {
        if self.halves.is_empty() && !ends_in_half_somewhere(text) {
            return Ok(Cow::Borrowed(text));
        }
        let Some(event) = Members::of(text) else { return Ok(Cow::Borrowed(text)) };
        let Some(event_type) = event.event_type() else { return Ok(Cow::Borrowed(text)) };
        match event_type {
            EventType::TextMessageEnd => self.end(EventType::TextMessageContent, &event)?,
            EventType::ReasoningMessageEnd => {
                self.end(EventType::ReasoningMessageContent, &event)?;
            }
            EventType::ToolCallEnd => self.end(EventType::ToolCallArgs, &event)?,
            EventType::RunFinished => self.finish()?,
            EventType::RunError => self.halves.clear(),
            _ => {}
        }
        match (appended_to(event_type, &event), event.delta) {
            (Some(delta), Some(around)) => self.join(text, delta, around),
            _ => Ok(Cow::Borrowed(text)),
        }
    }

    /// Checks, once input has ended, that no half is left over.
    ///
    /// # Errors
    ///
    /// [`TornPair`] for the oldest one. There is none afterwards.
    pub fn finish(&mut self) -> Result<(), TornPair> {
        let first = std::mem::take(&mut self.halves).into_iter().next();
        first.map_or(Ok(()), |half| Err(half.torn()))
    }

    /// Checks that no half waits for the item that `event` ends.
    fn end(&mut self, event_type: EventType, event: &Members<'_>) -> Result<(), TornPair> {
        let end = Delta { event_type, id: event.id(event_type), owner: event.owner() };
        self.take(&end).map_or(Ok(()), |half| Err(half.torn()))
    }

    fn take(&mut self, next: &Delta) -> Option<Half> {
        let at = self.halves.iter().position(|half| half.delta.is_continued_by(next))?;
        Some(self.halves.remove(at))
    }

    fn join<'t>(
        &mut self,
        text: &'t str,
        delta: Delta,
        (before, literal, after): (&'t str, &'t str, &'t str),
    ) -> Result<Cow<'t, str>, TornPair> {
        if literal.is_empty() {
            return Ok(Cow::Borrowed(text));
        }
        let first = match self.take(&delta) {
            Some(half) if !begins_with_low(literal) => return Err(half.torn()),
            Some(half) => half.escape,
            None => String::new(),
        };
        let mut kept = literal;
        if let Some((rest, escape)) = split_high(literal)
            && self.halves.len() < MAX_HALVES
            && delta.len() <= MAX_ID_LEN
        {
            kept = rest;
            self.halves.push(Half { delta, escape: escape.to_owned() });
        }
        if first.is_empty() && kept.len() == literal.len() {
            return Ok(Cow::Borrowed(text));
        }
        Ok(Cow::Owned([before, &first, kept, after].concat()))
    }
}

impl Half {
    fn torn(self) -> TornPair {
        TornPair { event_type: self.delta.event_type, id: self.delta.id }
    }
}

impl Delta {
    /// Whether `next` is of the same item.
    ///
    /// A chunk without an id continues what its owner's chunks are assembling.
    fn is_continued_by(&self, next: &Self) -> bool {
        let is_same = match (&self.id, &next.id) {
            (Some(id), Some(next)) => id == next,
            _ => self.owner == next.owner,
        };
        self.event_type == next.event_type && is_same
    }

    fn len(&self) -> usize {
        [&self.id, &self.owner].into_iter().flatten().map(String::len).sum()
    }
}

/// The item of an event that appends to one.
fn appended_to(event_type: EventType, event: &Members<'_>) -> Option<Delta> {
    let (id, owner) = (event.id(event_type), event.owner());
    let has_item = match event_type {
        EventType::TextMessageContent
        | EventType::ReasoningMessageContent
        | EventType::ToolCallArgs => id.is_some(),
        EventType::TextMessageChunk
        | EventType::ReasoningMessageChunk
        | EventType::ToolCallChunk => true,
        _ => false,
    };
    has_item.then_some(Delta { event_type, id, owner })
}

/// Whether some string of the text ends in the first half of a pair.
fn ends_in_half_somewhere(text: &str) -> bool {
    Escapes::of(text)
        .any(|(at, unit)| is_high(unit) && text.as_bytes().get(at + ESCAPE_LEN) == Some(&b'"'))
}

/// The first half of a pair at the end of a string's characters, and what is before it.
fn split_high(literal: &str) -> Option<(&str, &str)> {
    let (at, unit) = Escapes::of(literal).last()?;
    (is_high(unit) && at + ESCAPE_LEN == literal.len()).then(|| literal.split_at_checked(at))?
}

fn begins_with_low(literal: &str) -> bool {
    Escapes::of(literal).next().is_some_and(|(at, unit)| at == 0 && is_low(unit))
}

fn is_high(unit: u16) -> bool {
    (0xd800..=0xdbff).contains(&unit)
}

fn is_low(unit: u16) -> bool {
    (0xdc00..=0xdfff).contains(&unit)
}

/// The `\u` escapes of a text: where each begins, and its unit of UTF-16.
struct Escapes<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Escapes<'t> {
    fn of(text: &'t str) -> Self {
        Self { text, at: 0 }
    }
}

impl Iterator for Escapes<'_> {
    type Item = (usize, u16);

    fn next(&mut self) -> Option<(usize, u16)> {
        let bytes = self.text.as_bytes();
        loop {
            let at = self.at + memchr(b'\\', bytes.get(self.at..)?)?;
            let digits = self.text.get(at + 2..at + ESCAPE_LEN);
            let unit = (bytes.get(at + 1) == Some(&b'u')).then_some(digits).flatten();
            let unit = unit.and_then(|digits| u16::from_str_radix(digits, 16).ok());
            self.at = at + if unit.is_some() { ESCAPE_LEN } else { 2 };
            if let Some(unit) = unit {
                return Some((at, unit));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(id: &str, delta: &str) -> String {
        format!(r#"{{"type":"TEXT_MESSAGE_CONTENT","messageId":"{id}","delta":"{delta}"}}"#)
    }

    fn args(id: &str, delta: &str) -> String {
        format!(r#"{{ "delta" : "{delta}" ,"toolCallId":"{id}","type":"TOOL_CALL_ARGS"}}"#)
    }

    fn chunk(members: &str, delta: &str) -> String {
        format!(r#"{{"type":"TEXT_MESSAGE_CHUNK",{members}"delta":"{delta}"}}"#)
    }

    const STEP: &str = r#"{"type":"STEP_STARTED","stepName":"a \\u {}"}"#;

    #[track_caller]
    fn check(texts: &[(String, String)]) {
        let mut joiner = SurrogateJoiner::new();
        for (text, want) in texts {
            assert_eq!(joiner.push(text).unwrap(), *want);
        }
        joiner.finish().unwrap();
    }

    /// That all pass as they are.
    #[track_caller]
    fn check_same(texts: &[&str]) {
        let same: Vec<_> =
            texts.iter().map(|text| ((*text).to_owned(), (*text).to_owned())).collect();
        check(&same);
        for text in texts {
            let mut joiner = SurrogateJoiner::new();
            assert!(matches!(joiner.push(text), Ok(Cow::Borrowed(_))), "{text}");
        }
    }

    #[test]
    fn a_torn_pair_is_joined_in_the_second_delta() {
        check(&[
            (text("m", r"hi \ud83d"), text("m", "hi ")),
            (text("m", r"\ude00!"), text("m", r"\ud83d\ude00!")),
            (args("c", r"\uD83D"), args("c", "")),
            (args("c", r"\uDE00"), args("c", r"\uD83D\uDE00")),
        ]);
    }

    #[test]
    fn a_delta_may_end_one_pair_and_begin_the_next() {
        check(&[
            (text("m", r"\ud83d"), text("m", "")),
            (text("m", r"\ude00\ud83d"), text("m", r"\ud83d\ude00")),
            (text("m", ""), text("m", "")),
            (text("m", r"\ude01"), text("m", r"\ud83d\ude01")),
        ]);
    }

    #[test]
    fn events_of_others_may_stand_between() {
        check(&[
            (text("m", r"\ud83d"), text("m", "")),
            (STEP.to_owned(), STEP.to_owned()),
            (text("n", r"\ud83c"), text("n", "")),
            (args("m", "x"), args("m", "x")),
            (text("m", r"\ude00"), text("m", r"\ud83d\ude00")),
            (text("n", r"\udf0d"), text("n", r"\ud83c\udf0d")),
        ]);
    }

    #[test]
    fn a_chunk_without_an_id_continues_its_owners_item() {
        check(&[
            (chunk(r#""messageId":"m","#, r"\ud83d"), chunk(r#""messageId":"m","#, "")),
            (chunk("", r"\ude00\ud83d"), chunk("", r"\ud83d\ude00")),
            (
                chunk(r#""messageId":"m","#, r"\ude01"),
                chunk(r#""messageId":"m","#, r"\ud83d\ude01"),
            ),
        ]);
        let mine = r#""subagentRunId":"s","#;
        let mut joiner = SurrogateJoiner::new();
        joiner.push(&chunk(mine, r"\ud83d")).unwrap();
        let others = chunk("", r"\ude00");
        assert_eq!(joiner.push(&others).unwrap(), others, "of another owner");
        assert_eq!(joiner.push(&chunk(mine, r"\ude00")).unwrap(), chunk(mine, r"\ud83d\ude00"));
    }

    #[test]
    fn a_half_that_is_not_completed_is_an_error() {
        for next in [
            text("m", "x"),
            text("m", r"x\ude00"),
            text("m", r"\ud83d"),
            text("m", r"\u0041"),
            r#"{"type":"TEXT_MESSAGE_END","messageId":"m"}"#.to_owned(),
            r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r"}"#.to_owned(),
        ] {
            let mut joiner = SurrogateJoiner::new();
            joiner.push(&text("m", r"hi \ud83d")).unwrap();
            let error = joiner.push(&next).unwrap_err();
            assert_eq!(
                error.to_string(),
                "TEXT_MESSAGE_CONTENT: delta: half of a surrogate pair, whose other half does not \
                 follow in \"m\"",
                "{next}"
            );
            assert_eq!(joiner.finish(), Ok(()), "said once");
        }
        let mut joiner = SurrogateJoiner::new();
        joiner.push(&text("m", r"hi \ud83d")).unwrap();
        let torn = TornPair { event_type: EventType::TextMessageContent, id: Some("m".to_owned()) };
        assert_eq!(joiner.finish(), Err(torn));
    }

    #[test]
    fn a_failed_run_may_leave_a_half() {
        let failed = r#"{"type":"RUN_ERROR","message":"gone"}"#;
        check(&[
            (text("m", r"hi \ud83d"), text("m", "hi ")),
            (failed.to_owned(), failed.to_owned()),
        ]);
    }

    #[test]
    fn halves_that_are_at_no_seam_are_left_to_the_reader() {
        check_same(&[
            &text("m", r"\ude00"),
            &text("m", r"\ud83d!"),
            r#"{"type":"CUSTOM","name":"delta","value":"\ud83d"}"#,
            r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"","rawEvent":{"delta":"\ud83d"}}"#,
            r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m\ud83d","delta":"x"}"#,
            r#"{"type":"TEXT_MESSAGE_CONTENT","delta":"x\ud83d"}"#,
            r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":["\ud83d"]}"#,
        ]);
    }

    #[test]
    fn whole_pairs_and_escaped_backslashes_are_no_halves() {
        check_same(&[
            &text("m", r"\ud83d\ude00"),
            &text("m", r"\\ud83d"),
            &text("m", r"\\\\ud83d"),
            &text("m", r"\ud7ff"),
            &text("m", "😀"),
        ]);
        check(&[
            (text("m", r"\\\ud83d"), text("m", r"\\")),
            (text("m", r"\ude00\\"), text("m", r"\ud83d\ude00\\")),
        ]);
    }

    #[test]
    fn text_that_is_no_event_passes_as_it_is() {
        check_same(&[
            "",
            "{}",
            "null",
            "[\"\\ud83d\"]",
            "\"\\ud83d\"",
            r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"\ud83d""#,
            r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"\ud83d"#,
            r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta" "\ud83d"}"#,
            r#"{"delta":"\ud83d"}"#,
            r#"{"delta":"\ud83d","#,
            "{\"delta\":\"\\ud83d\",é",
        ]);
    }

    #[test]
    fn the_last_of_a_member_given_twice_counts_and_keys_may_be_escaped() {
        let of = |first: &str, delta: &str| {
            format!(
                r#"{{"type":"STEP_STARTED","type":"TEXT_MESSAGE_CONTENT","messageId":"{first}","metadata":{{"a":[{{}},"]}}"]}},"messageId":"m","\u0064elta":"{delta}"}}"#
            )
        };
        check(&[(of("x", r"\ud83d"), of("x", "")), (of("y", r"\ude00"), of("y", r"\ud83d\ude00"))]);
    }

    #[test]
    fn so_many_items_wait_and_no_more() {
        let mut joiner = SurrogateJoiner::new();
        for id in 0..=MAX_HALVES {
            let torn = text(&id.to_string(), r"\ud83d");
            let changed = joiner.push(&torn).unwrap() != torn;
            assert_eq!(changed, id < MAX_HALVES);
        }
        assert_eq!(joiner.halves.len(), MAX_HALVES);
        let long = text(&"m".repeat(MAX_ID_LEN + 1), r"\ud83d");
        assert_eq!(SurrogateJoiner::new().push(&long).unwrap(), long);
    }
}
