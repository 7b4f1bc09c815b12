//! `recension attach`: the attachments of documents. Bytes go in and out in pieces: it must never hold more than a
//! piece of an attachment in memory, nor leave half a file under the name that was asked for.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write as _};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use recension::{At, AttachmentReader, CollectionAt, Encoding, Error, RevId, Write};
use serde_json::{Value, json};

use super::patch::expected;
use crate::context::{Context, Missing, took};
use crate::error::{CliError, Result};
use crate::files::{output, replace};
use crate::limits::BLOCK_BYTES;
use crate::moments::{existing, to_change, to_write};
use crate::output::{bytes, plain};
use crate::progress::Progress;

const EXAMPLES: &str = "\
Examples:
  recension attach put cities 2735943 map.png map.png
  curl -s https://example.org/porto.pdf | recension attach put cities 2735943 guide.pdf -
  recension attach list cities 2735943
  recension attach get cities 2735943 map.png -o map.png
  recension attach rm cities 2735943 map.png

Each change is a new revision of the document, whose body stays as it is. Equal bytes are stored once in a \
collection, however many documents have them.";

/// Put, get, list and remove the attachments of documents
///
/// An attachment is a part of a document: bytes of any length with a name and a media type.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Attach {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Add an attachment to a document, or replace it
    Put(Put),
    /// Write an attachment to a file or standard output
    Get(Get),
    /// List the attachments of a document
    List(List),
    /// Remove an attachment from a document (its history stays)
    Rm(Rm),
}

const PUT_EXAMPLES: &str = "\
Examples:
  recension attach put cities 2735943 map.png map.png
  recension attach put cities 2735943 notes notes.txt --type text/plain
  recension attach put cities 2735943 map.png new.png --rev 2-967a00dff5e02add41819138abb3284d

If there is no such document, it is created with the body {}. Without --type the name's extension decides the \
media type. Text, JSON, XML and JavaScript are stored compressed. The bytes go into the store in pieces that \
nobody sees until all are there; what an interrupted command leaves is taken away later.";

#[derive(Debug, Args)]
#[command(after_help = PUT_EXAMPLES)]
struct Put {
    /// The collection
    collection: String,
    /// The document's id
    id: String,
    /// The attachment's name
    name: String,
    /// The file with the bytes; - means standard input
    #[arg(value_hint = clap::ValueHint::FilePath)]
    file: PathBuf,
    /// The media type, such as image/png
    #[arg(long = "type", value_name = "TYPE")]
    content_type: Option<String>,
    /// Write only if the document has this revision; otherwise exit with 3
    #[arg(long)]
    rev: Option<RevId>,
}

const GET_EXAMPLES: &str = "\
Examples:
  recension attach get cities 2735943 map.png -o map.png
  recension attach get cities 2735943 notes | less
  recension attach get cities 2735943 map.png --at '1 hour ago' -o old.png

The exit code is 1 if there is no such attachment at that moment.";

#[derive(Debug, Args)]
#[command(after_help = GET_EXAMPLES)]
struct Get {
    /// The collection
    collection: String,
    /// The document's id
    id: String,
    /// The attachment's name
    name: String,
    /// The file to write; it appears only when it is complete. - or none means standard output
    #[arg(long, short)]
    output: Option<PathBuf>,
    #[command(flatten)]
    then: Then,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  recension attach list cities 2735943\n  recension attach list cities 2735943 --at 172"
)]
struct List {
    /// The collection
    collection: String,
    /// The document's id
    id: String,
    #[command(flatten)]
    then: Then,
}

/// The revision to read.
#[derive(Debug, Args)]
struct Then {
    /// As of a moment: a commit (1234), a time (2026-11-21T10:00:00Z), a day, an age (2h, 3d) or a tag (tag:v1)
    #[arg(long, value_name = "MOMENT", default_value = "now")]
    at: At,
    /// Of this revision, from the document's history or a conflict
    #[arg(long, conflicts_with = "at")]
    rev: Option<RevId>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  recension attach rm cities 2735943 map.png\n\nThe exit code is 1 if there is no such \
        attachment."
)]
struct Rm {
    /// The collection
    collection: String,
    /// The document's id
    id: String,
    /// The attachment's name
    name: String,
    /// Write only if the document has this revision; otherwise exit with 3
    #[arg(long)]
    rev: Option<RevId>,
}

impl Attach {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        match &self.action {
            Action::Put(put) => put.run(context),
            Action::Get(get) => get.run(context),
            Action::List(list) => list.run(context),
            Action::Rm(rm) => rm.run(context),
        }
    }
}

impl Put {
    fn run(&self, context: &mut Context) -> Result<()> {
        if self.name.is_empty() {
            return Err(CliError::Usage("an attachment has a name of at least one character".to_owned()));
        }
        let content_type = match &self.content_type {
            Some(given) => given,
            None => type_of(&self.name),
        };
        let (input, length) = self.input(context)?;
        context.watch_for_interrupts()?;
        let store = context.store(Missing::IsAnError)?;
        let collection = to_write(&store, &self.collection)?;
        // If the write will be refused, the input is not read at all.
        let write = Write::same_body(&self.id, expected(self.rev))?;
        let started = context.started();
        let progress = Progress::of_bytes(length, context.quiet());
        let uploaded = collection.uploads().add(Watched { input, read: 0, progress: &progress, context }, content_type);
        drop(progress);
        context.go_on()?;
        let upload = uploaded.map_err(|error| match error {
            Error::Input { source } => {
                let standard = self.file == Path::new("-");
                let name = if standard { "standard input".to_owned() } else { self.file.display().to_string() };
                CliError::io(format!("reading {name}"), &source)
            }
            error => error.into(),
        })?;
        let size = bytes(upload.length());
        let written = collection.write(write.attach(&self.name, upload)?)?;
        super::put::print(context, &written)?;
        Ok(context.out.remark(&format!("{size} of {content_type} in {}", took(started.elapsed())))?)
    }

    /// The bytes, and their number if that is known.
    fn input(&self, context: &Context) -> Result<(Box<dyn Read>, Option<u64>)> {
        let path = &self.file;
        if path == Path::new("-") {
            let missing = "there are no bytes: name a file as the last argument, or pipe them in";
            return Ok((context.standard_input(missing)?, None));
        }
        let failed = |error: &io::Error| CliError::io(format!("opening {}", path.display()), error);
        let file = File::open(path).map_err(|error| failed(&error))?;
        let metadata = file.metadata().map_err(|error| failed(&error))?;
        if metadata.is_dir() {
            return Err(CliError::Usage(format!("{} is a directory; an attachment is a file", path.display())));
        }
        let length = metadata.is_file().then_some(metadata.len());
        Ok((Box::new(file), length))
    }
}

impl Get {
    fn run(&self, context: &mut Context) -> Result<()> {
        context.watch_for_interrupts()?;
        let collection = self.then.collection(context, &self.collection)?;
        let found = match &self.then.rev {
            Some(rev) => collection.attachment_of(&self.id, rev, &self.name)?,
            None => collection.attachment(&self.id, &self.name)?,
        };
        let Some(attachment) = found else {
            // If the document or its revision is missing, that is the error, rather than the missing attachment.
            self.then.attachments(&collection, &self.collection, &self.id)?;
            return Err(Error::NoSuchAttachment { id: self.id.clone(), name: self.name.clone() }.into());
        };
        match output(self.output.as_deref()) {
            None => {
                context.out.flush()?;
                let mut out = BufWriter::with_capacity(BLOCK_BYTES, io::stdout().lock());
                self.copy(context, attachment, &mut out)?;
                Ok(out.flush()?)
            }
            Some(path) => {
                let started = context.started();
                let length = replace(path, |mut out| self.copy(context, attachment, &mut out))?;
                let text = format!("{} in {}", bytes(length), took(started.elapsed()));
                Ok(context.out.remark(&text)?)
            }
        }
    }

    fn copy(&self, context: &Context, mut attachment: AttachmentReader, out: &mut impl io::Write) -> Result<u64> {
        let total = attachment.info().length();
        // Progress is shown only if standard output is not the terminal.
        let quiet = context.quiet() || output(self.output.as_deref()).is_none() && context.out.for_people();
        let progress = Progress::of_bytes(Some(total), quiet);
        let (mut block, mut done) = (vec![0; BLOCK_BYTES], 0);
        loop {
            context.go_on()?;
            let count = attachment.read(&mut block).map_err(|error| {
                CliError::Damaged(format!("reading the attachment {:?} of document {:?}: {error}", self.name, self.id))
            })?;
            if count == 0 {
                return Ok(done);
            }
            out.write_all(block.get(..count).unwrap_or_default())?;
            done += count as u64;
            progress.show_copied(done, total);
        }
    }
}

impl List {
    fn run(&self, context: &mut Context) -> Result<()> {
        let collection = self.then.collection(context, &self.collection)?;
        let attachments = self.then.attachments(&collection, &self.collection, &self.id)?;
        if attachments.is_empty() {
            return Ok(context.out.remark(&format!("document {:?} has no attachments", plain(&self.id)))?);
        }
        let rows: Vec<Vec<Value>> = attachments
            .iter()
            .map(|info| {
                let gzip = info.encoding() == Encoding::Gzip;
                let stored = json!(info.stored_length());
                vec![
                    json!(info.name),
                    json!(info.content_type),
                    json!(info.length()),
                    if gzip || !context.out.for_people() { stored } else { json!("") },
                    json!(info.revpos),
                    json!(info.digest()),
                ]
            })
            .collect();
        Ok(context.out.rows(&["name", "type", "bytes", "stored bytes", "revpos", "digest"], &rows)?)
    }
}

impl Then {
    fn collection(&self, context: &mut Context, name: &str) -> Result<CollectionAt> {
        let store = context.store(Missing::IsAnError)?;
        existing(&store, name, context.moment(&store, self.at)?)
    }

    fn attachments(&self, collection: &CollectionAt, name: &str, id: &str) -> Result<Vec<recension::AttachmentInfo>> {
        match &self.rev {
            Some(rev) => match collection.get_revision(id, rev)? {
                Some(revision) => Ok(revision.attachments),
                None => Err(Error::NoSuchRevision { id: id.to_owned(), rev: *rev }.into()),
            },
            None => match collection.get(id)? {
                Some(document) => Ok(document.attachments),
                None => Err(super::get::missing(name, id, self.at)),
            },
        }
    }
}

impl Rm {
    fn run(&self, context: &mut Context) -> Result<()> {
        let store = context.store(Missing::IsAnError)?;
        let collection = to_change(&store, &self.collection)?;
        let write = Write::same_body(&self.id, expected(self.rev))?.detach(&self.name);
        let written = collection.write(write)?;
        super::put::print(context, &written)
    }
}

/// An input whose bytes are counted, and that ends with an error if the user stops it.
struct Watched<'c, R> {
    input: R,
    read: u64,
    progress: &'c Progress,
    context: &'c Context,
}

impl<R: Read> Read for Watched<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.context.interrupted() {
            return Err(io::Error::other("interrupted"));
        }
        let read = self.input.read(buffer)?;
        self.read += read as u64;
        self.progress.show_position(self.read);
        Ok(read)
    }
}

/// The media type that a name's ending stands for.
fn type_of(name: &str) -> &'static str {
    const TYPES: [(&str, &str); 26] = [
        ("bin", "application/octet-stream"),
        ("css", "text/css"),
        ("csv", "text/csv"),
        ("gif", "image/gif"),
        ("gz", "application/gzip"),
        ("htm", "text/html"),
        ("html", "text/html"),
        ("jpeg", "image/jpeg"),
        ("jpg", "image/jpeg"),
        ("js", "application/javascript"),
        ("json", "application/json"),
        ("md", "text/markdown"),
        ("mp3", "audio/mpeg"),
        ("mp4", "video/mp4"),
        ("ogg", "audio/ogg"),
        ("pdf", "application/pdf"),
        ("png", "image/png"),
        ("svg", "image/svg+xml"),
        ("tar", "application/x-tar"),
        ("txt", "text/plain"),
        ("wasm", "application/wasm"),
        ("wav", "audio/wav"),
        ("webm", "video/webm"),
        ("webp", "image/webp"),
        ("xml", "application/xml"),
        ("zip", "application/zip"),
    ];
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let known = TYPES.iter().find(|(known, _)| ending.eq_ignore_ascii_case(known));
    known.map_or("application/octet-stream", |(_, content_type)| content_type)
}
