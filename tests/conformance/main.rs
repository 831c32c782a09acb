//! The protocol project's public conformance data, read from the directory `AG_UI_CONFORMANCE`.
//!
//! None of it is part of the crate. Without the variable these tests pass and say that they were
//! skipped; a directory that was asked for and is not there fails them.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test stops where it fails")]

#[cfg(feature = "conversation")]
mod consume;
mod documents;
mod streams;

use std::path::PathBuf;

/// The directory, if one was asked for.
fn directory() -> Option<PathBuf> {
    let Some(path) = std::env::var_os("AG_UI_CONFORMANCE").map(PathBuf::from) else {
        println!("skipped: AG_UI_CONFORMANCE is not set");
        return None;
    };
    let is_there = path.join("events/documents.tsv").is_file();
    assert!(is_there, "AG_UI_CONFORMANCE has no events/documents.tsv: {}", path.display());
    Some(path)
}

/// Every number as the double that it is, so that 1 and 1.0 compare equal.
fn as_doubles(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Number(number) => *value = number.as_f64().unwrap().into(),
        serde_json::Value::Array(list) => list.iter_mut().for_each(as_doubles),
        serde_json::Value::Object(object) => object.values_mut().for_each(as_doubles),
        _ => {}
    }
}
