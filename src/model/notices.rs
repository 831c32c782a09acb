//! The notices of one event.

use std::ops::Deref;
use std::sync::Arc;
use std::{fmt, slice, vec};

use super::Notice;

/// The notices of one event: nearly always none, and then no more than a word.
///
/// It derefs to a slice, and is iterated like a vector.
///
/// # Examples
///
/// ```
/// use ag_ui_proto::Event;
/// use ag_ui_proto::model::StepStarted;
/// use bytes::BytesMut;
///
/// let notices = Event::from(StepStarted::new("plan")).encode(&mut BytesMut::new())?;
/// assert!(notices.is_empty());
/// # Ok::<(), ag_ui_proto::codec::EncodeError>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
// Shared only because dropping none of it is then a test and no call. Never an empty list.
pub struct Notices(Option<Arc<Vec<Notice>>>);

impl Notices {
    /// No notices.
    #[must_use]
    pub const fn new() -> Self {
        Self(None)
    }

    /// Adds a notice.
    pub fn push(&mut self, notice: Notice) {
        self.extend([notice]);
    }
}

impl Deref for Notices {
    type Target = [Notice];

    #[inline]
    fn deref(&self) -> &[Notice] {
        self.0.as_deref().map_or(&[], Vec::as_slice)
    }
}

impl fmt::Debug for Notices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&**self).finish()
    }
}

impl From<Vec<Notice>> for Notices {
    fn from(list: Vec<Notice>) -> Self {
        Self((!list.is_empty()).then(|| Arc::new(list)))
    }
}

impl From<Notices> for Vec<Notice> {
    fn from(notices: Notices) -> Self {
        notices.0.map(Arc::unwrap_or_clone).unwrap_or_default()
    }
}

impl FromIterator<Notice> for Notices {
    fn from_iter<I: IntoIterator<Item = Notice>>(notices: I) -> Self {
        Vec::from_iter(notices).into()
    }
}

impl Extend<Notice> for Notices {
    fn extend<I: IntoIterator<Item = Notice>>(&mut self, notices: I) {
        match &mut self.0 {
            Some(list) => Arc::make_mut(list).extend(notices),
            None => *self = notices.into_iter().collect(),
        }
    }
}

impl IntoIterator for Notices {
    type Item = Notice;
    type IntoIter = vec::IntoIter<Notice>;

    fn into_iter(self) -> Self::IntoIter {
        Vec::from(self).into_iter()
    }
}

impl<'a> IntoIterator for &'a Notices {
    type Item = &'a Notice;
    type IntoIter = slice::Iter<'a, Notice>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl PartialEq<[Notice]> for Notices {
    fn eq(&self, other: &[Notice]) -> bool {
        **self == *other
    }
}

impl<const N: usize> PartialEq<[Notice; N]> for Notices {
    fn eq(&self, other: &[Notice; N]) -> bool {
        **self == *other
    }
}

impl PartialEq<Vec<Notice>> for Notices {
    fn eq(&self, other: &Vec<Notice>) -> bool {
        **self == **other
    }
}

#[cfg(test)]
mod tests {
    use super::super::{NoticeKind, Path};
    use super::*;

    fn notice(arm: u32) -> Notice {
        Notice { path: Path::root(), kind: NoticeKind::UnknownArm { arm } }
    }

    #[test]
    fn none_takes_a_word_and_is_a_slice_of_nothing() {
        assert_eq!(size_of::<Notices>(), size_of::<usize>());
        assert_eq!(Notices::new(), []);
        assert_eq!(Notices::from(Vec::new()), Notices::new());
        assert_eq!(Notices::new().into_iter().count(), 0);
        assert_eq!(format!("{:?}", Notices::new()), "[]");
    }

    #[test]
    fn notices_are_kept_in_order() {
        let mut notices = Notices::new();
        notices.push(notice(40));
        notices.extend([notice(41), notice(42)]);
        assert_eq!(notices, [notice(40), notice(41), notice(42)]);
        assert_eq!((&notices).into_iter().count(), 3);
        assert_eq!(Vec::from(notices.clone()), notices.into_iter().collect::<Vec<_>>());
    }
}
