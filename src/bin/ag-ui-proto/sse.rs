//! Cutting a captured body of server-sent events into the JSON texts that it carries.
//!
//! Lines end in LF, CRLF or CR. The data of several `data:` lines is joined with LF; comments and
//! the fields `event`, `id` and `retry` say nothing here. An empty line ends an event, and so does
//! the end of input, since a capture often ends without its last empty line.
//!
//! Rule: the HTML standard, "Server-sent events", 9.2.6; specification 1.1,
//! basic/transports/http-sse.

use bytes::{Buf, BytesMut};

use crate::place::{Cursor, Item, SplitError};

/// Takes the data of events off a buffer, whatever the parts in which their bytes arrive.
pub(crate) struct SseSplitter {
    max: usize,
    /// Bytes at the front of the buffer that are known to end no line.
    scanned: usize,
    /// Whether the last line ended in CR, so that an LF belongs to it.
    after_cr: bool,
    data: Option<(Cursor, BytesMut)>,
}

impl SseSplitter {
    /// Events of at most `max` bytes of data.
    pub(crate) fn new(max: usize) -> Self {
        Self { max, scanned: 0, after_cr: false, data: None }
    }

    /// Takes the next event off the front of `src`, or nothing while it is incomplete.
    pub(crate) fn next_item(
        &mut self,
        src: &mut BytesMut,
        cursor: &mut Cursor,
    ) -> Result<Option<Item>, SplitError> {
        loop {
            if self.after_cr && !src.is_empty() {
                self.after_cr = false;
                if src.starts_with(b"\n") {
                    src.advance(1);
                }
            }
            let rest = src.get(self.scanned..).unwrap_or_default();
            let Some(len) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
                self.scanned = src.len();
                self.check_len(src.len(), *cursor)?;
                return Ok(None);
            };
            let line = src.split_to(self.scanned + len);
            self.scanned = 0;
            self.after_cr = src.starts_with(b"\r");
            src.advance(1);
            if line.is_empty() {
                cursor.line += 1;
                if let Some(item) = self.take_data() {
                    return Ok(Some(item));
                }
                continue;
            }
            self.line(line, *cursor)?;
            cursor.line += 1;
        }
    }

    /// As [`SseSplitter::next_item`], once all input is in `src`.
    pub(crate) fn finish(
        &mut self,
        src: &mut BytesMut,
        cursor: &mut Cursor,
    ) -> Result<Option<Item>, SplitError> {
        if let Some(item) = self.next_item(src, cursor)? {
            return Ok(Some(item));
        }
        let line = src.split();
        self.scanned = 0;
        self.line(line, *cursor)?;
        Ok(self.take_data())
    }

    fn line(&mut self, mut line: BytesMut, mut place: Cursor) -> Result<(), SplitError> {
        if !line.starts_with(b"data") || !matches!(line.get(4), None | Some(b':')) {
            return Ok(());
        }
        let name = if line.starts_with(b"data: ") { 6 } else { line.len().min(5) };
        line.advance(name);
        self.check_len(line.len(), place)?;
        place.column = u64::try_from(name).unwrap_or_default() + 1;
        match &mut self.data {
            None => self.data = Some((place, line)),
            Some((_, data)) => {
                data.extend_from_slice(b"\n");
                data.extend_from_slice(&line);
            }
        }
        Ok(())
    }

    /// Checks that `more` bytes may join the data there is.
    fn check_len(&self, more: usize, cursor: Cursor) -> Result<(), SplitError> {
        let have = self.data.as_ref().map_or(0, |(_, data)| data.len());
        if have.saturating_add(more) > self.max { Err(cursor.too_long(self.max)) } else { Ok(()) }
    }

    /// The event that ends here, if it has data.
    fn take_data(&mut self) -> Option<Item> {
        let (place, data) = self.data.take()?;
        let is_blank = data.iter().all(u8::is_ascii_whitespace);
        (!is_blank).then(|| Item { place, text: data.freeze() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: &[(u64, u64, &str)]) {
        for part in 1..=text.len() {
            let (mut src, mut cursor) = (BytesMut::new(), Cursor::default());
            let mut splitter = SseSplitter::new(64);
            let mut items = Vec::new();
            for part in text.as_bytes().chunks(part) {
                src.extend_from_slice(part);
                while let Some(item) = splitter.next_item(&mut src, &mut cursor).unwrap() {
                    items.push(item);
                }
            }
            while let Some(item) = splitter.finish(&mut src, &mut cursor).unwrap() {
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
            let error = SseSplitter::new(64)
                .next_item(&mut BytesMut::from(text.as_str()), &mut Cursor::default())
                .unwrap_err();
            assert_eq!(error.reason, "an event of more than 64 bytes of JSON; see `--max-frame`");
        }
    }
}
