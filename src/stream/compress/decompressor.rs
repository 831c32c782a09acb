//! Compressed bytes in, bytes of events out, as many at a time as their taker has room for.

use std::fmt;

use brotli::enc::StandardAlloc;
use brotli::{BrotliDecompressStream, BrotliResult, BrotliState};
use bytes::{Buf, BytesMut};
#[cfg(feature = "zstd")]
use zstd::stream::raw::{DParameter, Decoder, Operation};

use super::gzip::GzipReader;
use super::{STEP_LEN, UnknownCoding};
use crate::negotiate::Coding;

/// Largest window of zstd that is read.
///
/// Rule: RFC 9659: 8 MiB.
#[cfg(feature = "zstd")]
const ZSTD_WINDOW_LOG_MAX: u32 = 23;

/// How much a little input may inflate to.
///
/// | limit | default | bounds |
/// |---|---|---|
/// | `max_ratio` | 1,000 | bytes out for each byte in, over the whole stream |
/// | `grace` | 16 MiB | bytes out that the ratio does not count |
///
/// They bound work. Memory is bounded without them: a [`Decompressor`] gives at most
/// [`STEP_LEN`] bytes at a time, and goes on when these have been taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InflateLimits {
    max_ratio: u64,
    grace: u64,
}

impl Default for InflateLimits {
    fn default() -> Self {
        Self { max_ratio: 1000, grace: 16 * 1024 * 1024 }
    }
}

impl InflateLimits {
    /// The default limits.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how many bytes a byte may become.
    #[must_use]
    pub fn with_max_ratio(mut self, max_ratio: u64) -> Self {
        self.max_ratio = max_ratio;
        self
    }

    /// Sets how many bytes may come out whatever the ratio.
    #[must_use]
    pub fn with_grace(mut self, grace: u64) -> Self {
        self.grace = grace;
        self
    }

    fn max_out(&self, taken: u64) -> u64 {
        taken.saturating_mul(self.max_ratio).saturating_add(self.grace)
    }
}

/// Why a compressed stream cannot be read on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InflateError {
    /// The bytes are not of the coding.
    #[error("malformed {what} after {taken} compressed bytes")]
    Malformed {
        /// What is malformed.
        what: &'static str,
        /// Bytes that were taken before.
        taken: u64,
    },
    /// The stream inflates to more than is allowed.
    #[error("{taken} compressed bytes inflate to more than {max}, which is the limit")]
    TooLarge {
        /// Bytes that were taken.
        taken: u64,
        /// Most bytes that they may become.
        max: u64,
    },
    /// Input ended before the stream did.
    #[error("truncated: input ended after {taken} bytes of a compressed stream")]
    Truncated {
        /// Bytes that were taken.
        taken: u64,
    },
}

impl InflateError {
    pub(super) fn malformed(what: &'static str) -> Self {
        Self::Malformed { what, taken: 0 }
    }

    fn after(self, taken: u64) -> Self {
        match self {
            Self::Malformed { what, .. } => Self::Malformed { what, taken },
            other => other,
        }
    }
}

/// Decompresses one stream, whatever the parts in which its bytes arrive.
///
/// Append what arrives to a buffer, and call [`Decompressor::step`] until it gives nothing.
pub struct Decompressor {
    coding: Coding,
    limits: InflateLimits,
    engine: Engine,
    taken: u64,
    given: u64,
    failed: bool,
}

type Brotli = BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>;

enum Engine {
    Gzip(Box<GzipReader>),
    Brotli {
        state: Box<Brotli>,
        is_whole: bool,
    },
    #[cfg(feature = "zstd")]
    Zstd {
        decoder: Decoder<'static>,
        is_whole: bool,
        /// Whether it may have more to give without any input.
        is_full: bool,
    },
}

impl Decompressor {
    /// Makes one for the beginning of a stream.
    ///
    /// # Errors
    ///
    /// [`UnknownCoding`] for zstd without the feature `zstd`, or if there is no memory for it.
    pub fn new(coding: Coding, limits: InflateLimits) -> Result<Self, UnknownCoding> {
        let engine = match coding {
            Coding::Gzip => Engine::Gzip(Box::new(GzipReader::new())),
            Coding::Brotli => {
                let alloc = StandardAlloc::default;
                let state = Box::new(BrotliState::new_strict(alloc(), alloc(), alloc()));
                Engine::Brotli { state, is_whole: false }
            }
            #[cfg(feature = "zstd")]
            Coding::Zstd => {
                let decoder = zstd_decoder().map_err(|_| UnknownCoding { coding })?;
                Engine::Zstd { decoder, is_whole: false, is_full: false }
            }
            #[cfg(not(feature = "zstd"))]
            Coding::Zstd => return Err(UnknownCoding { coding }),
        };
        Ok(Self { coding, limits, engine, taken: 0, given: 0, failed: false })
    }

    /// The coding.
    #[must_use]
    pub fn coding(&self) -> Coding {
        self.coding
    }

    /// Takes from the front of `src` and appends to `dst`, at most [`STEP_LEN`] bytes; false when
    /// nothing is appended before more has come.
    ///
    /// # Errors
    ///
    /// [`InflateError::Malformed`] and [`InflateError::TooLarge`]. What stands before was given.
    /// There is nothing more then: every later call gives nothing.
    pub fn step(&mut self, src: &mut BytesMut, dst: &mut BytesMut) -> Result<bool, InflateError> {
        if self.failed {
            return Ok(false);
        }
        let result = self.inflate(src, dst);
        self.failed = result.is_err();
        result
    }

    /// Checks, once input has ended, that the stream has.
    ///
    /// # Errors
    ///
    /// [`InflateError::Truncated`] if not. Not after an error of [`Decompressor::step`].
    pub fn finish(&mut self) -> Result<(), InflateError> {
        let is_whole = match &self.engine {
            Engine::Gzip(gzip) => gzip.is_whole(),
            Engine::Brotli { is_whole, .. } => *is_whole,
            #[cfg(feature = "zstd")]
            Engine::Zstd { is_whole, .. } => *is_whole,
        };
        if is_whole || std::mem::replace(&mut self.failed, true) {
            return Ok(());
        }
        Err(InflateError::Truncated { taken: self.taken })
    }

    fn inflate(&mut self, src: &mut BytesMut, dst: &mut BytesMut) -> Result<bool, InflateError> {
        let (had, before) = (src.len(), dst.len());
        dst.resize(before + STEP_LEN, 0);
        let out = dst.get_mut(before..).unwrap_or_default();
        let result = self.engine.step(src, out);
        dst.truncate(before + *result.as_ref().unwrap_or(&0));
        let (taken, given) = (had - src.len(), dst.len() - before);
        self.taken = self.taken.saturating_add(u64::try_from(taken).unwrap_or(u64::MAX));
        self.given = self.given.saturating_add(u64::try_from(given).unwrap_or(u64::MAX));
        result.map_err(|error| error.after(self.taken))?;
        let max = self.limits.max_out(self.taken);
        if self.given > max {
            dst.truncate(before);
            return Err(InflateError::TooLarge { taken: self.taken, max });
        }
        Ok(given > 0)
    }
}

impl Engine {
    /// Takes from `src` and fills `out`; gives how much of it.
    fn step(&mut self, src: &mut BytesMut, out: &mut [u8]) -> Result<usize, InflateError> {
        match self {
            Self::Gzip(gzip) => gzip.step(src, out),
            Self::Brotli { is_whole: true, .. } if src.is_empty() => Ok(0),
            Self::Brotli { is_whole: true, .. } => Err(InflateError::malformed("end of br")),
            Self::Brotli { state, is_whole } => {
                let (result, written) = step_brotli(state, src, out);
                match result {
                    BrotliResult::ResultFailure => return Err(InflateError::malformed("br")),
                    BrotliResult::ResultSuccess => *is_whole = true,
                    BrotliResult::NeedsMoreInput | BrotliResult::NeedsMoreOutput => {}
                }
                Ok(written)
            }
            #[cfg(feature = "zstd")]
            Self::Zstd { is_full: false, .. } if src.is_empty() => Ok(0),
            #[cfg(feature = "zstd")]
            Self::Zstd { decoder, is_whole, is_full } => {
                let written = step_zstd(decoder, is_whole, src, out)?;
                *is_full = written == out.len();
                Ok(written)
            }
        }
    }
}

fn step_brotli(state: &mut Brotli, src: &mut BytesMut, out: &mut [u8]) -> (BrotliResult, usize) {
    let (mut available_in, mut read, mut available_out) = (src.len(), 0, out.len());
    let (mut written, mut total) = (0, 0);
    let result = BrotliDecompressStream(
        &mut available_in,
        &mut read,
        src,
        &mut available_out,
        &mut written,
        out,
        &mut total,
        state,
    );
    src.advance(read.min(src.len()));
    (result, written)
}

#[cfg(feature = "zstd")]
fn zstd_decoder() -> std::io::Result<Decoder<'static>> {
    let mut decoder = Decoder::new()?;
    decoder.set_parameter(DParameter::WindowLogMax(ZSTD_WINDOW_LOG_MAX))?;
    Ok(decoder)
}

/// Runs the decoder until it gives something or needs more, which it must be called for only if
/// there is something to take or to give.
#[cfg(feature = "zstd")]
fn step_zstd(
    decoder: &mut Decoder<'_>,
    is_whole: &mut bool,
    src: &mut BytesMut,
    out: &mut [u8],
) -> Result<usize, InflateError> {
    loop {
        let status =
            decoder.run_on_buffers(src, out).map_err(|_| InflateError::malformed("zstd"))?;
        src.advance(status.bytes_read.min(src.len()));
        *is_whole = status.remaining == 0;
        if status.bytes_written > 0 || status.bytes_read == 0 || src.is_empty() {
            return Ok(status.bytes_written);
        }
    }
}

impl fmt::Debug for Decompressor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decompressor")
            .field("coding", &self.coding)
            .field("limits", &self.limits)
            .field("taken", &self.taken)
            .field("given", &self.given)
            .finish_non_exhaustive()
    }
}
