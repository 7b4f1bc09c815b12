//! The flags of every command: which store, for whom, and the form of the output.

use std::path::PathBuf;

use clap::Args;
use recension_engines::KeySource;

/// Flags of every command.
#[derive(Debug, Args)]
pub struct Common {
    /// The store: a directory, sqlite:FILE, memory:, or the address of a shared log [default: recension.store]
    #[arg(long, short, global = true, env = "RECENSION_STORE")]
    #[arg(value_name = "ADDRESS", help_heading = "Common options")]
    pub store: Option<String>,
    /// The branch of the store to work on; main is the main line [default: that of the address, or main]
    #[arg(long, global = true, env = "RECENSION_BRANCH", value_name = "NAME", help_heading = "Common options")]
    pub branch: Option<String>,
    /// The key of an encrypted store: a file with 64 hexadecimal digits, or base64
    #[arg(long, global = true, value_name = "FILE", help_heading = "Common options")]
    pub key_file: Option<PathBuf>,
    /// A command that prints the key of an encrypted store
    #[arg(long, global = true, value_name = "COMMAND", help_heading = "Common options")]
    #[arg(conflicts_with_all = ["key_file", "passphrase_file"])]
    pub key_command: Option<String>,
    /// The passphrase of an encrypted store: a file
    #[arg(long, global = true, value_name = "FILE", help_heading = "Common options")]
    #[arg(conflicts_with = "key_file")]
    pub passphrase_file: Option<PathBuf>,
    /// The keys of an encrypted store's collections: a file [default: COLLECTION-KEYS in the store's folder]
    #[arg(long, global = true, value_name = "FILE", env = "RECENSION_COLLECTION_KEYS")]
    #[arg(help_heading = "Common options")]
    pub collection_keys: Option<PathBuf>,
    /// Print one JSON value per line, also at a terminal
    #[arg(long, global = true, help_heading = "Common options")]
    pub json: bool,
    /// Print tables and indented JSON, also in a pipe
    #[arg(long, global = true, conflicts_with = "json", help_heading = "Common options")]
    pub table: bool,
    /// Print only errors on standard error, no remarks and no progress
    #[arg(long, short, global = true, help_heading = "Common options")]
    pub quiet: bool,
}

impl Common {
    /// Where the key of the store comes from.
    pub fn key_source(&self) -> KeySource {
        KeySource {
            file: self.key_file.clone(),
            command: self.key_command.clone(),
            passphrase_file: self.passphrase_file.clone(),
            collection_keys: self.collection_keys.clone(),
        }
    }
}
