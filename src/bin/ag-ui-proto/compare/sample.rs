//! The events that are kept for timing: as many as fit, from the beginning.

use std::collections::BTreeMap;
use std::ops::Range;

use ag_ui_proto::EventType;

/// Most bytes kept, both forms together.
pub(crate) const SAMPLE_MAX: usize = 64 << 20;

/// Most bytes kept of one type, to be timed alone; both forms together.
const TYPE_MAX: usize = 1 << 20;

/// Bytes of server-sent events that are worked on at once, so that the events read from them do not
/// all have to be in memory.
const BATCH_LEN: usize = 256 << 10;

/// Events in both forms.
#[derive(Default)]
pub(crate) struct Body {
    pub(crate) sse: Vec<u8>,
    pub(crate) frames: Vec<u8>,
    pub(crate) events: u64,
    pub(crate) batches: Vec<Batch>,
}

/// Where some events of a body stand in both forms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Batch {
    pub(crate) sse: Range<usize>,
    pub(crate) frames: Range<usize>,
}

/// Events in the order in which they came, and those of each type alone.
#[derive(Default)]
pub(crate) struct Sample {
    pub(crate) all: Body,
    pub(crate) by_type: BTreeMap<EventType, Body>,
    /// Whether an event did not fit.
    pub(crate) is_cut: bool,
}

impl Sample {
    /// Keeps an event, if there is room for it.
    pub(crate) fn add(&mut self, event_type: EventType, sse: &[u8], frame: &[u8]) {
        self.is_cut |= !self.all.add(sse, frame, SAMPLE_MAX);
        self.by_type.entry(event_type).or_default().add(sse, frame, TYPE_MAX);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all.events == 0
    }
}

impl Body {
    /// Keeps an event and says so, unless the body then were longer than `max`. The first is kept
    /// in any case: it is no longer than the limits let it be.
    fn add(&mut self, sse: &[u8], frame: &[u8], max: usize) -> bool {
        let len = self.sse.len() + self.frames.len() + sse.len() + frame.len();
        if len > max && self.events > 0 {
            return false;
        }
        let has_room = self.batches.last().is_some_and(|batch| batch.sse.len() < BATCH_LEN);
        if !has_room {
            let sse = self.sse.len()..self.sse.len();
            let frames = self.frames.len()..self.frames.len();
            self.batches.push(Batch { sse, frames });
        }
        self.sse.extend_from_slice(sse);
        self.frames.extend_from_slice(frame);
        self.events += 1;
        if let Some(batch) = self.batches.last_mut() {
            batch.sse.end = self.sse.len();
            batch.frames.end = self.frames.len();
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_full_at_its_limit_and_takes_one_event_at_least() {
        let mut body = Body::default();
        assert!(body.add(&[0; 20], &[0; 10], 15));
        assert!(!body.add(&[0; 1], &[], 15));
        assert_eq!((body.events, body.sse.len(), body.frames.len()), (1, 20, 10));

        let mut body = Body::default();
        assert!(body.add(&[0; 6], &[0; 4], 15));
        assert!(body.add(&[0; 3], &[0; 2], 15));
        assert!(!body.add(&[0; 1], &[], 15));
        assert_eq!(body.events, 2);
    }

    #[test]
    fn batches_cover_the_body_without_a_gap() {
        let mut body = Body::default();
        for _ in 0..3 {
            assert!(body.add(&vec![0; BATCH_LEN / 2 + 1], &[0; 10], SAMPLE_MAX));
        }
        let half = BATCH_LEN / 2 + 1;
        let want = [
            Batch { sse: 0..2 * half, frames: 0..20 },
            Batch { sse: 2 * half..3 * half, frames: 20..30 },
        ];
        assert_eq!(body.batches, want);
    }
}
