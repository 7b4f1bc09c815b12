//! Obsolete files and parts of the index. They are kept while readers look at them, and then dropped by a thread that
//! nobody waits for. Freeing a file of many megabytes, or a part of the index, takes milliseconds, which no commit
//! should pay. If an open snapshot uses one, it is dropped with the snapshot.
//!
//! A file's name is removed first. Its space is then freed in steps, with pauses while commits are made. A file system
//! frees the blocks of a file in one transaction, and the sync of a commit has to wait for it. (64 MiB at once took
//! 90-105 ms where freed blocks are discarded, steps of 1 MiB mostly 3-5 ms;
//! docs/decisions/0014-give-back-in-steps.md.)

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use parking_lot::Mutex;

use super::mem::MemoryIndex;
use super::run::Run;
use super::run::output::Pace;
use super::segment::Segment;
use super::settled::SettledFile;
use crate::disk::{Disk, DiskFile};

/// A commit looks at the state for microseconds, and never while it waits for the disk.
const LOOKS: usize = 4;
const BETWEEN_LOOKS: Duration = Duration::from_millis(1);
/// Bytes of a file that are freed at once, and the pause after them.
const STEP_BYTES: u64 = 1 << 20;
const BETWEEN_STEPS: Duration = Duration::from_millis(2);

/// The obsolete files and parts; the module's text describes them.
#[derive(Default)]
pub(super) struct Doomed(Mutex<Vec<Remains>>);

/// An obsolete file or part.
pub(super) enum Remains {
    Memory(Arc<MemoryIndex>),
    Run(Arc<Run>),
    Segment(Arc<Segment>),
    Settled(Arc<SettledFile>),
    /// A file that a dead process has left: no file refers to it, and its name will not be used again.
    Unused(Leftover),
}

/// A file that is removed when this value is dropped, once it is certain that the store opens.
pub(super) struct Leftover {
    disk: Arc<dyn Disk>,
    name: String,
    obsolete: bool,
}

impl Leftover {
    pub(super) fn new(disk: &Arc<dyn Disk>, name: String) -> Self {
        Leftover { disk: disk.clone(), name, obsolete: false }
    }
}

impl Drop for Leftover {
    fn drop(&mut self) {
        if self.obsolete {
            // A file that stays is found again at the next open.
            let _ = self.disk.remove(&self.name);
        }
    }
}

impl Remains {
    fn is_the_last(&self) -> bool {
        let others = match self {
            Remains::Memory(part) => Arc::strong_count(part),
            Remains::Run(run) => Arc::strong_count(run),
            Remains::Segment(segment) => Arc::strong_count(segment),
            Remains::Settled(file) => Arc::strong_count(file),
            Remains::Unused(_) => 1,
        };
        others == 1
    }

    /// The leader and readers often share their view of a segment, and both are done with it.
    fn is(&self, other: &Remains) -> bool {
        matches!((self, other), (Remains::Segment(a), Remains::Segment(b)) if Arc::ptr_eq(a, b))
    }

    /// The file, whose space is freed after its name has been removed.
    fn file(&self) -> Option<Nameless> {
        let (file, viewers) = match self {
            Remains::Memory(_) => return None,
            Remains::Run(run) => (run.reopen().ok()?, None),
            Remains::Segment(segment) => (segment.file().ok()?, Some(segment.viewers())),
            Remains::Settled(file) => (file.file().clone(), None),
            Remains::Unused(Leftover { disk, name, .. }) => (disk.open(name).ok()?, None),
        };
        Some(Nameless { file, viewers })
    }
}

/// A file whose name is removed.
struct Nameless {
    file: Arc<dyn DiskFile>,
    /// It is shared with every reader that may look into the file; `None` if there was one reader only.
    viewers: Option<Arc<dyn Send + Sync>>,
}

/// Frees the space of a file that has no name and no readers. If that fails, the rest is freed when the file is closed.
fn give_back(file: &dyn DiskFile, pace: &Pace) {
    let Ok(mut len) = file.len() else { return };
    let mut head = pace.head.load(Ordering::Relaxed);
    while len > STEP_BYTES && !pace.stop.load(Ordering::Acquire) {
        len -= STEP_BYTES;
        if file.set_len(len).is_err() {
            return;
        }
        let now = pace.head.load(Ordering::Relaxed);
        if std::mem::replace(&mut head, now) != now {
            std::thread::sleep(BETWEEN_STEPS);
        }
    }
}

impl Doomed {
    /// Begins with the files that opening the store has found.
    pub(super) fn new(left_over: Vec<Leftover>) -> Self {
        let unused = left_over.into_iter().map(|mut file| {
            file.obsolete = true;
            Remains::Unused(file)
        });
        Doomed(Mutex::new(unused.collect()))
    }

    /// Marks as obsolete, and keeps until [`Doomed::bury`].
    pub(super) fn add(&self, remains: Remains) {
        match &remains {
            Remains::Memory(_) | Remains::Unused(_) => {}
            Remains::Run(run) => run.make_obsolete(),
            Remains::Segment(segment) => segment.make_obsolete(),
            Remains::Settled(file) => file.make_obsolete(),
        }
        let mut all = self.0.lock();
        if !all.iter().any(|known| known.is(&remains)) {
            all.push(remains);
        }
    }

    /// Drops those of `mine` that nobody else uses. With a pace, it waits shortly for commits that are just looking at
    /// them, and pauses for commits under way.
    pub(super) fn bury(&self, mine: impl Fn(&Remains) -> bool, pace: Option<&Pace>) {
        let mut remains: Vec<_> = {
            let mut all = self.0.lock();
            let (mine, others) = all.drain(..).partition(mine);
            *all = others;
            mine
        };
        let mut nameless = Vec::new();
        for look in 0..LOOKS {
            let (last, shared): (Vec<_>, Vec<_>) = remains.into_iter().partition(Remains::is_the_last);
            nameless.extend(last.iter().filter(|_| pace.is_some()).filter_map(Remains::file));
            drop(last);
            remains = shared;
            if remains.is_empty() || pace.is_none() || look + 1 == LOOKS {
                break;
            }
            std::thread::sleep(BETWEEN_LOOKS);
        }
        drop(remains);
        while let (Some(pace), Some(Nameless { file, viewers })) = (pace, nameless.pop()) {
            // A segment has one view while it is written and another when it is sealed. The last of them is not shared.
            if viewers.is_none_or(|viewers| Arc::strong_count(&viewers) == 1) {
                give_back(&*file, pace);
            }
        }
    }
}
