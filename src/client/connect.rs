//! A call: the request, and what its answer must be.

use bytes::{Bytes, BytesMut};
use http::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue};
use tokio::time::timeout;

use super::builder::{ClientBuilder, Config};
use super::error::{Answer, ClientError};
use super::run::Run;
use crate::PROTOCOL_VERSION;
use crate::model::{Message, RunAgentInput};
use crate::negotiate::Format;
use crate::sse::SseReader;
use crate::stream::BodyReader;
#[cfg(feature = "compression")]
use crate::{negotiate::Coding, stream::CODINGS};

/// Most bytes of a body that is not read as events.
const ANSWER_LEN: usize = 4096;

/// What is asked for: one line, since some servers look at the first one alone, and no wildcards.
const BOTH: &str = "application/vnd.ag-ui.event+proto, text/event-stream";
const SSE: &str = "text/event-stream";

/// Calls agents. Clones share their connections.
///
/// # Examples
///
/// ```no_run
/// use ag_ui_proto::client::{Client, RunEnd};
/// use ag_ui_proto::model::RunAgentInput;
///
/// # async fn call() -> Result<(), Box<dyn std::error::Error>> {
/// let input = RunAgentInput::new("thread-1", "run-1", Vec::new());
/// let mut run = Client::new()?.run("http://127.0.0.1:8000/run", &input).await?;
/// while let Some(event) = run.next_event().await {
///     println!("{}", event.event_type());
/// }
/// match run.into_end().await {
///     RunEnd::Finished(finished) => println!("{:?}", finished.outcome),
///     end => eprintln!("{end}"),
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Client {
    http: reqwest::Client,
    config: Config,
}

impl Client {
    pub(super) fn over(http: reqwest::Client, config: Config) -> Self {
        Self { http, config }
    }

    /// Makes the default one.
    ///
    /// # Errors
    ///
    /// As [`ClientBuilder::build`].
    pub fn new() -> Result<Self, ClientError> {
        ClientBuilder::new().build()
    }

    /// Begins one with other settings.
    #[must_use]
    pub fn builder() -> ClientBuilder {
        ClientBuilder::new()
    }

    /// Starts a run, and gives its events as they come.
    ///
    /// The input is sent as a consumer must send it: with the protocol version of this crate if it
    /// names none, without activity messages, and without what this version does not know, which is
    /// logged with `tracing` as a warning.
    ///
    /// # Errors
    ///
    /// [`ClientError`]; nothing is retried, since a run may have effects.
    pub async fn run(&self, url: &str, input: &RunAgentInput) -> Result<Run, ClientError> {
        self.run_with_headers(url, input, HeaderMap::new()).await
    }

    /// As [`Client::run`], with headers of this request's own, such as an `Authorization`.
    ///
    /// # Errors
    ///
    /// As [`Client::run`].
    pub async fn run_with_headers(
        &self,
        url: &str,
        input: &RunAgentInput,
        headers: HeaderMap,
    ) -> Result<Run, ClientError> {
        let body = self.config.body(input)?;
        let request = self
            .http
            .post(url)
            .headers(self.config.headers.clone())
            .headers(headers)
            .headers(self.config.binding_headers())
            .body(body);
        let after = self.config.response_timeout;
        let response = timeout(after, request.send())
            .await
            .map_err(|_| ClientError::Timeout { after })?
            .map_err(ClientError::Http)?;
        self.config.read(response).await
    }
}

impl Config {
    /// The input as it is sent.
    ///
    /// Rule: specification 1.1, basic/run-input.
    fn body(&self, input: &RunAgentInput) -> Result<Vec<u8>, ClientError> {
        let mut input = input.clone();
        for notice in input.enforce(self.names)? {
            tracing::warn!(run_id = input.run_id, "the input of a run: {notice}");
        }
        input.messages.retain(|message| !matches!(message, Message::Activity(_)));
        input.protocol_version.get_or_insert_with(|| PROTOCOL_VERSION.to_owned());
        Ok(serde_json::to_vec(&input)?)
    }

    fn binding_headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let accept = if self.sse_only { SSE } else { BOTH };
        headers.insert(ACCEPT, HeaderValue::from_static(accept));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        #[cfg(feature = "compression")]
        if self.inflate.is_some() {
            let names: Vec<_> = CODINGS.iter().map(|coding| coding.as_str()).collect();
            if let Ok(names) = HeaderValue::try_from(names.join(", ")) {
                headers.insert(ACCEPT_ENCODING, names);
            }
        }
        headers
    }

    /// Takes the answer for a run, by its status and type.
    async fn read(&self, response: reqwest::Response) -> Result<Run, ClientError> {
        let is_success = response.status().is_success();
        let format = response.headers().get(CONTENT_TYPE).and_then(Format::from_content_type);
        let (Some(format), true) = (format, is_success) else {
            let answer = Box::new(self.answer(response).await);
            return Err(if is_success {
                ClientError::ContentType(answer)
            } else {
                ClientError::Status(answer)
            });
        };
        let reader = match format {
            Format::Protobuf => BodyReader::with_options(format, self.options),
            Format::Sse => BodyReader::with_sse_reader(
                SseReader::with_limits(*self.options.limits())
                    .with_reading(self.reading)
                    .joining_surrogates(),
            ),
        };
        match self.decompressing(reader, response.headers()) {
            Ok(reader) => Ok(Run::new(response, reader, self.idle_timeout)),
            Err(coding) => {
                let answer = Box::new(self.answer(response).await);
                Err(ClientError::ContentEncoding { coding, answer })
            }
        }
    }

    /// The reader for a body with these headers, or the codings that it cannot have.
    #[cfg_attr(
        not(feature = "compression"),
        expect(clippy::unused_self, reason = "as with compression")
    )]
    fn decompressing(&self, reader: BodyReader, headers: &HeaderMap) -> Result<BodyReader, String> {
        let lines = headers.get_all(CONTENT_ENCODING).iter().map(HeaderValue::as_bytes);
        let codings = lines.collect::<Vec<_>>().join(&b", "[..]);
        if codings.is_empty() || codings.eq_ignore_ascii_case(b"identity") {
            return Ok(reader);
        }
        let unknown = || String::from_utf8_lossy(&codings).into_owned();
        #[cfg(feature = "compression")]
        if let (Some(coding), Some(limits)) = (Coding::from_name(&codings), self.inflate) {
            return reader.with_coding(coding, limits).map_err(|_| unknown());
        }
        Err(unknown())
    }

    /// The beginning of an answer, as far as it comes in time.
    async fn answer(&self, mut response: reqwest::Response) -> Answer {
        let content_type = response.headers().get(CONTENT_TYPE);
        let content_type =
            content_type.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        let status = response.status();
        let mut body = BytesMut::new();
        let reading = async {
            while body.len() < ANSWER_LEN
                && let Ok(Some(part)) = response.chunk().await
            {
                let room = ANSWER_LEN - body.len();
                body.extend_from_slice(part.get(..room).unwrap_or(&part));
            }
        };
        // What has come by then is what is shown.
        drop(timeout(self.response_timeout.min(self.idle_timeout), reading).await);
        Answer { status, content_type, body: Bytes::from(body) }
    }
}
