//! The first look at a payload, before prost sees it.
//!
//! prost merges what the envelope says until one event is left, and refuses a known field with
//! another wire type. Which events the envelope named, whether an unknown arm could be an event of
//! a later version, and what is to be skipped rather than refused: all that is decided here.

use bytes::BufMut;

use super::error::DecodeError;
use super::schema::{EVENT, Field, Kind, Message};
use crate::model::EventType;
use crate::model::path::At;
use crate::value::input::{Input, LEN, VARINT};
use crate::value::{Root, ValueError, check};

/// What an envelope names.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Envelope {
    /// One event of this version. If it is not `plain`, prost must not see it before
    /// [`plain_fields`] has been at it.
    Known {
        plain: bool,
        /// The exact text of some number travels along.
        exact: bool,
    },
    /// Nothing but events of later versions; the first one's arm.
    Future { arm: u32 },
}

/// Checks a payload: well-formed, one event, every string UTF-8, every number finite.
///
/// # Errors
///
/// The first fault in the order of the bytes; D7 at the end. An open value may nest `max_depth`
/// levels here; how deep it stands in the event is for later.
///
/// Rule: D1 to D7, D15 to D21, D25.
pub(crate) fn scan(payload: &[u8], max_depth: usize) -> Result<Envelope, DecodeError> {
    if payload.is_empty() {
        return Err(DecodeError::Empty);
    }
    let mut input = Input::new(payload);
    let end = payload.len();
    let mut scan =
        Scan { event_type: EventType::TextMessageStart, max_depth, plain: true, exact: false };
    let mut arm = None;
    // A known number with another wire type names no event, but is at odds with one that does.
    let mut known = None;
    let mut future = None;
    let mut is_broken = false;

    while input.at() < end {
        let (number, wire_type) = input.tag(end)?;
        let Some((_, field)) = EVENT.field(number) else {
            let start = input.at();
            let body = input.field(number, wire_type, end)?;
            scan.plain &= wire_type == LEN || wire_type == VARINT;
            match body {
                Some(body) if is_short(&input, start, body) && walks_as_a_message(body) => {
                    future = future.or(Some(number));
                }
                Some(_) => is_broken = true,
                None => {}
            }
            continue;
        };
        if let Some(first) = known.filter(|first| *first != number) {
            return Err(DecodeError::TwoEvents { first, second: number });
        }
        known = Some(number);
        match (input.field(number, wire_type, end)?, &field.kind) {
            (Some(body), Kind::Message(message)) => {
                arm = Some(number);
                scan.event_type = event_type(number);
                let offset = input.at() - body.len();
                scan.message(body, offset, message, &At::Root)?;
            }
            _ => scan.plain = false,
        }
    }
    match (arm, known, future) {
        (Some(_), _, _) => Ok(Envelope::Known { plain: scan.plain, exact: scan.exact }),
        (None, None, Some(arm)) if !is_broken => Ok(Envelope::Future { arm }),
        _ => Err(DecodeError::NoEvent),
    }
}

/// Whether bytes read as some protobuf message. What a field's bytes are in turn is not asked.
fn walks_as_a_message(bytes: &[u8]) -> bool {
    let mut input = Input::new(bytes);
    let end = bytes.len();
    while input.at() < end {
        let Ok((number, wire_type)) = input.tag(end) else { return false };
        let start = input.at();
        match input.field(number, wire_type, end) {
            Ok(Some(body)) if !is_short(&input, start, body) => return false,
            Ok(_) => {}
            Err(_) => return false,
        }
    }
    true
}

/// Whether the length of `body`, which was read from `start` on, took no more than 5 bytes: an
/// encoder's, not noise. Only asked of what this version cannot read.
fn is_short(input: &Input<'_>, start: usize, body: &[u8]) -> bool {
    input.at() - body.len() - start <= 5
}

/// The type of the event in an arm of this version, which always has one.
fn event_type(arm: u32) -> EventType {
    let place = usize::try_from(arm).ok().and_then(|arm| arm.checked_sub(1));
    place
        .and_then(|place| EventType::ALL.get(place))
        .copied()
        .unwrap_or(EventType::TextMessageStart)
}

struct Scan {
    /// The type of the event at hand.
    event_type: EventType,
    max_depth: usize,
    plain: bool,
    exact: bool,
}

impl Scan {
    /// `offset` is where `bytes` begin in the payload. Messages of the schema do not recurse, so
    /// neither does this without bound.
    fn message(
        &mut self,
        bytes: &[u8],
        offset: usize,
        message: &Message,
        at: &At<'_>,
    ) -> Result<(), DecodeError> {
        let mut input = Input::new(bytes);
        let end = bytes.len();
        let mut arm = None;
        let mut seen = [0_usize; 16];
        let event_type = self.event_type;
        let moved = |error: ValueError| shift(&error, event_type, offset, at);

        while input.at() < end {
            let (number, wire_type) = input.tag(end).map_err(moved)?;
            let body = input.field(number, wire_type, end).map_err(moved)?;
            let Some((place, field)) = message.field(number) else {
                self.plain &= wire_type == LEN || wire_type == VARINT;
                continue;
            };
            let (Some(body), true) = (body, is_len(&field.kind)) else {
                self.plain &= wire_type == VARINT && !is_len(&field.kind);
                continue;
            };
            if field.arm && arm.replace(number).is_some_and(|arm| arm != number) {
                return Err(DecodeError::TwoArms { event_type, path: at.to_path() });
            }
            let offset = offset + input.at() - body.len();
            let count = seen.get_mut(place).map_or(0, |count| std::mem::replace(count, *count + 1));
            let member = json_name(field).map(|name| at.member(name));
            let at = member.as_ref().unwrap_or(at);
            let element = field.repeated.then(|| at.index(count));
            self.body(body, offset, field, element.as_ref().unwrap_or(at))?;
        }
        Ok(())
    }

    fn body(
        &mut self,
        body: &[u8],
        offset: usize,
        field: &Field,
        at: &At<'_>,
    ) -> Result<(), DecodeError> {
        match &field.kind {
            Kind::Message(message) => self.message(body, offset, message, at),
            Kind::String => match str::from_utf8(body) {
                Ok(_) => Ok(()),
                Err(_) => {
                    Err(DecodeError::Utf8 { event_type: self.event_type, path: at.to_path() })
                }
            },
            Kind::Value => self.open(body, offset, Root::Value, at),
            Kind::Struct => self.open(body, offset, Root::Struct, at),
            Kind::Int64 | Kind::Varint => Ok(()),
        }
    }

    fn open(
        &mut self,
        body: &[u8],
        offset: usize,
        root: Root,
        at: &At<'_>,
    ) -> Result<(), DecodeError> {
        let exact = check(body, root, self.max_depth);
        self.exact |= exact.map_err(|error| shift(&error, self.event_type, offset, at))?;
        Ok(())
    }
}

fn shift(error: &ValueError, event_type: EventType, offset: usize, at: &At<'_>) -> DecodeError {
    let path = at.to_path();
    match *error {
        ValueError::TooDeep { max } => DecodeError::TooDeep { event_type, path, max },
        ValueError::NotFinite { .. } => DecodeError::NotFinite { event_type, path },
        ValueError::Utf8 { .. } => DecodeError::Utf8 { event_type, path },
        ValueError::Malformed { at, reason } => {
            DecodeError::Malformed { at: offset + at, reason: reason.to_owned() }
        }
    }
}

/// The name under which the field's content stands in JSON, if it has one of its own there.
fn json_name(field: &Field) -> Option<&'static str> {
    match field.name {
        _ if field.arm => None,
        "baseEvent" => None,
        "contentParts" | "activityContent" => Some("content"),
        name => Some(name),
    }
}

fn is_len(kind: &Kind) -> bool {
    !matches!(kind, Kind::Int64 | Kind::Varint)
}

impl From<ValueError> for DecodeError {
    /// What is wrong with the envelope's own syntax; nothing else is read there.
    fn from(error: ValueError) -> Self {
        match error {
            ValueError::Malformed { at, reason } => {
                Self::Malformed { at, reason: reason.to_owned() }
            }
            other => Self::Malformed { at: 0, reason: other.to_string() },
        }
    }
}

/// Copies a scanned payload without what prost would refuse and protobuf skips: unknown fields,
/// groups among them, and known fields with another wire type.
///
/// Rule: D16 to D18.
pub(crate) fn plain_fields(payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(payload.len());
    copy_fields(payload, &EVENT, &mut out);
    out
}

fn copy_fields(bytes: &[u8], message: &Message, out: &mut Vec<u8>) {
    let mut input = Input::new(bytes);
    let end = bytes.len();
    // The scan has been through, so that nothing fails here.
    while let Ok((number, wire_type)) = input.tag(end) {
        let start = input.at();
        let Ok(body) = input.field(number, wire_type, end) else { return };
        let Some((_, field)) = message.field(number) else { continue };
        match (&field.kind, body) {
            (Kind::Message(message), Some(body)) => {
                let mut inner = Vec::with_capacity(body.len());
                copy_fields(body, message, &mut inner);
                put_len_field(number, &inner, out);
            }
            (Kind::String | Kind::Value | Kind::Struct, Some(body)) => {
                put_len_field(number, body, out);
            }
            (Kind::Int64 | Kind::Varint, None) if wire_type == VARINT => {
                prost::encoding::encode_varint(u64::from(number) << 3, out);
                out.put_slice(bytes.get(start..input.at()).unwrap_or_default());
            }
            _ => {}
        }
    }
}

fn put_len_field(number: u32, body: &[u8], out: &mut Vec<u8>) {
    prost::encoding::encode_varint(u64::from(number) << 3 | u64::from(LEN), out);
    prost::encoding::encode_varint(body.len() as u64, out);
    out.put_slice(body);
}
