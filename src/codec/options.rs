//! How events are encoded and decoded, where there is a choice.

use bytes::BytesMut;

use super::Limits;
use super::error::{DecodeError, EncodeError};
use super::payload::{self, Decoded};
use crate::model::{Event, Notices};

/// Limits, and two choices that are off by default.
///
/// # Examples
///
/// ```
/// use ag_ui_proto::Event;
/// use ag_ui_proto::codec::Options;
/// use ag_ui_proto::model::Custom;
/// use bytes::BytesMut;
///
/// let event = Event::from(Custom::new("order", 9_007_199_254_740_993_i64));
/// let error = Options::new().refusing_loss().encode(&event, &mut BytesMut::new()).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "CUSTOM: /value: integer-precision: 9007199254740993 becomes 9007199254740992",
/// );
///
/// let exact = Options::new().with_exact_numbers();
/// let mut payload = BytesMut::new();
/// exact.encode(&event, &mut payload)?;
/// assert_eq!(exact.decode(&payload)?.event, Some(event));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    limits: Limits,
    refuse_loss: bool,
    exact_numbers: bool,
}

impl Options {
    /// The default: default limits, official bytes, and loss as the protocol has it.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Refuses to encode an event that would not arrive with all its meaning. What that is,
    /// [`Fidelity`](crate::fidelity::Fidelity) says; harmless changes pass.
    ///
    /// Of numbers, those are refused that no double is; an event that was read from JSON text by
    /// way of doubles has lost digits before.
    #[must_use]
    pub fn refusing_loss(mut self) -> Self {
        self.refuse_loss = true;
        self
    }

    /// Lets the exact decimal text of each number that no double is travel beside the double, and
    /// reads it.
    ///
    /// Official decoders see the double; a decoder with this option sees the exact number. Without
    /// it the bytes are the official ones, and the text of a peer that sends it is ignored. The
    /// extension is described in WIRE-EXTENSIONS.md.
    #[must_use]
    pub fn with_exact_numbers(mut self) -> Self {
        self.exact_numbers = true;
        self
    }

    /// The limits.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Whether an event that would lose meaning is refused.
    #[must_use]
    pub fn refuses_loss(&self) -> bool {
        self.refuse_loss
    }

    /// Whether exact numbers travel.
    #[must_use]
    pub fn has_exact_numbers(&self) -> bool {
        self.exact_numbers
    }

    /// Appends the event's payload. See [`Event::encode`].
    ///
    /// # Errors
    ///
    /// As [`Event::encode`], and [`EncodeError::Lossy`] if loss is refused.
    pub fn encode(&self, event: &Event, dst: &mut BytesMut) -> Result<Notices, EncodeError> {
        payload::encode(event, self, false, dst)
    }

    /// Appends the event as a frame. See [`Event::encode_frame`].
    ///
    /// # Errors
    ///
    /// As [`Options::encode`].
    pub fn encode_frame(&self, event: &Event, dst: &mut BytesMut) -> Result<Notices, EncodeError> {
        payload::encode(event, self, true, dst)
    }

    /// Reads the payload of one frame. See [`Event::decode`].
    ///
    /// # Errors
    ///
    /// As [`Event::decode`].
    #[inline]
    pub fn decode(&self, payload: &[u8]) -> Result<Decoded, DecodeError> {
        payload::decode(payload, self)
    }
}

impl From<Limits> for Options {
    fn from(limits: Limits) -> Self {
        Self::new().with_limits(limits)
    }
}
