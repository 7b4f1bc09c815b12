//! The work of a node besides its commits. It applies other nodes' commits, begins anew if it was away for too long,
//! notes how far its cache is, writes snapshots, reports its position, and checks the log.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use recension_engine::{EngineError, Problem, Result, VerifyReport};

use super::{Shared, Store};
use crate::limits::{FETCHES_MAX, FOLLOW_TIMEOUT, NOTE_BYTES, PAUSES, READ_BYTES, STORE_KEPT};
use crate::nodes::{self, NodeNote};
use crate::record::{self, Chain};
use crate::{LogError, Position, snapshot};

/// Starts the thread that follows the log.
pub(super) fn spawn(shared: Arc<Shared>) -> Result<JoinHandle<()>> {
    let thread = std::thread::Builder::new().name("recension-log".to_owned());
    thread
        .spawn(move || {
            follow(&shared);
            if !shared.node.is_empty() {
                let _ = nodes::leave(shared.log.blobs(), shared.writer);
            }
        })
        .map_err(|error| EngineError::io("starting the thread that follows the log", error))
}

fn follow(shared: &Shared) {
    let (mut pause, longest) = PAUSES;
    let mut said: Option<Instant> = None;
    let mut left: Vec<Left> = Vec::new();
    while !shared.is_stopping() {
        let head = shared.core.lock().head;
        shared.log.wait_for(head.position.next(), FOLLOW_TIMEOUT.min(shared.node_interval));
        if shared.is_stopping() {
            return;
        }
        // What a commit of ours has moved on from was most likely our own record: that is no news, and what else there
        // is the next turn finds.
        let is_ours = shared.core.lock().head.position != head.position;
        let caught = if is_ours { Ok(()) } else { shared.catch_up() };
        let caught = caught.or_else(|error| match shared.begin_anew() {
            Ok(Some(store)) => {
                left.push(store);
                Ok(())
            }
            Ok(None) => Err(error),
            Err(error) => Err(error),
        });
        left.retain(|store| !store.goes());
        match caught {
            Ok(()) => {
                *shared.failing.lock() = None;
                pause = PAUSES.0;
            }
            // It is tried again. A broken log is reported by every commit.
            Err(error) => {
                *shared.failing.lock() = Some(error);
                shared.core.lock().proof.doubt();
                wait(shared, pause);
                pause = (pause * 2).min(longest);
                continue;
            }
        }
        if !shared.node.is_empty() && said.is_none_or(|said| said.elapsed() >= shared.node_interval) {
            shared.say();
            said = Some(Instant::now());
        }
        let (note, snapshot) = {
            let core = shared.core.lock();
            let due = shared.snapshot_bytes.is_some_and(|bytes| core.bytes_since_snapshot >= bytes);
            (core.bytes_since_note >= NOTE_BYTES, due)
        };
        if note {
            let _ = shared.note();
        }
        if snapshot && shared.folder.is_some() {
            let _ = shared.write_snapshot();
        }
    }
}

/// A store of the cache that another one has taken the place of.
pub(super) struct Left {
    engine: Arc<Store>,
    path: PathBuf,
    since: Instant,
}

impl Left {
    /// Removes it if nobody can be reading it any more; whether it is gone.
    fn goes(&self) -> bool {
        let is_over = self.since.elapsed() >= STORE_KEPT && Arc::strong_count(&self.engine) == 1;
        // If it stays for now, the next opening of the cache removes it.
        is_over && std::fs::remove_dir_all(&self.path).is_ok()
    }
}

fn wait(shared: &Shared, pause: Duration) {
    let mut core = shared.core.lock();
    if !shared.is_stopping() {
        shared.work.wait_for(&mut core, pause);
    }
}

impl Shared {
    /// Applies everything that the log has, also if this node was away for longer than the log reaches back.
    pub(super) fn catch_up_anew(&self) -> Result<()> {
        let mut caught = self.catch_up();
        for _ in 0..FETCHES_MAX {
            // The log may be trimmed again while a snapshot is fetched.
            if caught.is_ok() || self.begin_anew()?.is_none() {
                break;
            }
            caught = self.catch_up();
        }
        caught
    }

    /// Checks, after a start, that the cache has nothing beyond the log.
    pub(super) fn check_ends(&self) -> Result<()> {
        let mut core = self.core.lock();
        let (has, head) = (self.cache().head(), core.head);
        if has <= head.seq {
            return Ok(());
        }
        let what = format!("the log ends with commit {}, where the cache has {has}", head.seq);
        Err(self.stopped(&mut core, LogError::diverged(head.position, what).into()))
    }

    /// If the records that this node needs next were trimmed, goes on with the newest snapshot. Until that is whole,
    /// reads see the present state, and commits and refreshes get the error that they have to wait. Returns the store
    /// that it has left.
    fn begin_anew(&self) -> Result<Option<Left>> {
        let (head, behind) = {
            let core = self.core.lock();
            (core.head, core.behind)
        };
        let goes_on = behind && self.poison.get().is_none();
        let Some(folder) = self.folder.as_ref().filter(|_| goes_on) else { return Ok(None) };
        let begun = folder.begin_anew(&*self.log, &head).and_then(|begun| {
            let what = "they are gone from the log, and no snapshot has them: restore the log";
            begun.ok_or_else(|| EngineError::damaged(format!("shared log, records behind {}", head.position), 0, what))
        });
        let begun = begun.inspect_err(|error| {
            if matches!(error, EngineError::Damaged { .. } | EngineError::NewerFormat { .. }) {
                self.poison(error);
            }
        })?;
        let mut core = self.core.lock();
        (core.head, core.store, core.behind) = (begun.head, begun.number, false);
        (core.bytes_since_note, core.bytes_since_snapshot) = (0, 0);
        core.proof.renew();
        let engine = self.cache.swap(Arc::new(Store(begun.engine)));
        core.signal.moved();
        Ok(Some(Left { engine, path: begun.before, since: Instant::now() }))
    }

    /// Makes the cache durable and notes how far it is.
    pub(super) fn note(&self) -> Result<()> {
        let (head, number, cache) = {
            let mut core = self.core.lock();
            core.bytes_since_note = 0;
            (core.head, core.store, self.cache().engine())
        };
        cache.checkpoint()?;
        match &self.folder {
            Some(folder) => folder.note(&head, number),
            None => Ok(()),
        }
    }

    /// Publishes this node's position, for the cluster's status. If it fails, it is tried again later.
    fn say(&self) {
        let head = self.core.lock().head;
        let note = NodeNote { name: self.node.clone(), head, time: self.clock.now() };
        let _ = nodes::say(self.log.blobs(), self.writer, &note);
    }

    /// Writes a snapshot. Gives up the records that it replaces once every live node has read them.
    pub(super) fn write_snapshot(&self) -> Result<()> {
        let _one = self.snapshots.lock();
        // What the log does not have must not come to it by this way.
        self.prove(Duration::ZERO)?;
        self.core.lock().bytes_since_snapshot = 0;
        let folder = tempfile_beside(self)?;
        // A process that died has left it, perhaps of another store.
        let _ = std::fs::remove_dir_all(&folder);
        // The backup has this at least; what it has beyond is passed over when the records behind are applied.
        let (head, cache) = {
            let core = self.core.lock();
            (core.head, self.cache().engine())
        };
        let outcome = cache.backup_indexed(&folder).and_then(|_| {
            snapshot::write(&*self.log, &folder, &head)?;
            let oldest = self.seen.lock().oldest_position(self.log.blobs(), Instant::now())?;
            let keep = oldest.map_or(head.position, |oldest| oldest.min(head.position));
            // The newest record in the snapshot stays: the following ones are checked against it.
            self.log.trim(keep)?;
            Ok(())
        });
        let _ = std::fs::remove_dir_all(&folder);
        outcome
    }

    /// Reads what the log still has and checks it.
    pub(super) fn verify_log(&self, report: &mut VerifyReport) -> Result<()> {
        let head = self.core.lock().head;
        let mut problem = |position: Position, what: String| {
            report.problems.push(Problem { file: format!("shared log, record {position}"), offset: 0, what });
        };
        let mut position = match self.log.read(Position::FIRST, 1) {
            Ok(_) => Position::FIRST,
            Err(LogError::Trimmed { first: Some(first), .. }) => first,
            // The first record is unknown, but the records that the oldest snapshot needs must be there.
            Err(LogError::Trimmed { first: None, .. }) => {
                snapshot::positions(self.log.blobs())?.first().copied().unwrap_or(head.position).min(head.position)
            }
            Err(error) => return Err(error.into()),
        };
        let mut chain: Option<Chain> = None;
        while position <= head.position {
            let records = match self.log.read(position, READ_BYTES) {
                Ok(records) => records,
                Err(LogError::Trimmed { .. }) => {
                    position = position.next();
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            if records.is_empty() {
                problem(position, "it is gone from the log, and this node has applied it".to_owned());
                return Ok(());
            }
            for (at, bytes) in records {
                match record::decode(at, &bytes) {
                    Ok((header, _)) if chain.is_none_or(|chain| chain == header.chain_before) => {}
                    Ok(_) => problem(at, "it does not follow from the record before".to_owned()),
                    Err(error) => problem(at, error.to_string()),
                }
                let here = record::chain_of(&bytes);
                chain = Some(here);
                if at == head.position && here != head.chain {
                    problem(at, "it is not the record that this node has applied".to_owned());
                }
                position = at.next();
            }
        }
        Ok(())
    }
}

/// A folder for a backup, beside the cache.
fn tempfile_beside(shared: &Shared) -> Result<std::path::PathBuf> {
    match &shared.folder {
        Some(folder) => Ok(folder.beside("snapshot.tmp")),
        None => Err(EngineError::Unsupported { engine: "shared log", what: "write snapshots from a cache in memory" }),
    }
}
