//! Why a call gives no run.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;

use crate::causes::with_causes;
use crate::model::Malformed;

/// Why there are no events: the input was not sent, or the answer is no stream of events.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The input is malformed. It was not sent.
    #[error("the input of the run: {0}")]
    Input(#[from] Malformed),
    /// The input cannot be written as JSON, since it nests too deep. It was not sent.
    #[error("the input of the run cannot be written: {0}")]
    Unwritable(#[from] serde_json::Error),
    /// No connection, or none that carried the request and the headers of an answer.
    #[error("{}", with_causes(.0))]
    Http(#[from] reqwest::Error),
    /// The headers of an answer did not come in time.
    #[error("no answer within {after:?}")]
    Timeout {
        /// The limit.
        after: Duration,
    },
    /// The agent refused the run, or something between did.
    #[error("{0}")]
    Status(Box<Answer>),
    /// The answer is of another type than the two bindings have: what answers is no agent.
    #[error("an answer that is no stream of events: {0}")]
    ContentType(Box<Answer>),
    /// The answer is compressed in a way that was not asked for.
    #[error("an answer with the content encoding {coding:?}, which was not asked for: {answer}")]
    ContentEncoding {
        /// The codings.
        coding: String,
        /// The answer.
        answer: Box<Answer>,
    },
}

impl ClientError {
    /// The answer, if there was one.
    #[must_use]
    pub fn answer(&self) -> Option<&Answer> {
        match self {
            Self::Status(answer)
            | Self::ContentType(answer)
            | Self::ContentEncoding { answer, .. } => Some(answer),
            _ => None,
        }
    }
}

/// What came instead of events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// The `Content-Type`, if there was one.
    pub content_type: Option<String>,
    /// The first bytes of the body, at most 4 KiB.
    pub body: Bytes,
}

/// The status, the type, and the first line of the body.
impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// Characters of the body that are shown.
        const SHOWN: usize = 200;

        write!(f, "status {}", self.status)?;
        if let Some(content_type) = &self.content_type {
            write!(f, ", {}", content_type.escape_debug())?;
        }
        let text = String::from_utf8_lossy(&self.body);
        let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        if line.is_empty() {
            return Ok(());
        }
        let shown: String = line.chars().take(SHOWN).collect();
        let more = if shown.len() < line.len() { "..." } else { "" };
        write!(f, ": {}{more}", shown.escape_debug())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_shown_by_its_first_line_and_never_at_length() {
        let mut answer = Answer {
            status: StatusCode::UNAUTHORIZED,
            content_type: Some("text/html".to_owned()),
            body: Bytes::from_static(b"\r\n <h1>no\x1b[31m</h1>\nmore"),
        };
        assert_eq!(
            answer.to_string(),
            "status 401 Unauthorized, text/html: <h1>no\\u{1b}[31m</h1>"
        );
        answer.body = Bytes::from(vec![b'x'; 4096]);
        assert!(answer.to_string().len() < 300);
        answer.body = Bytes::new();
        answer.content_type = None;
        assert_eq!(answer.to_string(), "status 401 Unauthorized");
    }
}
