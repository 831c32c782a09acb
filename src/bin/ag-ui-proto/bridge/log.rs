//! What is told of runs on standard error, and the sums.

use std::fmt::Display;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ag_ui_proto::server::Refusal;
use http::StatusCode;

use crate::listen::say;
use crate::report::{Report, count, grouped};

/// Warnings of one run that are told one by one.
const MAX_TOLD: u64 = 10;

/// The sums over all runs.
#[derive(Debug, Default)]
pub(super) struct Log {
    requests: AtomicU64,
    /// Answers that were no events.
    passed: AtomicU64,
    runs: AtomicU64,
    broken: AtomicU64,
    events: AtomicU64,
    dropped: AtomicU64,
    changed: AtomicU64,
    rounded: AtomicU64,
}

/// What is counted of one run. Told when the run is over, or its client gone.
#[derive(Debug)]
pub(super) struct Tally {
    log: Arc<Log>,
    number: u64,
    how: String,
    events: u64,
    /// Events of a later version, which the other binding cannot name.
    dropped: u64,
    /// Notices of what was translated, stripped, or left out of events.
    changed: u64,
    /// Numbers that no double is, which another one stands for.
    rounded: u64,
    bytes_in: u64,
    bytes_out: u64,
    end: Option<String>,
    is_whole: bool,
}

impl Log {
    /// The number of a request, counted from 1.
    pub(super) fn begin(&self) -> u64 {
        add(&self.requests, 1) + 1
    }

    pub(super) fn refused(&self, number: u64, refusal: &Refusal) {
        add(&self.broken, 1);
        say(&format!("request {number}: {refusal}"));
    }

    pub(super) fn passed(&self, number: u64, status: StatusCode) {
        add(&self.passed, 1);
        say(&format!("request {number}: no events, passed on with the status {status}"));
    }

    pub(super) fn run(self: &Arc<Self>, number: u64, how: String) -> Tally {
        add(&self.runs, 1);
        Tally {
            log: Arc::clone(self),
            number,
            how,
            events: 0,
            dropped: 0,
            changed: 0,
            rounded: 0,
            bytes_in: 0,
            bytes_out: 0,
            end: None,
            is_whole: false,
        }
    }

    pub(super) fn sums(&self) -> String {
        let sum = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        format!(
            "{}, {}, {}: {} passed on, {} not whole, {} dropped, {} changed or left out, \
             {} rounded",
            count(sum(&self.requests), "request"),
            count(sum(&self.runs), "run"),
            count(sum(&self.events), "event"),
            grouped(sum(&self.passed)),
            grouped(sum(&self.broken)),
            grouped(sum(&self.dropped)),
            grouped(sum(&self.changed)),
            grouped(sum(&self.rounded)),
        )
    }
}

impl Tally {
    pub(super) fn took(&mut self, bytes: usize) {
        self.bytes_in += u64::try_from(bytes).unwrap_or(u64::MAX);
    }

    pub(super) fn gave(&mut self, bytes: usize) {
        self.bytes_out += u64::try_from(bytes).unwrap_or(u64::MAX);
    }

    pub(super) fn sent(&mut self) {
        self.events += 1;
    }

    pub(super) fn dropped(&mut self, notice: &dyn Display) {
        self.dropped += 1;
        self.warn(notice);
    }

    pub(super) fn changed(&mut self, notice: &dyn Display) {
        self.changed += 1;
        self.warn(notice);
    }

    pub(super) fn rounded(&mut self, number: &dyn Display) {
        self.rounded += 1;
        self.warn(number);
    }

    /// Sets what became of the run.
    pub(super) fn end(&mut self, end: impl Into<String>, is_whole: bool) {
        (self.end, self.is_whole) = (Some(end.into()), is_whole);
    }

    fn warn(&self, notice: &dyn Display) {
        let (told, number) = (self.dropped + self.changed + self.rounded, self.number);
        if told <= MAX_TOLD {
            let event = self.events + self.dropped;
            Report::quiet().warning(format!("request {number}: event {event}"), notice);
        }
    }
}

impl Drop for Tally {
    fn drop(&mut self) {
        let end =
            self.end.take().unwrap_or_else(|| "the client went away, or the bridge did".to_owned());
        add(&self.log.broken, u64::from(!self.is_whole));
        add(&self.log.events, self.events);
        add(&self.log.dropped, self.dropped);
        add(&self.log.changed, self.changed);
        add(&self.log.rounded, self.rounded);
        say(&format!(
            "request {}: {}: {}, {} bytes in, {} bytes out, {} dropped, {} changed or left out, \
             {} rounded: {end}",
            self.number,
            self.how,
            count(self.events, "event"),
            grouped(self.bytes_in),
            grouped(self.bytes_out),
            grouped(self.dropped),
            grouped(self.changed),
            grouped(self.rounded),
        ));
    }
}

fn add(counter: &AtomicU64, number: u64) -> u64 {
    counter.fetch_add(number, Ordering::Relaxed)
}
