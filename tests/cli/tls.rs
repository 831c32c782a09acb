//! `run` and `bridge`, of agents over https.

use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::thread;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::crypto::ring::default_provider;
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::agent::request;
use crate::servers::{Server, binary, call, call_as, events};

const STARTED: &str = "data: {\"type\":\"RUN_STARTED\",\"threadId\":\"t\",\"runId\":\"r\"}\n\n";
const FINISHED: &str = "data: {\"type\":\"RUN_FINISHED\",\"threadId\":\"t\",\"runId\":\"r\"}\n\n";

/// An authority of this test's own, which nobody trusts; its certificate is written to `file`. Gives
/// what a server needs to be at 127.0.0.1 by its word.
fn certified(file: &Path) -> ServerConfig {
    let mut params = CertificateParams::new([]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    std::fs::write(file, params.self_signed(&key).unwrap().pem()).unwrap();
    let authority = Issuer::new(params, key);

    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
    let certificate = params.signed_by(&key, &authority).unwrap();
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap()
}

/// An agent over https that gives every request this answer, and then closes the connection.
fn agent(config: ServerConfig, answer: String) -> String {
    use std::io::Write;

    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/agent", listener.local_addr().unwrap());
    thread::spawn(move || {
        for connection in listener.incoming() {
            let tls = ServerConnection::new(config.clone()).unwrap();
            let mut stream = StreamOwned::new(tls, connection.unwrap());
            if request(&mut stream).is_empty() {
                continue;
            }
            drop(stream.write_all(answer.as_bytes()));
            stream.conn.send_close_notify();
            drop(stream.flush());
        }
    });
    url
}

/// The binary, which trusts the authorities of a file and no others.
fn trusting(file: &Path) -> Command {
    let mut command = binary();
    command.env("SSL_CERT_FILE", file).env_remove("SSL_CERT_DIR");
    command
}

#[test]
fn an_agent_over_https_is_called_if_its_authority_is_trusted() {
    let dir = tempfile::tempdir().unwrap();
    let [ours, theirs] = ["ours.pem", "theirs.pem"].map(|name| dir.path().join(name));
    certified(&theirs);
    let url = agent(certified(&ours), events(&format!("{STARTED}{FINISHED}")));

    let called = call_as(trusting(&ours), &url, &[]);
    assert_eq!(called.code, Some(0), "{}", called.said);
    assert_eq!(called.events.lines().count(), 2);
    let called = call_as(trusting(&theirs), &url, &[]);
    assert_eq!((called.code, called.events.as_str()), (Some(1), ""), "{}", called.said);
    assert!(called.said.contains("certificate"), "{}", called.said);
}

#[test]
fn a_bridge_speaks_to_an_agent_over_https_if_its_authority_is_trusted() {
    let dir = tempfile::tempdir().unwrap();
    let [ours, theirs] = ["ours.pem", "theirs.pem"].map(|name| dir.path().join(name));
    certified(&theirs);
    let config = certified(&ours);
    let whole = agent(config.clone(), events(&format!("{STARTED}{FINISHED}")));
    let bridge = Server::start_as(trusting(&ours), &["bridge", "--upstream", &whole]);
    for words in [&[][..], &["--sse"]] {
        let called = call(&bridge.url, words);
        assert_eq!(called.code, Some(0), "{}", called.said);
        assert_eq!(called.events.lines().count(), 2);
    }

    let cut = agent(config, events(STARTED));
    let bridge = Server::start_as(trusting(&ours), &["bridge", "--upstream", &cut]);
    let called = call(&bridge.url, &[]);
    assert_eq!(called.code, Some(1));
    assert!(called.said.contains("1 event: truncated: "), "{}", called.said);

    let bridge = Server::start_as(trusting(&theirs), &["bridge", "--upstream", &whole]);
    let called = call(&bridge.url, &[]);
    assert_eq!(called.code, Some(1));
    assert!(called.said.contains("502") && called.said.contains("certificate"), "{}", called.said);
}
