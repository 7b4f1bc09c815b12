//! Gives a new, empty store its first settled file, so that it begins with a past: for salvage and for
//! restoring a backup as of a moment.

use std::sync::atomic::Ordering;

use super::NativeEngine;
use super::chain::{Chain, LogPoint};
use super::format::Position;
use super::kept_versions::Retained;
use super::log::WriteError;
use super::settled::SettledWriter;
use recension_engine::{CommitInfo, EngineError, Result, Seq};

impl NativeEngine {
    /// Makes the rows that `fill` writes the store's settled part, up to commit `last`.
    pub(super) fn install(
        &self,
        last: CommitInfo,
        keys_max: u64,
        retained: Retained,
        fill: impl FnOnce(&mut SettledWriter) -> Result<()>,
    ) -> Result<()> {
        let shared = &self.shared;
        if shared.head() > Seq::ZERO {
            let found = "it has commits already; this needs a new store".to_owned();
            return Err(EngineError::NotAStore { path: shared.disk.location(), found });
        }
        if last.seq == Seq::ZERO {
            return Ok(());
        }
        let mut leader = shared.leader.lock();
        // The log continues in a segment that exists.
        leader.log.make_first_segment().map_err(WriteError::into_error)?;
        let point = LogPoint { last, end: Position::START, chain: Chain::start(shared.files.id, last.seq) };
        let file = shared.settled_files.write((Seq(1), point), keys_max, None, fill)?;
        shared.settled_files.publish_first(&file, retained)?;
        leader.last = last;
        leader.log.chain = point.chain;
        leader.acknowledged = leader.point();
        let segments = leader.log.segments.clone();
        shared.files.drop_through(last.seq);
        shared.replace_state(|state| {
            state.segments = segments;
            state.settled = vec![file];
            shared.show_retained(state);
        });
        shared.set_durable(last.seq);
        shared.trail.acknowledge(point, true);
        shared.head.store(last.seq.0, Ordering::SeqCst);
        Ok(())
    }
}
