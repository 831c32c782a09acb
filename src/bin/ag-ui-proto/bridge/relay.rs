//! The body of a run, read in one binding and written in another.
//!
//! | upstream | the body |
//! |---|---|
//! | ends behind a terminal event | ends |
//! | ends or breaks before one, or inside an event | breaks off |
//! | gives nothing for too long | breaks off |
//! | gives what is no event, or what cannot be sent | ends with a `RUN_ERROR` that says so, unless a `RUN_ERROR` came before |
//!
//! A relay that merges gives nothing while the connection holds what it was given; what comes meanwhile is
//! one part, to a bound of 64 KiB of upstream's bytes.
//!
//! A server of HTTP throws away what it has not sent when its body breaks off: what came before, and the
//! headers if nothing did. So that waits until the connection has taken what was given.
//!
//! Rule: specification 1.1, basic/transports: a truncated run has no outcome, and none is made up; a
//! failure after the start of a run is a `RUN_ERROR`.

use std::fmt::Display;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use ag_ui_proto::Event;
use ag_ui_proto::codec::{Decoded, EncodeError};
use ag_ui_proto::fidelity::{Difference, Kind};
use ag_ui_proto::model::{Body, RunError};
use ag_ui_proto::negotiate::Format;
use ag_ui_proto::stream::{BodyError, BodyReader, BodyWriter, Coalescer};
use bytes::Bytes;
use futures_util::future::{Either, select};
use futures_util::stream::{BoxStream, Fuse, Stream, StreamExt, unfold};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::yield_now;
use tokio::time::timeout;

use super::causes::with_causes;
use super::log::Tally;

/// Bytes, before compression, after which no more events are put into one part.
const PART_LEN: usize = 16 * 1024;

/// Bytes of upstream after which a relay that merges reads no more for one part.
const MERGED_LEN: usize = 64 * 1024;

/// The code of the `RUN_ERROR` of a bridge.
const CODE: &str = "BAD_UPSTREAM";

type Parts = BoxStream<'static, reqwest::Result<Bytes>>;

pub(super) struct Relay {
    reader: BodyReader,
    writer: BodyWriter,
    coalescer: Option<Coalescer>,
    idle_timeout: Duration,
    tally: Tally,
    last: Last,
    given: Given,
    /// How upstream broke, behind what is still to be given.
    broken: Option<reqwest::Error>,
    /// Whether what came last from upstream ended a line, or nothing came yet.
    is_at_line: bool,
}

/// The last event that starts or ends a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Last {
    Running,
    Finished,
    Failed,
}

/// Where the body stands: what comes; or that it is over.
enum State {
    Open(Box<Relay>, Fuse<Parts>),
    Over,
}

/// What is given next.
enum Step {
    Part(Bytes),
    /// The last bytes.
    End(Bytes),
    Break(io::Error),
}

impl Relay {
    pub(super) fn new(
        reader: BodyReader,
        writer: BodyWriter,
        idle_timeout: Duration,
        tally: Tally,
    ) -> Self {
        let (last, given) = (Last::Running, Given::new());
        let (coalescer, broken, is_at_line) = (None, None, true);
        Self { reader, writer, coalescer, idle_timeout, tally, last, given, broken, is_at_line }
    }

    /// Merges neighbouring deltas while the connection is busy.
    pub(super) fn merging(mut self, coalescer: Coalescer) -> Self {
        self.coalescer = Some(coalescer);
        self
    }

    /// The parts of the body. An error in it breaks the connection off.
    ///
    /// Upstream is read when the client takes what came before, and at no other time. Dropping it
    /// closes the connection upstream.
    pub(super) fn into_stream(self, parts: Parts) -> impl Stream<Item = io::Result<Bytes>> {
        unfold(State::Open(Box::new(self), parts.fuse()), |state| async {
            let State::Open(mut relay, mut parts) = state else { return None };
            let step = relay.step(&mut parts).await.unwrap_or_else(Step::Break);
            Some(match step {
                Step::Part(bytes) => (Ok(relay.given.watched(bytes)), State::Open(relay, parts)),
                Step::End(bytes) => (Ok(bytes), State::Over),
                Step::Break(error) => {
                    // A client that takes nothing for so long is not waited for.
                    drop(timeout(relay.idle_timeout, relay.given.taken()).await);
                    // The headers have had no turn yet if nothing was given.
                    yield_now().await;
                    (Err(error), State::Over)
                }
            })
        })
    }

    /// Takes events, and upstream's bytes for them, until there is something to give.
    async fn step(&mut self, parts: &mut Fuse<Parts>) -> io::Result<Step> {
        if self.coalescer.is_some()
            && let Err(fault) = self.merge_while_busy(parts).await
        {
            return self.fail(&fault);
        }
        loop {
            if let Err(fault) = self.take_events().and_then(|()| self.settle()) {
                return self.fail(&fault);
            }
            if !self.writer.is_empty() {
                let bytes = self.writer.flush()?;
                self.tally.gave(bytes.len());
                return Ok(Step::Part(bytes));
            }
            if let Some(error) = self.broken.take() {
                return self.end(Some(with_causes(&error)));
            }
            match timeout(self.idle_timeout, parts.next()).await {
                Ok(Some(Ok(part))) => self.take(&part),
                Ok(Some(Err(error))) => return self.end(Some(with_causes(&error))),
                Ok(None) => return self.end(None),
                Err(_) => {
                    return self.end(Some(format!("nothing came for {:?}", self.idle_timeout)));
                }
            }
        }
    }

    fn take(&mut self, part: &Bytes) {
        self.tally.took(part.len());
        self.reader.push(part);
        // A comment that keeps upstream's connection open keeps this one open, too.
        if self.is_at_line && part.starts_with(b":") {
            self.writer.put_keep_alive();
        }
        self.is_at_line = part.ends_with(b"\n") || part.ends_with(b"\r");
    }

    /// Puts the events that are whole.
    fn take_events(&mut self) -> Result<(), String> {
        while self.writer.len() < PART_LEN {
            match self.reader.next_event() {
                Ok(Some(decoded)) => self.put(decoded).map_err(|fault| {
                    if self.coalescer.is_some() {
                        // It is one that came before, and may be of several.
                        return fault.to_string();
                    }
                    let number = self.reader.position().0.saturating_sub(1);
                    format!("event {number}: {fault}")
                })?,
                Ok(None) => break,
                Err(error) => return Err(error.to_string()),
            }
        }
        Ok(())
    }

    /// Takes what comes until the connection has taken what it was given.
    async fn merge_while_busy(&mut self, parts: &mut Fuse<Parts>) -> Result<(), String> {
        let given = self.given.clone();
        let mut taken = 0;
        while taken < MERGED_LEN {
            match select(pin!(given.taken()), parts.next()).await {
                Either::Left(_) => return Ok(()),
                Either::Right((Some(Ok(part)), _)) => {
                    taken += part.len();
                    self.take(&part);
                    self.take_events()?;
                }
                Either::Right((Some(Err(error)), _)) => {
                    self.broken = Some(error);
                    break;
                }
                Either::Right((None, _)) => break,
            }
        }
        given.taken().await;
        Ok(())
    }

    fn put(&mut self, decoded: Decoded) -> Result<(), EncodeError> {
        let Decoded { event, notices, .. } = decoded;
        let Some(event) = event else {
            let reasons: Vec<_> = notices.iter().map(ToString::to_string).collect();
            self.tally.dropped(&reasons.join("; "));
            return Ok(());
        };
        self.tally.sent();
        for notice in &notices {
            self.tally.changed(&crate::read::told(notice, Some(&event)));
        }
        if self.writer.format() == Format::Protobuf {
            for number in event.differences().iter().filter(|found| is_rounded(found)) {
                self.tally.rounded(&format_args!("{}: {number}", event.event_type()));
            }
        }
        let last = match event.body {
            Body::RunStarted(_) => Last::Running,
            Body::RunFinished(_) if self.last != Last::Failed => Last::Finished,
            Body::RunError(_) => Last::Failed,
            _ => self.last,
        };
        let event = match &mut self.coalescer {
            Some(coalescer) => coalescer.push(event),
            None => Some(event),
        };
        if let Some(event) = event
            && let Err(fault) = self.write(&event)
        {
            // What is held now came behind the fault.
            self.coalescer.as_mut().map(Coalescer::take);
            return Err(fault);
        }
        self.last = last;
        Ok(())
    }

    fn write(&mut self, event: &Event) -> Result<(), EncodeError> {
        for notice in self.writer.put(event)? {
            self.tally.changed(&crate::read::told(&notice, Some(event)));
        }
        Ok(())
    }

    /// Puts what was merged.
    fn settle(&mut self) -> Result<(), String> {
        let merged = self.coalescer.as_mut().and_then(Coalescer::take);
        merged.map_or(Ok(()), |event| self.write(&event)).map_err(|fault| fault.to_string())
    }

    /// Ends the body where upstream ended, or broke for a reason.
    fn end(&mut self, broken: Option<String>) -> io::Result<Step> {
        let end = match self.reader.finish() {
            // Behind a terminal event it does not matter how input ended.
            Ok(()) if self.last != Last::Running => {
                self.tally.end(self.last.told(), true);
                return self.finish();
            }
            Ok(()) => truncated(broken.as_deref().unwrap_or("upstream ended before the run did")),
            Err(error) if is_compression(&error) && self.last != Last::Running => {
                self.tally.end(self.last.told(), true);
                return self.finish();
            }
            Err(error) if error.is_truncated() => {
                // It says so itself.
                broken.map_or_else(|| error.to_string(), |broken| truncated(&broken))
            }
            Err(error) => return self.fail(&error),
        };
        self.tally.end(end.as_str(), false);
        Ok(Step::Break(io::Error::other(end)))
    }

    /// Ends the body with a `RUN_ERROR`.
    fn fail(&mut self, fault: &dyn Display) -> io::Result<Step> {
        self.tally.end(format!("rejected: {fault}"), false);
        // What was merged came before the fault; if it cannot be sent, that is another.
        if let Err(merged) = self.settle() {
            self.tally.dropped(&merged);
        }
        if self.last != Last::Failed {
            let error = RunError::new(format!("the agent behind the bridge: {fault}"));
            let event = Event::from(error.with_code(CODE));
            self.writer.put(&event).map_err(io::Error::other)?;
        }
        self.finish()
    }

    fn finish(&mut self) -> io::Result<Step> {
        let bytes = self.writer.finish()?;
        self.tally.gave(bytes.len());
        Ok(Step::End(bytes))
    }
}

/// What was given to the connection, which holds it until it is sent.
#[derive(Clone)]
struct Given(Arc<Semaphore>);

impl Given {
    /// More parts than a connection holds at a time.
    const PARTS: u32 = 1 << 20;

    fn new() -> Self {
        Self(Arc::new(Semaphore::new(Self::PARTS as usize)))
    }

    /// The same bytes, whose end is told.
    fn watched(&self, bytes: Bytes) -> Bytes {
        let held = Arc::clone(&self.0).try_acquire_owned().ok();
        Bytes::from_owner(Watched { bytes, _held: held })
    }

    /// Waits until the connection has let all bytes go.
    async fn taken(&self) {
        drop(self.0.acquire_many(Self::PARTS).await);
    }
}

struct Watched {
    bytes: Bytes,
    _held: Option<OwnedSemaphorePermit>,
}

impl AsRef<[u8]> for Watched {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Last {
    fn told(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Finished => "finished",
            Self::Failed => "failed",
        }
    }
}

fn truncated(broken: &str) -> String {
    format!("truncated: {broken}")
}

/// Whether a number arrives that is not the one of the text.
fn is_rounded(difference: &Difference) -> bool {
    matches!(difference.kind, Kind::IntegerPrecision | Kind::DecimalPrecision)
}

/// Whether events are whole, and what they are compressed in is not.
fn is_compression(error: &BodyError) -> bool {
    error.is_truncated() && matches!(error, BodyError::Inflate(_))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ag_ui_proto::EventType;
    use ag_ui_proto::model::{
        ReasoningMessageContent, RunFinished, RunStarted, StepStarted, TextMessageContent,
        ToolCallArgs,
    };
    use ag_ui_proto::negotiate::Coding;
    use ag_ui_proto::stream::{CODINGS, InflateLimits};
    use ag_ui_proto::value::{Object, Value};
    use futures_util::{FutureExt, stream};

    use super::super::log::Log;
    use super::*;

    const STARTED: &str = "data: {\"type\":\"STEP_STARTED\",\"stepName\":\"a\"}\n\n";

    /// What the body gives of these parts, in the text binding.
    fn relayed(parts: &[&'static str]) -> impl Stream<Item = io::Result<Bytes>> + Unpin {
        let relay = Relay::new(
            BodyReader::new(Format::Sse),
            BodyWriter::new(Format::Sse),
            Duration::from_secs(3600),
            Arc::new(Log::default()).run(1, String::new()),
        );
        let parts: Vec<_> =
            parts.iter().map(|part| Ok(Bytes::from_static(part.as_bytes()))).collect();
        relay.into_stream(stream::iter(parts).boxed()).boxed()
    }

    #[tokio::test]
    async fn nothing_breaks_off_before_the_connection_has_taken_what_came_before() {
        let mut body = relayed(&[STARTED]);
        let part = body.next().await.unwrap().unwrap();
        assert_eq!(part, STARTED);
        for _ in 0..3 {
            assert!(body.next().now_or_never().is_none(), "it is not sent yet");
            yield_now().await;
        }
        drop(part);
        body.next().await.unwrap().unwrap_err();
        assert!(body.next().await.is_none());
    }

    #[tokio::test]
    async fn nothing_breaks_off_before_the_connection_could_send_the_headers() {
        let mut body = relayed(&[]);
        assert!(body.next().now_or_never().is_none());
        yield_now().await;
        body.next().await.unwrap().unwrap_err();
    }

    /// All events of a merging body in the binary binding, whose parts a connection holds for as many
    /// turns as `holds` says, over and over.
    async fn merged(parts: Vec<Bytes>, coding: Option<Coding>, holds: &[usize]) -> Vec<Event> {
        let (mut writer, mut reader) =
            (BodyWriter::new(Format::Protobuf), BodyReader::new(Format::Protobuf));
        if let Some(coding) = coding {
            writer = writer.with_coding(coding).unwrap();
            reader = reader.with_coding(coding, InflateLimits::new()).unwrap();
        }
        let relay = Relay::new(
            BodyReader::new(Format::Sse),
            writer,
            Duration::from_secs(3600),
            Arc::new(Log::default()).run(1, String::new()),
        );
        let relay = relay.merging(Coalescer::new());
        // Upstream has a turn between its parts, as a connection has.
        let parts = stream::iter(parts).then(|part| async {
            yield_now().await;
            Ok(part)
        });
        let mut body = pin!(relay.into_stream(parts.boxed()));
        let (mut events, mut holds) = (Vec::new(), holds.iter().cycle());
        while let Some(part) = body.next().await {
            let part = part.unwrap();
            reader.push(&part);
            while let Some(decoded) = reader.next_event().unwrap() {
                events.extend(decoded.event);
            }
            let hold = *holds.next().unwrap();
            tokio::spawn(async move {
                for _ in 0..hold {
                    yield_now().await;
                }
                drop(part);
            });
        }
        reader.finish().unwrap();
        events
    }

    fn sse(events: &[Event]) -> Vec<u8> {
        let mut writer = BodyWriter::new(Format::Sse);
        for event in events {
            writer.put(event).unwrap();
        }
        writer.finish().unwrap().to_vec()
    }

    #[tokio::test]
    async fn a_fault_among_merged_events_names_its_type_and_no_number() {
        let bad = "data: {\"type\":\"CUSTOM\",\"name\":\"n\",\"value\":1e400}\n\n";
        let delta = |text| Event::from(TextMessageContent::new("m", text));
        let failed = Event::from(RunError::new("the model is gone"));
        let before = [RunStarted::new("t", "r").into(), delta("a"), delta("b")];
        for behind in [vec![], vec![delta("c")], vec![failed], vec![delta("c"), delta("d")]] {
            let text = [&sse(&before)[..], bad.as_bytes(), &sse(&behind)].concat();
            for parts in [
                vec![Bytes::from(text.clone())],
                text.chunks(60).map(Bytes::copy_from_slice).collect(),
            ] {
                let events = merged(parts, None, &[0, 3]).await;
                let (last, rest) = events.split_last().unwrap();
                let said = rest.iter().map(Event::event_type).collect::<Vec<_>>();
                let deltas = said.iter().filter(|said| **said == EventType::TextMessageContent);
                assert_eq!(
                    deltas.count() + 1,
                    said.len(),
                    "nothing from behind the fault: {said:?}"
                );
                let Body::RunError(error) = &last.body else { panic!("{last:?}") };
                let want = "the agent behind the bridge: CUSTOM: value: ";
                assert!(error.message.starts_with(want), "{}", error.message);
            }
        }
    }

    /// A stream in which items take turns, and some events have what keeps them apart.
    fn mixed(seed: u64) -> Vec<Event> {
        let mut state = seed;
        let mut below = |bound: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % bound
        };
        let mut events = vec![RunStarted::new("t", "r").into()];
        for number in 0..300_i64 {
            let (id, text) = (format!("i{}", below(2)), format!("{number}\u{e4}\u{1f600};"));
            let event = match below(12) {
                0 => Event::from(StepStarted::new("s")),
                1 => ReasoningMessageContent::new(id, text).into(),
                2..5 => ToolCallArgs::new(id, text).into(),
                5 => TextMessageContent::new(id, text).with_subagent("sub").into(),
                _ => TextMessageContent::new(id, text).into(),
            };
            events.push(match below(8) {
                0 => event.with_timestamp(number),
                1 => event.with_metadata(Object::from([(format!("k{}", below(3)), number)])),
                2 => event.with_raw_event(Value::from(number)),
                _ => event,
            });
        }
        events.push(RunFinished::new("t", "r").into());
        events
    }

    #[tokio::test]
    async fn merging_changes_neither_what_is_said_nor_its_order_whoever_is_slow() {
        let coalesced = |events: Vec<Event>| -> Vec<Event> {
            let mut coalescer = Coalescer::new();
            let mut all: Vec<_> =
                events.into_iter().filter_map(|event| coalescer.push(event)).collect();
            all.extend(coalescer.take());
            all
        };
        for seed in 0..9 {
            let events = mixed(seed);
            let text = sse(&events);
            let want = coalesced(events.clone());
            let codings = [None, Some(CODINGS[0]), Some(CODINGS[1])];
            let coding = codings[usize::try_from(seed % 3).unwrap()];
            for (len, holds) in [
                (text.len(), &[0][..]),
                (1, &[1]),
                (37, &[0, 40, 3]),
                (500, &[1000]),
                (5000, &[2, 0, 0, 17]),
            ] {
                let parts = text.chunks(len).map(Bytes::copy_from_slice).collect();
                let got = merged(parts, coding, holds).await;
                assert!(got.len() <= events.len());
                assert_eq!(coalesced(got), want, "seed {seed}, parts of {len}, holds {holds:?}");
            }
        }
    }

    #[tokio::test]
    async fn a_comment_goes_on_and_a_colon_inside_a_line_is_none() {
        let mut body = relayed(&[
            "data",
            ":",
            " {\"type\"",
            ": \"STEP_STARTED\"",
            ",\"stepName\":",
            "\"a\"}\n\n",
            ": ping\n\n",
        ]);
        assert_eq!(body.next().await.unwrap().unwrap(), STARTED);
        let comment = body.next().await.unwrap().unwrap();
        assert!(comment.starts_with(b":"), "{comment:?}");
        drop(comment);
        body.next().await.unwrap().unwrap_err();
    }
}
