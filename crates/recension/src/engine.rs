//! The engine contract and the engines of this crate, under one path.

pub use recension_engine::*;
pub use recension_native::{NativeEngine, NativeOptions};
#[cfg(feature = "remote")]
pub use recension_remote::open as open_native;

/// Opens the store in `folder`, which no other process may have open: reaching it through the process that has it, and
/// sharing it, need the feature `remote`.
///
/// # Errors
/// [`EngineError::NotBuiltIn`] if the store is to be shared, and those of [`NativeEngine::open`].
#[cfg(not(feature = "remote"))]
pub fn open_native(
    folder: &std::path::Path,
    options: &NativeOptions,
    share: bool,
) -> Result<std::sync::Arc<dyn Engine>> {
    if share {
        return Err(EngineError::not_built_in("a store that several processes share", "remote"));
    }
    match NativeEngine::open(std::sync::Arc::new(recension_native::disk::FsDisk::new(folder)), options.clone()) {
        Ok(engine) => Ok(std::sync::Arc::new(engine)),
        Err(EngineError::Locked { store, holder }) => {
            let without =
                "this program cannot reach it through that process: it was built without the feature `remote`";
            Err(EngineError::Locked { store, holder: format!("{holder}; {without}") })
        }
        Err(error) => Err(error),
    }
}

/// The native engine: options, salvage.
pub mod native {
    pub use recension_native::{
        KeyStatus, Maintenance, NEWEST_FORMAT, NativeEngine, NativeOptions, SalvageReport, add_key, change_key,
        format_version, is_begun_copy, is_empty_place, is_same_store, key_status, salvage,
    };
}
