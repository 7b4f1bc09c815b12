//! `recension sync`: copies what the other side does not have, by CouchDB's replication.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use recension_engines::Address;
use recension_replicate::{Control, End, Error, Http, HttpOptions, Local, Options, Outcome, replicate};

use crate::context::{Context, Missing};
use crate::error::{CliError, Result};
use crate::output::count;
use crate::progress::Progress;

/// The interval of progress, and of the check for Ctrl-C.
const TICK: Duration = Duration::from_millis(100);
/// The first pause of a live replication that failed; each further one is twice as long.
const PAUSE: Duration = Duration::from_secs(1);
/// The longest pause.
const PAUSE_MAX: Duration = Duration::from_mins(1);

const EXAMPLES: &str = "\
Examples:
  recension sync notes http://ada:secret@example.org:5984/notes
  recension sync http://localhost:5984/notes notes --live
  recension sync old.store#notes new.store#notes
  RECENSION_SYNC_LOGIN=ada:secret recension sync notes https://example.org/notes --create
  RECENSION_PASSWORD=secret recension sync recension://ada@db.example:5985#notes notes

A side is the URL of a database (of CouchDB, PouchDB Server or recension serve), a collection of the store that \
--store names, or STORE#COLLECTION, if STORE is a folder or an address such as recension://HOST:PORT. It copies \
in one direction; for both directions, sync twice. A local target is created; a target at a URL only with \
--create. Both sides keep the position, so that the next sync, also after an interruption, continues there. \
Conflicts are copied as they are: recension conflicts lists them.
RECENSION_SYNC_LOGIN gives NAME:PASSWORD to the one side that is a URL, if the URL has none: everybody on the \
machine can see command lines.";

/// Copy the documents of one database to another
///
/// With CouchDB's replication protocol, between collections and databases at URLs.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Sync {
    /// The source: a URL, a collection, or STORE#COLLECTION
    #[arg(value_name = "FROM")]
    from: String,
    /// The target: a URL, a collection, or STORE#COLLECTION
    #[arg(value_name = "TO")]
    to: String,
    /// Continue with later changes, until Ctrl-C
    #[arg(long, visible_alias = "continuous")]
    live: bool,
    /// Create the database at a URL if it does not exist
    #[arg(long)]
    create: bool,
    /// Only documents with these ids
    #[arg(long = "id", value_name = "IDS", value_delimiter = ',')]
    ids: Vec<String>,
    /// Only documents that a selector (JSON) selects
    #[arg(long, value_name = "SELECTOR", conflicts_with = "ids")]
    selector: Option<String>,
    /// Only documents that pass a filter function of the source: DESIGN/NAME
    #[arg(long, value_name = "FILTER", conflicts_with_all = ["ids", "selector"])]
    filter: Option<String>,
    /// Start from the beginning, whatever was copied before
    #[arg(long)]
    again: bool,
    /// A file of certificates (PEM) to trust [default: the system's]
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
}

fn is_url(side: &str) -> bool {
    side.starts_with("http://") || side.starts_with("https://")
}

pub(super) fn failed(error: Error) -> CliError {
    let text = error.to_string();
    match error {
        Error::Store(error) => error.into(),
        Error::BadUrl { .. } | Error::BadOptions(_) => CliError::Usage(text),
        Error::NoDatabase { .. } => CliError::NotFound(text),
        Error::Stopped => CliError::Interrupted(text),
        _ => CliError::Io(text),
    }
}

impl Sync {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        let login = match std::env::var("RECENSION_SYNC_LOGIN") {
            Ok(login) if is_url(&self.from) != is_url(&self.to) => {
                let (name, password) = login
                    .split_once(':')
                    .ok_or_else(|| CliError::Usage("RECENSION_SYNC_LOGIN has to be NAME:PASSWORD".to_owned()))?;
                Some((name.to_owned(), password.to_owned()))
            }
            _ => None,
        };
        let home = context.full_address()?;
        let source = self.end(context, &self.from, Missing::IsAnError, login.as_ref())?;
        context.go_to(&home);
        let target = self.end(context, &self.to, Missing::Create, login.as_ref())?;
        let options = Options {
            live: self.live,
            doc_ids: (!self.ids.is_empty()).then(|| self.ids.clone()),
            selector: self.selector.clone(),
            filter: self.filter.clone(),
            create_target: self.create || !is_url(&self.to),
            checkpoints: !self.again,
            ..Options::default()
        };
        context.watch_for_interrupts()?;
        let mut pause = PAUSE;
        loop {
            match once(context, &*source, &*target, &options) {
                Err(error) if self.live && error.is_temporary() && !context.interrupted() => {
                    context.out.remark(&format!("{error}; it is tried again in {} s", pause.as_secs()))?;
                    let until = std::time::Instant::now() + pause;
                    while std::time::Instant::now() < until && !context.interrupted() {
                        std::thread::sleep(TICK);
                    }
                    pause = (pause * 2).min(PAUSE_MAX);
                }
                Err(error) => return Err(failed(error)),
                Ok(outcome) => return said(context, &outcome),
            }
            if context.interrupted() {
                return Ok(());
            }
        }
    }

    fn end(
        &self,
        context: &mut Context,
        side: &str,
        missing: Missing,
        login: Option<&(String, String)>,
    ) -> Result<Box<dyn End>> {
        if is_url(side) {
            let options = HttpOptions { certificates: self.ca.clone(), ..HttpOptions::default() };
            let authority = side.split('/').nth(2).unwrap_or_default();
            let end = match login.filter(|_| !authority.contains('@')) {
                Some((name, password)) => Http::with_password(side, name, password, options),
                None => Http::new(side, options),
            };
            return Ok(Box::new(end.map_err(failed)?));
        }
        if let Some((scheme, _)) = side.split_once("://").filter(|(_, rest)| !rest.contains('#')) {
            let why = format!(
                "{scheme}:// cannot name a database: a URL begins with http:// or https://, and a collection of \
                 another store is written STORE#COLLECTION"
            );
            return Err(CliError::Usage(why));
        }
        let name = match side.rsplit_once('#') {
            Some((store, name)) => {
                context.go_to(store);
                name
            }
            None => side,
        };
        let store = context.store(missing)?;
        let address = context.address();
        let place = match Address::parse(&address) {
            Ok(Address::Network(network)) => network.place(),
            _ => std::fs::canonicalize(&address).map_or(address, |path| path.display().to_string()),
        };
        let branch = store.branch_name().map(|branch| format!("#{branch}")).unwrap_or_default();
        Ok(Box::new(Local::new(store.collection(name)?).identified(format!("{place}{branch}#{name}"))))
    }
}

/// One replication on a thread of its own. This thread shows the progress.
fn once(
    context: &Context,
    source: &dyn End,
    target: &dyn End,
    options: &Options,
) -> std::result::Result<Outcome, Error> {
    let (control, progress) = (Control::default(), Progress::of_documents(None, context.quiet()));
    std::thread::scope(|scope| {
        let own = control.clone();
        let running = scope.spawn(move || replicate(source, target, options, &own));
        while !running.is_finished() {
            if context.interrupted() {
                control.stop();
            }
            progress.show_position(control.statistics().docs_written);
            std::thread::park_timeout(TICK);
        }
        running.join().unwrap_or_else(|_| Err(Error::BadOptions("the replication panicked".to_owned())))
    })
}

fn said(context: &mut Context, outcome: &Outcome) -> Result<()> {
    let own = &outcome.statistics;
    if !context.out.for_people() {
        context.out.json(&outcome.to_json())?;
    }
    let (written, failures) = (own.docs_written, own.doc_write_failures);
    context.out.remark(&format!(
        "{} written; the source was read up to {}",
        revisions(written),
        outcome.source_last_seq
    ))?;
    let Some((id, why)) = own.last_refusal.as_ref().filter(|_| failures > 0) else { return Ok(()) };
    Err(CliError::Input(format!(
        "the target refused {}, the last one of the document {id:?} ({why}); they are not tried again unless \
         they change, \
         or with --again",
        revisions(failures)
    )))
}

fn revisions(number: u64) -> String {
    if number == 1 { "1 revision".to_owned() } else { format!("{} revisions", count(number)) }
}
