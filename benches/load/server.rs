//! The server: the binary, as it is released.

use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use tempfile::NamedTempFile;

use super::session::Session;

/// Ended when dropped.
pub(super) struct Server {
    pub(super) address: SocketAddr,
    child: Child,
    _recording: NamedTempFile,
}

impl Server {
    pub(super) fn start(session: &Session) -> Self {
        let mut recording = NamedTempFile::with_suffix(".jsonl").expect("a file");
        recording.write_all(session.json_lines().as_bytes()).expect("room for a session");
        let mut child = Command::new(env!("CARGO_BIN_EXE_ag-ui-proto"))
            .arg("serve")
            .arg(recording.path())
            .args(["--listen", "127.0.0.1:0", "--pace"])
            .arg(format!("{}ms", session.step.as_secs_f64() * 1e3))
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary");
        let mut told = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut line = String::new();
        told.read_line(&mut line).expect("a line");
        let address = line
            .strip_prefix("listening on http://")
            .and_then(|rest| rest.split('/').next().and_then(|address| address.parse().ok()));
        let address = address.unwrap_or_else(|| panic!("the server says: {line}"));
        // What else it says is of interest to whoever looks.
        std::thread::spawn(move || {
            told.lines().map_while(Result::ok).for_each(|line| eprintln!("server: {line}"));
        });
        Self { address, child, _recording: recording }
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
