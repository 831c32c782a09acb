//! Wrong usage, and help.

use predicates::prelude::*;

use crate::run::{END, END_FRAME, good, run};

#[test]
fn wrong_usage_is_2() {
    for words in [
        &[][..],
        &["transmogrify"],
        &["encode", "--no-such-option"],
        &["encode", "a", "b"],
        &["encode", "--from", "frames"],
        &["encode", "--max-frame", "4"],
        &["encode", "--max-frame", "10 parsecs"],
        &["decode", "--max-depth", "513"],
        &["decode", "--to", "yaml"],
        &["encode", "no/such/file"],
        &["verify", "no/such/file"],
        &["verify", "--from", "yaml"],
        &["apply", "a", "b"],
        &["compact", "--to", "yaml"],
        &["lineage", "--parent", "trap"],
        &["encode", "."],
        &["encode", "-o", "no/such/directory/file"],
        &["man", "nothing"],
    ] {
        let done = run(words, END);
        assert_eq!((done.code, done.out.len()), (2, 0), "{words:?}: {}", done.err);
        assert!(!done.err.is_empty());
    }
}

#[test]
fn an_input_that_is_not_there_costs_no_output() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("precious");
    std::fs::write(&path, "gold").unwrap();
    let done = run(&["encode", "no/such/file", "-o", path.to_str().unwrap()], "");
    assert_eq!(done.code, 2);
    assert_eq!(std::fs::read(&path).unwrap(), b"gold");
}

#[test]
fn help_and_version_are_results() {
    let help = String::from_utf8(good(&["--help"], "")).unwrap();
    for command in [
        "encode",
        "decode",
        "inspect",
        "roundtrip",
        "compare",
        "verify",
        "apply",
        "compact",
        "lineage",
    ] {
        assert!(help.contains(command));
        let help = String::from_utf8(good(&[command, "--help"], "")).unwrap();
        assert!(predicate::str::contains("Examples:").eval(&help), "{help}");
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
    }
    let version = good(&["--version"], "");
    assert_eq!(version, format!("ag-ui-proto {}\n", env!("CARGO_PKG_VERSION")).as_bytes());
}

#[test]
fn completions_and_manual_pages_are_made() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = String::from_utf8(good(&["completions", shell], "")).unwrap();
        assert!(script.contains("ag-ui-proto") && script.contains("keep-going"), "{shell}");
    }
    let page = String::from_utf8(good(&["man"], "")).unwrap();
    assert!(page.contains(".TH ag-ui-proto 1"), "{page}");
    let page = String::from_utf8(good(&["man", "decode"], "")).unwrap();
    assert!(page.contains("keep\\-going"), "{page}");
}

/// A full disk, as far as a program can tell.
#[test]
#[cfg(target_os = "linux")]
fn output_that_cannot_be_written_is_trouble() {
    let done = run(&["decode", "-o", "/dev/full"], END_FRAME);
    assert_eq!(done.code, 2);
    assert!(done.err.starts_with("error: /dev/full: cannot be written: "), "{}", done.err);
}
