//! Events: an arm of the envelope for each type, one match a direction.

use super::{ConvertError, ConvertReason, ExactNumbers, FromWire, FromWireCx, ToWire, ToWireCx};
use crate::model::path::At;
use crate::model::{Base, Body, Event, EventType, Notice};
use crate::value::{Slot, Value};
use crate::wire;
use crate::wire::event::Event as Arm;

macro_rules! arms {
    ($($variant:ident)*) => {
        fn arm(body: &Body, at: &At<'_>, cx: &mut ToWireCx) -> Result<Arm, ConvertError> {
            Ok(match body {
                $( Body::$variant(body) => Arm::$variant(body.to_wire(at, cx)?), )*
            })
        }

        fn body(arm: Arm, at: &At<'_>, cx: &mut FromWireCx) -> Result<Body, ConvertError> {
            Ok(match arm {
                $( Arm::$variant(wire) => Body::$variant(FromWire::from_wire(wire, at, cx)?), )*
            })
        }

        /// The number that the base of an event of this type declares.
        fn type_number(event_type: EventType) -> wire::EventType {
            match event_type {
                $( EventType::$variant => wire::EventType::$variant, )*
            }
        }

        fn arm_type(arm: &Arm) -> EventType {
            match arm {
                $( Arm::$variant(_) => EventType::$variant, )*
            }
        }
    };
}

arms! {
    TextMessageStart TextMessageContent TextMessageEnd
    ToolCallStart ToolCallArgs ToolCallEnd
    StateSnapshot StateDelta MessagesSnapshot
    Raw Custom
    RunStarted RunFinished RunError StepStarted StepFinished
    TextMessageChunk ToolCallChunk
    SubagentStarted SubagentFinished SubagentError
    ToolCallResult
    ActivitySnapshot ActivityDelta
    ReasoningStart ReasoningMessageStart ReasoningMessageContent ReasoningMessageEnd
    ReasoningMessageChunk ReasoningEnd ReasoningEncryptedValue
}

/// Takes an event to the wire, with a notice for each thing that has no place there.
///
/// # Errors
///
/// [`ConvertReason::Malformed`] if the protocol refuses the event,
/// [`ConvertReason::UnknownOperation`] and [`ConvertReason::NoDouble`] if the wire cannot say what
/// it holds.
pub fn to_wire(event: &Event) -> Result<(wire::Event, Vec<Notice>), ConvertError> {
    to_wire_with(event, ExactNumbers::Rounded)
}

pub(crate) fn to_wire_with(
    event: &Event,
    numbers: ExactNumbers,
) -> Result<(wire::Event, Vec<Notice>), ConvertError> {
    event.refuse_malformed()?;
    let at = At::Root;
    let event_type = event.event_type();
    let mut cx = ToWireCx { numbers, ..ToWireCx::default() };
    let named = |error| ConvertError { event_type: Some(event_type), ..error };
    cx.base = Some(base_to_wire(&event.base, event_type, &at, &mut cx).map_err(named)?);
    let arm = arm(&event.body, &at, &mut cx).map_err(named)?;
    Ok((wire::Event { event: Some(arm) }, cx.notices))
}

fn base_to_wire(
    base: &Base,
    event_type: EventType,
    at: &At<'_>,
    cx: &mut ToWireCx,
) -> Result<wire::BaseEvent, ConvertError> {
    Ok(wire::BaseEvent {
        r#type: type_number(event_type).into(),
        timestamp: base.timestamp,
        raw_event: base.raw_event.to_wire(&at.member("rawEvent"), cx)?,
        metadata: base.metadata.to_wire(&at.member("metadata"), cx)?,
    })
}

/// Takes an event from the wire, with a notice for each content part in no arm of this version.
///
/// # Errors
///
/// [`ConvertReason::NoEvent`], [`ConvertReason::NoBase`] (D8) and [`ConvertReason::TypeMismatch`]
/// (D9) if the envelope does not say which event it holds; [`ConvertReason::OutOfRange`] (D24), or
/// one of the reasons about content, if no event could hold what the bytes say.
pub fn from_wire(wire: wire::Event) -> Result<(Event, Vec<Notice>), ConvertError> {
    from_wire_with(wire, ExactNumbers::Rounded)
}

pub(crate) fn from_wire_with(
    wire: wire::Event,
    numbers: ExactNumbers,
) -> Result<(Event, Vec<Notice>), ConvertError> {
    let at = At::Root;
    let mut cx = FromWireCx { numbers, ..FromWireCx::default() };
    let Some(arm) = wire.event else {
        return Err(ConvertError::new(&at, ConvertReason::NoEvent));
    };
    let event_type = arm_type(&arm);
    let named = |error| ConvertError { event_type: Some(event_type), ..error };
    let body = body(arm, &at, &mut cx).map_err(named)?;
    let Some(base) = cx.base.take() else {
        return Err(named(ConvertError::new(&at, ConvertReason::NoBase)));
    };
    if base.r#type != i32::from(type_number(event_type)) {
        let reason = ConvertReason::TypeMismatch { declared: base.r#type };
        return Err(named(ConvertError::new(&at, reason)));
    }
    let base = base_from_wire(base, &at, &mut cx).map_err(named)?;
    Ok((Event { base, body }, cx.notices))
}

fn base_from_wire(
    wire: wire::BaseEvent,
    at: &At<'_>,
    cx: &mut FromWireCx,
) -> Result<Base, ConvertError> {
    let raw_event: Option<Value> = FromWire::<Option<Slot>>::from_wire(wire.raw_event, at, cx)?;
    Ok(Base {
        timestamp: FromWire::from_wire(wire.timestamp, &at.member("timestamp"), cx)?,
        metadata: FromWire::from_wire(wire.metadata, at, cx)?,
        raw_event: raw_event.map(Box::new),
    })
}
