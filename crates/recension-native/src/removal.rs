//! What is of no use any more, kept for those who are just looking at it, and then dropped by a thread that nobody
//! waits for: giving back a file of many megabytes, or a part of the index, takes milliseconds, which no commit shall
//! pay. What an open snapshot has is left to it: it goes when the snapshot does.
//!
//! A file's name goes first, and then its space in steps, with pauses while commits are made: a file system frees the
//! blocks of a file in one transaction, with which the sync of a commit has to wait (64 MiB at once took 90-105 ms
//! where freed blocks are discarded, in steps of 1 MiB mostly 3-5; ARCHITECTURE.md has the whole of it).

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

/// A commit looks at the state for microseconds, and at no time while it waits for the disk.
const LOOKS: usize = 4;
const BETWEEN_LOOKS: Duration = Duration::from_millis(1);
/// Bytes of a file that are given back at once, and the pause behind them.
const STEP_BYTES: u64 = 1 << 20;
const BETWEEN_STEPS: Duration = Duration::from_millis(2);

/// See the module.
#[derive(Default)]
pub(super) struct Doomed(Mutex<Vec<Remains>>);

/// Something that is obsolete.
pub(super) enum Remains {
    Memory(Arc<MemoryIndex>),
    Run(Arc<Run>),
    Segment(Arc<Segment>),
    Settled(Arc<SettledFile>),
    /// What a process that died has left: a file that nobody knows, and whose name nobody will use again.
    Unused(Leftover),
}

/// A file that goes when this does, once it is known that the store opens.
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
            // Best effort: a file that stays is found again at the next open.
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

    /// The leader and readers often share what they know of a segment, and both are done with it.
    fn is(&self, other: &Remains) -> bool {
        matches!((self, other), (Remains::Segment(a), Remains::Segment(b)) if Arc::ptr_eq(a, b))
    }

    /// The file, to give its space back when it has lost its name.
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

/// A file whose name is to go.
struct Nameless {
    file: Arc<dyn DiskFile>,
    /// Shared with every reader that may look into the file; none if there was one reader only.
    viewers: Option<Arc<dyn Send + Sync>>,
}

/// Gives back the space of a file without a name, which nobody looks into. Best effort: the rest goes when it is
/// closed.
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
    /// Begins with what was found when the store was opened.
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

    /// Drops those of `mine` that nobody else has. With a pace, commits that are just looking at them are waited for,
    /// shortly, and those that are being made are let past.
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
            // What is known of a segment while it is written and when it is sealed are two: the last has nobody
            // beside it.
            if viewers.is_none_or(|viewers| Arc::strong_count(&viewers) == 1) {
                give_back(&*file, pace);
            }
        }
    }
}
