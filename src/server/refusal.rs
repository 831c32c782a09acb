//! A run that is refused before it starts.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER};
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
    retry_after: Option<Duration>,
}

impl Refusal {
    /// Makes one, for a reason of the agent's: who may not call it, what it is too busy for.
    #[must_use]
    pub fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self { status, detail: detail.into(), retry_after: None }
    }

    /// Says when it may be worth asking again, in the header `Retry-After`: in whole seconds, a part
    /// of one counted as one.
    ///
    /// Rule: RFC 9110, 10.2.3.
    #[must_use]
    pub fn with_retry_after(mut self, retry_after: Duration) -> Self {
        self.retry_after = Some(retry_after);
        self
    }

    /// The refusal that an error is, or that is below it. So the body of a request, or what wraps it,
    /// may fail with a refusal of its own, and the client gets that one.
    #[must_use]
    pub fn found_in<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a Self> {
        let mut next = Some(error);
        while let Some(error) = next {
            if let Some(refusal) = error.downcast_ref() {
                return Some(refusal);
            }
            next = error.source();
        }
        None
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
        if let Some(after) = self.retry_after {
            let seconds = after.as_secs().saturating_add(u64::from(after.subsec_nanos() > 0));
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.status, self.detail)
    }
}

impl Error for Refusal {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn when_to_ask_again_is_told_in_whole_seconds() {
        let after = |millis| {
            let refusal = Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "busy");
            let refusal = refusal.with_retry_after(Duration::from_millis(millis));
            refusal.into_response::<Bytes>().headers()[RETRY_AFTER].clone()
        };
        assert_eq!([after(0), after(1), after(1000), after(1001)], ["0", "1", "1", "2"]);
        let refusal = Refusal::new(StatusCode::FORBIDDEN, "no").into_response::<Bytes>();
        assert!(!refusal.headers().contains_key(RETRY_AFTER));
    }
}
