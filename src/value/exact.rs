//! JSON text read to the last digit, and twice-given keys named.
//!
//! `serde_json` rounds a number to a double before a visitor sees it, and it is not asked to do
//! otherwise, since that would change every crate of a build. What it gives is read for structure;
//! the digits come from the text. Numbers come in the same order from both.

use std::cell::RefCell;
use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::object::Entry;
use super::{JsonError, Key, List, MAX_DEPTH, Number, Object, Seen, Value};

/// JSON text as it was written.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ExactJson {
    /// The value. Its numbers keep every digit, see [`Number::exact`].
    pub value: Value,
    /// The members that are given again later in their object. The last wins.
    pub duplicates: Vec<Duplicate>,
}

/// A member that is given again later in its object.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Duplicate {
    /// Where, as a JSON Pointer.
    pub pointer: String,
    /// The value that is lost.
    pub value: Value,
}

impl ExactJson {
    /// Reads all of `text`, as [`Value::from_json`] does, but keeps every digit of every number and
    /// names the keys that are given twice. A number may be out of the range of doubles.
    ///
    /// Slower than [`Value::from_json`]; [`ExactJson::is_called_for`] says whether it can matter.
    ///
    /// # Errors
    ///
    /// As [`Value::from_json`], save for the range of numbers.
    pub fn read(text: &str, max_depth: usize) -> Result<Self, JsonError> {
        let max = max_depth.min(MAX_DEPTH);
        let widened = in_range(text);
        let text_in_range = widened.as_deref().unwrap_or(text);
        let state = RefCell::new(State {
            literals: Literals::new(text),
            path: Vec::new(),
            duplicates: Vec::new(),
            too_deep: false,
        });
        let mut reader = serde_json::Deserializer::from_str(text_in_range);
        reader.disable_recursion_limit();
        let read = Exact { state: &state, max }
            .deserialize(&mut reader)
            .and_then(|value| reader.end().map(|()| value));
        let state = state.into_inner();
        match read {
            Ok(value) => Ok(Self { value, duplicates: state.duplicates }),
            Err(_) if state.too_deep => Err(JsonError::too_deep(text, max)),
            Err(reason) => Err(JsonError::refused(state.pointer(), reason, text)),
        }
    }

    /// As [`ExactJson::read`], but as fast as [`Value::from_json`] where nothing can differ.
    ///
    /// # Errors
    ///
    /// As [`ExactJson::read`].
    pub fn read_quickly(text: &str, max_depth: usize) -> Result<Self, JsonError> {
        let seen = Seen::default();
        let read = Value::from_json_noting(text, max_depth, &seen);
        let is_rounded = seen.double() && Self::is_called_for(text);
        match read {
            Ok(value) if !is_rounded && !seen.duplicate() => {
                Ok(Self { value, duplicates: Vec::new() })
            }
            Err(error @ JsonError::TooDeep { .. }) => Err(error),
            // A number beyond the doubles was an error there, and is a number here.
            _ => Self::read(text, max_depth),
        }
    }

    /// Whether some number of `text` could differ from the double that [`Value::from_json`] makes
    /// of it. Up to 15 digits without an exponent never do. `text` need not be JSON.
    #[must_use]
    pub fn is_called_for(text: &str) -> bool {
        Literals::new(text).any(|literal| {
            let digits = literal.bytes().filter(u8::is_ascii_digit).count();
            digits > 15 || literal.contains(['e', 'E'])
        })
    }
}

/// The text with every number that no double is near written as 0, which is only read for its
/// place; blanks behind it keep all other places. Nothing if there is no such number.
fn in_range(text: &str) -> Option<String> {
    let beyond = |literal: &&str| literal.parse().is_ok_and(|double: f64| double.is_infinite());
    if !Literals::new(text).any(|literal| beyond(&literal)) {
        return None;
    }
    let mut replaced = String::with_capacity(text.len());
    let mut literals = Literals::new(text);
    let mut from = 0;
    while let Some(literal) = literals.next() {
        if beyond(&literal) {
            replaced.push_str(text.get(from..literals.at - literal.len()).unwrap_or_default());
            replaced.push('0');
            replaced.extend(literal.chars().skip(1).map(|_| ' '));
            from = literals.at;
        }
    }
    replaced.push_str(text.get(from..).unwrap_or_default());
    Some(replaced)
}

/// The number literals of a JSON text, in order: whatever stands outside of strings and begins as a
/// number does.
struct Literals<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Literals<'t> {
    fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }
}

impl<'t> Iterator for Literals<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        let bytes = self.text.as_bytes();
        loop {
            let rest = bytes.get(self.at..)?;
            let found = rest.iter().position(|byte| matches!(byte, b'"' | b'-' | b'0'..=b'9'))?;
            let start = self.at + found;
            self.at = start + 1;
            if bytes.get(start) == Some(&b'"') {
                self.skip_string();
                continue;
            }
            let is_more =
                |byte: &&u8| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-');
            self.at += bytes.get(self.at..)?.iter().take_while(is_more).count();
            return self.text.get(start..self.at);
        }
    }
}

impl Literals<'_> {
    /// Goes on behind the string whose first quote was passed.
    fn skip_string(&mut self) {
        let bytes = self.text.as_bytes();
        while let Some(rest) = bytes.get(self.at..) {
            let Some(found) = rest.iter().position(|byte| matches!(byte, b'"' | b'\\')) else {
                self.at = bytes.len();
                return;
            };
            self.at += found + 1;
            match rest.get(found) {
                Some(b'\\') => self.at += 1,
                _ => return,
            }
        }
    }
}

struct State<'t> {
    literals: Literals<'t>,
    /// Where the reader is.
    path: Vec<Step>,
    duplicates: Vec<Duplicate>,
    too_deep: bool,
}

enum Step {
    Key(Key),
    Index(usize),
}

impl State<'_> {
    /// Where the reader is, as a JSON Pointer.
    fn pointer(&self) -> String {
        let mut pointer = String::new();
        for step in &self.path {
            match step {
                Step::Key(key) => push_key(key, &mut pointer),
                Step::Index(index) => {
                    pointer.push('/');
                    pointer.push_str(&index.to_string());
                }
            }
        }
        pointer
    }

    fn note_duplicates(&mut self, entries: &[Entry]) {
        let mut later = HashSet::new();
        let given_again: Vec<_> =
            entries.iter().rev().filter(|(key, _)| !later.insert(key.as_str())).collect();
        for (key, value) in given_again.into_iter().rev() {
            let mut pointer = self.pointer();
            push_key(key, &mut pointer);
            self.duplicates.push(Duplicate { pointer, value: value.clone() });
        }
    }
}

fn push_key(key: &str, pointer: &mut String) {
    pointer.push('/');
    pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
}

#[derive(Clone, Copy)]
struct Exact<'s, 't> {
    state: &'s RefCell<State<'t>>,
    max: usize,
}

impl Exact<'_, '_> {
    fn open<E: serde::de::Error>(self) -> Result<(), E> {
        let mut state = self.state.borrow_mut();
        if state.path.len() < self.max {
            return Ok(());
        }
        state.too_deep = true;
        Err(E::custom(format_args!("value nested deeper than {} levels", self.max)))
    }

    /// The number that stands next in the text.
    fn number<E: serde::de::Error>(self) -> Result<Value, E> {
        let literal = self.state.borrow_mut().literals.next();
        let number = literal.and_then(Number::parse);
        number.map(Value::Number).ok_or_else(|| E::custom("invalid number"))
    }
}

impl<'de> DeserializeSeed<'de> for Exact<'_, '_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Exact<'_, '_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: serde::de::Error>(self, _: i64) -> Result<Value, E> {
        self.number()
    }

    fn visit_u64<E: serde::de::Error>(self, _: u64) -> Result<Value, E> {
        self.number()
    }

    fn visit_f64<E: serde::de::Error>(self, _: f64) -> Result<Value, E> {
        self.number()
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        self.open()?;
        let mut list = List::new();
        loop {
            self.state.borrow_mut().path.push(Step::Index(list.len()));
            let Some(element) = elements.next_element_seed(self)? else { break };
            self.state.borrow_mut().path.pop();
            list.push(element);
        }
        self.state.borrow_mut().path.pop();
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        self.open()?;
        let mut entries: Vec<Entry> = Vec::new();
        while let Some(key) = members.next_key::<Key>()? {
            self.state.borrow_mut().path.push(Step::Key(key.clone()));
            let value = if key == super::json::NUMBER_KEY && super::json::has_arbitrary_precision()
            {
                members.next_value::<serde::de::IgnoredAny>()?;
                let number = self.number::<A::Error>()?;
                self.state.borrow_mut().path.pop();
                return Ok(number);
            } else {
                members.next_value_seed(self)?
            };
            self.state.borrow_mut().path.pop();
            entries.push((key, value));
        }
        self.state.borrow_mut().note_duplicates(&entries);
        Ok(Value::Object(Object::from_entries(entries)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> ExactJson {
        ExactJson::read(text, 128).unwrap()
    }

    #[test]
    fn every_digit_of_every_number_is_kept_in_its_place() {
        let text =
            r#"{"a":[9007199254740993,0.10000000000000000001,"1e5\" 7"],"b":-1e400,"c":1.5}"#;
        assert_eq!(
            read(text).value.to_string(),
            r#"{"a":[9007199254740993,0.10000000000000000001,"1e5\" 7"],"b":-1e400,"c":1.5}"#
        );
    }

    #[test]
    fn keys_given_twice_are_named_where_they_stand() {
        let exact = read(r#"{"a":1,"x/y":[{"k":1,"k":2,"k":3}],"a":{"b":0}}"#);
        let duplicates: Vec<_> = exact
            .duplicates
            .iter()
            .map(|duplicate| (duplicate.pointer.as_str(), duplicate.value.to_string()))
            .collect();
        assert_eq!(
            duplicates,
            [("/x~1y/0/k", "1".into()), ("/x~1y/0/k", "2".into()), ("/a", "1".into())]
        );
        assert_eq!(exact.value.to_string(), r#"{"a":{"b":0},"x/y":[{"k":3}]}"#);
    }

    #[test]
    fn only_long_or_scaled_numbers_call_for_an_exact_reading() {
        for (text, called_for) in [
            (r#"{"a":123456789012345,"b":-0.12345678901234}"#, false),
            (r#"{"1234567890123456":"1234567890123456 \" 1e5"}"#, false),
            ("[1234567890123456]", true),
            ("[1e2]", true),
        ] {
            assert_eq!(ExactJson::is_called_for(text), called_for, "{text}");
        }
    }

    #[test]
    fn text_that_is_not_json_is_refused_with_its_place() {
        for (text, place) in [(r#"{"a":01}"#, "/a"), (r#"{"a":1} 2"#, "")] {
            let Err(JsonError::Malformed { pointer, .. }) = ExactJson::read(text, 128) else {
                panic!("{text} was read");
            };
            assert_eq!(pointer, place, "{text}");
        }
        let error = ExactJson::read("[1e400, -1e999, oops]", 128).unwrap_err();
        assert_eq!(error.to_string(), "malformed JSON at /2: expected value at line 1 column 17");
        let half = ExactJson::read(r#"{"a":["x",{"b":"\ud800"}]}"#, 128).unwrap_err();
        assert!(matches!(half, JsonError::LoneSurrogate { pointer, .. } if pointer == "/a/1/b"));
        let deep = format!("{}{}", "[".repeat(5), "]".repeat(5));
        assert!(matches!(ExactJson::read(&deep, 4), Err(JsonError::TooDeep { max: 4, .. })));
        assert!(ExactJson::read(&deep, 5).is_ok());
    }
}
