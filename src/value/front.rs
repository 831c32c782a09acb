//! Bytes from the end of a space to its front.

/// A space that is filled from its end.
///
/// A length stands in front of what it counts: written from the end, it is known when its turn
/// comes, so that nothing is measured beforehand.
///
/// Every function takes the place of the first byte that is there, puts something in front of it,
/// and gives the place of the first byte of that. `None` means that the space is too short; it is
/// then of no more use. The place is a value of its own, and not kept here, since it is what each
/// step waits for: like this it stays in a register.
pub(crate) trait Front {
    /// The place where nothing has been put yet.
    fn end(&self) -> usize;

    /// The `len` bytes in front of a place, if there are so many in one piece.
    fn before(&mut self, at: usize, len: usize) -> Option<&mut [u8]>;

    /// Goes on in a piece that has at least `len` bytes in front of `at`, since this one has not.
    fn grow(&mut self, at: usize, len: usize) -> Option<()>;

    /// How many bytes are in front of a place, in this piece.
    fn free(&self, at: usize) -> usize;

    /// Room for `len` bytes, to be filled, and the place of the first.
    #[inline]
    fn room(&mut self, at: usize, len: usize) -> Option<(&mut [u8], usize)> {
        if self.free(at) < len {
            self.grow(at, len)?;
        }
        Some((self.before(at, len)?, at.checked_sub(len)?))
    }

    /// Puts bytes.
    #[inline]
    fn put(&mut self, at: usize, bytes: &[u8]) -> Option<usize> {
        let (room, start) = self.room(at, bytes.len())?;
        room.copy_from_slice(bytes);
        Some(start)
    }

    /// Puts so many bytes.
    #[inline]
    fn put_array<const N: usize>(&mut self, at: usize, bytes: [u8; N]) -> Option<usize> {
        let (room, start) = self.room(at, N)?;
        *room.first_chunk_mut()? = bytes;
        Some(start)
    }

    /// Puts a varint, in as few bytes as it takes.
    #[inline]
    fn put_varint(&mut self, at: usize, value: u64) -> Option<usize> {
        if value < 0x80 {
            let [byte, ..] = value.to_le_bytes();
            return self.put_array(at, [byte]);
        }
        if value < 1 << 56
            && let Some(room) = self.before(at, 8)
            && let Some(room) = room.first_chunk_mut()
        {
            // All eight groups at once, at the end of eight bytes. What stands in front of them is
            // written over by what comes next.
            let len = varint_len(value);
            *room = spread(value, len).to_le_bytes();
            return at.checked_sub(len);
        }
        self.put_long_varint(at, value)
    }

    #[inline(never)]
    fn put_long_varint(&mut self, at: usize, mut value: u64) -> Option<usize> {
        let (room, start) = self.room(at, varint_len(value))?;
        for byte in room {
            let [low, ..] = value.to_le_bytes();
            value >>= 7;
            *byte = if value == 0 { low } else { low | 0x80 };
        }
        Some(start)
    }

    /// Puts the length of what was put from `mark` on, and `tag` in front of it.
    #[inline]
    fn put_header(&mut self, at: usize, tag: u8, mark: usize) -> Option<usize> {
        let len = mark.checked_sub(at)?;
        if len < 0x80 {
            let [len, ..] = len.to_le_bytes();
            return self.put_array(at, [tag, len]);
        }
        let at = self.put_len(at, len)?;
        self.put_array(at, [tag])
    }

    /// Puts a length alone.
    #[inline]
    fn put_len(&mut self, at: usize, len: usize) -> Option<usize> {
        // No platform has a wider `usize`.
        self.put_varint(at, u64::try_from(len).unwrap_or(u64::MAX))
    }

    /// Puts `body`, its length in front of it, and `tag` in front of that.
    #[inline]
    fn put_counted(&mut self, at: usize, tag: u8, body: &[u8]) -> Option<usize> {
        if body.len() > SHORT {
            return self.put_long(at, tag, body);
        }
        let (room, start) = self.room(at, body.len() + 2)?;
        let [first, second, room @ ..] = room else { return None };
        let [len, ..] = body.len().to_le_bytes();
        (*first, *second) = (tag, len);
        copy_short(body, room)?;
        Some(start)
    }

    #[inline(never)]
    fn put_long(&mut self, at: usize, tag: u8, body: &[u8]) -> Option<usize> {
        let at = self.put(at, body)?;
        let at = self.put_len(at, body.len())?;
        self.put_array(at, [tag])
    }
}

/// A space that is just a slice, whose first byte has the place 0.
pub(crate) struct Slice<'a> {
    bytes: &'a mut [u8],
    is_short: bool,
}

impl<'a> Slice<'a> {
    /// Begins with the end of `bytes`.
    #[inline]
    pub(crate) fn new(bytes: &'a mut [u8]) -> Self {
        Self { bytes, is_short: false }
    }

    /// Whether it was too short for what should be put.
    pub(crate) fn is_short(&self) -> bool {
        self.is_short
    }
}

impl Front for Slice<'_> {
    #[inline]
    fn end(&self) -> usize {
        self.bytes.len()
    }

    #[inline]
    fn before(&mut self, at: usize, len: usize) -> Option<&mut [u8]> {
        self.bytes.get_mut(at.checked_sub(len)?..at)
    }

    #[inline]
    fn grow(&mut self, _: usize, _: usize) -> Option<()> {
        self.is_short = true;
        None
    }

    #[inline]
    fn free(&self, at: usize) -> usize {
        at
    }
}

/// Up to this length, ids and deltas as a rule, a text is copied without a call for it.
const SHORT: usize = 64;

/// Copies up to [`SHORT`] bytes: both ends, which may overlap, and agree where they do.
#[inline]
fn copy_short(from: &[u8], into: &mut [u8]) -> Option<()> {
    #[inline]
    fn ends<const N: usize>(from: &[u8], into: &mut [u8]) -> Option<()> {
        *into.first_chunk_mut::<N>()? = *from.first_chunk()?;
        *into.last_chunk_mut::<N>()? = *from.last_chunk()?;
        Some(())
    }
    // Ids first, then deltas.
    match from.len() {
        32.. => ends::<32>(from, into),
        16.. => ends::<16>(from, into),
        8.. => ends::<8>(from, into),
        4.. => ends::<4>(from, into),
        2.. => ends::<2>(from, into),
        1 => ends::<1>(from, into),
        0 => Some(()),
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
    fn put(len: usize, put: impl Fn(&mut Slice<'_>, usize) -> Option<usize>) -> Vec<u8> {
        let mut slice = vec![0xee; len + 11];
        let mut exact = vec![0xee; len];
        for slice in [&mut slice, &mut exact] {
            let mut front = Slice::new(slice);
            let end = front.end();
            assert_eq!(put(&mut front, end), Some(end - len));
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
                assert_eq!(put(expected.len(), |front, at| front.put_varint(at, value)), expected);
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
            let whole = |front: &mut Slice<'_>, at| front.put_counted(at, 0x12, &body);
            assert_eq!(put(expected.len(), whole), expected);
            let parted = |front: &mut Slice<'_>, end| {
                let at = front.put(end, &body)?;
                front.put_header(at, 0x12, end)
            };
            assert_eq!(put(expected.len(), parted), expected);
        }
    }

    #[test]
    fn a_slice_that_is_too_short_says_so() {
        let checks: [fn(&mut Slice<'_>, usize) -> Option<usize>; 5] = [
            |front, at| front.put(at, b"abc"),
            |front, at| front.put_array(at, *b"abc"),
            |front, at| front.put_varint(at, 1 << 20),
            |front, at| front.put_counted(at, 0x12, b"a"),
            |front, at| front.put(at, b"ab").and_then(|start| front.put_header(start, 0x12, at)),
        ];
        for check in checks {
            let mut slice = [0; 2];
            let mut front = Slice::new(&mut slice);
            assert_eq!(check(&mut front, 2), None);
            assert!(front.is_short());
        }
    }
}
