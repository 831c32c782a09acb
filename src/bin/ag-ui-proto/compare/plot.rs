//! Where things stand in the plots of the page.
//!
//! The template writes the SVG elements itself. `plotters` would write colours and sizes into each
//! element, where neither a dark mode nor a narrow screen can change them, and no titles; and bars
//! and lines need no more than these few functions.
//!
//! Bars are given in percent of a width that the reader's screen sets, so that they shrink and
//! their labels do not. Lines cannot be, and are given in units of a drawing of fixed proportions.

use super::format::real;
use super::link::{RATES, seconds};
use super::session::Comparison;
use crate::report::grouped;

/// Percent of the width that the longest bar takes; the rest is for its label.
const LONGEST: f64 = 66.0;

/// Width of a bar in percent; a bar that is there at all can be seen.
pub(super) fn width(value: f64, longest: f64) -> String {
    if longest > 0.0 && value > 0.0 {
        percent((value / longest * LONGEST).max(0.3))
    } else {
        percent(0.0)
    }
}

fn percent(value: f64) -> String {
    format!("{value:.2}%")
}

/// Where a factor stands on an axis from `1 / end` to `end`, in logarithms, in percent. What is
/// beyond the ends stands at them.
pub(super) fn factor_at(factor: f64, end: f64) -> String {
    let part = factor.max(f64::MIN_POSITIVE).ln() / end.ln();
    percent(part.clamp(-1.0, 1.0).mul_add(50.0, 50.0))
}

/// The size of the drawing of lines, and the place of its axes in it.
const LEFT: f64 = 42.0;
const RIGHT: f64 = 286.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 224.0;

/// Least distance of two labels.
const LABEL_GAP: f64 = 13.0;

/// Time until the last event against the speed of the link, both in logarithms.
pub(super) struct LinkPlot {
    pub(super) lines: Vec<Line>,
    pub(super) rates: Vec<Tick>,
    pub(super) times: Vec<Tick>,
    /// The time that the agent took: its place, if it is known and in the drawing.
    pub(super) agent: Option<String>,
}

/// One way to send the bytes.
pub(super) struct Line {
    /// Class names.
    pub(super) class: String,
    pub(super) name: String,
    pub(super) points: String,
    /// Where the line ends, and where its label is.
    pub(super) end: String,
    pub(super) label: String,
}

/// A mark on an axis.
pub(super) struct Tick {
    pub(super) at: String,
    pub(super) text: String,
}

impl LinkPlot {
    /// Nothing, if there are no bytes.
    pub(super) fn new(comparison: &Comparison) -> Option<Self> {
        let ways: Vec<_> = comparison
            .total
            .ways()
            .flat_map(|(name, pair)| {
                [("sse", "SSE", name, pair.sse), ("frames", "frames", name, pair.frames)]
            })
            .filter(|(.., bytes)| *bytes > 0)
            .collect();
        let [slowest, .., fastest] = RATES;
        let bytes = ways.iter().map(|(.., bytes)| *bytes);
        let (least, most) = (bytes.clone().min()?, bytes.max()?);
        let low = seconds(least, fastest).log10().floor();
        let high = seconds(most, slowest).log10().ceil().max(low + 1.0);

        let x = |rate: u64| {
            let part = (real(rate) / real(slowest)).ln() / (real(fastest) / real(slowest)).ln();
            LEFT + part * (RIGHT - LEFT)
        };
        let y = |time: f64| BOTTOM - (time.log10() - low) / (high - low) * (BOTTOM - TOP);
        let ends: Vec<_> = ways.iter().map(|(.., bytes)| y(seconds(*bytes, fastest))).collect();
        let labels = apart(&ends, LABEL_GAP, BOTTOM - 4.0);
        let lines = ways.iter().zip(ends.iter().zip(labels)).map(
            |((class, form, way, bytes), (end, label))| {
                let points =
                    RATES.map(|rate| format!("{:.1},{:.1}", x(rate), y(seconds(*bytes, rate))));
                Line {
                    class: format!("{class} {way}"),
                    name: if *way == "raw" { (*form).to_owned() } else { format!("{form} {way}") },
                    points: points.join(" "),
                    end: format!("{end:.1}"),
                    label: format!("{label:.1}"),
                }
            },
        );
        let decades = std::iter::successors(Some(low), |power| Some(power + 1.0));
        let times = decades
            .take_while(|power| *power <= high)
            .map(|power| Tick { at: format!("{:.1}", y(10_f64.powf(power))), text: decade(power) });
        let rates = RATES
            .iter()
            .step_by(2)
            .map(|rate| Tick { at: format!("{:.1}", x(*rate)), text: bits(*rate) });
        let agent = comparison.pace_of_all().map(|millis| y(real(millis) / 1e3));
        let agent = agent.filter(|at| (TOP..=BOTTOM).contains(at)).map(|at| format!("{at:.1}"));
        Some(Self { lines: lines.collect(), rates: rates.collect(), times: times.collect(), agent })
    }
}

/// Ten to the power, as a time.
fn decade(power: f64) -> String {
    let (shift, unit) = if power >= 0.0 {
        (0.0, "s")
    } else if power >= -3.0 {
        (3.0, "ms")
    } else if power >= -6.0 {
        (6.0, "µs")
    } else {
        (9.0, "ns")
    };
    let digits = format!("{:.0}", 10_f64.powf(power + shift));
    let digits = digits.parse().map_or(digits, grouped);
    format!("{digits} {unit}")
}

fn bits(rate: u64) -> String {
    if rate >= 1_000_000 {
        format!("{} Mbit/s", rate / 1_000_000)
    } else {
        format!("{} kbit/s", rate / 1000)
    }
}

/// Places near the given ones, in their order, no two nearer than `gap` and none beyond `end`, as
/// long as there is room before it.
fn apart(wanted: &[f64], gap: f64, end: f64) -> Vec<f64> {
    let mut order: Vec<_> = (0..wanted.len()).collect();
    let at = |index: usize| wanted.get(index).copied().unwrap_or_default();
    order.sort_by(|one, other| at(*one).total_cmp(&at(*other)));
    let mut places = vec![0.0; wanted.len()];
    // From above each as near as may be; then from below, what went too far.
    let mut least = f64::NEG_INFINITY;
    for index in &order {
        let place = at(*index).max(least);
        if let Some(slot) = places.get_mut(*index) {
            *slot = place;
        }
        least = place + gap;
    }
    let mut most = end;
    for index in order.iter().rev() {
        if let Some(slot) = places.get_mut(*index) {
            *slot = slot.min(most);
            most = *slot - gap;
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_leaves_room_for_its_label() {
        assert_eq!(width(50.0, 50.0), "66.00%");
        assert_eq!(width(25.0, 50.0), "33.00%");
        assert_eq!(width(0.001, 50.0), "0.30%");
        assert_eq!(width(0.0, 50.0), "0.00%");
        assert_eq!(width(0.0, 0.0), "0.00%");
    }

    #[test]
    fn equal_stands_in_the_middle_of_factors() {
        assert_eq!(factor_at(1.0, 10.0), "50.00%");
        assert_eq!(factor_at(10.0, 10.0), "100.00%");
        assert_eq!(factor_at(0.1, 10.0), "0.00%");
        assert_eq!(factor_at(1e9, 10.0), "100.00%");
        assert_eq!(factor_at(0.0, 10.0), "0.00%");
    }

    #[test]
    fn labels_keep_apart_and_in_order() {
        assert_eq!(apart(&[10.0, 50.0], 13.0, 100.0), [10.0, 50.0]);
        assert_eq!(apart(&[50.0, 49.0, 48.0], 10.0, 100.0), [68.0, 58.0, 48.0]);
        assert_eq!(apart(&[95.0, 99.0], 10.0, 100.0), [90.0, 100.0]);
        assert!(apart(&[], 10.0, 100.0).is_empty());
    }

    #[test]
    fn decades_and_rates_have_names() {
        let names = [5.0, 0.0, -1.0, -3.0, -4.0, -7.0].map(decade);
        assert_eq!(names, ["100,000 s", "1 s", "100 ms", "1 ms", "100 µs", "100 ns"]);
        assert_eq!([10_000, 3_000_000].map(bits), ["10 kbit/s", "3 Mbit/s"]);
    }
}
