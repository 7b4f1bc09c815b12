//! The guide lists every command and every flag: its reference is made of clap's description of them, and with
//! `UPDATE_GUIDE=1` the test writes it anew. The commands of the pages that say so are run.

use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};

use clap::{Arg, Command, CommandFactory as _};
use recension_cli::args::CommandLine;

use crate::common::Place;

const HEAD: &str = "\
# All commands and flags

<!-- Made by it/guide of recension-cli; UPDATE_GUIDE=1 makes it anew. -->

This page is made from the program's help, and `make test` compares the two. [The command line](command-line.md) has an
overview.
";
/// The pages with these words have commands that are run.
const SIGN: &str = "`make test` runs the commands";

fn guide() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src")
}

/// A line of help for a table's cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;").replace('\n', " ")
}

fn named(arg: &Arg) -> String {
    let values: Vec<String> = arg.get_value_names().unwrap_or_default().iter().map(ToString::to_string).collect();
    let takes = arg.get_action().takes_values();
    match (arg.get_short(), arg.get_long()) {
        (_, None) => values.join(" "),
        (short, Some(long)) => {
            let short = short.map(|short| format!("-{short}, ")).unwrap_or_default();
            let value = if takes { format!(" {}", values.join(" ")) } else { String::new() };
            format!("{short}--{long}{value}")
        }
    }
}

fn table(out: &mut String, args: &[&Arg]) {
    if args.is_empty() {
        return;
    }
    out.push_str("\n| argument | meaning |\n|---|---|\n");
    for arg in args {
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        let possible = arg.get_possible_values();
        let names: Vec<&str> = possible
            .iter()
            .filter(|_| arg.get_action().takes_values())
            .map(clap::builder::PossibleValue::get_name)
            .collect();
        let names = if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
        out.push_str(&format!("| `{}` | {}{names} |\n", named(arg).replace('|', "\\|"), cell(&help)));
    }
}

fn describe(out: &mut String, command: &Command, path: &str) {
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    out.push_str(&format!("\n## `{path}`\n\n{about}.\n"));
    let own: Vec<&Arg> = command
        .get_arguments()
        .filter(|arg| {
            !arg.is_global_set() && !arg.is_hide_set() && !["help", "version"].contains(&arg.get_id().as_str())
        })
        .collect();
    table(out, &own);
    examples(out, command);
    for command in command.get_subcommands().filter(|command| command.get_name() != "help" && !command.is_hide_set()) {
        describe(out, command, &format!("{path} {}", command.get_name()));
    }
}

fn reference() -> String {
    let program = CommandLine::command();
    let mut out = format!("{HEAD}\nEvery command takes:\n");
    table(&mut out, &program.get_arguments().filter(|arg| arg.is_global_set()).collect::<Vec<_>>());
    for command in program.get_subcommands().filter(|command| !command.is_hide_set()) {
        describe(&mut out, command, command.get_name());
    }
    out
}

/// The examples of a command, as its help has them, and what the help says after them.
fn examples(out: &mut String, command: &Command) {
    let Some(help) = command.get_after_help().map(ToString::to_string) else { return };
    let Some(help) = help.strip_prefix("Examples:\n") else { return };
    let (examples, words) = help.split_once("\n\n").unwrap_or((help, ""));
    let lines: Vec<&str> = examples.lines().map(|line| line.strip_prefix("  ").unwrap_or(line)).collect();
    out.push_str(&format!("\n```\n{}\n```\n", lines.join("\n")));
    // What follows may be text or a list that is set in columns.
    for part in words.split("\n\n").filter(|part| !part.is_empty()) {
        if part.contains("\n  ") {
            out.push_str(&format!("\n```text\n{part}\n```\n"));
        } else {
            out.push_str(&format!("\n{}\n", cell(part)));
        }
    }
}

#[test]
fn the_guide_lists_every_command_and_every_flag() {
    let file = guide().join("command-reference.md");
    let made = reference();
    if std::env::var_os("UPDATE_GUIDE").is_some() {
        std::fs::write(file, made).unwrap();
        return;
    }
    let written = std::fs::read_to_string(file).unwrap();
    for (number, (written, made)) in written.lines().zip(made.lines()).enumerate() {
        assert_eq!(written, made, "line {} is not as the program says; UPDATE_GUIDE=1 makes it anew", number + 1);
    }
    assert_eq!(written.lines().count(), made.lines().count(), "UPDATE_GUIDE=1 makes it anew");
}

#[test]
fn the_overview_names_each_command() {
    let overview = std::fs::read_to_string(guide().join("command-line.md")).unwrap();
    for command in CommandLine::command().get_subcommands() {
        let name = command.get_name();
        let row = |line: &str| {
            let first = line.strip_prefix("| ").and_then(|line| line.split(" | ").next()).unwrap_or_default();
            first.split(", ").any(|cell| cell.trim_start_matches('`').split([' ', '`', '[']).next() == Some(name))
        };
        assert!(overview.lines().any(row), "the table of commands lacks {name}");
    }
}

/// The commands of a page, each with the output that the page shows. A line that ends with `\` continues in the next.
fn commands_of(page: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let blocks = page.split("```console\n").skip(1);
    for line in blocks.flat_map(|block| block.split("\n```").next().unwrap_or_default().lines()) {
        if let Some(command) = line.strip_prefix("$ ") {
            found.push((command.to_owned(), String::new()));
            continue;
        }
        let (command, shown) = found.last_mut().expect("a page's first line is a command");
        if command.ends_with('\\') {
            command.pop();
            command.push_str(line);
        } else {
            shown.push_str(line);
        }
    }
    found
}

/// Whether an output has what the page shows. White space does not count, and `…` is anything.
fn shows(output: &str, shown: &str) -> bool {
    let bare = |text: &str| text.split_whitespace().collect::<String>();
    let output = bare(output);
    let mut rest = output.as_str();
    bare(shown).split('…').all(|part| match rest.split_once(part) {
        Some((_, after)) => {
            rest = after;
            true
        }
        None => false,
    })
}

#[test]
fn commands_of_the_pages_that_say_so_do_what_the_pages_show() {
    let folder = Path::new(env!("CARGO_BIN_EXE_recension")).parent().unwrap().to_owned();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let mut run = 0;
    for page in std::fs::read_dir(guide()).unwrap().map(|entry| entry.unwrap().path()) {
        let text = std::fs::read_to_string(&page).unwrap();
        if !text.contains(SIGN) {
            continue;
        }
        let place = Place::new();
        for (command, shown) in commands_of(&text) {
            let mut shell = Process::new("bash");
            shell.args(["-o", "pipefail", "-ec", &command]).current_dir(place.path()).stdin(Stdio::null());
            shell.env("PATH", &path).env("TZ", "UTC").env_remove("RECENSION_STORE");
            let ended = shell.output().unwrap();
            let output = [ended.stderr, ended.stdout].concat();
            let output = String::from_utf8(output).unwrap();
            assert!(ended.status.success(), "{}: {command}: {output}", page.display());
            assert!(shows(&output, &shown), "{}: {command}\nshown: {shown}\nis: {output}", page.display());
            run += 1;
        }
    }
    assert!(run > 30, "{run}");
}
