//! The content of a file, in 512-byte sectors that copies share. A clone of an image, and a crash clone after every
//! disk call, therefore costs pointers and not bytes. Sectors that were never written are zeros.

use std::collections::BTreeMap;
use std::sync::Arc;

/// Bytes of a sector: a disk writes a sector as one unit.
pub const SECTOR: usize = 512;

pub(super) type Sector = Arc<[u8; SECTOR]>;

/// Bytes of a file.
#[derive(Clone, Default, Debug)]
pub(super) struct Image {
    len: u64,
    sectors: BTreeMap<u64, Sector>,
}

impl Image {
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// Cuts (the rest becomes zeros) or extends.
    pub(super) fn set_len(&mut self, len: u64) {
        if len < self.len {
            self.len = len;
            self.trim();
        }
        self.len = len;
    }

    /// Removes everything after the end.
    pub(super) fn trim(&mut self) {
        let whole = self.len / SECTOR as u64;
        let rest = (self.len % SECTOR as u64) as usize;
        let mut behind = self.sectors.split_off(&whole);
        if rest > 0
            && let Some(mut sector) = behind.remove(&whole)
        {
            Arc::make_mut(&mut sector)[rest..].fill(0);
            self.sectors.insert(whole, sector);
        }
    }

    pub(super) fn sector(&self, index: u64) -> Option<&Sector> {
        self.sectors.get(&index)
    }

    /// Puts a sector, even after the end: see [`Image::trim`].
    pub(super) fn put(&mut self, index: u64, sector: Sector) {
        self.sectors.insert(index, sector);
    }

    /// Writes bytes, and grows to hold them. Returns the changed sectors as they are now.
    pub(super) fn write(&mut self, offset: u64, bytes: &[u8]) -> Vec<(u64, Sector)> {
        let mut touched = Vec::new();
        let mut at = offset;
        let mut rest = bytes;
        while !rest.is_empty() {
            let index = at / SECTOR as u64;
            let start = (at % SECTOR as u64) as usize;
            let part = rest.len().min(SECTOR - start);
            let sector = self.sectors.entry(index).or_insert_with(|| Arc::new([0; SECTOR]));
            Arc::make_mut(sector)[start..start + part].copy_from_slice(&rest[..part]);
            touched.push((index, sector.clone()));
            at += part as u64;
            rest = &rest[part..];
        }
        self.len = self.len.max(at);
        touched
    }

    /// Fills `buffer` from `offset`. Returns false if the file ends before.
    pub(super) fn read(&self, offset: u64, buffer: &mut [u8]) -> bool {
        let Some(end) = offset.checked_add(buffer.len() as u64).filter(|&end| end <= self.len) else {
            return false;
        };
        let mut at = offset;
        let mut rest = buffer;
        while at < end {
            let start = (at % SECTOR as u64) as usize;
            let part = rest.len().min(SECTOR - start);
            let (now, later) = rest.split_at_mut(part);
            match self.sectors.get(&(at / SECTOR as u64)) {
                Some(sector) => now.copy_from_slice(&sector[start..start + part]),
                None => now.fill(0),
            }
            at += part as u64;
            rest = later;
        }
        true
    }

    pub(super) fn to_vec(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.len as usize];
        self.read(0, &mut bytes);
        bytes
    }
}
