//! The manifest: the runs of the index, and how far they reach. Pure encoding and decoding, and the one way in which
//! the file is replaced.

use std::io::IoSlice;

use super::chain::{Chain, LogPoint};
use super::format::{
    FORMAT_VERSION, FORMAT_VERSION_1, Fields, INDEX_DIR, MANIFEST_FILE, MANIFEST_TEMPORARY, Position, StoreId,
    check_version,
};
use crate::disk::Disk;
use recension_engine::{CommitInfo, EngineError, Result, Seq, Timestamp};

const MAGIC: &[u8; 8] = b"RECMANIF";
/// More runs than any store has. A greater number is damage, and must not allocate memory.
const RUNS_MAX: u32 = 100_000;

/// The manifest's entry of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct RunEntry {
    pub(super) number: u64,
    pub(super) first: Seq,
    pub(super) last: Seq,
    pub(super) len: u64,
    pub(super) footer_crc: u32,
    /// Log position behind its last commit.
    pub(super) end: Position,
    /// Time of its last commit.
    pub(super) time: Timestamp,
    /// The chain value behind its last commit.
    pub(super) chain: Chain,
}

impl RunEntry {
    /// The point of the log behind it.
    pub(super) fn point(&self) -> LogPoint {
        LogPoint { last: CommitInfo { seq: self.last, time: self.time }, end: self.end, chain: self.chain }
    }
}

/// The contents of `index/MANIFEST`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Manifest {
    /// Oldest first, each starting right after the one before.
    pub(super) runs: Vec<RunEntry>,
    pub(super) next_run: u64,
    /// The commit behind which the runs begin: earlier commits are settled. It is not in the file.
    pub(super) after: Seq,
}

impl Manifest {
    pub(super) fn encode(&self, id: StoreId) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(FORMAT_VERSION.to_le_bytes());
        bytes.extend(id.0);
        encode_runs(&self.runs, &mut bytes);
        bytes.extend(self.next_run.to_le_bytes());
        bytes.extend(crc32c::crc32c(&bytes).to_le_bytes());
        bytes
    }

    /// Reads and checks a manifest of store `id`.
    pub(super) fn decode(bytes: &[u8], id: StoreId) -> Result<Self> {
        let damaged = |offset: usize, what: &str| EngineError::damaged(MANIFEST_FILE, offset as u64, what);
        let Some((body, stored)) = bytes.split_last_chunk::<4>() else {
            return Err(damaged(bytes.len(), "the file is cut off"));
        };
        if !body.starts_with(MAGIC) {
            return Err(damaged(0, "this is not a manifest"));
        }
        if crc32c::crc32c(body) != u32::from_le_bytes(*stored) {
            return Err(damaged(body.len(), "the checksum does not match"));
        }
        let mut fields = Fields(&body[MAGIC.len()..]);
        let cut_off = || damaged(bytes.len(), "the file is cut off");
        let version = fields.u32().ok_or_else(cut_off)?;
        check_version(MANIFEST_FILE, version)?;
        if fields.bytes() != Some(id.0) {
            return Err(damaged(12, "the manifest belongs to another store"));
        }
        let runs = decode_runs(&mut fields, (version, id)).map_err(|what| damaged(28, what))?;
        let next_run = fields.u64().ok_or_else(cut_off)?;
        if !fields.0.is_empty() {
            return Err(damaged(body.len() - fields.0.len(), "there is more than a manifest"));
        }
        let after = Seq(runs.first().map_or(0, |run: &RunEntry| run.first.0.saturating_sub(1)));
        Ok(Manifest { runs, next_run, after })
    }

    /// Replaces the manifest on disk by this one, durably. The files that it names must be durable already.
    pub(super) fn write(&self, disk: &dyn Disk, id: StoreId) -> Result<()> {
        replace_file(disk, INDEX_DIR, MANIFEST_TEMPORARY, MANIFEST_FILE, &self.encode(id))
    }
}

/// Appends the number of runs (or settled files), and the entry of each.
pub(super) fn encode_runs(runs: &[RunEntry], bytes: &mut Vec<u8>) {
    bytes.extend((runs.len() as u32).to_le_bytes());
    for run in runs {
        bytes.extend(run.number.to_le_bytes());
        bytes.extend(run.first.0.to_le_bytes());
        bytes.extend(run.last.0.to_le_bytes());
        bytes.extend(run.len.to_le_bytes());
        bytes.extend(run.footer_crc.to_le_bytes());
        bytes.extend([0; 4]);
        bytes.extend(run.end.segment.to_le_bytes());
        bytes.extend(run.end.offset.to_le_bytes());
        bytes.extend(run.time.0.to_le_bytes());
        bytes.extend(run.chain.to_bytes());
    }
}

/// Reads the form that [`encode_runs`] of a version writes. The error is the reason.
pub(super) fn decode_runs(
    fields: &mut Fields<'_>,
    (version, id): (u32, StoreId),
) -> std::result::Result<Vec<RunEntry>, &'static str> {
    let count = fields.u32().ok_or("the file is cut off")?;
    if count > RUNS_MAX {
        return Err("more runs than there can be");
    }
    let mut runs: Vec<RunEntry> = Vec::new();
    for _ in 0..count {
        let run = decode_run(fields, (version, id)).ok_or("the file is cut off")?;
        // Commits before the first run are settled.
        if runs.last().is_some_and(|before| run.first != before.last.next()) || run.last < run.first {
            return Err("the runs do not follow one another");
        }
        runs.push(run);
    }
    Ok(runs)
}

fn decode_run(fields: &mut Fields<'_>, (version, id): (u32, StoreId)) -> Option<RunEntry> {
    let number = fields.u64()?;
    let first = Seq(fields.u64()?);
    let last = Seq(fields.u64()?);
    let len = fields.u64()?;
    let footer_crc = fields.u32()?;
    fields.u32()?;
    let end = Position { segment: fields.u32()?, offset: fields.u32()? };
    let time = Timestamp(fields.u64()?);
    let chain = match version {
        FORMAT_VERSION_1 => Chain::start(id, last),
        _ => Chain::from_bytes(fields.bytes()?),
    };
    Some(RunEntry { number, first, last, len, footer_crc, end, time, chain })
}

/// Writes `bytes` to `temporary`, syncs, renames it to `name` and syncs the directory.
pub(super) fn replace_file(disk: &dyn Disk, dir: &str, temporary: &str, name: &str, bytes: &[u8]) -> Result<()> {
    let replaced = (|| {
        match disk.remove(temporary) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let file = disk.create(temporary)?;
        file.write_at(0, &[IoSlice::new(bytes)])?;
        file.sync()?;
        disk.rename(temporary, name)?;
        disk.sync_dir(dir)
    })();
    replaced.map_err(|e| EngineError::io(format!("writing {name}"), e))
}
