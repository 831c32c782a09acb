//! Every event type has a sample, golden bytes, and bytes worked out by hand.

use std::collections::BTreeSet;

use ag_ui_proto::Event;
use ag_ui_proto::model::EventType;

use crate::notation::{bytes, check_decodes, hex, json, parse};

const SAMPLES: [&str; 3] = [
    include_str!("../../samples/chat.jsonl"),
    include_str!("../../samples/research.jsonl"),
    include_str!("../../samples/multimodal.sse"),
];

/// The JSON of a sample's events: a line each, in `.sse` behind `data: `.
pub(crate) fn sample_events(sample: &str) -> impl Iterator<Item = &str> {
    sample
        .lines()
        .map(|line| line.strip_prefix("data: ").unwrap_or(line))
        .filter(|line| line.starts_with('{'))
}

/// All samples.
pub(crate) fn samples() -> [&'static str; 3] {
    SAMPLES
}

#[track_caller]
fn check_all_types(found: &BTreeSet<EventType>, what: &str) {
    let missing: Vec<EventType> =
        EventType::ALL.into_iter().filter(|event_type| !found.contains(event_type)).collect();
    assert_eq!(missing, [], "without {what}");
}

#[test]
fn every_type_has_a_sample() {
    let events = SAMPLES.iter().flat_map(|sample| sample_events(sample));
    let found = events.map(|text| Event::from_json(text).unwrap().event_type()).collect();
    check_all_types(&found, "a sample");
}

#[test]
fn every_type_has_golden_bytes() {
    let documents = include_str!("../data/documents.jsonl");
    let golden: BTreeSet<&str> = include_str!("../data/golden.tsv")
        .lines()
        .map(|line| line.split('\t').next().unwrap())
        .collect();
    let found = documents
        .lines()
        .map(parse)
        .filter(|document| golden.contains(document["name"].as_str().unwrap()))
        .map(|document| document["event"]["type"].as_str().unwrap().parse().unwrap())
        .collect();
    check_all_types(&found, "a golden document");
}

/// The arm, its length, `base_event`, then each required member.
const SMALLEST: [(&str, &str); 31] = [
    (r#"{"type":"TEXT_MESSAGE_START","messageId":"m"}"#, "0a 05 0a00 12016d"),
    (
        r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"d"}"#,
        "12 0a 0a020801 12016d 1a0164",
    ),
    (r#"{"type":"TEXT_MESSAGE_END","messageId":"m"}"#, "1a 07 0a020802 12016d"),
    (
        r#"{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f"}"#,
        "22 0a 0a020803 120163 1a0166",
    ),
    (r#"{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"d"}"#, "2a 0a 0a020804 120163 1a0164"),
    (r#"{"type":"TOOL_CALL_END","toolCallId":"c"}"#, "32 07 0a020805 120163"),
    (r#"{"type":"STATE_SNAPSHOT","snapshot":true}"#, "3a 08 0a020806 1202 2001"),
    (
        r#"{"type":"STATE_DELTA","delta":[{"op":"remove","path":"/a"}]}"#,
        "42 0c 0a020807 1206 0801 12022f61",
    ),
    (r#"{"type":"MESSAGES_SNAPSHOT","messages":[]}"#, "4a 04 0a020808"),
    (r#"{"type":"RAW","event":null}"#, "52 08 0a020809 1202 0800"),
    (r#"{"type":"CUSTOM","name":"n","value":null}"#, "5a 0b 0a02080a 12016e 1a02 0800"),
    (r#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}"#, "62 0a 0a02080b 120174 1a0172"),
    (r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r"}"#, "6a 0a 0a02080c 120174 1a0172"),
    (r#"{"type":"RUN_ERROR","message":"x"}"#, "72 07 0a02080d 1a0178"),
    (r#"{"type":"STEP_STARTED","stepName":"s"}"#, "7a 07 0a02080e 120173"),
    (r#"{"type":"STEP_FINISHED","stepName":"s"}"#, "8201 07 0a02080f 120173"),
    (r#"{"type":"TEXT_MESSAGE_CHUNK"}"#, "8a01 04 0a020813"),
    (r#"{"type":"TOOL_CALL_CHUNK"}"#, "9201 04 0a020814"),
    (
        r#"{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"n"}"#,
        "9a01 0a 0a020810 120173 1a016e",
    ),
    (r#"{"type":"SUBAGENT_FINISHED","subagentRunId":"s"}"#, "a201 07 0a020811 120173"),
    (
        r#"{"type":"SUBAGENT_ERROR","subagentRunId":"s","message":"x"}"#,
        "aa01 0a 0a020812 120173 1a0178",
    ),
    (
        r#"{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":"x"}"#,
        "b201 0d 0a020815 1a016d 220163 2a0178",
    ),
    (
        r#"{"type":"ACTIVITY_SNAPSHOT","messageId":"m","activityType":"a","content":{}}"#,
        "ba01 0c 0a020816 1a016d 220161 2a00",
    ),
    (
        r#"{"type":"ACTIVITY_DELTA","messageId":"m","activityType":"a","patch":[]}"#,
        "c201 0a 0a020817 1a016d 220161",
    ),
    (r#"{"type":"REASONING_START","messageId":"m"}"#, "ca01 07 0a020818 1a016d"),
    (
        r#"{"type":"REASONING_MESSAGE_START","messageId":"m","role":"reasoning"}"#,
        "d201 12 0a020819 1a016d 2209 726561736f6e696e67",
    ),
    (
        r#"{"type":"REASONING_MESSAGE_CONTENT","messageId":"m","delta":"d"}"#,
        "da01 0a 0a02081a 1a016d 220164",
    ),
    (r#"{"type":"REASONING_MESSAGE_END","messageId":"m"}"#, "e201 07 0a02081b 1a016d"),
    (r#"{"type":"REASONING_MESSAGE_CHUNK"}"#, "ea01 04 0a02081c"),
    (r#"{"type":"REASONING_END","messageId":"m"}"#, "f201 07 0a02081d 1a016d"),
    (
        r#"{"type":"REASONING_ENCRYPTED_VALUE","subtype":"message","entityId":"e","encryptedValue":"v"}"#,
        "fa01 13 0a02081e 1a07 6d657373616765 220165 2a0176",
    ),
];

/// The same with every member, by the numbers of the wire reference.
const LARGEST: [(&str, &str); 31] = [
    (
        r#"{"type":"TEXT_MESSAGE_START","messageId":"m","role":"user","name":"n","subagentRunId":"s",BASE}"#,
        r#"1: {1: {BASE} 2: "m" 3: "user" 4: "n" 5: "s"}"#,
    ),
    (
        r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"d","subagentRunId":"s",BASE}"#,
        r#"2: {1: {1: 1 BASE} 2: "m" 3: "d" 4: "s"}"#,
    ),
    (
        r#"{"type":"TEXT_MESSAGE_END","messageId":"m","subagentRunId":"s",BASE}"#,
        r#"3: {1: {1: 2 BASE} 2: "m" 3: "s"}"#,
    ),
    (
        r#"{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f","parentMessageId":"p","subagentRunId":"s",BASE}"#,
        r#"4: {1: {1: 3 BASE} 2: "c" 3: "f" 4: "p" 5: "s"}"#,
    ),
    (
        r#"{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"d","subagentRunId":"s",BASE}"#,
        r#"5: {1: {1: 4 BASE} 2: "c" 3: "d" 4: "s"}"#,
    ),
    (
        r#"{"type":"TOOL_CALL_END","toolCallId":"c","subagentRunId":"s",BASE}"#,
        r#"6: {1: {1: 5 BASE} 2: "c" 3: "s"}"#,
    ),
    (
        r#"{"type":"STATE_SNAPSHOT","snapshot":["x"],"subagentRunId":"s",BASE}"#,
        r#"7: {1: {1: 6 BASE} 2: {6: {1: {3: "x"}}} 3: "s"}"#,
    ),
    (
        r#"{"type":"STATE_DELTA","delta":[{"op":"add","path":"/a","value":1.5},{"op":"remove","path":"/a"},
            {"op":"replace","path":"/a","value":null},{"op":"move","from":"/b","path":"/a"},
            {"op":"copy","from":"/b","path":""},{"op":"test","path":"/a","value":""}],"subagentRunId":"s",BASE}"#,
        r#"8: {1: {1: 7 BASE} 2: {2: "/a" 4: {2: 1.5}} 2: {1: 1 2: "/a"} 2: {1: 2 2: "/a" 4: {1: 0}}
            2: {1: 3 2: "/a" 3: "/b"} 2: {1: 4 3: "/b"} 2: {1: 5 2: "/a" 4: {3: ""}} 3: "s"}"#,
    ),
    (
        r#"{"type":"MESSAGES_SNAPSHOT",BASE,"messages":[
            {"role":"developer","id":"1","content":"x","name":"n","encryptedValue":"v","encryptedValueType":"t","metadata":{},"subagentRunId":"s"},
            {"role":"system","id":"2","content":"x","name":"n","encryptedValue":"v","encryptedValueType":"t","metadata":{},"subagentRunId":"s"},
            {"role":"assistant","id":"3","content":"x","name":"n","encryptedValue":"v","encryptedValueType":"t","metadata":{},"subagentRunId":"s",
                "toolCalls":[{"id":"c","type":"function","function":{"name":"f","arguments":"a"},"encryptedValue":"v","encryptedValueType":"t","metadata":{}}]},
            {"role":"user","id":"4","name":"n","encryptedValue":"v","encryptedValueType":"t","metadata":{},"subagentRunId":"s","content":[
                {"type":"text","text":"x","id":"p","metadata":true},
                {"type":"image","source":{"type":"data","value":"QQ==","mimeType":"a/b"},"id":"p","metadata":true},
                {"type":"audio","source":{"type":"url","value":"u","mimeType":"a/b"},"id":"p","metadata":true},
                {"type":"video","source":{"type":"file","value":"f","provider":"o","mimeType":"a/b"},"id":"p","metadata":true},
                {"type":"document","source":{"type":"url","value":"u"},"id":"p","metadata":true}]},
            {"role":"tool","id":"5","content":"x","toolCallId":"c","error":"e","encryptedValue":"v","encryptedValueType":"t","metadata":{},"subagentRunId":"s"},
            {"role":"activity","id":"6","activityType":"a","content":{},"metadata":{},"subagentRunId":"s"},
            {"role":"reasoning","id":"7","content":"x","encryptedValue":"v","encryptedValueType":"t","metadata":{},"subagentRunId":"s"}]}"#,
        r#"9: {1: {1: 8 BASE}
            2: {1: "1" 2: "developer" 3: "x" 4: "n" 9: {} 10: "s" 11: "v" 14: "t"}
            2: {1: "2" 2: "system" 3: "x" 4: "n" 9: {} 10: "s" 11: "v" 14: "t"}
            2: {1: "3" 2: "assistant" 3: "x" 4: "n"
                5: {1: "c" 2: "function" 3: {1: "f" 2: "a"} 4: {} 5: "v" 6: "t"}
                9: {} 10: "s" 11: "v" 14: "t"}
            2: {1: "4" 2: "user" 4: "n"
                8: {1: {1: "x" 2: "p" 3: {4: 1}}}
                8: {2: {1: {1: {1: "QQ==" 2: "a/b"}} 2: {4: 1} 3: "p"}}
                8: {3: {1: {2: {1: "u" 2: "a/b"}} 2: {4: 1} 3: "p"}}
                8: {4: {1: {3: {1: "f" 2: "o" 3: "a/b"}} 2: {4: 1} 3: "p"}}
                8: {5: {1: {2: {1: "u"}} 2: {4: 1} 3: "p"}}
                9: {} 10: "s" 11: "v" 14: "t"}
            2: {1: "5" 2: "tool" 3: "x" 6: "c" 7: "e" 9: {} 10: "s" 11: "v" 14: "t"}
            2: {1: "6" 2: "activity" 9: {} 10: "s" 12: "a" 13: {}}
            2: {1: "7" 2: "reasoning" 3: "x" 9: {} 10: "s" 11: "v" 14: "t"}}"#,
    ),
    (
        r#"{"type":"RAW","event":{},"source":"o","subagentRunId":"s",BASE}"#,
        r#"10: {1: {1: 9 BASE} 2: {5: {}} 3: "o" 4: "s"}"#,
    ),
    (
        r#"{"type":"CUSTOM","name":"n","value":[],"subagentRunId":"s",BASE}"#,
        r#"11: {1: {1: 10 BASE} 2: "n" 3: {6: {}} 4: "s"}"#,
    ),
    (
        r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","parentRunId":"p","protocolVersion":"1.1",BASE,
            "input":{"threadId":"t","runId":"r","parentRunId":"p","protocolVersion":"1.1","state":false,"forwardedProps":true,
            "messages":[{"role":"user","id":"u","content":"x"}],
            "tools":[{"name":"n","description":"d","parameters":true,"metadata":{}}],
            "context":[{"description":"d","value":"v"}],
            "resume":[{"interruptId":"i","status":"resolved","payload":true,"metadata":{}},{"interruptId":"j","status":"cancelled"}]}}"#,
        r#"12: {1: {1: 11 BASE} 2: "t" 3: "r" 4: "p"
            5: {1: "t" 2: "r" 3: "p" 4: {4: 0} 5: {1: "u" 2: "user" 3: "x"}
                6: {1: "n" 2: "d" 3: {4: 1} 4: {}} 7: {1: "d" 2: "v"} 8: {4: 1}
                9: {1: "i" 2: "resolved" 3: {4: 1} 4: {}} 9: {1: "j" 2: "cancelled"} 10: "1.1"}
            6: "1.1"}"#,
    ),
    (
        r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":true,BASE,
            "outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"w","message":"x","toolCallId":"c",
                "responseSchema":{},"expiresAt":"e","metadata":{},"subagentRunId":"s"}]},
            "usage":[{"provider":"o","model":"m","inputTokens":1,"outputTokens":2,"totalTokens":3,
                "reasoningTokens":4,"cachedInputTokens":5,"cacheWriteInputTokens":6}]}"#,
        r#"13: {1: {1: 12 BASE} 2: "t" 3: "r" 4: {4: 1} 5: "interrupt"
            6: {1: "i" 2: "w" 3: "x" 4: "c" 5: {5: {}} 6: "e" 7: {5: {}} 8: "s"}
            7: {1: "o" 2: "m" 3: 1 4: 2 5: 3 6: 4 7: 5 8: 6}}"#,
    ),
    (
        r#"{"type":"RUN_ERROR","message":"x","code":"c","usage":[{},{"model":"m"}],BASE}"#,
        r#"14: {1: {1: 13 BASE} 2: "c" 3: "x" 4: {} 4: {2: "m"}}"#,
    ),
    (
        r#"{"type":"STEP_STARTED","stepName":"n","subagentRunId":"s",BASE}"#,
        r#"15: {1: {1: 14 BASE} 2: "n" 3: "s"}"#,
    ),
    (
        r#"{"type":"STEP_FINISHED","stepName":"n","subagentRunId":"s",BASE}"#,
        r#"16: {1: {1: 15 BASE} 2: "n" 3: "s"}"#,
    ),
    (
        r#"{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"system","delta":"d","name":"n","subagentRunId":"s",BASE}"#,
        r#"17: {1: {1: 19 BASE} 2: "m" 3: "system" 4: "d" 5: "n" 6: "s"}"#,
    ),
    (
        r#"{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"f","parentMessageId":"p","delta":"d","subagentRunId":"s",BASE}"#,
        r#"18: {1: {1: 20 BASE} 2: "c" 3: "f" 4: "p" 5: "d" 6: "s"}"#,
    ),
    (
        r#"{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"n","description":"d","parentSubagentRunId":"a",
            "parentToolCallId":"b","parentMessageId":"c",BASE}"#,
        r#"19: {1: {1: 16 BASE} 2: "s" 3: "n" 4: "d" 5: "a" 6: "b" 7: "c"}"#,
    ),
    (
        r#"{"type":"SUBAGENT_FINISHED","subagentRunId":"s","result":true,"outcome":{"type":"suspended","interruptIds":["i","j"]},BASE}"#,
        r#"20: {1: {1: 17 BASE} 2: "s" 3: {4: 1} 4: "suspended" 5: "i" 5: "j"}"#,
    ),
    (
        r#"{"type":"SUBAGENT_ERROR","subagentRunId":"s","message":"x","code":"c",BASE}"#,
        r#"21: {1: {1: 18 BASE} 2: "s" 3: "x" 4: "c"}"#,
    ),
    (
        r#"{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":[{"type":"text","text":""}],"role":"tool","subagentRunId":"s",BASE}"#,
        r#"22: {1: {1: 21 BASE} 2: "s" 3: "m" 4: "c" 6: "tool" 7: {1: {}}}"#,
    ),
    (
        r#"{"type":"ACTIVITY_SNAPSHOT","messageId":"m","activityType":"a","content":{"k":"v"},"replace":true,"subagentRunId":"s",BASE}"#,
        r#"23: {1: {1: 22 BASE} 2: "s" 3: "m" 4: "a" 5: {1: {1: "k" 2: {3: "v"}}} 6: 1}"#,
    ),
    (
        r#"{"type":"ACTIVITY_DELTA","messageId":"m","activityType":"a","patch":[{"op":"test","path":"","value":{}}],"subagentRunId":"s",BASE}"#,
        r#"24: {1: {1: 23 BASE} 2: "s" 3: "m" 4: "a" 5: {1: 5 4: {5: {}}}}"#,
    ),
    (
        r#"{"type":"REASONING_START","messageId":"m","subagentRunId":"s",BASE}"#,
        r#"25: {1: {1: 24 BASE} 2: "s" 3: "m"}"#,
    ),
    (
        r#"{"type":"REASONING_MESSAGE_START","messageId":"m","role":"reasoning","subagentRunId":"s",BASE}"#,
        r#"26: {1: {1: 25 BASE} 2: "s" 3: "m" 4: "reasoning"}"#,
    ),
    (
        r#"{"type":"REASONING_MESSAGE_CONTENT","messageId":"m","delta":"d","subagentRunId":"s",BASE}"#,
        r#"27: {1: {1: 26 BASE} 2: "s" 3: "m" 4: "d"}"#,
    ),
    (
        r#"{"type":"REASONING_MESSAGE_END","messageId":"m","subagentRunId":"s",BASE}"#,
        r#"28: {1: {1: 27 BASE} 2: "s" 3: "m"}"#,
    ),
    (
        r#"{"type":"REASONING_MESSAGE_CHUNK","messageId":"m","delta":"d","subagentRunId":"s",BASE}"#,
        r#"29: {1: {1: 28 BASE} 2: "s" 3: "m" 4: "d"}"#,
    ),
    (
        r#"{"type":"REASONING_END","messageId":"m","subagentRunId":"s",BASE}"#,
        r#"30: {1: {1: 29 BASE} 2: "s" 3: "m"}"#,
    ),
    (
        r#"{"type":"REASONING_ENCRYPTED_VALUE","subtype":"tool-call","entityId":"e","encryptedValue":"v","encryptedValueType":"t","subagentRunId":"s",BASE}"#,
        r#"31: {1: {1: 30 BASE} 2: "s" 3: "tool-call" 4: "e" 5: "v" 6: "t"}"#,
    ),
];

#[track_caller]
fn check_both_ways(text: &str, payload: &[u8]) -> EventType {
    let event = Event::from_json(text).unwrap();
    event.validate().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(event.to_payload().unwrap(), payload, "{text}");
    let decoded = Event::decode(payload).unwrap();
    assert_eq!(json(&decoded.event), parse(text));
    assert_eq!(decoded.event.as_ref(), Some(&event), "{text}");
    assert_eq!(decoded.notices, []);
    event.event_type()
}

#[test]
fn every_type_in_its_smallest_form_is_the_bytes_worked_out_by_hand() {
    let found: Vec<EventType> =
        SMALLEST.iter().map(|(text, payload)| check_both_ways(text, &hex(payload))).collect();
    assert_eq!(found, EventType::ALL);
}

#[test]
fn every_type_with_all_its_members_is_the_fields_of_the_wire_reference() {
    let found: Vec<EventType> = LARGEST
        .iter()
        .map(|(text, payload)| {
            let text =
                text.replace("BASE", r#""timestamp":-1,"rawEvent":true,"metadata":{"k":null}"#);
            let payload = payload.replace("BASE", r#"2: -1 3: {4: 1} 4: {1: {1: "k" 2: {1: 0}}}"#);
            check_both_ways(&text, &bytes(&payload))
        })
        .collect();
    assert_eq!(found, EventType::ALL);
}

#[test]
fn a_success_and_its_pending_calls_are_the_fields_of_the_wire_reference() {
    // The one list that the largest RUN_FINISHED has no room for.
    check_decodes(
        r#"13: {1: {1: 12} 2: "t" 3: "r" 5: "success" 8: "a" 8: ""}"#,
        r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"success","pendingToolCallIds":["a",""]}}"#,
    );
}

#[test]
fn every_sample_survives_the_trip_but_for_one_number() {
    let mut changed = Vec::new();
    let mut count = 0;
    for text in SAMPLES.iter().flat_map(|sample| sample_events(sample)) {
        let event = Event::from_json(text).unwrap();
        event.validate().unwrap_or_else(|error| panic!("{error}: {text}"));
        let decoded = Event::decode(&event.to_payload().unwrap()).unwrap();
        assert_eq!(decoded.notices, []);
        let mut expected = parse(text);
        // The lists of an echoed input are always there.
        if let Some(input) = expected.get_mut("input") {
            for list in ["tools", "context", "resume"] {
                input.as_object_mut().unwrap().entry(list).or_insert_with(|| parse("[]"));
            }
        }
        if json(&decoded.event) != expected {
            changed.push((event.event_type(), text));
        }
        count += 1;
    }
    assert_eq!(count, 164 + 768 + 76);
    let [(EventType::ToolCallResult, text)] = changed[..] else { panic!("{changed:?}") };
    assert!(text.contains("1234567890123456789"), "{text}");
}
