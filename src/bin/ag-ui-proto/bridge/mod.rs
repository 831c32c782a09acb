//! `bridge`: protobuf in front of an agent that speaks server-sent events.
//!
//! | module | holds |
//! |---|---|
//! | `headers` | which headers go on, each way |
//! | `relay` | the body of a run, from one binding to the other |
//! | `log` | what is told of runs, and the sums |
//! | `causes`, `redirects` | what the library has for itself |

#[path = "../../../causes.rs"]
mod causes;
mod headers;
mod log;
#[path = "../../../client/redirects.rs"]
mod redirects;
mod relay;

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ag_ui_proto::codec::Options;
use ag_ui_proto::negotiate::{Coding, Format};
use ag_ui_proto::server::{Refusal, Responder};
use ag_ui_proto::sse::SseReader;
use ag_ui_proto::stream::{BodyReader, BodyWriter, Coalescer, InflateLimits};
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use bytes::{Bytes, BytesMut};
use futures_util::{StreamExt, stream};
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, VIA};
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use tokio::time::timeout;

use self::causes::with_causes;
use self::log::Log;
use self::redirects::redirects;
use self::relay::Relay;
use crate::args::Bridge;
use crate::failure::Failure;
use crate::listen::{self, say};
use crate::run::check_url;

/// Most bytes of a request.
const REQUEST_LEN: usize = 10 * 1024 * 1024;

/// Most bytes of an answer that is no stream of events.
const ANSWER_LEN: usize = 1024 * 1024;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) fn run(args: &Bridge) -> Result<(), Failure> {
    check_url(&args.upstream)?;
    let options = Options::from(args.limits.limits());
    let bridge = Arc::new(Upstream {
        http: client().map_err(|error| Failure::Trouble(error.to_string()))?,
        url: args.upstream.clone(),
        name: own_name()?,
        response_timeout: args.response_timeout,
        idle_timeout: args.idle_timeout,
        merge: args.listen.merge,
        options,
        responder: Responder::new().with_options(options).compressing(),
        answers_pages: !args.listen.origins.is_empty(),
        log: Arc::new(Log::default()),
    });
    let log = Arc::clone(&bridge.log);
    let app = Router::new().fallback(forward).with_state(bridge);
    let upstream = without_password(&args.upstream);
    let result = listen::serve(&args.listen, app, &format!("in front of {upstream}"));
    say(&log.sums());
    result
}

/// The URL as it may stand in a log.
fn without_password(url: &str) -> String {
    match reqwest::Url::parse(url) {
        Ok(mut parsed) if parsed.password().is_some() => {
            let _ = parsed.set_password(Some("..."));
            parsed.into()
        }
        _ => url.to_owned(),
    }
}

/// What no other bridge is called.
fn own_name() -> Result<HeaderValue, Failure> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let name = format!("1.1 ag-ui-proto-{:x}-{:x}", since.as_nanos(), std::process::id());
    HeaderValue::try_from(name).map_err(|error| Failure::Trouble(error.to_string()))
}

fn client() -> reqwest::Result<reqwest::Client> {
    // With TLS, reqwest wants the process to have a default provider, which this sees to.
    #[cfg(feature = "tls")]
    drop(ag_ui_proto::client::Client::new());
    reqwest::Client::builder().connect_timeout(CONNECT_TIMEOUT).redirect(redirects()).build()
}

/// The agent behind, and how it is spoken to.
struct Upstream {
    http: reqwest::Client,
    url: String,
    /// Of this process, for `Via`.
    name: HeaderValue,
    response_timeout: Duration,
    idle_timeout: Duration,
    merge: bool,
    options: Options,
    responder: Responder,
    /// Whether the bridge says which pages may call it, and not the agent.
    answers_pages: bool,
    log: Arc<Log>,
}

async fn forward(
    State(upstream): State<Arc<Upstream>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let number = upstream.log.begin();
    let has_body = method != Method::HEAD;
    match upstream.call(method, &uri, &headers, body).await {
        Ok(answer) => upstream.answer(number, &headers, answer, has_body),
        Err(refusal) => {
            upstream.log.refused(number, &refusal);
            refusal.into_response()
        }
    }
}

impl Upstream {
    async fn call(
        &self,
        method: Method,
        uri: &Uri,
        headers: &HeaderMap,
        body: Body,
    ) -> Result<reqwest::Response, Refusal> {
        if headers::went_through(&self.name, headers) {
            let detail = "the URL of the agent leads back to the bridge";
            return Err(Refusal::new(StatusCode::LOOP_DETECTED, detail));
        }
        let body = whole(body).await?;
        let gateway = |detail| Refusal::new(StatusCode::BAD_GATEWAY, detail);
        let mut url = reqwest::Url::parse(&self.url)
            .map_err(|error| gateway(format!("the URL of the agent: {error}")))?;
        if url.query().is_none() {
            url.set_query(uri.query());
        }
        let mut headers = headers::request(&method, headers);
        headers.append(VIA, self.name.clone());
        let mut request = self.http.request(method, url).headers(headers);
        if !body.is_empty() {
            request = request.body(body);
        }
        match timeout(self.response_timeout, request.send()).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(gateway(format!("the agent: {}", with_causes(&error)))),
            Err(_) => {
                let detail = format!("no answer of the agent within {:?}", self.response_timeout);
                Err(Refusal::new(StatusCode::GATEWAY_TIMEOUT, detail))
            }
        }
    }

    /// The answer for the client: events in its binding, anything else as it is.
    fn answer(
        &self,
        number: u64,
        asked: &HeaderMap,
        answer: reqwest::Response,
        has_body: bool,
    ) -> Response {
        let format = answer.headers().get(CONTENT_TYPE).and_then(Format::from_content_type);
        let has_body = has_body
            && !matches!(answer.status(), StatusCode::NO_CONTENT | StatusCode::RESET_CONTENT);
        match format {
            Some(format) if answer.status().is_success() && has_body => {
                match self.reader(format, answer.headers()) {
                    Ok(reader) => self.relay(number, asked, answer, reader),
                    Err(refusal) => {
                        self.log.refused(number, &refusal);
                        refusal.into_response()
                    }
                }
            }
            _ => {
                self.log.passed(number, answer.status());
                let headers = self.headers(&answer);
                pass(answer, headers)
            }
        }
    }

    /// The headers of an answer that go on.
    fn headers(&self, answer: &reqwest::Response) -> HeaderMap {
        let mut headers = headers::answer(answer.headers());
        if self.answers_pages {
            headers::remove_access_control(&mut headers);
        }
        headers
    }

    fn reader(&self, format: Format, headers: &HeaderMap) -> Result<BodyReader, Refusal> {
        let reader = match format {
            Format::Protobuf => BodyReader::with_options(format, self.options),
            Format::Sse => BodyReader::with_sse_reader(
                SseReader::with_limits(*self.options.limits()).joining_surrogates(),
            ),
        };
        let lines = headers.get_all(CONTENT_ENCODING).iter().map(HeaderValue::as_bytes);
        let codings = lines.collect::<Vec<_>>().join(&b", "[..]);
        if codings.is_empty() || codings.eq_ignore_ascii_case(b"identity") {
            return Ok(reader);
        }
        let unknown = || {
            let codings = String::from_utf8_lossy(&codings);
            let detail = format!("an answer of the agent in the coding {codings:?}");
            Refusal::new(StatusCode::BAD_GATEWAY, detail)
        };
        let coding = Coding::from_name(&codings).ok_or_else(unknown)?;
        reader.with_coding(coding, InflateLimits::new()).map_err(|_| unknown())
    }

    fn relay(
        &self,
        number: u64,
        asked: &HeaderMap,
        answer: reqwest::Response,
        reader: BodyReader,
    ) -> Response {
        // The headers and the coding are those of any other answer with events.
        let binding = self.responder.negotiate(asked);
        let like = binding.respond(stream::empty::<ag_ui_proto::Event>());
        let (mut writer, mut coding) =
            (BodyWriter::with_options(binding.format(), self.options), "not compressed");
        if let Some(chosen) = binding.coding()
            && like.headers().contains_key(CONTENT_ENCODING)
        {
            match writer.with_coding(chosen) {
                Ok(compressed) => (writer, coding) = (compressed, chosen.as_str()),
                Err(error) => {
                    let refusal =
                        Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string());
                    self.log.refused(number, &refusal);
                    return refusal.into_response();
                }
            }
        }
        let how = format!("{} -> {}, {coding}", name(reader.format()), name(binding.format()));
        let (status, mut headers) = (answer.status(), self.headers(&answer));
        for name in headers::DESCRIBING {
            headers.remove(*name);
        }
        headers::merge(&mut headers, like.headers());
        let tally = self.log.run(number, how);
        let mut relay = Relay::new(reader, writer, self.idle_timeout, tally);
        if self.merge {
            relay = relay.merging(Coalescer::with_limits(*self.options.limits()));
        }
        let body = Body::from_stream(relay.into_stream(answer.bytes_stream().boxed()));
        (status, headers, body).into_response()
    }
}

/// The body of a request, in memory.
async fn whole(body: Body) -> Result<Bytes, Refusal> {
    let too_large = || {
        let detail = format!("a body over the limit of {REQUEST_LEN} bytes");
        Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, detail)
    };
    let announced = http_body::Body::size_hint(&body).lower();
    if usize::try_from(announced).map_or(true, |len| len > REQUEST_LEN) {
        return Err(too_large());
    }
    let mut parts = body.into_data_stream();
    let mut bytes = BytesMut::new();
    while let Some(part) = parts.next().await {
        let part = part.map_err(|error| {
            let broken = || {
                let detail = format!("the body broke off: {}", with_causes(&error));
                Refusal::new(StatusCode::BAD_REQUEST, detail)
            };
            Refusal::found_in(&error).cloned().unwrap_or_else(broken)
        })?;
        if part.len() > REQUEST_LEN - bytes.len() {
            return Err(too_large());
        }
        bytes.extend_from_slice(&part);
    }
    Ok(bytes.freeze())
}

/// An answer that is no stream of events, as it is.
fn pass(answer: reqwest::Response, headers: HeaderMap) -> Response {
    let status = answer.status();
    let mut left = ANSWER_LEN;
    let parts = answer.bytes_stream().map(move |part| {
        let part = part.map_err(|error| with_causes(&error))?;
        left = left.checked_sub(part.len()).ok_or("the answer of the agent is too long")?;
        Ok::<_, Box<dyn Error + Send + Sync>>(part)
    });
    (status, headers, Body::from_stream(parts)).into_response()
}

fn name(format: Format) -> &'static str {
    match format {
        Format::Protobuf => "protobuf",
        Format::Sse => "sse",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_has_no_password() {
        for (url, want) in [
            ("http://u:secret@a/b?c", "http://u:...@a/b?c"),
            ("http://u@a/b", "http://u@a/b"),
            ("http://a", "http://a"),
        ] {
            assert_eq!(without_password(url), want);
        }
    }
}
