//! `settled/MANIFEST`: which settled files there are, where the log goes on, and what has been forgotten.
//! It is part of the database, unlike the index's.

use super::super::forgotten::Forgotten;
use super::super::format::{
    FORMAT_VERSION, Fields, SETTLED_DIR, SETTLED_MANIFEST_FILE, SETTLED_MANIFEST_TEMPORARY, StoreId, check_version,
};
use super::super::manifest::{RunEntry, decode_runs, encode_runs, replace_file};
use crate::disk::Disk;
use crate::engine::{EngineError, Result, Seq};

const MAGIC: &[u8; 8] = b"RECSETTL";
/// A larger manifest is damage, not a wish for memory.
const MANIFEST_BYTES_MAX: u64 = 256 << 20;

/// The contents of `settled/MANIFEST`.
#[derive(Clone, PartialEq, Debug, Default)]
pub(in super::super) struct SettledManifest {
    /// Oldest first, each starting right after the one before.
    pub(in super::super) files: Vec<RunEntry>,
    pub(in super::super) next_file: u64,
    pub(in super::super) forgotten: Forgotten,
    /// The fingerprint of what had been forgotten when all files were merged last.
    pub(in super::super) merged_with: u64,
}

impl SettledManifest {
    pub(in super::super) fn encode(&self, id: StoreId) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(FORMAT_VERSION.to_le_bytes());
        bytes.extend(id.0);
        encode_runs(&self.files, &mut bytes);
        bytes.extend(self.next_file.to_le_bytes());
        self.forgotten.encode(&mut bytes);
        bytes.extend(self.merged_with.to_le_bytes());
        bytes.extend(crc32c::crc32c(&bytes).to_le_bytes());
        bytes
    }

    /// Reads and checks a manifest of store `id`.
    pub(in super::super) fn decode(bytes: &[u8], id: StoreId) -> Result<Self> {
        let damaged = |offset: usize, what: &str| EngineError::damaged(SETTLED_MANIFEST_FILE, offset as u64, what);
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
        check_version(SETTLED_MANIFEST_FILE, fields.u32().ok_or_else(cut_off)?)?;
        if fields.bytes() != Some(id.0) {
            return Err(damaged(12, "the manifest belongs to another store"));
        }
        let files = decode_runs(&mut fields).map_err(|what| damaged(28, what))?;
        if files.first().is_some_and(|file| file.first != Seq(1)) {
            return Err(damaged(28, "the files do not begin with the first commit"));
        }
        let next_file = fields.u64().ok_or_else(cut_off)?;
        let forgotten = Forgotten::decode(&mut fields).ok_or_else(cut_off)?;
        let merged_with = fields.u64().ok_or_else(cut_off)?;
        if !fields.0.is_empty() {
            return Err(damaged(body.len() - fields.0.len(), "there is more than a manifest"));
        }
        Ok(SettledManifest { files, next_file, forgotten, merged_with })
    }

    /// Puts this manifest in place of the one on disk, durably. What it names must be durable already.
    pub(in super::super) fn write(&self, disk: &dyn Disk, id: StoreId) -> Result<()> {
        replace_file(disk, SETTLED_DIR, SETTLED_MANIFEST_TEMPORARY, SETTLED_MANIFEST_FILE, &self.encode(id))
    }
}

/// The manifest of a store; `None` where there is none.
pub(in super::super) fn read_manifest(disk: &dyn Disk, id: StoreId) -> Result<Option<SettledManifest>> {
    let io = |e| EngineError::io(format!("reading {SETTLED_MANIFEST_FILE}"), e);
    let file = match disk.open(SETTLED_MANIFEST_FILE) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io(error)),
    };
    let mut bytes = vec![0; file.len().map_err(io)?.min(MANIFEST_BYTES_MAX) as usize];
    file.read_at(0, &mut bytes).map_err(io)?;
    SettledManifest::decode(&bytes, id).map(Some)
}
