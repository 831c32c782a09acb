//! Bytes written by the official encoder, from documents of our own: ours are the same.

use std::collections::HashMap;

use ag_ui_proto::Event;
use ag_ui_proto::value::{Number, Value};

const DOCUMENTS: &str = include_str!("../data/documents.jsonl");
const GOLDEN: &str = include_str!("../data/golden.tsv");

struct Golden {
    payload: Vec<u8>,
    decoded: &'static str,
}

fn golden() -> HashMap<&'static str, Golden> {
    GOLDEN
        .lines()
        .map(|line| {
            let mut columns = line.splitn(3, '\t');
            let mut column = || columns.next().unwrap();
            let (name, payload, decoded) = (column(), hex(column()), column());
            (name, Golden { payload, decoded })
        })
        .collect()
}

/// Every payload that the official encoder wrote.
pub(crate) fn golden_payloads() -> impl Iterator<Item = Vec<u8>> {
    golden().into_values().map(|golden| golden.payload)
}

pub(crate) fn hex(text: &str) -> Vec<u8> {
    text.as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

fn documents() -> impl Iterator<Item = (String, Event)> {
    DOCUMENTS.lines().map(|line| {
        let document = Value::from_json(line, 128).unwrap();
        let name = document["name"].as_str().unwrap().to_owned();
        let event = Event::from_value(document["event"].clone()).unwrap();
        (name, event)
    })
}

/// Every number as the double that it is, since JavaScript writes a large one in another form.
fn as_doubles(mut value: Value) -> Value {
    match &mut value {
        Value::Number(number) => *number = Number::from_f64(number.as_f64().unwrap()).unwrap(),
        Value::List(list) => {
            for element in list.iter_mut() {
                *element = as_doubles(element.take());
            }
        }
        Value::Object(object) => {
            for element in object.values_mut() {
                *element = as_doubles(element.take());
            }
        }
        _ => {}
    }
    value
}

#[test]
fn our_bytes_are_the_official_ones() {
    let golden = golden();
    let mut count = 0;
    for (name, event) in documents() {
        let payload = event.to_payload().unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(payload, golden[name.as_str()].payload, "{name}");
        event.validate().unwrap_or_else(|error| panic!("{name}: {error}"));
        count += 1;
    }
    assert_eq!(count, golden.len());
}

#[test]
fn official_bytes_decode_to_what_the_official_decoder_gives() {
    for (name, golden) in golden() {
        let decoded = Event::decode(&golden.payload).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(decoded.notices, [], "{name}");
        let ours = Value::from_serialize(&decoded.event.unwrap()).unwrap();
        let theirs = Value::from_json(golden.decoded, 128).unwrap();
        assert_eq!(as_doubles(ours), as_doubles(theirs), "{name}");
    }
}
