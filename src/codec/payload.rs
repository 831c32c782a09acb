//! One event, one payload: the bytes of a frame without its header.

use bytes::{Bytes, BytesMut};
use prost::Message as _;

use super::direct;
use super::error::{DecodeError, EncodeError};
use super::frame::put_header;
use super::scan::{Envelope, plain_fields, scan};
use super::{HEADER_LEN, Limits, Options};
use crate::convert::{self, ExactNumbers};
use crate::fidelity::Kind;
use crate::model::{Event, Notice, NoticeKind, Notices, Path};
use crate::wire;

/// What a payload held.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Decoded {
    /// The event; nothing if the payload holds only events of a later version, and was dropped.
    pub event: Option<Event>,
    /// What was dropped: the event itself, or content parts in it.
    pub notices: Notices,
}

impl Event {
    /// Appends the event's payload, within the default limits.
    ///
    /// Gives back a notice for each thing that the wire has no place for and that was left out:
    /// unknown members, parts of an unknown type, the payload of an unknown outcome.
    ///
    /// # Errors
    ///
    /// [`EncodeError`] if the event is malformed, nests too deep, or makes too long a frame. `dst`
    /// is then untouched.
    ///
    /// # Examples
    ///
    /// ```
    /// use ag_ui_proto::Event;
    /// use ag_ui_proto::model::TextMessageEnd;
    /// use bytes::BytesMut;
    ///
    /// let event = Event::from(TextMessageEnd::new("m"));
    /// let mut payload = BytesMut::new();
    /// event.encode(&mut payload)?;
    /// assert_eq!(payload, b"\x1a\x07\x0a\x02\x08\x02\x12\x01m"[..]);
    /// assert_eq!(Event::decode(&payload)?.event, Some(event));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn encode(&self, dst: &mut BytesMut) -> Result<Notices, EncodeError> {
        Options::default().encode(self, dst)
    }

    /// Appends the event as a frame, within the default limits. As [`Event::encode`] otherwise.
    ///
    /// # Errors
    ///
    /// As [`Event::encode`].
    pub fn encode_frame(&self, dst: &mut BytesMut) -> Result<Notices, EncodeError> {
        Options::default().encode_frame(self, dst)
    }

    /// The event's payload. As [`Event::encode`] otherwise, and silent about what was left out.
    ///
    /// # Errors
    ///
    /// As [`Event::encode`].
    pub fn to_payload(&self) -> Result<Bytes, EncodeError> {
        let mut payload = BytesMut::new();
        self.encode(&mut payload)?;
        Ok(payload.freeze())
    }

    /// Reads the payload of one frame, within the default limits.
    ///
    /// The event is handed on as it came, not judged: see [`Event::enforce`]. What a newer peer
    /// added is dropped, and told of in [`Decoded::notices`] where it can be.
    ///
    /// # Errors
    ///
    /// [`DecodeError`] if the bytes are not one event.
    ///
    /// Rule: the decoder rules D1 to D28, see the [module](crate::codec).
    #[inline]
    pub fn decode(payload: &[u8]) -> Result<Decoded, DecodeError> {
        Options::default().decode(payload)
    }
}

/// Appends the event's payload, within limits. See [`Event::encode`].
///
/// # Errors
///
/// As [`Event::encode`].
pub fn encode_payload(
    event: &Event,
    limits: &Limits,
    dst: &mut BytesMut,
) -> Result<Notices, EncodeError> {
    Options::from(*limits).encode(event, dst)
}

/// Appends the event as a frame, within limits. See [`Event::encode_frame`].
///
/// # Errors
///
/// As [`Event::encode`].
pub fn encode_frame(
    event: &Event,
    limits: &Limits,
    dst: &mut BytesMut,
) -> Result<Notices, EncodeError> {
    Options::from(*limits).encode_frame(event, dst)
}

/// Reads the payload of one frame, within limits. See [`Event::decode`].
///
/// # Errors
///
/// As [`Event::decode`].
#[inline]
pub fn decode_payload(payload: &[u8], limits: &Limits) -> Result<Decoded, DecodeError> {
    Options::from(*limits).decode(payload)
}

/// Appends the payload, with a header in front if `framed`.
pub(super) fn encode(
    event: &Event,
    options: &Options,
    framed: bool,
    dst: &mut BytesMut,
) -> Result<Notices, EncodeError> {
    let start = dst.len();
    match direct::encode(event, options, framed, dst) {
        Some(()) => {
            if cfg!(debug_assertions) {
                let mut expected = BytesMut::new();
                let notices = encode_by_schema(event, options, framed, &mut expected);
                debug_assert_eq!(notices, Ok(Notices::new()), "{event:?}");
                debug_assert_eq!(dst.get(start..), Some(&expected[..]), "{event:?}");
            }
            Ok(Notices::new())
        }
        None => encode_by_schema(event, options, framed, dst),
    }
}

/// As [`encode`], by way of the schema types, for any event.
#[inline(never)]
fn encode_by_schema(
    event: &Event,
    options: &Options,
    framed: bool,
    dst: &mut BytesMut,
) -> Result<Notices, EncodeError> {
    let limits = options.limits();
    let event_type = event.event_type();
    let max = limits.max_depth();
    if let Some(path) = event.too_deep(max) {
        return Err(EncodeError::TooDeep { event_type, path, max });
    }
    let numbers =
        if options.has_exact_numbers() { ExactNumbers::Carried } else { ExactNumbers::Rounded };
    let (wire, notices) = convert::to_wire_with(event, numbers)?;
    if options.refuses_loss() {
        refuse_loss(event, options)?;
    }
    let len = wire.encoded_len();
    let too_large = EncodeError::TooLarge {
        event_type,
        len: len.saturating_add(HEADER_LEN),
        max: limits.max_frame_len(),
    };
    if len.saturating_add(HEADER_LEN) > limits.max_frame_len() {
        return Err(too_large);
    }
    if framed {
        put_header(len, limits, dst).map_err(|_| too_large)?;
    } else {
        dst.reserve(len);
    }
    wire.encode_raw(dst);
    Ok(notices.into())
}

fn refuse_loss(event: &Event, options: &Options) -> Result<(), EncodeError> {
    let mut losses = event.differences();
    losses.retain(|difference| match difference.kind {
        Kind::IntegerPrecision | Kind::DecimalPrecision => !options.has_exact_numbers(),
        // Judged by the limit of the options, before.
        Kind::TooDeep => false,
        kind => !kind.is_harmless(),
    });
    if losses.is_empty() {
        return Ok(());
    }
    Err(EncodeError::Lossy { event_type: event.event_type(), losses })
}

// Inlined where it is called, so that the event is made there.
#[inline]
pub(super) fn decode(payload: &[u8], options: &Options) -> Result<Decoded, DecodeError> {
    let mut decoded = Ok(Decoded::default());
    if let Ok(Decoded { event, .. }) = &mut decoded
        && decode_usual(payload, options, event).is_none()
    {
        decoded = decode_by_schema(payload, options);
    }
    decoded
}

/// As [`decode`], if there is nothing to say about the event, which is put where it is wanted.
#[inline]
pub(super) fn decode_usual(
    payload: &[u8],
    options: &Options,
    into: &mut Option<Event>,
) -> Option<()> {
    direct::decode(payload, options, into)?;
    if cfg!(debug_assertions) {
        let expected = decode_by_schema(payload, options);
        let decoded = Decoded { event: into.clone(), notices: Notices::new() };
        debug_assert_eq!(Ok(&decoded), expected.as_ref(), "{payload:02x?}");
        // The order of members does not count there.
        let json = |event: &Option<Event>| serde_json::to_string(event).ok();
        debug_assert_eq!(Ok(json(into)), expected.map(|expected| json(&expected.event)));
    }
    Some(())
}

/// As [`decode`], by way of the schema types, for any bytes.
#[inline(never)]
pub(super) fn decode_by_schema(payload: &[u8], options: &Options) -> Result<Decoded, DecodeError> {
    let (wire, exact) = match scan(payload, options.limits().max_depth())? {
        Envelope::Known { plain: true, exact } => (wire::Event::decode(payload)?, exact),
        Envelope::Known { plain: false, exact } => {
            (wire::Event::decode(plain_fields(payload).as_slice())?, exact)
        }
        Envelope::Future { arm } => {
            let notice = Notice { path: Path::root(), kind: NoticeKind::UnknownArm { arm } };
            return Ok(Decoded { event: None, notices: vec![notice].into() });
        }
    };
    let numbers = match (exact, options.has_exact_numbers()) {
        (false, _) => ExactNumbers::Absent,
        (true, false) => ExactNumbers::Rounded,
        (true, true) => ExactNumbers::Carried,
    };
    let (event, notices) = convert::from_wire_with(wire, numbers)?;
    let max = options.limits().max_depth();
    if let Some(path) = event.too_deep(max) {
        return Err(DecodeError::TooDeep { event_type: event.event_type(), path, max });
    }
    Ok(Decoded { event: Some(event), notices: notices.into() })
}
