//! What the operations of a patch have changed, so that a later one that fails leaves no trace.
//!
//! A copy of the value would do as well, and cost all of it for every patch.

use super::{Path, find_mut, remove, weight};
use crate::value::{Object, Value};

/// The changes that a patch has made so far, oldest first.
#[derive(Default)]
pub(super) struct Changes {
    steps: Vec<Step>,
    has_copied: bool,
    kept: usize,
}

enum Step {
    /// Something else stood there.
    Replaced(Path, Value),
    /// Nothing stood there.
    Added(Path),
    /// This stood there, so many members or elements in.
    Removed(Path, usize, Value),
    /// What the next step has put elsewhere stood there.
    MovedAway(Path, usize),
}

impl Changes {
    /// How much is kept of what copies can have made, as [`weight`] counts it. Without a copy it is no
    /// more than was there and what the patch has brought.
    pub(super) fn kept(&self) -> usize {
        self.kept
    }

    pub(super) fn copied(&mut self) {
        self.has_copied = true;
    }

    /// Something was put in, where `old` stood or nothing.
    pub(super) fn put(&mut self, path: Path, old: Option<Value>) {
        match old {
            Some(old) => self.replaced(path, old),
            None => self.steps.push(Step::Added(path)),
        }
    }

    pub(super) fn replaced(&mut self, path: Path, old: Value) {
        self.keep(&old);
        self.steps.push(Step::Replaced(path, old));
    }

    pub(super) fn removed(&mut self, path: Path, at: usize, old: Value) {
        self.keep(&old);
        self.steps.push(Step::Removed(path, at, old));
    }

    pub(super) fn moved_away(&mut self, path: Path, at: usize) {
        self.steps.push(Step::MovedAway(path, at));
    }

    fn keep(&mut self, old: &Value) {
        if self.has_copied {
            self.kept = self.kept.saturating_add(weight(old));
        }
    }

    /// Makes the value what it was before the first change.
    pub(super) fn undo(self, root: &mut Value) {
        let mut taken_out = Value::Null;
        let mut steps = self.steps.into_iter().rev().peekable();
        while let Some(step) = steps.next() {
            match step {
                Step::Replaced(path, old) => {
                    if let Some(place) = find_mut(root, &path) {
                        taken_out = std::mem::replace(place, old);
                    }
                }
                Step::Added(path) => {
                    if let Ok((_, value)) = remove(root, &path) {
                        taken_out = value;
                    }
                }
                Step::MovedAway(path, at) => put_back(root, path, at, taken_out.take(), || None),
                Step::Removed(path, at, old) => {
                    let parents = parents(&path).to_vec();
                    let next = || match steps.next_if(|step| step.is_removed_from(&parents)) {
                        Some(Step::Removed(path, at, old)) => Some((path, at, old)),
                        _ => None,
                    };
                    put_back(root, path, at, old, next);
                }
            }
        }
    }
}

impl Step {
    fn is_removed_from(&self, siblings: &[String]) -> bool {
        matches!(self, Self::Removed(path, ..) if !path.is_empty() && parents(path) == siblings)
    }
}

fn parents(path: &[String]) -> &[String] {
    path.split_last().map_or(&[], |(_, parents)| parents)
}

/// Puts a value back where it stood, and others that stood beside it: an object is made anew for all
/// of them, not for each.
fn put_back(
    root: &mut Value,
    mut path: Path,
    mut at: usize,
    mut value: Value,
    mut next: impl FnMut() -> Option<(Path, usize, Value)>,
) {
    let Some(mut key) = path.pop() else {
        *root = value;
        return;
    };
    match find_mut(root, &path) {
        Some(Value::Object(object)) => {
            let mut members = std::mem::take(object).into_vec();
            loop {
                members.insert(at.min(members.len()), (key.into(), value));
                let Some((mut path, place, old)) = next() else { break };
                let Some(last) = path.pop() else { break };
                (key, at, value) = (last, place, old);
            }
            *object = Object::from(members);
        }
        Some(Value::List(list)) => loop {
            let end = list.len();
            list.insert(at.min(end), value);
            let Some((_, place, old)) = next() else { break };
            (at, value) = (place, old);
        },
        _ => {}
    }
}
