//! One run's body, whichever binding it is in. No I/O, no `await`.
//!
//! - [`Coalescer`] merges neighbouring deltas while a link is busy.
//! - [`StreamFault`] is what the reading errors of both bindings have in common.

mod coalesce;
mod fault;

pub use self::coalesce::Coalescer;
pub use self::fault::StreamFault;
