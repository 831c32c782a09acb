//! What a stream of events may give.

use std::fmt::Display;

use crate::model::{Event, RunError};

/// An item of a stream that [`Responder::respond`](super::Responder::respond) takes: an event, or
/// an event or why the run failed.
pub trait BodyItem {
    /// The event, or the one that says why there is none.
    ///
    /// # Errors
    ///
    /// The event that ends the run.
    fn into_event(self) -> Result<Event, RunError>;
}

impl BodyItem for Event {
    fn into_event(self) -> Result<Event, RunError> {
        Ok(self)
    }
}

impl<E: IntoRunError> BodyItem for Result<Event, E> {
    fn into_event(self) -> Result<Event, RunError> {
        self.map_err(IntoRunError::into_run_error)
    }
}

/// Why a run failed, as the client is told.
///
/// Any error that can be displayed is told as it is displayed, without a code. What a client must
/// not know is to be kept out of the stream: map the error to a [`RunError`], or to another text.
pub trait IntoRunError {
    /// The event that the client gets.
    fn into_run_error(self) -> RunError;
}

impl IntoRunError for RunError {
    fn into_run_error(self) -> RunError {
        self
    }
}

impl<E: Display> IntoRunError for E {
    fn into_run_error(self) -> RunError {
        RunError::new(self.to_string())
    }
}
