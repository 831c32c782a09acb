//! An event as JSON text.
//!
//! In a debug build usual text is read in both ways, and compared; that is half of this target.

use ag_ui_proto::Event;
use ag_ui_proto::codec::Options;
use ag_ui_proto::fidelity::{Checker, Fidelity, Kind, Report};
use ag_ui_proto::model::{NoticeKind, StrictReader, TolerantReader};
use bytes::BytesMut;

/// Reads text in all its readings, and takes it over the wire.
pub fn json(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let report = Checker::new().check(text);
    let strict = StrictReader::new().read(text);
    let tolerant = TolerantReader::new().read(text);
    if let Ok(event) = Event::from_json(text) {
        check_text(&event);
    }
    if let Ok(event) = &strict {
        let tolerant = tolerant.as_ref().expect("what passes strictly passes");
        // Both take the last of a member that is given twice; only one tells.
        assert!(tolerant.notices.iter().all(|notice| notice.kind == NoticeKind::GivenAgain));
        assert_eq!(tolerant.event.as_ref(), Some(event));
    }
    if let Ok(read) = &tolerant
        && let Some(event) = &read.event
    {
        assert_eq!(event.validate(), Ok(()), "nothing is left to strip");
    }
    check_trip(&report);
}

/// An event is what its JSON says.
fn check_text(event: &Event) {
    let text = serde_json::to_string(event).expect("an event is JSON");
    let again = Event::from_json(&text).expect("an event's JSON is an event");
    assert_eq!(again, *event);
    assert_eq!(serde_json::to_string(&again).ok(), Some(text));
}

/// The event arrives as was said.
fn check_trip(report: &Report) {
    let (Some(event), fidelity) = (&report.event, report.fidelity()) else {
        assert!(report.fidelity() >= Fidelity::Lossy);
        return;
    };
    let mut payload = BytesMut::new();
    let encoded = event.encode(&mut payload);
    assert_eq!(encoded.is_err(), fidelity == Fidelity::Unrepresentable, "{encoded:?} {report:?}");
    if encoded.is_err() {
        return;
    }
    let read = Event::decode(&payload).expect("what was encoded is an event");
    let arrived = read.event.expect("an event of this version");
    let is_as_it_was = report.differences.iter().all(|difference| {
        // These are of the text, and not of the event.
        matches!(difference.kind, Kind::DuplicateKey | Kind::RetiredShape | Kind::RetiredMember)
    });
    if is_as_it_was {
        assert_eq!(arrived, *event);
    }
    let refusing = Options::new().refusing_loss();
    let is_lossless = event.differences().iter().all(|difference| difference.kind.is_harmless());
    assert_eq!(refusing.encode(event, &mut BytesMut::new()).is_ok(), is_lossless);
    if fidelity <= Fidelity::Normalized {
        assert!(is_lossless);
    }
    assert!(arrived.differences().is_empty(), "what arrived travels on unchanged");
}
