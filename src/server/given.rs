//! Whether the connection still holds what it was given.

use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;

/// The part of a body that was given last. A connection lets a part go once the system has taken it.
#[derive(Debug, Default)]
pub(super) struct Given(Arc<Mutex<Held>>);

#[derive(Debug, Default)]
struct Held {
    is_held: bool,
    /// Who waits for it to be let go.
    waker: Option<Waker>,
}

impl Given {
    /// The same bytes, whose end is told. The one before must have ended.
    pub(super) fn watched(&self, bytes: Bytes) -> Bytes {
        lock(&self.0).is_held = true;
        Bytes::from_owner(Watched { bytes, held: Arc::clone(&self.0) })
    }

    /// Waits until it has been let go.
    pub(super) fn poll_taken(&self, context: &mut Context<'_>) -> Poll<()> {
        let mut held = lock(&self.0);
        if held.is_held {
            held.waker = Some(context.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready(())
    }
}

struct Watched {
    bytes: Bytes,
    held: Arc<Mutex<Held>>,
}

impl AsRef<[u8]> for Watched {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let waker = {
            let mut held = lock(&self.held);
            held.is_held = false;
            held.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// Nothing that holds the lock can panic.
fn lock(held: &Mutex<Held>) -> std::sync::MutexGuard<'_, Held> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}
