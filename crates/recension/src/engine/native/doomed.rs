//! What is of no use any more, kept for those who are just looking at it, and then dropped by a thread that nobody waits
//! for: giving back a file of many megabytes, or a part of the index, takes milliseconds, which no commit shall pay.
//! What an open snapshot has is left to it: it goes when the snapshot does.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use super::mem::MemoryIndex;
use super::run::Run;
use super::segment::Segment;
use super::settled::SettledFile;

/// A commit looks at the state for microseconds, and at no time while it waits for the disk.
const LOOKS: usize = 4;
const BETWEEN_LOOKS: Duration = Duration::from_millis(1);

/// See the module.
#[derive(Default)]
pub(super) struct Doomed(Mutex<Vec<Remains>>);

/// Something that is obsolete.
pub(super) enum Remains {
    Memory(Arc<MemoryIndex>),
    Run(Arc<Run>),
    Segment(Arc<Segment>),
    Settled(Arc<SettledFile>),
}

impl Remains {
    fn is_the_last(&self) -> bool {
        let others = match self {
            Remains::Memory(part) => Arc::strong_count(part),
            Remains::Run(run) => Arc::strong_count(run),
            Remains::Segment(segment) => Arc::strong_count(segment),
            Remains::Settled(file) => Arc::strong_count(file),
        };
        others == 1
    }
}

impl Doomed {
    /// Marks as obsolete, and keeps until [`Doomed::bury`].
    pub(super) fn add(&self, remains: Remains) {
        match &remains {
            Remains::Memory(_) => {}
            Remains::Run(run) => run.make_obsolete(),
            Remains::Segment(segment) => segment.make_obsolete(),
            Remains::Settled(file) => file.make_obsolete(),
        }
        self.0.lock().push(remains);
    }

    /// Drops what nobody else has. With patience commits that are just looking at it are waited for, shortly.
    pub(super) fn bury(&self, patience: bool) {
        let mut remains = std::mem::take(&mut *self.0.lock());
        for look in 0..LOOKS {
            remains.retain(|remains| !remains.is_the_last());
            if remains.is_empty() || !patience || look + 1 == LOOKS {
                break;
            }
            std::thread::sleep(BETWEEN_LOOKS);
        }
    }
}
