//! The commits of a process that will be killed, and the check whether all of them are there. Both processes make every
//! batch from three numbers, so that the pipe between them carries only names.

use std::collections::BTreeMap;
use std::time::Duration;

use recension::engine::{Batch, Direction, Durability, Engine, KeyRange, NativeOptions, Seq, Snapshot, TreeId};

use recension::engine::native::Maintenance;

use crate::sim::Rng;

/// The options of the killed store: small, so that segments, runs, settling and merges are met within milliseconds. If it
/// is sealed, they have a key.
pub fn options(sealed: bool) -> NativeOptions {
    NativeOptions {
        key: sealed.then(crate::crash::native::key),
        segment_bytes: 64 << 10,
        index_memory_bytes: 16 << 10,
        checkpoint_log_bytes: 48 << 10,
        settle_log_bytes: Some(100 << 10),
        merge_fan_in: 2,
        block_cache_bytes: 256 << 10,
        mark_every: Duration::from_millis(2),
        maintenance: Maintenance::Background,
        ..NativeOptions::default()
    }
}

/// The tree of the rows that belong to one commit.
const OWN: TreeId = TreeId(1);
/// The tree of the row that every commit writes.
const SHARED: TreeId = TreeId(2);

/// A commit's name. All of its rows follow from it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Written {
    /// The number of the process.
    pub trial: u64,
    /// The thread.
    pub thread: u64,
    /// The number of its commit.
    pub nth: u64,
}

impl Written {
    /// The name as text.
    pub fn name(self) -> String {
        format!("{:06}/{}/{:08}", self.trial, self.thread, self.nth)
    }

    /// Parses a name.
    pub fn parse(name: &str) -> Option<Written> {
        let mut parts = name.split('/').map(|part| part.parse().ok());
        Some(Written { trial: parts.next()??, thread: parts.next()??, nth: parts.next()?? })
    }

    fn rows(self) -> u64 {
        1 + (self.nth * 7 + self.thread) % 4
    }

    fn value(self, row: u64) -> Vec<u8> {
        let mut rng = Rng::for_part(self.trial << 40 | self.thread << 32 | self.nth, row);
        let len = if self.nth % 50 == 49 { 20_000 } else { rng.index(300) };
        rng.bytes(len)
    }

    /// The commit.
    pub fn batch(self) -> Batch {
        let mut batch = Batch::new();
        let name = self.name();
        for row in 0..self.rows() {
            batch.put(OWN, format!("{name}/{row}").as_bytes(), &self.value(row));
        }
        batch.put(SHARED, b"hot", name.as_bytes());
        batch.durability(if self.nth.is_multiple_of(3) { Durability::Process } else { Durability::Disk });
        batch
    }

    /// Checks that the commit is there as it was made, at a seq.
    pub fn check(self, snapshot: &dyn Snapshot, seq: Seq) -> Result<(), String> {
        let name = self.name();
        for row in 0..self.rows() {
            let key = format!("{name}/{row}");
            let found = snapshot.get(OWN, key.as_bytes()).map_err(|e| e.to_string())?;
            match found {
                None => return Err(format!("{key}, acknowledged with seq {seq}, is not there")),
                Some(value) if value.seq != seq => return Err(format!("{key} has seq {}, not {seq}", value.seq)),
                Some(value) if *value != *self.value(row) => return Err(format!("{key} has other bytes")),
                Some(_) => {}
            }
        }
        Ok(())
    }
}

/// Checks that the store holds every acknowledged commit, and none by half. Returns their number.
pub fn check_all(engine: &dyn Engine, acknowledged: &BTreeMap<u64, Written>) -> Result<u64, String> {
    let snapshot = engine.snapshot().map_err(|e| e.to_string())?;
    for (seq, written) in acknowledged {
        written.check(&*snapshot, Seq(*seq))?;
    }
    // Every row belongs to a whole commit, and each commit has a seq of its own.
    let mut commits = BTreeMap::new();
    for row in snapshot.range(OWN, &KeyRange::all(), Direction::Forward) {
        let row = row.map_err(|e| e.to_string())?;
        let key = String::from_utf8_lossy(&row.key).into_owned();
        let (name, _) = key.rsplit_once('/').ok_or_else(|| format!("a key that nobody wrote: {key}"))?;
        let written = Written::parse(name).ok_or_else(|| format!("a key that nobody wrote: {key}"))?;
        let seq = commits.entry(row.value.seq).or_insert(written);
        if *seq != written {
            return Err(format!("{} and {} have one seq", seq.name(), written.name()));
        }
    }
    for (seq, written) in &commits {
        written.check(&*snapshot, *seq)?;
    }
    let head = engine.head().0;
    if commits.len() as u64 != head {
        return Err(format!("{} commits are there, the head is {head}", commits.len()));
    }
    let mut seqs = head;
    for version in snapshot.versions(SHARED, b"hot") {
        let version = version.map_err(|e| e.to_string())?;
        let name = version.value.map(|value| String::from_utf8_lossy(&value).into_owned());
        let expected = commits.get(&version.seq).map(|written| written.name());
        if version.seq.0 != seqs || name != expected {
            return Err(format!("the shared row at seq {}: {name:?}, not {expected:?}", version.seq));
        }
        seqs -= 1;
    }
    let problems = engine.verify().map_err(|e| e.to_string())?.problems;
    if problems.is_empty() { Ok(head) } else { Err(format!("verify: {problems:?}")) }
}
