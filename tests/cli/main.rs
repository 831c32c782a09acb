//! The binary, run as a user runs it.
//!
//! | module | asks |
//! |---|---|
//! | `encode`, `decode`, `inspect`, `check`, `roundtrip`, `compare`, `verify`, `apply`, `compact`, `lineage` | what each command writes and says |
//! | `forms` | whether all forms of input give the same frames |
//! | `stream` | whether output waits, and memory grows |
//! | `talk`, `bridge`, `limits`, `origins`, `proxies`, `tls`, `servers` | `serve`, `run` and `bridge`, as processes that speak over loopback |
//! | `workloads` | nothing: the streams of the benches |
//! | `usage` | what is wrong usage, and what help there is |

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test stops where it fails")]

#[cfg(feature = "cli-http")]
#[path = "../agent/mod.rs"]
mod agent;
mod apply;
#[cfg(feature = "cli-http")]
mod bridge;
mod check;
mod compact;
mod compare;
mod decode;
mod encode;
mod forms;
mod inspect;
#[cfg(all(unix, feature = "cli-http"))]
mod limits;
mod lineage;
#[cfg(feature = "cli-http")]
mod origins;
#[cfg(feature = "cli-http")]
mod proxies;
mod roundtrip;
mod run;
#[cfg(feature = "cli-http")]
mod servers;
mod stream;
#[cfg(feature = "cli-http")]
mod talk;
#[cfg(all(unix, feature = "cli-http", feature = "tls"))]
mod tls;
mod usage;
mod verify;
#[path = "../../benches/workloads/mod.rs"]
#[allow(dead_code, unused_imports, reason = "the benches use more of it")]
mod workloads;
