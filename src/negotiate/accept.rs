//! `Accept`: a list of media ranges, each with a weight.
//!
//! ```text
//! text/event-stream, application/*;q=0.5, */*;q=0
//!                    ----------- -----
//!                       range    weight
//! ```
//!
//! Four ranges cover the type of frames. The most specific one that is there decides, and what it
//! says is only whether its weight is above zero.
//!
//! Rule: specification 1.1, basic/transports/http-protobuf, "Negotiation"; RFC 9110, 12.5.1.

use super::Format;

/// Chooses the format of a response by the `Accept` lines of its request.
///
/// # Examples
///
/// ```
/// use ag_ui_proto::negotiate::{Format, Negotiator};
///
/// let negotiator = Negotiator::new();
/// let accept = "text/event-stream, application/vnd.ag-ui.event+proto";
/// assert_eq!(negotiator.choose([accept]), Format::Protobuf);
/// assert_eq!(negotiator.choose(["text/event-stream"]), Format::Sse);
/// assert_eq!(negotiator.choose([""; 0]), Format::Sse);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Negotiator {
    ignore_wildcards: bool,
}

impl Negotiator {
    /// Makes one that follows the specification: a wildcard admits protobuf.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes wildcards mean SSE, for a server that is called by clients that accept anything and
    /// read only text: protobuf is then for those that name it.
    #[must_use]
    pub fn with_wildcards_as_sse(mut self) -> Self {
        self.ignore_wildcards = true;
        self
    }

    /// The format of the response to a request with these `Accept` lines, which are one list.
    ///
    /// Protobuf if the most specific range that covers it has a weight above zero, else SSE. How
    /// the weights of the two types compare is not asked. Of equal ranges the most willing counts.
    /// A range with a parameter beside its weight does not cover protobuf, since the type has no
    /// parameters; a weight that is no number is zero; what is no range says nothing.
    ///
    /// Linear in the length of the lines, whatever they hold.
    ///
    /// Differs: the reference encoder reads `q` as JavaScript reads a number, so that `0.5x`, `1e-3`
    /// and `Infinity` are above zero, and of equal ranges the last one counts if its weight is no
    /// number. It takes a parameter without a value, with the value `*`, or behind the weight for
    /// none; holds a range with an empty parameter for a more specific one; and does not know
    /// escapes in quoted strings. The specification and RFC 9110 are followed in all of these.
    #[must_use]
    pub fn choose<V: AsRef<[u8]>>(self, accept: impl IntoIterator<Item = V>) -> Format {
        let mut best = None;
        for line in accept {
            for element in split(line.as_ref(), b',') {
                let range = Range::read(element);
                best = best.max(range.filter(|range| !self.ignore_wildcards || range.is_exact()));
            }
        }
        if best.is_some_and(|range| range.is_willing) { Format::Protobuf } else { Format::Sse }
    }
}

/// A range that covers the type of frames. Ordered by who decides.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Range {
    /// Whether it names the type, then whether it names the subtype.
    specificity: (bool, bool),
    is_willing: bool,
}

impl Range {
    /// Reads an element of the list, or nothing if it does not cover the type of frames.
    fn read(element: &[u8]) -> Option<Self> {
        let mut parts = split(element, b';').map(trim);
        let specificity = specificity(parts.next()?)?;
        let mut is_willing = None;
        for parameter in parts.filter(|parameter| !parameter.is_empty()) {
            let equals = parameter.iter().position(|byte| *byte == b'=');
            let (name, value) = match equals.and_then(|at| parameter.split_at_checked(at)) {
                Some((name, value)) => (name, value.get(1..).unwrap_or_default()),
                None => (parameter, &[][..]),
            };
            if !name.eq_ignore_ascii_case(b"q") {
                return None;
            }
            is_willing.get_or_insert(is_above_zero(unquoted(trim(value))));
        }
        Some(Self { specificity, is_willing: is_willing.unwrap_or(true) })
    }

    fn is_exact(self) -> bool {
        self.specificity == (true, true)
    }
}

/// Whether the range names the type of frames and its subtype; nothing if it does not cover it.
///
/// Differs: `*/subtype` is no range in RFC 9110; it is read as the reference encoder reads it.
fn specificity(range: &[u8]) -> Option<(bool, bool)> {
    let slash = range.iter().position(|byte| *byte == b'/')?;
    let (main, sub) = (range.get(..slash)?, range.get(slash + 1..)?);
    let (own_main, own_sub) = Format::Protobuf.media_type().split_once('/')?;
    let names = |name: &[u8], own: &str| match name {
        b"*" => Some(false),
        name => name.eq_ignore_ascii_case(own.as_bytes()).then_some(true),
    };
    Some((names(main, own_main)?, names(sub, own_sub)?))
}

/// Whether a weight is a decimal number other than zero.
fn is_above_zero(weight: &[u8]) -> bool {
    let mut points = 0;
    let is_number = weight.iter().all(|byte| {
        points += usize::from(*byte == b'.');
        byte.is_ascii_digit() || (*byte == b'.' && points == 1)
    });
    is_number && weight.iter().any(|byte| (b'1'..=b'9').contains(byte))
}

/// The parts of `text` between separators that stand in no quoted string.
pub(super) fn split(text: &[u8], separator: u8) -> impl Iterator<Item = &[u8]> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    text.split(move |byte| {
        let escaped = std::mem::replace(&mut is_escaped, false);
        match byte {
            b'\\' => is_escaped = is_quoted && !escaped,
            b'"' if !escaped => is_quoted = !is_quoted,
            _ => {}
        }
        *byte == separator && !is_quoted
    })
}

fn unquoted(value: &[u8]) -> &[u8] {
    value.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\"")).unwrap_or(value)
}

/// Without the white space that HTTP allows around things.
pub(super) fn trim(mut text: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = text {
        text = rest;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(lines: &[&[u8]], is_protobuf: bool) {
        let want = if is_protobuf { Format::Protobuf } else { Format::Sse };
        let shown: Vec<_> = lines.iter().map(|line| line.escape_ascii().to_string()).collect();
        assert_eq!(Negotiator::new().choose(lines), want, "{shown:?}");
    }

    fn check_table(table: &[(&str, bool)]) {
        for (line, is_protobuf) in table {
            check(&[line.as_bytes()], *is_protobuf);
        }
    }

    #[test]
    fn without_accept_it_is_sse() {
        check(&[], false);
        check(&[b""], false);
        check(&[b"", b" \t", b",,"], false);
    }

    #[test]
    fn the_type_is_admitted_by_its_name_and_by_wildcards() {
        check_table(&[
            ("application/vnd.ag-ui.event+proto", true),
            ("APPLICATION/VND.AG-UI.EVENT+PROTO", true),
            ("text/event-stream, application/vnd.ag-ui.event+proto", true),
            ("application/vnd.ag-ui.event+proto,text/event-stream", true),
            ("application/*", true),
            ("*/*", true),
            ("text/html, image/png, */*;q=0.1", true),
            ("text/event-stream", false),
            ("application/json", false),
            ("text/*", false),
            ("application/vnd.ag-ui.event+protobuf", false),
            ("application/vnd.ag-ui.event", false),
            ("application/vnd.ag-ui.event+*", false),
            ("application/vnd.ag-ui.event+proto/x", false),
            ("application", false),
            ("application/", false),
            ("/", false),
            ("*", false),
            ("**/*", false),
            ("application /vnd.ag-ui.event+proto", false),
            ("application/vnd.ag-ui.event+proto x", false),
        ]);
    }

    #[test]
    fn the_weights_of_the_two_types_are_not_compared() {
        check_table(&[
            ("text/event-stream;q=1, application/vnd.ag-ui.event+proto;q=0.1", true),
            ("text/event-stream;q=0, application/vnd.ag-ui.event+proto;q=0.001", true),
            ("application/vnd.ag-ui.event+proto;q=0, text/event-stream;q=0", false),
        ]);
    }

    #[test]
    fn the_most_specific_range_decides() {
        check_table(&[
            ("application/vnd.ag-ui.event+proto;q=0", false),
            ("*/*, application/vnd.ag-ui.event+proto;q=0", false),
            ("application/vnd.ag-ui.event+proto;q=0, */*", false),
            ("application/*;q=0, */*", false),
            ("*/*, application/*;q=0", false),
            ("*/*;q=0, application/*", true),
            ("application/*;q=0, application/vnd.ag-ui.event+proto;q=0.1", true),
            ("*/*;q=0", false),
            ("text/*;q=0, */*;q=0.1", true),
        ]);
    }

    #[test]
    fn of_equal_ranges_the_most_willing_counts() {
        check_table(&[
            ("application/vnd.ag-ui.event+proto;q=0, application/vnd.ag-ui.event+proto", true),
            ("application/vnd.ag-ui.event+proto, application/vnd.ag-ui.event+proto;q=0", true),
            ("*/*;q=0, */*;q=0.5, */*;q=0", true),
        ]);
    }

    #[test]
    fn a_weight_is_a_decimal_number() {
        for (weight, is_protobuf) in [
            ("q=0.5", true),
            ("Q=0.5", true),
            ("q=1", true),
            ("q=1.000", true),
            ("q=0.0001", true),
            ("q=.5", true),
            ("q=1.", true),
            ("q=2", true),
            ("q=\"0.5\"", true),
            ("q= 0.5 ", true),
            ("q=0", false),
            ("q=0.", false),
            ("q=0.000", false),
            ("q=\"0\"", false),
            ("q", false),
            ("q=", false),
            ("q=.", false),
            ("q=-1", false),
            ("q=high", false),
            ("q=0.5x", false),
            ("q=0.5.5", false),
            ("q=1e3", false),
            ("q=NaN", false),
            ("q=Infinity", false),
            ("q=\"0.5", false),
            ("q=0;q=1", false),
            ("q=1;q=0", true),
        ] {
            let line = format!("application/vnd.ag-ui.event+proto;{weight}, text/event-stream");
            check(&[line.as_bytes()], is_protobuf);
        }
    }

    #[test]
    fn a_range_with_another_parameter_does_not_match() {
        check_table(&[
            ("application/vnd.ag-ui.event+proto;charset=utf-8", false),
            ("application/vnd.ag-ui.event+proto;v=1.1", false),
            ("application/vnd.ag-ui.event+proto;v=1.1;q=1", false),
            ("application/vnd.ag-ui.event+proto;q=1;v=1.1", false),
            ("application/vnd.ag-ui.event+proto;v", false),
            ("application/vnd.ag-ui.event+proto;v=*", false),
            ("application/vnd.ag-ui.event+proto;q =1", false),
            ("*/*;v=1", false),
            ("application/vnd.ag-ui.event+proto;v=1;q=0, */*", true),
            ("application/vnd.ag-ui.event+proto;", true),
            ("application/vnd.ag-ui.event+proto;;q=0.5; ;", true),
        ]);
    }

    #[test]
    fn white_space_and_empty_elements_say_nothing() {
        check_table(&[
            (", ,application/vnd.ag-ui.event+proto,,", true),
            ("\t application/vnd.ag-ui.event+proto \t;\t q=0.5\t , text/html", true),
            (" application/vnd.ag-ui.event+proto ; q=0 ", false),
            (",,,", false),
        ]);
    }

    #[test]
    fn separators_in_quoted_strings_separate_nothing() {
        check_table(&[
            (r#"a/b;x=", application/vnd.ag-ui.event+proto, ""#, false),
            (r#"a/b;x="\", application/vnd.ag-ui.event+proto""#, false),
            (r#"a/b;x="\\", application/vnd.ag-ui.event+proto"#, true),
            (r#"a/b;x=",", application/vnd.ag-ui.event+proto;q="0.5""#, true),
            (r#"a/b;x=";q=0", */*"#, true),
            (r#"a/b;x="open, application/vnd.ag-ui.event+proto"#, false),
            (r#"application/vnd.ag-ui.event+proto;x=";q=1""#, false),
            (r"a/b;x=\, application/vnd.ag-ui.event+proto", true),
            (r#"a/b;x=\", application/vnd.ag-ui.event+proto, ""#, false),
        ]);
    }

    #[test]
    fn several_lines_are_one_list() {
        check(&[b"text/event-stream", b"application/vnd.ag-ui.event+proto"], true);
        check(&[b"*/*", b"application/*;q=0"], false);
        check(&[b"application/vnd.ag-ui.event+proto;q=0", b"*/*"], false);
        check(&[b"a/b;x=\"open", b"application/vnd.ag-ui.event+proto"], true);
    }

    #[test]
    fn bytes_that_are_no_text_harm_only_their_element() {
        check(&[b"a/\xff\xfe, application/vnd.ag-ui.event+proto"], true);
        check(&[b"\x00, a/b;x=\"\xe9\", */*"], true);
        check(&[b"application/vnd.ag-ui.event+proto;x=\"\xe9\""], false);
        check(&[b"application/vnd.ag-ui.event+proto\xa0"], false);
        check(&[b"application/vnd.ag-ui.event+proto;q=\xb9"], false);
    }

    #[test]
    fn long_lines_are_read_to_their_end() {
        let mut line = b"a/b;x=\"\\\"\",".repeat(100_000);
        check(&[&line], false);
        line.extend_from_slice(b"application/vnd.ag-ui.event+proto");
        check(&[&line], true);
        check(&[&b"application/vnd.ag-ui.event+proto;".repeat(100_000)], false);
        let weight = [&b"*/*;q=0."[..], &b"0".repeat(1_000_000), b"1"].concat();
        check(&[&weight], true);
    }

    #[test]
    fn wildcards_can_mean_sse() {
        let negotiator = Negotiator::new().with_wildcards_as_sse();
        for (line, format) in [
            ("*/*", Format::Sse),
            ("application/*", Format::Sse),
            ("*/vnd.ag-ui.event+proto", Format::Sse),
            ("*/*, application/vnd.ag-ui.event+proto;q=0", Format::Sse),
            ("*/*, application/vnd.ag-ui.event+proto;q=0.1", Format::Protobuf),
            ("*/*;q=0, application/vnd.ag-ui.event+proto", Format::Protobuf),
        ] {
            assert_eq!(negotiator.choose([line]), format, "{line}");
        }
    }
}
