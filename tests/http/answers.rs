//! Servers of every kind, and what a call comes to. Each in bounded time.

use std::io::Write;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ag_ui_proto::Event;
use ag_ui_proto::client::{Client, ClientError, Run, RunEnd, Truncation};
use ag_ui_proto::codec::{Limits, MEDIA_TYPE, Options};
use ag_ui_proto::model::{
    ActivityMessage, RunCancelled, RunError, RunFinished, RunFinishedOutcome, StepStarted,
};
use ag_ui_proto::negotiate::Format;
use ag_ui_proto::stream::BodyError;
use ag_ui_proto::value::Object;

use super::agent::{close, hold, scripted};
use super::loopback::{
    SHORT, body, chunk, chunked_head, client, delta, finished, head, in_time, input, run, started,
};

/// Calls a server that answers so and closes.
async fn call(answer: Vec<u8>) -> Result<Run, ClientError> {
    call_with(&client(Client::builder()), answer).await
}

async fn call_with(client: &Client, answer: Vec<u8>) -> Result<Run, ClientError> {
    let (url, _) = scripted(answer, close);
    in_time(client.run(&url, &input())).await
}

async fn events(mut run: Run) -> (Vec<Event>, RunEnd) {
    let mut events = Vec::new();
    while let Some(event) = in_time(run.next_event()).await {
        assert!(run.end().is_none());
        events.push(event);
    }
    assert!(run.end().is_some());
    (events, in_time(run.into_end()).await)
}

fn answer(content_type: &str, body: &[u8]) -> Vec<u8> {
    [head("200 OK", content_type).as_bytes(), body].concat()
}

const FORMATS: [(Format, &str); 2] =
    [(Format::Protobuf, MEDIA_TYPE), (Format::Sse, "text/event-stream")];

#[tokio::test]
async fn a_server_of_either_binding_is_read_by_what_it_says_it_sends() {
    for (format, content_type) in [
        FORMATS[0],
        FORMATS[1],
        (Format::Protobuf, "Application/vnd.AG-UI.event+proto; charset=utf-8"),
        (Format::Sse, "text/event-stream;charset=UTF-8"),
    ] {
        let run = call(answer(content_type, &body(format, &self::run()))).await.unwrap();
        assert_eq!(run.format(), format);
        let (events, end) = events(run).await;
        assert_eq!(events, self::run());
        assert!(end.is_finished(), "{end}");
    }
}

#[tokio::test]
async fn both_types_are_asked_for_by_name_in_one_line() {
    let (url, requests) = scripted(answer(MEDIA_TYPE, &[]), close);
    let mut input = input();
    input.messages.push(ActivityMessage::new("a", "PLAN", Object::new()).into());
    input.extra.insert("mood", "calm");
    for builder in [Client::builder(), Client::builder().sse_only()] {
        in_time(client(builder).run(&url, &input)).await.unwrap();
    }
    let request = requests.recv().unwrap();
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    let head = head.to_ascii_lowercase();
    assert!(head.starts_with("post /agent http/1.1\r\n"), "{head}");
    for line in [
        "accept: application/vnd.ag-ui.event+proto, text/event-stream",
        "accept-encoding: identity",
        "content-type: application/json",
    ] {
        assert_eq!(head.lines().filter(|each| *each == line).count(), 1, "{line} in {head}");
    }
    assert_eq!(
        body, r#"{"threadId":"t","runId":"r","messages":[],"protocolVersion":"1.1"}"#,
        "activity messages and what is unknown stay here"
    );
    let request = requests.recv().unwrap().to_ascii_lowercase();
    assert!(request.contains("\r\naccept: text/event-stream\r\n"), "{request}");
}

#[tokio::test]
async fn a_malformed_input_is_not_sent() {
    let (url, requests) = scripted(Vec::new(), close);
    let input = input().with_state(ag_ui_proto::value::Value::Null);
    let error = in_time(client(Client::builder()).run(&url, &input)).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the input of the run: state: null; leave the member out instead"
    );
    assert!(requests.try_recv().is_err());
}

#[tokio::test]
async fn an_error_status_is_told_with_its_body() {
    for (status, code) in [
        ("401 Unauthorized", 401),
        ("413 Content Too Large", 413),
        ("500 Internal Server Error", 500),
    ] {
        // Even if it says that it is a stream of events.
        for content_type in ["application/problem+json", "text/event-stream"] {
            let answer = [head(status, content_type).as_bytes(), b"{\"detail\":\"no\"}"].concat();
            let error = call(answer).await.unwrap_err();
            let ClientError::Status(answer) = &error else { panic!("{error:?}") };
            assert_eq!(answer.status.as_u16(), code);
            assert_eq!(answer.content_type.as_deref(), Some(content_type));
            assert_eq!(answer.body, "{\"detail\":\"no\"}");
            assert!(error.to_string().starts_with(&format!("status {code} ")), "{error}");
        }
    }
}

#[tokio::test]
async fn a_page_with_status_200_is_no_run() {
    let page = "<!doctype html><title>Log in</title>".repeat(10_000);
    let error = call(answer("text/html", page.as_bytes())).await.unwrap_err();
    let ClientError::ContentType(answer) = &error else { panic!("{error:?}") };
    assert_eq!(answer.status, 200);
    assert_eq!(answer.body, page[..4096], "what is kept is bounded");
    let text = error.to_string();
    assert!(
        text.starts_with("an answer that is no stream of events: status 200 OK, text/html: <!doc"),
        "{text}"
    );
    assert!(text.len() < 400, "{text}");

    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".to_vec();
    let error = call(answer).await.unwrap_err();
    assert_eq!(error.to_string(), "an answer that is no stream of events: status 200 OK");
}

#[tokio::test]
async fn a_page_that_never_ends_is_not_waited_for() {
    let answer = [head("200 OK", "text/html").as_bytes(), b"<p>"].concat();
    let (url, _) = scripted(answer, hold);
    let client = client(Client::builder().response_timeout(SHORT));
    let error = in_time(client.run(&url, &input())).await.unwrap_err();
    assert_eq!(error.answer().unwrap().body, "<p>");
}

#[tokio::test]
async fn a_redirection_that_would_change_the_request_is_not_followed() {
    let answer = b"HTTP/1.1 302 Found\r\nLocation: /login\r\nContent-Length: 0\r\n\r\n".to_vec();
    let error = call(answer).await.unwrap_err();
    assert_eq!(error.to_string(), "status 302 Found");
}

#[tokio::test]
async fn a_redirection_that_keeps_the_request_is_followed_but_not_for_ever() {
    let (url, requests) = scripted(answer(MEDIA_TYPE, &[]), close);
    let head = |to: &str| {
        format!(
            "HTTP/1.1 307 Temporary Redirect\r\nLocation: {to}\r\nConnection: close\r\n\
             Content-Length: 0\r\n\r\n"
        )
    };
    let (first, _) = scripted(head(&url), close);
    in_time(client(Client::builder()).run(&first, &input())).await.unwrap();
    let request = requests.recv().unwrap();
    assert!(request.starts_with("POST ") && request.contains("\"threadId\""), "{request}");

    let (first, _) = scripted(head("/again"), close);
    let error = in_time(client(Client::builder()).run(&first, &input())).await.unwrap_err();
    let place = first.replace("/agent", "/again");
    assert_eq!(
        error.to_string(),
        format!(
            "error following redirect for url ({place}): redirected more than 5 times, in a circle"
        )
    );
}

#[tokio::test]
async fn a_body_that_is_nothing_of_server_sent_events_is_rejected_by_its_looks() {
    let json = br#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}"#;
    let frames = body(Format::Protobuf, &run());
    for (sent, looks) in [
        (&b"<!doctype html>\n<title>Sign in</title>\n"[..], "HTML: \"<!doctype html>\""),
        (json, "JSON: \"{\\\"type\\\":"),
        (&frames, "frames of the binary binding: 00 00 00 "),
    ] {
        let want = format!("rejected: no server-sent events, but what looks like {looks}");
        let whole = answer("text/event-stream", sent);
        let broken = [chunked_head("text/event-stream").as_bytes(), &chunk(sent)].concat();
        for answer in [whole, broken] {
            let (events, end) = events(call(answer).await.unwrap()).await;
            assert_eq!(events, []);
            assert!(matches!(end, RunEnd::Rejected(BodyError::Stray(_))), "{end:?}");
            assert!(end.to_string().starts_with(&want), "{end}");
        }
    }
    let limits = Limits::new().with_max_frame_len(100);
    let client = client(Client::builder().options(Options::from(limits)));
    let page = answer("text/event-stream", &[b"<html>", &[b'x'; 200][..]].concat());
    let (_, end) = events(call_with(&client, page).await.unwrap()).await;
    assert!(end.to_string().contains("what looks like HTML"), "{end}");
    let (_, end) = events(call(answer("text/event-stream", b": hi\n\n")).await.unwrap()).await;
    assert_eq!(end.to_string(), "truncated: the body ended before the run did");
}

#[tokio::test]
async fn a_run_that_broke_off_says_once_that_it_is_truncated() {
    for (format, content_type) in FORMATS {
        let whole = body(format, &[started()]);
        let cut = answer(content_type, &whole[..whole.len() - 1]);
        let (_, end) = events(call(cut).await.unwrap()).await;
        let text = end.to_string();
        assert_eq!(text.matches("truncated").count(), 1, "{text}");
    }
}

#[tokio::test]
async fn the_default_client_is_there_with_any_features() {
    Client::new().unwrap();
}

#[tokio::test]
async fn an_encoding_that_was_not_asked_for_is_refused() {
    for (coding, body) in [("gzip", "\x1f"), ("deflate", "x"), ("gzip, br", "x")] {
        let answer = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: {MEDIA_TYPE}\r\nContent-Encoding: {coding}\r\n\
             Content-Length: 1\r\n\r\n{body}"
        );
        let error = call(answer.into_bytes()).await.unwrap_err();
        let ClientError::ContentEncoding { coding: told, .. } = &error else { panic!("{error:?}") };
        assert_eq!(told, coding);
    }
}

#[tokio::test]
async fn a_header_that_never_ends_times_out() {
    for answer in ["", "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nX-More: "] {
        let (url, _) = scripted(answer, hold);
        let client = client(Client::builder().response_timeout(SHORT));
        let error = in_time(client.run(&url, &input())).await.unwrap_err();
        assert!(matches!(error, ClientError::Timeout { after: SHORT }), "{error:?}");
    }
}

#[tokio::test]
async fn headers_without_end_are_refused_and_not_held() {
    for line in ["X-More: 1\r\n", "X"] {
        let (url, _) = scripted("HTTP/1.1 200 OK\r\n", move |mut connection| {
            let part = line.repeat(10_000);
            for _ in 0..10_000 {
                if connection.write_all(part.as_bytes()).is_err() {
                    return;
                }
            }
            panic!("a client that took a gigabyte of header");
        });
        let error = in_time(client(Client::builder()).run(&url, &input())).await.unwrap_err();
        assert!(matches!(error, ClientError::Http(_)), "{error:?}");
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_an_error() {
    let (url, _) = scripted(Vec::new(), close);
    let url = url.replace("http://", "http://user@");
    assert!(matches!(
        in_time(client(Client::builder()).run(&url, &input())).await.unwrap_err(),
        ClientError::Http(_)
    ));
    for url in ["http://127.0.0.1:1/", "not a url", "ftp://x/"] {
        let error = in_time(client(Client::builder()).run(url, &input())).await.unwrap_err();
        assert!(matches!(error, ClientError::Http(_)), "{error:?}");
    }
}

#[tokio::test]
async fn a_run_error_is_a_failure_and_not_a_fault() {
    for (format, content_type) in FORMATS {
        let error = RunError::new("the model is gone").with_code("MODEL");
        let sent = [started(), delta("Hel"), error.clone().into()];
        let run = call(answer(content_type, &body(format, &sent))).await.unwrap();
        let (events, end) = events(run).await;
        assert_eq!(events, sent);
        assert_eq!(end.to_string(), "failed: the model is gone (MODEL)");
        let RunEnd::Failed(told) = end else { panic!("{end:?}") };
        assert_eq!(*told, error);
    }
}

#[tokio::test]
async fn the_last_run_of_a_body_is_the_one_that_is_told() {
    let failed = || Event::from(RunError::new("no"));
    let cancelled =
        RunFinished::new("t", "r").with_outcome(RunFinishedOutcome::Cancelled(RunCancelled::new()));
    for (sent, want) in [
        (vec![started(), finished()], "finished"),
        (vec![started(), Event::from(cancelled)], "finished"),
        (vec![started(), finished(), started()], "truncated: the body ended before the run did"),
        (vec![started(), failed(), started(), finished()], "finished"),
        (vec![started(), finished(), failed()], "failed: no"),
        (vec![started(), failed(), finished()], "failed: no"),
        (vec![failed()], "failed: no"),
        (vec![], "truncated: the body ended before the run did"),
    ] {
        let run = call(answer(MEDIA_TYPE, &body(Format::Protobuf, &sent))).await.unwrap();
        let end = in_time(run.into_end()).await;
        assert_eq!(end.to_string(), want, "{sent:?}");
    }
}

#[tokio::test]
async fn a_cut_anywhere_is_truncated_and_keeps_what_came_before() {
    let client = client(Client::builder());
    for (format, content_type) in FORMATS {
        let sent = run();
        let whole = body(format, &sent);
        let bounds: Vec<_> =
            (0..=sent.len()).map(|count| body(format, &sent[..count]).len()).collect();
        for cut in 0..whole.len() {
            let answer = answer(content_type, &whole[..cut]);
            let run = call_with(&client, answer).await.unwrap();
            let (events, end) = events(run).await;
            let count = bounds.iter().rposition(|bound| *bound <= cut).unwrap();
            assert_eq!(events, sent[..count]);
            match end {
                RunEnd::Truncated(Truncation::BeforeEnd) => assert!(bounds.contains(&cut), "{cut}"),
                RunEnd::Truncated(Truncation::InEvent(error)) => {
                    assert!(error.is_truncated() && !bounds.contains(&cut), "{cut}: {error}");
                }
                end => panic!("{format} cut at {cut}: {end:?}"),
            }
        }
    }
}

#[tokio::test]
async fn a_connection_that_breaks_is_truncated_unless_the_run_had_ended() {
    for (format, content_type) in FORMATS {
        let whole = body(format, &run());
        for (cut, is_finished) in [(whole.len() / 2, false), (whole.len(), true)] {
            let answer = [chunked_head(content_type).as_bytes(), &chunk(&whole[..cut])].concat();
            let (_, end) = events(call(answer).await.unwrap()).await;
            match end {
                RunEnd::Truncated(Truncation::Broken(_)) => assert!(!is_finished),
                RunEnd::Finished(_) => assert!(is_finished),
                end => panic!("{end:?}"),
            }
        }
    }
}

#[tokio::test]
async fn a_pause_over_the_limit_is_truncated_unless_the_run_had_ended() {
    for (format, content_type) in FORMATS {
        for (sent, want) in [
            (vec![started(), delta("Hel")], "truncated: nothing came for 200ms"),
            (run(), "finished"),
        ] {
            let (url, _) = scripted(answer(content_type, &body(format, &sent)), hold);
            let client = client(Client::builder().idle_timeout(SHORT));
            let run = in_time(client.run(&url, &input())).await.unwrap();
            let (events, end) = events(run).await;
            assert_eq!(events, sent);
            assert_eq!(end.to_string(), want);
        }
    }
}

#[tokio::test]
async fn comments_end_a_pause_and_a_limit_may_be_beyond_all_clocks() {
    let (url, _) = scripted(
        answer("text/event-stream", &body(Format::Sse, &[started()])),
        |mut connection| {
            for _ in 0..8 {
                std::thread::sleep(SHORT / 4);
                connection.write_all(b": still here\n\n").unwrap();
            }
            connection.write_all(&body(Format::Sse, &[finished()])).unwrap();
            close(connection);
        },
    );
    for limit in [SHORT * 5, Duration::MAX] {
        let client = client(Client::builder().idle_timeout(limit));
        let (events, end) = events(in_time(client.run(&url, &input())).await.unwrap()).await;
        assert_eq!(events, [started(), finished()]);
        assert!(end.is_finished(), "{end}");
    }
}

#[tokio::test]
async fn bytes_that_are_no_events_are_rejected_with_their_place() {
    let good = body(Format::Protobuf, &[started()]);
    let place = format!("rejected: frame 2 at byte {}: ", good.len());
    for (bad, reason) in [
        (&b"\0\0\0\0"[..], "an empty frame names no event"),
        (b"\0\0\0\x01\xff", "malformed at byte 0 of the payload: "),
        (b"\xff\xff\xff\xff", "a frame of 4294967299 bytes is over the limit of 10485760"),
    ] {
        let run = call(answer(MEDIA_TYPE, &[&good, bad].concat())).await.unwrap();
        let (events, end) = events(run).await;
        assert_eq!(events, [started()], "what came before was given");
        assert!(matches!(end, RunEnd::Rejected(_)), "{end:?}");
        let text = end.to_string();
        assert!(text.starts_with(&format!("{place}{reason}")), "{text}");
    }
    let sse = [body(Format::Sse, &[started()]), b"data: {\"type\":5}\n\n".to_vec()].concat();
    let (events, end) = events(call(answer("text/event-stream", &sse)).await.unwrap()).await;
    assert_eq!(events, [started()]);
    assert!(end.to_string().starts_with("rejected: "), "{end}");
    assert!(matches!(end, RunEnd::Rejected(_)), "{end:?}");
}

/// Field report 20: a server that knows text alone is asked for both.
#[tokio::test]
async fn the_bindings_are_not_mixed_up() {
    let sse = body(Format::Sse, &run());
    let end = in_time(call(answer(MEDIA_TYPE, &sse)).await.unwrap().into_end()).await;
    assert!(matches!(end, RunEnd::Rejected(_)), "text that calls itself frames: {end:?}");
    let frames = body(Format::Protobuf, &run());
    let end = in_time(call(answer("text/event-stream", &frames)).await.unwrap().into_end()).await;
    assert!(!end.is_finished(), "frames that call themselves text: {end:?}");
}

#[tokio::test]
async fn limits_and_notices_are_the_callers() {
    let (url, _) = scripted(answer(MEDIA_TYPE, &body(Format::Protobuf, &run())), close);
    let limits = Limits::new().with_max_frame_len(10);
    let small = client(Client::builder().options(Options::from(limits)));
    let end = in_time(small.run(&url, &input())).await.unwrap().into_end().await;
    assert!(end.to_string().contains("over the limit of 10"), "{end}");

    // An arm of a later version.
    let frames = [&b"\0\0\0\x05\xfa\x3f\x02\x08\x01"[..], &body(Format::Protobuf, &run())].concat();
    let (url, _) = scripted(answer(MEDIA_TYPE, &frames), close);
    let (tell, told) = channel();
    let run = in_time(client(Client::builder()).run(&url, &input())).await.unwrap();
    let run = run.on_notice(move |notice| tell.send(notice.to_string()).unwrap());
    let (events, _) = events(run).await;
    assert_eq!(events, self::run());
    let notices: Vec<_> = told.iter().collect();
    assert_eq!(notices, ["dropped a frame with an event of a later version (arm 1023)"]);
}

#[tokio::test]
async fn each_event_is_given_before_the_next_one_is_sent() {
    for (format, content_type) in FORMATS {
        let (go, went) = channel();
        let went = Arc::new(Mutex::new(went));
        let (url, _) = scripted(chunked_head(content_type), move |mut connection| {
            for number in went.lock().unwrap().iter().take(5) {
                let event = Event::from(StepStarted::new(format!("{number}")));
                connection.write_all(&chunk(&body(format, &[event]))).unwrap();
            }
            hold(connection);
        });
        let mut run = in_time(client(Client::builder()).run(&url, &input())).await.unwrap();
        for number in 0..5 {
            go.send(number).unwrap();
            let event = in_time(run.next_event()).await;
            assert_eq!(event, Some(StepStarted::new(number.to_string()).into()));
        }
    }
}
