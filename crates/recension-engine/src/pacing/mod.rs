//! How writers wait for each other: who commits for all that wait, and how long it waits for more of them.
//! The native engine, the async committer and the Apocrypha server stand on this one room.

mod pace;
mod queue;
#[cfg(test)]
mod queue_tests;
mod sync;

pub use self::pace::{Pace, Vain};
pub use self::queue::{CommitQueue, give_way};
