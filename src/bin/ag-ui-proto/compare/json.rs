//! The comparison as a JSON object. COMPARE.md names its members; they stay.

use ag_ui_proto::value::{List, Object, Value};

use super::anatomy::{Part, Parts};
use super::compress::Coding;
use super::format::real;
use super::link::{RATES, seconds};
use super::session::{Comparison, File};
use super::simulation::{OnLink, Sent};
use super::sizes::{Cost, Pair, Sizes};
use super::timing::{Job, Speed, Spread, Times};
use super::verdict::verdicts;

/// The object, on a line.
pub(crate) fn object(comparison: &Comparison) -> String {
    let object = Object::from([
        ("events", Value::from(comparison.total.events)),
        ("dropped", comparison.dropped().into()),
        ("failed", comparison.failed().into()),
        (
            "verdicts",
            list(verdicts(comparison), |verdict| {
                Object::from([
                    ("winner", verdict.winner.as_str()),
                    ("about", verdict.about),
                    ("text", &verdict.text),
                ])
            }),
        ),
        ("files", list(&comparison.files, file)),
        ("bytes", bytes(&comparison.total).into()),
        (
            "types",
            list(&comparison.by_type, |(name, sizes)| {
                let times = comparison.speed.as_ref().and_then(|speed| speed.by_type.get(name));
                Object::from([
                    ("type", Value::from(name.as_str())),
                    ("events", sizes.events.into()),
                    ("bytes", bytes(sizes).into()),
                    ("speed", times.map_or(Value::Null, |times| speeds(times).into())),
                ])
            }),
        ),
        ("compressors", compressors(comparison).into()),
        ("parts", two(parts(&comparison.anatomy.sse), parts(&comparison.anatomy.frames)).into()),
        ("numberLists", number_lists(comparison).into()),
        ("speed", comparison.speed.as_ref().map_or(Value::Null, |speed| all_speeds(speed).into())),
        ("link", link(comparison).into()),
        ("losses", losses(comparison).into()),
    ]);
    format!("{object}\n")
}

fn list<T, O: Into<Value>>(items: impl IntoIterator<Item = T>, of: impl FnMut(T) -> O) -> Value {
    items.into_iter().map(of).collect::<List>().into()
}

fn two(sse: impl Into<Value>, frames: impl Into<Value>) -> Object {
    Object::from([("sse", sse.into()), ("frames", frames.into())])
}

fn file(file: &File) -> Object {
    Object::from([
        ("file", Value::from(file.name.as_str())),
        ("events", file.sizes.events.into()),
        ("dropped", file.dropped.into()),
        ("failed", file.failed.into()),
        ("complete", file.is_whole.into()),
        ("bytes", bytes(&file.sizes).into()),
        ("agentSeconds", secs(file.on_links.agent)),
        ("links", list(&file.on_links.links, |link| on_link(link, file.on_links.agent))),
    ])
}

fn on_link(link: &OnLink, agent: u64) -> Object {
    let sent = |sent: &Sent| {
        Object::from([
            ("events", Value::from(sent.events)),
            ("bytes", sent.bytes.into()),
            ("seconds", secs(sent.nanos)),
            ("secondsBehind", secs(sent.nanos.saturating_sub(agent))),
        ])
    };
    let ways = |ways: &[[Sent; 2]]| {
        let names = std::iter::once("raw").chain(Coding::ALL.map(Coding::as_str));
        let ways =
            names.zip(ways).map(|(name, [sse, frames])| (name, two(sent(sse), sent(frames))));
        ways.collect::<Object>()
    };
    Object::from([
        ("bitsPerSecond", Value::from(link.bits_per_second)),
        ("each", ways(&link.each).into()),
        ("merged", ways(&link.merged).into()),
    ])
}

/// To the microsecond.
fn secs(nanos: u64) -> Value {
    Value::from((real(nanos) / 1e3).round() / 1e6)
}

fn bytes(sizes: &Sizes) -> Object {
    sizes.ways().map(|(name, Pair { sse, frames })| (name, two(sse, frames))).collect()
}

fn compressors(comparison: &Comparison) -> Object {
    let compressor = |coding: Coding| {
        let [sse, frames] = comparison.costs.of(coding).each_ref().map(|cost: &Cost| {
            let nanos = rounded(cost.times.median());
            Object::from([("memory", Value::from(coding.memory())), ("medianNanos", nanos)])
        });
        let mut object = Object::from([("settings", coding.settings())]);
        object.extend(two(sse, frames));
        (coding.as_str(), object)
    };
    Coding::ALL.into_iter().map(compressor).collect()
}

fn parts(parts: &Parts) -> Object {
    Part::ALL.into_iter().map(|part| (part.as_str(), parts.of(part))).collect()
}

fn number_lists(comparison: &Comparison) -> Object {
    let lists = comparison.anatomy.lists;
    Object::from([
        ("lists", lists.lists),
        ("numbers", lists.numbers),
        ("json", lists.json),
        ("protobuf", lists.protobuf),
    ])
}

fn all_speeds(speed: &Speed) -> Object {
    let mut object = Object::from([
        ("rounds", Value::from(speed.rounds)),
        ("events", speed.all.events.into()),
        ("sampled", speed.is_cut.into()),
    ]);
    object.extend(speeds(&speed.all));
    object
}

fn speeds(times: &Times) -> Object {
    let both = |encode, decode| {
        Object::from([("encode", spread(times, encode)), ("decode", spread(times, decode))])
    };
    Object::from([
        ("json", both(Job::JsonEncode, Job::JsonDecode)),
        ("protobuf", both(Job::ProtobufEncode, Job::ProtobufDecode)),
    ])
}

fn spread(times: &Times, job: Job) -> Object {
    let Spread { min, quarter, median, three_quarters, max } = times.of(job);
    let nanos = median * real(times.events);
    let rate = if nanos > 0.0 { real(times.bytes(job)) * 1e9 / nanos } else { 0.0 };
    [
        ("min", min),
        ("quarter", quarter),
        ("median", median),
        ("threeQuarters", three_quarters),
        ("max", max),
        ("bytesPerSecond", rate.round()),
    ]
    .into_iter()
    .map(|(name, value)| (name, rounded(value)))
    .collect()
}

/// A tenth of a nanosecond is less than the clock knows.
fn rounded(value: f64) -> Value {
    Value::from((value * 10.0).round() / 10.0)
}

fn link(comparison: &Comparison) -> Object {
    let times = list(RATES, |rate| {
        let of = |bytes| Value::from((seconds(bytes, rate) * 1e6).round() / 1e6);
        let mut object = Object::from([("bitsPerSecond", rate)]);
        let ways = comparison.total.ways();
        object.extend(ways.map(|(name, way)| (name, two(of(way.sse), of(way.frames)))));
        object
    });
    let recorded = comparison.pace.millis().map_or(Value::Null, Value::from);
    let jumps = Value::from(comparison.pace.jumps());
    Object::from([("recordedMillis", recorded), ("clockJumps", jumps), ("seconds", times)])
}

fn losses(comparison: &Comparison) -> Object {
    let kinds = list(&comparison.losses.kinds, |(kind, loss)| {
        Object::from([
            ("kind", Value::from(kind.as_str())),
            ("harmless", kind.is_harmless().into()),
            ("times", loss.times.into()),
            ("file", loss.file.as_str().into()),
            ("line", loss.line.into()),
        ])
    });
    Object::from([("checked", Value::from(comparison.losses.checked)), ("kinds", kinds)])
}
