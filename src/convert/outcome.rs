//! Outcomes: an object in JSON, a string and its payload lists side by side on the wire.
//!
//! A payload list that arrived under an outcome it does not belong to is kept beside it, for
//! enforcement to strip. No outcome is refused: a later version may know it.

use super::{ConvertError, FromWire, FromWireCx, ToWire, ToWireCx, json_of, leave_out};
use crate::model::path::At;
use crate::model::{
    Content, Extra, Interrupt, Notice, NoticeKind, RunCancelled, RunFinished, RunFinishedOutcome,
    RunInterrupt, RunSuccess, SubagentFinished, SubagentFinishedOutcome, SubagentSuccess,
    SubagentSuspended, ToolCallResult, Unrecognised,
};
use crate::value::{Object, Value};
use crate::wire;

impl ToWire<wire::RunFinishedEvent> for RunFinished {
    fn to_wire(
        &self,
        at: &At<'_>,
        cx: &mut ToWireCx,
    ) -> Result<wire::RunFinishedEvent, ConvertError> {
        leave_out(&self.extra, at, cx);
        let outcome_at = at.member("outcome");
        let (mut interrupts, mut pending_tool_call_ids) = (Vec::new(), Vec::new());
        match &self.outcome {
            Some(RunFinishedOutcome::Success(outcome)) => {
                leave_out(&outcome.extra, &outcome_at, cx);
                pending_tool_call_ids = outcome.pending_tool_call_ids.clone().unwrap_or_default();
            }
            Some(RunFinishedOutcome::Interrupt(outcome)) => {
                leave_out(&outcome.extra, &outcome_at, cx);
                let at = outcome_at.member("interrupts");
                interrupts = outcome.interrupts.to_wire(&at, cx)?;
            }
            Some(RunFinishedOutcome::Cancelled(outcome)) => {
                leave_out(&outcome.extra, &outcome_at, cx);
            }
            Some(RunFinishedOutcome::Unknown(outcome)) => leave_payload(outcome, &outcome_at, cx),
            None => {}
        }
        Ok(wire::RunFinishedEvent {
            base_event: cx.base.take(),
            thread_id: self.thread_id.clone(),
            run_id: self.run_id.clone(),
            result: self.result.to_wire(&at.member("result"), cx)?,
            outcome: self.outcome.as_ref().map_or("", RunFinishedOutcome::tag).to_owned(),
            interrupts,
            usage: self.usage.to_wire(&at.member("usage"), cx)?,
            pending_tool_call_ids,
        })
    }
}

impl FromWire<wire::RunFinishedEvent> for RunFinished {
    fn from_wire(
        wire: wire::RunFinishedEvent,
        at: &At<'_>,
        cx: &mut FromWireCx,
    ) -> Result<Self, ConvertError> {
        cx.base = wire.base_event;
        let outcome_at = at.member("outcome");
        let mut interrupts: Option<Vec<Interrupt>> =
            FromWire::from_wire(wire.interrupts, &outcome_at.member("interrupts"), cx)?;
        let mut pending: Option<Vec<String>> =
            Some(wire.pending_tool_call_ids).filter(|ids| !ids.is_empty());

        let mut outcome = match wire.outcome.as_str() {
            "" => None,
            "success" => {
                let mut outcome = RunSuccess::new();
                outcome.pending_tool_call_ids = pending.take();
                Some(RunFinishedOutcome::Success(outcome))
            }
            "interrupt" => {
                let interrupts = interrupts.take().unwrap_or_default();
                Some(RunFinishedOutcome::Interrupt(RunInterrupt::new(interrupts)))
            }
            "cancelled" => Some(RunFinishedOutcome::Cancelled(RunCancelled::new())),
            name => Some(RunFinishedOutcome::Unknown(Object::from([("type", name)]))),
        };
        let mut event = Self::new(wire.thread_id, wire.run_id);
        let mut keep = |name: &str, payload: Value| match &mut outcome {
            None => event.extra.insert(name, payload),
            Some(RunFinishedOutcome::Success(outcome)) => outcome.extra.insert(name, payload),
            Some(RunFinishedOutcome::Interrupt(outcome)) => outcome.extra.insert(name, payload),
            Some(RunFinishedOutcome::Cancelled(outcome)) => outcome.extra.insert(name, payload),
            Some(RunFinishedOutcome::Unknown(outcome)) => {
                outcome.insert(name, payload);
            }
        };
        if let Some(ids) = pending {
            keep("pendingToolCallIds", Value::from(ids));
        }
        if let Some(interrupts) = interrupts {
            keep("interrupts", json_of(&interrupts, &outcome_at.member("interrupts"))?);
        }
        event.outcome = outcome;
        event.result = FromWire::from_wire(wire.result, &at.member("result"), cx)?;
        event.usage = FromWire::from_wire(wire.usage, &at.member("usage"), cx)?;
        Ok(event)
    }
}

impl ToWire<wire::SubagentFinishedEvent> for SubagentFinished {
    fn to_wire(
        &self,
        at: &At<'_>,
        cx: &mut ToWireCx,
    ) -> Result<wire::SubagentFinishedEvent, ConvertError> {
        leave_out(&self.extra, at, cx);
        let outcome_at = at.member("outcome");
        let mut interrupt_ids = Vec::new();
        match &self.outcome {
            Some(SubagentFinishedOutcome::Success(outcome)) => {
                leave_out(&outcome.extra, &outcome_at, cx);
            }
            Some(SubagentFinishedOutcome::Suspended(outcome)) => {
                leave_out(&outcome.extra, &outcome_at, cx);
                interrupt_ids = outcome.interrupt_ids.clone().unwrap_or_default();
            }
            Some(SubagentFinishedOutcome::Unknown(outcome)) => {
                leave_payload(outcome, &outcome_at, cx);
            }
            None => {}
        }
        Ok(wire::SubagentFinishedEvent {
            base_event: cx.base.take(),
            subagent_run_id: self.subagent_run_id.clone(),
            result: self.result.to_wire(&at.member("result"), cx)?,
            outcome: self.outcome.as_ref().map_or("", SubagentFinishedOutcome::tag).to_owned(),
            interrupt_ids,
        })
    }
}

impl FromWire<wire::SubagentFinishedEvent> for SubagentFinished {
    fn from_wire(
        wire: wire::SubagentFinishedEvent,
        at: &At<'_>,
        cx: &mut FromWireCx,
    ) -> Result<Self, ConvertError> {
        cx.base = wire.base_event;
        let ids = Some(wire.interrupt_ids).filter(|ids| !ids.is_empty());
        let mut event = Self::new(wire.subagent_run_id);
        let foreign = ids.clone().map(|ids| ("interruptIds", Value::from(ids)));
        event.outcome = match wire.outcome.as_str() {
            "" => {
                event.extra = Extra::from_object(foreign.into_iter().collect());
                None
            }
            "success" => {
                let mut outcome = SubagentSuccess::new();
                outcome.extra = Extra::from_object(foreign.into_iter().collect());
                Some(SubagentFinishedOutcome::Success(outcome))
            }
            "suspended" => {
                let mut outcome = SubagentSuspended::new();
                outcome.interrupt_ids = ids;
                Some(SubagentFinishedOutcome::Suspended(outcome))
            }
            name => {
                let mut outcome = Object::from([("type", name)]);
                outcome.extend(foreign);
                Some(SubagentFinishedOutcome::Unknown(outcome))
            }
        };
        event.result = FromWire::from_wire(wire.result, &at.member("result"), cx)?;
        Ok(event)
    }
}

/// The type of an unknown outcome goes over the wire, its payload does not.
///
/// A type without a name is no type there: the outcome is left out as a whole.
fn leave_payload(outcome: &Object, at: &At<'_>, cx: &mut ToWireCx) {
    if outcome.get("type").and_then(Value::as_str).is_some_and(str::is_empty) {
        let what = Unrecognised::Tag { union: "outcome", tag: String::new() };
        cx.notices.push(Notice { path: at.to_path(), kind: NoticeKind::NotOnWire(what) });
        return;
    }
    for name in outcome.keys().filter(|name| *name != "type") {
        let kind = NoticeKind::NotOnWire(Unrecognised::Member);
        cx.notices.push(Notice { path: at.member(name).to_path(), kind });
    }
}

impl ToWire<wire::ToolCallResultEvent> for ToolCallResult {
    fn to_wire(
        &self,
        at: &At<'_>,
        cx: &mut ToWireCx,
    ) -> Result<wire::ToolCallResultEvent, ConvertError> {
        leave_out(&self.extra, at, cx);
        let (content, content_parts) = self.content.to_fields(&at.member("content"), cx)?;
        Ok(wire::ToolCallResultEvent {
            base_event: cx.base.take(),
            subagent_run_id: self.subagent_run_id.clone(),
            message_id: self.message_id.clone(),
            tool_call_id: self.tool_call_id.clone(),
            content,
            role: self.role.to_wire(&at.member("role"), cx)?,
            content_parts,
        })
    }
}

impl FromWire<wire::ToolCallResultEvent> for ToolCallResult {
    fn from_wire(
        wire: wire::ToolCallResultEvent,
        at: &At<'_>,
        cx: &mut FromWireCx,
    ) -> Result<Self, ConvertError> {
        cx.base = wire.base_event;
        let content =
            Content::from_fields(wire.content, wire.content_parts, &at.member("content"), cx)?;
        Ok(Self {
            message_id: wire.message_id,
            tool_call_id: wire.tool_call_id,
            content,
            role: wire.role.map(Into::into),
            subagent_run_id: wire.subagent_run_id,
            extra: Extra::default(),
        })
    }
}
