//! The `recension` command line: arguments in, results on standard output, remarks on standard error. It is a library
//! so that its parsers can be tested and fuzzed. It has no promise of stability.

pub mod args;
pub mod commands;
pub mod common;
pub mod context;
pub mod csv_out;
pub mod error;
pub mod files;
pub mod functions;
pub mod ids;
pub mod input;
pub mod limits;
pub mod members;
pub mod moments;
pub mod output;
pub mod pretty;
pub mod problems;
pub mod progress;
#[cfg(feature = "shell")]
pub mod shell;
pub mod tls;

/// The programs of the README are compiled and run, and those of the guide's page on queries.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
#[doc = include_str!("../../../docs/src/queries-in-rust.md")]
pub struct Readme;

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory as _, Parser};

use crate::args::{CgiLine, CgiOnly, Command, CommandLine};
use crate::context::Context;
use crate::error::{CliError, Result};

/// Runs the command that the process was started with.
pub fn main() -> ExitCode {
    if functions::is_worker() {
        return functions::work();
    }
    let args = as_d(std::env::args_os().collect());
    if let Some(CgiLine { common, command: CgiOnly::Cgi(command) }) = cgi(&args) {
        let mut context = Context::new(&common);
        let outcome = command.run(&mut context);
        return ended(outcome, context);
    }
    // Clap prints and exits by itself: with 0 for help, with 2 for arguments that it does not understand.
    let line = CommandLine::try_parse_from(&args).unwrap_or_else(|error| with_whole_usage(error, &args).exit());
    let mut context = Context::new(&line.common);
    let outcome = run(&line, &mut context);
    ended(outcome, context)
}

/// An error of the command line, with the usage of its command as the help has it: clap's own shows the options that
/// were given as if they were needed.
fn with_whole_usage(mut error: clap::Error, args: &[OsString]) -> clap::Error {
    if error.get(ContextKind::Usage).is_none() {
        return error;
    }
    let mut program = CommandLine::command();
    program.build();
    let words = args.iter().skip(1).filter_map(|word| word.to_str());
    let command = words.fold(&program, |command, word| command.find_subcommand(word).unwrap_or(command));
    let usage = command.clone().render_usage();
    error.insert(ContextKind::Usage, ContextValue::StyledStr(usage));
    error
}

/// The command line of `recension cgi`, if it is one and is understood.
fn cgi(args: &[OsString]) -> Option<CgiLine> {
    args.get(1).filter(|name| *name == "cgi").and_then(|_| CgiLine::try_parse_from(args).ok())
}

/// Writes what is left of the output, or why there is no more.
fn ended(outcome: Result<()>, mut context: Context) -> ExitCode {
    match outcome.and_then(|()| Ok(context.out.flush()?)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(CliError::ClosedPipe) => CliError::ClosedPipe.exit_code(),
        Err(error) => {
            // Earlier output is written first. If it cannot be written, the error is printed nevertheless.
            let _ = context.out.flush();
            // Standard error may be closed. The exit code tells the failure nevertheless.
            let _ = if context.error_as_json {
                writeln!(std::io::stderr(), "{}", serde_json::json!({ "level": "ERROR", "error": error.to_string() }))
            } else {
                writeln!(std::io::stderr(), "recension: {error}")
            };
            error.exit_code()
        }
    }
}

/// If the program was started as `d`, this is the command line of `recension d`, which gets all the words.
fn as_d(mut args: Vec<OsString>) -> Vec<OsString> {
    let name = args.first().map(Path::new).and_then(Path::file_name);
    if name == Some(OsStr::new("d")) {
        args.splice(..1, ["recension", "d", "--"].map(OsString::from));
    }
    args
}

fn run(line: &CommandLine, context: &mut Context) -> Result<()> {
    match &line.command {
        #[cfg(feature = "shell")]
        Command::Shell(command) => shell::run(command, &line.common, context),
        #[cfg(not(feature = "shell"))]
        Command::Shell(_) => {
            Err(CliError::Usage("this program was built without the cargo feature `shell`".to_owned()))
        }
        command => command.run(context),
    }
}
