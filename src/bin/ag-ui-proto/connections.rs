//! Connections, from their arrival to their end.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use futures_util::future::{Either, select};
use http::Request;
use hyper::body::Incoming;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{sleep, timeout};

use crate::args::Bounds;
use crate::listen::say;
use crate::traffic::{Traffic, Watched, send_within};

/// How long a connection of HTTP/2 may say nothing before it is asked whether it is still there, and
/// how long it may take to say so.
const PING: Duration = Duration::from_secs(20);

/// How long a connection that is told to end, and has nothing to end with, may take to say good-bye.
const GOODBYE: Duration = Duration::from_secs(1);

/// How long nothing is accepted if there is no room for a connection.
const NO_ROOM: Duration = Duration::from_millis(100);

/// How long it is not told of again: as connections end there is room, and then none.
const TELL_AGAIN: Duration = Duration::from_secs(60);

/// How connections are served.
#[derive(Clone)]
pub(crate) struct Connections {
    pub(crate) app: Router,
    pub(crate) bounds: Bounds,
    /// What is set on a connection before anything else.
    pub(crate) set: fn(&TcpStream),
}

impl Connections {
    /// Serves those that come until the sender of `closing` is gone; then no more come, and this
    /// waits until those that are there have ended.
    pub(crate) async fn serve(self, listener: TcpListener, closing: watch::Receiver<()>) {
        let max = self.bounds.max_connections;
        let room = Arc::new(Semaphore::new(usize::try_from(max).unwrap_or(Semaphore::MAX_PERMITS)));
        let mut told_at: Option<Instant> = None;
        loop {
            let next = pin!(next(&listener, &room));
            let mut told = closing.clone();
            let Either::Left((next, _)) = select(next, pin!(told.changed())).await else { break };
            match next {
                Ok((socket, place)) => {
                    let (this, closing) = (self.clone(), closing.clone());
                    tokio::spawn(async move {
                        this.serve_one(socket, closing).await;
                        drop(place);
                    });
                }
                Err(error) if is_of_one(&error) => {}
                Err(error) => {
                    if told_at.is_none_or(|at| at.elapsed() >= TELL_AGAIN) {
                        told_at = Some(Instant::now());
                        say(&format!("no connection can be accepted for now: {error}"));
                    }
                    sleep(NO_ROOM).await;
                }
            }
        }
        drop(listener);
        drop(room.acquire_many(max).await);
    }

    async fn serve_one(self, socket: TcpStream, mut closing: watch::Receiver<()>) {
        (self.set)(&socket);
        send_within(&socket, self.bounds.send_timeout);
        let traffic = Traffic::new();
        let app = TowerToHyperService::new(self.app);
        let service = service_fn(|request: Request<Incoming>| {
            let (answering, request) = traffic.begin(request);
            let answer = app.call(request);
            async move { answer.await.map(|answer| answer.map(|body| answering.with(body))) }
        });
        let mut builder = auto::Builder::new(TokioExecutor::new());
        builder
            .http1()
            .timer(TokioTimer::new())
            .header_read_timeout(self.bounds.header_timeout)
            .http2()
            .timer(TokioTimer::new())
            .keep_alive_interval(PING)
            .keep_alive_timeout(PING);
        let socket = TokioIo::new(Watched::new(socket, traffic.clone()));
        let mut connection = pin!(builder.serve_connection(socket, service));
        let (stalled, closing) = (pin!(traffic.stalled(self.bounds)), pin!(closing.changed()));
        // How a connection ends is nothing that anybody could mend.
        match select(connection.as_mut(), select(stalled, closing)).await {
            Either::Left(_) => return,
            Either::Right((Either::Left(_), _)) => {}
            Either::Right((Either::Right(_), _)) => {
                connection.as_mut().graceful_shutdown();
                let header_timeout = self.bounds.header_timeout.min(GOODBYE);
                let stalled = pin!(traffic.stalled(Bounds { header_timeout, ..self.bounds }));
                if let Either::Left(_) = select(connection.as_mut(), stalled).await {
                    return;
                }
            }
        }
        connection.as_mut().graceful_shutdown();
        drop(timeout(GOODBYE, connection).await);
    }
}

/// The next connection, once there is a place for it.
async fn next(
    listener: &TcpListener,
    room: &Arc<Semaphore>,
) -> io::Result<(TcpStream, OwnedSemaphorePermit)> {
    let place = Arc::clone(room).acquire_owned().await.map_err(io::Error::other)?;
    let (socket, _) = listener.accept().await?;
    Ok((socket, place))
}

/// Whether an error is of one connection, which was gone before it was accepted.
fn is_of_one(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}
