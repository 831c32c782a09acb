//! The bytes of an event so far, from their end.

use std::cell::{Cell, RefCell};

use bytes::BytesMut;

use super::layout::write_event;
use crate::codec::{HEADER_LEN, Limits};
use crate::model::Event;
use crate::value::direct::{write_object, write_value};
use crate::value::front::{Front, Slice};
use crate::value::space::Space;
use crate::value::{Object, Value};

/// Where an event is written to, and how far in its JSON the message at hand stands.
///
/// As in [`Front`], everything is put in front of the place where the last thing begins, and gives
/// the place where it begins itself: the last field first, what a length counts before the length.
pub(crate) struct Writer<F> {
    pub(crate) out: F,
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

    fn writer<F: Front>(&self, out: F) -> Writer<F> {
        Writer { out, level: 1, max_depth: self.max_depth }
    }

    /// Puts the header in front of a payload, if there is to be one.
    #[inline]
    fn finish<F: Front>(&self, into: &mut Writer<F>, at: usize, end: usize) -> Option<usize> {
        // The header counts towards the limit whether it is asked for or not.
        let len = end.checked_sub(at)?;
        if len.saturating_add(HEADER_LEN) > self.max_frame_len {
            return None;
        }
        if !self.framed {
            return Some(at);
        }
        into.out.put_array(at, u32::try_from(len).ok()?.to_be_bytes())
    }
}

/// Appends what `write` writes, which is known to be of `len` bytes.
#[inline]
pub(super) fn append(
    form: &Form,
    len: usize,
    dst: &mut BytesMut,
    write: impl FnOnce(&mut Writer<Slice<'_>>, usize) -> Option<usize>,
) -> Option<()> {
    if len > form.max_frame_len {
        return None;
    }
    let start = dst.len();
    lengthen(dst, len + if form.framed { HEADER_LEN } else { 0 });
    let mut into = form.writer(Slice::new(dst.get_mut(start..)?));
    let end = into.out.end();
    if let Some(0) = write(&mut into, end).and_then(|at| form.finish(&mut into, at, end)) {
        return Some(());
    }
    dst.truncate(start);
    None
}

/// Appends so many zeros. Where there is room for a whole block, one is put and cut: few stores, where
/// the exact length would take a call.
#[inline]
fn lengthen(dst: &mut BytesMut, len: usize) {
    const BLOCK: usize = 128;
    let start = dst.len();
    let room = dst.capacity() - start;
    if len <= BLOCK && room >= BLOCK {
        dst.extend_from_slice(&[0; BLOCK]);
        dst.truncate(start + len);
    } else if len <= 2 * BLOCK && room >= 2 * BLOCK {
        dst.extend_from_slice(&[0; 2 * BLOCK]);
        dst.truncate(start + len);
    } else {
        dst.resize(start + len, 0);
    }
}

/// Where a thread writes events whose length is not known beforehand.
struct Scratch {
    /// For all but the long ones. It stays, and is quicker to write to.
    slice: Vec<u8>,
    /// For long ones.
    space: Space,
    /// How many events since the last long one.
    short: u32,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> =
        const { RefCell::new(Scratch { slice: Vec::new(), space: Space::new(), short: 0 }) };
    /// Whether there is room for a long event, which is all that most events need to know.
    static HAS_SPACE: Cell<bool> = const { Cell::new(false) };
}

/// Longer events are long, in bytes.
const LONG: usize = 64 * 1024;

/// The room of a long event stays until so many have not needed it: when long ones follow each other,
/// they find it.
const SHORT_EVENTS: u32 = 16;

/// Counts an event that is about to be written.
#[inline]
pub(super) fn count_event() {
    if HAS_SPACE.get() {
        count_short();
    }
}

#[cold]
fn count_short() {
    let has_space = SCRATCH.try_with(|scratch| {
        let Scratch { space, short, .. } = &mut *scratch.borrow_mut();
        *short += 1;
        if *short > SHORT_EVENTS {
            *space = Space::new();
        }
        !space.is_empty()
    });
    HAS_SPACE.set(has_space.unwrap_or(false));
}

/// Appends an event of whatever length. A thread that ends may have no scratch any more.
#[inline(never)]
pub(super) fn append_by_scratch(form: &Form, dst: &mut BytesMut, event: &Event) -> Option<()> {
    let mut append = |scratch: &mut Scratch| {
        if !scratch.space.is_empty() {
            return scratch.append_long(form, dst, event);
        }
        loop {
            let mut into = form.writer(Slice::new(&mut scratch.slice));
            let end = into.out.end();
            let written = write_event(event, &mut into, end);
            match written.and_then(|at| form.finish(&mut into, at, end)) {
                Some(at) => {
                    dst.extend_from_slice(scratch.slice.get(at..)?);
                    return Some(());
                }
                None if !into.out.is_short() => return None,
                None if end >= LONG.min(form.max_frame_len) => {
                    return scratch.append_long(form, dst, event);
                }
                // Begun again: it is cheaper, up to here, than to see to it that it need not be.
                None => scratch.slice = vec![0; end.saturating_mul(4).clamp(4096, LONG)],
            }
        }
    };
    SCRATCH.try_with(|scratch| append(&mut scratch.borrow_mut())).ok()?
}

impl Scratch {
    /// Appends an event that may be long, which is never begun again.
    #[inline(never)]
    fn append_long(&mut self, form: &Form, dst: &mut BytesMut, event: &Event) -> Option<()> {
        let mut into = form.writer(self.space.front(form.max_frame_len));
        let end = into.out.end();
        let written = write_event(event, &mut into, end);
        let at = written.and_then(|at| form.finish(&mut into, at, end));
        let len = at.and_then(|at| end.checked_sub(at));
        let appended = len.and_then(|len| self.space.append_to(dst, len));
        if len > Some(LONG) {
            self.short = 0;
        }
        HAS_SPACE.set(!self.space.is_empty());
        appended
    }
}

impl<F: Front> Writer<F> {
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
    fn a_buffer_with_just_the_room_is_lengthened_in_place() {
        for len in 0..300 {
            for spare in [0, 1, 127, 128, 129, 300] {
                let mut dst = BytesMut::with_capacity(6 + len + spare);
                dst.extend_from_slice(b"before");
                let capacity = dst.capacity();
                lengthen(&mut dst, len);
                assert_eq!(dst.capacity(), capacity);
                let zeros = dst.strip_prefix(b"before").unwrap();
                assert!(zeros.len() == len && zeros.iter().all(|byte| *byte == 0));
            }
        }
    }

    #[test]
    fn the_room_of_a_long_event_stays_for_the_next_one_and_goes_behind_short_ones() {
        let is_kept = || SCRATCH.with_borrow(|scratch| !scratch.space.is_empty());
        let encode = |len: usize| {
            let event = Event::from(StepStarted::new("plan")).with_raw_event("x".repeat(len));
            Options::default().encode(&event, &mut BytesMut::new()).unwrap();
        };
        encode(LONG / 2);
        assert!(!is_kept());
        encode(2 * LONG);
        for _ in 0..SHORT_EVENTS {
            encode(10);
        }
        assert!(is_kept());
        encode(2 * LONG);
        for _ in 0..SHORT_EVENTS {
            encode(10);
        }
        assert!(is_kept());
        encode(10);
        assert!(!is_kept());
        assert!(SCRATCH.with_borrow(|scratch| scratch.slice.len()) <= LONG);
    }

    #[test]
    fn the_room_of_a_long_event_goes_behind_short_ones_whose_length_is_known() {
        let long = Event::from(StepStarted::new("plan")).with_raw_event("x".repeat(2 * LONG));
        long.encode(&mut BytesMut::new()).unwrap();
        for _ in 0..=SHORT_EVENTS {
            assert!(SCRATCH.with_borrow(|scratch| !scratch.space.is_empty()));
            Event::from(StepStarted::new("plan")).encode(&mut BytesMut::new()).unwrap();
        }
        assert!(SCRATCH.with_borrow(|scratch| scratch.space.is_empty()));
    }
}
