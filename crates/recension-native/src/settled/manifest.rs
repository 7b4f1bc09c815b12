//! `settled/MANIFEST`: the settled files, the point where the log continues, forgotten and erased history, and the
//! rules of retention. Unlike the index's manifest, it is part of the database.

use std::num::NonZeroU32;
use std::time::Duration;

use super::super::erased::Erased;
use super::super::forgotten::{Forgotten, decode_range, encode_range};
use super::super::format::{
    FORMAT_VERSION, Fields, SETTLED_DIR, SETTLED_MANIFEST_FILE, SETTLED_MANIFEST_TEMPORARY, StoreId, check_version,
};
use super::super::kept_versions::{Held, Retained};
use super::super::manifest::{RunEntry, decode_runs, encode_runs, replace_file};
use crate::disk::Disk;
use recension_engine::{EngineError, Result, Retention, RetentionRule, RetentionRules, Seq, TreeId};

const MAGIC: &[u8; 8] = b"RECSETTL";
/// Part of the format version of a manifest that names erased keys.
const WITH_ERASED: u32 = 1 << 16;
/// A larger manifest is damage, and must not allocate memory.
const MANIFEST_BYTES_MAX: u64 = 256 << 20;

/// The contents of `settled/MANIFEST`.
#[derive(Clone, PartialEq, Debug, Default)]
pub(in super::super) struct SettledManifest {
    /// Oldest first, each starting right after the one before.
    pub(in super::super) files: Vec<RunEntry>,
    pub(in super::super) next_file: u64,
    pub(in super::super) retained: Retained,
    /// The fingerprint of given-up history, and of the rules, at the last merge of all files.
    pub(in super::super) merged_with: u64,
}

impl SettledManifest {
    pub(in super::super) fn encode(&self, id: StoreId) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        // Software that does not know of erasures would show erased versions.
        let with_erased = if self.retained.erased.is_empty() { 0 } else { WITH_ERASED };
        bytes.extend((FORMAT_VERSION | with_erased).to_le_bytes());
        bytes.extend(id.0);
        encode_runs(&self.files, &mut bytes);
        bytes.extend(self.next_file.to_le_bytes());
        self.retained.forgotten.encode(&mut bytes);
        bytes.extend(self.merged_with.to_le_bytes());
        encode_rules(&self.retained.rules, &mut bytes);
        if with_erased != 0 {
            self.retained.erased.encode(&mut bytes);
        }
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
        let flagged = fields.u32().ok_or_else(cut_off)?;
        let version = flagged & !WITH_ERASED;
        check_version(SETTLED_MANIFEST_FILE, version)?;
        if fields.bytes() != Some(id.0) {
            return Err(damaged(12, "the manifest belongs to another store"));
        }
        let files = decode_runs(&mut fields, (version, id)).map_err(|what| damaged(28, what))?;
        if files.first().is_some_and(|file| file.first != Seq(1)) {
            return Err(damaged(28, "the files do not begin with the first commit"));
        }
        let next_file = fields.u64().ok_or_else(cut_off)?;
        let forgotten = Forgotten::decode(&mut fields).ok_or_else(cut_off)?;
        let merged_with = fields.u64().ok_or_else(cut_off)?;
        // A manifest from before there were rules ends here.
        let rules = match fields.0 {
            [] => RetentionRules::default(),
            _ => decode_rules(&mut fields)
                .ok_or_else(|| damaged(body.len() - fields.0.len(), "the rules of retention do not read"))?,
        };
        let erased = match flagged & WITH_ERASED {
            0 => Erased::default(),
            _ => Erased::decode(&mut fields)
                .ok_or_else(|| damaged(body.len() - fields.0.len(), "the erased keys do not read"))?,
        };
        if !fields.0.is_empty() {
            return Err(damaged(body.len() - fields.0.len(), "there is more than a manifest"));
        }
        Ok(SettledManifest { files, next_file, retained: Retained { forgotten, rules, erased }, merged_with })
    }

    /// Replaces the manifest on disk by this one, durably. The files that it names must be durable already.
    pub(in super::super) fn write(&self, disk: &dyn Disk, id: StoreId) -> Result<()> {
        replace_file(disk, SETTLED_DIR, SETTLED_MANIFEST_TEMPORARY, SETTLED_MANIFEST_FILE, &self.encode(id))
    }
}

impl Retained {
    /// Tells whether a merge of all files would leave out other versions now than the last one did. Horizons that "head
    /// only" moves do not count: they move with every settling, and free little as long as little is new.
    pub(in super::super) fn fingerprint(&self, held: Held) -> u64 {
        let mut bytes = Vec::new();
        self.forgotten.only(|tree, range| !self.rules.is_head_only(tree, range)).encode(&mut bytes);
        encode_rules(&self.rules, &mut bytes);
        bytes.extend(held.iter().flat_map(|seq| seq.0.to_le_bytes()));
        xxhash_rust::xxh3::xxh3_64(&bytes)
    }
}

const VERSIONS: u8 = 1;
const DURATION: u8 = 2;
const HEAD_ONLY: u8 = 3;

fn encode_rules(rules: &RetentionRules, bytes: &mut Vec<u8>) {
    bytes.extend((rules.len() as u32).to_le_bytes());
    for RetentionRule { tree, range, retention } in rules.iter() {
        let (kind, amount) = match retention {
            // It is never among the rules.
            Retention::Everything => continue,
            Retention::Versions(count) => (VERSIONS, u64::from(count.get())),
            Retention::Duration(duration) => (DURATION, u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)),
            Retention::HeadOnly => (HEAD_ONLY, 0),
        };
        bytes.extend(tree.0.to_le_bytes());
        bytes.push(kind);
        bytes.extend(amount.to_le_bytes());
        encode_range(&range, bytes);
    }
}

fn decode_rules(fields: &mut Fields<'_>) -> Option<RetentionRules> {
    let mut rules = RetentionRules::default();
    for _ in 0..fields.u32()? {
        let tree = TreeId(fields.u32()?);
        let (kind, amount) = (fields.bytes::<1>()?, fields.u64()?);
        let retention = match (kind, amount) {
            ([VERSIONS], count) => Retention::Versions(NonZeroU32::new(u32::try_from(count).ok()?)?),
            ([DURATION], micros) => Retention::Duration(Duration::from_micros(micros)),
            ([HEAD_ONLY], 0) => Retention::HeadOnly,
            _ => return None,
        };
        // Too many rules are refused, and so are empty ones.
        rules.set(&RetentionRule { tree, range: decode_range(fields)?, retention }).ok().filter(|&new| new)?;
    }
    Some(rules)
}

/// The manifest of a store; `None` if there is none.
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
