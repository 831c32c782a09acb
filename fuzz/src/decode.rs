//! A payload, and the event that it is.
//!
//! In a debug build the codec goes both of its ways and compares what comes out; that is most of
//! this target. The rest are laws of what was decoded.

use ag_ui_proto::Event;
use ag_ui_proto::codec::{EncodeError, Limits, Options};
use ag_ui_proto::model::StateSnapshot;
use ag_ui_proto::value::{List, Value};
use bytes::BytesMut;

/// Decodes a payload, and holds what it was against itself.
pub fn decode(payload: &[u8]) {
    let options = Options::new();
    check(payload, options);
    check(payload, options.with_exact_numbers());

    // A limit refuses, and changes nothing else.
    let shallow = options.with_limits(Limits::new().with_max_depth(6)).decode(payload);
    if let Ok(shallow) = shallow {
        assert_eq!(Ok(shallow), options.decode(payload));
    }
}

fn check(payload: &[u8], options: Options) {
    let Ok(decoded) = options.decode(payload) else { return };
    let Some(event) = decoded.event else {
        assert!(!decoded.notices.is_empty(), "dropped without a word");
        return;
    };
    let mut once = BytesMut::new();
    let left_out = match options.encode(&event, &mut once) {
        Ok(left_out) => left_out,
        // What a decoder hands on an encoder may refuse: it is not judged. It is never too deep.
        Err(error) => {
            assert!(matches!(error, EncodeError::Convert(_)), "{error}");
            assert!(once.is_empty());
            return;
        }
    };
    let again = options.decode(&once).expect("what was encoded is an event");
    assert!(again.notices.is_empty());
    let again = again.event.expect("an event of this version");
    // An empty list that parts were dropped from is no list on the wire.
    if left_out.is_empty() && event.differences().is_empty() {
        assert_eq!(again, event);
        assert_eq!(text(&again), text(&event), "the order of members");
    }
    let mut twice = BytesMut::new();
    let left_out = options.encode(&again, &mut twice).expect("an event that was encoded");
    assert!(left_out.is_empty());
    assert_eq!(once, twice);
    check_long(&event, once.len(), options);
}

/// A long event is written in pieces, the first of 64 KiB, and whatever an event says may stand where
/// one ends: here its JSON stands in front of a text that leaves it less room than it takes.
fn check_long(event: &Event, len: usize, options: Options) {
    const PIECE_LEN: usize = 64 * 1024;
    let json = Value::from_serialize(event).expect("an event is JSON");
    if json.depth() + 3 > options.limits().max_depth() {
        return;
    }
    for room in [len / 3, len] {
        let text = Value::from("x".repeat(PIECE_LEN.saturating_sub(room + 8)));
        let state = Value::List(List::from_iter([json.clone(), text]));
        let long = Event::from(StateSnapshot::new(state));
        let mut payload = BytesMut::new();
        if options.encode(&long, &mut payload).is_err() {
            return;
        }
        let read = options.decode(&payload).expect("what was encoded is an event").event;
        let read = read.expect("an event of this version");
        if long.differences().is_empty() {
            assert_eq!(read, long);
        }
    }
}

fn text(event: &Event) -> String {
    serde_json::to_string(event).expect("an event is JSON")
}
