//! The contents page: one module a subject.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test stops where it fails")]

mod census;
#[cfg(feature = "stream")]
mod coalesce;
#[cfg(feature = "compression")]
mod compression;
mod exact_numbers;
mod fidelity;
mod fidelity_law;
mod field_reports;
#[cfg(all(feature = "prost-types", feature = "sse"))]
mod fuzz;
mod golden;
mod hostile;
#[cfg(feature = "negotiate")]
mod negotiate;
mod notation;
mod properties;
mod regression;
#[cfg(feature = "sse")]
mod sse;
#[cfg(feature = "tokio")]
mod streams;
mod strictness;
mod struct_against_json;
mod verdicts;
mod views;
