//! The events, and the objects that the model and the wire have alike, field by field.
//!
//! `build.rs` writes the tables from the schema; the macros here make the code of them. A member
//! that one side has and the other lacks does not compile.

use bytes::BytesMut;

use super::piece::{Member, Message};
use super::read::Reader;
use super::reshaped::{ReadBase, base_size, read_base, read_open_base, write_base};
use super::write::{Form, Writer, append, append_by_scratch};
use crate::model::enforce::Plain;
use crate::model::node::Node;
use crate::model::{
    ActivityDelta, ActivitySnapshot, Base, Body, Context, Custom, DataSource, Event, Extra,
    FileSource, FunctionCall, Interrupt, MediaPart, MessagesSnapshot, PatchOperation, Raw,
    ReasoningEncryptedValue, ReasoningEnd, ReasoningMessageChunk, ReasoningMessageContent,
    ReasoningMessageEnd, ReasoningMessageStart, ReasoningStart, ResumeEntry, RunError, RunStarted,
    StateDelta, StateSnapshot, StepFinished, StepStarted, SubagentError, SubagentStarted,
    TextMessageChunk, TextMessageContent, TextMessageEnd, TextMessageStart, TextPart, TokenUsage,
    Tool, ToolCall, ToolCallArgs, ToolCallChunk, ToolCallEnd, ToolCallStart, UrlSource,
};
use crate::value::direct::counted;
use crate::value::front::Front;
use crate::value::front::counted_len;

/// One event a line: its arm in the envelope, the number of its type, its fields.
macro_rules! events {
    ($(
        $name:ident = arm $arm:literal number $number:literal
        $(reshaped)? $({ $($fields:tt)* } { $($reversed:tt)* })?;
    )*) => {
        /// Reads the envelope and the event in it.
        ///
        /// It is put where it is wanted, since moving it there would take longer than reading it.
        pub(super) fn read_event(
            payload: &[u8],
            max_depth: usize,
            into: &mut Option<Event>,
        ) -> Option<()> {
            let (arm, rest) = read_arm(payload)?;
            let (bytes, []) = counted(rest)? else { return None };
            let number = match arm {
                $( $arm => $number, )*
                _ => return None,
            };
            let ReadBase { timestamp, open, fields } = read_base(bytes, number)?;
            let mut from = Reader::new(fields, max_depth);
            match arm {
                $(
                    $arm => {
                        let body = Body::$name(Message::read(&mut from)?);
                        *into = Some(Event { base: Base { timestamp, ..Base::default() }, body });
                    }
                )*
                _ => return None,
            }
            from.end(())?;
            match into {
                Some(event) if !open.is_empty() => {
                    read_open_base(Reader::new(open, max_depth), &mut event.base)
                }
                _ => Some(()),
            }
        }

        /// Appends the event, if it is usual.
        pub(super) fn append_event(event: &Event, form: &Form, dst: &mut BytesMut) -> Option<()> {
            match &event.body {
                $( Body::$name(body) => append_body(body, $arm, $number, event, form, dst), )*
            }
        }

        /// Puts the event and the envelope around it.
        pub(super) fn write_event(
            event: &Event,
            into: &mut Writer<impl Front>,
            end: usize,
        ) -> Option<usize> {
            match &event.body {
                $( Body::$name(body) => write_body(body, $arm, $number, &event.base, into, end), )*
            }
        }

        $($( message! { $name { $($fields)* } { $($reversed)* } } )?)*
    };
}

macro_rules! objects {
    ($($name:ident { $($fields:tt)* } { $($reversed:tt)* };)*) => {
        $( message! { $name { $($fields)* } { $($reversed)* } } )*
    };
}

/// Fields are read in ascending order, and written in descending order.
macro_rules! message {
    ($name:ident
        { $($up:ident $up_number:literal),* }
        { $($down:ident $down_number:literal),* }
    ) => {
        impl Message for $name {
            #[inline(always)]
            fn read(from: &mut Reader<'_>) -> Option<Self> {
                Some(Self {
                    $( $up: Member::read(from, $up_number)?, )*
                    extra: Extra::default(),
                })
            }

            #[inline]
            fn write(&self, into: &mut Writer<impl Front>, at: usize) -> Option<usize> {
                $( let at = Member::write(&self.$down, into, at, $down_number)?; )*
                Some(at)
            }

            #[inline]
            fn size(&self) -> Option<usize> {
                let mut size = 0;
                $( size += Member::size(&self.$up)?; )*
                Some(size)
            }
        }
    };
}

/// Appends the event with this body, if it is usual.
#[inline]
fn append_body<T: Node + Message>(
    body: &T,
    arm: u8,
    number: u8,
    event: &Event,
    form: &Form,
    dst: &mut BytesMut,
) -> Option<()> {
    if !Plain::is(&event.base, body) {
        return None;
    }
    match (body.size(), base_size(&event.base, number)) {
        (Some(body_size), Some(base_size)) => {
            append(form, arm_size(arm, body_size + base_size), dst, |into, end| {
                write_body(body, arm, number, &event.base, into, end)
            })
        }
        _ => append_by_scratch(form, dst, event),
    }
}

#[inline]
fn write_body<T: Message>(
    body: &T,
    arm: u8,
    number: u8,
    base: &Base,
    into: &mut Writer<impl Front>,
    end: usize,
) -> Option<usize> {
    let at = body.write(into, end)?;
    let at = write_base(base, number, into, at)?;
    write_arm(arm, into, at, end)
}

/// The number of the arm that comes first, which has one or two bytes.
#[inline]
pub(in crate::codec) fn read_arm(payload: &[u8]) -> Option<(u8, &[u8])> {
    match payload {
        [tag @ ..0x80, rest @ ..] if tag & 7 == 2 => Some((tag >> 3, rest)),
        [low, high @ ..2, rest @ ..] if low & 7 == 2 => Some(((low & 0x7f) >> 3 | high << 4, rest)),
        _ => None,
    }
}

#[inline]
fn write_arm(arm: u8, into: &mut Writer<impl Front>, at: usize, end: usize) -> Option<usize> {
    if arm < 16 {
        return into.close(at, arm, end);
    }
    let at = into.out.put_len(at, end.checked_sub(at)?)?;
    into.out.put_array(at, [(arm & 0x0f) << 3 | 0x82, arm >> 4])
}

/// How many bytes the envelope has around so many in it.
#[inline]
fn arm_size(arm: u8, len: usize) -> usize {
    counted_len(len) + usize::from(arm >= 16)
}

include!(concat!(env!("OUT_DIR"), "/layout.rs"));
