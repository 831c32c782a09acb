//! The rules between events, and how a run ends.

use std::collections::HashMap;

use ag_ui_proto::Event;
use ag_ui_proto::conversation::{
    ChunkExpander, Consumer, Conversation, Delivered, Rejection, Verifier, Violation, WarningKind,
};
use ag_ui_proto::model::{Body, RunFinishedOutcome};

/// Holds a stream to its rules, whatever chunks it has.
pub(crate) enum Rules {
    /// To those that every consumer holds it to.
    Consumer { expander: Box<ChunkExpander>, verifier: Box<Verifier>, ready: Vec<Event> },
    /// Also to those for producers, who are asked of a thread what is asked of a conversation.
    Producer { stream: Box<Rules>, threads: Threads, delivered: Delivered },
}

/// The conversations of a stream.
#[derive(Default)]
pub(crate) struct Threads {
    /// By thread: how many events it has seen, or been told of, and what they come to.
    list: HashMap<String, (u64, Consumer)>,
    /// The thread of the run that started last.
    now: String,
    /// Events of the stream.
    events: u64,
}

impl Threads {
    /// The thread that the next event of the stream belongs to, which it counts.
    fn of(&mut self, event: &Event) -> &mut Consumer {
        if let Body::RunStarted(body) = &event.body {
            self.now.clone_from(&body.thread_id);
        }
        let new = || (0, Consumer::new(Conversation::new()).with_producer_rules());
        let (seen, consumer) = self.list.entry(self.now.clone()).or_insert_with(new);
        // Those of other threads count, so that a number is that of the stream.
        (*seen..self.events).for_each(|_| consumer.skip());
        self.events += 1;
        *seen = self.events;
        consumer
    }
}

impl Rules {
    pub(crate) fn new(for_producers: bool) -> Self {
        if for_producers {
            let stream = Box::new(Self::new(false));
            let (threads, delivered) = Default::default();
            return Self::Producer { stream, threads, delivered };
        }
        let (expander, verifier) = Default::default();
        Self::Consumer { expander, verifier, ready: Vec::new() }
    }

    /// Judges the next event of the stream; `faults` takes what breaks no stream.
    ///
    /// # Errors
    ///
    /// The rule that it breaks.
    pub(crate) fn judge(&mut self, event: Event, faults: &mut Vec<String>) -> Result<(), String> {
        match self {
            Self::Consumer { expander, verifier, ready } => {
                ready.clear();
                let expanded = expander.expand(event, ready);
                expanded
                    .and_then(|()| ready.iter().try_for_each(|event| verifier.verify(event)))
                    .map_err(|violation| told(&violation))
            }
            Self::Producer { stream, threads, delivered } => {
                let event_type = event.event_type();
                let judged = stream.judge(event.clone(), faults);
                let pushed = threads.of(&event).push(event, delivered).map_err(refusal);
                delivered.events.clear();
                let kinds = delivered.warnings.drain(..).map(|warning| warning.kind);
                let kinds = kinds.filter(|kind| !is_blameless(kind));
                faults.extend(kinds.map(|kind| format!("{event_type}: {kind}")));
                judged.and(pushed)
            }
        }
    }

    /// Whether the stream may end where it does.
    pub(crate) fn may_end(self) -> bool {
        match self {
            Self::Consumer { verifier, .. } => verifier.is_terminated(),
            Self::Producer { stream, .. } => stream.may_end(),
        }
    }
}

/// Whether a consumer warns of what no producer does wrong: to speak a later version, and to be one of
/// several whose threads are in a log.
fn is_blameless(kind: &WarningKind) -> bool {
    matches!(kind, WarningKind::NewerVersion { .. } | WarningKind::OtherThread { .. })
}

/// Why a stream is refused, without the number of its event, which its place says better.
pub(crate) fn refusal(rejection: &Rejection) -> String {
    match rejection {
        Rejection::Violation(violation) => told(violation),
        Rejection::Malformed { fault, .. } => fault.to_string(),
        rejection => rejection.to_string(),
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
