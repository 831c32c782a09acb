//! Values straight to bytes and back, where both are as usual.
//!
//! The usual layout is what every encoder writes: each field once, in ascending order, and nothing
//! that the schema does not name. Here is the short way for it: recursive, one look at each byte,
//! no state but the slice in hand. Whatever is not as usual, or is wrong, or nests deeper than
//! [`DIRECT_DEPTH`], is given back as `None`; the general way ([`super::decode`],
//! [`super::encode`]) then decides what it is. So this file refuses nothing and explains nothing,
//! and what it does accept must come out as it would there.

use super::front::Front;
use super::object::Entry;
use super::{List, Number, Object, Value};

/// How many levels of a value are taken the short way. A level costs some stack, at most 1 KiB.
const DIRECT_DEPTH: usize = 128;

/// The text of a string field.
#[inline]
pub(crate) fn text(bytes: &[u8]) -> Option<&str> {
    str::from_utf8(bytes).ok()
}

/// Takes a varint off the front of `bytes`, and gives what is left.
#[inline]
pub(crate) fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0;
    for (index, byte) in bytes.iter().take(9).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * index);
        if *byte < 0x80 {
            return Some((value, bytes.get(index + 1..)?));
        }
    }
    // The tenth byte of a negative number has one bit, and the usual layout no more bytes.
    match bytes.get(9..)? {
        [1, rest @ ..] => Some((value | 1 << 63, rest)),
        _ => None,
    }
}

/// Takes a length and the bytes it counts off the front of `bytes`, and gives what is left.
#[inline]
pub(crate) fn counted(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    match bytes {
        [len @ ..0x80, rest @ ..] => rest.split_at_checked(usize::from(*len)),
        [low, high @ ..0x80, rest @ ..] => {
            rest.split_at_checked(usize::from(*low & 0x7f) | usize::from(*high) << 7)
        }
        _ => {
            let (len, rest) = varint(bytes)?;
            rest.split_at_checked(usize::try_from(len).ok()?)
        }
    }
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
        entries.push((text(key)?.to_owned(), read(value, room)?));
        rest = after;
    }
    Some(Object::from(entries))
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
    out: &mut Front<'_>,
    at: usize,
) -> Option<usize> {
    write(value, room.min(DIRECT_DEPTH), out, at)
}

/// Puts the `Struct` message of an object; its entries may hold values of `room - 1` levels.
pub(crate) fn write_object(
    object: &Object,
    room: usize,
    out: &mut Front<'_>,
    at: usize,
) -> Option<usize> {
    write_entries(object, room.min(DIRECT_DEPTH).checked_sub(1)?, out, at)
}

fn write(value: &Value, room: usize, out: &mut Front<'_>, end: usize) -> Option<usize> {
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
fn write_number(number: &Number, out: &mut Front<'_>, at: usize) -> Option<usize> {
    if number.carried().is_some() {
        return None;
    }
    let [a, b, c, d, e, f, g, h] = number.as_f64()?.to_le_bytes();
    out.put_array(at, [0x11, a, b, c, d, e, f, g, h])
}

fn write_entries(
    object: &Object,
    room: usize,
    out: &mut Front<'_>,
    end: usize,
) -> Option<usize> {
    let mut at = end;
    for (key, value) in object.as_slice().iter().rev() {
        let mark = at;
        at = write(value, room, out, at)?;
        at = out.put_header(at, 0x12, mark)?;
        if !key.is_empty() {
            at = out.put_counted(at, 0x0a, key.as_bytes())?;
        }
        at = out.put_header(at, 0x0a, mark)?;
    }
    Some(at)
}
