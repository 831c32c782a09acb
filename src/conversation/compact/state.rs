//! The state events of a run as one snapshot.

use super::extras::Kept;
use crate::conversation::patch::apply_patch;
use crate::model::{Body, Event};

/// K5: what stands at `states`, in order: the last snapshot takes in the patches behind it, and what
/// stands before it goes. Without a snapshot nothing changes, since what is patched is not known.
///
/// An event that must not go into another stays, and patches behind it too.
pub(super) fn fold(run: &mut [Option<Event>], states: &[usize], kept: Kept) {
    let event = |place: &usize| run.get(*place).and_then(Option::as_ref);
    let is_apart = |place: &usize| event(place).is_some_and(|event| kept.keep_apart(&event.base));
    let is_snapshot = |place: &usize| {
        event(place).is_some_and(|event| matches!(event.body, Body::StateSnapshot(_)))
    };
    let Some(last) = states.iter().rposition(is_snapshot) else { return };
    let (before, behind) = (&states[..last], &states[last + 1..]);
    let folded = behind.iter().position(is_apart).unwrap_or(behind.len());
    let gone: Vec<usize> = before.iter().filter(|place| !is_apart(place)).copied().collect();
    let changes_nothing = gone.is_empty() && folded == 0;
    if changes_nothing {
        return;
    }

    let Some(mut snapshot) = run.get_mut(states[last]).and_then(Option::take) else { return };
    if let Body::StateSnapshot(body) = &mut snapshot.body {
        let state = body.snapshot.get_or_insert_default();
        for place in &behind[..folded] {
            let Some(Event { body: Body::StateDelta(delta), .. }) = run[*place].take() else {
                continue;
            };
            // K6: a patch that fails changes nothing here, as it does when it is applied.
            let _ = apply_patch(state, &delta.delta);
        }
    }
    for place in gone {
        run[place] = None;
    }
    kept.merge(&mut snapshot.base, None);
    run[states[last]] = Some(snapshot);
}
