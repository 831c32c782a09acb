//! Retired shapes of protocol 0.x, read as their present forms.
//!
//! Three things are translated: the `THINKING_*` events, `binary` content parts, and nulls that
//! old serialisers wrote for absent members. Each translation is a [`Notice`].
//!
//! Rule: specification 1.1, basic/versioning, "Retired shapes".

use super::error::{Notice, NoticeKind};
use super::path::At;
use super::{Body, Content, Event, MediaPart, Message, Part, Path, RunAgentInput, Segment};
use crate::value::{List, Object, Value};

/// Translates the retired shapes of one stream, in the order of its events.
///
/// It works on JSON, before an event is read, since the model has no place for what is retired.
/// The `THINKING_*` events carried no ids: theirs are made here from the id of the run, which
/// `RUN_STARTED` names, and a count.
#[derive(Clone, Debug, Default)]
pub struct Translator {
    run_id: String,
    minted: u64,
    span: Option<String>,
    message: Option<String>,
    /// The places of the parts that were dropped from the last event.
    dropped: Vec<Path>,
}

/// The types of events that are retired, or can hold what is.
const TRANSLATED: [&str; 10] = [
    "RUN_STARTED",
    "RUN_FINISHED",
    "MESSAGES_SNAPSHOT",
    "TOOL_CALL_START",
    "TOOL_CALL_CHUNK",
    "THINKING_START",
    "THINKING_TEXT_MESSAGE_START",
    "THINKING_TEXT_MESSAGE_CONTENT",
    "THINKING_TEXT_MESSAGE_END",
    "THINKING_END",
];

impl Translator {
    /// Makes a translator for a new stream.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Translates what JSON alone can hold: `THINKING_*` events, `binary` parts, and nulls for
    /// members that are no open values. Other JSON passes as it is.
    pub fn translate(&mut self, event: &mut Value, notices: &mut Vec<Notice>) {
        self.dropped.clear();
        let Value::Object(event) = event else { return };
        let event_type = event.get("type").and_then(Value::as_str).unwrap_or_default();
        // Most events have nothing to translate.
        let Some(event_type) = TRANSLATED.iter().find(|name| **name == event_type) else { return };
        match *event_type {
            "RUN_STARTED" => {
                let run_id = event.get("runId").and_then(Value::as_str).unwrap_or_default();
                *self = Self { run_id: run_id.to_owned(), ..Self::default() };
                if let Some(Value::Object(input)) = event.get_mut("input") {
                    let at = At::Root.member("input");
                    translate_messages(input, &at, notices, &mut self.dropped);
                }
            }
            "MESSAGES_SNAPSHOT" => {
                translate_messages(event, &At::Root, notices, &mut self.dropped);
            }
            "RUN_FINISHED" => drop_null(event, "outcome", notices),
            "TOOL_CALL_START" | "TOOL_CALL_CHUNK" => drop_null(event, "parentMessageId", notices),
            _ => self.translate_thinking(event_type, event, notices),
        }
    }

    /// Notes an event that has nothing to translate.
    pub(crate) fn saw(&mut self, event: &Event) {
        self.dropped.clear();
        if let Body::RunStarted(body) = &event.body {
            *self = Self { run_id: body.run_id.clone(), ..Self::default() };
        }
    }

    /// The place, in the last event as it came, of a place in that event as it was translated.
    ///
    /// A part that says again what another one says is dropped, and the parts behind it move up.
    #[must_use]
    pub fn original(&self, place: &Path) -> Path {
        let mut segments = place.segments().to_vec();
        // In ascending order, so that each one counts from the list as it came.
        for dropped in &self.dropped {
            let Some((Segment::Index(gone), list)) = dropped.segments().split_last() else {
                continue;
            };
            if let Some((inside, [Segment::Index(index), ..])) =
                segments.split_at_mut_checked(list.len())
                && inside == list
                && *index >= *gone
            {
                *index += 1;
            }
        }
        Path::from(segments)
    }

    /// As [`Translator::original`], for a JSON Pointer.
    pub(crate) fn original_pointer(&self, place: &str) -> Option<String> {
        let mut pointer = None;
        for dropped in &self.dropped {
            let place = pointer.as_deref().unwrap_or(place);
            let gone = dropped.pointer();
            let Some((list, gone)) = gone.rsplit_once('/') else { continue };
            let Some(rest) = place.strip_prefix(list).and_then(|rest| rest.strip_prefix('/'))
            else {
                continue;
            };
            let (index, inside) = rest.split_once('/').map_or((rest, None), |(a, b)| (a, Some(b)));
            if let (Ok(index), Ok(gone)) = (index.parse::<usize>(), gone.parse::<usize>())
                && index >= gone
            {
                let inside = inside.map(|inside| format!("/{inside}")).unwrap_or_default();
                pointer = Some(format!("{list}/{}{inside}", index + 1));
            }
        }
        pointer
    }

    fn translate_thinking(
        &mut self,
        event_type: &str,
        event: &mut Object,
        notices: &mut Vec<Notice>,
    ) {
        let mut is_orphan = false;
        let mut orphan = |translator: &mut Self| {
            is_orphan = true;
            translator.mint()
        };
        let (shape, present, id) = match event_type {
            "THINKING_START" => {
                let id = self.mint();
                self.span = Some(id.clone());
                ("THINKING_START", "REASONING_START", id)
            }
            "THINKING_TEXT_MESSAGE_START" => {
                let id = self.mint();
                self.message = Some(id.clone());
                event.insert("role", "reasoning");
                ("THINKING_TEXT_MESSAGE_START", "REASONING_MESSAGE_START", id)
            }
            "THINKING_TEXT_MESSAGE_CONTENT" => {
                let id = self.message.clone().unwrap_or_else(|| orphan(self));
                ("THINKING_TEXT_MESSAGE_CONTENT", "REASONING_MESSAGE_CONTENT", id)
            }
            "THINKING_TEXT_MESSAGE_END" => {
                let id = self.message.take().unwrap_or_else(|| orphan(self));
                ("THINKING_TEXT_MESSAGE_END", "REASONING_MESSAGE_END", id)
            }
            "THINKING_END" => {
                let id = self.span.take().unwrap_or_else(|| orphan(self));
                ("THINKING_END", "REASONING_END", id)
            }
            _ => return,
        };
        event.insert("type", present);
        event.insert("messageId", id);
        let kind = if is_orphan {
            NoticeKind::RetiredOrphan { shape }
        } else {
            NoticeKind::Retired { shape }
        };
        notices.push(Notice { path: At::Root.to_path(), kind });
        if shape == "THINKING_START" && event.remove("title").is_some() {
            notices.push(lost(&At::Root, shape, "title"));
        }
    }

    /// An id that no other event of the thread has, since no other run has the run's id.
    fn mint(&mut self) -> String {
        self.minted += 1;
        format!("{}-thinking-{}", self.run_id, self.minted)
    }
}

impl Event {
    /// Reads a null that an old producer wrote for an absent open value as absent.
    ///
    /// The places: `rawEvent`; `result`; the metadata of media parts; `state`, `forwardedProps`,
    /// tool `parameters` and resume `payload` of an echoed input. Both bindings can hold them.
    pub fn drop_retired_nulls(&mut self, notices: &mut Vec<Notice>) {
        let at = At::Root;
        let mut drop = |member: &mut Option<Value>, name: &str, at: &At<'_>| {
            take_null(member, &at.member(name), notices);
        };
        if self.base.raw_event.as_deref() == Some(&Value::Null) {
            drop(&mut Some(Value::Null), "rawEvent", &at);
            self.base.raw_event = None;
        }
        match &mut self.body {
            Body::RunFinished(body) => drop(&mut body.result, "result", &at),
            Body::SubagentFinished(body) => drop(&mut body.result, "result", &at),
            Body::MessagesSnapshot(body) => {
                drop_part_nulls(&mut body.messages, &at.member("messages"), notices);
            }
            Body::RunStarted(body) => {
                if let Some(input) = &mut body.input {
                    drop_input_nulls(input, &at.member("input"), notices);
                }
            }
            _ => {}
        }
    }
}

fn drop_input_nulls(input: &mut RunAgentInput, at: &At<'_>, notices: &mut Vec<Notice>) {
    take_null(&mut input.state, &at.member("state"), notices);
    take_null(&mut input.forwarded_props, &at.member("forwardedProps"), notices);
    drop_part_nulls(&mut input.messages, &at.member("messages"), notices);
    for (index, tool) in input.tools.iter_mut().flatten().enumerate() {
        let tools = at.member("tools");
        take_null(&mut tool.parameters, &tools.index(index).member("parameters"), notices);
    }
    for (index, entry) in input.resume.iter_mut().flatten().enumerate() {
        let resume = at.member("resume");
        take_null(&mut entry.payload, &resume.index(index).member("payload"), notices);
    }
}

fn drop_part_nulls(messages: &mut [Message], at: &At<'_>, notices: &mut Vec<Notice>) {
    for (index, message) in messages.iter_mut().enumerate() {
        let content = match message {
            Message::User(message) => &mut message.content,
            Message::Tool(message) => &mut message.content,
            _ => continue,
        };
        let Content::Parts(parts) = content else { continue };
        let at = at.index(index);
        let at = at.member("content");
        for (index, part) in parts.iter_mut().enumerate() {
            if let Part::Image(part)
            | Part::Audio(part)
            | Part::Video(part)
            | Part::Document(part) = part
            {
                let MediaPart { metadata, .. } = part;
                take_null(metadata, &at.index(index).member("metadata"), notices);
            }
        }
    }
}

fn take_null(member: &mut Option<Value>, at: &At<'_>, notices: &mut Vec<Notice>) {
    if matches!(member, Some(Value::Null)) {
        *member = None;
        notices.push(retired(at, NULL));
    }
}

const NULL: &str = "null for an absent member";

fn retired(at: &At<'_>, shape: &'static str) -> Notice {
    Notice { path: at.to_path(), kind: NoticeKind::Retired { shape } }
}

fn lost(at: &At<'_>, shape: &'static str, member: &str) -> Notice {
    let kind = NoticeKind::RetiredLoss { shape, member: member.to_owned() };
    Notice { path: at.member(member).to_path(), kind }
}

fn drop_null(event: &mut Object, name: &str, notices: &mut Vec<Notice>) {
    if event.get(name) == Some(&Value::Null) {
        event.remove(name);
        notices.push(retired(&At::Root.member(name), NULL));
    }
}

/// Translates the `binary` parts of the messages that `holder` has.
fn translate_messages(
    holder: &mut Object,
    at: &At<'_>,
    notices: &mut Vec<Notice>,
    dropped: &mut Vec<Path>,
) {
    let Some(Value::List(messages)) = holder.get_mut("messages") else { return };
    let at = at.member("messages");
    for (index, message) in messages.iter_mut().enumerate() {
        if let Some(Value::List(parts)) =
            message.as_object_mut().and_then(|message| message.get_mut("content"))
        {
            let at = at.index(index);
            translate_parts(parts, &at.member("content"), notices, dropped);
        }
    }
}

/// A part that cannot be translated stays, and is unrecognised like any unknown part.
fn translate_parts(
    parts: &mut List,
    at: &At<'_>,
    notices: &mut Vec<Notice>,
    dropped: &mut Vec<Path>,
) {
    if !parts.iter().any(is_binary) {
        return;
    }
    let modern: Vec<Value> = parts.iter().filter(|part| !is_binary(part)).cloned().collect();
    let mut kept = List::default();
    for (index, part) in std::mem::take(parts).into_iter().enumerate() {
        let at = at.index(index);
        let Some(present) = present_form(&part) else {
            kept.push(part);
            continue;
        };
        notices.push(retired(&at, BINARY));
        for member in members_lost(&part, &present) {
            notices.push(lost(&at, BINARY, member));
        }
        // Peers in between sent both forms of one part.
        if modern.iter().any(|other| says_the_same(other, &present)) {
            dropped.push(at.to_path());
        } else {
            kept.push(present);
        }
    }
    *parts = kept;
}

const BINARY: &str = "binary part";

/// The members of a `binary` part that its present form has no place for.
fn members_lost<'a>(part: &'a Value, present: &Value) -> impl Iterator<Item = &'a str> {
    let source = present.pointer("/source/type").and_then(Value::as_str).map(str::to_owned);
    let members = part.as_object().into_iter().flat_map(Object::iter);
    members.filter_map(move |(name, value)| {
        let is_kept = match name {
            "type" | "mimeType" => true,
            "filename" => value.is_string(),
            // An empty one said nothing.
            "data" | "url" => source.as_deref() == Some(name) || value.as_str() == Some(""),
            _ => false,
        };
        (!is_kept).then_some(name)
    })
}

fn is_binary(part: &Value) -> bool {
    part.get("type").and_then(Value::as_str) == Some("binary")
}

/// The media part that a `binary` part is today, if it says where its bytes are.
fn present_form(part: &Value) -> Option<Value> {
    if !is_binary(part) {
        return None;
    }
    let text = |name: &str| part.get(name).and_then(Value::as_str);
    let filled = |name: &str| text(name).filter(|text| !text.is_empty());
    let mime_type = text("mimeType")?;
    let (source, value) = match (filled("data"), filled("url")) {
        (Some(data), _) => ("data", data),
        (None, Some(url)) => ("url", url),
        (None, None) => return None,
    };
    let prefix = mime_type.split_once('/').map(|(prefix, _)| prefix);
    let kind =
        prefix.filter(|prefix| ["image", "audio", "video"].contains(prefix)).unwrap_or("document");
    let source = Object::from([("type", source), ("value", value), ("mimeType", mime_type)]);
    let mut present = Object::from([("type", Value::from(kind)), ("source", source.into())]);
    if let Some(filename) = text("filename") {
        let metadata = Object::from([("filename", filename)]);
        present.insert("metadata", metadata);
    }
    Some(present.into())
}

/// Whether a modern part has the type and source of `present`, and its filename if it has one.
fn says_the_same(modern: &Value, present: &Value) -> bool {
    let filename = present.pointer("/metadata/filename");
    modern.get("type") == present.get("type")
        && modern.get("source") == present.get("source")
        && (filename.is_none() || modern.pointer("/metadata/filename") == filename)
}
