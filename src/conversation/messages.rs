//! The messages of a conversation: in order, and found by id.

use std::collections::HashMap;

use crate::model::{AssistantMessage, Message, ToolCall};

/// Messages in order. Finding one, or a tool call, does not take longer the more there are, nor does
/// putting an answer behind its call.
#[derive(Clone, Debug, Default)]
pub(super) struct Messages {
    /// In the order in which they came to be; never removed one by one.
    slots: Vec<Message>,
    /// Where each slot stands.
    places: Vec<Place>,
    /// The slots of the first message and of the last one.
    ends: Option<(usize, usize)>,
    /// Of each group its last slot. A group is a message and the tool messages that follow it; a
    /// conversation that begins with tool messages begins with a group of them alone.
    groups: Vec<usize>,
    by_id: HashMap<String, usize>,
    /// Slot of the assistant message, and which of its calls.
    calls: HashMap<String, (usize, usize)>,
    /// For an id that is taken, the number from which on ids like it may be free.
    free: HashMap<String, u64>,
}

/// Where a message stands: the slots beside it, and its group.
#[derive(Clone, Copy, Debug)]
struct Place {
    before: Option<usize>,
    behind: Option<usize>,
    group: usize,
}

/// Slots in the order of the conversation.
struct InOrder<'m> {
    places: &'m [Place],
    front: Option<usize>,
    back: Option<usize>,
    left: usize,
}

impl Iterator for InOrder<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        self.left = self.left.checked_sub(1)?;
        let slot = self.front?;
        self.front = self.places[slot].behind;
        Some(slot)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl DoubleEndedIterator for InOrder<'_> {
    fn next_back(&mut self) -> Option<usize> {
        self.left = self.left.checked_sub(1)?;
        let slot = self.back?;
        self.back = self.places[slot].before;
        Some(slot)
    }
}

impl ExactSizeIterator for InOrder<'_> {}

impl PartialEq for Messages {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Messages {
    /// Of several messages with one id the last one wins, in the place of the first.
    pub(super) fn from_vec(messages: Vec<Message>) -> Self {
        let mut all = Self::default();
        for message in messages {
            all.put(message);
        }
        all
    }

    pub(super) fn into_vec(self) -> Vec<Message> {
        let order: Vec<usize> = self.in_order().collect();
        let mut slots: Vec<Option<Message>> = self.slots.into_iter().map(Some).collect();
        order.into_iter().filter_map(|slot| slots.get_mut(slot)?.take()).collect()
    }

    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &Message> + ExactSizeIterator {
        self.in_order().map(|slot| &self.slots[slot])
    }

    fn in_order(&self) -> InOrder<'_> {
        let (front, back) = self.ends.unzip();
        InOrder { places: &self.places, front, back, left: self.slots.len() }
    }

    pub(super) fn contains(&self, id: &str) -> bool {
        self.by_id.contains_key(id)
    }

    /// An id like one that is taken. The same stream gives the same id each time.
    pub(super) fn free_id(&mut self, taken: &str) -> String {
        let mut number = self.free.get(taken).copied().unwrap_or(2);
        let mut free = format!("{taken}-{number}");
        while self.contains(&free) {
            number += 1;
            free = format!("{taken}-{number}");
        }
        // No message goes but with all others, so what was taken stays taken.
        self.free.insert(taken.to_owned(), number);
        free
    }

    pub(super) fn get(&self, id: &str) -> Option<&Message> {
        self.slots.get(*self.by_id.get(id)?)
    }

    pub(super) fn get_mut(&mut self, id: &str) -> Option<&mut Message> {
        self.slots.get_mut(*self.by_id.get(id)?)
    }

    /// Appends a message, or replaces the one with its id where it stands.
    pub(super) fn put(&mut self, message: Message) {
        let Some(&slot) = self.by_id.get(message.id()) else {
            self.append(message);
            return;
        };
        self.forget_calls(slot);
        let (was_tool, is_tool) = (is_tool(&self.slots[slot]), is_tool(&message));
        self.slots[slot] = message;
        self.learn_calls(slot);
        match (was_tool, is_tool) {
            (true, false) => self.split(slot),
            (false, true) => self.join(slot),
            _ => {}
        }
    }

    /// Puts a new tool message behind the message that holds its call, and behind the tool messages
    /// that follow that one; at the end if no message holds the call.
    pub(super) fn put_answer(&mut self, message: Message, tool_call_id: &str) {
        match self.calls.get(tool_call_id) {
            Some(&(host, _)) => self.join_group(message, self.places[host].group),
            None => self.append(message),
        }
    }

    fn append(&mut self, message: Message) {
        let last = self.ends.map(|(_, last)| last);
        match last {
            Some(last) if is_tool(&message) => self.join_group(message, self.places[last].group),
            _ => {
                let group = self.groups.len();
                self.groups.push(self.slots.len());
                self.add(message, Place { before: last, behind: None, group });
            }
        }
    }

    /// Adds a new message at the end of a group.
    fn join_group(&mut self, message: Message, group: usize) {
        let before = std::mem::replace(&mut self.groups[group], self.slots.len());
        let behind = self.places[before].behind;
        self.add(message, Place { before: Some(before), behind, group });
    }

    fn add(&mut self, message: Message, place: Place) {
        let slot = self.slots.len();
        let (first, last) = self.ends.unwrap_or((slot, slot));
        if let Some(before) = place.before {
            self.places[before].behind = Some(slot);
        }
        if let Some(behind) = place.behind {
            self.places[behind].before = Some(slot);
        }
        self.ends = Some((first, if place.behind.is_none() { slot } else { last }));
        self.by_id.insert(message.id().to_owned(), slot);
        self.slots.push(message);
        self.places.push(place);
        self.learn_calls(slot);
    }

    /// Makes an answer that is no tool message any more the head of those behind it.
    fn split(&mut self, slot: usize) {
        let Place { before, group, .. } = self.places[slot];
        let Some(before) = before.filter(|before| self.places[*before].group == group) else {
            return;
        };
        let new = self.groups.len();
        self.groups.push(self.groups[group]);
        if self.is_shorter_before(slot, before) {
            self.groups[new] = before;
            self.regroup(before, new, |place| place.before);
        } else {
            self.groups[group] = before;
            self.regroup(slot, new, |place| place.behind);
        }
    }

    /// Makes a head that is a tool message now one of those behind the message before it.
    fn join(&mut self, slot: usize) {
        let Place { before, group, .. } = self.places[slot];
        let Some(before) = before else { return };
        let group_before = self.places[before].group;
        if self.is_shorter_before(slot, before) {
            self.regroup(before, group, |place| place.before);
        } else {
            self.groups[group_before] = self.groups[group];
            self.regroup(slot, group_before, |place| place.behind);
        }
    }

    /// Whether fewer messages of its group stand from `before` back than of its own from `slot` on.
    /// It takes as long as the fewer ones.
    fn is_shorter_before(&self, slot: usize, before: usize) -> bool {
        let mut back = self.same_group(before, |place| place.before);
        let mut on = self.same_group(slot, |place| place.behind);
        loop {
            match (back.next(), on.next()) {
                (None, on) => return on.is_some(),
                (Some(_), None) => return false,
                (Some(_), Some(_)) => {}
            }
        }
    }

    /// The slots from one on, in a direction, that are of its group.
    fn same_group(
        &self,
        slot: usize,
        next: impl Fn(&Place) -> Option<usize>,
    ) -> impl Iterator<Item = usize> {
        let group = self.places[slot].group;
        let next = move |slot: &usize| next(&self.places[*slot]);
        std::iter::successors(Some(slot), next)
            .take_while(move |slot| self.places[*slot].group == group)
    }

    /// Puts a slot, and those beside it that are of its group, into another one.
    fn regroup(&mut self, slot: usize, new: usize, next: impl Fn(&Place) -> Option<usize>) {
        let old = self.places[slot].group;
        let mut here = Some(slot);
        while let Some(slot) = here.filter(|slot| self.places[*slot].group == old) {
            self.places[slot].group = new;
            here = next(&self.places[slot]);
        }
    }

    pub(super) fn call(&self, id: &str) -> Option<&ToolCall> {
        let &(slot, index) = self.calls.get(id)?;
        match self.slots.get(slot)? {
            Message::Assistant(message) => message.tool_calls.as_ref()?.get(index),
            _ => None,
        }
    }

    /// The message that holds a call.
    pub(super) fn host(&self, call: &str) -> Option<&Message> {
        self.slots.get(self.calls.get(call)?.0)
    }

    pub(super) fn call_mut(&mut self, id: &str) -> Option<&mut ToolCall> {
        let &(slot, index) = self.calls.get(id)?;
        match self.slots.get_mut(slot)? {
            Message::Assistant(message) => message.tool_calls.as_mut()?.get_mut(index),
            _ => None,
        }
    }

    /// Adds a call to the assistant message `host`, and says whether there is such a message.
    pub(super) fn push_call(&mut self, host: &str, call: ToolCall) -> bool {
        let Some(&slot) = self.by_id.get(host) else { return false };
        let Message::Assistant(message) = &mut self.slots[slot] else { return false };
        let calls = message.tool_calls.get_or_insert_default();
        self.calls.entry(call.id.clone()).or_insert((slot, calls.len()));
        calls.push(call);
        true
    }

    fn learn_calls(&mut self, slot: usize) {
        let Message::Assistant(AssistantMessage { tool_calls, .. }) = &self.slots[slot] else {
            return;
        };
        for (index, call) in tool_calls.iter().flatten().enumerate() {
            self.calls.entry(call.id.clone()).or_insert((slot, index));
        }
    }

    fn forget_calls(&mut self, slot: usize) {
        let Message::Assistant(AssistantMessage { tool_calls, .. }) = &self.slots[slot] else {
            return;
        };
        for call in tool_calls.iter().flatten() {
            if self.calls.get(&call.id).is_some_and(|(holder, _)| *holder == slot) {
                self.calls.remove(&call.id);
            }
        }
    }
}

fn is_tool(message: &Message) -> bool {
    matches!(message, Message::Tool(_))
}
