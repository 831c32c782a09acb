//! The state events of a run as one snapshot.

use super::extras::{Kept, LeftOut};
use crate::conversation::message::merge;
use crate::conversation::patch::{CopyLimit, PatchReason, apply_patch_within};
use crate::conversation::tag::tag;
use crate::model::{Base, Body, Event};

/// How large copies may make a state that becomes a snapshot, as [`PatchReason::TooLarge`] counts it.
/// It says nothing of how the state came to be, so that compacting again changes nothing.
const MAX_COPIED_LEN: usize = 64 << 10;

/// K5: what stands at `states`, in order: the last snapshot takes in the patches behind it, and what
/// stands before it goes. Without a snapshot nothing changes, since what is patched is not known.
///
/// An event that must not go into another stays, and patches behind it too; so does a patch whose
/// copies make the state large, since a log must not grow.
pub(super) fn fold(
    run: &mut [Option<Event>],
    states: &[usize],
    kept: Kept,
    left_out: &mut LeftOut,
) {
    let event = |place: &usize| run.get(*place).and_then(Option::as_ref);
    let is_apart = |place: &usize| event(place).is_some_and(|event| kept.keep_apart(&event.base));
    let is_snapshot = |place: &usize| {
        event(place).is_some_and(|event| matches!(event.body, Body::StateSnapshot(_)))
    };
    let Some(last) = states.iter().rposition(is_snapshot) else { return };
    let (before, behind) = (&states[..last], &states[last + 1..]);
    let folded = behind.iter().position(is_apart).unwrap_or(behind.len());
    let gone: Vec<usize> = before.iter().filter(|place| !is_apart(place)).copied().collect();
    let max = MAX_COPIED_LEN;
    let limit = CopyLimit { max, reason: PatchReason::TooLarge { max } };
    let changes_nothing = gone.is_empty() && folded == 0;
    if changes_nothing {
        return;
    }

    let Some(mut snapshot) = run.get_mut(states[last]).and_then(Option::take) else { return };
    let Body::StateSnapshot(body) = &mut snapshot.body else { return };
    // What it replaces is older: of its metadata that stays which nothing later has.
    let own = std::mem::take(&mut snapshot.base);
    for place in gone {
        let Some(Event { mut base, body: old }) = run[place].take() else { continue };
        left_out.timestamps += u64::from(base.timestamp.take().is_some());
        left_out.tags += u64::from(is_lost(tag(&old), body.subagent_run_id.as_deref()));
        take_in(&mut snapshot.base, base, kept, left_out);
    }
    left_out.replaced(snapshot.base.metadata.as_ref(), own.metadata.as_ref());
    merge(&mut snapshot.base.metadata, own.metadata.as_ref());
    (snapshot.base.timestamp, snapshot.base.raw_event) = (own.timestamp, own.raw_event);
    let state = body.snapshot.get_or_insert_default();
    for place in &behind[..folded] {
        let Some(event) = run[*place].take() else { continue };
        let Body::StateDelta(delta) = &event.body else { continue };
        match apply_patch_within(state, &delta.delta, &limit) {
            Err(error) if error.reason == limit.reason => {
                run[*place] = Some(event);
                break;
            }
            // K6: a patch that fails changes nothing here, as it does when it is applied.
            applied => left_out.failed_patches += u64::from(applied.is_err()),
        }
        left_out.tags +=
            u64::from(is_lost(delta.subagent_run_id.as_deref(), body.subagent_run_id.as_deref()));
        take_in(&mut snapshot.base, event.base, kept, left_out);
    }
    run[states[last]] = Some(snapshot);
}

/// K2: merges the base of an event that goes into a snapshot.
fn take_in(base: &mut Base, theirs: Base, kept: Kept, left_out: &mut LeftOut) {
    left_out.replaced(base.metadata.as_ref(), theirs.metadata.as_ref());
    kept.merge(base, theirs, left_out);
}

fn is_lost(tag: Option<&str>, kept: Option<&str>) -> bool {
    tag.is_some() && tag != kept
}
