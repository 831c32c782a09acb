//! `Accept` headers, against the answers of the official encoder.

use std::collections::HashMap;

use ag_ui_proto::negotiate::{Format, Negotiator};

/// A header, with a byte for each character, and the answer of the official encoder.
fn official() -> HashMap<String, Format> {
    let lines = include_str!("../data/accept.tsv").lines();
    lines
        .map(|line| {
            let (format, header) = line.split_once('\t').unwrap();
            let format = match format {
                "protobuf" => Format::Protobuf,
                "sse" => Format::Sse,
                other => panic!("{other}"),
            };
            (serde_json::from_str(header).unwrap(), format)
        })
        .collect()
}

fn choose(header: &str) -> Format {
    let bytes: Vec<u8> = header.chars().map(|char| u8::try_from(char).unwrap()).collect();
    Negotiator::new().choose([bytes])
}

/// Whether every parameter is a weight, and every weight a number: then no answer may differ.
fn is_plain(header: &str) -> bool {
    let is_space = |char| matches!(char, ' ' | '\t');
    header.split(',').all(|element| {
        element.split(';').skip(1).all(|parameter| {
            let weight = parameter.trim_matches(is_space).strip_prefix(['q', 'Q']);
            let number = weight.and_then(|weight| weight.strip_prefix('='));
            let number = number.map(|number| number.trim_matches(is_space).trim_matches('"'));
            number.is_some_and(|number| {
                let digits = number.strip_prefix('-').unwrap_or(number);
                digits.chars().all(|char| char.is_ascii_digit() || char == '.')
                    && number.parse::<f64>().is_ok()
            })
        })
    })
}

#[test]
fn plain_headers_are_answered_as_the_official_encoder_does() {
    let official = official();
    let plain: Vec<_> = official.iter().filter(|(header, _)| is_plain(header)).collect();
    for (header, format) in &plain {
        assert_eq!(choose(header), **format, "{header:?}");
    }
    let count = |format| plain.iter().filter(|(_, answer)| **answer == format).count();
    assert!(count(Format::Protobuf) > 500 && count(Format::Sse) > 500);
}

/// Of the others nine in ten are answered alike too; where not, it is for one of these reasons.
#[test]
fn where_the_official_encoder_is_not_followed_it_is_for_a_reason() {
    let official = official();
    let name = Format::Protobuf.media_type();
    for (header, reason) in [
        (format!("{name};q=0.5x"), "a weight that is no number is zero"),
        (format!("{name};q=Infinity"), "a weight that is no number is zero"),
        (format!("{name};q=1e-3"), "a weight has no exponent"),
        (format!("{name};q=+1"), "a weight has no sign"),
        (format!("{name};q=0.5\u{a0}"), "white space in HTTP is ASCII"),
        (format!("{name}, {name};q=x"), "of equal ranges the most willing counts"),
        (format!("{name};v"), "a parameter without a value is a parameter"),
        (format!("{name};v=*"), "in a parameter * is no wildcard"),
        (format!("{name};q=1;v=1"), "a parameter behind the weight is a parameter"),
        ("*/*;q=0.5, */*;;q=0".to_owned(), "an empty parameter makes no range more specific"),
        (format!(r#"a/b;x="\"", {name}"#), "a quoted string knows escapes"),
    ] {
        assert_ne!(choose(&header), official[&header], "{header:?}: {reason}");
    }
    let same = official.iter().filter(|(header, format)| choose(header) == **format).count();
    assert!(same * 10 > official.len() * 9, "{same} of {}", official.len());
}

/// Field report 21: to be admitted is enough, and a weight of zero is a refusal.
#[test]
fn field_report_admission_decides() {
    for (header, format) in [
        ("text/event-stream", Format::Sse),
        ("text/event-stream;q=1, application/vnd.ag-ui.event+proto;q=0.1", Format::Protobuf),
        ("application/vnd.ag-ui.event+proto;q=0", Format::Sse),
        ("APPLICATION/VND.AG-UI.EVENT+PROTO", Format::Protobuf),
        ("application/vnd.ag-ui.event+protobuf", Format::Sse),
        ("application/*", Format::Protobuf),
        ("*/*", Format::Protobuf),
    ] {
        assert_eq!(Negotiator::new().choose([header]), format, "{header}");
    }
    assert_eq!(Negotiator::new().with_wildcards_as_sse().choose(["*/*"]), Format::Sse);
}

/// Field report 20: a server may ignore `Accept`; its answer is read by what it says it is.
#[test]
fn field_report_sse_where_protobuf_was_asked_for() {
    let asked = "application/vnd.ag-ui.event+proto, text/event-stream";
    assert_eq!(Negotiator::new().choose([asked]), Format::Protobuf);
    assert_eq!(Format::from_content_type("text/event-stream"), Some(Format::Sse));
}

/// Field report 23: frames that are sent with a parameter are frames; ours are sent without.
#[test]
fn field_report_a_content_type_with_a_parameter() {
    let told = "application/vnd.ag-ui.event+proto; charset=utf-8";
    assert_eq!(Format::from_content_type(told), Some(Format::Protobuf));
    assert_eq!(Format::Protobuf.to_string(), "application/vnd.ag-ui.event+proto");
}
