//! Numbers as people read them.

/// A count as a number to reckon with. A ratio is not exact anyway.
#[expect(clippy::cast_precision_loss, reason = "what is made from it is rounded")]
pub(crate) fn real(count: u64) -> f64 {
    count as f64
}

/// `part` of `whole`, unless there is nothing to divide by.
pub(crate) fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| real(part) / real(whole))
}

/// A part in percent: below 10 with a decimal, `1.4 %`, else whole, `58 %`.
pub(crate) fn percent(part: f64) -> String {
    let percent = part * 100.0;
    if percent.abs() < 9.95 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

/// A factor: `1.4`, from 10 on whole.
pub(crate) fn factor(factor: f64) -> String {
    if factor < 9.95 { format!("{factor:.1}") } else { format!("{factor:.0}") }
}

/// Three digits at most, as far as there are digits before the point.
fn short(number: f64) -> String {
    let decimals = [9.995, 99.95].into_iter().filter(|end| number < *end).count();
    format!("{number:.decimals$}")
}

/// A number with the largest unit of which there is one at least.
fn with_unit(number: f64, units: &[(f64, &str)]) -> String {
    let last = units.last().copied().unwrap_or((1.0, ""));
    // Rounding must not give 1000 of a unit.
    let fits = |(size, _): &&(f64, &str)| number >= size * 0.9995;
    let (size, name) = units.iter().find(fits).copied().unwrap_or(last);
    format!("{} {name}", short(number / size))
}

/// A time in nanoseconds: `412 ns`, `4.20 µs`.
pub(crate) fn time(nanos: f64) -> String {
    with_unit(nanos, &[(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")])
}

/// A time in seconds, for people who wait: `35 ms`, `4.20 s`, `74 s`, `5.0 min`.
pub(crate) fn wait(seconds: f64) -> String {
    if seconds >= 3600.0 {
        format!("{:.1} h", seconds / 3600.0)
    } else if seconds >= 100.0 {
        format!("{:.1} min", seconds / 60.0)
    } else {
        time(seconds * 1e9)
    }
}

/// Bytes: `352 kB`, `3.66 MB`, `12 B`.
pub(crate) fn size(bytes: u64) -> String {
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    with_unit(real(bytes), &[(1e9, "GB"), (1e6, "MB"), (1e3, "kB")])
}

/// Bits a second: `10.0 kbit/s`.
pub(crate) fn bit_rate(bits: f64) -> String {
    with_unit(bits, &[(1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s")])
}

/// Bytes in nanoseconds as megabytes a second: `214 MB/s`.
pub(crate) fn throughput(bytes: u64, nanos: f64) -> String {
    if nanos > 0.0 { format!("{} MB/s", short(real(bytes) / nanos * 1e3)) } else { "-".to_owned() }
}

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn list(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_that_matter() {
        assert_eq!(percent(0.0142), "1.4 %");
        assert_eq!(percent(0.0999), "10 %");
        assert_eq!(percent(0.5829), "58 %");
        assert_eq!(factor(4.84), "4.8");
        assert_eq!(factor(12.3), "12");
        assert_eq!(ratio(1, 0), None);
        assert_eq!(ratio(1, 4), Some(0.25));
    }

    #[test]
    fn a_time_has_a_unit() {
        for (nanos, text) in [
            (0.0, "0.00 ns"),
            (412.3, "412 ns"),
            (999.6, "1.00 µs"),
            (4200.0, "4.20 µs"),
            (1_500_000.0, "1.50 ms"),
            (2.5e9, "2.50 s"),
        ] {
            assert_eq!(time(nanos), text);
        }
        for (seconds, text) in
            [(0.035, "35.0 ms"), (74.2, "74.2 s"), (300.0, "5.0 min"), (7200.0, "2.0 h")]
        {
            assert_eq!(wait(seconds), text);
        }
    }

    #[test]
    fn bytes_and_rates_have_a_unit() {
        for (bytes, text) in
            [(0, "0 B"), (999, "999 B"), (352_104, "352 kB"), (3_663_385, "3.66 MB")]
        {
            assert_eq!(size(bytes), text);
        }
        assert_eq!(bit_rate(10_000.0), "10.0 kbit/s");
        assert_eq!(bit_rate(12.0), "12.0 bit/s");
        assert_eq!(throughput(2140, 10_000.0), "214 MB/s");
        assert_eq!(throughput(1, 0.0), "-");
    }

    #[test]
    fn words_make_a_list() {
        let words = ["a", "b", "c"].map(str::to_owned);
        assert_eq!(list(&[]), "");
        assert_eq!(list(&words[..1]), "a");
        assert_eq!(list(&words[..2]), "a and b");
        assert_eq!(list(&words), "a, b and c");
    }
}
