//! The check of a whole store: `SQLite`'s own, then every checksum and every rule that the tables keep.
//! It reads one snapshot of the database and must never write.

use recension::engine::{CommitInfo, EngineError, Problem, Result, Seq, Timestamp, TreeId, VerifyReport};
use rusqlite::Connection;

use super::error::ErrorContext;
use super::retention::removed;
use super::rows::{checksum, read_commit};
use crate::limits::PROBLEMS_LISTED;

pub(super) fn verify(connection: &Connection, errors: &ErrorContext) -> Result<VerifyReport> {
    let mut check = Check { connection, errors, report: VerifyReport { files: 1, ..VerifyReport::default() } };
    // One read transaction: the whole check sees one state, whatever is committed meanwhile.
    let transaction = connection.unchecked_transaction().map_err(|error| errors.map(error))?;
    let done = check.pages().and_then(|()| {
        if check.report.problems.is_empty() {
            let (head, written) = check.commits()?;
            check.rows("current", head)?;
            check.rows("past", head)?;
            check.rules(written)?;
        }
        Ok(())
    });
    drop(transaction);
    match done.map_err(|error| errors.map(error)) {
        Ok(()) => {}
        // Damage that the check meets is a finding, and not a failure of the check.
        Err(error @ EngineError::Damaged { .. }) => check.problem(error.to_string()),
        Err(error) => return Err(error),
    }
    Ok(check.report)
}

struct Check<'c> {
    connection: &'c Connection,
    errors: &'c ErrorContext,
    report: VerifyReport,
}

impl Check<'_> {
    fn problem(&mut self, what: String) {
        let problems = &mut self.report.problems;
        let what = match problems.len() {
            few if few < PROBLEMS_LISTED => what,
            PROBLEMS_LISTED => "there are more problems, which are not listed".to_owned(),
            _ => return,
        };
        problems.push(Problem { file: self.errors.file().to_owned(), offset: 0, what });
    }

    /// Pages, trees and indexes, by `SQLite`'s own check.
    fn pages(&mut self) -> rusqlite::Result<()> {
        let number = |name| self.connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        let bytes = number("page_count")?.saturating_mul(number("page_size")?);
        self.report.bytes = bytes.unsigned_abs();
        let mut statement = self.connection.prepare(&format!("PRAGMA integrity_check({PROBLEMS_LISTED})"))?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let line: String = row.get(0)?;
            if line != "ok" {
                self.problem(line);
            }
        }
        Ok(())
    }

    /// Commits must have the right checksums and numbers without a gap, and their times must never fall. Returns the
    /// newest one, and the number of row versions that all of them wrote.
    fn commits(&mut self) -> rusqlite::Result<(Seq, u64)> {
        let (mut head, mut newest, mut written) = (Seq::ZERO, Timestamp(0), 0_u64);
        let mut statement = self.connection.prepare("SELECT seq, time, rows, crc FROM commits ORDER BY seq")?;
        let mut stored = statement.query([])?;
        while let Some(row) = stored.next()? {
            self.report.commits += 1;
            let (CommitInfo { seq, time }, rows) = match read_commit(row, self.errors) {
                Ok(commit) => commit,
                Err(error) => {
                    self.problem(error.to_string());
                    // The tree has its number nevertheless, so its rows are not reported as wrong.
                    head = head.next();
                    continue;
                }
            };
            if seq != head.next() {
                self.problem(format!("commit {} is missing: {seq} follows {head}", head.next()));
            }
            if time < newest {
                self.problem(format!("commit {seq} has an earlier time than the one before it"));
            }
            (head, newest, written) = (seq, time, written.saturating_add(rows));
        }
        Ok((head, written))
    }

    /// Each row has the right checksum and belongs to a commit.
    fn rows(&mut self, table: &str, head: Seq) -> rusqlite::Result<()> {
        let mut statement = self.connection.prepare(&format!("SELECT tree, key, seq, crc, value FROM {table}"))?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let (tree, seq, crc): (i64, i64, i64) = (row.get(0)?, row.get(2)?, row.get(3)?);
            let key = row.get_ref(1)?.as_blob()?;
            let value = row.get_ref(4)?.as_blob_or_null()?;
            self.report.rows += 1;
            let name = || format!("{table}: the row {} of tree {tree} as of seq {seq}", key.escape_ascii());
            match (u32::try_from(tree), self.errors.seq(seq)) {
                (Ok(tree), Ok(seq)) if seq <= head => {
                    if i64::from(checksum(TreeId(tree), key, seq, value)) != crc {
                        self.problem(format!("{} has a wrong checksum", name()));
                    }
                }
                _ => self.problem(format!("{} has no commit or no tree (newest commit: {head})", name())),
            }
        }
        Ok(())
    }

    /// Rules that hold between the tables.
    fn rules(&mut self, written: u64) -> rusqlite::Result<()> {
        let misplaced: i64 = self.connection.query_row(
            "SELECT count(*) FROM past LEFT JOIN current USING (tree, key) \
             WHERE current.seq IS NULL OR current.seq <= past.seq",
            [],
            |row| row.get(0),
        )?;
        if misplaced > 0 {
            self.problem(format!("past: {misplaced} rows are not older than the current row of their key"));
        }
        let (found, removed) = (self.report.rows, removed(self.connection)?);
        if written != found.saturating_add(removed) {
            let given_up = if removed > 0 { format!(", {removed} having been given up") } else { String::new() };
            self.problem(format!("the commits wrote {written} rows, and {found} are there{given_up}"));
        }
        Ok(())
    }
}
