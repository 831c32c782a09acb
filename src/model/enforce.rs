//! Judging an event: strictly, tolerantly, or only for what no reading lets pass.

use super::error::{Malformed, Notice, NoticeKind, Reason, Unrecognised};
use super::node::Inspector;
use super::path::{At, Path};
use super::{Event, EventType};
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
pub struct Enforced {
    /// The event, or nothing if it was dropped.
    pub event: Option<Event>,
    /// What was stripped, dropped or translated.
    pub notices: Vec<Notice>,
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
        if let Some(what) = self.unrecognised() {
            return Err(self.malformed(Path::root(), Reason::Unrecognised(what)));
        }
        let mut first = FirstFault { event_type: self.event_type(), strict: true, fault: None };
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
        let event_type = self.event_type();
        let mut enforcer = Enforcer { event_type, names, fault: None, notices: Vec::new() };
        if let Some(what) = self.unrecognised() {
            enforcer.unrecognised(&At::Root, what);
            return enforcer
                .fault
                .map_or(Ok(Enforced { event: None, notices: enforcer.notices }), Err);
        }
        self.inspect(&mut enforcer);
        if let Some(fault) = enforcer.fault {
            return Err(fault);
        }
        if !enforcer.notices.is_empty() {
            self.strip();
        }
        Ok(Enforced { event: Some(self), notices: enforcer.notices })
    }

    /// Refuses what every reading refuses, and lets unrecognised material pass.
    pub(crate) fn refuse_malformed(&self) -> Result<(), Malformed> {
        let mut first = FirstFault { event_type: self.event_type(), strict: false, fault: None };
        self.inspect(&mut first);
        first.fault.map_or(Ok(()), Err)
    }

    /// The first open value that makes the event's JSON nest deeper than `max` levels.
    pub(crate) fn too_deep(&self, max: usize) -> Option<Path> {
        let mut deepest = TooDeep { max, path: None };
        self.inspect(&mut deepest);
        deepest.path
    }
}

struct FirstFault {
    event_type: EventType,
    strict: bool,
    fault: Option<Malformed>,
}

impl Inspector for FirstFault {
    fn malformed(&mut self, at: &At<'_>, reason: Reason) {
        if self.fault.is_none() {
            let event_type = Some(self.event_type);
            self.fault = Some(Malformed { event_type, path: at.to_path(), reason });
        }
    }

    fn unrecognised(&mut self, at: &At<'_>, what: Unrecognised) {
        if self.strict {
            self.malformed(at, Reason::Unrecognised(what));
        }
    }
}

struct Enforcer {
    event_type: EventType,
    names: UnknownNames,
    fault: Option<Malformed>,
    notices: Vec<Notice>,
}

impl Inspector for Enforcer {
    fn malformed(&mut self, at: &At<'_>, reason: Reason) {
        if self.fault.is_none() {
            let event_type = Some(self.event_type);
            self.fault = Some(Malformed { event_type, path: at.to_path(), reason });
        }
    }

    fn unrecognised(&mut self, at: &At<'_>, what: Unrecognised) {
        if self.names == UnknownNames::Refuse && matches!(what, Unrecognised::Name { .. }) {
            self.malformed(at, Reason::Unrecognised(what));
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
    fn measure(&mut self, at: &At<'_>, depth: usize) {
        if self.path.is_none() && at.level() + depth > self.max {
            self.path = Some(at.to_path());
        }
    }
}

impl Inspector for TooDeep {
    fn open(&mut self, at: &At<'_>, value: &Value) {
        self.measure(at, value.depth());
    }

    fn open_object(&mut self, at: &At<'_>, object: &Object) {
        self.measure(at, object.depth());
    }
}
