//! Pacing of writers: which of them commits for all, and how long it waits for more of them. The native engine, the
//! async committer and the Apocrypha server use it.

mod pace;
mod queue;
#[cfg(test)]
mod queue_tests;
mod sync;

pub use self::pace::{Pace, Vain};
pub use self::queue::{CommitQueue, give_way};
