//! Bytes from the end of a slice to its front.

use std::mem;

/// A slice that is filled from its end, and what is left of it.
///
/// A length stands in front of what it counts: written from the end, it is known when its turn
/// comes, so that nothing is measured beforehand. Everything is put in front of what is there.
/// `None` from any of the functions means that the slice is too short; it is then of no more use.
pub(crate) struct Front<'a> {
    left: &'a mut [u8],
    len: usize,
    is_short: bool,
}

impl<'a> Front<'a> {
    /// Begins at the end of `slice`.
    #[inline]
    pub(crate) fn new(slice: &'a mut [u8]) -> Self {
        Self { len: slice.len(), left: slice, is_short: false }
    }

    /// How many bytes were put.
    #[inline]
    pub(crate) fn written(&self) -> usize {
        self.len - self.left.len()
    }

    /// Whether it was too short for what should be put.
    pub(crate) fn is_short(&self) -> bool {
        self.is_short
    }

    /// Room for `len` bytes, to be filled.
    #[inline]
    fn room(&mut self, len: usize) -> Option<&'a mut [u8]> {
        let Some(mid) = self.left.len().checked_sub(len) else {
            self.is_short = true;
            return None;
        };
        let (left, room) = mem::take(&mut self.left).split_at_mut_checked(mid)?;
        self.left = left;
        Some(room)
    }

    /// Puts bytes.
    #[inline]
    pub(crate) fn put(&mut self, bytes: &[u8]) -> Option<()> {
        self.room(bytes.len())?.copy_from_slice(bytes);
        Some(())
    }

    /// Puts so many bytes.
    #[inline]
    pub(crate) fn put_array<const N: usize>(&mut self, bytes: [u8; N]) -> Option<()> {
        *self.room(N)?.first_chunk_mut()? = bytes;
        Some(())
    }

    /// Puts a varint, in as few bytes as it takes.
    #[inline]
    pub(crate) fn put_varint(&mut self, value: u64) -> Option<()> {
        match u8::try_from(value) {
            Ok(byte @ ..0x80) => self.put_array([byte]),
            _ => self.put_long_varint(value),
        }
    }

    fn put_long_varint(&mut self, mut value: u64) -> Option<()> {
        let len = varint_len(value);
        if value < 1 << 56
            && let Some(room) = self.left.last_chunk_mut()
        {
            // All eight groups at once, at the end of eight bytes. What stands in front of them is
            // written over by what comes next.
            *room = spread(value, len).to_le_bytes();
            self.room(len)?;
            return Some(());
        }
        for byte in self.room(len)? {
            let [low, ..] = value.to_le_bytes();
            value >>= 7;
            *byte = if value == 0 { low } else { low | 0x80 };
        }
        Some(())
    }

    /// Puts the length of what was put since `mark`, and `tag` in front of it.
    #[inline]
    pub(crate) fn put_header(&mut self, tag: u8, mark: usize) -> Option<()> {
        let len = self.written() - mark;
        match u8::try_from(len) {
            Ok(len @ ..0x80) => self.put_array([tag, len]),
            _ => {
                self.put_len(len)?;
                self.put_array([tag])
            }
        }
    }

    /// Puts a length alone.
    #[inline]
    pub(crate) fn put_len(&mut self, len: usize) -> Option<()> {
        // No platform has a wider `usize`.
        self.put_varint(u64::try_from(len).unwrap_or(u64::MAX))
    }

    /// Puts `body`, its length in front of it, and `tag` in front of that.
    #[inline]
    pub(crate) fn put_counted(&mut self, tag: u8, body: &[u8]) -> Option<()> {
        match u8::try_from(body.len()) {
            Ok(len @ ..0x80) => {
                if let [first, second, room @ ..] = self.room(body.len() + 2)? {
                    (*first, *second) = (tag, len);
                    copy(body, room);
                }
                Some(())
            }
            _ => {
                self.put(body)?;
                self.put_len(body.len())?;
                self.put_array([tag])
            }
        }
    }
}

/// The varint of a value below 2^56, in the last `len` bytes of eight.
#[inline]
fn spread(value: u64, len: usize) -> u64 {
    // 56 bits in two halves of 28, four quarters of 14, eight groups of 7.
    let halves = value & 0x0fff_ffff | (value & 0x00ff_ffff_f000_0000) << 4;
    let quarters = halves & 0x0000_3fff_0000_3fff | (halves & 0x0fff_c000_0fff_c000) << 2;
    let groups = quarters & 0x007f_007f_007f_007f | (quarters & 0x3f80_3f80_3f80_3f80) << 1;
    let continued = 0x8080_8080_8080_8080 & !(u64::MAX << (8 * (len - 1)));
    (groups | continued) << (8 * (8 - len))
}

/// Copies a text, which is short as a rule, without a call for it.
#[inline]
fn copy(from: &[u8], into: &mut [u8]) {
    fn ends<const N: usize>(from: &[u8], into: &mut [u8]) -> Option<()> {
        // The two may overlap; where they do, they agree.
        *into.first_chunk_mut::<N>()? = *from.first_chunk()?;
        *into.last_chunk_mut::<N>()? = *from.last_chunk()?;
        Some(())
    }
    let copied = match from.len() {
        4..8 => ends::<4>(from, into),
        8..16 => ends::<8>(from, into),
        16..32 => ends::<16>(from, into),
        32..=64 => ends::<32>(from, into),
        _ => None,
    };
    if copied.is_none() {
        into.copy_from_slice(from);
    }
}

/// How many bytes a varint takes.
#[inline]
pub(crate) fn varint_len(value: u64) -> usize {
    // A 64th for each of nine bits is close enough to a seventh, and needs no division.
    let bits = u64::BITS - (value | 1).leading_zeros();
    (bits * 9 + 64) as usize / 64
}

/// How many bytes a field with a body of `len` takes, whose number is no more than 15.
#[inline]
pub(crate) fn counted_len(len: usize) -> usize {
    match len {
        ..0x80 => len + 2,
        _ => 1 + varint_len(u64::try_from(len).unwrap_or(u64::MAX)) + len,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `put` leaves at the end of a slice of just the room for it, and of a longer one.
    fn put(len: usize, put: impl Fn(&mut Front<'_>) -> Option<()>) -> Vec<u8> {
        let mut slice = vec![0xee; len + 11];
        let mut exact = vec![0xee; len];
        for slice in [&mut slice, &mut exact] {
            let mut front = Front::new(slice);
            assert_eq!(put(&mut front), Some(()));
            assert_eq!(front.written(), len);
            assert!(!front.is_short());
        }
        assert!(slice.ends_with(&exact));
        exact
    }

    #[test]
    fn varints_of_every_length_are_those_of_prost() {
        for bit in 0..64 {
            for value in [1 << bit, (1 << bit) - 1, u64::MAX >> bit, 0x5555_5555_5555_5555 >> bit] {
                let mut expected = Vec::new();
                prost::encoding::encode_varint(value, &mut expected);
                assert_eq!(varint_len(value), expected.len());
                assert_eq!(put(expected.len(), |front| front.put_varint(value)), expected);
            }
        }
    }

    #[test]
    fn a_counted_body_of_any_length_follows_its_tag_and_length() {
        for len in (0..300).chain([16_383, 16_384]) {
            let body: Vec<u8> = (0..=255).cycle().take(len).collect();
            let mut expected = vec![0x12];
            prost::encoding::encode_varint(len as u64, &mut expected);
            expected.extend_from_slice(&body);
            assert_eq!(counted_len(len), expected.len());
            assert_eq!(put(expected.len(), |front| front.put_counted(0x12, &body)), expected);
            let parted = |front: &mut Front<'_>| {
                front.put(&body)?;
                front.put_header(0x12, 0)
            };
            assert_eq!(put(expected.len(), parted), expected);
        }
    }

    #[test]
    fn a_slice_that_is_too_short_says_so() {
        let checks: [fn(&mut Front<'_>) -> Option<()>; 5] = [
            |front| front.put(b"abc"),
            |front| front.put_array(*b"abc"),
            |front| front.put_varint(1 << 20),
            |front| front.put_counted(0x12, b"a"),
            |front| front.put(b"ab").and_then(|()| front.put_header(0x12, 0)),
        ];
        for check in checks {
            let mut slice = [0; 2];
            let mut front = Front::new(&mut slice);
            assert_eq!(check(&mut front), None);
            assert!(front.is_short());
        }
    }
}
