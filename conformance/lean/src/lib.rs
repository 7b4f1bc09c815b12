//! Stores that need features, as a program with all of them wrote them: `stores/` has one for each, by the name of the
//! feature. conformance `it/lean_stores` writes them, and reads them with every feature.

use std::path::{Path, PathBuf};

/// The features, each with a store that needs it.
pub const FEATURES: [&str; 5] = ["attachments-compression", "encryption", "schema", "unicode-collation", "words"];

/// The key of the encrypted one.
pub const KEY: &str = "abababababababababababababababababababababababababababababababab";

/// The folder with the store that needs a feature.
#[must_use]
pub fn frozen(feature: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("stores").join(feature)
}

/// Copies a store, without its lock.
///
/// # Errors
/// Those of the file system.
pub fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let (path, name) = entry.map(|entry| (entry.path(), entry.file_name()))?;
        if path.is_dir() {
            copy(&path, &to.join(name))?;
        } else if name != "lock" {
            std::fs::copy(path, to.join(name))?;
        }
    }
    Ok(())
}

/// A copy of the store that needs a feature, in a folder of its own.
///
/// # Errors
/// Those of the file system.
pub fn thawed(feature: &str) -> std::io::Result<tempfile::TempDir> {
    let folder = tempfile::tempdir()?;
    copy(&frozen(feature), folder.path())?;
    Ok(folder)
}
