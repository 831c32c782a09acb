//! Which binding a response speaks: asked for in `Accept`, told in `Content-Type`.
//!
//! | who | has | asks |
//! |---|---|---|
//! | a server | the `Accept` lines of a request | [`Negotiator::choose`] |
//! | a client | the `Content-Type` of a response | [`Format::from_content_type`] |
//! | a server | the `Accept-Encoding` lines of a request | [`Coding::choose`] |
//! | a client | the `Content-Encoding` of a response | [`Coding::from_name`] |
//!
//! Header values are bytes, so that those of any HTTP library fit. There is no refusal: whoever
//! speaks HTTP speaks SSE, and a client must be ready for it whatever it asked for. A response
//! depends on the request's `Accept`, so that caches must be told: `Vary: Accept`.

mod accept;
mod coding;
mod media_type;

pub use self::accept::Negotiator;
pub use self::coding::Coding;
pub use self::media_type::Format;
