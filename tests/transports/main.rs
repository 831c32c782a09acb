//! The examples of transports keep what they promise: order, the input before events, an end told
//! from a cut, and a way for errors.
//!
//! | module | asks |
//! |---|---|
//! | `tcp`, `unix_socket` | frames over sockets, with peers that stop anywhere and say anything |
//! | `pipes` | frames from a process, which exits, dies, or writes something else |
//! | `websocket` | payloads in messages: close frames, texts, pings, fragments |
//! | `nats` | payloads in numbered messages; against a server with `.ci/run transports` |
//! | `sample` | a session, and peers |
//!
//! Their files are compiled in here, so that a test never runs an example built from other sources.
//! Time limits are there so that a test that would wait for ever fails; none is a measurement.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test stops where it fails")]
#![allow(clippy::duplicate_mod, reason = "each example is a program, with its own copy")]

mod nats;
#[cfg(unix)]
mod pipes;
mod sample;
mod tcp;
#[cfg(unix)]
mod unix_socket;
mod websocket;
