//! What becomes of timestamps and of the producers' own events, and what went.

use crate::conversation::message::merge;
use crate::model::Base;
use crate::value::Object;

/// What becomes of a timestamp, or of a `rawEvent`, when events become one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extras {
    /// None is lost: an event that has one does not go into another.
    Keep,
    /// Events that stay as they are keep theirs. One that others went into keeps the first timestamp
    /// of them (a snapshot of the state its own, if it has one), and no `rawEvent`, since that is no
    /// longer what it was made from.
    #[default]
    Merge,
    /// All go, those of events that stay as they are too.
    Drop,
}

/// What is kept of each.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Kept {
    pub(super) timestamps: Extras,
    pub(super) raw_events: Extras,
}

impl Kept {
    /// Takes off a timestamp if all are dropped.
    pub(super) fn strip_timestamp(self, base: &mut Base, left_out: &mut LeftOut) {
        if self.timestamps == Extras::Drop {
            left_out.timestamps += u64::from(base.timestamp.take().is_some());
        }
    }

    /// Takes off a `rawEvent` if all are dropped.
    pub(super) fn strip_raw_event(self, base: &mut Base, left_out: &mut LeftOut) {
        if self.raw_events == Extras::Drop {
            left_out.raw_events += u64::from(base.raw_event.take().is_some());
        }
    }

    /// Whether an event must not go into another.
    pub(super) fn keep_apart(self, base: &Base) -> bool {
        (self.timestamps == Extras::Keep && base.timestamp.is_some())
            || (self.raw_events == Extras::Keep && base.raw_event.is_some())
    }

    /// Changes the base of an event that others go into; `theirs` is that of one of them.
    pub(super) fn merge(self, base: &mut Base, theirs: Base, left_out: &mut LeftOut) {
        match base.timestamp {
            None => base.timestamp = theirs.timestamp,
            Some(_) => left_out.timestamps += u64::from(theirs.timestamp.is_some()),
        }
        merge(&mut base.metadata, theirs.metadata.as_ref());
        if self.raw_events == Extras::Keep {
            base.raw_event = base.raw_event.take().or(theirs.raw_event);
        } else {
            left_out.raw_events += u64::from(base.raw_event.take().is_some());
            left_out.raw_events += u64::from(theirs.raw_event.is_some());
        }
    }
}

/// What a [`Compactor`](super::Compactor) left out, besides what [`Extras`] says that events which
/// became one keep.
///
/// Metadata of text and of tool calls is merged, as it is when it is applied, and nothing of it goes.
/// State events keep theirs to themselves when they are applied; those that become one have it merged,
/// too, and then a value that a later one has under the same key replaces an earlier one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeftOut {
    /// Timestamps.
    pub timestamps: u64,
    /// `rawEvent`s.
    pub raw_events: u64,
    /// Members of the metadata of state events that other values replaced.
    pub metadata: u64,
    /// The subagents of state events that became one with an event of another, or of none.
    pub tags: u64,
    /// Patches of the state that could not be applied, and so changed nothing (K6).
    pub failed_patches: u64,
}

impl LeftOut {
    /// Whether nothing was left out.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Counts the members of `metadata` that `later` gives other values.
    pub(super) fn replaced(&mut self, metadata: Option<&Object>, later: Option<&Object>) {
        let (Some(metadata), Some(later)) = (metadata, later) else { return };
        for (key, value) in later {
            self.metadata += u64::from(metadata.get(key).is_some_and(|held| held != value));
        }
    }
}
