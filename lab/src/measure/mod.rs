//! How it is measured: clocks, statistics, order, what the process used, what the machine is. Nothing here
//! knows a subject.

pub mod budget;
pub mod calibrate;
pub mod clock;
pub mod filesystem;
pub mod interleave;
pub mod processor;
pub mod stats;
pub mod steal;
pub mod together;
pub mod trace;
pub mod usage;
