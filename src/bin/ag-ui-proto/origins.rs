//! Which pages a browser lets call a server.
//!
//! A page of another origin may make any request, with any headers but cookies, and see all headers
//! of the answer. What a browser asks before (`OPTIONS`) is answered here.
//!
//! Rule: Fetch standard, 3.3, CORS protocol.

use std::time::Duration;

use http::HeaderValue;
use tower_http::cors::{AllowHeaders, AllowMethods, AllowOrigin, Any, CorsLayer};

/// How long a browser need not ask again.
const MAX_AGE: Duration = Duration::from_secs(3600);

/// What lets pages of these origins call; nothing where there are none.
pub(crate) fn layer(origins: &[HeaderValue]) -> Option<CorsLayer> {
    if origins.is_empty() {
        return None;
    }
    let allowed = if origins.iter().any(|origin| origin == "*") {
        AllowOrigin::any()
    } else {
        AllowOrigin::list(origins.iter().cloned())
    };
    let layer = CorsLayer::new()
        .allow_origin(allowed)
        .allow_methods(AllowMethods::mirror_request())
        // A star does not cover `Authorization`.
        .allow_headers(AllowHeaders::mirror_request())
        .expose_headers(Any)
        .max_age(MAX_AGE);
    Some(layer)
}
