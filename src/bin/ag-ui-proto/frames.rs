//! The frames of an input, one by one.

use ag_ui_proto::codec::{Frame, FrameReader, HEADER_LEN, Limits};
use bytes::BytesMut;

use crate::failure::Failure;
use crate::input::Input;

/// The frames of one input.
pub(crate) struct Frames {
    pub(crate) input: Input,
    reader: FrameReader,
    buffer: BytesMut,
    is_cut: bool,
}

impl Frames {
    pub(crate) fn new(input: Input, limits: Limits) -> Self {
        Self { input, reader: FrameReader::new(limits), buffer: BytesMut::new(), is_cut: false }
    }

    /// The next frame. `before_read` is called before input is waited for.
    ///
    /// # Errors
    ///
    /// Input that cannot be read, a frame that is too long or cut off; also what `before_read`
    /// gives.
    pub(crate) fn next(
        &mut self,
        mut before_read: impl FnMut(&Input) -> Result<(), Failure>,
    ) -> Result<Option<Frame>, Failure> {
        loop {
            match self.reader.next_frame(&mut self.buffer) {
                Ok(Some(frame)) => return Ok(Some(frame)),
                Ok(None) => {}
                Err(error) => return Err(self.damage(&format!("{error}{}", self.hint()))),
            }
            before_read(&self.input)?;
            if !self.input.fill(&mut self.buffer)? {
                let end = self.reader.finish(&self.buffer);
                self.is_cut = end.is_err();
                return end.map(|()| None).map_err(|error| self.damage(&error.to_string()));
            }
        }
    }

    /// Whether the input ended inside a frame.
    pub(crate) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// The name of the input and the place of `frame` in it.
    pub(crate) fn place(&self, frame: &Frame) -> String {
        format!("{}: frame {} at byte {}", self.input.name(), frame.number, frame.offset)
    }

    fn damage(&self, reason: &str) -> Failure {
        let (number, offset) = self.reader.position();
        let name = self.input.name();
        Failure::Data(format!("{name}: frame {number} at byte {offset}: {reason}"))
    }

    /// Text read as a length is a large one.
    fn hint(&self) -> &'static str {
        let is_text =
            self.buffer.iter().take(8).all(|byte| byte.is_ascii_graphic() || *byte == b' ');
        if self.reader.position().1 == 0 && is_text {
            "; the input looks like text, not like frames"
        } else {
            ""
        }
    }
}

/// Bytes of a frame, its header included.
pub(crate) fn frame_len(frame: &Frame) -> u64 {
    u64::try_from(frame.payload.len().saturating_add(HEADER_LEN)).unwrap_or(u64::MAX)
}
