//! The inputs of an import: they are opened and unpacked, and their format is detected. The cells of a CSV are all
//! looked at first, so that each column has one type; then the file is read again.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use recension::conditions::parse_path;
use recension::json::Step;

use super::{Import, OnError};
use crate::context::Context;
use crate::error::{CliError, Result};
use crate::input::{
    CsvOptions, CsvRecords, Format, InputError, JsonRecords, Records, Shape, Source, Spool, Types, TypesFlag, detect,
    line_end, unpacked,
};
use crate::progress::Progress;

/// A file or standard input.
pub(super) struct Input {
    pub(super) name: String,
    path: Option<PathBuf>,
    /// Its bytes, if it is a file that can be read again.
    pub(super) len: Option<u64>,
    reader: Box<dyn Read>,
}

impl Input {
    pub(super) fn standard(context: &Context) -> Result<Self> {
        let reader = context.standard_input("there is no input: name a file, or pipe something in")?;
        Ok(Input { name: "standard input".to_owned(), path: None, len: None, reader })
    }

    pub(super) fn file(path: &Path) -> Result<Self> {
        let failed = |error: &io::Error| CliError::io(format!("opening {}", path.display()), error);
        let file = File::open(path).map_err(|error| failed(&error))?;
        let metadata = file.metadata().map_err(|error| failed(&error))?;
        if metadata.is_dir() {
            return Err(CliError::Usage(format!("{} is a directory; name the files in it", path.display())));
        }
        // The length of a pipe or a device means nothing.
        let len = metadata.is_file().then_some(metadata.len());
        Ok(Input { name: path.display().to_string(), path: Some(path.to_owned()), len, reader: Box::new(file) })
    }
}

/// The error for an input that cannot be read. Wrongly packed bytes are malformed input, anything else is an I/O error.
pub(super) fn unreadable(name: &str, error: &io::Error) -> CliError {
    match error.kind() {
        io::ErrorKind::InvalidData | io::ErrorKind::Unsupported => CliError::Input(format!("{name}: {error}")),
        _ => CliError::io(format!("reading {name}"), error),
    }
}

fn malformed(name: &str, error: InputError) -> CliError {
    match error {
        InputError::Io(error) => unreadable(name, &error),
        error => CliError::Input(format!("{name}: {error}")),
    }
}

/// The name without the ending of its compression.
fn unpacked_name(path: &Path) -> PathBuf {
    let packed = path.extension().is_some_and(|ending| ending == "gz" || ending == "zst" || ending == "zstd");
    if packed { path.with_extension("") } else { path.to_owned() }
}

impl Import {
    /// The documents of an input.
    pub(super) fn records(
        &self,
        context: &Context,
        input: Input,
        progress: &Progress,
    ) -> Result<Records<Box<dyn Read>>> {
        let Input { name, path, len, reader } = input;
        let failed = |error: io::Error| unreadable(&name, &error);
        let spool = Spool::new();
        if len.is_some() {
            // The file is opened a second time, so the copy is not needed.
            spool.forget();
        }
        let reader = unpacked(progress.count(spool.keeping(reader))).map_err(failed)?;
        let mut source = Source::new(reader).map_err(failed)?;
        if let Some(path) = &self.path {
            self.no_table(&name)?;
            let path = parse_path(path)?;
            let names = path.steps().iter().map_while(|step| match step {
                Step::Name(name) => Some(name.clone()),
                _ => None,
            });
            let names: Vec<String> = names.collect();
            if names.is_empty() || path.steps().get(names.len()) != Some(&Step::Each) {
                let what = "--path leads to an array of documents, such as features[] or rows[].doc";
                return Err(CliError::Usage(what.to_owned()));
            }
            spool.forget();
            return Ok(Records::Json(JsonRecords::new(source, Shape::Array).within(names)));
        }
        let end = line_end(source.peek().map_err(failed)?);
        source.set_line_end(end);
        let format = self.format_of(source.peek().map_err(failed)?, &name, path.as_deref())?;
        let shape = match format {
            Format::Json => Shape::Array,
            Format::Map => Shape::Map,
            Format::Ndjson => Shape::Lines,
            Format::Csv => {
                let missing = self.missing.clone();
                let options = CsvOptions { delimiter: self.delimiter, types: Types::of(&self.types), missing };
                let mut records = CsvRecords::new(source, options.clone());
                if records.types_are_chosen().map_err(|error| malformed(&name, error))? {
                    spool.forget();
                    return Ok(Records::Csv(records));
                }
                let columns = records.infer(|error| self.passed(context, &name, error))?;
                let remarks = columns.remarks.iter().filter(|_| !context.quiet());
                remarks.for_each(|remark| progress.line(&format!("{name}: {remark}")));
                progress.again();
                let again: Box<dyn Read> = match path.filter(|_| len.is_some()) {
                    Some(path) => Input::file(&path)?.reader,
                    None => Box::new(spool.rewound().map_err(failed)?),
                };
                let source = unpacked(progress.count(again)).and_then(Source::new).map_err(failed)?;
                return Ok(Records::Csv(CsvRecords::with_columns(source, options, columns)));
            }
        };
        if !source.peek().map_err(failed)?.is_empty() {
            self.no_table(&name)?;
        }
        spool.forget();
        Ok(Records::Json(JsonRecords::new(source, shape)))
    }

    /// Refuses options that say how a table is read, for what is none.
    fn no_table(&self, name: &str) -> Result<()> {
        let option = match () {
            () if self.delimiter.is_some() => "--delimiter",
            () if self.types.iter().any(|types| *types != TypesFlag::Infer) => "--types",
            () if !self.missing.is_empty() => "--missing",
            () if self.path.is_some() && self.format == Some(Format::Csv) => "--format csv",
            () => return Ok(()),
        };
        Err(CliError::Usage(format!("{option} is for tables, and {name} is read as JSON: leave it out")))
    }

    /// Takes note of a record in the first pass. An error that would end the import ends it now, before anything of the
    /// input is imported.
    fn passed(&self, context: &Context, name: &str, error: Option<InputError>) -> Result<()> {
        context.go_on()?;
        match error {
            Some(error) if self.on_error == OnError::Stop || matches!(error, InputError::Io(_)) => {
                Err(malformed(name, error))
            }
            // It is reported when the record is read again.
            _ => Ok(()),
        }
    }

    fn format_of(&self, start: &[u8], name: &str, path: Option<&Path>) -> Result<Format> {
        match self.format.or_else(|| detect(start, path.map(unpacked_name).as_deref())) {
            Some(format) => Ok(format),
            // Empty input imports nothing.
            None if start.iter().all(u8::is_ascii_whitespace) => Ok(Format::Ndjson),
            None => Err(CliError::Input(format!(
                "{name}: this is neither JSON nor has a header of several columns; if it is a known format \
                 all the same, say which with --format json, map, ndjson or csv"
            ))),
        }
    }
}
