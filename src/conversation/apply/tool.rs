//! Tool calls and their results.

use super::Conversation;
use crate::conversation::message::merge;
use crate::conversation::warning::WarningKind;
use crate::model::{
    AssistantMessage, FunctionCall, Message, Role, ToolCall, ToolCallResult, ToolCallStart,
    ToolMessage,
};
use crate::value::Object;

impl Conversation {
    pub(super) fn start_call(
        &mut self,
        body: &ToolCallStart,
        metadata: Option<&Object>,
        warnings: &mut Vec<WarningKind>,
    ) {
        let ToolCallStart { tool_call_id: id, tool_call_name: name, .. } = body;
        self.tally.start(id);
        if let Some(call) = self.messages.call_mut(id) {
            let function = call.function.get_or_insert_with(|| new_function(name));
            if function.name != *name {
                warnings.push(WarningKind::CallRenamed {
                    id: id.clone(),
                    before: function.name.clone(),
                    now: name.clone(),
                });
                function.name.clone_from(name);
            }
            merge(&mut call.metadata, metadata);
            return;
        }
        let host = self.host(body, warnings);
        let mut call = ToolCall::function(id, name, "");
        call.metadata = metadata.cloned();
        self.messages.push_call(&host, call);
    }

    /// The id of the assistant message that takes a new call; the message is held.
    fn host(&mut self, body: &ToolCallStart, warnings: &mut Vec<WarningKind>) -> String {
        let id = &body.tool_call_id;
        let mut host = body.parent_message_id.as_ref().unwrap_or(id).clone();
        let role = self.messages.get(&host).map(Message::role);
        if let (Some(role), Some(parent)) = (role, &body.parent_message_id)
            && role != Role::Assistant
        {
            warnings.push(WarningKind::ParentNotAssistant {
                id: id.clone(),
                parent: parent.clone(),
                role,
            });
            host.clone_from(id);
        }
        match self.messages.get(&host) {
            Some(Message::Assistant(_)) => return host,
            Some(_) => host = self.free_id(host, warnings),
            None => {}
        }
        let mut message = AssistantMessage::new(&host);
        message.subagent_run_id.clone_from(&body.subagent_run_id);
        self.messages.put(message.into());
        host
    }

    fn free_id(&mut self, taken: String, warnings: &mut Vec<WarningKind>) -> String {
        let instead = self.messages.free_id(&taken);
        warnings.push(WarningKind::IdTaken { id: taken, instead: instead.clone() });
        instead
    }

    pub(super) fn on_call(
        &mut self,
        id: &str,
        metadata: Option<&Object>,
        delta: &str,
        warnings: &mut Vec<WarningKind>,
    ) {
        let Some(call) = self.messages.call_mut(id) else {
            warnings.push(WarningKind::NoToolCall { id: id.to_owned() });
            return;
        };
        call.function.get_or_insert_with(|| new_function("")).arguments.push_str(delta);
        merge(&mut call.metadata, metadata);
    }

    pub(super) fn answer(
        &mut self,
        body: &ToolCallResult,
        metadata: Option<&Object>,
        warnings: &mut Vec<WarningKind>,
    ) {
        self.tally.answer(&body.tool_call_id);
        let mut message =
            ToolMessage::new(&body.message_id, body.content.clone(), &body.tool_call_id);
        message.subagent_run_id.clone_from(&body.subagent_run_id);
        message.metadata = metadata.cloned();
        match self.messages.get(&body.message_id) {
            Some(Message::Tool(_)) => {
                warnings.push(WarningKind::ResultReplaced { id: body.message_id.clone() });
                self.messages.put(message.into());
                return;
            }
            Some(_) => message.id = self.free_id(body.message_id.clone(), warnings),
            None => {}
        }
        self.messages.put_answer(message.into(), &body.tool_call_id);
    }
}

fn new_function(name: &str) -> FunctionCall {
    FunctionCall::new(name, "")
}
