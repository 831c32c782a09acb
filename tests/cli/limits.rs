//! What clients that are slow, silent or many may take of `serve` and `bridge`.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::thread::{self, sleep};
use std::time::Duration;

use tempfile::NamedTempFile;

use crate::run::{run, sample};
use crate::servers::{Server, call, connect, events, scripted, with_descriptors};

const INPUT: &str = r#"{"threadId":"t","runId":"r","messages":[]}"#;
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const SETTINGS: &[u8] = b"\0\0\0\x04\0\0\0\0\0";

fn serve(words: &[&str]) -> Server {
    Server::start(&[&["serve", &sample("chat.jsonl")], words].concat())
}

/// The head of a request with an input of this length.
fn head(len: usize) -> String {
    format!(
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: {len}\r\n\r\n"
    )
}

/// Reads until the server closes the connection. Fails if it does not.
#[track_caller]
fn read_to_close(mut connection: &TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    match connection.read_to_end(&mut bytes) {
        Err(error) if error.kind() == ErrorKind::WouldBlock => panic!("the connection is kept"),
        _ => bytes,
    }
}

#[test]
fn a_client_whose_headers_do_not_come_is_not_waited_for() {
    let server = serve(&["--header-timeout", "0.3"]);
    let begun = [PREFACE, SETTINGS].concat();
    // Headers of a stream, whose end does not come.
    let headers = [PREFACE, SETTINGS, b"\0\0\x01\x01\x01\0\0\0\x01\x83"].concat();
    for sent in [&b""[..], b"P", PREFACE, &begun, &headers, b"POST", b"POST / HTTP/1.1\r\nHost:"] {
        let mut connection = connect(&server.url);
        connection.write_all(sent).unwrap();
        read_to_close(&connection);
    }
    for part in ["a", "X: y\r\n"] {
        let connection = connect(&server.url);
        (&connection).write_all(b"POST / HTTP/1.1\r\n").unwrap();
        let mut drip = connection.try_clone().unwrap();
        let dripping = thread::spawn(move || {
            for _ in 0..1000 {
                if drip.write_all(part.as_bytes()).is_err() {
                    return;
                }
                sleep(Duration::from_millis(20));
            }
        });
        read_to_close(&connection);
        drop(connection);
        dripping.join().unwrap();
    }
}

#[test]
fn a_connection_that_is_kept_for_a_next_request_is_not_kept_for_ever() {
    let server = serve(&["--header-timeout", "0.3"]);
    let mut connection = connect(&server.url);
    connection.write_all((head(INPUT.len()) + INPUT).as_bytes()).unwrap();
    let answer = read_to_close(&connection);
    assert!(answer.starts_with(b"HTTP/1.1 200 OK\r\n") && answer.ends_with(b"0\r\n\r\n"));
}

#[test]
fn a_body_that_does_not_come_is_408() {
    let (url, _told) = scripted(events(""));
    let bridge = Server::start(&["bridge", "--upstream", &url, "--body-timeout", "0.3"]);
    for server in [&serve(&["--body-timeout", "0.3"]), &bridge] {
        for (head, sent) in [
            (head(INPUT.len()), &INPUT[..9]),
            (head(INPUT.len()), ""),
            (head(INPUT.len()).replace("Content-Type", "Expect: 100-continue\r\nContent-Type"), ""),
        ] {
            let mut connection = connect(&server.url);
            connection.write_all((head.clone() + sent).as_bytes()).unwrap();
            let mut answer = String::new();
            while !answer.contains('}') {
                let mut part = [0; 1024];
                let len = connection.read(&mut part).expect("there is no answer");
                assert!(len > 0, "{answer:?}");
                answer.push_str(str::from_utf8(&part[..len]).unwrap());
            }
            let answer = answer.trim_start_matches("HTTP/1.1 100 Continue\r\n\r\n");
            assert!(answer.starts_with("HTTP/1.1 408 Request Timeout\r\n"), "{answer}");
            assert!(answer.contains("\r\ncontent-type: application/problem+json\r\n"), "{answer}");
            assert!(answer.contains("the body did not come within 300ms"), "{answer}");
        }
    }
    let said = bridge.stop().1;
    assert!(said.contains("request 1: 408 Request Timeout: the body did not come"), "{said}");
}

#[test]
fn a_run_that_pauses_is_no_client_that_is_slow() {
    let limits = ["--header-timeout", "0.2", "--body-timeout", "0.2", "--send-timeout", "0.2"];
    let file = NamedTempFile::new().unwrap();
    let lines = "{\"type\":\"RUN_STARTED\",\"threadId\":\"t\",\"runId\":\"r\"}\n\
                 {\"type\":\"RUN_FINISHED\",\"threadId\":\"t\",\"runId\":\"r\"}\n";
    std::fs::write(file.path(), lines).unwrap();
    let path = file.path().to_str().unwrap();
    let agent = Server::start(&[&["serve", path, "--pace", "1s"], &limits[..]].concat());
    let bridge = Server::start(&[&["bridge", "--upstream", &agent.url], &limits[..]].concat());
    let merging =
        Server::start(&[&["bridge", "--merge", "--upstream", &agent.url], &limits[..]].concat());
    for server in [&agent, &bridge, &merging] {
        let called = call(&server.url, &[]);
        assert_eq!(called.code, Some(0), "{}", called.said);
    }
}

/// As `nc -N` does: it may be there though it has nothing more to say.
#[test]
fn a_client_that_closed_its_side_gets_the_answer() {
    let file = NamedTempFile::new().unwrap();
    let lines = "{\"type\":\"RUN_STARTED\",\"threadId\":\"t\",\"runId\":\"r\"}\n\
                 {\"type\":\"STEP_STARTED\",\"stepName\":\"s\"}\n\
                 {\"type\":\"STEP_FINISHED\",\"stepName\":\"s\"}\n\
                 {\"type\":\"RUN_FINISHED\",\"threadId\":\"t\",\"runId\":\"r\"}\n";
    std::fs::write(file.path(), lines).unwrap();
    let agent = Server::start(&["serve", file.path().to_str().unwrap(), "--pace", "1s"]);
    let bridge = Server::start(&["bridge", "--upstream", &agent.url]);
    let chunked = head(0).replace("Content-Length: 0", "Transfer-Encoding: chunked");
    let chunked = format!("{chunked}{:x}\r\n{INPUT}\r\n0\r\n\r\n", INPUT.len());
    for server in [&agent, &bridge] {
        for request in [
            head(INPUT.len()) + INPUT,
            head(INPUT.len()).replace("Host", "Connection: close\r\nHost") + INPUT,
            chunked.clone(),
        ] {
            let mut connection = connect(&server.url);
            connection.write_all(request.as_bytes()).unwrap();
            connection.shutdown(Shutdown::Write).unwrap();
            let answer = String::from_utf8(read_to_close(&connection)).unwrap();
            let whole = answer.contains("RUN_FINISHED") && answer.ends_with("\r\n0\r\n\r\n");
            assert!(whole, "{request}: {answer}");
        }
        let mut connection = connect(&server.url);
        connection.write_all((head(INPUT.len()) + &INPUT[1..]).as_bytes()).unwrap();
        connection.shutdown(Shutdown::Write).unwrap();
        let answer = String::from_utf8(read_to_close(&connection)).unwrap();
        assert!(answer.starts_with("HTTP/1.1 400 Bad Request\r\n"), "{answer}");
        assert!(answer.contains("the body broke off: "), "{answer}");
    }
}

/// A session whose events are more than any connection holds.
fn long_session() -> NamedTempFile {
    let file = NamedTempFile::new().unwrap();
    let text = "x".repeat(100_000);
    let event = format!("{{\"type\":\"CUSTOM\",\"name\":\"n\",\"value\":\"{text}\"}}\n");
    std::fs::write(file.path(), event.repeat(300)).unwrap();
    file
}

#[test]
fn a_client_that_takes_nothing_is_not_waited_for() {
    let file = long_session();
    let path = file.path().to_str().unwrap();
    let agent = Server::start(&["serve", path]);
    let words = ["--send-timeout", "0.3"];
    let servers = [
        Server::start(&[&["serve", path], &words[..]].concat()),
        Server::start(&[&["serve", "--merge", path], &words[..]].concat()),
        Server::start(&[&["bridge", "--upstream", &agent.url], &words[..]].concat()),
        Server::start(&[&["bridge", "--merge", "--upstream", &agent.url], &words[..]].concat()),
    ];
    let connections = servers.each_ref().map(|server| {
        let mut connection = connect(&server.url);
        connection.write_all((head(INPUT.len()) + INPUT).as_bytes()).unwrap();
        connection.read_exact(&mut [0; 15]).unwrap();
        connection
    });
    sleep(Duration::from_secs(5));
    for connection in connections {
        let len = read_to_close(&connection).len();
        assert!(len < 20_000_000, "{len}");
    }
}

/// On a slow link the system takes what it has room for, and then nothing for long, though all is well.
#[cfg(target_os = "linux")]
#[test]
fn a_client_that_takes_little_is_waited_for() {
    let file = long_session();
    let server = Server::start(&["serve", file.path().to_str().unwrap(), "--send-timeout", "1"]);
    let mut connection = connect(&server.url);
    let request = head(INPUT.len()).replace("Host", "Connection: close\r\nHost") + INPUT;
    connection.write_all(request.as_bytes()).unwrap();
    let mut part = vec![0; 64 << 10];
    let mut answer = Vec::new();
    for number in 0.. {
        let len = connection.read(&mut part).unwrap();
        if len == 0 {
            break;
        }
        answer.extend_from_slice(&part[..len]);
        if number < 80 {
            sleep(Duration::from_millis(100));
        }
    }
    assert!(answer.len() > 30_000_000 && answer.ends_with(b"0\r\n\r\n"), "{}", answer.len());
}

#[test]
fn connections_beyond_the_bound_wait_for_one_that_is_closed() {
    let server = serve(&["--max-connections", "2"]);
    let first = [connect(&server.url), connect(&server.url)];
    let mut third = connect(&server.url);
    third.write_all((head(INPUT.len()) + INPUT).as_bytes()).unwrap();
    third.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    assert_eq!(third.read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
    drop(first);
    third.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    third.read_exact(&mut [0]).unwrap();
}

#[test]
fn a_body_for_which_there_is_no_memory_is_503_and_one_that_never_could_be_413() {
    let bounded = ["--max-bodies", "64KiB"];
    let agent = serve(&bounded);
    let behind = serve(&[]);
    let bridge = Server::start(&[&["bridge", "--upstream", &behind.url], &bounded[..]].concat());
    for server in [&agent, &bridge] {
        let len = 60 << 10;
        let padded = INPUT.to_owned() + &" ".repeat(len - INPUT.len());
        let mut half = connect(&server.url);
        half.write_all((head(len) + &padded[..len - 1]).as_bytes()).unwrap();
        // By then it is there.
        sleep(Duration::from_secs(1));
        let mut next = connect(&server.url);
        let head = head(len).replace("Host", "Connection: close\r\nHost");
        next.write_all((head + &padded).as_bytes()).unwrap();
        let refused = String::from_utf8(read_to_close(&next)).unwrap();
        assert!(refused.starts_with("HTTP/1.1 503 Service Unavailable\r\n"), "{refused}");
        assert!(refused.contains("\r\nretry-after: 1\r\n"), "{refused}");
        assert!(refused.contains("no memory left for the bodies of requests"), "{refused}");
        half.write_all(&padded.as_bytes()[len - 1..]).unwrap();
        half.read_exact(&mut [0; 15]).unwrap();
        // What was taken is given back with the answer.
        let called = call(&server.url, &["-m", "x"]);
        assert_eq!(called.code, Some(0), "{}", called.said);
        let called = call(&server.url, &["-m", &"x".repeat(70_000)]);
        assert!(called.said.contains("status 413 Payload Too Large"), "{}", called.said);
    }
}

#[test]
fn a_server_without_descriptors_goes_on_once_there_are_some() {
    let words = ["serve", &sample("chat.jsonl")];
    let server = Server::start_as(with_descriptors(30), &words);
    let many: Vec<_> = (0..40).map(|_| connect(&server.url)).collect();
    sleep(Duration::from_millis(300));
    // Each that ends makes room for one alone.
    for one in many {
        drop(one);
        sleep(Duration::from_millis(50));
    }
    assert_eq!(call(&server.url, &[]).code, Some(0));
    let (code, said) = server.stop();
    assert_eq!(code, Some(0));
    assert!(said.starts_with("no connection can be accepted for now: "), "{said}");
    assert_eq!(said.lines().count(), 2, "it is told once: {said}");
}

#[test]
fn connections_without_a_request_do_not_delay_a_stop() {
    let server = serve(&["--grace", "3600"]);
    let mut kept = connect(&server.url);
    kept.write_all((head(INPUT.len()) + INPUT).as_bytes()).unwrap();
    kept.read_exact(&mut [0; 15]).unwrap();
    let mut http2 = connect(&server.url);
    http2.write_all(&[PREFACE, SETTINGS].concat()).unwrap();
    http2.read_exact(&mut [0; 9]).unwrap();
    let silent = [connect(&server.url), connect(&server.url)];
    (&silent[1]).write_all(b"PRI").unwrap();
    sleep(Duration::from_millis(200));
    let reading = thread::spawn(move || read_to_close(&kept));
    assert_eq!(server.stop(), (Some(0), "stopping\n".to_owned()));
    reading.join().unwrap();
}

#[test]
fn who_tells_a_server_to_stop_again_waits_for_no_run() {
    let agent = serve(&["--pace", "3600s", "--grace", "3600"]);
    let mut connection = connect(&agent.url);
    connection.write_all((head(INPUT.len()) + INPUT).as_bytes()).unwrap();
    connection.read_exact(&mut [0; 15]).unwrap();
    agent.tell("-INT");
    // A run goes on.
    connection.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    let kind = connection.read_to_end(&mut Vec::new()).unwrap_err().kind();
    assert_eq!(kind, ErrorKind::WouldBlock);
    let (code, said) = agent.stop();
    assert_eq!(code, Some(0));
    assert_eq!(said, "stopping\nruns that were not over were broken off\n");
}

#[test]
fn numbers_below_nothing_are_refused_as_numbers() {
    for option in
        ["--max-connections", "--header-timeout", "--body-timeout", "--send-timeout", "--grace"]
    {
        for words in [&["serve"][..], &["bridge", "--upstream", "http://127.0.0.1:1"]] {
            let done = run(&[words, &[option, "-1"]].concat(), "");
            assert_eq!(done.code, 2);
            let error = format!("error: invalid value '-1' for '{option} <");
            assert!(done.err.starts_with(&error), "{}", done.err);
        }
    }
}

#[test]
fn a_url_that_can_never_be_called_is_wrong_usage() {
    for url in ["http://127.0.0.1:99999/", "http://[::1/", "http://a b/", "ftp://a/", "a"] {
        for words in [&["run", url][..], &["bridge", "--listen", "127.0.0.1:0", "--upstream", url]]
        {
            let done = run(words, "");
            assert_eq!(done.code, 2, "{words:?}: {}", done.err);
            assert!(done.err.contains("expected the URL of an agent"), "{}", done.err);
        }
    }
}

#[test]
fn what_is_wrong_with_a_body_is_said_once() {
    let agent = serve(&[]);
    let bridge = Server::start(&["bridge", "--upstream", &agent.url]);
    for server in [&agent, &bridge] {
        let mut connection = connect(&server.url);
        let head = head(0).replace("Content-Length: 0", "Transfer-Encoding: chunked");
        connection.write_all((head + "zz\r\n").as_bytes()).unwrap();
        let answer = String::from_utf8(read_to_close(&connection)).unwrap();
        let detail = "{\"detail\":\"the body broke off: error reading a body from connection: \
                      Invalid chunk size line: missing size digit\"";
        assert!(answer.contains(detail), "{answer}");
    }
}
