//! The bytes of a message so far, from its end.

use std::cell::RefCell;

use crate::value::direct::{write_object, write_value};
use crate::value::encode::{Backward, Buffer};
use crate::value::{Object, Value};

/// What is written of an event, and where it goes on in it.
///
/// Everything is put in front of what is there: the last field first, what a length counts before
/// the length.
pub(crate) struct Writer<'a> {
    out: &'a mut Buffer,
    /// How many JSON containers enclose a member of the message at hand.
    level: usize,
    max_depth: usize,
}

/// Scratch space that a thread keeps for its next event. A larger one goes when it has been used.
const KEPT: usize = 256 * 1024;

thread_local! {
    static SCRATCH: RefCell<Buffer> = const { RefCell::new(Buffer::new()) };
}

/// Lends an empty writer.
pub(super) fn with_scratch<T>(max_depth: usize, write: impl FnOnce(&mut Writer<'_>) -> T) -> T {
    SCRATCH.with_borrow_mut(|out| {
        out.clear();
        let written = write(&mut Writer { out, level: 1, max_depth });
        if out.capacity() > KEPT {
            *out = Buffer::new();
        }
        written
    })
}

impl Writer<'_> {
    /// How many bytes there are.
    #[inline]
    pub(crate) fn written(&self) -> usize {
        self.out.written()
    }

    /// What was written.
    pub(crate) fn as_slice(&self) -> &[u8] {
        self.out.as_slice()
    }

    /// Puts bytes as they are.
    #[inline]
    pub(crate) fn put(&mut self, bytes: &[u8]) {
        self.out.put(bytes);
    }

    /// Puts a length as it stands behind a tag.
    #[inline]
    pub(crate) fn length(&mut self, len: usize) {
        // No platform has a wider `usize`.
        self.out.put_varint(u64::try_from(len).unwrap_or(u64::MAX));
    }

    /// Puts the field `number` around what was written since `mark`.
    #[inline]
    pub(crate) fn close(&mut self, number: u8, mark: usize) {
        self.out.put_header(number << 3 | 2, mark);
    }

    /// Puts the field `number` with a text, be it empty.
    #[inline]
    pub(crate) fn text(&mut self, number: u8, text: &str) {
        self.out.put_counted(number << 3 | 2, text.as_bytes());
    }

    /// Puts the field `number` with a varint, be it 0.
    #[inline]
    pub(crate) fn varint(&mut self, number: u8, value: u64) {
        self.out.put_varint(value);
        self.out.put(&[number << 3]);
    }

    /// Puts a `Value` message that stands here.
    #[inline]
    pub(crate) fn value(&mut self, value: &Value) -> Option<()> {
        write_value(value, self.room()?, self.out)
    }

    /// Puts a `Struct` message that stands here.
    #[inline]
    pub(crate) fn object(&mut self, object: &Object) -> Option<()> {
        write_object(object, self.room()?, self.out)
    }

    /// Writes what stands so many levels further in.
    #[inline]
    pub(crate) fn inside<T>(&mut self, levels: usize, write: impl FnOnce(&mut Self) -> T) -> T {
        self.level += levels;
        let written = write(self);
        self.level -= levels;
        written
    }

    /// How many levels an open value may have here.
    fn room(&self) -> Option<usize> {
        self.max_depth.checked_sub(self.level)
    }
}
