//! Giving up history: ranges with forgotten history, standing rules, and the removal of row versions. Code that removes
//! rows records it here first, and a reader checks here after it has read rows. So no reader takes a removed version
//! for one that never existed.

use std::ops::Bound;
use std::time::Duration;

use recension::engine::{
    BRANCHES_TREE, EngineError, Kept, KeyRange, Result, Retention, RetentionRule, RetentionRules, Seq, Timestamp,
    TreeId, kept_key, kept_moment,
};
use rusqlite::{Connection, OptionalExtension, params};

use super::error::{ErrorContext, stored};
use super::rows::half_open;

/// The tables, made if they are missing. `cut` has the keys whose oldest versions a rule gave up. `removed` has the
/// number of removed row versions.
pub(super) const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS forgotten (
        tree INTEGER NOT NULL, range BLOB NOT NULL, before INTEGER NOT NULL, crc INTEGER NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS rules (
        tree INTEGER NOT NULL, range BLOB NOT NULL, kind INTEGER NOT NULL, amount INTEGER NOT NULL,
        crc INTEGER NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS cut (
        tree INTEGER NOT NULL, key BLOB NOT NULL, PRIMARY KEY (tree, key)) STRICT;
    CREATE TABLE IF NOT EXISTS removed (rows INTEGER NOT NULL) STRICT;";

/// Most ranges with a forgotten history. One more is refused.
const RANGES_MAX: usize = 2 * recension::engine::limits::RETENTION_RULES_MAX;

const IN_RANGE: &str = "tree = ?1 AND key >= ?2 AND (?3 IS NULL OR key < ?3)";

/// The parts of the past that are given up.
#[derive(Clone, Default)]
pub(super) struct Retained {
    forgotten: Vec<(TreeId, KeyRange, Seq)>,
    pub(super) rules: RetentionRules,
}

impl Retained {
    /// Refuses a read of a range as of a commit that any of its keys has forgotten.
    pub(super) fn check(&self, tree: TreeId, range: &KeyRange, asked: Seq) -> Result<()> {
        let own = self.forgotten.iter().filter(|(t, old, before)| *t == tree && asked < *before && old.overlaps(range));
        match own.map(|(.., before)| *before).max() {
            Some(oldest) => Err(EngineError::Forgotten { asked, oldest }),
            None => Ok(()),
        }
    }

    /// Whether a range has been forgotten up to `before`.
    pub(super) fn knows(&self, tree: TreeId, range: &KeyRange, before: Seq) -> bool {
        self.forgotten.iter().any(|(t, old, known)| *t == tree && *known >= before && old.covers(range))
    }

    /// The commit before which the history of all of a range has been given up.
    pub(super) fn horizon(&self, tree: TreeId, range: &KeyRange) -> Seq {
        let known = self.forgotten.iter().filter(|(t, old, _)| *t == tree && old.covers(range));
        known.map(|(.., before)| *before).max().unwrap_or_default()
    }

    pub(super) fn forget(&mut self, tree: TreeId, range: &KeyRange, before: Seq) -> Result<()> {
        self.forgotten.retain(|(t, old, known)| !(*t == tree && *known <= before && range.covers(old)));
        self.forgotten.push((tree, range.clone(), before));
        if self.forgotten.len() > RANGES_MAX {
            let (what, len) = ("ranges with a forgotten history; forget larger ranges", self.forgotten.len());
            return Err(EngineError::TooLarge { what, len, max: RANGES_MAX });
        }
        Ok(())
    }

    pub(super) fn load(connection: &Connection, errors: &ErrorContext) -> Result<Self> {
        let map = |error| errors.map(error);
        let damaged = || errors.damaged("a row about retention does not read");
        let mut retained = Retained::default();
        let mut statement = connection.prepare("SELECT tree, range, before, 0, crc FROM forgotten").map_err(map)?;
        let mut rows = statement.query([]).map_err(map)?;
        while let Some(row) = rows.next().map_err(map)? {
            let (tree, range, [before, _]) = read_row(row, errors)?;
            retained.forgotten.push((tree, range, errors.seq(before)?));
        }
        let mut statement = connection.prepare("SELECT tree, range, kind, amount, crc FROM rules").map_err(map)?;
        let mut rows = statement.query([]).map_err(map)?;
        while let Some(row) = rows.next().map_err(map)? {
            let (tree, range, numbers) = read_row(row, errors)?;
            let retention = decode_retention(numbers).ok_or_else(damaged)?;
            retained.rules.set(&RetentionRule { tree, range, retention }).map_err(|_| damaged())?;
        }
        Ok(retained)
    }

    /// Writes it in place of the stored one, within a transaction.
    pub(super) fn store(&self, connection: &Connection) -> rusqlite::Result<()> {
        connection.execute_batch("DELETE FROM forgotten; DELETE FROM rules;")?;
        let mut insert =
            connection.prepare("INSERT INTO forgotten (tree, range, before, crc) VALUES (?1, ?2, ?3, ?4)")?;
        for (tree, range, before) in &self.forgotten {
            let (range, before) = (encode_range(range), stored(before.0));
            insert.execute(params![tree.0, range, before, checksum(*tree, &range, [before, 0])])?;
        }
        let mut insert =
            connection.prepare("INSERT INTO rules (tree, range, kind, amount, crc) VALUES (?1, ?2, ?3, ?4, ?5)")?;
        for RetentionRule { tree, range, retention } in self.rules.iter() {
            let (range, numbers) = (encode_range(&range), encode_retention(retention));
            let [kind, amount] = numbers;
            insert.execute(params![tree.0, range, kind, amount, checksum(tree, &range, numbers)])?;
        }
        Ok(())
    }
}

/// The commit before which a rule keeps nothing; `None` for rules that name no moment.
pub(super) fn horizon(
    retention: Retention,
    head: Seq,
    now: Timestamp,
    commit_at: impl FnOnce(Timestamp) -> Result<Seq>,
) -> Result<Option<Seq>> {
    match retention {
        Retention::Everything | Retention::Versions(_) => Ok(None),
        Retention::HeadOnly => Ok(Some(head)),
        Retention::Duration(duration) => {
            let micros = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
            commit_at(Timestamp(now.0.saturating_sub(micros))).map(Some)
        }
    }
}

/// Removes the versions that a range has forgotten: those that are older than the version as of commit `before`, and
/// that version too if it is a deletion.
pub(super) fn remove_forgotten(
    connection: &Connection,
    tree: TreeId,
    range: &KeyRange,
    before: Seq,
) -> rusqlite::Result<()> {
    let (low, high) = half_open(range);
    let parameters = params![tree.0, low, high, stored(before.0)];
    // The state of a key as of `before` is known, whatever was given up before.
    connection.execute(
        &format!(
            "DELETE FROM cut WHERE {IN_RANGE} AND (
                EXISTS (SELECT 1 FROM current c WHERE c.tree = cut.tree AND c.key = cut.key AND c.seq <= ?4) OR
                EXISTS (SELECT 1 FROM past p WHERE p.tree = cut.tree AND p.key = cut.key AND p.seq <= ?4))"
        ),
        parameters,
    )?;
    let past = connection.execute(
        &format!(
            "DELETE FROM past WHERE {IN_RANGE} AND seq <= ?4 AND (value IS NULL OR
                EXISTS (SELECT 1 FROM past n
                    WHERE n.tree = past.tree AND n.key = past.key AND n.seq > past.seq AND n.seq <= ?4) OR
                EXISTS (SELECT 1 FROM current c WHERE c.tree = past.tree AND c.key = past.key AND c.seq <= ?4))"
        ),
        parameters,
    )?;
    let deletions = connection
        .execute(&format!("DELETE FROM current WHERE {IN_RANGE} AND seq <= ?4 AND value IS NULL"), parameters)?;
    count_removed(connection, past + deletions)
}

/// The kept moments.
pub(super) fn kept(connection: &Connection) -> rusqlite::Result<Kept> {
    let (low, high) = half_open(&KeyRange::prefix(kept_key(Seq::ZERO, b"").get(..1).unwrap_or_default()));
    let mut statement = connection
        .prepare_cached(&format!("SELECT key FROM current WHERE {IN_RANGE} AND value IS NOT NULL ORDER BY key"))?;
    let keys = statement.query_map(params![BRANCHES_TREE.0, low, high], |row| row.get::<_, Vec<u8>>(0))?;
    Ok(Kept::of(keys.filter_map(|key| key.map(|key| kept_moment(&key)).transpose()).collect::<rusqlite::Result<_>>()?))
}

/// Removes all but the newest versions of each key of a range, and records the keys that had more. `held` is the oldest
/// kept moment: what it shows, and all that is newer, stays.
pub(super) fn remove_beyond(
    connection: &Connection,
    tree: TreeId,
    range: &KeyRange,
    versions: u32,
    held: Option<Seq>,
) -> rusqlite::Result<()> {
    let (low, high) = half_open(range);
    // One of the kept versions is in `current`.
    let held = held.map_or(i64::MAX, |held| stored(held.0));
    let parameters = params![tree.0, low, high, i64::from(versions) - 1, held];
    let newer = "FROM past n WHERE n.tree = past.tree AND n.key = past.key AND n.seq > past.seq";
    let beyond = format!(
        "{IN_RANGE} AND (SELECT count(*) {newer}) >= ?4 AND coalesce((SELECT min(n.seq) {newer}),
            (SELECT c.seq FROM current c WHERE c.tree = past.tree AND c.key = past.key)) <= ?5"
    );
    connection.execute(
        &format!("INSERT OR IGNORE INTO cut (tree, key) SELECT DISTINCT tree, key FROM past WHERE {beyond}"),
        parameters,
    )?;
    let removed = connection.execute(&format!("DELETE FROM past WHERE {beyond}"), parameters)?;
    count_removed(connection, removed)
}

pub(super) fn count_removed(connection: &Connection, rows: usize) -> rusqlite::Result<()> {
    if rows > 0 {
        let rows = stored(rows as u64);
        connection.execute("INSERT INTO removed (rows) SELECT ?1 + coalesce(sum(rows), 0) FROM removed", [rows])?;
        connection.execute("DELETE FROM removed WHERE rowid < (SELECT max(rowid) FROM removed)", [])?;
    }
    Ok(())
}

/// The number of removed row versions.
pub(super) fn removed(connection: &Connection) -> rusqlite::Result<u64> {
    let rows: Option<i64> = connection.query_row("SELECT max(rows) FROM removed", [], |row| row.get(0))?;
    Ok(rows.map_or(0, i64::unsigned_abs))
}

/// Must be called if a key has no version as of a commit: refuses if it may have had one.
pub(super) fn check_cut(
    connection: &Connection,
    (tree, key): (TreeId, &[u8]),
    asked: Seq,
    errors: &ErrorContext,
) -> Result<()> {
    let cut = "SELECT 1 FROM cut WHERE tree = ?1 AND key = ?2";
    let oldest = "SELECT min(seq) FROM (SELECT seq FROM past WHERE tree = ?1 AND key = ?2 \
                  UNION ALL SELECT seq FROM current WHERE tree = ?1 AND key = ?2)";
    let map = |error| errors.map(error);
    let is_cut = connection
        .prepare_cached(cut)
        .and_then(|mut statement| statement.query_row(params![tree.0, key], |_| Ok(())).optional())
        .map_err(map)?;
    if is_cut.is_none() {
        return Ok(());
    }
    let oldest: Option<i64> = connection
        .prepare_cached(oldest)
        .and_then(|mut statement| statement.query_row(params![tree.0, key], |row| row.get(0)))
        .map_err(map)?;
    let oldest = oldest.map(|seq| errors.seq(seq)).transpose()?;
    Err(EngineError::Forgotten { asked, oldest: oldest.unwrap_or(asked.next()) })
}

const VERSIONS: i64 = 1;
const DURATION: i64 = 2;
const HEAD_ONLY: i64 = 3;

fn encode_retention(retention: Retention) -> [i64; 2] {
    match retention {
        Retention::Everything => [0, 0],
        Retention::Versions(count) => [VERSIONS, i64::from(count.get())],
        Retention::Duration(duration) => [DURATION, i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)],
        Retention::HeadOnly => [HEAD_ONLY, 0],
    }
}

fn decode_retention(numbers: [i64; 2]) -> Option<Retention> {
    match numbers {
        [VERSIONS, count] => Some(Retention::Versions(u32::try_from(count).ok()?.try_into().ok()?)),
        [DURATION, micros] => Some(Retention::Duration(Duration::from_micros(u64::try_from(micros).ok()?))),
        [HEAD_ONLY, 0] => Some(Retention::HeadOnly),
        _ => None,
    }
}

/// Encodes a range: the kind of its start (0 no bound, 1 included, 2 excluded), the kind of its end, the length of the
/// start (4 bytes, big-endian), the start, the end.
fn encode_range(range: &KeyRange) -> Vec<u8> {
    let end = |bound: &Bound<Vec<u8>>| match bound {
        Bound::Unbounded => (0_u8, Vec::new()),
        Bound::Included(key) => (1, key.clone()),
        Bound::Excluded(key) => (2, key.clone()),
    };
    let ((start_kind, start), (end_kind, end)) = (end(&range.start), end(&range.end));
    [&[start_kind, end_kind][..], &(start.len() as u32).to_be_bytes(), &start, &end].concat()
}

fn decode_range(bytes: &[u8]) -> Option<KeyRange> {
    let ([start_kind, end_kind], rest) = bytes.split_first_chunk()?;
    let (len, rest) = rest.split_first_chunk()?;
    let (start, end) = rest.split_at_checked(u32::from_be_bytes(*len) as usize)?;
    let bound = |kind: u8, key: &[u8]| match kind {
        0 => Some(Bound::Unbounded),
        1 => Some(Bound::Included(key.to_vec())),
        2 => Some(Bound::Excluded(key.to_vec())),
        _ => None,
    };
    Some(KeyRange { start: bound(*start_kind, start)?, end: bound(*end_kind, end)? })
}

fn checksum(tree: TreeId, range: &[u8], numbers: [i64; 2]) -> u32 {
    let crc = crc32c::crc32c_append(crc32c::crc32c(&tree.0.to_le_bytes()), range);
    numbers.iter().fold(crc, |crc, number| crc32c::crc32c_append(crc, &number.to_le_bytes()))
}

fn read_row(row: &rusqlite::Row<'_>, errors: &ErrorContext) -> Result<(TreeId, KeyRange, [i64; 2])> {
    let map = |error| errors.map(error);
    let tree = TreeId(row.get(0).map_err(map)?);
    let range: Vec<u8> = row.get(1).map_err(map)?;
    let numbers = [row.get(2).map_err(map)?, row.get(3).map_err(map)?];
    let crc: i64 = row.get(4).map_err(map)?;
    let decoded = decode_range(&range).filter(|_| crc == i64::from(checksum(tree, &range, numbers)));
    let range = decoded.ok_or_else(|| errors.damaged("a row about retention has a wrong checksum"))?;
    Ok((tree, range, numbers))
}
