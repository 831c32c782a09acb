//! The command line.

#[cfg(feature = "cli-http")]
mod http;
mod pace;

use std::path::PathBuf;
use std::time::Duration;

use ag_ui_proto::codec::{HEADER_LEN, Limits};
use ag_ui_proto::fidelity::Kind;
use ag_ui_proto::value::MAX_DEPTH;
use clap::builder::RangedU64ValueParser;
use clap::{Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

#[cfg(feature = "cli-http")]
pub(crate) use self::http::{Bounds, Bridge, Listen, Run, Serve};
pub(crate) use self::pace::Pace;

const STATUS: &str = "\
Exit status: 0 if all is well, 1 if the data is bad, 2 for wrong usage or a file that cannot be \
read or written.";

/// AG-UI events between JSON and the frames of the protobuf binding
///
/// Results go to standard output, everything else to standard error. What came before a bad item
/// has been written. Memory does not grow with the input, unless a command says so.
#[derive(Debug, Parser)]
#[command(name = "ag-ui-proto", version, max_term_width = 100, after_help = STATUS)]
#[command(arg_required_else_help = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Encode(Encode),
    Decode(Decode),
    Inspect(Inspect),
    Check(Check),
    Roundtrip(Roundtrip),
    Compare(Compare),
    Verify(Verify),
    Apply(Apply),
    Compact(Compact),
    Lineage(Lineage),
    #[cfg(feature = "cli-http")]
    Serve(Serve),
    #[cfg(feature = "cli-http")]
    Run(Run),
    #[cfg(feature = "cli-http")]
    Bridge(Bridge),
    /// Print a script that completes this program's words in a shell
    #[command(hide = true)]
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page of the program, or of one of its commands
    #[command(hide = true)]
    Man {
        /// The command
        command: Option<String>,
    },
}

/// Turn events in JSON into frames
///
/// The input is JSON lines, a JSON array, or a captured body of server-sent events, told apart by
/// its first bytes. A JSON value may span lines. Retired shapes of protocol 0.x are read as their
/// present forms; an event of an unknown type is dropped; what the wire has no place for is left
/// out. Each of these is told as a warning.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ag-ui-proto encode session.jsonl -o session.frames
  curl -sN -d @input.json -H 'Content-Type: application/json' -H 'Accept: text/event-stream' \\
    $AGENT | ag-ui-proto encode -o s.frames
  ag-ui-proto encode --strict events.json -o events.frames")]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line are")]
pub(crate) struct Encode {
    /// Events in JSON; `-` or nothing for standard input
    #[arg(value_name = "FILE", default_value = "-", hide_default_value = true)]
    pub(crate) input: PathBuf,
    /// Where the frames go; `-` or nothing for standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// The form of the input, instead of finding out
    #[arg(long, value_name = "FORM")]
    pub(crate) from: Option<Form>,
    /// Refuse an event that would not arrive with all its meaning, as `check` tells it
    #[arg(long)]
    pub(crate) strict: bool,
    /// Refuse what this version of the protocol does not describe, retired shapes included
    #[arg(long)]
    pub(crate) validate: bool,
    /// Let the exact text of each number that no double is travel beside the double; an official
    /// decoder sees the double, `decode --exact-numbers` the exact number
    #[arg(long)]
    pub(crate) exact_numbers: bool,
    /// Say at the end how many events and bytes there were, even if nobody watches
    #[arg(long)]
    pub(crate) summary: bool,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// Turn frames into events in JSON
///
/// An event of a later version of the protocol is dropped and told as a warning. A frame that is
/// no event ends the work, unless `--keep-going` is given.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ag-ui-proto decode session.frames | jq -r 'select(.type == \"TEXT_MESSAGE_CONTENT\").delta'
  ag-ui-proto decode session.frames --to array -o session.json
  curl -sN -H 'Accept: application/vnd.ag-ui.event+proto, text/event-stream' ... | ag-ui-proto decode")]
pub(crate) struct Decode {
    /// Frames; `-` or nothing for standard input
    #[arg(value_name = "FILE", default_value = "-", hide_default_value = true)]
    pub(crate) input: PathBuf,
    /// Where the events go; `-` or nothing for standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// The form of the output
    #[arg(long, value_name = "FORM", default_value = "jsonl")]
    pub(crate) to: Form,
    /// Write one item for every frame: the event, {"error": "..."} for a frame that is no event, or
    /// {"dropped": "..."} for an event of a later version
    #[arg(long)]
    pub(crate) keep_going: bool,
    /// Give each number as it was written, if its exact text travels along
    #[arg(long)]
    pub(crate) exact_numbers: bool,
    /// Say at the end how many events and bytes there were, even if nobody watches
    #[arg(long)]
    pub(crate) summary: bool,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// Show each frame on a line
///
/// The columns: number from 1, offset of the first byte, length in bytes with the 4 bytes of the
/// header, type, ids, and a short look at the content. Control characters are escaped. Long ids
/// are cut in the middle. Damaged input is shown up to the damage.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ag-ui-proto inspect session.frames | less -S
  ag-ui-proto inspect --json session.frames | jq -c 'select(.len > 10000)'")]
pub(crate) struct Inspect {
    /// Frames; `-` or nothing for standard input
    #[arg(value_name = "FILE", default_value = "-", hide_default_value = true)]
    pub(crate) input: PathBuf,
    /// Write a JSON object a frame, with the ids in full
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// Encode events and decode them again, and say what changed
///
/// For every file: its events, their bytes as server-sent events and as frames, and whether each
/// event came back as the same JSON value. A change in form only, an empty list for an absent one
/// or 1 for 1.0, is told and does no harm; with any other the exit status is 1.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ag-ui-proto roundtrip samples/chat.jsonl
  ag-ui-proto roundtrip --json samples/*.jsonl samples/*.sse | jq .ratio")]
pub(crate) struct Roundtrip {
    /// Events in JSON, as `encode` takes them; `-` or nothing for standard input
    #[arg(value_name = "FILE", default_value = "-", hide_default_value = true)]
    pub(crate) inputs: Vec<PathBuf>,
    /// The form of the input, instead of finding out
    #[arg(long, value_name = "FORM")]
    pub(crate) from: Option<Form>,
    /// Write a JSON object a file
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// Say what protobuf would change, before anything is sent
///
/// One line a difference: place, type, JSON Pointer, kind, the value in JSON and the value that
/// arrives. Then how often each kind came, by path, with `*` for indexes and ids. The exit status
/// is 1 if any event would lose meaning.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Kinds that lose meaning: integer-precision, decimal-precision, duplicate-key, unknown-member,
unknown-part, patch-extension, outcome-payload, unknown-event-type, retired-member
Kinds that cannot be encoded: out-of-range, unknown-operation, lone-surrogate, too-deep, malformed
Harmless kinds: number-form, empty-list, absent-list, absent-id, retired-shape

Examples:
  ag-ui-proto check session.jsonl
  ag-ui-proto check --summary --all session.jsonl
  ag-ui-proto check --json session.jsonl | jq -r .path | sort | uniq -c")]
pub(crate) struct Check {
    /// Events in JSON, as `encode` takes them; `-` or nothing for standard input
    #[arg(value_name = "FILE", default_value = "-", hide_default_value = true)]
    pub(crate) input: PathBuf,
    /// Where the lines go; `-` or nothing for standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// The form of the input, instead of finding out
    #[arg(long, value_name = "FORM")]
    pub(crate) from: Option<Form>,
    /// Write a JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
    /// Leave out a kind, or all `harmless` ones; may be given more than once
    #[arg(long, value_name = "KIND", default_value = "harmless", value_parser = ignored)]
    pub(crate) ignore: Vec<Ignored>,
    /// Leave out nothing
    #[arg(long, conflicts_with = "ignore")]
    pub(crate) all: bool,
    /// Only say how often each kind came
    #[arg(long)]
    pub(crate) summary: bool,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// Weigh JSON against protobuf on recorded sessions
///
/// What the numbers say comes first, with JSON's advantages at the top. Then bytes in all and by event
/// type, as server-sent events and as frames, uncompressed and under gzip, br and zstd with a flush
/// after every event; what the bytes are; time to write and to read; what protobuf would change.
/// Several files are several sessions: each has compressors of its own.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ag-ui-proto compare session.jsonl
  ag-ui-proto compare samples/*.jsonl samples/*.sse --html report.html
  ag-ui-proto compare --from frames session.frames
  ag-ui-proto compare --link 2k --link 32k session.jsonl
  ag-ui-proto compare --json --rounds 0 session.jsonl | jq .bytes")]
pub(crate) struct Compare {
    /// Recorded sessions, as `encode` takes them; `-` or nothing for standard input
    #[arg(value_name = "FILE", default_value = "-", hide_default_value = true)]
    pub(crate) inputs: Vec<PathBuf>,
    /// The form of all inputs, instead of finding out; frames are not found out
    #[arg(long, value_name = "FORM")]
    pub(crate) from: Option<Source>,
    /// Write a page with plots to this file as well; with `-`, to standard output and nothing else
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Write a JSON object; COMPARE.md names its members
    #[arg(long)]
    pub(crate) json: bool,
    /// Also send the events over a link of so many bits a second, as in `2k`, by the clock of the
    /// session: each event flushed, and merged while the link is busy; may be given up to 32 times
    #[arg(long = "link", value_name = "BITS", value_delimiter = ',')]
    #[arg(value_parser = pace::bit_rate, allow_negative_numbers = true)]
    pub(crate) links: Vec<u64>,
    /// When the events for `--link` are there: `recorded` by the timestamps, `none` for all at once,
    /// or a time before each, as in `33ms`
    #[arg(long, value_name = "PACE", default_value = "recorded", value_parser = pace::pace)]
    #[arg(requires = "links", allow_hyphen_values = true)]
    pub(crate) pace: Pace,
    /// How long to measure time, after reading
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = seconds)]
    #[arg(allow_negative_numbers = true)]
    pub(crate) seconds: Duration,
    /// How many rounds to measure time, instead of `--seconds`; 0 leaves it out
    #[arg(long, value_name = "ROUNDS", conflicts_with = "seconds", allow_negative_numbers = true)]
    pub(crate) rounds: Option<u32>,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// Say whether a stream keeps the rules between its events
///
/// One line for each run with the place of its first event, how it ended and how many events it had;
/// one line for the first event that breaks a rule or is malformed, where the stream ends; and one
/// line for all. The exit status is 1 if there was such an event, or if the stream was cut before its
/// last run ended. A run that fails and says so is no fault of the stream. Memory grows with the items
/// that the present run has named, not with what they hold; with `--producer` also with the messages,
/// the state and the number of runs.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A run ends as one of: success, interrupted, cancelled, failed, rejected, truncated
The rule stands in parentheses: C for chunks, L for the life of runs, S for streamed items, G for
subagents.

With `--producer`, what breaks no stream is a line, too, and then the exit status is 1: what a consumer
would be warned of, and the rules that are asked of producers alone, of each thread for itself. T stands for tool calls, I for
interrupts, ID for ids that are used twice.

Examples:
  ag-ui-proto verify session.jsonl
  ag-ui-proto verify --producer session.jsonl
  ag-ui-proto verify --from frames session.frames")]
pub(crate) struct Verify {
    /// A recorded stream; `-` or nothing for standard input
    #[arg(value_name = "FILE", default_value = "-", hide_default_value = true)]
    pub(crate) input: PathBuf,
    /// The form of the input, instead of finding out; frames are not found out
    #[arg(long, value_name = "FORM")]
    pub(crate) from: Option<Source>,
    /// Hold the stream also to what the protocol asks of producers alone
    #[arg(long)]
    pub(crate) producer: bool,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// Say what a stream comes to: its messages, the state, what waits, how it ended
///
/// A log of several threads is several conversations: each comes to a result of its own, in the order
/// in which the threads first come. An event belongs to the thread of the run that started last. What
/// came before an event that breaks a rule, and before the end of a stream that was cut, stands, and the
/// exit status is 1; other threads go on, but for input that is no event, which may be of any. A run that fails and says so is 0. Memory grows with the
/// messages, the state and the number of events; what patches of the state copy has a bound for all
/// threads.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The members of `--json`, an object a thread: threadId, outcome (completed, failed if the stream was
refused, truncated), error (why it was refused), runError (the message of the last RUN_ERROR),
eventTypes (as delivered, chunks expanded), messages, state, runs, interrupts (those that are open),
pendingToolCallIds (calls of the last run without a result), warnings. A run has threadId, runId,
parentRunId, outcome (success, interrupted, cancelled, failed, truncated, rejected), result, interrupts,
error, code, pendingToolCallIds, usage. What has no value is absent.

Examples:
  ag-ui-proto apply session.jsonl
  ag-ui-proto apply --thread t-1 log.jsonl
  ag-ui-proto apply --json session.jsonl | jq '.messages[-1].content'")]
pub(crate) struct Apply {
    /// A recorded stream; `-` or nothing for standard input
    #[arg(value_name = "FILE", default_value = "-", hide_default_value = true)]
    pub(crate) input: PathBuf,
    /// The form of the input, instead of finding out; frames are not found out
    #[arg(long, value_name = "FORM")]
    pub(crate) from: Option<Source>,
    /// Only the thread with this id
    #[arg(long, value_name = "ID")]
    pub(crate) thread: Option<String>,
    /// Write a JSON object a thread, each on one line
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// Make a recorded stream smaller without changing what it comes to
///
/// Chunks are expanded, an item of one chunk to three events; the deltas of an item become one, as do the state events of a run from its
/// last snapshot on. What this version does not describe is stripped, and
/// told as a warning. What was left out of events that became one is counted on standard error, and what
/// was saved is said there. Every start, end and other event stays where it is: runs do not
/// become snapshots, so that each point of the log can still be gone back to. Memory grows with the messages, and with a run once it is
/// compacted, not with the number of deltas. If an event breaks a rule, what came before it is
/// written, and the exit status is 1.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ag-ui-proto compact session.jsonl -o smaller.jsonl
  ag-ui-proto compact session.jsonl --to frames -o smaller.frames
  ag-ui-proto compact session.jsonl --timestamps none --raw-events none")]
pub(crate) struct Compact {
    /// A recorded stream; `-` or nothing for standard input
    #[arg(value_name = "FILE", default_value = "-", hide_default_value = true)]
    pub(crate) input: PathBuf,
    /// Where the events go; `-` or nothing for standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// The form of the input, instead of finding out; frames are not found out
    #[arg(long, value_name = "FORM")]
    pub(crate) from: Option<Source>,
    /// The form of the output
    #[arg(long, value_name = "FORM", default_value = "jsonl")]
    pub(crate) to: Source,
    /// Which timestamps stay
    #[arg(long, value_name = "WHICH", default_value = "own")]
    pub(crate) timestamps: Keep,
    /// Which `rawEvent`s stay
    #[arg(long, value_name = "WHICH", default_value = "own")]
    pub(crate) raw_events: Keep,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// Which timestamps or `rawEvent`s stay when events become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Keep {
    /// All: an event that has one does not go into another
    All,
    /// Those of events that stay as they are; of events that become one, the first timestamp (of state
    /// events, that of the snapshot) and no `rawEvent`
    Own,
    /// None
    None,
}

/// Show which run of a log goes on from which
///
/// One line a run: id, thread, number of events, and how it ended. A root begins with `*`; `|` goes
/// on from the run above it in its column; `+`, further in, is a branch of that run. The branch with
/// the most runs keeps the column. A parent that is not found before the run is told, as is an id that
/// an earlier run of the thread has. A parent is a run of the same thread, or else of the only other
/// thread that has such a run. Rules are not asked for: see `verify`. Memory grows with the number of runs.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A run ends as one of: success, interrupted, cancelled, failed, truncated
The members of `--json`: runs, a list in the order of the log, each with threadId, runId,
parentRunId, parent (which run of the list that is, from 0), follows (which one it goes on from),
events, outcome; tips, the runs of the list
that no other follows; before, how many events come before the first run.

Examples:
  ag-ui-proto lineage log.jsonl
  ag-ui-proto lineage --json log.jsonl | jq '.runs[] | select(.outcome == \"failed\")'")]
pub(crate) struct Lineage {
    /// A recorded stream; `-` or nothing for standard input
    #[arg(value_name = "FILE", default_value = "-", hide_default_value = true)]
    pub(crate) input: PathBuf,
    /// The form of the input, instead of finding out; frames are not found out
    #[arg(long, value_name = "FORM")]
    pub(crate) from: Option<Source>,
    /// What `parentRunId` means: the run that a run goes on from, or the run that launched it
    #[arg(long, value_name = "MEANING", default_value = "branch")]
    pub(crate) parent: Parent,
    /// Write one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// What `parentRunId` means in a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Parent {
    /// The run goes on from there
    Branch,
    /// That run launched this one, which goes on from the run before it in its thread
    Spawn,
}

/// A form of many events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Source {
    /// One JSON value after another, by custom one a line
    Jsonl,
    /// A JSON array of events
    Array,
    /// Server-sent events
    Sse,
    /// Frames
    Frames,
}

impl Source {
    /// The form as text; frames have none.
    pub(crate) fn form(self) -> Option<Form> {
        match self {
            Self::Jsonl => Some(Form::Jsonl),
            Self::Array => Some(Form::Array),
            Self::Sse => Some(Form::Sse),
            Self::Frames => None,
        }
    }
}

/// What `check` leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ignored {
    Harmless,
    Kind(Kind),
}

fn ignored(name: &str) -> Result<Ignored, String> {
    if name == "harmless" {
        return Ok(Ignored::Harmless);
    }
    let kind = Kind::ALL.iter().find(|kind| kind.as_str() == name);
    kind.map(|kind| Ignored::Kind(*kind)).ok_or_else(|| "no such kind; see `--help`".to_owned())
}

/// A form of many events as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// One JSON value after another, by custom one a line
    Jsonl,
    /// A JSON array of events
    Array,
    /// Server-sent events
    Sse,
}

#[derive(Debug, clap::Args)]
pub(crate) struct LimitArgs {
    /// Longest frame, its 4-byte header included, as in `64KiB` or `1GiB`; the JSON text of an
    /// event may be four times as long
    #[arg(long, value_name = "SIZE", default_value = "10MiB", value_parser = size)]
    max_frame: usize,
    /// Deepest nesting of an event's JSON, at most 512
    #[arg(long, value_name = "LEVELS", default_value_t = Limits::new().max_depth(), value_parser = depth())]
    max_depth: usize,
}

impl LimitArgs {
    pub(crate) fn limits(&self) -> Limits {
        Limits::new().with_max_frame_len(self.max_frame).with_max_depth(self.max_depth)
    }

    /// The longest JSON text of an event, in bytes. Text is longer than the frame made from it by
    /// quotes, names, escapes and white space; four times covers what is not contrived.
    pub(crate) fn max_text_len(&self) -> usize {
        self.max_frame.saturating_mul(4)
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "expected a number of seconds".to_owned())?;
    let day = 24.0 * 3600.0;
    if (0.0..=day).contains(&seconds) {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err("expected 0 to 86400 seconds".to_owned())
    }
}

fn depth() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..=u64::try_from(MAX_DEPTH).unwrap_or(u64::MAX))
}

fn size(text: &str) -> Result<usize, String> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let unit: u64 = match unit.trim_start().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kb" => 1000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        unit => {
            return Err(format!("unknown unit {unit:?}; known are B, KiB, MiB, GiB, kB, MB, GB"));
        }
    };
    let number: u64 = number.parse().map_err(|_| "expected a number of bytes".to_owned())?;
    let header = u64::try_from(HEADER_LEN).unwrap_or(u64::MAX);
    let bounds = header + 1..=u64::from(u32::MAX) + header;
    number
        .checked_mul(unit)
        .filter(|size| bounds.contains(size))
        .and_then(|size| usize::try_from(size).ok())
        .ok_or_else(|| format!("expected {} bytes to 4 GiB", bounds.start()))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_holds_no_contradiction() {
        Args::command().debug_assert();
    }

    #[test]
    fn a_size_has_a_unit() {
        for (text, len) in
            [("5", 5), ("10MiB", 10 << 20), ("64k", 64 << 10), ("2 GB", 2_000_000_000)]
        {
            assert_eq!(size(text), Ok(len), "{text}");
        }
        for (text, error) in [
            ("", "expected a number of bytes"),
            ("-1", "unknown unit \"-1\"; known are B, KiB, MiB, GiB, kB, MB, GB"),
            ("4", "expected 5 bytes to 4 GiB"),
            ("5GiB", "expected 5 bytes to 4 GiB"),
            ("99999999999999999999", "expected a number of bytes"),
        ] {
            assert_eq!(size(text), Err(error.to_owned()), "{text}");
        }
    }
    #[test]
    fn seconds_are_finite() {
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        for text in ["", "x", "NaN", "-1", "inf", "1e9"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }
}
