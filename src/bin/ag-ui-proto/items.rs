//! The JSON texts of an input, one by one: which form it has, and where each text stands.

use bytes::{Buf, BytesMut};

use crate::args::{Form, LimitArgs};
use crate::failure::Failure;
use crate::input::Input;
use crate::json::JsonSplitter;
use crate::place::{Cursor, Item, SplitError, skip_space};
use crate::sse::SseSplitter;

/// The JSON texts of one input.
pub(crate) struct Items {
    pub(crate) input: Input,
    buffer: BytesMut,
    cursor: Cursor,
    is_first: bool,
    is_ended: bool,
    form: Option<Form>,
    splitter: Option<Splitter>,
    max: usize,
    /// What is done with frames instead.
    frames: &'static str,
}

enum Splitter {
    Json(JsonSplitter),
    Sse(SseSplitter),
}

/// What the first bytes of an input tell.
enum Told {
    Form(Form),
    Frames,
    Nothing,
}

impl Items {
    pub(crate) fn new(input: Input, form: Option<Form>, limits: &LimitArgs) -> Self {
        Self {
            input,
            buffer: BytesMut::new(),
            cursor: Cursor::default(),
            is_first: true,
            is_ended: false,
            form,
            splitter: None,
            max: limits.max_text_len(),
            frames: "which `decode` reads",
        }
    }

    /// Of a command that takes frames, too, when it is told that they are.
    pub(crate) fn or_frames(self) -> Self {
        Self { frames: "which are read with `--from frames`", ..self }
    }

    /// The form of the input, as far as it is known.
    pub(crate) fn form(&self) -> Option<Form> {
        self.form
    }

    /// The next text. `before_read` is called before input is waited for.
    ///
    /// # Errors
    ///
    /// Input that cannot be read, or cannot be cut; also what `before_read` gives.
    pub(crate) fn next(
        &mut self,
        mut before_read: impl FnMut(&Input) -> Result<(), Failure>,
    ) -> Result<Option<Item>, Failure> {
        loop {
            let cut = self.cut().map_err(|SplitError { line, reason }| {
                Failure::Data(format!("{}:{line}: {reason}", self.input.name()))
            })?;
            if cut.is_some() || self.is_ended {
                return Ok(cut);
            }
            before_read(&self.input)?;
            self.is_ended = !self.input.fill(&mut self.buffer)?;
        }
    }

    /// Takes the next text off the buffer, if all of it is there.
    fn cut(&mut self) -> Result<Option<Item>, SplitError> {
        let (src, cursor) = (&mut self.buffer, &mut self.cursor);
        if self.is_first && src.len() < BOM.len() && !self.is_ended && BOM.starts_with(src) {
            return Ok(None);
        }
        if std::mem::take(&mut self.is_first) && src.starts_with(BOM) {
            src.advance(BOM.len());
        }
        let max = self.max;
        let splitter = match &mut self.splitter {
            Some(splitter) => splitter,
            splitter => {
                skip_space(src, cursor);
                let form = match (self.form, tell(src, self.is_ended)) {
                    (Some(form), _) | (None, Told::Form(form)) => form,
                    (None, Told::Nothing) => return Ok(None),
                    (None, Told::Frames) => {
                        let reason = format!("the input looks like frames, {}", self.frames);
                        return Err(cursor.error(reason));
                    }
                };
                self.form = Some(form);
                splitter.insert(match form {
                    Form::Jsonl => Splitter::Json(JsonSplitter::lines(max)),
                    Form::Array => Splitter::Json(JsonSplitter::array(max)),
                    Form::Sse => Splitter::Sse(SseSplitter::new(max, *cursor)),
                })
            }
        };
        match splitter {
            Splitter::Json(splitter) if self.is_ended => splitter.finish(src, cursor),
            Splitter::Json(splitter) => splitter.next_item(src, cursor),
            Splitter::Sse(splitter) if self.is_ended => splitter.finish(src),
            Splitter::Sse(splitter) => splitter.next_item(src),
        }
    }
}

const BOM: &[u8] = "\u{feff}".as_bytes();

/// Tells the form by the first bytes that are no white space. What is no known form is taken for
/// JSON, which says best what is wrong with it.
fn tell(src: &[u8], is_ended: bool) -> Told {
    let fields = [&b":"[..], b"data:", b"event:", b"id:", b"retry:"];
    match src.first() {
        None => Told::Nothing,
        Some(0) => Told::Frames,
        Some(b'{') => Told::Form(Form::Jsonl),
        Some(b'[') => Told::Form(Form::Array),
        Some(_) if fields.iter().any(|field| src.starts_with(field)) => Told::Form(Form::Sse),
        Some(_) if !is_ended && fields.iter().any(|field| field.starts_with(src)) => Told::Nothing,
        Some(_) => Told::Form(Form::Jsonl),
    }
}
