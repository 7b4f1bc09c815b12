//! Rules for the repository's own sources, against anything that makes them harder to read. `tests/tidy.rs` applies
//! every rule to every file and reports all findings at once. Findings that are older than a rule are in `allowed.txt`,
//! which can only shrink.

pub mod allowed;
pub mod circles;
pub mod compatibility;
pub mod imports;
pub mod lines;
pub mod locks;
pub mod modules;
pub mod pointers;
pub mod tokens;

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::path::Path;

use allowed::Allowed;

/// A file of the repository.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// Its path from the root, with `/`.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// Something that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule's name, as in `allowed.txt`.
    pub rule: &'static str,
    /// The name in the allow list: a path, or an arrow of imports.
    pub subject: String,
    /// The file and the line.
    pub place: String,
    /// What is wrong and what to do about it.
    pub what: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.place, self.rule, self.what)
    }
}

impl Finding {
    /// A finding in a line of a file.
    pub fn at(rule: &'static str, path: &str, line: usize, what: impl Into<String>) -> Self {
        Finding { rule, subject: path.to_owned(), place: format!("{path}:{line}"), what: what.into() }
    }
}

/// Whether a folder is hidden (cargo's settings are read), or holds built, fetched or installed files.
fn is_skipped(name: &str) -> bool {
    (name.starts_with('.') && name != ".cargo")
        || ["target", "data", "node_modules", "packages", "corpus", "artifacts"].contains(&name)
}

/// All text files that the rules look at: Rust, Cargo's files, scripts and prose, in the order of their paths.
///
/// # Errors
/// If the repository cannot be read.
pub fn sources(root: &Path) -> io::Result<Vec<Source>> {
    let paths = paths(root)?;
    let read = |path: String| Ok(Source { text: std::fs::read_to_string(root.join(&path))?, path });
    paths.into_iter().filter(|path| is_looked_at(path)).map(read).collect()
}

/// The paths of all files of the repository, from its root.
///
/// # Errors
/// If the repository cannot be read.
pub fn paths(root: &Path) -> io::Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    walk(root, "", &mut found)?;
    Ok(found)
}

fn walk(folder: &Path, path: &str, found: &mut BTreeSet<String>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let path = if path.is_empty() { name.clone() } else { format!("{path}/{name}") };
        if entry.file_type()?.is_dir() {
            if !is_skipped(&name) {
                walk(&entry.path(), &path, found)?;
            }
        } else {
            found.insert(path);
        }
    }
    Ok(())
}

fn is_looked_at(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let by_ending = Path::new(name).extension().is_some_and(|ending| ending == "rs" || ending == "md");
    by_ending || path.starts_with("scripts/") || ["Cargo.toml", "Cargo.lock", "Makefile"].contains(&name)
}

/// The findings of every rule on these files, including the allowed ones. `all` are the paths of all files.
pub fn findings(sources: &[Source], all: &BTreeSet<String>, allowed: &Allowed) -> Vec<Finding> {
    let mut found = lines::findings(sources);
    found.extend(pointers::findings(sources, all));
    found.extend(modules::findings(sources));
    found.extend(circles::findings(sources, allowed));
    found.extend(locks::findings(sources));
    found.extend(compatibility::findings(sources));
    found
}
