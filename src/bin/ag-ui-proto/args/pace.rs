//! How fast a session goes, and a link.

use std::time::Duration;

use super::seconds;

/// When the events of a session are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    None,
    Fixed(Duration),
    Recorded,
}

pub(super) fn pace(text: &str) -> Result<Pace, String> {
    let expected = || "expected `none`, `recorded`, or a time as in `20ms` or `0.5s`".to_owned();
    let (number, unit) = match text {
        "none" => return Ok(Pace::None),
        "recorded" => return Ok(Pace::Recorded),
        text => match (text.strip_suffix("ms"), text.strip_suffix('s')) {
            (Some(number), _) => (number, 1000.0),
            (None, Some(number)) => (number, 1.0),
            (None, None) => return Err(expected()),
        },
    };
    let number: f64 = number.trim_end().parse().map_err(|_| expected())?;
    seconds(&(number / unit).to_string()).map(Pace::Fixed)
}

/// Bits a second, as in `2k`, `9600` or `1.5M`.
pub(super) fn bit_rate(text: &str) -> Result<u64, String> {
    let expected = || "expected bits a second, as in `2k`, `9600` or `1.5M`".to_owned();
    let (number, unit) = match text.as_bytes().last() {
        Some(b'k' | b'K') => (text.get(..text.len() - 1), 1e3),
        Some(b'M') => (text.get(..text.len() - 1), 1e6),
        _ => (Some(text), 1.0),
    };
    let number: f64 = number.and_then(|number| number.parse().ok()).ok_or_else(expected)?;
    let rate = (number * unit).round();
    if !(1.0..=1e12).contains(&rate) {
        return Err("expected 1 bit a second to 1000000M".to_owned());
    }
    // A whole number of at most 13 digits.
    format!("{rate:.0}").parse().map_err(|_| expected())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pace_is_a_word_or_a_time() {
        for (text, want) in [
            ("none", Pace::None),
            ("recorded", Pace::Recorded),
            ("20ms", Pace::Fixed(Duration::from_millis(20))),
            ("0.5 s", Pace::Fixed(Duration::from_millis(500))),
            ("0ms", Pace::Fixed(Duration::ZERO)),
        ] {
            assert_eq!(pace(text), Ok(want), "{text}");
        }
        for text in ["", "20", "ms", "-1ms", "NaNs", "infs", "fast", "1e9s"] {
            assert!(pace(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_rate_is_finite_and_not_nothing() {
        for (text, want) in [
            ("2k", 2000),
            ("9600", 9600),
            ("1.5M", 1_500_000),
            ("1", 1),
            ("1000000M", 1_000_000_000_000),
        ] {
            assert_eq!(bit_rate(text), Ok(want), "{text}");
        }
        for text in ["", "k", "0", "-2k", "0.4", "NaN", "inf", "2 G", "2kk", "1000001M"] {
            assert!(bit_rate(text).is_err(), "{text}");
        }
    }
}
