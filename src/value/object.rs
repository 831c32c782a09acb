//! JSON objects: entries in the order given, keys unique.

use std::{mem, slice, vec};

use super::index::{KeyIndex, make_unique};
use super::{Key, Value, nest};

/// One entry of an object.
pub(super) type Entry = (Key, Value);

/// From this many entries on, what may change an object looks keys up by hash.
const WIDE: usize = 32;

/// Fewer lookups than this are not worth an index.
#[cfg(feature = "conversation")]
const FEW: usize = 16;

static NULL: Value = Value::Null;

/// A JSON object, and `google.protobuf.Struct` on the wire: a vector of entries with unique keys.
///
/// The order of the entries is the order in which keys were first given. It decides the order of
/// bytes and of JSON text, and does not count in `==`.
///
/// A wide object gets an index of its keys from the first call that may change it: [`Object::insert`],
/// [`Object::get_mut`] or [`Object::remove`]. Making it takes about as long as it takes to read such an
/// object; from then on no lookup takes longer the more keys there are. Without one, [`Object::get`]
/// compares keys one by one: an object that is only read has no index.
///
/// # Examples
///
/// ```
/// # use ag_ui_proto::value::{Object, Value};
/// let mut object = Object::from([("b", 1), ("a", 2)]);
/// assert_eq!(object.insert("b", "new"), Some(Value::from(1)));
/// assert_eq!(Value::from(object).to_string(), r#"{"b":"new","a":2}"#);
/// ```
pub struct Object(Repr);

enum Repr {
    Plain(Vec<Entry>),
    /// Invariant: the index holds every key of the entries, at its position.
    Indexed(Box<(Vec<Entry>, KeyIndex)>),
}

impl Object {
    /// An object of nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self(Repr::Plain(Vec::new()))
    }

    /// An object of nothing, with room for `len` entries.
    #[must_use]
    pub fn with_capacity(len: usize) -> Self {
        Self::from_unique(Vec::with_capacity(len))
    }

    /// The object of `entries`, whose keys are known to be unique.
    pub(super) const fn from_unique(entries: Vec<Entry>) -> Self {
        Self(Repr::Plain(entries))
    }

    /// The object of `entries`, of which the last with the same key wins, in the place of the first.
    pub(super) fn from_entries(mut entries: Vec<Entry>) -> Self {
        make_unique(&mut entries);
        Self::from_unique(entries)
    }

    /// How many entries there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.as_slice().len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.as_slice().is_empty()
    }

    /// The value of `key`.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        let at = self.position(key)?;
        self.as_slice().get(at).map(|entry| &entry.1)
    }

    /// The value of `key`, to change.
    #[must_use]
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        self.index_if_wide();
        let at = self.position(key)?;
        self.entries_mut().get_mut(at).map(|entry| &mut entry.1)
    }

    /// Whether there is a value for `key`, be it null.
    #[must_use]
    pub fn contains_key(&self, key: &str) -> bool {
        self.position(key).is_some()
    }

    /// Sets the value of `key` and returns the one it had.
    ///
    /// A key that is there keeps its place; a new one goes to the end.
    pub fn insert(&mut self, key: impl Into<Key>, value: impl Into<Value>) -> Option<Value> {
        self.insert_entry(key.into(), value.into())
    }

    fn insert_entry(&mut self, key: Key, value: Value) -> Option<Value> {
        if let Some(old) = self.get_mut(&key) {
            return Some(mem::replace(old, value));
        }
        match &mut self.0 {
            Repr::Plain(entries) => entries.push((key, value)),
            Repr::Indexed(indexed) => {
                let (entries, index) = &mut **indexed;
                entries.push((key, value));
                index.add(entries, entries.len() - 1);
            }
        }
        None
    }

    /// Removes `key` and returns its value. The other entries keep their order, so those behind it
    /// move.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        self.take_entry(key).map(|(_, value)| value)
    }

    /// Removes `key`, and says where it stood.
    pub(crate) fn take_entry(&mut self, key: &str) -> Option<(usize, Value)> {
        self.index_if_wide();
        let at = self.position(key)?;
        let (_, value) = match &mut self.0 {
            Repr::Plain(entries) => entries.remove(at),
            Repr::Indexed(indexed) => {
                let (entries, index) = &mut **indexed;
                index.close_up(entries, at);
                entries.remove(at)
            }
        };
        Some((at, value))
    }

    /// The two values of each key; nothing if the keys are not the same.
    #[cfg(feature = "conversation")]
    pub(crate) fn pairs<'o>(&'o self, other: &'o Self) -> Option<Vec<(&'o Value, &'o Value)>> {
        let (left, right) = (self.as_slice(), other.as_slice());
        if left.len() != right.len() {
            return None;
        }
        // The usual case: the same order. What follows is looked up.
        let in_step = left.iter().zip(right).take_while(|(left, right)| left.0 == right.0).count();
        let (left_step, left_rest) = left.split_at(in_step);
        let (right_step, right_rest) = right.split_at(in_step);
        let in_step = left_step.iter().zip(right_step);
        let mut pairs: Vec<_> = in_step.map(|(left, right)| (&left.1, &right.1)).collect();
        let index = (left_rest.len() > FEW).then(|| KeyIndex::of(right_rest));
        for (key, value) in left_rest {
            let at = match &index {
                Some(index) => index.find(right_rest, key),
                None => right_rest.iter().position(|entry| entry.0 == *key),
            };
            pairs.push((value, &right_rest.get(at?)?.1));
        }
        Some(pairs)
    }

    /// Takes out these members, in one pass over the entries.
    pub(crate) fn take_members<const N: usize>(&mut self, keys: [&str; N]) -> [Option<Value>; N] {
        let mut entries = self.take_entries();
        let mut taken = [const { None }; N];
        entries.retain_mut(|(key, value)| {
            let found = keys.iter().zip(&mut taken).find(|(wanted, _)| *wanted == key);
            match found {
                Some((_, taken)) => *taken = Some(value.take()),
                None => return true,
            }
            false
        });
        self.0 = Repr::Plain(entries);
        taken
    }

    /// Removes `key` in constant time where there are many entries: the last one takes its place.
    ///
    /// What a peer's bytes ask for must not cost the square of their length.
    pub(super) fn discard(&mut self, key: &str) {
        self.index_if_wide();
        match &mut self.0 {
            Repr::Plain(_) => drop(self.remove(key)),
            Repr::Indexed(indexed) => {
                let (entries, index) = &mut **indexed;
                let Some(at) = index.find(entries, key) else { return };
                if let Some((last, _)) = entries.last() {
                    index.remove(entries, last);
                }
                if at + 1 == entries.len() {
                    entries.pop();
                } else {
                    index.remove(entries, key);
                    entries.swap_remove(at);
                    index.add(entries, at);
                }
            }
        }
    }

    /// Removes all entries.
    pub fn clear(&mut self) {
        *self = Self::new();
    }

    /// The entries in order.
    #[must_use]
    pub fn iter(&self) -> Iter<'_> {
        Iter(self.as_slice().iter())
    }

    /// The entries in order, with values to change.
    pub fn iter_mut(&mut self) -> IterMut<'_> {
        IterMut(self.entries_mut().iter_mut())
    }

    /// The keys in order.
    #[must_use]
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &str> + ExactSizeIterator {
        self.iter().map(|(key, _)| key)
    }

    /// The values in order.
    #[must_use]
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &Value> + ExactSizeIterator {
        self.iter().map(|(_, value)| value)
    }

    /// The values in order, to change.
    pub fn values_mut(
        &mut self,
    ) -> impl DoubleEndedIterator<Item = &mut Value> + ExactSizeIterator {
        self.iter_mut().map(|(_, value)| value)
    }

    /// The entries in order.
    #[must_use]
    pub fn as_slice(&self) -> &[(Key, Value)] {
        match &self.0 {
            Repr::Plain(entries) => entries,
            Repr::Indexed(indexed) => &indexed.0,
        }
    }

    /// The entries in order.
    #[must_use]
    pub fn into_vec(mut self) -> Vec<(Key, Value)> {
        self.take_entries()
    }

    /// Mutable entries. Keys must not change, nor entries move.
    pub(super) fn entries_mut(&mut self) -> &mut [Entry] {
        match &mut self.0 {
            Repr::Plain(entries) => entries,
            Repr::Indexed(indexed) => &mut indexed.0,
        }
    }

    fn take_entries(&mut self) -> Vec<Entry> {
        match mem::replace(&mut self.0, Repr::Plain(Vec::new())) {
            Repr::Plain(entries) => entries,
            Repr::Indexed(indexed) => indexed.0,
        }
    }

    fn position(&self, key: &str) -> Option<usize> {
        match &self.0 {
            Repr::Plain(entries) => entries.iter().position(|entry| entry.0 == key),
            Repr::Indexed(indexed) => indexed.1.find(&indexed.0, key),
        }
    }

    fn index_if_wide(&mut self) {
        if let Repr::Plain(entries) = &mut self.0
            && entries.len() >= WIDE
        {
            let entries = mem::take(entries);
            let index = KeyIndex::of(&entries);
            self.0 = Repr::Indexed(Box::new((entries, index)));
        }
    }
}

impl Default for Object {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        nest::drop_children(self.entries_mut().iter_mut().map(|entry| &mut entry.1));
    }
}

impl Clone for Object {
    fn clone(&self) -> Self {
        nest::clone_object(self)
    }
}

impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        nest::same_objects(self, other)
    }
}

impl Eq for Object {}

/// `Null` for a key that is absent.
impl std::ops::Index<&str> for Object {
    type Output = Value;

    fn index(&self, key: &str) -> &Value {
        self.get(key).unwrap_or(&NULL)
    }
}

/// Of entries with the same key the last value wins, in the place of the first.
impl<K: Into<Key>, V: Into<Value>> From<Vec<(K, V)>> for Object {
    fn from(entries: Vec<(K, V)>) -> Self {
        entries.into_iter().collect()
    }
}

/// Of entries with the same key the last value wins, in the place of the first.
impl<K: Into<Key>, V: Into<Value>, const N: usize> From<[(K, V); N]> for Object {
    fn from(entries: [(K, V); N]) -> Self {
        entries.into_iter().collect()
    }
}

/// Of entries with the same key the last value wins, in the place of the first.
impl<K: Into<Key>, V: Into<Value>> FromIterator<(K, V)> for Object {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let entries = entries.into_iter().map(|(key, value)| (key.into(), value.into()));
        Self::from_entries(entries.collect())
    }
}

impl<K: Into<Key>, V: Into<Value>> Extend<(K, V)> for Object {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        for (key, value) in entries {
            self.insert(key, value);
        }
    }
}

impl IntoIterator for Object {
    type Item = (Key, Value);
    type IntoIter = IntoIter;

    fn into_iter(self) -> IntoIter {
        self.into_vec().into_iter()
    }
}

impl<'a> IntoIterator for &'a Object {
    type Item = (&'a str, &'a Value);
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

impl<'a> IntoIterator for &'a mut Object {
    type Item = (&'a str, &'a mut Value);
    type IntoIter = IterMut<'a>;

    fn into_iter(self) -> IterMut<'a> {
        self.iter_mut()
    }
}

/// The entries of an [`Object`] in order, owned.
pub type IntoIter = vec::IntoIter<(Key, Value)>;

/// The entries of an [`Object`] in order.
#[derive(Debug, Clone)]
pub struct Iter<'a>(slice::Iter<'a, (Key, Value)>);

/// The entries of an [`Object`] in order, with values to change.
#[derive(Debug)]
pub struct IterMut<'a>(slice::IterMut<'a, (Key, Value)>);

impl<'a> Iterator for Iter<'a> {
    type Item = (&'a str, &'a Value);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(key, value)| (key.as_str(), value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl DoubleEndedIterator for Iter<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back().map(|(key, value)| (key.as_str(), value))
    }
}

impl ExactSizeIterator for Iter<'_> {}

impl<'a> Iterator for IterMut<'a> {
    type Item = (&'a str, &'a mut Value);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(key, value)| (key.as_str(), value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl DoubleEndedIterator for IterMut<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back().map(|(key, value)| (key.as_str(), value))
    }
}

impl ExactSizeIterator for IterMut<'_> {}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(object: &Object) -> Vec<&str> {
        object.keys().collect()
    }

    #[test]
    fn a_key_keeps_the_place_it_was_first_given() {
        let mut object = Object::from([("b", 1), ("a", 2), ("b", 3)]);
        assert_eq!(object.as_slice(), [("b".into(), 3.into()), ("a".into(), 2.into())]);
        assert_eq!(Object::from(vec![("b".to_owned(), 3), ("a".to_owned(), 2)]), object);
        assert_eq!(Object::from(object.clone().into_vec()).as_slice(), object.as_slice());
        assert_eq!(object.insert("a", 4), Some(2.into()));
        assert_eq!(object.insert("c", 5), None);
        assert_eq!(keys(&object), ["b", "a", "c"]);
        assert_eq!(object.remove("b"), Some(3.into()));
        assert_eq!(object.remove("b"), None);
        assert_eq!(keys(&object), ["a", "c"]);
        object.extend([("c", 6), ("d", 7)]);
        assert_eq!(object.values().filter_map(Value::as_i64).collect::<Vec<_>>(), [4, 6, 7]);
    }

    #[test]
    fn a_wide_object_behaves_like_a_narrow_one() {
        let name = |n: usize| format!("k{}", n * 7919 % 1000);
        let mut object = Object::new();
        for n in 0..1000 {
            assert_eq!(object.insert(name(n), n as u64), None);
        }
        for n in 0..1000 {
            assert_eq!(object.get(&name(n)), Some(&Value::from(n as u64)));
            assert_eq!(object.insert(name(n), true), Some(Value::from(n as u64)));
        }
        assert_eq!(object.remove(&name(500)), Some(true.into()));
        assert!(!object.contains_key(&name(500)));
        assert_eq!(object.insert(name(500), false), None);
        assert_eq!(object.keys().next_back(), Some(name(500).as_str()));
        assert_eq!(object.clone().into_iter().count(), 1000);
    }

    #[test]
    fn a_wide_object_that_was_read_is_changed_like_a_narrow_one() {
        let name = |n: usize| format!("k{}", n * 7919 % 1000);
        let mut object: Object = (0..1000).map(|n| (name(n), n as u64)).collect();
        let mut plain: Vec<Entry> = object.as_slice().to_vec();
        for n in 0..1000 {
            if let Some(value) = object.get_mut(&name(n)) {
                *value = true.into();
            }
            assert_eq!(object.get(&name(n)), Some(&true.into()));
        }
        for entry in &mut plain {
            entry.1 = true.into();
        }
        // From the middle, the front and the end, with what is new in between.
        for n in (300..600).chain(0..100).chain((900..1000).rev()) {
            let at = plain.iter().position(|entry| entry.0 == name(n)).unwrap();
            plain.remove(at);
            assert_eq!(object.take_entry(&name(n)), Some((at, true.into())));
            assert_eq!(object.remove(&name(n)), None);
            if n % 3 == 0 {
                plain.push((format!("new{n}").into(), n.into()));
                assert_eq!(object.insert(format!("new{n}"), n), None);
            }
            assert_eq!(object.as_slice(), plain);
        }
        for (key, value) in &plain {
            assert_eq!(object.get(key), Some(value));
        }
        assert!(plain.iter().all(|(key, _)| object.remove(key).is_some()));
        assert!(object.is_empty());
    }

    #[test]
    fn a_hundred_thousand_keys_are_looked_up_in_linear_time() {
        // The square of this many comparisons would take a minute.
        let wide = 100_000;
        let mut object: Object = (0..wide).map(|n| (n.to_string(), n)).collect();
        for n in 0..wide {
            assert_eq!(object.get_mut(&n.to_string()), Some(&mut n.into()));
        }
        for n in (0..wide).rev() {
            assert_eq!(object.remove(&n.to_string()), Some(n.into()));
        }
    }

    #[cfg(feature = "conversation")]
    #[test]
    fn values_are_paired_by_key() {
        let pairs = |left: &Object, right: &Object| {
            let pairs = left.pairs(right)?;
            Some(pairs.into_iter().map(|(l, r)| (l.as_i64(), r.as_i64())).collect::<Vec<_>>())
        };
        let left = Object::from([("a", 1), ("b", 2), ("c", 3)]);
        let right = Object::from([("a", 4), ("c", 5), ("b", 6)]);
        let want = [(1, 4), (2, 6), (3, 5)].map(|(l, r)| (Some(l), Some(r)));
        assert_eq!(pairs(&left, &right), Some(want.to_vec()));
        assert_eq!(pairs(&left, &Object::from([("a", 1), ("b", 2), ("d", 3)])), None);
        assert_eq!(pairs(&left, &Object::from([("a", 1)])), None);
        let wide: Object = (0..50).map(|n| (n.to_string(), n)).collect();
        let other: Object = (1..51).map(|n| (n.to_string(), n)).collect();
        assert_eq!(wide.pairs(&other), None);
        // The square of this many comparisons would take a minute.
        let wide: Object = (0..100_000).map(|n| (n.to_string(), n)).collect();
        let turned: Object = (0..100_000).rev().map(|n| (n.to_string(), n)).collect();
        let pairs = wide.pairs(&turned).unwrap();
        assert!(pairs.len() == 100_000 && pairs.iter().all(|(left, right)| left == right));
    }

    #[test]
    fn an_entry_discarded_from_a_wide_object_is_replaced_by_the_last() {
        let mut object: Object = (0..40).map(|n| (n.to_string(), n)).collect();
        object.discard("39");
        object.discard("3");
        object.discard("absent");
        assert_eq!(object.len(), 38);
        assert_eq!(object.as_slice().get(3), Some(&("38".into(), 38.into())));
        assert_eq!(object.get("38"), Some(&38.into()));
        assert_eq!(object.get("3"), None);
        assert_eq!(object.insert("38", 0), Some(38.into()));
        assert_eq!(object.insert("3", 0), None);
        let mut narrow = Object::from([("a", 1), ("b", 2), ("c", 3)]);
        narrow.discard("a");
        assert_eq!(keys(&narrow), ["b", "c"]);
    }

    #[test]
    fn a_hundred_thousand_keys_are_taken_in_linear_time() {
        // The square of this many comparisons would take a minute.
        let wide = 100_000;
        let mut inserted = Object::new();
        inserted.extend((0..wide).rev().map(|n| (n.to_string(), n)));
        let twice = (0..wide).rev().chain(0..wide).map(|n| (n.to_string(), n));
        let collected: Object = twice.collect();
        assert_eq!(collected.len(), inserted.len());
        assert!(collected == inserted);
    }

    #[test]
    fn absent_is_not_null_but_indexing_gives_null() {
        let object = Object::from([("a", Value::Null)]);
        assert!(object.contains_key("a") && !object.contains_key("b"));
        assert_eq!(object["b"], Value::Null);
    }

    #[test]
    fn values_change_in_place() {
        let mut object = Object::from([("a", 1), ("b", 2)]);
        for (key, value) in &mut object {
            *value = key.into();
        }
        if let Some(value) = object.get_mut("b") {
            *value = Value::Null;
        }
        object.values_mut().for_each(|value| *value = Value::from(vec![value.take()]));
        assert_eq!(Value::from(object).to_string(), r#"{"a":["a"],"b":[null]}"#);
    }
}
