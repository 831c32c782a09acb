//! The commands that speak HTTP.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::RangedU64ValueParser;
use http::{HeaderName, HeaderValue, Uri};

use super::pace::{Pace, pace};
use super::{LimitArgs, Source, seconds, size};

/// Replay a recorded session as an agent over HTTP
///
/// Every POST with the input of a run, at any path, is answered with the events of the session as
/// they were recorded: as protobuf or server-sent events by `Accept`, compressed by
/// `Accept-Encoding`. The address is told on standard error once it is bound. Ends on Ctrl-C or
/// SIGTERM.
///
/// Clients that are slow, silent or many are held to the limits below: each is finite, and a run that
/// pauses is no slow client. A client over HTTP/1 that closed its side of the connection is answered;
/// once it may have gone, a run that says nothing for ten seconds ends.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ag-ui-proto serve session.jsonl --listen 127.0.0.1:8000
  ag-ui-proto serve --from frames session.frames --pace recorded
  ag-ui-proto serve session.sse --listen 127.0.0.1:0 --pace 20ms --sse-only")]
pub(crate) struct Serve {
    /// A recorded session, as `encode` takes it; `-` or nothing for standard input
    #[arg(value_name = "FILE", default_value = "-", hide_default_value = true)]
    pub(crate) input: PathBuf,
    /// The form of the input, instead of finding out; frames are not found out
    #[arg(long, value_name = "FORM")]
    pub(crate) from: Option<Source>,
    /// How fast: `none` for as fast as it is read, `recorded` by the timestamps, or a time before
    /// each event, as in `20ms` or `0.5s`
    #[arg(long, value_name = "PACE", default_value = "none", value_parser = pace)]
    pub(crate) pace: Pace,
    /// Answer with server-sent events, whatever is asked for
    #[arg(long)]
    pub(crate) sse_only: bool,
    #[command(flatten)]
    pub(crate) listen: Listen,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// Call an agent and print its events
///
/// One event a line, as they come. Standard error says which binding and coding the agent spoke,
/// and how the run ended. The exit status is 0 for a run that finished, 1 for one that failed, was
/// refused, was no stream of events, or broke off. With the feature `tls`, an agent over https is
/// trusted as the system trusts it, or by the certificates of the file that the variable
/// `SSL_CERT_FILE` names.
///
/// Proxies, of HTTP, are those of the variables `http_proxy`, `https_proxy` and `all_proxy`, in capitals
/// too. What `no_proxy` lists is reached without one: names with their subdomains, addresses, ranges
/// such as `10.0.0.0/8`, `*` for all names. Nothing else is, not even 127.0.0.1.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ag-ui-proto run http://127.0.0.1:8000/ --message 'Two seats to Graz, please'
  ag-ui-proto run http://127.0.0.1:8000/ --input input.json --sse > session.jsonl
  ag-ui-proto run http://127.0.0.1:8000/ -H 'Authorization: Bearer ...' | jq -r .type")]
pub(crate) struct Run {
    /// The URL of the agent
    #[arg(value_name = "URL")]
    pub(crate) url: String,
    /// The input of the run in JSON, `-` for standard input; without it, one with new ids
    #[arg(long, value_name = "FILE")]
    pub(crate) input: Option<PathBuf>,
    /// What the user says, behind the messages of the input
    #[arg(short, long, value_name = "TEXT")]
    pub(crate) message: Option<String>,
    /// A header of the request; may be given more than once
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE", value_parser = header)]
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    /// Ask for server-sent events alone
    #[arg(long)]
    pub(crate) sse: bool,
    /// Ask for a body that is not compressed
    #[arg(long)]
    pub(crate) identity: bool,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// Speak protobuf in front of an agent that speaks server-sent events
///
/// Every request, at any path, is made to the upstream URL, with its method, body and headers; those
/// of the connection stay behind, and `Accept` asks for server-sent events. The events that come
/// back go on as protobuf or server-sent events by the client's `Accept`, compressed by its
/// `Accept-Encoding`. Any other answer is passed on as it is, to 1 MiB.
///
/// A run that breaks off upstream breaks off here: no end is made up for it. What is no event, or
/// cannot be sent, ends the body with a `RUN_ERROR`. Standard error tells of each run: what was
/// dropped from it, what was left out, which numbers protobuf rounded; and the sums at the end. Ends
/// on Ctrl-C or SIGTERM.
///
/// Which pages may call it, the agent says, unless `--allow-origin` is given. With the feature
/// `tls`, an agent over https is trusted as the system trusts it, or by the certificates of the file
/// that the variable `SSL_CERT_FILE` names. It is reached by way of the proxies that `run` uses:
/// those of `http_proxy`, `https_proxy` and `all_proxy`, but for what `no_proxy` lists.
///
/// Clients that are slow, silent or many are held to the limits below: each is finite, and a run that
/// pauses is no slow client. A client over HTTP/1 that closed its side of the connection is answered;
/// once it may have gone, a run that says nothing for ten seconds ends.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ag-ui-proto bridge --upstream http://127.0.0.1:8000/agent --listen 127.0.0.1:8001
  ag-ui-proto bridge --upstream http://10.0.0.2:8000/agent --listen 0.0.0.0:8001")]
pub(crate) struct Bridge {
    /// The URL of the agent
    #[arg(long, value_name = "URL")]
    pub(crate) upstream: String,
    /// How long the upstream may take to answer, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds)]
    pub(crate) response_timeout: Duration,
    /// How long a run may pause, in seconds; a comment upstream ends a pause
    #[arg(long, value_name = "SECONDS", default_value = "300", value_parser = seconds)]
    pub(crate) idle_timeout: Duration,
    #[command(flatten)]
    pub(crate) listen: Listen,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// Where a server is, which pages may call it, and how it stops.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Listen {
    /// The address to listen on; with port 0, a free port
    #[arg(long = "listen", value_name = "ADDR", default_value = "127.0.0.1:8000")]
    pub(crate) address: SocketAddr,
    /// Let pages of this origin call the server from a browser, without cookies; may be given more
    /// than once, `*` for any
    #[arg(long = "allow-origin", value_name = "ORIGIN", value_parser = origin)]
    pub(crate) origins: Vec<HeaderValue>,
    /// Merge neighbouring deltas that come while a client's connection is busy, or all at once, for
    /// slow links; on an idle one none waits
    #[arg(long)]
    pub(crate) merge: bool,
    /// How long runs may go on once it is told to stop, in seconds; until it is told again
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = seconds)]
    #[arg(allow_negative_numbers = true)]
    pub(crate) grace: Duration,
    #[command(flatten)]
    pub(crate) bounds: Bounds,
}

/// What clients may take of a server: connections, memory and time.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct Bounds {
    /// Connections at a time; those beyond wait until one is closed
    #[arg(long, value_name = "NUMBER", default_value_t = 10_000, value_parser = connections())]
    #[arg(allow_negative_numbers = true)]
    pub(crate) max_connections: u32,
    /// Memory for the bodies of all requests that are not yet answered, as in `64MiB`; one that finds
    /// it used up is answered with 503
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = size)]
    pub(crate) max_bodies: usize,
    /// How long a client may take from its connection, or from the answer before, to the end of the
    /// headers of a request, in seconds; then the connection is closed
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds)]
    #[arg(allow_negative_numbers = true)]
    pub(crate) header_timeout: Duration,
    /// How long the body of a request may take, in seconds; then the answer is 408
    #[arg(long, value_name = "SECONDS", default_value = "300", value_parser = seconds)]
    #[arg(allow_negative_numbers = true)]
    pub(crate) body_timeout: Duration,
    /// How long a client may take nothing of an answer that is there for it, or not be reached, in
    /// seconds; then the connection is closed
    #[arg(long, value_name = "SECONDS", default_value = "300", value_parser = seconds)]
    #[arg(allow_negative_numbers = true)]
    pub(crate) send_timeout: Duration,
}

fn connections() -> RangedU64ValueParser<u32> {
    RangedU64ValueParser::new().range(1..=1_000_000)
}

fn header(text: &str) -> Result<(HeaderName, HeaderValue), String> {
    let (name, value) = text.split_once(':').ok_or("expected `NAME: VALUE`")?;
    let name = name.trim().parse().map_err(|_| "no name of a header")?;
    let value = value.trim().parse().map_err(|_| "no value of a header")?;
    Ok((name, value))
}

/// An origin as a browser writes it: a scheme and a host, a port if it is not the scheme's own.
///
/// Rule: RFC 6454, 6.2.
fn origin(text: &str) -> Result<HeaderValue, String> {
    let text = text.to_ascii_lowercase();
    let is_origin = || {
        let url: Uri = text.parse().ok()?;
        let (scheme, authority) = (url.scheme_str()?, url.authority()?.as_str());
        let own_port = match scheme {
            "http" => ":80",
            "https" => ":443",
            _ => ":",
        };
        let is_usual = !authority.contains('@')
            && !authority.contains('*')
            && !authority.ends_with(':')
            && !authority.ends_with(own_port);
        Some(is_usual && text == format!("{scheme}://{authority}"))
    };
    if matches!(text.as_str(), "*" | "null") || is_origin() == Some(true) {
        return HeaderValue::try_from(text).map_err(|error| error.to_string());
    }
    Err("expected `*`, or an origin as in `https://example.com` or `http://localhost:3000`"
        .to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_as_a_browser_writes_it() {
        for (text, want) in [
            ("*", "*"),
            ("null", "null"),
            ("https://example.com", "https://example.com"),
            ("HTTP://Localhost:3000", "http://localhost:3000"),
            ("http://[::1]:3000", "http://[::1]:3000"),
            ("http://example.com:443", "http://example.com:443"),
            ("http://example.com:8080", "http://example.com:8080"),
            ("chrome-extension://abcdef", "chrome-extension://abcdef"),
        ] {
            assert_eq!(origin(text).unwrap(), want, "{text}");
        }
        for text in [
            "",
            "example.com",
            "example.com:80",
            "https://example.com/",
            "https://example.com/page",
            "https://example.com?",
            "https://example.com:443",
            "http://example.com:80",
            "http://example.com:",
            "http://me@example.com",
            "https://*.example.com",
            "https://exa mple.com",
            "//example.com",
        ] {
            assert!(origin(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_header_has_a_name_and_a_value() {
        let (name, value) = header("Authorization: Bearer a:b").unwrap();
        assert_eq!((name.as_str(), value.as_bytes()), ("authorization", &b"Bearer a:b"[..]));
        for text in ["Authorization", ": x", "a b: c", "a: b\nc: d"] {
            assert!(header(text).is_err(), "{text}");
        }
    }
}
