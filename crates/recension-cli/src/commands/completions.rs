//! `recension completions`: scripts by which shells complete command lines of this program.

use clap::{Args, Command};
use clap_complete::{Shell, generate};

use crate::context::Context;
use crate::error::Result;

const EXAMPLES: &str = "\
Examples:
  recension completions bash > ~/.local/share/bash-completion/completions/recension
  recension completions zsh > ~/.zfunc/_recension
  recension completions fish > ~/.config/fish/completions/recension.fish";

/// Print a script that completes command lines in bash, zsh, fish and others
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    /// Runs the command for the command lines of `program`.
    pub fn run(&self, mut program: Command, context: &mut Context) -> Result<()> {
        // It is written to memory first: the generator panics if a pipe is closed.
        let mut script = Vec::new();
        generate(self.shell, &mut program, "recension", &mut script);
        Ok(context.out.raw(&String::from_utf8_lossy(&script))?)
    }
}
