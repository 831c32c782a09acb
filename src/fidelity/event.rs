//! What a trip changes in an event: seen by walking it, without making the trip.

use super::number::{compare, compare_members, may_arrive_otherwise};
use super::{Difference, Kind};
use crate::convert::unknown_message_member;
use crate::model::node::{Inspector, Node};
use crate::model::path::At;
use crate::model::{
    Body, DEFAULT_MAX_DEPTH, Event, Message, Part, Reason, RunAgentInput, RunFinishedOutcome,
    SubagentFinishedOutcome, ToolCall, Unrecognised,
};
use crate::value::{Object, Value};

impl Event {
    /// What a trip over the wire would change in this event, harmless changes included.
    ///
    /// Of an event that was read from JSON text, [`Checker`](super::Checker) sees more: keys given
    /// twice, retired shapes, and the digits that serde rounds away.
    ///
    /// # Examples
    ///
    /// ```
    /// use ag_ui_proto::Event;
    /// use ag_ui_proto::model::Custom;
    ///
    /// let event = Event::from(Custom::new("order", 9_007_199_254_740_993_i64));
    /// assert_eq!(
    ///     event.differences()[0].to_string(),
    ///     "/value: integer-precision: 9007199254740993 becomes 9007199254740992",
    /// );
    /// ```
    #[must_use]
    pub fn differences(&self) -> Vec<Difference> {
        let mut found = Vec::new();
        self.differences_into(DEFAULT_MAX_DEPTH, &mut found);
        found
    }

    pub(crate) fn differences_into(&self, max_depth: usize, found: &mut Vec<Difference>) {
        if let Some(path) = self.too_deep(max_depth) {
            let note = format!("more than {max_depth} levels");
            found.push(Difference::new(path.pointer(), Kind::TooDeep).note(&note));
        }
        self.inspect(&mut Walk { found, union: "" });
        lists(&self.body, found);
    }
}

struct Walk<'f> {
    found: &'f mut Vec<Difference>,
    /// The union that the last unrecognised tag was of.
    union: &'static str,
}

impl Walk<'_> {
    fn push(&mut self, at: &At<'_>, kind: Kind, json: &impl ToString) {
        self.found.push(Difference::new(at.to_path().pointer(), kind).json(json));
    }
}

impl Walk<'_> {
    /// The type of an unknown outcome arrives, if it has a name; its payload does not.
    fn unknown_outcome(&mut self, at: &At<'_>, outcome: &Object) {
        if outcome.get("type").and_then(Value::as_str).is_some_and(str::is_empty) {
            self.push(at, Kind::OutcomePayload, &Value::from(outcome.clone()));
            return;
        }
        for (name, value) in outcome.iter().filter(|(name, _)| *name != "type") {
            self.push(&at.member(name), Kind::OutcomePayload, value);
        }
    }

    /// A message of an unknown role arrives as far as its members are those of some message.
    fn unknown_message(&mut self, at: &At<'_>, message: &Object) {
        if !message.contains_key("id") {
            let pointer = at.member("id").to_path().pointer();
            self.found.push(Difference::new(pointer, Kind::AbsentId).wire(&"\"\""));
        }
        for (name, value) in message {
            let at = at.member(name);
            match (unknown_message_member(name, value), value) {
                (false, _) => self.push(&at, Kind::UnknownMember, value),
                (true, Value::List(list)) if list.is_empty() => {
                    empty(Some(&Vec::<Value>::new()), &at.to_path().pointer(), self.found);
                }
                (true, Value::List(_)) if name == "content" => self.unjudged::<Part>(value, &at),
                (true, Value::List(_)) => self.unjudged::<ToolCall>(value, &at),
                (true, _) => compare(value, &at.to_path().pointer(), self.found),
            }
        }
    }

    /// Walks a list without asking whether it is well-formed: the wire takes it either way.
    fn unjudged<T: Node>(&mut self, list: &Value, at: &At<'_>) {
        if let Ok(list) = Vec::<T>::from_json(list.clone(), at) {
            list.inspect(at, &mut Unjudged(Walk { found: self.found, union: "" }));
        }
    }
}

impl Inspector for Walk<'_> {
    fn enters_unknown_names(&self) -> bool {
        true
    }

    fn malformed(&mut self, at: &At<'_>, reason: Reason) {
        let pointer = at.to_path().pointer();
        self.found.push(Difference::new(pointer, Kind::Malformed).note(&reason));
    }

    fn unrecognised(&mut self, at: &At<'_>, what: Unrecognised) {
        let Unrecognised::Tag { union, tag } = what else { return };
        self.union = union;
        let kind = match union {
            "content part" | "part source" => Kind::UnknownPart,
            "patch operation" => Kind::UnknownOperation,
            // The name of an unknown role or outcome arrives.
            _ => return,
        };
        self.push(at, kind, &Value::from(tag));
    }

    fn unknown_member(&mut self, at: &At<'_>, value: &Value) {
        self.push(at, Kind::UnknownMember, value);
    }

    fn unknown_object(&mut self, at: &At<'_>, object: &Object) {
        match self.union {
            "outcome" => self.unknown_outcome(at, object),
            "message role" => self.unknown_message(at, object),
            _ => {}
        }
    }

    fn extension(&mut self, at: &At<'_>, value: &Value) {
        self.push(at, Kind::PatchExtension, value);
    }

    fn open(&mut self, at: &At<'_>, value: &Value) {
        if may_arrive_otherwise(value) {
            compare(value, &at.to_path().pointer(), self.found);
        }
    }

    fn open_object(&mut self, at: &At<'_>, object: &Object) {
        if object.values().any(may_arrive_otherwise) {
            compare_members(object, &at.to_path().pointer(), self.found);
        }
    }
}

/// Sees what a [`Walk`] sees, save for what is malformed.
struct Unjudged<'f>(Walk<'f>);

impl Inspector for Unjudged<'_> {
    fn enters_unknown_names(&self) -> bool {
        true
    }

    fn unrecognised(&mut self, at: &At<'_>, what: Unrecognised) {
        self.0.unrecognised(at, what);
    }

    fn unknown_member(&mut self, at: &At<'_>, value: &Value) {
        self.0.unknown_member(at, value);
    }

    fn open(&mut self, at: &At<'_>, value: &Value) {
        self.0.open(at, value);
    }

    fn open_object(&mut self, at: &At<'_>, object: &Object) {
        self.0.open_object(at, object);
    }
}

/// Lists that have no presence on the wire.
fn lists(body: &Body, found: &mut Vec<Difference>) {
    match body {
        Body::RunFinished(body) => {
            empty(body.usage.as_ref(), "/usage", found);
            if let Some(RunFinishedOutcome::Success(outcome)) = &body.outcome {
                let pointer = "/outcome/pendingToolCallIds";
                empty(outcome.pending_tool_call_ids.as_ref(), pointer, found);
            }
        }
        Body::RunError(body) => empty(body.usage.as_ref(), "/usage", found),
        Body::SubagentFinished(body) => {
            if let Some(SubagentFinishedOutcome::Suspended(outcome)) = &body.outcome {
                empty(outcome.interrupt_ids.as_ref(), "/outcome/interruptIds", found);
            }
        }
        Body::MessagesSnapshot(body) => message_lists(&body.messages, "/messages", found),
        Body::RunStarted(body) => {
            if let Some(input) = &body.input {
                input_lists(input, found);
            }
        }
        _ => {}
    }
}

fn input_lists(input: &RunAgentInput, found: &mut Vec<Difference>) {
    message_lists(&input.messages, "/input/messages", found);
    let lists = [
        ("/input/tools", input.tools.is_none()),
        ("/input/context", input.context.is_none()),
        ("/input/resume", input.resume.is_none()),
    ];
    for (pointer, absent) in lists {
        if absent {
            found.push(Difference::new(pointer, Kind::AbsentList).wire(&"[]"));
        }
    }
}

fn message_lists(messages: &[Message], pointer: &str, found: &mut Vec<Difference>) {
    for (index, message) in messages.iter().enumerate() {
        if let Message::Assistant(message) = message {
            let pointer = || format!("{pointer}/{index}/toolCalls");
            if message.tool_calls.as_ref().is_some_and(Vec::is_empty) {
                empty(message.tool_calls.as_ref(), &pointer(), found);
            }
        }
    }
}

fn empty<T>(list: Option<&Vec<T>>, pointer: &str, found: &mut Vec<Difference>) {
    if list.is_some_and(Vec::is_empty) {
        let arrives = Difference::new(pointer, Kind::EmptyList).json(&"[]");
        found.push(arrives.note(&"arrives as absent"));
    }
}
