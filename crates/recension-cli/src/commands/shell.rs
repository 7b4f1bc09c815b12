//! `recension shell`: many commands on one open store.

use clap::Args;

use crate::args::Common;
use crate::context::Context;
use crate::error::{CliError, Result};

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
    address: Option<String>,
    /// In a script, continue after an error; the exit code is that of the first one
    #[arg(long)]
    keep_going: bool,
}

impl ShellCommand {
    /// Refuses to run.
    #[cfg(not(feature = "shell"))]
    pub fn run(&self, _: &Common, _: &mut Context) -> Result<()> {
        Err(CliError::Usage("this program was built without the cargo feature `shell`".to_owned()))
    }

    /// Runs the command. It does not take a context as other commands do: one is made for each line.
    #[cfg(feature = "shell")]
    pub fn run(&self, common: &Common, context: &mut Context) -> Result<()> {
        if context.in_shell() {
            return Err(CliError::Usage("this is a shell already; exit ends it".to_owned()));
        }
        if let Some(address) = &self.address {
            context.set_address(address);
        }
        let home = context.full_address()?;
        crate::shell::Shell::new(common, &home).run(self.keep_going)
    }
}
