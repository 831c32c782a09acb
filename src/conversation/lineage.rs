//! The runs of a log as a forest, and any point of any branch as a conversation.
//!
//! ```text
//! log:     r1   r2   r3 (parent r1)   r4
//!
//! forest:  r1 -- r2
//!            \-- r3 -- r4
//! ```
//!
//! A log is an append-only list of the events of whole runs. `parentRunId` links a run to another;
//! a run without it follows the run before it in its thread.
//!
//! Rule: the protocol's serialization page, on branching; specification 1.1, basic/run-input, on the
//! runs that an agent launches, which use the same member.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::apply::Conversation;
use super::chunks::ChunkExpander;
use super::violation::Violation;
use crate::model::{Body, Event};

/// What `parentRunId` says in a log. The protocol uses it for both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ParentRun {
    /// The run goes on from there: a branch, or a return to an earlier point.
    #[default]
    Branch,
    /// That run launched this one, which goes on from the run before it in its own thread.
    Spawn,
}

/// The runs of a log, and which goes on from which.
#[derive(Clone, Debug)]
pub struct Lineage<'e> {
    events: &'e [Event],
    runs: Vec<LineageRun<'e>>,
    ids: Ids<'e>,
}

/// Where the last run of each id stands: ids are used once in a thread, not in a log of several.
#[derive(Clone, Debug, Default)]
struct Ids<'e> {
    in_thread: HashMap<(&'e str, &'e str), usize>,
    anywhere: HashMap<&'e str, Threads<'e>>,
}

/// The threads that have a run with an id.
#[derive(Clone, Copy, Debug)]
enum Threads<'e> {
    One(&'e str),
    Several,
}

impl<'e> Ids<'e> {
    fn insert(&mut self, thread_id: &'e str, run_id: &'e str, run: usize) {
        self.in_thread.insert((thread_id, run_id), run);
        let threads = self.anywhere.entry(run_id).or_insert(Threads::One(thread_id));
        if !matches!(threads, Threads::One(thread) if *thread == thread_id) {
            *threads = Threads::Several;
        }
    }

    fn get(&self, thread_id: &str, run_id: &str) -> Option<usize> {
        self.in_thread.get(&(thread_id, run_id)).copied()
    }

    /// What a link of a run leads to: a run of its thread, or else of the only other one that has it.
    fn linked(&self, thread_id: &str, run_id: &str) -> Option<usize> {
        self.get(thread_id, run_id).or_else(|| match self.anywhere.get(run_id)? {
            Threads::One(thread_id) => self.get(thread_id, run_id),
            Threads::Several => None,
        })
    }
}

/// One run of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LineageRun<'e> {
    /// Id of the thread.
    pub thread_id: &'e str,
    /// Id of the run.
    pub run_id: &'e str,
    /// The link as the run has it; it may name a run that is not in the log.
    pub parent_run_id: Option<&'e str>,
    /// Which run of the log the link leads to; nothing for none that comes before.
    pub parent: Option<usize>,
    /// Which run of the log it goes on from; nothing for a root.
    pub follows: Option<usize>,
    /// Where its events stand in the log.
    pub events: Range<usize>,
}

impl<'e> Lineage<'e> {
    /// Reads the runs of a log. Events before the first run belong to none.
    ///
    /// Run ids are used once in a thread, and again in another: a run is found by both ids. Of several
    /// runs with the same two, which the protocol forbids, the last one is found.
    ///
    /// A link leads to a run of the same thread, or else of the only other one that has a run with the
    /// id; where several others have, it says too little. Such a link, one to a run that comes later,
    /// and one to none of the log are kept, and lead nowhere.
    #[must_use]
    pub fn new(events: &'e [Event], reading: ParentRun) -> Self {
        let mut runs: Vec<LineageRun<'e>> = Vec::new();
        let mut ids = Ids::default();
        let mut by_thread: HashMap<&str, usize> = HashMap::new();
        for (place, event) in events.iter().enumerate() {
            let Body::RunStarted(body) = &event.body else {
                if let Some(run) = runs.last_mut() {
                    run.events.end = place + 1;
                }
                continue;
            };
            let parent_run_id = body.parent_run_id.as_deref();
            let parent = parent_run_id.and_then(|parent| ids.linked(&body.thread_id, parent));
            let follows = match (reading, parent_run_id) {
                (ParentRun::Branch, Some(_)) => parent,
                _ => by_thread.get(body.thread_id.as_str()).copied(),
            };
            ids.insert(&body.thread_id, &body.run_id, runs.len());
            by_thread.insert(&body.thread_id, runs.len());
            runs.push(LineageRun {
                thread_id: &body.thread_id,
                run_id: &body.run_id,
                parent_run_id,
                parent,
                follows,
                events: place..place + 1,
            });
        }
        Self { events, runs, ids }
    }

    /// The runs, in the order of the log.
    #[must_use]
    pub fn runs(&self) -> &[LineageRun<'e>] {
        &self.runs
    }

    /// The run of a thread with an id.
    #[must_use]
    pub fn run(&self, thread_id: &str, run_id: &str) -> Option<&LineageRun<'e>> {
        self.runs.get(self.ids.get(thread_id, run_id)?)
    }

    /// The runs from the root to one of a thread, both included; nothing if there is none.
    #[must_use]
    pub fn chain(&self, thread_id: &str, run_id: &str) -> Option<Vec<&LineageRun<'e>>> {
        let mut next = Some(self.ids.get(thread_id, run_id)?);
        let mut chain = Vec::new();
        // A run follows one that came before it, so this ends.
        while let Some(run) = next.and_then(|index| self.runs.get(index)) {
            chain.push(run);
            next = run.follows;
        }
        chain.reverse();
        Some(chain)
    }

    /// The runs that no other run goes on from: the tips of the branches.
    pub fn tips(&self) -> impl Iterator<Item = &LineageRun<'e>> {
        let followed: HashSet<usize> = self.runs.iter().filter_map(|run| run.follows).collect();
        let runs = self.runs.iter().enumerate();
        runs.filter(move |(index, _)| !followed.contains(index)).map(|(_, run)| run)
    }

    /// The events of the chain that ends with a run: a log of that branch alone.
    #[must_use]
    pub fn branch(&self, thread_id: &str, run_id: &str) -> Option<Vec<&'e Event>> {
        let chain = self.chain(thread_id, run_id)?;
        let events = |run: &LineageRun<'_>| self.events.get(run.events.clone());
        Some(chain.into_iter().filter_map(events).flatten().collect())
    }

    /// The conversation at the end of a run, on its branch alone.
    ///
    /// # Errors
    ///
    /// A chunk that cannot be expanded. The other rules are not asked for.
    #[must_use]
    pub fn materialize(
        &self,
        thread_id: &str,
        run_id: &str,
    ) -> Option<Result<Conversation, Violation>> {
        self.materialize_at(thread_id, run_id, usize::MAX)
    }

    /// The conversation after so many events of a run, its `RUN_STARTED` included, on its branch
    /// alone. A run that has fewer is taken whole.
    ///
    /// # Errors
    ///
    /// As of [`Lineage::materialize`].
    #[must_use]
    pub fn materialize_at(
        &self,
        thread_id: &str,
        run_id: &str,
        events: usize,
    ) -> Option<Result<Conversation, Violation>> {
        let run = self.run(thread_id, run_id)?;
        let left_out = run.events.len().saturating_sub(events);
        let branch = self.branch(thread_id, run_id)?;
        let taken = branch.len().saturating_sub(left_out);
        Some(replay(branch.into_iter().take(taken)))
    }

    /// The log without a run and all that go on from it.
    #[must_use]
    pub fn cut(&self, thread_id: &str, run_id: &str) -> Option<Vec<&'e Event>> {
        let gone = self.ids.get(thread_id, run_id)?;
        let mut is_gone = vec![false; self.runs.len()];
        let mut left_out = vec![false; self.events.len()];
        for (index, run) in self.runs.iter().enumerate() {
            let follows_gone = run.follows.is_some_and(|parent| is_gone[parent]);
            if index == gone || follows_gone {
                is_gone[index] = true;
                left_out[run.events.clone()].fill(true);
            }
        }
        let events = self.events.iter().zip(left_out);
        Some(events.filter(|(_, left_out)| !left_out).map(|(event, _)| event).collect())
    }
}

fn replay<'e>(events: impl Iterator<Item = &'e Event>) -> Result<Conversation, Violation> {
    let mut expander = ChunkExpander::new();
    let mut conversation = Conversation::new();
    let mut ready = Vec::new();
    for event in events {
        expander.expand(event.clone(), &mut ready)?;
        for event in ready.drain(..) {
            conversation.apply(&event);
        }
    }
    Ok(conversation)
}
