//! How a snapshot of the messages meets those that are held.

use std::collections::{HashMap, HashSet};

use crate::model::{Message, Role};

/// The messages after a `MESSAGES_SNAPSHOT`: `held` are those before it.
///
/// 1. What is held and not in the snapshot goes, but for activities where the snapshot has none, and
///    reasoning where the snapshot has none: those only the consumer may hold.
/// 2. What is held and in the snapshot becomes the snapshot's, wholesale, and stays where it stands.
/// 3. What is not held follows, in the snapshot's order.
///
/// So a snapshot never reorders what is held, and a message that it names anew moves to the end. Of
/// several messages with one id in the snapshot, the last one counts, in the place of the first.
///
/// Rule: specification 1.1, events/state and basic/patterns/snapshots.
#[must_use]
pub fn reconcile(held: Vec<Message>, snapshot: &[Message]) -> Vec<Message> {
    let has = |role: Role| snapshot.iter().any(|message| message.role() == role);
    let (has_activity, has_reasoning) = (has(Role::Activity), has(Role::Reasoning));
    let last: HashMap<&str, &Message> =
        snapshot.iter().map(|message| (message.id(), message)).collect();
    let mut kept: Vec<Message> = Vec::with_capacity(snapshot.len());
    let mut ids = HashSet::with_capacity(snapshot.len());
    for message in held {
        let is_protected = match message.role() {
            Role::Activity => !has_activity,
            Role::Reasoning => !has_reasoning,
            _ => false,
        };
        match last.get_key_value(message.id()) {
            Some((id, restated)) => {
                ids.insert(*id);
                kept.push((*restated).clone());
            }
            None if is_protected => kept.push(message),
            None => {}
        }
    }
    for message in snapshot {
        if ids.insert(message.id()) {
            kept.extend(last.get(message.id()).map(|message| (*message).clone()));
        }
    }
    kept
}
