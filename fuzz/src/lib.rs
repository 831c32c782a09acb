//! What must hold for any input: one property a target.
//!
//! A property takes bytes, and panics where it does not hold. `tests/integration/fuzz.rs` builds this
//! file in, too, and replays what was kept.

mod decode;
mod frames;
mod json;
mod parts;
mod sse;
mod value;
mod view;

pub use self::decode::decode;
pub use self::frames::frames;
pub use self::json::json;
pub use self::sse::sse;
pub use self::value::value;
pub use self::view::view;
