//! The version of the protocol that a producer declares.

use std::cmp::Ordering;

use super::warning::WarningKind;
use crate::PROTOCOL_VERSION;

/// V3: a later or an unreadable declaration is worth a warning, and no more than that.
pub(super) fn judge(declared: &str) -> Option<WarningKind> {
    let declared_owned = || declared.to_owned();
    match parse(declared) {
        None => Some(WarningKind::OddVersion { declared: declared_owned() }),
        Some(version) => {
            let ours = parse(PROTOCOL_VERSION)?;
            let is_newer = compare(version, ours) == Ordering::Greater;
            is_newer.then(|| WarningKind::NewerVersion { declared: declared_owned() })
        }
    }
}

/// V2: two numbers of digits only, however long.
fn parse(version: &str) -> Option<(&str, &str)> {
    let (major, minor) = version.split_once('.')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (is_number(major) && is_number(minor)).then_some((major, minor))
}

fn compare(left: (&str, &str), right: (&str, &str)) -> Ordering {
    fn number(left: &str, right: &str) -> Ordering {
        let (left, right) = (left.trim_start_matches('0'), right.trim_start_matches('0'));
        left.len().cmp(&right.len()).then_with(|| left.cmp(right))
    }
    number(left.0, right.0).then_with(|| number(left.1, right.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_number_and_odd_ones_are_told() {
        for quiet in ["1.1", "1.0", "0.57", "01.001"] {
            assert_eq!(judge(quiet), None, "{quiet}");
        }
        for newer in ["1.2", "1.10", "2.0", "1.99999999999999999999999"] {
            let warning = judge(newer).unwrap();
            assert_eq!(warning, WarningKind::NewerVersion { declared: newer.to_owned() });
        }
        for odd in ["", "1", "1.", ".1", "1.1.0", "v1.1", "1.x", "1.1 ", "+1.1"] {
            let warning = judge(odd).unwrap();
            assert_eq!(warning, WarningKind::OddVersion { declared: odd.to_owned() });
            assert!(warning.to_string().contains("1.1"));
        }
    }
}
