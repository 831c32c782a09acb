//! The contents page: one module a subject.

mod exact_numbers;
mod golden;
mod notation;
mod properties;
#[cfg(feature = "tokio")]
mod streams;
mod strictness;
mod verdicts;
