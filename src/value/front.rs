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
        for byte in self.room(varint_len(value))? {
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
                    room.copy_from_slice(body);
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

/// How many bytes a varint takes.
#[inline]
pub(crate) fn varint_len(value: u64) -> usize {
    let bits = u64::BITS - (value | 1).leading_zeros();
    bits.div_ceil(7) as usize
}

/// How many bytes a field with a body of `len` takes, whose number is no more than 15.
#[inline]
pub(crate) fn counted_len(len: usize) -> usize {
    match len {
        ..0x80 => len + 2,
        _ => 1 + varint_len(u64::try_from(len).unwrap_or(u64::MAX)) + len,
    }
}
