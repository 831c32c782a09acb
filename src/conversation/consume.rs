//! A stream from its first event to its end, and what that end was.

use std::error::Error;

use super::apply::Conversation;
use super::chunks::ChunkExpander;
use super::producer::ProducerRules;
use super::run::RunOutcome;
use super::verify::{Phase, Verifier};
use super::violation::Violation;
use super::warning::{Warning, WarningKind};
use crate::model::{Event, Malformed, RunError, UnknownNames};

/// Takes the events of one stream through enforcement, chunk expansion, the rules, and into a
/// conversation, always in this order.
///
/// # Examples
///
/// ```
/// use ag_ui_proto::Event;
/// use ag_ui_proto::conversation::{Consumer, Conversation, Delivered, RunResult};
/// use ag_ui_proto::model::{RunFinished, RunStarted, TextMessageChunk};
///
/// let mut consumer = Consumer::new(Conversation::new());
/// let mut delivered = Delivered::default();
/// for event in [
///     Event::from(RunStarted::new("t", "r")),
///     Event::from(TextMessageChunk::new().with_message_id("m").with_delta("Hi")),
/// ] {
///     consumer.push(event, &mut delivered).map_err(ToString::to_string)?;
/// }
/// assert_eq!(delivered.events.len(), 3);
///
/// // The stream stops here: what has come stands, and is not called a success.
/// let consumed = consumer.finish();
/// assert!(matches!(consumed.result, RunResult::Truncated));
/// assert_eq!(consumed.conversation.messages().len(), 1);
/// # Ok::<(), String>(())
/// ```
#[derive(Debug)]
pub struct Consumer {
    names: UnknownNames,
    index: usize,
    expander: ChunkExpander,
    verifier: Verifier,
    producer: Option<Box<ProducerRules>>,
    conversation: Conversation,
    rejection: Option<Rejection>,
}

/// What a stream has brought: the events as an application sees them, and what it should hear of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Delivered {
    /// Enforced, with chunks expanded, and applied.
    pub events: Vec<Event>,
    /// What was stripped, dropped or left out.
    pub warnings: Vec<Warning>,
}

/// A stream that ended, one way or another.
#[derive(Debug)]
pub struct Consumed {
    /// What the stream has come to, in any case: what was delivered stands.
    pub conversation: Conversation,
    /// How it ended.
    pub result: RunResult,
}

/// How a stream ended: four things that no consumer may take for one another.
///
/// Of a stream with several runs, that is how its last one ended; the others are in
/// [`Conversation::runs`].
///
/// Rule: specification 1.1, events/lifecycle and basic/transports: a truncated run is no success, and
/// a failure that the agent reports is no fault of the stream.
#[derive(Debug)]
pub enum RunResult {
    /// The agent finished the run: it succeeded, waits, or was cancelled.
    Finished(RunOutcome),
    /// The agent reports that the run failed.
    Failed(RunError),
    /// The stream was refused: it is malformed, or breaks a rule.
    Rejected(Rejection),
    /// The stream ended before its run did, or before any event.
    Truncated,
}

impl RunResult {
    /// Whether the run did what it was asked to.
    #[must_use]
    pub fn is_success(&self) -> bool {
        matches!(self, Self::Finished(RunOutcome::Success { .. }))
    }
}

/// Why a stream was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Rejection {
    /// An event is malformed.
    #[error("event {index}: {fault}")]
    Malformed {
        /// Which event of the stream, counted from 0.
        index: usize,
        /// What is wrong with it.
        #[source]
        fault: Malformed,
    },
    /// An event breaks a rule of the stream.
    #[error(transparent)]
    Violation(#[from] Violation),
    /// What carries the events could not be read.
    #[error("event {index}: {source}")]
    Unreadable {
        /// Which event of the stream, counted from 0.
        index: usize,
        /// What the reader of text or frames says.
        source: Box<dyn Error + Send + Sync>,
    },
}

impl Consumer {
    /// Makes one that goes on from `conversation`.
    #[must_use]
    pub fn new(conversation: Conversation) -> Self {
        Self {
            names: UnknownNames::default(),
            index: 0,
            expander: ChunkExpander::new(),
            verifier: Verifier::new(),
            producer: None,
            conversation: conversation.next_stream(),
            rejection: None,
        }
    }

    /// Sets what is done with an unknown string in a closed set.
    #[must_use]
    pub fn with_unknown_names(mut self, names: UnknownNames) -> Self {
        self.names = names;
        self
    }

    /// Also warns where the producer breaks a rule that the protocol asks of producers alone: for
    /// who writes one, and for its tests. What is refused stays the same.
    ///
    /// Memory grows with the number of runs, and within a run with the items that it names.
    #[must_use]
    pub fn with_producer_rules(mut self) -> Self {
        self.producer = Some(Box::default());
        self
    }

    /// What the stream has come to so far.
    #[must_use]
    pub fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    /// Takes the next event of the stream, and appends what it brings to `out`.
    ///
    /// An event that stands for several is delivered up to the one that breaks a rule.
    ///
    /// # Errors
    ///
    /// Why the stream is refused. It stays refused, and takes no more events.
    pub fn push(&mut self, event: Event, out: &mut Delivered) -> Result<(), &Rejection> {
        if self.rejection.is_none() {
            let index = self.index;
            self.index += 1;
            if let Err(rejection) = self.take(index, event, out) {
                self.rejection = Some(rejection);
            }
        }
        self.rejection.as_ref().map_or(Ok(()), Err)
    }

    /// Counts an event that was dropped before it came here, so that places keep their numbers.
    pub fn skip(&mut self) {
        self.index += 1;
    }

    /// Refuses the stream since what carries it cannot be read. A stream that was merely cut is not
    /// refused, but finished.
    pub fn reject(&mut self, error: impl Into<Box<dyn Error + Send + Sync>>) {
        if self.rejection.is_none() {
            let source = error.into();
            self.rejection = Some(Rejection::Unreadable { index: self.index, source });
        }
    }

    /// Ends the stream, wherever it stands.
    ///
    /// Nothing is made up: what is open stays open, and a run without an end has none.
    #[must_use]
    pub fn finish(self) -> Consumed {
        let Self { verifier, conversation, rejection, .. } = self;
        let outcome = conversation.runs().last().and_then(|run| run.outcome.clone());
        let result = match (rejection, verifier.phase(), outcome) {
            (Some(rejection), ..) => RunResult::Rejected(rejection),
            (None, Phase::Failed, Some(RunOutcome::Failed(error))) => RunResult::Failed(error),
            (None, Phase::Finished, Some(outcome)) => RunResult::Finished(outcome),
            (None, ..) => RunResult::Truncated,
        };
        Consumed { conversation, result }
    }

    fn take(
        &mut self,
        index: usize,
        mut event: Event,
        out: &mut Delivered,
    ) -> Result<(), Rejection> {
        let mut notices = Vec::new();
        event.drop_retired_nulls(&mut notices);
        let enforced =
            event.enforce(self.names).map_err(|fault| Rejection::Malformed { index, fault })?;
        notices.extend(enforced.notices);
        let warning = |kind| Warning { index, kind };
        out.warnings.extend(notices.into_iter().map(|notice| warning(notice.into())));
        // P3: a dropped event does not exist for what follows.
        let Some(event) = enforced.event else { return Ok(()) };
        let at = |violation| Violation { index, ..violation };
        let mut expanded = Vec::with_capacity(1);
        self.expander.expand(event, &mut expanded).map_err(at)?;
        for event in expanded {
            self.verifier.verify(&event).map_err(at)?;
            if let Some(rules) = &mut self.producer {
                let faults = rules.judge(index, &event, &self.conversation);
                out.warnings.extend(faults.into_iter().map(WarningKind::Producer).map(warning));
            }
            out.warnings.extend(self.conversation.apply(&event).into_iter().map(warning));
            out.events.push(event);
        }
        Ok(())
    }
}
