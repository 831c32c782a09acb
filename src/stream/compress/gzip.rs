//! Gzip by its parts: a header, deflate, and a trailer.
//!
//! ```text
//! +--------------------------------+---------+----------------+---------------+
//! | 1f 8b 08 flags time(4) xfl  os | deflate | CRC-32: u32 LE | len: u32 LE   |
//! +--------------------------------+---------+----------------+---------------+
//! ```
//!
//! By hand, since the writers of `flate2` flush in one way alone, and its readers do not stop at a
//! bound.
//!
//! Rule: RFC 1952.

use std::io;

use bytes::{Buf, BufMut, BytesMut};
use flate2::{Compress, Compression, Crc, Decompress, FlushCompress, FlushDecompress, Status};

use super::decompressor::InflateError;

const LEVEL: u32 = 6;
const MAGIC: [u8; 3] = [0x1f, 0x8b, 8];
const HEADER_LEN: usize = 10;
const TRAILER_LEN: usize = 8;

/// Room that there is at least when deflate is asked for more.
const ROOM: usize = 256;

pub(super) struct GzipWriter {
    deflate: Compress,
    crc: Crc,
    has_begun: bool,
}

impl GzipWriter {
    pub(super) fn new() -> Self {
        let deflate = Compress::new(Compression::new(LEVEL), false);
        Self { deflate, crc: Crc::new(), has_begun: false }
    }

    pub(super) fn push(&mut self, bytes: &[u8], dst: &mut BytesMut) -> io::Result<()> {
        self.begin(dst);
        self.crc.update(bytes);
        self.run(bytes, FlushCompress::Partial, dst)
    }

    pub(super) fn finish(&mut self, dst: &mut BytesMut) -> io::Result<()> {
        self.begin(dst);
        self.run(&[], FlushCompress::Finish, dst)?;
        dst.put_u32_le(self.crc.sum());
        dst.put_u32_le(self.crc.amount());
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
    fn run(
        &mut self,
        mut bytes: &[u8],
        flush: FlushCompress,
        dst: &mut BytesMut,
    ) -> io::Result<()> {
        let mut out = Vec::new();
        loop {
            out.reserve(ROOM + bytes.len() / 2);
            let before = self.deflate.total_in();
            let status = self.deflate.compress_vec(bytes, &mut out, flush)?;
            let taken = usize::try_from(self.deflate.total_in() - before).unwrap_or(usize::MAX);
            bytes = bytes.get(taken..).unwrap_or_default();
            let is_done = match flush {
                FlushCompress::Finish => status == Status::StreamEnd,
                _ => bytes.is_empty() && out.len() < out.capacity(),
            };
            if is_done {
                dst.extend_from_slice(&out);
                return Ok(());
            }
        }
    }
}

pub(super) struct GzipReader {
    inflate: Decompress,
    crc: Crc,
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
            inflate: Decompress::new(false),
            crc: Crc::new(),
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
                    .decompress(src, out, FlushDecompress::None)
                    .map_err(|_| InflateError::malformed("deflate"))?;
                let len = |before, after| usize::try_from(after - before).unwrap_or(usize::MAX);
                src.advance(len(read, self.inflate.total_in()).min(src.len()));
                let written = len(written, self.inflate.total_out()).min(out.len());
                self.crc.update(out.get(..written).unwrap_or_default());
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
                self.crc.reset();
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
                let (sum, amount) = (src.get_u32_le(), src.get_u32_le());
                if (sum, amount) != (self.crc.sum(), self.crc.amount()) {
                    return Err(InflateError::malformed("gzip checksum"));
                }
                State::Header { is_first: false }
            }
        };
        Ok(true)
    }
}
