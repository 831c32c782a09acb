//! The HTTP side of an agent: a request in, a stream of events out. For any framework that speaks
//! `http` and `http-body`; for axum with extractors (feature `axum`).
//!
//! ```text
//! POST /run                                        HTTP/1.1 200 OK
//! Content-Type: application/json                   Content-Type: application/vnd.ag-ui.event+proto
//! Accept: text/event-stream,              ---->    Cache-Control: no-cache
//!     application/vnd.ag-ui.event+proto            Vary: accept
//!                                                  X-Accel-Buffering: no
//! {"threadId":"t","runId":"r",...}
//!                                                  <events, as they come>
//! ```
//!
//! | step | what does it | if it fails |
//! |---|---|---|
//! | read the input | [`InputReader::read`], `RunInput` of axum | [`Refusal`]: 400, 413, 415 |
//! | refuse the run for a reason of the agent's | [`Refusal::new`] | |
//! | answer with events | [`Responder::respond`] | a `RUN_ERROR` at the end of the body |
//!
//! Events are taken from the stream only as fast as the connection takes their bytes; nothing is
//! queued. When the client goes away the framework drops the body, and with it the stream. A body
//! ends when the stream does: a `RUN_FINISHED` that the stream did not give is never added.
//!
//! A binary body has no way to say that it is idle, as a comment of the text binding is
//! ([`EventBody::with_keep_alive`]): proxies between need timeouts longer than the longest
//! pause of a run.
//!
//! Routing, methods, CORS, authentication, and timeouts on slow requests are the framework's. A body
//! that gives up on a slow one may fail with a [`Refusal`]: the client gets that one.
//!
//! A refusal that is given before the body was read may be lost with the connection, which a server
//! that closes it then resets. With axum the rest of the body is read on and thrown away
//! (`RunInput`, `read_on`); on another framework that is for who calls [`InputReader::read`].

#[cfg(feature = "axum")]
mod axum;
mod body;
mod given;
mod input;
mod item;
#[cfg(feature = "axum")]
mod linger;
mod refusal;
mod responder;

#[cfg(feature = "axum")]
pub use self::axum::{Reply, RunInput};
pub use self::body::EventBody;
pub use self::input::{Input, InputReader};
pub use self::item::{BodyItem, IntoRunError};
#[cfg(feature = "axum")]
pub use self::linger::read_on;
pub use self::refusal::Refusal;
pub use self::responder::{Binding, Responder};
