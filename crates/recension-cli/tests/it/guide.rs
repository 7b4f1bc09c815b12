//! The guide lists every command and every flag: its reference is made of clap's description of them. With
//! `UPDATE_GUIDE=1` this test writes it anew.

use clap::{Arg, Command, CommandFactory as _};
use recension_cli::args::CommandLine;

const BEGIN: &str = "<!-- The rest is made by tests/it/guide.rs of recension-cli; UPDATE_GUIDE=1 makes it anew. -->\n";

fn guide() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/command-line.md")
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
    out.push_str(&format!("\n### `{path}`\n\n{about}.\n"));
    let own: Vec<&Arg> = command
        .get_arguments()
        .filter(|arg| {
            !arg.is_global_set() && !arg.is_hide_set() && !["help", "version"].contains(&arg.get_id().as_str())
        })
        .collect();
    table(out, &own);
    for command in command.get_subcommands().filter(|command| command.get_name() != "help" && !command.is_hide_set()) {
        describe(out, command, &format!("{path} {}", command.get_name()));
    }
}

fn reference() -> String {
    let program = CommandLine::command();
    let mut out = String::from("\n## All commands and flags\n\nEvery command takes:\n");
    table(&mut out, &program.get_arguments().filter(|arg| arg.is_global_set()).collect::<Vec<_>>());
    for command in program.get_subcommands().filter(|command| !command.is_hide_set()) {
        describe(&mut out, command, command.get_name());
    }
    out
}

#[test]
fn the_guide_lists_every_command_and_every_flag() {
    let text = std::fs::read_to_string(guide()).unwrap();
    let (before, written) = text.split_once(BEGIN).expect("the guide says where the reference begins");
    let made = reference();
    if std::env::var_os("UPDATE_GUIDE").is_some() {
        std::fs::write(guide(), format!("{before}{BEGIN}{made}")).unwrap();
        return;
    }
    for (number, (written, made)) in written.lines().zip(made.lines()).enumerate() {
        assert_eq!(
            written, made,
            "line {number} of the reference is not as the program says; UPDATE_GUIDE=1 makes it anew"
        );
    }
    assert_eq!(written.lines().count(), made.lines().count(), "UPDATE_GUIDE=1 makes it anew");
    // The overview is written by hand, and names each command.
    for command in CommandLine::command().get_subcommands() {
        let name = command.get_name();
        let row = |line: &str| {
            let first = line.strip_prefix("| ").and_then(|line| line.split(" | ").next()).unwrap_or_default();
            first.split(", ").any(|cell| cell.trim_start_matches('`').split([' ', '`', '[']).next() == Some(name))
        };
        assert!(before.lines().any(row), "the table of commands lacks {name}");
    }
}
