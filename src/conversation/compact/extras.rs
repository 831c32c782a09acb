//! What becomes of timestamps and of the producers' own events.

use crate::model::Base;

/// What becomes of a timestamp, or of a `rawEvent`, when events become one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extras {
    /// None is lost: an event that has one does not go into another.
    Keep,
    /// Events that stay as they are keep theirs. One that others went into keeps the first timestamp
    /// of them, and no `rawEvent`, since that is no longer what it was made from.
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
    /// Takes off what is dropped from all events.
    pub(super) fn strip(self, base: &mut Base) {
        if self.timestamps == Extras::Drop {
            base.timestamp = None;
        }
        if self.raw_events == Extras::Drop {
            base.raw_event = None;
        }
    }

    /// Whether an event must not go into another.
    pub(super) fn keep_apart(self, base: &Base) -> bool {
        (self.timestamps == Extras::Keep && base.timestamp.is_some())
            || (self.raw_events == Extras::Keep && base.raw_event.is_some())
    }

    /// Changes the base of an event that others go into; `timestamp` is theirs.
    pub(super) fn merge(self, base: &mut Base, timestamp: Option<i64>) {
        base.timestamp = base.timestamp.or(timestamp);
        if self.raw_events != Extras::Keep {
            base.raw_event = None;
        }
    }
}
