//! `recension shell`: many commands on one open store.

use clap::Args;

const EXAMPLES: &str = "\
Examples:
  recension shell
  recension shell notes.store
  recension shell < commands.txt
  echo 'find cities --limit 3' | recension shell --keep-going

Each line is a command as on the command line, without recension before it. After `use cities`, commands use \
that collection and do not name it; after `at '1 hour ago'` they read as of that moment; `help` lists \
everything. JSON needs no quotes, and may span several lines. A script ends at its first error, with the number \
of the line and the error's exit code. Lines are remembered in the file RECENSION_HISTORY, by default \
recension/history in the user's state directory.";

/// Run many commands on one open store, by hand or from a script
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ShellCommand {
    /// The store, as for --store
    #[arg(value_name = "STORE")]
    pub address: Option<String>,
    /// In a script, continue after an error; the exit code is that of the first one
    #[arg(long)]
    pub keep_going: bool,
}
