//! The decimal value that a JSON number literal names, compared without going through a float.
//!
//! ```text
//! -0012.3400e2  ->  negative, digits 1234, exponent 0:  -1234 * 10^0
//! ```

/// Significant digits that the exact decimal expansion of a double can have at most.
const MAX_DOUBLE_DIGITS: usize = 767;

/// A decimal: `digits * 10^exponent`. Zero has no digits.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Decimal {
    negative: bool,
    /// ASCII digits, without zeros at either end.
    digits: String,
    /// Saturates far beyond the range of a double.
    exponent: i64,
}

/// A number literal by the grammar of JSON, in parts.
pub(super) struct Literal<'a> {
    negative: bool,
    integer: &'a str,
    fraction: &'a str,
    exponent: &'a str,
}

impl<'a> Literal<'a> {
    /// Takes `text` apart, if all of it is a number as JSON writes it.
    ///
    /// Rule: RFC 8259 section 6.
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        let unsigned = text.strip_prefix('-');
        let (negative, text) = (unsigned.is_some(), unsigned.unwrap_or(text));
        let (integer, rest) = split_digits(text);
        if integer.is_empty() || (integer.len() > 1 && integer.starts_with('0')) {
            return None;
        }
        let (fraction, rest) = match rest.strip_prefix('.') {
            Some(rest) => Some(split_digits(rest)).filter(|(digits, _)| !digits.is_empty())?,
            None => ("", rest),
        };
        let exponent = match rest.strip_prefix(['e', 'E']) {
            Some(exponent) => {
                let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
                let all = !digits.is_empty() && split_digits(digits).1.is_empty();
                all.then_some(exponent)?
            }
            None => rest.is_empty().then_some("")?,
        };
        Some(Self { negative, integer, fraction, exponent })
    }

    /// Whether it is written without a fraction and without an exponent.
    pub(super) fn is_integer(&self) -> bool {
        self.fraction.is_empty() && self.exponent.is_empty()
    }

    /// The value it names.
    pub(super) fn decimal(&self) -> Decimal {
        let all = [self.integer, self.fraction].concat();
        let digits = all.trim_end_matches('0');
        if digits.trim_start_matches('0').is_empty() {
            return Decimal { negative: self.negative, digits: String::new(), exponent: 0 };
        }
        let dropped = signed(all.len() - digits.len());
        let exponent = parse_exponent(self.exponent)
            .saturating_sub(signed(self.fraction.len()))
            .saturating_add(dropped);
        let digits = digits.trim_start_matches('0').to_owned();
        Decimal { negative: self.negative, digits, exponent }
    }
}

fn split_digits(text: &str) -> (&str, &str) {
    let end = text.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    text.split_at(end)
}

/// An exponent, held to a quarter of the range of `i64`: sums with lengths do not come near a
/// double's exponents.
fn parse_exponent(text: &str) -> i64 {
    const FAR: i64 = i64::MAX / 4;
    let digits = text.trim_start_matches(['+', '-']);
    let far = if digits.is_empty() { 0 } else { digits.parse().unwrap_or(FAR).min(FAR) };
    if text.starts_with('-') { -far } else { far }
}

fn signed(len: usize) -> i64 {
    i64::try_from(len).unwrap_or(i64::MAX)
}

impl Decimal {
    /// Whether `double`, which is finite, is this number: as the shortest text that reads back as
    /// it, or exactly.
    pub(super) fn is(&self, double: f64) -> bool {
        if *self == decimal_of(&format!("{double:e}")) {
            return true;
        }
        if self.digits.len() > MAX_DOUBLE_DIGITS {
            return false;
        }
        // The whole expansion is expensive, and a few digits more than ours mostly tell.
        let near = format!("{double:.*e}", self.digits.len() + 3);
        *self == decimal_of(&near)
            && *self == decimal_of(&format!("{double:.*e}", MAX_DOUBLE_DIGITS - 1))
    }

    /// Whether it has no fraction.
    pub(super) fn is_integral(&self) -> bool {
        self.digits.is_empty() || !self.exponent.is_negative()
    }

    /// The integer it is, if it is one and fits.
    pub(super) fn to_i64(&self) -> Option<i64> {
        if self.digits.is_empty() {
            return Some(0);
        }
        let zeros = usize::try_from(self.exponent).ok().filter(|zeros| *zeros < 19)?;
        let sign = if self.negative { "-" } else { "" };
        format!("{sign}{}{}", self.digits, "0".repeat(zeros)).parse().ok()
    }
}

/// The decimal of a literal that Rust wrote.
fn decimal_of(text: &str) -> Decimal {
    let zero = Decimal { negative: false, digits: String::new(), exponent: 0 };
    Literal::parse(text).map_or(zero, |literal| literal.decimal())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, negative: bool, digits: &str, exponent: i64) {
        let digits = digits.to_owned();
        let decimal = Literal::parse(text).unwrap().decimal();
        assert_eq!(decimal, Decimal { negative, digits, exponent }, "{text}");
    }

    #[test]
    fn a_literal_names_digits_and_an_exponent() {
        check("0", false, "", 0);
        check("-0.00e9", true, "", 0);
        check("1", false, "1", 0);
        check("1200", false, "12", 2);
        check("-12.3400e2", true, "1234", 0);
        check("0.00102", false, "102", -5);
        check("1E+5", false, "1", 5);
        check("10e-5", false, "1", -4);
        check("1e99999999999999999999", false, "1", i64::MAX / 4);
        check("1e-99999999999999999999", false, "1", -(i64::MAX / 4));
        check("1e00000000000000000000000000000000003", false, "1", 3);
    }

    #[test]
    fn only_what_json_writes_is_a_number() {
        for text in [
            "", "-", "+1", "01", "-01", "00", ".5", "1.", "1.e5", "1e", "1e+", "1e-", "1e5.0",
            "0x10", "1 ", " 1", "1_0", "NaN", "Infinity", "inf", "--1", "1e++5", "１",
        ] {
            assert!(Literal::parse(text).is_none(), "{text:?}");
        }
    }

    #[test]
    fn a_decimal_that_is_an_integer_is_found() {
        let read = |text| Literal::parse(text).unwrap().decimal().to_i64();
        assert_eq!(read("1e3"), Some(1000));
        assert_eq!(read("-1000.0"), Some(-1000));
        assert_eq!(read("9007199254740993.0"), Some(9_007_199_254_740_993));
        assert_eq!(read("-9223372036854775808.0"), Some(i64::MIN));
        assert_eq!(read("9223372036854775808.0"), None);
        assert_eq!(read("1e19"), None);
        assert_eq!(read("1e999999999999"), None);
        assert_eq!(read("1.5"), None);
        assert_eq!(read("0.0"), Some(0));
    }
}
