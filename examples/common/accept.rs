//! What to do when a connection cannot be accepted.

use std::io;
use std::time::Duration;

use tokio::time::sleep;

/// How long nothing is accepted. By then other connections may have ended.
const PAUSE: Duration = Duration::from_millis(200);

/// Says so, and waits. That there are no descriptors left, or that one client went away before its
/// turn, is no reason to stop serving; and without a pause the next attempt fails at once.
pub(crate) async fn pause(error: &io::Error) {
    eprintln!("no connection can be accepted for now: {error}");
    sleep(PAUSE).await;
}
