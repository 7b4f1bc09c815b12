//! The newest record that a cache has taken, in a file beside its store. It is written before the record is applied, so
//! that nothing in the store is newer after a kill; and the comparison of that record with the log, by the chain.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use recension_engine::{EngineError, Result, Seq};

use super::head::{Head, decode_note, encode_note};
use crate::bytes_reader::BytesReader;
use crate::entry::{self, Entry};
use crate::record::{self, Chain, Kind};
use crate::{LogError, Position, SharedLog, large};

/// The name of the file.
pub(super) const SEEN: &str = "seen";
/// Two slots are written in turns, so that a crash tears at most the newer one.
const SLOT_STEP: u64 = 512;

/// The file, open.
pub(super) struct SeenFile(File);

impl SeenFile {
    pub(super) fn open(folder: &Path) -> Result<Self> {
        let path = folder.join(SEEN);
        let file = File::options().create(true).truncate(false).write(true).mode(0o600).open(&path);
        file.map(SeenFile).map_err(|error| EngineError::io(format!("opening {}", path.display()), error))
    }

    /// Notes that the cache takes a record, which is `head` once it is applied.
    pub(super) fn note(&self, head: &Head) -> Result<()> {
        let slot = head.position.0 % 2 * SLOT_STEP;
        self.0
            .write_all_at(&encode_note(head), slot)
            .map_err(|error| EngineError::io("noting the newest record of the cache", error))
    }
}

/// The newest record that is noted in a cache's folder, by `seen` or `position`.
pub(super) fn newest(folder: &Path, position: &str) -> Option<Head> {
    let seen = fs::read(folder.join(SEEN)).unwrap_or_default();
    let noted = fs::read(folder.join(position)).unwrap_or_default();
    let len = encode_note(&Head::default()).len();
    let slots = [&seen[..], seen.get(SLOT_STEP as usize..).unwrap_or_default(), &noted[..]];
    let heads = slots.into_iter().filter_map(|slot| decode_note(slot.get(..len)?).ok());
    heads.max_by_key(|head| head.position)
}

/// Checks that the log has this very record, and so everything before it.
pub(super) fn check(log: &dyn SharedLog, position: Position, chain: Chain) -> crate::Result<()> {
    if position == Position(0) {
        return Ok(());
    }
    let shorter = || LogError::diverged(position, "the log ends before it");
    let other = || LogError::diverged(position, "the log has another record there");
    match log.read(position, 1) {
        Ok(records) => match records.first() {
            Some((at, bytes)) if *at == position && record::chain_of(bytes) == chain => Ok(()),
            Some(_) => Err(other()),
            None => Err(shorter()),
        },
        // The record that follows says what was before it. If that is gone too, the cache begins with a snapshot.
        Err(LogError::Trimmed { .. }) => match log.read(position.next(), 1) {
            Ok(records) => match records.first() {
                Some((at, bytes)) if *at == position.next() => {
                    let (header, _) = record::decode(*at, bytes)?;
                    if header.chain_before == chain { Ok(()) } else { Err(other()) }
                }
                _ => Err(shorter()),
            },
            Err(LogError::Trimmed { .. }) => Ok(()),
            Err(error) => Err(error),
        },
        Err(error) => Err(error),
    }
}

/// The newest commit of the log.
pub(super) fn newest_commit(log: &dyn SharedLog) -> crate::Result<Seq> {
    let newest = log.tail(Position(0))?.before();
    let Some((position, bytes)) = log.read(newest, 1)?.into_iter().next() else { return Ok(Seq::ZERO) };
    let (header, body) = record::decode(position, &bytes)?;
    let damaged = |_| LogError::damaged(position, "its body is not as the format says");
    let entries = match header.kind {
        Kind::Entries => entry::decode(body).map_err(damaged)?,
        Kind::Elsewhere => {
            let at = large::Elsewhere::decode(&mut BytesReader(body)).map_err(damaged)?;
            entry::decode(&large::get(log.blobs(), &at)?).map_err(damaged)?
        }
        Kind::Genesis | Kind::Moved => Vec::new(),
    };
    Ok(commits(header.seq_before, &entries))
}

/// The newest commit after these entries.
pub(super) fn commits(before: Seq, entries: &[Entry]) -> Seq {
    Seq(before.0 + entries.iter().filter(|entry| matches!(entry, Entry::Commit(_))).count() as u64)
}

/// When the newest record of a node was last found in the log, or written or read there.
#[derive(Default)]
pub(super) struct Proof {
    found: Option<Instant>,
    /// Since when the log has not answered.
    silent: Option<Instant>,
}

impl Proof {
    /// It was found there just now.
    pub(super) fn renew(&mut self) {
        *self = Proof { found: Some(Instant::now()), silent: None };
    }

    /// Something went wrong since.
    pub(super) fn doubt(&mut self) {
        self.found = None;
        self.silent.get_or_insert_with(Instant::now);
    }

    /// Until when a commit that begins now tries: those that waited behind others do not begin to wait anew.
    pub(super) fn patient_until(&self, patience: Duration) -> Instant {
        self.silent.unwrap_or_else(Instant::now) + patience
    }

    /// Whether it is that old.
    pub(super) fn is_older(&self, than: Duration) -> bool {
        self.found.is_none_or(|since| since.elapsed() >= than)
    }
}

/// The two ways on for a cache that the log does not agree with.
pub(super) fn refusal(error: LogError, folder: Option<&PathBuf>) -> EngineError {
    match (EngineError::from(error), folder) {
        (EngineError::Diverged { what }, Some(folder)) => EngineError::Diverged {
            what: format!(
                "{what}. Nothing is read from the cache {0}, and nothing written, until you decide. Restore the log, \
                 and start again; or take the log as it is: stop what uses the cache, and run `recension cluster \
                 discard {0}`. The cache may be the only copy of what the log has lost: its folder store is a store \
                 of its own, which you can copy and open",
                folder.display()
            ),
        },
        (EngineError::Diverged { what }, None) => EngineError::Diverged {
            what: format!(
                "{what}. Nothing is read from this node, and nothing written. Restore the log; or, to take it as it \
                 is, open the store again"
            ),
        },
        (error, _) => error,
    }
}
