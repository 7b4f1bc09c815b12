//! The engine contract and the engines of this crate, under one path.

pub use recension_engine::*;
pub use recension_native::{NativeEngine, NativeOptions};
pub use recension_remote::open as open_native;

/// The native engine: options, salvage.
pub mod native {
    pub use recension_native::{Maintenance, NativeEngine, NativeOptions, SalvageReport, salvage};
}
