//! A session, and what peers make of it.

use std::future::{Future, ready};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ag_ui_proto::Event;
use ag_ui_proto::model::{
    Content, Message, RunAgentInput, RunError, RunFinished, RunStarted, StepStarted,
    TextMessageContent, TextMessageEnd, TextMessageStart, UserMessage,
};
use bytes::BytesMut;
use futures_util::{Stream, StreamExt, stream};
use tokio::sync::mpsc::Sender;

/// What a stream of an agent's gives.
pub(crate) type Given = Result<Event, RunError>;

/// The events of a sample session of one run, as they come out of a trip over the wire, which has no
/// empty lists.
pub(crate) fn session() -> Vec<Event> {
    let lines = include_str!("../../samples/chat.jsonl").lines();
    let events = lines.map(|line| {
        let event = Event::from_json(line).unwrap();
        let decoded = Event::decode(&event.to_payload().unwrap()).unwrap();
        assert_eq!(decoded.notices, []);
        decoded.event.unwrap()
    });
    let events: Vec<_> = events.collect();
    assert_eq!(events.len(), 164);
    events
}

/// Runs the test of this name in a process of its own, which has few descriptors. Whether this is
/// that process.
#[cfg(unix)]
pub(crate) fn has_few_descriptors(test: &str) -> bool {
    const FEW: &str = "AG_UI_FEW_DESCRIPTORS";
    if std::env::var_os(FEW).is_some() {
        return true;
    }
    let output = std::process::Command::new("sh")
        .args(["-c", "ulimit -n 64; exec \"$0\" --exact \"$1\" --nocapture"])
        .arg(std::env::current_exe().unwrap())
        .arg(test)
        .env(FEW, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{said}{told}");
    assert!(told.contains("no connection can be accepted for now"), "{told}");
    false
}

/// Takes descriptors by this until there are none, while nothing else runs; then has others run.
#[cfg(unix)]
pub(crate) async fn take_all<T>(take: impl Fn() -> std::io::Result<T>) {
    let held: Vec<_> = std::iter::from_fn(|| take().ok()).collect();
    assert!(held.len() > 20 && held.len() < 64, "{}", held.len());
    tokio::time::sleep(Duration::from_millis(100)).await;
}

/// Holds what was seen to what was said, event by event.
#[track_caller]
pub(crate) fn check_seen(seen: &[Event], said: &[Event], name: &str) {
    for (number, (seen, said)) in seen.iter().zip(said).enumerate() {
        assert_eq!(seen, said, "{name}: event {number}");
    }
    assert_eq!(seen.len(), said.len(), "{name}");
}

/// A run of four events of which each is as long as the text.
pub(crate) fn short() -> Vec<Event> {
    vec![
        RunStarted::new("t", "r").into(),
        TextMessageStart::new("m").into(),
        TextMessageContent::new("m", "Hi").into(),
        TextMessageEnd::new("m").into(),
        RunFinished::new("t", "r").into(),
    ]
}

pub(crate) fn input() -> RunAgentInput {
    let hi = Message::from(UserMessage::new("u1", Content::from("Hi")));
    RunAgentInput::new("thread-1", "run-1", vec![hi])
}

/// An input of more than `len` bytes.
pub(crate) fn long_input(len: usize) -> RunAgentInput {
    let long = Message::from(UserMessage::new("u1", Content::from("x".repeat(len))));
    RunAgentInput::new("thread-1", "run-1", vec![long])
}

/// An agent that gives the events, whatever it is asked, and then no more.
pub(crate) fn gives(
    events: Vec<Event>,
) -> impl Fn(RunAgentInput) -> stream::Iter<std::vec::IntoIter<Given>> + Clone + Send + 'static {
    move |_| stream::iter(events.clone().into_iter().map(Ok).collect::<Vec<Given>>())
}

/// An agent that gives the events and fails.
pub(crate) fn fails_after(
    events: Vec<Event>,
) -> impl Fn(RunAgentInput) -> stream::Iter<std::vec::IntoIter<Given>> + Clone + Send + 'static {
    move |_| {
        let mut given: Vec<Given> = events.clone().into_iter().map(Ok).collect();
        given.push(Err(RunError::new("the model is gone").with_code("MODEL")));
        // An agent that goes on in spite of that is not listened to.
        given.push(Ok(TextMessageEnd::new("m").into()));
        stream::iter(given)
    }
}

/// An agent that gives the events and then nothing more, nor an end.
pub(crate) fn hangs_after(
    events: Vec<Event>,
) -> impl Fn(RunAgentInput) -> stream::BoxStream<'static, Given> + Clone + Send + 'static {
    move |_| stream::iter(events.clone()).map(Ok).chain(stream::pending()).boxed()
}

/// An agent that gives an event over a limit of 1 KiB after the start of its run.
pub(crate) fn says_too_much()
-> impl Fn(RunAgentInput) -> stream::Iter<std::vec::IntoIter<Given>> + Clone + Send + 'static {
    let mut events = short();
    events[2] = TextMessageContent::new("m", "x".repeat(2048)).into();
    gives(events)
}

/// An agent that talks on and on, and holds on to `gone` as long as it runs.
pub(crate) fn endless(
    gone: Sender<()>,
) -> impl Fn(RunAgentInput) -> stream::BoxStream<'static, Given> + Clone + Send + 'static {
    let gone = Arc::new(Mutex::new(Some(gone)));
    move |_| {
        let gone = gone.lock().unwrap().take();
        let more = stream::repeat_with(move || {
            let _alive = &gone;
            Ok(TextMessageContent::new("m", "and on ".repeat(2_000)).into())
        });
        // As a model does, it leaves room for others.
        let more = more.then(|event| async {
            tokio::task::yield_now().await;
            event
        });
        stream::iter(short()).take(2).map(Ok).chain(more).boxed()
    }
}

/// The events as frames.
pub(crate) fn frames(events: &[Event]) -> Vec<u8> {
    let mut frames = BytesMut::new();
    for event in events {
        event.encode_frame(&mut frames).unwrap();
    }
    frames.to_vec()
}

/// What the bytes of a peer come to.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// What the peer writes before it ends its side.
    pub(crate) bytes: Vec<u8>,
    /// How many events are seen.
    pub(crate) seen: usize,
    /// What is said of the run.
    pub(crate) end: String,
}

/// Peers of a client over frames, good and bad.
pub(crate) fn cases() -> Vec<Case> {
    const ENDED: &str = "truncated: the stream ended before the run did";

    let events = session();
    let whole = frames(&events);
    let five = frames(&events[..5]).len();
    let sixth = frames(&events[5..6]).len();
    let last = whole.len() - frames(&events[163..]).len();
    let case = |name, bytes: &[u8], seen, end: &str| Case {
        name,
        bytes: bytes.to_vec(),
        seen,
        end: end.to_owned(),
    };
    let future = b"\0\0\0\x05\x82\x02\x02\x0a\0";
    let step = frames(&[StepStarted::new("plan").into()]);
    vec![
        case("the whole session", &whole, 164, "finished"),
        case("a frame of a later version", &[future, &whole[..]].concat(), 164, "finished"),
        case("more after the end", &[&whole[..], b"\xff\xff\xff\xff"].concat(), 164, "finished"),
        case("nothing at all", b"", 0, ENDED),
        case("a cut between frames", &whole[..five], 5, ENDED),
        case("a cut before the last frame", &whole[..last], 163, ENDED),
        case(
            "a cut in a frame",
            &whole[..five + 10],
            5,
            &format!(
                "truncated: frame 6 at byte {five}: truncated: input ended after 10 bytes of a \
                 frame of {sixth}"
            ),
        ),
        case(
            "a cut in a header",
            &whole[..five + 3],
            5,
            &format!(
                "truncated: frame 6 at byte {five}: truncated: input ended after 3 bytes of a frame"
            ),
        ),
        case(
            "all but the last byte",
            &whole[..whole.len() - 1],
            163,
            &format!(
                "truncated: frame 164 at byte {last}: truncated: input ended after {} bytes of a \
                 frame of {}",
                whole.len() - last - 1,
                whole.len() - last,
            ),
        ),
        case(
            "a frame that is no event",
            &[&whole[..five], b"\0\0\0\x02\x12\x05", &whole[five..]].concat(),
            5,
            "rejected: event 5: malformed at byte 1 of the payload: length runs past the end of its message",
        ),
        case("an empty frame", b"\0\0\0\0", 0, "rejected: event 0: an empty frame names no event"),
        case(
            "a line of a log",
            b"INFO starting\n",
            0,
            "rejected: event 0: frame 1 at byte 0: a frame of 1229866579 bytes is over the limit of \
             10485760, and its header is the text \"INFO\"",
        ),
        case("a broken rule", &step, 0, "rejected: event 0: STEP_STARTED: no run was started (L1)"),
    ]
}

/// Fails a test that would wait for ever.
pub(crate) async fn in_time<F: Future>(test: F) -> F::Output {
    tokio::time::timeout(Duration::from_secs(10), test).await.expect("it hangs")
}

/// Nothing, as the agent that nobody may ask.
pub(crate) fn never_asked(_: RunAgentInput) -> impl Stream<Item = Given> + Send + 'static {
    stream::once(ready(Err(RunError::new("it was asked"))))
}
