//! The native engine with all sizes tiny, so that a few dozen commits fill segments, flush and merge index runs and
//! make checkpoints. It has no threads of its own, so that a run repeats exactly.

use std::sync::Arc;
use std::time::Duration;

use recension::disk::Disk;
use recension::engine::native::{Maintenance, NativeEngine, NativeOptions};
use recension::engine::{Clock, Engine, Result};

use crate::sim::{Call, OpKind};

/// The options.
pub fn small_options(clock: Arc<dyn Clock>) -> NativeOptions {
    NativeOptions {
        segment_bytes: 8 << 10,
        index_memory_bytes: 2 << 10,
        checkpoint_log_bytes: 6 << 10,
        merge_fan_in: 2,
        maintenance: Maintenance::Inline,
        clock,
        ..NativeOptions::default()
    }
}

/// Opens such an engine.
pub fn small(disk: Arc<dyn Disk>, clock: Arc<dyn Clock>) -> Result<Arc<dyn Engine>> {
    Ok(Arc::new(NativeEngine::open(disk, small_options(clock))?))
}

/// The same options, with which commits are also settled again and again.
pub fn settling_options(clock: Arc<dyn Clock>) -> NativeOptions {
    NativeOptions { settle_log_bytes: Some(9 << 10), block_cache_bytes: 32 << 10, ..small_options(clock) }
}

/// Opens an engine that settles.
pub fn settling(disk: Arc<dyn Disk>, clock: Arc<dyn Clock>) -> Result<Arc<dyn Engine>> {
    Ok(Arc::new(NativeEngine::open(disk, settling_options(clock))?))
}

/// The same, but settled files stay apart.
pub fn settling_apart(disk: Arc<dyn Disk>, clock: Arc<dyn Clock>) -> Result<Arc<dyn Engine>> {
    let options = NativeOptions { merge_fan_in: 9, settle_log_bytes: Some(3 << 10), ..settling_options(clock) };
    Ok(Arc::new(NativeEngine::open(disk, options)?))
}

/// Opens an engine that settles, and moves the mark to nearly every commit at once.
pub fn marking(disk: Arc<dyn Disk>, clock: Arc<dyn Clock>) -> Result<Arc<dyn Engine>> {
    let options = NativeOptions { mark_every: Duration::from_micros(2), ..settling_options(clock) };
    Ok(Arc::new(NativeEngine::open(disk, options)?))
}

/// Opens a small engine with a thread of its own, as users have it: it makes segments in advance. The scheduler decides
/// when that thread does what.
pub fn small_in_background(disk: Arc<dyn Disk>, clock: Arc<dyn Clock>) -> Result<Arc<dyn Engine>> {
    // The mark follows so closely that crashes hit its writes too.
    let mark_every = Duration::from_micros(200);
    let options = NativeOptions { maintenance: Maintenance::Background, mark_every, ..small_options(clock) };
    Ok(Arc::new(NativeEngine::open(disk, options)?))
}

/// Whether a call writes or syncs commits: after its failure no commit may be acknowledged any more.
/// (The header of a new segment is written at offset 0, before there is a commit in it.)
pub fn is_data(call: &Call) -> bool {
    call.name.starts_with("log/") && matches!(call.kind, OpKind::Write | OpKind::Sync) && call.offset > 0
}
