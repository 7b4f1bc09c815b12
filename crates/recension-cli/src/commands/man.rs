//! `recension man`: the manual pages, made from the help texts.

use std::path::{Path, PathBuf};

use clap::{Args, Command};
use clap_mangen::Man as Page;

use crate::context::Context;
use crate::error::{CliError, Result};
use crate::files::{make_folder, replace};

const EXAMPLES: &str = "\
Examples:
  recension man | man -l -
  recension man find | man -l -
  recension man --out ~/.local/share/man/man1";

/// Print or write the manual pages
///
/// Without --out, the page of the program or of one command goes to standard output.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Man {
    /// The command to print the page of
    command: Option<String>,
    /// A directory in which to write all pages: recension.1, recension-find.1 and so on
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    out: Option<PathBuf>,
}

impl Man {
    /// Runs the command for the pages of `program`.
    pub fn run(&self, mut program: Command, context: &mut Context) -> Result<()> {
        program.build();
        if let Some(directory) = &self.out {
            make_folder(directory)?;
            let number = write_all(directory, &program)?;
            return Ok(context.out.remark(&format!("{number} pages in {}", directory.display()))?);
        }
        let command = match &self.command {
            None => &program,
            Some(name) => {
                let found = program.get_subcommands().find(|command| command.get_name() == name);
                found.ok_or_else(|| CliError::Usage(format!("there is no command {name}; see recension --help")))?
            }
        };
        let page = page_of(command)?;
        Ok(context.out.raw(&String::from_utf8_lossy(&page))?)
    }
}

fn page_of(command: &Command) -> Result<Vec<u8>> {
    let mut page = Vec::new();
    Page::new(command.clone()).render(&mut page)?;
    Ok(page)
}

fn write_all(directory: &Path, command: &Command) -> Result<u64> {
    let name = command.get_display_name().unwrap_or(command.get_name());
    let page = page_of(command)?;
    replace(&directory.join(format!("{name}.1")), |out| Ok(out.write_all(&page)?))?;
    let mut number = 1;
    for command in command.get_subcommands().filter(|command| !command.is_hide_set()) {
        number += write_all(directory, command)?;
    }
    Ok(number)
}
