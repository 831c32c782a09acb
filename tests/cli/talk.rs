//! `serve` and `run`.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::Duration;

use socket2::{Domain, Socket, Type};

use crate::run::{good, run, sample};
use crate::servers::{Server, call, events, posted, scripted};

/// A sample, and how its run ends: exit status, and what is said.
pub(crate) const SAMPLES: [(&str, i32, &str); 3] = [
    ("chat.jsonl", 0, " events: finished\n"),
    ("multimodal.sse", 0, " events: finished, cancelled\n"),
    ("research.jsonl", 1, " The memo is incomplete. (provider_overloaded)\n"),
];

/// The events of a sample as they come out of frames.
pub(crate) fn over_frames(name: &str) -> String {
    in_frames(String::from_utf8(good(&["decode"], good(&["encode", &sample(name)], ""))).unwrap())
}

/// Events in the form that they have after frames: the text binding keeps an empty list.
pub(crate) fn in_frames(events: String) -> String {
    String::from_utf8(good(&["decode"], good(&["encode"], events))).unwrap()
}

#[test]
fn a_session_that_is_served_is_the_one_that_a_run_prints_in_either_binding() {
    for (name, code, end) in SAMPLES {
        let server = Server::start(&["serve", &sample(name)]);
        let want = over_frames(name);
        for (words, spoken) in [
            (&[][..], "application/vnd.ag-ui.event+proto, gzip\n"),
            (&["--identity"], "application/vnd.ag-ui.event+proto, not compressed\n"),
            (&["--sse"], "text/event-stream, gzip\n"),
            (&["--sse", "--identity"], "text/event-stream, not compressed\n"),
        ] {
            let called = call(&server.url, words);
            assert_eq!(called.code, Some(code), "{name} {words:?}: {}", called.said);
            assert!(called.said.starts_with(spoken), "{}", called.said);
            assert!(called.said.ends_with(end), "{}", called.said);
            let is_text = words.contains(&"--sse");
            let events = if is_text { in_frames(called.events) } else { called.events };
            assert!(events == want, "{name} {words:?}");
        }
    }
}

#[test]
fn frames_are_served_and_a_pace_changes_no_event() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("session.frames");
    let path = path.to_str().unwrap();
    good(&["encode", &sample("chat.jsonl"), "-o", path], "");
    let want = over_frames("chat.jsonl");
    let words = ["serve", "--from", "frames", path, "--pace", "1ms", "--sse-only"];
    let server = Server::start(&words);
    let called = call(&server.url, &[]);
    assert!(called.said.starts_with("text/event-stream"), "{}", called.said);
    assert!(in_frames(called.events) == want);
    let server = Server::start(&["serve", "--from", "frames", path]);
    assert!(call(&server.url, &[]).events == want);
}

#[test]
fn the_input_of_a_run_is_the_file_and_the_message() {
    let (url, told) = scripted(events("data: {\"type\":\"RUN_ERROR\",\"message\":\"no\"}\n\n"));
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("input.json");
    std::fs::write(&path, r#"{"threadId":"t","runId":"r","messages":[],"state":[1]}"#).unwrap();
    let words = ["--input", path.to_str().unwrap(), "-m", "hello", "-H", "Authorization: Bearer x"];
    let called = call(&url, &words);
    assert_eq!(called.code, Some(1));
    assert!(called.said.ends_with("error: 1 event: failed: no\n"), "{}", called.said);
    let request = told.recv().unwrap();
    assert!(request.to_ascii_lowercase().contains("\r\nauthorization: bearer x\r\n"), "{request}");
    let (_, body) = request.split_once("\r\n\r\n").unwrap();
    let body: serde_json::Value = serde_json::from_str(body).unwrap();
    assert_eq!((&body["runId"], &body["state"][0]), (&"r".into(), &1.into()));
    assert_eq!(body["messages"][0]["content"], "hello");

    call(&url, &[]);
    let request = told.recv().unwrap();
    let body = request.split_once("\r\n\r\n").unwrap().1;
    let body: serde_json::Value = serde_json::from_str(body).unwrap();
    assert!(body["runId"].as_str().unwrap().starts_with("run-"));
}

#[test]
fn a_run_that_does_not_finish_is_1_and_says_why() {
    let started = r#"data: {"type":"RUN_STARTED","threadId":"t","runId":"r"}"#;
    for (answer, said) in [
        (events(&format!("{started}\n\n")), "1 event: truncated: "),
        (events(&format!("{started}\n\ndata: 7\n\n")), "1 event: rejected: event 2 at byte "),
        ("HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\nno".to_owned(), "status 401"),
        ("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>".to_owned(), "text/html"),
    ] {
        let called = call(&scripted(answer).0, &[]);
        assert_eq!(called.code, Some(1), "{}", called.said);
        assert!(called.said.contains(said), "{said}: {}", called.said);
    }
    assert_eq!(call("http://127.0.0.1:1/", &[]).code, Some(1));
}

#[test]
fn what_a_run_drops_is_told_with_its_place() {
    let body = "data: {\"type\":\"RUN_STARTED\",\"threadId\":\"t\",\"runId\":\"r\"}\n\n\
                data: {\"type\":\"OF_TOMORROW\"}\n\n\
                data: {\"type\":\"RUN_FINISHED\",\"threadId\":\"t\",\"runId\":\"r\"}\n\n";
    let called = call(&scripted(events(body)).0, &[]);
    let warning = "warning: the answer, behind event 1: dropped an event of unknown type";
    assert!(called.said.contains(warning), "{}", called.said);
    assert!(called.said.ends_with("2 events: finished\n"), "{}", called.said);
}

#[test]
fn a_refusal_reaches_a_client_that_sends_all_before_it_reads() {
    let server = Server::start(&["serve", &sample("chat.jsonl")]);
    for _ in 0..5 {
        let answer = posted(&server.url, "application/json", 32 << 20);
        assert!(answer.starts_with("HTTP/1.1 413 Payload Too Large\r\n"), "{answer}");
        assert!(answer.contains("a body over the limit of 10485760 bytes"), "{answer}");
        let answer = posted(&server.url, "text/plain", 32 << 20);
        assert!(answer.starts_with("HTTP/1.1 415 Unsupported Media Type\r\n"), "{answer}");
    }
}

#[test]
fn another_method_than_post_is_refused_with_the_reason() {
    let server = Server::start(&["serve", &sample("chat.jsonl")]);
    let address = server.url.strip_prefix("http://").unwrap().trim_end_matches('/');
    let mut connection = std::net::TcpStream::connect(address).unwrap();
    connection.write_all(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 405 Method Not Allowed\r\n"), "{answer}");
    assert!(answer.to_ascii_lowercase().contains("\r\nallow: post\r\n"), "{answer}");
    assert!(answer.contains("expected a POST with the input of a run"), "{answer}");
}

#[test]
fn wrong_usage_of_what_speaks_http_is_2() {
    for words in [
        &["run", "nowhere"][..],
        &["run", "ftp://127.0.0.1/"],
        &["run", "http://127.0.0.1:1/", "--input", "no/such/file"],
        &["run", "http://127.0.0.1:1/", "--input", "-"],
        &["run", "http://127.0.0.1:1/", "-H", "nothing"],
        &["serve", "no/such/file"],
        &["serve", "--pace", "fast"],
        &["serve", "--listen", "nowhere"],
        &["bridge"],
        &["bridge", "--upstream", "nowhere"],
    ] {
        let done = run(words, "[]");
        assert_eq!((done.code, done.out.len()), (2, 0), "{words:?}: {}", done.err);
    }
    for command in ["serve", "run", "bridge"] {
        let help = String::from_utf8(good(&[command, "--help"], "")).unwrap();
        assert!(help.contains("Examples:"), "{help}");
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
    }
}

#[cfg(unix)]
#[test]
fn a_server_that_is_told_to_stop_ends_and_breaks_off_what_is_left() {
    let (code, said) = Server::start(&["serve", &sample("chat.jsonl")]).stop();
    assert_eq!((code, said.as_str()), (Some(0), "stopping\n"));

    let words = ["serve", &sample("chat.jsonl"), "--pace", "3600s", "--grace", "0"];
    let server = Server::start(&words);
    let url = server.url.clone();
    let (tell, told) = std::sync::mpsc::channel();
    let caller = std::thread::spawn(move || {
        use std::io::{BufRead, BufReader};
        let mut child = crate::servers::binary()
            .args(["run", &url, "--identity"])
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        tell.send(line).unwrap();
        child.wait().unwrap().code()
    });
    assert!(told.recv().unwrap().contains("RUN_STARTED"));
    let (code, said) = server.stop();
    assert_eq!((code, said.lines().count()), (Some(0), 2), "{said}");
    assert_eq!(caller.join().unwrap(), Some(1), "a run that was broken off is no success");
}

/// What a client gets that begins to read when most of the session has come.
fn read_late(url: &str) -> String {
    let address: SocketAddr =
        url.strip_prefix("http://").unwrap().trim_end_matches('/').parse().unwrap();
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.set_recv_buffer_size(2048).unwrap();
    socket.connect(&address.into()).unwrap();
    let mut connection = TcpStream::from(socket);
    let input = r#"{"threadId":"t","runId":"r","messages":[],"tools":[],"context":[]}"#;
    let head = "POST / HTTP/1.0\r\nHost: agent\r\nContent-Type: application/json\r\n";
    write!(connection, "{head}Content-Length: {}\r\n\r\n{input}", input.len()).unwrap();
    thread::sleep(Duration::from_secs(2));
    let mut answer = String::new();
    connection.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.contains(" 200 "), "{answer}");
    String::from_utf8(good(&["decode"], good(&["encode"], body))).unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn deltas_are_merged_for_a_client_that_is_slow() {
    let text = |events: &str| -> (usize, String) {
        let deltas =
            events.lines().filter_map(|line| line.split_once("\"delta\":\"")?.1.split_once('"'));
        let deltas: Vec<_> = deltas.map(|(delta, _)| delta).collect();
        (deltas.len(), deltas.concat())
    };
    let deltas = (0..1500).map(|number| {
        format!(r#"{{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"{number} "}}"#) + "\n"
    });
    let session = deltas.collect::<Vec<_>>().concat();
    let session = format!(
        "{}\n{}\n{session}{}\n{}\n",
        r#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}"#,
        r#"{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"}"#,
        r#"{"type":"TEXT_MESSAGE_END","messageId":"m"}"#,
        r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r"}"#,
    );
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), &session).unwrap();
    let path = file.path().to_str().unwrap();
    let (all, said) = text(&session);
    let paced = ["serve", path, "--pace", "1ms"];

    let plain = Server::start(&paced);
    assert_eq!(text(&read_late(&plain.url)), (all, said.clone()), "no one asked for it");
    let merging = Server::start(&[&paced[..], &["--merge"]].concat());
    let bridge = Server::start(&["bridge", "--merge", "--upstream", &plain.url]);
    for server in [&merging, &bridge] {
        let (deltas, merged) = text(&read_late(&server.url));
        assert_eq!(merged, said);
        assert!(deltas < all / 2, "{deltas} of {all}");
    }
}
