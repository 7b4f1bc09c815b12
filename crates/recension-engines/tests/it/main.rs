//! Stores over other databases, and opening them by their addresses: one test binary, a module each.

mod addresses;
mod bank;
mod documents;
#[cfg(feature = "sqlite")]
mod sqlite_damage;
#[cfg(feature = "sqlite")]
mod sqlite_files;
#[cfg(feature = "sqlite")]
mod sqlite_sharing;
mod support;
