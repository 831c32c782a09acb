//! How long bytes take on a link.

use super::format::real;

/// Bits a second that are looked at: from an old modem or a satellite to a fair mobile link.
pub(crate) const RATES: [u64; 7] =
    [10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000];

/// Seconds until the last of so many bytes has arrived: sent one after the other without a pause,
/// with no latency and without what TCP, TLS and HTTP add.
pub(crate) fn seconds(bytes: u64, bits_per_second: u64) -> f64 {
    real(bytes) * 8.0 / real(bits_per_second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_takes_eight_bits_for_a_byte() {
        assert!((seconds(12_500, 100_000) - 1.0).abs() < 1e-12);
        assert!(seconds(0, 10_000).abs() < 1e-12);
    }
}
