//! Reading and writing keys on an overlay: a key's row together with its row among the expiring keys. The moment by
//! which expiry is judged is an argument.

use std::ops::Bound;
use std::time::Duration;

use crate::engine::{Direction, KeyRange, Snapshot, Timestamp, TreeId};
use crate::kernel::overlay::Overlay;
use crate::kernel::rows::key_rows::{GIVEN_UP, SpaceTrees, decode_entry, encode_entry, expiring_key, micros};
use recension_values::error::{Error, Result};
use recension_values::key_value::{
    Expiry, KeyCondition, KeyEntry, KeyRows, KeyValue, SetOptions, SetOutcome, check_key, check_value,
};

/// A key's entry at a moment; `None` if there is none, or it has expired by then.
pub(crate) fn read_key(
    snapshot: &dyn Snapshot,
    trees: SpaceTrees,
    key: &[u8],
    now: Timestamp,
) -> Result<Option<KeyEntry>> {
    let Some(row) = snapshot.get(trees.keys, key)? else { return Ok(None) };
    Ok(Some(decode_entry(&row, row.seq, key)?).filter(|entry| is_live(entry, now)))
}

fn is_live(entry: &KeyEntry, now: Timestamp) -> bool {
    entry.expires.is_none_or(|expires| now < expires)
}

/// Keys that begin with `prefix`, after `after`, in the order of their bytes; at most `limit`.
pub(crate) fn scan_keys(
    snapshot: &dyn Snapshot,
    trees: SpaceTrees,
    (prefix, after): (&[u8], Option<&[u8]>),
    limit: usize,
    now: Timestamp,
) -> Result<Vec<(Vec<u8>, KeyEntry)>> {
    let mut range = KeyRange::prefix(prefix);
    if let Some(after) = after.filter(|after| *after >= prefix) {
        range.start = Bound::Excluded(after.to_vec());
    }
    let mut found = Vec::new();
    if limit == 0 || range.is_empty() {
        return Ok(found);
    }
    for row in snapshot.range(trees.keys, &range, Direction::Forward) {
        let row = row?;
        let entry = decode_entry(&row.value, row.value.seq, &row.key)?;
        if is_live(&entry, now) {
            found.push((row.key.into_owned(), entry));
            if found.len() == limit {
                break;
            }
        }
    }
    Ok(found)
}

/// Rows of a key whose value they are, between bounds, in the order of their keys or the other way round.
pub(crate) fn rows_of<'s>(
    snapshot: &'s dyn Snapshot,
    tree: Option<TreeId>,
    of: &KeyRows,
    (start, end): (Bound<&[u8]>, Bound<&[u8]>),
    direction: Direction,
) -> impl Iterator<Item = Result<(Vec<u8>, Vec<u8>)>> + use<'s> {
    let at = |key: &[u8]| [&of.id[..], key].concat();
    let mut range = KeyRange::prefix(of.id);
    if !matches!(start, Bound::Unbounded) {
        range.start = start.map(at);
    }
    if !matches!(end, Bound::Unbounded) {
        range.end = end.map(at);
    }
    let rows = tree.filter(|_| !range.is_empty()).map(|tree| snapshot.range(tree, &range, direction));
    rows.into_iter().flatten().map(|row| {
        let row = row?;
        Ok((row.key[16..].to_vec(), row.value.bytes.to_vec()))
    })
}

/// Writes keys of one namespace to an overlay.
pub(crate) struct KeyWriter<'v> {
    pub(crate) view: &'v Overlay,
    pub(crate) trees: SpaceTrees,
    pub(crate) now: Timestamp,
}

impl KeyWriter<'_> {
    pub(crate) fn entry(&self, key: &[u8]) -> Result<Option<KeyEntry>> {
        read_key(self.view, self.trees, key, self.now)
    }

    /// The row, even if it has expired: its row among the expiring keys may still exist.
    fn stored(&self, key: &[u8]) -> Result<Option<KeyEntry>> {
        let row = self.view.get(self.trees.keys, key)?;
        row.map(|row| decode_entry(&row, row.seq, key)).transpose()
    }

    pub(crate) fn set(&self, key: &[u8], value: &KeyValue, options: &SetOptions) -> Result<SetOutcome> {
        check_key(key)?;
        check_value(value)?;
        let stored = self.stored(key)?;
        let expires_before = stored.as_ref().and_then(|entry| entry.expires);
        let previous = stored.clone().filter(|entry| is_live(entry, self.now));
        let holds = match &options.condition {
            KeyCondition::Anything => true,
            KeyCondition::Absent => previous.is_none(),
            KeyCondition::Present => previous.is_some(),
            KeyCondition::Equal(expected) => previous.as_ref().is_some_and(|entry| entry.value == *expected),
        };
        if !holds {
            return Ok(SetOutcome { written: false, previous });
        }
        self.give_up(stored.as_ref().map(|entry| &entry.value), Some(value));
        let kept = previous.as_ref().and_then(|entry| entry.expires.map(|expires| (expires, entry.slides)));
        self.put(key, value, expires_before, self.end_of(options.expiry, kept));
        Ok(SetOutcome { written: true, previous })
    }

    /// The moment of an expiry, and by how long reads put it off.
    fn end_of(
        &self,
        expiry: Expiry,
        kept: Option<(Timestamp, Option<Duration>)>,
    ) -> Option<(Timestamp, Option<Duration>)> {
        let after = |duration| Timestamp(self.now.0.saturating_add(micros(duration)));
        match expiry {
            Expiry::Never => None,
            Expiry::After(duration) => Some((after(duration), None)),
            Expiry::At(moment) => Some((moment, None)),
            Expiry::Sliding(duration) => Some((after(duration), Some(duration))),
            Expiry::Keep => kept,
        }
    }

    fn put(&self, key: &[u8], value: &KeyValue, before: Option<Timestamp>, end: Option<(Timestamp, Option<Duration>)>) {
        let expires = end.map(|(expires, _)| expires);
        if let Some(before) = before.filter(|before| Some(*before) != expires) {
            self.view.delete(self.trees.expiring, &expiring_key(before, key));
        }
        if expires.is_some_and(|expires| expires <= self.now) {
            // It has expired already: nobody sees it, and no row is left for the sweep.
            self.view.delete(self.trees.keys, key);
            self.give_up(Some(value), None);
            return;
        }
        self.view.put(self.trees.keys, key, encode_entry(value, expires, end.and_then(|(_, slides)| slides)));
        if let Some(expires) = expires.filter(|expires| before != Some(*expires)) {
            self.view.put(self.trees.expiring, &expiring_key(expires, key), Vec::new());
        }
    }

    /// Gives up the rows of a value that is replaced by another one: the sweep deletes them.
    fn give_up(&self, old: Option<&KeyValue>, new: Option<&KeyValue>) {
        let (Some(KeyValue::Rows(old)), new) = (old, new) else { return };
        if !matches!(new, Some(KeyValue::Rows(new)) if new.id == old.id) {
            self.view.put(self.trees.expiring, &expiring_key(self.now, &old.id), vec![GIVEN_UP]);
        }
    }

    /// Removes a key; answers its entry.
    pub(crate) fn remove(&self, key: &[u8]) -> Result<Option<KeyEntry>> {
        let removed = self.detach(key)?;
        self.give_up(removed.as_ref().map(|entry| &entry.value), None);
        Ok(removed.filter(|entry| is_live(entry, self.now)))
    }

    /// Removes a key, but leaves rows that are its value; answers its entry, even if it has expired.
    pub(crate) fn detach(&self, key: &[u8]) -> Result<Option<KeyEntry>> {
        let Some(stored) = self.stored(key)? else { return Ok(None) };
        self.view.delete(self.trees.keys, key);
        if let Some(expires) = stored.expires {
            self.view.delete(self.trees.expiring, &expiring_key(expires, key));
        }
        Ok(Some(stored))
    }

    /// Removes the expired key of the row `expires`, if the key still has that expiry.
    pub(crate) fn sweep(&self, expires: Timestamp, key: &[u8]) -> Result<bool> {
        let expired = self.stored(key)?.filter(|entry| entry.expires == Some(expires));
        if expired.is_some() {
            self.view.delete(self.trees.keys, key);
        }
        self.give_up(expired.as_ref().map(|entry| &entry.value), None);
        self.view.delete(self.trees.expiring, &expiring_key(expires, key));
        Ok(expired.is_some())
    }

    /// Deletes rows that were given up at a moment, at most `limit`; returns how many. If it was fewer, none is left.
    pub(crate) fn sweep_rows(&self, rows: TreeId, moment: Timestamp, id: &[u8], limit: usize) -> Result<usize> {
        let mut swept = 0;
        for row in self.view.base().range(rows, &KeyRange::prefix(id), Direction::Forward).take(limit) {
            self.view.delete(rows, &row?.key);
            swept += 1;
        }
        if swept < limit {
            self.view.delete(self.trees.expiring, &expiring_key(moment, id));
        }
        Ok(swept)
    }

    /// Gives a key another expiry; returns whether there is such a key.
    pub(crate) fn expire(&self, key: &[u8], expiry: Expiry) -> Result<bool> {
        let Some(entry) = self.entry(key)? else { return Ok(false) };
        let kept = entry.expires.map(|expires| (expires, entry.slides));
        self.put(key, &entry.value, entry.expires, self.end_of(expiry, kept));
        Ok(true)
    }

    /// Puts off the expiry of a key that was read, if it slides and enough of its time has passed.
    pub(crate) fn renew(&self, key: &[u8]) -> Result<()> {
        let Some(entry) = self.entry(key)? else { return Ok(()) };
        match (entry.slides, is_to_be_renewed(&entry, self.now)) {
            (Some(slides), true) => self.expire(key, Expiry::Sliding(slides)).map(|_| ()),
            _ => Ok(()),
        }
    }

    /// Adds to an integer, from 0 if there is none. The result stays within the range of integers.
    pub(crate) fn increment(&self, key: &[u8], by: i64) -> Result<i64> {
        let number = match self.entry(key)? {
            None => 0,
            Some(entry) => entry.value.as_integer().ok_or_else(|| not_a_number(key, "an integer"))?,
        };
        let sum = number.saturating_add(by);
        self.set(key, &KeyValue::Integer(sum), &SetOptions::new().keep_existing())?;
        Ok(sum)
    }

    /// Adds to a number, from 0 if there is none.
    pub(crate) fn increment_float(&self, key: &[u8], by: f64) -> Result<f64> {
        let number = match self.entry(key)? {
            None => 0.0,
            Some(entry) => entry.value.as_float().ok_or_else(|| not_a_number(key, "a number"))?,
        };
        let sum = (number + by).clamp(f64::MIN, f64::MAX);
        self.set(key, &KeyValue::Float(sum), &SetOptions::new().keep_existing())?;
        Ok(sum)
    }
}

/// Whether a read of a sliding key writes its new expiry: a sixteenth of its time has passed.
pub(crate) fn is_to_be_renewed(entry: &KeyEntry, now: Timestamp) -> bool {
    let (Some(slides), Some(expires)) = (entry.slides, entry.expires) else { return false };
    let (slides, left) = (micros(slides), expires.0.saturating_sub(now.0));
    left < slides - slides / 16
}

fn not_a_number(key: &[u8], expected: &'static str) -> Error {
    Error::NotANumber { key: String::from_utf8_lossy(key).chars().take(80).collect(), expected }
}
