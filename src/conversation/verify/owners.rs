//! Who the items of a run belong to.

use std::collections::HashMap;

use crate::conversation::message::owner;
use crate::model::{ActivitySnapshot, Message};

/// Whose each item of the run is, kept after the item is closed.
///
/// A reasoning span and a reasoning message of one id share a record, as in the reference client.
#[derive(Clone, Debug, Default)]
pub(super) struct Owners {
    pub(super) messages: HashMap<String, Option<String>>,
    pub(super) calls: HashMap<String, Option<String>>,
    pub(super) reasonings: HashMap<String, Option<String>>,
    pub(super) activities: HashMap<String, Option<String>>,
}

impl Owners {
    /// G8: a snapshot says whose its messages are; an echoed input only of those that nobody owns.
    pub(super) fn seed(&mut self, message: &Message, overrides: bool) {
        fn put(
            owners: &mut HashMap<String, Option<String>>,
            id: &str,
            owner: Option<&str>,
            overrides: bool,
        ) {
            if overrides || !owners.contains_key(id) {
                owners.insert(id.to_owned(), owner.map(str::to_owned));
            }
        }
        let owner = owner(message);
        let owners = match message {
            Message::Reasoning(_) => &mut self.reasonings,
            Message::Activity(_) => &mut self.activities,
            _ => &mut self.messages,
        };
        put(owners, message.id(), owner, overrides);
        if let Message::Assistant(message) = message {
            for call in message.tool_calls.iter().flatten() {
                put(&mut self.calls, &call.id, owner, overrides);
            }
        }
    }

    /// G6: a snapshot owns what it creates or replaces.
    pub(super) fn take_activity(&mut self, body: &ActivitySnapshot) {
        if body.replace != Some(false) || !self.activities.contains_key(&body.message_id) {
            self.activities.insert(body.message_id.clone(), body.subagent_run_id.clone());
        }
    }
}
