//! Branches of a log.

use ag_ui_proto::Event;
use ag_ui_proto::conversation::{Lineage, ParentRun};
use serde_json::{Value, json};

use crate::{events, messages};

fn run(id: &str, thread: &str, parent: Option<&str>) -> Vec<Event> {
    let mut started = json!({"type": "RUN_STARTED", "threadId": thread, "runId": id});
    if let Some(parent) = parent {
        started["parentRunId"] = json!(parent);
    }
    events(json!([
        started,
        {"type": "TEXT_MESSAGE_CHUNK", "messageId": id, "delta": "x"},
        {"type": "STATE_DELTA", "delta": [{"op": "add", "path": format!("/{id}"), "value": 1}]},
        {"type": "RUN_FINISHED", "threadId": thread, "runId": id},
    ]))
}

fn log(runs: &[(&str, &str, Option<&str>)]) -> Vec<Event> {
    runs.iter().flat_map(|(id, thread, parent)| run(id, thread, *parent)).collect()
}

fn ids(lineage: &Lineage<'_>, thread: &str, run: &str) -> Vec<String> {
    lineage.chain(thread, run).unwrap().into_iter().map(|run| run.run_id.to_owned()).collect()
}

#[test]
fn a_branch_is_its_chain_alone() {
    let log = log(&[("1", "t", None), ("2", "t", None), ("3", "t", Some("1")), ("4", "t", None)]);
    let lineage = Lineage::new(&log, ParentRun::Branch);
    assert_eq!(ids(&lineage, "t", "2"), ["1", "2"]);
    assert_eq!(ids(&lineage, "t", "4"), ["1", "3", "4"]);
    let tips: Vec<&str> = lineage.tips().map(|run| run.run_id).collect();
    assert_eq!(tips, ["2", "4"]);
    let conversation = lineage.materialize("t", "4").unwrap().unwrap();
    let texts = messages(&conversation);
    let texts: Vec<&Value> =
        texts.as_array().unwrap().iter().map(|message| &message["id"]).collect();
    assert_eq!(texts, [&json!("1"), &json!("3"), &json!("4")]);
    assert_eq!(
        serde_json::to_value(conversation.state()).unwrap(),
        json!({"1": 1, "3": 1, "4": 1})
    );
    assert!(lineage.materialize("t", "5").is_none());
}

/// Agents that count their runs give each thread a run "1".
#[test]
fn a_link_leads_to_a_run_of_its_own_thread() {
    let log = log(&[
        ("1", "t", None),
        ("1", "u", None),
        ("2", "t", Some("1")),
        ("2", "u", Some("1")),
        ("3", "t", Some("2")),
    ]);
    let lineage = Lineage::new(&log, ParentRun::Branch);
    let follows: Vec<_> = lineage.runs().iter().map(|run| run.follows).collect();
    assert_eq!(follows, [None, None, Some(0), Some(1), Some(2)]);
}

#[test]
fn a_run_is_found_by_its_thread_and_its_id() {
    let log = log(&[("1", "t", None), ("1", "u", None), ("2", "u", None), ("2", "t", None)]);
    let lineage = Lineage::new(&log, ParentRun::Branch);
    assert_eq!(lineage.run("t", "1").unwrap().events, 0..4);
    assert_eq!(lineage.run("u", "1").unwrap().events, 4..8);
    assert!(lineage.run("v", "1").is_none() && lineage.run("t", "3").is_none());
    for (thread, places) in [("t", [0..4, 12..16]), ("u", [4..8, 8..12])] {
        let chain = lineage.chain(thread, "2").unwrap();
        assert_eq!(chain.iter().map(|run| run.events.clone()).collect::<Vec<_>>(), places);
        assert_eq!(lineage.branch(thread, "2").unwrap()[0], &log[places[0].start]);
        let runs = lineage.materialize(thread, "2").unwrap().unwrap().runs().to_vec();
        assert!(runs.len() == 2 && runs.iter().all(|run| run.thread_id.as_deref() == Some(thread)));
    }
    let left = lineage.cut("u", "1").unwrap();
    assert!(left.len() == 8 && left.into_iter().eq(log[..4].iter().chain(&log[12..])));
}

#[test]
fn a_link_into_another_thread_must_say_which() {
    let log = log(&[
        ("1", "t", None),
        ("1", "u", None),
        ("2", "u", None),
        ("a", "v", Some("1")),
        ("b", "w", Some("2")),
        ("c", "v", Some("1")),
    ]);
    let branch = Lineage::new(&log, ParentRun::Branch);
    let links: Vec<_> = branch.runs().iter().map(|run| (run.parent, run.follows)).collect();
    let none = (None, None);
    assert_eq!(links, [none, none, (None, Some(1)), none, (Some(2), Some(2)), none]);
    let spawn = Lineage::new(&log, ParentRun::Spawn);
    let links: Vec<_> = spawn.runs().iter().map(|run| (run.parent, run.follows)).collect();
    assert_eq!(links, [none, none, (None, Some(1)), none, (Some(2), None), (None, Some(3))]);
}

#[test]
fn any_point_of_a_run_is_a_conversation() {
    let log = log(&[("1", "t", None), ("2", "t", None)]);
    let lineage = Lineage::new(&log, ParentRun::Branch);
    let at = |events| {
        let conversation = lineage.materialize_at("t", "2", events).unwrap().unwrap();
        (
            conversation.messages().len(),
            conversation.state().as_object().unwrap().len(),
            conversation.runs().len(),
        )
    };
    assert_eq!(
        [at(0), at(1), at(2), at(3), at(4), at(9)],
        [(1, 1, 1), (1, 1, 2), (2, 1, 2), (2, 2, 2), (2, 2, 2), (2, 2, 2)]
    );
}

#[test]
fn the_caller_says_whether_a_parent_is_gone_on_from_or_has_launched() {
    let log = log(&[
        ("1", "t", None),
        ("2", "t", None),
        ("child", "u", Some("1")),
        ("3", "t", Some("1")),
    ]);
    let branch = Lineage::new(&log, ParentRun::Branch);
    assert_eq!(ids(&branch, "u", "child"), ["1", "child"]);
    assert_eq!(ids(&branch, "t", "3"), ["1", "3"]);
    let spawn = Lineage::new(&log, ParentRun::Spawn);
    assert_eq!(ids(&spawn, "u", "child"), ["child"]);
    assert_eq!(ids(&spawn, "t", "3"), ["1", "2", "3"]);
    assert_eq!(spawn.run("u", "child").unwrap().parent_run_id, Some("1"));
}

#[test]
fn links_to_nowhere_to_itself_and_to_what_comes_later_make_roots() {
    let log = log(&[("1", "t", Some("2")), ("2", "t", Some("2")), ("3", "t", Some("gone"))]);
    let lineage = Lineage::new(&log, ParentRun::Branch);
    for id in ["1", "2", "3"] {
        assert_eq!(ids(&lineage, "t", id), [id]);
    }
}

#[test]
fn a_branch_is_cut_with_all_that_goes_on_from_it() {
    let log =
        log(&[("1", "t", None), ("2", "t", None), ("3", "t", Some("1")), ("4", "t", Some("2"))]);
    let lineage = Lineage::new(&log, ParentRun::Branch);
    let left: Vec<Event> = lineage.cut("t", "2").unwrap().into_iter().cloned().collect();
    let left = Lineage::new(&left, ParentRun::Branch)
        .runs()
        .iter()
        .map(|run| run.run_id.to_owned())
        .collect::<Vec<_>>();
    assert_eq!(left, ["1", "3"]);
    assert!(lineage.cut("t", "9").is_none());
}

#[test]
fn events_before_the_first_run_belong_to_none() {
    let mut log = events(json!([{"type": "RUN_ERROR", "message": "no"}]));
    log.extend(run("1", "t", None));
    let lineage = Lineage::new(&log, ParentRun::Branch);
    assert_eq!(lineage.runs().len(), 1);
    assert_eq!(lineage.runs()[0].events, 1..5);
}
