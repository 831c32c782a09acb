//! Servers of the binary as processes, and agents that answer by a script.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::Receiver;
use std::thread::{self, JoinHandle};

use crate::agent;

/// A server of the binary, at a free port. Killed when dropped.
pub(crate) struct Server {
    pub(crate) url: String,
    child: Child,
    told: Option<JoinHandle<String>>,
}

impl Server {
    #[track_caller]
    pub(crate) fn start(words: &[&str]) -> Self {
        Self::start_as(binary(), words)
    }

    /// The same of a command that has more to it, such as variables.
    #[track_caller]
    pub(crate) fn start_as(command: Command, words: &[&str]) -> Self {
        Self::listening(command, words, "127.0.0.1:0")
    }

    /// A server of the binary at this address.
    #[cfg(unix)]
    #[track_caller]
    pub(crate) fn start_at(words: &[&str], address: &str) -> Self {
        Self::listening(binary(), words, address)
    }

    #[track_caller]
    fn listening(mut command: Command, words: &[&str], address: &str) -> Self {
        let mut child = command
            .args(words)
            .args(["--listen", address])
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut told = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        let url = loop {
            line.clear();
            assert!(told.read_line(&mut line).unwrap() > 0, "{words:?} ended");
            if let Some(rest) = line.strip_prefix("listening on ") {
                break rest.split(',').next().unwrap().trim().to_owned();
            }
        };
        let told = thread::spawn(move || {
            let mut rest = String::new();
            told.read_to_string(&mut rest).unwrap();
            rest
        });
        Self { url, child, told: Some(told) }
    }

    /// Sends it a signal.
    #[cfg(unix)]
    pub(crate) fn tell(&self, signal: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
    }

    /// Tells it to stop. Gives its exit status, and what it said since it listens.
    #[cfg(unix)]
    pub(crate) fn stop(mut self) -> (Option<i32>, String) {
        self.tell("-TERM");
        let status = self.child.wait().unwrap();
        (status.code(), self.told.take().unwrap().join().unwrap())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// The binary, without a proxy between.
pub(crate) fn binary() -> Command {
    without_proxy(Command::new(assert_cmd::cargo::cargo_bin("ag-ui-proto")))
}

/// The binary, with so many descriptors.
#[cfg(unix)]
pub(crate) fn with_descriptors(number: u32) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -n {number}; exec \"$0\" \"$@\"")]);
    command.arg(assert_cmd::cargo::cargo_bin("ag-ui-proto"));
    without_proxy(command)
}

fn without_proxy(mut command: Command) -> Command {
    for name in ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"] {
        command.env_remove(name);
    }
    command
}

/// A connection to the server of this URL, which waits for an answer as long as anything takes.
#[cfg(unix)]
pub(crate) fn connect(url: &str) -> TcpStream {
    let address = url.strip_prefix("http://").unwrap().trim_end_matches('/');
    let connection = TcpStream::connect(address).unwrap();
    connection.set_read_timeout(Some(std::time::Duration::from_secs(20))).unwrap();
    connection
}

/// What `run` gave: exit status, events, and what it said.
pub(crate) struct Called {
    pub(crate) code: Option<i32>,
    pub(crate) events: String,
    pub(crate) said: String,
}

pub(crate) fn call(url: &str, words: &[&str]) -> Called {
    call_as(binary(), url, words)
}

/// The same of a command that has more to it, such as variables.
pub(crate) fn call_as(mut command: Command, url: &str, words: &[&str]) -> Called {
    let output = command.args(["run", url]).args(words).stdin(Stdio::null()).output().unwrap();
    Called {
        code: output.status.code(),
        events: String::from_utf8(output.stdout).unwrap(),
        said: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The answer to a POST whose body is sent to its end before anything is read.
pub(crate) fn posted(url: &str, content_type: &str, len: usize) -> String {
    let address = url.strip_prefix("http://").unwrap().trim_end_matches('/');
    let mut connection = TcpStream::connect(address).unwrap();
    let head = format!(
        "POST / HTTP/1.1\r\nHost: agent\r\nConnection: close\r\n\
         Content-Type: {content_type}\r\nContent-Length: {len}\r\n\r\n"
    );
    connection.write_all(head.as_bytes()).unwrap();
    let part = vec![b' '; 1 << 20];
    for at in (0..len).step_by(part.len()) {
        let part = &part[..part.len().min(len - at)];
        connection.write_all(part).expect("the connection is reset");
    }
    let mut answer = String::new();
    connection.read_to_string(&mut answer).expect("the connection is reset");
    answer
}

/// An agent that gives every request this answer, and then closes the connection.
pub(crate) fn scripted(answer: impl Into<Vec<u8>>) -> (String, Receiver<String>) {
    agent::scripted(answer, agent::close)
}

/// An answer of an agent whose body ends with its connection.
pub(crate) fn events(body: &str) -> String {
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\
         X-Request-Id: 7\r\n\r\n{body}"
    )
}
