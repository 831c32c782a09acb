//! What a stream can make a conversation hold, and those that only look at it.

use ag_ui_proto::Event;
use ag_ui_proto::conversation::{
    ChunkExpander, Compactor, Conversation, Lineage, ParentRun, Verifier, apply_patch,
};
use ag_ui_proto::model::{
    ActivitySnapshot, PatchOperation, RunFinished, RunStarted, StateSnapshot, TextMessageChunk,
    TextMessageContent, TextMessageEnd, TextMessageStart, ToolCallResult, ToolCallStart,
};
use ag_ui_proto::value::{Object, Value};
use serde_json::json;

use super::{SLACK, alone, held_by, peak_of};

fn start(run: &str) -> Event {
    RunStarted::new("t", run).into()
}

fn delta() -> Event {
    TextMessageContent::new("m", "a word ").into()
}

fn finish(run: &str) -> Event {
    RunFinished::new("t", run).into()
}

#[test]
fn a_conversation_holds_the_text_and_not_its_deltas() {
    let _alone = alone();
    for deltas in [10_000, 100_000] {
        let (conversation, held) = held_by(|| {
            let mut conversation = Conversation::new();
            conversation.apply(&TextMessageStart::new("m").into());
            for _ in 0..deltas {
                conversation.apply(&delta());
            }
            conversation
        });
        let text = 7 * deltas;
        drop(conversation);
        // Text doubles as it grows.
        assert!(held <= 2 * text + SLACK, "{held} bytes for {text} of text");
    }
}

/// Two operations, and a move, once cost a copy of the state each.
#[test]
fn a_patch_holds_what_it_changes_and_not_the_state() {
    let _alone = alone();
    let state = Value::from((0..200_000).collect::<Vec<_>>());
    let mut state = Value::from(Object::from([("log", state), ("status", "waits".into())]));
    if let Some(log) = state.get_mut("log").and_then(Value::as_list_mut) {
        log.reserve(1);
    }
    for patch in [
        json!([
            {"op": "add", "path": "/log/-", "value": 1},
            {"op": "replace", "path": "/status", "value": "runs"},
        ]),
        json!([{"op": "move", "from": "/status", "path": "/mood"}]),
        json!([{"op": "move", "from": "/mood", "path": "/status"}, {"op": "remove", "path": "/x"}]),
    ] {
        let patch: Vec<PatchOperation> = serde_json::from_value(patch).unwrap();
        let (applied, peak) = peak_of(|| apply_patch(&mut state, &patch));
        assert!(peak < SLACK, "{peak} bytes");
        assert_eq!(applied.is_err(), state.get("mood").is_some() && patch.len() == 2);
    }
}

/// Each once left a list as long as all of them behind: 100,000 took 23 GB.
#[test]
fn results_that_become_activities_cost_what_they_hold() {
    let _alone = alone();
    let results = 8000;
    let ((), peak) = peak_of(|| {
        let mut conversation = Conversation::new();
        conversation.apply(&ToolCallStart::new("c", "f").into());
        for result in 0..results {
            conversation.apply(&ToolCallResult::new(format!("t{result}"), "c", "").into());
        }
        for result in 0..results {
            let id = format!("t{result}");
            conversation.apply(&ActivitySnapshot::new(id, "p", Object::new()).into());
        }
        assert_eq!(conversation.messages().len(), results + 1);
    });
    assert!(peak < 1024 * results, "{peak} bytes for {results} messages");
}

#[test]
fn the_rules_hold_nothing_of_what_passes() {
    let _alone = alone();
    let (mut expander, mut verifier) = (ChunkExpander::new(), Verifier::new());
    let mut ready = Vec::new();
    let ((), peak) = peak_of(|| {
        let mut judge = |event: Event| {
            expander.expand(event, &mut ready).unwrap();
            ready.drain(..).for_each(|event| verifier.verify(&event).unwrap());
        };
        for run in 0..100 {
            judge(start(&run.to_string()));
            for _ in 0..1000 {
                judge(TextMessageChunk::new().with_message_id("m").with_delta("a word ").into());
            }
            judge(finish("r"));
        }
    });
    assert!(peak < SLACK, "{peak} bytes");
}

/// Tens of thousands of stored deltas ran a server out of memory at each reconnect.
#[test]
fn compacting_holds_the_text_and_not_its_deltas() {
    let _alone = alone();
    for deltas in [36_000, 72_000, 144_000] {
        let mut out = Vec::new();
        let ((), peak) = peak_of(|| {
            let mut compactor = Compactor::new();
            let mut push = |event| compactor.push(event, &mut out).unwrap();
            push(start("r"));
            push(TextMessageStart::new("m").into());
            (0..deltas).for_each(|_| push(delta()));
            push(TextMessageEnd::new("m").into());
            push(finish("r"));
        });
        assert_eq!(out.len(), 5);
        let text = 7 * deltas;
        // Text doubles as it grows, and counts twice while it moves.
        assert!(peak <= 3 * text + SLACK, "{peak} bytes for {text} of text");
    }
}

#[test]
fn compacting_holds_one_run_at_a_time() {
    let _alone = alone();
    let run = |compactor: &mut Compactor, number: usize| {
        let mut out = Vec::new();
        let mut push = |event| compactor.push(event, &mut out).unwrap();
        let id = number.to_string();
        push(start(&id));
        push(TextMessageStart::new("m").into());
        (0..1000).for_each(|_| push(delta()));
        push(TextMessageEnd::new("m").into());
        push(StateSnapshot::new("state ".repeat(1000)).into());
        push(finish(&id));
        assert_eq!(out.len(), 6);
    };
    let mut compactor = Compactor::new();
    run(&mut compactor, 0);
    let ((), peak) = peak_of(|| (1..200).for_each(|number| run(&mut compactor, number)));
    // The list of runs of what is held grows by a run each.
    assert!(peak < SLACK + 200 * 512, "{peak} bytes");
}

#[test]
fn a_lineage_holds_runs_and_not_their_events() {
    let _alone = alone();
    let mut log = Vec::new();
    for run in 0..1000 {
        log.push(start(&run.to_string()));
        log.extend((0..100).map(|_| delta()));
        log.push(finish(&run.to_string()));
    }
    let (lineage, held) = held_by(|| Lineage::new(&log, ParentRun::Branch));
    assert!(held < 1000 * 512, "{held} bytes");
    let (branch, held) = held_by(|| lineage.branch("t", "999").unwrap());
    // A branch is a list of places in the log.
    assert!(held <= branch.len() * 16, "{held} bytes for {} events", branch.len());
}
