//! Reading sessions: what is counted of each event, and what is kept of all of them.

use std::collections::BTreeMap;
use std::path::Path;

use ag_ui_proto::codec::{Decoded, Limits, decode_payload, encode_frame};
use ag_ui_proto::fidelity::{Checker, Kind, Report as Found};
use ag_ui_proto::{Event, EventType};
use bytes::BytesMut;

use super::anatomy::Anatomy;
use super::pace::Pace;
use super::sample::Sample;
use super::simulation::{OnLinks, Simulation};
use super::sizes::{Costs, Sizer, Sizes};
use super::timing::Speed;
use crate::args::{Compare, Source};
use crate::failure::Failure;
use crate::frames::Frames;
use crate::input::Input;
use crate::items::Items;
use crate::read::{Fault, Reader, text_of, told};
use crate::report::{Report, count};

/// Faults of a file that are told one by one, and dropped events.
const MAX_TOLD: u64 = 10;

/// All that was found in all files.
pub(crate) struct Comparison {
    pub(crate) files: Vec<File>,
    pub(crate) total: Sizes,
    pub(crate) by_type: BTreeMap<EventType, Sizes>,
    pub(crate) costs: Costs,
    pub(crate) anatomy: Anatomy,
    pub(crate) losses: Losses,
    pub(crate) pace: Pace,
    /// What was measured; nothing if there was nothing to time, or nobody asked.
    pub(crate) speed: Option<Speed>,
}

/// What was found in one file.
#[derive(Clone, Debug, Default)]
pub(crate) struct File {
    pub(crate) name: String,
    pub(crate) sizes: Sizes,
    /// What the session takes on the links that somebody asked for.
    pub(crate) on_links: OnLinks,
    /// Events of a type that this version does not know: neither form is counted.
    pub(crate) dropped: u64,
    /// What was no event, or cannot be encoded.
    pub(crate) failed: u64,
    /// Whether its events told a time that the agent took.
    pub(crate) is_paced: bool,
    /// Whether the file could be read to its end.
    pub(crate) is_whole: bool,
}

/// What `check` says, by kind.
#[derive(Clone, Debug, Default)]
pub(crate) struct Losses {
    /// Events that were checked: those that came as JSON.
    pub(crate) checked: u64,
    pub(crate) kinds: BTreeMap<Kind, Loss>,
}

/// How often a kind of difference came, and where first.
#[derive(Clone, Debug)]
pub(crate) struct Loss {
    pub(crate) times: u64,
    pub(crate) file: String,
    pub(crate) line: u64,
}

impl Comparison {
    pub(crate) fn new() -> Self {
        Self {
            files: Vec::new(),
            total: Sizes::default(),
            by_type: BTreeMap::new(),
            costs: Costs::default(),
            anatomy: Anatomy::new(),
            losses: Losses::default(),
            pace: Pace::default(),
            speed: None,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.total.events == 0
    }

    pub(crate) fn dropped(&self) -> u64 {
        self.files.iter().map(|file| file.dropped).sum()
    }

    pub(crate) fn failed(&self) -> u64 {
        self.files.iter().map(|file| file.failed).sum()
    }

    /// The sizes of the sessions that the agent's time is that of.
    pub(crate) fn paced(&self) -> Sizes {
        let mut sizes = Sizes::default();
        self.files.iter().filter(|file| file.is_paced).for_each(|file| sizes.add(&file.sizes));
        sizes
    }

    /// In how many of how many sessions the agent's time is told, unless it is in all.
    pub(crate) fn paced_in(&self) -> Option<String> {
        let files: Vec<_> = self.files.iter().filter(|file| file.sizes.events > 0).collect();
        let paced = files.iter().filter(|file| file.is_paced).count();
        (paced < files.len()).then(|| format!("{paced} of {} sessions", files.len()))
    }

    /// Milliseconds that the agent took for all sessions, if all tell.
    pub(crate) fn pace_of_all(&self) -> Option<u64> {
        self.pace.millis().filter(|_| self.paced_in().is_none())
    }

    /// Whether all of every file was read and compared, but for dropped events.
    pub(crate) fn is_sound(&self) -> bool {
        self.files.iter().all(|file| file.is_whole && file.failed == 0)
    }
}

impl Losses {
    fn add(&mut self, found: &Found, file: &str, line: u64) {
        // What is no event in JSON either is told as a failure, and is no loss of protobuf's.
        if found.differences.iter().any(|difference| difference.kind == Kind::Malformed) {
            return;
        }
        self.checked += 1;
        for difference in &found.differences {
            let first = || Loss { times: 0, file: file.to_owned(), line };
            self.kinds.entry(difference.kind).or_insert_with(first).times += 1;
        }
    }

    /// The kinds that lose meaning which JSON keeps.
    pub(crate) fn meaningful(&self) -> impl Iterator<Item = (Kind, &Loss)> {
        let all = self.kinds.iter().map(|(kind, loss)| (*kind, loss));
        all.filter(|(kind, _)| harm(*kind) == LOSES_MEANING)
    }
}

/// What [`harm`] says of the kinds that protobuf alone loses.
pub(crate) const LOSES_MEANING: &str = "loses meaning";

/// What a kind of difference does.
pub(crate) fn harm(kind: Kind) -> &'static str {
    match kind {
        kind if kind.is_harmless() => "harmless",
        // Of a member that is given twice, readers of JSON take one, too.
        Kind::DuplicateKey => "lost in JSON, too",
        _ => LOSES_MEANING,
    }
}

/// Reads the file at `path` into the comparison, and keeps events for timing.
///
/// What is no event is told and passed over, as is an event of an unknown type. Damage ends the file,
/// and is told as well.
///
/// # Errors
///
/// A file that cannot be opened or read.
pub(crate) fn read(
    args: &Compare,
    path: &Path,
    comparison: &mut Comparison,
    sample: &mut Sample,
) -> Result<(), Failure> {
    let input = Input::open(path)?;
    let report = Report::new(&input, false);
    let mut file = File { name: input.name().to_owned(), ..File::default() };
    let mut session = Session::begin(args, comparison, sample)?;
    let mut source = Events::new(input, args);
    let ended = loop {
        match source.next(&report, &mut session.comparison.losses) {
            Ok(Some(Read { place, event, warnings })) => {
                let added = match event {
                    Ok(Some(event)) => session.add(&event),
                    Ok(None) => {
                        file.dropped += 1;
                        for warning in warnings.iter().filter(|_| file.dropped <= MAX_TOLD) {
                            report.warning(format!("{}{place}", file.name), warning);
                        }
                        Ok(())
                    }
                    Err(reason) => Err(reason),
                };
                if let Err(reason) = added {
                    file.failed += 1;
                    if file.failed <= MAX_TOLD {
                        report.error(format!("{}{place}: {reason}", file.name));
                    }
                }
            }
            Ok(None) => break Ok(true),
            Err(Failure::Data(text)) => {
                report.error(text);
                break Ok(false);
            }
            Err(failure) => break Err(failure),
        }
    };
    report.clear();
    let more = |all: u64| all.checked_sub(MAX_TOLD).filter(|more| *more > 0);
    if let Some(more) = more(file.dropped) {
        report.warning(&file.name, format!("{} more of an unknown type", count(more, "event")));
    }
    if let Some(more) = more(file.failed) {
        report.error(format!("{}: {} more of the kind", file.name, count(more, "fault")));
    }
    file.is_whole = ended?;
    session.end(file)
}

/// One event of an input, with its place as it stands behind the name of the input.
struct Read {
    place: String,
    /// The event; nothing if it is of an unknown type; or why there is none.
    event: Result<Option<Event>, String>,
    /// What a reader says of it.
    warnings: Vec<String>,
}

/// The events of an input, in whatever form.
enum Events {
    Json { items: Box<Items>, reader: Reader, checker: Checker },
    Frames { frames: Frames, limits: Limits },
}

impl Events {
    fn new(input: Input, args: &Compare) -> Self {
        let limits = args.limits.limits();
        match args.from.map(Source::form) {
            Some(None) => Self::Frames { frames: Frames::new(input, limits), limits },
            form => Self::Json {
                items: Box::new(Items::new(input, form.flatten(), &args.limits).or_frames()),
                reader: Reader::new(limits.max_depth(), false),
                checker: Checker::new().with_max_depth(limits.max_depth()),
            },
        }
    }

    fn next(&mut self, report: &Report, losses: &mut Losses) -> Result<Option<Read>, Failure> {
        let progress = |input: &Input| {
            report.progress(input.taken());
            Ok(())
        };
        match self {
            Self::Json { items, reader, checker } => {
                let Some(item) = items.next(progress)? else { return Ok(None) };
                if let Ok(text) = text_of(&item) {
                    losses.add(&checker.check(text), items.input.name(), item.place.line);
                }
                let mut warnings = Vec::new();
                let (line, event) = match reader.read(&item, &mut warnings) {
                    Ok(event) => (item.place.line, Ok(event)),
                    Err(Fault { line, reason }) => (line, Err(reason)),
                };
                Ok(Some(Read { place: format!(":{line}"), event, warnings }))
            }
            Self::Frames { frames, limits } => {
                let Some(frame) = frames.next(progress)? else { return Ok(None) };
                let place = format!(": frame {} at byte {}", frame.number, frame.offset);
                let (event, warnings) = match decode_payload(&frame.payload, limits) {
                    Ok(Decoded { event, notices, .. }) => {
                        let warnings = notices.iter().map(|notice| told(notice, event.as_ref()));
                        let warnings = warnings.collect();
                        (Ok(event), warnings)
                    }
                    Err(error) => (Err(error.to_string()), Vec::new()),
                };
                Ok(Some(Read { place, event, warnings }))
            }
        }
    }
}

/// A session on its way into the comparison.
struct Session<'c> {
    limits: Limits,
    comparison: &'c mut Comparison,
    sample: &'c mut Sample,
    sizer: Sizer,
    simulation: Simulation,
    sse: Vec<u8>,
    frame: BytesMut,
}

/// What server-sent events put before and behind the JSON of an event.
const SSE: [&[u8]; 2] = [b"data: ", b"\n\n"];

impl<'c> Session<'c> {
    fn begin(
        args: &Compare,
        comparison: &'c mut Comparison,
        sample: &'c mut Sample,
    ) -> Result<Self, Failure> {
        let limits = args.limits.limits();
        let sizer = Sizer::new().map_err(|error| compressor(&error))?;
        let simulation = Simulation::new(&args.links, args.pace, limits);
        let simulation = simulation.map_err(|error| compressor(&error))?;
        let (sse, frame) = (Vec::new(), BytesMut::new());
        Ok(Self { limits, comparison, sample, sizer, simulation, sse, frame })
    }

    /// Counts an event in both forms, or says why it has not both.
    fn add(&mut self, event: &Event) -> Result<(), String> {
        let event_type = event.event_type();
        self.frame.clear();
        self.sse.clear();
        let [before, behind] = SSE;
        encode_frame(event, &self.limits, &mut self.frame).map_err(|error| error.to_string())?;
        self.sse.extend_from_slice(before);
        serde_json::to_writer(&mut self.sse, event).map_err(|error| error.to_string())?;
        self.sse.extend_from_slice(behind);
        self.sizer
            .add(event_type, &self.sse, &self.frame)
            .map_err(|error| format!("cannot be compressed: {error}"))?;
        self.simulation
            .add(event, self.sse.len())
            .map_err(|error| format!("cannot be sent: {error}"))?;
        let json = self.sse.get(before.len()..self.sse.len() - behind.len()).unwrap_or_default();
        self.comparison.anatomy.add(json, before.len() + behind.len(), &self.frame);
        self.comparison.pace.see(event);
        self.sample.add(event_type, &self.sse, &self.frame);
        Ok(())
    }

    fn end(self, mut file: File) -> Result<(), Failure> {
        let (by_type, costs) = self.sizer.finish().map_err(|error| compressor(&error))?;
        file.on_links = self.simulation.finish().map_err(|error| compressor(&error))?;
        file.is_paced = self.comparison.pace.end_session();
        for (event_type, sizes) in by_type {
            file.sizes.add(&sizes);
            self.comparison.by_type.entry(event_type).or_default().add(&sizes);
        }
        self.comparison.total.add(&file.sizes);
        self.comparison.costs.add(&costs);
        self.comparison.files.push(file);
        Ok(())
    }
}

fn compressor(error: &std::io::Error) -> Failure {
    Failure::Trouble(format!("a compressor fails: {error}"))
}
