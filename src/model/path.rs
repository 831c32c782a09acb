//! Places in an event's JSON.
//!
//! A reader of an error wants `messages[3].content[0].source`, a reader of a warning wants
//! `/messages/3/content/0/source`. [`Path`] holds the place once and writes both.

use std::fmt::{self, Write as _};

use crate::value::Value;

/// A place in an event, from the event's own object down.
///
/// `Display` writes `messages[3].toolCalls[0].metadata`, with a key that is not a plain name in
/// quotes: `metadata["a.b"]`. The event itself is written as `event`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Path(Vec<Segment>);

/// One step of a [`Path`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Segment {
    /// Into the member of this name.
    Member(String),
    /// Into the element at this index, counted from zero.
    Index(usize),
}

impl Path {
    /// The event itself.
    #[must_use]
    pub fn root() -> Self {
        Self::default()
    }

    /// The steps, outermost first.
    #[must_use]
    pub fn segments(&self) -> &[Segment] {
        &self.0
    }

    /// The place as a JSON Pointer (RFC 6901); empty for the event itself.
    #[must_use]
    pub fn pointer(&self) -> String {
        let mut pointer = String::new();
        for segment in &self.0 {
            pointer.push('/');
            match segment {
                Segment::Member(name) => {
                    pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
                }
                Segment::Index(index) => {
                    let _ = write!(pointer, "{index}");
                }
            }
        }
        pointer
    }

    /// The place of a JSON Pointer in a value.
    pub(crate) fn of_pointer(pointer: &str, within: &Value) -> Self {
        let mut value = Some(within);
        let segments = pointer.split('/').skip(1).map(|token| {
            let name = token.replace("~1", "/").replace("~0", "~");
            if let Some(Value::List(list)) = value
                && let Ok(index) = name.parse()
            {
                value = list.get(index);
                return Segment::Index(index);
            }
            value = value.and_then(Value::as_object).and_then(|object| object.get(&name));
            Segment::Member(name)
        });
        Self(segments.collect())
    }
}

impl From<Vec<Segment>> for Path {
    fn from(segments: Vec<Segment>) -> Self {
        Self(segments)
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("event");
        }
        for (at, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Member(name) if !is_plain(name) => write!(f, "[{name:?}]")?,
                Segment::Member(name) if at == 0 => f.write_str(name)?,
                Segment::Member(name) => write!(f, ".{name}")?,
                Segment::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-')
}

/// A place while it is being walked: a list of steps on the stack, copied to a [`Path`] only when
/// there is something to say about it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum At<'a> {
    /// The event itself.
    Root,
    /// A member of the place before.
    Member(&'a At<'a>, &'a str),
    /// An element of the place before.
    Index(&'a At<'a>, usize),
}

impl<'a> At<'a> {
    pub(crate) fn member(&'a self, name: &'a str) -> Self {
        Self::Member(self, name)
    }

    pub(crate) fn index(&'a self, index: usize) -> Self {
        Self::Index(self, index)
    }

    /// How many JSON containers enclose this place.
    pub(crate) fn level(&self) -> usize {
        let (mut level, mut at) = (0, self);
        while let Self::Member(parent, _) | Self::Index(parent, _) = at {
            level += 1;
            at = parent;
        }
        level
    }

    pub(crate) fn to_path(self) -> Path {
        let mut segments = Vec::new();
        let mut at = &self;
        loop {
            at = match at {
                Self::Root => break,
                Self::Member(parent, name) => {
                    segments.push(Segment::Member((*name).to_owned()));
                    parent
                }
                Self::Index(parent, index) => {
                    segments.push(Segment::Index(*index));
                    parent
                }
            };
        }
        segments.reverse();
        Path(segments)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_written_for_errors_and_for_warnings() {
        let messages = At::Root.member("messages");
        let third = messages.index(3);
        let metadata = third.member("metadata");
        let odd = metadata.member("a.b/c~d");
        assert_eq!(odd.to_path().to_string(), r#"messages[3].metadata["a.b/c~d"]"#);
        assert_eq!(odd.to_path().pointer(), "/messages/3/metadata/a.b~1c~0d");
        assert_eq!(odd.level(), 4);
    }

    #[test]
    fn the_event_itself_has_a_name_and_an_empty_pointer() {
        assert_eq!(Path::root().to_string(), "event");
        assert_eq!(Path::root().pointer(), "");
        assert_eq!(At::Root.level(), 0);
    }
}
