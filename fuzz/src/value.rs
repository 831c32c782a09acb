//! An open value as bytes, beside the types of prost.

use std::fmt::Debug;

use ag_ui_proto::value::{List, Object, Slot, Value, ValueError};
use prost::Message;

/// Levels that prost reads, too: its limit counts messages, of which an object's level takes three.
const MAX_DEPTH: usize = 16;

/// Reads bytes as each of the three messages, ours and theirs.
pub fn value(bytes: &[u8]) {
    check::<Slot, prost_types::Value>(bytes, Slot::from_wire(bytes, MAX_DEPTH));
    check::<Object, prost_types::Struct>(bytes, Object::from_wire(bytes, MAX_DEPTH));
    check::<List, prost_types::ListValue>(bytes, List::from_wire(bytes, MAX_DEPTH));
    if let Ok(value) = Value::from_wire(bytes, MAX_DEPTH) {
        check_value(&value);
    }
}

fn check<Ours, Theirs>(bytes: &[u8], ours: Result<Ours, ValueError>)
where
    Ours: Message + Default + Debug + PartialEq + TryFrom<Theirs>,
    Theirs: Message + Default + Debug + PartialEq + TryFrom<Ours>,
    <Ours as TryFrom<Theirs>>::Error: Debug,
    <Theirs as TryFrom<Ours>>::Error: Debug,
{
    let theirs = Theirs::decode(bytes);
    let Ok(ours) = ours else { return check_refused(ours.err(), theirs.is_ok()) };
    assert_eq!(Ours::decode(bytes).as_ref(), Ok(&ours), "as a message of prost");
    // prost refuses a known field of another wire type, which protobuf skips.
    if let Ok(theirs) = theirs {
        assert_eq!(Ours::try_from(theirs).expect("finite, and not too deep"), ours);
    }
    let once = ours.encode_to_vec();
    assert_eq!(once.len(), ours.encoded_len());
    assert_eq!(Ours::decode(once.as_slice()).as_ref(), Ok(&ours));
    let theirs = Theirs::decode(once.as_slice()).expect("what is written is well-formed");
    assert_eq!(Theirs::try_from(ours).expect("finite, and not too deep"), theirs);
}

/// Well-formed bytes are refused for what JSON cannot say, or for a limit. Of tags, prost takes those
/// that are longer than they can be.
fn check_refused(error: Option<ValueError>, is_well_formed: bool) {
    let error = error.expect("an error");
    let is_ours = match error {
        ValueError::NotFinite { .. } | ValueError::TooDeep { .. } => true,
        ValueError::Malformed { reason, .. } => reason == "tag longer than 5 bytes",
        _ => false,
    };
    assert!(!is_well_formed || is_ours, "{error}");
}

/// A value is what its JSON says.
fn check_value(value: &Value) {
    let text = value.to_string();
    assert_eq!(serde_json::to_string(value).expect("not too deep"), text);
    assert_eq!(Value::from_json(&text, MAX_DEPTH).as_ref().ok(), Some(value), "{text}");
    let theirs = serde_json::Value::try_from(value.clone()).expect("finite, and not too deep");
    assert_eq!(serde_json::from_str::<serde_json::Value>(&text).ok(), Some(theirs));
}
