//! Bytes of events in all the ways that they can travel.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use ag_ui_proto::EventType;

use super::compress::{Coding, Compressor};

/// Bytes as server-sent events and as frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) sse: u64,
    pub(crate) frames: u64,
}

/// The bytes of some events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sizes {
    pub(crate) events: u64,
    pub(crate) raw: Pair,
    /// By coding, in the order of [`Coding::ALL`].
    coded: [Pair; Coding::ALL.len()],
}

impl Pair {
    fn add(&mut self, other: Self) {
        self.sse += other.sse;
        self.frames += other.frames;
    }
}

impl Sizes {
    pub(crate) fn coded(&self, coding: Coding) -> Pair {
        self.coded[coding as usize]
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.events += other.events;
        self.raw.add(other.raw);
        for (mine, other) in self.coded.iter_mut().zip(other.coded) {
            mine.add(other);
        }
    }

    /// Uncompressed first, then by coding, with names.
    pub(crate) fn ways(&self) -> impl Iterator<Item = (&'static str, Pair)> {
        let coded = Coding::ALL.map(|coding| (coding.as_str(), self.coded(coding)));
        std::iter::once(("raw", self.raw)).chain(coded)
    }

    #[cfg(test)]
    pub(crate) fn of(events: u64, raw: (u64, u64), coded: [(u64, u64); 3]) -> Self {
        let pair = |(sse, frames)| Pair { sse, frames };
        Self { events, raw: pair(raw), coded: coded.map(pair) }
    }
}

/// What a compressor took for a stream.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cost {
    pub(crate) spent: Duration,
    /// Most memory, in bytes.
    pub(crate) memory: u64,
}

/// What compressors took, by coding, for server-sent events and for frames.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Costs([[Cost; 2]; Coding::ALL.len()]);

impl Costs {
    pub(crate) fn of(&self, coding: Coding) -> [Cost; 2] {
        self.0[coding as usize]
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for (mine, other) in self.0.iter_mut().flatten().zip(other.0.iter().flatten()) {
            mine.spent += other.spent;
            mine.memory = mine.memory.max(other.memory);
        }
    }
}

/// Sizes an event at a time, with a compressor for each coding of each form.
pub(crate) struct Sizer {
    compressors: [[Compressor; 2]; Coding::ALL.len()],
    by_type: BTreeMap<EventType, Sizes>,
    last: Option<EventType>,
}

impl Sizer {
    /// Begins a session.
    ///
    /// # Errors
    ///
    /// What a compressor says; none is expected to.
    pub(crate) fn new() -> io::Result<Self> {
        let [gzip, brotli, zstd] = Coding::ALL
            .map(|coding| Ok::<_, io::Error>([Compressor::new(coding)?, Compressor::new(coding)?]));
        Ok(Self { compressors: [gzip?, brotli?, zstd?], by_type: BTreeMap::new(), last: None })
    }

    /// Counts an event: its bytes as a server-sent event and as a frame.
    ///
    /// # Errors
    ///
    /// As [`Sizer::new`].
    pub(crate) fn add(
        &mut self,
        event_type: EventType,
        sse: &[u8],
        frame: &[u8],
    ) -> io::Result<Sizes> {
        let mut sizes = Sizes { events: 1, raw: pair(sse, frame), ..Sizes::default() };
        for (coded, [for_sse, for_frames]) in sizes.coded.iter_mut().zip(&mut self.compressors) {
            *coded = pair(for_sse.push(sse)?, for_frames.push(frame)?);
        }
        self.by_type.entry(event_type).or_default().add(&sizes);
        self.last = Some(event_type);
        Ok(sizes)
    }

    /// Ends the session. What ends a compressed stream counts for the last event.
    ///
    /// # Errors
    ///
    /// As [`Sizer::new`].
    pub(crate) fn finish(mut self) -> io::Result<(BTreeMap<EventType, Sizes>, Costs)> {
        let mut costs = Costs::default();
        let mut end = Sizes::default();
        let ends = end.coded.iter_mut().zip(&mut costs.0);
        for ((coded, costs), [for_sse, for_frames]) in ends.zip(&mut self.compressors) {
            *coded = pair(for_sse.finish()?, for_frames.finish()?);
            *costs =
                [for_sse, for_frames].map(|done| Cost { spent: done.spent, memory: done.memory });
        }
        if let Some(last) = self.last {
            self.by_type.entry(last).or_default().add(&end);
        }
        Ok((self.by_type, costs))
    }
}

fn pair(sse: &[u8], frames: &[u8]) -> Pair {
    let len = |bytes: &[u8]| u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    Pair { sse: len(sse), frames: len(frames) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const END: EventType = EventType::TextMessageEnd;
    const STEP: EventType = EventType::StepStarted;

    #[test]
    fn bytes_go_to_the_type_of_their_event() {
        let mut sizer = Sizer::new().unwrap();
        let sse = b"data: {\"type\":\"TEXT_MESSAGE_END\",\"messageId\":\"m\"}\n\n";
        let frame = b"\0\0\0\x09\x1a\x07\x0a\x02\x08\x02\x12\x01m";
        let first = sizer.add(END, sse, frame).unwrap();
        assert_eq!((first.events, first.raw), (1, Pair { sse: 51, frames: 13 }));
        let second = sizer.add(END, sse, frame).unwrap();
        for coding in Coding::ALL {
            // The second is a reference to the first.
            assert!(second.coded(coding).sse < first.coded(coding).sse);
        }
        let third = sizer.add(STEP, b"data: {}\n\n", b"\0\0\0\0").unwrap();
        let (by_type, _) = sizer.finish().unwrap();
        let mut ends = first;
        ends.add(&second);
        assert_eq!(by_type[&END], ends);
        assert_eq!(by_type[&STEP].raw, Pair { sse: 10, frames: 4 });
        // The ends of the streams count for the last event.
        assert!(by_type[&STEP].coded(Coding::Gzip).sse > third.coded(Coding::Gzip).sse);
    }

    #[test]
    fn the_sizes_are_those_of_the_compressed_bytes() {
        let event = b"data: {\"type\":\"TEXT_MESSAGE_END\",\"messageId\":\"m\"}\n\n";
        let mut sizer = Sizer::new().unwrap();
        for _ in 0..3 {
            sizer.add(END, event, b"").unwrap();
        }
        let (by_type, costs) = sizer.finish().unwrap();
        for coding in Coding::ALL {
            let mut alone = Compressor::new(coding).unwrap();
            let mut len = 0;
            for _ in 0..3 {
                len += alone.push(event).unwrap().len();
            }
            len += alone.finish().unwrap().len();
            assert_eq!(by_type[&END].coded(coding).sse, len as u64, "{}", coding.as_str());
            assert!(costs.of(coding)[0].memory > 0);
        }
    }

    #[test]
    fn a_session_without_events_has_no_bytes() {
        let (by_type, _) = Sizer::new().unwrap().finish().unwrap();
        assert!(by_type.is_empty());
    }
}
