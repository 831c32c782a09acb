//! An event read where it lies, for whoever does not want to hold it: a relay, a router, a log.

use super::Limits;
use super::direct::read_arm;
use super::schema::{self, EVENT, Field, Kind, Message};
use crate::convert::type_number;
use crate::model::EventType;
use crate::model::node::MAX_SAFE_INTEGER;
use crate::value::direct::{check_object, check_value, counted, text, varint};

/// The event of a payload, whose members stay in the bytes they came in. Nothing is copied.
///
/// A view is made of bytes in the usual layout: one event, each field once and in ascending order,
/// and nothing that the schema does not name. So every encoder writes them. All of them is checked:
/// texts are UTF-8, numbers are finite and in range, open values are whole and within the limits.
/// Members have the names that they have in JSON, and the shape that they have on the wire: an
/// outcome is its name, its payload is beside it.
///
/// For any other bytes there is no view: they can be an event all the same, or one of a later
/// version, or none. [`Event::decode`](crate::Event::decode) tells. It also refuses what no view can
/// see: a message of a role that has not that form of content.
///
/// # Examples
///
/// A relay that drops all but one run's events, and never copies one:
///
/// ```
/// use ag_ui_proto::codec::EventView;
///
/// let payload = b"\x12\x10\x0a\x02\x08\x01\x12\x02m1\x1a\x02Hi\x22\x02s1";
/// let view = EventView::read(payload).ok_or("not as usual")?;
/// assert_eq!(view.event_type().as_str(), "TEXT_MESSAGE_CONTENT");
/// assert_eq!(view.message_id(), Some("m1"));
/// assert_eq!(view.delta(), Some("Hi"));
/// assert_eq!(view.subagent_run_id(), Some("s1"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct EventView<'a> {
    event_type: EventType,
    timestamp: Option<i64>,
    raw_event: Option<&'a [u8]>,
    metadata: Option<&'a [u8]>,
    /// The texts among the fields with the numbers 2 to 8. No event has more.
    texts: [Option<&'a str>; 7],
    message: &'static Message,
    /// The fields of the event, without its base.
    fields: &'a [u8],
}

/// A member of an event, as the bytes have it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Member<'a> {
    /// A string.
    Text(&'a str),
    /// An integer; also a boolean, as 0 or 1, and the number of a patch operation.
    Integer(i64),
    /// An open value: a `google.protobuf.Value` message, for
    /// [`Value::from_wire`](crate::value::Value::from_wire).
    Value(&'a [u8]),
    /// An open object: a `google.protobuf.Struct` message, for
    /// [`Object::from_wire`](crate::value::Object::from_wire).
    Object(&'a [u8]),
    /// A message of the schema; of a list, one element.
    Message(&'a [u8]),
}

/// Members by their names, in the order of the bytes. See [`EventView::members`].
#[derive(Clone, Debug)]
pub struct Members<'a> {
    fields: std::slice::Iter<'static, Field>,
    field: Option<&'static Field>,
    rest: &'a [u8],
}

impl<'a> EventView<'a> {
    /// Looks at a payload, within the default limits; nothing if it is not in the usual layout.
    #[must_use]
    pub fn read(payload: &'a [u8]) -> Option<Self> {
        Self::read_within(payload, &Limits::default())
    }

    /// Looks at a payload, within limits. See [`EventView::read`].
    #[must_use]
    pub fn read_within(payload: &'a [u8], limits: &Limits) -> Option<Self> {
        let mut view = Some(Self {
            event_type: EventType::TextMessageStart,
            timestamp: None,
            raw_event: None,
            metadata: None,
            texts: [None; 7],
            message: &EVENT,
            fields: payload,
        });
        // It is filled in where it is returned from; moving it would take longer than filling it.
        let filled = view.as_mut().and_then(|view| {
            let base = view.read_envelope()?;
            view.read_base(base, limits.max_depth())?;
            view.read_fields(limits.max_depth())
        });
        if filled.is_none() {
            view = None;
        }
        view
    }

    /// Finds the event, and gives the bytes of its base.
    #[inline]
    fn read_envelope(&mut self) -> Option<&'a [u8]> {
        let (arm, rest) = read_arm(self.fields)?;
        let (bytes, []) = counted(rest)? else { return None };
        let place = usize::from(arm).checked_sub(1)?;
        self.event_type = *EventType::ALL.get(place)?;
        let Kind::Message(message) = EVENT.fields.get(place)?.kind else { return None };
        self.message = message;
        let [0x0a, rest @ ..] = bytes else { return None };
        let (base, fields) = counted(rest)?;
        self.fields = fields;
        Some(base)
    }

    #[inline]
    fn read_base(&mut self, bytes: &'a [u8], max_depth: usize) -> Option<()> {
        let (mut declared, mut rest) = (0, bytes);
        if let [0x08, after @ ..] = rest {
            (declared, rest) = varint(after)?;
        }
        if i64::try_from(declared).ok()? != i64::from(i32::from(type_number(self.event_type))) {
            return None;
        }
        if let [0x10, after @ ..] = rest {
            let (timestamp, after) = safe_integer(after)?;
            (self.timestamp, rest) = (Some(timestamp), after);
        }
        let room = max_depth.checked_sub(1);
        if let [0x1a, after @ ..] = rest {
            let (raw_event, after) = counted(after)?;
            check_value(raw_event, room?)?;
            (self.raw_event, rest) = (Some(raw_event), after);
        }
        if let [0x22, after @ ..] = rest {
            let (metadata, after) = counted(after)?;
            check_object(metadata, room?)?;
            (self.metadata, rest) = (Some(metadata), after);
        }
        rest.is_empty().then_some(())
    }

    #[inline]
    fn read_fields(&mut self, max_depth: usize) -> Option<()> {
        let mut rest = self.fields;
        let (_, fields) = self.message.fields.split_first()?;
        for (field, slot) in fields.iter().zip(&mut self.texts) {
            while let [tag, after @ ..] = rest
                && *tag == field.tag
            {
                if let (Kind::String, false) = (&field.kind, field.repeated) {
                    let (body, after) = counted(after)?;
                    (*slot, rest) = (Some(text(body)?), after);
                    break;
                }
                // The payload of an outcome stands one object further in than its field says.
                let level = if field.name == "interrupts" { 2 } else { 1 };
                rest = check_field(field, after, level, max_depth)?;
                if !field.repeated {
                    break;
                }
            }
        }
        rest.is_empty().then_some(())
    }

    /// The type of the event.
    #[must_use]
    pub fn event_type(&self) -> EventType {
        self.event_type
    }

    /// The time of the event, by convention in milliseconds since the Unix epoch.
    #[must_use]
    pub fn timestamp(&self) -> Option<i64> {
        self.timestamp
    }

    /// The metadata: a `google.protobuf.Struct` message.
    #[must_use]
    pub fn metadata(&self) -> Option<&'a [u8]> {
        self.metadata
    }

    /// The producer's own event: a `google.protobuf.Value` message.
    #[must_use]
    pub fn raw_event(&self) -> Option<&'a [u8]> {
        self.raw_event
    }

    /// Id of the message that the event belongs to. As [`EventView::text`].
    #[must_use]
    pub fn message_id(&self) -> Option<&'a str> {
        self.numbered(&schema::MESSAGE_ID)
    }

    /// Id of the tool call that the event belongs to. As [`EventView::text`].
    #[must_use]
    pub fn tool_call_id(&self) -> Option<&'a str> {
        self.numbered(&schema::TOOL_CALL_ID)
    }

    /// Id of the conversation. As [`EventView::text`].
    #[must_use]
    pub fn thread_id(&self) -> Option<&'a str> {
        self.numbered(&schema::THREAD_ID)
    }

    /// Id of the run. As [`EventView::text`].
    #[must_use]
    pub fn run_id(&self) -> Option<&'a str> {
        self.numbered(&schema::RUN_ID)
    }

    /// The subagent that the event belongs to; absent means the parent agent. As
    /// [`EventView::text`].
    #[must_use]
    pub fn subagent_run_id(&self) -> Option<&'a str> {
        self.numbered(&schema::SUBAGENT_RUN_ID)
    }

    /// What the event appends to a text, to reasoning, or to arguments. As [`EventView::text`].
    #[must_use]
    pub fn delta(&self) -> Option<&'a str> {
        self.numbered(&schema::DELTA)
    }

    /// The text of the member with this name; nothing if the event has none. A required text that is
    /// empty is not in the bytes, and nothing here.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&'a str> {
        let (_, fields) = self.message.fields.split_first()?;
        let place = fields.iter().position(|field| field.name == name)?;
        self.texts.get(place).copied().flatten()
    }

    /// The text whose field has the number that the table says for this type.
    #[inline]
    fn numbered(&self, by_arm: &[usize; 31]) -> Option<&'a str> {
        let number = by_arm.get(self.event_type as usize)?;
        self.texts.get(number.checked_sub(2)?).copied().flatten()
    }

    /// The members of the event that are in the bytes, by name; a list gives its name once an
    /// element. Those that every event may have are not among them.
    #[must_use]
    pub fn members(&self) -> Members<'a> {
        let mut fields = self.message.fields.iter();
        fields.next();
        Members { field: fields.next(), fields, rest: self.fields }
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = (&'static str, Member<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let (tag, after) = self.rest.split_first()?;
        let field = loop {
            let field = self.field?;
            if field.tag == *tag {
                break field;
            }
            self.field = self.fields.next();
        };
        if matches!(field.kind, Kind::Int64 | Kind::Varint) {
            let (value, rest) = varint(after)?;
            self.rest = rest;
            return Some((field.name, Member::Integer(value.cast_signed())));
        }
        let (body, rest) = counted(after)?;
        self.rest = rest;
        let member = match field.kind {
            Kind::String => Member::Text(text(body)?),
            Kind::Value => Member::Value(body),
            Kind::Struct => Member::Object(body),
            _ => Member::Message(body),
        };
        Some((field.name, member))
    }
}

impl std::iter::FusedIterator for Members<'_> {}

/// Checks the field that comes next, and gives what is left behind it. `level` JSON containers
/// enclose it.
fn check_field<'a>(
    field: &Field,
    after: &'a [u8],
    level: usize,
    max_depth: usize,
) -> Option<&'a [u8]> {
    match field.kind {
        Kind::Int64 => return Some(safe_integer(after)?.1),
        Kind::Varint => return Some(varint(after)?.1),
        _ => {}
    }
    let (body, rest) = counted(after)?;
    let level = level + usize::from(field.repeated);
    match field.kind {
        Kind::String => drop(text(body)?),
        Kind::Value => check_value(body, max_depth.checked_sub(level)?)?,
        Kind::Struct => check_object(body, max_depth.checked_sub(level)?)?,
        Kind::Message(message) => {
            // A oneof is a message on the wire, and no object in JSON.
            let is_union = message.fields.first().is_some_and(|field| field.arm);
            check_message(message, body, level + usize::from(!is_union), max_depth)?;
        }
        Kind::Int64 | Kind::Varint => {}
    }
    Some(rest)
}

fn check_message(message: &Message, bytes: &[u8], level: usize, max_depth: usize) -> Option<()> {
    let mut rest = bytes;
    for field in message.fields {
        while let [tag, after @ ..] = rest
            && *tag == field.tag
        {
            rest = check_field(field, after, level, max_depth)?;
            if field.arm {
                return rest.is_empty().then_some(());
            }
            if !field.repeated {
                break;
            }
        }
    }
    rest.is_empty().then_some(())
}

/// An integer that a double can count.
fn safe_integer(bytes: &[u8]) -> Option<(i64, &[u8])> {
    let (bits, rest) = varint(bytes)?;
    let value = bits.cast_signed();
    (-MAX_SAFE_INTEGER..=MAX_SAFE_INTEGER).contains(&value).then_some((value, rest))
}
