//! Runs over HTTP, over loopback connections.
//!
//! | module | asks |
//! |---|---|
//! | `response` | what a response is and when its body takes events, without a connection |
//! | `request` | what is refused before a run, and how |
//! | `answers` | what the client makes of servers of every kind, most of them bad |
//! | `runs` | whole runs: both bindings, order, cancelling, slow readers |
//! | `compressed` | whole runs, compressed |
//! | `http2` | whole runs, over HTTP/2 |
//! | `loopback`, `../agent` | what runs are made of, an agent that answers by a script |
//!
//! Time limits are there so that a test that would wait for ever fails; none is a measurement.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test stops where it fails")]

#[path = "../agent/mod.rs"]
mod agent;
mod answers;
mod compressed;
mod http2;
mod loopback;
mod request;
mod response;
mod runs;
