//! Activities: restated and patched.

use super::Conversation;
use crate::conversation::message::merge;
use crate::conversation::patch::{CopyLimit, PatchError, PatchReason, apply_patch_within, copies};
use crate::conversation::warning::WarningKind;
use crate::model::{ActivityDelta, ActivityMessage, ActivitySnapshot, Message};
use crate::value::{Object, Value};

impl Conversation {
    pub(super) fn set_activity(
        &mut self,
        body: &ActivitySnapshot,
        metadata: Option<&Object>,
        warnings: &mut Vec<WarningKind>,
    ) {
        let id = &body.message_id;
        self.copied.changed(id);
        let replaces = body.replace != Some(false);
        let mut activity =
            ActivityMessage::new(id, &body.activity_type, body.content.clone().unwrap_or_default());
        activity.subagent_run_id.clone_from(&body.subagent_run_id);
        match self.messages.get_mut(id) {
            // A2, A3: its metadata stays, and takes in the event's, whatever is replaced.
            Some(Message::Activity(held)) => {
                activity.metadata = held.metadata.take();
                if replaces {
                    *held = activity;
                } else {
                    held.metadata = activity.metadata;
                }
                merge(&mut held.metadata, metadata);
            }
            Some(message) => {
                let (id, role) = (id.clone(), message.role());
                if replaces {
                    warnings.push(WarningKind::ActivityReplaces { id, role });
                    activity.metadata = metadata.cloned();
                    self.messages.put(activity.into());
                } else {
                    warnings.push(WarningKind::ActivityLeftOut { id, role });
                }
            }
            None => {
                activity.metadata = metadata.cloned();
                self.messages.put(activity.into());
            }
        }
    }

    pub(super) fn patch_activity(
        &mut self,
        body: &ActivityDelta,
        metadata: Option<&Object>,
        warnings: &mut Vec<WarningKind>,
    ) {
        let id = &body.message_id;
        let copies = copies(&body.patch);
        let limit =
            if copies { self.copied.limit(id, &self.messages) } else { CopyLimit::default() };
        let Some(Message::Activity(activity)) = self.messages.get_mut(id) else {
            warnings.push(WarningKind::NoActivity { id: id.clone() });
            return;
        };
        // A6: the metadata merges whatever becomes of the patch.
        merge(&mut activity.metadata, metadata);
        let content = activity.content.get_or_insert_default();
        match patch_object(content, body, &limit) {
            Ok(()) if copies => self.copied.copied(id, content),
            Ok(()) => self.copied.changed(id),
            Err(error) => {
                warnings.push(WarningKind::ActivityPatch { id: id.clone(), error });
                return;
            }
        }
        activity.activity_type = Some(body.activity_type.clone());
    }
}

/// A7: content that would be no object is a patch that failed.
fn patch_object(
    content: &mut Object,
    body: &ActivityDelta,
    limit: &CopyLimit,
) -> Result<(), PatchError> {
    // Only an operation on the whole can make it another thing; then a copy is tried.
    let may_end_otherwise = body.patch.iter().any(|operation| {
        operation.path.is_empty() || operation.from.as_deref().is_some_and(str::is_empty)
    });
    if may_end_otherwise {
        let mut trial = Value::Object(content.clone());
        apply_patch_within(&mut trial, &body.patch, limit)?;
        let Value::Object(patched) = trial else {
            let reason = PatchReason::NotAnObject;
            return Err(PatchError { index: body.patch.len() - 1, path: String::new(), reason });
        };
        *content = patched;
        return Ok(());
    }
    let mut value = Value::Object(std::mem::take(content));
    let result = apply_patch_within(&mut value, &body.patch, limit);
    if let Value::Object(patched) = value {
        *content = patched;
    }
    result
}
