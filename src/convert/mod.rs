//! Model to wire and back; every reshaping rule lives here, once.
//!
//! Most objects are the same on both sides, member by member: the tables of [`crate::model`] write
//! their conversions, and a field that one side has and the other lacks does not compile. What is
//! reshaped is written out: the content of messages and tool results, parts and their sources,
//! outcomes, function calls, and patch operations.
//!
//! Nothing is judged on the way in: an unknown role, outcome or operation, or a required member
//! that the bytes lacked, is handed on. Two things are refused, for there is no event that could
//! hold them: integers that a double cannot count, and content in two forms at once.
//!
//! On the way out an event must be well-formed, and what the wire has no place for is left out and
//! told of in a [`Notice`].

mod content;
mod error;
mod event;
mod message;
mod object;
mod outcome;
mod patch;

pub use self::error::{ConvertError, ConvertReason};
pub use self::event::{from_wire, to_wire};
pub(crate) use self::event::{from_wire_with, to_wire_with};
pub(crate) use self::message::unknown_message_member;

use crate::model::path::At;
use crate::model::{Extra, Notice, NoticeKind, Unrecognised};
use crate::value::{Number, Object, Slot, Value};
use crate::wire;

/// What becomes of the exact text of numbers that no double is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ExactNumbers {
    /// To the wire: the double alone. From the wire: the text is ignored.
    #[default]
    Rounded,
    /// To the wire: the text travels beside the double. From the wire: it is the number.
    Carried,
    /// From the wire: it is known that no text came, so that nothing is looked for.
    Absent,
}

impl ExactNumbers {
    fn settle(self, number: &mut Number) {
        number.settle(self == Self::Carried);
    }
}

/// What a conversion to the wire carries along.
#[derive(Debug, Default)]
pub(crate) struct ToWireCx {
    /// What was left out.
    pub(crate) notices: Vec<Notice>,
    numbers: ExactNumbers,
    /// The base of the event, until the event's own message takes it.
    base: Option<wire::BaseEvent>,
}

/// What a conversion from the wire carries along.
#[derive(Debug, Default)]
pub(crate) struct FromWireCx {
    /// What was dropped.
    pub(crate) notices: Vec<Notice>,
    numbers: ExactNumbers,
    /// The base of the event, once its own message gave it.
    base: Option<wire::BaseEvent>,
}

/// A piece of the model with a form `W` on the wire.
pub(crate) trait ToWire<W> {
    fn to_wire(&self, at: &At<'_>, cx: &mut ToWireCx) -> Result<W, ConvertError>;
}

/// A piece of the model that the wire has as `W`.
pub(crate) trait FromWire<W>: Sized {
    fn from_wire(wire: W, at: &At<'_>, cx: &mut FromWireCx) -> Result<Self, ConvertError>;
}

/// An element of a list, which may have no form on the other side; it is then left out, and told of.
pub(crate) trait ElementToWire<W> {
    fn element_to_wire(&self, at: &At<'_>, cx: &mut ToWireCx) -> Result<Option<W>, ConvertError>;
}

/// See [`ElementToWire`].
pub(crate) trait ElementFromWire<W>: Sized {
    fn element_from_wire(
        wire: W,
        at: &At<'_>,
        cx: &mut FromWireCx,
    ) -> Result<Option<Self>, ConvertError>;
}

impl<T: ToWire<W>, W> ElementToWire<W> for T {
    fn element_to_wire(&self, at: &At<'_>, cx: &mut ToWireCx) -> Result<Option<W>, ConvertError> {
        self.to_wire(at, cx).map(Some)
    }
}

impl<T: FromWire<W>, W> ElementFromWire<W> for T {
    fn element_from_wire(
        wire: W,
        at: &At<'_>,
        cx: &mut FromWireCx,
    ) -> Result<Option<Self>, ConvertError> {
        Self::from_wire(wire, at, cx).map(Some)
    }
}

macro_rules! same_on_both_sides {
    ($($type:ty),*) => {$(
        impl ToWire<$type> for $type {
            fn to_wire(&self, _at: &At<'_>, _cx: &mut ToWireCx) -> Result<$type, ConvertError> {
                Ok(self.clone())
            }
        }

        impl FromWire<$type> for $type {
            fn from_wire(
                wire: $type,
                _at: &At<'_>,
                _cx: &mut FromWireCx,
            ) -> Result<Self, ConvertError> {
                Ok(wire)
            }
        }
    )*};
}

same_on_both_sides!(String, bool);

macro_rules! names_on_the_wire {
    ($($type:ident),*) => {$(
        impl ToWire<String> for crate::model::$type {
            fn to_wire(&self, _at: &At<'_>, _cx: &mut ToWireCx) -> Result<String, ConvertError> {
                Ok(self.as_str().to_owned())
            }
        }

        impl FromWire<String> for crate::model::$type {
            fn from_wire(
                wire: String,
                _at: &At<'_>,
                _cx: &mut FromWireCx,
            ) -> Result<Self, ConvertError> {
                Ok(Self::from(wire))
            }
        }
    )*};
}

names_on_the_wire!(EncryptedValueSubtype, ResumeStatus, Role, TextRole, ToolCallType);

/// Integers must be such that a double counts them, both ways.
///
/// Rule: D24; the reference decoder fails on a larger one.
impl FromWire<i64> for i64 {
    fn from_wire(wire: i64, at: &At<'_>, _cx: &mut FromWireCx) -> Result<Self, ConvertError> {
        use crate::model::node::MAX_SAFE_INTEGER;
        if (-MAX_SAFE_INTEGER..=MAX_SAFE_INTEGER).contains(&wire) {
            Ok(wire)
        } else {
            Err(ConvertError::new(at, ConvertReason::OutOfRange(wire)))
        }
    }
}

impl ToWire<i64> for i64 {
    fn to_wire(&self, _at: &At<'_>, _cx: &mut ToWireCx) -> Result<i64, ConvertError> {
        Ok(*self)
    }
}

impl ToWire<Slot> for Value {
    fn to_wire(&self, at: &At<'_>, cx: &mut ToWireCx) -> Result<Slot, ConvertError> {
        refuse_unwritable(self.unwritable(), at)?;
        let mut value = self.clone();
        if cx.numbers == ExactNumbers::Carried {
            value.for_each_number(Number::carry);
        }
        Ok(Slot(Some(value)))
    }
}

impl ToWire<Object> for Object {
    fn to_wire(&self, at: &At<'_>, cx: &mut ToWireCx) -> Result<Object, ConvertError> {
        refuse_unwritable(self.unwritable(), at)?;
        let mut object = self.clone();
        if cx.numbers == ExactNumbers::Carried {
            object.values_mut().for_each(|value| value.for_each_number(Number::carry));
        }
        Ok(object)
    }
}

fn refuse_unwritable(
    number: Option<(String, &crate::value::Number)>,
    at: &At<'_>,
) -> Result<(), ConvertError> {
    let Some((pointer, number)) = number else { return Ok(()) };
    let reason = ConvertReason::NoDouble { pointer, number: number.to_string() };
    Err(ConvertError::new(at, reason))
}

/// A `google.protobuf.Value` without a kind is an absent member.
impl FromWire<Option<Slot>> for Option<Value> {
    fn from_wire(
        wire: Option<Slot>,
        _at: &At<'_>,
        cx: &mut FromWireCx,
    ) -> Result<Self, ConvertError> {
        let mut value = wire.and_then(Slot::into_value);
        if cx.numbers != ExactNumbers::Absent
            && let Some(value) = &mut value
        {
            value.for_each_number(|number| cx.numbers.settle(number));
        }
        Ok(value)
    }
}

impl FromWire<Object> for Object {
    fn from_wire(wire: Object, _at: &At<'_>, cx: &mut FromWireCx) -> Result<Self, ConvertError> {
        let mut object = wire;
        if cx.numbers != ExactNumbers::Absent {
            let settle = |number: &mut Number| cx.numbers.settle(number);
            object.values_mut().for_each(|value| value.for_each_number(settle));
        }
        Ok(object)
    }
}

impl<T: ToWire<W>, W> ToWire<Option<W>> for Option<T> {
    fn to_wire(&self, at: &At<'_>, cx: &mut ToWireCx) -> Result<Option<W>, ConvertError> {
        self.as_ref().map(|member| member.to_wire(at, cx)).transpose()
    }
}

impl<T: FromWire<W>, W> FromWire<Option<W>> for Option<T> {
    fn from_wire(wire: Option<W>, at: &At<'_>, cx: &mut FromWireCx) -> Result<Self, ConvertError> {
        wire.map(|wire| T::from_wire(wire, at, cx)).transpose()
    }
}

impl<T: ElementToWire<W>, W> ToWire<Vec<W>> for Vec<T> {
    fn to_wire(&self, at: &At<'_>, cx: &mut ToWireCx) -> Result<Vec<W>, ConvertError> {
        self.iter()
            .enumerate()
            .filter_map(|(index, element)| {
                element.element_to_wire(&at.index(index), cx).transpose()
            })
            .collect()
    }
}

impl<T: ElementFromWire<W>, W> FromWire<Vec<W>> for Vec<T> {
    fn from_wire(wire: Vec<W>, at: &At<'_>, cx: &mut FromWireCx) -> Result<Self, ConvertError> {
        wire.into_iter()
            .enumerate()
            .filter_map(|(index, element)| {
                T::element_from_wire(element, &at.index(index), cx).transpose()
            })
            .collect()
    }
}

/// A list without presence on the wire: absent and empty are the same bytes, and read as absent.
impl<T: ElementToWire<W>, W> ToWire<Vec<W>> for Option<Vec<T>> {
    fn to_wire(&self, at: &At<'_>, cx: &mut ToWireCx) -> Result<Vec<W>, ConvertError> {
        self.as_ref().map_or(Ok(Vec::new()), |list| list.to_wire(at, cx))
    }
}

impl<T: ElementFromWire<W>, W> FromWire<Vec<W>> for Option<Vec<T>> {
    fn from_wire(wire: Vec<W>, at: &At<'_>, cx: &mut FromWireCx) -> Result<Self, ConvertError> {
        if wire.is_empty() { Ok(None) } else { Vec::from_wire(wire, at, cx).map(Some) }
    }
}

impl<T: ToWire<W>, W> ToWire<W> for Box<T> {
    fn to_wire(&self, at: &At<'_>, cx: &mut ToWireCx) -> Result<W, ConvertError> {
        T::to_wire(self, at, cx)
    }
}

impl<T: FromWire<W>, W> FromWire<W> for Box<T> {
    fn from_wire(wire: W, at: &At<'_>, cx: &mut FromWireCx) -> Result<Self, ConvertError> {
        T::from_wire(wire, at, cx).map(Box::new)
    }
}

/// Tells of the members that the wire has no place for.
fn leave_out(extra: &Extra, at: &At<'_>, cx: &mut ToWireCx) {
    for (name, _) in extra.iter() {
        let kind = NoticeKind::NotOnWire(Unrecognised::Member);
        cx.notices.push(Notice { path: at.member(name).to_path(), kind });
    }
}

/// A piece of the model as JSON, for members that are kept where the model has no place for them.
fn json_of<T: serde::Serialize>(piece: &T, at: &At<'_>) -> Result<Value, ConvertError> {
    Value::from_serialize(piece).map_err(|_| ConvertError::new(at, ConvertReason::TooDeep))
}
