//! The command line: its commands, and what each of them runs.

use clap::builder::styling::{AnsiColor, Styles};
use clap::{CommandFactory as _, Parser, Subcommand};

use crate::commands::{
    aggregate, apocrypha, attach, backup, branch, changes, cluster, collections, compact, completions, conflicts, d,
    delete, diff, doctor, drop, erase, explain, export, find, gateway, get, history, import, index, key, log, man,
    merge, mv, patch, ping, project, purge, put, restore, restore_backup, retention, salvage, schema, serve, shell,
    stats, sync, token, update, verify, views,
};
use crate::common::Common;
use crate::context::Context;
use crate::error::{CliError, Result};

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

const EXIT_CODES: &str = "\
Exit codes:
  0    done
  1    not found: no such document, collection, index or revision
  2    the command line or an argument is wrong
  3    conflict: the document has another revision, the id is taken, or a unique index refuses
  4    damage was found in the store
  5    an input is malformed, or a document is refused
  6    the store or a file cannot be opened, read or written
  130  interrupted (Ctrl-C)

Examples:
  recension import cities cities.json --id-field geonameid
  recension find cities 'name = \"Porto\"'
  recension index create cities population
  recension find cities 'population > 10000000' --sort -population
  recension get cities 2735943 --at '5 minutes ago'

The store is a directory (./recension.store unless --store or RECENSION_STORE names another), sqlite:FILE, or \
memory: (gone when the command ends). At a terminal results are tables; in a pipe they are one JSON value per \
line.";

/// A JSON document database in which every version of every document can be read.
#[derive(Debug, Parser)]
#[command(name = "recension", version, styles = STYLES, after_help = EXIT_CODES, arg_required_else_help = true)]
#[command(max_term_width = 110)]
pub struct CommandLine {
    /// Which store, and for whom.
    #[command(flatten)]
    pub common: Common,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The command line of a program that is started for every request: reading it must not cost what the descriptions of
/// all commands cost. What it does not understand is for [`CommandLine`] to say.
#[derive(Debug, Parser)]
#[command(name = "recension", disable_help_flag = true, disable_help_subcommand = true)]
pub struct CgiLine {
    /// Which store, and for whom.
    #[command(flatten)]
    pub common: Common,
    /// The only command.
    #[command(subcommand)]
    pub command: CgiOnly,
}

/// The only command of [`CgiLine`].
#[derive(Debug, Subcommand)]
pub enum CgiOnly {
    /// Answer one request as a CGI program
    Cgi(gateway::CgiCommand),
}

/// The commands. One that needs no more than a context is a line here, with what its help says.
macro_rules! commands {
    ($($(#[$about:meta])* $name:ident($arguments:ty),)*) => {
        /// The commands.
        #[derive(Debug, Subcommand)]
        pub enum Command {
            $($(#[$about])* $name($arguments),)*
            /// Run many commands on one open store, by hand or from a script
            Shell(shell::ShellCommand),
            /// Print a script that completes command lines in bash, zsh, fish and others
            Completions(completions::Completions),
            /// Print or write the manual pages
            Man(man::Man),
        }

        impl Command {
            /// Runs it.
            ///
            /// # Errors
            /// Why it failed.
            pub fn run(&self, context: &mut Context) -> Result<()> {
                if let Some(name) = self.whole_store() {
                    context.whole_store(name)?;
                }
                match self {
                    $(Command::$name(command) => command.run(context),)*
                    Command::Shell(_) => Err(CliError::Usage("this is a shell already; exit ends it".to_owned())),
                    Command::Completions(command) => command.run(CommandLine::command(), context),
                    Command::Man(command) => command.run(CommandLine::command(), context),
                }
            }
        }
    };
}

impl Command {
    /// The name of a command that knows no branches: it would do something to the whole store, or look at all of it.
    fn whole_store(&self) -> Option<&'static str> {
        Some(match self {
            Command::Backup(_) => "backup",
            Command::Cluster(_) => "cluster",
            Command::Compact(_) => "compact",
            Command::Doctor(_) => "doctor",
            Command::Key(_) => "key",
            Command::Move(_) => "move",
            Command::RestoreBackup(_) => "restore-backup",
            Command::Salvage(_) => "salvage",
            Command::Stats(_) => "stats",
            Command::Upgrade(_) => "upgrade",
            Command::Verify(_) => "verify",
            _ => return None,
        })
    }
}

commands! {
    /// Read documents from a file or standard input into a collection
    Import(import::Import),
    /// Write the documents of a collection to a file or standard output
    Export(export::Export),
    /// Print a document
    Get(get::Get),
    /// Create or replace a document, or change members of it
    Put(put::Put),
    /// Change a part of a document
    Patch(patch::Patch),
    /// Check whether the store answers, and how fast
    Ping(ping::Ping),
    /// List the branches; make, rename or drop one
    Branch(branch::Branch),
    /// List the tags; give a moment a name, or take it away
    Tag(branch::Tag),
    /// Merge a branch into the store, or into another branch
    Merge(merge::Merge),
    /// List where branches begin, tags, merges, and the last changes on each branch
    Log(log::Log),
    /// Delete a document (its history stays)
    Delete(delete::Delete),
    /// Compute counts, sums and the like for groups of documents
    Aggregate(aggregate::Aggregate),
    /// Change every document that meets a condition
    Update(update::Update),
    /// Find documents by the values of their members
    Find(find::Find),
    /// Show how a find would be executed, without running it
    Explain(explain::Explain),
    /// Create, list and drop indexes
    Index(index::Index),
    /// List the views of a collection, build them, drop unused ones
    Views(views::Views),
    /// Set, show and remove the JSON Schema that documents must conform to
    Schema(schema::SchemaCommand),
    /// Put, get, list and remove the attachments of documents
    Attach(attach::Attach),
    /// List the revisions of a document
    History(history::History),
    /// Show the differences between two moments or revisions
    Diff(diff::Diff),
    /// List what has changed, and follow later changes
    Changes(changes::ChangesCommand),
    /// Make a past revision of a document the newest, or bring a collection or the store back to a moment
    Restore(restore::Restore),
    /// List conflicts, show the revisions in conflict, and pick one
    Conflicts(conflicts::Conflicts),
    /// Remove a document as if it had never existed (its past stays)
    Purge(purge::PurgeCommand),
    /// Remove documents from every moment of the store
    Erase(erase::EraseCommand),
    /// Drop a collection with its indexes (its past can be read)
    Drop(drop::DropCommand),
    /// List the collections
    Collections(collections::Collections),
    /// Make a key, show the keys of an encrypted store, and change them
    #[command(visible_alias = "keys")]
    Key(key::KeyCommand),
    /// Print sizes and counters of the store
    Stats(stats::StatsCommand),
    /// Show and maintain a store on a shared log
    Cluster(cluster::ClusterCommand),
    /// Write the documents into SQL tables of the database that has the store's log
    Project(project::ProjectCommand),
    /// Move a store to another place: from a directory to a shared log, back, or from log to log
    Move(mv::Move),
    /// Show or set how much of a collection's history is kept
    Retention(retention::RetentionCommand),
    /// Remove history that is not kept, and free disk space, now
    Compact(compact::Compact),
    /// Read the whole store and check every checksum
    Verify(verify::Verify),
    /// Copy the store to another place, or bring an earlier copy up to date
    Backup(backup::Backup),
    /// Make a new store from a backup, as of its newest commit or of a moment
    RestoreBackup(restore_backup::RestoreBackup),
    /// Copy everything readable from a damaged store into a new one
    Salvage(salvage::Salvage),
    /// Copy the documents of one database to another
    Sync(sync::Sync),
    /// Serve the store over HTTP, as CouchDB does
    Serve(serve::Serve),
    /// Serve the store behind a web server, by FastCGI
    Fcgi(gateway::Fcgi),
    /// Serve the store behind a web server, by SCGI
    Scgi(gateway::Scgi),
    /// Answer one request as a CGI program
    Cgi(gateway::CgiCommand),
    /// Create, list and revoke API tokens for programs
    Token(token::TokenCommand),
    /// Serve the store to Apocrypha clients
    Apocrypha(apocrypha::ApocryphaCommand),
    /// Send an Apocrypha command to a server
    D(d::D),
    /// Check the machine, the store, certificates and backups, and say what to do
    Doctor(doctor::Doctor),
    /// Say whether this program can use the store's format
    Upgrade(doctor::Upgrade),
    /// Print the configuration that serve would use
    Config(serve::ConfigCommand),
}
