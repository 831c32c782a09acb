//! What a stream may make us hold. Always finite.

use super::HEADER_LEN;
use crate::model::DEFAULT_MAX_DEPTH;
use crate::value::MAX_DEPTH;

/// Bounds on frames, for reading and for writing.
///
/// | limit | default | bounds |
/// |---|---|---|
/// | `max_frame_len` | 10 MiB, as the reference client | one frame, its 4-byte header included |
/// | `max_depth` | 128 | levels of an event's JSON, its own object included |
///
/// A frame over a limit is refused both ways, so that nothing is written that the peer must refuse.
/// On the wire, `max_depth` is held against open values where they stand; the protocol's own objects,
/// which nest up to seven levels, are held against it in JSON text alone.
/// A payload that is read alone, without its header, is in memory already: its length is not judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    max_frame_len: usize,
    max_depth: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_frame_len: 10 * 1024 * 1024, max_depth: DEFAULT_MAX_DEPTH }
    }
}

impl Limits {
    /// The default limits.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the longest frame, in bytes, header included. At most what a header can say, which is
    /// 4 GiB and the header; at least a header and one byte, whatever is asked for.
    #[must_use]
    pub fn with_max_frame_len(mut self, max: usize) -> Self {
        let most = usize::try_from(u32::MAX).unwrap_or(usize::MAX).saturating_add(HEADER_LEN);
        self.max_frame_len = max.clamp(HEADER_LEN + 1, most);
        self
    }

    /// Sets the deepest JSON. At most [`MAX_DEPTH`] levels, whatever is asked for.
    #[must_use]
    pub fn with_max_depth(mut self, max: usize) -> Self {
        self.max_depth = max.min(MAX_DEPTH);
        self
    }

    /// The longest frame, in bytes, header included.
    #[must_use]
    pub fn max_frame_len(&self) -> usize {
        self.max_frame_len
    }

    /// The deepest JSON, in levels.
    #[must_use]
    pub fn max_depth(&self) -> usize {
        self.max_depth
    }
}
