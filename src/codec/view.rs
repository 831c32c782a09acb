//! An event read where it lies, for whoever does not want to hold it: a relay, a router, a log.

use super::Limits;
use super::direct::{ReadBase, read_arm, read_base, safe_integer};
use super::schema::{ARMS, Arm, Field, Kind, Message};
use crate::model::EventType;
use crate::value::direct::{check_object, check_value, counted, counted_here, text, varint};

/// The tags of the open fields of a base.
const RAW_EVENT: u8 = 0x1a;
const METADATA: u8 = 0x22;

/// The event of a payload, whose members stay in the bytes they came in. Nothing is copied.
///
/// A view is made of bytes in the usual layout: one event, each field once and in ascending order,
/// and nothing that the schema does not name. So every encoder writes them. All of them is checked:
/// texts are UTF-8, numbers are finite and in range, open values are whole and within the limits.
/// Members have the names that they have in JSON, and the shape that they have on the wire: an
/// outcome is its name, its payload is beside it.
///
/// For any other bytes there is no view, nor for values deeper than 128 levels where the limits allow
/// them: they can be an event all the same, or one of a later version, or none.
/// [`Event::decode`](crate::Event::decode) tells. It also refuses what no view can see: content in two
/// forms at once, or in one that the role of a message has not. And it counts every level against the
/// limit, also the up to seven of the schema's own objects, of which a view counts those around open
/// values alone.
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
    arm: &'static Arm,
    timestamp: Option<i64>,
    /// The open fields of the base.
    open: &'a [u8],
    /// The leading texts: the ids and deltas that most looks are for. Others are found among `fields`
    /// when they are asked for.
    leading: [Option<&'a str>; 2],
    /// The fields of the event, without its base.
    fields: &'a [u8],
}

/// A member of an event, as the bytes have it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Member<'a> {
    /// A string.
    Text(&'a str),
    /// An integer; also a boolean, as its number: an encoder writes 1, and anything but 0 is true.
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
        let (number, rest) = read_arm(payload)?;
        let (bytes, []) = counted_here(rest)? else { return None };
        let arm = ARMS.get(usize::from(number).checked_sub(1)?)?;
        let ReadBase { timestamp, open, fields } = read_base(bytes, arm.number)?;
        if !open.is_empty() {
            check_open(open, limits.max_depth())?;
        }
        let leading = read_fields(arm, fields, limits.max_depth())?;
        Some(Self { arm, timestamp, open, leading, fields })
    }

    /// The type of the event.
    #[must_use]
    pub fn event_type(&self) -> EventType {
        self.arm.event_type
    }

    /// The time of the event, by convention in milliseconds since the Unix epoch.
    #[must_use]
    pub fn timestamp(&self) -> Option<i64> {
        self.timestamp
    }

    /// The metadata: a `google.protobuf.Struct` message.
    #[must_use]
    pub fn metadata(&self) -> Option<&'a [u8]> {
        body(self.open, METADATA)
    }

    /// The producer's own event: a `google.protobuf.Value` message.
    #[must_use]
    pub fn raw_event(&self) -> Option<&'a [u8]> {
        body(self.open, RAW_EVENT)
    }

    /// Id of the message that the event belongs to. As [`EventView::text`].
    #[must_use]
    pub fn message_id(&self) -> Option<&'a str> {
        self.numbered(self.arm.message_id)
    }

    /// Id of the tool call that the event belongs to. As [`EventView::text`].
    #[must_use]
    pub fn tool_call_id(&self) -> Option<&'a str> {
        self.numbered(self.arm.tool_call_id)
    }

    /// Id of the conversation. As [`EventView::text`].
    #[must_use]
    pub fn thread_id(&self) -> Option<&'a str> {
        self.numbered(self.arm.thread_id)
    }

    /// Id of the run. As [`EventView::text`].
    #[must_use]
    pub fn run_id(&self) -> Option<&'a str> {
        self.numbered(self.arm.run_id)
    }

    /// The subagent that the event belongs to; absent means the parent agent. As
    /// [`EventView::text`].
    #[must_use]
    pub fn subagent_run_id(&self) -> Option<&'a str> {
        self.numbered(self.arm.subagent_run_id)
    }

    /// What the event appends to a text, to reasoning, or to arguments. As [`EventView::text`].
    #[must_use]
    pub fn delta(&self) -> Option<&'a str> {
        self.numbered(self.arm.delta)
    }

    /// The text of the member with this name; nothing if the event has none. A required text that is
    /// empty is not in the bytes, and nothing here.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&'a str> {
        let field = self.arm.message.fields.iter().find(|field| field.name == name)?;
        match field.kind {
            Kind::String if !field.repeated => self.numbered(field.number),
            _ => None,
        }
    }

    /// The text in the field with this number; there is none with 0.
    #[inline]
    fn numbered(&self, number: u32) -> Option<&'a str> {
        match number {
            0 => None,
            2 if self.arm.leading_texts > 0 => self.leading[0],
            3 if self.arm.leading_texts > 1 => self.leading[1],
            _ => self.find(number),
        }
    }

    #[inline(never)]
    fn find(&self, number: u32) -> Option<&'a str> {
        let tag = u8::try_from(number << 3 | 2).ok()?;
        text(body(self.fields, tag)?)
    }

    /// The members of the event that are in the bytes, by name; a list gives its name once an
    /// element. Those that every event may have are not among them.
    #[must_use]
    pub fn members(&self) -> Members<'a> {
        let mut fields = self.arm.message.fields.iter();
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

/// Checks what a base has behind the timestamp.
#[inline(never)]
fn check_open(bytes: &[u8], max_depth: usize) -> Option<()> {
    let (mut rest, room) = (bytes, max_depth.checked_sub(1)?);
    if let [RAW_EVENT, after @ ..] = rest {
        let (raw_event, after) = counted(after)?;
        check_value(raw_event, room)?;
        rest = after;
    }
    if let [METADATA, after @ ..] = rest {
        let (metadata, after) = counted(after)?;
        check_object(metadata, room)?;
        rest = after;
    }
    rest.is_empty().then_some(())
}

/// Checks the fields of an event, and gives those of its leading texts that are there.
// Inlined, and without a place in memory for what it gives: that would have to be written and read
// again, which takes longer than the rest.
#[inline(always)]
fn read_fields<'a>(arm: &Arm, bytes: &'a [u8], max_depth: usize) -> Option<[Option<&'a str>; 2]> {
    // The base has been read.
    let (mut rest, mut read, mut leading) = (bytes, 1, [None; 2]);
    if let [0x12, after @ ..] = rest
        && arm.leading_texts > 0
    {
        let (body, after) = counted_here(after)?;
        (leading[0], rest, read) = (Some(text(body)?), after, 2);
    }
    if let [0x1a, after @ ..] = rest
        && arm.leading_texts > 1
    {
        let (body, after) = counted_here(after)?;
        (leading[1], rest, read) = (Some(text(body)?), after, 3);
    }
    if !rest.is_empty() {
        check_fields(arm.message.fields.get(read..)?, rest, max_depth)?;
    }
    Some(leading)
}

#[inline(never)]
fn check_fields(fields: &[Field], bytes: &[u8], max_depth: usize) -> Option<()> {
    let (mut rest, mut fields) = (bytes, fields.iter());
    while let [tag, after @ ..] = rest {
        let field = fields.find(|field| field.tag == *tag)?;
        // The payload of an outcome stands one object further in than its field says.
        let level = if field.name == "interrupts" { 2 } else { 1 };
        rest = check_field(field, after, level, max_depth)?;
        while let [again, after @ ..] = rest
            && (again == tag && field.repeated)
        {
            rest = check_field(field, after, level, max_depth)?;
        }
    }
    Some(())
}

/// What a length counts in the first field with this tag.
fn body(bytes: &[u8], tag: u8) -> Option<&[u8]> {
    let mut rest = bytes;
    while let [next, after @ ..] = rest {
        if matches!(next & 7, 0) {
            rest = varint(after)?.1;
            continue;
        }
        let (body, after) = counted(after)?;
        if *next == tag {
            return Some(body);
        }
        rest = after;
    }
    None
}

/// Checks the field that comes next, and gives what is left behind it. `level` JSON containers
/// enclose it.
#[inline(never)]
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
