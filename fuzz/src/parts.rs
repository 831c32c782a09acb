//! One input in the parts in which it may arrive.

/// Cuts `bytes` into parts of two lengths in turn, each of 1 to 16 bytes, as `cut` says.
pub(crate) fn parts(mut bytes: &[u8], cut: u8) -> Vec<&[u8]> {
    let mut lens = [usize::from(cut & 15) + 1, usize::from(cut >> 4) + 1].into_iter().cycle();
    let mut parts = Vec::new();
    while let Some(len) = lens.next().filter(|_| !bytes.is_empty()) {
        let (part, rest) = bytes.split_at(len.min(bytes.len()));
        parts.push(part);
        bytes = rest;
    }
    parts
}
