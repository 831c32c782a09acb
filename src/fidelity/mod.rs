//! What protobuf would change: said before the first byte is sent.
//!
//! A trip over the wire keeps what the protocol means, and changes some of what JSON can say. A
//! [`Checker`] reads the JSON text of a stream and names each difference with its place, the value
//! in JSON and the value that arrives. It works on the text, since a parsed number has already lost
//! its digits; [`Event::differences`](crate::Event::differences) is for those who have no text.
//!
//! | class | kinds |
//! |---|---|
//! | [`Fidelity::Normalized`]: written otherwise, meaning the same | [`Kind::NumberForm`], [`Kind::EmptyList`], [`Kind::AbsentList`], [`Kind::AbsentId`], [`Kind::RetiredShape`] |
//! | [`Fidelity::Lossy`]: something else arrives, or nothing | [`Kind::IntegerPrecision`], [`Kind::DecimalPrecision`], [`Kind::DuplicateKey`], [`Kind::UnknownMember`], [`Kind::UnknownPart`], [`Kind::PatchExtension`], [`Kind::OutcomePayload`], [`Kind::UnknownEventType`], [`Kind::RetiredMember`] |
//! | [`Fidelity::Unrepresentable`]: the event cannot be encoded | [`Kind::OutOfRange`], [`Kind::UnknownOperation`], [`Kind::LoneSurrogate`], [`Kind::TooDeep`], [`Kind::Malformed`] |
//!
//! A number survives if its literal names the same decimal value as the shortest text of its
//! double, or as the double's exact expansion. `0.1`, `1e2` and 3364326223160287232 survive;
//! 9007199254740993 and `0.10000000000000000001` do not.

mod checker;
mod event;
mod number;

use std::fmt;

pub use self::checker::{Checker, Report};

/// One thing that a trip over the wire changes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// Where in the event, as a JSON Pointer.
    pub pointer: String,
    /// What changes.
    pub kind: Kind,
    /// The value in JSON, as JSON; nothing where there is none.
    pub json: Option<String>,
    /// The value that arrives, as JSON; nothing where none does.
    pub wire: Option<String>,
    /// What else there is to say, for a reader.
    pub note: Option<String>,
}

/// How much of a value a trip keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fidelity {
    /// It arrives as it was written.
    Exact,
    /// It arrives written otherwise, and means the same.
    Normalized,
    /// Something else arrives, or nothing.
    Lossy,
    /// The encoder refuses the event.
    Unrepresentable,
}

macro_rules! kinds {
    ($( $(#[$meta:meta])* $kind:ident = $name:literal, $class:ident; )*) => {
        /// What a trip over the wire changes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Kind {
            $( $(#[$meta])* $kind, )*
        }

        impl Kind {
            /// All kinds, the harmless ones last.
            pub const ALL: &[Self] = &[$( Self::$kind, )*];

            /// The name in reports.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self {
                    $( Self::$kind => $name, )*
                }
            }

            /// How much such a change leaves.
            #[must_use]
            pub fn fidelity(self) -> Fidelity {
                match self {
                    $( Self::$kind => Fidelity::$class, )*
                }
            }
        }
    };
}

kinds! {
    /// An integer that no double is: the nearest one arrives.
    IntegerPrecision = "integer-precision", Lossy;
    /// A number with more digits than a double has: the nearest one arrives.
    DecimalPrecision = "decimal-precision", Lossy;
    /// A member given again later in its object: the last one arrives.
    DuplicateKey = "duplicate-key", Lossy;
    /// A member that this version does not describe.
    UnknownMember = "unknown-member", Lossy;
    /// A content part, or its source, of a type that this version does not know.
    UnknownPart = "unknown-part", Lossy;
    /// A member of a patch operation that RFC 6902 does not define.
    PatchExtension = "patch-extension", Lossy;
    /// A member of an outcome that this version does not know; its type arrives.
    OutcomePayload = "outcome-payload", Lossy;
    /// An event of a type that this version does not know.
    UnknownEventType = "unknown-event-type", Lossy;
    /// A member of a retired shape that its present form has no place for.
    RetiredMember = "retired-member", Lossy;
    /// A number outside the range of doubles.
    OutOfRange = "out-of-range", Unrepresentable;
    /// A patch operation that this version does not know.
    UnknownOperation = "unknown-operation", Unrepresentable;
    /// Half of a surrogate pair, which UTF-8 cannot say.
    LoneSurrogate = "lone-surrogate", Unrepresentable;
    /// Nesting beyond the limit.
    TooDeep = "too-deep", Unrepresentable;
    /// What the protocol refuses, or what is not JSON.
    Malformed = "malformed", Unrepresentable;
    /// A number written otherwise: `1.0` arrives as `1`.
    NumberForm = "number-form", Normalized;
    /// An empty list that arrives as absent.
    EmptyList = "empty-list", Normalized;
    /// An absent list that arrives as empty.
    AbsentList = "absent-list", Normalized;
    /// An absent id, of a message of an unknown role, that arrives as the empty text.
    AbsentId = "absent-id", Normalized;
    /// A shape of protocol 0.x that arrives as its present form; a null for an absent member too.
    RetiredShape = "retired-shape", Normalized;
}

impl Kind {
    /// Whether the meaning survives.
    #[must_use]
    pub fn is_harmless(self) -> bool {
        self.fidelity() <= Fidelity::Normalized
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Difference {
    fn new(pointer: impl Into<String>, kind: Kind) -> Self {
        Self { pointer: pointer.into(), kind, json: None, wire: None, note: None }
    }

    fn json(mut self, json: &impl ToString) -> Self {
        self.json = Some(json.to_string());
        self
    }

    fn wire(mut self, wire: &impl ToString) -> Self {
        self.wire = Some(wire.to_string());
        self
    }

    fn note(mut self, note: &impl ToString) -> Self {
        self.note = Some(note.to_string());
        self
    }
}

/// `/metadata/id: integer-precision: 9007199254740993 becomes 9007199254740992`
impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.pointer.is_empty() {
            write!(f, "{}: ", self.pointer)?;
        }
        write!(f, "{}", self.kind)?;
        match (&self.json, &self.wire) {
            (Some(json), Some(wire)) => write!(f, ": {json} becomes {wire}")?,
            (Some(json), None) if self.kind.fidelity() == Fidelity::Lossy => {
                write!(f, ": {json} is lost")?;
            }
            (Some(json), None) => write!(f, ": {json}")?,
            (None, Some(wire)) => write!(f, ": becomes {wire}")?,
            (None, None) => {}
        }
        match &self.note {
            Some(note) => write!(f, ": {note}"),
            None => Ok(()),
        }
    }
}
