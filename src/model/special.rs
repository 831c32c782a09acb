//! Events whose content the protocol does not define.

use super::object::objects;

macro_rules! special_objects {
    ($write:ident) => {
        $write! {
        /// Another system's event, passed through.
        Raw: RawEvent {
            expected {
                /// That event; any JSON value, null included.
                event: crate::value::Value = "event";
            }
            optional {
                /// The system it came from.
                source: String = "source", with_source;
                /// The subagent that the event belongs to; absent means the parent agent.
                subagent_run_id: String = "subagentRunId", with_subagent;
            }
        }

        /// An event that the application defines.
        Custom: CustomEvent {
            required {
                /// Name of the event.
                name: String = "name";
            }
            expected {
                /// Its payload; any JSON value, null included.
                value: crate::value::Value = "value";
            }
            optional {
                /// The subagent that the event belongs to; absent means the parent agent.
                subagent_run_id: String = "subagentRunId", with_subagent;
            }
        }
        }
    };
}

pub(crate) use special_objects;
special_objects!(objects);
