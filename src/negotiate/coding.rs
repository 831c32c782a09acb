//! Content codings: how the body of a response is compressed.

use std::fmt;

use super::accept::{split, trim};

/// A content coding of HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Coding {
    /// `gzip`.
    Gzip,
    /// `br`, which is Brotli.
    Brotli,
    /// `zstd`.
    Zstd,
}

impl Coding {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Gzip, Self::Zstd, Self::Brotli];

    /// The name in `Accept-Encoding` and `Content-Encoding`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Brotli => "br",
            Self::Zstd => "zstd",
        }
    }

    /// The coding of this name, whatever its case; nothing for any other, `identity` included.
    ///
    /// Rule: RFC 9110, 8.4.1: `x-gzip` is `gzip`.
    #[must_use]
    pub fn from_name(name: impl AsRef<[u8]>) -> Option<Self> {
        let name = trim(name.as_ref());
        if name.eq_ignore_ascii_case(b"x-gzip") {
            return Some(Self::Gzip);
        }
        Self::ALL.into_iter().find(|coding| name.eq_ignore_ascii_case(coding.as_str().as_bytes()))
    }

    /// The coding of the response to a request with these `Accept-Encoding` lines, which are one
    /// list; nothing for a body that is not compressed.
    ///
    /// The one with the greatest weight, and of equals the first one in `offered`. A name that does
    /// not stand in the list has the weight of `*`, or none. `identity` wins if it is given a
    /// greater weight, and without any line. There is no refusal: whoever forbids `identity` and
    /// accepts nothing that is offered gets a body that is not compressed.
    ///
    /// Rule: RFC 9110, 12.5.3.
    ///
    /// # Examples
    ///
    /// ```
    /// use ag_ui_proto::negotiate::Coding;
    ///
    /// assert_eq!(Coding::choose(["br, gzip;q=0.5"], &Coding::ALL), Some(Coding::Brotli));
    /// assert_eq!(Coding::choose(["gzip;q=0, identity"], &Coding::ALL), None);
    /// ```
    #[must_use]
    pub fn choose<V: AsRef<[u8]>>(
        accept_encoding: impl IntoIterator<Item = V>,
        offered: &[Self],
    ) -> Option<Self> {
        let mut weights = Weights::default();
        for line in accept_encoding {
            for element in split(line.as_ref(), b',') {
                weights.read(element);
            }
        }
        let mut best = (0, None);
        for coding in offered {
            let weight = weights.of(*coding);
            if weight > best.0 {
                best = (weight, Some(*coding));
            }
        }
        best.1.filter(|_| weights.identity.is_none_or(|identity| identity <= best.0))
    }
}

/// The name.
impl fmt::Display for Coding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// What a list says, in thousandths.
#[derive(Default)]
struct Weights {
    named: Vec<(Coding, u16)>,
    identity: Option<u16>,
    others: u16,
}

impl Weights {
    fn read(&mut self, element: &[u8]) {
        let mut parts = split(element, b';').map(trim);
        let Some(name) = parts.next() else { return };
        let weight = parts.find_map(weight).unwrap_or(1000);
        if name == b"*" {
            self.others = self.others.max(weight);
        } else if name.eq_ignore_ascii_case(b"identity") {
            self.identity = self.identity.max(Some(weight));
        } else if let Some(coding) = Coding::from_name(name) {
            match self.named.iter_mut().find(|(named, _)| *named == coding) {
                Some((_, held)) => *held = weight.max(*held),
                None => self.named.push((coding, weight)),
            }
        }
    }

    fn of(&self, coding: Coding) -> u16 {
        let named = self.named.iter().find(|(named, _)| *named == coding);
        named.map_or(self.others, |(_, weight)| *weight)
    }
}

/// The value of `q=`, in thousandths; zero for what is no weight; nothing for another parameter.
fn weight(parameter: &[u8]) -> Option<u16> {
    let [b'q' | b'Q', b'=', value @ ..] = parameter else { return None };
    let (whole, fraction) = match value {
        [whole] => (whole, &[][..]),
        [whole, b'.', fraction @ ..] if fraction.len() <= 3 => (whole, fraction),
        _ => return Some(0),
    };
    let digits = fraction.iter().chain([b'0'; 3].iter()).take(3);
    let thousandths = std::iter::once(whole).chain(digits).try_fold(0, |sum: u16, digit| {
        digit.is_ascii_digit().then(|| sum * 10 + u16::from(digit - b'0'))
    });
    Some(thousandths.filter(|weight| *weight <= 1000).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(lines: &[&str], want: Option<Coding>) {
        assert_eq!(Coding::choose(lines, &Coding::ALL), want, "{lines:?}");
    }

    #[test]
    fn the_greatest_weight_wins_and_of_equals_the_first_offered() {
        check(&["gzip"], Some(Coding::Gzip));
        check(&["gzip, deflate, br, zstd"], Some(Coding::Gzip));
        check(&["br, zstd"], Some(Coding::Zstd));
        check(&["gzip;q=0.5, br;q=0.501"], Some(Coding::Brotli));
        check(&["gzip;q=0.1", "zstd;q=0.2"], Some(Coding::Zstd));
        check(&["X-GZIP"], Some(Coding::Gzip));
        assert_eq!(Coding::choose(["gzip, br"], &[Coding::Brotli]), Some(Coding::Brotli));
        assert_eq!(Coding::choose(["gzip, br"], &[]), None);
    }

    #[test]
    fn without_a_list_nothing_is_compressed() {
        check(&[], None);
        check(&[""], None);
        check(&[",;,"], None);
        check(&["deflate, compress"], None);
    }

    #[test]
    fn identity_wins_by_a_greater_weight_alone() {
        check(&["identity, gzip"], Some(Coding::Gzip));
        check(&["identity, gzip;q=0.9"], None);
        check(&["identity;q=0.5, gzip;q=0.9"], Some(Coding::Gzip));
        check(&["identity;q=0"], None);
        check(&["identity;q=0, gzip;q=0.001"], Some(Coding::Gzip));
    }

    #[test]
    fn a_wildcard_covers_what_is_not_named() {
        check(&["*"], Some(Coding::Gzip));
        check(&["gzip;q=0, *"], Some(Coding::Zstd));
        check(&["*;q=0, br"], Some(Coding::Brotli));
        check(&["*;q=0"], None);
    }

    #[test]
    fn a_weight_has_at_most_three_decimals_and_is_at_most_one() {
        for (q, is_gzip) in [
            ("q=1", true),
            ("Q=0.001", true),
            ("q=1.000", true),
            ("q=0.", false),
            ("q=0", false),
            ("q=0.0001", false),
            ("q=1.001", false),
            ("q=2", false),
            ("q=", false),
            ("q=x", false),
            ("q=0.x", false),
            ("q=-1", false),
            ("p=0", true),
        ] {
            check(&[&format!("gzip;{q}")], is_gzip.then_some(Coding::Gzip));
        }
    }

    #[test]
    fn a_name_is_known_whatever_its_case_and_identity_is_none() {
        assert_eq!(Coding::from_name(" GZip "), Some(Coding::Gzip));
        assert_eq!(Coding::from_name("BR"), Some(Coding::Brotli));
        assert_eq!(Coding::from_name("zstd"), Some(Coding::Zstd));
        for name in ["identity", "deflate", "gzip, br", ""] {
            assert_eq!(Coding::from_name(name), None, "{name}");
        }
        assert_eq!(Coding::Brotli.to_string(), "br");
    }
}
