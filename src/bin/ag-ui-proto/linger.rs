//! Requests that are answered before they have been read.
//!
//! A server that refuses a long body closes the connection with bytes unread, and that resets it: a
//! client that still sends sees a broken pipe, and may never see the answer. So what is left of a body
//! is read on and thrown away, for a while.
//!
//! Rule: RFC 9112, 9.6.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use futures_util::StreamExt;
use http::header::EXPECT;
use http_body::{Frame, SizeHint};
use tokio::runtime::Handle;
use tokio::time::timeout;

/// Most bytes that are thrown away.
const MAX_LEN: usize = 256 * 1024 * 1024;

/// How long they are waited for, all told.
const MAX_TIME: Duration = Duration::from_secs(10);

/// Sees to it that the body of a request is read to its end, whoever drops it before.
pub(crate) async fn read_on(request: Request) -> Request {
    // Whoever asks before it sends has sent nothing, and is to send nothing.
    if request.headers().contains_key(EXPECT) {
        return request;
    }
    request.map(|body| Body::new(Lingering(body)))
}

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

async fn throw_away(body: Body) {
    let (mut parts, mut len) = (body.into_data_stream(), 0_usize);
    while let Some(Ok(part)) = parts.next().await
        && len < MAX_LEN
    {
        len = len.saturating_add(part.len());
    }
}
