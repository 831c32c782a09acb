//! The properties of the fuzz targets, on what was kept of their inputs.

use crate::golden::{golden_payloads, hex};

#[allow(unreachable_pub, reason = "the fuzz targets use it as a library")]
#[path = "../../fuzz/src/lib.rs"]
mod properties;

/// Runs a property on each line of a file of inputs in hex.
fn replay(kept: &str, property: fn(&[u8])) {
    assert!(kept.lines().count() > 50);
    for line in kept.lines() {
        property(&hex(line));
    }
}

#[test]
fn kept_payloads_are_what_they_were_encoded_from() {
    replay(include_str!("../../fuzz/kept/decode.hex"), properties::decode);
}

#[test]
fn kept_streams_of_frames_read_alike_in_any_parts() {
    replay(include_str!("../../fuzz/kept/frames.hex"), properties::frames);
}

#[test]
fn kept_texts_are_read_and_travel_as_they_are_said_to() {
    replay(include_str!("../../fuzz/kept/json.hex"), properties::json);
}

#[test]
fn kept_streams_of_text_read_alike_in_any_parts() {
    replay(include_str!("../../fuzz/kept/sse.hex"), properties::sse);
}

#[test]
fn kept_open_values_are_read_as_by_the_types_of_prost() {
    replay(include_str!("../../fuzz/kept/value.hex"), properties::value);
}

#[test]
fn kept_payloads_look_like_their_events() {
    replay(include_str!("../../fuzz/kept/view.hex"), properties::view);
}

#[test]
fn golden_payloads_have_the_properties_of_the_fuzz_targets() {
    for payload in golden_payloads() {
        properties::decode(&payload);
        properties::view(&payload);
    }
}
