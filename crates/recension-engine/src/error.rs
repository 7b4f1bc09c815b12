//! Errors below the engine contract. Each message says what was expected, what was found, and what to do next.

use std::fmt;
use std::io;
use std::sync::Arc;

use super::{Seq, TreeId};

/// The result of an engine operation.
pub type Result<T> = std::result::Result<T, EngineError>;

/// An engine's error. It is cheap to clone: one failure may have many waiters.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum EngineError {
    /// A row that the batch depends on was written after it was read. Read again and retry.
    Conflict {
        /// The tree of the row.
        tree: TreeId,
        /// The key of the row.
        key: Vec<u8>,
        /// The sequence number that the batch had read at.
        read_at: Seq,
        /// The sequence number of the newer version; none if another transaction is about to write it.
        written_at: Option<Seq>,
    },
    /// Stored bytes differ from the written ones. Nothing was answered from them.
    Damaged {
        /// The file, relative to the store's directory.
        file: String,
        /// Where in the file, in bytes.
        offset: u64,
        /// What is wrong there.
        what: String,
    },
    /// An earlier write or sync failed; the store takes no more commits. Reopen it to continue.
    Poisoned {
        /// The original failure.
        cause: String,
    },
    /// Another process, or another handle of this one, has the store open.
    Locked {
        /// The store.
        store: String,
        /// The holder, as far as it can be told.
        holder: String,
    },
    /// The store was written by a newer version of this software.
    NewerFormat {
        /// The file with that version.
        file: String,
        /// The format version found.
        found: u32,
        /// The newest format version that this software reads.
        supported: u32,
    },
    /// There is no store at that place, or something else is there.
    NotAStore {
        /// The place.
        path: String,
        /// What was found instead.
        found: String,
    },
    /// A sequence number that has not been committed.
    NotYet {
        /// The sequence number asked for.
        asked: Seq,
        /// The newest commit.
        head: Seq,
    },
    /// A batch adds to a value that is no list of counters. Nothing was written.
    NotCounters {
        /// The tree of the row.
        tree: TreeId,
        /// The key of the row.
        key: Vec<u8>,
        /// Bytes of its value; counters have 8 each.
        len: usize,
    },
    /// This engine cannot do that.
    Unsupported {
        /// The engine.
        engine: &'static str,
        /// What it cannot do.
        what: &'static str,
    },
    /// The process or log that decides commits does not answer. Nothing was written: try again.
    Unavailable {
        /// What happened.
        why: String,
    },
    /// The process or log that decides commits did not say whether this one was made. It may have been, or may yet be.
    /// Read to find out.
    Unknown {
        /// What happened.
        why: String,
    },
    /// The store was moved: this place takes no more commits.
    Moved {
        /// Its new address.
        to: String,
    },
    /// This copy of the store has commits that the system which decides commits does not have, or has others there.
    /// Nothing is answered from it until somebody decides which of the two is right.
    Diverged {
        /// Where they part, and the two ways on.
        what: String,
    },
    /// The store was opened for reading only.
    ReadOnly,
    /// The history asked for has been given up by retention.
    Forgotten {
        /// The sequence number asked for.
        asked: Seq,
        /// The oldest one that can still be read.
        oldest: Seq,
    },
    /// A branch or a tag that cannot be as it was asked for, because of what is there.
    Branch {
        /// Its name.
        name: String,
        /// What is wrong.
        why: String,
    },
    /// What was asked for can be no branch or tag, whatever is there.
    BadBranch {
        /// Its name.
        name: String,
        /// What is wrong.
        why: String,
    },
    /// There is no branch of that name.
    NoSuchBranch {
        /// The name.
        name: String,
        /// Some of the names that there are; none, if it was dropped while it was open.
        known: Vec<String>,
    },
    /// History that a tag or a branch needs was to be given up.
    Kept {
        /// The kept moment.
        moment: Seq,
        /// What was to be given up: everything before this.
        before: Seq,
    },
    /// Something is longer than its bound in [`crate::limits`].
    TooLarge {
        /// The kind of thing.
        what: &'static str,
        /// Its size.
        len: usize,
        /// The bound.
        max: usize,
    },
    /// The store is encrypted and the key does not open it, or is missing; or there is a key and it is not encrypted.
    /// Or the key of a collection is missing, or was destroyed.
    Key {
        /// The store, or the collection.
        store: String,
        /// What is wrong, and what to do.
        why: String,
    },
    /// The operating system refused.
    Io {
        /// The action that failed.
        doing: String,
        /// Its answer.
        source: Arc<io::Error>,
    },
    /// The database below this engine (`SQLite`, `PostgreSQL`, ...) refused.
    Backend {
        /// The engine's name.
        engine: &'static str,
        /// Its answer.
        message: String,
    },
    /// This program was built without what this needs. Nothing was read or written.
    NotBuiltIn {
        /// What needs it.
        what: String,
        /// The cargo feature that has it.
        feature: &'static str,
    },
    /// The store's address is not one that can be opened.
    BadAddress {
        /// The address.
        address: String,
        /// What is wrong with it.
        why: String,
    },
}

/// Bytes of a file that are not what was written, as the inner error of an [`io::Error`] of a disk that can tell.
#[derive(Clone, Debug)]
pub struct DamagedBytes {
    /// The file, relative to the store's directory.
    pub file: String,
    /// Where in the file, in bytes.
    pub offset: u64,
    /// What is wrong there.
    pub what: String,
}

impl fmt::Display for DamagedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "damaged: {} at byte {}: {}", self.file, self.offset, self.what)
    }
}

impl std::error::Error for DamagedBytes {}

impl EngineError {
    /// An I/O error with what was being done; damage, if that is what the error tells of.
    pub fn io(doing: impl Into<String>, source: io::Error) -> Self {
        if let Some(DamagedBytes { file, offset, what }) = source.get_ref().and_then(|inner| inner.downcast_ref()) {
            return EngineError::damaged(file, *offset, what);
        }
        EngineError::Io { doing: doing.into(), source: Arc::new(source) }
    }

    /// Damage found in a file.
    pub fn damaged(file: impl Into<String>, offset: u64, what: impl Into<String>) -> Self {
        EngineError::Damaged { file: file.into(), offset, what: what.into() }
    }

    /// What needs a cargo feature that this program was built without.
    pub fn not_built_in(what: impl Into<String>, feature: &'static str) -> Self {
        EngineError::NotBuiltIn { what: what.into(), feature }
    }

    /// Whether the operating system had no room for it.
    pub fn is_disk_full(&self) -> bool {
        use io::ErrorKind::{QuotaExceeded, StorageFull};
        matches!(self, EngineError::Io { source, .. } if matches!(source.kind(), StorageFull | QuotaExceeded))
    }

    /// Whether the operating system does not let this process write there, or read.
    pub fn is_forbidden(&self) -> bool {
        use io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
        matches!(self, EngineError::Io { source, .. } if matches!(source.kind(), PermissionDenied | ReadOnlyFilesystem))
    }

    /// Whether reading again and retrying the commit may succeed.
    pub fn is_conflict(&self) -> bool {
        matches!(self, EngineError::Conflict { .. })
    }
}

/// A name in a text, in quotes if it would not be seen as one.
fn seen(name: &str) -> String {
    let is_plain = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic());
    if is_plain { name.to_owned() } else { format!("{name:?}") }
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EngineError::Conflict { tree, key, read_at, written_at } => {
                write!(
                    f,
                    "conflict: key {} of tree {}, read at seq {read_at}, was written ",
                    key.escape_ascii(),
                    tree.0
                )?;
                match written_at {
                    Some(seq) => write!(f, "again at seq {seq}; read it again and retry"),
                    None => write!(f, "by a transaction running beside this one; retry"),
                }
            }
            EngineError::Damaged { file, offset, what } if file.starts_with("index/") => write!(
                f,
                "damaged: {file} at byte {offset}: {what}. No document is lost: run `recension verify`, or remove the \
                 folder index while the store is closed; the next open builds the index anew from the log"
            ),
            EngineError::Damaged { file, offset, what } => write!(
                f,
                "damaged: {file} at byte {offset}: {what}. Nothing was changed; restore a backup, \
                 or run `recension salvage` to copy what is readable into a new store"
            ),
            EngineError::Poisoned { cause } => write!(
                f,
                "the store takes no more commits because an earlier write failed ({cause}); \
                 mend the cause and open the store again: every acknowledged commit is there"
            ),
            EngineError::Locked { store, holder } => {
                write!(f, "{store} is in use by {holder}; close it there, or reach it through its server")
            }
            EngineError::NewerFormat { file, found, supported } => write!(
                f,
                "{file} has format version {found}, and this software reads versions up to {supported}; \
                 open it with a newer release"
            ),
            EngineError::NotAStore { path, found } => write!(f, "{path} is not a store: {found}"),
            EngineError::NotYet { asked, head } => {
                write!(f, "seq {asked} has not been committed; the newest is {head}")
            }
            EngineError::Unsupported { engine, what } => write!(f, "the {engine} engine cannot {what}"),
            EngineError::Unavailable { why } => {
                write!(f, "the store does not answer ({why}); nothing was written: try again")
            }
            EngineError::Unknown { why } => write!(
                f,
                "nobody has said whether the commit was made ({why}); read what it would have written before it is \
                 tried again"
            ),
            EngineError::Key { store, why } => write!(f, "{store}: {why}"),
            EngineError::Moved { to } => write!(f, "the store has moved and takes no more commits here; open {to}"),
            EngineError::Diverged { what } => f.write_str(what),
            EngineError::ReadOnly => write!(f, "the store was opened for reading only"),
            EngineError::Forgotten { asked, oldest } => {
                write!(
                    f,
                    "history before seq {oldest} was given up by retention; seq {asked} cannot be read: read as of seq \
                     {oldest} or later, or in a backup that was made before"
                )
            }
            EngineError::Branch { name, why } => write!(f, "{name}: {why}"),
            EngineError::BadBranch { name, why } => write!(f, "{name:?}: {why}"),
            EngineError::NoSuchBranch { name, known } if known.is_empty() => {
                write!(f, "there is no branch {}: it was dropped, or none has been made yet", seen(name))
            }
            EngineError::NoSuchBranch { name, known } => {
                write!(f, "there is no branch {}; there are main, {}", seen(name), known.join(", "))
            }
            EngineError::Kept { moment, before } => write!(
                f,
                "history before seq {before} cannot be given up: a tag or a branch needs seq {moment}; drop it first"
            ),
            EngineError::NotCounters { tree, key, len } => write!(
                f,
                "the {len} bytes at key \"{}\" of tree {} are no counters (8 bytes each); nothing was added to them",
                key.escape_ascii(),
                tree.0
            ),
            EngineError::TooLarge { what, len, max } => write!(f, "too large: {len} {what}; the limit is {max}"),
            EngineError::Io { doing, source } => {
                let advice = if self.is_disk_full() { "; make room and try again" } else { "" };
                write!(f, "{doing}: {source}{advice}")
            }
            EngineError::Backend { engine, message } => write!(f, "{engine}: {message}"),
            EngineError::NotBuiltIn { what, feature } => {
                write!(f, "{what} needs the cargo feature `{feature}`, which this program was built without")
            }
            EngineError::BadAddress { address, why } => write!(f, "cannot open {address:?}: {why}"),
        }
    }
}

impl std::error::Error for EngineError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            EngineError::Io { source, .. } => Some(source.as_ref()),
            _ => None,
        }
    }
}
