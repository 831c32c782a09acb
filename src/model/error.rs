//! What can be wrong with an event, and what was left out of one.

use std::fmt;

use super::{EventType, Path};
use crate::value::JsonError;

/// A value that the protocol refuses: what, where, and in which event.
///
/// `Display` writes `TOOL_CALL_ARGS: delta: expected a string, found an array`.
///
/// Rule: malformed material is fatal; it is never repaired, coerced or ignored (specification 1.1,
/// basic/processing).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// The type of the event, where that much is known.
    pub event_type: Option<EventType>,
    /// The place in the event.
    pub path: Path,
    /// What is wrong there.
    pub reason: Reason,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(event_type) = self.event_type {
            write!(f, "{event_type}: ")?;
        }
        if self.event_type.is_none() || !self.path.segments().is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        write!(f, "{}", self.reason)
    }
}

impl std::error::Error for Malformed {}

/// What is wrong with a value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// A value of another JSON type.
    #[error("expected {expected}, found {found}")]
    Type {
        /// What the member takes, with its article.
        expected: &'static str,
        /// What stands there, with its article.
        found: &'static str,
    },
    /// A required member is absent.
    #[error("missing")]
    Missing,
    /// A whole null where an optional member is to be left out.
    #[error("null; leave the member out instead")]
    Null,
    /// An integer with a fraction.
    #[error("expected an integer, found {found}")]
    Fraction {
        /// The number.
        found: String,
    },
    /// An integer outside its bounds.
    #[error("{found} is outside {min} to {max}")]
    Range {
        /// The number.
        found: String,
        /// The least that is allowed.
        min: i64,
        /// The most that is allowed.
        max: i64,
    },
    /// A fixed literal with another value.
    #[error("expected \"{expected}\", found {found:?}")]
    Literal {
        /// The only value that is allowed.
        expected: &'static str,
        /// The value.
        found: String,
    },
    /// A path that is not a JSON Pointer.
    #[error("{found:?} is not a JSON Pointer")]
    Pointer {
        /// The path.
        found: String,
    },
    /// A list that must have at least one element.
    #[error("empty; at least one element is required")]
    Empty,
    /// Material that this version does not know, where a reading asks for what it knows.
    #[error("{0}")]
    Unrecognised(Unrecognised),
}

/// Material that this version of the protocol does not describe.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unrecognised {
    /// A member of a closed object.
    #[error("unknown member")]
    Member,
    /// A union whose tag names no member of it.
    #[error("unknown {union} {tag:?}")]
    Tag {
        /// Which union: "content part", "message role", ...
        union: &'static str,
        /// The tag.
        tag: String,
    },
    /// A string outside a closed set of strings.
    #[error("unknown {set} {value:?}")]
    Name {
        /// Which set: "text message role", "resume status", ...
        set: &'static str,
        /// The string.
        value: String,
    },
}

/// Something that was left out or translated on the way, which a caller should hear of.
///
/// A notice is never an error: the stream goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The place in the event; the event itself if that was dropped.
    pub path: Path,
    /// What happened there.
    pub kind: NoticeKind,
}

/// What happened to the material that a [`Notice`] speaks of.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoticeKind {
    /// An event whose type this version does not know was dropped.
    #[error("dropped an event of unknown type {0:?}")]
    UnknownEventType(String),
    /// A frame whose envelope holds only arms of a later version was dropped.
    #[error("dropped a frame with an event of a later version (arm {arm})")]
    UnknownArm {
        /// The number of the first such arm.
        arm: u32,
    },
    /// A content part in none of the arms that this version knows was dropped.
    #[error("dropped a content part in no arm that this version knows")]
    UnknownPartArm,
    /// A member is given again later in its object, where the last one counts.
    #[error("given again later, where the last one counts")]
    GivenAgain,
    /// Unrecognised material was stripped.
    #[error("stripped: {0}")]
    Stripped(Unrecognised),
    /// Material that has no place on the wire was left out of the bytes.
    #[error("left out, since the wire has no place for it: {0}")]
    NotOnWire(Unrecognised),
    /// A member that a patch operation may carry, but not over the wire, was left out.
    #[error("left out, since the wire has no place for it: extension of a patch operation")]
    PatchExtension,
    /// A shape of protocol 0.x was read as its present form.
    #[error("translated the retired {shape}")]
    Retired {
        /// The shape.
        shape: &'static str,
    },
    /// A retired shape continued what was not open; an id was made for it, which names nothing.
    #[error("translated the retired {shape}, which continues nothing that is open")]
    RetiredOrphan {
        /// The shape.
        shape: &'static str,
    },
    /// A member of a retired shape has no present form and was dropped.
    #[error("dropped {member} of the retired {shape}, which has no present form")]
    RetiredLoss {
        /// The shape.
        shape: &'static str,
        /// The member.
        member: String,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.segments().is_empty() {
            write!(f, "{}", self.kind)
        } else {
            write!(f, "{}: {}", self.path.pointer(), self.kind)
        }
    }
}

/// Why JSON text is no event.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The text is not JSON, or nests too deep.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// `type` names no event of this version.
    #[error("unknown event type {0:?}")]
    UnknownEventType(String),
    /// The event breaks the model.
    #[error(transparent)]
    Malformed(#[from] Malformed),
}
