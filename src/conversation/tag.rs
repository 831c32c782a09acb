//! Whose an event is.

use crate::model::Body;

/// The tag of an event: the invocation that it is attributed to; nothing for the parent agent.
pub(super) fn tag(body: &Body) -> Option<&str> {
    match body {
        Body::TextMessageStart(body) => body.subagent_run_id.as_deref(),
        Body::TextMessageContent(body) => body.subagent_run_id.as_deref(),
        Body::TextMessageEnd(body) => body.subagent_run_id.as_deref(),
        Body::TextMessageChunk(body) => body.subagent_run_id.as_deref(),
        Body::ToolCallStart(body) => body.subagent_run_id.as_deref(),
        Body::ToolCallArgs(body) => body.subagent_run_id.as_deref(),
        Body::ToolCallEnd(body) => body.subagent_run_id.as_deref(),
        Body::ToolCallChunk(body) => body.subagent_run_id.as_deref(),
        Body::ToolCallResult(body) => body.subagent_run_id.as_deref(),
        Body::ReasoningStart(body) => body.subagent_run_id.as_deref(),
        Body::ReasoningEnd(body) => body.subagent_run_id.as_deref(),
        Body::ReasoningMessageStart(body) => body.subagent_run_id.as_deref(),
        Body::ReasoningMessageContent(body) => body.subagent_run_id.as_deref(),
        Body::ReasoningMessageEnd(body) => body.subagent_run_id.as_deref(),
        Body::ReasoningMessageChunk(body) => body.subagent_run_id.as_deref(),
        Body::ReasoningEncryptedValue(body) => body.subagent_run_id.as_deref(),
        Body::StateSnapshot(body) => body.subagent_run_id.as_deref(),
        Body::StateDelta(body) => body.subagent_run_id.as_deref(),
        Body::ActivitySnapshot(body) => body.subagent_run_id.as_deref(),
        Body::ActivityDelta(body) => body.subagent_run_id.as_deref(),
        Body::StepStarted(body) => body.subagent_run_id.as_deref(),
        Body::StepFinished(body) => body.subagent_run_id.as_deref(),
        Body::Raw(body) => body.subagent_run_id.as_deref(),
        Body::Custom(body) => body.subagent_run_id.as_deref(),
        Body::SubagentStarted(body) => Some(&body.subagent_run_id),
        Body::SubagentFinished(body) => Some(&body.subagent_run_id),
        Body::SubagentError(body) => Some(&body.subagent_run_id),
        Body::RunStarted(_)
        | Body::RunFinished(_)
        | Body::RunError(_)
        | Body::MessagesSnapshot(_) => None,
    }
}
