//! What goes over a connection, and whether it still does.
//!
//! | a connection | is closed when it was so for |
//! |---|---|
//! | without a request that is not yet answered | the time that headers may take |
//! | whose client takes nothing of what is there for it | the time that sending may take |
//! | whose client closed its side, with a run that pauses | ten seconds |
//! | with a run that pauses | never |
//!
//! A client that closes its side may have gone, or may wait for the answer: that is the same to see. What
//! is sent to one that has gone is refused by its system, so who has gone is found out as soon as a run
//! says something; and a run that says nothing for long is taken to be for nobody.
//!
//! HTTP/1's own limit on headers begins behind the first bytes, by which it is told from HTTP/2; and
//! HTTP/2 has none. So the time is taken here.
//!
//! That a client takes nothing is seen by the system, where it can say so (`TCP_USER_TIMEOUT`): it knows
//! of every byte that arrived, whereas it takes more from here only when much of what it holds is gone,
//! which on a slow link is minutes. What is left is HTTP/2, whose client may take from the connection and
//! nothing of an answer.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use http::{Request, Version};
use http_body::{Frame, SizeHint};
use hyper::body::Incoming;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep_until};

use crate::args::Bounds;

/// Whether the system closes a connection over which nothing arrives.
const SYSTEM_SEES: bool = cfg!(any(target_os = "linux", target_os = "android"));

/// How long a run may say nothing for a client that closed its side.
const HALF_CLOSED: Duration = Duration::from_secs(10);

/// How long the end of a connection is held back from a request whose end was not read yet: it may have
/// come, and not be looked at.
const UNREAD: Duration = Duration::from_millis(100);

/// Has the system close a connection over which nothing arrives for so long, if it can.
pub(crate) fn send_within(connection: &TcpStream, limit: Duration) {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        // None at all would be no limit.
        let limit = limit.max(Duration::from_millis(1));
        drop(socket2::SockRef::from(connection).set_tcp_user_timeout(Some(limit)));
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let _ = (connection, limit);
}

/// The traffic of one connection.
#[derive(Clone)]
pub(crate) struct Traffic(Arc<Mutex<State>>);

struct State {
    /// Requests that are not answered to the end.
    answering: usize,
    /// Answers of which a part was given, and none asked for since.
    held: usize,
    /// Whether the system takes no more bytes.
    is_blocked: bool,
    /// Whether requests come one after the other, and a connection may be open to one side alone.
    is_http1: bool,
    /// Whether the request that is answered was read to its end.
    is_asked: bool,
    /// Who is told that the client closed its side once nothing is left to answer.
    reader: Option<Waker>,
    /// When something went on for the last time.
    since: Instant,
}

impl Traffic {
    /// Begins with the connection.
    pub(crate) fn new() -> Self {
        let state = State {
            answering: 0,
            held: 0,
            is_blocked: false,
            is_http1: false,
            is_asked: false,
            reader: None,
            since: Instant::now(),
        };
        Self(Arc::new(Mutex::new(state)))
    }

    /// Counts a request, until its answer is dropped; and gives it on, to see the end of its body.
    pub(crate) fn begin(&self, request: Request<Incoming>) -> (Answering, Request<Body>) {
        let is_http1 = request.version() <= Version::HTTP_11;
        self.change(|state| {
            state.answering += 1;
            state.is_http1 = is_http1;
        });
        let answering = Answering { traffic: self.clone(), is_held: false };
        if !is_http1 {
            return (answering, request.map(Body::new));
        }
        let request = request.map(|body| Asking { body, traffic: self.clone() });
        request.body().see_end();
        (answering, request.map(Body::new))
    }

    /// Waits until the connection is to be closed.
    pub(crate) async fn stalled(&self, bounds: Bounds) {
        /// A limit of zero is no reason to spin.
        const SHORTEST: Duration = Duration::from_millis(1);
        let period = bounds.header_timeout.min(bounds.send_timeout).max(SHORTEST);
        loop {
            let now = Instant::now();
            let due = self.lock().due(bounds).unwrap_or(now + period);
            if due <= now {
                return;
            }
            // What begins to stall meanwhile is not due before the end of the period.
            sleep_until(due.min(now + period).into()).await;
        }
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.lock();
        change(&mut state);
        state.since = Instant::now();
    }

    /// Until when a client is answered that closed its side; nothing if there is nothing to answer, which
    /// `reader` is told of.
    fn answered_until(&self, closed: Instant, reader: &Waker) -> Option<Instant> {
        let mut state = self.lock();
        if state.answering == 0 || !state.is_http1 {
            return None;
        }
        state.reader = Some(reader.clone());
        if !state.is_asked {
            return Some(closed + UNREAD);
        }
        // One that takes nothing for so long is for another limit.
        let since = if state.is_blocked { Instant::now() } else { state.since };
        Some(since.max(closed) + HALF_CLOSED)
    }

    /// Nothing that holds the lock can panic.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// When the connection is to be closed if nothing goes on before.
    fn due(&self, bounds: Bounds) -> Option<Instant> {
        let after = if self.is_blocked {
            if SYSTEM_SEES {
                return None;
            }
            bounds.send_timeout
        } else if self.answering == 0 {
            bounds.header_timeout
        } else if self.held == self.answering {
            bounds.send_timeout
        } else {
            return None;
        };
        Some(self.since + after)
    }
}

/// A request that is being answered.
pub(crate) struct Answering {
    traffic: Traffic,
    is_held: bool,
}

impl Answering {
    /// The body of the answer, whose end is the request's.
    pub(crate) fn with(self, body: Body) -> Answer {
        Answer { body, answering: self }
    }

    fn hold(&mut self, holds: bool) {
        self.traffic.change(|state| {
            state.held = state.held + usize::from(holds) - usize::from(self.is_held);
        });
        self.is_held = holds;
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.hold(false);
        let mut reader = None;
        self.traffic.change(|state| {
            state.answering -= 1;
            state.is_asked = false;
            reader = state.reader.take();
        });
        if let Some(reader) = reader {
            reader.wake();
        }
    }
}

/// The body of a request of HTTP/1.
struct Asking {
    body: Incoming,
    traffic: Traffic,
}

impl Asking {
    fn see_end(&self) {
        if http_body::Body::is_end_stream(&self.body) {
            self.end();
        }
    }

    /// What is read on once the answer is given was not asked.
    fn end(&self) {
        let mut state = self.traffic.lock();
        state.is_asked = state.answering > 0;
    }
}

impl http_body::Body for Asking {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        match &frame {
            Some(Ok(_)) => self.see_end(),
            Some(Err(_)) => {}
            None => self.end(),
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

pub(crate) struct Answer {
    body: Body,
    answering: Answering,
}

impl http_body::Body for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.answering.is_held {
            self.answering.hold(false);
        }
        let frame = Pin::new(&mut self.body).poll_frame(context);
        if let Poll::Ready(Some(Ok(_))) = frame {
            self.answering.hold(true);
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

/// A connection that tells what is written, and that does not end while its client may wait.
pub(crate) struct Watched {
    socket: TcpStream,
    traffic: Traffic,
    /// When the client closed its side.
    closed: Option<Instant>,
    /// When to ask whether it is still answered.
    due: Option<Pin<Box<Sleep>>>,
}

impl Watched {
    pub(crate) fn new(socket: TcpStream, traffic: Traffic) -> Self {
        Self { socket, traffic, closed: None, due: None }
    }

    /// Waits, once the client has closed its side, until that may be told.
    fn poll_answered(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let closed = *self.closed.get_or_insert_with(Instant::now);
        while let Some(until) = self.traffic.answered_until(closed, context.waker())
            && until > Instant::now()
        {
            let due = self.due.insert(Box::pin(sleep_until(until.into())));
            ready!(due.as_mut().poll(context));
        }
        Poll::Ready(())
    }

    fn written(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match written {
            Poll::Ready(Ok(_)) => self.traffic.change(|state| state.is_blocked = false),
            Poll::Ready(Err(_)) => {}
            // Waiting is nothing that goes on.
            Poll::Pending => self.traffic.lock().is_blocked = true,
        }
        written
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.remaining();
        ready!(Pin::new(&mut self.socket).poll_read(context, buffer))?;
        if buffer.remaining() == before && before > 0 {
            ready!(self.poll_answered(context));
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Watched {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write(context, bytes);
        self.written(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write_vectored(context, parts);
        self.written(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(context)
    }
}
