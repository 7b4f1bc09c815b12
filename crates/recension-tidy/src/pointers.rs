//! Names of files in prose: what documents and comments point to must be there. A name is a word with a `/` and an
//! ending that files here have, or `it/NAME` (a module of a crate's test binary). Any file whose path ends like it
//! will do, so that prose may name the last parts of a path alone.

use std::collections::BTreeSet;
use std::path::Path;

use crate::lines::is_rust;
use crate::{Finding, Source};

/// Endings of names that are looked for.
const ENDINGS: [&str; 9] = [".rs", ".md", ".py", ".json", ".toml", ".js", ".mjs", ".sql", ".txt"];
/// Folders of files that are built, fetched or made, and examples of paths; a name with one of them is not looked for.
const NOT_KEPT: [&str; 8] = ["target/", "data/", "node_modules/", "/tmp/", "path/to/", "SUITE", "NAME", "systemd/"];
/// Decisions, the changelog and recorded figures tell of their day, also of files that have gone since.
const OF_THEIR_DAY: [&str; 3] = ["docs/decisions/", "docs/benchmarks/", "CHANGELOG.md"];

/// The findings of this rule. `all` are the paths of all files of the repository.
pub fn findings(sources: &[Source], all: &BTreeSet<String>) -> Vec<Finding> {
    let mut found = Vec::new();
    for source in sources.iter().filter(|source| !OF_THEIR_DAY.iter().any(|day| source.path.starts_with(day))) {
        let prose = is_prose(&source.path);
        for (at, line) in source.text.lines().enumerate() {
            let text = match line.trim_start().strip_prefix("//") {
                Some(comment) if is_rust(source) => comment,
                _ if prose => line,
                _ => continue,
            };
            for name in names(text).filter(|name| !is_there(name, &source.path, all)) {
                let what = format!("there is no `{name}`; name what is there now");
                found.push(Finding::at("pointer", &source.path, at + 1, what));
            }
        }
    }
    found
}

/// Whether a file is Markdown.
pub fn is_prose(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|ending| ending == "md")
}

/// The names of files in a line.
fn names(line: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    line.split(move |c: char| !is_part(c)).filter_map(|word| {
        let word = word.trim_end_matches(['.', '/']).trim_start_matches("./");
        let of_tests = word.strip_prefix("it/").is_some_and(|name| !name.is_empty());
        let is_name = word.contains('/') && !word.starts_with(['/', '-']) && !word.contains("//");
        let is_file = is_name && ENDINGS.iter().any(|ending| word.ends_with(ending));
        let made = NOT_KEPT.iter().any(|part| word.contains(part));
        ((is_file || of_tests) && !made && !line.contains(&format!("://{word}"))).then_some(word)
    })
}

fn is_there(name: &str, from: &str, all: &BTreeSet<String>) -> bool {
    let mut rest = name;
    let mut folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    while let Some(after) = rest.strip_prefix("../") {
        rest = after;
        folder = folder.rsplit_once('/').map_or("", |(above, _)| above);
    }
    let candidates = match rest.strip_prefix("it/") {
        Some(module) if Path::new(module).extension().is_none() => vec![format!("{rest}.rs"), format!("{rest}/mod.rs")],
        _ => vec![rest.to_owned()],
    };
    candidates.iter().any(|name| {
        let ending = format!("/{name}");
        all.contains(name)
            || all.contains(&format!("{folder}/{name}"))
            || all.iter().any(|path| path.ends_with(&ending))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_that_are_not_there_are_found_with_their_lines() {
        let all: BTreeSet<String> =
            ["a/src/lib.rs", "a/tests/it/one.rs", "docs/b.md"].iter().map(|&path| path.to_owned()).collect();
        let lost = |path: &str, text: &str| {
            let sources = [Source { path: path.to_owned(), text: text.to_owned() }];
            findings(&sources, &all).into_iter().map(|found| found.place).collect::<Vec<_>>()
        };
        for (path, text, expected) in [
            ("README.md", "See `a/src/lib.rs`, src/lib.rs and [b](docs/b.md#x).", vec![]),
            ("README.md", "x\nSee `a/src/gone.rs`.", vec!["README.md:2"]),
            ("docs/c.md", "[up](../a/src/lib.rs) [no](../a/src/no.rs)", vec!["docs/c.md:1"]),
            ("README.md", "`it/one`, but not `it/two`", vec!["README.md:1"]),
            ("README.md", "https://x.org/y/z.json, /etc/x.toml, target/lab/x.json, b.md, and/or", vec![]),
            ("a/src/lib.rs", "//! docs/b.md\n// docs/gone.md\nlet x = \"docs/gone.md\";", vec!["a/src/lib.rs:2"]),
            ("docs/decisions/0001.md", "It was in `old/gone.rs`.", vec![]),
        ] {
            assert_eq!(lost(path, text), expected, "{path}: {text}");
        }
    }
}
