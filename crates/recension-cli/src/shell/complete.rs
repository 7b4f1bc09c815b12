//! Completion of a line: commands and flags from clap's description of them, and collections, ids, members and indexes
//! from the store. Nothing here changes the store, and errors of reading it are not shown.

use std::fs;
use std::sync::Arc;

use clap::{Arg, Command, ValueHint};
use parking_lot::Mutex;
use recension::{At, CollectionAt, ListOptions, Store};
use reedline::{Completer, CompletionResult, Span, Suggestion};

use super::arguments::Walk;
use super::words::{quoted, split};
use super::{State, WORDS};
use crate::limits::{COMPLETION_SAMPLE, COMPLETIONS_MAX};
use crate::members::Members;

/// The state that the shell and its completer share.
#[derive(Default)]
pub struct Known {
    /// The store, once a command has opened it.
    pub store: Option<Store>,
    /// The session's collection and moment.
    pub state: State,
}

/// Completes lines of the shell.
pub struct LineCompleter {
    /// The commands.
    pub program: Command,
    /// The open store and the session.
    pub known: Arc<Mutex<Known>>,
}

/// A possible completion of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The word, in quotes if it needs them.
    pub value: String,
    /// A description.
    pub about: Option<String>,
    /// The word is complete, so a space can follow.
    pub whole: bool,
}

impl Completer for LineCompleter {
    fn complete(&mut self, line: &str, pos: usize) -> CompletionResult {
        let (start, candidates) = self.candidates(line.get(..pos).unwrap_or(line));
        let suggestions: Vec<Suggestion> = candidates
            .into_iter()
            .map(|candidate| Suggestion {
                value: candidate.value,
                description: candidate.about,
                span: Span::new(start.min(pos), pos),
                append_whitespace: candidate.whole,
                ..Suggestion::default()
            })
            .collect();
        CompletionResult::fresh(suggestions)
    }
}

impl LineCompleter {
    /// The byte at which the replaced part of the line begins, and its possible replacements.
    pub fn candidates(&self, line: &str) -> (usize, Vec<Candidate>) {
        let split = split(line);
        let mut words: Vec<String> = split.words.iter().map(|word| word.text.clone()).collect();
        let (start, partial) = match split.words.last().filter(|_| !split.ended) {
            Some(word) => (word.start, words.pop().unwrap_or_default()),
            None => (line.len(), String::new()),
        };
        let known = self.known.lock();
        let mut state = known.state.clone();
        if words.first().is_some_and(|word| word == "recension") {
            words.remove(0);
        }
        let mut asked =
            Completion { program: &self.program, store: known.store.as_ref(), at: At::Now, partial: &partial };
        asked.at = state.at.unwrap_or_default();
        let mut candidates = match words.first().map(String::as_str) {
            Some("use") => asked.collections(),
            Some("in") if words.len() == 1 => asked.collections(),
            Some("help") => asked.commands(&self.program),
            Some("at" | "exit" | "quit") => Vec::new(),
            Some("in") => {
                state.collection = words.get(1).cloned();
                asked.arguments(&words[2..], &state)
            }
            _ => asked.arguments(&words, &state),
        };
        candidates.truncate(COMPLETIONS_MAX);
        // A quote that was begun stays: behind it, what is typed is one word.
        if let Some(quote) = line[start..].chars().next().filter(|first| ['\'', '"'].contains(first)) {
            for candidate in candidates.iter_mut().filter(|candidate| !candidate.whole) {
                candidate.value.insert(0, quote);
            }
        }
        (start, candidates)
    }
}

struct Completion<'a> {
    program: &'a Command,
    store: Option<&'a Store>,
    at: At,
    partial: &'a str,
}

impl Completion<'_> {
    fn arguments(&self, words: &[String], state: &State) -> Vec<Candidate> {
        let walk = Walk::new(self.program, words, state);
        if let Some(option) = walk.option {
            return self.values(option, &walk);
        }
        if self.partial.starts_with('-') {
            return self.flags(walk.command);
        }
        // No command follows an argument or a word that is not a command.
        let first = walk.given == usize::from(walk.implied);
        let mut candidates = if first { self.commands(walk.command) } else { Vec::new() };
        if first && walk.behind == 0 {
            let starting = WORDS.iter().filter(|(word, _)| word.starts_with(self.partial));
            candidates.extend(starting.map(|(word, about)| whole((*word).to_owned(), Some((*about).to_owned()))));
        }
        if walk.behind > 0
            && let Some(argument) = walk.positional()
        {
            candidates.extend(self.values(argument, &walk));
        }
        candidates
    }

    fn commands(&self, command: &Command) -> Vec<Candidate> {
        let commands = command.get_subcommands().filter(|command| command.get_name().starts_with(self.partial));
        commands
            .map(|command| whole(command.get_name().to_owned(), command.get_about().map(ToString::to_string)))
            .collect()
    }

    fn flags(&self, command: &Command) -> Vec<Candidate> {
        let flag = |arg: &Arg| {
            let flag = format!("--{}", arg.get_long()?);
            let about = arg.get_help().map(ToString::to_string);
            flag.starts_with(self.partial).then(|| whole(flag, about))
        };
        command.get_arguments().filter_map(flag).collect()
    }

    fn values(&self, arg: &Arg, walk: &Walk<'_>) -> Vec<Candidate> {
        let collection = || self.store?.collection(walk.collection.as_deref()?).ok()?.at(self.at).ok();
        match arg.get_id().as_str() {
            "collection" => self.collections(),
            "id" => collection().map(|collection| self.ids(&collection)).unwrap_or_default(),
            "index" => collection().map(|collection| self.indexes(&collection)).unwrap_or_default(),
            "member" | "sort" | "fields" | "id_field" | "condition" => {
                collection().map(|collection| self.members(&collection)).unwrap_or_default()
            }
            "command" => self.commands(self.program),
            _ => {
                let mut candidates: Vec<Candidate> = arg
                    .get_possible_values()
                    .iter()
                    .filter(|value| value.get_name().starts_with(self.partial))
                    .map(|value| whole(value.get_name().to_owned(), value.get_help().map(ToString::to_string)))
                    .collect();
                let paths = [ValueHint::AnyPath, ValueHint::FilePath, ValueHint::DirPath];
                if paths.contains(&arg.get_value_hint()) {
                    candidates.extend(files(self.partial));
                }
                candidates
            }
        }
    }

    fn collections(&self) -> Vec<Candidate> {
        let collections = self.store.and_then(|store| store.collections(self.at).ok()).unwrap_or_default();
        let names = collections.into_iter().map(|info| info.name).filter(|name| name.starts_with(self.partial));
        names.map(|name| whole(quoted(&name), None)).collect()
    }

    fn ids(&self, collection: &CollectionAt) -> Vec<Candidate> {
        let options = ListOptions { limit: Some(COMPLETIONS_MAX), ..ListOptions::prefix(self.partial) };
        let documents = collection.list(&options).into_iter().flatten().map_while(Result::ok);
        documents.map(|document| whole(quoted(&document.id), None)).collect()
    }

    fn indexes(&self, collection: &CollectionAt) -> Vec<Candidate> {
        let names = collection.indexes().into_iter().map(|index| index.spec.name);
        names.filter(|name| name.starts_with(self.partial)).map(|name| whole(quoted(&name), None)).collect()
    }

    /// The members of the first documents. If there are several with commas, or a minus before one, it completes the
    /// last one.
    fn members(&self, collection: &CollectionAt) -> Vec<Candidate> {
        let typed_from = self.partial.rfind([',', '-', ' ']).map_or(0, |at| at + 1);
        let (before, partial) = self.partial.split_at(typed_from);
        let mut paths = Vec::new();
        let options = ListOptions { limit: Some(COMPLETION_SAMPLE), ..ListOptions::default() };
        for document in collection.list(&options).into_iter().flatten().map_while(Result::ok) {
            collect_paths(&document.body, "", &mut paths);
        }
        paths.retain(|path| path.starts_with(partial));
        paths
            .into_iter()
            .map(|path| Candidate { value: format!("{before}{path}"), about: None, whole: false })
            .collect()
    }
}

/// The paths to the members of an object, and to those of the objects in it.
fn collect_paths(object: &str, before: &str, paths: &mut Vec<String>) {
    for member in Members::of(object).unwrap_or_default().0 {
        let plain = member.name.chars().all(|character| character.is_alphanumeric() || "_-$@/".contains(character));
        if !plain || member.name.is_empty() || paths.len() >= COMPLETIONS_MAX {
            continue;
        }
        let path = format!("{before}{}", member.name);
        if before.is_empty() && member.value.starts_with('{') {
            collect_paths(member.value, &format!("{path}."), paths);
        }
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
}

fn files(partial: &str) -> Vec<Candidate> {
    let (directory, name) = partial.rsplit_once('/').map_or(("", partial), |(directory, name)| (directory, name));
    let shown = if partial.contains('/') { format!("{directory}/") } else { String::new() };
    let read = if shown.is_empty() { "." } else { &shown };
    let mut names: Vec<(String, bool)> = fs::read_dir(read)
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let directory = entry.file_type().ok()?.is_dir();
            Some((entry.file_name().into_string().ok()?, directory))
        })
        .filter(|(file, _)| file.starts_with(name) && (file.starts_with('.') == name.starts_with('.')))
        .take(COMPLETIONS_MAX)
        .collect();
    names.sort_unstable();
    let candidate = |(file, directory): (String, bool)| Candidate {
        value: quoted(&format!("{shown}{file}{}", if directory { "/" } else { "" })),
        about: None,
        whole: !directory,
    };
    names.into_iter().map(candidate).collect()
}

fn whole(value: String, about: Option<String>) -> Candidate {
    Candidate { value, about, whole: true }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::args::CommandLine;

    fn completer(state: State) -> LineCompleter {
        let store = Store::memory().unwrap();
        let cities = store.collection("cities").unwrap();
        cities.put("porto", r#"{"name":"Porto","geo":{"lat":41.1}}"#).unwrap();
        cities.put("port au prince", r#"{"name":"Port-au-Prince","population":987310}"#).unwrap();
        store.collection("notes").unwrap().put("a", "{}").unwrap();
        let index = recension::IndexSpec::new("by-name", "name");
        cities.create_index(index, |_| {}).unwrap();
        let known = Arc::new(Mutex::new(Known { store: Some(store), state }));
        let mut program = CommandLine::command();
        program.build();
        LineCompleter { program, known }
    }

    fn values(completer: &LineCompleter, line: &str) -> Vec<String> {
        completer.candidates(line).1.into_iter().map(|candidate| candidate.value).collect()
    }

    #[test]
    fn a_line_goes_on_with_commands_flags_collections_ids_members_and_indexes() {
        let completer = completer(State::default());
        for (line, expected) in [
            ("fin", &["find"][..]),
            ("us", &["use"]),
            ("index d", &["drop"]),
            ("find --so", &["--sort"]),
            ("find c", &["cities"]),
            ("find ", &["cities", "notes"]),
            ("use n", &["notes"]),
            ("in c", &["cities"]),
            ("in cities get porto", &["porto"]),
            ("get cities port", &["'port au prince'", "porto"]),
            ("get cities 'port ", &["'port au prince'"]),
            ("get notes ", &["a"]),
            ("find cities --sort -po", &["-population"]),
            ("find cities 'na", &["'name"]),
            ("find cities \"name = Porto and popu", &["\"name = Porto and population"]),
            ("find cities --fields name,g", &["name,geo.lat", "name,geo"]),
            ("index drop cities ", &["by-name"]),
            ("export cities --format c", &["csv"]),
            ("help ver", &["verify"]),
            ("recension fin", &["find"]),
            ("get cities porto extra ", &[]),
            ("frobnicate ", &[]),
        ] {
            let found = values(&completer, line);
            assert_eq!(found, expected, "{line}");
        }
        assert_eq!(completer.candidates("get cities por").0, 11);
    }

    #[test]
    fn with_a_collection_in_use_its_ids_come_first() {
        let completer = completer(State { collection: Some("cities".to_owned()), at: None });
        assert_eq!(values(&completer, "get porto"), ["porto"]);
        assert_eq!(values(&completer, "find na"), ["name"]);
        let before = LineCompleter { program: completer.program.clone(), known: completer.known.clone() };
        before.known.lock().state.at = Some("1".parse().unwrap());
        assert_eq!(values(&before, "get port"), ["porto"], "as of the session's moment");
    }
}
