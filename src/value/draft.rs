//! Values in the making, while their bytes are being read.
//!
//! Rule: reading is linear. One `Value` message may hold any number of structs that merge, so keys
//! are made unique when the message that holds them has ended, and not before.

use super::decode::{Root, Scalar, Sink, walk};
use super::index::make_unique;
use super::object::Entry;
use super::{Key, List, Number, Object, Value, ValueError};

/// What one `Value` message, or all that merge into one, has held so far.
#[derive(Debug, Default)]
pub(super) enum Draft {
    #[default]
    Empty,
    Scalar(Value),
    List(Vec<Value>),
    Object(Entries),
}

/// The entries of a struct as they come, keys not yet unique.
#[derive(Debug, Default)]
pub(super) struct Entries {
    all: Vec<Entry>,
    /// Positions in `all` of entries whose value has no kind, ascending. Rarely any.
    kindless: Vec<usize>,
}

impl Draft {
    /// Reads all of `bytes` as the message `root`.
    pub(super) fn read(bytes: &[u8], root: Root, max_depth: usize) -> Result<Self, ValueError> {
        let draft = match root {
            Root::Value => Self::Empty,
            Root::Struct | Root::Entry => Self::Object(Entries::default()),
            Root::List | Root::Element => Self::List(Vec::new()),
        };
        let mut drafts = Drafts { outer: Vec::new(), keys: Vec::new(), at_hand: draft };
        walk(bytes, root, max_depth, &mut drafts)?;
        Ok(drafts.at_hand)
    }

    /// The value, unless no kind was given.
    pub(super) fn finish(self) -> Option<Value> {
        match self {
            Self::Empty => None,
            Self::Scalar(value) => Some(value),
            Self::List(values) => Some(Value::List(List::from_values(values))),
            Self::Object(entries) => Some(Value::Object(entries.finish())),
        }
    }

    /// The elements of a list.
    pub(super) fn into_elements(self) -> Vec<Value> {
        if let Self::List(values) = self { values } else { Vec::new() }
    }

    /// The entries of a struct.
    pub(super) fn into_entries(self) -> Entries {
        if let Self::Object(entries) = self { entries } else { Entries::default() }
    }
}

impl Entries {
    fn push(&mut self, key: &str, value: Option<Value>) {
        if value.is_none() {
            self.kindless.push(self.all.len());
        }
        self.all.push((key.into(), value.unwrap_or_default()));
    }

    /// The object of these entries alone.
    pub(super) fn finish(self) -> Object {
        if self.kindless.is_empty() {
            return Object::from_entries(self.all);
        }
        let mut entries: Vec<_> = self.into_optional().collect();
        make_unique(&mut entries);
        let given = entries.into_iter().filter_map(|(key, value)| Some((key, value?)));
        Object::from_unique(given.collect())
    }

    /// Applies these entries to an object that there was before.
    pub(super) fn merge_into(self, object: &mut Object) {
        if object.is_empty() {
            *object = self.finish();
            return;
        }
        for (key, value) in self.into_optional() {
            match value {
                Some(value) => drop(object.insert(key, value)),
                None => object.discard(&key),
            }
        }
    }

    fn into_optional(self) -> impl Iterator<Item = (Key, Option<Value>)> {
        let mut kindless = self.kindless.into_iter().peekable();
        self.all.into_iter().enumerate().map(move |(at, (key, value))| {
            let given = kindless.next_if_eq(&at).is_none();
            (key, given.then_some(value))
        })
    }
}

/// The draft at hand and those around it.
struct Drafts<'a> {
    outer: Vec<Draft>,
    /// The keys of the entries that are open.
    keys: Vec<&'a str>,
    at_hand: Draft,
}

impl Drafts<'_> {
    fn open(&mut self) {
        self.outer.push(std::mem::take(&mut self.at_hand));
    }

    /// Returns what was at hand; what was around it is at hand again.
    fn close(&mut self) -> Draft {
        std::mem::replace(&mut self.at_hand, self.outer.pop().unwrap_or_default())
    }
}

impl<'a> Sink<'a> for Drafts<'a> {
    fn scalar_entry(&mut self, key: &'a str, scalar: Scalar<'a>) {
        if let Draft::Object(entries) = &mut self.at_hand {
            entries.all.push((key.into(), scalar.into()));
        }
    }

    fn scalar_element(&mut self, scalar: Scalar<'a>) {
        if let Draft::List(values) = &mut self.at_hand {
            values.push(scalar.into());
        }
    }

    fn scalar(&mut self, scalar: Scalar<'a>) {
        self.at_hand = Draft::Scalar(scalar.into());
    }

    fn exact(&mut self, text: &'a str) {
        if let Draft::Scalar(Value::Number(number)) = &mut self.at_hand
            && let Some(double) = number.as_f64()
        {
            *number = Number::from_wire_with(double, text);
        }
    }

    fn object(&mut self) {
        if !matches!(self.at_hand, Draft::Object(_)) {
            self.at_hand = Draft::Object(Entries::default());
        }
    }

    fn list(&mut self) {
        if !matches!(self.at_hand, Draft::List(_)) {
            self.at_hand = Draft::List(Vec::new());
        }
    }

    fn entry(&mut self) {
        self.open();
        self.keys.push("");
    }

    fn key(&mut self, key: &'a str) {
        if let Some(last) = self.keys.last_mut() {
            *last = key;
        }
    }

    fn end_entry(&mut self) {
        let value = self.close().finish();
        let key = self.keys.pop().unwrap_or_default();
        if let Draft::Object(entries) = &mut self.at_hand {
            entries.push(key, value);
        }
    }

    fn element(&mut self) {
        self.open();
    }

    fn end_element(&mut self) {
        let value = self.close().finish().unwrap_or_default();
        if let Draft::List(values) = &mut self.at_hand {
            values.push(value);
        }
    }
}

impl From<Scalar<'_>> for Value {
    fn from(scalar: Scalar<'_>) -> Self {
        match scalar {
            Scalar::Null => Self::Null,
            Scalar::Bool(value) => Self::Bool(value),
            Scalar::Number(double) => Self::Number(Number::from_wire(double)),
            Scalar::String(text) => Self::String(text.to_owned()),
        }
    }
}
