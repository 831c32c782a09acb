//! JSON numbers: integers that stay integers, doubles, and text for what neither can hold.
//!
//! The wire has doubles only. A number from the wire that is an integer within ±2^53 reads
//! as one, so that `1` comes back as `1`; every other one is the double that it is. Whether a
//! number survives the trip is asked with [`Number::is_double`], and is never decided here.

use std::fmt;

use super::decimal::Literal;

/// 2^53: up to here, either side of zero, every integer is a double.
const MAX_INTEGER: f64 = 9_007_199_254_740_992.0;

/// A JSON number: an integer of 64 bits, a finite double, or the exact text of neither.
///
/// `==` is by structure: 5 is not 5.0, 0.0 is not -0.0, and text is compared as text. `Display` is
/// JSON, in the form that `serde_json` writes; text is printed as it was read.
#[derive(Clone, PartialEq, Eq)]
pub struct Number(Repr);

#[derive(Clone)]
enum Repr {
    Int(i64),
    /// Invariant: more than `i64::MAX`.
    Unsigned(u64),
    /// Invariant: finite.
    Double(f64),
    /// Invariant: a number as JSON writes it, which none of the above names; or the name of a double
    /// that is not finite, which is no number anywhere.
    Exact(Box<str>),
    /// Invariant: the text is a number as JSON writes it, and the double is the nearest to it.
    Carried(Box<Carried>),
}

/// A double from the wire, or for it, and the exact text that travels beside it.
#[derive(Debug, Clone)]
struct Carried {
    double: f64,
    text: Box<str>,
}

impl PartialEq for Repr {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Int(left), Self::Int(right)) => left == right,
            (Self::Unsigned(left), Self::Unsigned(right)) => left == right,
            (Self::Double(left), Self::Double(right)) => left.to_bits() == right.to_bits(),
            (Self::Exact(left), Self::Exact(right)) => left == right,
            (Self::Carried(left), Self::Carried(right)) => left.text == right.text,
            _ => false,
        }
    }
}

impl Eq for Repr {}

impl Number {
    /// The number of a double, as a double; nothing for one that is not finite.
    #[must_use]
    pub fn from_f64(double: f64) -> Option<Self> {
        double.is_finite().then_some(Self(Repr::Double(double)))
    }

    /// As [`Number::from_f64`]; a double that is not finite becomes a number that can neither be
    /// encoded nor written as JSON, and says so when it is tried.
    pub(super) fn from_any_f64(double: f64) -> Self {
        Self::from_f64(double).unwrap_or_else(|| Self(Repr::Exact(double.to_string().into())))
    }

    /// The number of a finite double from the wire: an integer if it is one within ±2^53 and not
    /// -0.0.
    pub(super) fn from_wire(double: f64) -> Self {
        let negative_zero = double == 0.0 && double.is_sign_negative();
        if double.abs() <= MAX_INTEGER && double.fract() == 0.0 && !negative_zero {
            Self(Repr::Int(truncate(double)))
        } else {
            Self(Repr::Double(double))
        }
    }

    /// A double from the wire with the exact text beside it; the text counts only if it is a number
    /// and the double is the one nearest to it.
    pub(super) fn from_wire_with(double: f64, text: &str) -> Self {
        let belongs = Literal::parse(text).is_some()
            && finite(text).is_some_and(|nearest| nearest.to_bits() == double.to_bits());
        if belongs {
            Self(Repr::Carried(Box::new(Carried { double, text: text.into() })))
        } else {
            Self::from_wire(double)
        }
    }

    /// Makes the exact text travel beside the double, if no double is this number.
    pub(crate) fn carry(&mut self) {
        if !self.is_double()
            && let Some(double) = self.as_f64()
        {
            let text = self.to_string().into();
            self.0 = Repr::Carried(Box::new(Carried { double, text }));
        }
    }

    /// Ends the carrying: the number is the exact one, or its double as if nothing had been carried.
    pub(crate) fn settle(&mut self, exact: bool) {
        if let Repr::Carried(carried) = &self.0 {
            let parsed = Self::parse(&carried.text).filter(|_| exact);
            *self = parsed.unwrap_or_else(|| Self::from_wire(carried.double));
        }
    }

    /// The exact text that travels beside the double of a wire message, see WIRE-EXTENSIONS.md.
    /// Otherwise such a number is its double.
    #[must_use]
    pub fn carried(&self) -> Option<&str> {
        match &self.0 {
            Repr::Carried(carried) => Some(&carried.text),
            _ => None,
        }
    }

    /// Reads a number as JSON writes it, keeping its value exactly; nothing if it is not one.
    ///
    /// An integer literal of 64 bits becomes an integer. Any other literal becomes a double if that
    /// double, in its shortest form or exactly, is the number written: `0.1` and `1e300` do, and
    /// `18446744073709551616`, which is 2^64. Otherwise the text is kept: a literal with more
    /// digits than a double holds, or out of its range. `-0` is the double -0.0.
    ///
    /// ```
    /// # use ag_ui_proto::value::Number;
    /// let parse = |text| Number::parse(text).ok_or("not a number");
    /// assert_eq!(parse("0.10")?.as_f64(), Some(0.1));
    /// assert_eq!(parse("0.10000000000000000001")?.exact(), Some("0.10000000000000000001"));
    /// # Ok::<(), &str>(())
    /// ```
    #[must_use]
    pub fn parse(literal: &str) -> Option<Self> {
        let parts = Literal::parse(literal)?;
        if parts.is_integer() && literal != "-0" {
            if let Ok(integer) = literal.parse::<i64>() {
                return Some(integer.into());
            }
            if let Ok(integer) = literal.parse::<u64>() {
                return Some(integer.into());
            }
        }
        match finite(literal) {
            Some(double) if parts.decimal().is(double) => Some(Self(Repr::Double(double))),
            _ => Some(Self(Repr::Exact(literal.into()))),
        }
    }

    /// The integer, if it is held as one that fits.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        match self.0 {
            Repr::Int(integer) => Some(integer),
            _ => None,
        }
    }

    /// The integer, if it is held as one that fits.
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        match self.0 {
            Repr::Int(integer) => u64::try_from(integer).ok(),
            Repr::Unsigned(integer) => Some(integer),
            _ => None,
        }
    }

    /// The nearest double; nothing if the number is beyond the range of doubles.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "the nearest double is what is asked for")]
    pub fn as_f64(&self) -> Option<f64> {
        match &self.0 {
            Repr::Int(integer) => Some(*integer as f64),
            Repr::Unsigned(integer) => Some(*integer as f64),
            Repr::Double(double) => Some(*double),
            Repr::Exact(text) => finite(text),
            Repr::Carried(carried) => Some(carried.double),
        }
    }

    /// The integer that the number is, however it is held or written: also for 5.0 and `1e3`.
    #[must_use]
    pub fn to_i64(&self) -> Option<i64> {
        // 2^63 is a double; i64::MAX, one less, is not.
        const BEYOND: f64 = 9_223_372_036_854_775_808.0;
        match &self.0 {
            Repr::Int(integer) => Some(*integer),
            Repr::Unsigned(_) => None,
            Repr::Double(double) => {
                let fits = double.fract() == 0.0 && *double >= -BEYOND && *double < BEYOND;
                fits.then(|| truncate(*double))
            }
            Repr::Exact(text) => Literal::parse(text)?.decimal().to_i64(),
            Repr::Carried(carried) => Self::from_wire(carried.double).to_i64(),
        }
    }

    /// The number that arrives when this one goes over the wire; nothing if it is beyond the range
    /// of doubles.
    #[must_use]
    pub fn after_trip(&self) -> Option<Self> {
        self.as_f64().map(Self::from_wire)
    }

    /// The text, if neither an integer of 64 bits nor a double names this number.
    #[must_use]
    pub fn exact(&self) -> Option<&str> {
        match &self.0 {
            Repr::Exact(text) => Some(text),
            _ => None,
        }
    }

    /// Whether it is held as an integer.
    #[must_use]
    pub fn is_integer(&self) -> bool {
        matches!(self.0, Repr::Int(_) | Repr::Unsigned(_))
    }

    /// Whether it is less than zero, or -0.0.
    #[must_use]
    pub fn is_negative(&self) -> bool {
        match &self.0 {
            Repr::Int(integer) => integer.is_negative(),
            Repr::Unsigned(_) => false,
            Repr::Double(double) => double.is_sign_negative(),
            Repr::Exact(text) => text.starts_with('-'),
            Repr::Carried(carried) => carried.double.is_sign_negative(),
        }
    }

    /// Whether it is held as a double.
    #[must_use]
    pub fn is_f64(&self) -> bool {
        matches!(self.0, Repr::Double(_) | Repr::Carried(_))
    }

    /// Whether a double names this number, exactly or in its shortest text, so that the number
    /// survives the wire.
    #[must_use]
    pub fn is_double(&self) -> bool {
        match &self.0 {
            Repr::Double(_) | Repr::Carried(_) => true,
            Repr::Int(integer) => has_double(integer.unsigned_abs()) || self.is_shortest(),
            Repr::Unsigned(integer) => has_double(*integer) || self.is_shortest(),
            Repr::Exact(_) => false,
        }
    }

    /// Whether the number has no fraction, however it is held or written.
    #[must_use]
    pub fn is_integral(&self) -> bool {
        match &self.0 {
            Repr::Int(_) | Repr::Unsigned(_) => true,
            Repr::Double(double) => double.fract() == 0.0,
            Repr::Carried(carried) => carried.double.fract() == 0.0,
            Repr::Exact(text) => {
                Literal::parse(text).is_some_and(|literal| literal.decimal().is_integral())
            }
        }
    }

    /// Whether an integer is the shortest text of its double, as 1234567890123456800 is.
    fn is_shortest(&self) -> bool {
        let text = self.to_string();
        Literal::parse(&text)
            .zip(finite(&text))
            .is_some_and(|(literal, double)| literal.decimal().is(double))
    }
}

/// Whether an integer has at most 53 significant bits.
fn has_double(integer: u64) -> bool {
    integer == 0 || 64 - integer.leading_zeros() - integer.trailing_zeros() <= f64::MANTISSA_DIGITS
}

#[expect(clippy::cast_possible_truncation, reason = "callers pass integers within range")]
fn truncate(integral: f64) -> i64 {
    integral as i64
}

fn finite(literal: &str) -> Option<f64> {
    literal.parse().ok().filter(|double: &f64| double.is_finite())
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Int(integer) => integer.fmt(f),
            Repr::Unsigned(integer) => integer.fmt(f),
            Repr::Double(double) => match serde_json::Number::from_f64(*double) {
                Some(number) => number.fmt(f),
                None => f.write_str("null"),
            },
            Repr::Exact(text) => f.write_str(text),
            Repr::Carried(carried) => Self::from_wire(carried.double).fmt(f),
        }
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Number({self})")
    }
}

macro_rules! from_integers {
    ($($integer:ty),*) => {$(
        impl From<$integer> for Number {
            fn from(integer: $integer) -> Self {
                Self(Repr::Int(integer.into()))
            }
        }
    )*};
}

from_integers!(i8, i16, i32, i64, u8, u16, u32);

impl From<u64> for Number {
    fn from(integer: u64) -> Self {
        Self(i64::try_from(integer).map_or(Repr::Unsigned(integer), Repr::Int))
    }
}

impl From<usize> for Number {
    fn from(integer: usize) -> Self {
        // No platform has a wider `usize`.
        u64::try_from(integer).unwrap_or(u64::MAX).into()
    }
}

impl From<isize> for Number {
    fn from(integer: isize) -> Self {
        i64::try_from(integer).unwrap_or(i64::MAX).into()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::cases;
    use super::*;

    fn double(double: f64) -> Number {
        Number::from_f64(double).unwrap()
    }

    #[test]
    fn an_integer_literal_of_64_bits_is_an_integer() {
        for integer in [0, 1, -1, i64::MAX, i64::MIN, 9_007_199_254_740_993] {
            assert_eq!(Number::parse(&integer.to_string()), Some(integer.into()));
        }
        assert_eq!(Number::parse("18446744073709551615"), Some(u64::MAX.into()));
        assert_eq!(Number::parse("-0"), Some(double(-0.0)));
    }

    #[test]
    fn a_literal_that_names_a_double_is_that_double() {
        for (text, value) in [
            ("0.1", 0.1),
            ("5.0", 5.0),
            ("1e3", 1000.0),
            ("1E+3", 1000.0),
            ("0.50", 0.5),
            ("-0.0", -0.0),
            ("0e999999999", 0.0),
            ("1e300", 1e300),
            ("5e-324", 5e-324),
            // 2^64, exactly and in its shortest form.
            ("18446744073709551616", 18_446_744_073_709_551_616.0),
            ("18446744073709552000", 18_446_744_073_709_551_616.0),
            // 0.1, exactly.
            ("0.1000000000000000055511151231257827021181583404541015625", 0.1),
        ] {
            assert_eq!(Number::parse(text), Some(double(value)), "{text}");
        }
        let smallest = format!("{:.766e}", f64::MIN_POSITIVE.next_down());
        assert!(Number::parse(&smallest).unwrap().is_f64());
    }

    #[test]
    fn a_literal_that_names_no_double_keeps_its_text() {
        for (text, nearest) in [
            ("9007199254740993.0", Some(9_007_199_254_740_992.0)),
            ("18446744073709551617", Some(18_446_744_073_709_551_616.0)),
            ("0.10000000000000000001", Some(0.1)),
            ("0.1000000000000000055511151231257827021181583404541015624", Some(0.1)),
            ("1e400", None),
            ("-1e400", None),
            ("1e-400", Some(0.0)),
            ("1e99999999999999999999", None),
        ] {
            let number = Number::parse(text).unwrap();
            assert_eq!(number.exact(), Some(text));
            assert_eq!(number.to_string(), text);
            assert_eq!(number.as_f64(), nearest, "{text}");
            assert!(!number.is_double());
        }
        assert_eq!(Number::parse("01"), None);
        assert_eq!(Number::parse("NaN"), None);
    }

    #[test]
    fn a_long_literal_is_read_in_linear_time() {
        let digits = "7".repeat(1 << 20);
        assert_eq!(Number::parse(&digits).unwrap().as_f64(), None);
        let fraction = format!("0.{digits}");
        assert_eq!(Number::parse(&fraction).unwrap().exact(), Some(fraction.as_str()));
        let zeros = format!("5.{}", "0".repeat(1 << 20));
        assert_eq!(Number::parse(&zeros), Some(double(5.0)));
        let exponent = format!("1e{digits}");
        assert_eq!(Number::parse(&exponent).unwrap().as_f64(), None);
    }

    #[test]
    fn a_double_from_the_wire_is_an_integer_where_that_is_safe() {
        assert_eq!(Number::from_wire(5.0), 5.into());
        assert_eq!(Number::from_wire(0.0), 0.into());
        let most = 9_007_199_254_740_992_i64;
        assert_eq!(Number::from_wire(9_007_199_254_740_992.0), most.into());
        assert_eq!(Number::from_wire(-9_007_199_254_740_992.0), (-most).into());
        assert_eq!(Number::from_wire(9_007_199_254_740_994.0), double(9_007_199_254_740_994.0));
        assert_eq!(Number::from_wire(-0.0), double(-0.0));
        assert_eq!(Number::from_wire(0.5), double(0.5));
        assert_eq!(Number::from_wire(1e300), double(1e300));
    }

    #[test]
    fn numbers_print_as_serde_json_writes_them() {
        for (number, text) in [
            (5.into(), "5"),
            (u64::MAX.into(), "18446744073709551615"),
            (double(5.0), "5.0"),
            (double(-0.0), "-0.0"),
            (double(1e300), "1e+300"),
            (double(1e-7), "1e-7"),
            (double(9_007_199_254_740_992.0), "9007199254740992.0"),
        ] {
            assert_eq!(number.to_string(), text);
            if let Some(double) = number.as_f64().filter(|_| number.is_f64()) {
                assert_eq!(text, serde_json::to_string(&double).unwrap());
            }
        }
        assert_eq!(Number::from_f64(f64::NAN), None);
        assert_eq!(Number::from_f64(f64::INFINITY), None);
    }

    #[test]
    fn integers_are_asked_for_strictly_or_by_value() {
        assert_eq!(Number::from(5).as_i64(), Some(5));
        assert_eq!(double(5.0).as_i64(), None);
        assert_eq!(double(5.0).to_i64(), Some(5));
        assert_eq!(double(5.5).to_i64(), None);
        assert_eq!(double(9_223_372_036_854_775_808.0).to_i64(), None);
        assert_eq!(double(-9_223_372_036_854_775_808.0).to_i64(), Some(i64::MIN));
        assert_eq!(Number::from(u64::MAX).as_i64(), None);
        assert_eq!(Number::from(u64::MAX).as_u64(), Some(u64::MAX));
        assert_eq!(Number::from(-1).as_u64(), None);
        let exact = Number::parse("9007199254740993.0").unwrap();
        assert_eq!((exact.as_i64(), exact.to_i64()), (None, Some(9_007_199_254_740_993)));
    }

    #[test]
    fn an_integer_survives_as_a_double_or_not() {
        for (integer, survives) in [
            (0, true),
            (9_007_199_254_740_992, true),
            (9_007_199_254_740_993, false),
            (9_007_199_254_740_994, true),
            (i64::MAX, false),
            (i64::MIN, true),
        ] {
            assert_eq!(Number::from(integer).is_double(), survives, "{integer}");
        }
        assert!(!Number::from(u64::MAX).is_double());
        assert!(Number::from(1_u64 << 63).is_double());
    }

    #[test]
    fn equality_is_by_structure() {
        assert_ne!(Number::from(5), double(5.0));
        assert_ne!(double(0.0), double(-0.0));
        assert_eq!(Number::from(5_u64), Number::from(5_i8));
        assert_eq!(Number::from(5_usize), Number::from(5_isize));
    }

    proptest! {
        #![proptest_config(cases(500))]

        #[test]
        fn every_finite_double_reads_back_from_its_text(bits: u64) {
            let value = f64::from_bits(bits);
            prop_assume!(value.is_finite());
            for text in [double(value).to_string(), format!("{value:e}"), format!("{value:.766e}")] {
                prop_assert_eq!(Number::parse(&text), Some(double(value)), "{}", text);
            }
        }

        #[test]
        fn every_literal_keeps_its_value(text in "-?(0|[1-9][0-9]{0,24})(\\.[0-9]{1,25})?([eE][+-]?[0-9]{1,3})?") {
            let number = Number::parse(&text).unwrap();
            let value = Literal::parse(&text).unwrap().decimal();
            if number.is_f64() {
                prop_assert!(value.is(number.as_f64().unwrap()));
            } else {
                prop_assert_eq!(Literal::parse(&number.to_string()).unwrap().decimal(), value);
            }
        }
    }
}
