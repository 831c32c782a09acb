//! One event, one `data` line.

use bytes::{BufMut, BytesMut};

use crate::codec::{EncodeError, Limits};
use crate::convert::ConvertError;
use crate::model::{Event, Path};
use crate::value::MAX_DEPTH;

impl Event {
    /// Appends the event as a server-sent event, within the default limits.
    ///
    /// Nothing is left out: JSON has a place for what a newer peer sends.
    ///
    /// # Errors
    ///
    /// [`EncodeError`] if the event is malformed, nests too deep, or is too long. `dst` is then
    /// untouched.
    ///
    /// # Examples
    ///
    /// ```
    /// use ag_ui_proto::Event;
    /// use ag_ui_proto::model::TextMessageEnd;
    /// use bytes::BytesMut;
    ///
    /// let mut body = BytesMut::new();
    /// Event::from(TextMessageEnd::new("m")).encode_sse(&mut body)?;
    /// assert_eq!(body, "data: {\"type\":\"TEXT_MESSAGE_END\",\"messageId\":\"m\"}\n\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn encode_sse(&self, dst: &mut BytesMut) -> Result<(), EncodeError> {
        encode_event(self, &Limits::default(), dst)
    }
}

/// Appends the event as a server-sent event, within limits. See [`Event::encode_sse`].
///
/// The limit on a frame counts all that is appended, `data: ` and the empty line included, so that
/// a client that counts those takes the event.
///
/// # Errors
///
/// As [`Event::encode_sse`].
pub fn encode_event(event: &Event, limits: &Limits, dst: &mut BytesMut) -> Result<(), EncodeError> {
    let event_type = event.event_type();
    let max = limits.max_depth();
    if let Some(path) = event.too_deep(max) {
        return Err(EncodeError::TooDeep { event_type, path, max });
    }
    event.refuse_malformed().map_err(ConvertError::from)?;

    let before = dst.len();
    dst.put_slice(b"data: ");
    let written = serde_json::to_writer((&mut *dst).writer(), event);
    dst.put_slice(b"\n\n");
    let (len, max) = (dst.len() - before, limits.max_frame_len());
    let refused = match written {
        Ok(()) if len <= max => return Ok(()),
        Ok(()) => EncodeError::TooLarge { event_type, len, max },
        // Nothing but depth is refused there, and a buffer takes what it is given.
        Err(_) => EncodeError::TooDeep { event_type, path: Path::root(), max: MAX_DEPTH },
    };
    dst.truncate(before);
    Err(refused)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{RunFinished, StateSnapshot, TextMessageContent};
    use crate::value::{List, Value};

    #[track_caller]
    fn check_refused(event: &Event, limits: Limits, text: &str) {
        let mut dst = BytesMut::from("before");
        let error = encode_event(event, &limits, &mut dst).unwrap_err();
        assert_eq!(error.to_string(), text);
        assert_eq!(dst, "before");
    }

    #[test]
    fn an_event_is_one_line_of_data_and_an_empty_line() {
        let mut dst = BytesMut::from("before");
        Event::from(TextMessageContent::new("m", "a\r\nb")).encode_sse(&mut dst).unwrap();
        let text =
            r#"beforedata: {"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"a\r\nb"}"#;
        assert_eq!(dst, format!("{text}\n\n"));
    }

    #[test]
    fn a_refused_event_leaves_the_buffer_as_it_was() {
        let event = Event::from(RunFinished::new("t", "r"));
        let beyond = event.clone().with_timestamp(1 << 53);
        check_refused(
            &beyond,
            Limits::new(),
            "RUN_FINISHED: timestamp: 9007199254740992 is outside -9007199254740991 to \
             9007199254740991",
        );
        let len = r#"data: {"type":"RUN_FINISHED","threadId":"t","runId":"r"}"#.len() + 2;
        let limits = Limits::new().with_max_frame_len(len - 1);
        check_refused(
            &event,
            limits,
            &format!("RUN_FINISHED: a frame of {len} bytes is over the limit of {}", len - 1),
        );
        let limits = Limits::new().with_max_frame_len(len);
        assert_eq!(encode_event(&event, &limits, &mut BytesMut::new()), Ok(()));
    }

    #[test]
    fn depth_is_limited_as_in_a_frame() {
        let nested = |levels: usize| {
            let list = |inner, _| Value::List(List::from(vec![inner]));
            Event::from(StateSnapshot::new((0..levels).fold(Value::Null, list)))
        };
        encode_event(&nested(127), &Limits::new(), &mut BytesMut::new()).unwrap();
        check_refused(
            &nested(128),
            Limits::new(),
            "STATE_SNAPSHOT: snapshot: nests the event deeper than 128 levels",
        );
        check_refused(
            &nested(100_000),
            Limits::new().with_max_depth(usize::MAX),
            "STATE_SNAPSHOT: snapshot: nests the event deeper than 512 levels",
        );
    }
}
