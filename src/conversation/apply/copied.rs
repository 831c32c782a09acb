//! How large the state is, and the activities are, whose patches copy, so that all of them together
//! have a bound.
//!
//! What else makes an activity larger has come with an event. A copy brings what no event did, and
//! each new activity could grow by copies anew.

use std::collections::HashMap;

use crate::conversation::messages::Messages;
use crate::conversation::patch::{CopyLimit, MAX_COPIED_LEN, PatchReason, weight};
use crate::model::Message;
use crate::value::{Object, Value};

/// How large they may become together, as [`PatchReason::TooLarge`] counts it.
const MAX_TOGETHER: usize = 2 * MAX_COPIED_LEN;

/// The state and the activities into which something was copied.
#[derive(Clone, Debug, Default)]
pub(super) struct Copied {
    weights: HashMap<String, Weight>,
    /// Of all of them.
    sum: usize,
    /// Of the state, as it was when something was last copied.
    state: usize,
}

#[derive(Clone, Copy, Debug)]
struct Weight {
    /// As it was when something was last copied, or when it was last weighed.
    len: usize,
    /// Whether it may have become less.
    is_stale: bool,
}

/// What a conversation has come to says all of it; this is a record of how it came to be.
impl PartialEq for Copied {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Copied {
    /// What copying may make of an activity.
    pub(super) fn limit(&mut self, id: &str, messages: &Messages) -> CopyLimit {
        let own = self.weights.get(id).map_or(0, |weight| weight.len);
        if self.sum - own > MAX_TOGETHER - MAX_COPIED_LEN {
            self.weigh_anew(messages);
        }
        let own = self.weights.get(id).map_or(0, |weight| weight.len);
        let room = MAX_TOGETHER.saturating_sub(self.sum - own);
        if room >= MAX_COPIED_LEN {
            return CopyLimit::default();
        }
        CopyLimit { max: room, reason: PatchReason::TooLargeTogether { max: MAX_TOGETHER } }
    }

    /// What all weigh together.
    pub(super) fn len(&self) -> usize {
        self.state.saturating_add(self.sum)
    }

    /// Something was copied into the state.
    pub(super) fn copied_into_state(&mut self, state: &Value) {
        self.state = weight(state);
    }

    /// The state is another.
    pub(super) fn state_replaced(&mut self) {
        self.state = 0;
    }

    /// Something was copied into an activity, which has this content now.
    pub(super) fn copied(&mut self, id: &str, content: &Object) {
        let len = weigh(content);
        let new = Weight { len, is_stale: false };
        let before = self.weights.insert(id.to_owned(), new).map_or(0, |weight| weight.len);
        self.sum = self.sum - before + len;
    }

    /// An activity was changed otherwise.
    pub(super) fn changed(&mut self, id: &str) {
        if let Some(weight) = self.weights.get_mut(id) {
            weight.is_stale = true;
        }
    }

    /// All messages may have changed.
    pub(super) fn all_changed(&mut self) {
        self.weights.values_mut().for_each(|weight| weight.is_stale = true);
    }

    fn weigh_anew(&mut self, messages: &Messages) {
        self.weights.retain(|id, weight| {
            if !weight.is_stale {
                return true;
            }
            let Some(Message::Activity(activity)) = messages.get(id) else { return false };
            let len = activity.content.as_ref().map_or(0, weigh);
            *weight = Weight { len, is_stale: false };
            true
        });
        self.sum = self.weights.values().map(|weight| weight.len).sum();
    }
}

fn weigh(content: &Object) -> usize {
    content.values().map(weight).fold(0, usize::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ActivityMessage;

    fn content(len: usize) -> Object {
        Object::from([("text", Value::from("x".repeat(len)))])
    }

    #[test]
    fn what_activities_weigh_together_leaves_less_room_for_others() {
        let (mut copied, mut messages) = (Copied::default(), Messages::default());
        let large = content(MAX_COPIED_LEN * 3 / 4);
        copied.copied("a", &large);
        assert_eq!(copied.limit("b", &messages).max, MAX_COPIED_LEN);
        copied.copied("b", &large);
        let limit = copied.limit("c", &messages);
        let used = 2 * (MAX_COPIED_LEN * 3 / 4 + 32);
        assert_eq!(limit.max, MAX_TOGETHER - used);
        assert_eq!(limit.reason, PatchReason::TooLargeTogether { max: MAX_TOGETHER });
        // Its own weight is no reason against it.
        assert_eq!(copied.limit("a", &messages).max, MAX_COPIED_LEN);

        // One that has become small makes room, and so does one that is gone.
        messages.put(ActivityMessage::new("a", "t", content(8)).into());
        copied.changed("a");
        assert_eq!(copied.limit("c", &messages).max, MAX_COPIED_LEN);
        copied.copied("c", &large);
        assert_eq!(copied.limit("d", &messages).max, MAX_TOGETHER - used - 40);
        copied.all_changed();
        assert_eq!(copied.limit("d", &messages).max, MAX_COPIED_LEN);
        assert_eq!((copied.weights.len(), copied.sum), (1, 40));
    }
}
