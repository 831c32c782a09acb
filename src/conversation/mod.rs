//! What a stream of events means: its rules, and the conversation that it builds.
//!
//! ```text
//! event --> enforce --> ChunkExpander --> Verifier --> Conversation
//!           (model)     chunks become     the rules    messages, state,
//!                       other events      between      runs, interrupts
//!                                         events
//! ```
//!
//! [`Consumer`] is the whole line, and its [`RunResult`] says how a stream ended. Nothing here reads,
//! writes, waits or knows of bytes: events in; events, warnings and a conversation out.
//!
//! [`Conversation::next_input`] is the way back: the next request, with an answer to all that waits.
//! [`compact`] makes a recorded stream smaller, [`Lineage`] finds its branches.
//!
//! Rule: specification 1.1. The parts say which pages.

mod apply;
mod chat;
mod chunks;
mod compact;
mod consume;
mod interrupt;
mod lineage;
mod message;
mod messages;
mod patch;
mod producer;
mod run;
mod snapshot;
mod tag;
mod verify;
mod version;
mod violation;
mod warning;

pub use self::apply::Conversation;
pub use self::chat::{ChatError, ChatLoss, Converted, from_chat, to_chat};
pub use self::chunks::ChunkExpander;
pub use self::compact::{Compactor, Extras, LeftOut, compact};
pub use self::consume::{Consumed, Consumer, Delivered, Rejection, RunResult};
pub use self::interrupt::{InputError, NextInput, ResumeCheck, is_expired};
pub use self::lineage::{Lineage, LineageRun, ParentRun};
pub use self::patch::{DEFAULT_MAX_PATCHED_DEPTH, PatchError, PatchReason, apply_patch};
pub use self::producer::ProducerFault;
pub use self::run::{Run, RunOutcome};
pub use self::snapshot::reconcile;
pub use self::verify::{Phase, Verifier};
pub use self::violation::{Item, ItemKind, Owner, Violation, ViolationKind};
pub use self::warning::{Warning, WarningKind};
