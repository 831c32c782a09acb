//! Sessions on a slow link, event by event: what a server sends while the agent speaks.
//!
//! ```text
//! agent    a   b   c       d e f                     g
//! each     [ a ]   [ b ]   [ c ]   [ d ]  ...             one after the other
//! merged   [ a ]   [ b+c ] [ d+e+f ]                 [ g ]
//! ```
//!
//! Time is reckoned, not waited for. A link sends what it is given at its rate, one part after the
//! other, without latency and without what TCP, TLS and HTTP add. `each` flushes every event.
//! `merged` does what the body of a response does on a connection (`server::EventBody`): what came
//! while the link was busy is merged and is one part, to the same bounds; on an idle link every event
//! goes at once.
//!
//! A run begins when the one before has arrived: nobody answers what he has not read.

use std::io;
use std::time::Duration;

use ag_ui_proto::Event;
use ag_ui_proto::codec::{Limits, Options};
use ag_ui_proto::negotiate::Format;
use ag_ui_proto::stream::{BodyWriter, Coalescer};

use super::compress::Coding;
use super::pace::{Clock, Moment};
use crate::args::Pace;

/// Bytes and events after which no more are taken for one part, as `server::EventBody` does.
const PART_LEN: usize = 16 * 1024;
const PART_EVENTS: usize = 256;

/// Events that are sent at once by all streams.
const BATCH_EVENTS: usize = 1024;

/// Bytes of events from which on a batch is sent.
const BATCH_LEN: usize = 1 << 20;

/// Ways to send the bytes: uncompressed, and each coding.
pub(crate) const WAYS: usize = Coding::ALL.len() + 1;

/// What one stream sent over one link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sent {
    /// Events, merged ones as one.
    pub(crate) events: u64,
    pub(crate) bytes: u64,
    /// Nanoseconds until the last byte has arrived.
    pub(crate) nanos: u64,
}

/// What a session takes on a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OnLink {
    pub(crate) bits_per_second: u64,
    /// Each event flushed: by way, for server-sent events and for frames.
    pub(crate) each: [[Sent; 2]; WAYS],
    /// Merged while the link is busy.
    pub(crate) merged: [[Sent; 2]; WAYS],
}

impl OnLink {
    /// Each way of each form with its name, sent event by event and merged.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (String, [Sent; 2])> {
        let names = std::iter::once("").chain(Coding::ALL.map(Coding::as_str));
        let ways = names.zip(self.each.iter().zip(&self.merged));
        ways.flat_map(|(name, (each, merged))| {
            let forms = ["SSE", "frames"].into_iter().zip(each.iter().zip(merged));
            forms.map(move |(form, (each, merged))| {
                (format!("{form} {name}").trim_end().to_owned(), [*each, *merged])
            })
        })
    }
}

/// What a session takes on all links.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct OnLinks {
    /// Nanoseconds that the agent took.
    pub(crate) agent: u64,
    pub(crate) links: Vec<OnLink>,
}

/// Sends a session over links, in all ways and both forms.
pub(crate) struct Simulation {
    pace: Pace,
    clock: Clock,
    /// Of the run, with a fixed pace.
    number: u32,
    /// When the last event of the run was there, and of all runs before.
    last: u64,
    agent: u64,
    rates: Vec<u64>,
    /// By way, for server-sent events and for frames.
    streams: Vec<[Stream; 2]>,
    batch: Vec<Timed>,
    batch_len: usize,
}

/// An event, and when it is there.
struct Timed {
    begins_run: bool,
    /// Nanoseconds since the run began.
    at: u64,
    event: Event,
}

impl Simulation {
    /// Begins a session; of no links, nothing is sent.
    ///
    /// # Errors
    ///
    /// What a compressor says; it is not expected to.
    pub(crate) fn new(rates: &[u64], pace: Pace, limits: Limits) -> io::Result<Self> {
        let codings = std::iter::once(None).chain(Coding::ALL.map(Some));
        let stream = |coding| {
            let stream = |format| Stream::new(format, coding, rates, limits);
            Ok::<_, io::Error>([stream(Format::Sse)?, stream(Format::Protobuf)?])
        };
        let streams = if rates.is_empty() { Ok(Vec::new()) } else { codings.map(stream).collect() };
        Ok(Self {
            pace,
            clock: Clock::default(),
            number: 0,
            last: 0,
            agent: 0,
            rates: rates.to_vec(),
            streams: streams?,
            batch: Vec::new(),
            batch_len: 0,
        })
    }

    /// Sends an event, of `len` bytes in whichever form.
    ///
    /// # Errors
    ///
    /// As [`Simulation::new`].
    pub(crate) fn add(&mut self, event: &Event, len: usize) -> io::Result<()> {
        if self.streams.is_empty() {
            return Ok(());
        }
        let Moment { begins_run, millis } = self.clock.see(event);
        if begins_run {
            self.end_run();
        }
        let at = match self.pace {
            Pace::None => 0,
            Pace::Recorded => nanos(Duration::from_millis(millis)),
            Pace::Fixed(step) => nanos(step.saturating_mul(self.number)),
        };
        self.number = self.number.saturating_add(1);
        self.last = at;
        self.batch.push(Timed { begins_run, at, event: event.clone() });
        self.batch_len = self.batch_len.saturating_add(len);
        if self.batch.len() < BATCH_EVENTS && self.batch_len < BATCH_LEN {
            return Ok(());
        }
        self.send()
    }

    fn end_run(&mut self) {
        self.agent = self.agent.saturating_add(std::mem::take(&mut self.last));
        self.number = 0;
    }

    /// Lets all streams send the batch, on a thread each.
    fn send(&mut self) -> io::Result<()> {
        let batch = &self.batch;
        std::thread::scope(|scope| {
            let mut running = Vec::new();
            for stream in self.streams.iter_mut().flatten() {
                let thread = std::thread::Builder::new().name("link".to_owned());
                running.push(thread.spawn_scoped(scope, || stream.send(batch))?);
            }
            running.into_iter().try_for_each(|thread| match thread.join() {
                Ok(sent) => sent,
                Err(_) => Err(io::Error::other("a stream panicked")),
            })
        })?;
        self.batch.clear();
        self.batch_len = 0;
        Ok(())
    }

    /// Ends the session.
    ///
    /// # Errors
    ///
    /// As [`Simulation::new`].
    pub(crate) fn finish(mut self) -> io::Result<OnLinks> {
        self.send()?;
        self.end_run();
        let none = [[Sent::default(); 2]; WAYS];
        let link = |rate: &u64| OnLink { bits_per_second: *rate, each: none, merged: none };
        let mut links: Vec<_> = self.rates.iter().map(link).collect();
        for (way, forms) in self.streams.iter_mut().enumerate() {
            for (form, stream) in forms.iter_mut().enumerate() {
                for (link, (each, merged)) in links.iter_mut().zip(stream.finish()?) {
                    for (ways, sent) in [(&mut link.each, each), (&mut link.merged, merged)] {
                        if let Some(slot) = ways.get_mut(way).and_then(|way| way.get_mut(form)) {
                            *slot = sent;
                        }
                    }
                }
            }
        }
        Ok(OnLinks { agent: self.agent, links })
    }
}

/// One way of one form, on every link.
struct Stream {
    each: BodyWriter,
    /// The links that every event is sent over.
    links: Vec<Link>,
    merged: Vec<Merged>,
}

impl Stream {
    fn new(
        format: Format,
        coding: Option<Coding>,
        rates: &[u64],
        limits: Limits,
    ) -> io::Result<Self> {
        // What has a frame has a place here, however long it is as text.
        let options = Options::from(limits.with_max_frame_len(usize::MAX));
        let writer = || {
            let writer = BodyWriter::with_options(format, options);
            match coding {
                None => Ok(writer),
                Some(coding) => writer.with_coding(coding.into()).map_err(io::Error::other),
            }
        };
        let merged = |rate: &u64| {
            Ok::<_, io::Error>(Merged {
                writer: writer()?,
                coalescer: Coalescer::with_limits(limits),
                part: None,
                link: Link::new(*rate),
            })
        };
        Ok(Self {
            each: writer()?,
            links: rates.iter().copied().map(Link::new).collect(),
            merged: rates.iter().map(merged).collect::<io::Result<_>>()?,
        })
    }

    fn send(&mut self, batch: &[Timed]) -> io::Result<()> {
        for Timed { begins_run, at, event } in batch {
            put(&mut self.each, event)?;
            let len = self.each.flush()?.len();
            for link in &mut self.links {
                if *begins_run {
                    link.begin_run();
                }
                link.send(*at, 1, len);
            }
        }
        for merged in &mut self.merged {
            batch.iter().try_for_each(|timed| merged.add(timed))?;
        }
        Ok(())
    }

    /// What each link has sent: event by event, and merged.
    fn finish(&mut self) -> io::Result<Vec<(Sent, Sent)>> {
        let end = self.each.finish()?.len();
        let each = self.links.iter_mut().map(|link| {
            link.send(link.last, 0, end);
            link.sent
        });
        let merged = self.merged.iter_mut().map(Merged::finish);
        each.zip(merged).map(|(each, merged)| Ok((each, merged?))).collect()
    }
}

fn put(writer: &mut BodyWriter, event: &Event) -> io::Result<()> {
    writer.put(event).map(drop).map_err(io::Error::other)
}

/// Events that are merged while a link is busy.
struct Merged {
    writer: BodyWriter,
    coalescer: Coalescer,
    /// What waits for the link.
    part: Option<Part>,
    link: Link,
}

/// Events in the writer and the coalescer.
#[derive(Clone, Copy)]
struct Part {
    /// When the first event was there, and the last.
    first: u64,
    last: u64,
    /// Events before they were merged, and after.
    taken: usize,
    events: u64,
}

impl Merged {
    fn add(&mut self, Timed { begins_run, at, event }: &Timed) -> io::Result<()> {
        if *begins_run {
            self.send()?;
            self.link.begin_run();
        } else if self.part.is_some_and(|part| self.link.is_free(part.first, *at)) {
            self.send()?;
        }
        let part = self.part.get_or_insert(Part { first: *at, last: *at, taken: 0, events: 0 });
        part.last = *at;
        part.taken += 1;
        if let Some(event) = self.coalescer.push(event.clone()) {
            part.events += 1;
            put(&mut self.writer, &event)?;
        }
        if part.taken >= PART_EVENTS || self.writer.len() >= PART_LEN {
            self.send()
        } else {
            Ok(())
        }
    }

    /// Hands what waits to the link.
    fn send(&mut self) -> io::Result<()> {
        let Some(mut part) = self.part.take() else { return Ok(()) };
        if let Some(event) = self.coalescer.take() {
            part.events += 1;
            put(&mut self.writer, &event)?;
        }
        self.link.send(part.last, part.events, self.writer.flush()?.len());
        Ok(())
    }

    fn finish(&mut self) -> io::Result<Sent> {
        self.send()?;
        self.link.send(self.link.last, 0, self.writer.finish()?.len());
        Ok(self.link.sent)
    }
}

/// A link of one rate. It sends one part after the other.
#[derive(Clone, Copy)]
struct Link {
    bits_per_second: u64,
    /// When the run began, in nanoseconds since the session did.
    run: u64,
    /// When the last event of the run was there, since the run began.
    last: u64,
    sent: Sent,
}

impl Link {
    fn new(bits_per_second: u64) -> Self {
        Self { bits_per_second, run: 0, last: 0, sent: Sent::default() }
    }

    /// Begins a run once the one before has arrived.
    fn begin_run(&mut self) {
        self.run = self.sent.nanos.max(self.run.saturating_add(self.last));
        self.last = 0;
    }

    /// Whether a part that waits since `first` goes before `now`.
    fn is_free(&self, first: u64, now: u64) -> bool {
        let start = self.sent.nanos.max(self.run.saturating_add(first));
        start < self.run.saturating_add(now)
    }

    /// Sends a part that is complete at `at`, as soon as all before it is sent.
    fn send(&mut self, at: u64, events: u64, len: usize) {
        let start = self.sent.nanos.max(self.run.saturating_add(at));
        let len = u64::try_from(len).unwrap_or(u64::MAX);
        let nanos = u128::from(len) * 8_000_000_000 / u128::from(self.bits_per_second.max(1));
        self.last = at;
        self.sent.events += events;
        self.sent.bytes = self.sent.bytes.saturating_add(len);
        self.sent.nanos = start.saturating_add(u64::try_from(nanos).unwrap_or(u64::MAX));
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use ag_ui_proto::model::{RunStarted, StepStarted, TextMessageContent};

    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn delta(text: &str) -> Event {
        Event::from(TextMessageContent::new("m", text)).with_timestamp(5)
    }

    fn simulate(events: &[Event], pace: Pace, rate: u64) -> OnLinks {
        let mut simulation = Simulation::new(&[rate], pace, Limits::new()).unwrap();
        for event in events {
            simulation.add(event, 100).unwrap();
        }
        simulation.finish().unwrap()
    }

    /// Uncompressed server-sent events, each and merged.
    fn of_sse(on_links: &OnLinks) -> [Sent; 2] {
        [on_links.links[0].each[0][0], on_links.links[0].merged[0][0]]
    }

    fn sse_len(event: &Event) -> u64 {
        let mut bytes = bytes::BytesMut::new();
        event.encode_sse(&mut bytes).unwrap();
        bytes.len() as u64
    }

    #[test]
    fn on_an_idle_link_every_event_goes_at_once() {
        let events = [delta("a"), delta("b"), delta("c")];
        let pace = Pace::Fixed(Duration::from_secs(10));
        let done = simulate(&events, pace, 8000);
        assert_eq!(done.agent, 20 * SECOND);
        assert_eq!(done.links[0].each, done.links[0].merged);
        // A byte takes a thousandth of a second.
        let len = sse_len(&events[0]);
        let sent = Sent { events: 3, bytes: 3 * len, nanos: 20 * SECOND + len * 1_000_000 };
        assert_eq!(of_sse(&done), [sent; 2]);
    }

    #[test]
    fn what_comes_while_the_link_is_busy_is_one_part() {
        let step = StepStarted::new("s").into();
        let events = [delta("a"), delta("b"), delta("c"), step, delta("d")];
        // All but the first come while the first is on its way.
        let done = simulate(&events, Pace::Fixed(Duration::from_millis(1)), 8000);
        let bytes = events.iter().map(sse_len).sum();
        let each = Sent { events: 5, bytes, nanos: bytes * 1_000_000 };
        let bytes = [&events[0], &delta("bc"), &events[3], &events[4]].map(sse_len).iter().sum();
        let merged = Sent { events: 4, bytes, nanos: bytes * 1_000_000 };
        assert_eq!(of_sse(&done), [each, merged]);
        assert_eq!(done.agent, SECOND / 250);
    }

    #[test]
    fn events_that_are_there_at_once_are_merged_to_the_bounds_of_a_part() {
        let events: Vec<_> = (0..2 * PART_EVENTS).map(|_| delta("a")).collect();
        let done = simulate(&events, Pace::None, 1000);
        let [each, merged] = of_sse(&done);
        assert_eq!((each.events, merged.events, done.agent), (512, 2, 0));
        let long: Vec<_> = (0..6).map(|_| delta(&"a".repeat(PART_LEN / 2))).collect();
        let apart: Vec<_> =
            long.iter().flat_map(|event| [event.clone(), StepStarted::new("s").into()]).collect();
        let [_, merged] = of_sse(&simulate(&apart, Pace::None, 1000));
        assert_eq!(merged.events, 12);
        assert_eq!(merged.bytes, apart.iter().map(sse_len).sum::<u64>());
    }

    #[test]
    fn a_run_begins_when_the_one_before_has_arrived() {
        let start = |at| Event::from(RunStarted::new("t", "r")).with_timestamp(at);
        let at = |at| delta("abc").with_timestamp(at);
        // The second run begins an hour later; who waits for it is not the link.
        let events = [start(0), at(1000), start(3_600_000), at(3_600_500)];
        let done = simulate(&events, Pace::Recorded, 8000);
        assert_eq!(done.agent, 3 * SECOND / 2);
        let [_, merged] = of_sse(&done);
        // Of a millisecond a byte.
        let run = |events: [&Event; 2], second: u64| {
            let [first, last] = events.map(|event| sse_len(event) * 1_000_000);
            first.max(second) + last
        };
        let nanos =
            run([&events[0], &events[1]], SECOND) + run([&events[2], &events[3]], SECOND / 2);
        assert_eq!(merged.nanos, nanos);
    }

    /// The body of a response, asked for bytes whenever the link is free, gives the same.
    #[cfg(feature = "cli-http")]
    #[test]
    fn merged_is_what_the_body_of_a_response_sends() {
        let text = include_str!("../../../../samples/chat.jsonl");
        let chat: Vec<_> = text.lines().map(|line| Event::from_json(line).unwrap()).collect();
        let mut clock = Clock::default();
        let at = chat.iter().map(|event| clock.see(event).millis * 1_000_000);
        let at: Vec<_> = at.collect();
        for rate in [2000, 8000, 32_000, 1_000_000] {
            check_against_a_body(&chat, Pace::Recorded, &at, rate);
        }
        // More than a part of events, and then of bytes, all there at once.
        let mut many: Vec<_> = (0..PART_EVENTS + 9).map(|_| delta("abc")).collect();
        many.extend((0..9).map(|_| StepStarted::new("a".repeat(PART_LEN / 4)).into()));
        check_against_a_body(&many, Pace::None, &vec![0; many.len()], 8000);
    }

    #[cfg(feature = "cli-http")]
    #[track_caller]
    fn check_against_a_body(events: &[Event], pace: Pace, at: &[u64], rate: u64) {
        let done = simulate(events, pace, rate);
        let codings = std::iter::once("identity").chain(Coding::ALL.map(Coding::as_str));
        for (coding, forms) in codings.zip(&done.links[0].merged) {
            for (format, sent) in [Format::Sse, Format::Protobuf].into_iter().zip(forms) {
                let body = body(events, at, rate, format.media_type(), coding);
                assert_eq!((sent.bytes, sent.nanos), body, "{format} {coding} at {rate}");
            }
        }
    }

    /// Bytes of a body, and nanoseconds until the last of them has arrived.
    #[cfg(feature = "cli-http")]
    fn body(events: &[Event], at: &[u64], rate: u64, accept: &str, coding: &str) -> (u64, u64) {
        use std::cell::{Cell, RefCell};
        use std::collections::VecDeque;
        use std::pin::pin;
        use std::task::{Context, Poll, Waker};

        use ag_ui_proto::server::Responder;
        use axum::body::HttpBody as _;
        use futures_util::stream;
        use http::HeaderMap;

        let mut headers = HeaderMap::new();
        headers.insert("accept", accept.parse().unwrap());
        headers.insert("accept-encoding", coding.parse().unwrap());
        let (ready, is_over) = (RefCell::new(VecDeque::new()), Cell::new(false));
        let stream = stream::poll_fn(|_| match ready.borrow_mut().pop_front() {
            None if is_over.get() => Poll::Ready(None),
            None => Poll::Pending,
            event => Poll::Ready(event),
        });
        let responder = Responder::new().coalescing().compressing();
        let mut body = pin!(responder.respond(&headers, stream).into_body());
        let mut context = Context::from_waker(Waker::noop());
        let (mut now, mut next, mut bytes) = (0, 0, 0);
        loop {
            while at.get(next).is_some_and(|at| *at <= now) {
                ready.borrow_mut().push_back(events[next].clone());
                next += 1;
            }
            is_over.set(next == at.len());
            match body.as_mut().poll_frame(&mut context) {
                Poll::Pending => now = at[next],
                Poll::Ready(None) => return (bytes, now),
                Poll::Ready(Some(frame)) => {
                    let len = frame.unwrap().into_data().unwrap().len() as u64;
                    bytes += len;
                    now += len * 8 * SECOND / rate;
                }
            }
        }
    }
}
