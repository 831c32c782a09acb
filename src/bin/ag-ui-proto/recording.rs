//! A recorded session, in memory.

use std::path::Path;

use ag_ui_proto::Event;
use ag_ui_proto::codec::{Decoded, Limits, Options};
use ag_ui_proto::sse;
use bytes::BytesMut;

use crate::args::{Form, LimitArgs, Source};
use crate::failure::Failure;
use crate::frames::Frames;
use crate::input::Input;
use crate::items::Items;
use crate::read::{Fault, Reader, told};
use crate::report::Report;

/// Reads all events of the file at `path`, and sees that each can be sent in either binding. What
/// is dropped from them is told as a warning.
pub(crate) fn read(
    path: &Path,
    from: Option<Source>,
    limits: &LimitArgs,
    report: &Report,
) -> Result<Vec<Event>, Failure> {
    let input = Input::open(path)?;
    match from {
        Some(Source::Frames) => read_frames(input, limits.limits(), report),
        from => read_texts(input, from.and_then(Source::form), limits, report),
    }
}

fn read_frames(input: Input, limits: Limits, report: &Report) -> Result<Vec<Event>, Failure> {
    let options = Options::from(limits);
    let mut frames = Frames::new(input, limits);
    let mut events = Vec::new();
    while let Some(frame) = frames.next(|_| Ok(()))? {
        let place = || frames.place(&frame);
        let fault = |reason: String| Failure::Data(format!("{}: {reason}", place()));
        let Decoded { event, notices, .. } =
            options.decode(&frame.payload).map_err(|error| fault(error.to_string()))?;
        for notice in notices {
            report.warning(place(), told(&notice, event.as_ref()));
        }
        let Some(event) = event else { continue };
        for notice in sendable(&event, limits).map_err(fault)? {
            report.warning(place(), notice);
        }
        events.push(event);
    }
    Ok(events)
}

fn read_texts(
    input: Input,
    form: Option<Form>,
    limits: &LimitArgs,
    report: &Report,
) -> Result<Vec<Event>, Failure> {
    let max = limits.limits();
    let mut items = Items::new(input, form, limits).or_frames();
    let mut reader = Reader::new(max.max_depth(), false);
    let (mut events, mut warnings) = (Vec::new(), Vec::new());
    while let Some(item) = items.next(|_| Ok(()))? {
        let place = |line: u64| format!("{}:{line}", items.input.name());
        let fault = |Fault { line, reason }| Failure::Data(format!("{}: {reason}", place(line)));
        let event = reader.read(&item, &mut warnings).map_err(fault)?;
        if let Some(event) = event {
            let line = item.place.line;
            let left_out = sendable(&event, max).map_err(|reason| fault(Fault { line, reason }))?;
            warnings.extend(left_out);
            events.push(event);
        }
        for warning in warnings.drain(..) {
            report.warning(place(item.place.line), warning);
        }
    }
    Ok(events)
}

/// What protobuf has no place for in an event, or why it cannot be sent.
fn sendable(event: &Event, limits: Limits) -> Result<Vec<String>, String> {
    let mut bytes = BytesMut::new();
    sse::encode_event(event, &limits, &mut bytes).map_err(|error| error.to_string())?;
    let notices =
        Options::from(limits).encode_frame(event, &mut bytes).map_err(|error| error.to_string())?;
    Ok(notices.iter().map(|notice| told(notice, Some(event))).collect())
}
