//! Measuring: clocks, statistics, order, resources of processes, the machine. Nothing here knows a subject.

pub mod budget;
pub mod calibrate;
pub mod clock;
pub mod filesystem;
pub mod interleave;
pub mod processor;
pub mod quiet;
pub mod stats;
pub mod together;
pub mod trace;
pub mod usage;
