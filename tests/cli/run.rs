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
