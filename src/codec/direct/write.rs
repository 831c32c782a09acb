//! The bytes of a message so far, from its end.

use std::cell::RefCell;

use bytes::BytesMut;

use crate::value::direct::{write_object, write_value};
use crate::value::front::Front;
use crate::value::{Object, Value};

/// What is written of an event, and where it goes on in it.
///
/// Everything is put in front of what is there: the last field first, what a length counts before
/// the length.
pub(crate) struct Writer<'a> {
    pub(crate) out: Front<'a>,
    /// How many JSON containers enclose a member of the message at hand.
    level: usize,
    max_depth: usize,
}

/// Appends what `write` writes, which is known to be of `len` bytes.
#[inline]
pub(super) fn append(
    dst: &mut BytesMut,
    len: usize,
    max_depth: usize,
    write: impl FnOnce(&mut Writer<'_>) -> Option<()>,
) -> Option<()> {
    let start = dst.len();
    dst.resize(start + len, 0);
    let room = dst.get_mut(start..)?;
    let mut writer = Writer { out: Front::new(room), level: 1, max_depth };
    let written = write(&mut writer);
    if written.is_none() || writer.out.written() != len {
        dst.truncate(start);
        return None;
    }
    Some(())
}

thread_local! {
    static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// What a thread keeps for its next event, in bytes. A larger scratch goes when it has been used.
const KEPT: usize = 256 * 1024;

/// Appends what `write` writes, of whatever length up to `max_len`.
pub(super) fn append_by_scratch(
    dst: &mut BytesMut,
    max_len: usize,
    max_depth: usize,
    write: impl Fn(&mut Writer<'_>) -> Option<()>,
) -> Option<()> {
    SCRATCH.with_borrow_mut(|scratch| {
        let appended = loop {
            let mut writer = Writer { out: Front::new(scratch), level: 1, max_depth };
            let written = write(&mut writer);
            let (len, is_short) = (writer.out.written(), writer.out.is_short());
            if !is_short {
                let bytes = scratch.get(scratch.len() - len..).filter(|_| len <= max_len);
                break written.and_then(|()| Some(dst.extend_from_slice(bytes?)));
            }
            if scratch.len() >= max_len {
                break None;
            }
            let longer = scratch.len().saturating_mul(4).max(4096).min(max_len);
            scratch.resize(longer, 0);
        };
        if scratch.len() > KEPT {
            *scratch = Vec::new();
        }
        appended
    })
}

impl Writer<'_> {
    /// How many bytes there are.
    #[inline]
    pub(crate) fn written(&self) -> usize {
        self.out.written()
    }

    /// Puts the field `number` around what was written since `mark`.
    #[inline]
    pub(crate) fn close(&mut self, number: u8, mark: usize) -> Option<()> {
        self.out.put_header(number << 3 | 2, mark)
    }

    /// Puts the field `number` with a text, be it empty.
    #[inline]
    pub(crate) fn text(&mut self, number: u8, text: &str) -> Option<()> {
        self.out.put_counted(number << 3 | 2, text.as_bytes())
    }

    /// Puts the field `number` with a varint, be it 0.
    #[inline]
    pub(crate) fn varint(&mut self, number: u8, value: u64) -> Option<()> {
        self.out.put_varint(value)?;
        self.out.put_array([number << 3])
    }

    /// Puts a `Value` message that stands here.
    #[inline]
    pub(crate) fn value(&mut self, value: &Value) -> Option<()> {
        let room = self.room()?;
        write_value(value, room, &mut self.out)
    }

    /// Puts a `Struct` message that stands here.
    #[inline]
    pub(crate) fn object(&mut self, object: &Object) -> Option<()> {
        let room = self.room()?;
        write_object(object, room, &mut self.out)
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
