//! How to close a socket of which not everything was read.

use std::time::Duration;

use tokio::io::{AsyncRead, copy, sink};
use tokio::time::timeout;

/// How long the other side may take to read what it was sent last.
const LINGER: Duration = Duration::from_secs(2);

/// Reads away what the other side still sends, until it hangs up. A socket that is closed with bytes
/// unread is reset, and what was sent last may be lost with it: the reason of a refusal, for one.
pub(crate) async fn linger(mut socket: impl AsyncRead + Unpin) {
    // However this ends, nothing is left to do.
    let _ = timeout(LINGER, copy(&mut socket, &mut sink())).await;
}
