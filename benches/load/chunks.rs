//! A body of HTTP/1.1 in chunks, taken apart.

/// Takes the framing off the bytes of a response's body, whatever the parts in which they come.
///
/// Rule: RFC 9112, 7.1. Extensions and trailers are not expected from this server.
#[derive(Default)]
pub(super) struct Chunks {
    /// What is left of the present chunk.
    left: usize,
    /// The bytes of a line that is not complete: of a length, or the end of a chunk.
    line: Vec<u8>,
    pub(super) has_ended: bool,
}

impl Chunks {
    /// Hands the bytes of the body on to `take`.
    pub(super) fn push(&mut self, mut bytes: &[u8], mut take: impl FnMut(&[u8])) {
        while !bytes.is_empty() && !self.has_ended {
            if self.left > 0 {
                let (part, rest) = bytes.split_at(self.left.min(bytes.len()));
                take(part);
                self.left -= part.len();
                bytes = rest;
                continue;
            }
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let (part, rest) = bytes.split_at(end.map_or(bytes.len(), |end| end + 1));
            self.line.extend_from_slice(part);
            bytes = rest;
            if end.is_some() {
                let line = std::mem::take(&mut self.line);
                let line = line.trim_ascii();
                if !line.is_empty() {
                    let digits = std::str::from_utf8(line).expect("a length in digits");
                    self.left = usize::from_str_radix(digits, 16).expect("a length");
                    self.has_ended = self.left == 0;
                }
            }
        }
    }
}
