//! The text binding: what readers of others make of a body, and what the frames of the same events
//! say.

#![allow(clippy::unwrap_used, reason = "what fails in a helper fails its test")]

use std::cell::Cell;
use std::convert::Infallible;

use ag_ui_proto::codec::{EncodeError, EventReader, Limits, StreamError};
use ag_ui_proto::model::{
    Custom, Event, EventType, ReadError, RunError, RunFinished, StateSnapshot, TextMessageContent,
    TokenUsage, UnknownNames,
};
use ag_ui_proto::sse::{
    DataError, DataReader, KEEP_ALIVE, Reading, SseError, SseReader, SurrogateJoiner, TextError,
    encode_event, put_data,
};
use ag_ui_proto::value::{JsonError, List, Value};
use bytes::{Bytes, BytesMut};
use futures_util::{FutureExt, StreamExt, stream};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::notation::texts;
use crate::properties::{any_event, check, check_every_type};

const STARTED: &str = r#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}"#;
const FINISHED: &str = r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r"}"#;

/// What a reader makes of a body: its events, what it was told of, and how the body ended.
type Read = (Vec<Event>, Vec<String>, Result<(), SseError>);

fn read_with<'a>(reader: SseReader, parts: impl IntoIterator<Item = &'a [u8]>) -> Read {
    let (mut reader, mut src) = (reader, BytesMut::new());
    let (mut events, mut notices) = (Vec::new(), Vec::new());
    for part in parts {
        src.extend_from_slice(part);
        loop {
            match reader.next_event(&mut src) {
                Ok(Some(decoded)) => {
                    notices.extend(texts(&decoded.notices));
                    events.extend(decoded.event);
                }
                Ok(None) => break,
                Err(error) => return (events, notices, Err(error)),
            }
        }
    }
    let end = reader.finish(&src);
    (events, notices, end)
}

fn read(body: &[u8]) -> Read {
    read_with(SseReader::new(), [body])
}

/// The events of a body that ends well, in every part length.
#[track_caller]
fn good(body: &[u8]) -> Vec<Event> {
    let (events, _, end) = read(body);
    end.unwrap();
    for part in 1..body.len().min(64) {
        let (again, _, end) = read_with(SseReader::new(), body.chunks(part));
        end.unwrap();
        assert_eq!(again, events, "in parts of {part}");
    }
    events
}

#[track_caller]
fn refusal(text: &str) -> String {
    let (events, _, end) = read(format!("data: {text}\n\n").as_bytes());
    assert_eq!(events, []);
    end.unwrap_err().to_string()
}

fn event(text: &str) -> Event {
    Event::from_json(text).unwrap()
}

fn body(events: &[Event]) -> BytesMut {
    let mut body = BytesMut::new();
    for event in events {
        event.encode_sse(&mut body).unwrap();
    }
    body
}

// --- what others make of it ------------------------------------------------------------------

/// A line of a body without its end.
fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => Just(String::new()),
        4 => "data: ?[a-z{}:\" é😀]{0,12}",
        1 => Just("data".to_owned()),
        1 => Just("data:".to_owned()),
        1 => "(event|id|retry): ?[a-z0-9]{0,4}",
        1 => ":[a-z: ]{0,6}",
        1 => "(Data|datas| data|dat)(: x)?",
        1 => "[a-z\u{feff}]{0,4}",
    ]
}

fn lines() -> impl Strategy<Value = Vec<u8>> {
    let end = prop::sample::select(&["\n", "\n", "\r\n", "\r"][..]);
    let lines = vec((line(), end), 0..12);
    (prop::bool::weighted(0.2), lines).prop_map(|(has_mark, lines)| {
        let lines = lines.into_iter().map(|(line, end)| line + end).collect::<String>();
        // What is left over at the end is judged in tests of its own.
        [if has_mark { "\u{feff}" } else { "" }, &lines, "\n\n"].concat().into_bytes()
    })
}

fn ours(body: &[u8], part: usize) -> Vec<String> {
    let mut reader = DataReader::new(Limits::new());
    let (mut src, mut all) = (BytesMut::new(), Vec::new());
    for part in body.chunks(part) {
        src.extend_from_slice(part);
        while let Some(data) = reader.next_data(&mut src).unwrap() {
            all.push(String::from_utf8(data.bytes.to_vec()).unwrap());
        }
    }
    reader.finish(&src).unwrap();
    assert!(src.is_empty());
    all
}

fn parts(body: &[u8], part: usize) -> impl futures_util::Stream<Item = Result<Bytes, Infallible>> {
    let parts: Vec<_> = body.chunks(part).map(Bytes::copy_from_slice).map(Ok).collect();
    stream::iter(parts)
}

#[test]
fn two_other_readers_find_the_same_data() {
    check(2000, &(lines(), 1_usize..20), |(body, part)| {
        let ours = ours(&body, part);
        let first = sse_stream::SseByteStream::new(parts(&body, part));
        let first: Vec<_> = first.map(Result::unwrap).collect().now_or_never().unwrap();
        let first: Vec<_> = first.into_iter().filter_map(|sse| sse.data).collect();
        prop_assert_eq!(&ours, &first);
        let second = sseer::EventStream::new(parts(&body, part));
        let second: Vec<_> =
            second.map(|event| event.unwrap().data.to_string()).collect().now_or_never().unwrap();
        prop_assert_eq!(&ours, &second);
        Ok(())
    });
}

#[test]
fn any_split_of_the_bytes_gives_the_same_data() {
    check(500, &lines(), |body| {
        let whole = ours(&body, body.len());
        for part in 1..body.len() {
            prop_assert_eq!(&ours(&body, part), &whole, "in parts of {}", part);
        }
        Ok(())
    });
}

/// What is given does not depend on the parts, nor what is refused, nor where.
#[test]
fn any_split_of_any_bytes_gives_the_same_verdict() {
    let byte = prop::sample::select(&b"data: \n\r:{}\"x\xff\xef\xbb\xbf"[..]);
    let text = prop_oneof![
        Just(b"data: ".to_vec()),
        Just(b"\n\n".to_vec()),
        Just(STARTED.as_bytes().to_vec()),
        vec(byte, 0..4),
    ];
    check(2000, &vec(text, 0..8), |pieces| {
        let body = pieces.concat();
        let limits = Limits::new().with_max_frame_len(60);
        let verdict = |part: usize| {
            let (events, _, end) =
                read_with(SseReader::with_limits(limits), body.chunks(part.max(1)));
            (events, end.err().map(|error| error.to_string()))
        };
        let whole = verdict(body.len());
        for part in 1..body.len() {
            prop_assert_eq!(&verdict(part), &whole, "in parts of {}", part);
        }
        Ok(())
    });
}

// --- the same event in both bindings ---------------------------------------------------------

#[test]
fn every_event_comes_back_as_it_was_written() {
    check_every_type(32, |event| {
        let body = body(std::slice::from_ref(&event));
        let (events, notices, end) = read(&body);
        prop_assert!(end.is_ok(), "{:?}", end);
        prop_assert_eq!(notices, Vec::<String>::new());
        prop_assert_eq!(events, vec![event]);
        Ok(())
    });
}

#[test]
fn a_body_of_events_comes_back_in_any_parts() {
    check(64, &(vec(any_event(), 1..6), 1_usize..50), |(events, part)| {
        let mut body = body(&events);
        body.extend_from_slice(KEEP_ALIVE);
        let (again, _, end) = read_with(SseReader::new(), body.chunks(part));
        prop_assert!(end.is_ok(), "{:?}", end);
        prop_assert_eq!(again, events);
        Ok(())
    });
}

#[test]
fn data_passes_a_relay_unread() {
    check(256, &vec(vec(any::<u8>(), 0..20), 0..5), |all| {
        let mut body = BytesMut::new();
        for data in &all {
            put_data(data, &Limits::new(), &mut body).unwrap();
        }
        let mut reader = DataReader::new(Limits::new());
        for data in &all {
            let text = data.iter().map(|byte| char::from(*byte)).collect::<String>();
            let want = text.replace("\r\n", "\n").replace('\r', "\n");
            let got = reader.next_data(&mut body).unwrap().unwrap();
            let got: String = got.bytes.iter().map(|byte| char::from(*byte)).collect();
            prop_assert_eq!(got, want);
        }
        prop_assert_eq!(reader.next_data(&mut body).unwrap(), None);
        Ok(())
    });
}

/// A nested list is as deep as the limit lets both bindings write and read, and no deeper.
#[test]
fn depth_is_judged_alike() {
    for (levels, fits) in [(127, true), (128, false)] {
        let list = |inner, _| Value::List(List::from(vec![inner]));
        let nested = Event::from(StateSnapshot::new((0..levels).fold(Value::Null, list)));
        let generous = Limits::new().with_max_depth(usize::MAX);
        let (mut frame, mut text) = (BytesMut::new(), BytesMut::new());
        ag_ui_proto::codec::encode_frame(&nested, &generous, &mut frame).unwrap();
        encode_event(&nested, &generous, &mut text).unwrap();
        assert_eq!(EventReader::new().next_event(&mut frame).is_ok(), fits);
        assert_eq!(read(&text).2.is_ok(), fits);
        assert_eq!(nested.encode_frame(&mut BytesMut::new()).is_ok(), fits);
        assert_eq!(nested.encode_sse(&mut BytesMut::new()).is_ok(), fits);
    }
    let deep = format!(r#"{{"type":"STATE_SNAPSHOT","snapshot":{}}}"#, "[".repeat(100_000));
    let error = refusal(&deep);
    assert!(error.starts_with("event 1 at byte 6: JSON nested deeper than 128 levels"), "{error}");
}

#[test]
fn integers_beyond_what_a_double_counts_are_refused_as_in_frames() {
    for (text, place) in [
        (r#"{"type":"RUN_ERROR","message":"m","timestamp":NUMBER}"#, "timestamp"),
        (
            r#"{"type":"RUN_ERROR","message":"m","usage":[{},{"inputTokens":NUMBER}]}"#,
            "usage[1].inputTokens",
        ),
    ] {
        for (number, fits) in [
            ("9007199254740991", true),
            ("-9007199254740991", true),
            ("9007199254740992", false),
            ("-9007199254740992", false),
            ("1e17", false),
        ] {
            let text = text.replace("NUMBER", number);
            let (events, _, end) = read(format!("data: {text}\n\n").as_bytes());
            assert_eq!(events.len(), usize::from(fits), "{text}");
            if !fits {
                let error = end.unwrap_err().to_string();
                let start = format!("event 1 at byte 6: RUN_ERROR: {place}: ");
                assert!(
                    error.starts_with(&start) && error.contains(" is outside -9007"),
                    "{error}"
                );
            }
        }
    }
    // A negative count is for enforcement to judge, in both.
    let mut usage = TokenUsage::new();
    usage.input_tokens = Some(-1);
    let mut error = RunError::new("m");
    error.usage = Some(vec![usage]);
    let (events, _, end) = read(
        format!("data: {}\n\n", serde_json::to_string(&Event::from(error.clone())).unwrap())
            .as_bytes(),
    );
    end.unwrap();
    assert_eq!(events, [error.into()]);
    assert!(events[0].clone().enforce(UnknownNames::Strip).is_err());
}

#[test]
fn material_of_a_later_version_is_handed_on_as_in_frames() {
    let later = concat!(
        "data: {\"type\":\"RUN_FINISHED\",\"threadId\":\"t\",\"runId\":\"r\",",
        "\"outcome\":{\"type\":\"paused\"},\"mood\":1}\n\n",
        "data: {\"type\":\"HOLOGRAM\"}\n\n",
        "data: {\"type\":\"RUN_ERROR\",\"message\":\"m\"}\n\n",
    );
    let (events, notices, end) = read(later.as_bytes());
    end.unwrap();
    assert_eq!(events.len(), 2);
    assert_eq!(serde_json::to_value(&events[0]).unwrap()["outcome"]["type"], "paused");
    assert_eq!(serde_json::to_value(&events[0]).unwrap()["mood"], 1);
    assert_eq!(notices, [r#"dropped an event of unknown type "HOLOGRAM""#]);

    let tolerant = SseReader::new().with_reading(Reading::Tolerant(UnknownNames::Strip));
    let (events, notices, end) = read_with(tolerant, [later.as_bytes()]);
    end.unwrap();
    assert_eq!(events[0], event(FINISHED));
    assert_eq!(notices.len(), 3, "{notices:?}");

    let strict = SseReader::new().with_reading(Reading::Strict);
    let (events, _, end) = read_with(strict, [later.as_bytes()]);
    assert_eq!(events, []);
    assert_eq!(
        end.unwrap_err().to_string(),
        "event 1 at byte 6: RUN_FINISHED: outcome: unknown outcome \"paused\""
    );
}

#[test]
fn a_member_that_is_given_twice_is_told_of() {
    let text = r#"{"type":"STEP_STARTED","stepName":"a","stepName":"b"}"#;
    let mut buffer = BytesMut::from(&format!("data: {text}\n\n")[..]);
    let decoded = SseReader::new().next_event(&mut buffer).unwrap().unwrap();
    assert_eq!(decoded.event, Some(event(r#"{"type":"STEP_STARTED","stepName":"b"}"#)));
    let notices: Vec<_> = decoded.notices.iter().map(ToString::to_string).collect();
    assert_eq!(notices, ["/stepName: given again later, where the last one counts"]);
}

#[test]
fn a_reading_keeps_to_the_limits_in_either_order() {
    let limits = Limits::new().with_max_depth(2);
    let text = "data: {\"type\":\"STATE_SNAPSHOT\",\"snapshot\":[[]]}\n\n";
    for reading in [Reading::AsItCame, Reading::Tolerant(UnknownNames::Strip), Reading::Strict] {
        let reader = SseReader::with_limits(limits).with_reading(reading);
        let (_, _, end) = read_with(reader, [text.as_bytes()]);
        let error = end.unwrap_err().to_string();
        assert!(error.contains("JSON nested deeper than 2 levels"), "{reading:?}: {error}");
    }
}

// --- how a body ends -------------------------------------------------------------------------

#[test]
fn truncated_is_told_apart_from_finished_and_from_malformed() {
    let whole = format!("data: {STARTED}\n\n");
    for cut in 1..whole.len() - 1 {
        let (events, _, end) = read(&whole.as_bytes()[..cut]);
        assert_eq!(events, []);
        let error = end.unwrap_err();
        assert!(error.is_truncated(), "cut at {cut}: {error}");
    }
    let (events, _, end) = read(format!("{whole}data: {FINISHED}").as_bytes());
    assert_eq!(events, [event(STARTED)]);
    assert_eq!(
        end.unwrap_err().to_string(),
        format!(
            "event 2 at byte {}: truncated: input ended after {} bytes of an event, before its \
             empty line",
            whole.len(),
            6 + FINISHED.len()
        )
    );
    let (_, _, end) = read(format!("{whole}data: x\n\ndata: y").as_bytes());
    let error = end.unwrap_err();
    assert!(!error.is_truncated());
    assert!(matches!(&error, SseError::Event { number: 2, source: TextError::Read(_), .. }));
}

#[test]
fn an_event_before_the_end_of_input_can_be_asked_for() {
    let take = |text: &str| {
        let (mut reader, mut src) = (SseReader::new(), BytesMut::from(text));
        assert!(reader.next_event(&mut src).unwrap().is_none());
        let taken = reader.take_unterminated(&mut src);
        assert!(reader.finish(&src).is_ok(), "said once");
        taken
    };
    let text = format!("data: {FINISHED}");
    assert_eq!(take(&text).unwrap().unwrap().event, Some(event(FINISHED)));
    assert!(take(": comment").unwrap().is_none());
    assert!(matches!(take(&text[..text.len() - 1]), Err(SseError::Event { number: 1, .. })));
}

#[test]
fn nothing_is_read_after_an_error() {
    for bad in ["data: x\n\n", "data: \u{0}\n\n", "data:\n\n"] {
        let (mut reader, mut src) = (SseReader::new(), BytesMut::new());
        src.extend_from_slice(format!("{bad}data: {STARTED}\n\ndata: cut").as_bytes());
        assert!(reader.next_event(&mut src).is_err());
        assert!(reader.next_event(&mut src).unwrap().is_none());
        assert!(reader.take_unterminated(&mut src).unwrap().is_none());
        reader.finish(&src).unwrap();
    }
}

#[test]
fn data_that_is_not_utf8_is_refused_with_its_place() {
    let mut body = format!("data: {STARTED}\n\n: \u{e9}\ndata: {{\n").into_bytes();
    let offset = body.len() - 2;
    body.extend_from_slice(b"data: \"type\":\"\xff\"}\n\n");
    let (events, _, end) = read(&body);
    assert_eq!(events, [event(STARTED)]);
    assert_eq!(
        end.unwrap_err().to_string(),
        format!("event 2 at byte {offset}: not UTF-8 at byte 10 of the data")
    );
    // In what is skipped anything may stand.
    assert_eq!(
        good(&[b": \xff\nid: \xfe\n\xff: x\n", body.split_at(offset - 11).0].concat()),
        [event(STARTED)]
    );
}

#[test]
fn empty_and_blank_data_is_no_json() {
    for text in ["", " ", "  \t"] {
        let error = refusal(text);
        assert!(error.contains("malformed JSON: EOF while parsing a value"), "{error}");
    }
    let error = refusal("[DONE]");
    assert!(error.contains("malformed JSON at /0: expected value"), "{error}");
}

// --- torn pairs ------------------------------------------------------------------------------

#[derive(Clone, Debug)]
struct Torn {
    /// Which item each delta is of, and its units of UTF-16.
    deltas: Vec<(usize, Vec<u16>)>,
}

/// Texts of three items, cut between any two units, their deltas in any order.
fn torn() -> impl Strategy<Value = Torn> {
    let char = prop_oneof![any::<char>(), Just('😀'), Just('a'), Just('"'), Just('\\')];
    let item =
        (vec(char, 0..6).prop_map(String::from_iter), vec(any::<prop::sample::Index>(), 0..6));
    (vec(item, 3), vec(0_usize..3, 30)).prop_map(|(items, order)| {
        let mut rest: Vec<_> = items
            .iter()
            .map(|(text, cuts)| {
                let units: Vec<u16> = text.encode_utf16().collect();
                let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(units.len() + 1)).collect();
                cuts.push(0);
                cuts.push(units.len());
                cuts.sort_unstable();
                let deltas: Vec<_> =
                    cuts.windows(2).map(|at| units[at[0]..at[1]].to_vec()).collect();
                deltas.into_iter()
            })
            .collect();
        let mut deltas: Vec<_> =
            order.into_iter().filter_map(|item| Some((item, rest[item].next()?))).collect();
        for (item, rest) in rest.into_iter().enumerate() {
            deltas.extend(rest.map(|units| (item, units)));
        }
        Torn { deltas }
    })
}

/// JSON as a producer writes it that knows only units.
fn escaped(units: &[u16]) -> String {
    char::decode_utf16(units.iter().copied())
        .map(|unit| match unit {
            Ok(char) => {
                let text = serde_json::to_string(&char).unwrap();
                text[1..text.len() - 1].to_owned()
            }
            Err(half) => format!("\\u{:04x}", half.unpaired_surrogate()),
        })
        .collect()
}

#[test]
fn the_text_of_every_item_survives_being_torn_anywhere() {
    let joined = Cell::new(0);
    check(1000, &torn(), |torn| {
        let mut body = BytesMut::new();
        let mut wanted = [const { Vec::<u16>::new() }; 3];
        for (item, units) in &torn.deltas {
            wanted[*item].extend(units);
            let delta = escaped(units);
            let data = match item {
                0 => format!(
                    r#"{{"type":"TEXT_MESSAGE_CONTENT","messageId":"i","delta":"{delta}"}}"#
                ),
                1 => format!(r#"{{"delta":"{delta}","type":"TOOL_CALL_ARGS","toolCallId":"i"}}"#),
                _ => format!(r#"{{"type":"REASONING_MESSAGE_CHUNK","delta":"{delta}"}}"#),
            };
            put_data(data.as_bytes(), &Limits::new(), &mut body).unwrap();
        }
        let is_torn = torn.deltas.iter().any(|(_, units)| String::from_utf16(units).is_err());
        joined.set(joined.get() + usize::from(is_torn));
        let (plain, _, end) = read(&body);
        prop_assert_eq!(end.is_err(), is_torn, "without a joiner a half is an error");
        let (events, _, end) = read_with(SseReader::new().joining_surrogates(), [&body[..]]);
        prop_assert!(end.is_ok(), "{:?}", end);
        prop_assert_eq!(events.len(), torn.deltas.len());
        prop_assert_eq!(
            &events[..plain.len().saturating_sub(1)],
            &plain[..plain.len().saturating_sub(1)]
        );
        let mut texts = [const { String::new() }; 3];
        for (event, (item, _)) in events.iter().zip(&torn.deltas) {
            let json = serde_json::to_value(event).unwrap();
            texts[*item].push_str(json["delta"].as_str().unwrap());
        }
        for (text, units) in texts.iter().zip(&wanted) {
            prop_assert_eq!(text, &String::from_utf16(units).unwrap());
        }
        Ok(())
    });
    assert!(joined.get() > 300, "{}", joined.get());
}

#[test]
fn text_without_halves_passes_the_joiner_untouched() {
    let mut joiner = SurrogateJoiner::new();
    check(256, &any_event(), |event| {
        let text = serde_json::to_string(&event).unwrap();
        let mut joiner = SurrogateJoiner::new();
        prop_assert_eq!(joiner.push(&text).unwrap(), &text[..]);
        prop_assert_eq!(joiner.finish(), Ok(()));
        Ok(())
    });
    for line in include_str!("../data/documents.jsonl").lines() {
        assert_eq!(joiner.push(line).unwrap(), line);
    }
}

#[test]
fn a_half_without_its_other_half_is_an_error_of_the_stream() {
    let torn = |rest: &str| {
        let body = format!(
            "data: {{\"type\":\"TEXT_MESSAGE_CONTENT\",\"messageId\":\"m\",\"delta\":\"hi \\ud83d\"}}\n\n{rest}"
        );
        let (events, _, end) = read_with(SseReader::new().joining_surrogates(), [body.as_bytes()]);
        assert_eq!(events[0], Event::from(TextMessageContent::new("m", "hi ")));
        (events.len(), end.unwrap_err())
    };
    let (count, error) = torn("");
    assert_eq!(count, 1);
    assert_eq!(
        error.to_string(),
        "event 2 at byte 75: TEXT_MESSAGE_CONTENT: delta: half of a surrogate pair, whose other \
         half does not follow in \"m\""
    );
    let (count, error) = torn(&format!("data: {FINISHED}\n\n"));
    assert_eq!(count, 1);
    assert!(matches!(error, SseError::Event { number: 2, source: TextError::TornPair(_), .. }));
    let (_, error) = torn("data: {");
    assert!(error.is_truncated(), "what input ended in comes first: {error}");

    let mut reader = SseReader::new().joining_surrogates();
    let mut src = BytesMut::from(concat!(
        r#"data: {"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"\ud83d"}"#,
        "\n\ndata: x\n\n"
    ));
    assert!(reader.next_event(&mut src).unwrap().is_some());
    assert!(reader.next_event(&mut src).is_err());
    assert!(reader.finish(&src).is_ok(), "after an error nothing is missing");
}

// --- field reports ---------------------------------------------------------------------------

/// Field report 74: comments, the optional space, other fields, and several lines of data.
#[test]
fn field_report_details_of_the_grammar() {
    let body = ": keep-alive\nevent: x\nid: 7\nretry: 10\ndata:{\"type\":\"RUN_STARTED\",\n\
                data: \"threadId\":\"t\",\"runId\":\"r\"}\n\n";
    assert_eq!(good(body.as_bytes()), [event(STARTED)]);
}

/// Field report 75: a server or proxy that writes CRLF made parsers wait for ever. Ours gives the
/// event at once, and writes LF alone.
#[test]
fn field_report_crlf() {
    let body = format!("data: {STARTED}\r\n\r\n");
    assert_eq!(good(body.as_bytes()), [event(STARTED)]);
    let mut src = BytesMut::from(&body.as_bytes()[..body.len() - 1]);
    assert!(SseReader::new().next_event(&mut src).unwrap().is_some(), "without the last LF");
    let mut written = BytesMut::new();
    event(STARTED).encode_sse(&mut written).unwrap();
    assert!(!written.contains(&b'\r'));
}

/// Field report 62: a character of several bytes that is cut between two reads.
#[test]
fn field_report_characters_cut_at_every_byte() {
    let text = r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"Zoë 漢字 😀"}"#;
    let body = format!("data: {text}\n\n");
    for cut in 0..body.len() {
        let (one, two) = body.as_bytes().split_at(cut);
        let (events, _, end) = read_with(SseReader::new(), [one, two]);
        end.unwrap();
        assert_eq!(events, [Event::from(TextMessageContent::new("m", "Zoë 漢字 😀"))]);
    }
}

/// Field report 65: half of a surrogate pair is legal JSON and has no UTF-8.
#[test]
fn field_report_half_of_a_surrogate_pair() {
    let body = format!(
        "data: {STARTED}\n\ndata: {{\"type\":\"TEXT_MESSAGE_CONTENT\",\"messageId\":\"m\",\"delta\":\"hi \\ud83d\"}}\n\n"
    );
    let (events, _, end) = read(body.as_bytes());
    assert_eq!(events, [event(STARTED)]);
    match end.unwrap_err() {
        SseError::Event {
            number: 2,
            source: TextError::Read(ReadError::Json(JsonError::LoneSurrogate { pointer, .. })),
            ..
        } => assert_eq!(pointer, "/delta"),
        other => panic!("{other}"),
    }
}

/// Field report 78: small hard limits broke runs with images in them. Ours is ten times that of
/// others, a setting, and says what it is.
#[test]
fn field_report_large_events() {
    let image = "A".repeat(6 << 20);
    let part = format!(
        r#"{{"type":"image","source":{{"type":"data","value":"{image}","mimeType":"image/png"}}}}"#
    );
    let text = format!(
        r#"{{"type":"MESSAGES_SNAPSHOT","messages":[{{"id":"m","role":"user","content":[{part}]}}]}}"#
    );
    let (events, _, end) =
        read_with(SseReader::new(), format!("data: {text}\n\n").as_bytes().chunks(1 << 16));
    end.unwrap();
    assert_eq!(events.len(), 1);
    let (mut sse, mut frame) = (BytesMut::new(), BytesMut::new());
    events[0].encode_sse(&mut sse).unwrap();
    events[0].encode_frame(&mut frame).unwrap();

    let small = Limits::new().with_max_frame_len(1 << 20);
    let (_, _, end) = read_with(SseReader::with_limits(small), sse.chunks(1 << 16));
    let error = end.unwrap_err();
    assert_eq!(
        error.to_string(),
        "event 1 at byte 0: too large: an event of more than 1048576 bytes, which is the limit"
    );
    assert!(matches!(error, SseError::Data { source: DataError::TooLarge { max: 1_048_576 }, .. }));
    let mut dst = BytesMut::new();
    let error = encode_event(&events[0], &small, &mut dst).unwrap_err();
    assert!(matches!(error, EncodeError::TooLarge { event_type: EventType::MessagesSnapshot, .. }));
    assert_eq!(dst.len(), 0);
}

/// Field report 1: text without a blank line must not be kept without limit.
#[test]
fn field_report_a_body_without_an_empty_line() {
    for piece in ["data: 0123456789abcdef\n", "data:x", "x", ": x"] {
        let mut reader = SseReader::new();
        let mut src = BytesMut::from("data: ");
        let part = piece.repeat(4096);
        let mut sent = 0;
        let error = loop {
            src.extend_from_slice(part.as_bytes());
            sent += part.len();
            match reader.next_event(&mut src) {
                Ok(None) => assert!(sent < 24 << 20),
                Ok(Some(_)) => panic!(),
                Err(error) => break error,
            }
        };
        assert!(matches!(error, SseError::Data { source: DataError::TooLarge { .. }, .. }));
    }
}

/// Field report 80: comments that keep a connection open are no events, and begin none.
#[test]
fn field_report_comments_that_keep_alive() {
    let body = format!("data: {STARTED}\n\n{}data: {FINISHED}\n\n", ": ping\n".repeat(20));
    assert_eq!(good(body.as_bytes()), [event(STARTED), event(FINISHED)]);
    let body = format!("data: {STARTED}\n\n{}data: {FINISHED}\n\n", ": ping\n\n".repeat(20));
    assert_eq!(good(body.as_bytes()), [event(STARTED), event(FINISHED)]);
}

/// Field report 14: the same bad event was refused in one binding and taken in the other.
#[test]
fn field_report_one_verdict() {
    assert_eq!(
        refusal(r#"{"type":"TEXT_MESSAGE_START","messageId":12345}"#),
        "event 1 at byte 6: TEXT_MESSAGE_START: messageId: expected a string, found a number"
    );
    assert_eq!(
        refusal(r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":["x"]}"#),
        "event 1 at byte 6: TEXT_MESSAGE_CONTENT: delta: expected a string, found an array"
    );
}

/// Field report 33: times as fractions or as text.
#[test]
fn field_report_timestamps() {
    let at = |time: &str| format!(r#"{{"type":"RUN_ERROR","message":"m","timestamp":{time}}}"#);
    for bad in ["1757600000000.5", "\"2026-01-01T00:00:00Z\""] {
        let error = refusal(&at(bad));
        assert!(error.starts_with("event 1 at byte 6: RUN_ERROR: timestamp: expected"), "{error}");
    }
    for (good_time, want) in [("1757600000000.0", 1_757_600_000_000), ("-5", -5)] {
        let events = good(format!("data: {}\n\n", at(good_time)).as_bytes());
        assert_eq!(events[0].base.timestamp, Some(want));
    }
}

/// Field report 55: retired events of old servers are translated, each with a notice.
#[test]
fn field_report_retired_events() {
    let body = "data: {\"type\":\"THINKING_TEXT_MESSAGE_START\"}\n\n\
                data: {\"type\":\"THINKING_TEXT_MESSAGE_CONTENT\",\"delta\":\"hm\"}\n\n\
                data: {\"type\":\"THINKING_TEXT_MESSAGE_END\"}\n\n";
    let (events, notices, end) = read(body.as_bytes());
    end.unwrap();
    let types: Vec<_> = events.iter().map(Event::event_type).collect();
    assert_eq!(
        types,
        [
            EventType::ReasoningMessageStart,
            EventType::ReasoningMessageContent,
            EventType::ReasoningMessageEnd
        ]
    );
    assert_eq!(notices.len(), 3);
}

/// Field report 6 and 93: a peer that dies inside an event is truncated, after all that it sent.
#[test]
fn field_report_a_peer_that_dies() {
    let (events, _, end) =
        read(format!("data: {STARTED}\n\ndata: {{\"type\":\"RUN_FIN").as_bytes());
    assert_eq!(events, [event(STARTED)]);
    assert!(end.unwrap_err().is_truncated());
    let (events, _, end) = read(format!("data: {STARTED}\n\n").as_bytes());
    assert_eq!(events, [event(STARTED)], "between events the binding has ended; the run has not");
    end.unwrap();
}

// --- tokio-util ------------------------------------------------------------------------------

#[cfg(feature = "tokio")]
mod codec {
    use ag_ui_proto::codec::{EventCodec, WriteError};
    use ag_ui_proto::sse::SseCodec;
    use futures_util::SinkExt;
    use std::sync::{Arc, Mutex};
    use tokio_util::codec::{Decoder, Encoder, FramedRead, FramedWrite};

    use super::*;

    /// How a stream in either binding ended.
    #[cfg(feature = "stream")]
    async fn end<C>(body: &[u8], codec: C) -> (usize, bool, Option<(u64, u64)>)
    where
        C: Decoder<Item = Event>,
        C::Error: ag_ui_proto::stream::StreamFault,
    {
        use ag_ui_proto::stream::StreamFault as _;

        let mut read = FramedRead::new(body, codec);
        let mut count = 0;
        while let Some(event) = read.next().await {
            match event {
                Ok(_) => count += 1,
                Err(error) => return (count, error.is_truncated(), error.position()),
            }
        }
        (count, false, None)
    }

    #[cfg(feature = "stream")]
    #[tokio::test]
    async fn a_program_can_ask_how_a_stream_ended_in_either_binding() {
        let whole = format!("data: {STARTED}\n\n");
        let mut frame = BytesMut::new();
        event(STARTED).encode_frame(&mut frame).unwrap();
        for (rest, at, bad, is_truncated) in
            [("data: {", 0, &b"\0\0\0\x01"[..], true), ("data: {\n\n", 6, b"\0\0\0\x01x", false)]
        {
            let text = end(format!("{whole}{rest}").as_bytes(), SseCodec::new()).await;
            assert_eq!(text, (1, is_truncated, Some((2, whole.len() as u64 + at))));
            let frames = end(&[&frame[..], bad].concat(), EventCodec::new()).await;
            assert_eq!(frames, (1, is_truncated, Some((2, frame.len() as u64))));
        }
        assert_eq!(end(whole.as_bytes(), SseCodec::new()).await, (1, false, None));
    }

    /// What a program writes that does not care which binding it has.
    async fn pass<C, E>(codec: C, other: C, events: &[Event]) -> Vec<Event>
    where
        C: Decoder<Item = Event, Error = E> + Encoder<Event, Error = WriteError> + Send + 'static,
        E: From<std::io::Error> + std::fmt::Debug,
    {
        let (into, out_of) = tokio::io::duplex(7);
        let mut sink = FramedWrite::new(into, codec);
        let send = async move {
            let events = events.iter().cloned().map(Ok).collect::<Vec<_>>();
            sink.send_all(&mut stream::iter(events)).await.unwrap();
        };
        let received = FramedRead::new(out_of, other).map(Result::unwrap).collect();
        tokio::join!(send, received).1
    }

    #[tokio::test]
    async fn a_program_passes_events_in_either_binding() {
        let events =
            [event(STARTED), Event::from(TextMessageContent::new("m", "a\nb")), event(FINISHED)];
        let text = pass(SseCodec::new(), SseCodec::new(), &events).await;
        let frames = pass(EventCodec::new(), EventCodec::new(), &events).await;
        assert_eq!(text, events);
        assert_eq!(frames, events);
    }

    #[tokio::test]
    async fn errors_are_of_the_same_classes() {
        let mut text = FramedRead::new(&b"data: {\"ty"[..], SseCodec::new());
        let mut frames = FramedRead::new(&b"\0\0\0\x05\x1a"[..], EventCodec::new());
        let error: SseError = text.next().await.unwrap().unwrap_err();
        assert!(error.is_truncated());
        let error: StreamError = frames.next().await.unwrap().unwrap_err();
        assert!(error.is_truncated());
        assert!(text.next().await.is_none() && frames.next().await.is_none());

        let beyond = Event::from(Custom::new("n", 1)).with_timestamp(1 << 53);
        let mut dst = BytesMut::from("before");
        let one = SseCodec::new().encode(&beyond, &mut dst).unwrap_err();
        let two = EventCodec::new().encode(&beyond, &mut dst).unwrap_err();
        assert_eq!(one.to_string(), two.to_string());
        assert_eq!(dst, "before");
    }

    #[test]
    fn notices_are_told_and_the_stream_goes_on() {
        let told = Arc::new(Mutex::new(Vec::new()));
        let tell = Arc::clone(&told);
        let mut codec = SseCodec::with_limits(Limits::new())
            .with_reading(Reading::Tolerant(UnknownNames::Strip))
            .joining_surrogates()
            .on_notice(move |notice| tell.lock().unwrap().push(notice.to_string()));
        let mut src =
            BytesMut::from(&format!("data: {{\"type\":\"NEW\"}}\n\ndata: {FINISHED}\n\n")[..]);
        assert_eq!(codec.decode(&mut src).unwrap(), Some(event(FINISHED)));
        assert_eq!(codec.decode_eof(&mut src).unwrap(), None);
        assert_eq!(*told.lock().unwrap(), [r#"dropped an event of unknown type "NEW""#]);
        assert!(format!("{codec:?}").starts_with("SseCodec"));
    }

    #[test]
    fn a_last_line_that_is_skipped_is_no_failure() {
        let mut codec = SseCodec::new();
        let mut src = BytesMut::from(&format!("data: {FINISHED}\n\n: bye")[..]);
        assert_eq!(codec.decode_eof(&mut src).unwrap(), Some(event(FINISHED)));
        assert_eq!(codec.decode_eof(&mut src).unwrap(), None);
        assert!(src.is_empty());
    }

    #[test]
    fn a_run_finished_event_is_written_as_the_official_encoder_writes_it() {
        let mut dst = BytesMut::new();
        SseCodec::new().encode(Event::from(RunFinished::new("t", "r")), &mut dst).unwrap();
        assert_eq!(dst, format!("data: {FINISHED}\n\n"));
    }
}
