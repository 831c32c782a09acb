//! What a stream did that it must not, and the rule that says so.

use std::fmt;

use crate::model::EventType;

/// How many items a message names of those that are still open.
const NAMED: usize = 10;

/// A rule that a stream broke: where, and how. The stream ends there; what came before it stands.
///
/// `Display` writes `event 4: TEXT_MESSAGE_CONTENT: text message "m1" is not open (S2)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which event of the stream, counted from 0 and before chunks are expanded.
    pub index: usize,
    /// The type of the event that broke the rule, after chunks are expanded.
    pub event_type: EventType,
    /// The rule, and the ids that show it.
    pub kind: ViolationKind,
}

impl Violation {
    pub(super) fn new(index: usize, event_type: EventType, kind: ViolationKind) -> Self {
        Self { index, event_type, kind }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { index, event_type, kind } = self;
        write!(f, "event {index}: {event_type}: {kind} ({})", kind.rule())
    }
}

impl std::error::Error for Violation {}

/// Who an item belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Owner {
    /// The parent agent: what an absent tag means.
    Parent,
    /// The invocation of a subagent; `""` is one as well.
    Subagent(String),
}

impl From<Option<&str>> for Owner {
    fn from(tag: Option<&str>) -> Self {
        tag.map_or(Self::Parent, |id| Self::Subagent(id.to_owned()))
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parent => f.write_str("the parent agent"),
            Self::Subagent(id) => write!(f, "subagent {id:?}"),
        }
    }
}

/// What can be open, or owned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ItemKind {
    /// A text message.
    Text,
    /// A tool call.
    ToolCall,
    /// A reasoning message.
    Reasoning,
    /// A span of reasoning.
    Span,
    /// A step, by its name.
    Step,
    /// The invocation of a subagent.
    Subagent,
    /// An activity.
    Activity,
}

/// One thing that can be open, or owned.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Item {
    /// What it is.
    pub kind: ItemKind,
    /// Its id; the name of a step.
    pub id: String,
}

impl Item {
    pub(super) fn new(kind: ItemKind, id: &str) -> Self {
        Self { kind, id: id.to_owned() }
    }
}

impl fmt::Display for ItemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text => "text message",
            Self::ToolCall => "tool call",
            Self::Reasoning => "reasoning message",
            Self::Span => "reasoning span",
            Self::Step => "step",
            Self::Subagent => "subagent",
            Self::Activity => "activity",
        })
    }
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.kind, self.id)
    }
}

/// The rules that a stream can break.
///
/// [`ViolationKind::rule`] gives the number under which this crate keeps the rule: C for chunks, L
/// for the life of runs, S for streamed items, G for subagents.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ViolationKind {
    /// C1: a chunk without id and tag, while several subagents assemble such an item.
    #[error("which of {count} open items the {item} chunk continues is ambiguous")]
    AmbiguousChunk {
        /// What the chunk carries.
        item: ItemKind,
        /// How many items it could continue.
        count: usize,
    },
    /// C1: a chunk continues the item of another owner.
    #[error("chunk of {tag} continues {item}, which belongs to {owner}")]
    ChunkOwner {
        /// The item.
        item: Item,
        /// Whose it is.
        owner: Owner,
        /// Whose the chunk is.
        tag: Owner,
    },
    /// C2: a chunk repeats a member of the opening chunk with another value.
    #[error("chunk of {item} has {member} {found:?}, the first one had {}", or_none(established.as_deref()))]
    ChunkConflict {
        /// The item.
        item: Item,
        /// The member.
        member: &'static str,
        /// What it was; nothing if it was absent.
        established: Option<String>,
        /// What it is now.
        found: String,
    },
    /// C3: a chunk opens an item and lacks what that takes.
    #[error("first chunk of a {item} has no {member}")]
    ChunkIncomplete {
        /// What the chunk would open.
        item: ItemKind,
        /// What is absent.
        member: &'static str,
    },
    /// C8: a chunk where only expanded events may come.
    #[error("chunk that was not expanded")]
    NotExpanded,
    /// L1: a stream begins with a run.
    #[error("no run was started")]
    NoRun,
    /// L2: runs do not nest.
    #[error("a run is active")]
    RunActive,
    /// L3: after a run finished, only a run or its failure may come.
    #[error("the run has finished")]
    RunFinished,
    /// L4: after a run failed, only a run may come.
    #[error("the run has failed")]
    RunFailed,
    /// L7: a run finishes with nothing open.
    #[error("still open: {}", list(.0))]
    StillOpen(Vec<Item>),
    /// L11: a step is opened once.
    #[error("step {name:?} of {owner} is open")]
    StepOpen {
        /// Name of the step.
        name: String,
        /// Who opened it.
        owner: Owner,
    },
    /// L12: only an open step is closed.
    #[error("step {name:?} is not open")]
    StepNotOpen {
        /// Name of the step.
        name: String,
    },
    /// L12: a step is closed by whom it was opened by.
    #[error("step {name:?} was opened by {owner}, not by {tag}")]
    StepOwner {
        /// Name of the step.
        name: String,
        /// Who opened it.
        owner: Owner,
        /// Who would close it.
        tag: Owner,
    },
    /// S1: what is open is not opened.
    #[error("{0} is open")]
    AlreadyOpen(Item),
    /// S2: only what is open is continued and closed.
    #[error("{0} is not open")]
    NotOpen(Item),
    /// G2: what one owner opened, another one does not continue.
    #[error("{item} belongs to {owner}, not to {tag}")]
    ContinuedByOther {
        /// The item.
        item: Item,
        /// Whose it is.
        owner: Owner,
        /// Who would continue it.
        tag: Owner,
    },
    /// G3: what one owner opened, another one does not open again in the same run.
    #[error("{item} was opened by {owner}, and is opened again by {tag}")]
    ReopenedByOther {
        /// The item.
        item: Item,
        /// Whose it is.
        owner: Owner,
        /// Who would open it again.
        tag: Owner,
    },
    /// G4: a tool call belongs to whom its message belongs to.
    #[error("tool call {id:?} belongs to {tag}, its message {parent:?} to {owner}")]
    ParentOwner {
        /// Id of the call.
        id: String,
        /// Id of the message that it names.
        parent: String,
        /// Whose the message is.
        owner: Owner,
        /// Whose the call is.
        tag: Owner,
    },
    /// G10: an invocation is announced once in a run.
    #[error("subagent {id:?} is active")]
    SubagentActive {
        /// Id of the invocation.
        id: String,
    },
    /// G10: an invocation that ended does not come back in the same run.
    #[error("subagent {id:?} has ended in this run")]
    SubagentEnded {
        /// Id of the invocation.
        id: String,
    },
    /// G11: the invocation that another one comes from was announced in this run.
    #[error("parent {parent:?} of subagent {id:?} was not announced in this run")]
    SubagentParent {
        /// Id of the invocation.
        id: String,
        /// Id of the one it names as its parent.
        parent: String,
    },
    /// G12: only an active invocation ends.
    #[error("subagent {id:?} is not active")]
    SubagentNotActive {
        /// Id of the invocation.
        id: String,
    },
}

impl ViolationKind {
    /// The number of the rule.
    #[must_use]
    pub fn rule(&self) -> &'static str {
        match self {
            Self::AmbiguousChunk { .. } | Self::ChunkOwner { .. } => "C1",
            Self::ChunkConflict { .. } => "C2",
            Self::ChunkIncomplete { .. } => "C3",
            Self::NotExpanded => "C8",
            Self::NoRun => "L1",
            Self::RunActive => "L2",
            Self::RunFinished => "L3",
            Self::RunFailed => "L4",
            Self::StillOpen(_) => "L7",
            Self::StepOpen { .. } => "L11",
            Self::StepNotOpen { .. } | Self::StepOwner { .. } => "L12",
            Self::AlreadyOpen(_) => "S1",
            Self::NotOpen(_) => "S2",
            Self::ContinuedByOther { .. } => "G2",
            Self::ReopenedByOther { .. } => "G3",
            Self::ParentOwner { .. } => "G4",
            Self::SubagentActive { .. } | Self::SubagentEnded { .. } => "G10",
            Self::SubagentParent { .. } => "G11",
            Self::SubagentNotActive { .. } => "G12",
        }
    }
}

/// The first few, and how many more there are.
fn list(items: &[Item]) -> String {
    let (named, others) = items.split_at(items.len().min(NAMED));
    let named = named.iter().map(Item::to_string).collect::<Vec<_>>().join(", ");
    match others.len() {
        0 => named,
        others => format!("{named}, and {others} more"),
    }
}

fn or_none(text: Option<&str>) -> String {
    text.map_or_else(|| "none".to_owned(), |text| format!("{text:?}"))
}
