//! Where results go: a file or standard output.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;

use crate::failure::Failure;
use crate::input::{Input, is_stdio};

const BUFFER_LEN: usize = 128 * 1024;

/// An open output. What it holds back is written by [`Output::flush`], at the latest.
pub(crate) struct Output {
    name: String,
    written: u64,
    writer: BufWriter<Box<dyn Write>>,
}

impl Output {
    /// Opens the file at `path` and empties it, or standard output for `-` or nothing.
    ///
    /// Call it when the input is open: a file that is being read is refused, and a wrong name of
    /// an input costs no output.
    pub(crate) fn open(path: Option<&Path>, input: &Input) -> Result<Self, Failure> {
        let Some(path) = path.filter(|path| !is_stdio(path)) else {
            return Ok(Self::stdout());
        };
        if input.is_at(path) {
            let name = path.display();
            return Err(Failure::Trouble(format!("{name}: is the input as well as the output")));
        }
        Self::create(path)
    }

    /// Opens the file at `path` and empties it.
    pub(crate) fn create(path: &Path) -> Result<Self, Failure> {
        let name = path.display().to_string();
        let file = File::create(path).map_err(|error| Failure::writing(&name, &error))?;
        Ok(Self::new(name, Box::new(file)))
    }

    /// As [`Output::open`], for what no terminal can show: it goes there only if asked for by name.
    pub(crate) fn open_binary(path: Option<&Path>, input: &Input) -> Result<Self, Failure> {
        if path.is_none() && io::stdout().is_terminal() {
            let text = "frames are binary and standard output is a terminal; \
                        write them to a file with `-o FILE`, or insist with `-o -`";
            return Err(Failure::Trouble(text.to_owned()));
        }
        Self::open(path, input)
    }

    pub(crate) fn stdout() -> Self {
        Self::new("stdout".to_owned(), Box::new(io::stdout().lock()))
    }

    fn new(name: String, writer: Box<dyn Write>) -> Self {
        Self { name, written: 0, writer: BufWriter::with_capacity(BUFFER_LEN, writer) }
    }

    /// Bytes given to this output.
    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.written += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        self.writer.write_all(bytes).map_err(|error| Failure::writing(&self.name, &error))
    }

    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        self.writer.flush().map_err(|error| Failure::writing(&self.name, &error))
    }
}
