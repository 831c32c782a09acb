//! The threads of a log, each a stream of its own.
//!
//! An event does not say which thread it belongs to: it belongs to that of the run that started last.
//! What comes before any run belongs to the first thread.

use std::collections::HashMap;

use ag_ui_proto::Event;
use ag_ui_proto::conversation::{Consumer, Conversation, Delivered};
use ag_ui_proto::model::Body;

use super::Found;
use crate::events::{Events, Place, Read};
use crate::failure::Failure;
use crate::report::Report;
use crate::rules::refusal;

/// How many threads are named where one is not found.
const NAMED: usize = 10;

/// How large the conversations of all threads may become by what their patches copy; one alone may
/// become three quarters of that.
const MAX_COPIED_LEN: usize = 256 << 20;

/// The threads so far, in the order in which they first came.
pub(super) struct Threads<'w> {
    list: Vec<Thread>,
    by_id: HashMap<String, usize>,
    /// The thread that events belong to now.
    now: usize,
    /// The only one that is asked for; nothing for all.
    wanted: Option<&'w str>,
    delivered: Delivered,
    /// By [`Conversation::copied_len`], of all threads.
    copied_len: usize,
}

pub(super) struct Thread {
    /// Nothing while no run has started.
    pub(super) id: Option<String>,
    pub(super) consumer: Consumer,
    pub(super) found: Found,
}

impl Thread {
    fn new(id: Option<String>) -> Self {
        Self { id, consumer: Consumer::new(Conversation::new()), found: Found::default() }
    }
}

impl<'w> Threads<'w> {
    pub(super) fn new(wanted: Option<&'w str>) -> Self {
        Self {
            list: vec![Thread::new(None)],
            by_id: HashMap::new(),
            now: 0,
            wanted,
            delivered: Delivered::default(),
            copied_len: 0,
        }
    }

    /// Reads all events. A thread that is refused takes no more, and others go on.
    ///
    /// # Errors
    ///
    /// Input that cannot be read, or is no event: whose it would be is not known.
    pub(super) fn read(&mut self, events: &mut Events, report: &Report) -> Result<(), Failure> {
        while let Some(read) = events.next_untold(report, || Ok(()))? {
            let Read { place, event, notices } = read;
            let event = event.map_err(|reason| {
                Failure::Data(format!("{}: {reason}", place.of(events.name())))
            })?;
            if let Some(Event { body: Body::RunStarted(body), .. }) = &event {
                self.turn_to(&body.thread_id);
            }
            if self.takes_events() {
                self.take(events.name(), place, event, &notices, report);
            }
        }
        Ok(())
    }

    /// Says why the input cannot be read on. What comes there and behind it may be of any thread, so
    /// none is known to be whole.
    pub(super) fn fail(&mut self, reason: &str) {
        for thread in &mut self.list {
            thread.found.error.get_or_insert_with(|| reason.to_owned());
        }
    }

    /// The threads that are asked for, one at least.
    ///
    /// # Errors
    ///
    /// The one that is asked for is not there.
    pub(super) fn into_wanted(mut self) -> Result<Vec<Thread>, String> {
        let Some(wanted) = self.wanted else { return Ok(self.list) };
        if let Some(index) = self.by_id.get(wanted).copied() {
            return Ok(vec![self.list.swap_remove(index)]);
        }
        if let Some(error) = self.list.into_iter().find_map(|thread| thread.found.error) {
            return Err(format!("no thread {wanted:?} before {error}"));
        }
        let mut ids: Vec<_> = self.by_id.into_iter().collect();
        ids.sort_by_key(|(_, index)| *index);
        let more = if ids.len() > NAMED { ", ..." } else { "" };
        let ids: Vec<_> = ids.iter().take(NAMED).map(|(id, _)| format!("{id:?}")).collect();
        Err(match ids.len() {
            0 => format!("no thread {wanted:?}, and no other"),
            _ => format!("no thread {wanted:?}, but {}{more}", ids.join(", ")),
        })
    }

    fn turn_to(&mut self, id: &str) {
        if let Some(&index) = self.by_id.get(id) {
            self.now = index;
            return;
        }
        match self.list.first_mut() {
            Some(first) if first.id.is_none() => first.id = Some(id.to_owned()),
            _ => self.list.push(Thread::new(Some(id.to_owned()))),
        }
        self.now = self.list.len() - 1;
        self.by_id.insert(id.to_owned(), self.now);
    }

    /// Whether what comes now is asked for, or may be.
    fn takes_events(&self) -> bool {
        let Some(thread) = self.list.get(self.now) else { return false };
        let is_wanted = match (self.wanted, &thread.id) {
            (Some(wanted), Some(id)) => wanted == id,
            _ => true,
        };
        is_wanted && thread.found.error.is_none()
    }

    fn take(
        &mut self,
        name: &str,
        place: Place,
        event: Option<Event>,
        notices: &[String],
        report: &Report,
    ) {
        let Some(Thread { consumer, found, .. }) = self.list.get_mut(self.now) else { return };
        let place = || place.of(name);
        for notice in notices {
            report.warning(place(), notice);
            found.warnings.push(format!("{}: {notice}", place()));
        }
        let Some(event) = event else { return };
        let before = consumer.conversation().copied_len();
        if let Err(rejection) = consumer.push(event, &mut self.delivered) {
            found.error = Some(format!("{}: {}", place(), refusal(rejection)));
        }
        let len = consumer.conversation().copied_len();
        self.copied_len = self.copied_len - before + len;
        if self.copied_len > MAX_COPIED_LEN {
            // What it has come to is let go, or the next ones would still add to it.
            *consumer = Consumer::new(Conversation::new());
            self.copied_len -= len;
            let reason = format!("copies beyond {MAX_COPIED_LEN} bytes in all threads");
            found.error = Some(format!("{}: {reason}: see --thread", place()));
        }
        for warning in self.delivered.warnings.drain(..) {
            report.warning(place(), &warning.kind);
            found.warnings.push(format!("{}: {}", place(), warning.kind));
        }
        for event in self.delivered.events.drain(..) {
            found.event_types.push(event.event_type());
            if let Body::RunError(body) = event.body {
                found.run_error = Some(body.message);
            }
        }
    }
}
