//! What rows have: their checksums, the bounds of their ranges, and the columns of a commit.

use std::ops::Bound;

use recension::engine::{CommitInfo, KeyRange, Result, Seq, TreeId};
use rusqlite::Row;

use super::error::ErrorContext;

/// CRC-32C of a row version. A row is only returned with the right one.
pub(super) fn checksum(tree: TreeId, key: &[u8], seq: Seq, value: Option<&[u8]>) -> u32 {
    let mut head = [0; 17];
    head[..4].copy_from_slice(&tree.0.to_le_bytes());
    head[4..12].copy_from_slice(&seq.0.to_le_bytes());
    head[12..16].copy_from_slice(&(key.len() as u32).to_le_bytes());
    head[16] = u8::from(value.is_some());
    let crc = crc32c::crc32c_append(crc32c::crc32c(&head), key);
    crc32c::crc32c_append(crc, value.unwrap_or_default())
}

/// The range as a first key and, unless the range is open, the first key after it.
pub(super) fn half_open(range: &KeyRange) -> (Vec<u8>, Option<Vec<u8>>) {
    let low = match &range.start {
        Bound::Unbounded => Vec::new(),
        Bound::Included(key) => key.clone(),
        Bound::Excluded(key) => next_key(key),
    };
    let high = match &range.end {
        Bound::Unbounded => None,
        Bound::Included(key) => Some(next_key(key)),
        Bound::Excluded(key) => Some(key.clone()),
    };
    (low, high)
}

/// The least key after `key`.
pub(super) fn next_key(key: &[u8]) -> Vec<u8> {
    [key, &[0]].concat()
}

/// CRC-32C of a stored commit: its number, its time, and its number of row versions.
pub(super) fn commit_checksum(seq: i64, time: i64, rows: i64) -> u32 {
    [seq, time, rows].iter().fold(0, |crc, number| crc32c::crc32c_append(crc, &number.to_le_bytes()))
}

/// The commit in the columns `seq`, `time`, `rows` and `crc`, and its number of row versions.
pub(super) fn read_commit(row: &Row<'_>, errors: &ErrorContext) -> Result<(CommitInfo, u64)> {
    let number = |column| row.get::<_, i64>(column).map_err(|error| errors.map(error));
    let (seq, time, rows) = (number(0)?, number(1)?, number(2)?);
    if number(3)? != i64::from(commit_checksum(seq, time, rows)) {
        return Err(errors.damaged(format!("the commit {seq} has a wrong checksum")));
    }
    Ok((CommitInfo { seq: errors.seq(seq)?, time: errors.time(time)? }, rows.unsigned_abs()))
}
