//! Room whose size need not be known.

use std::mem;

use bytes::BytesMut;

use super::front::Front;

/// Room that is filled from its end, and grows to the front piece by piece.
///
/// What has been put stays where it is until all is there, and is then appended elsewhere in one go:
/// nothing is begun again, so that time is in proportion to length, whatever the length.
pub(crate) struct Space {
    pieces: [Piece; PIECES],
}

/// A part of a [`Space`]. Nothing that is put straddles two.
struct Piece {
    bytes: Vec<u8>,
    /// How many bytes at its end are in use; all of them in the piece that is being filled.
    used: usize,
}

/// How long the first piece is. Each has twice the length of the one before, or that of what is put
/// there, if that is more.
const FIRST_PIECE: usize = 64 * 1024;

/// These have room for whatever a length of 32 bits can count.
const PIECES: usize = 18;

impl Space {
    /// Nothing is allocated yet.
    pub(crate) const fn new() -> Self {
        const EMPTY: Piece = Piece { bytes: Vec::new(), used: 0 };
        Self { pieces: [EMPTY; PIECES] }
    }

    /// Begins at the place `max_len`: so many bytes can be put, and what is there already is
    /// written over.
    pub(crate) fn front(&mut self, max_len: usize) -> Growing<'_> {
        Growing { slice: &mut [], base: max_len, used: None, pieces: &mut self.pieces }
    }

    /// Appends the `len` bytes that were put since [`front`](Self::front).
    pub(crate) fn append_to(&mut self, dst: &mut BytesMut, len: usize) -> Option<()> {
        let mut left = len;
        let last = self.pieces.iter_mut().position(|piece| {
            piece.used = piece.used.min(left);
            left -= piece.used;
            left == 0
        })?;
        dst.reserve(len);
        for Piece { bytes, used } in self.pieces.get(..=last)?.iter().rev() {
            dst.extend_from_slice(bytes.get(bytes.len().checked_sub(*used)?..)?);
        }
        Some(())
    }

    /// Whether nothing is allocated.
    pub(crate) fn is_empty(&self) -> bool {
        self.pieces.iter().all(|piece| piece.bytes.is_empty())
    }
}

/// A [`Space`] while it is filled.
pub(crate) struct Growing<'a> {
    /// The piece that is being filled.
    slice: &'a mut [u8],
    /// The place of its first byte.
    base: usize,
    /// Where it notes how much of it is used.
    used: Option<&'a mut usize>,
    /// The pieces that come next.
    pieces: &'a mut [Piece],
}

impl Front for Growing<'_> {
    #[inline]
    fn end(&self) -> usize {
        self.base + self.slice.len()
    }

    #[inline]
    fn before(&mut self, at: usize, len: usize) -> Option<&mut [u8]> {
        let end = self.free(at);
        self.slice.get_mut(end.checked_sub(len)?..end)
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, at: usize, len: usize) -> Option<()> {
        if len > at {
            return None;
        }
        if let Some(used) = self.used.take() {
            *used = self.slice.len().checked_sub(self.free(at))?;
        }
        let usual = FIRST_PIECE << (PIECES - self.pieces.len());
        let new_len = len.max(usual.min(at));
        let (piece, next) = mem::take(&mut self.pieces).split_first_mut()?;
        self.pieces = next;
        if piece.bytes.len() < new_len {
            // Made anew: there is nothing to keep. Pieces behind a longer one go, too, so that what
            // stays is what one event takes, and not what the longest piece of each takes.
            piece.bytes = Vec::new();
            self.pieces.iter_mut().for_each(|next| next.bytes = Vec::new());
            piece.bytes = vec![0; new_len];
        }
        let len = piece.bytes.len();
        piece.used = len;
        self.used = Some(&mut piece.used);
        self.slice = piece.bytes.get_mut(len.saturating_sub(at)..)?;
        self.base = at - self.slice.len();
        Some(())
    }

    #[inline]
    fn free(&self, at: usize) -> usize {
        at.wrapping_sub(self.base)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Puts the texts one in front of the other, and gives what is appended behind `before`.
    fn put(space: &mut Space, max_len: usize, texts: &[Vec<u8>]) -> Option<Vec<u8>> {
        let mut front = space.front(max_len);
        let at = texts.iter().try_fold(front.end(), |at, text| front.put(at, text))?;
        let mut dst = BytesMut::from(&b"before"[..]);
        space.append_to(&mut dst, max_len - at)?;
        dst.strip_prefix(b"before").map(<[u8]>::to_vec)
    }

    fn texts(lens: &[usize]) -> Vec<Vec<u8>> {
        let text =
            |(index, len): (usize, &usize)| (0..=250).cycle().skip(index).take(*len).collect();
        lens.iter().enumerate().map(text).collect()
    }

    fn in_front_of_each_other(texts: &[Vec<u8>]) -> Vec<u8> {
        texts.iter().rev().flatten().copied().collect()
    }

    #[test]
    fn what_is_put_over_pieces_of_any_length_is_appended_whole() {
        let mut space = Space::new();
        let many = [1000; 200];
        let lens: [&[usize]; 9] = [
            &[],
            &[0],
            &[1],
            &[FIRST_PIECE],
            &[FIRST_PIECE, 1],
            &[FIRST_PIECE + 1, 5, 0, 3 * FIRST_PIECE, 7],
            &[5, 100_000, 5],
            &many,
            &[16_000, 100, 32_000, 300, 16_384],
        ];
        // Forth and back, so that each finds what another one left.
        for lens in lens.iter().chain(lens.iter().rev()) {
            let texts = texts(lens);
            let whole = in_front_of_each_other(&texts);
            for max_len in [whole.len(), whole.len() + 1, 1 << 24] {
                assert_eq!(put(&mut space, max_len, &texts).as_ref(), Some(&whole));
            }
            if let Some(less) = whole.len().checked_sub(1) {
                assert_eq!(put(&mut space, less, &texts), None);
            }
        }
    }

    #[test]
    fn no_more_is_allocated_than_may_be_put_and_twice_of_what_is() {
        let allocated = |max_len: usize, lens: &[usize]| {
            let mut space = Space::new();
            assert!(space.is_empty());
            put(&mut space, max_len, &texts(lens)).unwrap();
            assert!(!space.is_empty());
            space.pieces.iter().map(|piece| piece.bytes.len()).sum::<usize>()
        };
        assert_eq!(allocated(30, &[30]), 30);
        assert_eq!(allocated(1 << 24, &[30]), FIRST_PIECE);
        assert_eq!(allocated(1 << 24, &[1000; 1000]), 31 * FIRST_PIECE);
        // Four pieces hold 982 texts; there is as much again of the fifth as may be put.
        assert_eq!(allocated(1_000_000, &[1000; 1000]), 15 * FIRST_PIECE + 18_000);
    }

    #[test]
    fn events_of_any_order_leave_no_more_than_the_longest_of_them_takes() {
        let mut space = Space::new();
        // Each makes a long piece in front of the long piece of the one before.
        for pieces in (0..7).rev() {
            let first = FIRST_PIECE * ((1 << pieces) - 1);
            let mut lens = vec![512; first / 512];
            lens.push((10 << 20) - first);
            put(&mut space, 1 << 24, &texts(&lens)).unwrap();
            let stays = space.pieces.iter().map(|piece| piece.bytes.len()).sum::<usize>();
            assert_eq!(stays, 10 << 20);
        }
    }

    #[test]
    fn there_are_pieces_enough_for_any_length() {
        let room: u64 = (0..PIECES).map(|index| (FIRST_PIECE as u64) << index).sum();
        // What stays free in a piece is less than what is put in the next one: half of it at most.
        assert!(room / 2 >= u64::from(u32::MAX));
    }
}
