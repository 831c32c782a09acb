//! A look at each event without owning it: its type, its time, and the ids and deltas of streamed
//! text and tool calls. All of its bytes are checked.
//!
//! The baseline owns what it reads, as in `decode`: what most programs have in place of a look.

use std::hint::black_box;

use ag_ui_proto::codec::EventView;

use super::decode::typed_json;
use super::flat::Flat;
use super::{Contender, OURS, reader};
use crate::workloads::Workload;

pub(super) fn contenders(workload: &Workload) -> Vec<Contender<'_>> {
    let (mut text, mut buffers) = (Vec::new(), simd_json::Buffers::default());
    let texts = || workload.json.iter().map(String::as_str).collect::<Vec<_>>();
    check(workload);
    let mut contenders = typed_json(workload);
    contenders.truncate(1);
    contenders.extend([
        reader("serde_json, borrowed", texts(), |json| {
            serde_json::from_str::<Flat<'_>>(json).expect("an event of ours")
        }),
        reader("sonic-rs, borrowed", texts(), |json| {
            sonic_rs::from_str::<Flat<'_>>(json).expect("an event of ours")
        }),
        reader("simd-json, borrowed", texts(), move |json| {
            text.clear();
            text.extend_from_slice(json.as_bytes());
            let flat: Flat<'_> = simd_json::serde::from_slice_with_buffers(&mut text, &mut buffers)
                .expect("an event of ours");
            black_box(&flat);
        }),
        reader(OURS, workload.payloads.iter().map(Vec::as_slice).collect(), |payload| {
            // Looked at where it is, as a program would.
            let view = EventView::read(payload);
            let view = view.as_ref().expect("a payload of ours");
            black_box((view.event_type(), view.timestamp(), view.message_id(), view.delta()));
        }),
    ]);
    contenders
}

/// All see the same.
fn check(workload: &Workload) {
    for (json, payload) in workload.json.iter().zip(&workload.payloads) {
        let flat: Flat<'_> = serde_json::from_str(json).expect("an event of ours");
        assert_eq!(flat, sonic_rs::from_str(json).expect("an event of ours"));
        let mut text = json.clone().into_bytes();
        assert_eq!(flat, simd_json::serde::from_slice(&mut text).expect("an event of ours"));
        let view = EventView::read(payload).expect("a payload of ours");
        let text = |name| view.text(name).unwrap_or_default();
        let seen = (view.event_type().as_str(), view.timestamp(), text("messageId"), text("delta"));
        assert_eq!(seen, flat.look());
    }
}
