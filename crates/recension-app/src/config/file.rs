//! The TOML file.

use std::path::Path;

use super::{Config, ConfigError};

/// Reads a configuration file. A setting that it does not have keeps its default.
///
/// # Errors
/// [`ConfigError`] with the file's name and the place in it.
pub fn read(path: &Path) -> Result<Config, ConfigError> {
    let wrong = |why: &dyn std::fmt::Display| ConfigError { message: format!("{}: {why}", path.display()) };
    let text = std::fs::read_to_string(path).map_err(|error| wrong(&error))?;
    toml::from_str(&text).map_err(|error| wrong(&error))
}
