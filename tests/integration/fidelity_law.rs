//! The law of fidelity: a report says of JSON text what the trip over the wire then does to it.
//!
//! The documents are made as text, number literals included. What arrives is compared with the
//! document by a second opinion that shares nothing with the crate: its own tree, and decimal values
//! in digits of its own.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use ag_ui_proto::Event;
use ag_ui_proto::codec::{EncodeError, Options};
use ag_ui_proto::fidelity::{Checker, Difference, Fidelity, Kind, Report};
use ag_ui_proto::model::Translator;
use ag_ui_proto::value::{ExactJson, Value};
use bytes::BytesMut;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};

// --- decimal values, in digits of our own ------------------------------------------------------

/// `digits * 10^exponent`, without zeros at either end of the digits; zero has none.
#[derive(Debug, PartialEq, Eq)]
struct Decimal {
    negative: bool,
    digits: String,
    exponent: i128,
}

impl Decimal {
    /// The value of a literal.
    fn of(literal: &str) -> Self {
        let (mantissa, exponent) = literal.split_once(['e', 'E']).unwrap_or((literal, "0"));
        let mut exponent: i128 = exponent.trim_start_matches('+').parse().unwrap();
        let negative = mantissa.starts_with('-');
        let mantissa = mantissa.trim_start_matches('-');
        let (integer, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        exponent -= i128::try_from(fraction.len()).unwrap();
        let mut digits = format!("{integer}{fraction}");
        while digits.ends_with('0') {
            digits.pop();
            exponent += 1;
        }
        let digits = digits.trim_start_matches('0').to_owned();
        if digits.is_empty() {
            // The sign of zero is no part of its value.
            return Self { negative: false, digits, exponent: 0 };
        }
        Self { negative, digits, exponent }
    }
}

/// A natural number in limbs of nine decimal digits, the lowest first.
struct Natural(Vec<u64>);

impl Natural {
    const BASE: u64 = 1_000_000_000;

    fn new(mut number: u64) -> Self {
        let mut limbs = Vec::new();
        while number > 0 {
            limbs.push(number % Self::BASE);
            number /= Self::BASE;
        }
        Self(limbs)
    }

    fn multiply(&mut self, factor: u64) {
        let mut carry = 0;
        for limb in &mut self.0 {
            let product = *limb * factor + carry;
            *limb = product % Self::BASE;
            carry = product / Self::BASE;
        }
        while carry > 0 {
            self.0.push(carry % Self::BASE);
            carry /= Self::BASE;
        }
    }

    fn multiply_by_power(&mut self, base: u64, mut exponent: u32) {
        while exponent > 0 {
            let step = exponent.min(12);
            self.multiply(base.pow(step));
            exponent -= step;
        }
    }

    fn digits(&self) -> String {
        let mut digits = String::new();
        for limb in self.0.iter().rev() {
            write!(digits, "{limb:09}").unwrap();
        }
        digits
    }
}

/// `mantissa * 2^exponent` in full, as `digits` and `e` and a power of ten.
fn in_full(mantissa: u64, exponent: i32) -> String {
    let mut natural = Natural::new(mantissa);
    natural.multiply_by_power(if exponent < 0 { 5 } else { 2 }, exponent.unsigned_abs());
    format!("{}e{}", natural.digits(), exponent.min(0))
}

/// The mantissa and the power of two of a positive double.
fn parts(double: f64) -> (u64, i32) {
    let bits = double.to_bits();
    let fraction = bits & ((1 << 52) - 1);
    match i32::try_from(bits >> 52).unwrap() {
        0 => (fraction, -1074),
        exponent => (fraction | 1 << 52, exponent - 1075),
    }
}

/// Whether the double is the number of the literal: in its shortest text, or in full.
fn is_number(double: f64, literal: &str) -> bool {
    let wanted = Decimal::of(literal);
    if Decimal::of(&format!("{double:e}")) == wanted {
        return true;
    }
    let (mantissa, exponent) = parts(double.abs());
    let full = Decimal { negative: double < 0.0, ..Decimal::of(&in_full(mantissa, exponent)) };
    full == wanted
}

/// A positive number in full, written without an exponent.
fn without_exponent(full: &str) -> String {
    let Decimal { digits, exponent, .. } = Decimal::of(full);
    if digits.is_empty() {
        return "0".to_owned();
    }
    if exponent >= 0 {
        return digits + &"0".repeat(usize::try_from(exponent).unwrap());
    }
    let places = usize::try_from(-exponent).unwrap();
    let digits = format!("{}{digits}", "0".repeat((places + 1).saturating_sub(digits.len())));
    let (integer, fraction) = digits.split_at(digits.len() - places);
    format!("{integer}.{fraction}")
}

// --- documents ---------------------------------------------------------------------------------

/// A JSON document as it is written: numbers as literals, keys as often as they come.
#[derive(Clone, Debug, PartialEq)]
enum Json {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl From<&Value> for Json {
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(flag) => Self::Bool(*flag),
            Value::Number(number) => Self::Number(number.to_string()),
            Value::String(text) => Self::Text(text.clone()),
            Value::List(list) => Self::List(list.iter().map(Self::from).collect()),
            Value::Object(object) => {
                let members = object.iter().map(|(key, member)| (key.to_owned(), member.into()));
                Self::Object(members.collect())
            }
        }
    }
}

impl Json {
    fn write(&self, between: &str, to: &mut String) {
        match self {
            Self::Null => to.push_str("null"),
            Self::Bool(flag) => to.push_str(if *flag { "true" } else { "false" }),
            Self::Number(literal) => to.push_str(literal),
            Self::Text(text) => to.push_str(&serde_json::to_string(text).unwrap()),
            Self::List(list) => {
                to.push('[');
                for (index, element) in list.iter().enumerate() {
                    if index > 0 {
                        to.push(',');
                    }
                    to.push_str(between);
                    element.write(between, to);
                }
                to.push(']');
            }
            Self::Object(members) => {
                to.push('{');
                for (index, (key, member)) in members.iter().enumerate() {
                    if index > 0 {
                        to.push(',');
                    }
                    to.push_str(between);
                    to.push_str(&serde_json::to_string(key).unwrap());
                    to.push_str(between);
                    to.push(':');
                    to.push_str(between);
                    member.write(between, to);
                }
                to.push('}');
            }
        }
    }

    fn text(&self, between: &str) -> String {
        let mut text = String::new();
        self.write(between, &mut text);
        text
    }

    /// The members that count: of each key the last one, where it stands last.
    fn last_members(members: &[(String, Self)]) -> impl Iterator<Item = (&str, &Self)> {
        members.iter().enumerate().filter_map(|(at, (key, member))| {
            let again = members.iter().skip(at + 1).any(|(later, _)| later == key);
            (!again).then_some((key.as_str(), member))
        })
    }

    fn member(&self, name: &str) -> Option<&Self> {
        let Self::Object(members) = self else { return None };
        members.iter().rev().find(|(key, _)| key == name).map(|(_, member)| member)
    }

    fn children_mut(&mut self) -> Vec<&mut Self> {
        match self {
            Self::List(list) => list.iter_mut().collect(),
            Self::Object(members) => members.iter_mut().map(|(_, member)| member).collect(),
            _ => Vec::new(),
        }
    }

    /// The places of numbers out of range, in members that count.
    fn out_of_range(&self, pointer: &str, to: &mut Vec<String>) {
        match self {
            Self::Number(literal) if out_of_range(literal) => to.push(pointer.to_owned()),
            Self::List(list) => {
                for (index, element) in list.iter().enumerate() {
                    element.out_of_range(&format!("{pointer}/{index}"), to);
                }
            }
            Self::Object(members) => {
                for (name, member) in Self::last_members(members) {
                    member.out_of_range(&join(pointer, name), to);
                }
            }
            _ => {}
        }
    }

    /// The same document without what the wire cannot say: numbers out of range are 0, and unknown
    /// operations remove.
    fn representable(&self) -> Self {
        let mut made = self.clone();
        let mut pending = vec![&mut made];
        while let Some(json) = pending.pop() {
            match json {
                Self::Number(literal) if out_of_range(literal) => "0".clone_into(literal),
                Self::Object(members) => {
                    for (key, member) in members {
                        if key == "op" && *member == Self::Text("increment".into()) {
                            *member = Self::Text("remove".into());
                        }
                        pending.push(member);
                    }
                }
                other => pending.extend(other.children_mut()),
            }
        }
        made
    }
}

fn out_of_range(literal: &str) -> bool {
    literal.parse::<f64>().unwrap().is_infinite()
}

fn join(pointer: &str, key: &str) -> String {
    format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"))
}

// --- arbitrary literals ------------------------------------------------------------------------

/// Doubles that are hard to write: neighbours of powers of two, subnormals, and any others.
fn hard_double() -> BoxedStrategy<f64> {
    let power = |exponent: i32| 2_f64.powi(exponent);
    let near_power = (-1022..1024, -2..=2_i64).prop_map(move |(exponent, ulps)| {
        f64::from_bits(power(exponent).to_bits().saturating_add_signed(ulps))
    });
    prop_oneof![
        4 => near_power,
        1 => (1_u64..1 << 52).prop_map(f64::from_bits),
        1 => (1_u64..4).prop_map(f64::from_bits),
        1 => Just(f64::MAX),
        3 => (1_u64..0x7ff0_0000_0000_0000).prop_map(f64::from_bits),
        // Integers between 2^53 and 2^80, whose shortest text is not what they are in full.
        4 => (53..80, any::<u64>()).prop_map(move |(exponent, bits)| {
            f64::from_bits(power(exponent).to_bits() | bits >> 12)
        }),
    ]
    .boxed()
}

/// A positive number in full, with its last digits as they are, one more, one less, or more digits.
fn nudged(full: &str, nudge: u8) -> String {
    let plain = without_exponent(full);
    let separate = |plain: &str| if plain.contains('.') { "" } else { "." };
    match nudge {
        0 => format!("{plain}{}0000000001", separate(&plain)),
        1 | 2 => {
            // The last digit is no zero in a fraction, and may be one in an integer.
            let (head, last) = plain.split_at(plain.len() - 1);
            let last = match (last, nudge) {
                ("9", 1) => "8".to_owned(),
                ("0", 2) => "1".to_owned(),
                (last, 1) => (last.parse::<u8>().unwrap() + 1).to_string(),
                (last, _) => (last.parse::<u8>().unwrap() - 1).to_string(),
            };
            format!("{head}{last}")
        }
        3 => full.trim_start_matches('0').to_owned(),
        _ => plain,
    }
}

fn positive_literal() -> BoxedStrategy<String> {
    let plain = prop_oneof![
        (0..100_000_u32).prop_map(|integer| integer.to_string()),
        (0..1000_u32, 0..1000_u32).prop_map(|(whole, part)| format!("{whole}.{part}")),
    ];
    let forms = prop::sample::select(
        &[
            "0",
            "0.0",
            "0e5",
            "0.00E-7",
            "1.0",
            "1e2",
            "1E+2",
            "100e-2",
            "1.50",
            "1e0",
            "12.5e1",
            "1e22",
            "1e23",
            "5e-324",
            "3e-324",
            "2e-324",
            "1e-400",
            "1e308",
            "1.8e308",
            "1e309",
            "1e400",
            "1e99999999999999999999",
            "1e-99999999999999999999",
            "0e99999999999999999999",
            "3364326223160287232",
            "9007199254740993",
            "12345678901234567890",
            "0.10000000000000000001",
            "0.1000000000000000055511151231257827021181583404541015625",
            "0.1000000000000000055511151231257827021181583404541015624",
            "1.7976931348623157e308",
            "1.7976931348623158e308",
            "1.7976931348623159e308",
            "2.4703282292062327e-324",
            "2.4703282292062328e-324",
            "2.2250738585072011e-308",
        ][..],
    )
    .prop_map(str::to_owned);
    let shortest = hard_double().prop_map(|double| format!("{double:e}"));
    let digits_17_and_40 = (hard_double(), prop::sample::select(&[15, 16, 17, 39][..]))
        .prop_map(|(double, places)| format!("{double:.places$e}"));
    let full = (hard_double(), 0..6_u8).prop_map(|(double, nudge)| {
        let (mantissa, exponent) = parts(double);
        nudged(&in_full(mantissa, exponent), nudge)
    });
    let halves = (hard_double(), 0..6_u8).prop_map(|(double, nudge)| {
        let (mantissa, exponent) = parts(double);
        nudged(&in_full(2 * mantissa + 1, exponent - 1), nudge)
    });
    let around = prop::sample::select(&[1_u128 << 53, 1 << 63, 1 << 64][..]);
    let integers = (around, -3000..3000_i128)
        .prop_map(|(power, offset)| power.checked_add_signed(offset).unwrap().to_string());
    let shortest_integers = hard_double().prop_filter_map("too long", |double| {
        (1e15..1e40).contains(&double).then(|| without_exponent(&format!("{double:e}")))
    });
    let random = ("[1-9][0-9]{16}", "[0-9]{0,23}", -420..420_i32)
        .prop_map(|(head, more, power)| format!("{}.{}{more}e{power}", &head[..1], &head[1..]));
    prop_oneof![
        6 => plain,
        4 => forms,
        2 => shortest,
        3 => digits_17_and_40,
        2 => full,
        3 => halves,
        3 => integers,
        2 => shortest_integers,
        2 => random,
    ]
    .boxed()
}

fn literal() -> BoxedStrategy<String> {
    (positive_literal(), prop::bool::weighted(0.3))
        .prop_map(|(literal, negative)| if negative { format!("-{literal}") } else { literal })
        .boxed()
}

/// A literal that now and then no double is near.
fn any_literal() -> BoxedStrategy<String> {
    let beyond = &["1e309", "-1e400", "1.7976931348623159e308", "1e99999999999999999999"][..];
    prop_oneof![7 => literal(), 1 => prop::sample::select(beyond).prop_map(str::to_owned)].boxed()
}

/// A literal that a double is near.
fn literal_in_range() -> BoxedStrategy<String> {
    literal().prop_map(|text| if out_of_range(&text) { "7e-5".to_owned() } else { text }).boxed()
}

// --- arbitrary documents -------------------------------------------------------------------------

fn text() -> BoxedStrategy<Json> {
    prop::sample::select(
        &["", "x", "1e5", "\\", "\"9007199254740993\"", "{\"a\":1}", "\\ud800", "é\u{1f600}\0"][..],
    )
    .prop_map(|text| Json::Text(text.to_owned()))
    .boxed()
}

/// An open value; keys are few, so that some come twice.
fn open() -> BoxedStrategy<Json> {
    open_with(literal_in_range())
}

fn open_with(literal: BoxedStrategy<String>) -> BoxedStrategy<Json> {
    let leaf = prop_oneof![
        1 => Just(Json::Null),
        1 => any::<bool>().prop_map(Json::Bool),
        8 => literal.prop_map(Json::Number),
        2 => text(),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Json::List),
            members(inner).prop_map(Json::Object),
        ]
    })
    .boxed()
}

fn members(member: impl Strategy<Value = Json>) -> impl Strategy<Value = Vec<(String, Json)>> {
    let key = prop::sample::select(&["a", "b", "c/d", "e~f", "", "type", "__proto__", "7"][..]);
    vec((key.prop_map(str::to_owned), member), 0..4)
}

fn open_object() -> BoxedStrategy<Json> {
    members(open()).prop_map(Json::Object).boxed()
}

/// An optional member.
fn member(name: &'static str, json: BoxedStrategy<Json>) -> BoxedStrategy<Vec<(String, Json)>> {
    let given = vec(json, 1).prop_map(move |mut json| vec![(name.to_owned(), json.remove(0))]);
    prop_oneof![2 => Just(Vec::new()), 1 => given].boxed()
}

/// Members that no object of the protocol has, seldom; one name may come twice.
fn unknown_members() -> BoxedStrategy<Vec<(String, Json)>> {
    let name = prop::sample::select(&["colour", "shape/size"][..]);
    let given = vec((name.prop_map(str::to_owned), open_with(literal())), 1..3);
    prop_oneof![9 => Just(Vec::new()), 1 => given].boxed()
}

/// An object of fixed members, others that may be there, and seldom an unknown one.
fn object(
    fixed: &'static [(&'static str, &'static str)],
    optional: Vec<BoxedStrategy<Vec<(String, Json)>>>,
) -> BoxedStrategy<Json> {
    closed(fixed, optional, unknown_members())
}

fn closed(
    fixed: &'static [(&'static str, &'static str)],
    optional: Vec<BoxedStrategy<Vec<(String, Json)>>>,
    extra: BoxedStrategy<Vec<(String, Json)>>,
) -> BoxedStrategy<Json> {
    let twice = prop_oneof![29 => Just(None), 1 => (0..fixed.len().max(1), text()).prop_map(Some)];
    (optional, extra, twice)
        .prop_map(move |(optional, extra, twice)| {
            let fixed = fixed
                .iter()
                .map(|(name, text)| ((*name).to_owned(), Json::Text((*text).to_owned())));
            let mut members: Vec<_> =
                fixed.chain(optional.into_iter().flatten()).chain(extra).collect();
            if let Some((at, text)) = twice
                && let Some(name) = members.get(at).map(|(name, _)| name.clone())
            {
                members.insert(0, (name, text));
            }
            Json::Object(members)
        })
        .boxed()
}

fn with(
    base: BoxedStrategy<Json>,
    name: &'static str,
    member: BoxedStrategy<Json>,
) -> BoxedStrategy<Json> {
    (base, member)
        .prop_map(move |(base, member)| {
            let Json::Object(mut members) = base else { unreachable!() };
            members.push((name.to_owned(), member));
            Json::Object(members)
        })
        .boxed()
}

fn list(element: BoxedStrategy<Json>) -> BoxedStrategy<Json> {
    vec(element, 0..3).prop_map(Json::List).boxed()
}

fn nullable(json: BoxedStrategy<Json>) -> BoxedStrategy<Json> {
    prop_oneof![4 => json, 1 => Just(Json::Null)].boxed()
}

fn counts() -> BoxedStrategy<Json> {
    prop::sample::select(&["0", "17", "1000.0", "1e3", "9007199254740991", "0.5e1"][..])
        .prop_map(|count| Json::Number(count.to_owned()))
        .boxed()
}

fn usage() -> BoxedStrategy<Json> {
    let model = Just(Json::Text("m".into())).boxed();
    list(object(&[], vec![member("model", model), member("inputTokens", counts())]))
}

/// A patch; an operation of no known name seldom, since no encoder takes it.
fn patch() -> BoxedStrategy<Json> {
    let extension = prop_oneof![
        4 => Just(Vec::new()),
        1 => vec(open_with(literal()), 1).prop_map(|mut json| vec![("x-note".to_owned(), json.remove(0))]),
    ]
    .boxed();
    let known = |fixed| closed(fixed, vec![], extension.clone());
    list(
        prop_oneof![
            10 => with(known(&[("op", "add"), ("path", "/a")]), "value", open()),
            5 => with(known(&[("op", "remove"), ("path", "")]), "value", open()),
            5 => known(&[("op", "move"), ("path", "/a~1"), ("from", "/b")]),
            1 => known(&[("op", "increment"), ("path", "/a")]),
        ]
        .boxed(),
    )
}

/// Content parts; each has its place as its id, so that it is known which ones arrive.
fn content() -> BoxedStrategy<Json> {
    let source = prop_oneof![
        object(&[("type", "data"), ("value", "eA=="), ("mimeType", "image/png")], vec![]),
        object(&[("type", "url"), ("value", "u")], vec![]),
        object(&[("type", "file"), ("value", "f"), ("provider", "p")], vec![]),
        object(&[("type", "stream"), ("value", "s")], vec![]),
    ]
    .boxed();
    let media = object(&[("type", "image")], vec![member("metadata", open())]);
    let part = prop_oneof![
        2 => object(&[("type", "text"), ("text", "t")], vec![member("metadata", not_null())]),
        2 => with(media, "source", source),
        1 => object(&[("type", "hologram")], vec![member("metadata", open_with(literal()))]),
    ];
    let parts = vec(part, 0..4).prop_map(|parts| {
        let parts = parts.into_iter().enumerate().map(|(index, part)| {
            let Json::Object(mut members) = part else { unreachable!() };
            members.push(("id".to_owned(), Json::Text(index.to_string())));
            Json::Object(members)
        });
        Json::List(parts.collect())
    });
    prop_oneof![1 => text(), 3 => parts].boxed()
}

/// A message of a role that this version does not know, with calls, and parts of which one is known.
fn unknown_message() -> BoxedStrategy<Json> {
    let parts = content().prop_map(|content| {
        let Json::List(mut parts) = content else { return content };
        let known = [("type", "text"), ("text", "t"), ("id", "known")];
        let known = known.map(|(name, text)| (name.to_owned(), Json::Text(text.to_owned())));
        parts.push(Json::Object(known.into()));
        Json::List(parts)
    });
    let members = vec![
        unknown_id(),
        member("content", parts.boxed()),
        member("toolCalls", list(tool_call())),
    ];
    object(&[("role", "critic")], members)
}

/// An id where none need be.
fn unknown_id() -> BoxedStrategy<Vec<(String, Json)>> {
    let id = prop_oneof![Just("m"), Just("")].prop_map(|id| Json::Text(id.to_owned()));
    member("id", id.boxed())
}

fn not_null() -> BoxedStrategy<Json> {
    open().prop_map(|json| if json == Json::Null { Json::Bool(true) } else { json }).boxed()
}

fn tool_call() -> BoxedStrategy<Json> {
    let function = object(&[("name", "f"), ("arguments", "{\"n\":9007199254740993}")], vec![]);
    let metadata = member("metadata", open_object());
    with(object(&[("id", "c"), ("type", "function")], vec![metadata]), "function", function)
}

fn message() -> BoxedStrategy<Json> {
    let metadata = || member("metadata", open_object());
    prop_oneof![
        object(&[("role", "developer"), ("id", "m"), ("content", "x")], vec![metadata()]),
        object(
            &[("role", "assistant"), ("id", "m")],
            vec![metadata(), member("toolCalls", list(tool_call()))]
        ),
        with(object(&[("role", "user"), ("id", "m")], vec![metadata()]), "content", content()),
        with(
            object(&[("role", "tool"), ("id", "m"), ("toolCallId", "c")], vec![metadata()]),
            "content",
            content(),
        ),
        with(
            object(&[("role", "activity"), ("id", "m"), ("activityType", "a")], vec![metadata()]),
            "content",
            open_object(),
        ),
        object(
            &[("role", "critic")],
            vec![
                unknown_id(),
                metadata(),
                member("content", prop_oneof![text(), open_object()].boxed()),
                member("name", open_with(literal())),
            ]
        ),
    ]
    .boxed()
}

fn run_input() -> BoxedStrategy<Json> {
    let metadata = || member("metadata", open_object());
    let tool = object(
        &[("name", "t"), ("description", "d")],
        vec![member("parameters", nullable(open())), metadata()],
    );
    let context = object(&[("description", "d"), ("value", "9007199254740993")], vec![]);
    let resume = object(
        &[("interruptId", "i"), ("status", "resolved")],
        vec![member("payload", nullable(open())), metadata()],
    );
    with(
        object(
            &[("threadId", "t"), ("runId", "r")],
            vec![
                member("state", nullable(open())),
                member("tools", list(tool)),
                member("context", list(context)),
                member("forwardedProps", nullable(open())),
                member("resume", list(resume)),
            ],
        ),
        "messages",
        list(message()),
    )
}

fn outcome() -> BoxedStrategy<Json> {
    let ids = || list(Just(Json::Text("c1".into())).boxed());
    let interrupt = object(
        &[("id", "i"), ("reason", "r")],
        vec![member("responseSchema", open_object()), member("metadata", open_object())],
    );
    prop_oneof![
        object(&[("type", "success")], vec![member("pendingToolCallIds", ids())]),
        with(
            object(&[("type", "interrupt")], vec![]),
            "interrupts",
            vec(interrupt, 1..3).prop_map(Json::List).boxed(),
        ),
        object(&[("type", "cancelled")], vec![]),
        object(&[("type", "paused")], vec![member("until", open_with(literal()))]),
        Just(Json::Null),
    ]
    .boxed()
}

fn subagent_outcome() -> BoxedStrategy<Json> {
    let ids = list(Just(Json::Text("i".into())).boxed());
    prop_oneof![
        object(&[("type", "success")], vec![]),
        object(&[("type", "suspended")], vec![member("interruptIds", ids)]),
        object(&[("type", "paused")], vec![member("until", open_with(literal()))]),
    ]
    .boxed()
}

fn body() -> BoxedStrategy<Json> {
    let result = || member("result", nullable(open()));
    prop_oneof![
        3 => with(object(&[("type", "CUSTOM"), ("name", "n")], vec![]), "value", open()),
        2 => with(object(&[("type", "RAW")], vec![]), "event", open_with(any_literal())),
        2 => with(object(&[("type", "STATE_SNAPSHOT")], vec![]), "snapshot", open()),
        2 => with(object(&[("type", "STATE_DELTA")], vec![]), "delta", patch()),
        1 => with(
            object(
                &[("type", "ACTIVITY_SNAPSHOT"), ("messageId", "m"), ("activityType", "a")],
                vec![],
            ),
            "content",
            open_object(),
        ),
        1 => with(
            object(
                &[("type", "ACTIVITY_DELTA"), ("messageId", "m"), ("activityType", "a")],
                vec![],
            ),
            "patch",
            patch(),
        ),
        3 => with(object(&[("type", "MESSAGES_SNAPSHOT")], vec![]), "messages", list(message())),
        3 => object(
            &[("type", "RUN_STARTED"), ("threadId", "t"), ("runId", "r")],
            vec![member("input", run_input())],
        ),
        2 => object(
            &[("type", "RUN_FINISHED"), ("threadId", "t"), ("runId", "r")],
            vec![result(), member("outcome", outcome()), member("usage", usage())],
        ),
        1 => object(&[("type", "RUN_ERROR"), ("message", "m")], vec![member("usage", usage())]),
        1 => object(
            &[("type", "SUBAGENT_FINISHED"), ("subagentRunId", "s")],
            vec![result(), member("outcome", subagent_outcome())],
        ),
        1 => with(
            object(
                &[("type", "TOOL_CALL_RESULT"), ("messageId", "m"), ("toolCallId", "c")],
                vec![],
            ),
            "content",
            content(),
        )
        .prop_map(without_null_metadata)
        .boxed(),
        1 => object(
            &[("type", "TOOL_CALL_ARGS"), ("toolCallId", "c"), ("delta", "{\"id\":1234567890123456789}")],
            vec![],
        ),
    ]
    .boxed()
}

/// Old nulls are read in the parts of messages only.
fn without_null_metadata(event: Json) -> Json {
    let Json::Object(mut members) = event else { unreachable!() };
    for part in members.iter_mut().flat_map(|(_, member)| member.children_mut()) {
        let Json::Object(members) = part else { continue };
        members.retain(|(name, member)| name != "metadata" || *member != Json::Null);
    }
    Json::Object(members)
}

fn event() -> BoxedStrategy<Json> {
    let base = vec![
        member("timestamp", counts()),
        member("metadata", open_object()),
        member("rawEvent", nullable(open())),
    ];
    (body(), base)
        .prop_map(|(body, base)| {
            let Json::Object(mut members) = body else { unreachable!() };
            members.extend(base.into_iter().flatten());
            Json::Object(members)
        })
        .boxed()
}

// --- the second opinion --------------------------------------------------------------------------

/// What the trip did, as seen by comparing the document with what arrived.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    /// Where something else or nothing arrived.
    lost: Vec<String>,
    /// Where a list arrived that had not been sent, or the other way round, or an old null went.
    normalised: Vec<String>,
}

/// Members that may be left out when they are null, as old producers did not.
const RETIRED_NULLS: [&str; 8] = [
    "rawEvent",
    "result",
    "outcome",
    "state",
    "parameters",
    "forwardedProps",
    "payload",
    "metadata",
];
/// Lists that have no presence on the wire.
const NO_PRESENCE: [&str; 4] = ["usage", "pendingToolCallIds", "interruptIds", "toolCalls"];

impl Seen {
    fn compare(sent: &Json, arrived: &Value) -> Self {
        let mut seen = Self::default();
        seen.value(sent, arrived, "");
        seen.twice(sent, "");
        seen.lost.sort();
        seen.normalised.sort();
        seen
    }

    fn value(&mut self, sent: &Json, arrived: &Value, pointer: &str) {
        let same = match (sent, arrived) {
            (Json::Null, Value::Null) => true,
            (Json::Bool(sent), Value::Bool(arrived)) => sent == arrived,
            (Json::Text(sent), Value::String(arrived)) => *sent == *arrived,
            (Json::Number(sent), Value::Number(arrived)) => {
                let double = arrived.as_f64().unwrap();
                let nearest: f64 = sent.parse().unwrap();
                assert_eq!(
                    double.to_bits(),
                    nearest.to_bits(),
                    "{pointer}: {sent} is not its nearest double"
                );
                is_number(double, sent)
            }
            (Json::List(sent), Value::List(arrived)) => {
                self.list(sent, arrived, pointer);
                true
            }
            (Json::Object(members), Value::Object(arrived)) => {
                for (name, member) in Json::last_members(members) {
                    let pointer = join(pointer, name);
                    match arrived.get(name) {
                        Some(arrived) => self.value(member, arrived, &pointer),
                        None if *member == Json::Null && RETIRED_NULLS.contains(&name)
                            || *member == Json::List(vec![]) && NO_PRESENCE.contains(&name) =>
                        {
                            self.normalised.push(pointer);
                        }
                        None => self.lost.push(pointer),
                    }
                }
                for (name, arrived) in arrived {
                    if sent.member(name).is_none() {
                        let pointer = join(pointer, name);
                        let is_absent_id = name == "id" && *arrived == "";
                        if is_absent_id || arrived.as_list().is_some_and(|list| list.is_empty()) {
                            self.normalised.push(pointer);
                        } else {
                            panic!("{pointer}: {arrived} came from nowhere");
                        }
                    }
                }
                true
            }
            _ => false,
        };
        if !same {
            self.lost.push(pointer.to_owned());
        }
    }

    /// Elements that have ids are found by them, since some may be missing.
    fn list(&mut self, sent: &[Json], arrived: &[Value], pointer: &str) {
        let is_content =
            pointer.ends_with("/content") && sent.iter().all(|part| part.member("id").is_some());
        if !is_content {
            assert_eq!(sent.len(), arrived.len(), "{pointer}");
        }
        let mut matched = 0;
        for (index, sent) in sent.iter().enumerate() {
            let pointer = format!("{pointer}/{index}");
            let found = if is_content {
                let Some(Json::Text(id)) = sent.member("id") else { unreachable!() };
                let has_id = |part: &&Value| part.get("id").and_then(Value::as_str) == Some(id);
                arrived.iter().find(has_id)
            } else {
                arrived.get(index)
            };
            matched += usize::from(found.is_some());
            match found {
                Some(arrived) => self.value(sent, arrived, &pointer),
                None => self.lost.push(pointer),
            }
        }
        assert_eq!(matched, arrived.len(), "{pointer}: an element came from nowhere");
    }

    /// Each member that is given again later is lost, wherever it stands.
    fn twice(&mut self, sent: &Json, pointer: &str) {
        match sent {
            Json::List(list) => {
                for (index, element) in list.iter().enumerate() {
                    self.twice(element, &format!("{pointer}/{index}"));
                }
            }
            Json::Object(members) => {
                for (at, (key, member)) in members.iter().enumerate() {
                    let pointer = join(pointer, key);
                    self.twice(member, &pointer);
                    if members.iter().skip(at + 1).any(|(later, _)| later == key) {
                        self.lost.push(pointer);
                    }
                }
            }
            _ => {}
        }
    }
}

// --- the trip --------------------------------------------------------------------------------------

/// The event of a text, as a sender that keeps every digit has it.
fn event_of(text: &str) -> Event {
    let mut value = ExactJson::read(text, 128).unwrap().value;
    let mut notices = Vec::new();
    Translator::new().translate(&mut value, &mut notices);
    let mut event = Event::from_value(value).unwrap_or_else(|error| panic!("{text}: {error}"));
    event.drop_retired_nulls(&mut notices);
    event
}

/// The JSON that arrives when an event goes over the wire, or why the encoder refuses it.
fn trip(event: &Event, options: Options) -> Result<Value, EncodeError> {
    let mut payload = BytesMut::new();
    options.encode(event, &mut payload)?;
    let arrived = options.decode(&payload).unwrap().event.unwrap();
    Ok(Value::from_serialize(&arrived).unwrap())
}

fn pointers<'r>(differences: impl Iterator<Item = &'r Difference>) -> Vec<String> {
    let mut pointers: Vec<_> = differences.map(|difference| difference.pointer.clone()).collect();
    pointers.sort();
    pointers
}

fn lost(report: &Report) -> Vec<String> {
    pointers(report.losses())
}

fn has(report: &Report, fidelity: Fidelity) -> bool {
    report.differences.iter().any(|difference| difference.kind.fidelity() == fidelity)
}

fn check<T: std::fmt::Debug>(
    cases: u32,
    strategy: impl Strategy<Value = T>,
    law: impl Fn(T) -> Result<(), TestCaseError>,
) {
    let seed = RngSeed::Fixed(53);
    let config = Config { cases, rng_seed: seed, failure_persistence: None, ..Config::default() };
    if let Err(error) = TestRunner::new(config).run(&strategy, law) {
        panic!("{error}");
    }
}

/// Checks the law on one document.
fn holds(sent: &Json, between: &str) -> Result<(), TestCaseError> {
    let text = sent.text(between);
    let report = Checker::new().check(&text);
    let event = event_of(&text);
    prop_assert_eq!(report.event.as_ref(), Some(&event));
    let arrived = match trip(&event, Options::new()) {
        Ok(arrived) => arrived,
        Err(error) => {
            prop_assert!(has(&report, Fidelity::Unrepresentable), "{}\n{}", text, error);
            return holds_once_the_obstacle_is_gone(sent, &report, between);
        }
    };
    prop_assert!(!has(&report, Fidelity::Unrepresentable), "{}\n{:?}", text, report.differences);

    let seen = Seen::compare(sent, &arrived);
    prop_assert_eq!(lost(&report), seen.lost, "{}\n{}", text, arrived);
    let normalised = report.differences.iter().filter(|difference| {
        matches!(
            difference.kind,
            Kind::EmptyList | Kind::AbsentList | Kind::AbsentId | Kind::RetiredShape
        )
    });
    prop_assert_eq!(pointers(normalised), seen.normalised, "{}\n{}", text, arrived);

    // The strict encoder refuses what the event itself shows as lost, and nothing else.
    let strict = trip(&event, Options::new().refusing_loss());
    let own = event.differences();
    let lossy = own.iter().any(|difference| !difference.kind.is_harmless());
    prop_assert_eq!(matches!(strict, Err(EncodeError::Lossy { .. })), lossy, "{}", text);
    for difference in own {
        prop_assert!(report.differences.contains(&difference), "{}\n{}", text, difference);
    }
    Ok(())
}

/// Of a refused document: the obstacles are named, and the rest of the report is what happens
/// without them.
fn holds_once_the_obstacle_is_gone(
    sent: &Json,
    report: &Report,
    between: &str,
) -> Result<(), TestCaseError> {
    let representable = sent.representable();
    prop_assert_ne!(&representable, sent);
    let without = Checker::new().check(&representable.text(between));
    for found in report.losses().filter(|found| found.kind.fidelity() == Fidelity::Lossy) {
        let is_there = without.losses().any(|other| other.pointer == found.pointer);
        prop_assert!(is_there, "{}\n{}", sent.text(between), found);
    }

    let mut beyond = Vec::new();
    sent.out_of_range("", &mut beyond);
    // Of what is lost as a whole, nothing within is an obstacle.
    let whole: Vec<_> = report
        .differences
        .iter()
        .filter(|found| {
            matches!(
                found.kind,
                Kind::UnknownMember
                    | Kind::UnknownPart
                    | Kind::UnknownOperation
                    | Kind::PatchExtension
                    | Kind::OutcomePayload
            )
        })
        .map(|found| found.pointer.as_str())
        .collect();
    beyond.retain(|place| {
        let within = |whole: &&str| {
            place.strip_prefix(whole).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        !whole.iter().any(within)
    });
    beyond.sort();
    let obstacles = report.differences.iter().filter(|found| found.kind == Kind::OutOfRange);
    prop_assert_eq!(pointers(obstacles), beyond, "{}", sent.text(between));
    holds(&representable, between)
}

/// Checks the law on a document of someone else's.
#[track_caller]
pub(crate) fn agrees(text: &str) {
    let sent = Json::from(&ExactJson::read(text, 128).unwrap().value);
    if let Err(error) = holds(&sent, "") {
        panic!("{text}: {error}");
    }
}

// --- the laws --------------------------------------------------------------------------------------

#[test]
fn the_second_opinion_knows_its_decimals() {
    assert_eq!(in_full(1, -3), "000000125e-3");
    assert_eq!(without_exponent("125e-3"), "0.125");
    assert_eq!(without_exponent("125e2"), "12500");
    assert_eq!(nudged("125e-3", 0), "0.1250000000001");
    assert_eq!(nudged("125e-3", 1), "0.126");
    let tenth = in_full(parts(0.1).0, parts(0.1).1);
    let exactly = "0.1000000000000000055511151231257827021181583404541015625";
    assert_eq!(without_exponent(&tenth), exactly);
    for (literal, survives) in [
        ("0.1", true),
        ("0.10", true),
        ("1e-1", true),
        (exactly, true),
        ("0.10000000000000000001", false),
        ("0.10000000000000001", false),
    ] {
        assert_eq!(is_number(0.1, literal), survives, "{literal}");
    }
    assert_eq!(Decimal::of("-12.3400e2"), Decimal::of("-1234"));
    assert_eq!(Decimal::of("-0e7"), Decimal::of("0"));
    assert_ne!(Decimal::of("-1"), Decimal::of("1"));
}

#[test]
fn a_number_is_reported_if_and_only_if_another_one_arrives() {
    check(12_000, literal(), |literal| {
        let text = format!(r#"{{"type":"CUSTOM","name":"n","value":{literal}}}"#);
        let report = Checker::new().check(&text);
        let Ok(arrived) = trip(&event_of(&text), Options::new()) else {
            prop_assert!(out_of_range(&literal), "{}", literal);
            prop_assert_eq!(report.differences.len(), 1);
            prop_assert_eq!(report.differences[0].kind, Kind::OutOfRange);
            prop_assert_eq!(report.differences[0].json.as_deref(), Some(literal.as_str()));
            return Ok(());
        };
        let arrived = arrived["value"].clone();
        let double = arrived.as_f64().unwrap();
        prop_assert_eq!(double.to_bits(), literal.parse::<f64>().unwrap().to_bits());
        let survives = is_number(double, &literal);
        prop_assert_eq!(report.fidelity() < Fidelity::Lossy, survives, "{}", literal);
        match report.differences.as_slice() {
            [] => prop_assert!(survives),
            [difference] => {
                prop_assert_eq!(&difference.pointer, "/value");
                let wire = arrived.to_string();
                prop_assert_eq!(difference.wire.as_ref(), Some(&wire));
                let json = difference.json.as_deref().unwrap();
                if survives {
                    prop_assert_eq!(difference.kind, Kind::NumberForm);
                    prop_assert!(is_number(wire.parse().unwrap(), json), "{} {}", json, wire);
                } else {
                    prop_assert_eq!(json, literal);
                }
            }
            more => prop_assert!(false, "{:?}", more),
        }
        Ok(())
    });
}

#[test]
fn with_exact_numbers_every_number_arrives_that_a_double_is_near() {
    check(6_000, literal_in_range(), |literal| {
        let text = format!(r#"{{"type":"CUSTOM","name":"n","value":[{literal}]}}"#);
        let event = event_of(&text);
        let options = Options::new().with_exact_numbers();
        let mut payload = BytesMut::new();
        options.encode(&event, &mut payload).unwrap();
        let arrived = options.decode(&payload).unwrap().event.unwrap();
        let ag_ui_proto::model::Body::Custom(custom) = arrived.body else { unreachable!() };
        let Some(Value::Number(number)) = custom.value.as_ref().and_then(|value| value.get(0))
        else {
            unreachable!()
        };
        let same = Decimal::of(&number.to_string()) == Decimal::of(&literal)
            || is_number(number.as_f64().unwrap(), &literal);
        prop_assert!(same, "{} arrived as {}", literal, number);
        Ok(())
    });
}

#[test]
fn a_place_is_reported_if_and_only_if_something_else_or_nothing_arrives_there() {
    let between = prop::sample::select(&["", " ", "\n\t"][..]);
    let told = RefCell::new(BTreeMap::new());
    check(6_000, (event(), between), |(sent, between)| {
        let differences = Checker::new().check(&sent.text(between)).differences;
        let mut told = told.borrow_mut();
        if differences.is_empty() {
            *told.entry(None).or_insert(0) += 1;
        }
        for difference in differences {
            *told.entry(Some(difference.kind)).or_insert(0) += 1;
        }
        holds(&sent, between)
    });
    // The law is put to the test: documents without report, and with each kind that it speaks of.
    let told = told.into_inner();
    let unspoken = [
        Kind::UnknownEventType,
        Kind::RetiredMember,
        Kind::LoneSurrogate,
        Kind::TooDeep,
        Kind::Malformed,
    ];
    let spoken = Kind::ALL.iter().filter(|kind| !unspoken.contains(kind)).copied().map(Some);
    for kind in spoken.chain([None]) {
        assert!(told.get(&kind).is_some_and(|count| *count >= 20), "{kind:?}: {told:?}");
    }
}

#[test]
fn a_place_in_a_message_of_an_unknown_role_is_reported_likewise() {
    let snapshot = object(&[("type", "MESSAGES_SNAPSHOT")], vec![]);
    let event = with(snapshot, "messages", list(unknown_message()));
    check(1_000, event, |sent| holds(&sent, ""));
}
