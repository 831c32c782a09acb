//! An event as a quick reader of JSON would look at it: the members of streamed text and tool
//! calls, borrowed from the text, in one struct for all types. All else is checked and skipped.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

#[derive(Debug, Deserialize, PartialEq)]
#[serde(rename_all = "camelCase")]
pub(super) struct Flat<'a> {
    #[serde(borrow)]
    r#type: Cow<'a, str>,
    #[serde(default)]
    timestamp: Option<i64>,
    #[serde(borrow, default)]
    message_id: Cow<'a, str>,
    #[serde(borrow, default)]
    tool_call_id: Cow<'a, str>,
    #[serde(borrow, default)]
    tool_call_name: Cow<'a, str>,
    #[serde(borrow, default)]
    delta: Text<'a>,
    #[serde(borrow, default)]
    content: Text<'a>,
}

impl Flat<'_> {
    /// The type, the time, the id of the message, and the delta.
    pub(super) fn look(&self) -> (&str, Option<i64>, &str, &str) {
        let delta = self.delta.0.as_deref().unwrap_or_default();
        (&self.r#type, self.timestamp, &self.message_id, delta)
    }
}

/// A text; or nothing, of a member that another type of event has as a list or an object.
#[derive(Debug, Default, PartialEq)]
struct Text<'a>(Option<Cow<'a, str>>);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, a list or an object")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
        Ok(Text(Some(Cow::Borrowed(text))))
    }

    fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
        Ok(Text(Some(Cow::Owned(text.to_owned()))))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Text<'de>, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Text(None))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Text<'de>, A::Error> {
        while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Text(None))
    }
}
