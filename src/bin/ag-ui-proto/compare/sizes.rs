//! Bytes of events in all the ways that they can travel.

use std::collections::BTreeMap;
use std::io;

use ag_ui_proto::EventType;

use super::compress::{Coding, Compressor};
use super::histogram::Histogram;

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
#[derive(Clone, Debug, Default)]
pub(crate) struct Cost {
    /// Time that an event takes.
    pub(crate) times: Histogram,
}

/// What compressors took, by coding, for server-sent events and for frames.
#[derive(Clone, Debug, Default)]
pub(crate) struct Costs([[Cost; 2]; Coding::ALL.len()]);

impl Costs {
    pub(crate) fn of(&self, coding: Coding) -> &[Cost; 2] {
        &self.0[coding as usize]
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for (mine, other) in self.0.iter_mut().flatten().zip(other.0.iter().flatten()) {
            mine.times.merge(&other.times);
        }
    }
}

/// Bytes of events, both forms together, that the compressors take at once.
const BATCH_LEN: usize = 1 << 20;

/// Sizes events, with a compressor for each coding of each form, on a thread each.
pub(crate) struct Sizer {
    compressors: [[Compressor; 2]; Coding::ALL.len()],
    batch: Batch,
    by_type: BTreeMap<EventType, Sizes>,
    last: Option<EventType>,
}

/// Events that wait for the compressors.
#[derive(Default)]
struct Batch {
    types: Vec<EventType>,
    sse: Queue,
    frames: Queue,
}

/// One form of events, one after the other.
#[derive(Default)]
struct Queue {
    bytes: Vec<u8>,
    /// Where each event ends.
    ends: Vec<usize>,
}

impl Sizer {
    /// Begins a session.
    ///
    /// # Errors
    ///
    /// What a compressor or the system says, that has no thread to spare; none is expected to.
    pub(crate) fn new() -> io::Result<Self> {
        let [gzip, brotli, zstd] = Coding::ALL
            .map(|coding| Ok::<_, io::Error>([Compressor::new(coding)?, Compressor::new(coding)?]));
        let compressors = [gzip?, brotli?, zstd?];
        Ok(Self { compressors, batch: Batch::default(), by_type: BTreeMap::new(), last: None })
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
    ) -> io::Result<()> {
        let raw = Pair { sse: count(sse.len()), frames: count(frame.len()) };
        self.by_type.entry(event_type).or_default().add(&Sizes {
            events: 1,
            raw,
            ..Sizes::default()
        });
        self.last = Some(event_type);
        self.batch.types.push(event_type);
        self.batch.sse.push(sse);
        self.batch.frames.push(frame);
        let waiting = self.batch.sse.bytes.len() + self.batch.frames.bytes.len();
        if waiting < BATCH_LEN { Ok(()) } else { self.compress() }
    }

    /// Lets the compressors take what waits for them.
    fn compress(&mut self) -> io::Result<()> {
        let Batch { types, sse, frames } = &self.batch;
        let coded = std::thread::scope(|scope| {
            let mut running = Vec::new();
            for [for_sse, for_frames] in &mut self.compressors {
                for (compressor, queue) in [(for_sse, sse), (for_frames, frames)] {
                    let thread = std::thread::Builder::new().name("compressor".to_owned());
                    running.push(thread.spawn_scoped(scope, || queue.compress(compressor))?);
                }
            }
            let ends = running.into_iter().map(|thread| match thread.join() {
                Ok(lens) => lens,
                Err(_) => Err(io::Error::other("a compressor panicked")),
            });
            ends.collect::<io::Result<Vec<_>>>()
        })?;
        for (coding, forms) in coded.chunks_exact(2).enumerate() {
            let [sse, frames] = forms else { continue };
            for (event_type, (sse, frames)) in types.iter().zip(sse.iter().zip(frames)) {
                let mut sizes = Sizes::default();
                if let Some(pair) = sizes.coded.get_mut(coding) {
                    *pair = Pair { sse: *sse, frames: *frames };
                }
                self.by_type.entry(*event_type).or_default().add(&sizes);
            }
        }
        self.batch.clear();
        Ok(())
    }

    /// Ends the session. What ends a compressed stream counts for the last event.
    ///
    /// # Errors
    ///
    /// As [`Sizer::new`].
    pub(crate) fn finish(mut self) -> io::Result<(BTreeMap<EventType, Sizes>, Costs)> {
        self.compress()?;
        let mut costs = Costs::default();
        let mut end = Sizes::default();
        let ends = end.coded.iter_mut().zip(&mut costs.0);
        for ((coded, costs), [for_sse, for_frames]) in ends.zip(&mut self.compressors) {
            let [sse, frames] = [for_sse.finish()?, for_frames.finish()?].map(<[u8]>::len);
            *coded = Pair { sse: count(sse), frames: count(frames) };
            *costs =
                [for_sse, for_frames].map(|done| Cost { times: std::mem::take(&mut done.times) });
        }
        if let Some(last) = self.last {
            self.by_type.entry(last).or_default().add(&end);
        }
        Ok((self.by_type, costs))
    }
}

impl Batch {
    fn clear(&mut self) {
        self.types.clear();
        for queue in [&mut self.sse, &mut self.frames] {
            queue.bytes.clear();
            queue.ends.clear();
        }
    }
}

impl Queue {
    fn push(&mut self, event: &[u8]) {
        self.bytes.extend_from_slice(event);
        self.ends.push(self.bytes.len());
    }

    /// The bytes that the compressor makes of each event.
    fn compress(&self, compressor: &mut Compressor) -> io::Result<Vec<u64>> {
        let mut start = 0;
        let lens = self.ends.iter().map(|end| {
            let event = self.bytes.get(start..*end).unwrap_or_default();
            start = *end;
            compressor.push(event).map(|flushed| count(flushed.len()))
        });
        lens.collect()
    }
}

fn count(len: usize) -> u64 {
    u64::try_from(len).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const END: EventType = EventType::TextMessageEnd;
    const START: EventType = EventType::TextMessageStart;
    const STEP: EventType = EventType::StepStarted;

    #[test]
    fn bytes_go_to_the_type_of_their_event() {
        let sse = b"data: {\"type\":\"TEXT_MESSAGE_END\",\"messageId\":\"m\"}\n\n";
        let frame = b"\0\0\0\x09\x1a\x07\x0a\x02\x08\x02\x12\x01m";
        let mut sizer = Sizer::new().unwrap();
        sizer.add(START, sse, frame).unwrap();
        sizer.add(END, sse, frame).unwrap();
        sizer.add(END, sse, frame).unwrap();
        sizer.add(STEP, b"data: {}\n\n", b"\0\0\0\0").unwrap();
        let (by_type, _) = sizer.finish().unwrap();
        assert_eq!(by_type[&START].raw, Pair { sse: 51, frames: 13 });
        assert_eq!((by_type[&END].events, by_type[&END].raw), (2, Pair { sse: 102, frames: 26 }));
        assert_eq!(by_type[&STEP].raw, Pair { sse: 10, frames: 4 });
        for coding in Coding::ALL {
            // The second and the third are references to the first.
            let [first, others] = [START, END].map(|each| by_type[&each].coded(coding).sse);
            assert!(others < first, "{}: {others}, {first}", coding.as_str());
        }
        // The end of a gzip stream has 10 bytes, which count for the last event.
        assert!(by_type[&STEP].coded(Coding::Gzip).sse > 10);
    }

    #[test]
    fn batches_make_no_difference() {
        let event = vec![b'x'; BATCH_LEN / 3];
        let mut sizer = Sizer::new().unwrap();
        for _ in 0..5 {
            sizer.add(END, &event, b"f").unwrap();
        }
        assert!(sizer.batch.types.len() < 3);
        let (by_type, _) = sizer.finish().unwrap();
        assert_eq!((by_type[&END].events, by_type[&END].raw.frames), (5, 5));
        for coding in Coding::ALL {
            let mut alone = Compressor::new(coding).unwrap();
            let pushed: usize = (0..5).map(|_| alone.push(&event).unwrap().len()).sum();
            let len = pushed + alone.finish().unwrap().len();
            assert_eq!(by_type[&END].coded(coding).sse, count(len), "{}", coding.as_str());
        }
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
            assert!(costs.of(coding)[0].times.median() > 0.0);
        }
    }

    #[test]
    fn a_session_without_events_has_no_bytes() {
        let (by_type, _) = Sizer::new().unwrap().finish().unwrap();
        assert!(by_type.is_empty());
    }
}
