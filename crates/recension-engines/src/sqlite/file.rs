//! Making, recognising and opening the file of a store. A file that is not a store must be refused before `SQLite`
//! opens it: `SQLite` would replay another application's journal into it.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use recension::disk::{Disk, DiskLock, FsDisk};
use recension::engine::{CommitInfo, EngineError, Result, Seq, Timestamp};
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use super::SqliteOptions;
use super::error::ErrorContext;
use super::rows::read_commit;
use super::{erased, retention};
use crate::limits::{CACHE_KIB, WAL_BYTES_KEPT};

/// Marks a store in the header of the database, as `SQLite` reserves it: "Rcsn".
const APPLICATION_ID: u32 = 0x5263_736e;

/// The version of the tables below.
const FORMAT: u32 = 1;

/// `crc` is [`super::rows::checksum`] of the row, or [`super::rows::commit_checksum`] of the commit. The keys of
/// `current` are all keys ever written.
const SCHEMA: &str = "
    CREATE TABLE current (
        tree INTEGER NOT NULL, key BLOB NOT NULL, seq INTEGER NOT NULL, crc INTEGER NOT NULL, value BLOB,
        PRIMARY KEY (tree, key)) STRICT;
    CREATE TABLE past (
        tree INTEGER NOT NULL, key BLOB NOT NULL, seq INTEGER NOT NULL, crc INTEGER NOT NULL, value BLOB,
        PRIMARY KEY (tree, key, seq)) STRICT;
    CREATE TABLE commits (
        seq INTEGER PRIMARY KEY, time INTEGER NOT NULL, rows INTEGER NOT NULL, crc INTEGER NOT NULL) STRICT;";

const TABLES: [&str; 3] = ["current", "past", "commits"];

/// A store that was opened.
pub(super) struct Opened {
    pub(super) writer: Connection,
    pub(super) head: CommitInfo,
    /// The file, by a name without symbolic links.
    pub(super) path: PathBuf,
    pub(super) errors: ErrorContext,
    pub(super) lock: DiskLock,
}

/// The file whose name is that of `path` with `suffix` added.
pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}

pub(super) fn open(path: &Path, options: &SqliteOptions) -> Result<Opened> {
    let path = real_path(path)?;
    // It checks before the lock file is made, so that nothing appears beside another application's file ...
    let there = find(&path)?;
    if there == Found::Nothing && !options.create {
        return Err(not_a_store(&path, "there is no such file"));
    }
    let lock = lock(&path)?;
    // ... and again under the lock, since another process may have made the store in between.
    if find(&path)? == Found::Nothing {
        create(&path)?;
    }
    let errors = ErrorContext::new(path.display().to_string());
    let (writer, head) = connect_writer(&path, options.busy_timeout, &errors)?;
    Ok(Opened { writer, head, path, errors, lock })
}

/// One name for each file, so that all processes that open it use the same lock.
pub(super) fn real_path(path: &Path) -> Result<PathBuf> {
    let doing = || format!("looking for {}", path.display());
    match fs::canonicalize(path) {
        Ok(path) => Ok(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let Some(name) = path.file_name() else { return Err(not_a_store(path, "it does not name a file")) };
            let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let parent = fs::canonicalize(parent).map_err(|error| EngineError::io(doing(), error))?;
            Ok(parent.join(name))
        }
        Err(error) => Err(EngineError::io(doing(), error)),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// No file, or an empty one.
    Nothing,
    Store,
}

/// Recognises the file at `path` by its first bytes alone.
pub(super) fn find(path: &Path) -> Result<Found> {
    let doing = || format!("reading {}", path.display());
    let mut header = Vec::new();
    match File::open(path) {
        Ok(file) => {
            if file.metadata().map_err(|error| EngineError::io(doing(), error))?.is_dir() {
                return Err(not_a_store(path, "it is a directory; a store over SQLite is one file"));
            }
            file.take(HEADER_BYTES).read_to_end(&mut header).map_err(|error| EngineError::io(doing(), error))?;
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(EngineError::io(doing(), error)),
    }
    if !header.is_empty() {
        return check_header(path, &header).map(|()| Found::Store);
    }
    // SQLite would replay a journal whose database is missing into the new file.
    for suffix in ["-wal", "-journal"] {
        let journal = beside(path, suffix);
        if journal.exists() {
            let found =
                format!("no database, but the journal of one, {}; put it back or move it away", journal.display());
            return Err(not_a_store(path, &found));
        }
    }
    Ok(Found::Nothing)
}

/// Bytes of a database's header (<https://sqlite.org/fileformat.html>, section 1.3).
const HEADER_BYTES: u64 = 100;
const MAGIC: &[u8] = b"SQLite format 3\0";

fn check_header(path: &Path, header: &[u8]) -> Result<()> {
    if !header.starts_with(MAGIC) {
        return Err(not_a_store(path, "it is not an SQLite database"));
    }
    let number = |at: usize| header.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map(u32::from_be_bytes);
    match (number(60), number(68)) {
        (Some(version), Some(APPLICATION_ID)) => check_format(path, version),
        (_, Some(id)) => {
            let found = format!("it is the SQLite database of another application (id {id}); nothing was changed");
            Err(not_a_store(path, &found))
        }
        (_, None) => Err(not_a_store(path, "it ends within the header of an SQLite database")),
    }
}

fn check_format(path: &Path, found: u32) -> Result<()> {
    match found {
        FORMAT => Ok(()),
        0 => Err(not_a_store(path, "it has our application id, but no format version")),
        _ => Err(EngineError::NewerFormat { file: path.display().to_string(), found, supported: FORMAT }),
    }
}

fn not_a_store(path: &Path, found: &str) -> EngineError {
    EngineError::NotAStore { path: path.display().to_string(), found: found.to_owned() }
}

/// The directory and the name of a file whose path is real.
pub(super) fn split(path: &Path) -> Result<(FsDisk, String)> {
    match (path.parent(), path.file_name().and_then(|name| name.to_str())) {
        (Some(parent), Some(name)) => Ok((FsDisk::new(parent), name.to_owned())),
        _ => Err(not_a_store(path, "its name is not UTF-8 text")),
    }
}

pub(super) fn lock(path: &Path) -> Result<DiskLock> {
    let (disk, name) = split(path)?;
    let name = format!("{name}.lock");
    disk.lock(&name)
        .map_err(|error| EngineError::io(format!("locking {name} in {}", disk.location()), error))?
        .map_err(|holder| EngineError::Locked { store: path.display().to_string(), holder })
}

/// Makes an empty store under another name and renames it. At any moment there is a whole store or none.
fn create(path: &Path) -> Result<()> {
    let (disk, name) = split(path)?;
    let draft = beside(path, ".new");
    let doing = || format!("making {}", path.display());
    for leftover in [draft.clone(), beside(&draft, "-journal")] {
        match fs::remove_file(&leftover) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(EngineError::io(doing(), error)),
            _ => {}
        }
    }
    // SQLite gives the files beside it its mode.
    disk.create(&format!("{name}.new")).map_err(|error| EngineError::io(doing(), error))?;
    write_schema(&draft).map_err(|error| ErrorContext::new(draft.display().to_string()).map(error))?;
    disk.rename(&format!("{name}.new"), &name).map_err(|error| EngineError::io(doing(), error))?;
    disk.sync_dir("").map_err(|error| EngineError::io(doing(), error))
}

fn write_schema(draft: &Path) -> rusqlite::Result<()> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(draft, flags)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "fullfsync", true)?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", FORMAT)?;
    transaction.execute_batch(SCHEMA)?;
    transaction.execute_batch(retention::SCHEMA)?;
    transaction.execute_batch(erased::SCHEMA)?;
    transaction.commit()?;
    connection.close().map_err(|(_, error)| error)
}

fn connect_writer(path: &Path, busy_timeout: Duration, errors: &ErrorContext) -> Result<(Connection, CommitInfo)> {
    let map = |error| errors.map(error);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(map)?;
    prepare(&connection, busy_timeout).map_err(map)?;
    let mode: String =
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0)).map_err(map)?;
    if mode != "wal" {
        let what = format!("it cannot be put into WAL mode (it stays in {mode}); is it on a network file system?");
        return Err(errors.backend(what));
    }
    connection.pragma_update(None, "journal_size_limit", WAL_BYTES_KEPT).map_err(map)?;
    connection.pragma_update(None, "fullfsync", true).map_err(map)?;
    connection.pragma_update(None, "checkpoint_fullfsync", true).map_err(map)?;
    // This is checked again because SQLite has replayed the log, which may hold a newer header.
    check_format(path, connection.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(map)?)?;
    for table in TABLES {
        if !connection.table_exists(None, table).map_err(map)? {
            return Err(errors.damaged(format!("the table {table} is missing")));
        }
    }
    let head = read_head(&connection, errors)?;
    connection.execute_batch(retention::SCHEMA).map_err(map)?;
    connection.execute_batch(erased::SCHEMA).map_err(map)?;
    Ok((connection, head))
}

pub(super) fn connect_reader(path: &Path, busy_timeout: Duration) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    prepare(&connection, busy_timeout)?;
    Ok(connection)
}

fn prepare(connection: &Connection, busy_timeout: Duration) -> rusqlite::Result<()> {
    connection.busy_timeout(busy_timeout)?;
    // A schema that somebody else has written cannot run functions.
    connection.pragma_update(None, "trusted_schema", false)?;
    // A negative number is a size in KiB.
    connection.pragma_update(None, "cache_size", format!("-{CACHE_KIB}"))?;
    connection.set_prepared_statement_cache_capacity(32);
    Ok(())
}

/// The newest commit.
pub(super) fn read_head(connection: &Connection, errors: &ErrorContext) -> Result<CommitInfo> {
    let map = |error| errors.map(error);
    let sql = "SELECT seq, time, rows, crc FROM commits ORDER BY seq DESC LIMIT 1";
    let mut statement = connection.prepare_cached(sql).map_err(map)?;
    let mut rows = statement.query([]).map_err(map)?;
    match rows.next().map_err(map)? {
        None => Ok(CommitInfo { seq: Seq::ZERO, time: Timestamp(0) }),
        Some(row) => Ok(read_commit(row, errors)?.0),
    }
}
