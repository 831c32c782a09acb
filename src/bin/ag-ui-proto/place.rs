//! Places in a text, and the JSON texts that stand there.

use bytes::{Buf, Bytes, BytesMut};

/// One JSON text, which should be an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    /// Where the text begins.
    pub(crate) place: Cursor,
    pub(crate) text: Bytes,
}

/// A place in a text, both counted from 1; a column is a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cursor {
    pub(crate) line: u64,
    pub(crate) column: u64,
}

/// Why input cannot be cut into JSON texts any further.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SplitError {
    pub(crate) line: u64,
    pub(crate) reason: String,
}

impl Default for Cursor {
    fn default() -> Self {
        Self { line: 1, column: 1 }
    }
}

impl Cursor {
    /// Moves behind `bytes`.
    pub(crate) fn pass(&mut self, bytes: &[u8]) {
        let len = match memchr::memrchr(b'\n', bytes) {
            None => bytes.len(),
            Some(last) => {
                let lines = memchr::memchr_iter(b'\n', bytes).count();
                let lines = u64::try_from(lines).unwrap_or(u64::MAX);
                *self = Self { line: self.line + lines, column: 1 };
                bytes.len() - last - 1
            }
        };
        self.column += u64::try_from(len).unwrap_or(u64::MAX);
    }

    pub(crate) fn error(self, reason: impl Into<String>) -> SplitError {
        SplitError { line: self.line, reason: reason.into() }
    }

    pub(crate) fn too_long(self, max: usize) -> SplitError {
        self.error(format!("an event of more than {max} bytes of JSON; see `--max-frame`"))
    }
}

/// Takes white space off the front of `src`.
pub(crate) fn skip_space(src: &mut BytesMut, cursor: &mut Cursor) {
    let len = src.iter().take_while(|byte| is_space(**byte)).count();
    cursor.pass(src.get(..len).unwrap_or_default());
    src.advance(len);
}

/// White space as JSON has it.
pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}
