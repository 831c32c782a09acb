//! The session that every run gets: deltas with a number each.

use std::fmt::Write as _;
use std::time::Duration;

use ag_ui_proto::Event;
use ag_ui_proto::model::{
    RunFinished, RunStarted, TextMessageContent, TextMessageEnd, TextMessageStart,
};
use ag_ui_proto::negotiate::{Coding, Format};
use ag_ui_proto::stream::BodyWriter;

use super::args::Args;

pub(super) struct Session {
    pub(super) events: Vec<Event>,
    pub(super) format: Format,
    pub(super) coding: Option<Coding>,
    /// Time before each event.
    pub(super) step: Duration,
    /// Bytes of a body, not compressed.
    pub(super) body_len: usize,
}

impl Session {
    pub(super) fn new(args: &Args) -> Self {
        let message = "0199c3a2-6f0e-7c4b-9a51-3d8e5b7f2a10";
        let delta = |number: usize| {
            let mut text = format!("{number} ");
            // Not to be compressed to nothing.
            while text.len() < args.text {
                let digits = (text.len() + number) * 2_654_435_761 % 0xfff_ffff;
                write!(text, "{digits:x} ").expect("a text takes what it is given");
            }
            Event::from(TextMessageContent::new(message, text))
        };
        let mut events = vec![
            Event::from(RunStarted::new("thread-1", "run-1")),
            TextMessageStart::new(message).into(),
        ];
        events.extend((0..args.seconds * args.rate).map(delta));
        events.push(TextMessageEnd::new(message).into());
        events.push(RunFinished::new("thread-1", "run-1").into());
        let mut writer = BodyWriter::new(args.format);
        let written = events.iter().try_for_each(|event| writer.put(event).map(drop));
        written.expect("events of ours");
        let step = Duration::from_secs(1) / u32::try_from(args.rate).expect("a rate");
        let (format, coding) = (args.format, args.coding);
        Self { events, format, coding, step, body_len: writer.len() }
    }

    /// How long a run goes on.
    pub(super) fn len(&self) -> Duration {
        self.due(self.events.len())
    }

    /// When an event is due, since the run was asked for.
    pub(super) fn due(&self, number: usize) -> Duration {
        self.step * u32::try_from(number).expect("a number of events")
    }

    /// As `serve` reads it.
    pub(super) fn json_lines(&self) -> String {
        let json = |event: &Event| serde_json::to_string(event).expect("an event of ours") + "\n";
        self.events.iter().map(json).collect()
    }
}
