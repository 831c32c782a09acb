//! `serve` and `bridge`, called by pages of other origins.

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::run::sample;
use crate::servers::{Server, scripted};

const PAGE: &str = "https://ui.example";
const OTHER: &str = "https://other.example";

/// The head of the answer, in lower case, and its lines of access control.
fn ask(url: &str, method: &str, headers: &str) -> (String, Vec<String>) {
    let address = url.strip_prefix("http://").unwrap().trim_end_matches('/');
    let mut connection = TcpStream::connect(address).unwrap();
    let body = r#"{"threadId":"t","runId":"r","messages":[]}"#;
    let request = format!(
        "{method} / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n{headers}\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    connection.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    drop(connection.read_to_end(&mut answer));
    let answer = String::from_utf8_lossy(&answer).to_ascii_lowercase();
    let head = answer.split("\r\n\r\n").next().unwrap().to_owned();
    let mut lines: Vec<_> =
        head.lines().filter(|line| line.starts_with("access-")).map(str::to_owned).collect();
    lines.sort();
    (head, lines)
}

fn origin(origin: &str) -> String {
    format!("Origin: {origin}\r\n")
}

/// What a browser asks before it lets a page call with a header of its own.
fn before(page: &str) -> String {
    format!(
        "{}Access-Control-Request-Method: POST\r\n\
         Access-Control-Request-Headers: authorization,content-type\r\n",
        origin(page)
    )
}

/// An agent that itself lets any page call, with cookies.
fn generous() -> String {
    let (url, _) = scripted(
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\nVary: X-Mine\r\n\
         Access-Control-Allow-Origin: *\r\nAccess-Control-Allow-Credentials: true\r\n\r\n\
         data: {\"type\":\"RUN_ERROR\",\"message\":\"no\"}\n\n",
    );
    url
}

/// Starts each server with these words more.
fn servers(words: &[&str]) -> [Server; 2] {
    let (sample, agent) = (sample("chat.jsonl"), generous());
    [["serve", &sample, "--pace", "none"], ["bridge", "--upstream", &agent, "--grace=5"]]
        .map(|command| Server::start(&[&command[..], words].concat()))
}

#[test]
fn a_page_of_an_allowed_origin_may_call_and_sees_all_headers() {
    for server in servers(&["--allow-origin", PAGE, "--allow-origin", "http://localhost:3000"]) {
        for page in [PAGE, "http://localhost:3000"] {
            let (head, lines) = ask(&server.url, "OPTIONS", &before(page));
            assert!(head.starts_with("http/1.1 200 ok\r\n"), "{head}");
            assert_eq!(
                lines,
                [
                    "access-control-allow-headers: authorization,content-type",
                    "access-control-allow-methods: post",
                    &format!("access-control-allow-origin: {page}"),
                    "access-control-max-age: 3600",
                ]
            );
            let (head, lines) = ask(&server.url, "POST", &origin(page));
            assert!(head.starts_with("http/1.1 200 ok\r\n"), "{head}");
            assert!(head.contains("\r\nvary: accept, accept-encoding"), "{head}");
            assert!(head.contains("\r\nvary: origin"), "a cache keeps origins apart: {head}");
            let allowed = format!("access-control-allow-origin: {page}");
            assert_eq!(lines, [allowed.as_str(), "access-control-expose-headers: *"]);
        }
    }
}

#[test]
fn a_page_of_another_origin_may_not() {
    for server in servers(&["--allow-origin", PAGE]) {
        for (method, headers) in [("OPTIONS", before(OTHER)), ("POST", origin(OTHER))] {
            let (head, _) = ask(&server.url, method, &headers);
            assert!(!head.contains("allow-origin"), "{head}");
            assert!(!head.contains("allow-credentials"), "{head}");
        }
    }
}

#[test]
fn a_star_allows_any_page() {
    for server in servers(&["--allow-origin", PAGE, "--allow-origin", "*"]) {
        for (method, headers) in [("OPTIONS", before(OTHER)), ("POST", origin(OTHER))] {
            let (head, _) = ask(&server.url, method, &headers);
            assert!(head.contains("\r\naccess-control-allow-origin: *\r\n"), "{head}");
            assert!(!head.contains("allow-credentials"), "{head}");
        }
    }
}

#[test]
fn without_the_option_no_page_may_call_but_what_the_agent_says_goes_on() {
    let [serve, bridge] = servers(&[]);
    assert!(ask(&serve.url, "OPTIONS", &before(PAGE)).0.starts_with("http/1.1 405 "));
    assert_eq!(ask(&serve.url, "POST", &origin(PAGE)).1, [""; 0]);
    assert_eq!(
        ask(&bridge.url, "POST", &origin(PAGE)).1,
        ["access-control-allow-credentials: true", "access-control-allow-origin: *"]
    );
}

#[test]
fn what_is_no_origin_is_wrong_usage() {
    for word in ["https://ui.example/", "ui.example", ""] {
        let words = ["serve", "--allow-origin", word, &sample("chat.jsonl")];
        let done = crate::run::run(&words, "");
        assert_eq!(done.code, 2, "{word}: {}", done.err);
        assert!(done.err.contains("expected `*`, or an origin"), "{}", done.err);
    }
}
