//! The bytes of an event so far, from their end.

use std::cell::RefCell;

use bytes::BytesMut;

use super::layout::write_event;
use crate::codec::{HEADER_LEN, Limits};
use crate::model::Event;
use crate::value::direct::{write_object, write_value};
use crate::value::front::Front;
use crate::value::{Object, Value};

/// Where an event is written to, and how far in its JSON the message at hand stands.
///
/// As in [`Front`], everything is put in front of the place where the last thing begins, and gives
/// the place where it begins itself: the last field first, what a length counts before the length.
pub(crate) struct Writer<'a> {
    pub(crate) out: Front<'a>,
    /// How many JSON containers enclose a member of the message at hand.
    level: usize,
    max_depth: usize,
}

/// What an event is appended as, and how much of it is allowed.
pub(super) struct Form {
    framed: bool,
    max_frame_len: usize,
    max_depth: usize,
}

impl Form {
    /// A frame if `framed`, else the payload of one.
    pub(super) fn new(framed: bool, limits: &Limits) -> Self {
        let (max_frame_len, max_depth) = (limits.max_frame_len(), limits.max_depth());
        Self { framed, max_frame_len, max_depth }
    }

    /// Writes into a slice; gives the place of the first byte.
    #[inline]
    fn write(
        &self,
        out: Front<'_>,
        write: impl FnOnce(&mut Writer<'_>, usize) -> Option<usize>,
    ) -> Result<usize, Missed> {
        let end = out.end();
        let mut into = Writer { out, level: 1, max_depth: self.max_depth };
        let written = write(&mut into, end).and_then(|at| {
            // The header counts towards the limit whether it is asked for or not.
            let len = end - at;
            if len.saturating_add(HEADER_LEN) > self.max_frame_len {
                return None;
            }
            if !self.framed {
                return Some(at);
            }
            into.out.put_array(at, u32::try_from(len).ok()?.to_be_bytes())
        });
        written.ok_or(if into.out.is_short() { Missed::TooShort } else { Missed::Unusual })
    }
}

/// Why nothing was written.
enum Missed {
    TooShort,
    Unusual,
}

/// Appends what `write` writes, which is known to be of `len` bytes.
#[inline]
pub(super) fn append(
    form: &Form,
    len: usize,
    dst: &mut BytesMut,
    write: impl FnOnce(&mut Writer<'_>, usize) -> Option<usize>,
) -> Option<()> {
    if len > form.max_frame_len {
        return None;
    }
    let start = dst.len();
    dst.resize(start + len + if form.framed { HEADER_LEN } else { 0 }, 0);
    if let Ok(0) = form.write(Front::new(dst.get_mut(start..)?), write) {
        return Some(());
    }
    dst.truncate(start);
    None
}

/// Where a thread writes events whose length is not known beforehand.
struct Scratch {
    bytes: Vec<u8>,
    /// How many events since the last one that was too long for [`KEPT`].
    short: u32,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> =
        const { RefCell::new(Scratch { bytes: Vec::new(), short: 0 }) };
}

/// What a thread keeps for its next event, in bytes.
const KEPT: usize = 256 * 1024;

/// A larger scratch goes when so many events have not needed it: an event that is as long as the one
/// before finds its room, so that time stays in proportion to length.
const SHORT_EVENTS: u32 = 16;

/// Appends an event of whatever length.
#[inline(never)]
pub(super) fn append_by_scratch(form: &Form, dst: &mut BytesMut, event: &Event) -> Option<()> {
    SCRATCH.with_borrow_mut(|scratch| {
        let written = loop {
            let out = Front::new(&mut scratch.bytes);
            match form.write(out, |into, end| write_event(event, into, end)) {
                Ok(at) => break scratch.bytes.get(at..),
                Err(Missed::Unusual) => break None,
                Err(Missed::TooShort) if scratch.bytes.len() >= form.max_frame_len => break None,
                Err(Missed::TooShort) => {
                    // Made anew: there is nothing to keep, and pages that are not reached are not
                    // cleared either.
                    let longer = scratch.bytes.len().saturating_mul(4).max(4096);
                    scratch.bytes = vec![0; longer.min(form.max_frame_len)];
                }
            }
        };
        let is_long = written.is_some_and(|bytes| bytes.len() > KEPT);
        let appended = written.map(|bytes| dst.extend_from_slice(bytes));
        scratch.short = if is_long { 0 } else { scratch.short.saturating_add(1) };
        if scratch.bytes.len() > KEPT && scratch.short > SHORT_EVENTS {
            scratch.bytes = Vec::new();
        }
        appended
    })
}

impl Writer<'_> {
    /// Puts the field `number` around what was put from `mark` on.
    #[inline]
    pub(crate) fn close(&mut self, at: usize, number: u8, mark: usize) -> Option<usize> {
        self.out.put_header(at, number << 3 | 2, mark)
    }

    /// Puts the field `number` with a text, be it empty.
    #[inline]
    pub(crate) fn text(&mut self, at: usize, number: u8, text: &str) -> Option<usize> {
        self.out.put_counted(at, number << 3 | 2, text.as_bytes())
    }

    /// Puts the field `number` with a varint, be it 0.
    #[inline]
    pub(crate) fn varint(&mut self, at: usize, number: u8, value: u64) -> Option<usize> {
        let at = self.out.put_varint(at, value)?;
        self.out.put_array(at, [number << 3])
    }

    /// Puts a `Value` message that stands here.
    #[inline]
    pub(crate) fn value(&mut self, at: usize, value: &Value) -> Option<usize> {
        let room = self.room()?;
        write_value(value, room, &mut self.out, at)
    }

    /// Puts a `Struct` message that stands here.
    #[inline]
    pub(crate) fn object(&mut self, at: usize, object: &Object) -> Option<usize> {
        let room = self.room()?;
        write_object(object, room, &mut self.out, at)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::Options;
    use crate::model::StepStarted;

    #[test]
    fn a_long_scratch_stays_for_the_next_long_event_and_goes_behind_short_ones() {
        let kept = || SCRATCH.with_borrow(|scratch| scratch.bytes.len());
        let encode = |len: usize| {
            let event = Event::from(StepStarted::new("plan")).with_raw_event("x".repeat(len));
            Options::default().encode(&event, &mut BytesMut::new()).unwrap();
        };
        encode(2 * KEPT);
        assert!(kept() > 2 * KEPT);
        for _ in 0..SHORT_EVENTS {
            encode(10);
        }
        assert!(kept() > 2 * KEPT);
        encode(10);
        assert_eq!(kept(), 0);
        encode(10);
        assert_eq!(kept(), 4096);
    }
}
