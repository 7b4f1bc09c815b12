//! Files that nothing compiles, tests that nothing runs, and test binaries that do not give a reason for being
//! separate.

use std::collections::{BTreeMap, BTreeSet};

use crate::lines::is_rust;
use crate::tokens::{Kind, Token, tokens};
use crate::{Finding, Source};

/// The words that the first lines of a separate test binary must contain, as a reason why it is not a module of
/// `tests/it`.
const ALONE: &str = "of its own";
/// The number of first lines that are looked at.
const HEAD_LINES: usize = 10;

/// The findings of these rules.
pub fn findings(sources: &[Source]) -> Vec<Finding> {
    let files: BTreeMap<&str, &str> =
        sources.iter().filter(|source| is_rust(source)).map(|source| (source.path.as_str(), &*source.text)).collect();
    let crates: Vec<&Source> = sources.iter().filter(|source| source.path.ends_with("Cargo.toml")).collect();
    let mut found = Vec::new();
    let mut compiled = BTreeSet::new();
    for manifest in crates {
        let folder = manifest.path.trim_end_matches("Cargo.toml");
        for path in files.keys().filter(|path| is_root(path, folder, &manifest.text)) {
            reach(path, true, &files, &mut compiled);
        }
        found.extend(files.iter().filter_map(|(path, text)| lone_binary(path, text, folder, &files)));
    }
    for path in files.keys().filter(|path| !compiled.contains(**path)) {
        let what = "nothing compiles this file, so nothing runs its tests; name it in a `mod`, or delete it";
        found.push(Finding::at("unused-file", path, 1, what));
    }
    found
}

/// Whether cargo compiles this file as the root of a crate, because of its place or of the manifest.
fn is_root(path: &str, folder: &str, manifest: &str) -> bool {
    let Some(rest) = path.strip_prefix(folder) else { return false };
    if manifest.contains(&format!("path = \"{rest}\"")) {
        return true;
    }
    match rest.split('/').collect::<Vec<_>>()[..] {
        ["build.rs"] | ["src", "lib.rs" | "main.rs"] => true,
        ["tests", _] | ["tests", _, "main.rs"] => !manifest.contains("autotests = false"),
        [folder, _] | [folder, _, "main.rs"] if ["examples", "benches"].contains(&folder) => true,
        _ => matches!(rest.strip_prefix("src/bin/"), Some(rest) if !rest.contains('/') || rest.ends_with("/main.rs")),
    }
}

/// Marks a file and the files of its modules.
fn reach<'f>(path: &'f str, root: bool, files: &BTreeMap<&'f str, &str>, compiled: &mut BTreeSet<&'f str>) {
    let Some(text) = files.get(path) else { return };
    if !compiled.insert(path) {
        return;
    }
    for wanted in children(path, root, text) {
        if let Some((file, _)) = wanted.iter().find_map(|wanted| files.get_key_value(wanted.as_str())) {
            let inner_root = file.ends_with("/mod.rs") || wanted.len() == 1;
            reach(file, inner_root, files, compiled);
        }
    }
}

/// Where the files of a file's modules may be: one place if it is named, else two.
fn children(path: &str, root: bool, text: &str) -> Vec<Vec<String>> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let home =
        if root || name == "mod.rs" { folder.to_owned() } else { format!("{folder}/{}", name.trim_end_matches(".rs")) };
    let named = named_paths(text);
    let found = tokens(text);
    let mut children = Vec::new();
    for (at, window) in found.windows(3).enumerate() {
        let [first, Token { kind: Kind::Name(module), .. }, end] = window else { continue };
        if !first.is("mod") || !end.is_char(';') {
            continue;
        }
        // The attribute with a path is in the lines before. Its text is not a token.
        let line = found.get(at).map_or(0, |token| token.line);
        match named.get(&(line.saturating_sub(1))).or_else(|| named.get(&line)) {
            Some(named) => children.push(vec![join(folder, named)]),
            None => children.push(vec![format!("{home}/{module}.rs"), format!("{home}/{module}/mod.rs")]),
        }
    }
    children.extend(included(text).map(|included| vec![join(folder, included)]));
    children
}

/// The files that `#[path = "..."]` names, by the attribute's line.
fn named_paths(text: &str) -> BTreeMap<usize, &str> {
    let named = |line: &'_ str| -> Option<(usize, usize)> {
        let from = line.find("#[path = \"")? + 10;
        Some((from, from + line.get(from..)?.find('"')?))
    };
    text.lines()
        .enumerate()
        .filter_map(|(at, line)| named(line).and_then(|(from, to)| Some((at + 1, line.get(from..to)?))))
        .collect()
}

/// The files of `include!("...")`.
fn included(text: &str) -> impl Iterator<Item = &str> {
    text.split("include!(\"").skip(1).filter_map(|rest| rest.split('"').next())
}

/// The path from a folder, with `..` resolved.
fn join(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').collect();
    for part in path.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." => {}
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// Finds a test binary beside `tests/it` that gives no reason.
fn lone_binary(path: &str, text: &str, folder: &str, files: &BTreeMap<&str, &str>) -> Option<Finding> {
    let name = path.strip_prefix(folder)?.strip_prefix("tests/")?;
    let together = format!("{folder}tests/it/main.rs");
    if name.contains('/') || !files.contains_key(together.as_str()) {
        return None;
    }
    let said = text.lines().take(HEAD_LINES).any(|line| line.starts_with("//") && line.contains(ALONE));
    let what = format!(
        "a test binary beside {together} is linked for itself; make it a module of that one, or say within the first \
         {HEAD_LINES} lines why it is a process or a binary \"{ALONE}\""
    );
    (!said).then(|| Finding::at("test-binary", path, 1, what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_no_module_names_and_lone_binaries_are_found() {
        let sources = [
            ("a/Cargo.toml", ""),
            ("a/src/lib.rs", "//! x\nmod b;\nmod c;\n"),
            ("a/src/b.rs", "mod inner;\n// mod lost;\n"),
            ("a/src/b/inner.rs", ""),
            ("a/src/b/lost.rs", ""),
            ("a/src/c/mod.rs", "#[cfg(test)]\nmod tests;\n"),
            ("a/src/c/tests.rs", ""),
            ("a/tests/it/main.rs", "mod d;\n"),
            ("a/tests/it/d.rs", ""),
            ("a/tests/it/forgotten.rs", ""),
            ("a/tests/alone.rs", "//! x\n// A process of its own: y.\n#[path = \"it/shared/mod.rs\"]\nmod shared;\n"),
            ("a/tests/it/shared/mod.rs", ""),
            ("a/tests/lone.rs", "//! x\n"),
            ("b/Cargo.toml", "[[bin]]\npath = \"odd/place.rs\"\n"),
            ("b/odd/place.rs", ""),
            ("b/odd/other.rs", ""),
            ("b/tests/lone.rs", "//! x\n"),
        ];
        let sources = sources.map(|(path, text)| Source { path: path.to_owned(), text: text.to_owned() });
        let found: Vec<_> = findings(&sources).into_iter().map(|found| (found.rule, found.subject)).collect();
        let found: Vec<_> = found.iter().map(|(rule, subject)| (*rule, subject.as_str())).collect();
        assert_eq!(
            found,
            [
                ("test-binary", "a/tests/lone.rs"),
                ("unused-file", "a/src/b/lost.rs"),
                ("unused-file", "a/tests/it/forgotten.rs"),
                ("unused-file", "b/odd/other.rs"),
            ]
        );
    }
}
