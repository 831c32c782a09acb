//! The messages of a conversation: in order, and found by id.

use std::collections::HashMap;

use crate::model::{AssistantMessage, Message, ToolCall};

/// Messages in order. Finding one, or a tool call, does not take longer the more there are, nor does
/// putting an answer behind its call.
#[derive(Clone, Debug, Default)]
pub(super) struct Messages {
    /// In the order in which they came to be; never removed one by one.
    slots: Vec<Message>,
    by_id: HashMap<String, usize>,
    /// Slot of the assistant message, and which of its calls.
    calls: HashMap<String, (usize, usize)>,
    groups: Vec<Group>,
    /// The groups in the order of the conversation.
    order: Vec<usize>,
    /// The group of each slot.
    group_of: Vec<usize>,
    /// For an id that is taken, the number from which on ids like it may be free.
    free: HashMap<String, u64>,
}

/// A message, and the tool messages that follow it.
#[derive(Clone, Debug, Default)]
struct Group {
    /// No tool message; nothing if the conversation begins with tool messages.
    head: Option<usize>,
    answers: Vec<usize>,
}

/// An iterator that knows how many items are left.
struct Counted<I> {
    items: I,
    left: usize,
}

impl<I: Iterator> Iterator for Counted<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        let item = self.items.next()?;
        self.left -= 1;
        Some(item)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<I: DoubleEndedIterator> DoubleEndedIterator for Counted<I> {
    fn next_back(&mut self) -> Option<I::Item> {
        let item = self.items.next_back()?;
        self.left -= 1;
        Some(item)
    }
}

impl<I: Iterator> ExactSizeIterator for Counted<I> {}

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
        let items = self.in_order().map(|slot| &self.slots[slot]);
        Counted { items, left: self.slots.len() }
    }

    fn in_order(&self) -> impl DoubleEndedIterator<Item = usize> {
        let groups = self.order.iter().map(|group| &self.groups[*group]);
        groups.flat_map(|group| group.head.into_iter().chain(group.answers.iter().copied()))
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
            Some(&(host, _)) => self.add(message, self.group_of[host]),
            None => self.append(message),
        }
    }

    fn append(&mut self, message: Message) {
        match self.order.last() {
            Some(&last) if is_tool(&message) => self.add(message, last),
            _ => {
                let group = self.groups.len();
                self.groups.push(Group::default());
                self.order.push(group);
                self.add(message, group);
            }
        }
    }

    /// Adds a new message to a group: a tool message at its end, another one as its head.
    fn add(&mut self, message: Message, group: usize) {
        let slot = self.slots.len();
        if is_tool(&message) {
            self.groups[group].answers.push(slot);
        } else {
            self.groups[group].head = Some(slot);
        }
        self.by_id.insert(message.id().to_owned(), slot);
        self.slots.push(message);
        self.group_of.push(group);
        self.learn_calls(slot);
    }

    /// Makes an answer that is no tool message any more the head of those behind it.
    fn split(&mut self, slot: usize) {
        let group = self.group_of[slot];
        let answers = &mut self.groups[group].answers;
        let Some(at) = answers.iter().position(|answer| *answer == slot) else { return };
        let behind = answers.split_off(at + 1);
        answers.pop();
        let new = self.groups.len();
        for answer in &behind {
            self.group_of[*answer] = new;
        }
        self.group_of[slot] = new;
        self.groups.push(Group { head: Some(slot), answers: behind });
        if let Some(place) = self.order.iter().rposition(|each| *each == group) {
            self.order.insert(place + 1, new);
        }
    }

    /// Makes a head that is a tool message now one of those behind the message before it.
    fn join(&mut self, slot: usize) {
        let group = self.group_of[slot];
        let Group { head: _, mut answers } = std::mem::take(&mut self.groups[group]);
        answers.insert(0, slot);
        let place = self.order.iter().rposition(|each| *each == group).filter(|place| *place > 0);
        let Some(place) = place else {
            self.groups[group].answers = answers;
            return;
        };
        let before = self.order[place - 1];
        self.order.remove(place);
        for answer in &answers {
            self.group_of[*answer] = before;
        }
        self.groups[before].answers.append(&mut answers);
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
