//! The synchronisation primitives of the commit queue, in one place, so that a model checker can
//! stand in for them (`--cfg recension_shuttle`).

#[cfg(not(recension_shuttle))]
pub(crate) use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU8, Ordering},
};
#[cfg(not(recension_shuttle))]
pub(crate) use std::thread::{self, Thread};

#[cfg(recension_shuttle)]
pub(crate) use shuttle::sync::{
    Arc, Mutex, MutexGuard,
    atomic::{AtomicU8, Ordering},
};
#[cfg(recension_shuttle)]
pub(crate) use shuttle::thread::{self, Thread};
#[cfg(recension_shuttle)]
pub(crate) use std::sync::PoisonError;
