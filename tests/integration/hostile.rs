//! Bytes and text that mean harm: cut, flipped, random, and nested without end.
//!
//! The answer is an event or a typed error, at the same place every time, and never a panic.

use ag_ui_proto::Event;
use ag_ui_proto::codec::{
    DecodeError, EncodeError, EventReader, FrameError, Limits, StreamError, decode_payload,
    encode_payload,
};
use ag_ui_proto::model::{ReadError, StateSnapshot, StrictReader, TolerantReader, UnknownNames};
use ag_ui_proto::value::{JsonError, Object, Slot, Value, ValueError};
use bytes::BytesMut;

use crate::census::{sample_events, samples};
use crate::notation::{bytes, check_error, frame, framed, hex};

/// Runs `body` with a quarter megabyte of stack.
fn on_a_small_stack(body: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(256 * 1024).spawn(body).unwrap().join().unwrap();
}

/// Does with an event whatever a receiver may do.
fn use_up(event: Event) {
    let _ = serde_json::to_string(&event).unwrap();
    let _ = format!("{event:?}");
    let _ = event.validate();
    let _ = event.encode(&mut BytesMut::new());
    let _ = event.enforce(UnknownNames::Strip);
}

/// Decodes what may be anything. Returns whether it was an event.
fn survive(payload: &[u8]) -> bool {
    match Event::decode(payload) {
        Ok(decoded) => decoded.event.map(use_up).is_some(),
        Err(DecodeError::Schema(error)) => {
            panic!("the scan let this through: {error}: {payload:02x?}")
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            false
        }
    }
}

/// The first `count` events of a sample as frames.
fn frames(sample: &str, count: usize) -> Vec<Vec<u8>> {
    sample_events(sample)
        .take(count)
        .map(|text| {
            let mut frame = BytesMut::new();
            Event::from_json(text).unwrap().encode_frame(&mut frame).unwrap();
            frame.to_vec()
        })
        .collect()
}

fn read_all(stream: &[u8]) -> (Vec<Event>, Result<(), StreamError>) {
    let (mut reader, mut src) = (EventReader::new(), BytesMut::from(stream));
    let mut events = Vec::new();
    loop {
        match reader.next_event(&mut src) {
            Ok(Some(decoded)) => events.extend(decoded.event),
            Ok(None) => return (events, reader.finish(&src)),
            Err(error) => return (events, Err(error)),
        }
    }
}

#[test]
fn a_stream_cut_anywhere_gives_the_whole_frames_and_then_says_that_it_was_cut() {
    for sample in samples() {
        let frames = frames(sample, 40);
        let stream = frames.concat();
        let (all, end) = read_all(&stream);
        assert_eq!(all.len(), frames.len());
        assert!(end.is_ok());

        let mut reader = EventReader::new();
        let mut offset = 0;
        for (index, frame) in frames.iter().enumerate() {
            for cut in 0..frame.len() {
                let mut reader = reader.clone();
                let mut src = BytesMut::from(&frame[..cut]);
                assert!(reader.next_event(&mut src).unwrap().is_none());
                assert_eq!(src.len(), cut, "nothing is consumed of a frame that is not whole");
                let end = reader.finish(&src);
                if cut == 0 {
                    assert!(end.is_ok());
                    continue;
                }
                let error = end.unwrap_err();
                let len = (cut >= 4).then_some(frame.len() as u64);
                let expected = FrameError::Truncated { have: cut, len };
                let StreamError::Frame { number, offset: at, source } = &error else {
                    panic!("{error:?}")
                };
                assert_eq!((*number, *at, source), (index as u64 + 1, offset, &expected));
                assert!(error.is_truncated());
                let of = if cut < 4 { String::new() } else { format!(" of {}", frame.len()) };
                assert_eq!(
                    error.to_string(),
                    format!(
                        "frame {number} at byte {offset}: truncated: input ended after {cut} bytes \
                         of a frame{of}"
                    )
                );
            }
            let mut src = BytesMut::from(&frame[..]);
            let decoded = reader.next_event(&mut src).unwrap().unwrap();
            assert_eq!(decoded.event.as_ref(), Some(&all[index]));
            offset += frame.len() as u64;
        }

        // And from the beginning, round every border between two frames.
        let mut border = 0;
        for (index, frame) in frames.iter().enumerate() {
            border += frame.len();
            for cut in border - 3..=(border + 5).min(stream.len()) {
                let (events, end) = read_all(&stream[..cut]);
                let whole = if cut < border { index } else { index + 1 };
                assert_eq!(events, all[..whole]);
                assert_eq!(end.is_ok(), cut == border, "cut at {cut}, border at {border}");
            }
        }
    }
}

#[test]
fn a_payload_with_any_byte_changed_is_an_event_or_an_error() {
    let payloads = [
        bytes(
            r#"3: {1: {1: 2 2: 7 3: {5: {1: {1: "a" 2: {6: {1: {2: 1.5} 1: {1: 0}}}}}} 4: {1: {1: "k" 2: {3: "é"}}}} 2: "m"}"#,
        ),
        bytes(
            r#"9: {1: {1: 8}
                2: {1: "u" 2: "user" 8: {1: {1: "x"}} 8: {2: {1: {1: {1: "QQ==" 2: "image/png"}} 2: {4: 1}}}}
                2: {1: "a" 2: "assistant" 3: "x" 5: {1: "c" 2: "function" 3: {1: "f" 2: "{}"}}}
                2: {1: "t" 2: "tool" 3: "x" 6: "c"} 2: {1: "v" 2: "activity" 12: "a" 13: {}}}"#,
        ),
        bytes(
            r#"13: {1: {1: 12} 2: "t" 3: "r" 5: "interrupt" 6: {1: "i" 2: "why" 5: {5: {}} 7: {5: {}}}
                7: {1: "o" 3: 5} 8: "p"}"#,
        ),
        bytes(
            r#"12: {1: {1: 11} 2: "t" 3: "r" 5: {1: "t" 2: "r" 4: {5: {}} 6: {1: "n" 3: {5: {}}} 7: {}
                9: {1: "i" 2: "resolved" 3: {4: 1}}}}"#,
        ),
        bytes(r#"8: {1: {1: 7} 2: {1: 2 2: "/a" 4: {2: 1.0}} 2: {1: 3 2: "/a" 3: "/b"}}"#),
    ];
    for payload in payloads {
        assert!(survive(&payload));
        let mut events = 0;
        for at in 0..payload.len() {
            for value in 0..=u8::MAX {
                let mut changed = payload.clone();
                changed[at] = value;
                events += usize::from(survive(&changed));
            }
        }
        // Most of a payload is text, and some texts are as good as others.
        assert!(events > payload.len(), "{events} events from {} bytes", payload.len());
    }
}

#[test]
fn a_header_that_lies_is_too_large_truncated_or_no_event() {
    let payload = bytes(r#"3: {1: {1: 2} 2: "m"}"#);
    let next = frame(r#"1: {1: {} 2: "m"}"#);
    for len in 0..=64_u32 {
        let mut stream = len.to_be_bytes().to_vec();
        stream.extend(&payload);
        stream.extend(&next);
        let (events, end) = read_all(&stream);
        let there = stream.len() - 4;
        match (len as usize, end) {
            // The event as it is, and the next one.
            (9, Ok(())) => assert_eq!(events.len(), 2),
            (len, Err(error)) if len > there => {
                assert_eq!(events.len(), 0);
                assert!(error.is_truncated(), "{error}");
            }
            (0, Err(error)) => {
                assert_eq!(error.to_string(), "frame 1 at byte 0: an empty frame names no event");
            }
            (_, Err(StreamError::Event { number: 1, offset: 0, .. })) => assert!(events.is_empty()),
            (len, end) => panic!("{len}: {events:?}, {end:?}"),
        }
    }
    for (header, len) in
        [("00a00000", 10_485_764_u64), ("ffffffff", 4_294_967_299), ("80000000", 2_147_483_652)]
    {
        let (_, end) = read_all(&hex(header));
        check_error!(
            end.unwrap_err(),
            StreamError::Frame { number: 1, offset: 0, source: FrameError::TooLarge { .. } },
            format!("frame 1 at byte 0: a frame of {len} bytes is over the limit of 10485760")
        );
    }
}

#[test]
fn every_length_inside_a_payload_that_lies_is_an_event_or_an_error() {
    // Arm, base_event, metadata, an entry, its key, its Value, a string: each length one too few,
    // one too many, the most that one byte says, and more than the payload has.
    let payload = bytes(r#"3: {1: {1: 2 4: {1: {1: "k" 2: {3: "v"}}}} 2: "m"}"#);
    let lengths = [1, 3, 7, 9, 11, 14, 16, 19];
    assert_eq!(payload, hex("1a 13 0a0e 0802 220a 0a08 0a016b 1203 1a0176 12016d"));
    for at in lengths {
        for lie in [payload[at] - 1, payload[at] + 1, 0x7f, 0x80, 0xff] {
            let mut lying = payload.clone();
            lying[at] = lie;
            survive(&lying);
        }
        let mut long = payload[..at].to_vec();
        long.extend([0xff, 0xff, 0xff, 0xff, 0x0f]);
        long.extend(&payload[at + 1..]);
        let error = Event::decode(&long).unwrap_err();
        let reason = "length runs past the end of its message";
        if at == 1 {
            assert_eq!(error, DecodeError::Malformed { at, reason: reason.to_owned() });
        } else {
            assert!(matches!(error, DecodeError::Malformed { .. }), "{error:?}");
        }
    }
}

#[test]
fn random_bytes_are_an_event_or_an_error() {
    // xorshift, the same bytes in every run.
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut dropped_or_event = 0;
    for _ in 0..20_000 {
        let len = next() % 48;
        let noise: Vec<u8> = (0..len).map(|_| next().to_le_bytes()[0]).collect();
        survive(&noise);
        let _ = read_all(&noise);
        // Noise where an event's fields are, so that it gets further.
        let arm = next() % 31 + 1;
        let mut payload = Vec::new();
        let small: Vec<u8> = noise.iter().map(|byte| byte % 0x23).collect();
        prost::encoding::encode_varint(arm << 3 | 2, &mut payload);
        prost::encoding::encode_varint(small.len() as u64, &mut payload);
        payload.extend(&small);
        dropped_or_event += usize::from(Event::decode(&payload).is_ok());
        survive(&payload);
    }
    assert!(dropped_or_event < 20_000);
}

#[test]
fn random_text_is_an_event_or_an_error() {
    let mut state = 31_u64;
    let mut next = move |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let texts: Vec<&str> = samples().into_iter().flat_map(sample_events).collect();
    for _ in 0..3000 {
        let text = texts[next(texts.len())];
        let mut changed = text.as_bytes().to_vec();
        for _ in 0..=next(3) {
            let at = next(changed.len());
            changed[at] = b"{}[],:\"\\0e-.tn x"[next(16)];
        }
        let Ok(changed) = String::from_utf8(changed) else { continue };
        if let Ok(event) = StrictReader::new().read(&changed) {
            use_up(event);
        }
        if let Ok(read) = TolerantReader::new().read(&changed)
            && let Some(event) = read.event
        {
            use_up(event);
        }
    }
}

/// A `google.protobuf.Value` of `levels` lists, or of `levels` objects under one key.
fn deep_value(levels: usize, objects: bool) -> Vec<u8> {
    let varint = |value: usize| {
        let mut out = Vec::new();
        prost::encoding::encode_varint(value as u64, &mut out);
        out
    };
    let mut parts: Vec<Vec<u8>> = Vec::new();
    let mut len = 0;
    for level in 0..levels {
        let mut put = |tag: u8, front: &[u8]| {
            let mut part = vec![tag];
            part.extend(varint(len + front.len()));
            part.extend(front);
            len += part.len();
            parts.push(part);
        };
        if level > 0 && objects {
            // The Value of an entry, then the entry with its key.
            put(0x12, b"");
            put(0x0a, b"\x0a\x01k");
        } else if level > 0 {
            put(0x0a, b"");
        }
        put(if objects { 0x2a } else { 0x32 }, b"");
    }
    parts.into_iter().rev().flatten().collect()
}

/// `STATE_SNAPSHOT` of a `Value` given as bytes.
fn snapshot_of(value: &[u8]) -> Vec<u8> {
    let mut body = hex("0a020806 12");
    prost::encoding::encode_varint(value.len() as u64, &mut body);
    body.extend(value);
    let mut payload = vec![0x3a];
    prost::encoding::encode_varint(body.len() as u64, &mut payload);
    payload.extend(body);
    payload
}

#[test]
fn the_deep_values_of_these_tests_are_what_they_say() {
    assert_eq!(deep_value(2, false), hex("3204 0a02 3200"));
    // A struct with one entry, whose key is "k" and whose value is an empty struct.
    assert_eq!(deep_value(2, true), hex("2a09 0a07 0a016b 1202 2a00"));
    let decoded = Event::decode(&snapshot_of(&deep_value(3, true))).unwrap();
    assert_eq!(
        serde_json::to_string(&decoded.event).unwrap(),
        r#"{"type":"STATE_SNAPSHOT","snapshot":{"k":{"k":{}}}}"#
    );
}

#[test]
fn text_nested_a_hundred_thousand_deep_is_refused_on_a_small_stack() {
    on_a_small_stack(|| {
        for (open, close) in [("[", "]"), (r#"{"k":"#, "}")] {
            let deep = open.repeat(100_000) + "1" + &close.repeat(100_000);
            let text = format!(r#"{{"type":"RAW","event":{deep}}}"#);
            // 22 bytes in front, 127 levels inside the event's own, and the bracket of one more.
            let column = 22 + 127 * open.len() + 1;
            let expected = format!("JSON nested deeper than 128 levels at line 1 column {column}");
            check_error!(
                StrictReader::new().read(&text).unwrap_err(),
                ReadError::Json(JsonError::TooDeep { max: 128, .. }),
                expected
            );
            check_error!(
                TolerantReader::new().read(&text).unwrap_err(),
                ReadError::Json(JsonError::TooDeep { max: 128, .. }),
                expected
            );
            check_error!(
                Event::from_json(&text).unwrap_err(),
                ReadError::Json(JsonError::TooDeep { max: 128, .. }),
                expected
            );
            // serde_json's own limit, and the text that is never closed.
            let error = serde_json::from_str::<Event>(&text).unwrap_err();
            assert!(error.to_string().starts_with("recursion limit exceeded"), "{error}");
            let error = StrictReader::new().read(&open.repeat(100_000)).unwrap_err();
            assert!(matches!(error, ReadError::Json(JsonError::TooDeep { max: 128, .. })));
        }
    });
}

#[test]
fn bytes_nested_a_hundred_thousand_deep_are_refused_on_a_small_stack() {
    on_a_small_stack(|| {
        for objects in [false, true] {
            let value = deep_value(100_000, objects);
            check_error!(
                Event::decode(&snapshot_of(&value)).unwrap_err(),
                DecodeError::TooDeep { .. },
                "STATE_SNAPSHOT: snapshot: nests the event deeper than 128 levels"
            );
            assert_eq!(Slot::from_wire(&value, 128), Err(ValueError::TooDeep { max: 128 }));
            // Under the greatest limit too.
            let limits = Limits::new().with_max_depth(usize::MAX);
            check_error!(
                decode_payload(&snapshot_of(&value), &limits).unwrap_err(),
                DecodeError::TooDeep { .. },
                "STATE_SNAPSHOT: snapshot: nests the event deeper than 512 levels"
            );
        }
        // Groups in groups are not values; they are skipped.
        let mut groups = vec![0xe3, 0x03]; // field 60, group
        groups = groups.repeat(100_000);
        groups.extend([0xe4, 0x03].repeat(100_000));
        let mut payload = bytes(r#"3: {1: {1: 2} 2: "m"}"#);
        payload.extend(groups);
        assert!(Event::decode(&payload).unwrap().event.is_some());
    });
}

#[test]
fn a_value_built_a_hundred_thousand_deep_is_not_encoded_and_drops_on_a_small_stack() {
    on_a_small_stack(|| {
        let lists = (0..100_000).fold(Value::Null, |inner, _| Value::from(vec![inner]));
        let objects = (0..100_000).fold(Value::Null, |inner, _| {
            Value::from(Object::from([("k", inner), ("n", 1.into())]))
        });
        for deep in [lists, objects] {
            let mut dst = BytesMut::from(&b"before"[..]);
            let event = Event::from(StateSnapshot::new(deep.clone()));
            check_error!(
                event.encode(&mut dst).unwrap_err(),
                EncodeError::TooDeep { max: 128, .. },
                "STATE_SNAPSHOT: snapshot: nests the event deeper than 128 levels"
            );
            let limits = Limits::new().with_max_depth(usize::MAX);
            check_error!(
                encode_payload(&event, &limits, &mut dst).unwrap_err(),
                EncodeError::TooDeep { max: 512, .. },
                "STATE_SNAPSHOT: snapshot: nests the event deeper than 512 levels"
            );
            assert_eq!(dst, b"before"[..]);
            // Judged, cloned, compared, shown and dropped, all without a stack to speak of.
            event.validate().unwrap();
            assert!(event.clone() == event);
            assert!(!format!("{event:?}").is_empty());
            drop(event);
            drop(deep);
        }
    });
}

#[test]
fn a_value_built_a_hundred_thousand_deep_is_not_written_as_json() {
    // serde recurses, for 512 levels at most.
    let deep = (0..100_000).fold(Value::Null, |inner, _| Value::from(vec![inner]));
    let error = serde_json::to_string(&Event::from(StateSnapshot::new(deep))).unwrap_err();
    assert_eq!(error.to_string(), "value nested deeper than 512 levels");
}

/// Every place with an open value: an event with `@` there, and its path in errors.
const PLACES: &[(&str, &str)] = &[
    (r#"{"type":"STEP_STARTED","stepName":"s","metadata":{"k":@}}"#, "metadata"),
    (r#"{"type":"STEP_STARTED","stepName":"s","rawEvent":@}"#, "rawEvent"),
    (r#"{"type":"STATE_SNAPSHOT","snapshot":@}"#, "snapshot"),
    (r#"{"type":"STATE_DELTA","delta":[{"op":"add","path":"","value":@}]}"#, "delta[0].value"),
    (
        r#"{"type":"ACTIVITY_DELTA","messageId":"m","activityType":"a","patch":[{"op":"test","path":"","value":@}]}"#,
        "patch[0].value",
    ),
    (
        r#"{"type":"ACTIVITY_SNAPSHOT","messageId":"m","activityType":"a","content":{"k":@}}"#,
        "content",
    ),
    (r#"{"type":"RAW","event":@}"#, "event"),
    (r#"{"type":"CUSTOM","name":"n","value":@}"#, "value"),
    (r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":@}"#, "result"),
    (r#"{"type":"SUBAGENT_FINISHED","subagentRunId":"s","result":@}"#, "result"),
    (
        r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"r","metadata":{"k":@}}]}}"#,
        "outcome.interrupts[0].metadata",
    ),
    (
        r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"r","responseSchema":{"k":@}}]}}"#,
        "outcome.interrupts[0].responseSchema",
    ),
    (
        r#"{"type":"MESSAGES_SNAPSHOT","messages":[{"role":"user","id":"u","content":"x","metadata":{"k":@}}]}"#,
        "messages[0].metadata",
    ),
    (
        r#"{"type":"MESSAGES_SNAPSHOT","messages":[{"role":"activity","id":"u","activityType":"a","content":{"k":@}}]}"#,
        "messages[0].content",
    ),
    (
        r#"{"type":"MESSAGES_SNAPSHOT","messages":[{"role":"assistant","id":"a","toolCalls":[{"id":"c","type":"function","function":{"name":"f","arguments":""},"metadata":{"k":@}}]}]}"#,
        "messages[0].toolCalls[0].metadata",
    ),
    (
        r#"{"type":"MESSAGES_SNAPSHOT","messages":[{"role":"user","id":"u","content":[{"type":"text","text":"x","metadata":@}]}]}"#,
        "messages[0].content[0].metadata",
    ),
    (
        r#"{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":[{"type":"image","source":{"type":"url","value":"u"},"metadata":@}]}"#,
        "content[0].metadata",
    ),
    (
        r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"threadId":"t","runId":"r","messages":[],"state":@}}"#,
        "input.state",
    ),
    (
        r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"threadId":"t","runId":"r","messages":[],"forwardedProps":@}}"#,
        "input.forwardedProps",
    ),
    (
        r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"threadId":"t","runId":"r","messages":[],"tools":[{"name":"n","description":"d","parameters":@}]}}"#,
        "input.tools[0].parameters",
    ),
    (
        r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"threadId":"t","runId":"r","messages":[],"tools":[{"name":"n","description":"d","metadata":{"k":@}}]}}"#,
        "input.tools[0].metadata",
    ),
    (
        r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"threadId":"t","runId":"r","messages":[],"resume":[{"interruptId":"i","status":"resolved","payload":@}]}}"#,
        "input.resume[0].payload",
    ),
    (
        r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"threadId":"t","runId":"r","messages":[],"resume":[{"interruptId":"i","status":"resolved","metadata":{"k":@}}]}}"#,
        "input.resume[0].metadata",
    ),
    (
        r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"threadId":"t","runId":"r","messages":[{"role":"user","id":"u","content":"x","metadata":{"k":@}}]}}"#,
        "input.messages[0].metadata",
    ),
];

/// An event whose JSON nests exactly so deep, by nesting in the given place.
fn nested(event: &str, depth: usize, open: &str, close: &str) -> String {
    let (before, after) = event.split_once('@').unwrap();
    let count = |text: &str, brackets: [char; 2]| text.matches(brackets).count();
    let around = count(before, ['{', '[']) - count(before, ['}', ']']);
    let levels = depth - around;
    format!("{before}{}1{}{after}", open.repeat(levels), close.repeat(levels))
}

#[test]
fn json_and_bytes_stop_at_the_same_depth_in_every_place() {
    for max in [16, 128, 200] {
        let limits = Limits::new().with_max_depth(max);
        for (event, path) in PLACES {
            for (open, close) in [("[", "]"), (r#"{"k":"#, "}")] {
                let text = nested(event, max, open, close);
                let read = StrictReader::new().with_max_depth(max).read(&text).unwrap();
                let mut payload = BytesMut::new();
                encode_payload(&read, &limits, &mut payload)
                    .unwrap_or_else(|error| panic!("{max}: {error}: {event}"));
                let decoded = decode_payload(&payload, &limits)
                    .unwrap_or_else(|error| panic!("{max}: {error}: {event}"));
                // An echoed input gains lists on the way.
                if !event.contains("RUN_STARTED") {
                    assert_eq!(decoded.event, Some(read));
                }

                let text = nested(event, max + 1, open, close);
                let error = StrictReader::new().with_max_depth(max).read(&text).unwrap_err();
                assert!(
                    matches!(error, ReadError::Json(JsonError::TooDeep { max: at, .. }) if at == max),
                    "{error:?}"
                );
                let read = StrictReader::new().with_max_depth(max + 1).read(&text).unwrap();
                let error = encode_payload(&read, &limits, &mut BytesMut::new()).unwrap_err();
                let event_type = read.event_type();
                let said =
                    format!("{event_type}: {path}: nests the event deeper than {max} levels");
                check_error!(error, EncodeError::TooDeep { .. }, said);

                let roomy = Limits::new().with_max_depth(max + 1);
                let mut payload = BytesMut::new();
                encode_payload(&read, &roomy, &mut payload).unwrap();
                let error = decode_payload(&payload, &limits).unwrap_err();
                check_error!(error, DecodeError::TooDeep { .. }, said);
                assert!(decode_payload(&payload, &roomy).is_ok());
            }
        }
    }
}

#[test]
fn members_of_an_unknown_role_stop_at_the_same_depth() {
    let event = r#"{"type":"MESSAGES_SNAPSHOT","messages":[{"role":"narrator","id":"n","metadata":{"k":@}}]}"#;
    let text = nested(event, 128, "[", "]");
    let read = Event::from_json(&text).unwrap();
    let payload = read.to_payload().unwrap();
    assert!(Event::decode(&payload).is_ok());
    let text = nested(event, 129, "[", "]");
    check_error!(
        Event::from_json(&text).unwrap_err(),
        ReadError::Json(JsonError::TooDeep { max: 128, .. }),
        format!(
            "JSON nested deeper than 128 levels at line 1 column {}",
            text.find(']').unwrap() - 1
        )
    );
    let read = Event::from_value(Value::from_json(&text, 129).unwrap()).unwrap();
    let mut payload = BytesMut::new();
    assert!(matches!(read.encode(&mut payload), Err(EncodeError::TooDeep { max: 128, .. })));
    encode_payload(&read, &Limits::new().with_max_depth(129), &mut payload).unwrap();
    assert!(matches!(Event::decode(&payload), Err(DecodeError::TooDeep { max: 128, .. })));
}

#[test]
fn a_frame_announced_and_never_sent_costs_nothing() {
    // 10 485 756 bytes of payload are the most; the reader waits, and reserves nothing.
    let mut src = BytesMut::from(&hex("009ffffc 3a")[..]);
    let capacity = src.capacity();
    let mut reader = EventReader::new();
    assert!(reader.next_event(&mut src).unwrap().is_none());
    assert_eq!(src.capacity(), capacity);
    assert_eq!(framed(&[1]), [0, 0, 0, 1, 1]);
}
