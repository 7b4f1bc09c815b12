//! The native engine with all sizes tiny, so that a few dozen commits fill segments, flush and merge index runs and
//! make checkpoints. It has no threads of its own, so that a run repeats exactly.

use std::sync::Arc;
use std::time::Duration;

use recension::disk::{Disk, Key};
use recension::engine::native::{Maintenance, NativeEngine, NativeOptions};
use recension::engine::{Clock, Engine, Result};

use super::Opener;
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

/// Opens an engine with options.
fn open(disk: Arc<dyn Disk>, options: NativeOptions) -> Result<Arc<dyn Engine>> {
    Ok(Arc::new(NativeEngine::open(disk, options)?))
}

/// How options are made.
pub type Options = fn(Arc<dyn Clock>) -> NativeOptions;

/// The key of the suites' encrypted stores.
///
/// # Panics
/// Never: it is a key.
pub fn key() -> Key {
    Key::parse("c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00").expect("a key")
}

/// What [`openers`] calls the one with a key.
pub const SEALED: &str = "with a key";

/// With and without a key, an opener of engines with `options`.
pub fn openers(options: Options) -> [(&'static str, Box<Opener>); 2] {
    [("without a key", opener(options, None)), (SEALED, opener(options, Some(key())))]
}

/// An opener of engines with `options`, of stores that are encrypted if there is a key.
pub fn opener(options: Options, key: Option<Key>) -> Box<Opener> {
    Box::new(move |disk, clock| open(disk, NativeOptions { key: key.clone(), ..options(clock) }))
}

/// Opens such an engine.
pub fn small(disk: Arc<dyn Disk>, clock: Arc<dyn Clock>) -> Result<Arc<dyn Engine>> {
    open(disk, small_options(clock))
}

/// The same options, with which commits are also settled again and again.
pub fn settling_options(clock: Arc<dyn Clock>) -> NativeOptions {
    NativeOptions { settle_log_bytes: Some(9 << 10), block_cache_bytes: 32 << 10, ..small_options(clock) }
}

/// Opens an engine that settles.
pub fn settling(disk: Arc<dyn Disk>, clock: Arc<dyn Clock>) -> Result<Arc<dyn Engine>> {
    open(disk, settling_options(clock))
}

/// The same, but settled files stay apart.
pub fn settling_apart_options(clock: Arc<dyn Clock>) -> NativeOptions {
    NativeOptions { merge_fan_in: 9, settle_log_bytes: Some(3 << 10), ..settling_options(clock) }
}

/// Opens an engine whose settled files stay apart.
pub fn settling_apart(disk: Arc<dyn Disk>, clock: Arc<dyn Clock>) -> Result<Arc<dyn Engine>> {
    open(disk, settling_apart_options(clock))
}

/// Options with which commits are settled and nearly every commit is brought to the mark at once.
pub fn marking_options(clock: Arc<dyn Clock>) -> NativeOptions {
    NativeOptions { mark_every: Duration::from_micros(2), ..settling_options(clock) }
}

/// Opens such an engine.
pub fn marking(disk: Arc<dyn Disk>, clock: Arc<dyn Clock>) -> Result<Arc<dyn Engine>> {
    open(disk, marking_options(clock))
}

/// Opens a small engine with a thread of its own, as users have it: it makes segments in advance. The scheduler decides
/// when that thread does what.
pub fn small_in_background(disk: Arc<dyn Disk>, clock: Arc<dyn Clock>) -> Result<Arc<dyn Engine>> {
    // The mark follows so closely that crashes hit its writes too.
    let mark_every = Duration::from_micros(200);
    let options = NativeOptions { maintenance: Maintenance::Background, mark_every, ..small_options(clock) };
    open(disk, options)
}

/// Whether a call writes or syncs commits: after its failure no commit may be acknowledged any more.
/// (The header of a new segment is written at offset 0, before there is a commit in it; in an encrypted store it lies in
/// the second sector, behind its opening.)
pub fn is_data(sealed: bool) -> impl Fn(&Call) -> bool {
    let header = if sealed { 512 } else { 0 };
    move |call| {
        call.name.starts_with("log/") && matches!(call.kind, OpKind::Write | OpKind::Sync) && call.offset > header
    }
}
