//! The data of events: lines, fields, and the empty line that ends an event.
//!
//! ```text
//! : a comment                    skipped
//! id: 7                          skipped, as every field but `data`
//! data: {"type":"STEP_STARTED",  first line of data
//! data: "stepName":"plan"}       joined to it with LF
//!                                an empty line: the event is there
//! ```
//!
//! Every byte is looked at once, and only a line of data is kept until it ends: what is held is
//! bounded by the limit, and the time by the bytes that arrived, in whatever parts they did. A
//! skipped line that never ends is refused at the same limit, though nothing of it is kept.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use memchr::memchr2;

use super::error::DataError;
use super::stray::{Head, Stray};
use crate::codec::Limits;

const BOM: &[u8] = "\u{feff}".as_bytes();

/// The field that counts, with its colon.
const FIELD: &[u8] = b"data:";

/// The data of one event, not looked into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Data {
    /// Which one it is, counted from 1.
    pub number: u64,
    /// Where it begins in the stream.
    pub place: Place,
    /// The data of all its lines, with LF between them. Whether it is UTF-8 is not decided here.
    pub bytes: Bytes,
}

/// A place in a stream of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Bytes before it, from 0.
    pub offset: u64,
    /// The line, from 1.
    pub line: u64,
    /// The byte in the line, from 1.
    pub column: u64,
}

/// Takes the data of events off a buffer, whatever the parts in which their bytes arrive.
///
/// It does no I/O: append what arrives to a buffer, call [`DataReader::next_data`] until it gives
/// nothing, and call [`DataReader::finish`] when input has ended. What is left in the buffer in
/// between belongs to the reader: nothing but appending may happen to it.
///
/// # Examples
///
/// ```
/// use ag_ui_proto::codec::Limits;
/// use ag_ui_proto::sse::DataReader;
/// use bytes::BytesMut;
///
/// let mut reader = DataReader::new(Limits::new());
/// let mut buffer = BytesMut::from(": hello\nid: 7\ndata: {}\n\ndata: {");
/// let data = reader.next_data(&mut buffer)?.unwrap();
/// assert_eq!((data.number, data.place.line, &data.bytes[..]), (1, 3, &b"{}"[..]));
/// assert_eq!(reader.next_data(&mut buffer)?, None);
/// assert!(reader.finish(&buffer).is_err());
/// # Ok::<(), ag_ui_proto::sse::DataError>(())
/// ```
#[derive(Clone, Debug)]
pub struct DataReader {
    max: usize,
    /// Bytes at the front of the buffer that are known to end no line.
    scanned: usize,
    /// Bytes of the line that were taken off already, since it is no line of data.
    skipped: Option<usize>,
    /// Whether the last line ended in CR, so that an LF behind it belongs to it.
    after_cr: bool,
    is_beginning: bool,
    /// Where the front of the buffer stands: bytes before it, and its line from 1.
    offset: u64,
    line: u64,
    data: Option<(Place, BytesMut)>,
    /// The beginning of the stream, until a line of data has come.
    head: Option<Head>,
    taken: u64,
    failed: bool,
}

impl DataReader {
    /// Makes a reader for the beginning of a stream. The data of one event is at most as long as
    /// [`Limits::max_frame_len`] says.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self {
            max: limits.max_frame_len(),
            scanned: 0,
            skipped: None,
            after_cr: false,
            is_beginning: true,
            offset: 0,
            line: 1,
            data: None,
            head: Some(Head::new()),
            taken: 0,
            failed: false,
        }
    }

    /// Takes the data of the next event off the front of `src`, or nothing while it is incomplete.
    ///
    /// It is given as soon as the empty line behind it begins to end: a CR is enough.
    ///
    /// # Errors
    ///
    /// [`DataError::TooLarge`] as soon as there is too much of it, or of one skipped line. There is
    /// no next event then: every later call gives nothing.
    pub fn next_data(&mut self, src: &mut BytesMut) -> Result<Option<Data>, DataError> {
        if self.failed {
            return Ok(None);
        }
        if let Some(head) = &mut self.head {
            head.see(self.offset, src);
        }
        if !self.begin(src) {
            return Ok(None);
        }
        loop {
            self.skip_lf(src);
            let unseen = src.get(self.scanned..).unwrap_or_default();
            let Some(len) = memchr2(b'\n', b'\r', unseen) else {
                self.wait(src)?;
                return Ok(None);
            };
            let len = self.scanned + len;
            self.scanned = 0;
            if let Some(skipped) = self.skipped {
                self.check(skipped, len)?;
                self.skipped = None;
                self.end_line(src, len);
            } else if is_data(src.get(..len).unwrap_or_default()) {
                self.take_line(src, len)?;
            } else {
                self.check(0, len)?;
                self.end_line(src, len);
                if len == 0
                    && let Some(data) = self.take_data()
                {
                    return Ok(Some(data));
                }
            }
        }
    }

    /// Checks, once input has ended, that it ended between two events.
    ///
    /// A comment or another skipped line may be cut: nothing is lost with it.
    ///
    /// # Errors
    ///
    /// [`DataError::Truncated`] if data came that no empty line ended, or if `src` still holds what
    /// may be the beginning of some. After an error of [`DataReader::next_data`] what is left is
    /// no event, and nothing is truncated.
    pub fn finish(&mut self, src: &[u8]) -> Result<(), DataError> {
        let line = if may_be_data(src) && self.skipped.is_none() { src.len() } else { 0 };
        if self.failed || (self.data.is_none() && line == 0) {
            return Ok(());
        }
        self.failed = true;
        let have = self.data.as_ref().map_or(0, |(_, data)| data.len()).saturating_add(line);
        Err(DataError::Truncated { have })
    }

    /// Takes the data that input ended behind, as if its empty line had come. For recordings, and
    /// for peers that are known to leave that line out.
    ///
    /// Call it when [`DataReader::next_data`] has given all it has. The stream is then over.
    ///
    /// # Errors
    ///
    /// As [`DataReader::next_data`].
    pub fn take_unterminated(&mut self, src: &mut BytesMut) -> Result<Option<Data>, DataError> {
        if self.failed {
            return Ok(None);
        }
        if self.skipped.is_none() && is_data(src) {
            self.take_line(src, src.len())?;
        }
        self.failed = true;
        Ok(self.take_data())
    }

    /// What came instead, if it is nothing of server-sent events: the reason that a stream which has
    /// ended, or fallen silent, held none. While more may come it is none: whatever it is is skipped.
    #[must_use]
    pub fn stray(&self) -> Option<Stray> {
        self.head.as_ref().and_then(Head::stray)
    }

    /// Number and offset of the event that comes next, or that failed.
    #[must_use]
    pub fn position(&self) -> (u64, u64) {
        (self.taken + 1, self.place().offset)
    }

    /// Where the event's data begins that comes next, or that failed; as long as that is not known,
    /// where the line begins that is not yet read.
    #[must_use]
    pub fn place(&self) -> Place {
        let offset = self.offset - self.skipped.map_or(0, count);
        let unread = Place { offset, line: self.line, column: 1 };
        self.data.as_ref().map_or(unread, |(place, _)| *place)
    }

    /// Ends the stream: what follows data that is no event is not read.
    pub(super) fn fail(&mut self) {
        self.failed = true;
    }

    /// Skips a byte order mark at the beginning. False while one may be arriving.
    fn begin(&mut self, src: &mut BytesMut) -> bool {
        if self.is_beginning {
            if src.len() < BOM.len() && BOM.starts_with(src) {
                return false;
            }
            self.is_beginning = false;
            if src.starts_with(BOM) {
                src.advance(BOM.len());
                self.offset += count(BOM.len());
            }
        }
        true
    }

    fn skip_lf(&mut self, src: &mut BytesMut) {
        if self.after_cr && !src.is_empty() {
            self.after_cr = false;
            if src.starts_with(b"\n") {
                src.advance(1);
                self.offset += 1;
            }
        }
    }

    /// Keeps a line of data that has not ended, and drops the beginning of another one.
    fn wait(&mut self, src: &mut BytesMut) -> Result<(), DataError> {
        if self.skipped.is_some() || !may_be_data(src) {
            let skipped = self.skipped.unwrap_or_default();
            self.check(skipped, src.len())?;
            if !src.is_empty() {
                self.skipped = Some(skipped + src.len());
            }
            self.offset += count(src.len());
            self.scanned = 0;
            src.clear();
            return Ok(());
        }
        self.scanned = src.len();
        self.check_len(value(src).len())
    }

    /// Takes a line of data off, without its end, and what ends it.
    fn take_line(&mut self, src: &mut BytesMut, len: usize) -> Result<(), DataError> {
        let value_len = value(src.get(..len).unwrap_or_default()).len();
        self.check_len(value_len)?;
        let before = len - value_len;
        self.head = None;
        let offset = self.offset + count(before);
        let place = Place { offset, line: self.line, column: count(before) + 1 };
        let mut taken = src.split_to(len);
        taken.advance(before);
        self.offset += count(len);
        self.end_line(src, 0);
        match &mut self.data {
            None => self.data = Some((place, taken)),
            Some((_, data)) => {
                data.put_u8(b'\n');
                data.put_slice(&taken);
            }
        }
        Ok(())
    }

    /// Takes `len` bytes and the end of their line off.
    fn end_line(&mut self, src: &mut BytesMut, len: usize) {
        self.after_cr = src.get(len) == Some(&b'\r');
        let len = src.len().min(len + 1);
        src.advance(len);
        self.offset += count(len);
        self.line += 1;
    }

    /// Checks that a value of `len` bytes may join the data there is.
    fn check_len(&mut self, len: usize) -> Result<(), DataError> {
        let have = self.data.as_ref().map_or(0, |(_, data)| data.len() + 1);
        self.check(have, len)
    }

    /// Checks that `more` bytes may follow those there are.
    fn check(&mut self, have: usize, more: usize) -> Result<(), DataError> {
        if have.saturating_add(more) > self.max {
            self.failed = true;
            return Err(DataError::TooLarge { max: self.max });
        }
        Ok(())
    }

    fn take_data(&mut self) -> Option<Data> {
        let (place, data) = self.data.take()?;
        self.taken += 1;
        Some(Data { number: self.taken, place, bytes: data.freeze() })
    }
}

/// Whether a whole line is one of data. A field without a colon is a field without a value.
fn is_data(line: &[u8]) -> bool {
    line.starts_with(FIELD) || FIELD.strip_suffix(b":") == Some(line)
}

/// Whether a line may turn out to be one of data.
fn may_be_data(line: &[u8]) -> bool {
    !line.is_empty() && (line.starts_with(FIELD) || FIELD.starts_with(line))
}

/// The value of a line of data.
fn value(line: &[u8]) -> &[u8] {
    let value = line.get(FIELD.len()..).unwrap_or_default();
    value.strip_prefix(b" ").unwrap_or(value)
}

fn count(len: usize) -> u64 {
    u64::try_from(len).unwrap_or(u64::MAX)
}

/// Appends `data` as an event: a `data` line for each of its lines, and the empty line.
///
/// A CR or CRLF in it arrives as LF, since the binding knows lines and not what ended them. In JSON
/// these stand between values alone, where either says nothing.
///
/// # Errors
///
/// [`DataError::TooLarge`] if `data` is longer than [`Limits::max_frame_len`]. `dst` is then
/// untouched.
pub fn put_data(data: &[u8], limits: &Limits, dst: &mut BytesMut) -> Result<(), DataError> {
    let max = limits.max_frame_len();
    if data.len() > max {
        return Err(DataError::TooLarge { max });
    }
    dst.reserve(data.len() + "data: \n\n".len());
    let mut rest = data;
    while let Some(len) = memchr2(b'\n', b'\r', rest) {
        let (line, end) = rest.split_at(len);
        put_line(line, dst);
        rest = end.strip_prefix(b"\r\n").unwrap_or_else(|| end.get(1..).unwrap_or_default());
    }
    put_line(rest, dst);
    dst.put_u8(b'\n');
    Ok(())
}

fn put_line(line: &[u8], dst: &mut BytesMut) {
    dst.put_slice(b"data: ");
    dst.put_slice(line);
    dst.put_u8(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    type Item = (u64, u64, u64, &'static str);

    /// All data of a stream that arrives in parts of so many bytes, and how it ends.
    fn read(text: &[u8], part: usize) -> (Vec<Data>, Result<(), DataError>) {
        let mut reader = DataReader::new(Limits::new().with_max_frame_len(64));
        let (mut src, mut all) = (BytesMut::new(), Vec::new());
        for part in text.chunks(part) {
            src.extend_from_slice(part);
            loop {
                match reader.next_data(&mut src) {
                    Ok(Some(data)) => all.push(data),
                    Ok(None) => break,
                    Err(error) => return (all, Err(error)),
                }
            }
        }
        let end = reader.finish(&src);
        (all, end)
    }

    #[track_caller]
    fn check_end(text: &[u8], want: &[Item], end: Result<(), DataError>) {
        for part in 1..=text.len().max(1) {
            let (all, ended) = read(text, part);
            let all: Vec<_> = all
                .iter()
                .map(|Data { place, bytes, .. }| {
                    (place.offset, place.line, place.column, str::from_utf8(bytes).unwrap())
                })
                .collect();
            assert_eq!(all, want, "in parts of {part}");
            assert_eq!(ended, end, "in parts of {part}");
        }
    }

    #[track_caller]
    fn check(text: &[u8], want: &[Item]) {
        check_end(text, want, Ok(()));
    }

    #[test]
    fn an_event_is_its_data_and_the_rest_is_skipped() {
        check(
            b": hello\nevent: x\nid: 7\ndata: {\"a\":\nretry: 5\ndata:1}\ndatum: 2\n\ndata: {}\n\n",
            &[(29, 4, 7, "{\"a\":\n1}"), (68, 9, 7, "{}")],
        );
    }

    #[test]
    fn lines_end_in_lf_crlf_or_cr() {
        check(b"data: a\ndata: b\n\ndata: c\n\n", &[(6, 1, 7, "a\nb"), (23, 4, 7, "c")]);
        check(b"data: a\rdata: b\r\rdata: c\r\r", &[(6, 1, 7, "a\nb"), (23, 4, 7, "c")]);
        check(b"data: a\r\ndata: b\r\n\r\ndata: c\r\n\r\n", &[(6, 1, 7, "a\nb"), (26, 4, 7, "c")]);
    }

    #[test]
    fn the_ends_of_lines_mix() {
        check(
            b"data: a\r\n\ndata: b\n\r\ndata: c\n\r",
            &[(6, 1, 7, "a"), (16, 3, 7, "b"), (26, 5, 7, "c")],
        );
        check(b"data: a\r\rdata: b\n\n", &[(6, 1, 7, "a"), (15, 3, 7, "b")]);
    }

    #[test]
    fn a_cr_ends_an_event_at_once() {
        let mut reader = DataReader::new(Limits::new());
        let mut src = BytesMut::from("data: a\r\n\r");
        assert_eq!(reader.next_data(&mut src).unwrap().unwrap().bytes, "a");
        src.extend_from_slice(b"\ndata: b\n\n");
        assert_eq!(reader.next_data(&mut src).unwrap().unwrap().bytes, "b");
        assert!(src.is_empty());
    }

    #[test]
    fn a_byte_order_mark_is_skipped_at_the_beginning_alone() {
        check(b"\xef\xbb\xbfdata: a\n\n\xef\xbb\xbfdata: b\n\n", &[(9, 1, 7, "a")]);
        check(b"\xef\xbb\xbf", &[]);
        check(b"\xef\xbbdata: a\n\ndata: b\n\n", &[(17, 3, 7, "b")]);
        check(b"\xef", &[]);
    }

    #[test]
    fn one_space_behind_the_colon_is_no_data() {
        check(
            b"data:a\n\ndata: b\n\ndata:  c\n\ndata:\td\n\n",
            &[(5, 1, 6, "a"), (14, 3, 7, "b"), (23, 5, 7, " c"), (32, 7, 6, "\td")],
        );
    }

    #[test]
    fn empty_data_is_data_and_no_data_is_nothing() {
        check(b"data:\n\ndata: \n\ndata\n\n", &[(5, 1, 6, ""), (13, 3, 7, ""), (19, 5, 5, "")]);
        check(b"data\ndata\n\n", &[(4, 1, 5, "\n")]);
        check(b"\n\nevent: ping\n\n: \n\nid\n\n", &[]);
    }

    #[test]
    fn other_fields_are_not_taken_for_data() {
        check(b"Data: a\n data: b\ndata : c\ndatas: d\n:data: e\nxdata: f\n\n", &[]);
    }

    #[test]
    fn input_that_ends_before_the_empty_line_is_truncated() {
        for (text, have) in
            [(&b"data: a"[..], 7), (b"data: a\n", 1), (b"data: a\ndata: b", 8), (b"d", 1)]
        {
            check_end(text, &[], Err(DataError::Truncated { have }));
        }
        let text = b"data: a\n\ndata";
        check_end(text, &[(6, 1, 7, "a")], Err(DataError::Truncated { have: 4 }));
        check(b"data: a\n\n: pi", &[(6, 1, 7, "a")]);
        check(b"data: a\n\nid: 7\n", &[(6, 1, 7, "a")]);
        assert_eq!(
            DataError::Truncated { have: 4 }.to_string(),
            "truncated: input ended after 4 bytes of an event, before its empty line"
        );
    }

    #[test]
    fn what_input_ended_behind_can_be_taken() {
        for (text, want) in [
            ("data: a", Some("a")),
            ("data: a\r", Some("a")),
            ("data: a\ndata", Some("a\n")),
            ("data: a\nda", Some("a")),
            ("data: a\n: comment", Some("a")),
            (": comment", None),
            ("", None),
        ] {
            for part in 1..=text.len().max(1) {
                let mut reader = DataReader::new(Limits::new());
                let mut src = BytesMut::new();
                for part in text.as_bytes().chunks(part) {
                    src.extend_from_slice(part);
                    assert_eq!(reader.next_data(&mut src), Ok(None));
                }
                let taken = reader.take_unterminated(&mut src).unwrap();
                assert_eq!(taken.as_ref().map(|data| str::from_utf8(&data.bytes).unwrap()), want);
                assert_eq!(reader.take_unterminated(&mut src), Ok(None));
                assert_eq!(reader.finish(&src), Ok(()));
            }
        }
    }

    #[test]
    fn data_at_the_limit_passes_and_one_byte_over_is_not_waited_for() {
        let at = |len: usize| "x".repeat(len);
        let ok =
            [format!("data: {}\n\n", at(64)), format!("data:{}\ndata: {}\n\n", at(31), at(32))];
        for text in ok {
            for part in 1..=text.len() {
                let (all, end) = read(text.as_bytes(), part);
                assert_eq!((all.len(), end), (1, Ok(())), "{text}");
            }
        }
        let over = [
            format!("data: {}", at(65)),
            format!("data:{}\ndata: {}", at(32), at(32)),
            "data\n".repeat(66),
        ];
        for text in over {
            for part in 1..=text.len() {
                let (all, end) = read(text.as_bytes(), part);
                assert_eq!((all.len(), end), (0, Err(DataError::TooLarge { max: 64 })), "{text}");
            }
        }
    }

    #[test]
    fn after_an_error_nothing_is_read_and_nothing_is_truncated() {
        let mut reader = DataReader::new(Limits::new().with_max_frame_len(5));
        let mut src = BytesMut::from("data: abcdef\n\ndata: b\n\n");
        assert_eq!(reader.next_data(&mut src), Err(DataError::TooLarge { max: 5 }));
        assert_eq!(reader.next_data(&mut src), Ok(None));
        assert_eq!(reader.finish(&src), Ok(()));
    }

    #[test]
    fn a_skipped_line_is_not_kept() {
        let mut reader = DataReader::new(Limits::new());
        let mut src = BytesMut::from(":");
        for _ in 0..1000 {
            src.extend_from_slice(b"data: 0123456789");
            assert_eq!(reader.next_data(&mut src), Ok(None));
            assert!(src.is_empty());
        }
        src.extend_from_slice(b"\ndata: a\n\n");
        let data = reader.next_data(&mut src).unwrap().unwrap();
        assert_eq!((data.place.offset, data.bytes), (16_008, Bytes::from("a")));
    }

    #[test]
    fn a_skipped_line_is_limited_and_their_number_is_not() {
        let line = |len: usize| format!(":{}\n", "x".repeat(len - 1));
        let fine = [&*line(64).repeat(20), "data: a\n", &*line(64).repeat(20), "\n"].concat();
        let over = line(65);
        for part in 1..=100 {
            let (all, end) = read(fine.as_bytes(), part);
            assert_eq!((all.len(), end), (1, Ok(())));
            let (all, end) = read(over.as_bytes(), part);
            assert_eq!((all.len(), end), (0, Err(DataError::TooLarge { max: 64 })));
        }
    }

    #[test]
    fn data_of_several_lines_is_written_as_several() {
        for (data, text) in [
            (&b"{}"[..], &b"data: {}\n\n"[..]),
            (b"{\n}", b"data: {\ndata: }\n\n"),
            (b"{\r}", b"data: {\ndata: }\n\n"),
            (b"{\r\n\n}\n", b"data: {\ndata: \ndata: }\ndata: \n\n"),
            (b"", b"data: \n\n"),
        ] {
            let mut dst = BytesMut::from("before");
            put_data(data, &Limits::new(), &mut dst).unwrap();
            assert_eq!(dst[6..], *text);
        }
        let mut dst = BytesMut::from("before");
        let limits = Limits::new().with_max_frame_len(5);
        assert_eq!(put_data(b"123456", &limits, &mut dst), Err(DataError::TooLarge { max: 5 }));
        assert_eq!(dst, "before");
    }
}
