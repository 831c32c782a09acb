//! What became of a run.

use std::fmt;
use std::time::Duration;

use crate::causes::with_causes;
use crate::model::{Body, Event, RunError, RunFinished};
use crate::stream::BodyError;

/// What became of a run, once its events are over. If a body holds several runs, of the last one.
///
/// Rule: specification 1.1, basic/transports: a body that ends without a terminal event is a
/// truncated run; it is no success, and no outcome is made up for it.
#[derive(Debug)]
#[non_exhaustive]
pub enum RunEnd {
    /// It ended with a `RUN_FINISHED`, which says how: done, interrupted, or cancelled.
    Finished(Box<RunFinished>),
    /// It ended with a `RUN_ERROR`.
    Failed(Box<RunError>),
    /// What came is no stream of events. What came before the fault was given.
    Rejected(BodyError),
    /// It broke off. What came before was given.
    Truncated(Truncation),
}

impl RunEnd {
    /// Whether the agent ended the run, and not with an error.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        matches!(self, Self::Finished(_))
    }
}

/// What the agent says of a failure, the place and reason of a fault, or what broke off.
impl fmt::Display for RunEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Finished(_) => f.write_str("finished"),
            Self::Failed(error) => match &error.code {
                Some(code) => write!(f, "failed: {} ({code})", error.message),
                None => write!(f, "failed: {}", error.message),
            },
            Self::Rejected(error) => write!(f, "rejected: {error}"),
            // It says so itself.
            Self::Truncated(Truncation::InEvent(error)) => error.fmt(f),
            Self::Truncated(truncation) => write!(f, "truncated: {truncation}"),
        }
    }
}

/// How a run broke off.
#[derive(Debug)]
#[non_exhaustive]
pub enum Truncation {
    /// The body ended, as bodies do, before a terminal event.
    BeforeEnd,
    /// The body ended inside an event.
    InEvent(BodyError),
    /// The connection broke.
    Broken(reqwest::Error),
    /// Nothing came for too long.
    Idle {
        /// The limit.
        after: Duration,
    },
}

impl fmt::Display for Truncation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BeforeEnd => f.write_str("the body ended before the run did"),
            Self::InEvent(error) => error.fmt(f),
            Self::Broken(error) => write!(f, "the connection broke: {}", with_causes(error)),
            Self::Idle { after } => write!(f, "nothing came for {after:?}"),
        }
    }
}

/// The last terminal event, until another run starts.
#[derive(Debug, Default)]
pub(super) enum Terminal {
    #[default]
    None,
    Finished(Box<RunFinished>),
    Failed(Box<RunError>),
}

impl Terminal {
    /// Rule: specification 1.1, events/lifecycle: a late `RUN_ERROR` makes a finished run a failed
    /// one; nothing makes a failed run a finished one.
    pub(super) fn see(&mut self, event: &Event) {
        match &event.body {
            Body::RunStarted(_) => *self = Self::None,
            Body::RunFinished(body) if !matches!(self, Self::Failed(_)) => {
                *self = Self::Finished(Box::new(body.as_ref().clone()));
            }
            Body::RunError(body) => *self = Self::Failed(Box::new(body.clone())),
            _ => {}
        }
    }

    pub(super) fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }

    /// What the event says, or that the run broke off.
    pub(super) fn or(self, truncation: impl FnOnce() -> Truncation) -> RunEnd {
        match self {
            Self::None => RunEnd::Truncated(truncation()),
            Self::Finished(body) => RunEnd::Finished(body),
            Self::Failed(body) => RunEnd::Failed(body),
        }
    }
}
