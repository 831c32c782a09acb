//! Keys of objects.

use std::borrow::{Borrow, Cow};
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::ascii::text;

/// The longest key that is kept without memory of its own, in bytes.
const SHORT: usize = 22;

/// A key of an [`Object`](super::Object). It derefs to its text.
///
/// Most keys are short: up to 22 bytes stand in the entry itself and take no memory of their own,
/// which would be a seventh of the time to read a state, and a third of its allocations. They are
/// bytes there, and are checked to be text again each time they are asked for it: [`Key::as_bytes`] and
/// `==` do not ask.
///
/// # Examples
///
/// ```
/// # use ag_ui_proto::value::{Key, Object};
/// let object = Object::from([("a", 1), ("a key of more than 22 bytes", 2)]);
/// for (key, value) in object {
///     assert!(key == "a" || key.starts_with("a key"));
///     assert_eq!(String::from(key.clone()), key.as_str());
/// }
/// assert!(Key::from("a") < Key::from("b"));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Key(Repr);

/// A text has one form, by its length.
#[derive(Clone, PartialEq, Eq)]
enum Repr {
    /// The last `len` of these bytes are a text; the others are zero.
    Short {
        len: u8,
        bytes: [u8; SHORT],
    },
    Long(Box<str>),
}

impl Key {
    /// The text of the key.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match &self.0 {
            // It came from a text, so it is one.
            Repr::Short { .. } => text(self.as_bytes()).unwrap_or_default(),
            Repr::Long(long) => long,
        }
    }

    /// The bytes of the text.
    #[must_use]
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        match &self.0 {
            Repr::Short { len, bytes } => {
                bytes.get(SHORT - usize::from(*len)..).unwrap_or_default()
            }
            Repr::Long(long) => long.as_bytes(),
        }
    }

    /// The bytes of a short key at the end of these, with zeros in front of them, and how many they
    /// are: so many at a time are quicker to write than few.
    #[inline]
    pub(super) fn padded(&self) -> Option<(&[u8; SHORT], u8)> {
        match &self.0 {
            Repr::Short { len, bytes } => Some((bytes, *len)),
            Repr::Long(_) => None,
        }
    }

    fn short(text: &str) -> Option<Self> {
        let mut bytes = [0; SHORT];
        bytes.get_mut(SHORT.checked_sub(text.len())?..)?.copy_from_slice(text.as_bytes());
        Some(Self(Repr::Short { len: u8::try_from(text.len()).ok()?, bytes }))
    }
}

/// The empty key.
impl Default for Key {
    fn default() -> Self {
        Self::from("")
    }
}

impl From<&str> for Key {
    #[inline]
    fn from(text: &str) -> Self {
        Self::short(text).unwrap_or_else(|| Self(Repr::Long(text.into())))
    }
}

impl From<String> for Key {
    fn from(text: String) -> Self {
        Self::short(&text).unwrap_or_else(|| Self(Repr::Long(text.into())))
    }
}

impl From<&String> for Key {
    fn from(text: &String) -> Self {
        text.as_str().into()
    }
}

impl From<Cow<'_, str>> for Key {
    fn from(text: Cow<'_, str>) -> Self {
        match text {
            Cow::Borrowed(text) => text.into(),
            Cow::Owned(text) => text.into(),
        }
    }
}

impl From<Box<str>> for Key {
    fn from(text: Box<str>) -> Self {
        Self::short(&text).unwrap_or(Self(Repr::Long(text)))
    }
}

impl From<Key> for String {
    fn from(key: Key) -> Self {
        match key.0 {
            Repr::Short { .. } => key.as_str().to_owned(),
            Repr::Long(long) => long.into(),
        }
    }
}

impl Deref for Key {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<str> for Key {
    fn as_ref(&self) -> &str {
        self
    }
}

impl Borrow<str> for Key {
    fn borrow(&self) -> &str {
        self
    }
}

impl PartialEq<str> for Key {
    fn eq(&self, other: &str) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl PartialEq<&str> for Key {
    fn eq(&self, other: &&str) -> bool {
        self == *other
    }
}

impl PartialEq<String> for Key {
    fn eq(&self, other: &String) -> bool {
        self == other.as_str()
    }
}

impl PartialEq<Key> for str {
    fn eq(&self, other: &Key) -> bool {
        other == self
    }
}

impl PartialEq<Key> for &str {
    fn eq(&self, other: &Key) -> bool {
        other == self
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// By bytes, as texts compare.
impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_bytes().cmp(other.as_bytes())
    }
}

/// As of its text.
impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self)
    }
}

impl Serialize for Key {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;

        impl Visitor<'_> for Text {
            type Value = Key;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Key, E> {
                Ok(text.into())
            }

            fn visit_string<E: Error>(self, text: String) -> Result<Key, E> {
                Ok(text.into())
            }
        }

        deserializer.deserialize_str(Text)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, HashMap};
    use std::mem::size_of;

    use super::*;

    /// Texts around the longest short one, of characters of one to four bytes.
    fn texts() -> impl Iterator<Item = String> {
        ["a", "\0", "\u{7f}", "é", "€", "😀"].into_iter().flat_map(|char| {
            (0..70).flat_map(move |len| {
                let text = char.repeat(len / char.len());
                [text.clone(), text + "b"]
            })
        })
    }

    #[test]
    fn a_key_is_the_text_that_it_was_made_of() {
        for text in texts() {
            let keys = [
                Key::from(text.as_str()),
                Key::from(text.clone()),
                Key::from(&text),
                Key::from(text.clone().into_boxed_str()),
                Key::from(Cow::Borrowed(text.as_str())),
                serde_json::from_str(&serde_json::to_string(&text).unwrap()).unwrap(),
            ];
            for key in keys {
                assert_eq!(key.as_str(), text);
                assert_eq!(key.as_bytes(), text.as_bytes());
                assert_eq!(key, Key::from(text.as_str()));
                assert_eq!(key.to_string(), text);
                assert_eq!(format!("{key:?}"), format!("{text:?}"));
                assert_eq!(
                    serde_json::to_string(&key).unwrap(),
                    serde_json::to_string(&text).unwrap()
                );
                assert_eq!(String::from(key), text);
            }
        }
    }

    #[test]
    fn keys_of_up_to_22_bytes_take_no_memory_of_their_own() {
        assert_eq!(size_of::<Key>(), size_of::<String>());
        for text in texts() {
            let is_short = matches!(Key::from(text.as_str()).0, Repr::Short { .. });
            assert_eq!(is_short, text.len() <= 22, "{text:?}");
        }
    }

    #[test]
    fn keys_compare_as_their_texts_do() {
        let texts: Vec<String> = texts().filter(|text| text.len() < 30).collect();
        for left in &texts {
            for right in &texts {
                let (left_key, right_key) = (Key::from(left), Key::from(right));
                assert_eq!(left_key == right_key, left == right);
                assert_eq!(left_key == **right, left == right);
                assert_eq!(**left == right_key, left == right);
                assert_eq!(left_key.cmp(&right_key), left.cmp(right), "{left:?} {right:?}");
            }
        }
    }

    #[test]
    fn a_map_of_keys_is_asked_by_texts() {
        let hashed: HashMap<Key, usize> = texts().map(Key::from).zip(0..).collect();
        let sorted: BTreeMap<Key, usize> = texts().map(Key::from).zip(0..).collect();
        for text in texts() {
            assert_eq!(hashed.get(text.as_str()), sorted.get(text.as_str()));
            assert!(hashed.contains_key(text.as_str()));
        }
    }
}
