//! Where each key of a wide object stands: a hash table of positions, with the keys left in place.

use std::hash::{BuildHasher, RandomState};

use super::Key;

/// A slot that was never used; a search ends here.
const EMPTY: usize = usize::MAX;
/// A slot whose key is gone; a search goes on.
const GONE: usize = usize::MAX - 1;

/// Positions of entries, found by key. The caller keeps the entries, and says when they change.
///
/// Slots are a power of two, probed in sequence, at most half of them used. The hash is seeded per
/// index: a peer that chooses the keys cannot choose collisions.
#[derive(Debug)]
pub(super) struct KeyIndex {
    slots: Vec<usize>,
    used: usize,
    hasher: RandomState,
}

impl KeyIndex {
    /// An index with room for `len` keys.
    pub(super) fn with_capacity(len: usize) -> Self {
        let slots = vec![EMPTY; (len * 2).next_power_of_two().max(16)];
        Self { slots, used: 0, hasher: RandomState::new() }
    }

    /// The index of `entries`, whose keys are unique.
    pub(super) fn of<V>(entries: &[(Key, V)]) -> Self {
        let mut index = Self::with_capacity(entries.len() + 1);
        for at in 0..entries.len() {
            index.add(entries, at);
        }
        index
    }

    /// Where `key` stands in `entries`.
    pub(super) fn find<V>(&self, entries: &[(Key, V)], key: &str) -> Option<usize> {
        self.slot_of(entries, key).ok().and_then(|slot| self.slots.get(slot)).copied()
    }

    /// Enters the key at position `at`, which is not in the index yet.
    pub(super) fn add<V>(&mut self, entries: &[(Key, V)], at: usize) {
        let Some((key, _)) = entries.get(at) else { return };
        if (self.used + 1) * 2 > self.slots.len() {
            self.grow(entries);
        }
        if let Err(slot) = self.slot_of(entries, key) {
            self.set(slot, at);
            self.used += 1;
        }
    }

    /// Takes out `key`, which must still be in `entries`.
    pub(super) fn remove<V>(&mut self, entries: &[(Key, V)], key: &str) -> Option<usize> {
        let slot = self.slot_of(entries, key).ok()?;
        let at = self.slots.get(slot).copied();
        self.set(slot, GONE);
        at
    }

    /// Takes out the key at position `at`, which must still be in `entries`; the keys behind it are
    /// then found one position further to the front.
    pub(super) fn close_up<V>(&mut self, entries: &[(Key, V)], at: usize) {
        let Some((key, _)) = entries.get(at) else { return };
        self.remove(entries, key);
        let behind = at + 1..entries.len();
        if behind.len() * 8 < self.slots.len() {
            for (place, (key, _)) in entries.iter().enumerate().skip(behind.start) {
                // Those before it are moved already, and point at other keys than this one.
                if let Ok(slot) = self.slot_of(entries, key) {
                    self.set(slot, place - 1);
                }
            }
        } else {
            for slot in &mut self.slots {
                *slot -= usize::from(*slot > at && *slot < GONE);
            }
        }
    }

    /// The slot that holds `key`, or the empty one where the search for it ends.
    fn slot_of<V>(&self, entries: &[(Key, V)], key: &str) -> Result<usize, usize> {
        let mask = self.slots.len() - 1;
        let hash = self.hasher.hash_one(key) & u64::try_from(mask).unwrap_or(u64::MAX);
        let mut slot = usize::try_from(hash).unwrap_or(0);
        // Ends: at least half of the slots are empty.
        loop {
            match self.slots.get(slot) {
                None | Some(&EMPTY) => return Err(slot),
                Some(&at) if entries.get(at).is_some_and(|entry| entry.0 == key) => {
                    return Ok(slot);
                }
                Some(_) => slot = (slot + 1) & mask,
            }
        }
    }

    /// Doubles the slots, or just sweeps out the keys that are gone.
    fn grow<V>(&mut self, entries: &[(Key, V)]) {
        let live: Vec<usize> =
            self.slots.iter().copied().filter(|&at| at != EMPTY && at != GONE).collect();
        self.slots = vec![EMPTY; ((live.len() + 1) * 4).next_power_of_two()];
        self.used = live.len();
        for at in live {
            if let Some((key, _)) = entries.get(at)
                && let Err(slot) = self.slot_of(entries, key)
            {
                self.set(slot, at);
            }
        }
    }

    fn set(&mut self, slot: usize, at: usize) {
        if let Some(slot) = self.slots.get_mut(slot) {
            *slot = at;
        }
    }
}

/// Up to this many entries, comparing every pair of keys is faster than hashing them.
const FEW: usize = 24;

/// Makes keys unique: the last value of a key wins and takes the place of the first.
///
/// Linear in the number of entries.
pub(super) fn make_unique<V>(entries: &mut Vec<(Key, V)>) {
    let repeats = if entries.is_sorted_by(|a, b| a.0 < b.0) {
        // Ascending keys, as from a sorted map.
        Vec::new()
    } else if entries.len() <= FEW {
        repeats_by_scan(entries)
    } else {
        repeats_by_hash(entries)
    };
    if repeats.is_empty() {
        return;
    }
    for &(first, again) in &repeats {
        if let Ok([first, again]) = entries.get_disjoint_mut([first, again]) {
            std::mem::swap(&mut first.1, &mut again.1);
        }
    }
    let mut repeats = repeats.iter().map(|&(_, again)| again).peekable();
    let mut at = 0;
    entries.retain(|_| {
        let keep = repeats.next_if_eq(&at).is_none();
        at += 1;
        keep
    });
}

/// Pairs of positions with the same key: its first, and each later one in ascending order.
fn repeats_by_scan<V>(entries: &[(Key, V)]) -> Vec<(usize, usize)> {
    let mut repeats = Vec::new();
    for (at, (key, _)) in entries.iter().enumerate() {
        if let Some(first) = entries.iter().take(at).position(|entry| entry.0 == *key) {
            repeats.push((first, at));
        }
    }
    repeats
}

fn repeats_by_hash<V>(entries: &[(Key, V)]) -> Vec<(usize, usize)> {
    let mut repeats = Vec::new();
    let mut index = KeyIndex::with_capacity(entries.len());
    for (at, (key, _)) in entries.iter().enumerate() {
        match index.find(entries, key) {
            Some(first) => repeats.push((first, at)),
            None => index.add(entries, at),
        }
    }
    repeats
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(keys: &[&str]) -> Vec<(Key, usize)> {
        keys.iter().enumerate().map(|(at, key)| (Key::from(*key), at)).collect()
    }

    #[test]
    fn the_last_value_takes_the_place_of_the_first() {
        let mut few = entries(&["a", "b", "a", "c", "a", "b"]);
        make_unique(&mut few);
        assert_eq!(few, [("a".into(), 4), ("b".into(), 5), ("c".into(), 3)]);
    }

    #[test]
    fn many_keys_are_made_unique_like_few() {
        let mut many: Vec<(Key, usize)> =
            (0..1000).map(|at| (format!("k{}", at % 700).into(), at)).collect();
        make_unique(&mut many);
        assert_eq!(many.len(), 700);
        for (at, (key, value)) in many.iter().enumerate() {
            assert_eq!(*key, format!("k{at}"));
            assert_eq!(*value, if at < 300 { at + 700 } else { at });
        }
    }

    #[test]
    fn an_index_follows_what_is_added_and_removed() {
        let all = entries(&["a", "b", "c"]);
        let mut index = KeyIndex::of(&all);
        assert_eq!(index.find(&all, "b"), Some(1));
        assert_eq!(index.remove(&all, "b"), Some(1));
        assert_eq!(index.find(&all, "b"), None);
        assert_eq!(index.find(&all, "c"), Some(2));
        for _ in 0..1000 {
            index.add(&all, 1);
            index.remove(&all, "b");
        }
        assert!(index.slots.len() <= 64, "{}", index.slots.len());
        index.add(&all, 1);
        assert_eq!(index.find(&all, "b"), Some(1));
    }
}
