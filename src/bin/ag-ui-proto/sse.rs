//! A captured body of server-sent events, as the JSON texts that it carries.
//!
//! The end of input ends an event, since a capture often ends without its last empty line; and data
//! that is blank is none. Input without any, that is nothing of server-sent events, is refused.

use ag_ui_proto::codec::Limits;
use ag_ui_proto::sse::{Data, DataError, DataReader};
use bytes::BytesMut;

use crate::place::{Cursor, Item, SplitError};

/// Takes the data of events off a buffer, whatever the parts in which their bytes arrive.
pub(crate) struct SseSplitter {
    reader: DataReader,
    max: usize,
    /// The line that the body begins in, counted from 0.
    first: u64,
}

impl SseSplitter {
    /// Events of at most `max` bytes of data, from `cursor` on.
    pub(crate) fn new(max: usize, cursor: Cursor) -> Self {
        let limits = Limits::new().with_max_frame_len(max);
        Self { reader: DataReader::new(limits), max, first: cursor.line - 1 }
    }

    /// Takes the next event off the front of `src`, or nothing while it is incomplete.
    pub(crate) fn next_item(&mut self, src: &mut BytesMut) -> Result<Option<Item>, SplitError> {
        loop {
            let next = self.reader.next_data(src);
            match self.item(next)? {
                Some(item) if item.text.iter().all(u8::is_ascii_whitespace) => {}
                other => return Ok(other),
            }
        }
    }

    /// As [`SseSplitter::next_item`], once all input is in `src`.
    pub(crate) fn finish(&mut self, src: &mut BytesMut) -> Result<Option<Item>, SplitError> {
        if let Some(item) = self.next_item(src)? {
            return Ok(Some(item));
        }
        let last = self.reader.take_unterminated(src);
        let item = self.item(last)?;
        if let Some(stray) = self.reader.stray() {
            return Err(Cursor { line: self.first + 1, column: 1 }.error(stray.to_string()));
        }
        Ok(item.filter(|item| !item.text.iter().all(u8::is_ascii_whitespace)))
    }

    fn item(&self, next: Result<Option<Data>, DataError>) -> Result<Option<Item>, SplitError> {
        let data = next.map_err(|_| {
            let line = self.first + self.reader.place().line;
            Cursor { line, column: 1 }.too_long(self.max)
        })?;
        Ok(data.map(|Data { place, bytes, .. }| {
            let place = Cursor { line: self.first + place.line, column: place.column };
            Item { place, text: bytes }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: &[(u64, u64, &str)]) {
        for part in 1..=text.len() {
            let mut src = BytesMut::new();
            let mut splitter = SseSplitter::new(64, Cursor::default());
            let mut items = Vec::new();
            for part in text.as_bytes().chunks(part) {
                src.extend_from_slice(part);
                while let Some(item) = splitter.next_item(&mut src).unwrap() {
                    items.push(item);
                }
            }
            while let Some(item) = splitter.finish(&mut src).unwrap() {
                items.push(item);
            }
            let items: Vec<_> = items
                .iter()
                .map(|Item { place, text }| {
                    (place.line, place.column, std::str::from_utf8(text).unwrap())
                })
                .collect();
            assert_eq!(items, want, "in parts of {part}");
        }
    }

    #[test]
    fn data_lines_are_joined_and_the_rest_is_ignored() {
        check(
            ": hello\nevent: x\nid: 7\ndata: {\"a\":\ndata:1}\nretry: 5\ndatum: 2\n\n\ndata: {}\n\n",
            &[(4, 7, "{\"a\":\n1}"), (10, 7, "{}")],
        );
    }

    #[test]
    fn lines_end_in_lf_crlf_or_cr() {
        for end in ["\n", "\r\n", "\r"] {
            let text = ["data: {}", ": x", "", "", "data:  {}", "", ""].join(end);
            check(&text, &[(1, 7, "{}"), (5, 7, " {}")]);
        }
    }

    #[test]
    fn the_end_of_input_ends_an_event() {
        check("data: {}\n\ndata: {", &[(1, 7, "{}"), (3, 7, "{")]);
    }

    #[test]
    fn an_event_without_data_is_none() {
        check("event: ping\n\ndata\n\ndata:\n\ndata: {}\n\n", &[(7, 7, "{}")]);
    }

    #[test]
    fn an_event_over_the_limit_is_not_waited_for() {
        for text in [format!("data: {}", "x".repeat(80)), "data: 0123456789\n".repeat(8)] {
            let mut splitter = SseSplitter::new(64, Cursor::default());
            let error = splitter.next_item(&mut BytesMut::from(text.as_str())).unwrap_err();
            assert_eq!(error.reason, "an event of more than 64 bytes of JSON; see `--max-frame`");
        }
    }
}
