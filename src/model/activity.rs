//! Activities: structured things that a user sees and the agent does not.

use super::object::objects;

macro_rules! activity_objects {
    ($write:ident) => {
        $write! {
        /// Creates or replaces an activity.
        ActivitySnapshot: ActivitySnapshotEvent {
            required {
                /// Id of the activity message.
                message_id: String = "messageId";
                /// What kind of activity it is.
                activity_type: String = "activityType";
            }
            expected {
                /// The activity itself.
                content: crate::value::Object = "content";
            }
            optional {
                /// Whether a known activity is replaced; absent means true.
                replace: bool = "replace", with_replace;
                /// The subagent that the event belongs to; absent means the parent agent.
                subagent_run_id: String = "subagentRunId", with_subagent;
            }
        }

        /// Patches an activity's content.
        ActivityDelta: ActivityDeltaEvent {
            required {
                /// Id of the activity message.
                message_id: String = "messageId";
                /// What kind of activity it is.
                activity_type: String = "activityType";
                /// The operations, applied in order, all or none.
                patch: Vec<crate::model::PatchOperation> = "patch";
            }
            optional {
                /// The subagent that the event belongs to; absent means the parent agent.
                subagent_run_id: String = "subagentRunId", with_subagent;
            }
        }
        }
    };
}

pub(crate) use activity_objects;
activity_objects!(objects);
