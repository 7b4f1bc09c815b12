//! The shell. Each line is a command line of the program itself, on one store that stays open. The shell adds only
//! commands about the session's own state.

pub mod arguments;
pub mod complete;
pub mod prompt;
pub mod words;

use std::fmt;
use std::io::{self, BufRead, IsTerminal, Read, Write};
use std::sync::Arc;

use clap::parser::ValueSource;
use clap::{ArgMatches, Command, CommandFactory, FromArgMatches};
use parking_lot::Mutex;
use recension::At;
use recension::engine;
use reedline::Signal;

use self::arguments::arranged;
use self::complete::Known;
use self::prompt::{StatePrompt, editor, history_file};
use self::words::split;
use crate::args::CommandLine;
use crate::commands::shell::ShellCommand;
use crate::common::Common;
use crate::context::{Context, Missing, Session};
use crate::error::{CliError, Result};
use crate::limits::LINE_BYTES_MAX;

/// The shell's own words.
const WORDS: [(&str, &str); 6] = [
    ("use", "leave a collection out of the lines to come; alone: name it again"),
    ("at", "read as of a moment from now on; alone or `at now`: as of now"),
    ("in", "one line with another collection: in people find ..."),
    ("help", "what there is, or the help of a command"),
    ("exit", "end (Ctrl-D does too)"),
    ("quit", "the same"),
];

/// What a session remembers between its lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// The collection that lines leave out.
    pub collection: Option<String>,
    /// The moment of reads.
    pub at: Option<At>,
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.collection.as_deref().unwrap_or("recension"))?;
        self.at.map_or(Ok(()), |at| write!(f, " at {at}"))
    }
}

/// `recension shell`. It makes a context for each line.
///
/// # Errors
/// The store's address cannot be read, or the first error of a script.
pub fn run(command: &ShellCommand, common: &Common, context: &mut Context) -> Result<()> {
    if let Some(address) = &command.address {
        context.set_address(address);
    }
    let home = context.full_address()?;
    Shell::new(common, &home).run(command.keep_going)
}

/// A shell on a store.
pub struct Shell<'c> {
    common: &'c Common,
    home: String,
    program: Command,
    session: Session,
    known: Arc<Mutex<Known>>,
}

/// Whether the shell goes on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Line,
    End,
}

impl<'c> Shell<'c> {
    /// A shell on the store `home`, with the flags of the program for every line.
    pub fn new(common: &'c Common, home: &str) -> Self {
        let mut program = CommandLine::command();
        program.build();
        let session = Session::of_shell();
        Shell { common, home: home.to_owned(), program, session, known: Arc::default() }
    }

    /// Reads lines from standard input until they end.
    pub fn run(mut self, keep_going: bool) -> Result<()> {
        let mut context = self.context(None);
        context.watch_for_interrupts()?;
        if io::stdin().is_terminal() {
            // If there is a store, it is opened now, so that completion works from the start.
            if let Err(error) = context.store(Missing::IsAnError) {
                context.out.remark(&error.to_string())?;
            }
            self.keep(context);
            self.interactive()
        } else {
            self.keep(context);
            self.script(keep_going)
        }
    }

    fn interactive(&mut self) -> Result<()> {
        let mut editor = editor(self.program.clone(), Arc::clone(&self.known), history_file());
        loop {
            let prompt = StatePrompt(self.known.lock().state.clone());
            match editor.read_line(&prompt).map_err(|error| CliError::io("reading a line", &error))? {
                Signal::Success(line) => {
                    self.session.take_interrupt();
                    match self.line(&line) {
                        Ok(Next::End) => return Ok(()),
                        Ok(Next::Line) => {}
                        Err(CliError::ClosedPipe) => return Err(CliError::ClosedPipe),
                        // Standard error may be closed. That is no reason to stop.
                        Err(error) => drop(writeln!(io::stderr(), "{error}")),
                    }
                }
                Signal::CtrlD => return Ok(()),
                // Ctrl-C discards the line.
                _ => {}
            }
        }
    }

    fn script(&mut self, keep_going: bool) -> Result<()> {
        let mut lines = Lines { input: io::stdin().lock(), number: 0 };
        let mut failed: Option<(u64, CliError)> = None;
        while let Some((number, line)) = lines.next()? {
            let outcome = line.and_then(|line| self.line(&line));
            if self.session.take_interrupt() {
                return Err(CliError::Interrupted(format!("line {number}: interrupted")));
            }
            match outcome {
                Ok(Next::Line) => {}
                Ok(Next::End) => break,
                Err(CliError::ClosedPipe) => return Err(CliError::ClosedPipe),
                Err(error) => {
                    let error = error.before(&format!("line {number}: "));
                    if !keep_going {
                        return Err(error);
                    }
                    let _ = writeln!(io::stderr(), "{error}");
                    failed = Some(failed.map_or((1, error), |(count, first)| (count + 1, first)));
                }
            }
        }
        match failed {
            None => Ok(()),
            Some((count, first)) => Err(first.before(&format!("{count} failed; the first was: "))),
        }
    }

    /// Runs a line.
    fn line(&mut self, line: &str) -> Result<Next> {
        let split = split(line);
        if let Some(open) = split.open {
            return Err(CliError::Usage(format!("{open} is never closed")));
        }
        let mut words: Vec<String> = split.words.into_iter().map(|word| word.text).collect();
        // This lets the user paste the examples of the help.
        if words.first().is_some_and(|word| word == "recension") {
            words.remove(0);
        }
        let mut state = self.known.lock().state.clone();
        let arguments: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
        match (words.first().map(String::as_str), arguments.as_slice()) {
            (None, _) => return Ok(Next::Line),
            (Some("exit" | "quit"), []) => return Ok(Next::End),
            (Some("help"), []) => return self.help().map(|()| Next::Line),
            (Some("help"), names) => {
                words = names.iter().map(|name| (*name).to_owned()).chain(["--help".to_owned()]).collect();
                state = State::default();
            }
            (Some("use"), [] | [_]) => {
                self.known.lock().state.collection = arguments.first().map(|name| (*name).to_owned());
                return Ok(Next::Line);
            }
            (Some("at"), _) => {
                let at: At = if arguments.is_empty() { At::Now } else { arguments.join(" ").parse()? };
                self.known.lock().state.at = Some(at).filter(|at| *at != At::Now);
                return Ok(Next::Line);
            }
            (Some("in"), [collection, _, ..]) => {
                state.collection = Some((*collection).to_owned());
                words.drain(..2);
            }
            (Some(word @ ("use" | "in" | "exit" | "quit")), _) => {
                return Err(CliError::Usage(format!("this is not how {word} is used; see help")));
            }
            _ => {}
        }
        self.command(arranged(&self.program, words, &state)).map(|()| Next::Line)
    }

    fn command(&mut self, words: Vec<String>) -> Result<()> {
        let words = std::iter::once("recension".to_owned()).chain(words);
        let parsed = self.program.clone().try_get_matches_from(words).and_then(|matches| {
            let named = [names(&matches, "store"), names(&matches, "branch")];
            CommandLine::from_arg_matches(&matches).map(|line| (line, named))
        });
        let (mut line, [names_a_store, names_a_branch]) = match parsed {
            Ok(parsed) => parsed,
            // Help and version are not errors.
            Err(error) if !error.use_stderr() => return Ok(error.print()?),
            Err(error) => {
                let text = error.render().to_string();
                return Err(CliError::Usage(text.trim().trim_start_matches("error: ").to_owned()));
            }
        };
        if !names_a_store {
            let home = &self.home;
            let place = engine::Address::branch(home).filter(|_| names_a_branch).map_or(&**home, |(place, _)| place);
            line.common.store = Some(place.to_owned());
            if !names_a_branch {
                line.common.branch = None;
            }
        }
        if !line.common.json && !line.common.table {
            (line.common.json, line.common.table) = (self.common.json, self.common.table);
        }
        line.common.quiet |= self.common.quiet;
        let mut context = self.context(Some(&line.common));
        let outcome = line.command.run(&mut context);
        let flushed = context.out.flush();
        self.keep(context);
        outcome.and_then(|()| Ok(flushed?))
    }

    fn context(&self, common: Option<&Common>) -> Context {
        let mut context = Context::in_session(common.unwrap_or(self.common), &self.session, &self.home);
        if common.is_none() {
            context.set_address(&self.home);
        }
        context
    }

    fn keep(&mut self, context: Context) {
        self.session.keep(context);
        let mut known = self.known.lock();
        known.store = self.session.store().cloned();
    }

    fn help(&self) -> Result<()> {
        let mut context = self.context(None);
        context.out.line("Every command of recension, without its name before it:\n")?;
        for command in self.program.get_subcommands().filter(|command| command.get_name() != "shell") {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            context.out.line(&format!("  {:<12} {about}", command.get_name()))?;
        }
        context.out.line("\nand of the shell:\n")?;
        for (word, about) in WORDS {
            context.out.line(&format!("  {word:<12} {about}"))?;
        }
        context.out.line(
            "\nQuotes are those of a shell; JSON in brackets needs none. If a quote or bracket is not closed, the \
             command continues in the next line. # begins a comment. Tab completes, the arrows and Ctrl-R find earlier \
             lines.",
        )?;
        Ok(context.out.flush()?)
    }
}

/// Whether the line itself has an option.
fn names(matches: &ArgMatches, option: &str) -> bool {
    let mut innermost = matches;
    while let Some((_, inner)) = innermost.subcommand() {
        innermost = inner;
    }
    innermost.value_source(option) == Some(ValueSource::CommandLine)
}

/// The lines of a script. Lines are joined as long as a quote or a bracket is open.
struct Lines<R> {
    input: R,
    number: u64,
}

impl<R: BufRead> Lines<R> {
    /// The next line, with its line number. An error of one line does not end the script.
    fn next(&mut self) -> Result<Option<(u64, Result<String>)>> {
        let mut text = Vec::new();
        let first = self.number + 1;
        loop {
            let before = text.len();
            let limit = (LINE_BYTES_MAX + 1 - before) as u64;
            let read = self.input.by_ref().take(limit).read_until(b'\n', &mut text);
            read.map_err(|error| CliError::io("reading standard input", &error))?;
            self.number += 1;
            if text.len() > LINE_BYTES_MAX {
                let limit = LINE_BYTES_MAX >> 20;
                return Err(CliError::Input(format!(
                    "line {first}: the command is longer than {limit} MiB, the limit"
                )));
            }
            let ended = text.len() == before;
            if ended && text.is_empty() {
                return Ok(None);
            }
            match std::str::from_utf8(&text) {
                Ok(line) if !ended && split(line).open.is_some() => {}
                Ok(line) => return Ok(Some((first, Ok(line.to_owned())))),
                Err(error) => {
                    let what = format!("it is not UTF-8 from byte {} on", error.valid_up_to());
                    return Ok(Some((first, Err(CliError::Input(what)))));
                }
            }
        }
    }
}
