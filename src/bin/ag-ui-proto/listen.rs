//! A server, from its address to the signal that ends it.

use std::io::{self, Write};
use std::pin::pin;
use std::time::Duration;

use ag_ui_proto::server::read_on;
use axum::Router;
use axum::middleware::{from_fn_with_state, map_request};
use futures_util::future::{Either, select};
use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::args::Listen;
use crate::bodies::{self, Bodies};
use crate::connections::Connections;
use crate::failure::Failure;
use crate::origins;

/// How long a peer may be silent before the system asks whether it is still there.
const KEEP_ALIVE: Duration = Duration::from_secs(60);

/// Serves until the process is told to stop, then lets runs go on for the time of grace, or until it is
/// told again; those that are not over by then break off.
pub(crate) fn serve(listen: &Listen, app: Router, what: &str) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::Trouble(format!("no runtime: {error}")))?;
    let app = app
        .layer(from_fn_with_state(Bodies::new(listen.bounds), bodies::bound))
        .layer(map_request(read_on));
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
    let mut stop =
        told_to_stop().map_err(|error| Failure::Trouble(format!("no signals: {error}")))?;
    say(&format!("listening on http://{bound}/, {what}"));

    let set = if listen.merge { keep_little } else { keep_open };
    let (close, closing) = watch::channel(());
    let connections = Connections { app, bounds: listen.bounds, set };
    let mut server = pin!(connections.serve(listener, closing));
    if let Either::Left(_) = select(&mut server, pin!(stop())).await {
        return Ok(());
    }
    say("stopping");
    drop(close);
    let grace = pin!(tokio::time::sleep(listen.grace));
    if let Either::Right(_) = select(server, select(grace, pin!(stop()))).await {
        say("runs that were not over were broken off");
    }
    Ok(())
}

/// Has an event go as soon as it is there, though the one before be on its way, and a peer that is
/// gone be found out.
fn keep_open(connection: &TcpStream) {
    drop(connection.set_nodelay(true));
    let alive = TcpKeepalive::new().with_time(KEEP_ALIVE);
    drop(SockRef::from(connection).set_tcp_keepalive(&alive));
}

/// The same; and has the system take no more than it can send soon, so that a link shows when it is
/// busy.
fn keep_little(connection: &TcpStream) {
    const UNSENT: u32 = 512;
    keep_open(connection);
    let socket = SockRef::from(connection);
    #[cfg(any(target_os = "linux", target_os = "android"))]
    drop(socket.set_tcp_notsent_lowat(UNSENT));
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    drop(socket.set_send_buffer_size(8 * UNSENT as usize));
}

/// Waits for Ctrl-C or SIGTERM, each time it is called. Signals are taken from now on, not from the first
/// wait.
#[cfg(unix)]
fn told_to_stop() -> io::Result<impl AsyncFnMut()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move || {
        select(pin!(interrupt.recv()), pin!(terminate.recv())).await;
    })
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "as with Unix")]
fn told_to_stop() -> io::Result<impl AsyncFnMut()> {
    Ok(async || drop(tokio::signal::ctrl_c().await))
}

/// A line on standard error. One that is closed is no reason to stop.
pub(crate) fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{}", crate::look::printable(line));
}
