//! A stream of events as the body of a response.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::{fmt, io};

use bytes::Bytes;
use futures_core::Stream;
use http_body::{Body, Frame};

use super::BodyItem;
use super::given::Given;
use crate::codec::{EncodeError, Options};
use crate::model::{self, Event, RunError};
use crate::negotiate::Format;
use crate::stream::{BodyWriter, Coalescer};

/// Bytes after which no more events are taken for one part, though they be ready.
const PART_LEN: usize = 16 * 1024;

/// Events after which no more are taken for one part. Merged ones may add no bytes.
const PART_EVENTS: usize = 256;

/// When to write a comment if there is nothing else to write.
type Ticks = Pin<Box<dyn Stream<Item = ()> + Send>>;

/// The body of a response: the events of a stream, each as soon as it is there.
///
/// It takes events when it is asked for bytes and at no other time, so that a client that reads
/// slowly slows the stream, and none are queued. All that are ready then, to a bound of 16 KiB, are
/// one part of the body, which is one write.
///
/// | the stream | the body |
/// |---|---|
/// | ends | ends |
/// | gives an error | ends with a `RUN_ERROR` that says so, unless the last event was one |
/// | gives an event that cannot be encoded | the same |
///
/// A body that merges deltas takes none while the connection holds the part before: see
/// [`Responder::coalescing`](super::Responder::coalescing).
///
/// After the first error the stream is dropped. It is dropped with the body, too: a client that
/// goes away cancels the run. What the wire has no place for is logged with `tracing` as a warning.
pub struct EventBody<S> {
    events: Option<Pin<Box<S>>>,
    writer: BodyWriter,
    merging: Option<Merging>,
    ticks: Option<Ticks>,
    last_was_error: bool,
    is_finished: bool,
}

/// What merges neighbouring deltas, and when.
struct Merging {
    coalescer: Coalescer,
    given: Given,
}

impl<S> EventBody<S> {
    pub(super) fn new(events: S, writer: BodyWriter, options: Options, coalesce: bool) -> Self {
        Self {
            events: Some(Box::pin(events)),
            writer,
            merging: coalesce.then(|| Merging {
                coalescer: Coalescer::with_limits(*options.limits()),
                given: Given::default(),
            }),
            ticks: None,
            last_was_error: false,
            is_finished: false,
        }
    }

    /// Writes a comment at each of these ticks, unless there is something else to write, so that
    /// what stands between does not take the connection for dead. In the text binding alone: the
    /// binary one has no such thing, and gets no ticks.
    ///
    /// A tick is whatever the runtime has for it: with tokio, an interval of a few seconds.
    #[must_use]
    pub fn with_keep_alive(mut self, ticks: impl Stream<Item = ()> + Send + 'static) -> Self {
        self.ticks = (self.writer.format() == Format::Sse).then(|| Box::pin(ticks) as Ticks);
        self
    }

    /// Takes a tick, if one is there.
    fn take_tick(&mut self, context: &mut Context<'_>) {
        let Some(ticks) = &mut self.ticks else { return };
        match ticks.as_mut().poll_next(context) {
            Poll::Ready(Some(())) => self.writer.put_keep_alive(),
            Poll::Ready(None) => self.ticks = None,
            Poll::Pending => {}
        }
    }

    fn put(&mut self, event: &Event) -> Result<(), EncodeError> {
        for notice in self.writer.put(event)? {
            tracing::warn!(event_type = %event.event_type(), "{notice}");
        }
        self.last_was_error = matches!(event.body, model::Body::RunError(_));
        Ok(())
    }

    /// Puts an event, or what is merged before it.
    fn push(&mut self, event: Event) -> Result<(), EncodeError> {
        let event = match &mut self.merging {
            Some(merging) => merging.coalescer.push(event),
            None => Some(event),
        };
        event.map_or(Ok(()), |event| self.put(&event))
    }

    /// Puts what is merged.
    fn settle(&mut self) -> Result<(), EncodeError> {
        let held = self.merging.as_mut().and_then(|merging| merging.coalescer.take());
        held.map_or(Ok(()), |event| self.put(&event))
    }

    /// Ends the stream with a `RUN_ERROR`.
    ///
    /// Rule: specification 1.1, events/lifecycle: a `RUN_ERROR` may come at any point, but not
    /// behind another.
    fn fail(&mut self, error: RunError) {
        self.events = None;
        tracing::warn!(message = error.message, "a run failed");
        if self.last_was_error {
            return;
        }
        if let Err(error) = self.put(&error.into()) {
            // Its text may be too long, or its usage malformed.
            let error = RunError::new(format!("the run failed, and not as it may: {error}"));
            drop(self.put(&error.into()));
        }
    }

    fn refuse(&mut self, error: &EncodeError) {
        self.fail(RunError::new(format!("an event could not be sent: {error}")));
    }
}

impl<S> EventBody<S>
where
    S: Stream,
    S::Item: BodyItem,
{
    /// Takes the events that are ready.
    fn take_events(&mut self, context: &mut Context<'_>) {
        for _ in 0..PART_EVENTS {
            let Some(events) = &mut self.events else { break };
            let Poll::Ready(item) = events.as_mut().poll_next(context) else { break };
            let Some(item) = item else {
                self.events = None;
                break;
            };
            match item.into_event() {
                Ok(event) => {
                    if let Err(error) = self.push(event) {
                        return self.refuse(&error);
                    }
                }
                Err(error) => {
                    return match self.settle() {
                        Ok(()) => self.fail(error),
                        Err(refused) => self.refuse(&refused),
                    };
                }
            }
            if self.writer.len() >= PART_LEN {
                break;
            }
        }
        if let Err(error) = self.settle() {
            self.refuse(&error);
        }
    }
}

impl<S> Body for EventBody<S>
where
    S: Stream,
    S::Item: BodyItem,
{
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let body = &mut *self;
        if body.is_finished {
            return Poll::Ready(None);
        }
        if let Some(merging) = &body.merging
            && merging.given.poll_taken(context).is_pending()
        {
            return Poll::Pending;
        }
        body.take_events(context);
        if body.events.is_some() && body.writer.is_empty() {
            body.take_tick(context);
        }
        let bytes = if body.events.is_none() {
            body.is_finished = true;
            body.writer.finish()
        } else if body.writer.is_empty() {
            return Poll::Pending;
        } else {
            body.writer.flush()
        };
        match bytes {
            Ok(bytes) if bytes.is_empty() => Poll::Ready(None),
            Ok(bytes) => {
                let bytes = match &body.merging {
                    Some(merging) => merging.given.watched(bytes),
                    None => bytes,
                };
                Poll::Ready(Some(Ok(Frame::data(bytes))))
            }
            Err(error) => {
                (body.events, body.is_finished) = (None, true);
                Poll::Ready(Some(Err(error)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.is_finished
    }
}

impl<S> fmt::Debug for EventBody<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventBody")
            .field("writer", &self.writer)
            .field("has_ended", &self.events.is_none())
            .finish_non_exhaustive()
    }
}
