//! `MARK`: how far the log was durable. If a log ends before it, commits are missing, and that must not go unnoticed.
//! Two slots are written in turns, so that a crash tears at most the newer one. docs/format.md has the bytes.

use std::io::{ErrorKind, IoSlice};
use std::sync::Arc;

use super::chain::{Chain, LogPoint};
use super::format::{FORMAT_VERSION, Fields, MARK_FILE, MARK_TEMPORARY, Position, StoreId, check_version};
use super::manifest::replace_file;
use crate::disk::{Disk, DiskFile};
use recension_engine::{CommitInfo, EngineError, Result, Seq, Timestamp};

const MAGIC: &[u8; 8] = b"RECOMARK";
/// Bytes of a slot that are written: a sector.
const SLOT_BYTES: usize = 512;
/// Slots lie in pages of their own, for disks whose sectors are that large.
const SLOT_STEP: usize = 4096;
const FILE_BYTES: usize = 2 * SLOT_STEP;
/// Bytes of a slot that are used, with the checksum last.
const USED_BYTES: usize = 80;

/// The content of a slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Slot {
    /// One more with each mark.
    counter: u64,
    point: LogPoint,
}

impl Slot {
    fn encode(&self, id: StoreId) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(FORMAT_VERSION.to_le_bytes());
        bytes.extend(id.0);
        bytes.extend(self.counter.to_le_bytes());
        bytes.extend(self.point.last.seq.0.to_le_bytes());
        bytes.extend(self.point.last.time.0.to_le_bytes());
        bytes.extend(self.point.end.segment.to_le_bytes());
        bytes.extend(self.point.end.offset.to_le_bytes());
        bytes.extend(self.point.chain.to_bytes());
        bytes.extend(crc32c::crc32c(&bytes).to_le_bytes());
        bytes.resize(SLOT_BYTES, 0);
        bytes
    }

    /// The slot and its store's id; the inner error is the reason for which the slot is invalid. A newer format is an
    /// error.
    fn decode(bytes: &[u8]) -> Result<std::result::Result<(StoreId, Slot), &'static str>> {
        let Some((body, stored)) = bytes.get(..USED_BYTES).and_then(|used| used.split_last_chunk::<4>()) else {
            return Ok(Err("it is cut off"));
        };
        if !body.starts_with(MAGIC) {
            return Ok(Err("it is no mark"));
        }
        if crc32c::crc32c(body) != u32::from_le_bytes(*stored) {
            return Ok(Err("its checksum does not match"));
        }
        let mut fields = Fields(&body[MAGIC.len()..]);
        check_version(MARK_FILE, fields.u32().unwrap_or_default())?;
        Ok(Self::fields(&mut fields).ok_or("it is cut off"))
    }

    fn fields(fields: &mut Fields<'_>) -> Option<(StoreId, Slot)> {
        let id = StoreId(fields.bytes()?);
        let counter = fields.u64()?;
        let last = CommitInfo { seq: Seq(fields.u64()?), time: Timestamp(fields.u64()?) };
        let end = Position { segment: fields.u32()?, offset: fields.u32()? };
        let chain = Chain::from_bytes(fields.bytes()?);
        Some((id, Slot { counter, point: LogPoint { last, end, chain } }))
    }
}

/// The content of the file.
struct Contents {
    newest: Slot,
    /// The reason and the offset, if a slot was torn.
    torn: Option<(u64, &'static str)>,
}

fn read(file: &dyn DiskFile, id: StoreId) -> Result<Contents> {
    let bytes = read_file(file)?;
    let mut whole: Option<Slot> = None;
    let mut torn = None;
    for number in 0..2 {
        let at = number * SLOT_STEP;
        let found = Slot::decode(bytes.get(at..).unwrap_or_default())?;
        match found {
            Ok((other, _)) if other != id => torn = Some((at as u64, "it belongs to another store")),
            Ok((_, slot)) if slot.counter % 2 != number as u64 => torn = Some((at as u64, "the other slot lies here")),
            Ok((_, slot)) => whole = Some(whole.filter(|other| other.counter > slot.counter).unwrap_or(slot)),
            Err(what) => torn = Some((at as u64, what)),
        }
    }
    match (whole, torn) {
        (Some(newest), torn) => Ok(Contents { newest, torn }),
        (None, torn) => {
            let (at, what) = torn.unwrap_or((0, "it is cut off"));
            let what = format!("neither of the two marks is whole: the one here because {what}");
            Err(EngineError::damaged(MARK_FILE, at, what))
        }
    }
}

fn read_file(file: &dyn DiskFile) -> Result<Vec<u8>> {
    let io = |e| EngineError::io(format!("reading {MARK_FILE}"), e);
    let mut bytes = vec![0; file.len().map_err(io)?.min(FILE_BYTES as u64) as usize];
    file.read_at(0, &mut bytes).map_err(io)?;
    Ok(bytes)
}

/// Whether there is a mark with commits, of any store.
pub(super) fn knows_of_commits(disk: &dyn Disk) -> Result<bool> {
    let file = match disk.open(MARK_FILE) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(EngineError::io(format!("opening {MARK_FILE}"), error)),
    };
    let bytes = read_file(&*file)?;
    let slots = bytes.chunks(SLOT_STEP).map(Slot::decode);
    Ok(slots.filter_map(Result::ok).flatten().any(|(_, slot)| slot.point.last.seq > Seq::ZERO))
}

/// Makes a mark, durably; replaces an existing one.
pub(super) fn create(disk: &dyn Disk, id: StoreId, point: LogPoint) -> Result<()> {
    let mut bytes = vec![0; FILE_BYTES];
    for number in 0..2 {
        let slot = Slot { counter: number as u64, point }.encode(id);
        bytes[number * SLOT_STEP..][..SLOT_BYTES].copy_from_slice(&slot);
    }
    replace_file(disk, "", MARK_TEMPORARY, MARK_FILE, &bytes)
}

/// The file, open to be written.
pub(super) struct Mark {
    file: Arc<dyn DiskFile>,
    id: StoreId,
    /// The slot that was written last.
    newest: Slot,
    /// A slot is torn, or may be since a write failed. The next mark is written there.
    torn: bool,
}

impl Mark {
    /// Opens the mark of a store that must have one.
    pub(super) fn open(disk: &dyn Disk, id: StoreId) -> Result<Self> {
        let file = match disk.open(MARK_FILE) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let what = "the file is missing: nothing says how far the log had come";
                return Err(EngineError::damaged(MARK_FILE, 0, what));
            }
            Err(error) => return Err(EngineError::io(format!("opening {MARK_FILE}"), error)),
        };
        let Contents { newest, torn } = read(&*file, id)?;
        Ok(Mark { file, id, newest, torn: torn.is_some() })
    }

    /// The durable point of the log at its last write.
    pub(super) fn point(&self) -> LogPoint {
        self.newest.point
    }

    /// Whether a slot must be rewritten.
    pub(super) fn is_torn(&self) -> bool {
        self.torn
    }

    /// Writes a mark, durably. The log is durable up to this point. The slot that is torn, or for which writing failed,
    /// always comes next.
    pub(super) fn write(&mut self, point: LogPoint) -> Result<()> {
        let slot = Slot { counter: self.newest.counter + 1, point };
        let at = (slot.counter % 2) * SLOT_STEP as u64;
        self.torn = true;
        self.file
            .write_at(at, &[IoSlice::new(&slot.encode(self.id))])
            .and_then(|()| self.file.sync())
            .map_err(|e| EngineError::io(format!("writing {MARK_FILE}"), e))?;
        (self.newest, self.torn) = (slot, false);
        Ok(())
    }

    /// Reads the file again: both slots must have what was written last.
    pub(super) fn check(&self) -> Result<()> {
        let found = read(&*self.file, self.id)?;
        if let Some((at, what)) = found.torn.filter(|_| !self.torn) {
            return Err(EngineError::damaged(MARK_FILE, at, format!("one of the two marks is not whole: {what}")));
        }
        if !self.torn && found.newest != self.newest {
            let (wanted, seq) = (self.newest.point.last.seq, found.newest.point.last.seq);
            let what = format!("expected the mark of commit {wanted}, found that of commit {seq}");
            return Err(EngineError::damaged(MARK_FILE, 0, what));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::FsDisk;

    fn point(seq: u64) -> LogPoint {
        let id = StoreId([7; 16]);
        LogPoint { last: CommitInfo { seq: Seq(seq), time: Timestamp(seq * 10) }, ..LogPoint::start(id) }
    }

    fn disk_with_marks(count: u64) -> (tempfile::TempDir, FsDisk) {
        let dir = tempfile::tempdir().unwrap();
        let disk = FsDisk::new(dir.path());
        create(&disk, StoreId([7; 16]), point(0)).unwrap();
        let mut mark = Mark::open(&disk, StoreId([7; 16])).unwrap();
        (1..=count).for_each(|seq| mark.write(point(seq)).unwrap());
        mark.check().unwrap();
        (dir, disk)
    }

    #[test]
    fn the_newest_mark_counts_and_a_torn_one_leaves_the_one_before() {
        for count in 0..5 {
            let (dir, disk) = disk_with_marks(count);
            let path = dir.path().join(MARK_FILE);
            let whole = std::fs::read(&path).unwrap();
            assert_eq!(Mark::open(&disk, StoreId([7; 16])).unwrap().point(), point(count));
            let newest = ((count + 1) % 2) as usize;
            for byte in 0..USED_BYTES {
                let mut bytes = whole.clone();
                bytes[newest * SLOT_STEP + byte] ^= 0x10;
                std::fs::write(&path, &bytes).unwrap();
                let mut mark = Mark::open(&disk, StoreId([7; 16])).unwrap();
                assert_eq!((mark.point(), mark.is_torn()), (point(count.saturating_sub(1)), true), "byte {byte}");
                // The next mark replaces the torn slot.
                mark.write(point(count)).unwrap();
                mark.check().unwrap();
                assert!(!Mark::open(&disk, StoreId([7; 16])).unwrap().is_torn());
                bytes[(1 - newest) * SLOT_STEP + byte] ^= 1;
                std::fs::write(&path, &bytes).unwrap();
                let refused = Mark::open(&disk, StoreId([7; 16])).err().unwrap();
                assert!(matches!(&refused, EngineError::Damaged { file, .. } if file == MARK_FILE), "{refused}");
            }
        }
    }

    #[test]
    fn a_file_that_is_cut_or_missing_or_anothers_is_damage() {
        let (dir, disk) = disk_with_marks(3);
        let path = dir.path().join(MARK_FILE);
        let whole = std::fs::read(&path).unwrap();
        assert!(Mark::open(&disk, StoreId([8; 16])).is_err());
        for cut in [0, 7, USED_BYTES - 1, SLOT_STEP + USED_BYTES - 1] {
            std::fs::write(&path, &whole[..cut]).unwrap();
            assert_eq!(Mark::open(&disk, StoreId([7; 16])).is_ok(), cut > SLOT_STEP, "cut at {cut}");
        }
        std::fs::remove_file(&path).unwrap();
        assert!(matches!(Mark::open(&disk, StoreId([7; 16])), Err(EngineError::Damaged { .. })));
        assert!(!knows_of_commits(&disk).unwrap());
    }
}
