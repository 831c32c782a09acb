//! Running the binary, and inputs for it.

use std::path::PathBuf;

use assert_cmd::Command;

/// `TEXT_MESSAGE_END` of message `m`, and its frame.
pub(crate) const END: &str = r#"{"type":"TEXT_MESSAGE_END","messageId":"m"}"#;
pub(crate) const END_FRAME: &[u8] = b"\0\0\0\x09\x1a\x07\x0a\x02\x08\x02\x12\x01m";

/// A frame with an event of a later version, in arm 1000.
pub(crate) const FUTURE_FRAME: &[u8] = b"\0\0\0\x05\xc2\x3e\x02\x0a\x00";

/// A frame that is no event: no base.
pub(crate) const BAD_FRAME: &[u8] = b"\0\0\0\x02\x1a\x00";

/// What a run gave.
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) out: Vec<u8>,
    pub(crate) err: String,
}

impl Run {
    #[track_caller]
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.out).unwrap()
    }
}

/// Runs the binary with words and standard input.
#[track_caller]
pub(crate) fn run(words: &[&str], stdin: impl Into<Vec<u8>>) -> Run {
    let output =
        Command::cargo_bin("ag-ui-proto").unwrap().args(words).write_stdin(stdin).output().unwrap();
    Run {
        code: output.status.code().unwrap(),
        out: output.stdout,
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Runs the binary and expects it to be content and silent.
#[track_caller]
pub(crate) fn good(words: &[&str], stdin: impl Into<Vec<u8>>) -> Vec<u8> {
    let run = run(words, stdin);
    assert_eq!((run.code, run.err.as_str()), (0, ""), "{words:?}");
    run.out
}

pub(crate) fn sample(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("samples").join(name);
    path.to_str().unwrap().to_owned()
}

pub(crate) fn sample_text(name: &str) -> String {
    std::fs::read_to_string(sample(name)).unwrap()
}

/// Events as JSON lines, written in short: `start r1`, `start r2 < r1`, `open m`, `say m Hello`,
/// `close m`, `chunk m Hello`, `finish r1`, `fail`, `raw`. The thread is `t`, but for `start r1 of u`,
/// `start r2 of u < r1` and `finish r1 of u`.
#[track_caller]
pub(crate) fn session(short: &[&str]) -> String {
    let line = |words: &&str| match words.split(' ').collect::<Vec<_>>()[..] {
        ["start", run, "of", thread] => {
            format!(r#"{{"type":"RUN_STARTED","threadId":"{thread}","runId":"{run}"}}"#)
        }
        ["start", run, "of", thread, "<", parent] => format!(
            r#"{{"type":"RUN_STARTED","threadId":"{thread}","runId":"{run}","parentRunId":"{parent}"}}"#
        ),
        ["finish", run, "of", thread] => {
            format!(r#"{{"type":"RUN_FINISHED","threadId":"{thread}","runId":"{run}"}}"#)
        }
        ["start", run] => format!(r#"{{"type":"RUN_STARTED","threadId":"t","runId":"{run}"}}"#),
        ["start", run, "<", parent] => format!(
            r#"{{"type":"RUN_STARTED","threadId":"t","runId":"{run}","parentRunId":"{parent}"}}"#
        ),
        ["open", id] => {
            format!(r#"{{"type":"TEXT_MESSAGE_START","messageId":"{id}","role":"assistant"}}"#)
        }
        ["say", id, text] => {
            format!(r#"{{"type":"TEXT_MESSAGE_CONTENT","messageId":"{id}","delta":"{text}"}}"#)
        }
        ["close", id] => format!(r#"{{"type":"TEXT_MESSAGE_END","messageId":"{id}"}}"#),
        ["chunk", id, text] => {
            format!(r#"{{"type":"TEXT_MESSAGE_CHUNK","messageId":"{id}","delta":"{text}"}}"#)
        }
        ["finish", run] => {
            format!(r#"{{"type":"RUN_FINISHED","threadId":"t","runId":"{run}"}}"#)
        }
        ["fail"] => r#"{"type":"RUN_ERROR","message":"no luck"}"#.to_owned(),
        ["raw"] => r#"{"type":"RAW","event":1}"#.to_owned(),
        _ => panic!("{words} is no event"),
    };
    short.iter().map(|words| line(words) + "\n").collect()
}

/// A session in every form, with the words that say which: JSON lines, an array, SSE, frames.
pub(crate) fn in_every_form(lines: &str) -> [(&'static [&'static str], Vec<u8>); 4] {
    let array = format!("[{}]", lines.trim_end().replace('\n', ",\n"));
    let sse = in_sse(lines);
    let frames = good(&["encode"], lines);
    [
        (&[], lines.as_bytes().to_vec()),
        (&[], array.into_bytes()),
        (&[], sse.into_bytes()),
        (&["--from", "frames"], frames),
    ]
}

/// JSON lines as server-sent events.
pub(crate) fn in_sse(lines: &str) -> String {
    format!("data: {}\n\n", lines.trim_end().replace('\n', "\n\ndata: "))
}
