//! Chunks as the events they stand for.
//!
//! ```text
//! TEXT_MESSAGE_CHUNK m "Hel"     TEXT_MESSAGE_START m, TEXT_MESSAGE_CONTENT m "Hel"
//! TEXT_MESSAGE_CHUNK   "lo"      TEXT_MESSAGE_CONTENT m "lo"
//! RUN_FINISHED                   TEXT_MESSAGE_END m, RUN_FINISHED
//! ```
//!
//! Each owner (the parent agent, each subagent) has a lane, and a lane assembles one item at a time.
//!
//! Rule: specification 1.1, basic/patterns/streaming, "The chunked form".

use std::collections::{BTreeMap, HashMap};

use super::tag::tag;
use super::violation::{Item, ItemKind, Violation, ViolationKind};
use crate::model::{
    Base, Body, Event, EventType, ReasoningMessageChunk, ReasoningMessageContent,
    ReasoningMessageEnd, ReasoningMessageStart, Role, TextMessageChunk, TextMessageContent,
    TextMessageEnd, TextMessageStart, TextRole, ToolCallArgs, ToolCallChunk, ToolCallEnd,
    ToolCallStart,
};

/// Replaces chunks by starts, contents and ends; every other event passes as it is.
///
/// The ends come with the event that closes an item, in front of it. A stream that just stops gets
/// none: what is open then stays open (C7).
///
/// It takes events after enforcement. Members of a later version that a chunk carries are dropped.
#[derive(Clone, Debug, Default)]
pub struct ChunkExpander {
    index: usize,
    /// What is being assembled, oldest first.
    lanes: BTreeMap<u64, Lane>,
    opened: u64,
    by_owner: HashMap<Option<String>, u64>,
    texts: HashMap<String, u64>,
    calls: HashMap<String, u64>,
    reasonings: HashMap<String, u64>,
}

#[derive(Clone, Debug)]
struct Lane {
    owner: Option<String>,
    id: String,
    opener: Opener,
}

/// What an item was opened with.
#[derive(Clone, Debug)]
enum Opener {
    Text { role: TextRole, name: Option<String> },
    ToolCall { name: String, parent: Option<String> },
    Reasoning,
}

impl Opener {
    fn kind(&self) -> ItemKind {
        match self {
            Self::Text { .. } => ItemKind::Text,
            Self::ToolCall { .. } => ItemKind::ToolCall,
            Self::Reasoning => ItemKind::Reasoning,
        }
    }
}

/// A chunk of whatever type.
struct Chunk {
    id: Option<String>,
    tag: Option<String>,
    delta: Option<String>,
    members: ChunkMembers,
}

enum ChunkMembers {
    Text { role: Option<TextRole>, name: Option<String> },
    ToolCall { name: Option<String>, parent: Option<String> },
    Reasoning,
}

impl Chunk {
    fn kind(&self) -> ItemKind {
        match self.members {
            ChunkMembers::Text { .. } => ItemKind::Text,
            ChunkMembers::ToolCall { .. } => ItemKind::ToolCall,
            ChunkMembers::Reasoning => ItemKind::Reasoning,
        }
    }
}

impl ChunkExpander {
    /// Makes one for a new stream.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends to `out` what the next event of the stream stands for.
    ///
    /// # Errors
    ///
    /// A [`Violation`] of C1, C2 or C3; `out` and what is being assembled are then as they were.
    pub fn expand(&mut self, event: Event, out: &mut Vec<Event>) -> Result<(), Violation> {
        let index = self.index;
        self.index += 1;
        let event_type = event.event_type();
        let Event { base, body } = event;
        let chunk = match body {
            Body::TextMessageChunk(chunk) => {
                let TextMessageChunk { message_id, role, delta, name, subagent_run_id, extra: _ } =
                    *chunk;
                let members = ChunkMembers::Text { role, name };
                Chunk { id: message_id, tag: subagent_run_id, delta, members }
            }
            Body::ToolCallChunk(chunk) => {
                let ToolCallChunk {
                    tool_call_id,
                    tool_call_name,
                    parent_message_id,
                    delta,
                    subagent_run_id,
                    extra: _,
                } = *chunk;
                let members =
                    ChunkMembers::ToolCall { name: tool_call_name, parent: parent_message_id };
                Chunk { id: tool_call_id, tag: subagent_run_id, delta, members }
            }
            Body::ReasoningMessageChunk(chunk) => {
                let ReasoningMessageChunk { message_id, delta, subagent_run_id, extra: _ } = chunk;
                let members = ChunkMembers::Reasoning;
                Chunk { id: message_id, tag: subagent_run_id, delta, members }
            }
            body => {
                self.close_for(&body, out);
                out.push(Event { base, body });
                return Ok(());
            }
        };
        self.chunk(chunk, base, out).map_err(|kind| Violation::new(index, event_type, kind))
    }

    fn chunk(
        &mut self,
        chunk: Chunk,
        base: Base,
        out: &mut Vec<Event>,
    ) -> Result<(), ViolationKind> {
        let kind = chunk.kind();
        let owner = self.lane_of(&chunk)?;
        let pending = self.by_owner.get(&owner).copied();
        let lane = pending.and_then(|number| self.lanes.get(&number)).filter(|lane| {
            // C2: what continues has the item's type, and its id or none.
            lane.opener.kind() == kind && chunk.id.as_ref().is_none_or(|id| *id == lane.id)
        });
        let Base { timestamp: _, metadata, raw_event } = base;
        let (id, has_news) = if let Some(lane) = lane {
            agree(lane, chunk.members)?;
            (lane.id.clone(), metadata.is_some())
        } else {
            let (id, opener) = open(chunk.id, chunk.members)?;
            if let Some(number) = pending {
                self.close(number, out);
            }
            let start = start(&id, &opener, owner.clone());
            let metadata = metadata.clone();
            out.push(Event { base: Base { metadata, ..Base::default() }, body: start });
            let number = self.opened;
            self.opened += 1;
            self.items(kind).insert(id.clone(), number);
            self.by_owner.insert(owner.clone(), number);
            let lane = Lane { owner: owner.clone(), id: id.clone(), opener };
            self.lanes.insert(number, lane);
            (id, false)
        };
        // C4: metadata alone still has to reach an item that is open.
        if chunk.delta.is_some() || raw_event.is_some() || has_news {
            let body = content(kind, id, chunk.delta.unwrap_or_default(), owner);
            out.push(Event { base: Base { timestamp: None, metadata, raw_event }, body });
        }
        Ok(())
    }

    /// C1: the owner of the lane that a chunk belongs to.
    fn lane_of(&mut self, chunk: &Chunk) -> Result<Option<String>, ViolationKind> {
        let kind = chunk.kind();
        let number = chunk.id.as_ref().and_then(|id| self.items(kind).get(id).copied());
        if let Some(lane) = number.and_then(|number| self.lanes.get(&number)) {
            if chunk.tag.is_some() && chunk.tag != lane.owner {
                return Err(ViolationKind::ChunkOwner {
                    item: Item::new(kind, &lane.id),
                    owner: lane.owner.as_deref().into(),
                    tag: chunk.tag.as_deref().into(),
                });
            }
            return Ok(lane.owner.clone());
        }
        if chunk.id.is_some() || chunk.tag.is_some() {
            return Ok(chunk.tag.clone());
        }
        let parent = self.by_owner.get(&None).and_then(|number| self.lanes.get(number));
        if parent.is_some_and(|lane| lane.opener.kind() == kind) {
            return Ok(None);
        }
        let candidates = self.items(kind);
        match candidates.len() {
            0 => Ok(None),
            1 => {
                let number = candidates.values().next().copied().unwrap_or_default();
                Ok(self.lanes.get(&number).and_then(|lane| lane.owner.clone()))
            }
            count => Err(ViolationKind::AmbiguousChunk { item: kind, count }),
        }
    }

    fn items(&mut self, kind: ItemKind) -> &mut HashMap<String, u64> {
        match kind {
            ItemKind::Text => &mut self.texts,
            ItemKind::ToolCall => &mut self.calls,
            _ => &mut self.reasonings,
        }
    }

    /// C6: closes what an event closes that is no chunk.
    fn close_for(&mut self, body: &Body, out: &mut Vec<Event>) {
        match body {
            Body::RunStarted(_)
            | Body::RunFinished(_)
            | Body::RunError(_)
            | Body::MessagesSnapshot(_) => {
                while let Some((&oldest, _)) = self.lanes.first_key_value() {
                    self.close(oldest, out);
                }
                return;
            }
            Body::Raw(_)
            | Body::ActivitySnapshot(_)
            | Body::ActivityDelta(_)
            | Body::ReasoningEncryptedValue(_)
            | Body::SubagentStarted(_) => return,
            _ => {}
        }
        if let Some(&number) = self.by_owner.get(&tag(body).map(str::to_owned)) {
            self.close(number, out);
        }
    }

    fn close(&mut self, number: u64, out: &mut Vec<Event>) {
        let Some(Lane { owner, id, opener }) = self.lanes.remove(&number) else { return };
        let kind = opener.kind();
        self.items(kind).remove(&id);
        self.by_owner.remove(&owner);
        out.push(Event { base: Base::default(), body: end(kind, id, owner) });
    }
}

/// C2: what a chunk repeats of the opener must be what the opener had.
fn agree(lane: &Lane, members: ChunkMembers) -> Result<(), ViolationKind> {
    let conflict = |member, established: Option<&str>, found: Option<String>| match found {
        Some(found) if established != Some(&found) => Err(ViolationKind::ChunkConflict {
            item: Item::new(lane.opener.kind(), &lane.id),
            member,
            established: established.map(str::to_owned),
            found,
        }),
        _ => Ok(()),
    };
    match (&lane.opener, members) {
        (Opener::Text { role, name }, ChunkMembers::Text { role: new_role, name: new_name }) => {
            let new_role = new_role.map(|role| role.as_str().to_owned());
            conflict("role", Some(role.as_str()), new_role)?;
            conflict("name", name.as_deref(), new_name)
        }
        (
            Opener::ToolCall { name, parent },
            ChunkMembers::ToolCall { name: new_name, parent: new_parent },
        ) => {
            conflict("toolCallName", Some(name), new_name)?;
            conflict("parentMessageId", parent.as_deref(), new_parent)
        }
        _ => Ok(()),
    }
}

/// C3: what opens has an id, and a tool call a name; neither is made up.
fn open(id: Option<String>, members: ChunkMembers) -> Result<(String, Opener), ViolationKind> {
    let need = |member: Option<String>, name, item| {
        member.ok_or(ViolationKind::ChunkIncomplete { item, member: name })
    };
    Ok(match members {
        ChunkMembers::Text { role, name } => {
            let role = role.unwrap_or(TextRole::Assistant);
            (need(id, "messageId", ItemKind::Text)?, Opener::Text { role, name })
        }
        ChunkMembers::ToolCall { name, parent } => {
            let id = need(id, "toolCallId", ItemKind::ToolCall)?;
            let name = need(name, "toolCallName", ItemKind::ToolCall)?;
            (id, Opener::ToolCall { name, parent })
        }
        ChunkMembers::Reasoning => (need(id, "messageId", ItemKind::Reasoning)?, Opener::Reasoning),
    })
}

fn start(id: &str, opener: &Opener, owner: Option<String>) -> Body {
    match opener {
        Opener::Text { role, name } => {
            let mut start = TextMessageStart::new(id).with_role(role.clone());
            start.name.clone_from(name);
            start.subagent_run_id = owner;
            start.into()
        }
        Opener::ToolCall { name, parent } => {
            let mut start = ToolCallStart::new(id, name);
            start.parent_message_id.clone_from(parent);
            start.subagent_run_id = owner;
            start.into()
        }
        Opener::Reasoning => {
            let mut start = ReasoningMessageStart::new(id, Role::Reasoning);
            start.subagent_run_id = owner;
            start.into()
        }
    }
}

fn content(kind: ItemKind, id: String, delta: String, owner: Option<String>) -> Body {
    match kind {
        ItemKind::Text => {
            let mut content = TextMessageContent::new(id, delta);
            content.subagent_run_id = owner;
            content.into()
        }
        ItemKind::ToolCall => {
            let mut args = ToolCallArgs::new(id, delta);
            args.subagent_run_id = owner;
            args.into()
        }
        _ => {
            let mut content = ReasoningMessageContent::new(id, delta);
            content.subagent_run_id = owner;
            content.into()
        }
    }
}

fn end(kind: ItemKind, id: String, owner: Option<String>) -> Body {
    match kind {
        ItemKind::Text => {
            let mut end = TextMessageEnd::new(id);
            end.subagent_run_id = owner;
            end.into()
        }
        ItemKind::ToolCall => {
            let mut end = ToolCallEnd::new(id);
            end.subagent_run_id = owner;
            end.into()
        }
        _ => {
            let mut end = ReasoningMessageEnd::new(id);
            end.subagent_run_id = owner;
            end.into()
        }
    }
}

/// Whether events of the type are chunks.
pub(super) fn is_chunk(event_type: EventType) -> bool {
    matches!(
        event_type,
        EventType::TextMessageChunk | EventType::ToolCallChunk | EventType::ReasoningMessageChunk
    )
}
