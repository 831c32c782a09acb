//! Frames: a length, and the bytes it counts.
//!
//! ```text
//! +--------------+----------------------+
//! | len: u32, BE | payload: `len` bytes |
//! +--------------+----------------------+
//! ```
//!
//! `len` counts the payload alone. A frame has no magic number, flags or checksum, so a reader
//! that loses its place cannot find it again: every error here ends the stream.
//!
//! Rule: specification 1.1, basic/transports/http-protobuf, "Framing".

use bytes::{Buf, BufMut, Bytes, BytesMut};

use super::Limits;
use super::error::FrameError;

/// Bytes in front of every payload.
pub const HEADER_LEN: usize = 4;

/// One frame of a stream, not looked into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Which one it is, counted from 1.
    pub number: u64,
    /// Where its header begins in the stream.
    pub offset: u64,
    /// The bytes after the header. They share the allocation of the buffer they came from.
    pub payload: Bytes,
}

/// Takes frames off a buffer, whatever the parts in which their bytes arrive.
///
/// It does no I/O: append what arrives to a buffer, call [`FrameReader::next_frame`] until it gives
/// nothing, and call [`FrameReader::finish`] when input has ended. After an error there is no next
/// frame: the bytes that are left belong to no known place.
///
/// # Examples
///
/// ```
/// use ag_ui_proto::codec::{FrameReader, Limits};
/// use bytes::BytesMut;
///
/// let mut reader = FrameReader::new(Limits::new());
/// let mut buffer = BytesMut::from(&[0, 0, 0, 2, b'h', b'i', 0, 0][..]);
/// let frame = reader.next_frame(&mut buffer)?.unwrap();
/// assert_eq!((frame.number, frame.offset, &frame.payload[..]), (1, 0, &b"hi"[..]));
/// assert_eq!(reader.next_frame(&mut buffer)?, None);
/// assert!(reader.finish(&buffer).is_err());
/// # Ok::<(), ag_ui_proto::codec::FrameError>(())
/// ```
#[derive(Clone, Debug)]
pub struct FrameReader {
    limits: Limits,
    taken: u64,
    offset: u64,
    failed: bool,
}

impl FrameReader {
    /// Makes a reader for the beginning of a stream.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self { limits, taken: 0, offset: 0, failed: false }
    }

    /// Takes the next frame off the front of `src`, or nothing while it is incomplete.
    ///
    /// `None` consumes nothing: append more, ask again. An empty payload is a frame; that it is no
    /// event is not decided here. Nothing is reserved for a payload that was only announced.
    ///
    /// # Errors
    ///
    /// [`FrameError::TooLarge`] as soon as the header is there.
    pub fn next_frame(&mut self, src: &mut BytesMut) -> Result<Option<Frame>, FrameError> {
        let Some(len) = self.payload(src)?.map(<[u8]>::len) else { return Ok(None) };
        src.advance(HEADER_LEN);
        let payload = src.split_to(len).freeze();
        let (number, offset) = self.position();
        self.pass(len);
        Ok(Some(Frame { number, offset, payload }))
    }

    /// The payload of the next frame, where it lies behind its header; nothing while it is
    /// incomplete.
    ///
    /// # Errors
    ///
    /// As [`FrameReader::next_frame`].
    #[inline]
    pub(super) fn payload<'a>(&mut self, src: &'a [u8]) -> Result<Option<&'a [u8]>, FrameError> {
        let payload = self.peek(src);
        self.failed |= payload.is_err();
        payload
    }

    /// As [`FrameReader::payload`], and an error is found again next time.
    #[inline]
    pub(super) fn peek<'a>(&self, src: &'a [u8]) -> Result<Option<&'a [u8]>, FrameError> {
        if self.failed {
            return Ok(None);
        }
        let Some((header, rest)) = src.split_first_chunk::<HEADER_LEN>() else {
            return Ok(None);
        };
        let len = u32::from_be_bytes(*header);
        let (frame_len, max) = (frame_len(len), self.max());
        if frame_len > max {
            return Err(FrameError::TooLarge { len: frame_len, max });
        }
        Ok(usize::try_from(len).ok().and_then(|len| rest.get(..len)))
    }

    /// Goes on behind a frame with a payload of `len` bytes.
    #[inline]
    pub(super) fn pass(&mut self, len: usize) {
        self.taken += 1;
        self.offset += (HEADER_LEN + len) as u64;
    }

    /// Checks, once input has ended, that it ended between two frames.
    ///
    /// # Errors
    ///
    /// [`FrameError::Truncated`] if `src` still holds part of a frame. After an error of
    /// [`FrameReader::next_frame`] what is left is no frame, and nothing is truncated.
    pub fn finish(&mut self, src: &[u8]) -> Result<(), FrameError> {
        if self.failed || src.is_empty() {
            return Ok(());
        }
        self.failed = true;
        let len = src.first_chunk().map(|header| frame_len(u32::from_be_bytes(*header)));
        Err(FrameError::Truncated { have: src.len(), len })
    }

    /// Ends the stream: what follows a frame that is no event is not read.
    pub(super) fn fail(&mut self) {
        self.failed = true;
    }

    /// Number and offset of the frame that comes next, or that failed.
    #[must_use]
    pub fn position(&self) -> (u64, u64) {
        (self.taken + 1, self.offset)
    }

    fn max(&self) -> u64 {
        u64::try_from(self.limits.max_frame_len()).unwrap_or(u64::MAX)
    }
}

/// Appends `payload` as a frame.
///
/// # Errors
///
/// [`FrameError::TooLarge`] if the frame is over the limit, or its length over 32 bits. `dst` is
/// then untouched.
pub fn put_frame(payload: &[u8], limits: &Limits, dst: &mut BytesMut) -> Result<(), FrameError> {
    put_header(payload.len(), limits, dst)?;
    dst.put_slice(payload);
    Ok(())
}

/// Appends the header of a `len`-byte payload, and makes room for the payload, which must follow.
pub(super) fn put_header(
    len: usize,
    limits: &Limits,
    dst: &mut BytesMut,
) -> Result<(), FrameError> {
    let max = u64::try_from(limits.max_frame_len()).unwrap_or(u64::MAX).min(frame_len(u32::MAX));
    let frame_len = u64::try_from(len).unwrap_or(u64::MAX).saturating_add(HEADER_LEN as u64);
    match u32::try_from(len) {
        Ok(header) if frame_len <= max => {
            dst.reserve(HEADER_LEN + len);
            dst.put_u32(header);
            Ok(())
        }
        _ => Err(FrameError::TooLarge { len: frame_len, max }),
    }
}

fn frame_len(len: u32) -> u64 {
    u64::from(len) + HEADER_LEN as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_at_the_limit_passes_and_one_byte_over_is_refused_by_its_header() {
        let limits = Limits::new().with_max_frame_len(8);
        let mut src = BytesMut::from(&[0, 0, 0, 4, 1, 2, 3, 4, 0, 0, 0, 5][..]);
        let mut reader = FrameReader::new(limits);
        assert_eq!(reader.next_frame(&mut src).unwrap().unwrap().payload, [1, 2, 3, 4][..]);
        let error = reader.next_frame(&mut src).unwrap_err();
        assert_eq!(error.to_string(), "a frame of 9 bytes is over the limit of 8");
        assert_eq!(reader.next_frame(&mut src), Ok(None), "an error ends the stream");
        assert_eq!(reader.finish(&src), Ok(()), "what is left is not truncated, it is unread");
    }

    #[test]
    fn text_that_comes_instead_of_frames_is_shown() {
        for (src, shown) in [
            (
                &b"data: {}"[..],
                "1684108389 bytes is over the limit of 10485760, and its header is the text \"data\"",
            ),
            (
                b"{\"type\":",
                "2065855613 bytes is over the limit of 10485760, and its header is the text \"{\\\"ty\"",
            ),
            (b"\x80\0\0\0", "2147483652 bytes is over the limit of 10485760"),
        ] {
            let read = FrameReader::new(Limits::new()).next_frame(&mut BytesMut::from(src));
            assert_eq!(read.unwrap_err().to_string(), format!("a frame of {shown}"));
        }
    }

    #[test]
    fn a_frame_over_the_limit_leaves_the_buffer_as_it_was() {
        let limits = Limits::new().with_max_frame_len(8);
        let mut dst = BytesMut::from(&b"before"[..]);
        assert_eq!(
            put_frame(&[0; 5], &limits, &mut dst),
            Err(FrameError::TooLarge { len: 9, max: 8 })
        );
        assert_eq!(dst, b"before"[..]);
        put_frame(&[7; 4], &limits, &mut dst).unwrap();
        assert_eq!(dst, b"before\0\0\0\x04\x07\x07\x07\x07"[..]);
    }

    #[test]
    fn input_that_ends_inside_a_frame_is_truncated() {
        for (src, text) in [
            (&[0, 0][..], "truncated: input ended after 2 bytes of a frame"),
            (&[0, 0, 0, 9, 1][..], "truncated: input ended after 5 bytes of a frame of 13"),
        ] {
            let error = FrameReader::new(Limits::new()).finish(src).unwrap_err();
            assert_eq!(error.to_string(), text);
        }
        assert_eq!(FrameReader::new(Limits::new()).finish(&[]), Ok(()));
    }

    #[test]
    fn an_announced_payload_reserves_nothing() {
        let mut src = BytesMut::with_capacity(16);
        src.put_slice(&[0, 0x9f, 0xff, 0xfc, 1]);
        let capacity = src.capacity();
        assert_eq!(FrameReader::new(Limits::new()).next_frame(&mut src), Ok(None));
        assert_eq!(src.capacity(), capacity);
    }
}
