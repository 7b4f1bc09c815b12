//! `recension export`: the documents of a collection as of one moment, into a file or a pipe. It must
//! never leave half a file under the name that was asked for.

use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use clap::{Args, ValueEnum};
use recension::conditions::parse_path;
use recension::{At, AttachmentInfo, CollectionAt, Document, ListOptions, Path as DocumentPath, Query, Store};
#[cfg(feature = "apocrypha")]
use recension_apocrypha::{Database, Dialect, file};

use super::find::{hint, hint_of_members, query_of, sorted};
use crate::context::{Context, Missing, took};
use crate::csv_out::{Kinds, check_column, csv_text, id_cell, quoted, record};
use crate::error::{CliError, Result};
use crate::files::{output, replace};
use crate::ids::with_id;
use crate::limits::{COLUMNS_MAX, INLINE_BYTES_MAX};
use crate::members::Members;
use crate::moments::existing;
use crate::output::documents as counted;
use crate::progress::Progress;

/// The formats of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// One document per line
    #[value(alias = "jsonl")]
    Ndjson,
    /// An array of documents
    Json,
    /// One object with all documents as members, like Apocrypha's database files
    Apocrypha,
    /// Comma-separated values under a header; nested values as JSON
    Csv,
}

const EXAMPLES: &str = "\
Examples:
  recension export cities > cities.ndjson
  recension export cities -o cities.csv --fields name,countrycode,population
  recension export cities -o cities.json --at 2026-11-21
  recension export cities --where 'countrycode = PT' --sort -population --csv --fields name,population
  recension export apocrypha -o db.json --format apocrypha
  recension export cities | recension --store sqlite:copy.sqlite import cities

Documents are written as they were stored, with their ids as the member _id. Importing an export gives the same \
documents under the same ids. (CSV has no null and no attachments: they are lost in it.)";

/// Write the documents of a collection to a file or standard output
///
/// All documents are read as of one commit, whatever is written meanwhile.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Export {
    /// The collection
    collection: String,
    /// The file to write; it appears only when it is complete. - or none means standard output
    #[arg(long, short)]
    output: Option<PathBuf>,
    /// The format; by default that of the file's extension, otherwise NDJSON
    #[arg(long, short)]
    format: Option<ExportFormat>,
    /// CSV: the columns, such as _id,name,address.city; by default _id and every member of any document
    #[arg(long, value_name = "MEMBERS", value_delimiter = ',')]
    fields: Vec<String>,
    /// Only documents that meet a condition, as in `recension find`
    #[arg(long = "where", value_name = "CONDITION")]
    condition: Option<String>,
    /// The members to sort by; - before a member sorts in descending order. By default documents are sorted by id
    #[arg(long, value_name = "[-]MEMBERS", allow_hyphen_values = true, value_delimiter = ',')]
    sort: Vec<String>,
    /// The same as --format csv
    #[arg(long, conflicts_with = "format")]
    csv: bool,
    /// Include each document's revision, as the member _rev
    #[arg(long)]
    revisions: bool,
    /// As of a moment: a commit (1234), a time (2026-11-21T10:00:00Z), a day, an age (2h, 3d) or a tag (tag:v1)
    #[arg(long, value_name = "MOMENT", default_value = "now")]
    at: At,
}

impl Export {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        let named = if self.csv { Some(ExportFormat::Csv) } else { self.format };
        let format = match (named, &self.output) {
            (Some(format), _) => format,
            (None, Some(path)) => format_of(path)?,
            (None, None) => ExportFormat::Ndjson,
        };
        let query = self.query()?;
        if query.is_some() && format == ExportFormat::Apocrypha {
            return Err(CliError::Usage("--where and --sort are not for the form of Apocrypha".to_owned()));
        }
        if !self.fields.is_empty() && format != ExportFormat::Csv {
            return Err(CliError::Usage(
                "--fields is for CSV; `recension find --fields` prints chosen members".to_owned(),
            ));
        }
        if self.revisions && format == ExportFormat::Apocrypha {
            return Err(CliError::Usage("--revisions is not for the form of Apocrypha".to_owned()));
        }
        if self.revisions && !self.fields.is_empty() {
            return Err(CliError::Usage(
                "with --fields, --revisions says nothing: name _rev among the fields".to_owned(),
            ));
        }
        context.watch_for_interrupts()?;
        let store = context.store(Missing::IsAnError)?;
        let collection = existing(&store, &self.collection, context.moment(&store, self.at)?)?;
        let started = context.started();
        let number = match output(self.output.as_deref()) {
            _ if format == ExportFormat::Apocrypha => self.write_apocrypha(&store)?,
            None => {
                let mut out = BufWriter::with_capacity(64 * 1024, io::stdout().lock());
                let number = self.write(context, &collection, format, query.as_ref(), &mut out)?;
                out.flush()?;
                number
            }
            Some(path) => replace(path, |mut out| self.write(context, &collection, format, query.as_ref(), &mut out))?,
        };
        let left_out = if self.sort.is_empty() {
            0
        } else {
            let all = query_of(self.condition.as_deref().unwrap_or_default())?;
            collection.count_matching(&all)?.saturating_sub(number)
        };
        let left_out = match left_out {
            0 => String::new(),
            left_out => {
                let names = self.sort.iter().map(|member| member.strip_prefix('-').unwrap_or(member));
                let names = names.collect::<Vec<_>>().join(" or ");
                let without = counted(left_out);
                format!("; left out: {without} without {names}, since --sort orders by values")
            }
        };
        let hint = match number {
            0 => hint(self.condition.as_deref().unwrap_or_default(), &collection),
            _ => hint_of_members(&self.fields.iter().map(String::as_str).collect::<Vec<_>>(), &collection),
        };
        Ok(context.out.remark(&format!("{} in {}{left_out}{hint}", counted(number), took(started.elapsed())))?)
    }

    /// The query, unless everything is asked for.
    fn query(&self) -> Result<Option<Query>> {
        if self.condition.is_none() && self.sort.is_empty() {
            return Ok(None);
        }
        let query = query_of(self.condition.as_deref().unwrap_or_default())?;
        // Without --sort the order is by id, as it is for an export of everything.
        let by_id = || vec!["_id".to_owned()];
        Ok(Some(sorted(query, if self.sort.is_empty() { by_id() } else { self.sort.clone() }.as_slice())?))
    }

    #[cfg(not(feature = "apocrypha"))]
    fn write_apocrypha(&self, _: &Store) -> Result<u64> {
        Err(CliError::Usage(format!(
            "exporting {} in the form of Apocrypha needs the cargo feature `apocrypha`, which this program was built \
             without",
            self.collection
        )))
    }

    #[cfg(feature = "apocrypha")]
    fn write_apocrypha(&self, store: &Store) -> Result<u64> {
        let database = Database::in_collection(store, &self.collection, Dialect::HASKELL)?;
        let write = |out: &mut dyn Write| {
            file::export(&database, self.at, out).map_err(|error| CliError::Io(format!("exporting: {error}")))
        };
        match output(self.output.as_deref()) {
            None => write(&mut io::stdout().lock()),
            Some(path) => replace(path, write),
        }
    }

    fn write(
        &self,
        context: &Context,
        collection: &CollectionAt,
        format: ExportFormat,
        query: Option<&Query>,
        out: &mut impl Write,
    ) -> Result<u64> {
        let fields = match format {
            ExportFormat::Csv => self.columns(context, collection, query)?,
            _ => Vec::new(),
        };
        let mut kinds = vec![Kinds::default(); fields.len()];
        if format == ExportFormat::Csv {
            let header: Vec<String> = fields.iter().map(|column| quoted(column.name())).collect();
            writeln!(out, "{}", record(header.iter().map(String::as_str)))?;
        }
        // Progress is shown only if standard output is not the terminal.
        let progress = Progress::of_documents(
            if query.is_some() { None } else { Some(collection.count()?) },
            context.quiet() || output(self.output.as_deref()).is_none() && context.out.for_people(),
        );
        let (mut number, mut with_attachments) = (0, 0);
        for document in documents(context, collection, query)? {
            let document = document?;
            match format {
                ExportFormat::Apocrypha | ExportFormat::Ndjson => {
                    writeln!(out, "{}", self.text(collection, &document)?)?;
                }
                ExportFormat::Json => {
                    let before = if number == 0 { "[\n" } else { ",\n" };
                    write!(out, "{before}{}", self.text(collection, &document)?)?;
                }
                ExportFormat::Csv => {
                    with_attachments += u64::from(!document.attachments.is_empty());
                    let members = Members::of(&document.body).unwrap_or_default();
                    let cells = fields.iter().zip(&mut kinds);
                    let cells: Vec<String> =
                        cells.map(|(column, kinds)| column.cell(&document, &members, kinds)).collect();
                    writeln!(out, "{}", record(cells.iter().map(String::as_str)))?;
                }
            }
            number += 1;
            progress.show_documents(number);
        }
        if with_attachments > 0 && self.fields.is_empty() && !context.quiet() {
            let number = counted(with_attachments);
            progress.line(&format!("the attachments of {number} are left out: a table has no place for them"));
        }
        for lost in fields.iter().zip(kinds).filter_map(|(column, kinds)| kinds.lost(column.name())) {
            if !context.quiet() {
                progress.line(&lost);
            }
        }
        if format == ExportFormat::Json {
            writeln!(out, "{}", if number == 0 { "[]" } else { "\n]" })?;
        }
        Ok(number)
    }

    fn text(&self, collection: &CollectionAt, document: &Document<'_>) -> Result<String> {
        let rev = self.revisions.then(|| document.rev.to_string());
        let mut text = with_id(&document.id, rev.as_deref(), &document.body);
        if !document.attachments.is_empty() {
            text.pop();
            text.push_str(",\"_attachments\":");
            text.push_str(&inline(collection, document)?);
            text.push('}');
        }
        Ok(text)
    }

    /// The columns, and the paths of their values.
    fn columns(&self, context: &Context, collection: &CollectionAt, query: Option<&Query>) -> Result<Vec<Column>> {
        if let Some((_, twice)) =
            (1..).zip(&self.fields).find(|(next, name)| self.fields.iter().skip(*next).any(|n| n == *name))
        {
            return Err(CliError::Usage(format!("{twice} is twice among the --fields")));
        }
        if !self.fields.is_empty() {
            return self
                .fields
                .iter()
                .map(|field| {
                    Ok(match field.as_str() {
                        "_id" | "_rev" => Column::Member(field.clone()),
                        _ => Column::Path(field.clone(), parse_path(field)?),
                    })
                })
                .collect();
        }
        let mut names = vec!["_id".to_owned()];
        if self.revisions {
            names.push("_rev".to_owned());
        }
        for document in documents(context, collection, query)? {
            let document = document?;
            for member in Members::of(&document.body).unwrap_or_default().0 {
                if !names.iter().any(|known| *known == member.name) {
                    check_column(&document.id, &member.name)?;
                    names.push(member.name.into_owned());
                }
            }
            if names.len() > COLUMNS_MAX {
                return Err(CliError::Usage(format!(
                    "the documents have more than {COLUMNS_MAX} different members, the limit of columns; choose some \
                     with --fields"
                )));
            }
        }
        Ok(names.into_iter().map(Column::Member).collect())
    }
}

/// The document with its attachments' bytes inline, as an import reads them.
fn inline(collection: &CollectionAt, document: &Document<'_>) -> Result<String> {
    let bytes: u64 = document.attachments.iter().map(AttachmentInfo::length).sum();
    if bytes > INLINE_BYTES_MAX {
        return Err(CliError::Usage(format!(
            "the attachments of document {:?} have {bytes} bytes; an export holds at most {INLINE_BYTES_MAX} of one \
             document. Use recension backup, which copies everything",
            document.id
        )));
    }
    let mut members = serde_json::Map::new();
    for attachment in &document.attachments {
        let mut data = Vec::new();
        let doing = || format!("reading the attachment {:?} of document {:?}", attachment.name, document.id);
        let mut reader = collection.open_attachment(attachment)?;
        reader.read_to_end(&mut data).map_err(|error| CliError::Damaged(format!("{}: {error}", doing())))?;
        let data = base64::engine::general_purpose::STANDARD.encode(data);
        let member = serde_json::json!({"content_type": attachment.content_type, "data": data});
        members.insert(attachment.name.clone(), member);
    }
    Ok(serde_json::Value::Object(members).to_string())
}

/// The documents. Ends early if the user stops it.
fn documents<'c>(
    context: &'c Context,
    collection: &'c CollectionAt,
    query: Option<&Query>,
) -> Result<impl Iterator<Item = Result<Document<'static>>> + use<'c>> {
    type Documents = Box<dyn Iterator<Item = recension::Result<Document<'static>>>>;
    let documents: Documents = match query {
        Some(query) => Box::new(collection.find(query)?),
        None => Box::new(collection.list(&ListOptions::default())?),
    };
    Ok(documents.map(|document| {
        if context.interrupted() {
            return Err(CliError::Interrupted("interrupted; nothing was left half written".to_owned()));
        }
        Ok(document?)
    }))
}

/// A column of a CSV file.
enum Column {
    /// A member of that name, or `_id` or `_rev`.
    Member(String),
    /// The value at a path, under the name that the user gave.
    Path(String, DocumentPath),
}

impl Column {
    fn name(&self) -> &str {
        match self {
            Column::Member(name) | Column::Path(name, _) => name,
        }
    }

    fn cell(&self, document: &Document<'_>, members: &Members<'_>, kinds: &mut Kinds) -> String {
        let value = match self {
            Column::Member(name) if name == "_id" => return id_cell(&document.id),
            Column::Member(name) if name == "_rev" => return document.rev.to_string(),
            Column::Member(name) => members.get(name),
            Column::Path(_, path) => path.find(&document.body),
        };
        let Some(value) = value else { return String::new() };
        kinds.see(value);
        csv_text(value)
    }
}

/// Endings of files that other programs read by their endings, and that are not written here.
const OF_OTHERS: [&str; 18] = [
    "arrow", "avro", "bz2", "db", "feather", "gz", "html", "ods", "parquet", "sqlite", "sqlite3", "tsv", "xls", "xlsx",
    "xml", "xz", "zip", "zst",
];

fn format_of(path: &Path) -> Result<ExportFormat> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("csv") => Ok(ExportFormat::Csv),
        Some("json") => Ok(ExportFormat::Json),
        Some(ending) if OF_OTHERS.contains(&ending) => Err(CliError::Usage(format!(
            "no .{ending} is written here: name the file .csv (spreadsheets and pandas read it), .json or .ndjson, or \
             say --format; compress with `recension export ... | gzip`"
        ))),
        _ => Ok(ExportFormat::Ndjson),
    }
}
