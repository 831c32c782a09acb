//! How long bytes take on a link, and how long the agent took to make them.

use ag_ui_proto::Event;
use ag_ui_proto::model::Body;

use super::format::real;

/// Bits a second that are looked at: from an old modem or a satellite to a fair mobile link.
pub(crate) const RATES: [u64; 7] =
    [10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000];

/// Seconds until the last of so many bytes has arrived: sent one after the other without a pause,
/// with no latency and without what TCP, TLS and HTTP add.
pub(crate) fn seconds(bytes: u64, bits_per_second: u64) -> f64 {
    real(bytes) * 8.0 / real(bits_per_second)
}

/// The time that the agent took, by the timestamps of the events: for each run from its earliest
/// to its latest. Pauses between runs do not count.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pace {
    millis: u64,
    run: Option<(i64, i64)>,
}

impl Pace {
    /// Sees the next event of a session.
    pub(crate) fn see(&mut self, event: &Event) {
        if matches!(event.body, Body::RunStarted(_)) {
            self.end_run();
        }
        if let Some(time) = event.base.timestamp {
            let (first, last) = self.run.unwrap_or((time, time));
            self.run = Some((first.min(time), last.max(time)));
        }
    }

    /// Ends the session.
    pub(crate) fn end_run(&mut self) {
        if let Some((first, last)) = self.run.take() {
            self.millis = self.millis.saturating_add(last.abs_diff(first));
        }
    }

    /// Milliseconds that all runs took; nothing if no events told their time, or all the same.
    pub(crate) fn millis(&self) -> Option<u64> {
        (self.millis > 0).then_some(self.millis)
    }
}

#[cfg(test)]
mod tests {
    use ag_ui_proto::model::{RunStarted, TextMessageEnd};

    use super::*;

    #[test]
    fn a_link_takes_eight_bits_for_a_byte() {
        assert!((seconds(12_500, 100_000) - 1.0).abs() < 1e-12);
        assert!(seconds(0, 10_000).abs() < 1e-12);
    }

    #[test]
    fn pauses_between_runs_do_not_count() {
        let mut pace = Pace::default();
        let start = || Event::from(RunStarted::new("t", "r"));
        let end = || Event::from(TextMessageEnd::new("m"));
        pace.see(&start().with_timestamp(1000));
        pace.see(&end());
        pace.see(&end().with_timestamp(1500));
        pace.see(&end().with_timestamp(1400));
        pace.see(&start().with_timestamp(90_000));
        pace.see(&end().with_timestamp(90_250));
        pace.end_run();
        assert_eq!(pace.millis(), Some(750));
    }

    #[test]
    fn events_without_a_time_have_no_pace() {
        let mut pace = Pace::default();
        pace.see(&TextMessageEnd::new("m").into());
        pace.end_run();
        assert_eq!(pace.millis(), None);
        pace.see(&Event::from(TextMessageEnd::new("m")).with_timestamp(-5));
        pace.end_run();
        assert_eq!(pace.millis(), None);
    }
}
