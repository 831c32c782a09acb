//! What may be done with an item: opened, continued, closed.

use std::collections::{BTreeSet, HashMap};

use crate::conversation::violation::{Item, ItemKind, Owner, ViolationKind};

/// An item as an event names it: what it is, its id, and the event's tag.
#[derive(Clone, Copy)]
pub(super) struct Named<'e>(pub(super) ItemKind, pub(super) &'e str, pub(super) Option<&'e str>);

impl Named<'_> {
    /// S1.
    pub(super) fn is_closed(self, open: &BTreeSet<String>) -> Result<(), ViolationKind> {
        let Self(kind, id, _) = self;
        if open.contains(id) {
            return Err(ViolationKind::AlreadyOpen(Item::new(kind, id)));
        }
        Ok(())
    }

    /// G1, G3: an untagged event goes with whatever is recorded.
    pub(super) fn is_reopened_by(self, recorded: Option<&str>) -> Result<(), ViolationKind> {
        let Self(kind, id, tag) = self;
        if tag.is_some() && tag != recorded {
            let (owner, tag) = self.parties(recorded);
            return Err(ViolationKind::ReopenedByOther { item: Item::new(kind, id), owner, tag });
        }
        Ok(())
    }

    /// S1, S5, G3.
    pub(super) fn open(
        self,
        open: &mut BTreeSet<String>,
        owners: &mut HashMap<String, Option<String>>,
    ) -> Result<(), ViolationKind> {
        let Self(_, id, tag) = self;
        self.is_closed(open)?;
        match owners.get(id) {
            Some(recorded) => self.is_reopened_by(recorded.as_deref())?,
            None => {
                owners.insert(id.to_owned(), tag.map(str::to_owned));
            }
        }
        open.insert(id.to_owned());
        Ok(())
    }

    /// S2, G2.
    pub(super) fn continues(
        self,
        open: &BTreeSet<String>,
        owners: &HashMap<String, Option<String>>,
    ) -> Result<(), ViolationKind> {
        let Self(kind, id, _) = self;
        if !open.contains(id) {
            return Err(ViolationKind::NotOpen(Item::new(kind, id)));
        }
        self.belongs(owners)
    }

    /// S2, G2.
    pub(super) fn close(
        self,
        open: &mut BTreeSet<String>,
        owners: &HashMap<String, Option<String>>,
    ) -> Result<(), ViolationKind> {
        self.continues(open, owners)?;
        open.remove(self.1);
        Ok(())
    }

    /// G1, G2.
    pub(super) fn belongs(
        self,
        owners: &HashMap<String, Option<String>>,
    ) -> Result<(), ViolationKind> {
        let Self(kind, id, tag) = self;
        let Some(recorded) = owners.get(id).map(Option::as_deref) else { return Ok(()) };
        if tag.is_some() && tag != recorded {
            let (owner, tag) = self.parties(recorded);
            return Err(ViolationKind::ContinuedByOther { item: Item::new(kind, id), owner, tag });
        }
        Ok(())
    }

    fn parties(self, recorded: Option<&str>) -> (Owner, Owner) {
        (recorded.into(), self.2.into())
    }
}
