//! How a command fails, and the exit status of that.

use std::io;
use std::process::ExitCode;

/// Why a command did not end well.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The data is bad. Exit status 1.
    Data(String),
    /// The data is bad, and the user was told already. Exit status 1.
    Told,
    /// Wrong usage, or a file that cannot be read or written. Exit status 2.
    Trouble(String),
    /// Whoever read our output has had enough. Not an error.
    BrokenPipe,
}

impl Failure {
    /// What is left to say to the user.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Data(text) | Self::Trouble(text) => Some(text),
            Self::Told | Self::BrokenPipe => None,
        }
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::BrokenPipe => ExitCode::SUCCESS,
            Self::Data(_) | Self::Told => ExitCode::from(1),
            Self::Trouble(_) => ExitCode::from(2),
        }
    }

    /// A failure to write to `name`.
    pub(crate) fn writing(name: &str, error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Self::BrokenPipe
        } else {
            Self::Trouble(format!("{name}: cannot be written: {error}"))
        }
    }
}
