//! What the command line says of itself.

use clap::{Command, CommandFactory as _};
use recension_cli::args::CommandLine;

use crate::common::Place;

/// Every command that a user sees, and every command within one, by the words that name it.
fn commands() -> Vec<Vec<String>> {
    fn below(command: &Command, path: &[String], found: &mut Vec<Vec<String>>) {
        for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help" && !inner.is_hide_set()) {
            let path = [path, &[inner.get_name().to_owned()]].concat();
            below(inner, &path, found);
            found.push(path);
        }
    }
    let mut found = Vec::new();
    below(&CommandLine::command(), &[], &mut found);
    found
}

/// The help of a command.
fn help_of(place: &Place, command: &[String]) -> String {
    place.ok(&command.iter().map(String::as_str).chain(["--help"]).collect::<Vec<_>>())
}

/// Their examples serve until they are ended.
const SERVERS: [&str; 5] = ["serve", "apocrypha", "fcgi", "scgi", "cgi"];

#[test]
fn every_command_has_a_help_with_examples_that_name_it() {
    let place = Place::new();
    for command in commands() {
        let help = help_of(&place, &command);
        let example = format!("recension {}", command.join(" "));
        let examples = help.split_once("Examples:").map(|(_, examples)| examples);
        assert!(examples.is_some_and(|examples| examples.contains(&example)), "{command:?}: {help}");
        assert!(help.contains("--store <ADDRESS>"), "{command:?}: {help}");
    }
}

#[test]
fn the_help_lists_every_command_and_the_exit_codes() {
    let place = Place::new();
    let help = place.ok(&["--help"]);
    for command in commands() {
        assert!(help.contains(&format!("\n  {} ", command[0])), "{command:?}");
    }
    for code in ["0 ", "1 ", "2 ", "3 ", "4 ", "5 ", "6 ", "130 "] {
        assert!(help.contains(&format!("\n  {code}")), "{code}");
    }
}

#[test]
fn every_example_of_a_help_is_a_command_line_that_is_understood() {
    // Only commands that need no shell and nothing to be there: what fails must not be the usage (2).
    let place = Place::new();
    let mut tried = 0;
    for command in commands().iter().filter(|command| !SERVERS.contains(&command[0].as_str())) {
        // What was too long for a line goes on in the next one.
        let help = help_of(&place, command).replace("\n  recension ", "\n\0recension ").replace("\n  ", " ");
        let help = help.replace('\0', "  ");
        for line in help.lines().filter(|line| line.starts_with("  recension ")) {
            if line.contains(['|', '>', '<']) && !line.contains('\'') || line.contains("SEQ") || line.contains("| jq") {
                continue;
            }
            // A shell runs two commands, or the command goes on until it is interrupted, or it asks another machine.
            if ["&&", "--live", "--follow", "://"].iter().any(|part| line.contains(part)) {
                continue;
            }
            let words = words(line.split(" < ").next().unwrap_or(line));
            let words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
            let ended = place.run(&words);
            let usage = ended.code == 2 && ended.err.contains("try '--help'");
            assert!(!usage, "{line}: {}", ended.err);
            tried += 1;
        }
    }
    assert!(tried > 25, "{tried}");
}

/// The words of a shell line with single quotes only.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quoted = false;
    for character in line.trim().chars() {
        match character {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(std::mem::take(&mut word)),
            other => word.push(other),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

#[test]
fn what_is_not_understood_ends_with_2_and_says_what_would_be() {
    let place = Place::new();
    for (args, message) in [
        (&["frobnicate"][..], "unrecognized subcommand"),
        (&["get", "c"], "<ID>"),
        (&["get", "c", "x", "--at", "tomorrow"], "seq:123"),
        (&["get", "c", "x", "--rev", "7"], "32 hexadecimal digits"),
        (&["find", "c", "a !"], "expected one of"),
        (&["find", "c", "a = 1 nor b = 2"], "expected 'and'"),
        (&["find", "c", "--sort", "a..b"], "expected the name"),
        (&["find", "c", "--limit", "few"], "invalid value 'few'"),
        (&["import", "c", "--on-conflict", "maybe"], "error, skip, replace"),
        (&["import", "c", "--delimiter", ";;"], "one ASCII character"),
        (&["restore", "c", "x"], "--at <MOMENT>"),
        (&["export", "c", "--format", "xml"], "ndjson, json, apocrypha, csv"),
        (&["stats", "--json", "--table"], "cannot be used with"),
    ] {
        let message_seen = place.fails(2, args);
        assert!(message_seen.contains(message), "{args:?}: {message_seen}");
    }
}

#[test]
fn without_arguments_the_help_is_shown_as_a_wrong_usage() {
    let place = Place::new();
    assert!(place.fails(2, &[]).contains("Usage: recension"));
    assert!(place.ok(&["--version"]).starts_with("recension "));
}
