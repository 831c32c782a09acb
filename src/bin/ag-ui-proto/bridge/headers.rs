//! Which headers go on.
//!
//! | headers | to the agent | to the client |
//! |---|---|---|
//! | of the connection, and those that `Connection` names | no | no |
//! | `Host`, `Content-Length`, `Expect` | made anew | made anew |
//! | `Accept` of a POST; `Accept-Encoding` | `text/event-stream`; `identity` | |
//! | that describe the bytes of a run: `Content-Type`, `Content-Encoding`, `ETag` and the like | | made anew |
//! | `Access-Control-*` | yes | made anew if the bridge is told origins, else yes |
//! | `Via` | with the bridge added | yes |
//! | all others: `Authorization`, `Cookie`, `traceparent`, request ids | yes | yes |
//!
//! The agent behind is the one that the client means to speak to, so what is said to it in
//! confidence goes on.
//!
//! Rule: RFC 9110, 7.6.1 and 7.6.3.

use ag_ui_proto::negotiate::Format;
use http::header::{ACCEPT, ACCEPT_ENCODING, CONNECTION, HeaderName, VARY, VIA};
use http::{HeaderMap, HeaderValue, Method};

/// Headers of one connection, and not of what is said over it; and those that are made anew.
const OF_CONNECTION: &[&str] = &[
    "connection",
    "content-length",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Headers that describe the bytes of a body, which are others in another binding.
pub(super) const DESCRIBING: &[&str] = &[
    "accept-ranges",
    "cache-control",
    "content-digest",
    "content-encoding",
    "content-md5",
    "content-type",
    "digest",
    "etag",
    "last-modified",
    "repr-digest",
];

/// The headers of a request to the agent.
pub(super) fn request(method: &Method, headers: &HeaderMap) -> HeaderMap {
    let mut kept = end_to_end(headers);
    if method == Method::POST {
        kept.insert(ACCEPT, HeaderValue::from_static(Format::Sse.media_type()));
    }
    kept.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    kept
}

/// Whether a request with these headers went through the bridge of this name before.
pub(super) fn went_through(name: &HeaderValue, headers: &HeaderMap) -> bool {
    let of_name = |via: &HeaderValue| {
        let mut hops = via.as_bytes().split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
        hops.any(|hop| hop == name.as_bytes())
    };
    headers.get_all(VIA).iter().any(of_name)
}

/// The headers of an answer to the client.
pub(super) fn answer(headers: &HeaderMap) -> HeaderMap {
    end_to_end(headers)
}

/// Adds the headers that an answer with events has; what `Vary` names is added to what it named.
pub(super) fn merge(headers: &mut HeaderMap, of_events: &HeaderMap) {
    for (name, value) in of_events {
        if name == VARY {
            headers.append(name, value.clone());
        } else {
            headers.insert(name, value.clone());
        }
    }
}

/// Removes what an agent says of the pages that may call it.
pub(super) fn remove_access_control(headers: &mut HeaderMap) {
    let names: Vec<_> = headers
        .keys()
        .filter(|name| name.as_str().starts_with("access-control-"))
        .cloned()
        .collect();
    for name in names {
        headers.remove(name);
    }
}

fn end_to_end(headers: &HeaderMap) -> HeaderMap {
    let named: Vec<_> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse::<HeaderName>().ok())
        .collect();
    let mut kept = headers.clone();
    for name in OF_CONNECTION {
        kept.remove(*name);
    }
    for name in named {
        kept.remove(name);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(lines: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, HeaderValue::from_static(value));
        }
        headers
    }

    #[test]
    fn what_is_said_goes_on_and_what_is_of_the_connection_stays() {
        let asked = map(&[
            ("authorization", "Bearer x"),
            ("cookie", "a=1"),
            ("traceparent", "00-1-2-01"),
            ("x-request-id", "7"),
            ("content-type", "application/json"),
            ("accept", "application/vnd.ag-ui.event+proto"),
            ("accept-encoding", "br"),
            ("host", "bridge"),
            ("content-length", "2"),
            ("connection", "keep-alive, X-Hop"),
            ("connection", "x-other"),
            ("keep-alive", "timeout=5"),
            ("x-hop", "1"),
            ("x-other", "1"),
            ("te", "trailers"),
            ("transfer-encoding", "chunked"),
            ("upgrade", "h2c"),
            ("proxy-authorization", "Basic x"),
        ]);
        let want = map(&[
            ("authorization", "Bearer x"),
            ("cookie", "a=1"),
            ("traceparent", "00-1-2-01"),
            ("x-request-id", "7"),
            ("content-type", "application/json"),
            ("accept", "text/event-stream"),
            ("accept-encoding", "identity"),
        ]);
        assert_eq!(request(&Method::POST, &asked), want);
        let accept = &request(&Method::GET, &asked)["accept"];
        assert_eq!(accept, "application/vnd.ag-ui.event+proto");
    }

    #[test]
    fn a_bridge_knows_itself_among_others() {
        let name = HeaderValue::from_static("1.1 bridge-1");
        for (via, want) in [
            ("1.1 bridge-1", true),
            ("1.0 proxy (x), 1.1 bridge-1", true),
            ("1.1 bridge-12", false),
            ("1.1 bridge-2, 1.1 proxy", false),
        ] {
            assert_eq!(went_through(&name, &map(&[("via", "1.1 a"), ("via", via)])), want, "{via}");
        }
        assert!(!went_through(&name, &HeaderMap::new()));
    }

    #[test]
    fn what_varies_is_added_up() {
        let mut headers = map(&[("vary", "origin"), ("set-cookie", "a"), ("set-cookie", "b")]);
        merge(&mut headers, &map(&[("vary", "accept"), ("content-type", "x/y")]));
        let want = map(&[
            ("vary", "origin"),
            ("vary", "accept"),
            ("set-cookie", "a"),
            ("set-cookie", "b"),
            ("content-type", "x/y"),
        ]);
        assert_eq!(headers, want);
    }
}
