//! Judging an event or an input: strictly, tolerantly, or only for what no reading lets pass.

use super::Notices;
use super::error::{Malformed, Notice, NoticeKind, Reason, Unrecognised};
use super::node::{Inspector, Node};
use super::path::{At, Path};
use super::{AgentCapabilities, Base, Event, EventType, RunAgentInput};
use crate::value::{Object, Value};

/// What tolerant reading does with an unknown string in a closed set: the role of a text message,
/// the subtype of an encrypted value, the status of a resume entry.
///
/// Differs: the specification's prose strips them (1.1, basic/processing), which is the default
/// here; the reference client refuses them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnknownNames {
    /// Strip the string, or what cannot be without it.
    #[default]
    Strip,
    /// Refuse the event.
    Refuse,
}

/// An event after tolerant reading, and what it lost there.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Enforced {
    /// The event, or nothing if it was dropped.
    pub event: Option<Event>,
    /// What was stripped, dropped or translated.
    pub notices: Notices,
}

impl Event {
    /// Judges the event strictly: all that it holds must be described by this version.
    ///
    /// For authoring, tests, and what a producer is about to send.
    ///
    /// # Errors
    ///
    /// The first value that is malformed or unrecognised.
    pub fn validate(&self) -> Result<(), Malformed> {
        let event_type = Some(self.event_type());
        if let Some(what) = self.unrecognised() {
            let reason = Reason::Unrecognised(what);
            return Err(Malformed { event_type, path: Path::root(), reason });
        }
        let mut first = FirstFault { event_type, strict: true, fault: None };
        self.inspect(&mut first);
        first.fault.map_or(Ok(()), Err)
    }

    /// Judges the event as a consumer does: strips what this version does not describe, and
    /// reports it; refuses the rest.
    ///
    /// A stripped element leaves its list, a stripped optional member leaves its object, and what
    /// cannot be without the stripped member goes with it, up to the event itself.
    ///
    /// # Errors
    ///
    /// The first value that is malformed, outside of what is stripped.
    ///
    /// Rule: specification 1.1, basic/processing, "Unrecognised material".
    pub fn enforce(mut self, names: UnknownNames) -> Result<Enforced, Malformed> {
        let mut enforcer = Enforcer::new(Some(self.event_type()), names);
        if let Some(what) = self.unrecognised() {
            enforcer.unrecognised(&At::Root, what);
            return Ok(Enforced { event: None, notices: enforcer.verdict()?.into() });
        }
        self.inspect(&mut enforcer);
        let notices = enforcer.verdict()?;
        if !notices.is_empty() {
            self.strip();
        }
        Ok(Enforced { event: Some(self), notices: notices.into() })
    }

    /// Refuses what every reading refuses, and lets unrecognised material pass.
    pub(crate) fn refuse_malformed(&self) -> Result<(), Malformed> {
        let event_type = Some(self.event_type());
        let mut first = FirstFault { event_type, strict: false, fault: None };
        self.inspect(&mut first);
        first.fault.map_or(Ok(()), Err)
    }

    /// The first value that makes the event's JSON nest deeper than `max` levels.
    pub(crate) fn too_deep(&self, max: usize) -> Option<Path> {
        let mut deepest = TooDeep { max, path: None };
        self.inspect(&mut deepest);
        deepest.path
    }
}

impl RunAgentInput {
    /// Judges the input strictly. See [`Event::validate`].
    ///
    /// # Errors
    ///
    /// The first value that is malformed or unrecognised.
    pub fn validate(&self) -> Result<(), Malformed> {
        validate(self)
    }

    /// Judges the input as a producer does that receives it, and strips what this version does not
    /// describe. See [`Event::enforce`].
    ///
    /// # Errors
    ///
    /// The first value that is malformed, outside of what is stripped. The input is then as it was.
    pub fn enforce(&mut self, names: UnknownNames) -> Result<Vec<Notice>, Malformed> {
        let mut enforcer = Enforcer::new(None, names);
        Node::inspect(self, &At::Root, &mut enforcer);
        let notices = enforcer.verdict()?;
        if !notices.is_empty() {
            Node::strip(self);
        }
        Ok(notices)
    }
}

impl AgentCapabilities {
    /// Judges the declaration strictly. One that is malformed must not be used.
    ///
    /// # Errors
    ///
    /// The first value that is malformed or unrecognised.
    pub fn validate(&self) -> Result<(), Malformed> {
        validate(self)
    }
}

fn validate(node: &impl Node) -> Result<(), Malformed> {
    let mut first = FirstFault { event_type: None, strict: true, fault: None };
    node.inspect(&At::Root, &mut first);
    first.fault.map_or(Ok(()), Err)
}

struct FirstFault {
    event_type: Option<EventType>,
    strict: bool,
    fault: Option<Malformed>,
}

impl Inspector for FirstFault {
    fn enters_unknown_names(&self) -> bool {
        !self.strict
    }

    fn malformed(&mut self, at: &At<'_>, reason: Reason) {
        if self.fault.is_none() {
            let event_type = self.event_type;
            self.fault = Some(Malformed { event_type, path: at.to_path(), reason });
        }
    }

    fn unrecognised(&mut self, at: &At<'_>, what: Unrecognised) {
        if self.strict {
            self.malformed(at, Reason::Unrecognised(what));
        }
    }
}

/// Whether there is anything to say about an event but what its open values hold.
pub(crate) struct Plain(bool);

impl Plain {
    /// Whether all of an event is well-formed and described by this version.
    #[inline]
    pub(crate) fn is(base: &Base, body: &impl Node) -> bool {
        let mut plain = Self(body.unrecognised().is_none());
        body.inspect(&At::Root, &mut plain);
        base.inspect(&At::Root, &mut plain);
        plain.0
    }
}

impl Inspector for Plain {
    fn malformed(&mut self, _at: &At<'_>, _reason: Reason) {
        self.0 = false;
    }

    fn unrecognised(&mut self, _at: &At<'_>, _what: Unrecognised) {
        self.0 = false;
    }

    fn extension(&mut self, _at: &At<'_>, _value: &Value) {
        self.0 = false;
    }
}

struct Enforcer {
    names: UnknownNames,
    first: FirstFault,
    notices: Vec<Notice>,
}

impl Enforcer {
    fn new(event_type: Option<EventType>, names: UnknownNames) -> Self {
        let first = FirstFault { event_type, strict: true, fault: None };
        Self { names, first, notices: Vec::new() }
    }

    fn verdict(self) -> Result<Vec<Notice>, Malformed> {
        self.first.fault.map_or(Ok(self.notices), Err)
    }
}

impl Inspector for Enforcer {
    fn malformed(&mut self, at: &At<'_>, reason: Reason) {
        self.first.malformed(at, reason);
    }

    fn unrecognised(&mut self, at: &At<'_>, what: Unrecognised) {
        if self.names == UnknownNames::Refuse && matches!(what, Unrecognised::Name { .. }) {
            self.first.unrecognised(at, what);
        } else {
            self.notices.push(Notice { path: at.to_path(), kind: NoticeKind::Stripped(what) });
        }
    }
}

struct TooDeep {
    max: usize,
    path: Option<Path>,
}

impl TooDeep {
    /// Looks no deeper than the limit.
    fn measure(&mut self, at: &At<'_>, is_deeper_than: impl FnOnce(usize) -> bool) {
        let room = self.max.checked_sub(at.level());
        if self.path.is_none() && room.is_none_or(is_deeper_than) {
            self.path = Some(at.to_path());
        }
    }
}

impl Inspector for TooDeep {
    fn enters_unknown_names(&self) -> bool {
        true
    }

    fn open(&mut self, at: &At<'_>, value: &Value) {
        self.measure(at, |room| value.is_deeper_than(room));
    }

    fn open_object(&mut self, at: &At<'_>, object: &Object) {
        self.measure(at, |room| object.is_deeper_than(room));
    }

    fn unknown_member(&mut self, at: &At<'_>, value: &Value) {
        self.measure(at, |room| value.is_deeper_than(room));
    }

    fn extension(&mut self, at: &At<'_>, value: &Value) {
        self.measure(at, |room| value.is_deeper_than(room));
    }

    fn unknown_value(&mut self, at: &At<'_>, value: &Value) {
        self.measure(at, |room| value.is_deeper_than(room));
    }

    fn unknown_object(&mut self, at: &At<'_>, object: &Object) {
        self.measure(at, |room| object.is_deeper_than(room));
    }
}
