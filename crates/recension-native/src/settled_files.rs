//! The folder of settled files and its manifest. A file that the manifest names is complete and durable. The files that
//! it replaces are removed only after the manifest is durable.

use std::ops::Range;
use std::sync::Arc;

use parking_lot::Mutex;

use super::chain::LogPoint;
use super::erased::Erased;
use super::forgotten::Forgotten;
use super::format::{Position, SETTLED_DIR, SETTLED_MANIFEST_FILE, StoreId, file_number, settled_file};
use super::kept_versions::{Held, Retained};
use super::manifest::RunEntry;
use super::removal::Leftover;
use super::run::output::Pace;
use super::settled::{BlockCache, SettledFile, SettledManifest, SettledWriter, read_manifest};
use crate::disk::Disk;
use recension_engine::{EngineError, ErasedKey, Kept, KeyRange, Result, RetentionRule, RetentionRules, Seq, TreeId};

/// The settled part of a store.
pub(super) struct SettledFiles {
    disk: Arc<dyn Disk>,
    id: StoreId,
    pub(super) cache: Arc<BlockCache>,
    /// The contents of the manifest; `None` if there is no manifest yet.
    manifest: Mutex<Option<SettledManifest>>,
    /// The next file's number. It moves with every attempt, so that no number ever means two files.
    next_file: Mutex<u64>,
    /// The horizons and rules of the last merge of all files, if there was one since the store was opened. The manifest
    /// does not tell how far "head only" had come.
    merged_by: Mutex<Option<(Retained, Held)>>,
}

/// The range of a file: its first seq, its last commit, and the point where the log continues.
pub(super) type Span = (Seq, LogPoint);

impl SettledFiles {
    /// Opens the folder as the manifest describes it; its files are newest first. Other files are removed, or left
    /// over.
    pub(super) fn open(
        disk: &Arc<dyn Disk>,
        id: StoreId,
        cache: BlockCache,
        left_over: &mut Vec<Leftover>,
    ) -> Result<(Self, Vec<Arc<SettledFile>>)> {
        let doing = |what| move |e| EngineError::io(what, e);
        let cache = Arc::new(cache);
        // A process may have died between replacing the manifest and syncing its name. The name is synced before
        // anything that the manifest does not need is removed, here or in the log.
        disk.sync_dir(SETTLED_DIR).map_err(doing("syncing the folder settled"))?;
        let manifest = read_manifest(&**disk, id)?;
        let names = disk.list(SETTLED_DIR).map_err(doing("listing the settled files"))?;
        let numbers = || names.iter().filter_map(|name| file_number(name, "rows"));
        if manifest.is_none() && numbers().next().is_some() {
            let what = "the file is missing, and there are settled files";
            return Err(EngineError::damaged(SETTLED_MANIFEST_FILE, 0, what));
        }
        let named = manifest.as_ref().map_or(&[][..], |manifest| &manifest.files);
        let open = |entry: &RunEntry| SettledFile::open(disk, id, *entry, &cache).map(Arc::new);
        let files = named.iter().rev().map(open).collect::<Result<_>>()?;
        let unnamed = numbers().filter(|number| named.iter().all(|file| file.number != *number)).map(settled_file);
        let spools = names
            .iter()
            .filter(|name| name.strip_suffix(".spool").is_some())
            .map(|name| format!("{SETTLED_DIR}/{name}"));
        // They may be large, and new ones get other numbers: nobody waits for their removal.
        left_over.extend(unnamed.map(|name| Leftover::new(disk, name)));
        for name in spools {
            disk.remove(&name).map_err(doing("removing an unused settled file"))?;
        }
        let next_file = manifest.as_ref().map_or(1, |manifest| manifest.next_file);
        let next_file = Mutex::new(numbers().map(|number| number + 1).fold(next_file, u64::max));
        Ok((
            SettledFiles {
                disk: disk.clone(),
                id,
                cache,
                manifest: Mutex::new(manifest),
                next_file,
                merged_by: Mutex::default(),
            },
            files,
        ))
    }

    /// Whether nothing has been given up since the last merge of all files, which end with commit `last`.
    pub(super) fn is_merged(&self, last: Seq, held: Held) -> bool {
        let manifest = self.manifest.lock();
        let merged = |SettledManifest { retained, merged_with, .. }: &SettledManifest| {
            !retained.erased.has_any_through(last)
                && (!retained.gives_up_past() || *merged_with == retained.fingerprint(held))
        };
        manifest.as_ref().is_none_or(merged)
    }

    /// Whether a merge of all files would leave out exactly what the last one did, as far as that is known.
    pub(super) fn is_merged_exactly(&self, held: Held) -> bool {
        let retained = self.retained();
        retained.rules.is_empty() || self.merged_by.lock().as_ref() == Some(&(retained, held))
    }

    /// Given-up history, and the rules.
    pub(super) fn retained(&self) -> Retained {
        self.manifest.lock().as_ref().map_or_else(Retained::default, |manifest| manifest.retained.clone())
    }

    /// Forgotten history.
    pub(super) fn forgotten(&self) -> Forgotten {
        self.manifest.lock().as_ref().map_or_else(Forgotten::default, |manifest| manifest.retained.forgotten.clone())
    }

    /// Erased versions that are still in some file.
    pub(super) fn erased(&self) -> Erased {
        self.manifest.lock().as_ref().map_or_else(Erased::default, |manifest| manifest.retained.erased.clone())
    }

    /// Erases versions, durably.
    pub(super) fn erase(&self, erased: &[ErasedKey]) -> Result<()> {
        self.change(|manifest| manifest.retained.erased.add(erased).map(|()| true))
    }

    /// Notes, durably, that the log continues at `end` behind the newest file. Returns the file with that.
    pub(super) fn move_log(&self, newest: &SettledFile, end: Position) -> Result<Arc<SettledFile>> {
        let entry = RunEntry { end, ..newest.entry };
        self.change(|manifest| {
            let named = manifest.files.last_mut().filter(|named| named.number == entry.number);
            Ok(named.map(|named| *named = entry).is_some())
        })?;
        SettledFile::open(&self.disk, self.id, entry, &self.cache).map(Arc::new)
    }

    /// The standing rules.
    pub(super) fn rules(&self) -> RetentionRules {
        self.manifest.lock().as_ref().map_or_else(RetentionRules::default, |manifest| manifest.retained.rules.clone())
    }

    /// Writes a file, durably, without naming it in the manifest.
    pub(super) fn write(
        &self,
        (first, point): Span,
        keys_max: u64,
        pace: Option<Pace>,
        fill: impl FnOnce(&mut SettledWriter) -> Result<()>,
    ) -> Result<Arc<SettledFile>> {
        {
            // A file without a manifest means that the manifest is lost.
            let mut manifest = self.manifest.lock();
            if manifest.is_none() {
                let none_yet = SettledManifest::default();
                none_yet.write(&*self.disk, self.id)?;
                *manifest = Some(none_yet);
            }
        }
        let number = {
            let mut next_file = self.next_file.lock();
            *next_file += 1;
            *next_file - 1
        };
        let mut writer =
            SettledWriter::create((&self.disk, &self.cache), self.id, number, (first, point.last.seq), keys_max, pace)?;
        fill(&mut writer)?;
        let finished = writer.finish()?;
        let entry = RunEntry {
            number,
            first,
            last: point.last.seq,
            len: finished.len,
            footer_crc: finished.footer_crc,
            end: point.end,
            time: point.last.time,
            chain: point.chain,
        };
        SettledFile::open(&self.disk, self.id, entry, &self.cache).map(Arc::new)
    }

    /// Names `file` in place of the files in `place` (newest first, as readers count them). `merged_with` is the
    /// given-up history, if all files were merged.
    ///
    /// False: nothing was changed, because `may_be` says that the file leaves out what is needed by now.
    pub(super) fn publish(
        &self,
        file: &SettledFile,
        place: Range<usize>,
        (merged_with, held): (Option<&Retained>, Held),
        may_be: impl FnOnce() -> Result<bool>,
    ) -> Result<bool> {
        let mut published = false;
        self.change(|manifest| {
            if !may_be()? {
                return Ok(false);
            }
            published = true;
            manifest.merged_with = merged_with.map_or(manifest.merged_with, |retained| retained.fingerprint(held));
            let count = manifest.files.len();
            manifest.files.splice(count - place.end..count - place.start, [file.entry]);
            if let Some(retained) = merged_with {
                manifest.retained.erased.drop_merged(&retained.erased, file.entry.last);
            }
            Ok(true)
        })?;
        if let Some(retained) = merged_with.filter(|_| published) {
            *self.merged_by.lock() = Some((Retained { erased: Erased::default(), ..retained.clone() }, held));
        }
        Ok(published)
    }

    /// Names the first file of a new store, its forgotten history, and its rules.
    pub(super) fn publish_first(&self, file: &SettledFile, retained: Retained) -> Result<()> {
        self.change(|manifest| {
            manifest.files = vec![file.entry];
            manifest.retained = retained;
            Ok(true)
        })
    }

    /// Forgets the history of a range before `before`, durably. Returns all forgotten history, if it has grown. Here
    /// and below, `kept` is asked within: a moment that it does not have yet is kept by nobody who was told so.
    pub(super) fn forget(
        &self,
        tree: TreeId,
        range: &KeyRange,
        before: Seq,
        kept: impl FnOnce() -> Result<Kept>,
    ) -> Result<Option<Forgotten>> {
        let mut forgotten = None;
        self.change(|manifest| {
            kept()?.for_tree(tree).check(before, manifest.retained.forgotten.horizon(tree, range))?;
            let more = manifest.retained.forgotten.add(tree, range, before)?;
            forgotten = more.then(|| manifest.retained.forgotten.clone());
            Ok(more)
        })?;
        Ok(forgotten)
    }

    /// Sets standing rules, durably.
    pub(super) fn set_rules(&self, rules: &[RetentionRule]) -> Result<()> {
        self.change(|manifest| manifest.retained.rules.set_all(rules))
    }

    /// Forgets history before the horizons of the rules, durably; returns whether it has grown. If too much else has
    /// been forgotten, there may be no room for a horizon, which then stays where it is.
    pub(super) fn move_horizons(
        &self,
        horizons: &[(TreeId, KeyRange, Seq)],
        kept: impl FnOnce() -> Result<Kept>,
    ) -> Result<bool> {
        let mut moved = false;
        self.change(|manifest| {
            let kept = kept()?;
            for (tree, range, before) in horizons {
                let forgotten = &mut manifest.retained.forgotten;
                let before = kept.limit(*before, forgotten.horizon(*tree, range));
                moved |= forgotten.add(*tree, range, before).unwrap_or(false);
            }
            Ok(moved)
        })?;
        Ok(moved)
    }

    fn change(&self, change: impl FnOnce(&mut SettledManifest) -> Result<bool>) -> Result<()> {
        let mut manifest = self.manifest.lock();
        let mut new = manifest.clone().unwrap_or_default();
        if change(&mut new)? {
            new.next_file = *self.next_file.lock();
            new.write(&*self.disk, self.id)?;
            *manifest = Some(new);
        }
        Ok(())
    }
}
