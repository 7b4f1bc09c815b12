//! What the tests are written with.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use recension_engine::{Batch, Engine, TreeId};
use recension_log::{Cache, ReplicatedEngine, ReplicatedOptions, SharedLog};

/// The tree that the tests write.
pub(crate) const T: TreeId = TreeId(7);

/// A handle on the log of a name.
pub(crate) type OpenLog = Box<dyn Fn(&str) -> Arc<dyn SharedLog> + Send + Sync>;

/// The address of the log of a name.
pub(crate) type AddressOf = Arc<dyn Fn(&str) -> String + Send + Sync>;

/// A test of a system.
pub(crate) type Test = fn(&System);

/// A system that logs live on.
pub(crate) struct System {
    /// Its name.
    pub(crate) name: &'static str,
    /// Opens a handle of its own on the log of that name.
    pub(crate) open: OpenLog,
    /// The address of the log of a name.
    pub(crate) address: Option<AddressOf>,
    /// The file of the certificate that its server has.
    pub(crate) certificate: Option<String>,
    /// The address of the log of a name where TLS is spoken; without the certificate.
    pub(crate) tls_address: Option<AddressOf>,
    /// The processes of its cluster's members, if it has several.
    pub(crate) members: Vec<u32>,
    /// Positions of a race.
    pub(crate) race: u64,
    /// Whether the engine contract is tried on it here.
    pub(crate) with_contract: bool,
}

impl System {
    /// A name that no other test has.
    pub(crate) fn fresh_name(&self) -> String {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let system: String = self.name.chars().take(2).collect();
        format!("{system}{}", NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// Options for tests.
pub(crate) fn options() -> ReplicatedOptions {
    let mut options = ReplicatedOptions::default();
    options.patience = Duration::from_secs(20);
    options.node_interval = Duration::from_millis(200);
    options
}

/// A node with a cache in `folder`.
pub(crate) fn node(log: Arc<dyn SharedLog>, folder: &Path) -> ReplicatedEngine {
    try_node(log, folder).unwrap_or_else(|error| panic!("the node does not open: {error}"))
}

/// The same, if it opens.
pub(crate) fn try_node(log: Arc<dyn SharedLog>, folder: &Path) -> recension_engine::Result<ReplicatedEngine> {
    let mut options = options();
    options.node = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    ReplicatedEngine::open(log, &Cache::directory(folder), options)
}

/// A batch that writes one row.
pub(crate) fn row(key: &[u8], value: &[u8]) -> Batch {
    let mut batch = Batch::new();
    batch.put(T, key, value);
    batch
}

/// The value at a key.
pub(crate) fn value(engine: &dyn Engine, key: &[u8]) -> Option<Vec<u8>> {
    let snapshot = engine.snapshot().unwrap();
    snapshot.get(T, key).unwrap().map(|value| value.to_vec())
}

/// Waits until it is so.
pub(crate) fn until(what: &str, so: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_mins(1);
    while !so() {
        assert!(Instant::now() < end, "in vain: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}
