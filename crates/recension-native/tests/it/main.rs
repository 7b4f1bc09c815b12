//! The native engine through its public interface, on real files.

mod engine;
mod golden;
#[allow(unreachable_pub)] // its history is included by another crate, too
mod golden_settled;
mod settling;
