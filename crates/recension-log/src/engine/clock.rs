//! The cache's clock. A commit that is applied has the time of its record. Everything else in the cache uses the clock
//! of the engine.

use std::cell::Cell;
use std::sync::Arc;

use recension_engine::{Clock, Timestamp};

thread_local! {
    /// The time of the record that this thread applies.
    static APPLYING: Cell<Option<Timestamp>> = const { Cell::new(None) };
}

/// Shows the time of the record that is being applied to the thread that applies it.
pub(super) struct RecordClock(pub(super) Arc<dyn Clock>);

impl Clock for RecordClock {
    fn now(&self) -> Timestamp {
        APPLYING.get().unwrap_or_else(|| self.0.now())
    }
}

/// Runs `work` at the time of a record.
pub(super) fn at<T>(time: Timestamp, work: impl FnOnce() -> T) -> T {
    /// Ends it also after a panic.
    struct Ends;
    impl Drop for Ends {
        fn drop(&mut self) {
            APPLYING.set(None);
        }
    }
    APPLYING.set(Some(time));
    let _ends = Ends;
    work()
}
