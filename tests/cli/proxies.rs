//! Proxies that the variables name.

use std::process::Command;

use crate::servers::{Server, binary, call, call_as, events, scripted};

const RUN: &str = "data: {\"type\":\"RUN_STARTED\",\"threadId\":\"t\",\"runId\":\"r\"}\n\n\
                   data: {\"type\":\"RUN_FINISHED\",\"threadId\":\"t\",\"runId\":\"r\"}\n\n";

/// Nobody but a proxy knows it.
const AGENT: &str = "http://agent.invalid/run";

fn with(variables: &[(&str, &str)]) -> Command {
    let mut command = binary();
    for name in ["no_proxy", "NO_PROXY", "https_proxy", "HTTPS_PROXY"] {
        command.env_remove(name);
    }
    command.envs(variables.iter().copied());
    command
}

#[test]
fn an_agent_is_reached_through_the_proxy_that_the_variables_name() {
    let (proxy, told) = scripted(events(RUN));
    for name in ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"] {
        let called = call_as(with(&[(name, &proxy)]), AGENT, &[]);
        assert_eq!(called.code, Some(0), "{name}: {}", called.said);
        let request = told.recv().unwrap();
        assert!(request.starts_with("POST http://agent.invalid/run HTTP/1.1\r\n"), "{request}");
    }
    let words = ["bridge", "--upstream", AGENT];
    let bridge = Server::start_as(with(&[("http_proxy", &proxy)]), &words);
    let called = call(&bridge.url, &[]);
    assert_eq!(called.code, Some(0), "{}", called.said);
    assert!(told.recv().unwrap().starts_with("POST http://agent.invalid/run HTTP/1.1\r\n"));
}

#[test]
fn a_host_that_is_excepted_is_reached_without_the_proxy() {
    let (agent, told) = scripted(events(RUN));
    let nowhere = ("http_proxy", "http://127.0.0.1:1/");
    let called = call_as(with(&[nowhere]), &agent, &[]);
    assert_eq!(called.code, Some(1), "not even a loopback address is excepted by itself");
    let named = agent.replace("127.0.0.1", "localhost");
    let called = call_as(with(&[nowhere, ("no_proxy", "*")]), &agent, &[]);
    assert_eq!(called.code, Some(1), "a star is for names alone");
    for name in ["no_proxy", "NO_PROXY"] {
        for (url, hosts) in [
            (&agent, "127.0.0.1"),
            (&agent, "example.com, 127.0.0.0/8"),
            (&named, "localhost"),
            (&named, "*"),
        ] {
            let called = call_as(with(&[nowhere, (name, hosts)]), url, &[]);
            assert_eq!(called.code, Some(0), "{name}={hosts}: {}", called.said);
            assert!(told.recv().unwrap().starts_with("POST /agent HTTP/1.1\r\n"));
        }
    }
}

#[cfg(feature = "tls")]
#[test]
fn an_agent_over_https_is_asked_of_the_proxy_for_it_as_a_tunnel() {
    let refusal = "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n";
    let (proxy, told) = scripted(refusal);
    for name in ["https_proxy", "HTTPS_PROXY", "all_proxy"] {
        let called = call_as(with(&[(name, &proxy)]), "https://agent.invalid/run", &[]);
        assert_eq!(called.code, Some(1), "{}", called.said);
        let request = told.recv().unwrap();
        assert!(request.starts_with("CONNECT agent.invalid:443 HTTP/1.1\r\n"), "{request}");
    }
}
