//! The whole content of a simulated disk at one moment: files, names, directories. Copies share as much as they can, so
//! that one can be kept for every call of a run.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Error, ErrorKind, Result};
use std::sync::Arc;

use super::dice::{CrashPolicy, Dice};
use super::file::FileState;
use super::image::Image;
use super::names::{FileId, Names, directory_of};

#[derive(Clone, Debug, Default)]
pub(super) struct World {
    files: BTreeMap<FileId, Arc<FileState>>,
    pub(super) names: Names,
    dirs: BTreeSet<String>,
    next_id: FileId,
}

impl World {
    pub(super) fn create_dir(&mut self, name: &str) {
        // It is durable at once, as in the trait's real implementation.
        for (at, _) in name.match_indices('/') {
            self.dirs.insert(name[..at].to_owned());
        }
        self.dirs.insert(name.to_owned());
    }

    pub(super) fn list(&self, dir: &str) -> Result<Vec<String>> {
        self.dir_exists(dir)?;
        let in_dir = self.names.live.keys().filter(|name| directory_of(name) == dir);
        let mut names: Vec<String> = in_dir.map(|name| name.rsplit('/').next().unwrap_or(name).to_owned()).collect();
        // The order is none that anyone could come to rely on.
        names
            .sort_by_key(|name| name.bytes().fold(7u32, |hash, byte| hash.wrapping_mul(0x0100_0193) ^ u32::from(byte)));
        Ok(names)
    }

    pub(super) fn create(&mut self, call: u64, name: &str) -> Result<FileId> {
        self.dir_exists(directory_of(name))?;
        if self.names.live.contains_key(name) {
            return Err(ErrorKind::AlreadyExists.into());
        }
        self.next_id += 1;
        let id = self.next_id;
        self.files.insert(id, Arc::default());
        self.names.link(call, name, id);
        Ok(id)
    }

    pub(super) fn open(&self, name: &str) -> Result<FileId> {
        self.names.live.get(name).copied().ok_or_else(|| ErrorKind::NotFound.into())
    }

    pub(super) fn rename(&mut self, call: u64, from: &str, to: &str) -> Result<()> {
        if directory_of(from) != directory_of(to) {
            return Err(Error::new(ErrorKind::InvalidInput, "a rename stays within its directory"));
        }
        let id = self.open(from)?;
        self.names.rename(call, from, to, id);
        Ok(())
    }

    pub(super) fn remove(&mut self, call: u64, name: &str) -> Result<()> {
        self.open(name)?;
        self.names.unlink(call, name);
        Ok(())
    }

    pub(super) fn sync_dir(&mut self, dir: &str) -> Result<()> {
        self.dir_exists(dir)?;
        self.names.sync(dir);
        Ok(())
    }

    pub(super) fn live(&self, id: FileId) -> &Image {
        self.files[&id].live()
    }

    pub(super) fn file(&mut self, id: FileId) -> &mut FileState {
        Arc::make_mut(self.files.entry(id).or_default())
    }

    pub(super) fn live_bytes(&self) -> u64 {
        self.names.live.values().map(|id| self.files[id].live().len()).sum()
    }

    /// The disk as a power loss now would leave it.
    pub(super) fn crash(&self, seed: u64, policy: CrashPolicy) -> World {
        let mut first = u64::MAX;
        let mut last = 0;
        let in_files = self.files.values().flat_map(|file| file.pending_calls());
        for call in in_files.chain(self.names.pending_calls()) {
            first = first.min(call);
            last = last.max(call);
        }
        let mut dice = Dice::new(policy, seed, first, last);
        let names = self.names.crash(&mut dice);
        let kept: BTreeSet<_> = names.live.values().copied().collect();
        let mut files = BTreeMap::new();
        for (id, file) in self.files.iter().filter(|(id, _)| kept.contains(id)) {
            let untouched = file.pending_calls().next().is_none();
            files.insert(*id, if untouched { file.clone() } else { Arc::new(file.crash(&mut dice)) });
        }
        World { files, names, dirs: self.dirs.clone(), next_id: self.next_id }
    }

    /// Makes everything durable as it is.
    pub(super) fn settle(&mut self) {
        for file in self.files.values_mut().filter(|file| file.pending_calls().next().is_some()) {
            Arc::make_mut(file).settle();
        }
        self.names.damage(|_| {});
    }

    fn dir_exists(&self, dir: &str) -> Result<()> {
        if dir.is_empty() || self.dirs.contains(dir) { Ok(()) } else { Err(ErrorKind::NotFound.into()) }
    }
}
