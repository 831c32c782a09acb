//! JSON texts to events: the typed model of serde, and ours with its verdicts.

use ag_ui_proto::Event;
use ag_ui_proto::model::{StrictReader, TolerantReader};

use super::Contender;
use super::decode::{texts, typed_json};
use crate::workloads::Workload;

pub(super) fn contenders(workload: &Workload) -> Vec<Contender<'_>> {
    let strict = StrictReader::new();
    let mut tolerant = TolerantReader::new();
    let mut contenders = typed_json(workload);
    contenders.extend([
        texts("Event::from_json", workload, Event::clone, |json| {
            Event::from_json(json).expect("an event of ours")
        }),
        texts("StrictReader", workload, Event::clone, move |json| {
            strict.read(json).expect("an event of ours")
        }),
        texts(
            "TolerantReader",
            workload,
            |event: &Option<Event>| event.clone().expect("an event"),
            move |json| tolerant.read(json).expect("an event of ours").event,
        ),
    ]);
    contenders
}
