//! Laws that hold for every event, whatever its members.

#![allow(clippy::unwrap_used, reason = "what fails in a helper fails its test")]

use std::fmt::Debug;

use ag_ui_proto::codec::{EventReader, FrameReader, Limits, decode_payload};
use ag_ui_proto::model::{
    ActivityDelta, ActivityMessage, ActivitySnapshot, AssistantMessage, Content, Context, Custom,
    DataSource, DeveloperMessage, EncryptedValueSubtype, FileSource, Interrupt, MediaPart, Message,
    MessagesSnapshot, Part, PartSource, PatchOp, PatchOperation, Raw, ReasoningEncryptedValue,
    ReasoningEnd, ReasoningMessage, ReasoningMessageChunk, ReasoningMessageContent,
    ReasoningMessageEnd, ReasoningMessageStart, ReasoningStart, ResumeEntry, ResumeStatus, Role,
    RunAgentInput, RunCancelled, RunError, RunFinished, RunFinishedOutcome, RunInterrupt,
    RunStarted, RunSuccess, StateDelta, StateSnapshot, StepFinished, StepStarted, SubagentError,
    SubagentFinished, SubagentFinishedOutcome, SubagentStarted, SubagentSuccess, SubagentSuspended,
    SystemMessage, TextMessageChunk, TextMessageContent, TextMessageEnd, TextMessageStart,
    TextPart, TextRole, TokenUsage, Tool, ToolCall, ToolCallArgs, ToolCallChunk, ToolCallEnd,
    ToolCallResult, ToolCallStart, ToolMessage, UrlSource, UserMessage,
};
use ag_ui_proto::value::{Number, Object, Slot, Value};
use ag_ui_proto::{Event, EventType, wire};
use bytes::BytesMut;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use prost::Message as _;

/// 2^53 - 1.
const MAX_SAFE: i64 = 9_007_199_254_740_991;

// --- what a trip over the wire changes -----------------------------------------------------

/// The event as it comes out of a trip over the wire.
///
/// - A number of an open value is the nearest double; one that is an integer within ±2^53 reads as
///   an integer, unless it is -0.0.
/// - The empty lists `usage`, `pendingToolCallIds`, `interruptIds` and `toolCalls` are absent; the
///   lists of an echoed input are there, empty or not.
/// - A member that a patch operation does not define is lost.
///
/// It works on the event's JSON, so that it shares nothing with the conversion that it is held
/// against.
pub(crate) fn normalised(event: &Event) -> Event {
    let mut json = Value::from_serialize(event).unwrap();
    normalise_numbers(&mut json);
    let object = json.as_object_mut().unwrap();

    remove_empty(object, "usage");
    if let Some(outcome) = object.get_mut("outcome").and_then(Value::as_object_mut) {
        remove_empty(outcome, "pendingToolCallIds");
        remove_empty(outcome, "interruptIds");
    }
    for list in ["delta", "patch"] {
        for operation in objects(object, list) {
            keep_only(operation, &["op", "path", "from", "value"]);
        }
    }
    objects(object, "messages").for_each(normalise_message);
    if let Some(input) = object.get_mut("input").and_then(Value::as_object_mut) {
        objects(input, "messages").for_each(normalise_message);
        for list in ["tools", "context", "resume"] {
            if !input.contains_key(list) {
                input.insert(list, Value::from(Vec::<Value>::new()));
            }
        }
    }
    Event::from_value(json).unwrap()
}

fn normalise_numbers(value: &mut Value) {
    match value {
        Value::Number(number) => {
            let double = number.as_f64().unwrap();
            let is_integer = double.fract() == 0.0 && double.abs() <= 9_007_199_254_740_992.0;
            *number = if is_integer && double.to_bits() != (-0.0_f64).to_bits() {
                format!("{double:.0}").parse::<i64>().unwrap().into()
            } else {
                Number::from_f64(double).unwrap()
            };
        }
        Value::List(list) => list.iter_mut().for_each(normalise_numbers),
        Value::Object(object) => object.values_mut().for_each(normalise_numbers),
        _ => {}
    }
}

fn normalise_message(message: &mut Object) {
    if message.get("role").and_then(Value::as_str) == Some("assistant") {
        remove_empty(message, "toolCalls");
    }
}

fn remove_empty(object: &mut Object, list: &str) {
    if object.get(list).and_then(Value::as_list).is_some_and(|list| list.is_empty()) {
        object.remove(list);
    }
}

fn keep_only(object: &mut Object, names: &[&str]) {
    let others: Vec<String> =
        object.keys().filter(|key| !names.contains(key)).map(str::to_owned).collect();
    for name in others {
        object.remove(&name);
    }
}

/// The objects of a list, if `list` is one.
fn objects<'a>(object: &'a mut Object, list: &str) -> impl Iterator<Item = &'a mut Object> {
    let list = object.get_mut(list).and_then(Value::as_list_mut);
    list.into_iter().flat_map(|list| list.iter_mut()).filter_map(Value::as_object_mut)
}

// --- arbitrary events ------------------------------------------------------------------------

/// What `$base` gives, with each of the setters called or not.
macro_rules! with {
    ($base:expr; $($setter:ident($member:expr)),* $(,)?) => {{
        let strategy = $base.boxed();
        $(
            let strategy = (strategy, proptest::option::of($member))
                .prop_map(|(made, member)| match member {
                    Some(member) => made.$setter(member),
                    None => made,
                })
                .boxed();
        )*
        strategy
    }};
}

pub(crate) fn text() -> BoxedStrategy<String> {
    prop_oneof![
        Just(String::new()),
        "[a-z]{1,8}",
        vec(any::<char>(), 1..5).prop_map(String::from_iter),
        prop::sample::select(&["__proto__", "7", "e\u{301}", "\0", "\u{feff}", "\\u0000\"\n"][..])
            .prop_map(str::to_owned),
        "[ -~]{120,140}",
    ]
    .boxed()
}

fn number() -> BoxedStrategy<Number> {
    let edges: Vec<f64> = vec![
        -0.0,
        0.5,
        1e21,
        5e-324,
        f64::MAX,
        9_007_199_254_740_992.0,
        9_007_199_254_740_994.0,
        18_446_744_073_709_551_616.0,
    ];
    prop_oneof![
        (-1000_i64..1000).prop_map(Number::from),
        any::<i64>().prop_map(Number::from),
        any::<u64>().prop_map(Number::from),
        (MAX_SAFE - 2..MAX_SAFE + 4).prop_map(Number::from),
        (-1000_i32..1000).prop_map(|integer| Number::from_f64(integer.into()).unwrap()),
        prop::num::f64::ANY.prop_filter_map("finite", Number::from_f64),
        prop::sample::select(edges).prop_filter_map("finite", Number::from_f64),
    ]
    .boxed()
}

/// Any JSON value.
fn value() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        number().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((text(), inner), 0..4).prop_map(|entries| Value::from(Object::from_iter(entries))),
        ]
    })
    .boxed()
}

/// Any JSON value but null, which an optional member may not be.
fn some_value() -> BoxedStrategy<Value> {
    value().prop_filter("null", |value| !value.is_null()).boxed()
}

pub(crate) fn object() -> BoxedStrategy<Object> {
    vec((text(), value()), 0..3).prop_map(Object::from_iter).boxed()
}

fn count() -> impl Strategy<Value = i64> {
    prop_oneof![Just(0), 0..100_000_i64, Just(MAX_SAFE)]
}

fn usage() -> BoxedStrategy<Vec<TokenUsage>> {
    let usage = with!(
        Just(TokenUsage::new());
        with_provider(text()), with_model(text()), with_input_tokens(count()),
        with_output_tokens(count()), with_total_tokens(count()), with_reasoning_tokens(count()),
        with_cached_input_tokens(count()), with_cache_write_input_tokens(count()),
    );
    vec(usage, 0..3).boxed()
}

fn pointer() -> impl Strategy<Value = String> {
    prop::sample::select(&["", "/", "/a/b~0c", "/list/-", "/~1/0", "/é"][..])
        .prop_map(str::to_owned)
}

fn operation() -> BoxedStrategy<PatchOperation> {
    let any_op = prop::sample::select(vec![
        PatchOp::Add,
        PatchOp::Remove,
        PatchOp::Replace,
        PatchOp::Move,
        PatchOp::Copy,
        PatchOp::Test,
    ]);
    prop_oneof![
        (pointer(), value()).prop_map(|(path, value)| PatchOperation::add(path, value)),
        (pointer(), value()).prop_map(|(path, value)| PatchOperation::replace(path, value)),
        (pointer(), value()).prop_map(|(path, value)| PatchOperation::test(path, value)),
        pointer().prop_map(PatchOperation::remove),
        (pointer(), pointer()).prop_map(|(from, path)| PatchOperation::r#move(from, path)),
        (pointer(), pointer()).prop_map(|(from, path)| PatchOperation::copy(from, path)),
        (any_op, pointer(), pointer(), value()).prop_map(|(op, path, from, value)| {
            let mut operation = PatchOperation::new(op, path);
            operation.from = Some(from);
            operation.value = Some(value);
            operation
        }),
    ]
    .boxed()
}

fn part() -> BoxedStrategy<Part> {
    let source = prop_oneof![
        (text(), text()).prop_map(|(value, mime)| PartSource::from(DataSource::new(value, mime))),
        with!(text().prop_map(UrlSource::new); with_mime_type(text())).prop_map(PartSource::from),
        with!(text().prop_map(FileSource::new); with_provider(text()), with_mime_type(text()))
            .prop_map(PartSource::from),
    ];
    let media =
        with!(source.prop_map(MediaPart::new); with_id(text()), with_metadata(some_value()));
    let kinds: Vec<fn(MediaPart) -> Part> =
        vec![Part::Image, Part::Audio, Part::Video, Part::Document];
    prop_oneof![
        with!(text().prop_map(TextPart::new); with_id(text()), with_metadata(some_value()))
            .prop_map(Part::from),
        (media, prop::sample::select(kinds)).prop_map(|(media, kind)| kind(media)),
    ]
    .boxed()
}

fn content() -> BoxedStrategy<Content> {
    prop_oneof![text().prop_map(Content::from), vec(part(), 0..3).prop_map(Content::from)].boxed()
}

fn tool_call() -> BoxedStrategy<ToolCall> {
    with!(
        (text(), text(), text()).prop_map(|(id, name, args)| ToolCall::function(id, name, args));
        with_encrypted_value(text()), with_encrypted_value_type(text()), with_metadata(object()),
    )
}

fn message() -> BoxedStrategy<Message> {
    macro_rules! message {
        ($base:expr; $($setter:ident($member:expr)),*) => {
            with!(
                $base;
                with_metadata(object()), with_subagent(text()), $( $setter($member) ),*
            )
            .prop_map(Message::from)
        };
    }
    macro_rules! speaker {
        ($base:expr) => {
            message!(
                $base;
                with_name(text()), with_encrypted_value(text()), with_encrypted_value_type(text())
            )
        };
    }
    let unknown = (text(), text()).prop_map(|(id, content)| {
        Message::Unknown(Object::from([
            ("id", id),
            ("role", "critic".into()),
            ("content", content),
        ]))
    });
    prop_oneof![
        speaker!((text(), text()).prop_map(|(id, text)| DeveloperMessage::new(id, text))),
        speaker!((text(), text()).prop_map(|(id, text)| SystemMessage::new(id, text))),
        speaker!(with!(
            text().prop_map(AssistantMessage::new);
            with_content(text()), with_tool_calls(vec(tool_call(), 0..3)),
        )),
        speaker!((text(), content()).prop_map(|(id, content)| UserMessage::new(id, content))),
        message!(
            (text(), content(), text()).prop_map(|(id, content, call)| {
                ToolMessage::new(id, content, call)
            });
            with_error(text()), with_encrypted_value(text()), with_encrypted_value_type(text())
        ),
        message!(
            (text(), text(), object()).prop_map(|(id, activity, content)| {
                ActivityMessage::new(id, activity, content)
            });
        ),
        message!(
            (text(), text()).prop_map(|(id, text)| ReasoningMessage::new(id, text));
            with_encrypted_value(text()), with_encrypted_value_type(text())
        ),
        unknown,
    ]
    .boxed()
}

fn interrupt() -> BoxedStrategy<Interrupt> {
    with!(
        (text(), text()).prop_map(|(id, reason)| Interrupt::new(id, reason));
        with_message(text()), with_tool_call(text()), with_response_schema(object()),
        with_expires_at(text()), with_metadata(object()), with_subagent(text()),
    )
}

fn run_outcome() -> BoxedStrategy<RunFinishedOutcome> {
    prop_oneof![
        with!(Just(RunSuccess::new()); with_pending_tool_call_ids(vec(text(), 0..3)))
            .prop_map(RunFinishedOutcome::Success),
        vec(interrupt(), 1..3)
            .prop_map(|list| RunFinishedOutcome::Interrupt(RunInterrupt::new(list))),
        Just(RunFinishedOutcome::Cancelled(RunCancelled::new())),
        Just(RunFinishedOutcome::Unknown(Object::from([("type", "paused")]))),
    ]
    .boxed()
}

fn subagent_outcome() -> BoxedStrategy<SubagentFinishedOutcome> {
    prop_oneof![
        Just(SubagentFinishedOutcome::Success(SubagentSuccess::new())),
        with!(Just(SubagentSuspended::new()); with_interrupt_ids(vec(text(), 0..3)))
            .prop_map(SubagentFinishedOutcome::Suspended),
        Just(SubagentFinishedOutcome::Unknown(Object::from([("type", "paused")]))),
    ]
    .boxed()
}

fn run_input() -> BoxedStrategy<RunAgentInput> {
    let tool = with!(
        (text(), text()).prop_map(|(name, description)| Tool::new(name, description));
        with_parameters(some_value()), with_metadata(object()),
    );
    let context = (text(), text()).prop_map(|(what, value)| Context::new(what, value));
    let status = prop_oneof![
        Just(ResumeStatus::Resolved),
        Just(ResumeStatus::Cancelled),
        Just(ResumeStatus::from("postponed")),
    ];
    let resume = with!(
        (text(), status).prop_map(|(id, status)| ResumeEntry::new(id, status));
        with_payload(some_value()), with_metadata(object()),
    );
    with!(
        (text(), text(), vec(message(), 0..3)).prop_map(|(thread, run, messages)| {
            RunAgentInput::new(thread, run, messages)
        });
        with_protocol_version(text()), with_parent_run(text()), with_state(some_value()),
        with_tools(vec(tool, 0..3)), with_context(vec(context, 0..3)),
        with_forwarded_props(some_value()), with_resume(vec(resume, 0..3)),
    )
}

fn text_role() -> impl Strategy<Value = TextRole> {
    prop::sample::select(vec![
        TextRole::Developer,
        TextRole::System,
        TextRole::Assistant,
        TextRole::User,
        TextRole::from("narrator"),
    ])
}

/// A strategy for each event type, in the order of [`EventType::ALL`].
#[rustfmt::skip]
fn bodies() -> Vec<BoxedStrategy<Event>> {
    macro_rules! event {
        ($base:expr; $($setter:ident($member:expr)),* $(,)?) => {
            with!($base; $( $setter($member) ),*).prop_map(Event::from).boxed()
        };
    }
    let one = || text();
    let two = || (text(), text());
    let three = || (text(), text(), text());
    let operations = || vec(operation(), 0..4);
    let subtype = prop::sample::select(vec![
        EncryptedValueSubtype::ToolCall,
        EncryptedValueSubtype::Message,
        EncryptedValueSubtype::from("thought"),
    ]);
    vec![
        event!(one().prop_map(TextMessageStart::new);
            with_role(text_role()), with_name(text()), with_subagent(text())),
        event!(two().prop_map(|(id, delta)| TextMessageContent::new(id, delta));
            with_subagent(text())),
        event!(one().prop_map(TextMessageEnd::new); with_subagent(text())),
        event!(two().prop_map(|(id, name)| ToolCallStart::new(id, name));
            with_parent_message(text()), with_subagent(text())),
        event!(two().prop_map(|(id, delta)| ToolCallArgs::new(id, delta)); with_subagent(text())),
        event!(one().prop_map(ToolCallEnd::new); with_subagent(text())),
        event!(value().prop_map(StateSnapshot::new); with_subagent(text())),
        event!(operations().prop_map(StateDelta::new); with_subagent(text())),
        event!(vec(message(), 0..5).prop_map(MessagesSnapshot::new);),
        event!(value().prop_map(Raw::new); with_source(text()), with_subagent(text())),
        event!((text(), value()).prop_map(|(name, value)| Custom::new(name, value));
            with_subagent(text())),
        event!(two().prop_map(|(thread, run)| RunStarted::new(thread, run));
            with_protocol_version(text()), with_parent_run(text()), with_input(run_input())),
        event!(two().prop_map(|(thread, run)| RunFinished::new(thread, run));
            with_result(some_value()), with_outcome(run_outcome()), with_usage(usage())),
        event!(one().prop_map(RunError::new); with_code(text()), with_usage(usage())),
        event!(one().prop_map(StepStarted::new); with_subagent(text())),
        event!(one().prop_map(StepFinished::new); with_subagent(text())),
        event!(Just(TextMessageChunk::new());
            with_message_id(text()), with_role(text_role()), with_delta(text()),
            with_name(text()), with_subagent(text())),
        event!(Just(ToolCallChunk::new());
            with_tool_call_id(text()), with_tool_call_name(text()), with_parent_message(text()),
            with_delta(text()), with_subagent(text())),
        event!(two().prop_map(|(id, name)| SubagentStarted::new(id, name));
            with_description(text()), with_parent_subagent(text()), with_parent_tool_call(text()),
            with_parent_message(text())),
        event!(one().prop_map(SubagentFinished::new);
            with_result(some_value()), with_outcome(subagent_outcome())),
        event!(two().prop_map(|(id, message)| SubagentError::new(id, message)); with_code(text())),
        event!((text(), text(), content())
                .prop_map(|(id, call, content)| ToolCallResult::new(id, call, content));
            with_role(Just(Role::Tool)), with_subagent(text())),
        event!((text(), text(), object())
                .prop_map(|(id, activity, content)| ActivitySnapshot::new(id, activity, content));
            with_replace(any::<bool>()), with_subagent(text())),
        event!((text(), text(), operations())
                .prop_map(|(id, activity, patch)| ActivityDelta::new(id, activity, patch));
            with_subagent(text())),
        event!(one().prop_map(ReasoningStart::new); with_subagent(text())),
        event!(one().prop_map(|id| ReasoningMessageStart::new(id, Role::Reasoning));
            with_subagent(text())),
        event!(two().prop_map(|(id, delta)| ReasoningMessageContent::new(id, delta));
            with_subagent(text())),
        event!(one().prop_map(ReasoningMessageEnd::new); with_subagent(text())),
        event!(Just(ReasoningMessageChunk::new());
            with_message_id(text()), with_delta(text()), with_subagent(text())),
        event!(one().prop_map(ReasoningEnd::new); with_subagent(text())),
        event!((subtype, three())
                .prop_map(|(subtype, (id, value, _))| {
                    ReasoningEncryptedValue::new(subtype, id, value)
                });
            with_encrypted_value_type(text()), with_subagent(text())),
    ]
}

/// A strategy for each event type, base included.
fn events() -> Vec<BoxedStrategy<Event>> {
    let timestamp =
        prop_oneof![Just(0), Just(-1), 0..=MAX_SAFE, Just(MAX_SAFE), Just(-MAX_SAFE)].boxed();
    bodies()
        .into_iter()
        .map(|body| {
            with!(
                body;
                with_timestamp(timestamp.clone()), with_metadata(object()),
                with_raw_event(some_value()),
            )
        })
        .collect()
}

pub(crate) fn any_event() -> impl Strategy<Value = Event> {
    proptest::strategy::Union::new(events())
}

// --- how laws are checked --------------------------------------------------------------------

/// So many cases, the same ones in every run.
fn cases(cases: u32) -> Config {
    Config { cases, rng_seed: RngSeed::Fixed(31), failure_persistence: None, ..Config::default() }
}

/// Checks a law on events of every type.
pub(crate) fn check_every_type(each: u32, law: impl Fn(Event) -> Result<(), TestCaseError>) {
    for events in events() {
        check(each, &events, &law);
    }
}

pub(crate) fn check<T: Debug>(
    count: u32,
    strategy: &impl Strategy<Value = T>,
    law: impl Fn(T) -> Result<(), TestCaseError>,
) {
    if let Err(error) = TestRunner::new(cases(count)).run(strategy, law) {
        panic!("{error}");
    }
}

fn payload(event: &Event) -> Vec<u8> {
    event.to_payload().unwrap().to_vec()
}

fn decode(payload: &[u8]) -> Event {
    let decoded = Event::decode(payload).unwrap();
    assert_eq!(decoded.notices, []);
    decoded.event.unwrap()
}

// --- the laws --------------------------------------------------------------------------------

#[test]
fn every_type_has_a_generator() {
    let events = events();
    assert_eq!(events.len(), EventType::ALL.len());
    for (event_type, events) in EventType::ALL.into_iter().zip(events) {
        check(2, &events, |event| {
            prop_assert_eq!(event.event_type(), event_type);
            Ok(())
        });
    }
}

#[test]
fn decode_after_encode_is_the_event() {
    check_every_type(32, |event| {
        let mut bytes = BytesMut::new();
        prop_assert_eq!(event.encode(&mut bytes).unwrap(), []);
        prop_assert_eq!(decode(&bytes), normalised(&event));
        Ok(())
    });
}

#[test]
fn normalising_twice_is_normalising_once() {
    check_every_type(8, |event| {
        let once = normalised(&event);
        prop_assert_eq!(&normalised(&once), &once);
        Ok(())
    });
}

#[test]
fn members_without_a_place_on_the_wire_are_told_and_lost() {
    let patched = (vec(operation(), 1..3), value()).prop_map(|(mut operations, value)| {
        operations[0].extra.insert("x-note", value);
        Event::from(StateDelta::new(operations))
    });
    check(64, &patched, |event| {
        let mut bytes = BytesMut::new();
        let notices = event.encode(&mut bytes).unwrap();
        prop_assert_eq!(
            notices[0].to_string(),
            "/delta/0/x-note: left out, since the wire has no place for it: extension of a patch \
             operation"
        );
        prop_assert_eq!(decode(&bytes), normalised(&event));
        Ok(())
    });
}

#[test]
fn json_says_all_that_the_event_does() {
    check_every_type(32, |event| {
        let json = serde_json::to_string(&event).unwrap();
        prop_assert_eq!(&Event::from_json(&json).unwrap(), &event, "{}", json);
        Ok(())
    });
}

#[test]
fn encoding_is_a_function_and_has_one_form() {
    check_every_type(16, |event| {
        let bytes = payload(&event);
        prop_assert_eq!(&payload(&event), &bytes, "again");
        prop_assert_eq!(&payload(&event.clone()), &bytes, "of a copy");
        prop_assert_eq!(&payload(&decode(&bytes)), &bytes, "after decoding");
        Ok(())
    });
}

#[test]
fn a_frame_is_the_payload_after_its_length() {
    check_every_type(4, |event| {
        let mut frame = BytesMut::from(&b"before"[..]);
        event.encode_frame(&mut frame).unwrap();
        let payload = payload(&event);
        let len = u32::try_from(payload.len()).unwrap().to_be_bytes();
        prop_assert_eq!(&frame[..], [&b"before"[..], &len, &payload].concat());
        Ok(())
    });
}

#[test]
fn the_schema_types_read_and_write_the_same_bytes() {
    check_every_type(16, |event| {
        let bytes = payload(&event);
        let wire = wire::Event::decode(&bytes[..]).unwrap();
        prop_assert_eq!(wire.encoded_len(), bytes.len());
        prop_assert_eq!(wire.encode_to_vec(), bytes);
        Ok(())
    });
}

/// prost-types keeps entries sorted, so only a value whose keys are sorted has the same bytes.
#[test]
fn prost_types_writes_the_same_bytes_for_a_value_with_sorted_keys() {
    check(512, &value(), |value| {
        let value = sorted(value);
        let bytes = Slot(Some(value.clone())).encode_to_vec();
        let theirs = prost_types::Value::decode(&bytes[..]).unwrap();
        prop_assert_eq!(theirs.encode_to_vec(), bytes);
        let mut expected = value;
        normalise_numbers(&mut expected);
        prop_assert_eq!(from_prost_types(theirs), expected);
        Ok(())
    });
}

fn sorted(value: Value) -> Value {
    match value {
        Value::List(list) => list.into_iter().map(sorted).collect(),
        Value::Object(object) => {
            let mut entries = object.into_vec();
            entries.sort_by(|(left, _), (right, _)| left.cmp(right));
            entries.into_iter().map(|(key, value)| (key, sorted(value))).collect()
        }
        scalar => scalar,
    }
}

fn from_prost_types(value: prost_types::Value) -> Value {
    use prost_types::value::Kind;
    match value.kind.unwrap() {
        Kind::NullValue(_) => Value::Null,
        Kind::BoolValue(value) => value.into(),
        Kind::StringValue(text) => text.into(),
        Kind::NumberValue(double) => {
            let mut value = Value::from(Number::from_f64(double).unwrap());
            normalise_numbers(&mut value);
            value
        }
        Kind::ListValue(list) => list.values.into_iter().map(from_prost_types).collect(),
        Kind::StructValue(object) => {
            object.fields.into_iter().map(|(key, value)| (key, from_prost_types(value))).collect()
        }
    }
}

#[test]
fn any_split_of_the_input_gives_the_same_events() {
    let stream = (vec(any_event(), 1..6), vec(any::<prop::sample::Index>(), 0..12));
    check(160, &stream, |(events, cuts)| {
        let mut bytes = BytesMut::new();
        for event in &events {
            event.encode_frame(&mut bytes).unwrap();
        }
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.sort_unstable();
        cuts.push(bytes.len());

        let (mut reader, mut buffer) = (EventReader::new(), BytesMut::new());
        let (mut frame_reader, mut frame_buffer) =
            (FrameReader::new(Limits::new()), BytesMut::new());
        let (mut seen, mut from_frames, mut start) = (Vec::new(), Vec::new(), 0);
        for cut in cuts {
            let part = &bytes[start..cut];
            start = cut;
            buffer.extend_from_slice(part);
            while let Some(decoded) = reader.next_event(&mut buffer).unwrap() {
                seen.push(decoded.event.unwrap());
            }
            frame_buffer.extend_from_slice(part);
            while let Some(frame) = frame_reader.next_frame(&mut frame_buffer).unwrap() {
                let decoded = decode_payload(&frame.payload, &Limits::new()).unwrap();
                from_frames.push(decoded.event.unwrap());
            }
        }
        reader.finish(&buffer).unwrap();
        frame_reader.finish(&frame_buffer).unwrap();
        let expected: Vec<Event> = events.iter().map(normalised).collect();
        prop_assert_eq!(&seen, &expected);
        prop_assert_eq!(&from_frames, &expected);
        Ok(())
    });
}

/// Fields that no message of the schema has, of every wire type.
fn unknown_field() -> impl Strategy<Value = Vec<u8>> {
    let field = |number: u32, wire_type: u32, body: &[u8]| {
        let mut bytes = Vec::new();
        prost::encoding::encode_varint(u64::from(number << 3 | wire_type), &mut bytes);
        bytes.extend_from_slice(body);
        bytes
    };
    let kinds = prop_oneof![
        any::<u64>().prop_map(|value| {
            let mut body = Vec::new();
            prost::encoding::encode_varint(value, &mut body);
            (0, body)
        }),
        any::<[u8; 8]>().prop_map(|body| (1, body.to_vec())),
        vec(any::<u8>(), 0..6).prop_map(|body| {
            let len = u8::try_from(body.len()).unwrap();
            (2, [&[len][..], &body].concat())
        }),
        any::<[u8; 4]>().prop_map(|body| (5, body.to_vec())),
        // A group with a varint in it, which closes itself.
        Just((3, b"\x08\x01".to_vec())),
    ];
    (100_u32..2000, kinds).prop_map(move |(number, (wire_type, mut body))| {
        if wire_type == 3 {
            body.extend(field(number, 4, &[]));
        }
        field(number, wire_type, &body)
    })
}

/// One field of a message: its number, and its bytes, tag included.
struct RawField<'a> {
    number: u32,
    bytes: &'a [u8],
    /// The content of a length-delimited field.
    body: Option<&'a [u8]>,
}

fn fields(mut bytes: &[u8]) -> Vec<RawField<'_>> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let whole = bytes;
        let tag = u32::try_from(prost::encoding::decode_varint(&mut bytes).unwrap()).unwrap();
        let body = match tag & 7 {
            0 => {
                prost::encoding::decode_varint(&mut bytes).unwrap();
                None
            }
            1 => bytes.split_off(..8).and(None),
            2 => {
                let len = prost::encoding::decode_varint(&mut bytes).unwrap();
                bytes.split_off(..usize::try_from(len).unwrap())
            }
            other => panic!("wire type {other}"),
        };
        let bytes = &whole[..whole.len() - bytes.len()];
        fields.push(RawField { number: tag >> 3, bytes, body });
    }
    fields
}

fn len_field(number: u32, body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    prost::encoding::encode_varint(u64::from(number << 3 | 2), &mut bytes);
    prost::encoding::encode_varint(body.len() as u64, &mut bytes);
    bytes.extend_from_slice(body);
    bytes
}

/// The message with `unknown` put in front of its field at `place`, or at its end, within the
/// messages that `path` names by their numbers. A path that leads nowhere ends where it does.
fn with_unknown(
    message: &[u8],
    path: &[u32],
    place: prop::sample::Index,
    unknown: &[u8],
) -> Vec<u8> {
    let mut fields = fields(message);
    if let Some((number, rest)) = path.split_first()
        && let Some(inner) = fields.iter_mut().find(|field| field.number == *number)
        && let Some(body) = inner.body
    {
        let inner_bytes = len_field(*number, &with_unknown(body, rest, place, unknown));
        inner.bytes = &inner_bytes;
        return fields.iter().flat_map(|field| field.bytes).copied().collect();
    }
    let place = place.index(fields.len() + 1);
    let before = fields[..place].iter().flat_map(|field| field.bytes);
    let after = fields[place..].iter().flat_map(|field| field.bytes);
    before.chain(unknown).chain(after).copied().collect()
}

/// The messages of an event's payload: the envelope, the event, its base, and what it carries.
fn message_paths(arm: u32) -> Vec<Vec<u32>> {
    let carried: &[&[u32]] = match arm {
        8 => &[&[2]],
        9 => &[&[2], &[2, 5], &[2, 5, 3], &[2, 8], &[2, 8, 1], &[2, 8, 2, 1]],
        12 => &[&[5], &[5, 5], &[5, 6], &[5, 7], &[5, 9]],
        13 => &[&[6], &[7]],
        14 => &[&[4]],
        22 => &[&[7], &[7, 1], &[7, 2], &[7, 2, 1], &[7, 2, 1, 1]],
        24 => &[&[5]],
        _ => &[],
    };
    let mut paths = vec![vec![], vec![arm], vec![arm, 1]];
    paths.extend(carried.iter().map(|path| [&[arm], *path].concat()));
    paths
}

#[test]
fn unknown_fields_change_nothing_wherever_they_stand() {
    for events in events() {
        let placed = (events, any::<prop::sample::Index>(), unknown_field());
        check(16, &placed, |(event, place, unknown)| {
            let bytes = payload(&event);
            let arm = fields(&bytes)[0].number;
            for path in message_paths(arm) {
                let changed = with_unknown(&bytes, &path, place, &unknown);
                prop_assert_eq!(changed.len() > bytes.len(), true);
                let decoded = Event::decode(&changed).unwrap();
                prop_assert_eq!(decoded.notices, []);
                prop_assert_eq!(decoded.event.unwrap(), normalised(&event), "in {:?}", path);
            }
            Ok(())
        });
    }
}

#[test]
fn an_event_in_two_halves_merges_wherever_it_is_cut() {
    check_every_type(12, |event| {
        let (bytes, expected) = (payload(&event), normalised(&event));
        let envelope = fields(&bytes);
        let (arm, body) = (envelope[0].number, envelope[0].body.unwrap());
        let cuts = fields(body);
        let mut at = 0;
        for field in &cuts {
            at += field.bytes.len();
            let halves = [len_field(arm, &body[..at]), len_field(arm, &body[at..])].concat();
            prop_assert_eq!(&decode(&halves), &expected, "cut at {}", at);
        }
        Ok(())
    });
}

#[test]
fn a_base_in_two_halves_merges_wherever_it_is_cut() {
    check_every_type(8, |event| {
        let (bytes, expected) = (payload(&event), normalised(&event));
        let envelope = fields(&bytes);
        let (arm, body) = (envelope[0].number, envelope[0].body.unwrap());
        let members = fields(body);
        let (base, rest) = (members[0].body.unwrap(), &body[members[0].bytes.len()..]);
        let mut at = 0;
        for field in fields(base) {
            at += field.bytes.len();
            // The second half comes last, behind the event's own members.
            let halves =
                [&len_field(1, &base[..at])[..], rest, &len_field(1, &base[at..])].concat();
            prop_assert_eq!(&decode(&len_field(arm, &halves)), &expected, "cut at {}", at);
        }
        Ok(())
    });
}
