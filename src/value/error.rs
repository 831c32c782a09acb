//! What can be wrong with a value: as bytes, as JSON text, or on its way into another type.

use thiserror::Error;

#[cfg(feature = "prost-types")]
use super::children::push_token;

/// Why bytes are not a `google.protobuf.Value`, `Struct` or `ListValue`.
///
/// `at` counts bytes from the start of the payload that was given.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ValueError {
    /// The bytes are not well-formed protobuf.
    #[error("malformed value at byte {at}: {reason}")]
    Malformed {
        /// Where the field, or the part of it that is wrong, begins.
        at: usize,
        /// What is wrong.
        reason: &'static str,
    },
    /// The value nests deeper than the limit.
    #[error("value nested deeper than {max} levels")]
    TooDeep {
        /// The limit.
        max: usize,
    },
    /// A number is not a number, or infinite. JSON has neither.
    #[error("number at byte {at} is not finite")]
    NotFinite {
        /// Where the eight bytes of the number begin.
        at: usize,
    },
    /// A string or a key is not UTF-8.
    #[error("text at byte {at} is not UTF-8")]
    Utf8 {
        /// Where the text begins.
        at: usize,
    },
}

/// Why JSON text is not a value.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum JsonError {
    /// The text is not JSON, or holds more than one value. A lone surrogate is not JSON here, since
    /// no Rust string, nor any other UTF-8, can hold it.
    #[error("malformed JSON{}", if pointer.is_empty() { String::new() } else { format!(" at {pointer}") })]
    Malformed {
        /// The value being read, as a JSON Pointer.
        pointer: String,
        /// What is wrong, and at which line and column.
        source: serde_json::Error,
    },
    /// The value nests deeper than the limit.
    #[error("JSON nested deeper than {max} levels at line {line} column {column}")]
    TooDeep {
        /// The limit.
        max: usize,
        /// The line of the first container too many, from 1.
        line: usize,
        /// The column behind its bracket, from 1.
        column: usize,
    },
}

/// Why a value does not fit another type of JSON value, or the other way round.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConvertError {
    /// The value nests deeper than [`MAX_DEPTH`](super::MAX_DEPTH), and the other type recurses.
    #[error("value nested deeper than {max} levels")]
    TooDeep {
        /// The limit.
        max: usize,
    },
    /// A number is beyond the range of a double, or is not finite.
    #[error("number {number} at {pointer:?} is not a finite double")]
    NotFinite {
        /// The JSON pointer of the number; empty for the whole value.
        pointer: String,
        /// The number as text.
        number: String,
    },
}

impl ConvertError {
    /// The same error, seen from the container of the value it is about.
    #[cfg(feature = "prost-types")]
    pub(super) fn inside(mut self, key: Option<&str>, index: usize) -> Self {
        if let Self::NotFinite { pointer, .. } = &mut self {
            let mut outer = String::new();
            push_token(&mut outer, key, index);
            pointer.insert_str(0, &outer);
        }
        self
    }
}
