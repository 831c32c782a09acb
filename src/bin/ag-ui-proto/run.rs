//! `run`: a call to an agent.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use ag_ui_proto::client::{Client, ClientError, Run as Answer, RunEnd};
use ag_ui_proto::codec::Options;
use ag_ui_proto::model::{RunAgentInput, RunFinishedOutcome, UserMessage};
use ag_ui_proto::server::InputReader;
use ag_ui_proto::stream::InflateLimits;
use bytes::BytesMut;
use http::header::CONTENT_ENCODING;
use http::{HeaderMap, HeaderValue, Uri};

use crate::args::{LimitArgs, Run};
use crate::failure::Failure;
use crate::input::Input;
use crate::listen::say;
use crate::output::Output;
use crate::report::{Report, count};

pub(crate) fn run(args: &Run) -> Result<(), Failure> {
    check_url(&args.url)?;
    let report = Report::quiet();
    let input = input(args, &report)?;
    let mut builder = Client::builder().options(Options::from(args.limits.limits()));
    if args.sse {
        builder = builder.sse_only();
    }
    if !args.identity {
        builder = builder.compressed(InflateLimits::new());
    }
    let client = builder.build().map_err(|error| Failure::Trouble(error.to_string()))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::Trouble(format!("no runtime: {error}")))?;
    runtime.block_on(async {
        let headers: HeaderMap = args.headers.iter().cloned().collect();
        let answer = client.run_with_headers(&args.url, &input, headers).await;
        print(answer.map_err(|error| refused(&args.url, &error))?).await
    })
}

/// # Errors
///
/// A text that is no URL of a server that can be called.
pub(crate) fn check_url(url: &str) -> Result<(), Failure> {
    let schemes = if cfg!(feature = "tls") { &["http", "https"][..] } else { &["http"] };
    // The two take different things for URLs, and a call asks both.
    let is_known = url.parse::<Uri>().is_ok_and(|url| {
        url.host().is_some() && url.scheme_str().is_some_and(|scheme| schemes.contains(&scheme))
    });
    if is_known && reqwest::Url::parse(url).is_ok() {
        return Ok(());
    }
    let schemes = schemes.join(" or ");
    Err(Failure::Trouble(format!("{url}: expected the URL of an agent, over {schemes}")))
}

/// The input of the file, or one with new ids; and what the user says.
fn input(args: &Run, report: &Report) -> Result<RunAgentInput, Failure> {
    let mut input = if let Some(path) = &args.input {
        read(Input::open(path)?, &args.limits, report)?
    } else {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let id = format!("{:x}-{:x}", since.as_nanos(), std::process::id());
        RunAgentInput::new(format!("thread-{id}"), format!("run-{id}"), Vec::new())
    };
    if let Some(text) = &args.message {
        let id = format!("{}-message-{}", input.run_id, input.messages.len() + 1);
        input.messages.push(UserMessage::new(id, text.clone()).into());
    }
    Ok(input)
}

fn read(mut file: Input, limits: &LimitArgs, report: &Report) -> Result<RunAgentInput, Failure> {
    let (mut text, max) = (BytesMut::new(), limits.max_text_len());
    while text.len() <= max && file.fill(&mut text)? {}
    let reader = InputReader::new().with_max_len(max).with_max_depth(limits.limits().max_depth());
    let read = reader
        .read_json(&text)
        .map_err(|refusal| Failure::Trouble(format!("{}: {}", file.name(), refusal.detail())))?;
    for notice in read.notices {
        report.warning(file.name(), notice);
    }
    Ok(read.input)
}

fn refused(url: &str, error: &ClientError) -> Failure {
    match error {
        ClientError::Input(_) | ClientError::Unwritable(_) => Failure::Trouble(error.to_string()),
        error => Failure::Data(format!("{url}: {error}")),
    }
}

async fn print(answer: Answer) -> Result<(), Failure> {
    let coding = answer.headers().get(CONTENT_ENCODING).map(HeaderValue::as_bytes);
    let coding = coding.map_or("not compressed".into(), String::from_utf8_lossy);
    say(&format!("{}, {coding}", answer.format().media_type()));
    let printed = Arc::new(AtomicU64::new(0));
    let mut answer = answer.on_notice({
        let printed = Arc::clone(&printed);
        move |notice| {
            let place = format!("the answer, behind event {}", printed.load(Ordering::Relaxed));
            Report::quiet().warning(place, notice);
        }
    });
    let mut output = Output::stdout();
    let mut events = 0;
    while let Some(event) = answer.next_event().await {
        let line = serde_json::to_vec(&event)
            .map_err(|error| Failure::Data(format!("event {}: {error}", events + 1)))?;
        output.write(&line)?;
        output.write(b"\n")?;
        output.flush()?;
        events += 1;
        printed.store(events, Ordering::Relaxed);
    }
    let (end, events) = (answer.into_end().await, count(events, "event"));
    if let RunEnd::Finished(finished) = &end {
        let outcome = match &finished.outcome {
            Some(RunFinishedOutcome::Interrupt(_)) => ", interrupted",
            Some(RunFinishedOutcome::Cancelled(_)) => ", cancelled",
            _ => "",
        };
        say(&format!("{events}: finished{outcome}"));
        return Ok(());
    }
    Err(Failure::Data(format!("{events}: {end}")))
}
