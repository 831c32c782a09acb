//! A run that is refused before it starts.

use std::fmt;

use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, Response, StatusCode};

/// Why a run does not start: a status and a reason, which the client gets as the body of the
/// response.
///
/// ```text
/// HTTP/1.1 400 Bad Request
/// Content-Type: application/problem+json
///
/// {"title":"Bad Request","status":400,"detail":"messages[0].role: missing"}
/// ```
///
/// Rule: specification 1.1, basic/transports: a run that is rejected before it starts is an error
/// status, without events; a run that fails later is a `RUN_ERROR`. The body is that of RFC 9457.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    status: StatusCode,
    detail: String,
}

impl Refusal {
    /// Makes one, for a reason of the agent's: who may not call it, what it is too busy for.
    #[must_use]
    pub fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self { status, detail: detail.into() }
    }

    /// The status.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// The reason, with the place in the input if there is one.
    #[must_use]
    pub fn detail(&self) -> &str {
        &self.detail
    }

    /// The response that says so, with a body of `http_body::Body<Data = Bytes>`.
    #[must_use]
    pub fn into_response<B: From<Bytes>>(self) -> Response<B> {
        let problem = serde_json::json!({
            "title": self.status.canonical_reason().unwrap_or_default(),
            "status": self.status.as_u16(),
            "detail": self.detail,
        });
        let mut response = Response::new(B::from(Bytes::from(problem.to_string())));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if self.status == StatusCode::UNSUPPORTED_MEDIA_TYPE {
            // Rule: RFC 9110, 12.5.3: tells that a request is not to be compressed.
            headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        }
        response
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.status, self.detail)
    }
}

impl std::error::Error for Refusal {}
