//! Writes index runs: from a part in memory, and from several runs. The manifest names a new run only
//! when the run, and the log that it points into, are durable.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use super::chain::LogPoint;
use super::entry::IndexEntry;
use super::entry::compare_versions;
use super::format::{INDEX_DIR, MANIFEST_FILE, StoreId, file_number, run_file};
use super::manifest::{Manifest, RunEntry};
use super::mem::MemoryIndex;
use super::removal::Leftover;
use super::run::{Run, RunCursor, RunWriter, SectionKind};
use crate::disk::Disk;
use recension_engine::{EngineError, Result, Seq};

/// Runs below this size count as equally small.
const SMALLEST_TIER_BYTES: u64 = 64 << 10;

/// The folder of runs.
pub(super) struct IndexFiles {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) id: StoreId,
    manifest: Mutex<Manifest>,
    /// A run was found damaged: no manifest is written any more.
    condemned: AtomicBool,
}

impl IndexFiles {
    /// The folder with the runs that `manifest` names; other runs are left over.
    pub(super) fn new(
        disk: Arc<dyn Disk>,
        id: StoreId,
        mut manifest: Manifest,
        left_over: &mut Vec<Leftover>,
    ) -> Result<Self> {
        let doing = |what| move |e| EngineError::io(what, e);
        for name in disk.list(INDEX_DIR).map_err(doing("listing the index"))? {
            if name.strip_suffix(".spool").is_some() {
                disk.remove(&format!("{INDEX_DIR}/{name}")).map_err(doing("removing an unused spool"))?;
            }
            let Some(number) = file_number(&name, "run") else { continue };
            if manifest.runs.iter().all(|run| run.number != number) {
                // It is removed when there is time: no new run may have its name.
                manifest.next_run = manifest.next_run.max(number.saturating_add(1));
                left_over.push(Leftover::new(&disk, run_file(number)));
            }
        }
        Ok(IndexFiles { disk, id, manifest: Mutex::new(manifest), condemned: AtomicBool::new(false) })
    }

    /// Writes a closed part of the index as the newest run. The log is durable up to its last commit.
    pub(super) fn flush(&self, part: &MemoryIndex, point: LogPoint) -> Result<Arc<Run>> {
        let mut manifest = self.manifest.lock();
        let first = manifest.runs.last().map_or(manifest.after, |run| run.last).next();
        let count = manifest.runs.len();
        self.replace(&mut manifest, count..count, (first, point), part.len(), |writer| {
            part.iter().try_for_each(|(full_key, entry)| writer.push(&full_key, entry))
        })
    }

    /// Writes one run in place of several adjacent ones, given newest first.
    pub(super) fn merge(&self, runs: &[Arc<Run>]) -> Result<Arc<Run>> {
        let mut manifest = self.manifest.lock();
        let nothing = || EngineError::damaged(MANIFEST_FILE, 0, "the runs to merge are not in the manifest");
        let (newest, oldest) = (runs.first().ok_or_else(nothing)?.entry, runs.last().ok_or_else(nothing)?.entry);
        let start = manifest.runs.iter().position(|run| *run == oldest).ok_or_else(nothing)?;
        let keys_max = runs.iter().map(|run| run.entries(SectionKind::Current)).sum();
        let span = (oldest.first, newest.point());
        self.replace(&mut manifest, start..start + runs.len(), span, keys_max, |writer| {
            merge_entries(runs, |full_key, entry| writer.push(full_key, entry))
        })
    }

    /// Drops the runs up to `last`, which are settled. The manifest on disk follows with the next run.
    pub(super) fn drop_through(&self, last: Seq) {
        let mut manifest = self.manifest.lock();
        manifest.runs.retain(|run| run.last > last);
        manifest.after = last;
    }

    /// Writes a run in place of the runs at `place` of the manifest.
    fn replace(
        &self,
        manifest: &mut Manifest,
        place: std::ops::Range<usize>,
        (first, point): (Seq, LogPoint),
        keys_max: u64,
        fill: impl FnOnce(&mut RunWriter) -> Result<()>,
    ) -> Result<Arc<Run>> {
        let number = manifest.next_run;
        // The number moves with every attempt, so that no number ever means two files.
        manifest.next_run += 1;
        let written = self.write((first, point), number, keys_max, fill);
        let (entry, run) = written.inspect_err(|_| {
            // A file that stays is found again at the next open.
            let _ = self.disk.remove(&run_file(number));
        })?;
        let mut new = manifest.clone();
        new.runs.splice(place, [entry]);
        if !self.is_condemned() {
            new.write(&*self.disk, self.id)?;
        }
        *manifest = new;
        Ok(run)
    }

    /// Writes run `number`, durably, without naming it in the manifest.
    fn write(
        &self,
        (first, point): (Seq, LogPoint),
        number: u64,
        keys_max: u64,
        fill: impl FnOnce(&mut RunWriter) -> Result<()>,
    ) -> Result<(RunEntry, Arc<Run>)> {
        let mut writer = RunWriter::create(&self.disk, self.id, number, (first, point.last.seq, point.end), keys_max)?;
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
        let run = Run::open(&self.disk, self.id, entry)?;
        Ok((entry, Arc::new(run)))
    }

    pub(super) fn is_condemned(&self) -> bool {
        self.condemned.load(Ordering::Acquire)
    }

    /// Removes the manifest, so that the next open rebuilds the index from the log.
    pub(super) fn condemn(&self) {
        self.condemned.store(true, Ordering::Release);
        let _still = self.manifest.lock();
        let _ = self.disk.remove(MANIFEST_FILE).and_then(|()| self.disk.sync_dir(INDEX_DIR));
    }
}

/// Gives every entry in order: by key, newest version first. The runs have no entry in common.
fn merge_entries(runs: &[Arc<Run>], mut each: impl FnMut(&[u8], IndexEntry) -> Result<()>) -> Result<()> {
    struct Input<'r> {
        cursor: RunCursor<'r>,
        key: Vec<u8>,
        entry: IndexEntry,
    }
    let mut inputs = Vec::new();
    for run in runs {
        for kind in [SectionKind::Current, SectionKind::Past] {
            let mut cursor = RunCursor::at_start(run, kind);
            let mut key = Vec::new();
            if let Some(entry) = cursor.next(&mut key)? {
                inputs.push(Input { cursor, key, entry });
            }
        }
    }
    while let Some(first) = (0..inputs.len())
        .min_by(|&a, &b| compare_versions((&inputs[a].key, inputs[a].entry.seq), (&inputs[b].key, inputs[b].entry.seq)))
    {
        let input = &mut inputs[first];
        each(&input.key, input.entry)?;
        match input.cursor.next(&mut input.key)? {
            Some(entry) => input.entry = entry,
            None => drop(inputs.swap_remove(first)),
        }
    }
    Ok(())
}

/// The adjacent runs (newest first) to merge, if any: `fan_in` or more of one tier of sizes. An older run counts as at
/// least as large as a newer one. No small run is therefore left behind, and the number of runs stays below `fan_in`
/// per tier.
pub(super) fn runs_to_merge(lengths: &[u64], fan_in: usize) -> Option<std::ops::Range<usize>> {
    let fan_in = fan_in.max(2);
    let mut tier = 0;
    let mut start = 0;
    for (index, &len) in lengths.iter().enumerate() {
        let own_tier = (len / SMALLEST_TIER_BYTES).max(1).ilog(fan_in as u64);
        if own_tier > tier {
            if index - start >= fan_in {
                return Some(start..index);
            }
            tier = own_tier;
            start = index;
        }
    }
    (lengths.len() - start >= fan_in).then_some(start..lengths.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_one_tier_are_merged_when_there_are_enough() {
        let kib = 1 << 10;
        assert_eq!(runs_to_merge(&[kib, kib, kib], 4), None);
        assert_eq!(runs_to_merge(&[kib, kib, kib, kib], 4), Some(0..4));
        assert_eq!(runs_to_merge(&[kib, kib, 9000 * kib, kib], 4), None);
        assert_eq!(runs_to_merge(&[kib, 300 * kib, 300 * kib, kib, 300 * kib], 4), Some(1..5));
    }

    #[test]
    fn the_number_of_runs_stays_logarithmic() {
        let mut lengths = Vec::new();
        let mut seed = 1u64;
        for _ in 0..5000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            lengths.insert(0, (seed >> 33) % (1 << 20));
            while let Some(range) = runs_to_merge(&lengths, 4) {
                let merged = lengths[range.clone()].iter().sum();
                lengths.splice(range, [merged]);
            }
            assert!(lengths.len() <= 3 * 10, "{} runs", lengths.len());
        }
    }
}
