//! Many times, and the middle one, in little memory.
//!
//! Bins are as wide as a sixteenth of the power of two that they are in, so that a time is known to
//! 6 %. A mean would not do: one pause of the machine weighs as much as a thousand events.

/// Bins for each power of two.
const BINS: usize = 16;

/// Counts of times in nanoseconds.
#[derive(Clone, Debug)]
pub(crate) struct Histogram(Box<[u64; 61 * BINS]>);

impl Default for Histogram {
    fn default() -> Self {
        Self(Box::new([0; 61 * BINS]))
    }
}

impl Histogram {
    pub(crate) fn add(&mut self, nanos: u64) {
        if let Some(count) = self.0.get_mut(bin(nanos)) {
            *count += 1;
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        for (mine, other) in self.0.iter_mut().zip(other.0.iter()) {
            *mine += other;
        }
    }

    /// The time in the middle, to the middle of its bin; 0 if there is none.
    pub(crate) fn median(&self) -> f64 {
        let half = self.0.iter().sum::<u64>().div_ceil(2);
        let mut seen = 0;
        let middle = self.0.iter().position(|count| {
            seen += count;
            seen >= half && half > 0
        });
        middle.map_or(0.0, |bin| {
            let [start, end] = [start(bin), start(bin + 1)].map(super::format::real);
            // A bin of one value is that value.
            f64::midpoint(start, end - 1.0)
        })
    }
}

fn bin(nanos: u64) -> usize {
    let power = nanos.max(1).ilog2().saturating_sub(4);
    let within = usize::try_from(nanos >> power).unwrap_or_default();
    // Below 16 the bins are single values; from there on `within` is 16 to 31.
    usize::try_from(power).unwrap_or_default() * BINS + within
}

fn start(bin: usize) -> u64 {
    let power = (bin / BINS).saturating_sub(1);
    let within = u64::try_from(bin - power * BINS).unwrap_or_default();
    within.saturating_mul(1_u64.checked_shl(u32::try_from(power).unwrap_or(64)).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(values: &[u64], median: f64) {
        let mut histogram = Histogram::default();
        for value in values {
            histogram.add(*value);
        }
        assert!((histogram.median() - median).abs() < 1e-9, "{}", histogram.median());
    }

    #[test]
    fn the_middle_one_is_found() {
        check(&[], 0.0);
        check(&[0], 0.0);
        check(&[7], 7.0);
        check(&[1, 2, 30], 2.0);
        check(&[31, 31, 1_000_000_000], 31.0);
        // 1000 is in the bin of 992 to 1023.
        check(&[1000], 1007.5);
    }

    #[test]
    fn every_time_has_a_bin_that_holds_it() {
        let mut before = 0;
        for nanos in (0..5000).chain((13..64).map(|power| 1 << power)).chain([u64::MAX]) {
            let bin = bin(nanos);
            assert!(bin >= before && bin < 61 * BINS, "{nanos}");
            assert!(
                start(bin) <= nanos && (nanos < start(bin + 1) || nanos == u64::MAX),
                "{nanos}"
            );
            before = bin;
        }
    }

    #[test]
    fn two_are_added() {
        let [mut one, mut other] = [Histogram::default(), Histogram::default()];
        one.add(5);
        other.add(9);
        other.add(9);
        one.merge(&other);
        assert!((one.median() - 9.0).abs() < 1e-9);
    }
}
