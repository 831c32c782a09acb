//! How long it takes to write and to read the events, in both forms.
//!
//! One round does, over the same events and one after the other:
//!
//! 1. read the JSON: cut a body of server-sent events at its empty lines, check that it is UTF-8,
//!    read each event as `Event::from_json` does;
//! 2. read the frames: `EventReader` on a buffer that holds them all;
//! 3. write the JSON: `data: `, the event with `serde_json`, an empty line, into a used buffer;
//! 4. write the frames: `encode_frame` into a used buffer.
//!
//! Freeing the events, copying the frames into their buffer, and all I/O are outside of the clock.
//! Rounds alternate the four, so that what disturbs a machine disturbs them alike.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use ag_ui_proto::codec::{EventReader, Limits, encode_frame};
use ag_ui_proto::value::ExactJson;
use ag_ui_proto::{Event, EventType};
use bytes::BytesMut;

use super::sample::{Batch, Body, Sample};

/// Fewest rounds, whatever time they take.
const MIN_ROUNDS: u32 = 5;

/// Most rounds, however short they are.
const MAX_ROUNDS: u32 = 1000;

/// What a round of one body should take at least: below, the clock is too coarse.
const MIN_PASS: Duration = Duration::from_micros(200);

/// How long to measure.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Span {
    Rounds(u32),
    Time(Duration),
}

/// One of the four things that are timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Job {
    JsonEncode,
    ProtobufEncode,
    JsonDecode,
    ProtobufDecode,
}

impl Job {
    pub(crate) const ALL: [Self; 4] =
        [Self::JsonEncode, Self::ProtobufEncode, Self::JsonDecode, Self::ProtobufDecode];
}

/// Nanoseconds that an event takes: of all rounds the middle, the quarters, and the ends.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Spread {
    pub(crate) min: f64,
    pub(crate) quarter: f64,
    pub(crate) median: f64,
    pub(crate) three_quarters: f64,
    pub(crate) max: f64,
}

/// The four jobs on some events.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Times {
    pub(crate) events: u64,
    /// Bytes of these events as server-sent events, and as frames.
    pub(crate) sse: u64,
    pub(crate) frames: u64,
    spreads: [Spread; Job::ALL.len()],
}

/// What was measured.
#[derive(Clone, Debug, Default)]
pub(crate) struct Speed {
    pub(crate) rounds: u32,
    pub(crate) all: Times,
    pub(crate) by_type: BTreeMap<EventType, Times>,
    /// Whether only the first events were timed.
    pub(crate) is_cut: bool,
}

impl Times {
    pub(crate) fn of(&self, job: Job) -> Spread {
        self.spreads[job as usize]
    }

    /// The bytes that a job reads or writes.
    pub(crate) fn bytes(&self, job: Job) -> u64 {
        match job {
            Job::JsonEncode | Job::JsonDecode => self.sse,
            Job::ProtobufEncode | Job::ProtobufDecode => self.frames,
        }
    }

    #[cfg(test)]
    pub(crate) fn new(spreads: [Spread; 4]) -> Self {
        Self { events: 1, sse: 100, frames: 50, spreads }
    }
}

impl Spread {
    /// Of values in any order, of which there should be one.
    fn new(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let at = |part: usize| {
            let place = (values.len().saturating_sub(1) * part + 2) / 4;
            values.get(place).copied().unwrap_or_default()
        };
        let [min, quarter, median, three_quarters, max] = [0, 1, 2, 3, 4].map(at);
        Self { min, quarter, median, three_quarters, max }
    }
}

/// Steps in which progress is told.
pub(crate) const STEPS: u64 = 100;

/// Times the events of the sample. `progress` is told how many of [`STEPS`] are done.
///
/// # Errors
///
/// Why an event could not be read back or written again; none is expected to.
pub(crate) fn measure(
    sample: &Sample,
    span: Span,
    limits: &Limits,
    mut progress: impl FnMut(u64),
) -> Result<Speed, String> {
    let mut bench = Bench::new(*limits);
    let bodies = std::iter::once(&sample.all).chain(sample.by_type.values());
    let mut runs = Vec::new();
    for body in bodies {
        // The warm-up, which also says how often a short body must be gone through.
        let start = Instant::now();
        bench.pass(body)?;
        let once = start.elapsed().max(Duration::from_nanos(1));
        let repeats = MIN_PASS.as_nanos().div_ceil(once.as_nanos());
        let repeats = u32::try_from(repeats).unwrap_or(u32::MAX).clamp(1, 1000);
        runs.push(Run { body, repeats, rounds: Default::default() });
    }
    let start = Instant::now();
    let mut rounds = 0;
    loop {
        let (is_done, done, of) = match span {
            Span::Rounds(wanted) => (rounds >= wanted, rounds.into(), wanted.into()),
            Span::Time(time) => {
                let spent = start.elapsed();
                let is_over = spent >= time && rounds >= MIN_ROUNDS;
                (is_over || rounds >= MAX_ROUNDS, spent.as_millis(), time.as_millis())
            }
        };
        let steps = (done * u128::from(STEPS)).checked_div(of).unwrap_or_default();
        progress(u64::try_from(steps).unwrap_or(STEPS).min(STEPS));
        if is_done {
            break;
        }
        for run in &mut runs {
            run.round(&mut bench)?;
        }
        rounds += 1;
    }
    let mut runs = runs.into_iter();
    let all = runs.next().map(Run::times).unwrap_or_default();
    let by_type = sample.by_type.keys().copied().zip(runs.map(Run::times)).collect();
    Ok(Speed { rounds, all, by_type, is_cut: sample.is_cut })
}

/// A body, and what its rounds took.
struct Run<'s> {
    body: &'s Body,
    /// How often a round goes through the body.
    repeats: u32,
    /// Nanoseconds an event, by round.
    rounds: [Vec<f64>; Job::ALL.len()],
}

impl Run<'_> {
    fn round(&mut self, bench: &mut Bench) -> Result<(), String> {
        let mut spent = [Duration::ZERO; Job::ALL.len()];
        for _ in 0..self.repeats {
            for (sum, pass) in spent.iter_mut().zip(bench.pass(self.body)?) {
                *sum += pass;
            }
        }
        let events = super::format::real(self.body.events.max(1)) * f64::from(self.repeats);
        for (rounds, spent) in self.rounds.iter_mut().zip(spent) {
            rounds.push(spent.as_secs_f64() * 1e9 / events);
        }
        Ok(())
    }

    fn times(self) -> Times {
        let len = |bytes: &[u8]| u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        Times {
            events: self.body.events,
            sse: len(&self.body.sse),
            frames: len(&self.body.frames),
            spreads: self.rounds.map(Spread::new),
        }
    }
}

/// Buffers that every pass uses.
struct Bench {
    limits: Limits,
    events: Vec<Event>,
    frames_in: BytesMut,
    json_out: Vec<u8>,
    frames_out: BytesMut,
}

impl Bench {
    fn new(limits: Limits) -> Self {
        Self {
            limits,
            events: Vec::new(),
            frames_in: BytesMut::new(),
            json_out: Vec::new(),
            frames_out: BytesMut::new(),
        }
    }

    /// Goes through a body once, and says what each job took.
    fn pass(&mut self, body: &Body) -> Result<[Duration; Job::ALL.len()], String> {
        let mut spent = [Duration::ZERO; Job::ALL.len()];
        for Batch { sse, frames } in &body.batches {
            let sse = body.sse.get(sse.clone()).unwrap_or_default();
            let frames = body.frames.get(frames.clone()).unwrap_or_default();
            self.events.clear();
            spent[Job::JsonDecode as usize] += timed(|| self.read_json(sse))?;
            self.events.clear();
            self.frames_in.clear();
            self.frames_in.extend_from_slice(frames);
            spent[Job::ProtobufDecode as usize] += timed(|| self.read_frames())?;
            spent[Job::JsonEncode as usize] += timed(|| self.write_json())?;
            spent[Job::ProtobufEncode as usize] += timed(|| self.write_frames())?;
        }
        Ok(spent)
    }

    fn read_json(&mut self, mut sse: &[u8]) -> Result<(), String> {
        while let Some(end) = memchr::memchr(b'\n', sse) {
            let (line, rest) = sse.split_at(end);
            sse = rest.get(1..).unwrap_or_default();
            let Some(data) = line.strip_prefix(b"data: ") else { continue };
            let text = std::str::from_utf8(data).map_err(|error| error.to_string())?;
            let value = ExactJson::read_quickly(text, self.limits.max_depth())
                .map_err(|error| error.to_string())?
                .value;
            self.events.push(Event::from_value(value).map_err(|error| error.to_string())?);
        }
        Ok(())
    }

    fn read_frames(&mut self) -> Result<(), String> {
        let mut reader = EventReader::with_limits(self.limits);
        while let Some(decoded) =
            reader.next_event(&mut self.frames_in).map_err(|error| error.to_string())?
        {
            self.events.extend(decoded.event);
        }
        Ok(())
    }

    fn write_json(&mut self) -> Result<(), String> {
        self.json_out.clear();
        for event in &self.events {
            self.json_out.extend_from_slice(b"data: ");
            serde_json::to_writer(&mut self.json_out, event).map_err(|error| error.to_string())?;
            self.json_out.extend_from_slice(b"\n\n");
        }
        Ok(())
    }

    fn write_frames(&mut self) -> Result<(), String> {
        self.frames_out.clear();
        for event in &self.events {
            encode_frame(event, &self.limits, &mut self.frames_out)
                .map_err(|error| error.to_string())?;
        }
        Ok(())
    }
}

fn timed(work: impl FnOnce() -> Result<(), String>) -> Result<Duration, String> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds an event to a sample as `compare` does.
    fn add(sample: &mut Sample, json: &str) {
        let event = Event::from_json(json).unwrap();
        let mut frame = BytesMut::new();
        event.encode_frame(&mut frame).unwrap();
        let sse = format!("data: {}\n\n", serde_json::to_string(&event).unwrap());
        sample.add(event.event_type(), sse.as_bytes(), &frame);
    }

    fn sample() -> Sample {
        let mut sample = Sample::default();
        for id in ["a", "b", "c"] {
            add(&mut sample, &format!(r#"{{"type":"TEXT_MESSAGE_END","messageId":"{id}"}}"#));
        }
        add(&mut sample, r#"{"type":"CUSTOM","name":"n","value":{"a":[1,2.5,"\n"]}}"#);
        sample
    }

    #[test]
    fn every_job_does_the_whole_body() {
        let sample = sample();
        let mut bench = Bench::new(Limits::new());
        bench.pass(&sample.all).unwrap();
        assert_eq!(bench.events.len(), 4);
        assert!(bench.json_out == sample.all.sse);
        assert!(bench.frames_out == sample.all.frames);
        bench.events.clear();
        bench.read_json(&sample.all.sse).unwrap();
        assert_eq!(bench.events.len(), 4);
    }

    #[test]
    fn every_type_and_all_together_are_measured() {
        let mut parts = Vec::new();
        let speed = measure(&sample(), Span::Rounds(3), &Limits::new(), |part| parts.push(part));
        let speed = speed.unwrap();
        assert_eq!((speed.rounds, speed.all.events, speed.is_cut), (3, 4, false));
        let types = speed.by_type.iter().map(|(name, times)| (*name, times.events));
        let types: Vec<_> = types.collect();
        assert_eq!(types, [(EventType::TextMessageEnd, 3), (EventType::Custom, 1)]);
        for times in speed.by_type.values().chain([&speed.all]) {
            for job in Job::ALL {
                let Spread { min, quarter, median, three_quarters, max } = times.of(job);
                assert!(0.0 < min && min <= quarter && quarter <= median);
                assert!(median <= three_quarters && three_quarters <= max);
            }
        }
        assert_eq!(parts, [0, 33, 66, 100]);
    }

    #[test]
    fn what_cannot_be_read_is_told() {
        let mut sample = Sample::default();
        sample.add(EventType::Raw, b"data: {}\n\n", b"");
        let error = measure(&sample, Span::Rounds(1), &Limits::new(), |_| ()).unwrap_err();
        assert_eq!(error, "type: missing");
    }

    #[test]
    fn a_spread_is_its_ranks() {
        let spread = Spread::new(vec![5.0, 1.0, 3.0, 2.0, 4.0]);
        let want = Spread { min: 1.0, quarter: 2.0, median: 3.0, three_quarters: 4.0, max: 5.0 };
        assert_eq!(spread, want);
        let one = Spread::new(vec![7.0]);
        assert_eq!((one.min, one.median, one.max), (7.0, 7.0, 7.0));
        assert_eq!(Spread::new(Vec::new()), Spread::default());
    }
}
