//! A server, from its address to the signal that ends it.

use std::future::{Future, IntoFuture};
use std::io::{self, Write};
use std::pin::pin;
use std::time::Duration;

use axum::Router;
use axum::middleware::map_request;
use axum::serve::ListenerExt as _;
use futures_util::future::{Either, select};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

use crate::args::Listen;
use crate::failure::Failure;
use crate::{linger, origins};

/// Serves until the process is told to stop, then lets runs go on for the time of grace; those that
/// are not over by then break off.
pub(crate) fn serve(listen: &Listen, app: Router, what: &str) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::Trouble(format!("no runtime: {error}")))?;
    let app = app.layer(map_request(linger::read_on));
    let app = match origins::layer(&listen.origins) {
        Some(layer) => app.layer(layer),
        None => app,
    };
    let result = runtime.block_on(serve_until_told(listen, app, what));
    // Runs that are left are dropped, and tell of it.
    runtime.shutdown_timeout(Duration::from_secs(1));
    result
}

async fn serve_until_told(listen: &Listen, app: Router, what: &str) -> Result<(), Failure> {
    let address = listen.address;
    let refused = |error| Failure::Trouble(format!("{address}: cannot be listened on: {error}"));
    let listener = TcpListener::bind(address).await.map_err(refused)?;
    let bound = listener.local_addr().map_err(refused)?;
    let stop = told_to_stop().map_err(|error| Failure::Trouble(format!("no signals: {error}")))?;
    say(&format!("listening on http://{bound}/, {what}"));

    let merge = listen.merge;
    let listener = listener.tap_io(move |connection| {
        // An event goes as soon as it is there, though the one before be on its way.
        drop(connection.set_nodelay(true));
        if merge {
            keep_little(connection);
        }
    });
    let (close, closed) = oneshot::channel::<()>();
    let server = axum::serve(listener, app)
        .with_graceful_shutdown(async { drop(closed.await) })
        .into_future();
    let mut server = pin!(server);
    let ended = match select(&mut server, pin!(stop)).await {
        Either::Left((ended, _)) => Some(ended),
        Either::Right(_) => {
            say("stopping");
            drop(close);
            tokio::time::timeout(listen.grace, server).await.ok()
        }
    };
    match ended {
        Some(Err(error)) => Err(Failure::Trouble(format!("{bound}: {error}"))),
        Some(Ok(())) => Ok(()),
        None => {
            say("runs that were not over were broken off");
            Ok(())
        }
    }
}

/// Has the system take no more than it can send soon, so that a link shows when it is busy.
fn keep_little(connection: &TcpStream) {
    const UNSENT: u32 = 512;
    let socket = socket2::SockRef::from(connection);
    #[cfg(any(target_os = "linux", target_os = "android"))]
    drop(socket.set_tcp_notsent_lowat(UNSENT));
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    drop(socket.set_send_buffer_size(8 * UNSENT as usize));
}

/// Waits for Ctrl-C or SIGTERM. Signals are taken from now on, not from the first wait.
#[cfg(unix)]
fn told_to_stop() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        select(pin!(interrupt.recv()), pin!(terminate.recv())).await;
    })
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "as with Unix")]
fn told_to_stop() -> io::Result<impl Future<Output = ()>> {
    Ok(async { drop(tokio::signal::ctrl_c().await) })
}

/// A line on standard error. One that is closed is no reason to stop.
pub(crate) fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{}", crate::look::printable(line));
}
