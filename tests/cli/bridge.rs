//! `bridge`.

use std::io::{Read, Write};
use std::net::TcpStream;
#[cfg(unix)]
use std::sync::mpsc::channel;
#[cfg(unix)]
use std::thread;
#[cfg(unix)]
use std::time::Duration;

use ag_ui_proto::stream::{CODINGS, Compressor};
use bytes::BytesMut;

#[cfg(unix)]
use crate::agent;
use crate::run::sample;
use crate::servers::{Server, call, events, posted, scripted};
use crate::talk::{SAMPLES, in_frames, over_frames};

const STARTED: &str = "data: {\"type\":\"RUN_STARTED\",\"threadId\":\"t\",\"runId\":\"r\"}\n\n";
const FINISHED: &str = "data: {\"type\":\"RUN_FINISHED\",\"threadId\":\"t\",\"runId\":\"r\"}\n\n";

/// Long enough for anything that ends at all.
#[cfg(unix)]
const PATIENCE: Duration = Duration::from_secs(20);

fn bridge(upstream: &str) -> Server {
    Server::start(&["bridge", "--upstream", upstream])
}

fn merging(upstream: &str) -> Server {
    Server::start(&["bridge", "--merge", "--upstream", upstream])
}

/// A connection that has sent a POST with these headers.
fn asked(url: &str, headers: &str) -> TcpStream {
    let address = url.strip_prefix("http://").unwrap().trim_end_matches('/');
    let mut connection = TcpStream::connect(address).unwrap();
    let request = format!(
        "POST /x?a=1 HTTP/1.1\r\nHost: bridge\r\nConnection: close, x-hop\r\n{headers}\
         Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{{}}"
    );
    connection.write_all(request.as_bytes()).unwrap();
    connection
}

/// The whole answer to a POST with these headers, as bytes.
fn post(url: &str, headers: &str) -> String {
    let mut connection = asked(url, headers);
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
    for (answer, start) in [events(STARTED), events(&half), chunked]
        .iter()
        .flat_map(|answer| [(answer, bridge as fn(&str) -> Server), (answer, merging)])
    {
        let bridge = start(&scripted(answer.as_str()).0);
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
fn a_run_that_breaks_off_before_its_first_event_is_still_an_answer() {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 10\r\n";
    let bridge = bridge(&scripted(format!("{head}Connection: close\r\n\r\ndata: {{\"ty")).0);
    for _ in 0..10 {
        let answer = post(&bridge.url, "Accept: text/event-stream\r\n");
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer:?}");
        assert!(!answer.ends_with("0\r\n\r\n"), "it is broken off, not ended: {answer:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_bridge_that_leads_back_to_itself_refuses_and_does_not_go_round() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let there = bridge(&format!("http://{free}/"));
    let words = ["bridge", "--upstream", &there.url];
    let back = Server::start_at(&words, &free.to_string());
    assert!(post(&back.url, "").starts_with("HTTP/1.1 508 Loop Detected\r\n"));
    let (_, said) = there.stop();
    assert!(said.contains("1 request, 0 runs, "), "{said}");
    let (_, said) = back.stop();
    assert!(
        said.contains("request 2: 508 Loop Detected: the URL of the agent leads back"),
        "{said}"
    );
    assert!(said.contains("2 requests, 0 runs, "), "{said}");
}

#[cfg(unix)]
#[test]
fn an_answer_that_has_no_body_is_no_run() {
    let head = "Content-Type: text/event-stream\r\nConnection: close\r\n\r\n";
    let (url, _told) = scripted(format!("HTTP/1.1 204 No Content\r\n{head}"));
    let bridge = bridge(&url);
    assert!(post(&bridge.url, "").starts_with("HTTP/1.1 204 No Content\r\n"));
    let said = bridge.stop().1;
    assert!(said.contains("request 1: no events, passed on with the status 204"), "{said}");
    assert!(said.contains("1 request, 0 runs, "), "{said}");
    assert!(said.contains(" 1 passed on, 0 not whole, "), "{said}");
}

#[cfg(unix)]
#[test]
fn a_request_that_is_too_long_is_refused_by_the_bridge_and_told_of() {
    let (url, _told) = scripted(events(&format!("{STARTED}{FINISHED}")));
    let bridge = bridge(&url);
    let answer = posted(&bridge.url, "application/json", 11 << 20);
    assert!(answer.starts_with("HTTP/1.1 413 Payload Too Large\r\n"), "{answer}");
    assert!(answer.contains("\r\ncontent-type: application/problem+json\r\n"), "{answer}");
    // Who announces its length and asks before it sends is told at once, and not to go on.
    let address = bridge.url.strip_prefix("http://").unwrap().trim_end_matches('/');
    let mut connection = TcpStream::connect(address).unwrap();
    let head = "POST / HTTP/1.1\r\nHost: bridge\r\nConnection: close\r\n\
                Expect: 100-continue\r\nContent-Length: 99999999999\r\n\r\n";
    connection.write_all(head.as_bytes()).unwrap();
    connection.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 413 Payload Too Large\r\n"), "{answer}");
    let said = bridge.stop().1;
    let detail = "request 1: 413 Payload Too Large: a body over the limit of 10485760 bytes";
    assert!(said.contains(detail), "{said}");
}

#[test]
fn an_agent_that_falls_silent_is_a_run_that_breaks_off() {
    let agent = Server::start(&["serve", &sample("chat.jsonl"), "--pace", "3600s"]);
    let words = ["bridge", "--upstream", &agent.url, "--idle-timeout", "0.2"];
    let called = call(&Server::start(&words).url, &[]);
    assert_eq!(called.code, Some(1));
    assert!(called.said.contains("1 event: truncated: the connection broke"), "{}", called.said);
}

/// Calls with these headers, reads the first byte of an answer if the agent gives this one, and goes
/// away. Gives what the bridge says of it once the agent has seen that.
#[cfg(unix)]
fn gone(answer: &str, headers: &str) -> String {
    let (tell, told) = channel();
    let (url, requests) = agent::scripted(answer, move |connection| {
        agent::hold(connection);
        tell.send(()).unwrap();
    });
    let bridge = bridge(&url);
    let mut connection = asked(&bridge.url, headers);
    requests.recv_timeout(PATIENCE).unwrap();
    if !answer.is_empty() {
        connection.read_exact(&mut [0]).unwrap();
    }
    assert!(told.try_recv().is_err(), "the agent is held while the client is there");
    drop(connection);
    told.recv_timeout(PATIENCE).expect("the agent is not told that the client is gone");
    bridge.stop().1
}

#[cfg(unix)]
#[test]
fn a_client_that_goes_away_cancels_the_request_to_the_agent() {
    // One that may only have closed its side is waited for, so all go at once.
    thread::scope(|scope| {
        for headers in
            ["", "Accept: application/vnd.ag-ui.event+proto\r\n", "Accept-Encoding: gzip\r\n"]
        {
            scope.spawn(move || {
                let said = gone(&events(STARTED), headers);
                let is_told = said.contains("1 event, ") && said.contains("the client went away");
                assert!(is_told, "{said}");
            });
            scope.spawn(move || {
                let said = gone("", headers);
                assert!(said.contains("1 request, 0 runs, 0 events"), "{said}");
            });
        }
    });
}

#[test]
fn an_agent_that_compresses_unasked_is_read_and_another_coding_refused() {
    let body = format!("{STARTED}{FINISHED}");
    let answer = |coding: &str, body: &[u8]| {
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: {coding}\r\n\
             Connection: close\r\n\r\n"
        );
        [head.as_bytes(), body].concat()
    };
    for coding in CODINGS {
        let mut compressed = BytesMut::new();
        let mut compressor = Compressor::new(*coding).unwrap();
        compressor.push(body.as_bytes(), &mut compressed).unwrap();
        compressor.finish(&mut compressed).unwrap();
        let (url, requests) = scripted(answer(coding.as_str(), &compressed));
        let bridge = bridge(&url);
        for words in [&[][..], &["--sse"], &["--identity"], &["--identity", "--sse"]] {
            let called = call(&bridge.url, words);
            assert_eq!(called.code, Some(0), "{coding} {words:?}: {}", called.said);
            assert_eq!(called.events.lines().count(), 2);
            let request = requests.recv().unwrap().to_ascii_lowercase();
            assert!(request.contains("\r\naccept-encoding: identity\r\n"), "{request}");
        }
        let cut = compressed.len() / 2;
        let (url, _) = scripted(answer(coding.as_str(), &compressed[..cut]));
        let called = call(&self::bridge(&url).url, &[]);
        assert_eq!(called.code, Some(1), "{coding}: {}", called.said);
        assert!(called.said.contains("truncated: "), "{coding}: {}", called.said);
    }
    let (url, _) = scripted(answer("deflate", body.as_bytes()));
    let answer = post(&bridge(&url).url, "");
    assert!(answer.starts_with("HTTP/1.1 502 Bad Gateway\r\n"), "{answer}");
    assert!(answer.contains("in the coding \\\"deflate\\\""), "{answer}");
}

#[test]
fn what_is_no_event_ends_the_run_with_an_error_that_says_so() {
    let (url, _told) = scripted(events(&format!("{STARTED}data: {{\"type\":7}}\n\n")));
    for bridge in [bridge(&url), merging(&url)] {
        let called = call(&bridge.url, &[]);
        assert_eq!(called.code, Some(1));
        let said = "2 events: failed: the agent behind the bridge: event 2 at byte ";
        assert!(
            called.said.contains(said) && called.said.contains("(BAD_UPSTREAM)"),
            "{}",
            called.said
        );
    }
}

#[test]
fn what_is_nothing_of_server_sent_events_is_told_by_its_looks() {
    for (body, looks) in [
        ("<!DOCTYPE html>\n<p>Sign in</p>", "HTML: \"<!DOCTYPE html>\""),
        (r#"{"type":"RUN_STARTED"}"#, r#"JSON: "{\"type\":\"RUN_STARTED\"}""#),
    ] {
        let (url, _told) = scripted(events(body));
        let bridge = bridge(&url);
        let called = call(&bridge.url, &[]);
        let said = format!(
            "1 event: failed: the agent behind the bridge: no server-sent events, but what looks \
             like {looks} (BAD_UPSTREAM)"
        );
        assert!(called.said.contains(&said), "{}", called.said);
        let called = call(&url, &[]);
        let said =
            format!("0 events: rejected: no server-sent events, but what looks like {looks}");
        assert!(called.said.contains(&said), "{}", called.said);
    }
}

#[cfg(unix)]
#[test]
fn a_run_that_breaks_off_is_truncated_and_says_so_once() {
    let half = format!("{STARTED}data: {{\"type\":\"STEP_STARTED\",\"step");
    let compressed = {
        let mut compressed = BytesMut::new();
        let mut compressor = Compressor::new(CODINGS[0]).unwrap();
        compressor.push(STARTED.as_bytes(), &mut compressed).unwrap();
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: {}\r\n\
             Connection: close\r\n\r\n",
            CODINGS[0]
        );
        [head.as_bytes(), &compressed].concat()
    };
    for answer in [events(STARTED).into_bytes(), events(&half).into_bytes(), compressed] {
        let (url, _told) = scripted(answer);
        let bridge = bridge(&url);
        for url in [&url, &bridge.url] {
            let said = call(url, &[]).said;
            assert_eq!(said.matches("truncated: ").count(), 1, "{said}");
        }
        let said = bridge.stop().1;
        assert_eq!(said.matches("truncated: ").count(), 1, "{said}");
    }
}

#[test]
fn redirections_in_a_circle_are_an_error_that_names_the_place() {
    let answer = "HTTP/1.1 307 Temporary Redirect\r\nLocation: /again\r\nConnection: close\r\n\
                  Content-Length: 0\r\n\r\n";
    let (url, _told) = scripted(answer);
    let answer = post(&bridge(&url).url, "");
    assert!(answer.starts_with("HTTP/1.1 502 Bad Gateway\r\n"), "{answer}");
    let place = url.replace("/agent", "/again");
    let detail = format!("({place}): redirected more than 5 times, in a circle");
    assert!(answer.contains(&detail), "{answer}");
}

#[test]
fn what_cannot_be_sent_ends_the_run_with_an_error_that_names_its_place() {
    let custom = "data: {\"type\":\"CUSTOM\",\"name\":\"n\",\"value\":1e400}\n\n";
    let (url, _told) = scripted(events(&format!("{STARTED}{custom}{FINISHED}")));
    let called = call(&bridge(&url).url, &[]);
    let said = "2 events: failed: the agent behind the bridge: event 2: CUSTOM: value: ";
    assert!(called.said.contains(said), "{}", called.said);
    // What was merged may be of several events, so it has no number.
    let called = call(&merging(&url).url, &[]);
    let said = "2 events: failed: the agent behind the bridge: CUSTOM: value: ";
    assert!(called.said.contains(said), "{}", called.said);
}

#[cfg(unix)]
#[test]
fn numbers_that_protobuf_rounds_are_told_and_counted() {
    let custom =
        |value| format!("data: {{\"type\":\"CUSTOM\",\"name\":\"n\",\"value\":{value}}}\n\n");
    let body = [
        STARTED,
        &custom("[9007199254740993,9007199254740992,0.1,1.0,[0.10000000000000000001]]"),
        &custom("18446744073709551615"),
        FINISHED,
    ];
    let bridge = bridge(&scripted(events(&body.concat())).0);
    let called = call(&bridge.url, &["--sse"]);
    assert_eq!(called.code, Some(0), "{}", called.said);
    assert!(called.events.contains("9007199254740993"), "{}", called.events);
    let called = call(&bridge.url, &[]);
    assert_eq!(called.code, Some(0), "{}", called.said);
    let (_, said) = bridge.stop();
    let runs: Vec<_> = said.lines().filter(|line| line.contains("bytes in")).collect();
    assert!(runs[0].ends_with("0 dropped, 0 changed or left out, 0 rounded: finished"), "{said}");
    assert!(runs[1].ends_with("0 dropped, 0 changed or left out, 3 rounded: finished"), "{said}");
    let told: Vec<_> =
        said.lines().filter_map(|line| line.strip_prefix("warning: request 2: event ")).collect();
    assert_eq!(
        told,
        [
            "2: CUSTOM: /value/0: integer-precision: 9007199254740993 becomes 9007199254740992",
            "2: CUSTOM: /value/4/0: decimal-precision: 0.10000000000000000001 becomes 0.1",
            "3: CUSTOM: /value: integer-precision: 18446744073709551615 becomes \
             1.8446744073709552e+19",
        ]
    );
    assert!(said.ends_with("0 changed or left out, 3 rounded\n"), "{said}");
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
    assert!(said.contains(" 1 dropped, 1 changed or left out, 0 rounded: finished\n"), "{said}");
    let sums = "1 request, 1 run, 7 events: 0 passed on, 0 not whole, 1 dropped, \
                1 changed or left out, 0 rounded\n";
    assert!(said.ends_with(sums), "{said}");
}
