//! Events as Rust and JSON see them; nothing here knows of protobuf.
//!
//! [`Event`] is a [`Base`] and a [`Body`]; the body's types are named as the protocol names its
//! events. Members are public; `new` takes the required ones, `with_*` sets the others.
//!
//! An event can hold what a newer peer sends: a member, role, outcome, content part, source or
//! patch operation that this version does not describe. It cannot hold a contradiction, such as
//! text and parts at once. Three readings tell apart what is done with the rest:
//!
//! | reading | unknown material | malformed material |
//! |---|---|---|
//! | [`Event::from_value`], `serde` | kept | another JSON type is refused, rules are not checked |
//! | [`StrictReader`], [`Event::validate`] | refused | refused |
//! | [`TolerantReader`], [`Event::enforce`] | stripped, and reported as a [`Notice`] | refused |

mod activity;
mod capabilities;
mod content;
pub(crate) mod direct;
pub(crate) mod enforce;
mod error;
mod event;
mod input;
mod legacy;
pub(crate) mod message;
pub(crate) mod node;
mod notices;
pub(crate) mod object;
mod patch;
pub(crate) mod path;
mod read;
mod reasoning;
mod run;
mod special;
mod state;
mod subagent;
mod text;
mod tool;

pub use self::activity::{ActivityDelta, ActivitySnapshot};
pub use self::capabilities::{
    AgentCapabilities, ExecutionCapabilities, HumanInTheLoopCapabilities, IdentityCapabilities,
    MultiAgentCapabilities, MultimodalCapabilities, MultimodalInputCapabilities,
    MultimodalOutputCapabilities, OutputCapabilities, ReasoningCapabilities, StateCapabilities,
    SubagentInfo, ToolsCapabilities, TransportCapabilities,
};
pub use self::content::{
    Content, DataSource, FileSource, MediaPart, Part, PartSource, TextPart, UrlSource,
};
pub use self::enforce::{Enforced, UnknownNames};
pub use self::error::{Malformed, Notice, NoticeKind, ReadError, Reason, Unrecognised};
pub use self::event::{Base, Body, Event, EventType, UnknownEventType};
pub use self::input::{
    Context, Interrupt, ResumeEntry, ResumeStatus, RunAgentInput, TokenUsage, Tool,
};
pub use self::legacy::Translator;
pub use self::message::{
    ActivityMessage, AssistantMessage, DeveloperMessage, FunctionCall, Message, ReasoningMessage,
    Role, SystemMessage, ToolCall, ToolCallType, ToolMessage, UserMessage,
};
pub use self::notices::Notices;
pub use self::object::Extra;
pub use self::patch::{PatchOp, PatchOperation};
pub use self::path::{Path, Segment};
pub use self::read::{DEFAULT_MAX_DEPTH, StrictReader, TolerantReader};
pub use self::reasoning::{
    EncryptedValueSubtype, ReasoningEncryptedValue, ReasoningEnd, ReasoningMessageChunk,
    ReasoningMessageContent, ReasoningMessageEnd, ReasoningMessageStart, ReasoningStart,
};
pub use self::run::{
    RunCancelled, RunError, RunFinished, RunFinishedOutcome, RunInterrupt, RunStarted, RunSuccess,
    StepFinished, StepStarted,
};
pub use self::special::{Custom, Raw};
pub use self::state::{MessagesSnapshot, StateDelta, StateSnapshot};
pub use self::subagent::{
    SubagentError, SubagentFinished, SubagentFinishedOutcome, SubagentStarted, SubagentSuccess,
    SubagentSuspended,
};
pub use self::text::{
    TextMessageChunk, TextMessageContent, TextMessageEnd, TextMessageStart, TextRole,
};
pub use self::tool::{ToolCallArgs, ToolCallChunk, ToolCallEnd, ToolCallResult, ToolCallStart};

pub(crate) use self::activity::activity_objects;
pub(crate) use self::input::{input_objects, run_input};
pub(crate) use self::reasoning::reasoning_objects;
pub(crate) use self::run::run_objects;
pub(crate) use self::special::special_objects;
pub(crate) use self::state::state_objects;
pub(crate) use self::subagent::subagent_objects;
pub(crate) use self::text::text_objects;
pub(crate) use self::tool::tool_objects;

/// The version of the protocol that this crate speaks; its wire is a superset of 1.0's.
pub const PROTOCOL_VERSION: &str = "1.1";
