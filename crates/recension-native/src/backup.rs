//! Backups: a copy of the store's files that is itself a store, made while commits go on; and copies of the store as of
//! a moment. Settled files never change and segments only grow. An earlier backup in the same place therefore only
//! needs what is new. A backup has no index, unless it is to be opened soon: its first open makes one from the log.

use std::io::IoSlice;
use std::path::Path;
use std::sync::Arc;

use super::NativeEngine;
use super::chain::LogPoint;
use super::copying::Copying;
use super::erased::Erased;
use super::format::{
    FORMAT_VERSION, INDEX_DIR, KEYS_TEMPORARY, LOCK_FILE, LOG_DIR, MANIFEST_FILE, MARK_FILE, MARK_TEMPORARY,
    SETTLED_DIR, STORE_FILE, STORE_TEMPORARY, StoreId, UNFINISHED_FILE, UNFINISHED_TEMPORARY, encode_store_file,
    file_number, segment_file,
};
use super::index::State;
use super::index_files::IndexFiles;
use super::kept_versions::{Keep, Retained};
use super::manifest::{Manifest, replace_file};
use super::mark::{self, Mark};
use super::open::{check_no_other_folders, lock, read_identity, read_store_file};
use super::options::NativeOptions;
use super::run::SectionKind;
use super::sealing::backup_target;
use super::settle::{copy_commits, copy_versions};
use super::settled::{BlockKind, SettledManifest};
use super::verify::{check_settled, each_record};
use crate::disk::sealed::{id_of, read_keys};
use crate::disk::{Disk, ReadOnlyDisk};
use recension_engine::BackupReport;
use recension_engine::{CommitInfo, EngineError, Result, RetentionRules, Seq};

/// Bytes that are copied at once.
const COPY_BYTES: u64 = 1 << 20;
/// A consistent set of files: what readers see, and where the log ends.
struct Image {
    state: Arc<State>,
    head: Seq,
    point: LogPoint,
}

impl NativeEngine {
    /// Makes the directory `to` a store that holds everything committed so far. It may hold an earlier backup
    /// of this store, which is brought up to date: settled files that it has already are not copied again.
    ///
    /// A backup is a store: open it, or copy its directory. An interrupted first backup is refused when it is
    /// opened, and says so; run it again.
    ///
    /// # Errors
    /// [`EngineError::NotAStore`] if something else is there; [`EngineError::Diverged`] if the backup has commits that
    /// this store does not have; [`EngineError::Damaged`] if the store is. An earlier backup is as it was then.
    pub fn backup_to(&self, to: &Arc<dyn Disk>) -> Result<BackupReport> {
        self.copy_files(to, false)
    }

    /// The same with the index, so that the backup is opened without reading its log. What is only in memory is written
    /// into runs first.
    ///
    /// # Errors
    /// As [`NativeEngine::backup_to`].
    pub fn backup_indexed_to(&self, to: &Arc<dyn Disk>) -> Result<BackupReport> {
        recension_engine::Engine::checkpoint(self)?;
        self.copy_files(to, true)
    }

    fn copy_files(&self, to: &Arc<dyn Disk>, indexed: bool) -> Result<BackupReport> {
        self.shared.check_poison()?;
        let image = self.image()?;
        let settled = self.shared.settled_point(&image.state);
        each_record(&image.state.segments, self.shared.files.id, settled, image.point, |_| ())?;
        let doing = |what| move |e| EngineError::io(what, e);
        let folder = |e| EngineError::io(format!("creating the backup's folder {}", to.location()), e);
        to.create_dir("").map_err(folder)?;
        // A backup of an encrypted store is encrypted, by the same keys.
        let target = backup_target(self.shared.sealed.as_deref(), to)?;
        let (place, to) = (to, &target.disk);
        let is_new = check_target(&**to, self.shared.files.id)?;
        if is_new {
            // This comes before anything else: without it, the folder would pass for an empty store.
            begin(&**to, self.shared.files.id)?;
        }
        target.write_keys()?;
        let _lock = lock(&**to)?;
        self.check_follows(&**to, place, image.head)?;
        if let Some(keys) = &self.shared.tree_keys {
            keys.write_list(place)?;
        }
        for dir in [LOG_DIR, INDEX_DIR, SETTLED_DIR] {
            to.create_dir(dir).map_err(doing("creating a folder of the backup"))?;
        }
        // It would describe the log as it was.
        remove(&**to, MANIFEST_FILE)?;
        let mut copy = Copy { to, report: BackupReport { head: image.head, ..BackupReport::default() } };
        // First the files that the old manifest needs are completed, then the manifest is replaced, then old files are
        // removed.
        for file in &image.state.settled {
            let is_sound = || check_settled(file);
            copy.file(&file.name(), SETTLED_DIR, file.entry.len, &is_sound, &|at, len| file.read(at, len))?;
        }
        for segment in image.state.segments.list.iter().filter(|segment| segment.number <= image.point.end.segment) {
            let len = if segment.number == image.point.end.segment { image.point.end.offset } else { segment.used() };
            segment.read_ahead();
            let read = |at: u64, len: usize| segment.bytes(at as u32, len).map(std::borrow::Cow::into_owned);
            copy.file(&segment.name(), LOG_DIR, u64::from(len), &|| Ok(()), &read)?;
        }
        let index = if indexed { image.index(&self.shared.files) } else { Manifest::default() };
        for run in image.state.runs.iter().filter(|run| index.runs.contains(&run.entry)) {
            // An open of an earlier backup may have made another one of this number.
            copy.file(&run.name(), INDEX_DIR, run.entry.len, &|| Ok(()), &|at, len| run.bytes(at, len))?;
        }
        for dir in [SETTLED_DIR, LOG_DIR] {
            to.sync_dir(dir).map_err(doing("syncing a folder of the backup"))?;
        }
        let files: Vec<_> = image.state.settled.iter().rev().map(|file| file.entry).collect();
        let next_file = files.iter().map(|file| file.number + 1).max().unwrap_or(1);
        let manifest = SettledManifest { files, next_file, retained: self.retained(&image.state), merged_with: 0 };
        manifest.write(&**to, self.shared.files.id)?;
        mark::create(&**to, self.shared.files.id, image.point)?;
        if !index.runs.is_empty() {
            index.write(&**to, self.shared.files.id)?;
        }
        // An older version may have made it, without a mark.
        if read_store_file(&**to)?.is_none_or(|(version, _)| version != FORMAT_VERSION) {
            replace_file(&**to, "", STORE_TEMPORARY, STORE_FILE, &encode_store_file(self.shared.files.id))?;
        }
        remove(&**to, UNFINISHED_FILE)?;
        copy.remove_others(&image, &manifest, &index)?;
        Ok(copy.report)
    }

    /// Refuses a backup that has commits which this store does not have: the store was put back to an older copy, or
    /// somebody has written into the backup. A backup whose mark cannot be read is made anew from the store.
    fn check_follows(&self, to: &dyn Disk, place: &Arc<dyn Disk>, head: Seq) -> Result<()> {
        let Ok(mark) = Mark::open(to, self.shared.files.id) else { return Ok(()) };
        let point = mark.point();
        let CommitInfo { seq, time } = point.last;
        let follows = seq <= head
            && match self.chain_at(seq)? {
                Some(chain) => chain == point.chain,
                // The time is kept where the chain is not.
                None => self.shared.state.load().times.time_of(&self.shared.state.load(), seq)? == time,
            };
        if follows || seq == Seq::ZERO {
            return Ok(());
        }
        let has = if seq > head { format!("ends with commit {head}") } else { format!("has another commit {seq}") };
        Err(EngineError::Diverged {
            what: format!(
                "the backup in {} has commits up to {seq}, and this store {has}: the store was put back to an older \
                 copy, or the backup was written to. The backup was left as it is; make the new one in another place",
                place.location()
            ),
        })
    }

    /// The history that reads of a state are refused, and the rules of retention.
    fn retained(&self, state: &State) -> Retained {
        let (forgotten, erased) = ((*state.forgotten).clone(), (*state.erased).clone());
        Retained { forgotten, erased, rules: self.shared.settled_files.rules() }
    }

    fn image(&self) -> Result<Image> {
        let leader = self.shared.leader.lock();
        self.shared.check_poison()?;
        let (head, state) = self.shared.head_state();
        // Between groups nothing is in the log's buffer.
        Ok(Image { state, head, point: leader.point() })
    }

    /// Makes a new store in `to` that holds this one as it was right after commit `at`, with the history
    /// up to there. It has an identity of its own. To restore a backup, open it and copy it. A copy that is broken off
    /// is not a store, and the next one into the same place begins anew.
    ///
    /// # Errors
    /// [`EngineError::NotYet`] beyond the head, [`EngineError::Forgotten`] if some history from before `at`
    /// has been given up since, [`EngineError::NotAStore`] if `to` has commits.
    pub fn copy_as_of(&self, to: Arc<dyn Disk>, at: Seq, options: NativeOptions) -> Result<()> {
        let shared = &self.shared;
        let head = shared.head();
        if at > head {
            return Err(EngineError::NotYet { asked: at, head });
        }
        shared.parts_to_runs()?;
        let (_, state) = shared.head_state();
        state.forgotten.check_everything(at)?;
        let time = state.times.time_of(&state, at)?;
        let in_runs: u64 = state.runs.iter().map(|run| run.entries(SectionKind::Current)).sum();
        let settled: u64 = state.settled.iter().map(|file| file.entries(BlockKind::Current)).sum();
        // Newest first. A newer file has nothing of the store as it was then.
        let newer = state.settled.partition_point(|file| file.entry.first > at);
        let files = &state.settled[newer..];
        // The file of collections' keys, if one is named, opens beside the copy once that has the key of the file.
        let copying = Copying::begin(to.clone())?;
        let target = NativeEngine::open_copy(to, &NativeOptions { collection_keys: None, ..options })?;
        let wrapping = shared.sealed.as_ref().and_then(|sealed| sealed.keys().wrapping());
        target.take_tree_keys(wrapping, shared.tree_keys.as_deref())?;
        let retained = self.retained(&state);
        // The rules begin to count with the next settling.
        let left_out = Retained { rules: RetentionRules::default(), ..retained.clone() };
        // Erased versions are left out here. Later commits of the copy have nothing to do with those of this store.
        let retained = Retained { erased: Erased::default(), ..retained };
        target.install(CommitInfo { seq: at, time }, in_runs + settled, retained, |writer| {
            let mut keep = Keep::new(&left_out, true, None, writer);
            copy_versions(&state, &state.runs, files, |full_key, version| match version.seq {
                seq if seq <= at => keep.push(full_key, version),
                oldest if version.cut => Err(EngineError::Forgotten { asked: at, oldest }),
                _ => Ok(()),
            })?;
            keep.finish()?;
            let from = shared.settled_point(&state);
            for file in state.settled.iter().rev() {
                for block in 0..file.commit_blocks() {
                    let commits = file.read_commits(block)?;
                    commits.iter().filter(|commit| commit.seq <= at).try_for_each(|commit| writer.commit(*commit))?;
                }
            }
            copy_commits(&state.segments, from.end, (from.last.seq, at), writer)
        })?;
        target.close()?;
        copying.end()
    }
}

/// Whether two folders hold the same store, or backups of it. Of one that cannot be read nobody knows.
pub fn is_same_store(one: &Path, other: &Path) -> bool {
    let identity = |folder: &Path| {
        let disk = ReadOnlyDisk::new(folder);
        match read_keys(&disk).ok()? {
            Some(keys) => id_of(&keys).ok(),
            None => read_identity(&disk).ok()?.map(|id| id.0),
        }
    };
    identity(one).is_some_and(|id| identity(other) == Some(id))
}

impl Image {
    /// The runs of the index behind the settled part. There are none if one of them is damaged.
    fn index(&self, files: &IndexFiles) -> Manifest {
        if files.is_condemned() {
            return Manifest::default();
        }
        let after = self.state.settled.first().map_or(Seq::ZERO, |file| file.entry.last);
        let runs = self.state.runs.iter().rev().map(|run| run.entry).filter(|run| run.last > after);
        let runs: Vec<_> = runs.collect();
        let next_run = runs.iter().map(|run| run.number + 1).max().unwrap_or(1);
        Manifest { runs, next_run, after }
    }
}

/// Refuses a directory that is something other than a backup of this store; returns whether it is still empty.
fn check_target(to: &dyn Disk, source: StoreId) -> Result<bool> {
    let refuse = |found: String| Err(EngineError::NotAStore { path: to.location(), found });
    let names = to.list("").map_err(|e| EngineError::io(format!("reading {}", to.location()), e))?;
    if let Some(id) = read_identity(to)? {
        return if id == source { Ok(false) } else { refuse("a backup of another store".to_owned()) };
    }
    let ours =
        [UNFINISHED_FILE, UNFINISHED_TEMPORARY, STORE_TEMPORARY, LOCK_FILE, MARK_FILE, MARK_TEMPORARY, KEYS_TEMPORARY];
    let known = |name: &&String| ours.contains(&name.as_str());
    let is_anothers = || match begun_of(to) {
        Err(EngineError::Damaged { .. }) => Ok(true),
        begun => begun.map(|begun| begun.is_some_and(|begun| begun != hex(source))),
    };
    if names.iter().any(|name| name == UNFINISHED_FILE) && is_anothers()? {
        return refuse("an unfinished backup of another store".to_owned());
    }
    match names.iter().find(|name| !known(name)) {
        Some(other) => refuse(format!("the directory holds other files, such as {other}")),
        None => check_no_other_folders(to).map(|()| true),
    }
}

/// Notes in an empty folder that a backup of store `source` is begun there, unless that is noted.
fn begin(to: &dyn Disk, source: StoreId) -> Result<()> {
    let words = format!(
        "{} is the store of which a backup was begun here.\nRun the same backup command again, which goes on with \
         it, or remove this folder.\n",
        hex(source)
    );
    replace_file(to, "", UNFINISHED_TEMPORARY, UNFINISHED_FILE, words.as_bytes())
}

/// Of which store a backup was begun; `None` if a crash has left no whole id. That of another encrypted store cannot be
/// read.
fn begun_of(to: &dyn Disk) -> Result<Option<String>> {
    let io = |e| EngineError::io(format!("reading {UNFINISHED_FILE}"), e);
    let file = to.open(UNFINISHED_FILE).map_err(io)?;
    let mut id = [0; 2 * size_of::<StoreId>()];
    if file.len().map_err(io)? < id.len() as u64 {
        return Ok(None);
    }
    file.read_at(0, &mut id).map_err(io)?;
    Ok(id.iter().all(u8::is_ascii_hexdigit).then(|| id.iter().map(|&digit| char::from(digit)).collect()))
}

fn hex(id: StoreId) -> String {
    use std::fmt::Write;
    id.0.iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

fn remove(disk: &dyn Disk, name: &str) -> Result<()> {
    match disk.remove(name) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(EngineError::io(format!("removing {name}"), error))
        }
        _ => Ok(()),
    }
}

struct Copy<'t> {
    to: &'t Arc<dyn Disk>,
    report: BackupReport,
}

impl Copy<'_> {
    /// Copies a file of `len` bytes, which `is_sound` checks, unless the very same is there. It is compared completely:
    /// what is kept may have been damaged since.
    fn file(
        &mut self,
        name: &str,
        dir: &str,
        len: u64,
        is_sound: &dyn Fn() -> Result<()>,
        read: &dyn Fn(u64, usize) -> Result<Vec<u8>>,
    ) -> Result<()> {
        if self.is_there(name, len, read)? {
            self.report.bytes_kept += len;
            return Ok(());
        }
        is_sound()?;
        // An open removes files of this kind.
        let temporary = format!("{name}.spool");
        let io = |e| EngineError::io(format!("writing {name} of the backup"), e);
        remove(&**self.to, &temporary)?;
        let file = self.to.create(&temporary).map_err(io)?;
        for at in (0..len).step_by(COPY_BYTES as usize) {
            let bytes = read(at, COPY_BYTES.min(len - at) as usize)?;
            file.write_at(at, &[IoSlice::new(&bytes)]).map_err(io)?;
        }
        file.sync().map_err(io)?;
        self.to.rename(&temporary, name).and_then(|()| self.to.sync_dir(dir)).map_err(io)?;
        self.report.files_copied += 1;
        self.report.bytes_copied += len;
        Ok(())
    }

    fn is_there(&self, name: &str, len: u64, read: &dyn Fn(u64, usize) -> Result<Vec<u8>>) -> Result<bool> {
        let Ok(file) = self.to.open(name) else { return Ok(false) };
        if !file.len().is_ok_and(|found| found == len) {
            return Ok(false);
        }
        let mut found = Vec::new();
        for at in (0..len).step_by(COPY_BYTES as usize) {
            found.resize(COPY_BYTES.min(len - at) as usize, 0);
            if file.read_at(at, &mut found).is_err() || found != read(at, found.len())? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Removes the settled files and segments of an earlier backup that this one does not need. All index runs but its
    /// own, which an open of the backup has made, are removed too: they may hold keys that have been erased since.
    fn remove_others(&self, image: &Image, manifest: &SettledManifest, index: &Manifest) -> Result<()> {
        let list = |dir: &str| self.to.list(dir).map_err(|e| EngineError::io("listing the backup", e));
        for name in list(SETTLED_DIR)? {
            let number = file_number(&name, "rows");
            if number.is_some_and(|number| manifest.files.iter().all(|file| file.number != number)) {
                remove(&**self.to, &format!("{SETTLED_DIR}/{name}"))?;
            }
        }
        let is_ours = |name: &str| match file_number(name, "run") {
            Some(number) => index.runs.iter().any(|run| run.number == number),
            None => !index.runs.is_empty() && MANIFEST_FILE.ends_with(name),
        };
        for name in list(INDEX_DIR)?.into_iter().filter(|name| !is_ours(name)) {
            remove(&**self.to, &format!("{INDEX_DIR}/{name}"))?;
        }
        for name in list(LOG_DIR)? {
            let number = file_number(&name, "log").and_then(|number| u32::try_from(number).ok());
            let wanted = |number: u32| number <= image.point.end.segment && image.state.segments.get(number).is_ok();
            if number.is_some_and(|number| !wanted(number)) {
                remove(&**self.to, &segment_file(number.unwrap_or_default()))?;
            }
        }
        Ok(())
    }
}
