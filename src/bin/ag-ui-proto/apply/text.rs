//! What a thread comes to, for people.

use std::fmt::Write as _;

use ag_ui_proto::conversation::RunOutcome;
use ag_ui_proto::model::Message;

use super::{ComeTo, to_json};
use crate::look::printable;

impl ComeTo {
    /// A line for the outcome, one for each message and call, one for the state, and one for each
    /// interrupt and call that waits.
    pub(super) fn text(&self, names_thread: bool) -> serde_json::Result<String> {
        let conversation = &self.conversation;
        let mut out = String::new();
        if let (true, Some(id)) = (names_thread, &self.thread_id) {
            let _ = write!(out, "thread {}: ", printable(&format!("{id:?}")));
        }
        out.push_str(self.outcome());
        if self.outcome() == "completed" {
            match conversation.runs().last().and_then(|run| run.outcome.as_ref()) {
                Some(RunOutcome::Failed(error)) => {
                    let _ = write!(out, ": the agent reports: {}", printable(&error.message));
                }
                Some(RunOutcome::Cancelled) => out.push_str(": the run was cancelled"),
                Some(RunOutcome::Interrupted { .. }) => out.push_str(": the run waits"),
                _ => {}
            }
        }
        out.push('\n');
        for message in conversation.messages() {
            let (role, id) = (message.role(), printable(message.id()));
            let _ = writeln!(out, "{role} {id}: {}", printable(&content(message)?));
            let Message::Assistant(message) = message else { continue };
            for call in message.tool_calls.iter().flatten() {
                let function = call.function.as_ref();
                let name = function.map_or("a call", |function| &function.name);
                let arguments = function.map_or("", |function| &function.arguments);
                let [name, id, arguments] = [name, &call.id, arguments].map(printable);
                let _ = writeln!(out, "  {name} {id}: {arguments}");
            }
        }
        let _ = writeln!(out, "state: {}", printable(&to_json(conversation.state())?));
        for interrupt in conversation.interrupts() {
            let [id, reason] = [&interrupt.id, &interrupt.reason].map(|text| printable(text));
            let _ = writeln!(out, "interrupt {id}: {reason}");
        }
        for id in conversation.pending_tool_calls() {
            let _ = writeln!(out, "pending call {}", printable(&id));
        }
        Ok(out)
    }
}

/// The content of a message as JSON; `null` if it has none.
fn content(message: &Message) -> serde_json::Result<String> {
    let json = to_json(message)?;
    let members: std::collections::BTreeMap<&str, &serde_json::value::RawValue> =
        serde_json::from_str(&json)?;
    Ok(members.get("content").map_or("null", |content| content.get()).to_owned())
}
