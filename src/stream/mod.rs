//! One run's body, whichever binding it is in. No I/O, no `await`.
//!
//! - [`Coalescer`] merges neighbouring deltas while a link is busy.
//! - [`StreamFault`] is what the reading errors of both bindings have in common.
//! - `BodyWriter` and `BodyReader` write and read a body in either binding (features `negotiate` and
//!   `sse`), compressed if that is asked for (feature `compression`). They know nothing of HTTP:
//!   over a link of another kind, both ends are told the same format and coding.
//! - `Compressor` and `Decompressor` are for bytes of any kind that are to be read as soon as they
//!   are written (feature `compression`).

#[cfg(all(feature = "negotiate", feature = "sse"))]
mod body;
mod coalesce;
#[cfg(feature = "compression")]
mod compress;
mod fault;

#[cfg(all(feature = "negotiate", feature = "sse"))]
pub use self::body::{BodyError, BodyReader, BodyWriter};
pub use self::coalesce::Coalescer;
#[cfg(feature = "compression")]
pub use self::compress::{
    CODINGS, Compressor, Decompressor, InflateError, InflateLimits, STEP_LEN, UnknownCoding,
};
pub use self::fault::StreamFault;
