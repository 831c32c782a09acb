//! Extractors and responses of axum.

use std::convert::Infallible;

use axum::body::Body;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::response::{IntoResponse, Response};
use futures_core::Stream;
use http::request::Parts;

use super::{Binding, BodyItem, EventBody, Input, InputReader, Refusal, Responder, read_on};
use crate::model::RunAgentInput;
use crate::negotiate::Format;

/// The input of a run, read as [`InputReader`] reads.
///
/// Another reader than the default one is set with a layer:
/// `.layer(Extension(InputReader::new().with_max_len(1 << 20)))`. Of axum's own `DefaultBodyLimit`
/// nothing is asked. What was stripped is logged with `tracing` as a warning. What is left of a body
/// that is refused is read on, as [`read_on`] does.
///
/// # Examples
///
/// An agent that answers protobuf to whoever asks, and SSE to the rest:
///
/// ```
/// use ag_ui_proto::Event;
/// use ag_ui_proto::model::{RunFinished, RunStarted};
/// use ag_ui_proto::server::{Reply, RunInput};
/// use axum::response::IntoResponse;
/// use axum::{Router, routing::post};
/// use futures_util::stream;
///
/// async fn run(reply: Reply, RunInput(input): RunInput) -> impl IntoResponse {
///     let (thread, run) = (input.thread_id, input.run_id);
///     reply.with_events(stream::iter([
///         Event::from(RunStarted::new(thread.clone(), run.clone())),
///         Event::from(RunFinished::new(thread, run)),
///     ]))
/// }
///
/// let app: Router = Router::new().route("/run", post(run));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RunInput(pub RunAgentInput);

impl<S: Send + Sync> FromRequest<S> for RunInput {
    type Rejection = Refusal;

    async fn from_request(request: Request, _state: &S) -> Result<Self, Refusal> {
        let reader = request.extensions().get::<InputReader>().copied().unwrap_or_default();
        let Input { input, notices } = reader.read(read_on(request).await).await?;
        for notice in notices {
            tracing::warn!(run_id = input.run_id, "the input of a run: {notice}");
        }
        Ok(Self(input))
    }
}

/// What the client of this request wants its events in.
///
/// By the default [`Responder`], or the one of a layer: `.layer(Extension(Responder::new()...))`.
#[derive(Clone, Copy, Debug)]
pub struct Reply(Binding);

impl<S: Send + Sync> FromRequestParts<S> for Reply {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        let responder = parts.extensions.get::<Responder>().copied().unwrap_or_default();
        Ok(Self(responder.negotiate(&parts.headers)))
    }
}

impl Reply {
    /// The response, with a body that gives `events` as they come; see [`Binding::respond`].
    pub fn with_events<S>(self, events: S) -> http::Response<EventBody<S>>
    where
        S: Stream,
        S::Item: BodyItem,
    {
        self.0.respond(events)
    }

    /// The format.
    #[must_use]
    pub fn format(self) -> Format {
        self.0.format()
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        self.into_response::<Body>()
    }
}
