//! From the headers of a request and a stream of events to a response.

use futures_core::Stream;
use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, VARY};
#[cfg(feature = "compression")]
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING};
use http::{HeaderMap, HeaderName, HeaderValue, Response};

use super::{BodyItem, EventBody};
use crate::codec::Options;
#[cfg(feature = "compression")]
use crate::negotiate::Coding;
use crate::negotiate::{Format, Negotiator};
use crate::stream::BodyWriter;
#[cfg(feature = "compression")]
use crate::stream::CODINGS;

const X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// How runs are answered.
///
/// The default follows the specification: protobuf for whoever admits it, wildcards included, SSE
/// for the rest; official bytes; not compressed; every event as it came.
///
/// # Examples
///
/// With any framework whose requests and responses are those of `http`:
///
/// ```
/// use ag_ui_proto::Event;
/// use ag_ui_proto::model::{RunFinished, RunStarted};
/// use ag_ui_proto::server::{EventBody, Responder};
/// use futures_util::stream;
/// use http::{Request, Response};
///
/// # type Agent = stream::Iter<std::array::IntoIter<Event, 2>>;
/// fn answer<B>(request: &Request<B>) -> Response<EventBody<Agent>> {
///     let events = stream::iter([
///         Event::from(RunStarted::new("thread-1", "run-1")),
///         Event::from(RunFinished::new("thread-1", "run-1")),
///     ]);
///     Responder::new().respond(request.headers(), events)
/// }
///
/// let request = Request::post("/run").header("accept", "text/event-stream").body(()).unwrap();
/// assert_eq!(answer(&request).headers()["content-type"], "text/event-stream");
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Responder {
    negotiator: Negotiator,
    options: Options,
    coalesce: bool,
    #[cfg(feature = "compression")]
    compress: bool,
}

impl Responder {
    /// Makes the default one.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how `Accept` is read.
    #[must_use]
    pub fn with_negotiator(mut self, negotiator: Negotiator) -> Self {
        self.negotiator = negotiator;
        self
    }

    /// Sets how events are encoded, and the limits.
    #[must_use]
    pub fn with_options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// Merges neighbouring deltas while the connection is busy, as
    /// [`Coalescer`](crate::stream::Coalescer) does; on an idle one each event goes at once.
    ///
    /// The connection is busy while it holds the part of the body that it was given last. It lets the
    /// part go to the system, which takes as much as it has room for: 87 KB and more as a rule, which
    /// is minutes of a slow link. So have it take less, on Linux with `TCP_NOTSENT_LOWAT`.
    #[must_use]
    pub fn coalescing(mut self) -> Self {
        self.coalesce = true;
        self
    }

    /// Compresses for whoever accepts it, with a flush at every event. Each run then holds the
    /// memory of a compressor: 0.4 MB for gzip, up to 1.9 MB for the others.
    #[cfg(feature = "compression")]
    #[must_use]
    pub fn compressing(mut self) -> Self {
        self.compress = true;
        self
    }

    /// What a request with these headers is answered in.
    #[must_use]
    pub fn negotiate(&self, headers: &HeaderMap) -> Binding {
        Binding {
            responder: *self,
            format: self.negotiator.choose(headers.get_all(ACCEPT)),
            #[cfg(feature = "compression")]
            coding: if self.compress {
                Coding::choose(headers.get_all(ACCEPT_ENCODING), CODINGS)
            } else {
                None
            },
        }
    }

    /// The response to a request with these headers: see [`Binding::respond`].
    pub fn respond<S>(&self, headers: &HeaderMap, events: S) -> Response<EventBody<S>>
    where
        S: Stream,
        S::Item: BodyItem,
    {
        self.negotiate(headers).respond(events)
    }
}

/// What a request is answered in.
#[derive(Clone, Copy, Debug)]
pub struct Binding {
    responder: Responder,
    format: Format,
    #[cfg(feature = "compression")]
    coding: Option<Coding>,
}

impl Binding {
    /// The format.
    #[must_use]
    pub fn format(&self) -> Format {
        self.format
    }

    /// How the body is compressed.
    #[cfg(feature = "compression")]
    #[must_use]
    pub fn coding(&self) -> Option<Coding> {
        self.coding
    }

    /// The response, with a body that gives `events` as they come.
    ///
    /// | header | value |
    /// |---|---|
    /// | `Content-Type` | exactly the media type, without parameters |
    /// | `Cache-Control` | `no-cache` |
    /// | `X-Accel-Buffering` | `no`: proxies that know it pass on what they get |
    /// | `Vary` | `accept`; and `accept-encoding` where compression is on |
    /// | `Content-Encoding` | the coding, if the body is compressed |
    pub fn respond<S>(self, events: S) -> Response<EventBody<S>>
    where
        S: Stream,
        S::Item: BodyItem,
    {
        let Responder { options, coalesce, .. } = self.responder;
        let writer = BodyWriter::with_options(self.format, options);
        #[cfg(feature = "compression")]
        let (writer, coding) = compressed(writer, self.format, options, self.coding);
        let mut response = Response::new(EventBody::new(events, writer, options, coalesce));
        let headers = response.headers_mut();
        let media_type = HeaderValue::from_static(self.format.media_type());
        headers.insert(CONTENT_TYPE, media_type);
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        headers.insert(X_ACCEL_BUFFERING, HeaderValue::from_static("no"));
        headers.insert(VARY, HeaderValue::from_static("accept"));
        #[cfg(feature = "compression")]
        {
            if self.responder.compress {
                headers.insert(VARY, HeaderValue::from_static("accept, accept-encoding"));
            }
            if let Some(coding) = coding {
                headers.insert(CONTENT_ENCODING, HeaderValue::from_static(coding.as_str()));
            }
        }
        response
    }
}

/// The writer with its coding, or without if there is no memory for one.
#[cfg(feature = "compression")]
fn compressed(
    writer: BodyWriter,
    format: Format,
    options: Options,
    coding: Option<Coding>,
) -> (BodyWriter, Option<Coding>) {
    let Some(coding) = coding else { return (writer, None) };
    match writer.with_coding(coding) {
        Ok(writer) => (writer, Some(coding)),
        Err(_) => (BodyWriter::with_options(format, options), None),
    }
}
