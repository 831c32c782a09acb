//! The comparison as text: verdicts, then tables.

use ag_ui_proto::codec::HEADER_LEN;
use console::measure_text_width;

use super::anatomy::Part;
use super::compress::Coding;
use super::format::{factor, percent, ratio, real, size, throughput, time, wait};
use super::link::{RATES, seconds};
use super::sample::SAMPLE_MAX;
use super::session::{Comparison, File, harm};
use super::simulation::{OnLinks, Sent};
use super::sizes::{Pair, Sizes};
use super::timing::{Job, Speed, Spread};
use super::verdict::{Winner, verdicts};
use crate::look::printable;
use crate::report::{self, count, grouped};

/// All that there is to say.
pub(crate) fn whole(comparison: &Comparison) -> String {
    let mut out = Text::default();
    if comparison.is_empty() {
        out.line(&nothing(comparison));
        return out.0;
    }
    for verdict in verdicts(comparison) {
        let winner = match verdict.winner {
            Winner::Json => "JSON",
            Winner::Neither => "both",
            Winner::Protobuf => "protobuf",
        };
        out.line(&format!("{winner:<8}  {}", verdict.text));
    }
    out.line("");
    sessions(comparison, &mut out);
    bytes(comparison, &mut out);
    parts(comparison, &mut out);
    times(comparison, &mut out);
    links(comparison, &mut out);
    simulations(comparison, &mut out);
    losses(comparison, &mut out);
    out.0
}

/// Why there is nothing to compare.
pub(crate) fn nothing(comparison: &Comparison) -> String {
    let names: Vec<_> = comparison.files.iter().map(name).collect();
    let failed = match comparison.failed() {
        0 => String::new(),
        failed => format!("; {} could be read as no event", count(failed, "item")),
    };
    let dropped = match comparison.dropped() {
        0 => String::new(),
        dropped => format!("; {} of unknown type", count(dropped, "event")),
    };
    let is_whole = comparison.files.iter().all(|file| file.is_whole);
    let cut = if is_whole { "" } else { "; not read to the end" };
    format!("{}: no event, nothing to compare{failed}{dropped}{cut}", names.join(", "))
}

/// What is not counted of a file, if anything.
pub(crate) fn left_out(file: &File) -> String {
    let mut words = Vec::new();
    if file.dropped > 0 {
        words.push(format!("{} of unknown type left out", count(file.dropped, "event")));
    }
    if file.failed > 0 {
        words.push(format!("{} left out", count(file.failed, "fault")));
    }
    if !file.is_whole {
        words.push("not read to its end".to_owned());
    }
    words.join(", ")
}

fn sessions(comparison: &Comparison, out: &mut Text) {
    if let [file] = comparison.files.as_slice() {
        out.line(&head(file));
        return;
    }
    let files = u64::try_from(comparison.files.len()).unwrap_or(u64::MAX);
    let events = count(comparison.total.events, "event");
    out.line(&format!("{}: {events}", count(files, "session")));
    let mut table = Table::new(&["", "events", "SSE", "frames", "", "gzip SSE", "frames", ""]);
    for file in &comparison.files {
        let mut row = vec![name(file), grouped(file.sizes.events)];
        row.extend(pair(file.sizes.raw));
        row.extend(pair(file.sizes.coded(Coding::Gzip)));
        table.rows.push(row);
    }
    out.table(&table);
    for file in &comparison.files {
        if !left_out(file).is_empty() {
            out.line(&format!("  {}: {}", name(file), left_out(file)));
        }
    }
}

/// The name of a file on one line, whatever it is called.
fn name(file: &File) -> String {
    printable(&file.name).into_owned()
}

fn head(file: &File) -> String {
    let (name, left_out) = (name(file), left_out(file));
    let comma = if left_out.is_empty() { "" } else { ", " };
    format!("{name}: {}{comma}{left_out}", count(file.sizes.events, "event"))
}

fn pair(Pair { sse, frames }: Pair) -> [String; 3] {
    [grouped(sse), grouped(frames), report::percent(frames, sse)]
}

fn bytes(comparison: &Comparison, out: &mut Text) {
    out.section(
        "Bytes, and what a compressor takes: median time of an event with its flush, memory",
    );
    let mut table =
        Table::new(&["", "SSE", "frames", "", "time SSE", "frames", "memory SSE", "frames", ""]);
    let mut row = vec!["uncompressed".to_owned()];
    row.extend(pair(comparison.total.raw));
    table.rows.push(row);
    for coding in Coding::ALL {
        let mut row = vec![coding.as_str().to_owned()];
        row.extend(pair(comparison.total.coded(coding)));
        let costs = comparison.costs.of(coding);
        row.extend(costs.iter().map(|cost| time(cost.times.median())));
        row.extend(costs.iter().map(|_| size(coding.memory())));
        row.push(coding.settings().to_owned());
        table.rows.push(row);
    }
    out.table(&table);

    out.section("Bytes by event type");
    let heads = ["", "events", "SSE", "frames", "", "gzip SSE", "frames", "br SSE", "frames"];
    let mut table = Table::new(&[&heads[..], &["zstd SSE", "frames"]].concat());
    let mut types: Vec<_> = comparison.by_type.iter().collect();
    types.sort_by_key(|(_, sizes)| std::cmp::Reverse(sizes.raw.sse));
    for (name, sizes) in types {
        table.rows.push(type_row(name.as_str(), sizes));
    }
    if comparison.by_type.len() > 1 {
        table.rows.push(type_row("all", &comparison.total));
    }
    out.table(&table);
}

fn type_row(name: &str, sizes: &Sizes) -> Vec<String> {
    let mut row = vec![name.to_owned(), grouped(sizes.events)];
    row.extend(pair(sizes.raw));
    for coding in Coding::ALL {
        let Pair { sse, frames } = sizes.coded(coding);
        row.extend([grouped(sse), grouped(frames)]);
    }
    row
}

fn parts(comparison: &Comparison, out: &mut Text) {
    out.section("What the uncompressed bytes are");
    let (sse, frames) = (&comparison.anatomy.sse, &comparison.anatomy.frames);
    let mut table = Table::new(&["", "SSE", "", "frames", ""]);
    let mut row = |name: &str, one: u64, other: u64| {
        let share = |part, whole| percent(ratio(part, whole).unwrap_or_default());
        table.rows.push(vec![
            name.to_owned(),
            grouped(one),
            share(one, sse.total()),
            grouped(other),
            share(other, frames.total()),
        ]);
    };
    for part in Part::ALL {
        row(part.as_str(), sse.of(part), frames.of(part));
    }
    row("all", sse.total(), frames.total());
    out.table(&table);
    out.line(&format!(
        "  type, timestamp, rawEvent, metadata: of the event, with their names or tags. ids, content: \
         values alone.\n  structure: names, punctuation, `data: `; tags, lengths, headers of \
         {HEADER_LEN} bytes."
    ));
    let lists = comparison.anatomy.lists;
    if let Some(larger) = ratio(lists.protobuf, lists.json) {
        out.line(&format!(
            "  {} of {} or more numbers: {} bytes in JSON, {} in protobuf, {} times",
            count(lists.lists, "list"),
            super::anatomy::LIST_MIN,
            grouped(lists.json),
            grouped(lists.protobuf),
            factor(larger)
        ));
    }
}

fn times(comparison: &Comparison, out: &mut Text) {
    let Some(speed) = &comparison.speed else {
        out.section("Time: not measured");
        return;
    };
    out.section("Time of an event, median (middle half of the rounds), and throughput");
    let mut table = Table::new(&["", "JSON", "", "", "protobuf", "", "", "JSON / protobuf"]);
    let [json_encode, encode, json_decode, decode] = Job::ALL;
    for (name, json, protobuf) in [("encode", json_encode, encode), ("decode", json_decode, decode)]
    {
        let mut row = vec![name.to_owned()];
        for job in [json, protobuf] {
            let spread = speed.all.of(job);
            let per_event = real(speed.all.events) * spread.median;
            row.extend([
                time(spread.median),
                middle_half(spread),
                throughput(speed.all.bytes(job), per_event),
            ]);
        }
        row.push(times_as(speed.all.of(json), speed.all.of(protobuf)));
        table.rows.push(row);
    }
    out.table(&table);
    for line in what_was_timed(speed) {
        out.line(&format!("  {line}"));
    }

    if speed.by_type.len() > 1 {
        out.section("Time by event type, median");
        let heads = ["", "timed", "encode JSON", "protobuf", "", "decode JSON", "protobuf", ""];
        let mut table = Table::new(&heads);
        let mut types: Vec<_> = speed.by_type.iter().collect();
        types.sort_by_key(|(_, times)| std::cmp::Reverse(times.sse));
        for (name, each) in types {
            let mut row = vec![name.as_str().to_owned(), grouped(each.events)];
            for [json, protobuf] in [[json_encode, encode], [json_decode, decode]] {
                let (json, protobuf) = (each.of(json), each.of(protobuf));
                row.extend([time(json.median), time(protobuf.median), times_as(json, protobuf)]);
            }
            table.rows.push(row);
        }
        out.table(&table);
    }
}

fn middle_half(spread: Spread) -> String {
    format!("({} to {})", time(spread.quarter), time(spread.three_quarters))
}

/// How many times as long JSON takes.
pub(crate) fn times_as(json: Spread, protobuf: Spread) -> String {
    if protobuf.median > 0.0 {
        format!("{:.1}", json.median / protobuf.median)
    } else {
        "-".to_owned()
    }
}

/// What exactly was compared, a line each.
pub(crate) fn what_was_timed(speed: &Speed) -> [String; 3] {
    let cut = if speed.is_cut {
        format!(", the first {} of both forms", size(u64::try_from(SAMPLE_MAX).unwrap_or(u64::MAX)))
    } else {
        String::new()
    };
    let (rounds, events) = (count(speed.rounds.into(), "round"), count(speed.all.events, "event"));
    let build = if cfg!(debug_assertions) {
        "A debug build, whose times say nothing about a release: build with --release. "
    } else {
        ""
    };
    [
        format!("{build}{rounds} of {events}{cut}. One thread, buffers reused, nothing read or sent."),
        "JSON: server-sent events read as Event::from_json does, written with serde_json; a program \
         with types of its own may be faster or slower."
            .to_owned(),
        "Protobuf: frames read with codec::EventReader, written with codec::encode_frame.".to_owned(),
    ]
}

fn links(comparison: &Comparison, out: &mut Text) {
    out.section("Time until the last event has arrived, sent without a pause");
    let mut heads = vec![String::new()];
    heads.extend(RATES.map(|rate| super::format::bit_rate(real(rate))));
    let heads: Vec<_> = heads.iter().map(String::as_str).collect();
    let mut table = Table::new(&heads);
    for (name, way) in comparison.total.ways() {
        for (form, bytes) in [("SSE", way.sse), ("frames", way.frames)] {
            let mut row = vec![format!("{form} {name}")];
            row.extend(RATES.map(|rate| wait(seconds(bytes, rate))));
            table.rows.push(row);
        }
    }
    out.table(&table);
    out.line("  Without latency, and without what TCP, TLS and HTTP add.");
    if let Some(millis) = comparison.pace.millis() {
        let took = wait(real(millis) / 1e3);
        let of = comparison.paced_in().map_or_else(String::new, |of| format!(" in {of}"));
        out.line(&format!(
            "  The agent took {took}{of} by its timestamps, pauses between runs left out."
        ));
    }
}

/// Each session on each link that somebody asked for.
fn simulations(comparison: &Comparison, out: &mut Text) {
    for file in &comparison.files {
        let OnLinks { agent, links } = &file.on_links;
        if links.is_empty() || file.sizes.events == 0 {
            continue;
        }
        let took = took(*agent);
        out.section(&format!("{} on a link, as the agent gives its events: {took}", name(file)));
        let heads = ["", "each: bytes an event", "last after", "behind"];
        let heads =
            [&heads[..], &["merged: events", "bytes an event", "last after", "behind"]].concat();
        for link in links {
            out.line(&format!("  {}", super::format::bit_rate(real(link.bits_per_second))));
            let mut table = Table::new(&heads);
            for (name, [each, merged]) in link.rows() {
                let mut row = vec![name];
                // Every event is sent where none are merged.
                let [_, each @ ..] = sent(each, file.sizes.events, *agent);
                row.extend(each);
                row.extend(sent(merged, file.sizes.events, *agent));
                table.rows.push(row);
            }
            out.table(&table);
        }
    }
    if comparison.files.iter().any(|file| !file.on_links.links.is_empty()) {
        out.line(
            "  each: every event is flushed. merged: what comes while the link is busy is merged and \
             goes as one part.\n  last after: until the last byte has arrived. behind: what of that \
             the agent did not take.\n  bytes an event: of the session, not of those sent. A run \
             begins when the one before has arrived.",
        );
    }
}

/// How long the agent took, by the pace of a simulation.
pub(crate) fn took(agent: u64) -> String {
    match agent {
        0 => "all at once".to_owned(),
        nanos => format!("it took {}", wait(real(nanos) / 1e9)),
    }
}

/// Events, bytes of an event of the session, when the last has arrived, and how long after the agent
/// gave it.
pub(crate) fn sent(sent: Sent, events: u64, agent: u64) -> [String; 4] {
    let after = |nanos: u64| wait(real(nanos) / 1e9);
    [
        grouped(sent.events),
        format!("{:.1}", ratio(sent.bytes, events).unwrap_or_default()),
        after(sent.nanos),
        after(sent.nanos.saturating_sub(agent)),
    ]
}

fn losses(comparison: &Comparison, out: &mut Text) {
    let losses = &comparison.losses;
    out.section("What protobuf would change");
    if losses.checked == 0 {
        out.line("  unknown: frames have lost it already");
        return;
    }
    if losses.kinds.is_empty() {
        out.line("  nothing");
        return;
    }
    let mut table = Table::new(&["", "times", "", ""]);
    for (kind, loss) in &losses.kinds {
        let first = format!("first at {}:{}", printable(&loss.file), loss.line);
        table.rows.push(vec![
            kind.as_str().to_owned(),
            grouped(loss.times),
            harm(*kind).to_owned(),
            first,
        ]);
    }
    out.table(&table);
    out.line("  `ag-ui-proto check FILE` names each one.");
}

/// Lines that are safe to print.
#[derive(Default)]
struct Text(String);

impl Text {
    fn line(&mut self, line: &str) {
        for line in line.split('\n') {
            self.0.push_str(&printable(line));
            self.0.push('\n');
        }
    }

    fn section(&mut self, name: &str) {
        self.line("");
        self.line(name);
    }

    fn table(&mut self, table: &Table) {
        for line in table.lines() {
            self.line(&line);
        }
    }
}

/// Rows of cells under heads. The first column begins at the left; others end at the right, but for
/// a last one of words.
struct Table {
    heads: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    fn new(heads: &[&str]) -> Self {
        Self { heads: heads.iter().map(|head| (*head).to_owned()).collect(), rows: Vec::new() }
    }

    fn lines(&self) -> Vec<String> {
        let all: Vec<_> = std::iter::once(&self.heads).chain(&self.rows).collect();
        let width = |column: usize| {
            let cells = all.iter().filter_map(|row| row.get(column));
            cells.map(|cell| measure_text_width(cell)).max().unwrap_or_default()
        };
        let line = |row: &Vec<String>| {
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                let is_words = column == 0 || is_words(cell);
                let pad = " ".repeat(width(column).saturating_sub(measure_text_width(cell)));
                let (before, behind) =
                    if is_words { ("", pad.as_str()) } else { (pad.as_str(), "") };
                line.push_str("  ");
                line.extend([before, cell, behind]);
            }
            line.trim_end().to_owned()
        };
        all.iter().copied().map(line).collect()
    }
}

fn is_words(cell: &str) -> bool {
    cell.starts_with(|first: char| first.is_ascii_lowercase()) && cell.contains(' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let mut table = Table::new(&["", "SSE", ""]);
        table.rows.push(["a", "1,000", "58 %"].map(str::to_owned).into());
        table.rows.push(["日本", "7", "100 %", "level 6"].map(str::to_owned).into());
        assert_eq!(
            table.lines(),
            ["          SSE", "  a     1,000   58 %", "  日本      7  100 %  level 6",]
        );
    }

    #[test]
    fn nothing_is_told_with_its_reasons() {
        let mut comparison = Comparison::new();
        let name = "a\u{1b}[1m".to_owned();
        comparison.files.push(File { name, failed: 2, dropped: 1, ..File::default() });
        assert_eq!(
            whole(&comparison),
            "a\\u001b[1m: no event, nothing to compare; 2 items could be read as no event; \
             1 event of unknown type; not read to the end\n"
        );
    }

    #[test]
    fn what_is_left_out_of_a_file_is_told() {
        let file = File { dropped: 1, failed: 2, ..File::default() };
        assert_eq!(
            left_out(&file),
            "1 event of unknown type left out, 2 faults left out, not read to its end"
        );
        assert_eq!(left_out(&File { is_whole: true, ..File::default() }), "");
    }
}
