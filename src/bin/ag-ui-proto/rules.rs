//! The rules between events, and how a run ends.

use ag_ui_proto::Event;
use ag_ui_proto::conversation::{ChunkExpander, Verifier, Violation};
use ag_ui_proto::model::{Body, RunFinishedOutcome};

/// Holds a stream to its rules, whatever chunks it has.
#[derive(Default)]
pub(crate) struct Rules {
    expander: ChunkExpander,
    verifier: Verifier,
    ready: Vec<Event>,
}

impl Rules {
    /// Judges the next event of the stream.
    ///
    /// # Errors
    ///
    /// The rule that it breaks.
    pub(crate) fn judge(&mut self, event: Event) -> Result<(), Violation> {
        self.ready.clear();
        self.expander.expand(event, &mut self.ready)?;
        self.ready.iter().try_for_each(|event| self.verifier.verify(event))
    }

    /// Whether the stream may end here.
    pub(crate) fn is_terminated(&self) -> bool {
        self.verifier.is_terminated()
    }
}

/// A violation without the number of its event, which its place says better.
pub(crate) fn told(Violation { event_type, kind, .. }: &Violation) -> String {
    format!("{event_type}: {kind} ({})", kind.rule())
}

/// How a run ends that ends with `event`; nothing if this is not its end.
pub(crate) fn ending(event: &Event) -> Option<&'static str> {
    match &event.body {
        Body::RunError(_) => Some("failed"),
        Body::RunFinished(body) => Some(match &body.outcome {
            Some(RunFinishedOutcome::Interrupt(_)) => "interrupted",
            Some(RunFinishedOutcome::Cancelled(_)) => "cancelled",
            None | Some(_) => "success",
        }),
        _ => None,
    }
}
