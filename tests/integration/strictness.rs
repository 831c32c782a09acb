//! Strict and tolerant reading of JSON: what each refuses, strips, translates and lets pass.
//!
//! Rule: model.md 2, 6, 8 and 9.

use ag_ui_proto::Event;
use ag_ui_proto::model::{
    Malformed, NoticeKind, ReadError, Reason, RunAgentInput, StrictReader, TolerantReader,
    Translator, UnknownNames, Unrecognised,
};
use ag_ui_proto::value::Value;
use bytes::BytesMut;

use crate::notation::{check_error, json, parse, texts};

fn strict(text: &str) -> Result<Event, ReadError> {
    StrictReader::new().read(text)
}

fn malformed(error: ReadError) -> Malformed {
    match error {
        ReadError::Malformed(malformed) => malformed,
        other => panic!("{other:?}"),
    }
}

/// Checks that both readings take the event as it is, without a word.
#[track_caller]
fn check_fine(text: &str) {
    let event = strict(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(json(&event), parse(text), "{text}");
    let read = TolerantReader::new().read(text).unwrap();
    assert_eq!(json(&read.event), parse(text), "{text}");
    assert_eq!(texts(&read.notices), [""; 0], "{text}");
}

/// Checks that every reading refuses the event, and says the same.
#[track_caller]
fn check_fatal(text: &str, reason: &Reason, expected: &str) {
    let strict = malformed(strict(text).unwrap_err());
    assert_eq!((&strict.reason, strict.to_string().as_str()), (reason, expected), "{text}");
    for names in [UnknownNames::Strip, UnknownNames::Refuse] {
        let read = TolerantReader::new().with_unknown_names(names).read(text);
        let error = match read {
            Err(error) => malformed(error),
            Ok(read) => panic!("{names:?}: {text} reads as {read:?}"),
        };
        assert_eq!((&error.reason, error.to_string().as_str()), (reason, expected), "{text}");
    }
}

/// Checks that tolerant reading strips and strict reading refuses for the first of the reasons.
#[track_caller]
fn check_stripped(text: &str, left: &str, notices: &[&str], refusal: &str) {
    let read = TolerantReader::new().read(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(json(&read.event), parse(left), "{text}");
    assert_eq!(texts(&read.notices), notices, "{text}");
    for notice in &read.notices {
        assert!(matches!(notice.kind, NoticeKind::Stripped(_)), "{notice:?}");
    }
    let error = malformed(strict(text).unwrap_err());
    assert!(matches!(error.reason, Reason::Unrecognised(_)), "{error:?}");
    assert_eq!(error.to_string(), refusal, "{text}");
}

/// What a member takes: its words in an error, a value, and a value of another type.
#[derive(Clone, Copy)]
enum Takes {
    Text,
    Int,
    Flag,
    Object,
    List,
    Content,
    Any,
    Literal(&'static str),
    Outcome,
}

impl Takes {
    fn sample(self) -> String {
        match self {
            Self::Text | Self::Content => r#""x""#.to_owned(),
            Self::Int => "7".to_owned(),
            Self::Flag => "false".to_owned(),
            Self::Object => r#"{"k":null}"#.to_owned(),
            Self::List => "[]".to_owned(),
            Self::Any => "[1]".to_owned(),
            Self::Literal(text) => format!("{text:?}"),
            Self::Outcome => r#"{"type":"success"}"#.to_owned(),
        }
    }

    /// What the member expects, and a JSON type that it does not take.
    fn mistake(self) -> Option<(&'static str, &'static str, &'static str)> {
        match self {
            Self::Text | Self::Literal(_) => Some(("a string", "7", "a number")),
            Self::Int => Some(("an integer", r#""7""#, "a string")),
            Self::Flag => Some(("a boolean", r#""true""#, "a string")),
            Self::Object | Self::Outcome => Some(("an object", "[]", "an array")),
            Self::List => Some(("an array", "{}", "an object")),
            Self::Content => Some(("a string or an array", "7", "a number")),
            Self::Any => None,
        }
    }
}

/// Members by name.
type Members = &'static [(&'static str, Takes)];

/// Every event: required members, then optional ones, as the tables of model.md have them.
const EVENTS: &[(&str, Members, Members)] = {
    use Takes::{Any, Content, Flag, List, Literal, Object, Outcome, Text};
    const A: (&str, Takes) = ("subagentRunId", Text);
    const ID: (&str, Takes) = ("messageId", Text);
    const DELTA: (&str, Takes) = ("delta", Text);
    const CALL: (&str, Takes) = ("toolCallId", Text);
    const ROLE: (&str, Takes) = ("role", Literal("user"));
    &[
        ("TEXT_MESSAGE_START", &[ID], &[A, ROLE, ("name", Text)]),
        ("TEXT_MESSAGE_CONTENT", &[ID, DELTA], &[A]),
        ("TEXT_MESSAGE_END", &[ID], &[A]),
        ("TEXT_MESSAGE_CHUNK", &[], &[A, ID, ROLE, DELTA, ("name", Text)]),
        ("TOOL_CALL_START", &[CALL, ("toolCallName", Text)], &[A, ("parentMessageId", Text)]),
        ("TOOL_CALL_ARGS", &[CALL, DELTA], &[A]),
        ("TOOL_CALL_END", &[CALL], &[A]),
        (
            "TOOL_CALL_CHUNK",
            &[],
            &[A, CALL, ("toolCallName", Text), ("parentMessageId", Text), DELTA],
        ),
        ("TOOL_CALL_RESULT", &[ID, CALL, ("content", Content)], &[A, ("role", Literal("tool"))]),
        ("STATE_SNAPSHOT", &[("snapshot", Any)], &[A]),
        ("STATE_DELTA", &[("delta", List)], &[A]),
        ("MESSAGES_SNAPSHOT", &[("messages", List)], &[]),
        (
            "ACTIVITY_SNAPSHOT",
            &[ID, ("activityType", Text), ("content", Object)],
            &[A, ("replace", Flag)],
        ),
        ("ACTIVITY_DELTA", &[ID, ("activityType", Text), ("patch", List)], &[A]),
        ("RAW", &[("event", Any)], &[A, ("source", Text)]),
        ("CUSTOM", &[("name", Text), ("value", Any)], &[A]),
        (
            "RUN_STARTED",
            &[("threadId", Text), ("runId", Text)],
            &[("protocolVersion", Text), ("parentRunId", Text)],
        ),
        (
            "RUN_FINISHED",
            &[("threadId", Text), ("runId", Text)],
            &[("result", Any), ("outcome", Outcome), ("usage", List)],
        ),
        ("RUN_ERROR", &[("message", Text)], &[("code", Text), ("usage", List)]),
        ("STEP_STARTED", &[("stepName", Text)], &[A]),
        ("STEP_FINISHED", &[("stepName", Text)], &[A]),
        ("REASONING_START", &[ID], &[A]),
        ("REASONING_END", &[ID], &[A]),
        ("REASONING_MESSAGE_START", &[ID, ("role", Literal("reasoning"))], &[A]),
        ("REASONING_MESSAGE_CONTENT", &[ID, DELTA], &[A]),
        ("REASONING_MESSAGE_END", &[ID], &[A]),
        ("REASONING_MESSAGE_CHUNK", &[], &[A, ID, DELTA]),
        (
            "REASONING_ENCRYPTED_VALUE",
            &[("subtype", Literal("message")), ("entityId", Text), ("encryptedValue", Text)],
            &[A, ("encryptedValueType", Text)],
        ),
        (
            "SUBAGENT_STARTED",
            &[("subagentRunId", Text), ("name", Text)],
            &[
                ("description", Text),
                ("parentSubagentRunId", Text),
                ("parentToolCallId", Text),
                ("parentMessageId", Text),
            ],
        ),
        ("SUBAGENT_FINISHED", &[("subagentRunId", Text)], &[("result", Any), ("outcome", Outcome)]),
        ("SUBAGENT_ERROR", &[("subagentRunId", Text), ("message", Text)], &[("code", Text)]),
    ]
};

const BASE: &[(&str, Takes)] =
    &[("timestamp", Takes::Int), ("rawEvent", Takes::Any), ("metadata", Takes::Object)];

/// An event of the given members, with one of them replaced or left out.
fn event_text(
    event_type: &str,
    members: &[(&str, Takes)],
    odd: Option<(&str, Option<&str>)>,
) -> String {
    let mut text = format!(r#"{{"type":"{event_type}""#);
    for (name, takes) in members {
        let value = match odd {
            Some((odd, value)) if odd == *name => value.map(str::to_owned),
            _ => Some(takes.sample()),
        };
        if let Some(value) = value {
            text += &[",\"", name, "\":", &value].concat();
        }
    }
    text + "}"
}

#[test]
fn every_event_reads_with_its_required_members_and_with_all() {
    assert_eq!(EVENTS.len(), 31);
    for (event_type, required, optional) in EVENTS {
        check_fine(&event_text(event_type, required, None));
        check_fine(&event_text(event_type, &[required, optional, BASE].concat(), None));
    }
}

#[test]
fn a_missing_required_member_is_fatal() {
    for (event_type, required, _) in EVENTS {
        for (name, _) in *required {
            check_fatal(
                &event_text(event_type, required, Some((name, None))),
                &Reason::Missing,
                &format!("{event_type}: {name}: missing"),
            );
        }
    }
}

#[test]
fn a_member_of_another_json_type_is_fatal() {
    for (event_type, required, optional) in EVENTS {
        let members = [required, optional, BASE].concat();
        for (name, takes) in &members {
            let Some((expected, value, found)) = takes.mistake() else { continue };
            let text = event_text(event_type, &members, Some((name, Some(value))));
            let error = malformed(strict(&text).unwrap_err());
            // What content takes has no fixed words in the guide.
            if let Takes::Content = takes {
                assert!(matches!(error.reason, Reason::Type { found: "a number", .. }), "{error}");
            } else {
                check_fatal(
                    &text,
                    &Reason::Type { expected, found },
                    &format!("{event_type}: {name}: expected {expected}, found {found}"),
                );
            }
        }
    }
}

/// Whole nulls that old peers wrote for absent members of events.
const RETIRED_NULLS: &[(&str, &str)] = &[
    ("RUN_FINISHED", "result"),
    ("SUBAGENT_FINISHED", "result"),
    ("RUN_FINISHED", "outcome"),
    ("TOOL_CALL_START", "parentMessageId"),
    ("TOOL_CALL_CHUNK", "parentMessageId"),
];

#[test]
fn a_null_for_an_absent_member_is_fatal_unless_old_peers_wrote_it() {
    for (event_type, required, optional) in EVENTS {
        for (name, _) in optional.iter().chain(BASE) {
            let members = [required, optional, BASE].concat();
            let text = event_text(event_type, &members, Some((name, Some("null"))));
            let error = malformed(strict(&text).unwrap_err());
            assert!(
                matches!(error.reason, Reason::Null | Reason::Type { found: "null", .. }),
                "{error:?}"
            );
            assert!(error.to_string().starts_with(&format!("{event_type}: {name}: ")), "{error}");
            let read = TolerantReader::new().read(&text);
            if *name == "rawEvent" || RETIRED_NULLS.contains(&(event_type, name)) {
                let read = read.unwrap();
                let without = event_text(event_type, &members, Some((name, None)));
                assert_eq!(json(&read.event), parse(&without), "{text}");
                let notice = format!("/{name}: translated the retired null for an absent member");
                assert_eq!(texts(&read.notices), [notice]);
            } else {
                assert_eq!(malformed(read.unwrap_err()), error, "{text}");
            }
        }
    }
}

#[test]
fn a_null_that_is_the_payload_is_one() {
    check_fine(r#"{"type":"STATE_SNAPSHOT","snapshot":null}"#);
    check_fine(r#"{"type":"RAW","event":null}"#);
    check_fine(r#"{"type":"CUSTOM","name":"n","value":null}"#);
    check_fine(r#"{"type":"STATE_DELTA","delta":[{"op":"add","path":"/a","value":null}]}"#);
    check_fine(r#"{"type":"STEP_STARTED","stepName":"s","metadata":{"a":null,"b":[null]}}"#);
}

#[test]
fn retired_nulls_inside_an_input_and_on_media_are_read_as_absent() {
    let read = TolerantReader::new()
        .read(
            r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"threadId":"t","runId":"r",
            "state":null,"forwardedProps":null,
            "messages":[{"id":"u","role":"user","content":[
                {"type":"image","source":{"type":"url","value":"u"},"metadata":null},
                {"type":"audio","source":{"type":"url","value":"u"},"metadata":null},
                {"type":"video","source":{"type":"url","value":"u"},"metadata":null},
                {"type":"document","source":{"type":"url","value":"u"},"metadata":null}]}],
            "tools":[{"name":"n","description":"d","parameters":null}],
            "resume":[{"interruptId":"i","status":"resolved","payload":null}]}}"#,
        )
        .unwrap();
    let mut places: Vec<String> = read.notices.iter().map(|notice| notice.path.pointer()).collect();
    places.sort();
    assert_eq!(
        places,
        [
            "/input/forwardedProps",
            "/input/messages/0/content/0/metadata",
            "/input/messages/0/content/1/metadata",
            "/input/messages/0/content/2/metadata",
            "/input/messages/0/content/3/metadata",
            "/input/resume/0/payload",
            "/input/state",
            "/input/tools/0/parameters",
        ]
    );
    for notice in &read.notices {
        assert_eq!(notice.kind, NoticeKind::Retired { shape: "null for an absent member" });
    }
    assert!(!serde_json::to_string(&read.event).unwrap().contains("null"));
}

#[test]
fn nulls_that_no_old_peer_wrote_are_fatal() {
    let message =
        |message: &str| format!(r#"{{"type":"MESSAGES_SNAPSHOT","messages":[{message}]}}"#);
    let object = Reason::Type { expected: "an object", found: "null" };
    let string = Reason::Type { expected: "a string", found: "null" };
    let array = Reason::Type { expected: "an array", found: "null" };
    check_fatal(
        &message(r#"{"id":"1","role":"reasoning","content":"x","metadata":null}"#),
        &object,
        "MESSAGES_SNAPSHOT: messages[0].metadata: expected an object, found null",
    );
    check_fatal(
        &message(r#"{"id":"1","role":"assistant","content":null}"#),
        &string,
        "MESSAGES_SNAPSHOT: messages[0].content: expected a string, found null",
    );
    check_fatal(
        &message(r#"{"id":"1","role":"assistant","toolCalls":null}"#),
        &array,
        "MESSAGES_SNAPSHOT: messages[0].toolCalls: expected an array, found null",
    );
    check_fatal(
        &message(r#"{"id":"1","role":"user","content":"x","name":null}"#),
        &string,
        "MESSAGES_SNAPSHOT: messages[0].name: expected a string, found null",
    );
    check_fatal(
        &message(
            r#"{"id":"1","role":"user","content":[{"type":"text","text":"x","metadata":null}]}"#,
        ),
        &Reason::Null,
        "MESSAGES_SNAPSHOT: messages[0].content[0].metadata: null; leave the member out instead",
    );
}

#[test]
fn json_that_is_no_event_is_fatal() {
    for (text, reason, expected) in [
        (
            "[]",
            Reason::Type { expected: "an object", found: "an array" },
            "event: expected an object, found an array",
        ),
        (
            "null",
            Reason::Type { expected: "an object", found: "null" },
            "event: expected an object, found null",
        ),
        ("{}", Reason::Missing, "type: missing"),
        (
            r#"{"type":7}"#,
            Reason::Type { expected: "a string", found: "a number" },
            "type: expected a string, found a number",
        ),
        (
            r#"{"type":""}"#,
            Reason::Type { expected: "an event type", found: "an empty string" },
            "type: expected an event type, found an empty string",
        ),
    ] {
        check_fatal(text, &reason, expected);
    }
}

#[test]
fn an_event_of_an_unknown_type_is_dropped_with_its_name() {
    let text = r#"{"type":"HOLOGRAM_START","messageId":7}"#;
    check_error!(
        strict(text).unwrap_err(),
        ReadError::UnknownEventType(_),
        r#"unknown event type "HOLOGRAM_START""#
    );
    let read = TolerantReader::new().read(text).unwrap();
    assert_eq!(read.event, None);
    assert_eq!(texts(&read.notices), [r#"dropped an event of unknown type "HOLOGRAM_START""#]);
    // Names are as they are written.
    assert!(TolerantReader::new().read(r#"{"type":"Raw","event":1}"#).unwrap().event.is_none());
}

#[test]
fn an_unknown_member_leaves_any_closed_object_with_its_path() {
    let message = |rest: &str| format!(r#"{{"type":"MESSAGES_SNAPSHOT","messages":[{rest}]}}"#);
    let input = |rest: &str| {
        format!(
            r#"{{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{{"threadId":"t","runId":"r","messages":[]{rest}}}}}"#
        )
    };
    let finished =
        |rest: &str| format!(r#"{{"type":"RUN_FINISHED","threadId":"t","runId":"r"{rest}}}"#);
    // `@` stands where the unknown member is.
    for (text, pointer, path) in [
        (r#"{"type":"STEP_STARTED","stepName":"s"@}"#.to_owned(), "/zz", "STEP_STARTED: zz"),
        (
            message(r#"{"role":"user","id":"i","content":"x"@}"#),
            "/messages/0/zz",
            "MESSAGES_SNAPSHOT: messages[0].zz",
        ),
        (
            message(
                r#"{"role":"assistant","id":"i","toolCalls":[{"id":"c","type":"function","function":{"name":"f","arguments":""}@}]}"#,
            ),
            "/messages/0/toolCalls/0/zz",
            "MESSAGES_SNAPSHOT: messages[0].toolCalls[0].zz",
        ),
        (
            message(
                r#"{"role":"assistant","id":"i","toolCalls":[{"id":"c","type":"function","function":{"name":"f","arguments":""@}}]}"#,
            ),
            "/messages/0/toolCalls/0/function/zz",
            "MESSAGES_SNAPSHOT: messages[0].toolCalls[0].function.zz",
        ),
        (
            message(r#"{"role":"user","id":"i","content":[{"type":"text","text":"x"@}]}"#),
            "/messages/0/content/0/zz",
            "MESSAGES_SNAPSHOT: messages[0].content[0].zz",
        ),
        (
            message(
                r#"{"role":"user","id":"i","content":[{"type":"image","source":{"type":"url","value":"u"@}}]}"#,
            ),
            "/messages/0/content/0/source/zz",
            "MESSAGES_SNAPSHOT: messages[0].content[0].source.zz",
        ),
        (input("@"), "/input/zz", "RUN_STARTED: input.zz"),
        (
            input(r#","tools":[{"name":"n","description":"d"@}]"#),
            "/input/tools/0/zz",
            "RUN_STARTED: input.tools[0].zz",
        ),
        (
            input(r#","context":[{"description":"d","value":"v"@}]"#),
            "/input/context/0/zz",
            "RUN_STARTED: input.context[0].zz",
        ),
        (
            input(r#","resume":[{"interruptId":"i","status":"cancelled"@}]"#),
            "/input/resume/0/zz",
            "RUN_STARTED: input.resume[0].zz",
        ),
        (
            finished(r#","outcome":{"type":"cancelled"@}"#),
            "/outcome/zz",
            "RUN_FINISHED: outcome.zz",
        ),
        (
            finished(r#","outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"r"@}]}"#),
            "/outcome/interrupts/0/zz",
            "RUN_FINISHED: outcome.interrupts[0].zz",
        ),
        (finished(r#","usage":[{"model":"m"@}]"#), "/usage/0/zz", "RUN_FINISHED: usage[0].zz"),
    ] {
        check_stripped(
            &text.replace('@', r#","zz":{"deep":[null]}"#),
            &text.replace('@', ""),
            &[&format!("{pointer}: stripped: unknown member")],
            &format!("{path}: unknown member"),
        );
    }
}

#[test]
fn a_member_of_another_outcome_or_role_is_an_unknown_member() {
    check_stripped(
        r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"success","interrupts":[]}}"#,
        r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"success"}}"#,
        &["/outcome/interrupts: stripped: unknown member"],
        "RUN_FINISHED: outcome.interrupts: unknown member",
    );
    check_stripped(
        r#"{"type":"MESSAGES_SNAPSHOT","messages":[{"role":"tool","id":"i","content":"x","toolCallId":"c","name":"n"}]}"#,
        r#"{"type":"MESSAGES_SNAPSHOT","messages":[{"role":"tool","id":"i","content":"x","toolCallId":"c"}]}"#,
        &["/messages/0/name: stripped: unknown member"],
        "MESSAGES_SNAPSHOT: messages[0].name: unknown member",
    );
    // Run-scoped events belong to no subagent, and a reasoning chunk has no role.
    check_stripped(
        r#"{"type":"RUN_ERROR","message":"x","subagentRunId":"s"}"#,
        r#"{"type":"RUN_ERROR","message":"x"}"#,
        &["/subagentRunId: stripped: unknown member"],
        "RUN_ERROR: subagentRunId: unknown member",
    );
    check_stripped(
        r#"{"type":"REASONING_MESSAGE_CHUNK","role":"reasoning"}"#,
        r#"{"type":"REASONING_MESSAGE_CHUNK"}"#,
        &["/role: stripped: unknown member"],
        "REASONING_MESSAGE_CHUNK: role: unknown member",
    );
}

#[test]
fn an_unknown_element_leaves_its_list_and_places_are_those_of_the_original() {
    check_stripped(
        r#"{"type":"MESSAGES_SNAPSHOT","messages":[
            {"role":"narrator","id":"n","content":7},
            {"role":"user","id":"u","content":[
                {"type":"hologram"},{"type":"text","text":"x"},{"type":"sticker","zz":1},
                {"type":"image","source":{"type":"blob","value":"b"}}]},
            {"role":"chorus"}]}"#,
        r#"{"type":"MESSAGES_SNAPSHOT","messages":[
            {"role":"user","id":"u","content":[{"type":"text","text":"x"}]}]}"#,
        &[
            r#"/messages/0: stripped: unknown message role "narrator""#,
            r#"/messages/1/content/0: stripped: unknown content part "hologram""#,
            r#"/messages/1/content/2: stripped: unknown content part "sticker""#,
            r#"/messages/1/content/3: stripped: unknown part source "blob""#,
            r#"/messages/2: stripped: unknown message role "chorus""#,
        ],
        r#"MESSAGES_SNAPSHOT: messages[0]: unknown message role "narrator""#,
    );
    // All parts unknown: an empty list, and the message stays.
    check_stripped(
        r#"{"type":"MESSAGES_SNAPSHOT","messages":[{"role":"user","id":"u","content":[{"type":"hologram"}]}]}"#,
        r#"{"type":"MESSAGES_SNAPSHOT","messages":[{"role":"user","id":"u","content":[]}]}"#,
        &[r#"/messages/0/content/0: stripped: unknown content part "hologram""#],
        r#"MESSAGES_SNAPSHOT: messages[0].content[0]: unknown content part "hologram""#,
    );
    check_stripped(
        r#"{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":[{"type":"image","source":{"type":"blob"}}]}"#,
        r#"{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":[]}"#,
        &[r#"/content/0: stripped: unknown part source "blob""#],
        r#"TOOL_CALL_RESULT: content[0]: unknown part source "blob""#,
    );
}

#[test]
fn an_unknown_operation_leaves_its_patch_whatever_its_members() {
    check_stripped(
        r#"{"type":"STATE_DELTA","delta":[{"op":"increment","path":7,"by":[1]},{"op":"remove","path":"/a"}]}"#,
        r#"{"type":"STATE_DELTA","delta":[{"op":"remove","path":"/a"}]}"#,
        &[r#"/delta/0: stripped: unknown patch operation "increment""#],
        r#"STATE_DELTA: delta[0]: unknown patch operation "increment""#,
    );
    check_stripped(
        r#"{"type":"ACTIVITY_DELTA","messageId":"m","activityType":"a","patch":[{"op":"Add"}]}"#,
        r#"{"type":"ACTIVITY_DELTA","messageId":"m","activityType":"a","patch":[]}"#,
        &[r#"/patch/0: stripped: unknown patch operation "Add""#],
        r#"ACTIVITY_DELTA: patch[0]: unknown patch operation "Add""#,
    );
}

#[test]
fn an_unknown_outcome_leaves_the_event() {
    check_stripped(
        r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"paused","until":7}}"#,
        r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r"}"#,
        &[r#"/outcome: stripped: unknown outcome "paused""#],
        r#"RUN_FINISHED: outcome: unknown outcome "paused""#,
    );
    // What another event knows is unknown here.
    check_stripped(
        r#"{"type":"SUBAGENT_FINISHED","subagentRunId":"s","outcome":{"type":"cancelled"}}"#,
        r#"{"type":"SUBAGENT_FINISHED","subagentRunId":"s"}"#,
        &[r#"/outcome: stripped: unknown outcome "cancelled""#],
        r#"SUBAGENT_FINISHED: outcome: unknown outcome "cancelled""#,
    );
}

#[test]
fn a_union_without_a_string_for_a_tag_is_fatal() {
    let message = |part: &str| {
        format!(
            r#"{{"type":"MESSAGES_SNAPSHOT","messages":[{{"role":"user","id":"u","content":[{part}]}}]}}"#
        )
    };
    let part = "MESSAGES_SNAPSHOT: messages[0].content[0]";
    check_fatal(&message("{}"), &Reason::Missing, &format!("{part}.type: missing"));
    check_fatal(
        &message(r#"{"type":null}"#),
        &Reason::Type { expected: "a string", found: "null" },
        &format!("{part}.type: expected a string, found null"),
    );
    check_fatal(
        &message("7"),
        &Reason::Type { expected: "an object", found: "a number" },
        &format!("{part}: expected an object, found a number"),
    );
    check_fatal(
        &message(r#"{"type":"image","source":"u"}"#),
        &Reason::Type { expected: "an object", found: "a string" },
        &format!("{part}.source: expected an object, found a string"),
    );
    check_fatal(
        &message(r#"{"type":"image","source":{"value":"u"}}"#),
        &Reason::Missing,
        &format!("{part}.source.type: missing"),
    );
    check_fatal(
        r#"{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"u","content":"x"}]}"#,
        &Reason::Missing,
        "MESSAGES_SNAPSHOT: messages[0].role: missing",
    );
    check_fatal(
        r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{}}"#,
        &Reason::Missing,
        "RUN_FINISHED: outcome.type: missing",
    );
    check_fatal(
        r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":["success"]}"#,
        &Reason::Type { expected: "an object", found: "an array" },
        "RUN_FINISHED: outcome: expected an object, found an array",
    );
    check_fatal(
        r#"{"type":"STATE_DELTA","delta":[{"path":"/a"}]}"#,
        &Reason::Missing,
        "STATE_DELTA: delta[0].op: missing",
    );
    check_fatal(
        r#"{"type":"STATE_DELTA","delta":[{"op":0,"path":"/a"}]}"#,
        &Reason::Type { expected: "a string", found: "a number" },
        "STATE_DELTA: delta[0].op: expected a string, found a number",
    );
}

#[test]
fn a_malformed_value_is_fatal_beside_unknown_ones_and_deep_in_lists() {
    check_fatal(
        r#"{"type":"MESSAGES_SNAPSHOT","messages":[{"role":"user","id":"u","content":[{"type":"image"}]}]}"#,
        &Reason::Missing,
        "MESSAGES_SNAPSHOT: messages[0].content[0].source: missing",
    );
    check_fatal(
        r#"{"type":"MESSAGES_SNAPSHOT","messages":[{"role":"developer","id":"d"}]}"#,
        &Reason::Missing,
        "MESSAGES_SNAPSHOT: messages[0].content: missing",
    );
    let text = r#"{"type":"MESSAGES_SNAPSHOT","messages":[{"role":"narrator"},{"role":"system","id":"s"}]}"#;
    let error = malformed(TolerantReader::new().read(text).unwrap_err());
    assert_eq!(error.reason, Reason::Missing);
    assert_eq!(error.to_string(), "MESSAGES_SNAPSHOT: messages[1].content: missing");
}

#[test]
fn an_unknown_text_role_means_the_assistant_by_default_and_can_be_refused() {
    for event in [r#""TEXT_MESSAGE_START","messageId":"m""#, r#""TEXT_MESSAGE_CHUNK""#] {
        // What the schema knows as the role of a message need not be the role of a text.
        for role in ["narrator", "tool", "activity", "reasoning", "User", ""] {
            let text = format!(r#"{{"type":{event},"role":"{role}"}}"#);
            let event_type = &event[1..19];
            check_stripped(
                &text,
                &format!(r#"{{"type":{event}}}"#),
                &[&format!(r#"/role: stripped: unknown text message role "{role}""#)],
                &format!(r#"{event_type}: role: unknown text message role "{role}""#),
            );
            let mut reader = TolerantReader::new().with_unknown_names(UnknownNames::Refuse);
            let error = malformed(reader.read(&text).unwrap_err());
            let set = "text message role";
            let name = Unrecognised::Name { set, value: role.to_owned() };
            assert_eq!(error.reason, Reason::Unrecognised(name));
        }
    }
    assert_eq!(UnknownNames::default(), UnknownNames::Strip);
}

#[test]
fn an_unknown_subtype_takes_the_event_and_an_unknown_status_the_entry() {
    let subtype = r#"{"type":"REASONING_ENCRYPTED_VALUE","subtype":"step","entityId":"e","encryptedValue":"v"}"#;
    check_stripped(
        subtype,
        "null",
        &[r#"stripped: unknown encrypted value subtype "step""#],
        r#"REASONING_ENCRYPTED_VALUE: unknown encrypted value subtype "step""#,
    );
    let status = r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"threadId":"t","runId":"r","messages":[],
        "resume":[{"interruptId":"i","status":"expired"},{"interruptId":"j","status":"resolved"}]}}"#;
    check_stripped(
        status,
        r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"threadId":"t","runId":"r","messages":[],
            "resume":[{"interruptId":"j","status":"resolved"}]}}"#,
        &[r#"/input/resume/0: stripped: unknown resume status "expired""#],
        r#"RUN_STARTED: input.resume[0]: unknown resume status "expired""#,
    );
    for (text, expected) in [
        (subtype, r#"REASONING_ENCRYPTED_VALUE: unknown encrypted value subtype "step""#),
        (status, r#"RUN_STARTED: input.resume[0]: unknown resume status "expired""#),
    ] {
        let mut reader = TolerantReader::new().with_unknown_names(UnknownNames::Refuse);
        let error = malformed(reader.read(text).unwrap_err());
        assert!(
            matches!(error.reason, Reason::Unrecognised(Unrecognised::Name { .. })),
            "{error:?}"
        );
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn the_switch_for_names_leaves_tags_and_members_alone() {
    let read = TolerantReader::new()
        .with_unknown_names(UnknownNames::Refuse)
        .read(r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"paused"},"zz":1}"#)
        .unwrap();
    assert_eq!(json(&read.event), parse(r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r"}"#));
    assert_eq!(read.notices.len(), 2);
}

#[test]
fn another_value_for_a_literal_is_fatal_however_the_switch_stands() {
    for found in ["assistant", "narrator", "Tool", ""] {
        check_fatal(
            &format!(
                r#"{{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":"","role":"{found}"}}"#
            ),
            &Reason::Literal { expected: "tool", found: found.to_owned() },
            &format!(r#"TOOL_CALL_RESULT: role: expected "tool", found "{found}""#),
        );
    }
}

#[test]
fn another_role_of_a_reasoning_message_is_fatal() {
    for found in ["assistant", "thinking", ""] {
        check_fatal(
            &format!(r#"{{"type":"REASONING_MESSAGE_START","messageId":"m","role":"{found}"}}"#),
            &Reason::Literal { expected: "reasoning", found: found.to_owned() },
            &format!(r#"REASONING_MESSAGE_START: role: expected "reasoning", found "{found}""#),
        );
    }
}

#[test]
fn another_type_of_a_tool_call_is_fatal() {
    for found in ["custom", "Function", ""] {
        check_fatal(
            &format!(
                r#"{{"type":"MESSAGES_SNAPSHOT","messages":[{{"role":"assistant","id":"a","toolCalls":[
                    {{"id":"c","type":"{found}","function":{{"name":"f","arguments":""}}}}]}}]}}"#
            ),
            &Reason::Literal { expected: "function", found: found.to_owned() },
            &format!(
                r#"MESSAGES_SNAPSHOT: messages[0].toolCalls[0].type: expected "function", found "{found}""#
            ),
        );
    }
}

#[test]
fn another_value_for_a_literal_is_not_encoded() {
    for (text, expected) in [
        (
            r#"{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":"","role":"narrator"}"#,
            r#"TOOL_CALL_RESULT: role: expected "tool", found "narrator""#,
        ),
        (
            r#"{"type":"REASONING_MESSAGE_START","messageId":"m","role":"thinking"}"#,
            r#"REASONING_MESSAGE_START: role: expected "reasoning", found "thinking""#,
        ),
        (
            r#"{"type":"MESSAGES_SNAPSHOT","messages":[{"role":"assistant","id":"a","toolCalls":[
                {"id":"c","type":"custom","function":{"name":"f","arguments":""}}]}]}"#,
            r#"MESSAGES_SNAPSHOT: messages[0].toolCalls[0].type: expected "function", found "custom""#,
        ),
    ] {
        let event = Event::from_json(text).unwrap();
        assert_eq!(event.encode(&mut BytesMut::new()).unwrap_err().to_string(), expected);
    }
}

#[test]
fn an_integer_may_be_written_as_any_number_that_is_one() {
    for (written, value) in [
        ("1000", 1000),
        ("1000.0", 1000),
        ("1e3", 1000),
        ("1E+3", 1000),
        ("10000e-1", 1000),
        ("0", 0),
        ("-0", 0),
        ("0.0", 0),
        ("-5", -5),
        ("9007199254740991", 9_007_199_254_740_991),
        ("9007199254740991.0", 9_007_199_254_740_991),
        ("-9007199254740991", -9_007_199_254_740_991),
    ] {
        let text = format!(r#"{{"type":"STEP_STARTED","stepName":"s","timestamp":{written}}}"#);
        for event in
            [strict(&text).unwrap(), TolerantReader::new().read(&text).unwrap().event.unwrap()]
        {
            assert_eq!(event.base.timestamp, Some(value), "{written}");
            assert_eq!(
                serde_json::to_string(&event).unwrap(),
                format!(r#"{{"type":"STEP_STARTED","stepName":"s","timestamp":{value}}}"#)
            );
        }
    }
}

#[test]
fn a_fraction_or_an_integer_out_of_range_is_fatal_and_never_rounded() {
    for written in ["1.5", "0.5", "-0.25", "1757600000000.5"] {
        check_fatal(
            &format!(r#"{{"type":"STEP_STARTED","stepName":"s","timestamp":{written}}}"#),
            &Reason::Fraction { found: written.to_owned() },
            &format!("STEP_STARTED: timestamp: expected an integer, found {written}"),
        );
        check_fatal(
            &format!(
                r#"{{"type":"RUN_ERROR","message":"x","usage":[{{"inputTokens":{written}}}]}}"#
            ),
            &Reason::Fraction { found: written.to_owned() },
            &format!("RUN_ERROR: usage[0].inputTokens: expected an integer, found {written}"),
        );
    }
    for written in [
        "9007199254740992",
        "-9007199254740992",
        "9007199254740993",
        "9223372036854775807",
        "9223372036854775808",
        "18446744073709551615",
    ] {
        check_fatal(
            &format!(r#"{{"type":"STEP_STARTED","stepName":"s","timestamp":{written}}}"#),
            &Reason::Range {
                found: written.to_owned(),
                min: -9_007_199_254_740_991,
                max: 9_007_199_254_740_991,
            },
            &format!(
                "STEP_STARTED: timestamp: {written} is outside -9007199254740991 to 9007199254740991"
            ),
        );
    }
    for written in ["1e16", "1e300", "9007199254740992.0", "-1e100"] {
        let text = format!(r#"{{"type":"STEP_STARTED","stepName":"s","timestamp":{written}}}"#);
        let error = malformed(strict(&text).unwrap_err());
        assert!(matches!(error.reason, Reason::Range { .. }), "{error:?}");
    }
}

#[test]
fn a_count_below_zero_is_fatal_and_zero_is_a_count() {
    for name in [
        "inputTokens",
        "outputTokens",
        "totalTokens",
        "reasoningTokens",
        "cachedInputTokens",
        "cacheWriteInputTokens",
    ] {
        let text = |count: &str| {
            format!(r#"{{"type":"RUN_ERROR","message":"x","usage":[{{"{name}":{count}}}]}}"#)
        };
        check_fine(&text("0"));
        check_fine(&text("9007199254740991"));
        check_fatal(
            &text("-1"),
            &Reason::Range { found: "-1".to_owned(), min: 0, max: 9_007_199_254_740_991 },
            &format!("RUN_ERROR: usage[0].{name}: -1 is outside 0 to 9007199254740991"),
        );
        let error = malformed(strict(&text("9007199254740992")).unwrap_err());
        assert!(matches!(error.reason, Reason::Range { .. }), "{error:?}");
    }
}

#[test]
fn a_path_is_a_json_pointer() {
    let patch = |op: &str| format!(r#"{{"type":"STATE_DELTA","delta":[{op}]}}"#);
    for pointer in
        ["", "/", "/a", "/a/b", "/a~0b", "/a~1b", "/~01", "//", "/ä", "/a b", "/-", "/\\n"]
    {
        check_fine(&patch(&format!(r#"{{"op":"remove","path":"{pointer}"}}"#)));
        check_fine(&patch(&format!(r#"{{"op":"move","from":"{pointer}","path":"/x"}}"#)));
    }
    for pointer in ["a", "a/b", "/a~", "/~2", "/a~2b", "/~~0", "#/a", " /a", "/a~/b"] {
        check_fatal(
            &patch(&format!(r#"{{"op":"remove","path":"{pointer}"}}"#)),
            &Reason::Pointer { found: pointer.to_owned() },
            &format!(r#"STATE_DELTA: delta[0].path: "{pointer}" is not a JSON Pointer"#),
        );
        check_fatal(
            &patch(&format!(r#"{{"op":"copy","from":"{pointer}","path":"/x"}}"#)),
            &Reason::Pointer { found: pointer.to_owned() },
            &format!(r#"STATE_DELTA: delta[0].from: "{pointer}" is not a JSON Pointer"#),
        );
        // Of an operation that does not define it, it is an extension.
        check_fine(&patch(&format!(r#"{{"op":"remove","path":"/x","from":"{pointer}"}}"#)));
    }
}

#[test]
fn an_operation_needs_what_it_defines_and_may_carry_more() {
    let patch = |op: &str| format!(r#"{{"type":"STATE_DELTA","delta":[{op}]}}"#);
    for op in ["add", "replace", "test"] {
        check_fatal(
            &patch(&format!(r#"{{"op":"{op}","path":"/a"}}"#)),
            &Reason::Missing,
            "STATE_DELTA: delta[0].value: missing",
        );
    }
    for op in ["move", "copy"] {
        check_fatal(
            &patch(&format!(r#"{{"op":"{op}","path":"/a"}}"#)),
            &Reason::Missing,
            "STATE_DELTA: delta[0].from: missing",
        );
        check_fatal(
            &patch(&format!(r#"{{"op":"{op}","path":"/a","from":7}}"#)),
            &Reason::Type { expected: "a string", found: "a number" },
            "STATE_DELTA: delta[0].from: expected a string, found a number",
        );
    }
    for op in ["add", "remove", "replace", "move", "copy", "test"] {
        check_fatal(
            &patch(&format!(r#"{{"op":"{op}","value":1,"from":"/a"}}"#)),
            &Reason::Missing,
            "STATE_DELTA: delta[0].path: missing",
        );
        check_fine(&patch(&format!(
            r#"{{"op":"{op}","path":"/a","from":"/b","value":null,"note":{{"x":[1]}},"by":2}}"#
        )));
    }
    // A `from` that no pointer is, where none is asked for.
    check_fine(&patch(r#"{"op":"remove","path":"/a","from":{"x":1}}"#));
}

#[test]
fn extensions_of_an_operation_are_left_out_of_the_bytes_and_told() {
    let event =
        strict(r#"{"type":"STATE_DELTA","delta":[{"op":"remove","path":"/a","note":1,"a/b":2}]}"#)
            .unwrap();
    let mut payload = BytesMut::new();
    let notices = event.encode(&mut payload).unwrap();
    assert!(notices.iter().all(|notice| notice.kind == NoticeKind::PatchExtension));
    assert_eq!(
        texts(&notices),
        [
            "/delta/0/note: left out, since the wire has no place for it: extension of a patch operation",
            "/delta/0/a~1b: left out, since the wire has no place for it: extension of a patch operation",
        ]
    );
    assert_eq!(
        json(&Event::decode(&payload).unwrap().event),
        parse(r#"{"type":"STATE_DELTA","delta":[{"op":"remove","path":"/a"}]}"#)
    );
}

#[test]
fn an_interrupt_outcome_needs_an_interrupt() {
    check_fatal(
        r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[]}}"#,
        &Reason::Empty,
        "RUN_FINISHED: outcome.interrupts: empty; at least one element is required",
    );
    check_fatal(
        r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt"}}"#,
        &Reason::Missing,
        "RUN_FINISHED: outcome.interrupts: missing",
    );
    check_fine(
        r#"{"type":"SUBAGENT_FINISHED","subagentRunId":"s","outcome":{"type":"suspended","interruptIds":[]}}"#,
    );
    for (name, value, found) in
        [("responseSchema", "true", "a boolean"), ("metadata", "[]", "an array")]
    {
        check_fatal(
            &format!(
                r#"{{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{{"type":"interrupt","interrupts":[
                    {{"id":"i","reason":"r","{name}":{value}}}]}}}}"#
            ),
            &Reason::Type { expected: "an object", found },
            &format!(
                "RUN_FINISHED: outcome.interrupts[0].{name}: expected an object, found {found}"
            ),
        );
    }
}

#[test]
fn open_values_are_never_looked_into() {
    let open =
        r#"{"type":"NO_EVENT","role":"narrator","op":"x","zz":null,"timestamp":1.5,"":[{}]}"#;
    for text in [
        r#"{"type":"STATE_SNAPSHOT","snapshot":@}"#,
        r#"{"type":"RAW","event":@}"#,
        r#"{"type":"CUSTOM","name":"no name of ours","value":@}"#,
        r#"{"type":"STEP_STARTED","stepName":"s","rawEvent":@,"metadata":@}"#,
        r#"{"type":"STATE_DELTA","delta":[{"op":"add","path":"","value":@}]}"#,
        r#"{"type":"ACTIVITY_SNAPSHOT","messageId":"m","activityType":"a","content":@}"#,
        r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"threadId":"t","runId":"r","messages":[],
            "state":@,"forwardedProps":@,"tools":[{"name":"n","description":"d","parameters":@,"metadata":@}],
            "resume":[{"interruptId":"i","status":"resolved","payload":@,"metadata":@}]}}"#,
        r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":@,"outcome":{"type":"interrupt","interrupts":[
            {"id":"i","reason":"r","responseSchema":@,"metadata":@}]}}"#,
        r#"{"type":"MESSAGES_SNAPSHOT","messages":[{"role":"user","id":"u","metadata":@,"content":[
            {"type":"text","text":"x","metadata":@}]}]}"#,
    ] {
        check_fine(&text.replace('@', open));
    }
}

#[test]
fn of_a_member_twice_the_last_wins() {
    let event = strict(r#"{"type":"STEP_STARTED","stepName":"a","stepName":"b"}"#).unwrap();
    assert_eq!(json(&event), parse(r#"{"type":"STEP_STARTED","stepName":"b"}"#));
    let event =
        strict(r#"{"type":"STEP_STARTED","stepName":"a","metadata":{"k":1,"l":2,"k":3}}"#).unwrap();
    assert_eq!(
        serde_json::to_string(&event).unwrap(),
        r#"{"type":"STEP_STARTED","stepName":"a","metadata":{"k":3,"l":2}}"#
    );
}

#[test]
fn json_and_bytes_give_one_verdict() {
    // Each on both bindings: JSON, and the payload that says the same.
    for (text, payload) in [
        (
            r#"{"type":"MESSAGES_SNAPSHOT","messages":[{"role":"narrator","id":"n","content":"x"}]}"#,
            r#"9: {1: {1: 8} 2: {1: "n" 2: "narrator" 3: "x"}}"#,
        ),
        (
            r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"paused"}}"#,
            r#"13: {1: {1: 12} 2: "t" 3: "r" 5: "paused"}"#,
        ),
        (
            r#"{"type":"TEXT_MESSAGE_START","messageId":"m","role":"narrator"}"#,
            r#"1: {1: {} 2: "m" 3: "narrator"}"#,
        ),
        (
            r#"{"type":"REASONING_ENCRYPTED_VALUE","subtype":"step","entityId":"e","encryptedValue":"v"}"#,
            r#"31: {1: {1: 30} 3: "step" 4: "e" 5: "v"}"#,
        ),
        (
            r#"{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":"","role":"user"}"#,
            r#"22: {1: {1: 21} 3: "m" 4: "c" 5: "" 6: "user"}"#,
        ),
        (
            r#"{"type":"RUN_ERROR","message":"x","usage":[{"inputTokens":-1}]}"#,
            r#"14: {1: {1: 13} 3: "x" 4: {3: -1}}"#,
        ),
        (
            r#"{"type":"TEXT_MESSAGE_END","messageId":"m","rawEvent":null}"#,
            r#"3: {1: {1: 2 3: {1: 0}} 2: "m"}"#,
        ),
        (
            r#"{"type":"STATE_DELTA","delta":[{"op":"remove","path":"a"}]}"#,
            r#"8: {1: {1: 7} 2: {1: 1 2: "a"}}"#,
        ),
    ] {
        let from_json = TolerantReader::new().read(text).map_err(|error| error.to_string());
        let mut event = crate::notation::decode(payload).event.unwrap();
        let mut notices = Vec::new();
        event.drop_retired_nulls(&mut notices);
        let from_bytes = event.enforce(UnknownNames::Strip).map_err(|error| error.to_string()).map(
            |mut enforced| {
                notices.extend(enforced.notices);
                enforced.notices = notices.into();
                enforced
            },
        );
        assert_eq!(from_json, from_bytes, "{text}");
    }
}

// The input of a run, judged by itself.

fn input(text: &str) -> RunAgentInput {
    serde_json::from_str(text).unwrap()
}

#[test]
fn an_input_is_stripped_or_refused_by_itself() {
    let text = r#"{"threadId":"t","runId":"r","zz":1,
        "messages":[{"role":"narrator"},{"role":"user","id":"u","content":"x"}],
        "resume":[{"interruptId":"i","status":"expired"}]}"#;
    let mut received = input(text);
    let notices = received.enforce(UnknownNames::Strip).unwrap();
    assert_eq!(
        texts(&notices),
        [
            r#"/messages/0: stripped: unknown message role "narrator""#,
            r#"/resume/0: stripped: unknown resume status "expired""#,
            "/zz: stripped: unknown member",
        ]
    );
    assert_eq!(
        json(&received),
        parse(
            r#"{"threadId":"t","runId":"r","messages":[{"role":"user","id":"u","content":"x"}],"resume":[]}"#
        )
    );
    check_error!(
        input(text).validate().unwrap_err(),
        Malformed { event_type: None, reason: Reason::Unrecognised(_), .. },
        r#"messages[0]: unknown message role "narrator""#
    );
    let mut bad =
        input(r#"{"threadId":"t","runId":"r","messages":[{"role":"narrator"}],"state":null}"#);
    let before = bad.clone();
    check_error!(
        bad.enforce(UnknownNames::Strip).unwrap_err(),
        Malformed { event_type: None, reason: Reason::Null, .. },
        "state: null; leave the member out instead"
    );
    assert_eq!(bad, before, "a refused input is as it was");
}

// Retired shapes.

#[test]
fn thinking_becomes_reasoning_with_one_id_a_span_and_one_a_message() {
    let mut reader = TolerantReader::new();
    let mut read = |text: &str| {
        let read = reader.read(text).unwrap();
        (json(&read.event), texts(&read.notices))
    };
    let (_, notices) = read(r#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}"#);
    assert_eq!(notices, [""; 0]);
    let (span, notices) = read(r#"{"type":"THINKING_START","title":"Plan","timestamp":5}"#);
    assert_eq!(
        notices,
        [
            "translated the retired THINKING_START",
            "/title: dropped title of the retired THINKING_START, which has no present form",
        ]
    );
    assert_eq!((&span["type"], &span["timestamp"]), (&"REASONING_START".into(), &5.into()));
    assert_eq!(span.get("title"), None);

    let (start, notices) = read(r#"{"type":"THINKING_TEXT_MESSAGE_START"}"#);
    assert_eq!(notices, ["translated the retired THINKING_TEXT_MESSAGE_START"]);
    assert_eq!(start["type"], "REASONING_MESSAGE_START");
    assert_eq!(start["role"], "reasoning");
    assert_ne!(start["messageId"], span["messageId"]);

    let (content, notices) = read(r#"{"type":"THINKING_TEXT_MESSAGE_CONTENT","delta":"hm"}"#);
    assert_eq!(notices, ["translated the retired THINKING_TEXT_MESSAGE_CONTENT"]);
    assert_eq!(content["type"], "REASONING_MESSAGE_CONTENT");
    assert_eq!((&content["delta"], &content["messageId"]), (&"hm".into(), &start["messageId"]));

    let (end, _) = read(r#"{"type":"THINKING_TEXT_MESSAGE_END"}"#);
    assert_eq!(end["type"], "REASONING_MESSAGE_END");
    assert_eq!(end["messageId"], start["messageId"]);

    let (again, _) = read(r#"{"type":"THINKING_TEXT_MESSAGE_START"}"#);
    assert_ne!(again["messageId"], start["messageId"]);
    read(r#"{"type":"THINKING_TEXT_MESSAGE_END"}"#);

    let (closed, notices) = read(r#"{"type":"THINKING_END"}"#);
    assert_eq!(notices, ["translated the retired THINKING_END"]);
    assert_eq!(closed["type"], "REASONING_END");
    assert_eq!(closed["messageId"], span["messageId"]);

    // The next run has ids of its own.
    read(r#"{"type":"RUN_STARTED","threadId":"t","runId":"s"}"#);
    let (next, _) = read(r#"{"type":"THINKING_START"}"#);
    assert_ne!(next["messageId"], span["messageId"]);
}

#[test]
fn thinking_that_nothing_opened_gets_an_id_and_a_malformed_one_stays_malformed() {
    let mut reader = TolerantReader::new();
    let read = reader.read(r#"{"type":"THINKING_TEXT_MESSAGE_CONTENT","delta":"hm"}"#).unwrap();
    assert_ne!(json(&read.event)["messageId"], "");
    assert_eq!(
        texts(&read.notices),
        [
            "translated the retired THINKING_TEXT_MESSAGE_CONTENT, which continues nothing that is open"
        ]
    );
    let error = malformed(reader.read(r#"{"type":"THINKING_TEXT_MESSAGE_CONTENT"}"#).unwrap_err());
    assert_eq!(error.to_string(), "REASONING_MESSAGE_CONTENT: delta: missing");
    // Strict reading knows nothing of them.
    check_error!(
        strict(r#"{"type":"THINKING_START"}"#).unwrap_err(),
        ReadError::UnknownEventType(_),
        r#"unknown event type "THINKING_START""#
    );
}

/// Reads the parts of one user message, tolerantly: the parts, and the notices.
fn read_parts(parts: &str) -> (serde_json::Value, Vec<String>) {
    let text = format!(
        r#"{{"type":"MESSAGES_SNAPSHOT","messages":[{{"role":"user","id":"u","content":[{parts}]}}]}}"#
    );
    let read = TolerantReader::new().read(&text).unwrap();
    (json(&read.event)["messages"][0]["content"].take(), texts(&read.notices))
}

#[test]
fn a_binary_part_becomes_the_media_part_of_its_media_type() {
    for (binary, part) in [
        (
            r#"{"type":"binary","mimeType":"image/png","data":"QQ=="}"#,
            r#"{"type":"image","source":{"type":"data","value":"QQ==","mimeType":"image/png"}}"#,
        ),
        (
            r#"{"type":"binary","mimeType":"audio/mpeg","url":"u"}"#,
            r#"{"type":"audio","source":{"type":"url","value":"u","mimeType":"audio/mpeg"}}"#,
        ),
        (
            r#"{"type":"binary","mimeType":"video/mp4","data":"","url":"u"}"#,
            r#"{"type":"video","source":{"type":"url","value":"u","mimeType":"video/mp4"}}"#,
        ),
        (
            r#"{"type":"binary","mimeType":"application/pdf","data":"QQ==","filename":"a.pdf"}"#,
            r#"{"type":"document","source":{"type":"data","value":"QQ==","mimeType":"application/pdf"},"metadata":{"filename":"a.pdf"}}"#,
        ),
        (
            r#"{"type":"binary","mimeType":"imagery","data":"QQ=="}"#,
            r#"{"type":"document","source":{"type":"data","value":"QQ==","mimeType":"imagery"}}"#,
        ),
    ] {
        let (parts, notices) = read_parts(binary);
        assert_eq!(parts, parse(&format!("[{part}]")), "{binary}");
        assert_eq!(notices, ["/messages/0/content/0: translated the retired binary part"]);
    }
    // Data counts before a URL, which is then lost, and said to be.
    let (parts, notices) =
        read_parts(r#"{"type":"binary","mimeType":"image/png","data":"QQ==","url":"u"}"#);
    assert_eq!(parts[0]["source"]["type"], "data");
    assert_eq!(
        notices,
        [
            "/messages/0/content/0: translated the retired binary part",
            "/messages/0/content/0/url: dropped url of the retired binary part, \
             which has no present form",
        ]
    );
}

#[test]
fn a_binary_part_that_names_no_bytes_is_dropped_as_an_unknown_part() {
    for binary in [
        r#"{"type":"binary","mimeType":"image/png","id":"f1"}"#,
        r#"{"type":"binary","mimeType":7,"data":"QQ=="}"#,
        r#"{"type":"binary","data":"QQ=="}"#,
        r#"{"type":"binary","mimeType":"image/png"}"#,
    ] {
        let (parts, notices) = read_parts(&format!(r#"{{"type":"text","text":"see"}},{binary}"#));
        assert_eq!(parts, parse(r#"[{"type":"text","text":"see"}]"#), "{binary}");
        let last = notices.last().unwrap();
        assert_eq!(last, r#"/messages/0/content/1: stripped: unknown content part "binary""#);
    }
}

#[test]
fn a_binary_part_beside_its_present_form_is_one_part() {
    let modern =
        r#"{"type":"image","source":{"type":"data","value":"QQ==","mimeType":"image/png"}}"#;
    let named = r#"{"type":"image","source":{"type":"data","value":"QQ==","mimeType":"image/png"},"metadata":{"filename":"a.png","x":1}}"#;
    let binary = r#"{"type":"binary","mimeType":"image/png","data":"QQ=="}"#;
    let with_name = r#"{"type":"binary","mimeType":"image/png","data":"QQ==","filename":"a.png"}"#;
    let other = r#"{"type":"binary","mimeType":"image/png","data":"Qg=="}"#;
    for (parts, left) in [
        (format!("{modern},{binary}"), format!("[{modern}]")),
        (format!("{binary},{modern}"), format!("[{modern}]")),
        (format!("{named},{with_name}"), format!("[{named}]")),
        (format!("{named},{binary}"), format!("[{named}]")),
    ] {
        let (read, notices) = read_parts(&parts);
        assert_eq!(read, parse(&left), "{parts}");
        assert_eq!(notices.len(), 1, "{notices:?}");
        assert!(notices[0].ends_with("translated the retired binary part"), "{notices:?}");
    }
    // Another source, or a name that would be lost: two parts.
    assert_eq!(read_parts(&format!("{modern},{other}")).0.as_array().unwrap().len(), 2);
    assert_eq!(read_parts(&format!("{modern},{with_name}")).0.as_array().unwrap().len(), 2);
}

#[test]
fn the_translator_works_on_json_and_leaves_the_rest_alone() {
    let mut translator = Translator::new();
    let mut notices = Vec::new();
    let mut translate = |text: &str| {
        let mut value = Value::from_json(text, 128).unwrap();
        translator.translate(&mut value, &mut notices);
        parse(&value.to_string())
    };
    for text in [
        "7",
        "[]",
        r#"{"type":7,"title":"x"}"#,
        r#"{"type":"NO_EVENT","outcome":null}"#,
        r#"{"type":"CUSTOM","name":"n","value":{"type":"binary","data":"QQ=="}}"#,
        r#"{"type":"SUBAGENT_FINISHED","subagentRunId":"s","outcome":null}"#,
    ] {
        assert_eq!(translate(text), parse(text));
    }
    // In an echoed input, and in the message of a tool.
    assert_eq!(
        translate(
            r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"messages":[
            {"role":"tool","content":[{"type":"binary","mimeType":"a/b","url":"u"}]}]}}"#
        ),
        parse(
            r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"messages":[
            {"role":"tool","content":[{"type":"document","source":{"type":"url","value":"u","mimeType":"a/b"}}]}]}}"#
        )
    );
    assert_eq!(
        texts(&notices),
        ["/input/messages/0/content/0: translated the retired binary part"]
    );
}
