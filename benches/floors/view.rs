//! A look at each event without owning it.

use super::flat::Flat;
use super::{BASELINE, Contender, reader};
use crate::workloads::Workload;

pub(super) fn contenders(workload: &Workload) -> Vec<Contender<'_>> {
    let (mut text, mut buffers) = (Vec::new(), simd_json::Buffers::default());
    let texts = || workload.json.iter().map(String::as_str).collect::<Vec<_>>();
    check(workload);
    vec![
        reader(BASELINE, texts(), |json| {
            serde_json::from_str::<Flat<'_>>(json).expect("an event of ours")
        }),
        reader("sonic-rs", texts(), |json| {
            sonic_rs::from_str::<Flat<'_>>(json).expect("an event of ours")
        }),
        reader("simd-json", texts(), move |json| {
            text.clear();
            text.extend_from_slice(json.as_bytes());
            let flat: Flat<'_> = simd_json::serde::from_slice_with_buffers(&mut text, &mut buffers)
                .expect("an event of ours");
            std::hint::black_box(&flat);
        }),
        // The borrowed view of the codec takes its place here, with a line for it in `check`:
        //
        // reader(OURS, workload.payloads.iter().map(Vec::as_slice).collect(), |payload| {
        //     EventView::read(payload).expect("a payload of ours")
        // }),
    ]
}

/// All see the same.
fn check(workload: &Workload) {
    for json in &workload.json {
        let flat: Flat<'_> = serde_json::from_str(json).expect("an event of ours");
        assert_eq!(flat, sonic_rs::from_str(json).expect("an event of ours"));
        let mut text = json.clone().into_bytes();
        assert_eq!(flat, simd_json::serde::from_slice(&mut text).expect("an event of ours"));
    }
}
