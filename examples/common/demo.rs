//! What the programs around the transports have in common: an agent, and a way to show its text.

use std::io::{Write as _, stdout};
use std::process::ExitCode;
use std::time::Duration;

use ag_ui_proto::Event;
use ag_ui_proto::model::{
    Body, Content, Message, RunAgentInput, RunError, RunFinished, RunStarted, TextMessageContent,
    TextMessageEnd, TextMessageStart, UserMessage,
};
use futures_util::{Stream, StreamExt, stream};
use tokio::time::sleep;

use super::{End, Fault};

/// Between two events: long enough to stop either side halfway, by hand.
const PAUSE: Duration = Duration::from_millis(50);

/// An agent that says one sentence, a few letters at a time.
pub(crate) fn hello(
    input: RunAgentInput,
) -> impl Stream<Item = Result<Event, RunError>> + Send + 'static {
    let (thread, run) = (input.thread_id, input.run_id);
    let mut events = vec![
        Event::from(RunStarted::new(thread.clone(), run.clone())),
        Event::from(TextMessageStart::new("m1")),
    ];
    for delta in ["Hel", "lo", " from", " the", " agent", "."] {
        events.push(TextMessageContent::new("m1", delta).into());
    }
    events.push(TextMessageEnd::new("m1").into());
    events.push(RunFinished::new(thread, run).into());
    stream::iter(events).then(|event| async {
        sleep(PAUSE).await;
        Ok(event)
    })
}

/// What the agent is asked.
pub(crate) fn question() -> RunAgentInput {
    let hi = Message::from(UserMessage::new("u1", Content::from("Hi")));
    RunAgentInput::new("thread-1", "run-1", vec![hi])
}

/// Writes text out as it comes.
pub(crate) fn show(event: &Event) {
    match &event.body {
        Body::TextMessageContent(content) => {
            print!("{}", content.delta);
            // Text that cannot be shown is no fault of the run.
            let _ = stdout().flush();
        }
        Body::TextMessageEnd(_) => println!(),
        _ => {}
    }
}

/// Says what became of a run, if the program had one; 0 if it finished.
pub(crate) fn exit(end: Result<Option<End>, Fault>) -> ExitCode {
    match end {
        Ok(None | Some(End::Finished(_))) => return ExitCode::SUCCESS,
        Ok(Some(end)) => eprintln!("\n{end}"),
        Err(error) => eprintln!("{error}"),
    }
    ExitCode::FAILURE
}
