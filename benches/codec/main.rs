//! How fast events become bytes and back, floor by floor, beside `serde_json` on the same events.
//!
//! `cargo bench --bench codec`; a part of it with `-- encode/chat`.

#![allow(clippy::expect_used, reason = "a bench that cannot do its work stops")]

use criterion::{criterion_group, criterion_main};

mod data;
mod frame;
mod json;
mod payload;
mod value;

criterion_group!(benches, frame::benches, payload::benches, value::benches);
criterion_main!(benches);
