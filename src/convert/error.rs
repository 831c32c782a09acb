//! What a conversion refuses.

use std::fmt;

use crate::model::path::At;
use crate::model::{EventType, Malformed, Path, Reason};

/// A value that one side cannot have from the other: what, where, and in which event.
///
/// `Display` writes `MESSAGES_SNAPSHOT: messages[3].content: text and parts at once`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConvertError {
    /// The type of the event, where that much is known.
    pub event_type: Option<EventType>,
    /// The place in the event.
    pub path: Path,
    /// What is wrong there.
    pub reason: ConvertReason,
}

/// What is wrong with a value that one side cannot have from the other.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConvertReason {
    /// To the wire: the protocol refuses the value.
    #[error("{0}")]
    Malformed(Reason),
    /// To the wire: the patch operation has no number there.
    #[error("patch operation {0:?} has no number on the wire")]
    UnknownOperation(String),
    /// To the wire: the number is outside what a double holds.
    #[error("the number {number}{} is outside the range of a double", inside(pointer))]
    NoDouble {
        /// Where in the open value, as a JSON Pointer.
        pointer: String,
        /// The number.
        number: String,
    },
    /// From the wire: the envelope holds no event.
    #[error("the envelope holds no event")]
    NoEvent,
    /// From the wire: the event has no base.
    #[error("the event has no base_event")]
    NoBase,
    /// From the wire: the base declares another type than the envelope's arm.
    #[error("base_event declares type number {declared}, which is not the type of the arm")]
    TypeMismatch {
        /// The number that it declares.
        declared: i32,
    },
    /// From the wire: an integer beyond what a double counts.
    #[error("{0} is outside -9007199254740991 to 9007199254740991")]
    OutOfRange(i64),
    /// From the wire: a member that the model has no place for nests too deep to be kept.
    #[error("nests too deep to be kept")]
    TooDeep,
    /// From the wire: content in two forms.
    #[error("text and parts at once")]
    TextAndParts,
    /// From the wire: content in more than one form, in a message of an unknown role.
    #[error("content in more than one form")]
    SeveralContents,
    /// From the wire: a form of content that the message's role does not have.
    #[error("{content} in a message of role {role:?}")]
    ContentOfAnotherRole {
        /// Which form.
        content: &'static str,
        /// The role.
        role: String,
    },
}

fn inside(pointer: &str) -> String {
    if pointer.is_empty() { String::new() } else { format!(" at {pointer} in it") }
}

impl ConvertError {
    pub(crate) fn new(at: &At<'_>, reason: ConvertReason) -> Self {
        Self { event_type: None, path: at.to_path(), reason }
    }
}

impl From<Malformed> for ConvertError {
    fn from(Malformed { event_type, path, reason }: Malformed) -> Self {
        Self { event_type, path, reason: ConvertReason::Malformed(reason) }
    }
}

impl fmt::Display for ConvertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(event_type) = self.event_type {
            write!(f, "{event_type}: ")?;
        }
        if !self.path.segments().is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        write!(f, "{}", self.reason)
    }
}

impl std::error::Error for ConvertError {}
