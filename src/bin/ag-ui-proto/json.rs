//! Cutting JSON into its values without reading them: values in a row, or elements of an array.
//!
//! ```text
//! {"type": ...}        values in a row: by custom one a line, but a value may span lines, and
//! {"type": ...}        several may share one
//!
//! [{"type": ...},      an array: its elements, one by one
//!  {"type": ...}]
//! ```
//!
//! Only strings and brackets are followed. A text that is cut where it cannot go on, such as a line
//! that breaks off, is handed over as it is: whoever reads it says what is wrong.

use bytes::BytesMut;

use crate::place::{Cursor, Item, SplitError, is_space, skip_space};

/// Takes JSON values off a buffer, whatever the parts in which their bytes arrive.
pub(crate) struct JsonSplitter {
    state: State,
    is_array: bool,
    max: usize,
    scan: Scan,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before the array's bracket.
    Start,
    /// Before a value; in an array, `]` may come instead if this is the first.
    Before { is_first: bool },
    /// In a value, or just before it.
    Value,
    /// Behind an element of an array.
    After,
    /// Behind the array.
    End,
}

/// How far the first value of the buffer has been looked at.
#[derive(Default)]
struct Scan {
    at: usize,
    brackets: Vec<u8>,
    in_string: bool,
    is_escaped: bool,
    /// The last byte outside of strings that is no white space.
    last: u8,
}

impl JsonSplitter {
    /// Values in a row, of at most `max` bytes each.
    pub(crate) fn lines(max: usize) -> Self {
        let state = State::Before { is_first: true };
        Self { state, is_array: false, max, scan: Scan::default() }
    }

    /// The elements of one array, of at most `max` bytes each.
    pub(crate) fn array(max: usize) -> Self {
        Self { state: State::Start, is_array: true, max, scan: Scan::default() }
    }

    /// Takes the next value off the front of `src`, or nothing while it is incomplete.
    pub(crate) fn next_item(
        &mut self,
        src: &mut BytesMut,
        cursor: &mut Cursor,
    ) -> Result<Option<Item>, SplitError> {
        loop {
            if self.state != State::Value {
                skip_space(src, cursor);
                let Some(byte) = src.first().copied() else { return Ok(None) };
                self.state = self.step(byte, *cursor)?;
                if !matches!(self.state, State::Value) {
                    take(1, src, cursor);
                }
                continue;
            }
            let len = self.scan.end(src, self.is_array);
            if len.unwrap_or(src.len()) > self.max {
                return Err(cursor.too_long(self.max));
            }
            return Ok(len.map(|len| self.take_value(len, src, cursor)));
        }
    }

    /// As [`JsonSplitter::next_item`], once all input is in `src`.
    pub(crate) fn finish(
        &mut self,
        src: &mut BytesMut,
        cursor: &mut Cursor,
    ) -> Result<Option<Item>, SplitError> {
        match self.next_item(src, cursor)? {
            Some(item) => Ok(Some(item)),
            None if self.state == State::Value => Ok(Some(self.take_value(src.len(), src, cursor))),
            None if self.is_array && self.state != State::End => {
                Err(cursor.error("truncated: input ended inside the array"))
            }
            None => Ok(None),
        }
    }

    /// White space at the end stays, so that a text that breaks off breaks off in its last line.
    fn take_value(&mut self, len: usize, src: &mut BytesMut, cursor: &mut Cursor) -> Item {
        self.scan.clear();
        self.state = if self.is_array { State::After } else { State::Before { is_first: false } };
        let text = src.get(..len).unwrap_or_default();
        let space = text.iter().rev().take_while(|byte| is_space(**byte)).count();
        take(text.len() - space, src, cursor)
    }

    /// The state that `byte` leads to, outside of values.
    fn step(&self, byte: u8, cursor: Cursor) -> Result<State, SplitError> {
        match (self.state, byte) {
            (State::Before { .. }, _) if !self.is_array => Ok(State::Value),
            (State::Start, b'[') => Ok(State::Before { is_first: true }),
            (State::Start, _) => Err(cursor.error("expected an array")),
            (State::Before { is_first: true } | State::After, b']') => Ok(State::End),
            (State::Before { .. }, b',' | b']') => Err(cursor.error("expected a value")),
            (State::Before { .. } | State::Value, _) => Ok(State::Value),
            (State::After, b',') => Ok(State::Before { is_first: false }),
            (State::After, _) => Err(cursor.error("expected a comma or the end of the array")),
            (State::End, _) => Err(cursor.error("more input after the end of the array")),
        }
    }
}

/// Takes `len` bytes off the front of `src`.
fn take(len: usize, src: &mut BytesMut, cursor: &mut Cursor) -> Item {
    let item = Item { place: *cursor, text: src.split_to(len).freeze() };
    cursor.pass(&item.text);
    item
}

impl Scan {
    /// Where the value ends with which `src` begins, if that is known yet.
    fn end(&mut self, src: &[u8], is_array: bool) -> Option<usize> {
        while let Some(rest) = src.get(self.at..).filter(|rest| !rest.is_empty()) {
            if self.in_string {
                if self.is_escaped {
                    self.is_escaped = false;
                    self.at += 1;
                    continue;
                }
                let found = memchr::memchr3(b'"', b'\\', b'\n', rest);
                self.at += found.map_or(rest.len(), |found| found + 1);
                match found.and_then(|found| rest.get(found)) {
                    Some(b'"') => self.in_string = false,
                    Some(b'\\') => self.is_escaped = true,
                    // No string of JSON goes on in the next line.
                    Some(_) => return Some(self.at - 1),
                    None => {}
                }
                continue;
            }
            for byte in rest {
                let opened = self.brackets.last().copied();
                match byte {
                    b' ' | b'\t' | b'\r' | b'\n' if opened.is_some() => {
                        self.at += 1;
                        continue;
                    }
                    b'"' if opened.is_some() => {
                        self.in_string = true;
                        self.last = *byte;
                        self.at += 1;
                        break;
                    }
                    b'{' | b'[' => {
                        if !self.may_open(opened) {
                            return Some(self.at);
                        }
                        self.brackets.push(*byte);
                    }
                    b'}' | b']' if opened.is_some() => {
                        self.brackets.pop();
                        if self.brackets.is_empty() || opened != Some(partner(*byte)) {
                            return Some(self.at + 1);
                        }
                    }
                    // A value without brackets is no event. It ends with its line, or its element.
                    b'\n' => return Some(self.at),
                    b',' | b']' if is_array && opened.is_none() => return Some(self.at),
                    _ => {}
                }
                self.last = *byte;
                self.at += 1;
            }
        }
        None
    }

    /// Whether a bracket may stand here. Where it may not, a line has broken off, and the bracket
    /// is the next line's.
    fn may_open(&self, opened: Option<u8>) -> bool {
        match opened {
            None => self.at == 0,
            Some(b'{') => self.last == b':',
            Some(_) => matches!(self.last, b'[' | b','),
        }
    }

    fn clear(&mut self) {
        self.brackets.clear();
        *self = Self { brackets: std::mem::take(&mut self.brackets), ..Self::default() };
    }
}

fn partner(bracket: u8) -> u8 {
    if bracket == b'}' { b'{' } else { b'[' }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All that `text` gives, and the error it ends with, in parts of `part` bytes.
    fn split(
        mut splitter: JsonSplitter,
        text: &str,
        part: usize,
    ) -> (Vec<(u64, String)>, Option<SplitError>) {
        let (mut src, mut cursor, mut items) = (BytesMut::new(), Cursor::default(), Vec::new());
        let mut keep = |item: Item| {
            items.push((item.place.line, String::from_utf8(item.text.to_vec()).unwrap()));
        };
        for part in text.as_bytes().chunks(part) {
            src.extend_from_slice(part);
            loop {
                match splitter.next_item(&mut src, &mut cursor) {
                    Ok(Some(item)) => keep(item),
                    Ok(None) => break,
                    Err(error) => return (items, Some(error)),
                }
            }
        }
        loop {
            match splitter.finish(&mut src, &mut cursor) {
                Ok(Some(item)) => keep(item),
                Ok(None) => return (items, None),
                Err(error) => return (items, Some(error)),
            }
        }
    }

    #[track_caller]
    fn check(
        make: fn(usize) -> JsonSplitter,
        text: &str,
        want: &[(u64, &str)],
        error: Option<&str>,
    ) {
        let want: Vec<_> = want.iter().map(|(line, text)| (*line, (*text).to_owned())).collect();
        for part in 1..=text.len().max(1) {
            let (items, stop) = split(make(64), text, part);
            assert_eq!(items, want, "in parts of {part}");
            let stop = stop.map(|stop| format!("{}: {}", stop.line, stop.reason));
            assert_eq!(stop.as_deref(), error, "in parts of {part}");
        }
    }

    #[test]
    fn values_in_a_row_may_share_lines_and_span_them() {
        let text = " {\"a\":\"}\\\"{\"}\r\n\n{\n \"b\": [{}, {\"c\": {}}]\n}{}\n{\"d\":1}";
        check(
            JsonSplitter::lines,
            text,
            &[
                (1, r#"{"a":"}\"{"}"#),
                (3, "{\n \"b\": [{}, {\"c\": {}}]\n}"),
                (5, "{}"),
                (6, r#"{"d":1}"#),
            ],
            None,
        );
    }

    #[test]
    fn a_broken_line_does_not_swallow_the_next() {
        for broken in [r#"{"a":"x"#, r#"{"a":1"#, r#"{"a":[1,2"#, r#"{"a":1,"#, r#"{"a":1]"#] {
            let (items, _) = split(JsonSplitter::lines(64), &format!("{broken}\n{{}}\n"), 3);
            let lines: Vec<_> = items.iter().map(|(line, text)| (*line, text.as_str())).collect();
            assert_eq!(lines, [(1, broken), (2, "{}")]);
        }
    }

    #[test]
    fn what_is_no_object_is_handed_over_by_line() {
        check(
            JsonSplitter::lines,
            "nonsense, all of it\n17\n{}",
            &[(1, "nonsense, all of it"), (2, "17"), (3, "{}")],
            None,
        );
    }

    #[test]
    fn an_array_gives_its_elements() {
        check(JsonSplitter::array, " [ ]\n", &[], None);
        let elements = [(1, "{}"), (2, r#"{"a":[1,{}]}"#), (3, "null")];
        check(JsonSplitter::array, "[{},\n {\"a\":[1,{}]} ,\nnull]\n", &elements, None);
    }

    #[test]
    fn a_damaged_array_is_told_with_its_line() {
        for (text, items, error) in [
            ("[{}\n", 1, "2: truncated: input ended inside the array"),
            ("[{},\n]", 1, "2: expected a value"),
            ("[{} {}]", 1, "1: expected a comma or the end of the array"),
            ("[]\n\n[]", 0, "3: more input after the end of the array"),
            ("{}", 0, "1: expected an array"),
        ] {
            check(JsonSplitter::array, text, &[(1, "{}")][..items], Some(error));
        }
    }

    #[test]
    fn a_value_over_the_limit_is_not_waited_for() {
        let text = format!("{{}}\n{{\"a\":\"{}\"}}", "x".repeat(80));
        let error = "2: an event of more than 64 bytes of JSON; see `--max-frame`";
        check(JsonSplitter::lines, &text, &[(1, "{}")], Some(error));
    }
}
