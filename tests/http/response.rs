//! Responses without a connection: their headers, and when their bodies take events.

use std::cell::Cell;
use std::collections::VecDeque;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use ag_ui_proto::Event;
use ag_ui_proto::codec::{Limits, MEDIA_TYPE, Options};
use ag_ui_proto::model::{RunError, StateSnapshot};
use ag_ui_proto::negotiate::{Format, Negotiator};
use ag_ui_proto::server::{BodyItem, EventBody, Responder};
use ag_ui_proto::stream::BodyReader;
use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use http::{HeaderMap, HeaderValue, Response};
use http_body::Body;

use super::loopback::{body, delta, finished, run, started};

fn accepting(accept: &str) -> HeaderMap {
    HeaderMap::from_iter([(http::header::ACCEPT, HeaderValue::from_str(accept).unwrap())])
}

fn poll<S>(body: &mut EventBody<S>) -> Poll<Option<Bytes>>
where
    S: Stream,
    S::Item: BodyItem,
{
    let mut context = Context::from_waker(Waker::noop());
    let part = Pin::new(body).poll_frame(&mut context);
    part.map(|part| part.map(|part| part.unwrap().into_data().unwrap()))
}

/// The parts of a body that never has to wait.
fn parts<S>(response: Response<EventBody<S>>) -> Vec<Bytes>
where
    S: Stream,
    S::Item: BodyItem,
{
    let mut body = response.into_body();
    let mut parts = Vec::new();
    loop {
        match poll(&mut body) {
            Poll::Ready(Some(part)) => parts.push(part),
            Poll::Ready(None) => break,
            Poll::Pending => panic!("a body that waits"),
        }
    }
    assert!(body.is_end_stream());
    assert_eq!(poll(&mut body), Poll::Ready(None), "the end is the end");
    parts
}

fn read(format: Format, bytes: &[u8]) -> Vec<Event> {
    let mut reader = BodyReader::new(format);
    reader.push(bytes);
    let mut events = Vec::new();
    while let Some(decoded) = reader.next_event().unwrap() {
        events.extend(decoded.event);
    }
    reader.finish().unwrap();
    events
}

#[test]
fn the_headers_are_exactly_those_of_the_binding() {
    for (accept, content_type, format) in [
        ("text/event-stream, application/vnd.ag-ui.event+proto", MEDIA_TYPE, Format::Protobuf),
        ("*/*", MEDIA_TYPE, Format::Protobuf),
        ("text/event-stream", "text/event-stream", Format::Sse),
        ("application/vnd.ag-ui.event+proto;q=0, */*", "text/event-stream", Format::Sse),
    ] {
        let response = Responder::new().respond(&accepting(accept), stream::iter(run()));
        assert_eq!(response.status(), 200);
        let mut headers: Vec<_> = response
            .headers()
            .iter()
            .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
            .collect();
        headers.sort();
        assert_eq!(
            headers,
            [
                "cache-control: no-cache",
                &format!("content-type: {content_type}"),
                "vary: accept",
                "x-accel-buffering: no",
            ]
        );
        assert_eq!(parts(response).concat(), body(format, &run()));
    }
    let response = Responder::new().respond(&HeaderMap::new(), stream::iter(run()));
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let responder = Responder::new().with_negotiator(Negotiator::new().with_wildcards_as_sse());
    assert_eq!(responder.negotiate(&accepting("*/*")).format(), Format::Sse);
}

#[test]
fn each_event_is_a_part_of_its_own_unless_several_are_ready() {
    let waiting = stream::iter(run()).then(|event| {
        let mut has_waited = false;
        std::future::poll_fn(move |_| {
            if std::mem::replace(&mut has_waited, true) {
                Poll::Ready(event.clone())
            } else {
                Poll::Pending
            }
        })
    });
    let mut waiting = Responder::new().respond(&HeaderMap::new(), waiting).into_body();
    assert_eq!(poll(&mut waiting), Poll::Pending);
    // Whether the next event is ready is asked before a part is given.
    for event in run() {
        let Poll::Ready(Some(part)) = poll(&mut waiting) else { panic!("no part") };
        assert_eq!(part, body(Format::Sse, &[event]));
    }
    let ready = Responder::new().respond(&HeaderMap::new(), stream::iter(run()));
    assert_eq!(parts(ready), [body(Format::Sse, &run())]);
}

#[test]
fn events_are_taken_only_when_bytes_are_asked_for_and_never_far_ahead() {
    for (format, len) in [("text/event-stream", 1), (MEDIA_TYPE, 1), (MEDIA_TYPE, 1000)] {
        let taken = Rc::new(Cell::new(0));
        let count = taken.clone();
        let endless = stream::repeat_with(move || {
            count.set(count.get() + 1);
            delta(&"x".repeat(len))
        });
        let mut body = Responder::new().respond(&accepting(format), endless).into_body();
        assert_eq!(taken.get(), 0, "before bytes are asked for");
        for part in 1..=20 {
            let Poll::Ready(Some(bytes)) = poll(&mut body) else { panic!("no part") };
            assert!(bytes.len() < 32 * 1024, "{}", bytes.len());
            assert!(taken.get() <= part * 256, "{} events for {part} parts", taken.get());
        }
    }
}

#[test]
fn the_stream_is_dropped_with_the_body_and_at_its_end() {
    struct Guarded(Rc<Cell<bool>>, usize);
    impl Drop for Guarded {
        fn drop(&mut self) {
            self.0.set(true);
        }
    }
    impl Stream for Guarded {
        type Item = Event;
        fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Event>> {
            self.1 += 1;
            match self.1 {
                1 => Poll::Ready(Some(started())),
                2 => Poll::Pending,
                _ => Poll::Ready(None),
            }
        }
    }
    for is_read_to_its_end in [false, true] {
        let dropped = Rc::new(Cell::new(false));
        let events = Guarded(dropped.clone(), 0);
        let mut body = Responder::new().respond(&HeaderMap::new(), events).into_body();
        assert!(matches!(poll(&mut body), Poll::Ready(Some(_))));
        assert!(!dropped.get());
        if is_read_to_its_end {
            assert_eq!(poll(&mut body), Poll::Ready(None));
            assert!(dropped.get());
        }
        drop(body);
        assert!(dropped.get());
    }
}

#[test]
fn a_stream_that_fails_ends_with_a_run_error() {
    for (accept, format) in [(MEDIA_TYPE, Format::Protobuf), ("", Format::Sse)] {
        let items = vec![Ok(started()), Ok(delta("Hel")), Err("the model is gone"), Ok(finished())];
        let response = Responder::new().respond(&accepting(accept), stream::iter(items));
        let read = read(format, &parts(response).concat());
        assert_eq!(read, [started(), delta("Hel"), RunError::new("the model is gone").into()]);

        let error = || RunError::new("no").with_code("CODE");
        let items = vec![Ok(started()), Err(error())];
        let response = Responder::new().respond(&accepting(accept), stream::iter(items));
        assert_eq!(self::read(format, &parts(response).concat()), [started(), error().into()]);
    }
}

#[test]
fn no_event_is_made_up_behind_a_run_error_or_behind_the_end() {
    let error = || Event::from(RunError::new("no"));
    for (items, want) in [
        (vec![Ok(started()), Ok(error()), Err("later")], vec![started(), error()]),
        (vec![Ok(started())], vec![started()]),
        (vec![], vec![]),
    ] {
        let response = Responder::new().respond(&HeaderMap::new(), stream::iter(items));
        assert_eq!(read(Format::Sse, &parts(response).concat()), want);
    }
}

#[test]
fn an_event_that_cannot_be_sent_ends_the_run_with_an_error() {
    let limits = Limits::new().with_max_frame_len(300);
    for (accept, format) in [(MEDIA_TYPE, Format::Protobuf), ("", Format::Sse)] {
        for responder in [Responder::new(), Responder::new().coalescing()] {
            let responder = responder.with_options(Options::from(limits));
            for (bad, reason) in [
                (Event::from(StateSnapshot::new("x".repeat(400))), "STATE_SNAPSHOT: a frame of "),
                (delta("x").with_timestamp(1 << 53), "TEXT_MESSAGE_CONTENT: timestamp: "),
            ] {
                let events = vec![started(), bad, finished()];
                let response = responder.respond(&accepting(accept), stream::iter(events));
                let read = read(format, &parts(response).concat());
                assert_eq!(read.len(), 2, "{read:?}");
                let ag_ui_proto::model::Body::RunError(error) = &read[1].body else {
                    panic!("{read:?}")
                };
                let want = format!("an event could not be sent: {reason}");
                assert!(error.message.starts_with(&want), "{}", error.message);
            }
            let items = vec![Ok(started()), Err("x".repeat(1000))];
            let response = responder.respond(&accepting(accept), stream::iter(items));
            let read = read(format, &parts(response).concat());
            assert_eq!(read.len(), 2, "a text that is too long is told of: {read:?}");
        }
    }
}

#[test]
fn ready_deltas_are_merged_if_that_is_asked_for() {
    let events = [started(), delta("Hel"), delta(""), delta("lo"), finished()];
    let merged = [started(), delta("Hello"), finished()];
    let response =
        Responder::new().coalescing().respond(&HeaderMap::new(), stream::iter(events.clone()));
    assert_eq!(read(Format::Sse, &parts(response).concat()), merged);
    let response = Responder::new().respond(&HeaderMap::new(), stream::iter(events.clone()));
    assert_eq!(read(Format::Sse, &parts(response).concat()), events);

    // What is held is written when nothing more is ready.
    let items = stream::iter([started(), delta("Hel")]).chain(stream::pending());
    let mut body = Responder::new().coalescing().respond(&HeaderMap::new(), items).into_body();
    let Poll::Ready(Some(part)) = poll(&mut body) else { panic!("no part") };
    assert_eq!(read(Format::Sse, &part), [started(), delta("Hel")]);
    assert_eq!(poll(&mut body), Poll::Pending);
}

#[test]
fn deltas_are_merged_while_the_connection_holds_the_part_before_and_only_then() {
    let queue = Arc::new(Mutex::new(VecDeque::from([started()])));
    let push = |text: &str| queue.lock().unwrap().push_back(delta(text));
    let events = stream::poll_fn(|_| match queue.lock().unwrap().pop_front() {
        Some(event) => Poll::Ready(Some(event)),
        None => Poll::Pending,
    });
    let mut body = Responder::new().coalescing().respond(&HeaderMap::new(), events).into_body();
    let part = |polled| match polled {
        Poll::Ready(Some(part)) => part,
        other => panic!("{other:?}"),
    };
    let held = part(poll(&mut body));
    push("a");
    let woken = Arc::new(Count::default());
    let waker = Waker::from(woken.clone());
    let polled = Pin::new(&mut body).poll_frame(&mut Context::from_waker(&waker));
    assert!(polled.is_pending(), "the connection is busy");
    push("b");
    push("c");
    assert_eq!((queue.lock().unwrap().len(), woken.get()), (3, 0), "nothing is taken meanwhile");
    drop(held);
    assert_eq!(woken.get(), 1, "whoever polled it is told");
    let held = part(poll(&mut body));
    assert_eq!(read(Format::Sse, &held), [delta("abc")]);
    drop(held);
    for text in ["d", "e", "f"] {
        push(text);
        assert_eq!(read(Format::Sse, &part(poll(&mut body))), [delta(text)], "it is idle");
    }
}

#[test]
fn ticks_write_comments_into_idle_text_and_nothing_else() {
    for (accept, is_text) in [("text/event-stream", true), (MEDIA_TYPE, false)] {
        let items = || stream::iter([started()]).chain(stream::pending());
        let response = Responder::new().respond(&accepting(accept), items());
        let (tick, ticks) = counted_ticks();
        let mut body = response.into_body().with_keep_alive(ticks);
        tick.set(1);
        let Poll::Ready(Some(part)) = poll(&mut body) else { panic!("no part") };
        let format = if is_text { Format::Sse } else { Format::Protobuf };
        assert_eq!(part, self::body(format, &[started()]), "there is something else to write");
        let comment = Poll::Ready(Some(Bytes::from_static(b":\n\n")));
        assert_eq!(poll(&mut body), if is_text { comment.clone() } else { Poll::Pending });
        assert_eq!(poll(&mut body), Poll::Pending);
        tick.set(1);
        assert_eq!(poll(&mut body), if is_text { comment } else { Poll::Pending });
        tick.set(usize::MAX);
        assert_eq!(poll(&mut body), Poll::Pending, "the end of the ticks is not that of the body");
    }
}

/// How many ticks are there, and the stream of them, which ends at `usize::MAX`.
fn counted_ticks() -> (Arc<Count>, impl Stream<Item = ()> + Send) {
    let count = Arc::new(Count::default());
    let ticks = count.clone();
    let ticks = stream::poll_fn(move |_| match ticks.get() {
        0 => Poll::Pending,
        usize::MAX => Poll::Ready(None),
        left => {
            ticks.set(left - 1);
            Poll::Ready(Some(()))
        }
    });
    (count, ticks)
}

#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.set(self.get() + 1);
    }
}

impl Count {
    fn get(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }

    fn set(&self, count: usize) {
        self.0.store(count, Ordering::SeqCst);
    }
}
