//! Transactions of a caller: MULTI, EXEC, DISCARD and WATCH. What callers keep from one request to the next is paid for
//! from one budget, so that those who never come to EXEC cannot fill the memory.

use std::sync::Arc;

use recension::engine::Seq;
use recension::engine::budget::{Budget, Holding};
use recension::{Error, Transaction};

use crate::command::{Command, Kind};
use crate::data::hash_name;
use crate::door::{Caller, Ends, Queued, namespace, refused};
use crate::limits::{ARGUMENT_BYTES, QUEUED_BYTES_MAX, QUEUED_MAX, WATCHED_BYTES, WATCHED_KEY_COPIES, WATCHED_MAX};
use crate::reply::Reply;
use crate::watchers::Watch;

/// The reply if callers keep so much already that there is no room for more.
pub(crate) const NO_ROOM: &str =
    "other clients keep too much in transactions, watched keys and blocked commands: try again later";

/// What a request takes while it is kept.
pub(crate) fn weight(request: &[Vec<u8>]) -> usize {
    request.iter().map(|argument| argument.len() + ARGUMENT_BYTES).sum()
}

/// The commands since MULTI.
pub(crate) struct Queue {
    pub(crate) commands: Vec<Queued>,
    bytes: usize,
    kept: Holding,
    /// One of them could not be queued: EXEC refuses them all.
    pub(crate) broken: bool,
}

impl Queue {
    fn new(keeping: &Arc<Budget>) -> Self {
        Queue { commands: Vec::new(), bytes: 0, kept: Holding::new(keeping), broken: false }
    }

    /// Queues a command.
    pub(crate) fn add(&mut self, command: &'static Command, request: Vec<Vec<u8>>) -> Reply {
        let bytes = weight(&request);
        let refused = if self.commands.len() >= QUEUED_MAX || self.bytes + bytes > QUEUED_BYTES_MAX {
            Reply::error("too much stands between MULTI and EXEC")
        } else if matches!(command.kind, Kind::Replies(_)) || command.without_auth {
            Reply::error(format_args!("{} is not allowed in transactions", command.name))
        } else if !self.kept.grow(bytes) {
            Reply::error(NO_ROOM)
        } else {
            self.bytes += bytes;
            self.commands.push((command, request));
            return Reply::Simple("QUEUED");
        };
        self.broken = true;
        self.commands = Vec::new();
        self.kept.shrink(usize::MAX);
        refused
    }
}

/// A watched key, and the commits that had written it: as a string, and as a document.
pub(crate) struct Watched {
    database: usize,
    key: Vec<u8>,
    versions: (Option<Seq>, Option<Seq>),
    watch: Watch,
}

/// The keys that a caller watches.
pub(crate) struct WatchedKeys {
    keys: Vec<Watched>,
    kept: Holding,
}

impl WatchedKeys {
    pub(crate) fn new(keeping: &Arc<Budget>) -> Self {
        WatchedKeys { keys: Vec::new(), kept: Holding::new(keeping) }
    }

    pub(crate) fn clear(&mut self) {
        self.keys = Vec::new();
        self.kept.shrink(usize::MAX);
    }
}

impl Caller {
    pub(crate) fn multi(&mut self) -> Reply {
        if self.queued.is_some() {
            return Reply::error("MULTI calls can not be nested");
        }
        self.queued = Some(Queue::new(&self.shared.keeping));
        Reply::Ok
    }

    pub(crate) fn discard(&mut self) -> Reply {
        if self.queued.take().is_none() {
            return Reply::error("DISCARD without MULTI");
        }
        self.watched.clear();
        Reply::Ok
    }

    pub(crate) fn exec(&mut self) -> Reply {
        let Some(queue) = self.queued.take() else { return Reply::error("EXEC without MULTI") };
        let nothing = WatchedKeys::new(&self.shared.keeping);
        let watched = std::mem::replace(&mut self.watched, nothing);
        if queue.broken {
            return Reply::Error("EXECABORT Transaction discarded because of previous errors.".to_owned());
        }
        let unchanged = |tx: &Transaction| {
            for Watched { database, key, versions, watch } in &watched.keys {
                if watch.was_removed() || versions_of(tx, *database, key)? != *versions {
                    return Ok(false);
                }
            }
            Ok(true)
        };
        let waits = queue.commands.iter().any(|(command, _)| command.writes);
        match self.in_transaction(&queue.commands, Ends::Refused, waits, unchanged) {
            Ok(Some(replies)) => Reply::Array(replies),
            Ok(None) => Reply::NullArray,
            Err(Error::Aborted { reason }) => Reply::Error(reason),
            Err(error) => refused(error),
        }
    }

    pub(crate) fn watch(&mut self, keys: &[&[u8]]) -> Reply {
        if self.queued.is_some() {
            return Reply::error("WATCH inside MULTI is not allowed");
        }
        if self.watched.keys.len() + keys.len() > WATCHED_MAX {
            return Reply::error("too many keys are watched");
        }
        if !self.watched.kept.grow(keys.iter().map(|key| WATCHED_KEY_COPIES * key.len() + WATCHED_BYTES).sum()) {
            return Reply::error(NO_ROOM);
        }
        let database = self.database;
        // They are watched before they are read.
        let watches: Vec<_> = keys.iter().map(|key| self.shared.watchers.watch(database, key)).collect();
        let found = self
            .shared
            .store
            .transaction(|tx| keys.iter().map(|key| versions_of(tx, database, key)).collect::<Result<Vec<_>, Error>>());
        match found {
            Ok(versions) => {
                let watched = keys.iter().zip(versions).zip(watches).map(|((key, versions), watch)| Watched {
                    database,
                    key: key.to_vec(),
                    versions,
                    watch,
                });
                self.watched.keys.extend(watched);
                Reply::Ok
            }
            Err(error) => refused(error),
        }
    }
}

fn versions_of(tx: &Transaction, database: usize, key: &[u8]) -> Result<(Option<Seq>, Option<Seq>), Error> {
    let version = tx.keys(&namespace(database))?.version(key)?;
    let document = match hash_name(database, key) {
        Some((collection, id)) => tx.collection(collection)?.get(id)?.map(|document| document.seq),
        None => None,
    };
    Ok((version, document))
}
