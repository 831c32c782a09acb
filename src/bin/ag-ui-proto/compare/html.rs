//! The comparison as a page: one file, plots as inline SVG, no script, nothing to load.
//!
//! Whatever comes from the input, such as the name of a file, is escaped by the template.

use askama::Template;

use super::anatomy::{Part, Parts};
use super::compress::Coding;
use super::format::{factor, percent, ratio, real, size, throughput, time, wait};
use super::link::{RATES, seconds};
use super::plot::{LinkPlot, Tick, factor_at, width};
use super::session::{Comparison, File, LOSES_MEANING, harm};
use super::sizes::{Pair, Sizes};
use super::text::{left_out, nothing, sent, times_as, took, what_was_timed};
use super::timing::{Job, Speed, Spread, Times};
use super::verdict::{
    LIST_FACTOR, SHARE, SIZE_DIFFERENCE, TIME_FACTOR, Winner, headline, verdicts,
};
use crate::failure::Failure;
use crate::look::printable;
use crate::report::{count, grouped};

/// Event types that get a bar; all of them are in the table.
const MAX_TYPES: usize = 12;

/// Bytes of the longest bar from which on labels are short, so that they have room on a phone.
const LONG_LABEL: u64 = 10_000_000;

/// The page.
///
/// # Errors
///
/// What the template says; it is not expected to.
pub(crate) fn page(comparison: &Comparison) -> Result<String, Failure> {
    Page::new(comparison)
        .render()
        .map_err(|error| Failure::Trouble(format!("the page cannot be made: {error}")))
}

#[derive(Template)]
#[template(path = "page.html", config = "src/bin/ag-ui-proto/compare/askama.toml")]
struct Page {
    headline: String,
    sessions: String,
    /// Why there is nothing to show.
    nothing: Option<String>,
    groups: Vec<Group>,
    tiles: Vec<Tile>,
    files: Vec<FileRow>,
    ways: Vec<Bars>,
    compressors: Vec<Vec<String>>,
    types: Vec<Bars>,
    type_rows: Vec<Vec<String>>,
    hidden_types: Option<String>,
    parts: Vec<PartRow>,
    lists: Option<String>,
    speed: Option<SpeedView>,
    link: Option<LinkPlot>,
    rates: Vec<String>,
    link_rows: Vec<Vec<String>>,
    agent: Option<String>,
    simulations: Vec<SimulationView>,
    is_checked: bool,
    losses: Vec<LossRow>,
    thresholds: String,
}

/// Verdicts for one winner.
struct Group {
    class: &'static str,
    title: &'static str,
    verdicts: Vec<String>,
}

struct Tile {
    name: &'static str,
    sse: String,
    frames: String,
    note: String,
}

struct FileRow {
    name: String,
    left_out: String,
    cells: Vec<String>,
}

/// A bar for each form.
struct Bars {
    name: String,
    note: String,
    pair: [Bar; 2],
}

struct Bar {
    class: &'static str,
    form: &'static str,
    width: String,
    label: String,
    /// The middle half of the rounds, from and to.
    whisker: Option<[String; 2]>,
}

/// A part of the bytes: its stretch of each bar, and its row.
struct PartRow {
    name: &'static str,
    what: &'static str,
    stretches: [Stretch; 2],
    cells: Vec<String>,
}

struct Stretch {
    from: String,
    width: String,
    label: String,
}

struct SpeedView {
    jobs: Vec<Bars>,
    /// A row for each of the four jobs.
    job_rows: Vec<Vec<String>>,
    factors: Vec<Factors>,
    ticks: Vec<Tick>,
    rows: Vec<Vec<String>>,
    what: [String; 3],
}

/// How many times as long JSON takes for a type.
struct Factors {
    name: String,
    encode: String,
    decode: String,
    label: String,
}

/// A session on the links that somebody asked for.
struct SimulationView {
    name: String,
    took: String,
    links: Vec<SimulatedLink>,
}

struct SimulatedLink {
    rate: String,
    rows: Vec<Vec<String>>,
}

struct LossRow {
    kind: &'static str,
    harm: &'static str,
    loses_meaning: bool,
    times: String,
    first: String,
}

impl Page {
    fn new(comparison: &Comparison) -> Self {
        let is_empty = comparison.is_empty();
        Self {
            headline: headline(comparison),
            sessions: sessions(comparison),
            nothing: is_empty.then(|| printable(&nothing(comparison)).into_owned()),
            groups: groups(comparison),
            tiles: tiles(comparison),
            files: comparison.files.iter().map(file_row).collect(),
            ways: ways(comparison),
            compressors: compressors(comparison),
            types: types(comparison),
            type_rows: type_rows(comparison),
            hidden_types: hidden_types(comparison),
            parts: parts(comparison),
            lists: lists(comparison),
            speed: comparison.speed.as_ref().map(speed),
            link: LinkPlot::new(comparison),
            rates: RATES.iter().map(|rate| super::format::bit_rate(real(*rate))).collect(),
            link_rows: link_rows(comparison),
            agent: comparison.pace_of_all().map(|millis| wait(real(millis) / 1e3)),
            simulations: simulations(comparison),
            is_checked: comparison.losses.checked > 0,
            losses: losses(comparison),
            thresholds: thresholds(),
        }
    }
}

fn sessions(comparison: &Comparison) -> String {
    let events = count(comparison.total.events, "event");
    match comparison.files.as_slice() {
        [file] => format!("{}: {events}", printable(&file.name)),
        files => {
            let sessions = count(u64::try_from(files.len()).unwrap_or(u64::MAX), "session");
            format!("{sessions}: {events}")
        }
    }
}

fn groups(comparison: &Comparison) -> Vec<Group> {
    let all = verdicts(comparison);
    let group = |winner, class, title| {
        let of_winner = all.iter().filter(|verdict| verdict.winner == winner);
        Group { class, title, verdicts: of_winner.map(|verdict| verdict.text.clone()).collect() }
    };
    let groups = [
        group(Winner::Json, "sse", "Where JSON is better"),
        group(Winner::Neither, "both", "Where it does not matter"),
        group(Winner::Protobuf, "frames", "Where protobuf is better"),
    ];
    groups.into_iter().filter(|group| !group.verdicts.is_empty()).collect()
}

fn part_of(part: u64, whole: u64) -> String {
    ratio(part, whole).map_or_else(|| "-".to_owned(), percent)
}

fn tiles(comparison: &Comparison) -> Vec<Tile> {
    if comparison.is_empty() {
        return Vec::new();
    }
    let bytes = |name, Pair { sse, frames }| Tile {
        name,
        sse: size(sse),
        frames: size(frames),
        note: format!("frames take {} of SSE", part_of(frames, sse)),
    };
    let mut tiles = vec![
        bytes("Bytes, uncompressed", comparison.total.raw),
        bytes("Bytes under gzip", comparison.total.coded(Coding::Gzip)),
    ];
    if let Some(speed) = &comparison.speed {
        let tile_of = |name, json, protobuf| {
            let (json, protobuf) = (speed.all.of(json), speed.all.of(protobuf));
            let note = longer(json, protobuf);
            Tile { name, sse: time(json.median), frames: time(protobuf.median), note }
        };
        tiles.push(tile_of("Time to write an event", Job::JsonEncode, Job::ProtobufEncode));
        tiles.push(tile_of("Time to read an event", Job::JsonDecode, Job::ProtobufDecode));
    }
    tiles
}

/// Which form takes longer, and how many times as long.
fn longer(json: Spread, protobuf: Spread) -> String {
    let [json, protobuf] = [json, protobuf].map(|spread| spread.median);
    let (name, larger, smaller) =
        if json < protobuf { ("protobuf", protobuf, json) } else { ("JSON", json, protobuf) };
    if smaller > 0.0 {
        format!("{name} takes {} times as long", factor(larger / smaller))
    } else {
        String::new()
    }
}

fn cells(pair: Pair) -> [String; 3] {
    [grouped(pair.sse), grouped(pair.frames), part_of(pair.frames, pair.sse)]
}

fn file_row(file: &File) -> FileRow {
    let mut row = vec![grouped(file.sizes.events)];
    row.extend(cells(file.sizes.raw));
    row.extend(cells(file.sizes.coded(Coding::Gzip)));
    FileRow { name: printable(&file.name).into_owned(), left_out: left_out(file), cells: row }
}

fn byte_bars(name: &str, pair: Pair, longest: u64) -> Bars {
    let bar = |class, form, bytes: u64| Bar {
        class,
        form,
        width: width(real(bytes), real(longest)),
        label: if longest < LONG_LABEL { grouped(bytes) } else { size(bytes) },
        whisker: None,
    };
    Bars {
        name: name.to_owned(),
        note: part_of(pair.frames, pair.sse),
        pair: [bar("sse", "SSE", pair.sse), bar("frames", "frames", pair.frames)],
    }
}

fn ways(comparison: &Comparison) -> Vec<Bars> {
    let longest = |pair: Pair| pair.sse.max(pair.frames);
    let most = comparison.total.ways().map(|(_, pair)| longest(pair)).max().unwrap_or_default();
    let ways = comparison.total.ways().map(|(name, pair)| {
        byte_bars(if name == "raw" { "uncompressed" } else { name }, pair, most)
    });
    ways.collect()
}

fn compressors(comparison: &Comparison) -> Vec<Vec<String>> {
    let row = |coding: Coding| {
        let costs = comparison.costs.of(coding);
        let mut row = vec![coding.as_str().to_owned()];
        row.extend(cells(comparison.total.coded(coding)));
        row.extend(costs.iter().map(|cost| time(cost.times.median())));
        row.extend(costs.iter().map(|_| size(coding.memory())));
        row.push(coding.settings().to_owned());
        row
    };
    Coding::ALL.into_iter().map(row).collect()
}

/// The types, those with the most bytes first.
fn by_bytes(comparison: &Comparison) -> Vec<(&'static str, &Sizes)> {
    let types = comparison.by_type.iter().map(|(name, sizes)| (name.as_str(), sizes));
    let mut types: Vec<_> = types.collect();
    types.sort_by_key(|(_, sizes)| std::cmp::Reverse(sizes.raw.sse.max(sizes.raw.frames)));
    types
}

fn types(comparison: &Comparison) -> Vec<Bars> {
    let types = by_bytes(comparison);
    let most = types.first().map_or(0, |(_, sizes)| sizes.raw.sse.max(sizes.raw.frames));
    let bars = types.iter().take(MAX_TYPES).map(|(name, sizes)| byte_bars(name, sizes.raw, most));
    bars.collect()
}

fn type_rows(comparison: &Comparison) -> Vec<Vec<String>> {
    let row = |(name, sizes): (&str, &Sizes)| {
        let mut row = vec![name.to_owned(), grouped(sizes.events)];
        row.extend(sizes.ways().flat_map(|(_, pair)| cells(pair)));
        row
    };
    by_bytes(comparison).into_iter().chain([("all", &comparison.total)]).map(row).collect()
}

fn hidden_types(comparison: &Comparison) -> Option<String> {
    let hidden = comparison.by_type.len().checked_sub(MAX_TYPES).filter(|hidden| *hidden > 0)?;
    let types = count(u64::try_from(hidden).unwrap_or(u64::MAX), "smaller type");
    Some(format!("{types} in the table only."))
}

fn parts(comparison: &Comparison) -> Vec<PartRow> {
    let forms = [&comparison.anatomy.sse, &comparison.anatomy.frames];
    let most = forms.iter().map(|parts| parts.total()).max().unwrap_or_default();
    let mut starts = [0, 0];
    let row = |part: Part| {
        let mut row = Vec::new();
        let stretch = |(start, parts): (&mut u64, &Parts)| {
            let bytes = parts.of(part);
            let share = part_of(bytes, parts.total());
            row.extend([grouped(bytes), share.clone()]);
            let stretch = Stretch {
                from: share_of(*start, most),
                width: share_of(bytes, most),
                label: format!("{} bytes, {share}", grouped(bytes)),
            };
            *start += bytes;
            stretch
        };
        let [sse, frames] = &mut starts;
        let stretches = [(sse, forms[0]), (frames, forms[1])].map(stretch);
        PartRow { name: part.as_str(), what: what(part), stretches, cells: row }
    };
    Part::ALL.into_iter().map(row).collect()
}

fn share_of(part: u64, whole: u64) -> String {
    format!("{:.3}%", ratio(part, whole).unwrap_or_default() * 100.0)
}

fn what(part: Part) -> &'static str {
    match part {
        Part::Ids => "values of id, …Id and …Ids",
        Part::Type | Part::Timestamp => "of the event; name or tag included",
        Part::RawEvent => "the producer's own event, whole",
        Part::Metadata => "of the event, whole",
        Part::Content => "all other values; keys of open values",
        Part::Structure => "names, punctuation; tags, lengths, headers",
    }
}

fn lists(comparison: &Comparison) -> Option<String> {
    let lists = comparison.anatomy.lists;
    let larger = ratio(lists.protobuf, lists.json)?;
    Some(format!(
        "{} of {} or more numbers in open values: {} bytes in JSON, {} in protobuf, where every \
         number takes 11 bytes ({} times).",
        count(lists.lists, "list"),
        super::anatomy::LIST_MIN,
        grouped(lists.json),
        grouped(lists.protobuf),
        factor(larger)
    ))
}

/// Ends of the axis of factors.
const FACTOR_END: f64 = 10.0;

fn speed(speed: &Speed) -> SpeedView {
    let pairs = [
        ("write", [Job::JsonEncode, Job::ProtobufEncode]),
        ("read", [Job::JsonDecode, Job::ProtobufDecode]),
    ];
    let longest = Job::ALL.map(|job| speed.all.of(job).three_quarters);
    let longest = longest.into_iter().fold(0.0, f64::max);
    let jobs = pairs.map(|(name, [json, protobuf])| {
        let bar = |class, form, job| {
            let spread = speed.all.of(job);
            Bar {
                class,
                form,
                width: width(spread.median, longest),
                label: time(spread.median),
                whisker: Some([spread.quarter, spread.three_quarters].map(|at| width(at, longest))),
            }
        };
        let pair = [bar("sse", "JSON", json), bar("frames", "protobuf", protobuf)];
        Bars {
            name: name.to_owned(),
            note: longer(speed.all.of(json), speed.all.of(protobuf)),
            pair,
        }
    });
    let mut types: Vec<_> =
        speed.by_type.iter().map(|(name, times)| (name.as_str(), times)).collect();
    types.sort_by_key(|(_, times)| std::cmp::Reverse(times.sse));
    let ticks = [
        (0.1, "0.1"),
        (0.2, "0.2"),
        (0.5, "0.5"),
        (1.0, "1"),
        (2.0, "2"),
        (5.0, "5"),
        (10.0, "10"),
    ];
    let tick = |(factor, text): (f64, &str)| Tick {
        at: factor_at(factor, FACTOR_END),
        text: text.to_owned(),
    };
    let all = std::iter::once(("all", &speed.all));
    SpeedView {
        jobs: jobs.into(),
        job_rows: job_rows(&speed.all),
        factors: all.clone().chain(types.iter().copied().take(MAX_TYPES)).map(factors).collect(),
        ticks: ticks.map(tick).into(),
        rows: types.into_iter().chain(all).map(speed_row).collect(),
        what: what_was_timed(speed),
    }
}

fn job_rows(times: &Times) -> Vec<Vec<String>> {
    let names = ["write JSON", "write protobuf", "read JSON", "read protobuf"];
    let row = |(name, job): (&str, Job)| {
        let spread = times.of(job);
        let rate = throughput(times.bytes(job), spread.median * real(times.events));
        let span = |low, high| format!("{} to {}", time(low), time(high));
        vec![
            name.to_owned(),
            time(spread.median),
            span(spread.quarter, spread.three_quarters),
            span(spread.min, spread.max),
            rate,
        ]
    };
    names.into_iter().zip(Job::ALL).map(row).collect()
}

fn factors((name, times): (&str, &Times)) -> Factors {
    let of = |json: Job, protobuf: Job| {
        let protobuf = times.of(protobuf).median;
        if protobuf > 0.0 { times.of(json).median / protobuf } else { 1.0 }
    };
    let encode = of(Job::JsonEncode, Job::ProtobufEncode);
    let decode = of(Job::JsonDecode, Job::ProtobufDecode);
    Factors {
        name: name.to_owned(),
        encode: factor_at(encode, FACTOR_END),
        decode: factor_at(decode, FACTOR_END),
        label: format!("JSON takes {encode:.1} times as long to write, {decode:.1} times to read"),
    }
}

fn speed_row((name, times): (&str, &Times)) -> Vec<String> {
    let mut row = vec![name.to_owned(), grouped(times.events)];
    let pairs = [[Job::JsonEncode, Job::ProtobufEncode], [Job::JsonDecode, Job::ProtobufDecode]];
    for [json, protobuf] in pairs {
        for job in [json, protobuf] {
            let spread = times.of(job);
            row.push(time(spread.median));
            row.push(format!("{} to {}", time(spread.quarter), time(spread.three_quarters)));
        }
        row.push(times_as(times.of(json), times.of(protobuf)));
    }
    row
}

fn link_rows(comparison: &Comparison) -> Vec<Vec<String>> {
    let ways = comparison.total.ways();
    let rows =
        ways.flat_map(|(name, pair)| [("SSE", name, pair.sse), ("frames", name, pair.frames)]);
    rows.map(|(form, way, bytes)| {
        let name = if way == "raw" { form.to_owned() } else { format!("{form} {way}") };
        let times = RATES.iter().map(|rate| wait(seconds(bytes, *rate)));
        std::iter::once(name).chain(times).collect()
    })
    .collect()
}

fn simulations(comparison: &Comparison) -> Vec<SimulationView> {
    let view = |file: &File| {
        let agent = file.on_links.agent;
        let links = file.on_links.links.iter().map(|link| SimulatedLink {
            rate: super::format::bit_rate(real(link.bits_per_second)),
            rows: link
                .rows()
                .map(|(name, [each, merged])| {
                    let mut row = vec![name];
                    // Every event is sent where none are merged.
                    let [_, each @ ..] = sent(each, file.sizes.events, agent);
                    row.extend(each);
                    row.extend(sent(merged, file.sizes.events, agent));
                    row
                })
                .collect(),
        });
        SimulationView {
            name: printable(&file.name).into_owned(),
            took: took(agent),
            links: links.collect(),
        }
    };
    let files = comparison.files.iter().filter(|file| file.sizes.events > 0).map(view);
    files.filter(|view| !view.links.is_empty()).collect()
}

fn losses(comparison: &Comparison) -> Vec<LossRow> {
    let row = |(kind, loss): (&ag_ui_proto::fidelity::Kind, &super::session::Loss)| LossRow {
        kind: kind.as_str(),
        harm: harm(*kind),
        loses_meaning: harm(*kind) == LOSES_MEANING,
        times: grouped(loss.times),
        first: printable(&format!("{}:{}", loss.file, loss.line)).into_owned(),
    };
    comparison.losses.kinds.iter().map(row).collect()
}

fn thresholds() -> String {
    format!(
        "Sizes count as different from {} of SSE on. One form counts as slower if its median is {} times \
         that of the other, and the middle halves of the rounds do not meet. Types are named from \
         {} of the bytes on, lists of numbers if they are {} times as large and have as many of the \
         bytes.",
        percent(SIZE_DIFFERENCE),
        TIME_FACTOR,
        percent(SHARE),
        LIST_FACTOR
    )
}

#[cfg(test)]
mod tests {
    use ag_ui_proto::EventType;

    use super::*;

    /// A page of two files, one with a name that is markup.
    fn small() -> Comparison {
        let mut comparison = Comparison::new();
        let sizes = Sizes::of(3, (300, 150), [(120, 118), (110, 109), (115, 112)]);
        comparison.total = sizes;
        comparison.by_type.insert(EventType::StateSnapshot, sizes);
        for name in ["<b>&\"'", "two\u{202e}"] {
            let name = name.to_owned();
            comparison.files.push(File { name, sizes, is_whole: true, ..File::default() });
        }
        let spread = Spread { min: 1.0, quarter: 2.0, median: 3.0, three_quarters: 4.0, max: 5.0 };
        let all = Times::new([spread; 4]);
        let by_type = [(EventType::StateSnapshot, all)].into();
        comparison.speed = Some(Speed { rounds: 7, all, by_type, is_cut: false });
        comparison
    }

    #[test]
    fn a_page_stands_alone() {
        let page = page(&small()).unwrap();
        for word in ["<script", "http:", "https:", "src=", "href=", "url(", "@import", "NaN", "inf"]
        {
            assert!(!page.contains(word), "{word}");
        }
        assert!(page.starts_with("<!DOCTYPE html>\n"), "{}", page.lines().next().unwrap());
        for word in ["<svg", "prefers-color-scheme: dark", "@media print", "<title>"] {
            assert!(page.contains(word), "{word}");
        }
        for each in ["main", "section", "figure", "svg", "table", "tr", "g", "details", "dl"] {
            let open = page.matches(&format!("<{each}>")).count();
            let open = open + page.matches(&format!("<{each} ")).count();
            assert_eq!(open, page.matches(&format!("</{each}>")).count(), "{each}");
        }
    }

    #[test]
    fn names_from_the_input_are_escaped() {
        let page = page(&small()).unwrap();
        assert!(!page.contains("<b>&"));
        assert!(page.contains("&#60;b&#62;&#38;&#34;&#39;"));
        assert!(page.contains("two\\u202e") && !page.contains('\u{202e}'));
    }

    #[test]
    fn the_page_shows_the_numbers() {
        let page = page(&small()).unwrap();
        assert!(page.contains(
            "As frames the events take 50 % fewer bytes; with gzip on both, 1.7 % fewer"
        ));
        assert!(page.contains("Where JSON is better"));
        assert!(
            page.contains(
                r#"<rect class="bar sse" x="0" y="3" width="66.00%" height="16" rx="2"/>"#
            )
        );
        assert!(page.contains(
            r#"<rect class="bar frames" x="0" y="25" width="33.00%" height="16" rx="2"/>"#
        ));
        assert!(page.contains("7 rounds of 1 event"));
    }

    #[test]
    fn a_page_without_events_says_so() {
        let mut comparison = Comparison::new();
        comparison.files.push(File { name: "a".to_owned(), is_whole: true, ..File::default() });
        let page = page(&comparison).unwrap();
        assert!(page.contains("<h1>Nothing to compare</h1>"), "{page}");
        assert!(page.contains("a: no event, nothing to compare."));
        assert!(!page.contains("<svg") && !page.contains("NaN"));
    }

    #[test]
    fn a_long_number_is_short_in_a_plot() {
        let labels = |longest| {
            let bars = byte_bars("x", Pair { sse: 9_999_999, frames: 12 }, longest);
            bars.pair.map(|bar| bar.label)
        };
        assert_eq!(labels(9_999_999), ["9,999,999", "12"]);
        assert_eq!(labels(10_000_000), ["10.0 MB", "12 B"]);
    }
}
