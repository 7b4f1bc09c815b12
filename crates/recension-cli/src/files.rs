//! Files that are replaced as a whole or not at all, and inputs that are small enough to hold.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use crate::context::Context;
use crate::error::{CliError, Result};
use crate::limits::RECORD_BYTES_MAX;

/// Writes beside the file and renames, so that an interrupted command leaves an older file as it was.
/// What is no regular file (a device, a named pipe) is written to and never replaced.
pub fn replace<T>(path: &Path, write: impl FnOnce(&mut BufWriter<File>) -> Result<T>) -> Result<T> {
    let failed = |error: &io::Error| CliError::io(format!("writing {}", path.display()), error);
    // Behind a link, it is the file that is replaced, and not the link.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if fs::metadata(&target).is_ok_and(|metadata| !metadata.is_file()) {
        let file = OpenOptions::new().write(true).open(&target).map_err(|error| failed(&error))?;
        let mut out = BufWriter::with_capacity(64 * 1024, file);
        let done = write(&mut out)?;
        out.flush().map_err(|error| failed(&error))?;
        return Ok(done);
    }
    let mut beside = target.as_os_str().to_owned();
    beside.push(".part");
    let beside = PathBuf::from(beside);
    let outcome = File::create(&beside).map_err(|error| failed(&error)).and_then(|file| {
        let mut out = BufWriter::with_capacity(64 * 1024, file);
        let done = write(&mut out)?;
        let file = out.into_inner().map_err(|error| failed(error.error()))?;
        file.sync_all().and_then(|()| fs::rename(&beside, &target)).map_err(|error| failed(&error))?;
        Ok(done)
    });
    if outcome.is_err() {
        // The error that is reported is the first one.
        let _ = fs::remove_file(&beside);
    }
    outcome
}

/// A text that was given as an argument, or else, as `-` or not at all, on standard input.
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
