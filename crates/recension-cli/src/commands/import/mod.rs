//! `recension import`: documents out of files into a collection, in bounded memory. If it stops, it must always be
//! clear what was imported.

mod input;
mod reshape;

use std::cell::Cell;
use std::collections::VecDeque;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use recension::conditions::parse_path;
use recension::json::Step;
use recension::limits::LOAD_BATCH_DOCUMENTS;
use recension::{Error, Expect, LoadFailure, Loader, Path as DocumentPath, Store, Write};

use self::input::Input;
use self::reshape::{Reshape, id_of, renaming};
use crate::context::{Context, Missing, took};
use crate::error::{CliError, Result};
use crate::ids::{NewIds, id_at};
use crate::input::{Format, InputError, Position, Record, TypesFlag};
use crate::members::{Members, object, quoted};
use crate::moments::to_write;
use crate::output::{count, documents};
use crate::progress::Progress;

/// What to do with a document whose id is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, ValueEnum)]
pub enum OnConflict {
    /// Stop; documents before it stay imported, documents after it are not imported
    #[default]
    Error,
    /// Keep the existing document
    Skip,
    /// Make it the next revision of the existing document
    Replace,
}

/// What to do with a document that cannot be imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, ValueEnum)]
pub enum OnError {
    /// Stop; documents before it stay imported, documents after it are not imported
    #[default]
    Stop,
    /// Report it and continue; the exit code is 5 in the end
    Skip,
}

const EXAMPLES: &str = "\
Examples:
  recension import cities cities.json --id-field geonameid
  recension import people people.csv --id-field email --types zip=text
  recension import cities geonames.json --format map
  curl -s https://example.org/events.ndjson.gz | recension import events
  recension import notes a.ndjson b.ndjson --on-conflict replace
  recension import places map.geojson --path 'features[]' --id-field properties.id

The id comes from --id-field, the document's member _id, or the key in a map; otherwise a new one is made. Each \
commit has up to a thousand documents. If an import stops, the documents before the place that it names are in \
the store, and none after it. Fix the input and run the import again with --on-conflict skip.";

/// Read documents from a file or standard input into a collection
///
/// The format is detected from the beginning of the input: a JSON array, JSON documents one after the other (NDJSON),
/// or CSV with a header. Input that is compressed with gzip or zstd is unpacked. Text is UTF-8 or UTF-16.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Import {
    /// The collection; it is created if it does not exist
    collection: String,
    /// The files; - or none means standard input
    files: Vec<PathBuf>,
    /// The format of the input, if it cannot be detected
    #[arg(long, short)]
    format: Option<Format>,
    /// The member that has the id of each document, such as email or meta.id
    #[arg(long, value_name = "MEMBER")]
    id_field: Option<String>,
    /// What to do with a document whose id is taken
    #[arg(long, value_name = "WHAT", default_value = "error")]
    on_conflict: OnConflict,
    /// What to do with a document that cannot be imported
    #[arg(long, value_name = "WHAT", default_value = "stop")]
    on_error: OnError,
    /// CSV: the character between cells, such as ';' (by default it is detected)
    #[arg(long, value_name = "CHARACTER", value_parser = delimiter)]
    delimiter: Option<u8>,
    /// CSV: the types of the columns: infer (from all of their cells), text, or by name, such as
    /// zip=text,price=number (text, number, boolean, json)
    #[arg(long, value_name = "TYPES", value_delimiter = ',', default_value = "infer")]
    types: Vec<TypesFlag>,
    /// CSV: words that mean a missing value in cells without quotes, such as NA,NULL,NaN
    #[arg(long, value_name = "WORDS", value_delimiter = ',')]
    missing: Vec<String>,
    /// JSON: the path of the documents, such as features[] or rows[].doc
    #[arg(long, value_name = "PATH")]
    path: Option<String>,
    /// A member to leave out (can be repeated)
    #[arg(long, value_name = "MEMBER")]
    drop: Vec<String>,
    /// A member and its new name, such as __v=version (can be repeated)
    #[arg(long, value_name = "OLD=NEW", value_parser = renaming)]
    rename: Vec<(String, String)>,
    /// Convert MongoDB's extended JSON: {"$date": ..} to text, {"$numberLong": ..} to a number
    #[arg(long)]
    extended_json: bool,
    /// Import everything in one commit, or nothing; up to 10,000 documents and 32 MiB
    #[arg(long, conflicts_with_all = ["on_conflict", "on_error"])]
    all_or_nothing: bool,
}

/// Documents and bytes of an import in one commit.
const WHOLE_DOCUMENTS_MAX: usize = 10_000;
const WHOLE_BYTES_MAX: usize = 32 << 20;

fn delimiter(text: &str) -> std::result::Result<u8, String> {
    match text {
        "\\t" | "tab" => Ok(b'\t'),
        _ => match text.as_bytes() {
            [byte] if byte.is_ascii() && !b"\"\r\n".contains(byte) => Ok(*byte),
            _ => Err("it is one ASCII character, such as ; or tab".to_owned()),
        },
    }
}

impl Import {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        let id_field = self.id_field.as_deref().map(parse_path).transpose()?;
        let inputs = self.inputs(context)?;
        context.watch_for_interrupts()?;
        let started = context.started();
        let store = context.store(Missing::Create)?;
        let collection = to_write(&store, &self.collection)?;
        let mut counts = Counts::default();
        let mut outcome = Ok(());
        let mut reshape = self.reshape()?;
        let mut whole = self.all_or_nothing.then(Whole::default);
        for input in inputs {
            let progress = Progress::of_bytes(input.len, context.quiet());
            let mut load = Load {
                import: self,
                id_field: id_field.as_ref(),
                name: input.name.clone(),
                loader: collection.loader().stopping_at(self.stops()),
                places: VecDeque::new(),
                pushed: 0,
                counts: &mut counts,
                progress: &progress,
                reshape: &mut reshape,
                whole: whole.as_mut(),
            };
            outcome = load.input(context, input);
            // Whatever stopped it, documents that were read before are committed, and reported. A document that is
            // refused now came before what stopped it.
            outcome = load.finish().and(outcome);
            if outcome.is_err() {
                break;
            }
        }
        if let Some(whole) = whole {
            outcome = outcome.and_then(|()| whole.commit(&store, &self.collection));
            outcome.map_err(|error| error.with("\nNothing was imported."))?;
            counts.imported = whole.writes.len() as u64;
            outcome = Ok(());
        }
        for name in reshape.unmet().filter(|_| counts.imported > 0) {
            context.out.remark(&format!("no document has the member {name:?}"))?;
        }
        let summary = counts.summary(&self.collection);
        match outcome {
            Ok(()) => {
                context.out.remark(&format!("{summary} in {}", took(started.elapsed())))?;
                match counts.failed {
                    0 => Ok(()),
                    failed => Err(CliError::Input(format!("{} not imported", documents(failed)))),
                }
            }
            Err(error) => {
                let way_on = self.way_on(&error);
                Err(error.with(&format!("\n{summary} before it stopped. {way_on}")))
            }
        }
    }

    /// Decides which refusals stop the import: nothing of the input after them is written.
    fn stops(&self) -> fn(&Error) -> bool {
        match (self.on_error, self.on_conflict) {
            (OnError::Skip, _) => |_| false,
            (OnError::Stop, OnConflict::Skip) => |error| !matches!(error, Error::Conflict { .. }),
            (OnError::Stop, _) => |_| true,
        }
    }

    /// The advice after an import that stopped.
    fn way_on(&self, error: &CliError) -> &'static str {
        match (error, self.on_conflict) {
            (CliError::Interrupted(_) | CliError::Io(_), OnConflict::Replace) => "Run it again.",
            (CliError::Interrupted(_) | CliError::Io(_), _) => "Run it again with --on-conflict skip to continue.",
            (CliError::Conflict(_), OnConflict::Error) => {
                "Run it again with --on-conflict skip to keep existing documents, or replace to overwrite them."
            }
            (_, OnConflict::Error) => {
                "Fix the input, and run it again with --on-conflict skip to continue; --on-error skip leaves out what \
                 cannot be imported."
            }
            _ => "Fix the input, and run it again; --on-error skip passes over what cannot be imported.",
        }
    }

    fn reshape(&self) -> Result<Reshape> {
        let below = self.path.as_deref().map(parse_path).transpose()?;
        // Behind the array of documents, the path leads to the document in its element.
        let inner = below.as_ref().and_then(|path| {
            let at = path.steps().iter().position(|step| *step == Step::Each)?;
            Some(path.steps().get(at + 1..)?.to_vec()).filter(|steps| !steps.is_empty())
        });
        let below = inner.map(DocumentPath::of_steps).transpose()?;
        let (drop, rename) = (self.drop.clone(), self.rename.clone());
        Ok(Reshape { below, drop, rename, extended: self.extended_json, ..Reshape::default() })
    }

    /// All files are opened first: a mistyped name stops before anything is imported.
    fn inputs(&self, context: &Context) -> Result<Vec<Input>> {
        if self.files.is_empty() {
            return Ok(vec![Input::standard(context)?]);
        }
        if self.files.iter().filter(|path| path.as_os_str() == "-").count() > 1 {
            return Err(CliError::Usage("standard input (-) is named twice, and can be read once".to_owned()));
        }
        self.files
            .iter()
            .map(|path| if path.as_os_str() == "-" { Input::standard(context) } else { Input::file(path) })
            .collect()
    }
}

/// The writes of an import that is one commit, and their places.
#[derive(Default)]
struct Whole {
    writes: Vec<(Write, Position)>,
    /// The inputs, and the number of the first write of each.
    inputs: Vec<(String, usize)>,
    bytes: usize,
}

impl Whole {
    /// Writes everything; an error names the place of the document that is refused.
    fn commit(&self, store: &Store, collection: &str) -> Result<()> {
        // Where the last attempt stopped: after a conflict with another writer there may be several. Behind all writes:
        // the commit itself.
        let at = Cell::new(0);
        let written = store.transaction(|transaction| {
            let collection = transaction.collection(collection)?;
            for (number, (write, _)) in self.writes.iter().enumerate() {
                at.set(number);
                collection.write(write.clone())?;
            }
            at.set(self.writes.len());
            Ok(())
        });
        written.map_err(|error| {
            let place = self.inputs.iter().rfind(|(_, first)| *first <= at.get()).zip(self.writes.get(at.get()));
            let place = place.map_or(String::new(), |((name, _), (_, position))| format!("{name}: {position}: "));
            CliError::from(error).before(&place)
        })
    }
}

/// The counts of an import so far.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    imported: u64,
    skipped: u64,
    failed: u64,
}

impl Counts {
    fn summary(self, collection: &str) -> String {
        let mut summary = format!("{} imported into {collection}", documents(self.imported));
        for (number, what) in [(self.skipped, "skipped, their ids are taken"), (self.failed, "failed")] {
            if number > 0 {
                summary = format!("{summary}, {} {what}", count(number));
            }
        }
        summary
    }
}

/// An input that is being imported.
struct Load<'i> {
    import: &'i Import,
    id_field: Option<&'i DocumentPath>,
    name: String,
    loader: Loader,
    /// The positions of documents whose outcome may not be known yet: one batch.
    places: VecDeque<(u64, Position)>,
    pushed: u64,
    counts: &'i mut Counts,
    progress: &'i Progress,
    reshape: &'i mut Reshape,
    whole: Option<&'i mut Whole>,
}

impl Load<'_> {
    fn input(&mut self, context: &Context, input: Input) -> Result<()> {
        let mut records = self.import.records(context, input, self.progress)?;
        let mut new_ids = NewIds::new();
        let mut first_text = None;
        loop {
            if context.interrupted() {
                return Err(CliError::Interrupted("interrupted".to_owned()));
            }
            match records.next_record() {
                Ok(Some(record)) => {
                    let position = record.position;
                    if self.pushed == 0 {
                        first_text = Some(record.text.clone());
                    }
                    match self.write(&record, &mut new_ids) {
                        Ok(write) => self.push(write, position)?,
                        Err(why) => self.fail(CliError::Input(format!("{}: {position}: {why}", self.name)))?,
                    }
                }
                Ok(None) => break,
                Err(InputError::Io(error)) => return Err(input::unreadable(&self.name, &error)),
                Err(error) => {
                    let error = CliError::Input(format!("{}: {error}", self.name));
                    if !matches!(records.skip_record(), Ok(true)) {
                        return Err(error);
                    }
                    self.fail(error)?;
                }
            }
            self.progress.show_bytes(self.counts.imported + self.loader.written());
        }
        if self.pushed == 1
            && let Some(hint) = first_text.and_then(|text| has_documents(&text))
        {
            self.progress.line(&format!("{} is one object, and so became one document; {hint}", self.name));
        }
        Ok(())
    }

    fn write(&mut self, record: &Record, new_ids: &mut NewIds) -> std::result::Result<Write, String> {
        let reshaped = self.reshape.document(&record.text)?;
        let text = reshaped.as_deref().unwrap_or(&record.text);
        let write = Write::from_json(text).or_else(|error| with_text_id(text, &error))?;
        let id = match self.id_field {
            Some(path) => match (write.id(), path.to_string().as_str()) {
                (Some(own), "_id") => own.to_owned(),
                _ => id_at(path, write.body()).map_err(|error| error.to_string())?,
            },
            None => match (write.id(), &record.id) {
                (Some(own), _) => own.to_owned(),
                (None, Some(key)) => key.clone(),
                (None, None) => new_ids.next_id(),
            },
        };
        let expect = match self.import.on_conflict {
            OnConflict::Error | OnConflict::Skip => Expect::Absent,
            OnConflict::Replace => Expect::Anything,
        };
        match write.with_id(&id) {
            Ok(write) => Ok(write.expecting(expect)),
            Err(error) => Err(error.to_string()),
        }
    }

    fn push(&mut self, write: Write, position: Position) -> Result<()> {
        self.places.push_back((self.pushed, position));
        if self.places.len() > 2 * LOAD_BATCH_DOCUMENTS {
            self.places.pop_front();
        }
        self.pushed += 1;
        if let Some(whole) = &mut self.whole {
            whole.bytes += write.size_bytes();
            if whole.inputs.last().is_none_or(|(name, _)| *name != self.name) {
                whole.inputs.push((self.name.clone(), whole.writes.len()));
            }
            whole.writes.push((write, position));
            if whole.writes.len() > WHOLE_DOCUMENTS_MAX || whole.bytes > WHOLE_BYTES_MAX {
                let what = "more than 10,000 documents or 32 MiB do not go into one commit";
                return Err(CliError::Input(format!("{what}; leave --all-or-nothing out, or divide the input")));
            }
            return Ok(());
        }
        let failures = self.loader.push(write)?;
        self.failures(failures)
    }

    /// Commits the documents that still wait.
    fn finish(mut self) -> Result<()> {
        let failures = self.loader.flush();
        self.counts.imported += self.loader.written();
        self.failures(failures?)
    }

    /// Takes note of refused documents. The first refusal that stops the import is the outcome.
    fn failures(&mut self, failures: Vec<LoadFailure>) -> Result<()> {
        let mut outcome = Ok(());
        for failure in failures {
            if self.import.on_conflict == OnConflict::Skip && matches!(failure.error, Error::Conflict { .. }) {
                self.counts.skipped += 1;
                continue;
            }
            let place = self.places.iter().find(|(number, _)| *number == failure.number);
            let position = place.map_or(Position::START, |(_, position)| *position);
            let error = CliError::from(failure.error).before(&format!("{}: {position}: ", self.name));
            outcome = outcome.and(self.fail(error));
        }
        outcome
    }

    /// A document cannot be imported: ends the import, or prints a line about it.
    fn fail(&mut self, error: CliError) -> Result<()> {
        if self.import.on_error == OnError::Stop {
            return Err(error);
        }
        self.counts.failed += 1;
        self.progress.line(&error.to_string());
        Ok(())
    }
}

/// A document whose `_id` is a number or MongoDB's, with that as text; or what is wrong, and what can be done.
fn with_text_id(text: &str, error: &Error) -> std::result::Result<Write, String> {
    let id = match error {
        Error::BadField { field: "_id", .. } => {
            Members::of(text).ok().and_then(|members| members.get("_id").and_then(id_of))
        }
        _ => None,
    };
    let Some(id) = id else { return Err(advised(error)) };
    let members = Members::of(text).map_err(|error| error.to_string())?;
    let others = members.0.iter().filter(|member| member.name != "_id").map(|member| (member.written, member.value));
    let id = quoted(&id);
    let text = object(std::iter::once(("\"_id\"", id.as_str())).chain(others));
    Write::from_json(text).map_err(|error| advised(&error))
}

/// The error, and what can be done.
fn advised(error: &Error) -> String {
    match error {
        Error::ReservedField { field } => {
            format!("{error}; --rename {field}=NAME keeps it under another name, --drop {field} leaves it out")
        }
        error => error.to_string(),
    }
}

/// How an object is imported that most likely is not a document, but has documents in it.
fn has_documents(text: &str) -> Option<String> {
    let members = Members::of(text).ok()?.0;
    if members.len() > 1 && members.iter().all(|member| member.value.starts_with('{')) {
        return Some("if its members are the documents, say --format map".to_owned());
    }
    let mut arrays = members
        .iter()
        .filter(|member| member.value.strip_prefix('[').is_some_and(|inner| inner.trim_start().starts_with('{')));
    let (array, None) = (arrays.next()?, arrays.next()) else { return None };
    Some(format!("if its documents are in {0:?}, say --path '{0}[]'", array.name))
}
