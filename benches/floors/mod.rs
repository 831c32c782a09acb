//! Who runs on which floor. Every bench measures these same contenders.
//!
//! Each of them is checked when it is made: what a writer wrote is read back, what a reader read is
//! compared, and a bench whose contenders do not hold the same events stops.

mod decode;
mod encode;
mod flat;
mod frame;
mod framed;
mod json;
mod json_read;
mod value;
mod view;

use std::hint::black_box;

use ag_ui_proto::Event;
use ag_ui_proto::codec::EventReader;
use bytes::BytesMut;

use crate::workloads::Workload;

/// The contender that all others are compared with, where it takes part.
pub(crate) const BASELINE: &str = "serde_json";

/// This crate.
pub(crate) const OURS: &str = "ag-ui-proto";

/// One way to do the work of a floor.
pub(crate) struct Contender<'a> {
    pub(crate) name: &'static str,
    /// Bytes that one pass writes or reads.
    pub(crate) bytes: usize,
    pass: Box<dyn FnMut() + 'a>,
}

impl<'a> Contender<'a> {
    pub(crate) fn new(name: &'static str, bytes: usize, pass: impl FnMut() + 'a) -> Self {
        Self { name, bytes, pass: Box::new(pass) }
    }

    /// Does the work once, for all events of the race.
    pub(crate) fn run(&mut self) {
        (self.pass)();
    }
}

/// Contenders that do the same work on the same events. The first one is what the others are
/// compared with.
pub(crate) struct Race<'a> {
    pub(crate) floor: &'static str,
    pub(crate) subject: &'static str,
    /// Events in one pass.
    pub(crate) events: usize,
    pub(crate) contenders: Vec<Contender<'a>>,
}

type MakeContenders<'a> = fn(&'a Workload) -> Vec<Contender<'a>>;

/// All races over these workloads of which `floor/subject` contains `filter`.
pub(crate) fn races<'a>(workloads: &'a [Workload], filter: &str) -> Vec<Race<'a>> {
    let floors: [(&'static str, MakeContenders<'a>); 8] = [
        ("encode", encode::contenders),
        ("decode", decode::contenders),
        ("view", view::contenders),
        ("json", json_read::contenders),
        ("frame/put", frame::putting),
        ("frame/take", frame::taking),
        ("framed/pipe", framed::over_a_pipe),
        ("framed/read", framed::reading),
    ];
    let mut races = Vec::new();
    for (floor, contenders) in floors {
        for workload in workloads {
            let subject = workload.name;
            if format!("{floor}/{subject}").contains(filter) {
                let (events, contenders) = (workload.events.len(), contenders(workload));
                races.push(Race { floor, subject, events, contenders });
            }
        }
    }
    races.extend(value::races(filter));
    races
}

/// A contender that appends to a buffer, which stays allocated from pass to pass.
fn writer<'a, B: AsRef<[u8]> + 'a>(
    name: &'static str,
    mut buffer: B,
    mut write_all: impl FnMut(&mut B) + 'a,
    check: impl Fn(&[u8]),
) -> Contender<'a> {
    write_all(&mut buffer);
    check(buffer.as_ref());
    let bytes = buffer.as_ref().len();
    Contender::new(name, bytes, move || {
        write_all(&mut buffer);
        black_box(buffer.as_ref());
    })
}

/// A contender that reads one input after the other, and drops what it read where it is.
fn reader<'a, I: AsRef<[u8]> + ?Sized + 'a, T>(
    name: &'static str,
    inputs: Vec<&'a I>,
    mut read: impl FnMut(&'a I) -> T + 'a,
) -> Contender<'a> {
    let bytes = inputs.iter().map(|input| (*input).as_ref().len()).sum();
    Contender::new(name, bytes, move || {
        for input in &inputs {
            let read = read(black_box(input));
            black_box(&read);
        }
    })
}

/// The events of a body of frames.
fn events_of_frames(frames: &[u8]) -> Vec<Event> {
    let (mut reader, mut buffer) = (EventReader::new(), BytesMut::from(frames));
    let mut events = Vec::new();
    while let Some(decoded) = reader.next_event(&mut buffer).expect("frames of ours") {
        events.extend(decoded.event);
    }
    reader.finish(&buffer).expect("whole frames");
    events
}

/// The events of a body of server-sent events.
fn events_of_sse(sse: &[u8]) -> Vec<Event> {
    let sse = str::from_utf8(sse).expect("UTF-8");
    let bodies = sse.split_terminator("\n\n").map(|event| {
        let json = event.strip_prefix("data: ").expect("one line of data");
        Event::from_json(json).expect("an event")
    });
    bodies.collect()
}

/// Stops at the first event that is not the one it should be.
fn check_same(name: &str, found: &[Event], expected: &[Event]) {
    assert_eq!(found.len(), expected.len(), "{name}: events");
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!(found, expected, "{name}");
    }
}
