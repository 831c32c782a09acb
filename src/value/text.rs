//! Values as compact JSON text, without recursion.
//!
//! `Display` cannot refuse a value, so unlike serde it has no limit of depth, and it prints a number
//! kept as text with all its digits.

use std::{fmt, io};

use super::children::Children;
use super::{List, Object, Value};

/// Compact JSON. A number kept as text is printed as it was read.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Children::of(self) {
            Some(children) => write_children(children, f),
            None => write_scalar(self, f),
        }
    }
}

/// Compact JSON, as of [`Value`].
impl fmt::Display for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_children(Children::List(self.iter()), f)
    }
}

/// Compact JSON, as of [`Value`].
impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_children(Children::Object(self.as_slice().iter()), f)
    }
}

fn write_children(children: Children<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write_open(&children, f)?;
    // What is left of each open container, and whether its next child is its first.
    let mut open = vec![(children, true)];
    while let Some((children, first)) = open.last_mut() {
        let Some((key, value)) = children.next() else {
            f.write_str(if matches!(children, Children::List(_)) { "]" } else { "}" })?;
            open.pop();
            continue;
        };
        if !std::mem::take(first) {
            f.write_str(",")?;
        }
        if let Some(key) = key {
            write_string(key, f)?;
            f.write_str(":")?;
        }
        match Children::of(value) {
            Some(inner) => {
                write_open(&inner, f)?;
                open.push((inner, true));
            }
            None => write_scalar(value, f)?,
        }
    }
    Ok(())
}

fn write_open(children: &Children<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str(if matches!(children, Children::List(_)) { "[" } else { "{" })
}

fn write_scalar(value: &Value, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match value {
        Value::Bool(value) => write!(f, "{value}"),
        Value::Number(number) => write!(f, "{number}"),
        Value::String(text) => write_string(text, f),
        _ => f.write_str("null"),
    }
}

/// A string in quotes, escaped by `serde_json`.
fn write_string(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    /// Takes what `serde_json` writes, which is UTF-8 in every call.
    struct Out<'a, 'b>(&'a mut fmt::Formatter<'b>);

    impl io::Write for Out<'_, '_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let text = str::from_utf8(bytes).map_err(io::Error::other)?;
            self.0.write_str(text).map_err(io::Error::other)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    serde_json::to_writer(Out(f), text).map_err(|_| fmt::Error)
}

#[cfg(test)]
mod tests {
    use super::super::Number;
    use super::*;

    #[test]
    fn a_value_prints_as_compact_json() {
        let text = r#"{"b":[1,-2.5,"\"\\\n\u0001é\ud83d\ude00",null,true,[],{}],"a":{"":[[1],2]}}"#;
        let value = Value::from_json(text, 128).unwrap();
        let again: serde_json::Value = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::from_str::<serde_json::Value>(&value.to_string()).unwrap(), again);
        assert_eq!(value.to_string(), serde_json::to_string(&value).unwrap());
        assert!(value.to_string().starts_with(r#"{"b":[1,-2.5,"\"\\\n\u0001é"#));
    }

    #[test]
    fn exact_digits_are_printed() {
        let number = Number::parse("123456789012345678901234567890.5").unwrap();
        let list = List::from(vec![Value::from(number)]);
        assert_eq!(list.to_string(), "[123456789012345678901234567890.5]");
        assert_eq!(
            Object::from([("n", list)]).to_string(),
            r#"{"n":[123456789012345678901234567890.5]}"#
        );
    }
}
