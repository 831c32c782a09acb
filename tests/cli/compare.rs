//! `compare`: sizes, what is said first, the page, and what cannot be compared.

use ag_ui_proto::value::Value;

use crate::run::{BAD_FRAME, END, END_FRAME, FUTURE_FRAME, Run, good, run, sample, sample_text};

/// A delta with a time.
const DELTA: &str =
    r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m1","delta":"Hel","timestamp":5}"#;

/// Runs without a clock, whose numbers no test looks at.
#[track_caller]
fn compare(words: &[&str], stdin: impl Into<Vec<u8>>) -> Run {
    run(&[&["compare", "--rounds", "0"], words].concat(), stdin)
}

#[track_caller]
fn object(words: &[&str], stdin: impl Into<Vec<u8>>) -> Value {
    let done = compare(&[&["--json"], words].concat(), stdin);
    assert_eq!((done.code, done.err.as_str()), (0, ""), "{words:?}");
    Value::from_json(done.text(), 16).unwrap()
}

#[track_caller]
fn check(object: &Value, wanted: &[(&str, Value)]) {
    for (pointer, value) in wanted {
        assert_eq!(object.pointer(pointer), Some(value), "{pointer}");
    }
}

#[test]
fn every_byte_of_a_small_session_is_counted() {
    let object = object(&[], format!("{DELTA}\n{END}\n{END}\n"));
    check(
        &object,
        &[
            ("/events", 3.into()),
            ("/dropped", 0.into()),
            ("/failed", 0.into()),
            ("/files/0/file", "stdin".into()),
            ("/files/0/complete", true.into()),
            // JSON of 76 and 43 characters, 8 of `data: ` and the empty line each.
            ("/bytes/raw/sse", (84 + 2 * 51).into()),
            // 17 bytes and 9 behind headers of 4. See `anatomy/protobuf.rs` for the first.
            ("/bytes/raw/frames", (21 + 2 * 13).into()),
            ("/types/0/type", "TEXT_MESSAGE_CONTENT".into()),
            ("/types/0/bytes/raw/sse", 84.into()),
            ("/types/0/bytes/raw/frames", 21.into()),
            ("/types/1/type", "TEXT_MESSAGE_END".into()),
            ("/types/1/events", 2.into()),
            ("/types/1/bytes/raw/frames", 26.into()),
            ("/types/1/speed", Value::Null),
            ("/speed", Value::Null),
            ("/parts/sse/ids", 4.into()),
            ("/parts/sse/type", (29 + 2 * 25).into()),
            ("/parts/sse/timestamp", 13.into()),
            ("/parts/sse/content", 3.into()),
            ("/parts/sse/structure", (29 + 2 * 17 + 3 * 8).into()),
            ("/parts/frames/ids", 4.into()),
            ("/parts/frames/type", 6.into()),
            ("/parts/frames/timestamp", 2.into()),
            ("/parts/frames/content", 3.into()),
            ("/parts/frames/structure", (12 + 2 * 10).into()),
            ("/link/seconds/0/bitsPerSecond", 10_000.into()),
            // 186 bytes of 8 bits each.
            ("/link/seconds/0/raw/sse", 0.1488.into()),
            ("/losses/checked", 3.into()),
            ("/losses/kinds", Value::from_json("[]", 1).unwrap()),
        ],
    );
}

#[test]
fn the_types_sum_to_the_total() {
    let object = object(&[&sample("research.jsonl")], "");
    let sum = |pointer: &str| {
        let types = object["types"].as_list().unwrap().iter();
        types.map(|each| each.pointer(pointer).unwrap().as_u64().unwrap()).sum::<u64>()
    };
    assert_eq!(sum("/events"), 768);
    for way in ["raw", "gzip", "br", "zstd"] {
        for form in ["sse", "frames"] {
            let pointer = format!("/bytes/{way}/{form}");
            assert_eq!(Some(sum(&pointer)), object.pointer(&pointer).unwrap().as_u64());
        }
    }
    for form in ["sse", "frames"] {
        let parts = object["parts"][form].as_object().unwrap();
        let sum: u64 = parts.values().map(|part| part.as_u64().unwrap()).sum();
        assert_eq!(Some(sum), object["bytes"]["raw"][form].as_u64());
    }
}

#[test]
fn all_forms_of_input_give_the_same_sizes() {
    let sse = format!("data: {DELTA}\n\ndata: {END}\n\n");
    let frames = good(&["encode"], sse.as_str());
    let bytes = object(&[], format!("{DELTA}\n{END}\n"))["bytes"].clone();
    for (from, text) in [("sse", sse), ("array", format!("[{DELTA},\n{END}]"))] {
        assert_eq!(object(&[], text.as_str())["bytes"], bytes);
        assert_eq!(object(&["--from", from], text)["bytes"], bytes);
    }
    let object = object(&["--from", "frames"], frames);
    assert_eq!(object["bytes"], bytes);
    check(&object, &[("/losses/checked", 0.into())]);
}

#[test]
fn several_sessions_are_summed_and_each_has_compressors_of_its_own() {
    let [chat, multimodal] = ["chat.jsonl", "multimodal.sse"].map(sample);
    let alone = [&chat, &multimodal].map(|path| object(&[path], "")["bytes"].clone());
    let both = object(&[&chat, &multimodal], "");
    for (index, alone) in alone.iter().enumerate() {
        assert_eq!(both["files"][index]["bytes"], *alone);
    }
    for pointer in ["/raw/sse", "/gzip/frames", "/br/sse", "/zstd/frames"] {
        let of = |bytes: &Value| bytes.pointer(pointer).unwrap().as_u64().unwrap();
        assert_eq!(of(&both["bytes"]), alone.iter().map(of).sum::<u64>(), "{pointer}");
    }
}

#[test]
fn what_speaks_for_json_is_said_first() {
    let event =
        r#"{"type":"STATE_SNAPSHOT","snapshot":{"v":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]}}"#;
    let done = compare(&[], event);
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    let lines: Vec<_> = done.text().lines().collect();
    assert!(
        lines[0].starts_with("JSON      Compression saves more than the wire: "),
        "{}",
        lines[0]
    );
    // 83 characters, of which the list is 40, and 8 around them. On the wire the list is 16 times 11
    // bytes behind a tag and 2 of length; the frame 205 with an entry, a struct, a value, an arm of
    // 3 each around it, a key of 3, a base of 4, a tag and a length of 3, a header of 4.
    for said in [
        "JSON      Uncompressed, SSE takes 44 % of the bytes of frames",
        "JSON      Larger as frames: STATE_SNAPSHOT (2.3 times)",
        "JSON      Lists of numbers in open values are 4.5 times as large in protobuf \
         (16 numbers in 1 list)",
    ] {
        assert!(lines.contains(&said), "{}", done.text());
    }
    let last = lines.iter().rposition(|line| line.starts_with("JSON  ")).unwrap();
    let first = lines.iter().position(|line| line.starts_with("both") || line.starts_with("proto"));
    assert!(first.is_none_or(|first| last < first), "{}", done.text());
}

#[test]
fn losses_are_counted_and_the_way_to_them_is_told() {
    let event = r#"{"type":"CUSTOM","name":"n","value":9007199254740993}"#;
    let done = compare(&[], format!("{END}\n{event}\n{event}\n"));
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    let first = done.text().lines().next().unwrap();
    assert_eq!(
        first,
        "JSON      Protobuf loses meaning 2 times (integer-precision 2), JSON does not"
    );
    let tail = "What protobuf would change\n                     times\n  \
                integer-precision      2  loses meaning  first at stdin:2\n  \
                `ag-ui-proto check FILE` names each one.\n";
    assert!(done.text().ends_with(tail), "{}", done.text());
}

#[test]
fn what_json_loses_as_well_does_not_speak_for_it() {
    let event = r#"{"type":"CUSTOM","name":"n","value":{"a":1,"a":2}}"#;
    let done = compare(&[], event);
    assert!(!done.text().contains("Protobuf loses meaning"), "{}", done.text());
    let row = "  duplicate-key      1  lost in JSON, too  first at stdin:1\n";
    assert!(done.text().contains(row), "{}", done.text());
    let page = good(&["compare", "--rounds", "0", "--html", "-"], event);
    assert!(String::from_utf8(page).unwrap().contains("lost in JSON, too"));
}

#[test]
fn time_is_measured_on_every_type() {
    let done = run(&["compare", "--json", "--rounds", "3"], format!("{DELTA}\n{END}\n{END}\n"));
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    let object = Value::from_json(done.text(), 16).unwrap();
    check(
        &object,
        &[
            ("/speed/rounds", 3.into()),
            ("/speed/events", 3.into()),
            ("/speed/sampled", false.into()),
        ],
    );
    for speed in [&object["speed"], &object["types"][0]["speed"], &object["types"][1]["speed"]] {
        for pointer in ["/json/encode", "/json/decode", "/protobuf/encode", "/protobuf/decode"] {
            let spread = speed.pointer(pointer).unwrap();
            for name in ["min", "quarter", "median", "threeQuarters", "max", "bytesPerSecond"] {
                assert!(spread[name].as_f64().unwrap() > 0.0, "{pointer}/{name}");
            }
        }
    }
    let done = run(&["compare", "--seconds", "0.01"], DELTA);
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    assert!(done.text().contains("Time of an event, median"), "{}", done.text());
}

#[test]
fn what_is_no_event_is_told_and_the_rest_is_compared() {
    let done = compare(&["--json"], format!("{END}\n{{\"type\":7}}\n{END}\n"));
    assert_eq!(
        (done.code, done.err.as_str()),
        (1, "error: stdin:2: type: expected a string, found a number\n")
    );
    let object = Value::from_json(done.text(), 16).unwrap();
    let wanted = [
        ("/events", 2.into()),
        ("/failed", 1.into()),
        ("/files/0/complete", true.into()),
        ("/bytes/raw/frames", 26.into()),
        // JSON cannot say it either: that is no loss of protobuf's.
        ("/losses/checked", 2.into()),
    ];
    check(&object, &wanted);
    assert_eq!(object["losses"]["kinds"].to_string(), "[]");

    let done = compare(&["--json"], format!("[{END},\n{END},\n{END};"));
    assert_eq!(done.code, 1);
    assert!(done.err.starts_with("error: stdin:3: "), "{}", done.err);
    let object = Value::from_json(done.text(), 16).unwrap();
    check(&object, &[("/events", 3.into()), ("/files/0/complete", false.into())]);

    let frames = [END_FRAME, BAD_FRAME, END_FRAME, b"\0\0"].concat();
    let done = compare(&["--from", "frames"], frames);
    assert_eq!(done.code, 1);
    let mut lines = done.err.lines();
    let fault = "error: stdin: frame 2 at byte 13: ";
    assert!(lines.next().unwrap().starts_with(fault), "{}", done.err);
    assert!(
        lines.next().unwrap().starts_with("error: stdin: frame 4 at byte 32: "),
        "{}",
        done.err
    );
    let head = "stdin: 2 events, 1 fault left out, not read to its end";
    assert!(done.text().lines().any(|line| line == head), "{}", done.text());
}

#[test]
fn many_faults_are_not_told_one_by_one() {
    let done = compare(&[], "7\n".repeat(30));
    assert_eq!(done.code, 1);
    assert_eq!(done.err.lines().count(), 11);
    assert!(done.err.ends_with("error: stdin: 20 faults more of the kind\n"), "{}", done.err);
    assert_eq!(
        done.text(),
        "stdin: no event, nothing to compare; 30 items could be read as no event\n"
    );
}

#[test]
fn nothing_is_compared_with_nothing() {
    for (words, input) in
        [(&[][..], &b""[..]), (&[], b"\n \n"), (&[], b"[]"), (&["--from", "frames"], b"")]
    {
        let done = run(&[&["compare"], words].concat(), input);
        assert_eq!((done.code, done.err.as_str()), (0, ""));
        assert_eq!(done.text(), "stdin: no event, nothing to compare\n");
    }
    let done = run(&["compare", "--from", "frames"], &b"\0\0"[..]);
    assert_eq!(done.code, 1);
    assert_eq!(done.text(), "stdin: no event, nothing to compare; not read to the end\n");
    let done = run(&["compare", "--json"], "");
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    let object = Value::from_json(done.text(), 16).unwrap();
    check(
        &object,
        &[("/events", 0.into()), ("/bytes/gzip/sse", 0.into()), ("/speed", Value::Null)],
    );
    let page = String::from_utf8(good(&["compare", "--html", "-"], "")).unwrap();
    assert!(page.contains("<h1>Nothing to compare</h1>"), "{page}");
}

#[test]
fn events_of_an_unknown_type_are_left_out_of_both() {
    let done = compare(&[], format!("{END}\n{{\"type\":\"NEW\"}}\n"));
    let told = "warning: stdin:2: dropped an event of unknown type \"NEW\"\n";
    assert_eq!((done.code, done.err.as_str()), (0, told));
    let head = "stdin: 1 event, 1 event of unknown type left out";
    assert!(done.text().lines().any(|line| line == head), "{}", done.text());
    let frames = [END_FRAME, FUTURE_FRAME].concat();
    let done = compare(&["--json", "--from", "frames"], frames);
    assert_eq!(done.code, 0);
    assert!(done.err.starts_with("warning: stdin: frame 2 at byte 13: "), "{}", done.err);
    let object = Value::from_json(done.text(), 16).unwrap();
    check(&object, &[("/events", 1.into()), ("/dropped", 1.into())]);
    let done = compare(&[], "{\"type\":\"NEW\"}\n".repeat(30));
    assert_eq!((done.code, done.err.lines().count()), (0, 11));
    assert!(
        done.err.ends_with("warning: stdin: 20 events more of an unknown type\n"),
        "{}",
        done.err
    );
}

/// Deltas of a word a second, and one that comes while the link is busy.
fn session() -> String {
    let delta = |at: u64| DELTA.replace(":5", &format!(":{at}"));
    [delta(0), delta(1000), delta(1010), delta(1020)].join("\n")
}

#[test]
fn a_link_is_shared_by_all_ways_to_send() {
    let object = object(&["--link", "8k,1M"], session());
    check(
        &object,
        &[
            ("/files/0/agentSeconds", 1.02.into()),
            ("/files/0/links/0/bitsPerSecond", 8000.into()),
            ("/files/0/links/1/bitsPerSecond", 1_000_000.into()),
            // The first of 84 bytes, then 87 each, of which a byte takes a thousandth of a second.
            ("/files/0/links/0/each/raw/sse/events", 4.into()),
            ("/files/0/links/0/each/raw/sse/bytes", (84 + 3 * 87).into()),
            ("/files/0/links/0/each/raw/sse/seconds", 1.261.into()),
            ("/files/0/links/0/each/raw/sse/secondsBehind", 0.241.into()),
            // The last two are one, with both texts, of 90 bytes.
            ("/files/0/links/0/merged/raw/sse/events", 3.into()),
            ("/files/0/links/0/merged/raw/sse/bytes", (84 + 87 + 90).into()),
            ("/files/0/links/0/merged/raw/sse/seconds", 1.177.into()),
            // Of 8 millionths of a second a byte: every event goes at once.
            ("/files/0/links/1/merged/raw/sse/events", 4.into()),
            ("/files/0/links/1/merged/raw/sse/seconds", 1.020_696.into()),
        ],
    );
    let [each, bytes] =
        ["/files/0/links/0/each", "/bytes"].map(|pointer| object.pointer(pointer).unwrap());
    for way in ["raw", "gzip", "br", "zstd"] {
        for form in ["sse", "frames"] {
            assert_eq!(each[way][form]["bytes"], bytes[way][form], "{way} {form}");
        }
    }
    let without = self::object(&[], session());
    check(&without, &[("/files/0/links", Value::from_json("[]", 1).unwrap())]);
}

/// The tables in the documents hold what the command above them gives.
#[test]
fn the_documents_show_what_a_link_makes_of_the_samples() {
    let names = ["deltas.jsonl", "chat.jsonl", "research.jsonl", "multimodal.sse"];
    let samples = names.map(sample);
    let words = [&["--link", "2k,8k,32k"][..], &samples.each_ref().map(String::as_str)].concat();
    let object = object(&words, "");
    let files = object["files"].as_list().unwrap();
    let forms = [
        ("raw", "sse", "SSE"),
        ("gzip", "sse", "SSE, gzip"),
        ("raw", "frames", "protobuf"),
        ("gzip", "frames", "protobuf, gzip"),
        ("br", "frames", "protobuf, br"),
        ("zstd", "frames", "protobuf, zstd"),
    ];
    let seconds = |sent: &Value| {
        let seconds = sent["seconds"].as_f64().unwrap();
        if seconds < 99.95 { format!("{seconds:.1}") } else { format!("{seconds:.0}") }
    };
    let an_event = |file: &Value, bytes: &Value| {
        format!("{:.1}", bytes.as_f64().unwrap() / file["events"].as_f64().unwrap())
    };
    let flushed = |file: &Value, way: &str, form: &str| an_event(file, &file["bytes"][way][form]);

    let short = forms.map(|(way, form, words)| {
        let bytes = files.iter().map(|file| format!(" | {}", flushed(file, way, form)));
        let links = files[0]["links"].as_list().unwrap().iter().map(|link| {
            let [each, merged] = ["each", "merged"].map(|how| seconds(&link[how][way][form]));
            format!(" | {each}, {merged}")
        });
        format!("| {words}{} |\n", bytes.chain(links).collect::<String>())
    });
    let mut long = Vec::new();
    for (name, file) in names.iter().zip(files.iter()) {
        for (way, form, words) in forms {
            let links = file["links"].as_list().unwrap().iter().map(|link| {
                let [each, merged] = ["each", "merged"].map(|how| &link[how][way][form]);
                let bytes = an_event(file, &merged["bytes"]);
                format!(" | {} | {bytes}, {}", seconds(each), seconds(merged))
            });
            let (bytes, links) = (flushed(file, way, form), links.collect::<String>());
            long.push(format!("| {name} | {words} | {bytes}{links} |\n"));
        }
    }
    for (document, table) in [
        (include_str!("../../README.md"), short.concat()),
        (include_str!("../../BENCHMARKS.md"), long.concat()),
    ] {
        assert!(document.contains(&table), "the document has another table than\n{table}");
    }
}

/// So do the lines of the README that say what the samples come to.
#[test]
fn the_readme_shows_what_is_said_of_the_samples() {
    let samples = ["chat.jsonl", "research.jsonl", "multimodal.sse"].map(sample);
    let done = compare(&samples.each_ref().map(String::as_str), "");
    let readme = include_str!("../../README.md");
    let (_, shown) =
        readme.split_once("On the three sample sessions, in part:\n\n```text\n").unwrap();
    let (shown, _) = shown.split_once("```").unwrap();
    assert_eq!(shown.lines().count(), 4);
    for line in shown.lines() {
        assert!(done.text().lines().any(|said| said == line), "{line}\n{}", done.text());
    }
}

/// The deltas of `samples/` are the ones that are measured in the benches.
#[test]
fn the_deltas_of_the_samples_are_the_chat_of_the_benches() {
    let chat = crate::workloads::workloads().into_iter().find(|each| each.name == "chat").unwrap();
    let lines: Vec<_> = chat.json.iter().flat_map(|json| [json.as_str(), "\n"]).collect();
    assert!(lines.concat() == sample_text("deltas.jsonl"));
}

#[test]
fn a_pace_stands_for_timestamps() {
    let at = |pace: &str| {
        let object = object(&["--link", "8k", "--pace", pace], format!("{END}\n{END}\n"));
        let file = &object["files"][0];
        let merged = &file["links"][0]["merged"]["raw"]["sse"]["seconds"];
        (file["agentSeconds"].as_f64().unwrap(), merged.as_f64().unwrap())
    };
    assert_eq!(at("recorded"), (0.0, 0.102));
    assert_eq!(at("none"), (0.0, 0.102));
    assert_eq!(at("2s"), (2.0, 2.051));
}

#[test]
fn links_are_in_the_text_and_on_the_page() {
    let done = compare(&["--link", "8k"], session());
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    for said in [
        "stdin on a link, as the agent gives its events: it took 1.02 s",
        "  8.00 kbit/s",
        "  SSE                          86.2      1.26 s   241 ms               3            65.2      1.18 s   157 ms",
    ] {
        assert!(done.text().lines().any(|line| line == said), "{said}: {}", done.text());
    }
    let page = String::from_utf8(good(
        &["compare", "--rounds", "0", "--link", "8k", "--html", "-"],
        session(),
    ));
    let page = page.unwrap();
    assert!(page.contains("<summary>stdin: it took 1.02 s</summary>"), "{page}");
    let row = "<th scope=\"row\">SSE</th><td>86.2</td><td>1.26 s</td><td>241 ms</td><td>3</td><td>65.2</td>";
    assert!(page.contains(row), "{page}");
    let page = String::from_utf8(good(&["compare", "--rounds", "0", "--html", "-"], session()));
    assert!(!page.unwrap().contains("What does a slow link make of it?"));
}

#[test]
fn a_clock_that_was_set_is_no_pace() {
    let at = |at: i64| DELTA.replace(":5", &format!(":{at}"));
    let session = [at(1_790_000_000_000), at((1 << 53) - 1), at(1_790_000_000_050), at(-5)];
    let object = object(&["--link", "8k"], session.join("\n"));
    check(
        &object,
        &[
            ("/link/recordedMillis", Value::Null),
            ("/link/clockJumps", 3.into()),
            ("/files/0/agentSeconds", 0.0.into()),
        ],
    );
    assert!(object["verdicts"].as_list().unwrap().iter().all(|said| said["about"] != *"link"));
    let session = [at(0), at(1_790_000_000_000), at(1_790_000_000_100)].join("\n");
    let done = compare(&[], session);
    let said = "both      The agent took 100 ms, but for 1 jump of its clock: on average ";
    assert!(done.text().lines().any(|line| line.starts_with(said)), "{}", done.text());
}

#[test]
fn bytes_of_sessions_that_tell_no_time_are_no_pace() {
    let dir = tempfile::tempdir().unwrap();
    let [timed, other] = ["timed.jsonl", "other.jsonl"].map(|name| dir.path().join(name));
    std::fs::write(&timed, format!("{DELTA}\n{}\n", DELTA.replace(":5", ":1005"))).unwrap();
    std::fs::write(&other, format!("{END}\n").repeat(1000)).unwrap();
    let [timed, other] = [&timed, &other].map(|path| path.to_str().unwrap());
    let said = |files: &[&str]| {
        let object = object(files, "");
        let said = object["verdicts"].as_list().unwrap().iter();
        let said = said.filter(|said| said["about"] == *"link").map(|said| said["text"].clone());
        said.map(|text| text.as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    // 84 and 87 bytes of 8 bits in a second.
    let rate = "on average a link of 1.37 kbit/s keeps up with SSE, ";
    let [alone, both] = [said(&[timed]), said(&[timed, other])].map(|said| said.concat());
    assert!(alone.starts_with(&format!("The agent took 1.00 s: {rate}")), "{alone}");
    assert!(
        both.starts_with(&format!("The agent took 1.00 s in 1 of 2 sessions: {rate}")),
        "{both}"
    );
    // The lines of the plot are of both, and so the time of one is no mark there.
    let page = |files: &[&str]| {
        let page = good(&[&["compare", "--rounds", "0", "--html", "-"], files].concat(), "");
        String::from_utf8(page).unwrap()
    };
    assert!(page(&[timed]).contains("the agent took 1.00 s"));
    assert!(!page(&[timed, other]).contains("the agent took"));
}

#[test]
fn a_name_with_a_line_in_it_says_nothing_in_its_own_name() {
    let dir = tempfile::tempdir().unwrap();
    let named = |name: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, format!("{DELTA}\n{}\n", r#"{"type":"NEW"}"#)).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let [forged, plain] = ["a\nprotobuf  wins", "b"].map(named);
    for files in [&[forged.as_str()][..], &[&forged, &plain]] {
        let done = compare(&[&["--link", "8k"], files].concat(), "");
        let lines =
            |begin: &str| done.text().lines().filter(|line| line.starts_with(begin)).count();
        assert_eq!(lines("protobuf  wins"), 0, "{}", done.text());
        assert!(done.text().contains(r"a\u000aprotobuf  wins"), "{}", done.text());
    }
}

#[test]
fn a_page_is_written_beside_the_text() {
    let dir = tempfile::tempdir().unwrap();
    let [session, page] =
        ["<b>session & more.jsonl", "page.html"].map(|name| dir.path().join(name));
    std::fs::write(&session, format!("{DELTA}\n{END}\n")).unwrap();
    let [session, page] = [&session, &page].map(|path| path.to_str().unwrap());
    let done = run(&["compare", session, "--html", page, "--rounds", "2"], "");
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    assert!(done.text().contains("<b>session & more.jsonl: 2 events"), "{}", done.text());
    let html = std::fs::read_to_string(page).unwrap();
    assert!(html.contains("&#60;b&#62;session &#38; more.jsonl: 2 events"), "{html}");
    for word in ["<b>", "<script", "http:", "https:", "src=", "href=", "url(", "@import", "NaN"] {
        assert!(!html.contains(word), "{word}");
    }
    let alone = good(&["compare", session, "--html", "-", "--rounds", "0"], "");
    assert!(alone.starts_with(b"<!DOCTYPE html>") && alone.ends_with(b"</html>"));
}

#[cfg(unix)]
#[test]
fn a_named_pipe_is_read_once() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let writer = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::write(pipe, END)
    });
    let mut command = assert_cmd::Command::cargo_bin("ag-ui-proto").unwrap();
    let words = ["compare", "--rounds", "0", "--json", pipe.to_str().unwrap()];
    // Opened again, it would wait for a writer that does not come.
    let done = command.args(words).timeout(std::time::Duration::from_secs(60)).output().unwrap();
    assert_eq!(done.status.code(), Some(0));
    assert!(done.stdout.starts_with(br#"{"events":1,"#));
    writer.join().unwrap().unwrap();
}

#[test]
fn wrong_usage_is_2_and_costs_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("session.jsonl");
    std::fs::write(&path, END).unwrap();
    let path = path.to_str().unwrap();
    for words in [
        &["--html", "-", "--json"][..],
        &["--rounds", "1", "--seconds", "1"],
        &["--seconds", "-1"],
        &["--seconds", "NaN"],
        &["--from", "yaml"],
        &["no/such/file"],
        &["-", path, "-"],
        &[path, "--html", path],
        &[path, "no/such/file", "--html", path],
        &[path, "--html", "no/such/directory/page.html"],
    ] {
        let done = run(&[&["compare"], words].concat(), END);
        assert_eq!((done.code, done.out.len()), (2, 0), "{words:?}: {}", done.err);
        assert!(!done.err.is_empty());
    }
    assert_eq!(std::fs::read_to_string(path).unwrap(), END);
    for (words, said) in [
        (["--rounds", "-1"], "invalid value '-1' for '--rounds <ROUNDS>'"),
        (["--seconds", "-1"], "invalid value '-1' for '--seconds <SECONDS>': expected 0 to 86400"),
        (["--link", "-1"], "invalid value '-1' for '--link <BITS>': expected 1 bit a second"),
        (["--link", "2 parsecs"], "invalid value '2 parsecs' for '--link <BITS>': expected bits"),
        (["--pace", "-1ms"], "invalid value '-1ms' for '--pace <PACE>': expected 0 to 86400"),
    ] {
        let done = run(&[&["compare", "--link", "1"][..], &words].concat(), END);
        assert_eq!(done.code, 2);
        assert!(done.err.contains(said), "{words:?}: {}", done.err);
    }
}

#[test]
fn a_session_is_sent_over_no_more_links_than_memory_is_meant_for() {
    let links = |count: usize| vec!["1M"; count].join(",");
    let done = compare(&["--json", "--link", &links(32)], format!("{END}\n"));
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    let done = compare(&["--link", &links(33)], format!("{END}\n"));
    let told = "error: 33 links are too many; the most is 32\n";
    assert_eq!((done.code, done.text(), done.err.as_str()), (2, "", told));
}
