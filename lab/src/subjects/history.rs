//! History for subjects without versions: rows (key, inverted number of the commit), written in the same
//! transaction as the current row. The newest version comes first, so a read as of a commit is one seek.

use super::{Reader, RowToWrite, SeeRow, SeeValue, Tree};
use crate::error::Result;

const NUMBER_BYTES: usize = 8;

fn history_key(key: &[u8], at: u64) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(key.len() + NUMBER_BYTES);
    bytes.extend_from_slice(key);
    bytes.extend_from_slice(&(!at).to_be_bytes());
    bytes
}

/// The rows of a commit, and the same again as history; there a deleted row has an empty value.
pub fn with_history(rows: Vec<RowToWrite>, number: u64) -> Vec<RowToWrite> {
    let version = |row: &RowToWrite| RowToWrite {
        tree: Tree::History,
        key: history_key(&row.key, number),
        value: Some(row.value.clone().unwrap_or_default()),
    };
    let history: Vec<_> = rows.iter().map(version).collect();
    rows.into_iter().chain(history).collect()
}

/// The version of `key` as of `at`: the first history row at or after (key, inverted `at`), if it is of `key`.
pub(super) fn get_as_of<R: Reader + ?Sized>(reader: &mut R, key: &[u8], at: u64, see: SeeValue<'_>) -> Result<bool> {
    let mut found = false;
    reader.range(Tree::History, &history_key(key, at), false, &mut |row, value| {
        if row.len() == key.len() + NUMBER_BYTES && row.starts_with(key) && !value.is_empty() {
            found = true;
            see(value);
        }
        false
    })?;
    Ok(found)
}

/// For each key from `start` on, the newest version that is not newer than `at`. All keys of the laboratory have the
/// same length, so the rows of a key are neighbours.
pub(super) fn range_as_of<R: Reader + ?Sized>(reader: &mut R, start: &[u8], at: u64, see: SeeRow<'_>) -> Result<()> {
    let mut shown: Vec<u8> = Vec::new();
    reader.range(Tree::History, start, false, &mut |row, value| {
        let Some((key, number)) = row.split_last_chunk::<NUMBER_BYTES>() else { return true };
        if !u64::from_be_bytes(*number) > at || shown == key {
            return true;
        }
        shown.clear();
        shown.extend_from_slice(key);
        value.is_empty() || see(key, value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    struct Map(BTreeMap<Vec<u8>, Vec<u8>>);

    impl Reader for Map {
        fn get(&mut self, _: Tree, key: &[u8], see: SeeValue<'_>) -> Result<bool> {
            Ok(self.0.get(key).map(|value| see(value)).is_some())
        }
        fn range(&mut self, _: Tree, start: &[u8], _: bool, see: SeeRow<'_>) -> Result<()> {
            let _ = self.0.range(start.to_vec()..).all(|(key, value)| see(key, value));
            Ok(())
        }
    }

    #[test]
    fn a_read_as_of_a_commit_sees_the_newest_version_that_is_not_newer() {
        let mut map = Map(BTreeMap::new());
        let written = |key: &str, number| Some(format!("{key}{number}").into_bytes());
        for (key, number, value) in [
            ("a", 2, written("a", 2)),
            ("a", 5, written("a", 5)),
            ("b", 3, written("b", 3)),
            ("c", 1, written("c", 1)),
            ("c", 9, written("c", 9)),
            ("d", 1, written("d", 1)),
            ("d", 3, None),
            ("d", 6, written("d", 6)),
        ] {
            let row = RowToWrite { tree: Tree::Current, key: key.as_bytes().to_vec(), value };
            let rows = with_history(vec![row], number);
            map.0.extend(
                rows.into_iter().filter(|row| row.tree == Tree::History).map(|row| (row.key, row.value.unwrap())),
            );
        }
        let mut get = |key: &str, at| {
            let mut seen = None;
            map.get_as_of(key.as_bytes(), at, &mut |value| seen = Some(String::from_utf8(value.to_vec()).unwrap()))
                .unwrap();
            seen
        };
        for (key, at, expected) in [
            ("a", 1, None),
            ("a", 2, Some("a2")),
            ("a", 4, Some("a2")),
            ("a", 5, Some("a5")),
            ("b", 2, None),
            ("b", u64::MAX, Some("b3")),
            ("c", 8, Some("c1")),
            ("d", 2, Some("d1")),
            ("d", 4, None),
            ("d", 6, Some("d6")),
            ("e", 8, None),
        ] {
            assert_eq!(get(key, at).as_deref(), expected, "{key} as of {at}");
        }
        let mut rows = Vec::new();
        map.range_as_of(b"a", 4, &mut |key, value| {
            rows.push(String::from_utf8([key, b"=", value].concat()).unwrap());
            true
        })
        .unwrap();
        assert_eq!(rows, ["a=a2", "b=b3", "c=c1"]);
    }
}
