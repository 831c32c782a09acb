//! Writes the inputs that every target begins with into `corpus/<target>`: what was kept, the golden
//! payloads, and the sample sessions.

use std::path::Path;
use std::{fs, io};

use ag_ui_proto::codec::{EventView, Limits};
use ag_ui_proto::sse::put_data;
use bytes::{BufMut, BytesMut};

fn main() -> io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for target in ["ascii", "decode", "frames", "json", "sse", "value", "view"] {
        fs::create_dir_all(root.join("corpus").join(target))?;
        if let Ok(kept) = fs::read_to_string(root.join("kept").join(target).with_extension("hex")) {
            for (number, line) in kept.lines().enumerate() {
                put(target, &format!("kept-{number}"), &hex(line))?;
            }
        }
    }
    golden(&root.join("../tests/data/golden.tsv"))?;
    for sample in ["chat.jsonl", "deltas.jsonl", "research.jsonl"] {
        session(sample, &fs::read_to_string(root.join("../samples").join(sample))?)?;
    }
    let captured = fs::read(root.join("../samples/multimodal.sse"))?;
    for (number, part) in captured.chunks(1024).enumerate() {
        put("sse", &format!("multimodal-{number}"), &[b"\x37\x04", part].concat())?;
    }
    Ok(())
}

fn golden(path: &Path) -> io::Result<()> {
    let golden = fs::read_to_string(path)?;
    let mut frames = BytesMut::new();
    for (number, line) in golden.lines().enumerate() {
        let mut columns = line.splitn(3, '\t');
        let (Some(_), Some(payload), Some(json)) = (columns.next(), columns.next(), columns.next())
        else {
            continue;
        };
        let (payload, name) = (hex(payload), format!("golden-{number}"));
        put("decode", &name, &payload)?;
        put("view", &name, &payload)?;
        put("json", &name, json.as_bytes())?;
        let mut data = BytesMut::from(&b"\x52\x00"[..]);
        if put_data(json.as_bytes(), &Limits::new(), &mut data).is_err() {
            continue;
        }
        put("sse", &name, &data)?;
        if let Some(view) = EventView::read(&payload) {
            for (index, open) in view.metadata().into_iter().chain(view.raw_event()).enumerate() {
                put("value", &format!("{name}-{index}"), open)?;
            }
        }
        frames.put_u32(u32::try_from(payload.len()).unwrap_or_default());
        frames.extend_from_slice(&payload);
        if number % 5 == 4 {
            put("frames", &name, &[b"\x24", &frames[..]].concat())?;
            frames.clear();
        }
    }
    Ok(())
}

fn session(sample: &str, text: &str) -> io::Result<()> {
    // Enough of each to have every type of event that it has.
    for (number, line) in text.lines().enumerate().filter(|(number, _)| number % 7 == 0) {
        put("json", &format!("{sample}-{number}"), line.as_bytes())?;
        put("ascii", &format!("{sample}-{number}"), line.as_bytes())?;
    }
    Ok(())
}

fn put(target: &str, name: &str, bytes: &[u8]) -> io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    fs::write(root.join("corpus").join(target).join(name), bytes)
}

fn hex(text: &str) -> Vec<u8> {
    let digit = |digit: u8| char::from(digit).to_digit(16).unwrap_or_default();
    let byte = |pair: &[u8]| pair.iter().fold(0, |byte, at| byte << 4 | digit(*at));
    text.as_bytes().chunks(2).filter_map(|pair| u8::try_from(byte(pair)).ok()).collect()
}
