//! Requests that are answered before they have been read.
//!
//! A server that refuses a long body closes the connection with bytes unread, and that resets it: a
//! client that still sends sees a broken pipe, and may never see the answer. So what is left of a body
//! is read on and thrown away, for a while.
//!
//! Rule: RFC 9112, 9.6.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use http::header::EXPECT;
use http_body::{Frame, SizeHint};
use tokio::runtime::Handle;
use tokio::time::timeout;

/// Most bytes that are thrown away.
const MAX_LEN: usize = 256 * 1024 * 1024;

/// How long they are waited for, all told.
const MAX_TIME: Duration = Duration::from_secs(10);

/// Sees to it that the body of a request is read to its end, whoever drops it before: so that a client
/// that sends all before it reads gets the answer, and no broken pipe.
///
/// What is left is thrown away by a task of tokio, whose timer must be there: at most 256 MiB, for at
/// most 10 seconds. Of a request with `Expect`, nothing is read on: whoever asks before it sends has
/// sent nothing.
///
/// [`RunInput`](super::RunInput) does it by itself. For the other requests of a router:
/// `.layer(axum::middleware::map_request(read_on))`.
pub async fn read_on(mut request: Request) -> Request {
    let is_done = request.extensions_mut().insert(ReadOn).is_some();
    if is_done || request.headers().contains_key(EXPECT) {
        return request;
    }
    request.map(|body| Body::new(Lingering(body)))
}

/// Marks a request that this was done for.
#[derive(Clone, Copy)]
struct ReadOn;

struct Lingering(Body);

impl http_body::Body for Lingering {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.0).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}

impl Drop for Lingering {
    fn drop(&mut self) {
        let body = std::mem::take(&mut self.0);
        if http_body::Body::is_end_stream(&body) {
            return;
        }
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(timeout(MAX_TIME, throw_away(body)));
        }
    }
}

async fn throw_away(mut body: Body) {
    let mut len = 0_usize;
    while let Some(Ok(frame)) =
        poll_fn(|context| http_body::Body::poll_frame(Pin::new(&mut body), context)).await
        && len < MAX_LEN
    {
        len = len.saturating_add(frame.data_ref().map_or(0, Bytes::len));
    }
}
