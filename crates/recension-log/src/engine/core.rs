//! The node's place in the log, and its progress: a record is checked, then applied to the cache, and only then does
//! the node move behind it. Equal positions have equal chains on every node.

use std::sync::Arc;
use std::time::Instant;

use recension_engine::{Batch, CommitInfo, Engine, EngineError, HeadSignal, Seq, Timestamp};

use super::clock;
use super::head::Head;
use super::seen::{self, Proof, SeenFile};
use super::spent::Spent;
use super::turns::Turns;
use crate::bytes_reader::{BytesReader, Short};
use crate::entry::{self, Entry};
use crate::large::{self, Elsewhere};
use crate::limits::READ_BYTES;
use crate::record::{self, Header, Kind};
use crate::{LogError, Position, SharedLog};

/// State that only one thread at a time uses.
pub(super) struct Core {
    pub(super) head: Head,
    /// The number of the next record of ours.
    pub(super) number: u64,
    /// The store's new address, if it has moved.
    pub(super) moved: Option<String>,
    /// Bytes of records since the cache noted how far it is, and since the newest snapshot.
    pub(super) bytes_since_note: u64,
    pub(super) bytes_since_snapshot: u64,
    /// Records of others that were applied.
    pub(super) foreign: u64,
    pub(super) turns: Turns,
    pub(super) spent: Spent,
    /// Which store of the cache's folder this is the head of.
    pub(super) store: u64,
    /// The records that this node needs next were trimmed: the follower begins anew with a snapshot.
    pub(super) behind: bool,
    /// When the log was last known to have the newest record of this node.
    pub(super) proof: Proof,
    /// Where the record that is being applied is noted; a cache in memory has no need of it.
    pub(super) seen: Option<SeenFile>,
    /// Wakes those that wait for the head, whichever store has it.
    pub(super) signal: Arc<HeadSignal>,
}

/// The message while a node that was away for too long begins anew.
const BEHIND: &str = "this node was away for longer than the log reaches back, and loads a snapshot; try again, or ask \
                      another node";

/// Why a node cannot go on.
pub(super) enum Stop {
    /// The log does not answer now.
    Log(LogError),
    /// The records that it needs next were trimmed. It goes on once it has begun anew.
    Behind(LogError),
    /// The log has other records than this node: nothing is read and no commit is taken.
    Astray(LogError),
    /// The log's contents, or the cache, cannot be trusted any more: no commit is taken.
    Broken(EngineError),
}

impl From<LogError> for Stop {
    fn from(error: LogError) -> Self {
        match error {
            LogError::Unavailable(_) | LogError::Unknown(_) | LogError::Refused { .. } => Stop::Log(error),
            LogError::Trimmed { .. } => Stop::Behind(behind()),
            LogError::Diverged { .. } => Stop::Astray(error),
            LogError::Damaged { .. } | LogError::NewerFormat { .. } => Stop::Broken(error.into()),
        }
    }
}

/// The error of requests to a node that begins anew.
pub(super) fn behind() -> LogError {
    LogError::Unavailable(BEHIND.to_owned())
}

impl Stop {
    pub(super) fn into_error(self) -> EngineError {
        match self {
            Stop::Log(error) | Stop::Behind(error) | Stop::Astray(error) => error.into(),
            Stop::Broken(error) => error,
        }
    }
}

/// The orders of a record, each with the cache's answer: an order that one cache refuses is refused on every node.
pub(super) type OrderAnswers = Vec<recension_engine::Result<()>>;

impl Core {
    /// Applies every record that the log has behind the head.
    pub(super) fn catch_up(&mut self, log: &dyn SharedLog, cache: &Arc<dyn Engine>) -> Result<(), Stop> {
        loop {
            let records = log.read(self.head.position.next(), READ_BYTES)?;
            if records.is_empty() {
                return Ok(());
            }
            for (position, record) in records {
                self.apply_read(log, cache, position, &record)?;
            }
        }
    }

    /// Applies a record that was read from the log.
    pub(super) fn apply_read(
        &mut self,
        log: &dyn SharedLog,
        cache: &Arc<dyn Engine>,
        position: Position,
        bytes: &[u8],
    ) -> Result<(), Stop> {
        if position != self.head.position.next() {
            return Err(LogError::damaged(self.head.position.next(), "it is gone, and later ones are there").into());
        }
        let (header, body) = record::decode(position, bytes)?;
        self.check(&header)?;
        let damaged = |Short| LogError::damaged(position, "its body is not as the format says");
        let entries = match header.kind {
            Kind::Genesis if cache.head() < header.seq_before => {
                let what = "the store begins with a snapshot, which is not there, or which this cache cannot take";
                return Err(LogError::damaged(position, what).into());
            }
            Kind::Genesis => {
                self.head.seq = header.seq_before;
                Vec::new()
            }
            Kind::Entries => entry::decode(body).map_err(damaged)?,
            Kind::Elsewhere => {
                let at = Elsewhere::decode(&mut BytesReader(body)).map_err(damaged)?;
                entry::decode(&large::get(log.blobs(), &at)?).map_err(damaged)?
            }
            Kind::Moved => {
                self.moved = Some(String::from_utf8_lossy(body).into_owned());
                Vec::new()
            }
        };
        self.foreign += 1;
        self.turns.was_foreign(header.writer, Instant::now());
        self.apply(cache, &header, bytes, entries).map(drop)
    }

    fn check(&self, header: &Header) -> Result<(), LogError> {
        let Header { position, log, chain_before, seq_before, time, .. } = *header;
        let wrong = if self.head.position == Position(0) {
            (header.kind != Kind::Genesis).then_some("it is the first and gives the log no identity")
        } else if log != self.head.log {
            return Err(LogError::diverged(self.head.position, "what follows belongs to another log"));
        } else if chain_before != self.head.chain {
            return Err(LogError::diverged(self.head.position, "what follows in the log stands on another one"));
        } else if seq_before != self.head.seq || time < self.head.time {
            Some("its numbers do not follow from the record before")
        } else {
            None
        };
        wrong.map_or(Ok(()), |what| Err(LogError::damaged(position, what)))
    }

    /// Applies the entries of the record behind the head.
    pub(super) fn apply(
        &mut self,
        cache: &Arc<dyn Engine>,
        header: &Header,
        bytes: &[u8],
        entries: Vec<Entry>,
    ) -> Result<OrderAnswers, Stop> {
        let mut head = Head {
            log: header.log,
            position: header.position,
            chain: record::chain_of(bytes),
            seq: seen::commits(self.head.seq, &entries),
            time: header.time,
        };
        if let Some(seen) = &self.seen {
            seen.note(&head).map_err(Stop::Broken)?;
        }
        head.seq = self.head.seq;
        let mut answers = Vec::new();
        let mut commits = Vec::new();
        for entry in entries {
            match entry {
                Entry::Commit(batch) => {
                    head.seq = head.seq.next();
                    commits.push(batch);
                }
                order => {
                    apply_commits(cache, header.time, head.seq, std::mem::take(&mut commits))?;
                    answers.push(clock::at(header.time, || apply_order(cache, &order))?);
                }
            }
        }
        apply_commits(cache, header.time, head.seq, commits)?;
        self.head = head;
        self.proof.renew();
        self.signal.moved();
        self.bytes_since_note += bytes.len() as u64;
        self.bytes_since_snapshot += bytes.len() as u64;
        Ok(answers)
    }
}

/// Applies commits, the last of which is `last`. Those that the cache has already are skipped.
fn apply_commits(cache: &Arc<dyn Engine>, time: Timestamp, last: Seq, mut commits: Vec<Batch>) -> Result<(), Stop> {
    let first = last.0 + 1 - commits.len() as u64;
    let known = (cache.head().0 + 1).saturating_sub(first).min(commits.len() as u64);
    commits.drain(..known as usize);
    if commits.is_empty() {
        return Ok(());
    }
    let expected = first + known;
    let answers = clock::at(time, || cache.commit_all(commits));
    for (seq, answer) in (expected..).zip(answers) {
        let wanted = CommitInfo { seq: Seq(seq), time };
        match answer {
            Ok(commit) if commit == wanted => {}
            Ok(commit) => {
                let what = format!("a commit came out as {commit:?}, but the log has {wanted:?}; remove the cache");
                return Err(Stop::Broken(EngineError::damaged("the cache", 0, what)));
            }
            Err(error) => return Err(Stop::Broken(error)),
        }
    }
    Ok(())
}

fn apply_order(cache: &Arc<dyn Engine>, order: &Entry) -> Result<recension_engine::Result<()>, Stop> {
    let answer = match order {
        Entry::Commit(_) => Ok(()),
        Entry::Forget { tree, range, before } => cache.forget(*tree, range, *before),
        Entry::Rules(rules) => cache.set_retention(rules),
        // The amount that waits to be settled differs from node to node.
        Entry::Erase(erased) => match cache.erase(erased) {
            Err(EngineError::TooLarge { .. }) => {
                cache.settle().and_then(|()| cache.erase(erased)).map_err(Stop::Broken)?;
                Ok(())
            }
            answer => answer,
        },
    };
    match answer {
        // It is deterministic: every node's cache answers the same.
        Ok(())
        | Err(
            EngineError::TooLarge { .. }
            | EngineError::NotYet { .. }
            | EngineError::Kept { .. }
            | EngineError::Unsupported { .. },
        ) => Ok(answer),
        Err(error) => Err(Stop::Broken(error)),
    }
}
