//! The smallest durable engine: one file of records, replayed into the memory engine. Its purpose is to test the tests:
//! each [`Slip`] plants a fault that real engines have had, and the sweeps must find it.

use std::io::IoSlice;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use recension::disk::{Disk, DiskFile, DiskLock};
use recension::engine::{
    Batch, Clock, CommitInfo, Durability, Engine, EngineError, ManualClock, MemoryEngine, Result, Seq, Snapshot, Stats,
    Timestamp, TreeId, VerifyReport,
};

/// A fault planted on purpose.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Slip {
    /// No commit is synced.
    NoSync,
    /// The log's name is not synced after its creation.
    NoDirectorySync,
    /// Records are taken without a check of their checksums.
    NoChecksum,
    /// A torn tail is overwritten instead of cut off first.
    NoCut,
    /// After a failed write the store goes on as if nothing had happened.
    NoPoison,
    /// Replay ends at damage without an error, and cuts the rest.
    QuietDamage,
    /// Each row of a commit is written as a record of its own.
    HalfCommits,
    /// The contents of the page cache at an open are taken for durable after a sync. They are not if an earlier sync of
    /// them failed.
    TrustCache,
    /// After reopening, sequence numbers start one too low.
    Misnumbered,
}

const LOG: &str = "log/toy";
const HEADER: usize = 32;

/// The engine.
pub struct ToyEngine {
    state: Mutex<State>,
    memory: MemoryEngine,
    replayed: Arc<ManualClock>,
    clock: Arc<dyn Clock>,
    slip: Option<Slip>,
    _lock: DiskLock,
}

struct State {
    file: Arc<dyn DiskFile>,
    end: u64,
    /// Commits up to this one have been synced.
    synced: Seq,
    poisoned: bool,
}

impl ToyEngine {
    /// Opens the store on `disk`, and makes it if there is none.
    pub fn open(disk: &Arc<dyn Disk>, clock: Arc<dyn Clock>, slip: Option<Slip>) -> Result<ToyEngine> {
        let io = |e| EngineError::io("opening the toy", e);
        disk.create_dir("log").map_err(io)?;
        let held = disk.lock("lock").map_err(io)?;
        let lock = held.map_err(|holder| EngineError::Locked { store: disk.location(), holder })?;
        let file = match disk.open(LOG) {
            Ok(file) => file,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => disk.create(LOG).map_err(io)?,
            Err(e) => return Err(io(e)),
        };
        if slip != Some(Slip::NoDirectorySync) {
            disk.sync_dir("log").map_err(io)?;
        }
        let mut bytes = vec![0; file.len().map_err(io)? as usize];
        file.read_at(0, &mut bytes).map_err(io)?;
        let replayed = Arc::new(ManualClock::default());
        let memory = MemoryEngine::with_clock(replayed.clone());
        let mut end = 0;
        while let Some((time, batch, len)) = decode(&bytes[end..], memory.head().next(), slip) {
            replayed.set(time);
            memory.commit(batch)?;
            end += len;
        }
        if slip != Some(Slip::QuietDamage)
            && (end + 1..bytes.len()).any(|at| decode_any(&bytes[at..]).is_some_and(|durable| durable > memory.head()))
        {
            return Err(EngineError::damaged(LOG, end as u64, "a commit that was synced cannot be read"));
        }
        if slip != Some(Slip::NoCut) {
            file.set_len(end as u64).map_err(io)?;
        }
        // A failed sync before the last close has marked these bytes as clean: writes them again, so that they are
        // dirty.
        if slip != Some(Slip::TrustCache) {
            file.write_at(0, &[IoSlice::new(&bytes[..end])]).map_err(io)?;
        }
        file.sync().map_err(io)?;
        let state = Mutex::new(State { file, end: end as u64, synced: memory.head(), poisoned: false });
        Ok(ToyEngine { state, memory, replayed, clock, slip, _lock: lock })
    }
}

/// A record: length, checksum, seq, time, the seq that had been synced before it, rows. The checksum's seed is the
/// length.
fn encode(seq: Seq, time: Timestamp, synced: Seq, batch: &Batch) -> Vec<u8> {
    let mut body = Vec::new();
    for row in batch.rows() {
        body.extend(row.tree.0.to_le_bytes());
        body.extend((row.key.len() as u32).to_le_bytes());
        body.extend(row.value.map_or(u32::MAX, |value| value.len() as u32).to_le_bytes());
        body.extend(row.key);
        body.extend(row.value.unwrap_or_default());
    }
    let mut record = Vec::new();
    record.extend(((HEADER + body.len()) as u32).to_le_bytes());
    record.extend([0; 4]);
    record.extend(seq.0.to_le_bytes());
    record.extend(time.0.to_le_bytes());
    record.extend(synced.0.to_le_bytes());
    record.extend(body);
    let crc = crc32c::crc32c_append(record.len() as u32, &record[8..]);
    record[4..8].copy_from_slice(&crc.to_le_bytes());
    record
}

fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at + N)?.try_into().ok()
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    number(bytes, at).map(u32::from_le_bytes)
}

fn decode(bytes: &[u8], seq: Seq, slip: Option<Slip>) -> Option<(Timestamp, Batch, usize)> {
    let len = u32_at(bytes, 0)? as usize;
    let record = bytes.get(..len).filter(|record| record.len() > HEADER)?;
    let crc = crc32c::crc32c_append(len as u32, &record[8..]);
    let checked = slip != Some(Slip::NoChecksum);
    if checked && (u32_at(record, 4)? != crc || u64::from_le_bytes(number(record, 8)?) != seq.0) {
        return None;
    }
    let mut batch = Batch::new();
    let mut at = HEADER;
    while at < len {
        let tree = TreeId(u32_at(record, at)?);
        let key_len = u32_at(record, at + 4)? as usize;
        let value_len = u32_at(record, at + 8)?;
        let key = record.get(at + 12..at + 12 + key_len)?;
        at += 12 + key_len;
        if value_len == u32::MAX {
            batch.delete(tree, key);
        } else {
            batch.put(tree, key, record.get(at..at + value_len as usize)?);
            at += value_len as usize;
        }
    }
    Some((Timestamp(u64::from_le_bytes(number(record, 16)?)), batch, len))
}

/// The seq up to which everything had been synced before a whole record of any kind.
fn decode_any(bytes: &[u8]) -> Option<Seq> {
    let seq = Seq(u64::from_le_bytes(number(bytes, 8)?));
    decode(bytes, seq, None)?;
    Some(Seq(u64::from_le_bytes(number(bytes, 24)?)))
}

impl Engine for ToyEngine {
    fn head(&self) -> Seq {
        self.memory.head()
    }

    fn snapshot_at(&self, seq: Seq) -> Result<Arc<dyn Snapshot>> {
        self.memory.snapshot_at(seq)
    }

    fn commit_at(&self, time: Timestamp) -> Result<Option<CommitInfo>> {
        self.memory.commit_at(time)
    }

    fn check_writes(&self) -> Result<()> {
        if self.state.lock().poisoned {
            return Err(EngineError::Poisoned { cause: "an earlier write".to_owned() });
        }
        Ok(())
    }

    fn commit(&self, mut batch: Batch) -> Result<CommitInfo> {
        self.check_writes()?;
        let mut state = self.state.lock();
        let head = self.memory.head();
        let misnumbered = self.slip == Some(Slip::Misnumbered) && state.end > 0;
        let seq = if misnumbered { Seq(head.0.max(1)) } else { head.next() };
        let current = self.memory.snapshot()?;
        batch.bind(head.next(), |tree, key| Ok(current.get(tree, key)?.map(|value| value.to_vec())))?;
        let time = self.clock.now().max(current.time()?);
        let durable = batch.asked_durability().unwrap_or_default() == Durability::Disk;
        let mut records = vec![encode(seq, time, state.synced, &batch)];
        if self.slip == Some(Slip::HalfCommits) {
            let single = |row: recension::engine::BatchRow<'_>| {
                let mut part = Batch::new();
                match row.value {
                    Some(value) => part.put(row.tree, row.key, value),
                    None => part.delete(row.tree, row.key),
                };
                encode(seq, time, state.synced, &part)
            };
            records = batch.rows().map(single).collect();
        }
        for record in records {
            let mut done = state.file.write_at(state.end, &[IoSlice::new(&record)]);
            if durable && self.slip != Some(Slip::NoSync) {
                done = done.and_then(|()| state.file.sync());
            }
            if let Err(error) = done
                && self.slip != Some(Slip::NoPoison)
            {
                state.poisoned = true;
                return Err(EngineError::io("writing the toy's log", error));
            }
            state.end += record.len() as u64;
        }
        if durable {
            state.synced = seq;
        }
        self.replayed.set(time);
        self.memory.commit(batch)
    }

    fn wait_beyond(&self, seq: Seq, timeout: Duration) -> Seq {
        self.memory.wait_beyond(seq, timeout)
    }

    fn wake_beyond(&self, seq: Seq, waker: &std::task::Waker) -> bool {
        self.memory.wake_beyond(seq, waker)
    }

    fn checkpoint(&self) -> Result<()> {
        let mut state = self.state.lock();
        if state.poisoned {
            return Err(EngineError::Poisoned { cause: "an earlier write".to_owned() });
        }
        let synced = state.file.sync();
        state.poisoned = synced.is_err();
        synced.map_err(|e| EngineError::io("syncing the toy's log", e))
    }

    fn verify(&self) -> Result<VerifyReport> {
        self.memory.verify()
    }

    fn stats(&self) -> Result<Stats> {
        self.memory.stats()
    }
}
