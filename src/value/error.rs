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
    /// The text is not JSON, or holds more than one value.
    #[error("malformed JSON{}: {reason}", place(pointer))]
    Malformed {
        /// The value being read, as a JSON Pointer.
        pointer: String,
        /// What is wrong, and at which line and column.
        reason: serde_json::Error,
    },
    /// The text has half of a surrogate pair. JSON's grammar allows it, but no UTF-8 can hold it, and
    /// so no Rust string.
    #[error("half of a surrogate pair{}, which UTF-8 cannot hold: {reason}", place(pointer))]
    LoneSurrogate {
        /// The string, as a JSON Pointer; or the object, if it is in a key.
        pointer: String,
        /// At which line and column.
        reason: serde_json::Error,
    },
    /// The value nests deeper than the limit.
    #[error("JSON nested deeper than {max} levels at line {line} column {column}")]
    TooDeep {
        /// The limit.
        max: usize,
        /// The line of the first container too many, from 1.
        line: usize,
        /// The column of its bracket in bytes, from 1.
        column: usize,
    },
}

fn place(pointer: &str) -> String {
    if pointer.is_empty() { String::new() } else { format!(" at {pointer}") }
}

impl JsonError {
    /// The error for text in which more than `max` levels were found.
    ///
    /// `serde_json` gives the place where it stopped, which may be behind the end of the container.
    pub(super) fn too_deep(text: &str, max: usize) -> Self {
        let before = text.get(..beyond(text, max)).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before.len() - before.rfind('\n').map_or(0, |at| at + 1) + 1;
        Self::TooDeep { max, line, column }
    }

    /// The error for text that serde refused while the value at `pointer` was read.
    pub(super) fn refused(pointer: String, reason: serde_json::Error, text: &str) -> Self {
        if is_lone_surrogate(text, reason.line(), reason.column()) {
            Self::LoneSurrogate { pointer, reason }
        } else {
            Self::Malformed { pointer, reason }
        }
    }
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

/// Where the first container opens that is more than `max` levels deep.
fn beyond(text: &str, max: usize) -> usize {
    let (mut level, mut in_string, mut bytes) = (0_usize, false, text.bytes().enumerate());
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'"' => in_string = !in_string,
            b'\\' if in_string => drop(bytes.next()),
            b'[' | b'{' if !in_string => {
                if level == max {
                    return at;
                }
                level += 1;
            }
            b']' | b'}' if !in_string => level = level.saturating_sub(1),
            _ => {}
        }
    }
    text.len()
}

/// Whether what is wrong at this place is half of a surrogate pair. Reading stops within the escape
/// or within what stands where the other half should.
fn is_lone_surrogate(text: &str, line: usize, column: usize) -> bool {
    const REACH: usize = "\\ud800\\ud800".len();
    let before: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let place = before + column;
    lone_surrogate(text).is_some_and(|at| (at..=at + REACH).contains(&place))
}

/// Where the first escape begins that is half of a surrogate pair without its other half.
fn lone_surrogate(text: &str) -> Option<usize> {
    let mut high = None;
    let mut at = 0;
    loop {
        let found = text.get(at..).and_then(|rest| rest.find('\\'));
        let is_next = found == Some(0);
        if let Some(high) = high.filter(|_| !is_next) {
            return Some(high);
        }
        at += found?;
        let unit = text
            .get(at + 1..)
            .and_then(|escape| escape.strip_prefix('u'))
            .and_then(|digits| digits.get(..4))
            .and_then(|digits| u16::from_str_radix(digits, 16).ok());
        let is_low = matches!(unit, Some(0xdc00..=0xdfff));
        if is_low != high.is_some() {
            return high.or(Some(at));
        }
        high = matches!(unit, Some(0xd800..=0xdbff)).then_some(at);
        at += if unit.is_some() { 6 } else { 2 };
    }
}
