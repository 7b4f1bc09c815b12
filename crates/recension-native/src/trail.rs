//! The trail: how far the log has come, as readers see it and durably, and the writing of that into the mark. A thread
//! of its own does the writing, or the committing thread if a simulation wants everything in one. Commits never wait
//! for it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

use super::chain::{Chain, LogPoint};
use super::maintenance::Signal;
use super::mark::Mark;
use super::segment::Segments;
use super::shared::Shared;
use super::{NativeEngine, format::SEGMENT_HEADER_BYTES};
use recension_engine::{EngineError, Result, Seq, Timestamp};

/// The points that the log of an open store has reached.
pub(super) struct Trail {
    points: Mutex<Points>,
    mark: Mutex<Marking>,
    /// The thread is waiting for work.
    idle: AtomicBool,
    signal: Signal,
    every: Duration,
}

#[derive(Clone, Copy)]
struct Points {
    /// The point that readers see.
    head: LogPoint,
    /// The point up to which acknowledged commits survive a loss of power.
    durable: LogPoint,
}

struct Marking {
    mark: Mark,
    /// The clock's time when the mark was last written, for a store without a marking thread. `None` before the first
    /// commit.
    written_at: Option<Timestamp>,
}

impl Trail {
    /// A trail whose log is durable up to `point`.
    pub(super) fn new(mark: Mark, point: LogPoint, every: Duration) -> Self {
        Trail {
            points: Mutex::new(Points { head: point, durable: point }),
            mark: Mutex::new(Marking { mark, written_at: None }),
            idle: AtomicBool::new(false),
            signal: Signal::default(),
            every,
        }
    }

    /// Writes a torn slot of the mark anew.
    pub(super) fn mend(&self) -> Result<()> {
        if self.mark.lock().mark.is_torn() { self.write() } else { Ok(()) }
    }

    pub(super) fn head(&self) -> LogPoint {
        self.points.lock().head
    }

    /// Everything up to `point` has been written, is synced if `durable`, and is about to be acknowledged.
    pub(super) fn acknowledge(&self, point: LogPoint, durable: bool) {
        {
            let mut points = self.points.lock();
            points.head = point;
            if durable {
                points.durable = point;
            }
        }
        if durable {
            self.wake();
        }
    }

    /// Everything up to `point`, which has been acknowledged, is durable.
    pub(super) fn is_durable(&self, point: LogPoint) {
        {
            let mut points = self.points.lock();
            if point.last.seq <= points.durable.last.seq {
                return;
            }
            points.durable = point;
        }
        self.wake();
    }

    /// Wakes the thread if it is idle. The thread says so before it looks at the points, and this is called after they
    /// were changed.
    fn wake(&self) {
        if self.idle.load(Ordering::SeqCst) && self.idle.swap(false, Ordering::SeqCst) {
            self.signal.want();
        }
    }

    pub(super) fn stop(&self) {
        self.signal.stop();
    }

    fn is_marked(&self, marking: &Marking) -> bool {
        marking.mark.point().last.seq == self.points.lock().durable.last.seq && !marking.mark.is_torn()
    }

    /// Writes the durable point into the mark, unless it is there.
    pub(super) fn write(&self) -> Result<()> {
        let mut marking = self.mark.lock();
        if self.is_marked(&marking) {
            return Ok(());
        }
        let durable = self.points.lock().durable;
        marking.mark.write(durable)
    }

    /// The same, if the clock says that it is time. It may have been set back.
    fn write_if_due(&self, now: Timestamp) -> Result<()> {
        let mut marking = self.mark.lock();
        let before = *marking.written_at.get_or_insert(now);
        if u128::from(now.0.abs_diff(before.0)) < self.every.as_micros() {
            return Ok(());
        }
        marking.written_at = Some(now);
        drop(marking);
        self.write()
    }

    /// The point in the mark, after checking that the file has it, too.
    pub(super) fn check(&self) -> Result<LogPoint> {
        let marking = self.mark.lock();
        marking.mark.check()?;
        Ok(marking.mark.point())
    }
}

/// Runs the marking thread.
pub(super) fn run_marking(shared: &Shared) {
    let trail = &shared.trail;
    while shared.poison.get().is_none() {
        trail.idle.store(true, Ordering::SeqCst);
        // No lock is held while it waits.
        let all_is_marked = trail.is_marked(&trail.mark.lock());
        if all_is_marked && !trail.signal.wait(None) {
            return;
        }
        trail.idle.store(false, Ordering::SeqCst);
        if !trail.signal.wait(Some(trail.every)) {
            return;
        }
        if shared.poison.get().is_none() {
            shared.mark();
        }
    }
}

impl Shared {
    /// Writes the durable point into the mark. A full disk may have room later. After any other failure no commit is
    /// acknowledged any more, because the mark might never record it.
    fn mark(&self) {
        self.note_marking(self.trail.write());
    }

    /// The same by the committing thread, if it is time.
    pub(super) fn mark_if_due(&self, now: Timestamp) {
        self.note_marking(self.trail.write_if_due(now));
    }

    fn note_marking(&self, marked: Result<()>) {
        match marked {
            Ok(()) => {}
            Err(error) if error.is_disk_full() => {}
            Err(error) => self.poison(&error),
        }
    }
}

impl NativeEngine {
    /// The chain value behind commit `seq`, by which two copies of one log are compared: if it is equal, so is
    /// everything before. `None` if it is not kept any more: before the newest settled commit, and for commits of
    /// format 1.
    ///
    /// It takes time in proportion to the commits of one log segment. It detects faults, and gives no protection from
    /// forgers.
    ///
    /// # Errors
    /// [`EngineError::NotYet`] beyond the head; [`EngineError::Damaged`].
    pub fn chain_at(&self, seq: Seq) -> Result<Option<Chain>> {
        let shared = &self.shared;
        let head = shared.head();
        if seq > head {
            return Err(EngineError::NotYet { asked: seq, head });
        }
        // It is not older than the head.
        let newest = shared.trail.head();
        if seq == newest.last.seq {
            return Ok(Some(newest.chain));
        }
        let state = shared.state.load_full();
        let settled = shared.settled_point(&state);
        match seq.cmp(&settled.last.seq) {
            std::cmp::Ordering::Less => {
                let file = state.settled.iter().find(|file| file.entry.last == seq);
                Ok(file.map(|file| file.entry.chain))
            }
            std::cmp::Ordering::Equal => Ok(Some(settled.chain)),
            std::cmp::Ordering::Greater => before_next(&state.segments, seq),
        }
    }
}

/// The chain value that the record behind commit `seq` carries.
fn before_next(segments: &Segments, seq: Seq) -> Result<Option<Chain>> {
    let first = SEGMENT_HEADER_BYTES as u32;
    for (index, segment) in segments.list.iter().enumerate() {
        let next = segments.list.get(index + 1).map(|next| next.record_header(first)).transpose()?.flatten();
        if next.is_some_and(|next| next.seq <= seq) {
            continue;
        }
        let mut at = first;
        while let Some(header) = segment.record_header(at)? {
            if header.seq > seq {
                return Ok(header.before);
            }
            at += header.len;
        }
    }
    Ok(None)
}
