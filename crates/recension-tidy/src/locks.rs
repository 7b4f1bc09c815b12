//! The laboratory has its own workspace, lock file, lints and profiles. A crate that both lock files name must have the
//! same version in both, so that it is built once. The laboratory's version, lints and profiles must be those of the
//! database.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Finding, Source};

/// The findings of these rules.
pub fn findings(sources: &[Source]) -> Vec<Finding> {
    let text = |path: &str| sources.iter().find(|source| source.path == path).map(|source| source.text.as_str());
    let mut found = Vec::new();
    if let (Some(ours), Some(labs)) = (text("Cargo.lock"), text("lab/Cargo.lock")) {
        locks(ours, labs, &mut found);
    }
    if let (Some(ours), Some(labs)) = (text("Cargo.toml"), text("lab/Cargo.toml")) {
        settings(ours, labs, &mut found);
    }
    found
}

fn locks(ours: &str, labs: &str, found: &mut Vec<Finding>) {
    let known = versions(ours);
    for ((name, kind), (version, line)) in versions(labs) {
        if let Some((expected, _)) = known.get(&(name, kind))
            && *expected != version
        {
            let what = format!(
                "{name} is {version} here and {expected} in Cargo.lock; \
                 `cargo update --manifest-path lab/Cargo.toml {name}@{version} --precise {expected}`"
            );
            found.push(Finding::at("lock-versions", "lab/Cargo.lock", line, what));
        }
    }
}

/// Versions by name and by compatible part. If there are several, the newest, and its line.
fn versions(lock: &str) -> BTreeMap<(&str, String), (&str, usize)> {
    let mut found = BTreeMap::new();
    let mut name = "";
    for (at, line) in lock.lines().enumerate() {
        if let Some(value) = value(line, "name") {
            name = value;
        } else if let Some(version) = value(line, "version") {
            found.insert((name, compatible(version)), (version, at + 1));
        }
    }
    found
}

fn value<'l>(line: &'l str, key: &str) -> Option<&'l str> {
    line.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"')
}

/// The part of a version that stays the same as long as versions are compatible for cargo.
fn compatible(version: &str) -> String {
    let parts: Vec<&str> = version.split('.').collect();
    match parts[..] {
        ["0", minor, ..] => format!("0.{minor}"),
        [major, ..] => major.to_owned(),
        [] => String::new(),
    }
}

fn settings(ours: &str, labs: &str, found: &mut Vec<Finding>) {
    let (ours, labs) = (tables(ours), tables(labs));
    for name in ["lints.rust", "lints.clippy", "profile.test", "profile.release"] {
        let theirs = ours.get(&format!("workspace.{name}")).or_else(|| ours.get(name));
        if theirs.is_some() && labs.get(name) != theirs {
            let what = format!("[{name}] is not what Cargo.toml has; a workspace cannot inherit it, so copy it");
            found.push(Finding::at("lab-settings", "lab/Cargo.toml", 1, what));
        }
    }
    let package = labs.get("package");
    let compared =
        |line: &&&str| ["version", "edition", "rust-version", "license"].iter().any(|name| line.starts_with(name));
    for line in ours.get("workspace.package").into_iter().flatten().filter(compared) {
        if !package.is_some_and(|package| package.contains(line)) {
            let what = format!("[package] has not `{line}`, as Cargo.toml has; a workspace cannot inherit it");
            found.push(Finding::at("lab-settings", "lab/Cargo.toml", 1, what));
        }
    }
}

/// The lines of each table, without comments.
fn tables(manifest: &str) -> BTreeMap<String, BTreeSet<&str>> {
    let mut found: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    let mut table = String::new();
    for line in manifest.lines().map(|line| line.split(" #").next().unwrap_or(line).trim()) {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            name.clone_into(&mut table);
        } else if !line.is_empty() && !line.starts_with('#') {
            found.entry(table.clone()).or_default().insert(line);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock(packages: &[(&str, &str)]) -> String {
        let package =
            |(name, version): &(&str, &str)| format!("[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n");
        packages.iter().map(package).collect()
    }

    #[test]
    fn versions_and_settings_that_differ_are_found() {
        let manifest = "\
            [workspace.package]\nversion = \"1.0.0\"\n\
            [workspace.lints.rust]\nx = 1 # why\n[profile.test]\nopt-level = 1\n";
        let sources = |labs_lock: &str, labs_manifest: &str| {
            [
                ("Cargo.lock", lock(&[("a", "1.2.3"), ("b", "0.3.1"), ("b", "0.4.0")])),
                ("lab/Cargo.lock", labs_lock.to_owned()),
                ("Cargo.toml", manifest.to_owned()),
                ("lab/Cargo.toml", labs_manifest.to_owned()),
            ]
            .map(|(path, text)| Source { path: path.to_owned(), text })
        };
        let good =
            "[package]\nname = \"lab\"\nversion = \"1.0.0\"\n[lints.rust]\nx = 1\n\n[profile.test]\nopt-level = 1\n";
        for (locked, labs, expected) in [
            (&[("a", "1.2.3"), ("b", "0.4.0"), ("c", "9.0.0")][..], good, vec![]),
            (&[("a", "1.3.0")], good, vec![("lock-versions", "lab/Cargo.lock:3")]),
            (&[("a", "2.0.0"), ("b", "0.3.2")], good, vec![("lock-versions", "lab/Cargo.lock:6")]),
            (&[], "[lints.rust]\nx = 2\n", vec![("lab-settings", "lab/Cargo.toml:1"); 3]),
        ] {
            let found = findings(&sources(&lock(locked), labs));
            let found: Vec<_> = found.iter().map(|found| (found.rule, found.place.as_str())).collect();
            assert_eq!(found, expected, "{locked:?} {labs}");
        }
    }
}
