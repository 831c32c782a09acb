//! Bodies of requests, bounded in time, and in memory over all requests.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use ag_ui_proto::server::Refusal;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::StatusCode;
use http_body::{Frame, SizeHint};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Sleep, sleep};

use crate::args::Bounds;

/// When to ask again if there is no memory. Bodies go as fast as agents answer.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// The bounds, and what is left of the memory.
#[derive(Clone)]
pub(crate) struct Bodies {
    max_time: Duration,
    max_len: usize,
    left: Arc<Semaphore>,
}

impl Bodies {
    pub(crate) fn new(bounds: Bounds) -> Self {
        let max_len = bounds.max_bodies.min(Semaphore::MAX_PERMITS);
        let left = Arc::new(Semaphore::new(max_len));
        Self { max_time: bounds.body_timeout, max_len, left }
    }
}

/// Bounds the body of a request. What it takes of the memory is given back once the request is
/// answered, if only with headers: by then an agent has read it.
pub(crate) async fn bound(State(bodies): State<Bodies>, request: Request, next: Next) -> Response {
    let taken = Taken::default();
    let request = request.map(|body| {
        if http_body::Body::is_end_stream(&body) {
            return body;
        }
        let due = Box::pin(sleep(bodies.max_time));
        Body::new(Bounded { body, due, bodies, taken: Arc::clone(&taken) })
    });
    let response = next.run(request).await;
    drop(taken);
    response
}

/// The memory that one body has.
type Taken = Arc<Mutex<Option<OwnedSemaphorePermit>>>;

struct Bounded {
    body: Body,
    due: Pin<Box<Sleep>>,
    bodies: Bodies,
    taken: Taken,
}

impl Bounded {
    fn take(&self, part: &[u8]) -> Result<(), Refusal> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let have = taken.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        if part.len() > self.bodies.max_len.saturating_sub(have) {
            let detail = format!("a body over the limit of {} bytes", self.bodies.max_len);
            return Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, detail));
        }
        let more = u32::try_from(part.len()).ok();
        let more =
            more.and_then(|len| Arc::clone(&self.bodies.left).try_acquire_many_owned(len).ok());
        let more = more.ok_or_else(|| {
            let detail = "no memory left for the bodies of requests; see `--max-bodies`";
            Refusal::new(StatusCode::SERVICE_UNAVAILABLE, detail).with_retry_after(RETRY_AFTER)
        })?;
        match &mut *taken {
            Some(taken) => taken.merge(more),
            None => *taken = Some(more),
        }
        Ok(())
    }
}

impl http_body::Body for Bounded {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.due.as_mut().poll(context).is_ready() {
            let detail = format!("the body did not come within {:?}", self.bodies.max_time);
            let refusal = Refusal::new(StatusCode::REQUEST_TIMEOUT, detail);
            return Poll::Ready(Some(Err(axum::Error::new(refusal))));
        }
        let frame = Pin::new(&mut self.body).poll_frame(context);
        if let Poll::Ready(Some(Ok(frame))) = &frame
            && let Some(part) = frame.data_ref()
            && let Err(refusal) = self.take(part)
        {
            return Poll::Ready(Some(Err(axum::Error::new(refusal))));
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
