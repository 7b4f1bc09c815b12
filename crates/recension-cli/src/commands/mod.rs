//! One file a command: its arguments, its help, and what it does.

pub mod backup;
pub mod changes;
pub mod collections;
pub mod completions;
pub mod conflicts;
pub mod delete;
pub mod diff;
pub mod explain;
pub mod export;
pub mod find;
pub mod get;
pub mod history;
pub mod import;
pub mod index;
pub mod man;
pub mod patch;
pub mod purge;
pub mod put;
pub mod restore;
pub mod restore_backup;
pub mod salvage;
pub mod serve;
pub mod shell;
pub mod stats;
pub mod verify;
