//! Values straight to bytes and back, where both are as usual.
//!
//! The usual layout is what every encoder writes: each field once, in ascending order, and nothing
//! that the schema does not name. Here is the short way for it: recursive, one look at each byte,
//! no state but the slice in hand. Whatever is not as usual, or is wrong, or nests deeper than
//! [`DIRECT_DEPTH`], is given back as `None`; the general way ([`super::decode`],
//! [`super::encode`]) then decides what it is. So this file refuses nothing and explains nothing,
//! and what it does accept must come out as it would there.

pub(crate) use super::ascii::text;
use super::front::Front;
use super::object::Entry;
use super::{Key, List, Number, Object, Value};

/// How many levels of a value are taken the short way. A level costs some stack: 0.2 KiB, and 1.1 KiB
/// without optimisation.
const DIRECT_DEPTH: usize = 128;

/// Takes a varint off the front of `bytes`, and gives what is left.
#[inline(always)]
pub(crate) fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    if let [byte @ ..0x80, rest @ ..] = bytes {
        return Some((u64::from(*byte), rest));
    }
    let (value, len) = long_varint(bytes);
    bytes.get(len..).filter(|_| len > 0).map(|rest| (value, rest))
}

/// The varint at the front of `bytes`, and how many bytes it has: 0 if it is none.
#[inline(never)]
fn long_varint(bytes: &[u8]) -> (u64, usize) {
    let (value, len) = varint_of_word(first_eight(bytes));
    if len <= bytes.len().min(8) {
        return (value, len);
    }
    let mut value = 0;
    for (index, byte) in bytes.iter().take(9).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * index);
        if *byte < 0x80 {
            return (value, index + 1);
        }
    }
    // The tenth byte of a negative number has one bit, and the usual layout no more bytes.
    match bytes.get(9) {
        Some(1) => (value | 1 << 63, 10),
        _ => (0, 0),
    }
}

/// The varint at the front of eight bytes, the first one lowest, and how many of them it has: nine
/// if none of them ends it.
#[inline(always)]
pub(crate) fn varint_of_word(word: u64) -> (u64, usize) {
    const CONTINUED: u64 = 0x8080_8080_8080_8080;
    // The first byte that is not continued ends it; nothing behind it counts.
    let ends = !word & CONTINUED;
    let counted = word & (ends ^ ends.wrapping_sub(1));
    (gather(counted & !CONTINUED), ends.trailing_zeros() as usize / 8 + 1)
}

/// The first eight bytes, the first one lowest; zeros where there are less.
#[inline]
fn first_eight(bytes: &[u8]) -> u64 {
    match (bytes.first_chunk(), bytes.first_chunk(), bytes.last_chunk()) {
        (Some(word), _, _) => u64::from_le_bytes(*word),
        (None, Some(first), Some(last)) => {
            let apart = 8 * (bytes.len() - 4);
            u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << apart
        }
        _ => bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    }
}

/// The number of eight groups of seven bits, a group a byte.
#[inline]
fn gather(groups: u64) -> u64 {
    let quarters = groups & 0x007f_007f_007f_007f | (groups & 0x7f00_7f00_7f00_7f00) >> 1;
    let halves = quarters & 0x0000_3fff_0000_3fff | (quarters & 0x3fff_0000_3fff_0000) >> 2;
    halves & 0x0fff_ffff | (halves & 0x0fff_ffff_0000_0000) >> 4
}

/// Takes a length and the bytes it counts off the front of `bytes`, and gives what is left.
#[inline]
pub(crate) fn counted(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    counted_here(bytes)
}

/// As [`counted`], and inlined without asking: for where it is most of what is done.
// Not for a function that calls itself: without optimisation each level would have room for it.
#[inline(always)]
pub(crate) fn counted_here(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    if let [len @ ..0x80, rest @ ..] = bytes {
        return rest.split_at_checked(usize::from(*len));
    }
    let (len, rest) = varint(bytes)?;
    rest.split_at_checked(usize::try_from(len).ok()?)
}

/// All of `bytes` as a length and what it counts.
#[inline]
fn whole(bytes: &[u8]) -> Option<&[u8]> {
    let (body, rest) = counted(bytes)?;
    rest.is_empty().then_some(body)
}

/// Reads a `Value` message of at most `room` levels.
pub(crate) fn read_value(bytes: &[u8], room: usize) -> Option<Value> {
    read(bytes, room.min(DIRECT_DEPTH))
}

/// Reads a `Struct` message; its entries may hold values of `room - 1` levels.
pub(crate) fn read_object(bytes: &[u8], room: usize) -> Option<Object> {
    entries(bytes, room.min(DIRECT_DEPTH).checked_sub(1)?)
}

/// Reads a `ListValue` message; its elements may be values of `room - 1` levels.
pub(crate) fn read_list(bytes: &[u8], room: usize) -> Option<List> {
    elements(bytes, room.min(DIRECT_DEPTH).checked_sub(1)?)
}

// Inlined, so that a value is made in its container and need not be moved there.
#[inline(always)]
#[expect(clippy::inline_always, reason = "a third of the time of an open value")]
fn read(bytes: &[u8], room: usize) -> Option<Value> {
    Some(match bytes {
        [0x1a, rest @ ..] => Value::String(text(whole(rest)?)?.to_owned()),
        [0x11, rest @ ..] => Value::Number(number(rest)?),
        [0x2a, rest @ ..] => Value::Object(entries(whole(rest)?, room.checked_sub(1)?)?),
        [0x32, rest @ ..] => Value::List(elements(whole(rest)?, room.checked_sub(1)?)?),
        [0x20, flag @ ..0x80] => Value::Bool(*flag != 0),
        [0x08, ..0x80] => Value::Null,
        _ => return None,
    })
}

#[inline]
fn number(bytes: &[u8]) -> Option<Number> {
    Some(Number::from_wire(double(bytes)?))
}

#[inline]
fn double(bytes: &[u8]) -> Option<f64> {
    let double = f64::from_le_bytes(bytes.try_into().ok()?);
    double.is_finite().then_some(double)
}

fn elements(bytes: &[u8], room: usize) -> Option<List> {
    let mut values = Vec::with_capacity(count(bytes)?);
    let mut rest = bytes;
    while let [0x0a, after @ ..] = rest {
        let (value, after) = counted(after)?;
        values.push(read(value, room)?);
        rest = after;
    }
    Some(List::from_values(values))
}

fn entries(bytes: &[u8], room: usize) -> Option<Object> {
    let mut entries: Vec<Entry> = Vec::with_capacity(count(bytes)?);
    let mut rest = bytes;
    while let [0x0a, after @ ..] = rest {
        let (entry, after) = counted(after)?;
        let (key, value) = key_and_value(entry)?;
        entries.push((text(key)?.into(), read(value, room)?));
        rest = after;
    }
    Some(Object::from_entries(entries))
}

/// An entry is its key, unless that is empty, and its value.
#[inline]
fn key_and_value(entry: &[u8]) -> Option<(&[u8], &[u8])> {
    let (key, rest) = match entry {
        [0x0a, rest @ ..] => counted(rest)?,
        _ => (&[][..], entry),
    };
    match rest {
        [0x12, rest @ ..] => Some((key, whole(rest)?)),
        _ => None,
    }
}

/// How many elements or entries there are, so that room is made for them once; nothing if there is
/// anything else.
#[inline]
fn count(bytes: &[u8]) -> Option<usize> {
    let (mut count, mut rest) = (0, bytes);
    while let [0x0a, after @ ..] = rest {
        rest = counted(after)?.1;
        count += 1;
    }
    rest.is_empty().then_some(count)
}

/// Whether [`read_value`] would read it.
pub(crate) fn check_value(bytes: &[u8], room: usize) -> Option<()> {
    check(bytes, room.min(DIRECT_DEPTH))
}

/// Whether [`read_object`] would read it.
pub(crate) fn check_object(bytes: &[u8], room: usize) -> Option<()> {
    check_entries(bytes, room.min(DIRECT_DEPTH).checked_sub(1)?)
}

fn check(bytes: &[u8], room: usize) -> Option<()> {
    match bytes {
        [0x1a, rest @ ..] => text(whole(rest)?).map(drop),
        [0x11, rest @ ..] => double(rest).map(drop),
        [0x2a, rest @ ..] => check_entries(whole(rest)?, room.checked_sub(1)?),
        [0x32, rest @ ..] => {
            let (mut rest, room) = (whole(rest)?, room.checked_sub(1)?);
            while let [0x0a, after @ ..] = rest {
                let (value, after) = counted(after)?;
                check(value, room)?;
                rest = after;
            }
            rest.is_empty().then_some(())
        }
        [0x20 | 0x08, ..0x80] => Some(()),
        _ => None,
    }
}

fn check_entries(bytes: &[u8], room: usize) -> Option<()> {
    let mut rest = bytes;
    while let [0x0a, after @ ..] = rest {
        let (entry, after) = counted(after)?;
        let (key, value) = key_and_value(entry)?;
        text(key)?;
        check(value, room)?;
        rest = after;
    }
    rest.is_empty().then_some(())
}

/// Puts the `Value` message of a value of at most `room` levels, whose numbers all have a double.
pub(crate) fn write_value(
    value: &Value,
    room: usize,
    out: &mut impl Front,
    at: usize,
) -> Option<usize> {
    write(value, room.min(DIRECT_DEPTH), out, at)
}

/// Puts the `Struct` message of an object; its entries may hold values of `room - 1` levels.
pub(crate) fn write_object(
    object: &Object,
    room: usize,
    out: &mut impl Front,
    at: usize,
) -> Option<usize> {
    write_entries(object, room.min(DIRECT_DEPTH).checked_sub(1)?, out, at)
}

fn write(value: &Value, room: usize, out: &mut impl Front, end: usize) -> Option<usize> {
    match value {
        Value::String(text) => out.put_counted(end, 0x1a, text.as_bytes()),
        Value::Number(number) => write_number(number, out, end),
        Value::Object(object) => {
            let at = write_entries(object, room.checked_sub(1)?, out, end)?;
            out.put_header(at, 0x2a, end)
        }
        Value::List(list) => {
            let (mut at, room) = (end, room.checked_sub(1)?);
            for value in list.iter().rev() {
                let mark = at;
                at = write(value, room, out, at)?;
                at = out.put_header(at, 0x0a, mark)?;
            }
            out.put_header(at, 0x32, end)
        }
        Value::Bool(flag) => out.put_array(end, [0x20, u8::from(*flag)]),
        Value::Null => out.put_array(end, [0x08, 0]),
    }
}

#[inline]
fn write_number(number: &Number, out: &mut impl Front, at: usize) -> Option<usize> {
    if number.carried().is_some() {
        return None;
    }
    let mut bytes = [0x11; 9];
    *bytes.last_chunk_mut()? = number.as_f64()?.to_le_bytes();
    out.put_array(at, bytes)
}

fn write_entries(object: &Object, room: usize, out: &mut impl Front, end: usize) -> Option<usize> {
    let mut at = end;
    for (key, value) in object.as_slice().iter().rev() {
        let mark = at;
        at = write(value, room, out, at)?;
        at = out.put_header(at, 0x12, mark)?;
        at = write_key(key, out, at)?;
        at = out.put_header(at, 0x0a, mark)?;
    }
    Some(at)
}

#[inline(always)]
fn write_key(key: &Key, out: &mut impl Front, at: usize) -> Option<usize> {
    match key.padded() {
        Some((_, 0)) => Some(at),
        Some((padded, len)) if out.free(at) >= padded.len() => {
            let room = out.before(at, padded.len())?;
            // The zeros in front of the key are written over by what comes next.
            *room.first_chunk_mut()? = *padded;
            out.put_array(at.checked_sub(usize::from(len))?, [0x0a, len])
        }
        _ => out.put_counted(at, 0x0a, key.as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints_of_every_length_read_as_prost_reads_them() {
        for bit in 0..64 {
            for value in [1 << bit, (1 << bit) - 1, u64::MAX >> bit, 0x5555_5555_5555_5555 >> bit] {
                let mut bytes = Vec::new();
                prost::encoding::encode_varint(value, &mut bytes);
                assert_eq!(varint(&bytes), Some((value, &[][..])));
                let len = bytes.len();
                bytes.extend([0x80, 0xff, 0, 1, 0x80, 0xff, 0, 1, 2]);
                assert_eq!(varint(&bytes), Some((value, &bytes[len..])));
                assert_eq!(varint(&bytes[..len - 1]), None);
            }
        }
    }

    #[test]
    fn a_varint_of_more_than_64_bits_is_not_usual() {
        assert_eq!(varint(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2]), None);
        assert_eq!(varint(&[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0]), None);
    }

    #[test]
    fn a_length_counts_what_follows_it() {
        for len in [0, 1, 127, 128, 129, 16_383, 16_384, 70_000] {
            let mut bytes = Vec::new();
            prost::encoding::encode_varint(len as u64, &mut bytes);
            bytes.extend(vec![7; len]);
            assert_eq!(counted(&bytes), Some((&vec![7; len][..], &[][..])));
            bytes.push(8);
            assert_eq!(counted(&bytes), Some((&vec![7; len][..], &[8][..])));
            assert_eq!(counted(&bytes[..bytes.len() - 2]), None);
        }
    }
}
