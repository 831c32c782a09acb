//! Bytes as text: the one function of this crate that the compiler has to be told to trust.
//!
//! Nearly every string of a stream is short and ASCII: an id, a delta, a key. The check of the
//! standard library takes each byte of those for itself until it is aligned; taking a word at a
//! time costs a fraction, and every string of every event is checked. BENCHMARKS.md has the
//! figures with and without.

/// The text that `bytes` are, if they are UTF-8.
#[inline]
#[allow(unsafe_code, reason = "ASCII is UTF-8; see the figures in BENCHMARKS.md")]
pub(crate) fn text(bytes: &[u8]) -> Option<&str> {
    if is_ascii(bytes) {
        // SAFETY: every byte is below 0x80, and such bytes are UTF-8 whatever their order: each is
        // a character of its own (RFC 3629, section 3).
        Some(unsafe { str::from_utf8_unchecked(bytes) })
    } else {
        beyond_ascii(bytes)
    }
}

#[cfg(feature = "simdutf8")]
fn beyond_ascii(bytes: &[u8]) -> Option<&str> {
    simdutf8::basic::from_utf8(bytes).ok()
}

#[cfg(not(feature = "simdutf8"))]
fn beyond_ascii(bytes: &[u8]) -> Option<&str> {
    str::from_utf8(bytes).ok()
}

/// Whether every byte is below 0x80.
#[inline(always)]
fn is_ascii(bytes: &[u8]) -> bool {
    // Ids first, then deltas. Both ends are looked at, which may overlap, so that none is left over.
    match bytes.len() {
        65.. => is_long_ascii(bytes),
        32.. => are_ends_ascii::<32>(bytes),
        16.. => are_ends_ascii::<16>(bytes),
        8.. => are_ends_ascii::<8>(bytes),
        4.. => match (bytes.first_chunk(), bytes.last_chunk()) {
            (Some(first), Some(last)) => {
                (u32::from_ne_bytes(*first) | u32::from_ne_bytes(*last)) & 0x8080_8080 == 0
            }
            _ => false,
        },
        _ => bytes.iter().fold(0, |all, byte| all | byte) < 0x80,
    }
}

#[inline(always)]
fn are_ends_ascii<const N: usize>(bytes: &[u8]) -> bool {
    match (bytes.first_chunk::<N>(), bytes.last_chunk::<N>()) {
        (Some(first), Some(last)) => (all_of(first) | all_of(last)) & HIGH == 0,
        _ => false,
    }
}

fn is_long_ascii(bytes: &[u8]) -> bool {
    let (blocks, _) = bytes.as_chunks::<64>();
    blocks.iter().chain(bytes.last_chunk()).all(|block| all_of(block) & HIGH == 0)
}

/// The highest bit of each byte of a word.
const HIGH: u64 = 0x8080_8080_8080_8080;

/// All words of `bytes`, one upon the other.
#[inline(always)]
fn all_of<const N: usize>(bytes: &[u8; N]) -> u64 {
    let (words, _) = bytes.as_chunks();
    words.iter().fold(0, |all, word| all | u64::from_ne_bytes(*word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8]) {
        assert_eq!(text(bytes), str::from_utf8(bytes).ok(), "{bytes:02x?}");
    }

    #[test]
    fn every_two_bytes_are_text_where_the_standard_library_says_so() {
        for first in 0..=255 {
            for second in 0..=255 {
                check(&[first, second]);
                check(&[first, b'a', second]);
            }
        }
    }

    #[test]
    fn every_four_bytes_at_the_edges_of_utf8_are_text_where_the_standard_library_says_so() {
        const EDGES: [u8; 25] = [
            0x00, b'a', 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0,
            0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff,
        ];
        for first in EDGES {
            for second in EDGES {
                for third in EDGES {
                    check(&[first, second, third]);
                    for fourth in EDGES {
                        check(&[first, second, third, fourth]);
                    }
                }
            }
        }
    }

    #[test]
    fn every_byte_at_every_place_of_every_short_length_is_seen() {
        for len in (0..70).chain([127, 128, 129, 255, 256, 257]) {
            let mut bytes = vec![b'a'; len];
            check(&bytes);
            for at in 0..len {
                for byte in 0..=255 {
                    bytes[at] = byte;
                    check(&bytes);
                }
                bytes[at] = b'a';
            }
        }
    }

    #[test]
    fn characters_of_every_length_are_seen_across_words() {
        for char in ["é", "€", "😀", "\u{7f}", "\u{80}", "\u{10ffff}"] {
            for before in 0..20 {
                for after in 0..20 {
                    let text = "x".repeat(before) + char + &"y".repeat(after);
                    check(text.as_bytes());
                    // Without its last byte it is no text, unless the character has only one.
                    let cut = before + char.len() - 1;
                    check(&text.as_bytes()[..cut]);
                    check(&[&text.as_bytes()[..cut], b"z"].concat());
                }
            }
        }
    }

    mod anything {
        use proptest::prelude::*;

        proptest! {
            #![proptest_config(crate::value::tests::cases(2000))]

            #[test]
            fn bytes_are_text_where_the_standard_library_says_so(
                bytes in prop::collection::vec(prop_oneof![9 => 0..0x80_u8, 1 => any::<u8>()], 0..200)
            ) {
                super::check(&bytes);
            }
        }
    }
}
