//! What a user is told on standard error: warnings, errors, progress, and a summary.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use indicatif::{ProgressBar, ProgressStyle};

use crate::input::Input;
use crate::look::printable;

/// Bytes of a file from which on a progress bar is worth its place.
const LONG: u64 = 32 * 1024 * 1024;

/// Standard error while a command runs.
pub(crate) struct Report {
    bar: Option<ProgressBar>,
    summary: bool,
}

/// Events, and their bytes before and after.
pub(crate) struct Summary {
    pub(crate) events: u64,
    pub(crate) before: (u64, &'static str),
    pub(crate) after: (u64, &'static str),
}

impl Report {
    /// `summary` asks for a summary even if nobody watches.
    pub(crate) fn new(input: &Input, summary: bool) -> Self {
        let is_watched = io::stderr().is_terminal();
        let bar = input.len().filter(|len| is_watched && *len >= LONG).map(bar);
        Self { bar, summary: summary || is_watched }
    }

    /// Without a bar and a summary.
    #[cfg(feature = "cli-http")]
    pub(crate) fn quiet() -> Self {
        Self { bar: None, summary: false }
    }

    pub(crate) fn warning(&self, place: impl Display, text: impl Display) {
        let yellow = AnsiColor::Yellow.on_default().bold();
        let tell = || tell("warning", yellow, &format!("{place}: {text}"));
        match &self.bar {
            Some(bar) => bar.suspend(tell),
            None => tell(),
        }
    }

    /// For work of so many steps that takes seconds, `what`.
    pub(crate) fn steps(len: u64, what: &'static str) -> Self {
        let is_watched = io::stderr().is_terminal();
        let bar = is_watched.then(|| {
            let bar = ProgressBar::new(len);
            if let Ok(style) = ProgressStyle::with_template("{bar:32} {msg}, {eta}") {
                bar.set_style(style);
            }
            bar.set_message(what);
            bar
        });
        Self { bar, summary: false }
    }

    pub(crate) fn error(&self, text: impl Display) {
        let tell = || error(&text.to_string());
        match &self.bar {
            Some(bar) => bar.suspend(tell),
            None => tell(),
        }
    }

    /// Says something that is neither a result nor a warning.
    pub(crate) fn note(&self, text: impl Display) {
        self.clear();
        let _ = writeln!(io::stderr(), "{}", printable(&text.to_string()));
    }

    /// Shows how much of the input was read, or how many steps are done.
    pub(crate) fn progress(&self, taken: u64) {
        if let Some(bar) = &self.bar {
            bar.set_position(taken);
        }
    }

    /// Ends the progress bar.
    pub(crate) fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    /// Ends the progress bar, and writes the summary if it is wanted.
    pub(crate) fn finish(self, summary: &Summary) {
        self.clear();
        if self.summary {
            let Summary { events, before: (before, of), after: (after, into) } = *summary;
            let (events, ratio) = (count(events, "event"), percent(after, before));
            let (before, after) = (grouped(before), grouped(after));
            let _ = writeln!(io::stderr(), "{events}: {before} {of} -> {after} {into} ({ratio})");
        }
    }
}

/// Writes `text` to standard error as an error.
pub(crate) fn error(text: &str) {
    tell("error", AnsiColor::Red.on_default().bold(), text);
}

/// A standard error that is closed is no reason to fail.
fn tell(word: &str, style: Style, text: &str) {
    let line = format!("{style}{word}:{style:#} {}\n", printable(text));
    let _ = anstream::stderr().write_all(line.as_bytes());
}

fn bar(len: u64) -> ProgressBar {
    let bar = ProgressBar::new(len);
    let template = "{bar:32} {binary_bytes} of {binary_total_bytes}, {binary_bytes_per_sec}, {eta}";
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// A count and what is counted: `1 event`, `1,024 events`.
pub(crate) fn count(count: u64, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {what}{plural}", grouped(count))
}

/// A number with commas between thousands.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `part` of `whole` in percent, rounded: `58 %`.
pub(crate) fn percent(part: u64, whole: u64) -> String {
    match (u128::from(part) * 200 + u128::from(whole)).checked_div(u128::from(whole) * 2) {
        Some(percent) => format!("{percent} %"),
        None => "- %".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_set_apart() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), text);
        }
    }

    #[test]
    fn a_percentage_is_rounded() {
        assert_eq!(percent(15_617, 26_767), "58 %");
        assert_eq!(percent(1, 200), "1 %");
        assert_eq!(percent(0, 0), "- %");
    }
}
