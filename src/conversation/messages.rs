//! The messages of a conversation: in order, and found by id.

use std::collections::HashMap;

use crate::model::{
    AssistantMessage, Content, Message, Part, TextPart, ToolCall, ToolMessage, UserMessage,
};
use crate::value::Object;

/// Messages in order. Finding one, or a tool call, does not take longer the more there are.
#[derive(Clone, Debug, Default)]
pub(super) struct Messages {
    /// In the order in which they came to be; never removed one by one.
    slots: Vec<Message>,
    /// The slots in the order of the conversation.
    order: Vec<usize>,
    by_id: HashMap<String, usize>,
    /// Slot of the assistant message, and which of its calls.
    calls: HashMap<String, (usize, usize)>,
    last_answer: Option<LastAnswer>,
    /// For an id that is taken, the number from which on ids like it may be free.
    free: HashMap<String, u64>,
}

/// Where the last answer was put, so that the next one to the same message need not be looked for.
#[derive(Clone, Copy, Debug)]
struct LastAnswer {
    host: usize,
    slot: usize,
    position: usize,
}

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
        let mut slots: Vec<Option<Message>> = self.slots.into_iter().map(Some).collect();
        self.order.into_iter().filter_map(|slot| slots.get_mut(slot)?.take()).collect()
    }

    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &Message> + ExactSizeIterator {
        self.order.iter().map(|slot| &self.slots[*slot])
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
        if let Some(&slot) = self.by_id.get(message.id()) {
            self.last_answer = None;
            self.forget_calls(slot);
            self.slots[slot] = message;
            self.learn_calls(slot);
        } else {
            let slot = self.add(message);
            self.order.push(slot);
        }
    }

    /// Puts a new tool message behind the message that holds its call, and behind the tool messages
    /// that follow that one; at the end if no message holds the call.
    pub(super) fn put_answer(&mut self, message: Message, tool_call_id: &str) {
        let host = self.calls.get(tool_call_id).map(|(host, _)| *host);
        let behind = host.and_then(|host| Some((host, self.behind(host)?)));
        let slot = self.add(message);
        let Some((host, behind)) = behind else {
            self.order.push(slot);
            return;
        };
        let answers = self.order[behind..].iter();
        let answers =
            answers.take_while(|slot| matches!(self.slots[**slot], Message::Tool(_))).count();
        let position = behind + answers;
        self.order.insert(position, slot);
        self.last_answer = Some(LastAnswer { host, slot, position });
    }

    /// A position behind a message, with nothing but tool messages between them.
    fn behind(&self, host: usize) -> Option<usize> {
        match self.last_answer {
            Some(last)
                if last.host == host && self.order.get(last.position) == Some(&last.slot) =>
            {
                Some(last.position + 1)
            }
            // Most calls are answered soon, so their messages are near the end.
            _ => Some(self.order.iter().rposition(|slot| *slot == host)? + 1),
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

    fn add(&mut self, message: Message) -> usize {
        let slot = self.slots.len();
        self.by_id.insert(message.id().to_owned(), slot);
        self.slots.push(message);
        self.learn_calls(slot);
        slot
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

/// Whose a message is; nothing for the parent agent.
pub(super) fn owner(message: &Message) -> Option<&str> {
    match message {
        Message::Developer(message) => message.subagent_run_id.as_deref(),
        Message::System(message) => message.subagent_run_id.as_deref(),
        Message::Assistant(message) => message.subagent_run_id.as_deref(),
        Message::User(message) => message.subagent_run_id.as_deref(),
        Message::Tool(message) => message.subagent_run_id.as_deref(),
        Message::Activity(message) => message.subagent_run_id.as_deref(),
        Message::Reasoning(message) => message.subagent_run_id.as_deref(),
        Message::Unknown(_) => None,
    }
}

/// The metadata of a message; nothing for one of an unknown role.
pub(super) fn metadata_mut(message: &mut Message) -> Option<&mut Option<Object>> {
    Some(match message {
        Message::Developer(message) => &mut message.metadata,
        Message::System(message) => &mut message.metadata,
        Message::Assistant(message) => &mut message.metadata,
        Message::User(message) => &mut message.metadata,
        Message::Tool(message) => &mut message.metadata,
        Message::Activity(message) => &mut message.metadata,
        Message::Reasoning(message) => &mut message.metadata,
        Message::Unknown(_) => return None,
    })
}

/// The text of a message; nothing if it has none, or parts.
pub(super) fn text(message: &Message) -> Option<&str> {
    match message {
        Message::Developer(message) => message.content.as_deref(),
        Message::System(message) => message.content.as_deref(),
        Message::Assistant(message) => message.content.as_deref(),
        Message::Reasoning(message) => message.content.as_deref(),
        Message::User(UserMessage { content: Content::Text(text), .. })
        | Message::Tool(ToolMessage { content: Content::Text(text), .. }) => Some(text),
        _ => None,
    }
}

/// Sets the encrypted value of a message and how it is encrypted; false if its role has none.
pub(super) fn set_encrypted(message: &mut Message, value: &str, kind: Option<&str>) -> bool {
    let (held, held_kind) = match message {
        Message::Developer(message) => {
            (&mut message.encrypted_value, &mut message.encrypted_value_type)
        }
        Message::System(message) => {
            (&mut message.encrypted_value, &mut message.encrypted_value_type)
        }
        Message::Assistant(message) => {
            (&mut message.encrypted_value, &mut message.encrypted_value_type)
        }
        Message::User(message) => (&mut message.encrypted_value, &mut message.encrypted_value_type),
        Message::Tool(message) => (&mut message.encrypted_value, &mut message.encrypted_value_type),
        Message::Reasoning(message) => {
            (&mut message.encrypted_value, &mut message.encrypted_value_type)
        }
        Message::Activity(_) | Message::Unknown(_) => return false,
    };
    *held = Some(value.to_owned());
    *held_kind = kind.map(str::to_owned);
    true
}

/// Merges metadata by key: the last write wins, nothing under a key is merged.
pub(super) fn merge(held: &mut Option<Object>, incoming: Option<&Object>) {
    if let Some(incoming) = incoming {
        let members = incoming.iter().map(|(key, value)| (key, value.clone()));
        held.get_or_insert_default().extend(members);
    }
}

/// Appends text to a message's content; false if its role has no text.
///
/// Differs: content that is parts gets its text in the last part, or in a new one; the reference
/// client replaces the parts by the text. Parts are never lost here.
pub(super) fn append(message: &mut Message, delta: &str) -> bool {
    match message {
        Message::Developer(message) => message.content.get_or_insert_default().push_str(delta),
        Message::System(message) => message.content.get_or_insert_default().push_str(delta),
        Message::Assistant(message) => message.content.get_or_insert_default().push_str(delta),
        Message::Reasoning(message) => message.content.get_or_insert_default().push_str(delta),
        Message::User(message) => append_content(&mut message.content, delta),
        Message::Tool(message) => append_content(&mut message.content, delta),
        Message::Activity(_) | Message::Unknown(_) => return false,
    }
    true
}

fn append_content(content: &mut Content, delta: &str) {
    match content {
        Content::Text(text) => text.push_str(delta),
        Content::Parts(parts) => match parts.last_mut() {
            Some(Part::Text(part)) => part.text.push_str(delta),
            _ => parts.push(Part::Text(TextPart::new(delta))),
        },
    }
}
