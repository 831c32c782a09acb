//! Compressed streams that hand over every event at once. No I/O, no `await`.
//!
//! | coding | settings | memory to write | memory to read |
//! |---|---|---|---|
//! | gzip | level 6, window 32 KiB, `Z_PARTIAL_FLUSH` | 0.4 MB | 0.1 MB |
//! | br | quality 5, window 256 KiB | 1.8 MB | at most 17 MB, by the window that the peer chose |
//! | zstd | level 3, window 256 KiB | 1.9 MB | at most 9 MB, by the window that the peer chose |
//!
//! The memory is that of one stream, and does not grow with it. What is written grows it by no
//! more than the bytes of one event; what is read by no more than [`STEP_LEN`] and the limit on
//! frames.
//!
//! A partial flush ends with an empty block of fixed codes instead of an empty stored block, which
//! takes 10 bits instead of 35 and more; every decoder of deflate gives what stands before either.

mod compressor;
mod decompressor;
mod gzip;

pub use self::compressor::Compressor;
pub use self::decompressor::{Decompressor, InflateError, InflateLimits};
use crate::negotiate::Coding;

/// The codings that this build can write and read, in the order in which a server prefers them: the
/// one first that takes the fewest bytes for a small event, and the least memory.
pub const CODINGS: &[Coding] = &[
    Coding::Gzip,
    #[cfg(feature = "zstd")]
    Coding::Zstd,
    Coding::Brotli,
];

/// Most bytes that a [`Decompressor`] gives at a time.
pub const STEP_LEN: usize = 32 * 1024;

/// A coding that this build does not have: zstd without the feature `zstd`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this build has no {coding}")]
pub struct UnknownCoding {
    /// The coding.
    pub coding: Coding,
}
