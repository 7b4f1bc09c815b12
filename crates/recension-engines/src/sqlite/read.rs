//! Snapshots. Each read is one statement, or a walk in pages. Each statement of a walk sees the store as it is at that
//! time; the documentation of `sqlite` explains why that is right although commits come in between. No connection and
//! no transaction may stay in use between two calls, and no row is returned whose checksum is wrong.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;

use recension::engine::{
    CommitInfo, Direction, EngineError, KeyRange, Keys, Result, Row, Rows, Seq, Snapshot, Timestamp, TreeId, Value,
    Version, Versions,
};
use rusqlite::{Connection, params};

use super::Shared;
use super::error::{ErrorContext, stored};
use super::retention::check_cut;
use super::rows::{checksum, half_open, next_key, read_commit};
use crate::limits::{FIRST_PAGE_ROWS, PAGE_BYTES};

const CURRENT: &str = "SELECT seq, crc, value FROM current WHERE tree = ?1 AND key = ?2";
const PAST: &str = "SELECT seq, crc, value FROM past WHERE tree = ?1 AND key = ?2 AND seq <= ?3 ORDER BY seq DESC";
const COMMIT: &str = "SELECT seq, time, rows, crc FROM commits WHERE seq = ?1";

/// A stored version: its commit, and its value unless it is a deletion.
pub(super) type Stored = (Seq, Option<Vec<u8>>);

/// Reads `seq`, `crc` and `value` from column `first` on. The value is read only if `seq` is at most `newest`.
/// Otherwise returns `None`: the version is newer.
fn read_version(
    row: &rusqlite::Row<'_>,
    first: usize,
    (tree, key): (TreeId, &[u8]),
    newest: Seq,
    errors: &ErrorContext,
) -> Result<Option<Stored>> {
    let map = |error| errors.map(error);
    let seq = errors.seq(row.get(first).map_err(map)?)?;
    if seq > newest {
        return Ok(None);
    }
    let crc: i64 = row.get(first + 1).map_err(map)?;
    let value = row.get_ref(first + 2).map_err(map)?.as_blob_or_null().map_err(|error| errors.column(error))?;
    if i64::from(checksum(tree, key, seq, value)) != crc {
        let key = key.escape_ascii();
        return Err(errors.damaged(format!("the row {key} of tree {} as of seq {seq} has a wrong checksum", tree.0)));
    }
    Ok(Some((seq, value.map(<[u8]>::to_vec))))
}

/// The version of a key that a snapshot at `seq` sees.
pub(super) fn version_at(
    connection: &Connection,
    (tree, key): (TreeId, &[u8]),
    seq: Seq,
    errors: &ErrorContext,
) -> Result<Option<Stored>> {
    let map = |error| errors.map(error);
    let mut statement = connection.prepare_cached(CURRENT).map_err(map)?;
    let mut rows = statement.query(params![tree.0, key]).map_err(map)?;
    let Some(row) = rows.next().map_err(map)? else { return Ok(None) };
    match read_version(row, 0, (tree, key), seq, errors)? {
        Some(version) => Ok(Some(version)),
        None => past_version(connection, (tree, key), seq, errors),
    }
}

/// The version of a key that a snapshot at `seq` sees, in `past` alone.
fn past_version(
    connection: &Connection,
    (tree, key): (TreeId, &[u8]),
    seq: Seq,
    errors: &ErrorContext,
) -> Result<Option<Stored>> {
    let map = |error| errors.map(error);
    let mut statement = connection.prepare_cached(PAST).map_err(map)?;
    let mut rows = statement.query(params![tree.0, key, stored(seq.0)]).map_err(map)?;
    match rows.next().map_err(map)? {
        Some(row) => read_version(row, 0, (tree, key), seq, errors),
        None => check_cut(connection, (tree, key), seq, errors).map(|()| None),
    }
}

pub(super) fn time_of(connection: &Connection, seq: Seq, errors: &ErrorContext) -> Result<Timestamp> {
    if seq == Seq::ZERO {
        return Ok(Timestamp(0));
    }
    let map = |error| errors.map(error);
    let mut statement = connection.prepare_cached(COMMIT).map_err(map)?;
    let mut rows = statement.query([stored(seq.0)]).map_err(map)?;
    match rows.next().map_err(map)? {
        Some(row) => Ok(read_commit(row, errors)?.0.time),
        None => Err(errors.damaged(format!("the commit {seq} is missing"))),
    }
}

/// The newest commit up to `head` made at `time` or before. Times never fall from commit to commit, so a binary search
/// among the sequence numbers finds it, and commits need no index of times.
pub(super) fn commit_at(shared: &Shared, head: Seq, time: Timestamp) -> Result<Option<CommitInfo>> {
    shared.readers.with(|connection| {
        let mut found = None;
        let (mut low, mut high) = (Seq::ZERO.next(), head);
        while low <= high {
            let seq = Seq(low.0 + (high.0 - low.0) / 2);
            let at = time_of(connection, seq, &shared.errors)?;
            if at <= time {
                found = Some(CommitInfo { seq, time: at });
                low = seq.next();
            } else {
                high = Seq(seq.0 - 1);
            }
        }
        Ok(found)
    })
}

pub(super) struct SqliteSnapshot {
    shared: Arc<Shared>,
    seq: Seq,
}

impl SqliteSnapshot {
    pub(super) fn new(shared: Arc<Shared>, seq: Seq) -> Self {
        SqliteSnapshot { shared, seq }
    }

    /// Must be called after rows have been read: a check before them could be outdated.
    fn check_forgotten(&self, tree: TreeId, range: &KeyRange) -> Result<()> {
        self.shared.retained.read().check(tree, range, self.seq)
    }
}

impl Snapshot for SqliteSnapshot {
    fn seq(&self) -> Seq {
        self.seq
    }

    fn time(&self) -> Result<Timestamp> {
        self.shared.readers.with(|connection| time_of(connection, self.seq, &self.shared.errors))
    }

    fn get(&self, tree: TreeId, key: &[u8]) -> Result<Option<Value<'_>>> {
        let errors = &self.shared.errors;
        let found = self.shared.readers.with(|connection| version_at(connection, (tree, key), self.seq, errors));
        self.check_forgotten(tree, &KeyRange::only(key))?;
        let found = found?;
        Ok(found.and_then(|(seq, value)| Some(Value { seq, bytes: Cow::Owned(value?) })))
    }

    fn range(&self, tree: TreeId, range: &KeyRange, direction: Direction) -> Rows<'_> {
        if range.is_empty() {
            return Box::new(std::iter::empty());
        }
        let (low, high) = half_open(range);
        Box::new(RangeRows {
            pages: Pages::new(self.shared.options.page_rows),
            snapshot: self,
            tree,
            range: range.clone(),
            low,
            high,
            direction,
        })
    }

    fn keys(&self, tree: TreeId, range: &KeyRange) -> Keys<'_> {
        if range.is_empty() {
            return Box::new(std::iter::empty());
        }
        let (mut low, high) = half_open(range);
        let mut pages = Pages::new(self.shared.options.page_rows);
        Box::new(std::iter::from_fn(move || {
            pages.next(|fetched, rows| {
                let page = self.shared.readers.with(|connection| {
                    self.fetch_keys(connection, tree, (&low, high.as_deref()), rows)
                        .map_err(|error| self.shared.errors.map(error))
                })?;
                let ended = page.len() < rows;
                if let Some(last) = page.last() {
                    low = next_key(last);
                }
                fetched.extend(page);
                Ok(ended)
            })
        }))
    }

    fn versions(&self, tree: TreeId, key: &[u8]) -> Versions<'_> {
        Box::new(KeyVersions {
            pages: Pages::new(self.shared.options.page_rows),
            snapshot: self,
            tree,
            key: key.to_vec(),
            newest: None,
        })
    }
}

/// The fetched items of a walk that were not returned yet, and the size of the next page.
struct Pages<T> {
    fetched: VecDeque<T>,
    /// The error that comes after them.
    failed: Option<EngineError>,
    rows: usize,
    rows_max: usize,
    ended: bool,
}

impl<T> Pages<T> {
    fn new(rows_max: usize) -> Self {
        let rows_max = rows_max.max(1);
        Pages { fetched: VecDeque::new(), failed: None, rows: FIRST_PAGE_ROWS.min(rows_max), rows_max, ended: false }
    }

    /// The next item. If none is left, `fetch` gets the number of rows to look at, and returns whether that was the
    /// end. An error ends the walk, after the items that were fetched before it.
    fn next(&mut self, mut fetch: impl FnMut(&mut VecDeque<T>, usize) -> Result<bool>) -> Option<Result<T>> {
        while self.fetched.is_empty() && !self.ended {
            match fetch(&mut self.fetched, self.rows) {
                Ok(ended) => self.ended = ended,
                Err(error) => {
                    self.ended = true;
                    self.failed = Some(error);
                }
            }
            self.rows = (self.rows * 2).min(self.rows_max);
        }
        self.fetched.pop_front().map(Ok).or_else(|| self.failed.take().map(Err))
    }
}

/// Counts the rows and bytes that a page has looked at.
struct Room {
    rows: usize,
    bytes: usize,
}

impl Room {
    fn new(rows: usize) -> Self {
        Room { rows, bytes: PAGE_BYTES }
    }

    /// Counts one row. Returns false if it fills the page.
    fn take(&mut self, bytes: usize) -> bool {
        self.rows = self.rows.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(bytes);
        self.rows > 0 && self.bytes > 0
    }
}

struct RangeRows<'s> {
    snapshot: &'s SqliteSnapshot,
    tree: TreeId,
    range: KeyRange,
    /// The rest of the walk: from `low` to before `high`.
    low: Vec<u8>,
    high: Option<Vec<u8>>,
    direction: Direction,
    pages: Pages<Row<'s>>,
}

impl<'s> Iterator for RangeRows<'s> {
    type Item = Result<Row<'s>>;

    fn next(&mut self) -> Option<Self::Item> {
        let RangeRows { snapshot, tree, range, low, high, direction, pages } = self;
        pages.next(|fetched, rows| {
            let ended = snapshot
                .shared
                .readers
                .with(|connection| snapshot.fetch(connection, *tree, (low, high), *direction, fetched, rows));
            snapshot.check_forgotten(*tree, range).inspect_err(|_| fetched.clear())?;
            ended
        })
    }
}

impl SqliteSnapshot {
    /// Fetches this many keys of a range, from its beginning on, that have a version up to this snapshot.
    fn fetch_keys(
        &self,
        connection: &Connection,
        tree: TreeId,
        (low, high): (&[u8], Option<&[u8]>),
        rows: usize,
    ) -> rusqlite::Result<Vec<Vec<u8>>> {
        let sql = "SELECT key FROM current c WHERE tree = ?1 AND key >= ?2 AND (?3 IS NULL OR key < ?3) AND (seq <= ?4 \
            OR \
                   EXISTS (SELECT 1 FROM past p WHERE p.tree = c.tree AND p.key = c.key AND p.seq <= ?4)) \
                   ORDER BY key LIMIT ?5";
        let limit = i64::try_from(rows).unwrap_or(i64::MAX);
        let mut statement = connection.prepare_cached(sql)?;
        let keys = statement.query_map(params![tree.0, low, high, stored(self.seq.0), limit], |row| row.get(0))?;
        keys.collect()
    }

    /// Fetches a page of a range, and moves the range's beginning behind it. Returns whether the range has ended.
    ///
    /// The walk is over the keys of `current`, which are all keys that there are. Keys that this snapshot does not see
    /// count as well: a page is bounded in its work, not only in its result.
    fn fetch(
        &self,
        connection: &Connection,
        tree: TreeId,
        (low, high): (&mut Vec<u8>, &mut Option<Vec<u8>>),
        direction: Direction,
        fetched: &mut VecDeque<Row<'_>>,
        page_rows: usize,
    ) -> Result<bool> {
        let errors = &self.shared.errors;
        let map = |error| errors.map(error);
        let sql = match (high.is_some(), direction) {
            (true, Direction::Forward) => {
                "SELECT key, seq, crc, value FROM current WHERE tree = ?1 AND key >= ?2 AND key < ?3 ORDER BY key"
            }
            (true, Direction::Backward) => {
                "SELECT key, seq, crc, value FROM current WHERE tree = ?1 AND key >= ?2 AND key < ?3 ORDER BY key DESC"
            }
            (false, Direction::Forward) => {
                "SELECT key, seq, crc, value FROM current WHERE tree = ?1 AND key >= ?2 ORDER BY key"
            }
            (false, Direction::Backward) => {
                "SELECT key, seq, crc, value FROM current WHERE tree = ?1 AND key >= ?2 ORDER BY key DESC"
            }
        };
        let mut statement = connection.prepare_cached(sql).map_err(map)?;
        let mut rows = match &*high {
            Some(high) => statement.query(params![tree.0, &*low, high]),
            None => statement.query(params![tree.0, &*low]),
        }
        .map_err(map)?;
        let mut room = Room::new(page_rows);
        while let Some(row) = rows.next().map_err(map)? {
            let key = row.get_ref(0).map_err(map)?.as_blob().map_err(|error| errors.column(error))?;
            let version = match read_version(row, 1, (tree, key), self.seq, errors)? {
                Some(version) => Some(version),
                None => past_version(connection, (tree, key), self.seq, errors)?,
            };
            let mut bytes = key.len();
            if let Some((seq, Some(value))) = version {
                bytes += value.len();
                fetched
                    .push_back(Row { key: Cow::Owned(key.to_vec()), value: Value { seq, bytes: Cow::Owned(value) } });
            }
            if !room.take(bytes) {
                match direction {
                    Direction::Forward => *low = next_key(key),
                    Direction::Backward => *high = Some(key.to_vec()),
                }
                return Ok(false);
            }
        }
        Ok(true)
    }
}

struct KeyVersions<'s> {
    snapshot: &'s SqliteSnapshot,
    tree: TreeId,
    key: Vec<u8>,
    /// Where to go on in `past`; `None` until `current` has been read.
    newest: Option<Seq>,
    pages: Pages<Version<'s>>,
}

impl<'s> Iterator for KeyVersions<'s> {
    type Item = Result<Version<'s>>;

    fn next(&mut self) -> Option<Self::Item> {
        let KeyVersions { snapshot, tree, key, newest, pages } = self;
        pages.next(|fetched, rows| {
            let ended = snapshot
                .shared
                .readers
                .with(|connection| snapshot.fetch_versions(connection, (*tree, key), newest, fetched, rows));
            snapshot.check_forgotten(*tree, &KeyRange::only(&**key)).inspect_err(|_| fetched.clear())?;
            ended
        })
    }
}

impl SqliteSnapshot {
    fn fetch_versions(
        &self,
        connection: &Connection,
        (tree, key): (TreeId, &[u8]),
        newest: &mut Option<Seq>,
        fetched: &mut VecDeque<Version<'_>>,
        page_rows: usize,
    ) -> Result<bool> {
        let errors = &self.shared.errors;
        let map = |error| errors.map(error);
        let mut push = |(seq, value): Stored| -> Result<usize> {
            let bytes = value.as_ref().map_or(0, Vec::len);
            let time = time_of(connection, seq, errors)?;
            fetched.push_back(Version { seq, time, value: value.map(Cow::Owned) });
            Ok(bytes)
        };
        let mut room = Room::new(page_rows);
        let below = if let Some(below) = *newest {
            below
        } else {
            let mut statement = connection.prepare_cached(CURRENT).map_err(map)?;
            let mut rows = statement.query(params![tree.0, key]).map_err(map)?;
            let Some(row) = rows.next().map_err(map)? else { return Ok(true) };
            match read_version(row, 0, (tree, key), self.seq, errors)? {
                Some(version) => {
                    let below = Seq(version.0.0 - 1);
                    *newest = Some(below);
                    if !room.take(push(version)?) {
                        return Ok(false);
                    }
                    below
                }
                None => self.seq,
            }
        };
        let mut statement = connection.prepare_cached(PAST).map_err(map)?;
        let mut rows = statement.query(params![tree.0, key, stored(below.0)]).map_err(map)?;
        while let Some(row) = rows.next().map_err(map)? {
            let Some(version) = read_version(row, 0, (tree, key), below, errors)? else { continue };
            *newest = Some(Seq(version.0.0 - 1));
            if !room.take(push(version)?) {
                return Ok(false);
            }
        }
        if newest.is_none() {
            check_cut(connection, (tree, key), self.seq, errors)?;
        }
        Ok(true)
    }
}
