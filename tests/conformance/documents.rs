//! `events/documents.tsv`: documents, whether they are valid, and the official bytes.

use std::collections::BTreeMap;

use ag_ui_proto::Event;
use ag_ui_proto::model::{
    Interrupt, Message, NoticeKind, ReadError, ResumeEntry, RunAgentInput, StrictReader,
    TolerantReader, Tool,
};
use bytes::BytesMut;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{as_doubles, directory};

/// Valid under the corpus's schema of 1.0, which leaves objects open; of closed objects an unknown
/// member is stripped, and strict reading refuses it.
const WITH_UNKNOWN_MEMBERS: [(&str, &str); 3] = [
    ("RunFinishedEvent/outcome-success-carrying-interrupts", "/outcome/interrupts"),
    ("SubagentFinishedEvent/outcome-success-carrying-interrupt-ids", "/outcome/interruptIds"),
    ("TextMessageEndEvent/unknown-property", "/somethingNewer"),
];

/// Invalid, and yet no reason to fail a run: what tolerant reading says, in the document's own
/// event or in the one that carries it.
const STRIPPED: [(&str, &str); 9] = [
    ("MessagesSnapshotEvent/role-shaped-like-a-tool-message", "/messages/0"),
    ("MessagesSnapshotEvent/role-shaped-like-an-activity-message", "/messages/0"),
    ("MessagesSnapshotEvent/role-shaped-like-an-assistant-message", "/messages/0"),
    ("MessagesSnapshotEvent/unknown-role", "/messages/0"),
    ("ReasoningEncryptedValueEvent/unknown-subtype", ""),
    ("ResumeEntry/unknown-status", "/input/resume/0"),
    ("StateDeltaEvent/patch-unknown-op", "/delta/0"),
    ("UserMessage/part-shaped-like-media-with-unknown-type", "/messages/0/content/0"),
    ("UserMessage/part-shaped-like-text-with-unknown-type", "/messages/0/content/0"),
];

/// Invalid, and shapes of 0.x that tolerant reading translates.
const RETIRED: [(&str, &str); 5] = [
    ("RunFinishedEvent/outcome-null", "/outcome"),
    ("TextMessageEndEvent/raw-event-null", "/rawEvent"),
    ("ToolCallChunkEvent/parent-message-id-null", "/parentMessageId"),
    ("ToolCallStartEvent/parent-message-id-null", "/parentMessageId"),
    ("UserMessage/legacy-binary-part", "/messages/0/content/0"),
];

struct Row {
    name: String,
    valid: bool,
    json: String,
    payload: Option<Vec<u8>>,
}

impl Row {
    fn definition(&self) -> &str {
        self.name.split('/').next().unwrap()
    }

    fn is_event(&self) -> bool {
        self.definition().ends_with("Event")
    }

    /// The document as an event, or in an event that carries it.
    fn in_an_event(&self) -> String {
        let json = &self.json;
        let input = |member: &str| {
            format!(
                r#"{{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{{"threadId":"t","runId":"r","messages":[],{member}}}}}"#
            )
        };
        match self.definition() {
            "Interrupt" => format!(
                r#"{{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{{"type":"interrupt","interrupts":[{json}]}}}}"#
            ),
            "ResumeEntry" => input(&format!(r#""resume":[{json}]"#)),
            "Tool" => input(&format!(r#""tools":[{json}]"#)),
            "RunAgentInput" => {
                format!(r#"{{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{json}}}"#)
            }
            "ToolMessage" | "UserMessage" => {
                format!(r#"{{"type":"MESSAGES_SNAPSHOT","messages":[{json}]}}"#)
            }
            _ => json.clone(),
        }
    }
}

fn rows() -> Vec<Row> {
    let Some(directory) = directory() else { return Vec::new() };
    let text = std::fs::read_to_string(directory.join("events/documents.tsv")).unwrap();
    let rows: Vec<Row> = text
        .lines()
        .map(|line| {
            let columns: Vec<&str> = line.split('\t').collect();
            let [name, verdict, json, payload] = columns[..] else { panic!("{line}") };
            let valid = match verdict {
                "valid" => true,
                "invalid" => false,
                _ => panic!("{line}"),
            };
            let payload = (payload != "-").then(|| {
                let digits = payload.as_bytes().chunks(2);
                digits
                    .map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap())
                    .collect()
            });
            Row { name: name.to_owned(), valid, json: json.to_owned(), payload }
        })
        .collect();
    assert_eq!(rows.len(), 179);
    rows
}

fn unknown_member(row: &Row) -> Option<&'static str> {
    WITH_UNKNOWN_MEMBERS.iter().find(|(name, _)| *name == row.name).map(|(_, path)| *path)
}

#[test]
fn every_valid_event_is_the_official_bytes() {
    let mut count = 0;
    for row in rows().iter().filter(|row| row.valid && row.is_event()) {
        let event = Event::from_json(&row.json).unwrap();
        let mut payload = BytesMut::new();
        let notices = event.encode(&mut payload).unwrap();
        assert_eq!(payload, row.payload.as_deref().unwrap(), "{}", row.name);
        assert_eq!(notices.len(), usize::from(unknown_member(row).is_some()), "{}", row.name);
        count += 1;
    }
    assert!(count == 95 || count == 0, "{count} events");
}

#[test]
fn every_valid_event_reads_back_from_the_official_bytes() {
    for row in rows().iter().filter(|row| row.valid && row.is_event()) {
        if unknown_member(row).is_some() {
            continue;
        }
        let decoded = Event::decode(row.payload.as_deref().unwrap()).unwrap();
        assert_eq!(decoded.notices, [], "{}", row.name);
        let mut ours = serde_json::to_value(&decoded.event).unwrap();
        let mut theirs = serde_json::from_str(&row.json).unwrap();
        super::streams::normalize(&mut theirs);
        as_doubles(&mut ours);
        as_doubles(&mut theirs);
        assert_eq!(ours, theirs, "{}", row.name);
    }
}

#[test]
fn every_valid_document_passes_both_readings_without_a_word() {
    for row in rows().iter().filter(|row| row.valid && unknown_member(row).is_none()) {
        let text = row.in_an_event();
        StrictReader::new().read(&text).unwrap_or_else(|error| panic!("{}: {error}", row.name));
        let read = TolerantReader::new().read(&text).unwrap();
        assert_eq!(read.notices, [], "{}", row.name);
        let ours = serde_json::to_value(&read.event).unwrap();
        assert_eq!(ours, serde_json::from_str::<serde_json::Value>(&text).unwrap(), "{}", row.name);
    }
}

#[test]
fn every_valid_part_reads_through_its_own_type() {
    fn check<T: DeserializeOwned + Serialize>(row: &Row) {
        let part: T =
            serde_json::from_str(&row.json).unwrap_or_else(|e| panic!("{}: {e}", row.name));
        let document: serde_json::Value = serde_json::from_str(&row.json).unwrap();
        assert_eq!(serde_json::to_value(&part).unwrap(), document, "{}", row.name);
    }
    let rows = rows();
    let mut counts = BTreeMap::new();
    for row in rows.iter().filter(|row| row.valid && !row.is_event()) {
        match row.definition() {
            "Interrupt" => check::<Interrupt>(row),
            "ResumeEntry" => check::<ResumeEntry>(row),
            "RunAgentInput" => {
                check::<RunAgentInput>(row);
                serde_json::from_str::<RunAgentInput>(&row.json).unwrap().validate().unwrap();
            }
            "Tool" => check::<Tool>(row),
            "ToolMessage" | "UserMessage" => check::<Message>(row),
            other => panic!("no type for {other}"),
        }
        *counts.entry(row.definition()).or_insert(0) += 1;
    }
    let expected = [
        ("Interrupt", 2),
        ("ResumeEntry", 2),
        ("RunAgentInput", 11),
        ("Tool", 5),
        ("ToolMessage", 1),
        ("UserMessage", 2),
    ];
    assert!(counts.is_empty() || counts == BTreeMap::from(expected), "{counts:?}");
}

#[test]
fn unknown_members_of_valid_documents_are_refused_strictly_and_stripped_tolerantly() {
    let rows = rows();
    for row in &rows {
        let Some(path) = unknown_member(row) else { continue };
        assert!(row.valid, "{}", row.name);
        let error = StrictReader::new().read(&row.json).unwrap_err();
        assert!(matches!(error, ReadError::Malformed(_)), "{}: {error:?}", row.name);
        assert!(error.to_string().ends_with(": unknown member"), "{}: {error}", row.name);
        let read = TolerantReader::new().read(&row.json).unwrap();
        let paths: Vec<String> = read.notices.iter().map(|notice| notice.path.pointer()).collect();
        assert_eq!(paths, [path], "{}", row.name);
    }
    let listed = rows.iter().filter(|row| unknown_member(row).is_some()).count();
    assert!(rows.is_empty() || listed == WITH_UNKNOWN_MEMBERS.len());
}

#[test]
fn every_invalid_document_is_refused_by_strict_reading() {
    let mut count = 0;
    for row in rows().iter().filter(|row| !row.valid) {
        match StrictReader::new().read(&row.in_an_event()) {
            Err(ReadError::Malformed(_)) => count += 1,
            other => panic!("{}: {other:?}", row.name),
        }
    }
    assert!(count == 179 - 95 - 23 || count == 0, "{count} invalid documents");
}

#[test]
fn an_invalid_document_is_fatal_to_tolerant_reading_unless_it_is_stripped_or_translated() {
    let find = |list: &[(&str, &'static str)], row: &Row| {
        list.iter().find(|(name, _)| *name == row.name).map(|(_, path)| *path)
    };
    for row in rows().iter().filter(|row| !row.valid) {
        let read = TolerantReader::new().read(&row.in_an_event());
        let retired = find(&RETIRED, row);
        let path = retired.or_else(|| find(&STRIPPED, row));
        match (path, read) {
            (None, Err(ReadError::Malformed(_))) => {}
            (Some(path), Ok(read)) => {
                let [notice] = &read.notices[..] else { panic!("{}: {read:?}", row.name) };
                assert_eq!(notice.path.pointer(), path, "{}", row.name);
                assert_eq!(
                    matches!(notice.kind, NoticeKind::Retired { .. }),
                    retired.is_some(),
                    "{}: {notice:?}",
                    row.name
                );
                assert_eq!(read.event.is_none(), path.is_empty(), "{}", row.name);
            }
            (_, read) => panic!("{}: {read:?}", row.name),
        }
    }
}
