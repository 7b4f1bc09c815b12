//! The floors of `src`: an import goes to a lower floor or along its own, and never climbs. `faces` may use `kernel`,
//! and both the engine contract; the rooms of the kernel have an order too. Values are a crate below, which knows
//! neither.

use std::fs;
use std::path::{Path, PathBuf};

/// From the lowest floor up.
const FLOORS: &[&str] = &["engine", "kernel", "faces"];

/// The rooms of the kernel, from the lowest up.
const KERNEL: &[&str] = &["overlay", "rows", "attachment", "read", "query", "changes", "view", "write"];

/// Imports that climb all the same: file, what it imports, and the reason in a line.
const ALLOWED: &[(&str, &str, &str)] = &[];

/// The place of a module's path in the order. Modules of one place may use each other.
fn place(path: &[String]) -> Result<(usize, usize), String> {
    let named = |at: usize| path.get(at).map(String::as_str);
    let find = |order: &[&str], name: Option<&str>| order.iter().position(|known| Some(*known) == name);
    let floor = find(FLOORS, named(0)).ok_or("name the floor: kernel or faces")?;
    if named(0) != Some("kernel") {
        return Ok((floor, 0));
    }
    let room = find(KERNEL, named(1)).ok_or("this room of the kernel has no place in KERNEL of this test")?;
    Ok((floor, room))
}

/// The text without line comments and without the tests at its end; lines stay where they are.
fn code(text: &str) -> String {
    let end = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    let bare = |line: &str| if line.trim_start().starts_with("//") { String::new() } else { line.to_owned() };
    text[..end].lines().map(|line| bare(line) + "\n").collect()
}

/// The leading `a::b::` of a text as names, and the rest.
fn names(mut rest: &str) -> (Vec<String>, &str) {
    let mut names = Vec::new();
    loop {
        let len = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        if len == 0 {
            return (names, rest);
        }
        names.push(rest[..len].to_owned());
        rest = &rest[len..];
        match rest.strip_prefix("::") {
            Some(more) => rest = more,
            None => return (names, rest),
        }
    }
}

/// The paths of a tree of imports: what follows a prefix, be it one path or `{several, of::them}`.
fn paths(prefix: &[String], text: &str, found: &mut Vec<Vec<String>>) {
    let (more, rest) = names(text.trim_start());
    let path = [prefix, &more].concat();
    let Some(inside) = rest.strip_prefix('{') else {
        found.push(path);
        return;
    };
    let (mut depth, mut start) = (0, 0);
    for (at, c) in inside.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                if !inside[start..at].trim().is_empty() {
                    paths(&path, &inside[start..at], found);
                }
                start = at + 1;
                if c == '}' {
                    return;
                }
            }
            _ => {}
        }
    }
}

/// The module that a file is.
fn module(file: &Path) -> Vec<String> {
    let mut names: Vec<String> = file.with_extension("").iter().map(|name| name.to_string_lossy().into()).collect();
    names.pop_if(|name| name == "mod");
    names
}

/// The imports of a file that climb, each as `file:line imports path: why`, and how many imports there are.
fn climbing(file: &Path, text: &str) -> (Vec<String>, usize) {
    let (own, code) = (module(file), code(text));
    let (mut climbing, mut count) = (Vec::new(), 0);
    for start in ["crate::", "super::"] {
        for (at, _) in code.match_indices(start) {
            // The later words of `super::super::`, and names that end like one, are no beginnings.
            if code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':') {
                continue;
            }
            let (mut prefix, mut rest) = (Vec::new(), &code[at..]);
            if start == "super::" {
                prefix.clone_from(&own);
                while let Some(after) = rest.strip_prefix("super::") {
                    prefix.pop();
                    rest = after;
                }
            } else {
                rest = &rest[start.len()..];
            }
            let mut found = Vec::new();
            paths(&prefix, rest, &mut found);
            let line = code[..at].lines().count().max(1);
            for path in found {
                count += 1;
                let (shown, name) = (path.join("::"), file.display().to_string());
                let why = match (place(&own), place(&path)) {
                    (Ok(own), Ok(other)) if own >= other => continue,
                    (Ok(_), Ok(_)) => "this climbs".to_owned(),
                    (Err(why), _) | (_, Err(why)) => why,
                };
                if !ALLOWED.iter().any(|(allowed, path, _)| *allowed == name && *path == shown) {
                    climbing.push(format!("src/{name}:{line} imports {shown}: {why}"));
                }
            }
        }
    }
    (climbing, count)
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn no_import_climbs_a_floor() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../src");
    let mut found = Vec::new();
    files(&root, &mut found);
    found.sort();
    let (mut all, mut count) = (Vec::new(), 0);
    for path in &found {
        let file = path.strip_prefix(&root).unwrap();
        // The module's own file names all floors for users. A file of tests may use what it tests.
        if file == Path::new("lib.rs") || file.ends_with("tests.rs") {
            continue;
        }
        let (climbs, imports) = climbing(file, &fs::read_to_string(path).unwrap());
        all.extend(climbs);
        count += imports;
    }
    assert!(all.is_empty(), "move the code down, or what it needs up:\n{}", all.join("\n"));
    assert!(count > 500, "only {count} imports were found: does the test still read them?");
    for (file, _, reason) in ALLOWED {
        assert!(root.join(file).exists() && !reason.is_empty(), "{file}");
    }
}

#[test]
fn imports_that_climb_are_told_with_their_lines() {
    let climbs = |file: &str, text: &str| climbing(Path::new(file), text).0.join("\n");
    for (file, text, part) in [
        ("kernel/rows/a.rs", "\nuse crate::faces::x;", "kernel/rows/a.rs:2 imports faces::x: this climbs"),
        ("kernel/rows/mod.rs", "fn f() -> super::super::faces::X {}", "imports faces::X: this climbs"),
        ("kernel/rows/a.rs", "use crate::{engine::b, kernel::{overlay, write::{c, d}}};", "kernel::write::c"),
        ("kernel/read/a.rs", "use super::super::query::x;", "imports kernel::query::x: this climbs"),
        ("kernel/overlay.rs", "use super::rows;", "imports kernel::rows: this climbs"),
        ("kernel/other/a.rs", "use crate::engine::b;", "no place in KERNEL"),
        ("faces/a.rs", "use crate::Error;", "imports Error: name the floor"),
    ] {
        assert!(climbs(file, text).contains(part), "{file}: {text}: {}", climbs(file, text));
    }
    for (file, text) in [
        ("faces/a.rs", "use crate::kernel::{write::x, rows};\nuse super::b;"),
        ("kernel/write/a.rs", "use crate::kernel::{overlay::x, rows::{self, y}, write::z};"),
        ("kernel/rows/a.rs", "//! [`X`](crate::faces::X)\n#[cfg(test)]\nmod tests {\nuse crate::faces::X;"),
    ] {
        assert_eq!(climbs(file, text), "", "{file}: {text}");
    }
}
