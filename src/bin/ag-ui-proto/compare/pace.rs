//! How long the agent took to make the events, by their timestamps.

use ag_ui_proto::Event;
use ag_ui_proto::model::Body;

/// Milliseconds between two neighbouring events from which on nobody was at work: the clock was set,
/// or the run waited for somebody.
const JUMP: u64 = 60 * 60 * 1000;

/// The time within runs, in milliseconds. Pauses between runs do not count.
///
/// A timestamp counts by what it is later than the latest before it. One that is earlier stands at
/// the latest, and one that is an hour away from it, either way, stands there too and is where time
/// goes on from: a clock that was set tells nothing of the agent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clock {
    latest: Option<i64>,
    /// Since the run began.
    millis: u64,
    jumps: u64,
}

/// What the clock says of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    /// Whether a run begins with the event.
    pub(crate) begins_run: bool,
    /// When the event is there, since the run began.
    pub(crate) millis: u64,
}

impl Clock {
    /// Sees the next event of a session. One without a timestamp comes with the one before it.
    pub(crate) fn see(&mut self, event: &Event) -> Moment {
        let begins_run = matches!(event.body, Body::RunStarted(_));
        if begins_run {
            (self.latest, self.millis) = (None, 0);
        }
        if let Some(time) = event.base.timestamp {
            let latest = self.latest.unwrap_or(time);
            if time.abs_diff(latest) >= JUMP {
                self.jumps += 1;
                self.latest = Some(time);
            } else {
                let later = u64::try_from(time.saturating_sub(latest)).unwrap_or_default();
                self.millis = self.millis.saturating_add(later);
                self.latest = Some(latest.max(time));
            }
        }
        Moment { begins_run, millis: self.millis }
    }
}

/// The time that all runs took.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pace {
    clock: Clock,
    run: u64,
    millis: u64,
    /// What `millis` was when the session began.
    before: u64,
    jumps: u64,
}

impl Pace {
    /// Sees the next event of a session.
    pub(crate) fn see(&mut self, event: &Event) {
        let Moment { begins_run, millis } = self.clock.see(event);
        if begins_run {
            self.millis = self.millis.saturating_add(self.run);
        }
        self.run = millis;
    }

    /// Ends the session. Gives whether its events told a time that the agent took.
    pub(crate) fn end_session(&mut self) -> bool {
        self.millis = self.millis.saturating_add(std::mem::take(&mut self.run));
        self.jumps += std::mem::take(&mut self.clock).jumps;
        self.millis > std::mem::replace(&mut self.before, self.millis)
    }

    /// Milliseconds that all runs took; nothing if no events told their time, or all the same.
    pub(crate) fn millis(&self) -> Option<u64> {
        (self.millis > 0).then_some(self.millis)
    }

    /// How often the clock jumped, which counts for no time.
    pub(crate) fn jumps(&self) -> u64 {
        self.jumps
    }
}

#[cfg(test)]
mod tests {
    use ag_ui_proto::model::{RunStarted, TextMessageEnd};

    use super::*;

    fn end() -> Event {
        TextMessageEnd::new("m").into()
    }

    fn start() -> Event {
        RunStarted::new("t", "r").into()
    }

    fn pace(times: &[i64]) -> Pace {
        let mut pace = Pace::default();
        for time in times {
            pace.see(&end().with_timestamp(*time));
        }
        pace.end_session();
        pace
    }

    #[test]
    fn pauses_between_runs_do_not_count() {
        let mut pace = Pace::default();
        pace.see(&start().with_timestamp(1000));
        pace.see(&end());
        pace.see(&end().with_timestamp(1500));
        pace.see(&end().with_timestamp(1400));
        pace.see(&start().with_timestamp(90_000));
        pace.see(&end().with_timestamp(90_250));
        pace.end_session();
        assert_eq!((pace.millis(), pace.jumps()), (Some(750), 0));
    }

    #[test]
    fn events_without_a_time_have_no_pace() {
        let mut pace = Pace::default();
        pace.see(&end());
        assert!(!pace.end_session());
        assert_eq!(pace.millis(), None);
        pace.see(&end().with_timestamp(-5));
        assert!(!pace.end_session());
        assert_eq!(pace.millis(), None);
        pace.see(&end().with_timestamp(0));
        pace.see(&end().with_timestamp(1));
        assert!(pace.end_session());
        pace.see(&end());
        assert!(!pace.end_session());
    }

    #[test]
    fn a_clock_that_goes_back_counts_from_its_latest_on() {
        assert_eq!(pace(&[1000, 1500, 1400, 1600]).millis(), Some(600));
        assert_eq!(pace(&[1500, 1000]).millis(), None);
    }

    #[test]
    fn a_clock_that_was_set_counts_for_no_time() {
        let year_2026 = 1_790_000_000_000;
        let largest = (1 << 53) - 1;
        for (times, millis, jumps) in [
            (&[0, year_2026, year_2026 + 70][..], 70, 1),
            (&[year_2026, year_2026 + 70, largest, -largest], 70, 2),
            (&[year_2026, largest, year_2026 + 50, year_2026 + 80], 30, 2),
            (&[0, 3_599_999, 7_199_999], 3_599_999, 1),
        ] {
            let pace = pace(times);
            assert_eq!((pace.millis(), pace.jumps()), (Some(millis), jumps), "{times:?}");
        }
    }
}
