//! The bytes of a message that are left to read.

use crate::model::node::MAX_SAFE_INTEGER;
use crate::value::direct::{counted, read_object, read_value, text, varint, varint_of_word};
use crate::value::{Object, Value};

/// What is left of a message, and where it stands in the event.
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
    /// How many JSON containers enclose a member of this message.
    level: usize,
    max_depth: usize,
}

impl<'a> Reader<'a> {
    /// A reader for the message of an event.
    pub(crate) fn new(bytes: &'a [u8], max_depth: usize) -> Self {
        Self { rest: bytes, level: 1, max_depth }
    }

    /// A reader for a message in this one, so many levels further in.
    #[inline]
    pub(crate) fn inner(&self, bytes: &'a [u8], levels: usize) -> Self {
        Self { rest: bytes, level: self.level + levels, max_depth: self.max_depth }
    }

    /// Reads what stands so many levels further in.
    #[inline]
    pub(crate) fn inside<T>(&mut self, levels: usize, read: impl FnOnce(&mut Self) -> T) -> T {
        self.level += levels;
        let made = read(self);
        self.level -= levels;
        made
    }

    /// What is made of it, if all has been read.
    #[inline(always)]
    pub(crate) fn end<T>(&self, made: T) -> Option<T> {
        self.rest.is_empty().then_some(made)
    }

    /// Whether the length-delimited field `number` is next.
    ///
    /// Fields above 15 have a longer tag; no message but the envelope has any.
    #[inline(always)]
    pub(crate) fn is_at(&self, number: u8) -> bool {
        matches!(self.rest, [tag, ..] if *tag == number << 3 | 2)
    }

    /// What `take` takes behind the tag that is next.
    #[inline(always)]
    fn next<T>(&mut self, take: impl FnOnce(&'a [u8]) -> Option<(T, &'a [u8])>) -> Option<T> {
        let (_, rest) = self.rest.split_first()?;
        let (taken, rest) = take(rest)?;
        self.rest = rest;
        Some(taken)
    }

    /// The bytes of the length-delimited field that is next.
    #[inline(always)]
    pub(crate) fn next_body(&mut self) -> Option<&'a [u8]> {
        self.next(counted)
    }

    /// The text of the field `number`; empty if it is not next.
    #[inline]
    pub(crate) fn text(&mut self, number: u8) -> Option<&'a str> {
        if self.is_at(number) { text(self.next_body()?) } else { Some("") }
    }

    /// Whether the varint field `number` is next.
    #[inline(always)]
    pub(crate) fn is_at_varint(&self, number: u8) -> bool {
        matches!(self.rest, [tag, ..] if *tag == number << 3)
    }

    /// The varint of the field that is next.
    #[inline(always)]
    pub(crate) fn next_varint(&mut self) -> Option<u64> {
        self.next(varint)
    }

    /// The integer that a double can count of the field that is next.
    #[inline(always)]
    pub(crate) fn next_safe_integer(&mut self) -> Option<i64> {
        self.next(safe_integer)
    }

    /// The varint of the field `number`; 0 if it is not next.
    #[inline(always)]
    pub(crate) fn varint(&mut self, number: u8) -> Option<u64> {
        if self.is_at_varint(number) { self.next_varint() } else { Some(0) }
    }

    /// Reads a `Value` message that stands here.
    #[inline]
    pub(crate) fn value(&self, bytes: &[u8]) -> Option<Value> {
        read_value(bytes, self.room()?)
    }

    /// Reads a `Struct` message that stands here.
    #[inline]
    pub(crate) fn object(&self, bytes: &[u8]) -> Option<Object> {
        read_object(bytes, self.room()?)
    }

    /// How many levels an open value may have here.
    fn room(&self) -> Option<usize> {
        self.max_depth.checked_sub(self.level)
    }
}

/// Takes a varint off the front of `bytes` that is an integer a double can count.
// Inlined, since a timestamp is most of what many an event holds beside its texts.
#[inline(always)]
pub(in crate::codec) fn safe_integer(bytes: &[u8]) -> Option<(i64, &[u8])> {
    // Seven bytes hold 49 bits, so that nothing waits for the value.
    if let Some(word) = bytes.first_chunk()
        && let (value, len @ ..8) = varint_of_word(u64::from_le_bytes(*word))
    {
        return Some((value.cast_signed(), bytes.get(len..)?));
    }
    let (bits, rest) = varint(bytes)?;
    let value = bits.cast_signed();
    (-MAX_SAFE_INTEGER..=MAX_SAFE_INTEGER).contains(&value).then_some((value, rest))
}
