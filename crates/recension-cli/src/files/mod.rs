//! Reading whole files, and making folders. `replace` writes results.

mod replace;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use recension::disk::{Disk as _, FsDisk};
use recension::engine::{self, native::is_begun_copy};
use recension_engines::Address;

pub use replace::replace;

use crate::context::Context;
use crate::error::{CliError, Result};
use crate::limits::RECORD_BYTES_MAX;

/// Makes a folder and those above it that are not there. All of them are durable when it returns.
pub fn make_folder(path: &Path) -> Result<()> {
    FsDisk::new(path).create_dir("").map_err(|error| CliError::io(format!("making {}", path.display()), &error))
}

/// Refuses a folder for a new store that holds something, but for a copy that was broken off.
pub fn check_new(path: &Path) -> Result<()> {
    if !path.is_dir() || is_begun_copy(path) {
        return Ok(());
    }
    Err(CliError::Usage(format!("{} is not empty; name a new directory", path.display())))
}

/// A folder that an argument names. `what` describes it in the error. These commands work on files of the native
/// engine.
///
/// # Errors
/// It names a store of another kind, such as `sqlite:x`, or a branch, or is empty.
pub fn folder<'p>(path: &'p Path, what: &str) -> Result<&'p Path> {
    let Some(text) = path.to_str() else { return Ok(path) };
    match Address::parse(text) {
        Ok(Address::Native(_)) if !path.exists() && engine::Address::branch(text).is_some() => Err(CliError::Usage(
            format!("{what} is a whole store, and {text:?} names a branch of one: leave out what begins with #"),
        )),
        Ok(Address::Native(_)) => Ok(path),
        _ if text.is_empty() => Err(CliError::Usage(format!("{what} is a folder, and its name is empty"))),
        _ => Err(CliError::Usage(format!(
            "{what} is a folder, and {text:?} is none (./{text} is one of that name). Only the native engine is copied \
             as a whole; between stores of different kinds export and import carry a collection"
        ))),
    }
}

/// The file for the results. `-` is standard output.
pub fn output(named: Option<&Path>) -> Option<&Path> {
    named.filter(|path| path.as_os_str() != "-")
}

/// The text of an argument. If it is `-` or missing, the text is read from standard input.
pub fn text_or_input(context: &Context, argument: Option<&str>, missing: &str) -> Result<String> {
    match argument {
        Some(text) if text != "-" => Ok(text.to_owned()),
        _ => text_of(context.standard_input(missing)?, "standard input"),
    }
}

/// The text of a file.
pub fn text_of_file(path: &Path) -> Result<String> {
    let file = File::open(path).map_err(|error| CliError::io(format!("opening {}", path.display()), &error))?;
    text_of(file, &path.display().to_string())
}

fn text_of(reader: impl Read, name: &str) -> Result<String> {
    let mut text = Vec::new();
    reader
        .take(RECORD_BYTES_MAX as u64 + 1)
        .read_to_end(&mut text)
        .map_err(|error| CliError::io(format!("reading {name}"), &error))?;
    if text.len() > RECORD_BYTES_MAX {
        let limit = RECORD_BYTES_MAX >> 20;
        return Err(CliError::Input(format!("{name} is longer than {limit} MiB, the limit of a document")));
    }
    String::from_utf8(text).map_err(|error| {
        CliError::Input(format!("{name} is not UTF-8 from byte {} on", error.utf8_error().valid_up_to()))
    })
}
