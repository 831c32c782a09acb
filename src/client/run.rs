//! The answer of an agent: events as they come, and what became of them.

use std::fmt;
use std::future::{Future as _, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_core::Stream;
use http::HeaderMap;
use tokio::time::{Instant, Sleep, sleep};

use super::end::{RunEnd, Terminal, Truncation};
use crate::model::{Event, Notice, Notices};
use crate::negotiate::Format;
use crate::stream::{BodyError, BodyReader};

type Parts = Pin<Box<dyn Stream<Item = reqwest::Result<Bytes>> + Send>>;

/// Who is told of what was dropped, stripped or translated.
type OnNotice = Box<dyn FnMut(Notice) + Send>;

/// A run: a `Stream` of its events, and then [`Run::end`].
///
/// Nothing is read ahead but what the connection holds. Dropping it closes the connection, or its
/// HTTP/2 stream, so that the agent can stop.
///
/// What was dropped, stripped or translated is told to the function of [`Run::on_notice`], or else
/// logged with `tracing` as a warning.
pub struct Run {
    reader: BodyReader,
    /// What comes; nothing once the run is over, so that the connection is let go.
    parts: Option<Parts>,
    headers: HeaderMap,
    terminal: Terminal,
    end: Option<RunEnd>,
    idle_timeout: Duration,
    /// Runs out when nothing has come for too long; counts while somebody waits.
    idle: Pin<Box<Sleep>>,
    is_waiting: bool,
    on_notice: Option<OnNotice>,
}

impl Run {
    pub(super) fn new(
        response: reqwest::Response,
        reader: BodyReader,
        idle_timeout: Duration,
    ) -> Self {
        Self {
            reader,
            headers: response.headers().clone(),
            parts: Some(Box::pin(response.bytes_stream())),
            terminal: Terminal::None,
            end: None,
            idle_timeout,
            idle: Box::pin(sleep(idle_timeout)),
            is_waiting: false,
            on_notice: None,
        }
    }

    /// Sets who is told of what was dropped, stripped or translated, instead of the log.
    #[must_use]
    pub fn on_notice(mut self, tell: impl FnMut(Notice) + Send + 'static) -> Self {
        self.on_notice = Some(Box::new(tell));
        self
    }

    /// The binding that the agent chose.
    #[must_use]
    pub fn format(&self) -> Format {
        self.reader.format()
    }

    /// The headers of the answer.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// The next event, as soon as it is there; nothing when they are over. As `StreamExt::next`,
    /// and as harmless to cancel.
    pub async fn next_event(&mut self) -> Option<Event> {
        poll_fn(|context| self.poll_event(context)).await
    }

    /// What became of the run; nothing before its events are over.
    #[must_use]
    pub fn end(&self) -> Option<&RunEnd> {
        self.end.as_ref()
    }

    /// What became of the run, when its events are over. Those that are left are passed over.
    pub async fn into_end(mut self) -> RunEnd {
        loop {
            if let Some(end) = self.end.take() {
                return end;
            }
            self.next_event().await;
        }
    }

    fn poll_event(&mut self, context: &mut Context<'_>) -> Poll<Option<Event>> {
        while let (None, Some(parts)) = (&self.end, &mut self.parts) {
            match self.reader.next_event() {
                Ok(Some(decoded)) => {
                    self.tell(decoded.notices);
                    if let Some(event) = decoded.event {
                        self.terminal.see(&event);
                        return Poll::Ready(Some(event));
                    }
                    continue;
                }
                Ok(None) => {}
                Err(error) => {
                    self.end = Some(RunEnd::Rejected(error));
                    break;
                }
            }
            match parts.as_mut().poll_next(context) {
                Poll::Ready(part) => {
                    self.is_waiting = false;
                    match part {
                        Some(Ok(bytes)) => self.reader.push(&bytes),
                        Some(Err(error)) => self.end_at(|| Truncation::Broken(error)),
                        None => self.end_at(|| Truncation::BeforeEnd),
                    }
                }
                Poll::Pending if self.is_idle(context) => {
                    let after = self.idle_timeout;
                    self.end_at(|| Truncation::Idle { after });
                }
                Poll::Pending => return Poll::Pending,
            }
        }
        self.parts = None;
        Poll::Ready(None)
    }

    /// Whether nothing has come for too long; else sees to it that this is asked again in time.
    fn is_idle(&mut self, context: &mut Context<'_>) -> bool {
        if !std::mem::replace(&mut self.is_waiting, true) {
            let now = Instant::now();
            // A limit beyond what a clock can say is none.
            let deadline = now.checked_add(self.idle_timeout).unwrap_or(now + FAR);
            self.idle.as_mut().reset(deadline);
        }
        self.idle.as_mut().poll(context).is_ready()
    }

    /// Ends the run where input ended. After a terminal event it does not matter how it did, if
    /// nothing else had begun.
    fn end_at(&mut self, truncation: impl FnOnce() -> Truncation) {
        let terminal = std::mem::take(&mut self.terminal);
        self.end = Some(match self.reader.finish() {
            Ok(()) => terminal.or(truncation),
            Err(error) if is_compression(&error) && !terminal.is_none() => terminal.or(truncation),
            Err(error) if error.is_truncated() => RunEnd::Truncated(match truncation() {
                Truncation::BeforeEnd => Truncation::InEvent(error),
                other => other,
            }),
            Err(error) => RunEnd::Rejected(error),
        });
    }

    fn tell(&mut self, notices: Notices) {
        for notice in notices {
            if let Some(tell) = &mut self.on_notice {
                tell(notice);
            } else {
                tracing::warn!("{notice}");
            }
        }
    }
}

/// Longer than any run.
const FAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Whether events are whole, and what they are compressed in is not.
fn is_compression(error: &BodyError) -> bool {
    #[cfg(feature = "compression")]
    return error.is_truncated() && matches!(error, BodyError::Inflate(_));
    #[cfg(not(feature = "compression"))]
    {
        let _ = error;
        false
    }
}

impl Stream for Run {
    type Item = Event;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Event>> {
        self.poll_event(context)
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run")
            .field("reader", &self.reader)
            .field("terminal", &self.terminal)
            .field("end", &self.end)
            .finish_non_exhaustive()
    }
}
