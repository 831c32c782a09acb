//! Open values alone: as `google.protobuf.Value` and as JSON text.

use ag_ui_proto::value::{MAX_DEPTH, Slot, Value};
use prost::Message as _;

use super::{BASELINE, Contender, OURS, Race, reader, writer};
use crate::workloads::{metadata_of_one_event, nested_state, small_integers};

pub(super) fn races(filter: &str) -> Vec<Race<'static>> {
    let values = [
        ("metadata", Value::from(metadata_of_one_event())),
        ("snapshot", nested_state(50_000)),
        ("integers", small_integers()),
    ];
    // As one trip over the wire leaves them, so that both forms hold the same.
    let values = values.map(|(subject, value)| {
        let bytes = Slot(Some(value)).encode_to_vec();
        let slot = Slot::from_wire(&bytes, MAX_DEPTH).expect("a value of ours");
        (subject, slot.into_value().expect("a value of ours"))
    });
    let mut races = Vec::new();
    for (floor, contenders) in [
        ("value/encode", encoding as fn(&Value) -> Vec<Contender<'static>>),
        ("value/decode", decoding),
    ] {
        for (subject, value) in &values {
            if format!("{floor}/{subject}").contains(filter) {
                races.push(Race { floor, subject, events: 1, contenders: contenders(value) });
            }
        }
    }
    races
}

fn encoding(value: &Value) -> Vec<Contender<'static>> {
    let text = value.to_string();
    let bytes = Slot(Some(value.clone())).encode_to_vec();
    let is_text = {
        let value = value.clone();
        move |json: &[u8]| {
            let json = str::from_utf8(json).expect("UTF-8");
            assert_eq!(Value::from_json(json, MAX_DEPTH).expect("JSON"), value);
        }
    };
    let is_wire = {
        let value = value.clone();
        move |bytes: &[u8]| {
            assert_eq!(
                Slot::from_wire(bytes, MAX_DEPTH).expect("a value"),
                Slot(Some(value.clone()))
            );
        }
    };

    let tree: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let sonic: sonic_rs::Value = sonic_rs::from_str(&text).expect("JSON");
    let simd = simd_json::to_owned_value(&mut text.into_bytes()).expect("JSON");
    let prost_types = prost_types::Value::decode(&bytes[..]).expect("a value");
    let slot = Slot(Some(value.clone()));
    vec![
        writer(
            BASELINE,
            Vec::new(),
            move |json| {
                json.clear();
                serde_json::to_writer(json, &tree).expect("a vector grows");
            },
            &is_text,
        ),
        writer(
            "sonic-rs",
            Vec::new(),
            move |json: &mut Vec<u8>| {
                json.clear();
                sonic_rs::to_writer(json, &sonic).expect("a vector grows");
            },
            &is_text,
        ),
        writer(
            "simd-json",
            Vec::new(),
            move |json: &mut Vec<u8>| {
                json.clear();
                simd_json::prelude::Writable::write(&simd, json).expect("a vector grows");
            },
            &is_text,
        ),
        writer(
            "prost-types",
            Vec::new(),
            move |bytes: &mut Vec<u8>| {
                bytes.clear();
                prost_types.encode(bytes).expect("a vector grows");
            },
            &is_wire,
        ),
        writer(
            OURS,
            Vec::new(),
            move |bytes: &mut Vec<u8>| {
                bytes.clear();
                slot.encode(bytes).expect("a vector grows");
            },
            &is_wire,
        ),
    ]
}

fn decoding(value: &Value) -> Vec<Contender<'static>> {
    let text: &'static str = value.to_string().leak();
    let bytes: &'static [u8] = Slot(Some(value.clone())).encode_to_vec().leak();
    let (mut copy, mut buffers) = (Vec::new(), simd_json::Buffers::default());
    let same = |json: String| {
        assert_eq!(Value::from_json(&json, MAX_DEPTH).expect("JSON"), *value);
    };
    same(serde_json::from_str::<serde_json::Value>(text).expect("JSON").to_string());
    same(sonic_rs::from_str::<sonic_rs::Value>(text).expect("JSON").to_string());
    assert_eq!(Slot::from_wire(bytes, MAX_DEPTH).expect("a value"), Slot(Some(value.clone())));
    vec![
        reader(BASELINE, vec![text], |json| {
            serde_json::from_str::<serde_json::Value>(json).expect("JSON")
        }),
        reader("sonic-rs", vec![text], |json| {
            sonic_rs::from_str::<sonic_rs::Value>(json).expect("JSON")
        }),
        reader("simd-json", vec![text], move |json| {
            copy.clear();
            copy.extend_from_slice(json.as_bytes());
            let value = simd_json::borrowed::to_value_with_buffers(&mut copy, &mut buffers);
            std::hint::black_box(value.expect("JSON"));
        }),
        reader("Value::from_json", vec![text], |json| {
            Value::from_json(json, MAX_DEPTH).expect("JSON")
        }),
        reader("prost-types", vec![bytes], |bytes| {
            prost_types::Value::decode(bytes).expect("a value")
        }),
        reader(OURS, vec![bytes], |bytes| Slot::from_wire(bytes, MAX_DEPTH).expect("a value")),
    ]
}
