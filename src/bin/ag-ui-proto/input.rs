//! Where bytes come from: a file or standard input, one read at a time.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use bytes::BytesMut;

use crate::failure::Failure;

/// Bytes asked for in one read.
const PART_LEN: usize = 128 * 1024;

/// An open input.
pub(crate) struct Input {
    name: String,
    /// Which file it is, if it is a regular one.
    identity: Option<Identity>,
    len: Option<u64>,
    taken: u64,
    reader: Box<dyn Read>,
    part: Box<[u8]>,
}

impl Input {
    /// Opens the file at `path`, or standard input for `-`.
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        if is_stdio(path) {
            let identity = stdin_metadata().as_ref().and_then(identity);
            let stdin = Self::new("stdin".to_owned(), Box::new(io::stdin().lock()));
            return Ok(Self { identity, ..stdin });
        }
        let name = path.display().to_string();
        let refused = |error: &dyn std::fmt::Display| {
            Failure::Trouble(format!("{name}: cannot be read: {error}"))
        };
        let file = File::open(path).map_err(|error| refused(&error))?;
        let data = file.metadata().map_err(|error| refused(&error))?;
        if data.is_dir() {
            return Err(refused(&"it is a directory"));
        }
        let len = data.is_file().then_some(data.len());
        Ok(Self { identity: identity(&data), len, ..Self::new(name, Box::new(file)) })
    }

    fn new(name: String, reader: Box<dyn Read>) -> Self {
        let part = vec![0; PART_LEN].into_boxed_slice();
        Self { name, identity: None, len: None, taken: 0, reader, part }
    }

    /// The name by which places in this input are told.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Bytes in all, of a regular file.
    pub(crate) fn len(&self) -> Option<u64> {
        self.len
    }

    /// Bytes read so far.
    pub(crate) fn taken(&self) -> u64 {
        self.taken
    }

    /// Whether `path` is the file that is being read.
    pub(crate) fn is_at(&self, path: &Path) -> bool {
        let there = std::fs::metadata(path).ok().as_ref().and_then(identity);
        self.identity.is_some() && self.identity == there
    }

    /// Appends to `buffer` what one read gives. At the end of input that is nothing, and false is
    /// the answer.
    pub(crate) fn fill(&mut self, buffer: &mut BytesMut) -> Result<bool, Failure> {
        let len = loop {
            match self.reader.read(&mut self.part) {
                Ok(len) => break len,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    return Err(Failure::Trouble(format!(
                        "{}: cannot be read: {error}",
                        self.name
                    )));
                }
            }
        };
        buffer.extend_from_slice(self.part.get(..len).unwrap_or_default());
        self.taken += u64::try_from(len).unwrap_or(u64::MAX);
        Ok(len > 0)
    }
}

/// What tells one file from another, whatever its names: device and number.
type Identity = (u64, u64);

#[cfg(unix)]
fn identity(data: &Metadata) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    data.is_file().then(|| (data.dev(), data.ino()))
}

/// Elsewhere the standard library does not tell.
#[cfg(not(unix))]
fn identity(_: &Metadata) -> Option<Identity> {
    None
}

#[cfg(unix)]
fn stdin_metadata() -> Option<Metadata> {
    use std::os::fd::AsFd;
    let stdin = io::stdin().as_fd().try_clone_to_owned().ok()?;
    File::from(stdin).metadata().ok()
}

#[cfg(not(unix))]
fn stdin_metadata() -> Option<Metadata> {
    None
}

/// Refuses to read standard input twice: the second time there is nothing left of it.
///
/// # Errors
///
/// More than one of `paths` stands for it.
pub(crate) fn check_stdin(paths: &[PathBuf]) -> Result<(), Failure> {
    if paths.iter().filter(|path| is_stdio(path)).count() > 1 {
        return Err(Failure::Trouble("standard input can be read once, not twice".to_owned()));
    }
    Ok(())
}

/// Whether `path` stands for standard input or output.
pub(crate) fn is_stdio(path: &Path) -> bool {
    path.as_os_str() == "-"
}
