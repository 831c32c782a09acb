//! What is told, and what is asserted.

use ag_ui_proto::negotiate::Coding;

use super::args::Args;
use super::run::name_of;

/// Most memory of a run in the server, without a compressor.
const RUN_MEMORY: usize = 32 * 1024;

/// Most memory that does not grow with the runs.
const SLACK: usize = 8 * 1024 * 1024;

pub(super) struct Report {
    pub(super) args: Args,
    /// Events of a run, and the bytes of its body.
    pub(super) events: usize,
    pub(super) body_len: usize,
    /// Seconds from the first request to the end of the last run.
    pub(super) took: f64,
    /// How late each event of each run was, in microseconds.
    pub(super) delays: Vec<Vec<u32>>,
    /// Slow readers that read all in the end.
    pub(super) slow_runs: usize,
    /// What went wrong with runs.
    pub(super) faults: Vec<String>,
    /// Memory of the server before the first run; at most until all but the slow were done; then.
    pub(super) idle: usize,
    pub(super) peak: usize,
    pub(super) blocked: usize,
    /// What the kernel then held for the slow ones.
    pub(super) held: usize,
    /// Processors that the server and this client kept busy.
    pub(super) cores: [f64; 2],
}

impl Report {
    /// Quantiles of the delays, in milliseconds: the middle, 99 %, 99.9 %, the largest.
    fn quantiles(&self) -> [f64; 4] {
        let mut all: Vec<_> = self.delays.iter().flatten().copied().collect();
        all.sort_unstable();
        [500, 990, 999, 1000].map(|mille| {
            let place = (all.len() * mille / 1000).min(all.len().saturating_sub(1));
            all.get(place).map_or(0.0, |micros| f64::from(*micros) / 1e3)
        })
    }

    fn all_runs(&self) -> usize {
        self.args.runs + self.args.slow
    }

    fn memory_of_a_run(&self) -> usize {
        self.peak.saturating_sub(self.idle) / self.all_runs().max(1)
    }

    pub(super) fn text(&self) -> String {
        let Args { runs, slow, rate, text, format, coding, .. } = self.args;
        let [middle, high, higher, most] = self.quantiles();
        let [server, client] = self.cores;
        let kb = |bytes: usize| bytes / 1000;
        let coding = coding.map_or(String::new(), |coding| format!(" {coding}"));
        let name = name_of(format);
        let mut lines = vec![
            format!(
                "{runs} runs at {rate} events a second, texts of {text} bytes, {name}{coding}: {} of \
                 {runs} arrived whole and in order, {} events each, in {:.1} s",
                self.delays.len(),
                self.events,
                self.took
            ),
            format!(
                "late: middle {middle:.1} ms, 99 % {high:.1} ms, 99.9 % {higher:.1} ms, most \
                 {most:.1} ms"
            ),
            format!(
                "server: {} kB idle, {} kB at most, {} kB a run; {server:.2} processors, this \
                 client {client:.2}",
                kb(self.idle),
                kb(self.peak),
                kb(self.memory_of_a_run())
            ),
        ];
        if let Some(held_each) = self.held.checked_div(slow) {
            lines.push(format!(
                "{slow} slow readers beside them, of whose {} kB each the kernel held {} kB; server \
                 then {} kB; {} of {slow} read all in the end",
                kb(self.body_len),
                kb(held_each),
                kb(self.blocked),
                self.slow_runs
            ));
        }
        lines.extend(self.faults.iter().take(10).map(|fault| format!("fault: {fault}")));
        lines.join("\n")
    }

    pub(super) fn json(&self) -> serde_json::Value {
        let [middle, high, higher, most] = self.quantiles();
        serde_json::json!({
            "runs": self.args.runs, "slow": self.args.slow, "rate": self.args.rate,
            "text": self.args.text, "form": name_of(self.args.format),
            "coding": self.args.coding.map(Coding::as_str),
            "events": self.events, "whole": self.delays.len(), "slowWhole": self.slow_runs,
            "lateMillis": {"median": middle, "p99": high, "p999": higher, "max": most},
            "serverBytes": {"idle": self.idle, "peak": self.peak, "blocked": self.blocked},
            "heldBytes": self.held, "cores": self.cores, "seconds": self.took,
        })
    }

    /// Stops if an event was lost, out of place or given twice, or if memory is not bounded.
    pub(super) fn check(&self) {
        assert!(self.faults.is_empty(), "{} runs failed", self.faults.len());
        assert_eq!((self.delays.len(), self.slow_runs), (self.args.runs, self.args.slow));
        let compressor = match self.args.coding {
            None => 0,
            Some(Coding::Gzip) => 400_000,
            Some(Coding::Brotli | Coding::Zstd) => 1_900_000,
        };
        let most = self.idle + self.all_runs() * (RUN_MEMORY + compressor) + SLACK;
        let peak = self.peak.max(self.blocked);
        assert!(peak <= most, "the server held {peak} bytes, more than {most}");
        // Otherwise nobody was slow: the kernel took all, and it says nothing of the server.
        let unread = self.args.slow * self.body_len;
        if self.args.slow > 0 && self.body_len > 512 * 1024 {
            assert!(self.held < unread / 4, "the kernel held {} bytes of {unread}", self.held);
        }
    }
}
