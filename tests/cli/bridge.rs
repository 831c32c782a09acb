//! `bridge`.

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::run::sample;
use crate::servers::{Server, call, events, scripted};
use crate::talk::{SAMPLES, in_frames, over_frames};

const STARTED: &str = "data: {\"type\":\"RUN_STARTED\",\"threadId\":\"t\",\"runId\":\"r\"}\n\n";
const FINISHED: &str = "data: {\"type\":\"RUN_FINISHED\",\"threadId\":\"t\",\"runId\":\"r\"}\n\n";

fn bridge(upstream: &str) -> Server {
    Server::start(&["bridge", "--upstream", upstream])
}

/// The whole answer to a POST with these headers, as bytes.
fn post(url: &str, headers: &str) -> String {
    let address = url.strip_prefix("http://").unwrap().trim_end_matches('/');
    let mut connection = TcpStream::connect(address).unwrap();
    let request = format!(
        "POST /x?a=1 HTTP/1.1\r\nHost: bridge\r\nConnection: close, x-hop\r\n{headers}\
         Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{{}}"
    );
    connection.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    drop(connection.read_to_end(&mut answer));
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn events_of_an_sse_agent_come_as_protobuf_and_are_the_same() {
    for (name, code, end) in SAMPLES {
        let agent = Server::start(&["serve", &sample(name), "--sse-only"]);
        let bridge = bridge(&agent.url);
        let want = over_frames(name);
        for (words, spoken) in [
            (&[][..], "application/vnd.ag-ui.event+proto, gzip\n"),
            (&["--identity"], "application/vnd.ag-ui.event+proto, not compressed\n"),
            (&["--sse"], "text/event-stream, gzip\n"),
        ] {
            let called = call(&bridge.url, words);
            assert_eq!(called.code, Some(code), "{name} {words:?}: {}", called.said);
            assert!(called.said.ends_with(end), "{}", called.said);
            assert!(called.said.starts_with(spoken), "{}", called.said);
            assert!(in_frames(called.events) == want, "{name} {words:?}");
        }
    }
}

#[test]
fn headers_that_are_said_to_the_agent_go_on_and_its_own_come_back() {
    let (url, told) = scripted(events(&format!("{STARTED}{FINISHED}")));
    let bridge = bridge(&url);
    let headers = "Authorization: Bearer x\r\nCookie: a=1\r\ntraceparent: 00-1\r\nX-Hop: 1\r\n\
                   Accept: application/vnd.ag-ui.event+proto\r\n";
    let answer = post(&bridge.url, headers).to_ascii_lowercase();
    assert!(answer.contains("\r\nx-request-id: 7\r\n"), "{answer}");
    assert!(answer.contains("\r\ncontent-type: application/vnd.ag-ui.event+proto\r\n"), "{answer}");
    let request = told.recv().unwrap().to_ascii_lowercase();
    assert!(request.starts_with("post /agent?a=1 http/1.1\r\n"), "{request}");
    for line in
        ["authorization: bearer x", "cookie: a=1", "traceparent: 00-1", "accept: text/event-stream"]
    {
        assert!(request.contains(&format!("\r\n{line}\r\n")), "{line}: {request}");
    }
    assert!(!request.contains("x-hop") && !request.contains("host: bridge"), "{request}");
}

#[test]
fn errors_of_the_agent_are_passed_on_as_they_are() {
    for status in ["401 Unauthorized", "500 Internal Server Error"] {
        let (url, _told) = scripted(format!(
            "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\
             WWW-Authenticate: Bearer\r\nConnection: close\r\n\r\n{{\"no\":\"way\"}}"
        ));
        let answer = post(&bridge(&url).url, "");
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}\r\n")), "{answer}");
        assert!(answer.contains("{\"no\":\"way\"}"), "{answer}");
        assert!(
            answer.to_ascii_lowercase().contains("\r\nwww-authenticate: bearer\r\n"),
            "{answer}"
        );
    }
    let answer = post(&bridge("http://127.0.0.1:1/").url, "");
    assert!(answer.starts_with("HTTP/1.1 502 Bad Gateway\r\n"), "{answer}");
}

#[test]
fn an_answer_without_end_is_passed_on_to_its_bound() {
    let (url, _told) = scripted(
        [b"HTTP/1.1 500 X\r\nConnection: close\r\n\r\n", &vec![b'x'; 4 << 20][..]].concat(),
    );
    let answer = post(&bridge(&url).url, "");
    assert!(answer.len() < (1 << 20) + 64 * 1024, "{}", answer.len());
    assert!(!answer.ends_with("0\r\n\r\n"), "it is broken off, not ended");
}

#[test]
fn a_run_that_is_cut_upstream_is_cut_at_the_client_and_no_end_is_made_up() {
    let half = format!("{STARTED}data: {{\"type\":\"STEP_STARTED\",\"step");
    let chunked = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n\
         {:x}\r\n{STARTED}\r\n",
        STARTED.len()
    );
    for answer in [events(STARTED), events(&half), chunked] {
        let bridge = bridge(&scripted(answer).0);
        for words in [&[][..], &["--sse"], &["--identity"], &["--identity", "--sse"]] {
            let called = call(&bridge.url, words);
            assert_eq!(called.code, Some(1), "{}", called.said);
            assert!(
                called.said.contains("1 event: truncated: the connection broke"),
                "{}",
                called.said
            );
            assert_eq!(called.events.lines().count(), 1);
        }
        let answer = post(&bridge.url, "Accept: text/event-stream\r\n");
        assert!(answer.contains("RUN_STARTED") && !answer.ends_with("0\r\n\r\n"), "{answer}");
    }
}

#[test]
fn an_agent_that_falls_silent_is_a_run_that_breaks_off() {
    let agent = Server::start(&["serve", &sample("chat.jsonl"), "--pace", "3600s"]);
    let words = ["bridge", "--upstream", &agent.url, "--idle-timeout", "0.2"];
    let called = call(&Server::start(&words).url, &[]);
    assert_eq!(called.code, Some(1));
    assert!(called.said.contains("1 event: truncated: the connection broke"), "{}", called.said);
}

#[test]
fn what_is_no_event_ends_the_run_with_an_error_that_says_so() {
    let bridge = bridge(&scripted(events(&format!("{STARTED}data: {{\"type\":7}}\n\n"))).0);
    let called = call(&bridge.url, &[]);
    assert_eq!(called.code, Some(1));
    let said = "2 events: failed: the agent behind the bridge: event 2 at byte ";
    assert!(
        called.said.contains(said) && called.said.contains("(BAD_UPSTREAM)"),
        "{}",
        called.said
    );
}

#[cfg(unix)]
#[test]
fn pairs_are_joined_and_what_is_dropped_is_told_and_counted() {
    let delta = |text| {
        format!(
            "data: {{\"type\":\"TEXT_MESSAGE_CONTENT\",\"messageId\":\"m\",\"delta\":\"{text}\"}}\n\n"
        )
    };
    let start =
        "data: {\"type\":\"TEXT_MESSAGE_START\",\"messageId\":\"m\",\"role\":\"assistant\"}\n\n";
    let end = "data: {\"type\":\"TEXT_MESSAGE_END\",\"messageId\":\"m\"}\n\n";
    let body = [
        ": hello\n\n",
        STARTED,
        start,
        &delta(r"a\ud83d"),
        &delta(r"\ude00b"),
        end,
        "data: {\"type\":\"OF_TOMORROW\"}\n\n",
        "data: {\"type\":\"STEP_STARTED\",\"stepName\":\"s\",\"mood\":1}\n\n",
        FINISHED,
    ];
    let bridge = bridge(&scripted(events(&body.concat())).0);
    let called = call(&bridge.url, &[]);
    assert_eq!(called.code, Some(0), "{}", called.said);
    let deltas: String = called
        .events
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .filter_map(|event| event["delta"].as_str().map(str::to_owned))
        .collect();
    assert_eq!(deltas, "a\u{1f600}b");
    let (code, said) = bridge.stop();
    assert_eq!(code, Some(0));
    assert!(
        said.contains("warning: request 1: event 6: ") && said.contains("OF_TOMORROW"),
        "{said}"
    );
    assert!(said.contains("request 1: sse -> protobuf, gzip: 7 events, "), "{said}");
    assert!(said.contains(" 1 dropped, 1 changed or left out: finished\n"), "{said}");
    let sums =
        "1 request, 1 run, 7 events: 0 passed on, 0 not whole, 1 dropped, 1 changed or left out\n";
    assert!(said.ends_with(sums), "{said}");
}
