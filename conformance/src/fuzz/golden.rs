//! The stores that the file targets damage: the golden stores of format 2, whose bytes never change.

use std::sync::Arc;

use recension::engine::{Batch, Engine, ManualClock, MemoryEngine, Timestamp, TreeId};

use self::settled_history::write_settled_history;

use crate::sim::SimDisk;

macro_rules! golden {
    ($($name:literal),*) => {
        &[$(($name, include_bytes!(concat!("../../../crates/recension-native/tests/golden/format-2/", $name)))),*]
    };
}

/// Its files.
pub const GOLDEN: &[(&str, &[u8])] = golden!(
    "MARK",
    "STORE",
    "index/MANIFEST",
    "index/0000000157.run",
    "index/0000000158.run",
    "index/0000000159.run",
    "log/0000000001.log",
    "log/0000000002.log",
    "log/0000000003.log",
    "log/0000000004.log",
    "log/0000000005.log",
    "log/0000000006.log"
);

/// A simulated disk with the golden store.
pub fn golden_disk() -> SimDisk {
    let disk = SimDisk::new();
    for (name, bytes) in GOLDEN {
        disk.put(name, bytes);
    }
    disk
}

/// The contents of the golden store. Its history is that of `crates/recension-native/tests/it/golden.rs`.
pub fn golden_model() -> MemoryEngine {
    let clock = Arc::new(ManualClock::default());
    let model = MemoryEngine::with_clock(clock.clone());
    for n in 0..120u64 {
        clock.set(Timestamp(1_000_000 + n / 2 * 10));
        let mut batch = Batch::new();
        batch.put(TreeId(n as u32 % 3), format!("key {}", n % 17).as_bytes(), &vec![n as u8; (n * 7 % 200) as usize]);
        if n % 5 == 0 {
            batch.delete(TreeId(1), format!("key {}", n % 13).as_bytes());
        }
        if n % 11 == 0 {
            batch.put(TreeId(u32::MAX), b"", b"");
        }
        // The memory engine refuses none of these batches.
        _ = model.commit(batch);
    }
    model
}

#[allow(dead_code, missing_docs, unreachable_pub, reason = "the test that writes the store uses all of it")]
mod settled_history {
    include!("../../../crates/recension-native/tests/golden/settled_history.rs");
}

macro_rules! golden_settled {
    ($($name:literal),*) => {
        &[$(($name, include_bytes!(concat!("../../../crates/recension-native/tests/golden/format-2-settled/", $name)))),*]
    };
}

/// The files of the golden store with settled files.
pub const GOLDEN_SETTLED: &[(&str, &[u8])] = golden_settled!(
    "MARK",
    "STORE",
    "index/0000000220.run",
    "index/0000000221.run",
    "index/0000000222.run",
    "index/MANIFEST",
    "log/0000000012.log",
    "log/0000000013.log",
    "log/0000000014.log",
    "settled/0000000013.rows",
    "settled/0000000014.rows",
    "settled/MANIFEST"
);

/// A simulated disk with that store.
pub fn golden_settled_disk() -> SimDisk {
    let disk = SimDisk::new();
    for (name, bytes) in GOLDEN_SETTLED {
        disk.put(name, bytes);
    }
    disk
}

/// All commits of that store, before anything of its history was given up.
pub fn golden_settled_model() -> MemoryEngine {
    let clock = Arc::new(ManualClock::default());
    let model = MemoryEngine::with_clock(clock.clone());
    write_settled_history(&model, &clock, |_| (), |_| ());
    model
}
