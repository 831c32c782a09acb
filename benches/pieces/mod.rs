//! What a model that owns its events must hold.

use ag_ui_proto::value::Value;

use crate::workloads::Workload;

/// Members whose value is open JSON: there the keys are data too.
const OPEN: [&str; 11] = [
    "metadata",
    "rawEvent",
    "snapshot",
    "value",
    "event",
    "result",
    "state",
    "forwardedProps",
    "parameters",
    "payload",
    "responseSchema",
];

/// How many strings and containers there are in JSON.
#[derive(Default)]
pub(crate) struct Pieces {
    /// Texts that are not empty, and the keys of open objects. Not the event's `type`, which is a
    /// number to every model.
    pub(crate) strings: usize,
    /// Lists and objects that are not empty, the event itself aside.
    pub(crate) containers: usize,
}

impl Pieces {
    pub(crate) fn of(workload: &Workload) -> Self {
        let mut pieces = Self::default();
        for json in &workload.json {
            let event = Value::from_json(json, usize::MAX).expect("JSON of ours");
            pieces.count(&event, false);
            // Its `type`, and the object that it is.
            pieces.strings -= 1;
            pieces.containers -= 1;
        }
        pieces
    }

    fn count(&mut self, value: &Value, open: bool) {
        match value {
            Value::String(text) => self.strings += usize::from(!text.is_empty()),
            Value::List(list) => {
                self.containers += usize::from(!list.is_empty());
                list.iter().for_each(|element| self.count(element, open));
            }
            Value::Object(object) => {
                self.containers += usize::from(!object.is_empty());
                for (key, value) in object {
                    self.strings += usize::from(open && !key.is_empty());
                    self.count(value, open || OPEN.contains(&key));
                }
            }
            _ => {}
        }
    }
}
