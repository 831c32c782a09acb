//! Streams: nothing waits that could be written, and memory does not grow.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::run::{END, END_FRAME};

fn start(words: &[&str]) -> (Child, ChildStdin, ChildStdout) {
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("ag-ui-proto"))
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    (child, stdin, stdout)
}

/// Checks that `output` comes after `input` while the pipe stays open, twice.
#[track_caller]
fn check_at_once(words: &[&str], input: &[u8], output: &[u8]) {
    let (mut child, mut stdin, mut stdout) = start(words);
    for _ in 0..2 {
        stdin.write_all(input).unwrap();
        let mut came = vec![0; output.len()];
        stdout.read_exact(&mut came).unwrap();
        assert_eq!(came, output, "{words:?}");
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn what_is_complete_is_written_at_once() {
    check_at_once(&["encode"], END.as_bytes(), END_FRAME);
    check_at_once(&["encode", "-o", "-"], format!("data: {END}\r\n\r\n").as_bytes(), END_FRAME);
    check_at_once(&["encode", "--from", "sse"], format!("data:{END}\n\n").as_bytes(), END_FRAME);
    check_at_once(&["decode"], END_FRAME, format!("{END}\n").as_bytes());
    check_at_once(&["decode", "--to", "sse"], END_FRAME, format!("data: {END}\n\n").as_bytes());
}

#[test]
fn a_run_is_told_as_soon_as_it_ends() {
    let (mut child, mut stdin, mut stdout) = start(&["verify"]);
    for (run, line) in [("r1", 1), ("r2", 3)] {
        let events = crate::run::session(&[&format!("start {run}"), &format!("finish {run}")]);
        stdin.write_all(events.as_bytes()).unwrap();
        let want = format!("stdin:{line}: run \"{run}\": success, 2 events\n");
        let mut came = vec![0; want.len()];
        stdout.read_exact(&mut came).unwrap();
        assert_eq!(String::from_utf8(came).unwrap(), want);
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_reader_that_leaves_ends_the_work_in_silence() {
    for (words, input) in
        [(["encode"], format!("{END}\n").into_bytes()), (["decode"], END_FRAME.to_vec())]
    {
        let (mut child, mut stdin, stdout) = start(&words);
        drop(stdout);
        let input = input.repeat(1000);
        while stdin.write_all(&input).is_ok() {}
        let mut err = String::new();
        child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        assert_eq!((child.wait().unwrap().code(), err.as_str()), (Some(0), ""));
    }
}

/// The most memory that a process ever had, in KiB; nothing once it has ended.
#[cfg(target_os = "linux")]
fn peak(child: &Child) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}

/// Feeds up to `total` bytes, asks for the memory on the way, then ends the input.
#[cfg(target_os = "linux")]
#[track_caller]
fn check_memory(words: &[&str], before: &[u8], item: &[u8], total: usize, code: i32) {
    let (mut child, mut stdin, mut stdout) = start(words);
    let reader = std::thread::spawn(move || std::io::copy(&mut stdout, &mut std::io::sink()));
    stdin.write_all(before).unwrap();
    let part = item.repeat((1 << 20) / item.len() + 1);
    let mut most = 0;
    for _ in 0..total / part.len() {
        let is_open = stdin.write_all(&part).is_ok();
        most = most.max(peak(&child).unwrap_or_default());
        if !is_open {
            break;
        }
    }
    drop(stdin);
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(code), "{err}");
    reader.join().unwrap().unwrap();
    assert!((1..32 * 1024).contains(&most), "{words:?}: {most} KiB");
}

#[test]
#[cfg(target_os = "linux")]
fn memory_does_not_grow_with_the_input() {
    let delta = "word ".repeat(1000);
    let event = format!(r#"{{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"{delta}"}}"#);
    // Without optimisation the same takes half a minute.
    let total = if cfg!(debug_assertions) { 64 << 20 } else { 200 << 20 };
    check_memory(&["encode"], b"", format!("{event}\n").as_bytes(), total, 0);
    let first = format!("[{END}");
    check_memory(&["encode"], first.as_bytes(), format!(",{event}").as_bytes(), total / 4, 1);
    check_memory(&["encode"], b"", format!("data: {event}\n\n").as_bytes(), total / 4, 0);
    let frame = crate::run::good(&["encode"], event.as_str());
    check_memory(&["decode", "--to", "array"], b"", &frame, total, 0);
    check_memory(&["inspect"], b"", &frame, total / 4, 0);
    let [open, close] =
        [&["start r", "open m"], &["close m", "finish r"]].map(|part| crate::run::session(part));
    let whole = format!("{open}{event}\n{close}");
    check_memory(&["verify"], b"", whole.as_bytes(), total, 0);
    // Runs are written as they end, and of a log the runs alone are kept.
    check_memory(&["compact"], b"", whole.as_bytes(), total / 4, 0);
    check_memory(&["lineage"], open.as_bytes(), format!("{event}\n").as_bytes(), total / 4, 0);
}

#[test]
#[cfg(target_os = "linux")]
fn an_endless_item_is_refused() {
    let words = ["encode", "--max-frame", "1MiB"];
    for (before, item) in [
        (r#"{"type":""#, "x"),
        ("nonsense", "x"),
        ("[[", "[1,"),
        ("data: ", "x"),
        ("data: x\n", "data: x\n"),
        (": ", "x"),
    ] {
        check_memory(&words, before.as_bytes(), item.as_bytes(), 64 << 20, 1);
    }
    check_memory(&["encode"], b"", b"\n \r\n", 16 << 20, 0);
}
