//! What can stand in a field, and how it is read and written there.
//!
//! A piece of the model says by its type what the wire does about its absence: a `String` that is
//! empty has no field, an `Option` has one if it is there, a list has one an element.

use super::read::Reader;
use super::write::Writer;
use crate::model::{EncryptedValueSubtype, PatchOp, ResumeStatus, Role, TextRole, ToolCallType};
use crate::value::front::Front;
use crate::value::front::{counted_len, varint_len};
use crate::value::{Object, Value};
use crate::wire::JsonPatchOperationType;

/// An object of the model as a message: its fields, in ascending order.
pub(crate) trait Message: Sized {
    fn read(from: &mut Reader<'_>) -> Option<Self>;
    fn write(&self, into: &mut Writer<impl Front>, at: usize) -> Option<usize>;

    /// How many bytes [`Message::write`] puts, if that is known at a glance: nothing but texts and
    /// integers.
    fn size(&self) -> Option<usize> {
        None
    }
}

/// What stands in a length-delimited field.
pub(crate) trait Body: Sized {
    /// Reads all of `bytes`, which stand in the message of `from`.
    fn read_body<'a>(bytes: &'a [u8], from: &Reader<'a>) -> Option<Self>;
    /// Puts the bytes, without their length, in front of the place `at`.
    fn write_body(&self, into: &mut Writer<impl Front>, at: usize) -> Option<usize>;

    /// As [`Message::size`].
    #[inline]
    fn body_size(&self) -> Option<usize> {
        None
    }
}

/// A member of an object: a field, or several of one number.
pub(crate) trait Member: Sized {
    fn read(from: &mut Reader<'_>, number: u8) -> Option<Self>;
    fn write(&self, into: &mut Writer<impl Front>, at: usize, number: u8) -> Option<usize>;

    /// As [`Message::size`], tags and lengths included.
    fn size(&self) -> Option<usize>;
}

impl<T: Message> Body for T {
    #[inline]
    fn read_body<'a>(bytes: &'a [u8], from: &Reader<'a>) -> Option<Self> {
        let mut inner = from.inner(bytes, 1);
        let message = T::read(&mut inner)?;
        inner.end(message)
    }

    #[inline]
    fn write_body(&self, into: &mut Writer<impl Front>, at: usize) -> Option<usize> {
        into.inside(1, |into| self.write(into, at))
    }
}

impl<T: Message> Message for Box<T> {
    #[inline]
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        T::read(from).map(Self::new)
    }

    #[inline]
    fn write(&self, into: &mut Writer<impl Front>, at: usize) -> Option<usize> {
        T::write(self, into, at)
    }

    #[inline]
    fn size(&self) -> Option<usize> {
        T::size(self)
    }
}

impl Body for String {
    #[inline]
    fn read_body<'a>(bytes: &'a [u8], _from: &Reader<'a>) -> Option<Self> {
        crate::value::direct::text(bytes).map(str::to_owned)
    }

    #[inline]
    fn write_body(&self, into: &mut Writer<impl Front>, at: usize) -> Option<usize> {
        into.out.put(at, self.as_bytes())
    }

    #[inline]
    fn body_size(&self) -> Option<usize> {
        Some(self.len())
    }
}

impl Body for Value {
    fn read_body<'a>(bytes: &'a [u8], from: &Reader<'a>) -> Option<Self> {
        from.value(bytes)
    }

    fn write_body(&self, into: &mut Writer<impl Front>, at: usize) -> Option<usize> {
        into.value(at, self)
    }
}

impl Body for Box<Value> {
    fn read_body<'a>(bytes: &'a [u8], from: &Reader<'a>) -> Option<Self> {
        from.value(bytes).map(Self::new)
    }

    fn write_body(&self, into: &mut Writer<impl Front>, at: usize) -> Option<usize> {
        into.value(at, self)
    }
}

impl Body for Object {
    fn read_body<'a>(bytes: &'a [u8], from: &Reader<'a>) -> Option<Self> {
        from.object(bytes)
    }

    fn write_body(&self, into: &mut Writer<impl Front>, at: usize) -> Option<usize> {
        into.object(at, self)
    }
}

/// Names are strings on the wire. One that this version does not know is not usual to write.
macro_rules! names {
    ($($name:ident),*) => {$(
        impl Body for $name {
            #[inline]
            fn read_body<'a>(bytes: &'a [u8], _from: &Reader<'a>) -> Option<Self> {
                crate::value::direct::text(bytes).map(Self::from)
            }

            #[inline]
            fn write_body(&self, into: &mut Writer<impl Front>, at: usize) -> Option<usize> {
                into.out.put(at, self.as_str().as_bytes())
            }

            #[inline]
            fn body_size(&self) -> Option<usize> {
                Some(self.as_str().len())
            }
        }
    )*};
}

names!(EncryptedValueSubtype, ResumeStatus, Role, TextRole, ToolCallType);

impl<T: Body> Member for Option<T> {
    // Inlined, so that what is absent is not written to memory and read again.
    #[inline(always)]
    fn read(from: &mut Reader<'_>, number: u8) -> Option<Self> {
        if from.is_at(number) { read_one(from).map(Some) } else { Some(None) }
    }

    #[inline]
    fn write(&self, into: &mut Writer<impl Front>, at: usize, number: u8) -> Option<usize> {
        write_optional(self.as_ref(), into, at, number)
    }

    #[inline]
    fn size(&self) -> Option<usize> {
        match self {
            Some(member) => member.body_size().map(counted_len),
            None => Some(0),
        }
    }
}

/// Reads the length-delimited field that is next.
#[inline(never)]
fn read_one<T: Body>(from: &mut Reader<'_>) -> Option<T> {
    let bytes = from.next_body()?;
    T::read_body(bytes, from)
}

#[inline]
pub(super) fn write_optional<T: Body>(
    member: Option<&T>,
    into: &mut Writer<impl Front>,
    at: usize,
    number: u8,
) -> Option<usize> {
    match member {
        Some(member) => write_one(member, into, at, number),
        None => Some(at),
    }
}

#[inline]
fn write_one<T: Body>(
    member: &T,
    into: &mut Writer<impl Front>,
    end: usize,
    number: u8,
) -> Option<usize> {
    let at = member.write_body(into, end)?;
    into.close(at, number, end)
}

pub(super) fn write_list<T: Body>(
    list: &[T],
    into: &mut Writer<impl Front>,
    at: usize,
    number: u8,
) -> Option<usize> {
    into.inside(1, |into| {
        list.iter().rev().try_fold(at, |at, element| write_one(element, into, at, number))
    })
}

/// A string without presence: absent and empty are the same bytes.
macro_rules! implicit {
    ($($name:ident),*) => {$(
        impl Member for $name {
            #[inline]
            fn read(from: &mut Reader<'_>, number: u8) -> Option<Self> {
                if from.is_at(number) { read_one(from) } else { Some(Self::from("")) }
            }

            #[inline]
            fn write(&self, into: &mut Writer<impl Front>, at: usize, number: u8) -> Option<usize> {
                match self.as_str() {
                    "" => Some(at),
                    text => into.text(at, number, text),
                }
            }

            #[inline]
            fn size(&self) -> Option<usize> {
                match self.as_str().len() {
                    0 => Some(0),
                    len => Some(counted_len(len)),
                }
            }
        }
    )*};
}

implicit!(String, EncryptedValueSubtype, ResumeStatus, Role, ToolCallType);

impl Member for Option<bool> {
    fn read(from: &mut Reader<'_>, number: u8) -> Option<Self> {
        if from.is_at_varint(number) {
            from.next_varint().map(|flag| Some(flag != 0))
        } else {
            Some(None)
        }
    }

    fn write(&self, into: &mut Writer<impl Front>, at: usize, number: u8) -> Option<usize> {
        self.map_or(Some(at), |flag| into.varint(at, number, u64::from(flag)))
    }

    fn size(&self) -> Option<usize> {
        Some(self.map_or(0, |_| 2))
    }
}

/// An integer that a double can count.
impl Member for Option<i64> {
    #[inline(always)]
    fn read(from: &mut Reader<'_>, number: u8) -> Option<Self> {
        if from.is_at_varint(number) { from.next_safe_integer().map(Some) } else { Some(None) }
    }

    #[inline]
    fn write(&self, into: &mut Writer<impl Front>, at: usize, number: u8) -> Option<usize> {
        match self {
            Some(value) => into.varint(at, number, value.cast_unsigned()),
            None => Some(at),
        }
    }

    #[inline]
    fn size(&self) -> Option<usize> {
        Some(self.map_or(0, |value| 1 + varint_len(value.cast_unsigned())))
    }
}

impl Member for PatchOp {
    fn read(from: &mut Reader<'_>, number: u8) -> Option<Self> {
        let op = i32::try_from(from.varint(number)?).ok()?;
        Some(match JsonPatchOperationType::try_from(op).ok()? {
            JsonPatchOperationType::Add => Self::Add,
            JsonPatchOperationType::Remove => Self::Remove,
            JsonPatchOperationType::Replace => Self::Replace,
            JsonPatchOperationType::Move => Self::Move,
            JsonPatchOperationType::Copy => Self::Copy,
            JsonPatchOperationType::Test => Self::Test,
        })
    }

    fn write(&self, into: &mut Writer<impl Front>, at: usize, number: u8) -> Option<usize> {
        let op = match self {
            Self::Add => JsonPatchOperationType::Add,
            Self::Remove => JsonPatchOperationType::Remove,
            Self::Replace => JsonPatchOperationType::Replace,
            Self::Move => JsonPatchOperationType::Move,
            Self::Copy => JsonPatchOperationType::Copy,
            Self::Test => JsonPatchOperationType::Test,
            Self::Unknown(_) => return None,
        };
        match u64::try_from(i32::from(op)).ok()? {
            0 => Some(at),
            op => into.varint(at, number, op),
        }
    }

    fn size(&self) -> Option<usize> {
        None
    }
}

impl<T: Body> Member for Vec<T> {
    fn read(from: &mut Reader<'_>, number: u8) -> Option<Self> {
        let mut list = Self::new();
        // An element stands in the list, which stands in the object.
        while from.is_at(number) {
            let bytes = from.next_body()?;
            list.push(T::read_body(bytes, &from.inner(bytes, 1))?);
        }
        Some(list)
    }

    fn write(&self, into: &mut Writer<impl Front>, at: usize, number: u8) -> Option<usize> {
        write_list(self, into, at, number)
    }

    fn size(&self) -> Option<usize> {
        self.is_empty().then_some(0)
    }
}

/// A list without presence reads as absent when it is empty.
impl<T: Body> Member for Option<Vec<T>> {
    fn read(from: &mut Reader<'_>, number: u8) -> Option<Self> {
        Vec::read(from, number).map(|list| Some(list).filter(|list| !list.is_empty()))
    }

    fn write(&self, into: &mut Writer<impl Front>, at: usize, number: u8) -> Option<usize> {
        self.as_ref().map_or(Some(at), |list| write_list(list, into, at, number))
    }

    #[inline]
    fn size(&self) -> Option<usize> {
        self.as_ref().map_or(Some(0), Member::size)
    }
}
