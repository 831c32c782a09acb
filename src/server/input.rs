//! The body of a request: JSON, whatever the events travel as.

use std::error::Error;
use std::future::poll_fn;
use std::pin::pin;

use bytes::{Buf, BufMut, BytesMut};
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, Request, StatusCode};
use http_body::Body;

use super::Refusal;
use crate::causes::with_causes;
use crate::model::node::Node;
use crate::model::path::At;
use crate::model::{DEFAULT_MAX_DEPTH, Malformed, Notice, RunAgentInput, UnknownNames};
use crate::value::ExactJson;

/// Reads the input of a run from a request.
///
/// | the request | outcome |
/// |---|---|
/// | `Content-Type` is not `application/json`, or has another charset than UTF-8 | 415 |
/// | `Content-Encoding` | 415 |
/// | more bytes than the limit, by `Content-Length` or by counting | 413 |
/// | not UTF-8, not JSON, or too deep | 400 |
/// | malformed | 400, with the place |
/// | unrecognised material | stripped, with a notice |
/// | a body that breaks off | 400; the [`Refusal`] that its error is, or has below it |
///
/// Limits are finite: 10 MiB and 128 levels by default, as for a frame, which must hold the input
/// if `RUN_STARTED` echoes it.
///
/// Rule: specification 1.1, basic/run-input and basic/processing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputReader {
    max_len: usize,
    max_depth: usize,
    names: UnknownNames,
}

impl Default for InputReader {
    fn default() -> Self {
        Self {
            max_len: 10 * 1024 * 1024,
            max_depth: DEFAULT_MAX_DEPTH,
            names: UnknownNames::default(),
        }
    }
}

/// The input of a run, and what was stripped from it.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// What the run is asked with.
    pub input: RunAgentInput,
    /// What this version does not know, and was left out.
    pub notices: Vec<Notice>,
}

impl InputReader {
    /// Makes a reader with the default limits.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the longest body, in bytes.
    #[must_use]
    pub fn with_max_len(mut self, max_len: usize) -> Self {
        self.max_len = max_len;
        self
    }

    /// Sets how many levels the input may nest, its own object included.
    #[must_use]
    pub fn with_max_depth(mut self, max_depth: usize) -> Self {
        self.max_depth = max_depth;
        self
    }

    /// Sets what is done with an unknown string in a closed set.
    #[must_use]
    pub fn with_unknown_names(mut self, names: UnknownNames) -> Self {
        self.names = names;
        self
    }

    /// Reads the input from a request. Notices of what was stripped come with it.
    ///
    /// # Errors
    ///
    /// [`Refusal`], as the table of [`InputReader`] says. A body that is too long is not read on:
    /// what that means for its client, the [module](super) says.
    pub async fn read<B>(&self, request: Request<B>) -> Result<Input, Refusal>
    where
        B: Body,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        let (parts, body) = request.into_parts();
        self.check_headers(&parts.headers)?;
        let mut body = pin!(body);
        let mut text = BytesMut::new();
        while let Some(frame) = poll_fn(|context| body.as_mut().poll_frame(context)).await {
            let frame = frame.map_err(|error| {
                let error: Box<dyn Error + Send + Sync> = error.into();
                let broken = || {
                    let detail = format!("the body broke off: {}", with_causes(&*error));
                    refuse(StatusCode::BAD_REQUEST, detail)
                };
                Refusal::found_in(&*error).cloned().unwrap_or_else(broken)
            })?;
            let Ok(data) = frame.into_data() else { continue };
            if data.remaining() > self.max_len.saturating_sub(text.len()) {
                return Err(self.too_large());
            }
            text.put(data);
        }
        self.read_json(&text)
    }

    /// Reads the input from the body of a request whose headers are not looked at.
    ///
    /// # Errors
    ///
    /// [`Refusal`] of 413 and 400.
    pub fn read_json(&self, body: &[u8]) -> Result<Input, Refusal> {
        if body.len() > self.max_len {
            return Err(self.too_large());
        }
        let bad = |detail: String| refuse(StatusCode::BAD_REQUEST, detail);
        let text = str::from_utf8(body)
            .map_err(|error| bad(format!("not UTF-8 at byte {}", error.valid_up_to())))?;
        let value = ExactJson::read_quickly(text, self.max_depth)
            .map_err(|error| bad(error.to_string()))?
            .value;
        let mut input = <RunAgentInput as Node>::from_json(value, &At::Root)
            .map_err(|fault| bad(told(&fault)))?;
        let notices = input.enforce(self.names).map_err(|fault| bad(told(&fault)))?;
        Ok(Input { input, notices })
    }

    fn check_headers(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let unsupported =
            |detail: &str| Err(refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail.to_owned()));
        let types = headers.get_all(CONTENT_TYPE);
        if types.iter().next().is_none() || !types.iter().all(|value| is_json(value.as_bytes())) {
            return unsupported("expected the content type application/json, in UTF-8");
        }
        let codings = headers.get_all(CONTENT_ENCODING);
        if !codings.iter().all(|value| value.as_bytes().eq_ignore_ascii_case(b"identity")) {
            return unsupported("expected a body that is not compressed");
        }
        let announced = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok());
        match announced.map(str::parse::<u64>) {
            Some(Ok(len)) if usize::try_from(len).is_ok_and(|len| len <= self.max_len) => Ok(()),
            Some(Ok(_)) => Err(self.too_large()),
            // A length that is none is for the HTTP library to refuse.
            Some(Err(_)) | None => Ok(()),
        }
    }

    fn too_large(&self) -> Refusal {
        let detail = format!("a body over the limit of {} bytes", self.max_len);
        refuse(StatusCode::PAYLOAD_TOO_LARGE, detail)
    }
}

/// The fault and its place, which is not in an event.
fn told(fault: &Malformed) -> String {
    if fault.path.segments().is_empty() {
        format!("the input: {}", fault.reason)
    } else {
        format!("{}: {}", fault.path, fault.reason)
    }
}

fn refuse(status: StatusCode, detail: String) -> Refusal {
    Refusal::new(status, detail)
}

/// Whether the type is JSON, in UTF-8 as far as it says.
fn is_json(content_type: &[u8]) -> bool {
    let mut parts = content_type.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
    let is_json = parts.next().is_some_and(|name| name.eq_ignore_ascii_case(b"application/json"));
    is_json
        && parts.all(|parameter| {
            let lower = parameter.to_ascii_lowercase();
            let charset = lower.strip_prefix(b"charset=".as_slice());
            charset.is_none_or(|charset| matches!(charset, b"utf-8" | b"\"utf-8\"" | b"utf8"))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_refused(reader: InputReader, body: &str, status: u16, detail: &str) {
        let refusal = reader.read_json(body.as_bytes()).unwrap_err();
        assert_eq!((refusal.status().as_u16(), refusal.detail()), (status, detail));
    }

    #[test]
    fn the_smallest_input_is_read() {
        let read =
            InputReader::new().read_json(br#"{"threadId":"t","runId":"r","messages":[]}"#).unwrap();
        assert_eq!(read.input, RunAgentInput::new("t", "r", Vec::new()));
        assert_eq!(read.notices, []);
    }

    #[test]
    fn what_is_malformed_is_refused_with_its_place() {
        let reader = InputReader::new();
        for (body, detail) in [
            ("[]", "the input: expected an object, found an array"),
            (r#"{"runId":"r","messages":[]}"#, "threadId: missing"),
            (
                r#"{"threadId":"t","runId":1,"messages":[]}"#,
                "runId: expected a string, found a number",
            ),
            (
                r#"{"threadId":"t","runId":"r","messages":[{"id":"m","role":"user"}]}"#,
                "messages[0].content: missing",
            ),
            (
                r#"{"threadId":"t","runId":"r","messages":[],"state":null}"#,
                "state: null; leave the member out instead",
            ),
        ] {
            check_refused(reader, body, 400, detail);
        }
        let refusal = reader.read_json(br#"{"threadId":"t","#).unwrap_err();
        assert!(refusal.detail().contains("line 1 column 16"), "{refusal}");
        let refusal = reader.read_json(b"{\"a\":\"\xff\"}").unwrap_err();
        assert_eq!(refusal.to_string(), "400 Bad Request: not UTF-8 at byte 6");
    }

    #[test]
    fn what_is_unknown_is_stripped_and_told_of() {
        let read = InputReader::new()
            .read_json(br#"{"threadId":"t","runId":"r","messages":[],"mood":"calm"}"#)
            .unwrap();
        assert_eq!(read.input, RunAgentInput::new("t", "r", Vec::new()));
        assert_eq!(read.notices[0].to_string(), "/mood: stripped: unknown member");
    }

    #[test]
    fn limits_hold() {
        let body = r#"{"threadId":"t","runId":"r","messages":[],"state":[[1]]}"#;
        let reader = InputReader::new().with_max_len(body.len());
        reader.read_json(body.as_bytes()).unwrap();
        let reader = InputReader::new().with_max_len(body.len() - 1);
        check_refused(reader, body, 413, "a body over the limit of 55 bytes");
        InputReader::new().with_max_depth(3).read_json(body.as_bytes()).unwrap();
        let refusal = InputReader::new().with_max_depth(2).read_json(body.as_bytes()).unwrap_err();
        assert_eq!(refusal.detail(), "JSON nested deeper than 2 levels at line 1 column 52");
    }

    #[test]
    fn only_json_in_utf_8_is_json() {
        for (value, want) in [
            ("application/json", true),
            ("Application/JSON; charset=UTF-8", true),
            ("application/json;charset=\"utf-8\"", true),
            ("application/json; q=1", true),
            ("application/json; charset=latin1", false),
            ("text/json", false),
            ("application/x-www-form-urlencoded", false),
            ("application/jsonx", false),
            ("", false),
        ] {
            assert_eq!(is_json(value.as_bytes()), want, "{value}");
        }
    }
}
