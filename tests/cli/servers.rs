//! Servers of the binary as processes, and agents that answer by a script.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::{self, JoinHandle};

/// A server of the binary, at a free port. Killed when dropped.
pub(crate) struct Server {
    pub(crate) url: String,
    child: Child,
    told: Option<JoinHandle<String>>,
}

impl Server {
    #[track_caller]
    pub(crate) fn start(words: &[&str]) -> Self {
        let mut child = binary()
            .args(words)
            .args(["--listen", "127.0.0.1:0"])
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

    /// Tells it to stop. Gives its exit status, and what it said since it listens.
    #[cfg(unix)]
    pub(crate) fn stop(mut self) -> (Option<i32>, String) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
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
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("ag-ui-proto"));
    for name in ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"] {
        command.env_remove(name);
    }
    command
}

/// What `run` gave: exit status, events, and what it said.
pub(crate) struct Called {
    pub(crate) code: Option<i32>,
    pub(crate) events: String,
    pub(crate) said: String,
}

pub(crate) fn call(url: &str, words: &[&str]) -> Called {
    let output = binary().args(["run", url]).args(words).stdin(Stdio::null()).output().unwrap();
    Called {
        code: output.status.code(),
        events: String::from_utf8(output.stdout).unwrap(),
        said: String::from_utf8(output.stderr).unwrap(),
    }
}

/// An agent that gives every request this answer, and then closes the connection. Gives its URL,
/// and each request as it came.
pub(crate) fn scripted(answer: impl Into<Vec<u8>>) -> (String, Receiver<String>) {
    let answer = answer.into();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/agent", listener.local_addr().unwrap());
    let (tell, told) = channel();
    thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            drop(tell.send(request(&mut connection)));
            drop(connection.write_all(&answer));
        }
    });
    (url, told)
}

/// Reads a request whose body has a length.
fn request(connection: &mut TcpStream) -> String {
    let (mut bytes, mut part) = (Vec::new(), [0; 4096]);
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let head = head.to_ascii_lowercase();
            let len = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if len.map_or(0, |len| len.parse().unwrap()) <= body.len() {
                return text;
            }
        }
        let len = connection.read(&mut part).unwrap_or(0);
        if len == 0 {
            return text;
        }
        bytes.extend_from_slice(&part[..len]);
    }
}

/// An answer of an agent whose body ends with its connection.
pub(crate) fn events(body: &str) -> String {
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\
         X-Request-Id: 7\r\n\r\n{body}"
    )
}
