//! The arguments in a line of the shell, by clap's own description of the commands: which word is the command, and
//! which argument comes next. Adds the session's collection and moment to a line.

use clap::{Arg, Command};

use super::State;

/// The analysis of the first words of a line.
pub struct Walk<'c> {
    /// The innermost command.
    pub command: &'c Command,
    /// The number of words up to the command's name.
    pub behind: usize,
    /// The option that the next word is the value of.
    pub option: Option<&'c Arg>,
    /// The number of positional arguments so far.
    pub given: usize,
    /// The collection, if the line names one.
    pub collection: Option<String>,
    /// The line leaves out the session's collection.
    pub implied: bool,
}

impl<'c> Walk<'c> {
    /// Walks through `words`.
    pub fn new(program: &'c Command, words: &[String], state: &State) -> Self {
        let mut walk = Walk { command: program, behind: 0, option: None, given: 0, collection: None, implied: false };
        for (at, word) in words.iter().enumerate() {
            walk.step(at, word, state);
        }
        walk
    }

    fn step(&mut self, at: usize, word: &str, state: &State) {
        if self.option.take().is_some() {
            return;
        }
        if word.len() > 1 && word.starts_with('-') {
            let takes = |arg: &&Arg| arg.get_action().takes_values();
            self.option = self.command.get_arguments().find(|arg| is_flag(arg, word)).filter(takes);
        } else if self.given == 0
            && let Some(command) = self.command.get_subcommands().find(|command| command.get_name() == word)
        {
            self.command = command;
            self.behind = at + 1;
            self.implied = state.collection.is_some() && takes_collection(command);
            self.collection.clone_from(&state.collection);
            self.given = usize::from(self.implied);
        } else {
            if self.positional().is_some_and(|arg| arg.get_id() == "collection") {
                self.collection = Some(word.to_owned());
            }
            self.given += 1;
        }
    }

    /// The next positional argument.
    pub fn positional(&self) -> Option<&'c Arg> {
        let last = || {
            self.command.get_positionals().last().filter(|arg| arg.get_num_args().is_some_and(|n| n.max_values() > 1))
        };
        self.command.get_positionals().nth(self.given).or_else(last)
    }
}

/// The line as it would be on the command line, with the session's collection and moment.
pub fn arranged(program: &Command, mut words: Vec<String>, state: &State) -> Vec<String> {
    let walk = Walk::new(program, &words, state);
    let mut implied = Vec::new();
    if let Some(at) = &state.at
        && reads_moments(walk.command, &words)
    {
        implied.extend(["--at".to_owned(), at.to_string()]);
    }
    if let (true, Some(collection)) = (walk.implied, &state.collection) {
        implied.push(collection.clone());
    }
    let behind = walk.behind;
    words.splice(behind..behind, implied);
    words
}

fn takes_collection(command: &Command) -> bool {
    command.get_positionals().next().is_some_and(|arg| arg.get_id() == "collection")
}

/// Whether the session's moment applies: the command reads the newest moment by default, and the line names no other
/// one.
fn reads_moments(command: &Command, words: &[String]) -> bool {
    let Some(at) = command.get_arguments().find(|arg| arg.get_id() == "at") else { return false };
    let other = |arg: &Arg| words.iter().any(|word| is_flag(arg, word));
    // Either of the two may declare the conflict.
    let against = |arg: &Arg| {
        let of = |one: &Arg, other: &Arg| {
            command.get_arg_conflicts_with(one).iter().any(|found| found.get_id() == other.get_id())
        };
        (of(arg, at) || of(at, arg)) && other(arg)
    };
    !at.get_default_values().is_empty() && !other(at) && !command.get_arguments().any(against)
}

fn is_flag(arg: &Arg, word: &str) -> bool {
    match word.strip_prefix("--") {
        // If the value is in the same word, the next word is not its value.
        Some(long) => arg.get_long().is_some_and(|name| name == long),
        None => word.strip_prefix('-').is_some_and(|short| {
            let mut characters = short.chars();
            arg.get_short().is_some_and(|name| characters.next() == Some(name)) && characters.next().is_none()
        }),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::args::CommandLine;

    #[test]
    fn the_sessions_collection_and_moment_are_put_where_they_belong() {
        let mut program = CommandLine::command();
        program.build();
        let state = State { collection: Some("cities".to_owned()), at: Some("172".parse().unwrap()) };
        for (line, expected) in [
            ("get 5", "get --at seq:172 cities 5"),
            ("get 5 --at 3", "get cities 5 --at 3"),
            ("get 5 --rev 1-a", "get cities 5 --rev 1-a"),
            ("--store x get 5", "--store x get --at seq:172 cities 5"),
            ("put 5 {}", "put cities 5 {}"),
            ("attach put 5 a.png f", "attach put cities 5 a.png f"),
            ("attach get 5 a.png", "attach get --at seq:172 cities 5 a.png"),
            ("attach get 5 a.png --rev 1-a", "attach get cities 5 a.png --rev 1-a"),
            ("index create name", "index create cities name"),
            ("restore 5 --at 3", "restore cities 5 --at 3"),
            ("changes --follow", "changes cities --follow"),
            ("stats", "stats"),
            ("collections", "collections --at seq:172"),
            ("salvage a b", "salvage a b"),
            ("get get", "get --at seq:172 cities get"),
            ("nonsense 5", "nonsense 5"),
        ] {
            let words = line.split(' ').map(str::to_owned).collect();
            assert_eq!(arranged(&program, words, &state).join(" "), expected, "{line}");
        }
        let words = vec!["get".to_owned(), "c".to_owned(), "5".to_owned()];
        assert_eq!(arranged(&program, words.clone(), &State::default()), words);
    }
}
