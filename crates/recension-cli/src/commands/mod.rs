//! One file a command: its arguments, its help, and what it does.

pub mod backup;
pub mod collections;
pub mod delete;
pub mod export;
pub mod find;
pub mod get;
pub mod history;
pub mod import;
pub mod index;
pub mod put;
pub mod restore;
pub mod restore_backup;
pub mod salvage;
pub mod stats;
pub mod verify;
