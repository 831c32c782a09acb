//! Gzip by its parts: a header, deflate, and a trailer.
//!
//! ```text
//! +--------------------------------+---------+----------------+---------------+
//! | 1f 8b 08 flags time(4) xfl  os | deflate | CRC-32: u32 LE | len: u32 LE   |
//! +--------------------------------+---------+----------------+---------------+
//! ```
//!
//! With `zlib-rs` and by hand, since the writers of `flate2` flush in one way alone, its readers do
//! not stop at a bound, and its usual backend describes a code anew for every event, which takes a
//! quarter more. To turn on another backend of it would do so in the whole build of who uses this.
//!
//! Rule: RFC 1952.

use std::io;

use bytes::{Buf, BufMut, BytesMut};
use zlib_rs::crc32::crc32;
use zlib_rs::{Deflate, DeflateFlush, Inflate, InflateFlush, Status};

use super::decompressor::InflateError;

const LEVEL: i32 = 6;
const WINDOW_BITS: u8 = 15;
const MAGIC: [u8; 3] = [0x1f, 0x8b, 8];
const HEADER_LEN: usize = 10;
const TRAILER_LEN: usize = 8;

/// Bytes that are made at a time.
const PART_LEN: usize = 1024;

pub(super) struct GzipWriter {
    deflate: Deflate,
    sums: Sums,
    has_begun: bool,
}

impl GzipWriter {
    pub(super) fn new() -> Self {
        let deflate = Deflate::new(LEVEL, false, WINDOW_BITS);
        Self { deflate, sums: Sums::default(), has_begun: false }
    }

    pub(super) fn push(&mut self, bytes: &[u8], dst: &mut BytesMut) -> io::Result<()> {
        self.begin(dst);
        self.sums.add(bytes);
        self.run(bytes, DeflateFlush::PartialFlush, dst)
    }

    pub(super) fn finish(&mut self, dst: &mut BytesMut) -> io::Result<()> {
        self.begin(dst);
        self.run(&[], DeflateFlush::Finish, dst)?;
        dst.put_u32_le(self.sums.crc);
        dst.put_u32_le(self.sums.len);
        Ok(())
    }

    fn begin(&mut self, dst: &mut BytesMut) {
        if !std::mem::replace(&mut self.has_begun, true) {
            dst.put_slice(&MAGIC);
            // No flags, no time, no hint at the level, an unknown system.
            dst.put_slice(&[0, 0, 0, 0, 0, 0, 0xff]);
        }
    }

    /// Runs deflate until it has taken `bytes` and holds nothing back, which it says by leaving
    /// room.
    fn run(&mut self, mut bytes: &[u8], flush: DeflateFlush, dst: &mut BytesMut) -> io::Result<()> {
        let mut part = [0; PART_LEN];
        loop {
            let (read, written) = (self.deflate.total_in(), self.deflate.total_out());
            let status = self.deflate.compress(bytes, &mut part, flush);
            let status = status.map_err(|error| io::Error::other(error.as_str()))?;
            bytes = bytes.get(len(read, self.deflate.total_in())..).unwrap_or_default();
            let written = len(written, self.deflate.total_out());
            dst.extend_from_slice(part.get(..written).unwrap_or_default());
            let is_done = match flush {
                DeflateFlush::Finish => status == Status::StreamEnd,
                _ => bytes.is_empty() && written < PART_LEN,
            };
            if is_done {
                return Ok(());
            }
        }
    }
}

/// What a trailer says of the bytes before compression.
#[derive(Default)]
struct Sums {
    crc: u32,
    /// Modulo 2^32.
    len: u32,
}

impl Sums {
    fn add(&mut self, bytes: &[u8]) {
        self.crc = crc32(self.crc, bytes);
        for part in bytes.chunks(PART_LEN) {
            self.len = self.len.wrapping_add(u32::try_from(part.len()).unwrap_or_default());
        }
    }
}

/// How far a count of bytes went on.
fn len(before: u64, after: u64) -> usize {
    usize::try_from(after.saturating_sub(before)).unwrap_or(usize::MAX)
}

pub(super) struct GzipReader {
    inflate: Inflate,
    sums: Sums,
    state: State,
}

enum State {
    /// Before a header. A body may hold several members, one behind the other.
    Header {
        is_first: bool,
    },
    /// In a part of the header that is skipped; the flags that are left.
    Skip {
        flags: u8,
        len: usize,
    },
    /// In a text of the header that ends in a zero.
    SkipText {
        flags: u8,
    },
    /// After the fixed part of the header, before what these flags announce.
    Flags(u8),
    Deflate,
    Trailer,
}

const FLAG_CRC: u8 = 2;
const FLAG_EXTRA: u8 = 4;
const FLAG_NAME: u8 = 8;
const FLAG_COMMENT: u8 = 16;
const FLAGS_RESERVED: u8 = 0xe0;

impl GzipReader {
    pub(super) fn new() -> Self {
        Self {
            inflate: Inflate::new(false, WINDOW_BITS),
            sums: Sums::default(),
            state: State::Header { is_first: true },
        }
    }

    /// Takes from `src` and fills `out`; gives how much of it. Nothing is given only if there is
    /// nothing to give before more has come.
    pub(super) fn step(
        &mut self,
        src: &mut BytesMut,
        out: &mut [u8],
    ) -> Result<usize, InflateError> {
        loop {
            if matches!(self.state, State::Deflate) {
                let (read, written) = (self.inflate.total_in(), self.inflate.total_out());
                let status = self
                    .inflate
                    .decompress(src, out, InflateFlush::NoFlush)
                    .map_err(|_| InflateError::malformed("deflate"))?;
                src.advance(len(read, self.inflate.total_in()).min(src.len()));
                let written = len(written, self.inflate.total_out()).min(out.len());
                self.sums.add(out.get(..written).unwrap_or_default());
                if status == Status::StreamEnd {
                    self.state = State::Trailer;
                }
                if written > 0 || status != Status::StreamEnd {
                    return Ok(written);
                }
            } else if !self.skip(src)? {
                return Ok(0);
            }
        }
    }

    /// Whether the stream may end here.
    pub(super) fn is_whole(&self) -> bool {
        matches!(self.state, State::Header { is_first: false })
    }

    /// Takes the next part of a header or trailer; false while it is incomplete.
    fn skip(&mut self, src: &mut BytesMut) -> Result<bool, InflateError> {
        self.state = match self.state {
            State::Header { .. } => {
                let have = src.len().min(MAGIC.len());
                if src.get(..have) != MAGIC.get(..have) {
                    return Err(InflateError::malformed("gzip header"));
                }
                let Some(header) = src.first_chunk::<HEADER_LEN>() else { return Ok(false) };
                let flags = header[3];
                if flags & FLAGS_RESERVED != 0 {
                    return Err(InflateError::malformed("gzip header"));
                }
                src.advance(HEADER_LEN);
                State::Flags(flags)
            }
            State::Flags(flags) if flags & FLAG_EXTRA != 0 => {
                let Some(len) = src.first_chunk::<2>() else { return Ok(false) };
                let len = usize::from(u16::from_le_bytes(*len));
                src.advance(2);
                State::Skip { flags: flags & !FLAG_EXTRA, len }
            }
            State::Flags(flags) if flags & FLAG_NAME != 0 => {
                State::SkipText { flags: flags & !FLAG_NAME }
            }
            State::Flags(flags) if flags & FLAG_COMMENT != 0 => {
                State::SkipText { flags: flags & !FLAG_COMMENT }
            }
            State::Flags(flags) if flags & FLAG_CRC != 0 => {
                State::Skip { flags: flags & !FLAG_CRC, len: 2 }
            }
            State::Flags(_) => {
                self.inflate.reset(false);
                self.sums = Sums::default();
                State::Deflate
            }
            State::Skip { flags, len: 0 } => State::Flags(flags),
            State::Skip { flags, len } => {
                let taken = len.min(src.len());
                src.advance(taken);
                self.state = State::Skip { flags, len: len - taken };
                return Ok(taken > 0);
            }
            State::SkipText { flags } => {
                let Some(end) = src.iter().position(|byte| *byte == 0) else {
                    src.clear();
                    return Ok(false);
                };
                src.advance(end + 1);
                State::Flags(flags)
            }
            State::Deflate => State::Deflate,
            State::Trailer => {
                if src.len() < TRAILER_LEN {
                    return Ok(false);
                }
                let (crc, len) = (src.get_u32_le(), src.get_u32_le());
                if (crc, len) != (self.sums.crc, self.sums.len) {
                    return Err(InflateError::malformed("gzip checksum"));
                }
                State::Header { is_first: false }
            }
        };
        Ok(true)
    }
}
