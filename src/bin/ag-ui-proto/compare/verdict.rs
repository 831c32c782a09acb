//! What the numbers say, in plain words. Where JSON is the better one stands first.
//!
//! | verdict | from |
//! |---|---|
//! | sizes differ | 5 % of SSE on |
//! | one is faster | a median 1.1 times the other, and the middle halves of the rounds apart |
//! | a type is told of | 1 % of the bytes as server-sent events |
//! | lists of numbers are told of | 1.5 times larger on the wire, 1 % of the bytes |

use ag_ui_proto::EventType;

use super::compress::Coding;
use super::format::{bit_rate, factor, list, percent, ratio, real, time, wait};
use super::session::Comparison;
use super::sizes::Pair;
use super::timing::{Job, Spread, Times};
use crate::report::{count, grouped};

/// Difference of sizes from which on they count as different.
pub(crate) const SIZE_DIFFERENCE: f64 = 0.05;

/// How many times as long a median must be to count as slower.
pub(crate) const TIME_FACTOR: f64 = 1.1;

/// Part of the bytes that a type, or lists of numbers, must have to be told of.
pub(crate) const SHARE: f64 = 0.01;

/// How many times as large lists of numbers must be to be told of.
pub(crate) const LIST_FACTOR: f64 = 1.5;

/// Types that are named in one verdict.
const MAX_NAMED: usize = 5;

/// Which one a verdict speaks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Winner {
    Json,
    Neither,
    Protobuf,
}

impl Winner {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Neither => "neither",
            Self::Protobuf => "protobuf",
        }
    }
}

/// One thing that the numbers say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) winner: Winner,
    /// What it is about, as a name for machines.
    pub(crate) about: &'static str,
    pub(crate) text: String,
}

impl Verdict {
    fn new(winner: Winner, about: &'static str, text: String) -> Self {
        Self { winner, about, text }
    }
}

/// What the numbers say. Nothing, if no event was compared.
pub(crate) fn verdicts(comparison: &Comparison) -> Vec<Verdict> {
    if comparison.is_empty() {
        return Vec::new();
    }
    let mut all = Vec::new();
    all.extend(losses(comparison));
    all.extend(compression_alone(comparison));
    all.extend(raw(comparison));
    all.extend(coded(comparison));
    all.extend(larger_types(comparison));
    all.extend(number_lists(comparison));
    all.extend(speeds(comparison));
    all.extend(link(comparison));
    // Stable: within a winner the order is the one above.
    all.sort_by_key(|verdict| verdict.winner);
    all
}

/// The two numbers that a hurried reader should take away.
pub(crate) fn headline(comparison: &Comparison) -> String {
    let Pair { sse, frames } = comparison.total.raw;
    let Some(raw) = ratio(frames, sse) else { return "Nothing to compare".to_owned() };
    let Pair { sse, frames } = comparison.total.coded(Coding::Gzip);
    let coded = ratio(frames, sse).unwrap_or(1.0);
    let differ = if coded < 1.0 { "fewer" } else { "more" };
    let coded = (coded - 1.0).abs();
    let raw = if raw < 1.0 {
        format!("As frames the events take {} fewer bytes", percent(1.0 - raw))
    } else {
        format!("As frames the events take {} more bytes", percent(raw - 1.0))
    };
    format!("{raw}; with gzip on both, {} {differ}", percent(coded))
}

fn losses(comparison: &Comparison) -> Option<Verdict> {
    let mut times = 0;
    let kinds = comparison.losses.meaningful().map(|(kind, loss)| {
        times += loss.times;
        format!("{kind} {}", grouped(loss.times))
    });
    let kinds: Vec<_> = kinds.collect();
    if kinds.is_empty() {
        return None;
    }
    let times = count(times, "time");
    let text = format!("Protobuf loses meaning {times} ({}), JSON does not", list(&kinds));
    Some(Verdict::new(Winner::Json, "losses", text))
}

/// Whether compressing JSON saves more than changing the wire.
fn compression_alone(comparison: &Comparison) -> Option<Verdict> {
    let frames = comparison.total.raw.frames;
    let sse = comparison.total.coded(Coding::Gzip).sse;
    let part = ratio(sse, frames)?;
    if part > 1.0 - SIZE_DIFFERENCE {
        return None;
    }
    let text = format!(
        "Compression saves more than the wire: SSE with gzip takes {} of the bytes of \
         uncompressed frames",
        percent(part)
    );
    Some(Verdict::new(Winner::Json, "gzip-sse-and-raw-frames", text))
}

fn raw(comparison: &Comparison) -> Option<Verdict> {
    let Pair { sse, frames } = comparison.total.raw;
    let (winner, text) = match compare_sizes(comparison.total.raw)? {
        Winner::Protobuf => {
            let part = percent(ratio(frames, sse)?);
            (Winner::Protobuf, format!("Uncompressed, frames take {part} of the bytes of SSE"))
        }
        Winner::Json => {
            let part = percent(ratio(sse, frames)?);
            (Winner::Json, format!("Uncompressed, SSE takes {part} of the bytes of frames"))
        }
        Winner::Neither => {
            let part = difference(comparison.total.raw);
            (Winner::Neither, format!("Uncompressed, SSE and frames differ by {part}"))
        }
    };
    Some(Verdict::new(winner, "raw", text))
}

/// Verdicts under compression: one for all codings that make no difference, one for each other.
fn coded(comparison: &Comparison) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    let (mut same, mut by) = (Vec::new(), Vec::new());
    for coding in Coding::ALL {
        let pair = comparison.total.coded(coding);
        let name = coding.as_str();
        let (winner, one, other, part) = match compare_sizes(pair) {
            Some(Winner::Json) => {
                (Winner::Json, "SSE takes", "frames", ratio(pair.sse, pair.frames))
            }
            Some(Winner::Protobuf) => {
                (Winner::Protobuf, "frames take", "SSE", ratio(pair.frames, pair.sse))
            }
            Some(Winner::Neither) => {
                same.push(name.to_owned());
                by.push(difference(pair));
                continue;
            }
            None => continue,
        };
        let part = percent(part.unwrap_or(1.0));
        let text = format!("Under {name}, {one} {part} of the bytes of {other}");
        verdicts.push(Verdict::new(winner, name, text));
    }
    if !same.is_empty() {
        let text = format!(
            "Under {}, SSE and frames differ by {}: compression, not the wire, saves bytes here",
            list(&same),
            list(&by)
        );
        verdicts.push(Verdict::new(Winner::Neither, "compressed", text));
    }
    verdicts
}

/// The one with fewer bytes, if the difference is so many of the bytes of SSE.
fn compare_sizes(Pair { sse, frames }: Pair) -> Option<Winner> {
    let part = ratio(frames, sse)?;
    Some(if part <= 1.0 - SIZE_DIFFERENCE {
        Winner::Protobuf
    } else if part >= 1.0 + SIZE_DIFFERENCE {
        Winner::Json
    } else {
        Winner::Neither
    })
}

fn difference(Pair { sse, frames }: Pair) -> String {
    percent(ratio(sse.abs_diff(frames), sse).unwrap_or_default())
}

/// Types that are larger as frames.
fn larger_types(comparison: &Comparison) -> Option<Verdict> {
    let types = comparison.by_type.iter().filter(|(_, sizes)| {
        compare_sizes(sizes.raw) == Some(Winner::Json) && has_share(comparison, sizes.raw.sse)
    });
    let types: Vec<_> = types
        .filter_map(|(name, sizes)| Some((*name, ratio(sizes.raw.frames, sizes.raw.sse)?)))
        .collect();
    let named = named(types)?;
    Some(Verdict::new(Winner::Json, "raw-types", format!("Larger as frames: {named}")))
}

fn number_lists(comparison: &Comparison) -> Option<Verdict> {
    let lists = comparison.anatomy.lists;
    let larger = ratio(lists.protobuf, lists.json)?;
    if larger < LIST_FACTOR || !has_share(comparison, lists.json) {
        return None;
    }
    let text = format!(
        "Lists of numbers in open values are {} times as large in protobuf ({} in {})",
        factor(larger),
        count(lists.numbers, "number"),
        count(lists.lists, "list")
    );
    Some(Verdict::new(Winner::Json, "number-lists", text))
}

fn has_share(comparison: &Comparison, sse: u64) -> bool {
    ratio(sse, comparison.total.raw.sse).is_some_and(|share| share >= SHARE)
}

/// Writing and reading, in all and for single types.
fn speeds(comparison: &Comparison) -> Vec<Verdict> {
    let Some(speed) = &comparison.speed else { return Vec::new() };
    let jobs = [
        ("encode", "write", [Job::JsonEncode, Job::ProtobufEncode]),
        ("decode", "read", [Job::JsonDecode, Job::ProtobufDecode]),
    ];
    let mut verdicts = Vec::new();
    for (about, verb, [json, protobuf]) in jobs {
        let [one, other] = [json, protobuf].map(|job| speed.all.of(job));
        let [took, other_took] = [one, other].map(|spread| time(spread.median));
        let winner = faster(one, other);
        let text = match winner {
            Winner::Protobuf => format!(
                "Protobuf is {} times as fast to {verb}: {other_took} an event, JSON {took}",
                factor(one.median / other.median)
            ),
            Winner::Json => format!(
                "JSON is {} times as fast to {verb}: {took} an event, protobuf {other_took}",
                factor(other.median / one.median)
            ),
            Winner::Neither => format!(
                "JSON and protobuf are about as fast to {verb}: {took} and {other_took} an event"
            ),
        };
        verdicts.push(Verdict::new(winner, about, text));
        if winner == Winner::Json {
            continue;
        }
        let jsons = |times: &Times| faster(times.of(json), times.of(protobuf)) == Winner::Json;
        let types: Vec<_> = speed
            .by_type
            .iter()
            .filter(|(name, times)| {
                let sse = comparison.by_type.get(name).map_or(0, |sizes| sizes.raw.sse);
                jsons(times) && has_share(comparison, sse)
            })
            .map(|(name, times)| (*name, times.of(protobuf).median / times.of(json).median))
            .collect();
        if let Some(named) = named(types) {
            let about = if about == "encode" { "encode-types" } else { "decode-types" };
            let text = format!("JSON is faster to {verb} for {named}");
            verdicts.push(Verdict::new(Winner::Json, about, text));
        }
    }
    verdicts
}

/// The faster one, if its median is so much smaller and the middle halves do not meet.
pub(crate) fn faster(json: Spread, protobuf: Spread) -> Winner {
    let beats = |one: Spread, other: Spread| {
        other.median >= one.median * TIME_FACTOR && one.three_quarters < other.quarter
    };
    if beats(json, protobuf) {
        Winner::Json
    } else if beats(protobuf, json) {
        Winner::Protobuf
    } else {
        Winner::Neither
    }
}

/// Types with a factor each, the largest first.
fn named(mut types: Vec<(EventType, f64)>) -> Option<String> {
    types.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    let more = types.len().saturating_sub(MAX_NAMED);
    let mut words: Vec<_> = types
        .iter()
        .take(MAX_NAMED)
        .map(|(name, times)| format!("{name} ({} times)", factor(*times)))
        .collect();
    if more > 0 {
        words.push(format!("{} more", grouped(u64::try_from(more).unwrap_or(u64::MAX))));
    }
    (!words.is_empty()).then(|| list(&words))
}

/// The link on which the agent and not the bytes sets the pace.
fn link(comparison: &Comparison) -> Option<Verdict> {
    let seconds = real(comparison.pace.millis()?) / 1e3;
    let rate = |bytes: u64| bit_rate(real(bytes) * 8.0 / seconds);
    let jumps = match comparison.pace.jumps() {
        0 => String::new(),
        jumps => format!(", but for {} of its clock", count(jumps, "jump")),
    };
    // Bytes without a time make no rate.
    let paced = comparison.paced();
    let of = comparison.paced_in().map_or_else(String::new, |of| format!(" in {of}"));
    let text = format!(
        "The agent took {}{of}{jumps}: on average a link of {} keeps up with SSE, one of {} with SSE \
         and gzip",
        wait(seconds),
        rate(paced.raw.sse),
        rate(paced.coded(Coding::Gzip).sse)
    );
    Some(Verdict::new(Winner::Neither, "link", text))
}

#[cfg(test)]
mod tests {
    use ag_ui_proto::fidelity::Kind;

    use super::*;
    use crate::compare::anatomy::NumberLists;
    use crate::compare::session::Loss;
    use crate::compare::sizes::Sizes;
    use crate::compare::timing::Speed;

    /// Sizes where nothing differs, to change one thing of.
    const EVEN: [(u64, u64); 3] = [(1000, 1000); 3];

    fn comparison(raw: (u64, u64), coded: [(u64, u64); 3]) -> Comparison {
        let mut comparison = Comparison::new();
        comparison.total = Sizes::of(10, raw, coded);
        comparison
    }

    fn said(comparison: &Comparison) -> Vec<(Winner, &'static str)> {
        verdicts(comparison).iter().map(|verdict| (verdict.winner, verdict.about)).collect()
    }

    #[track_caller]
    fn text(comparison: &Comparison, about: &str) -> String {
        let all = verdicts(comparison);
        all.iter().find(|verdict| verdict.about == about).unwrap().text.clone()
    }

    #[test]
    fn nothing_is_said_of_nothing() {
        assert!(verdicts(&Comparison::new()).is_empty());
        assert_eq!(headline(&Comparison::new()), "Nothing to compare");
    }

    #[test]
    fn sizes_differ_from_5_percent_on() {
        for (raw, winner) in [
            ((1000, 951), Winner::Neither),
            ((1000, 950), Winner::Protobuf),
            ((1000, 1049), Winner::Neither),
            ((1000, 1050), Winner::Json),
            ((1000, 1000), Winner::Neither),
        ] {
            let comparison = comparison(raw, [(5000, 5000); 3]);
            assert!(said(&comparison).contains(&(winner, "raw")), "{raw:?}");
        }
        let even = comparison((1000, 583), [(5000, 5000); 3]);
        assert_eq!(text(&even, "raw"), "Uncompressed, frames take 58 % of the bytes of SSE");
        let larger = comparison((1000, 2000), [(5000, 5000); 3]);
        assert_eq!(text(&larger, "raw"), "Uncompressed, SSE takes 50 % of the bytes of frames");
    }

    #[test]
    fn codings_that_make_no_difference_are_told_together() {
        let comparison = comparison((1000, 500), [(1000, 986), (1000, 1100), (1000, 970)]);
        assert_eq!(
            said(&comparison),
            [(Winner::Json, "br"), (Winner::Neither, "compressed"), (Winner::Protobuf, "raw"),]
        );
        assert_eq!(
            text(&comparison, "compressed"),
            "Under gzip and zstd, SSE and frames differ by 1.4 % and 3.0 %: \
             compression, not the wire, saves bytes here"
        );
        assert_eq!(text(&comparison, "br"), "Under br, SSE takes 91 % of the bytes of frames");
    }

    #[test]
    fn compressed_json_under_plain_frames_stands_first() {
        let mut comparison = comparison((1000, 500), [(200, 190); 3]);
        let (winner, about) = said(&comparison)[0];
        assert_eq!((winner, about), (Winner::Json, "gzip-sse-and-raw-frames"));
        assert_eq!(
            text(&comparison, about),
            "Compression saves more than the wire: SSE with gzip takes 40 % of the bytes of \
             uncompressed frames"
        );
        comparison.total = Sizes::of(10, (1000, 500), [(476, 470); 3]);
        assert!(!said(&comparison).iter().any(|(_, other)| *other == about));
    }

    #[test]
    fn types_are_named_from_1_percent_of_the_bytes_on() {
        let mut comparison = comparison((100_000, 50_000), EVEN);
        let types = &mut comparison.by_type;
        types.insert(EventType::StateSnapshot, Sizes::of(1, (1000, 1300), EVEN));
        types.insert(EventType::Raw, Sizes::of(1, (999, 9000), EVEN));
        types.insert(EventType::Custom, Sizes::of(1, (2000, 4000), EVEN));
        types.insert(EventType::RunStarted, Sizes::of(1, (2000, 2050), EVEN));
        assert_eq!(
            text(&comparison, "raw-types"),
            "Larger as frames: CUSTOM (2.0 times) and STATE_SNAPSHOT (1.3 times)"
        );
    }

    #[test]
    fn lists_of_numbers_are_told_if_they_weigh() {
        let mut comparison = comparison((10_000, 5000), EVEN);
        let lists = NumberLists { lists: 2, numbers: 44, json: 100, protobuf: 488 };
        comparison.anatomy.lists = lists;
        assert_eq!(
            text(&comparison, "number-lists"),
            "Lists of numbers in open values are 4.9 times as large in protobuf (44 numbers in 2 lists)"
        );
        for lists in [
            NumberLists { json: 99, ..lists },
            NumberLists { protobuf: 149, ..lists },
            NumberLists::default(),
        ] {
            comparison.anatomy.lists = lists;
            assert!(!said(&comparison).iter().any(|(_, about)| *about == "number-lists"));
        }
    }

    fn spread(quarter: f64, median: f64, three_quarters: f64) -> Spread {
        Spread { min: quarter, quarter, median, three_quarters, max: three_quarters }
    }

    #[test]
    fn one_is_faster_if_its_median_is_and_the_middle_halves_are_apart() {
        let json = spread(90.0, 100.0, 104.0);
        for (protobuf, winner) in [
            (spread(105.0, 110.1, 120.0), Winner::Json),
            (spread(105.0, 109.9, 120.0), Winner::Neither),
            (spread(104.0, 150.0, 200.0), Winner::Neither),
            (spread(70.0, 80.0, 89.0), Winner::Protobuf),
            (spread(70.0, 80.0, 90.0), Winner::Neither),
            (spread(88.0, 91.0, 89.5), Winner::Neither),
        ] {
            assert_eq!(faster(json, protobuf), winner, "{protobuf:?}");
        }
    }

    #[test]
    fn speed_is_told_in_all_and_for_the_types_where_json_wins() {
        let [slow, fast] = [spread(190.0, 200.0, 210.0), spread(95.0, 100.0, 105.0)];
        let mut comparison = comparison((100_000, 50_000), EVEN);
        comparison.by_type.insert(EventType::StateSnapshot, Sizes::of(1, (2000, 1900), EVEN));
        comparison.by_type.insert(EventType::Raw, Sizes::of(1, (10, 9), EVEN));
        let all = Times::new([fast, slow, slow, fast]);
        let other = Times::new([fast, slow, fast, slow]);
        let by_type = [(EventType::StateSnapshot, other), (EventType::Raw, other)].into();
        comparison.speed = Some(Speed { rounds: 9, all, by_type, is_cut: false });
        assert_eq!(
            text(&comparison, "encode"),
            "JSON is 2.0 times as fast to write: 100 ns an event, protobuf 200 ns"
        );
        assert_eq!(
            text(&comparison, "decode"),
            "Protobuf is 2.0 times as fast to read: 100 ns an event, JSON 200 ns"
        );
        assert_eq!(
            text(&comparison, "decode-types"),
            "JSON is faster to read for STATE_SNAPSHOT (2.0 times)"
        );
        // Said of all types already.
        assert!(!said(&comparison).iter().any(|(_, about)| *about == "encode-types"));
    }

    #[test]
    fn losses_speak_for_json_and_stand_first() {
        let mut comparison = comparison((1000, 500), [(200, 190); 3]);
        let loss = Loss { times: 2, file: "a".to_owned(), line: 1 };
        comparison.losses.kinds.insert(Kind::AbsentList, loss.clone());
        assert!(!said(&comparison).iter().any(|(_, about)| *about == "losses"));
        comparison.losses.kinds.insert(Kind::IntegerPrecision, loss);
        assert_eq!(said(&comparison)[0], (Winner::Json, "losses"));
        assert_eq!(
            text(&comparison, "losses"),
            "Protobuf loses meaning 2 times (integer-precision 2), JSON does not"
        );
    }

    #[test]
    fn the_headline_has_both_directions() {
        let fewer = comparison((1000, 583), [(1000, 986); 3]);
        assert_eq!(
            headline(&fewer),
            "As frames the events take 42 % fewer bytes; with gzip on both, 1.4 % fewer"
        );
        let more = comparison((1000, 1200), [(1000, 1300); 3]);
        assert_eq!(
            headline(&more),
            "As frames the events take 20 % more bytes; with gzip on both, 30 % more"
        );
    }
}
