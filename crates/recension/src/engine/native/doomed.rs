//! What is of no use any more, kept until no reader has it, and then dropped by a thread that nobody waits for: giving
//! back a file of many megabytes, or a part of the index, takes milliseconds, which no commit and no read shall pay.

use std::sync::Arc;

use parking_lot::Mutex;

use super::mem::MemoryIndex;
use super::run::Run;
use super::segment::Segment;
use super::settled::SettledFile;

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

    /// Drops what no reader has any more.
    pub(super) fn bury(&self) {
        let dead: Vec<_> = self.0.lock().extract_if(.., |remains| remains.is_the_last()).collect();
        drop(dead);
    }
}
