//! Open JSON values: one type for JSON text, for Rust, and for `google.protobuf.Value`.
//!
//! ```text
//! Value --- Null
//!       |-- Bool(bool)
//!       |-- Number(Number)    an integer, a double, or a decimal text neither can hold
//!       |-- String(String)
//!       |-- List(List)        google.protobuf.ListValue on the wire
//!       `-- Object(Object)    google.protobuf.Struct on the wire; entries in the order given
//! Slot(Option<Value>)         one google.protobuf.Value message, which may hold no kind at all
//! ```
//!
//! It feels like `serde_json::Value`: indexing, `get`, `pointer`, `as_str`, `From` and `Into`, and
//! reading into a type of one's own with [`Value::to`]. It differs where the protocol needs more:
//! an object keeps the order of its entries, so the same object is the same bytes; a number keeps
//! being an integer; and an absent value ([`Slot`]) is not a null one.
//!
//! Depth is counted in containers: 0 for a scalar, 1 for a container of scalars. Dropping, cloning,
//! comparing, printing, encoding and decoding use no stack in proportion to it: the bytes of at most
//! 128 levels are read and written by recursion, deeper ones without. Whatever recurses by nature
//! (serde, `Debug`) stops at a limit instead.
//!
//! Rule: `google/protobuf/struct.proto`; the JSON form of these messages in the protobuf guide.

use std::fmt;

mod access;
mod ascii;
mod children;
mod convert;
mod decimal;
mod decode;
mod deserializer;
pub(crate) mod direct;
mod draft;
mod encode;
mod error;
mod exact;
pub(crate) mod front;
mod index;
pub(crate) mod input;
mod json;
mod key;
mod list;
mod message;
mod nest;
mod number;
mod object;
#[cfg(feature = "prost-types")]
mod prost_types;
mod serde_value;
mod slot;
pub(crate) mod space;
mod text;

pub use access::ValueIndex;
pub(crate) use decode::{Root, check};
pub use error::{ConvertError, JsonError, ValueError};
pub use exact::{Duplicate, ExactJson};
pub use json::ValueSeed;
pub(crate) use json::{Level, Seen};
pub use key::Key;
pub use list::List;
pub use number::Number;
pub use object::{IntoIter, Iter, IterMut, Object};
pub use slot::Slot;

/// Nesting levels that no configuration exceeds: what serde recurses into, and prost's own decoding.
///
/// A level costs serde some stack, see [`Value::from_json`]; 512 levels fit the 2 MiB of a spawned
/// thread in a debug build.
pub const MAX_DEPTH: usize = 512;

/// A JSON value.
///
/// `==` is by structure: the integer 5 is not the double 5.0, and 0.0 is not -0.0. The order of an
/// object's entries does not count, as in JSON; compare [`Object::keys`] or the bytes if it should.
///
/// # Examples
///
/// ```
/// # use ag_ui_proto::value::Value;
/// let value = Value::from_json(r#"{"tool": {"args": [1, 2.5, "x"]}}"#, 128)?;
/// assert_eq!(value["tool"]["args"][1].as_f64(), Some(2.5));
/// assert_eq!(value.pointer("/tool/args/2").and_then(Value::as_str), Some("x"));
/// assert!(value["tool"]["absent"].is_null());
/// # Ok::<(), ag_ui_proto::value::JsonError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Default)]
pub enum Value {
    /// `null`.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    String(String),
    /// An array.
    List(List),
    /// An object.
    Object(Object),
}

/// How many levels `Debug` prints before it writes `…`.
const DEBUG_DEPTH: usize = 64;

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Shown { value: self, left: DEBUG_DEPTH }.fmt(f)
    }
}

impl fmt::Debug for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show_list(self, DEBUG_DEPTH - 1, f)
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show_object(self, DEBUG_DEPTH - 1, f)
    }
}

/// A value as `Debug` shows it, with the levels it may still open.
struct Shown<'a> {
    value: &'a Value,
    left: usize,
}

impl fmt::Debug for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.value, self.left.checked_sub(1)) {
            (Value::Null, _) => f.write_str("Null"),
            (Value::Bool(value), _) => write!(f, "Bool({value})"),
            (Value::Number(value), _) => fmt::Debug::fmt(value, f),
            (Value::String(value), _) => write!(f, "String({value:?})"),
            (Value::List(_) | Value::Object(_), None) => f.write_str("…"),
            (Value::List(list), Some(left)) => show_list(list, left, f),
            (Value::Object(object), Some(left)) => show_object(object, left, f),
        }
    }
}

fn show_list(list: &List, left: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str("List ")?;
    f.debug_list().entries(list.iter().map(|value| Shown { value, left })).finish()
}

fn show_object(object: &Object, left: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str("Object ")?;
    f.debug_map().entries(object.iter().map(|(key, value)| (key, Shown { value, left }))).finish()
}

#[cfg(test)]
mod tests {
    use proptest::test_runner::{Config, RngSeed};

    use super::*;

    /// So many cases of a property, the same ones in every run.
    pub(super) fn cases(cases: u32) -> Config {
        Config {
            cases,
            rng_seed: RngSeed::Fixed(31),
            failure_persistence: None,
            ..Config::default()
        }
    }

    /// `levels` lists around nothing: its depth is `levels`.
    pub(super) fn nested_lists(levels: usize) -> Value {
        (0..levels).fold(Value::Null, |inner, level| match level {
            0 => Value::List(List::default()),
            _ => Value::List(List::from(vec![inner])),
        })
    }

    /// `levels` objects around nothing, each with a scalar beside the nested one.
    pub(super) fn nested_objects(levels: usize) -> Value {
        (0..levels).fold(Value::Null, |inner, level| match level {
            0 => Value::Object(Object::new()),
            _ => Value::Object(Object::from([("n", Value::from(1)), ("in", inner)])),
        })
    }

    /// Runs `body` with a quarter megabyte of stack, which recursion over 100,000 levels overflows.
    pub(super) fn on_a_small_stack<T: Send + 'static>(
        body: impl FnOnce() -> T + Send + 'static,
    ) -> T {
        std::thread::Builder::new().stack_size(256 * 1024).spawn(body).unwrap().join().unwrap()
    }

    #[test]
    fn a_value_takes_four_words() {
        assert_eq!(size_of::<Value>(), 32);
        assert_eq!(size_of::<Slot>(), 32);
        assert_eq!(size_of::<Object>(), 24);
    }

    #[test]
    fn a_container_moves_out_of_a_matched_value() {
        let value = Value::from(Object::from([("a", 1)]));
        let object = match value {
            Value::Object(object) => object,
            other => panic!("{other:?}"),
        };
        assert_eq!(object.len(), 1);
    }

    #[test]
    fn debug_prints_structure_and_stops_at_a_depth() {
        let value =
            Value::from(Object::from([("a", Value::from(vec![1.5, 2.0])), ("b", ().into())]));
        assert_eq!(
            format!("{value:?}"),
            r#"Object {"a": List [Number(1.5), Number(2.0)], "b": Null}"#
        );
        let deep = format!("{:?}", nested_lists(DEBUG_DEPTH + 1));
        assert_eq!(deep.matches("List").count(), DEBUG_DEPTH);
        assert!(deep.contains("[…]"), "{deep}");
        assert!(!format!("{:?}", nested_lists(DEBUG_DEPTH)).contains('…'));
    }
}
