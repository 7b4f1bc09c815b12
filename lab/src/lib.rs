//! The laboratory: Recension and the stores that one would pick instead, measured under one set of rules.
//!
//! Same rows, same durability, subjects in turns in random order, every answer compared with the model, the
//! machine calibrated, syncs counted. `recension-lab list` says what there is; docs/src/laboratory.md how it
//! is measured and what a figure cannot tell.

pub mod cli;
pub mod custom_workload;
pub mod data;
pub mod error;
pub mod given;
pub mod load;
pub mod measure;
pub mod output;
pub mod report;
pub mod run;
pub mod servers;
pub mod subjects;
pub mod worker;
pub mod workloads;
