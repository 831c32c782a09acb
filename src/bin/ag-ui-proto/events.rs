//! The events of an input in whatever form, as a consumer of the protocol reads them.

use std::fmt;

use ag_ui_proto::Event;
use ag_ui_proto::codec::{Decoded, Limits, decode_payload};
use ag_ui_proto::model::{Notice, ReadError, TolerantReader, UnknownNames};
use ag_ui_proto::value::JsonError;

use crate::args::{LimitArgs, Source};
use crate::failure::Failure;
use crate::frames::Frames;
use crate::input::Input;
use crate::items::Items;
use crate::place::Item;
use crate::read::{Fault, fault, text_of, told};
use crate::report::Report;

/// The events of one input.
pub(crate) struct Events {
    form: Form,
    name: String,
    cut: Option<String>,
}

enum Form {
    Json { items: Box<Items>, reader: TolerantReader },
    Frames { frames: Frames, limits: Limits },
}

/// One event of an input.
pub(crate) struct Read {
    pub(crate) place: Place,
    /// The event; nothing if this version does not know it; or why there is none.
    pub(crate) event: Result<Option<Event>, String>,
    /// What was stripped, dropped or translated.
    pub(crate) notices: Vec<String>,
}

/// Where an event stands in its input: `session.jsonl:17`, `stdin: frame 12 at byte 3401`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    Line(u64),
    Frame { number: u64, offset: u64 },
}

impl Events {
    pub(crate) fn new(input: Input, from: Option<Source>, limits: &LimitArgs) -> Self {
        let name = input.name().to_owned();
        let max = limits.limits();
        let form = match from.map(Source::form) {
            Some(None) => Form::Frames { frames: Frames::new(input, max), limits: max },
            form => Form::Json {
                items: Box::new(Items::new(input, form.flatten(), limits).or_frames()),
                reader: TolerantReader::new().with_max_depth(max.max_depth()),
            },
        };
        Self { form, name, cut: None }
    }

    /// The next event, after its warnings were told. `before_read` is called before input is waited
    /// for.
    ///
    /// Input that ends inside an event is cut, not bad: then there are no more events, and
    /// [`Events::cut`] says where.
    ///
    /// # Errors
    ///
    /// Input that cannot be read, or cannot be cut into events; also what `before_read` gives.
    pub(crate) fn next(
        &mut self,
        report: &Report,
        before_read: impl FnMut() -> Result<(), Failure>,
    ) -> Result<Option<Read>, Failure> {
        let read = self.next_untold(report, before_read)?;
        if let Some(read) = &read {
            for notice in &read.notices {
                report.warning(read.place.of(&self.name), notice);
            }
        }
        Ok(read)
    }

    /// As [`Events::next`], but its warnings are the caller's to tell.
    pub(crate) fn next_untold(
        &mut self,
        report: &Report,
        mut before_read: impl FnMut() -> Result<(), Failure>,
    ) -> Result<Option<Read>, Failure> {
        self.read(|input| {
            report.progress(input.taken());
            before_read()
        })
    }

    /// Where and how the input ends inside an event, if it does.
    pub(crate) fn cut(&self) -> Option<&str> {
        self.cut.as_deref()
    }

    /// The name of the input.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Bytes read so far, and what they are.
    pub(crate) fn taken(&self) -> (u64, &'static str) {
        match &self.form {
            Form::Json { items, .. } if items.form() == Some(crate::args::Form::Sse) => {
                (items.input.taken(), "bytes of SSE")
            }
            Form::Json { items, .. } => (items.input.taken(), "bytes of JSON"),
            Form::Frames { frames, .. } => (frames.input.taken(), "bytes in frames"),
        }
    }

    fn read(
        &mut self,
        mut before_read: impl FnMut(&Input) -> Result<(), Failure>,
    ) -> Result<Option<Read>, Failure> {
        match &mut self.form {
            Form::Json { items, reader } => {
                let Some(item) = items.next(&mut before_read)? else { return Ok(None) };
                let (line, event, notices, is_unfinished) = read_text(reader, &item);
                // Only the last text of an input can be one that is cut.
                if is_unfinished && matches!(items.next(before_read), Ok(None)) {
                    let place = Place::Line(item.place.line).of(&self.name).to_string();
                    self.cut = Some(format!("{place}: truncated: input ended inside an event"));
                    return Ok(None);
                }
                Ok(Some(Read { place: Place::Line(line), event, notices }))
            }
            Form::Frames { frames, limits } => {
                let frame = match frames.next(before_read) {
                    Err(Failure::Data(reason)) if frames.is_cut() => {
                        self.cut = Some(reason);
                        return Ok(None);
                    }
                    frame => frame?,
                };
                let Some(frame) = frame else { return Ok(None) };
                let place = Place::Frame { number: frame.number, offset: frame.offset };
                let (event, notices) = match decode_payload(&frame.payload, limits) {
                    Ok(decoded) => judge(decoded),
                    Err(error) => (Err(error.to_string()), Vec::new()),
                };
                Ok(Some(Read { place, event, notices }))
            }
        }
    }
}

/// The line, the event, what is to be told of it, and whether its text ends too early.
fn read_text(
    reader: &mut TolerantReader,
    item: &Item,
) -> (u64, Result<Option<Event>, String>, Vec<String>, bool) {
    let text = match text_of(item) {
        Ok(text) => text,
        Err(Fault { line, reason }) => {
            let error = str::from_utf8(&item.text).err();
            let is_unfinished = error.is_some_and(|error| error.error_len().is_none());
            return (line, Err(reason), Vec::new(), is_unfinished);
        }
    };
    match reader.read(text) {
        Ok(enforced) => {
            let notices = tell(&enforced.notices, enforced.event.as_ref());
            (item.place.line, Ok(enforced.event), notices, false)
        }
        Err(error) => {
            let is_unfinished = matches!(&error,
                ReadError::Json(JsonError::Malformed { reason, .. }) if reason.is_eof());
            let Fault { line, reason } = fault(&error, item.place);
            (line, Err(reason), Vec::new(), is_unfinished)
        }
    }
}

/// What a consumer makes of a decoded event.
fn judge(
    Decoded { event, mut notices, .. }: Decoded,
) -> (Result<Option<Event>, String>, Vec<String>) {
    let Some(event) = event else { return (Ok(None), tell(&notices, None)) };
    let event_type = event.event_type();
    match event.enforce(UnknownNames::default()) {
        Ok(enforced) => {
            notices.extend(enforced.notices);
            let told = tell(&notices, enforced.event.as_ref());
            (Ok(enforced.event), told)
        }
        Err(fault) => (Err(format!("{event_type}: {fault}")), tell(&notices, None)),
    }
}

fn tell<'n>(notices: impl IntoIterator<Item = &'n Notice>, event: Option<&Event>) -> Vec<String> {
    notices.into_iter().map(|notice| told(notice, event)).collect()
}

impl Place {
    /// The place with the name of its input.
    pub(crate) fn of(self, name: &str) -> impl fmt::Display {
        struct Named<'n>(&'n str, Place);
        impl fmt::Display for Named<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let Self(name, place) = self;
                match place {
                    Place::Line(line) => write!(f, "{name}:{line}"),
                    Place::Frame { number, offset } => {
                        write!(f, "{name}: frame {number} at byte {offset}")
                    }
                }
            }
        }
        Named(name, self)
    }
}
