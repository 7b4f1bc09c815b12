//! The body of a record: the commits of a group, or an order about history, to the byte of docs/shared-log.md. Pure.

use std::num::NonZeroU32;
use std::ops::Bound;
use std::time::Duration;

use recension_engine::limits::{RETENTION_RULES_MAX, STORED_KEY_BYTES_MAX, STORED_VALUE_BYTES_MAX};
use recension_engine::{Batch, Durability, ErasedKey, ErasedVersions, KeyRange, Retention, RetentionRule, Seq, TreeId};

use crate::bytes_reader::{BytesReader, Short, put_sized};
use crate::limits::ENTRIES_MAX;

/// The effect of a record on a store.
#[derive(Debug)]
pub(crate) enum Entry {
    /// A commit: rows as they are written, with nothing left to decide.
    Commit(Batch),
    /// `Engine::forget`.
    Forget { tree: TreeId, range: KeyRange, before: Seq },
    /// `Engine::set_retention`.
    Rules(Vec<RetentionRule>),
    /// `Engine::erase`.
    Erase(Vec<ErasedKey>),
}

const COMMIT: u8 = 1;
const FORGET: u8 = 2;
const RULES: u8 = 3;
const ERASE: u8 = 4;

/// About how many bytes a commit takes in a body; never less than it takes.
pub(crate) fn commit_bytes(batch: &Batch) -> usize {
    5 + batch.rows().len() * 13 + batch.size_bytes()
}

/// Appends a commit.
pub(crate) fn put_commit(body: &mut Vec<u8>, batch: &Batch) {
    body.push(COMMIT);
    body.extend_from_slice(&(batch.rows().len() as u32).to_le_bytes());
    for row in batch.rows() {
        body.extend_from_slice(&row.tree.0.to_le_bytes());
        body.push(u8::from(row.value.is_some()));
        put_sized(body, row.key);
        if let Some(value) = row.value {
            put_sized(body, value);
        }
    }
}

/// Appends an order to forget.
pub(crate) fn put_forget(body: &mut Vec<u8>, tree: TreeId, range: &KeyRange, before: Seq) {
    body.push(FORGET);
    body.extend_from_slice(&tree.0.to_le_bytes());
    put_range(body, range);
    body.extend_from_slice(&before.0.to_le_bytes());
}

/// Appends rules of retention.
pub(crate) fn put_rules(body: &mut Vec<u8>, rules: &[RetentionRule]) {
    body.push(RULES);
    body.extend_from_slice(&(rules.len() as u32).to_le_bytes());
    for rule in rules {
        body.extend_from_slice(&rule.tree.0.to_le_bytes());
        put_range(body, &rule.range);
        let (kind, number) = match rule.retention {
            Retention::Everything => (0, 0),
            Retention::Versions(count) => (1, u64::from(count.get())),
            Retention::Duration(duration) => (2, u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)),
            Retention::HeadOnly => (3, 0),
        };
        body.push(kind);
        body.extend_from_slice(&number.to_le_bytes());
    }
}

/// Appends an order to erase.
pub(crate) fn put_erase(body: &mut Vec<u8>, erased: &[ErasedKey]) {
    body.push(ERASE);
    body.extend_from_slice(&(erased.len() as u32).to_le_bytes());
    for erased in erased {
        body.extend_from_slice(&erased.tree.0.to_le_bytes());
        put_sized(body, &erased.key);
        body.extend_from_slice(&erased.versions.through.0.to_le_bytes());
        body.extend_from_slice(&(erased.versions.these.len() as u32).to_le_bytes());
        for seq in &erased.versions.these {
            body.extend_from_slice(&seq.0.to_le_bytes());
        }
    }
}

/// The entries of a body.
pub(crate) fn decode(body: &[u8]) -> Result<Vec<Entry>, Short> {
    let mut reader = BytesReader(body);
    let mut entries = Vec::new();
    while !reader.is_empty() {
        if entries.len() >= ENTRIES_MAX {
            return Err(Short);
        }
        entries.push(match reader.u8()? {
            COMMIT => Entry::Commit(commit(&mut reader)?),
            FORGET => {
                let (tree, range) = (TreeId(reader.u32()?), range(&mut reader)?);
                Entry::Forget { tree, range, before: Seq(reader.u64()?) }
            }
            RULES => Entry::Rules(rules(&mut reader)?),
            ERASE => Entry::Erase(erased(&mut reader)?),
            _ => return Err(Short),
        });
    }
    Ok(entries)
}

fn commit(reader: &mut BytesReader<'_>) -> Result<Batch, Short> {
    let rows = reader.u32()? as usize;
    // A row takes at least nine bytes: a wrong number must not make us allocate memory.
    if rows > reader.0.len() / 9 {
        return Err(Short);
    }
    let mut batch = Batch::with_capacity(rows, 0, 0);
    for _ in 0..rows {
        let tree = TreeId(reader.u32()?);
        let put = reader.u8()?;
        let key = bounded(reader.sized()?, STORED_KEY_BYTES_MAX)?;
        match put {
            0 => batch.delete(tree, key),
            1 => batch.put(tree, key, bounded(reader.sized()?, STORED_VALUE_BYTES_MAX)?),
            _ => return Err(Short),
        };
    }
    // The log has it: rows that the cache loses are read again.
    batch.durability(Durability::Process);
    Ok(batch)
}

fn rules(reader: &mut BytesReader<'_>) -> Result<Vec<RetentionRule>, Short> {
    let count = reader.u32()? as usize;
    if count > RETENTION_RULES_MAX {
        return Err(Short);
    }
    (0..count)
        .map(|_| {
            let (tree, range) = (TreeId(reader.u32()?), range(reader)?);
            let (kind, number) = (reader.u8()?, reader.u64()?);
            let retention = match kind {
                0 => Retention::Everything,
                1 => Retention::Versions(u32::try_from(number).ok().and_then(NonZeroU32::new).ok_or(Short)?),
                2 => Retention::Duration(Duration::from_micros(number)),
                3 => Retention::HeadOnly,
                _ => return Err(Short),
            };
            Ok(RetentionRule { tree, range, retention })
        })
        .collect()
}

fn erased(reader: &mut BytesReader<'_>) -> Result<Vec<ErasedKey>, Short> {
    let count = reader.u32()? as usize;
    if count > reader.0.len() / 20 {
        return Err(Short);
    }
    (0..count)
        .map(|_| {
            let (tree, key) = (TreeId(reader.u32()?), reader.sized()?.to_vec());
            let (through, count) = (Seq(reader.u64()?), reader.u32()? as usize);
            if count > reader.0.len() / 8 {
                return Err(Short);
            }
            let these = (0..count).map(|_| reader.u64().map(Seq)).collect::<Result<_, _>>()?;
            Ok(ErasedKey { tree, key, versions: ErasedVersions { through, these } })
        })
        .collect()
}

fn bounded(bytes: &[u8], max: usize) -> Result<&[u8], Short> {
    if bytes.len() <= max { Ok(bytes) } else { Err(Short) }
}

fn put_range(body: &mut Vec<u8>, range: &KeyRange) {
    for end in [&range.start, &range.end] {
        match end {
            Bound::Unbounded => body.push(0),
            Bound::Included(key) => {
                body.push(1);
                put_sized(body, key);
            }
            Bound::Excluded(key) => {
                body.push(2);
                put_sized(body, key);
            }
        }
    }
}

fn range(reader: &mut BytesReader<'_>) -> Result<KeyRange, Short> {
    let mut end = || match reader.u8()? {
        0 => Ok(Bound::Unbounded),
        1 => Ok(Bound::Included(reader.sized()?.to_vec())),
        2 => Ok(Bound::Excluded(reader.sized()?.to_vec())),
        _ => Err(Short),
    };
    Ok(KeyRange { start: end()?, end: end()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_back_as_they_were_written_and_no_cut_is_taken_for_whole() {
        let mut batch = Batch::new();
        batch.put(TreeId(1), b"key", b"value").delete(TreeId(u32::MAX), b"").put(TreeId(0), b"", b"");
        let rule = |retention| RetentionRule { tree: TreeId(3), range: KeyRange::prefix("x"), retention };
        let given = [
            rule(Retention::HeadOnly),
            rule(Retention::Versions(NonZeroU32::MIN)),
            rule(Retention::Duration(Duration::from_secs(5))),
        ];
        let mut body = Vec::new();
        let mut ends = vec![0];
        put_commit(&mut body, &batch);
        assert!(body.len() <= commit_bytes(&batch));
        ends.push(body.len());
        put_forget(&mut body, TreeId(9), &KeyRange::all(), Seq(4));
        ends.push(body.len());
        put_rules(&mut body, &given);
        ends.push(body.len());
        let erase =
            [ErasedKey { tree: TreeId(5), key: b"k".to_vec(), versions: ErasedVersions::these(vec![Seq(2), Seq(7)]) }];
        put_erase(&mut body, &erase);
        ends.push(body.len());
        let entries = decode(&body).unwrap();
        let [Entry::Commit(found), Entry::Forget { tree, range, before }, Entry::Rules(rules), Entry::Erase(erased)] =
            &entries[..]
        else {
            panic!("{entries:?}")
        };
        assert!(found.rows().eq(batch.rows()));
        assert_eq!((*tree, range, *before), (TreeId(9), &KeyRange::all(), Seq(4)));
        assert_eq!(*rules, given);
        assert_eq!(*erased, erase);
        for len in (0..body.len()).filter(|len| !ends.contains(len)) {
            assert!(decode(&body[..len]).is_err(), "cut to {len}");
        }
    }
}
