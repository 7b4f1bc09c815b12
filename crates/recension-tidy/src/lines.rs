//! Rules for a single file: its first lines, its length, the lengths of its lines, and words that were meant only for a
//! while.

use crate::pointers::is_prose;
use crate::{Finding, Source};

/// Characters in a line, the same as in `rustfmt.toml`.
const LINE_MAX: usize = 120;
/// Lines in a Rust file.
const FILE_MAX: usize = 600;
/// Words that must not be committed. They are in halves here because this file is checked as well.
const FORBIDDEN: [(&str, &str); 4] = [("todo", "!("), ("dbg", "!("), ("unimplemented", "!("), ("FIX", "ME")];

/// Words that only their writers understand, in halves for the same reason, and the usual ones. They are looked for in
/// comments, and in names of types.
const UNUSUAL: [(&str, &str, &str); 5] = [
    ("so ", "many", "this many"),
    ("nou", "ght", "0 or zero"),
    ("of ", "chance", "random"),
    ("struct As", "ked", "what it is, such as a request"),
    ("enum As", "ked", "what it is, such as a request"),
];

/// The findings of these rules.
pub fn findings(sources: &[Source]) -> Vec<Finding> {
    let mut found = Vec::new();
    // Tables of prose are as wide as they are.
    let is_free = |path: &str| path.ends_with("Cargo.lock") || is_prose(path);
    for source in sources.iter().filter(|source| !is_free(&source.path)) {
        long_lines(source, &mut found);
        if is_rust(source) {
            rust(source, &mut found);
        }
    }
    found
}

/// Whether a file is Rust.
pub fn is_rust(source: &Source) -> bool {
    std::path::Path::new(&source.path).extension().is_some_and(|ending| ending == "rs")
}

fn long_lines(source: &Source, found: &mut Vec<Finding>) {
    for (at, line) in source.text.lines().enumerate() {
        let length = line.chars().count();
        if length > LINE_MAX {
            let what = format!("{length} characters; break the line before {LINE_MAX}");
            found.push(Finding::at("line-length", &source.path, at + 1, what));
        }
    }
}

fn rust(source: &Source, found: &mut Vec<Finding>) {
    if !source.text.starts_with("//!") {
        let what = "the first line is no `//!` comment; say what the file is for";
        found.push(Finding::at("first-lines", &source.path, 1, what));
    }
    let lines = source.text.lines().count();
    if lines > FILE_MAX {
        let what = format!("{lines} lines; split what is more than one idea, {FILE_MAX} lines at most");
        found.push(Finding::at("file-length", &source.path, lines, what));
    }
    for (at, line) in source.text.lines().enumerate() {
        for (first, rest) in FORBIDDEN {
            let word = [first, rest].concat();
            if line.contains(&word) {
                let what = format!("`{word}` is for a while only; finish it, or file what is left as an issue");
                found.push(Finding::at("forbidden-word", &source.path, at + 1, what));
            }
        }
        for (first, rest, usual) in UNUSUAL {
            let word = [first, rest].concat();
            let is_comment = line.trim_start().starts_with("//");
            if has_word(line, &word) && (is_comment || word.contains("As")) {
                let what = format!("`{word}` is not the usual word; write {usual}");
                found.push(Finding::at("unusual-word", &source.path, at + 1, what));
            }
        }
    }
}

/// Whether a line has a word, or several, that no other one goes on with.
fn has_word(line: &str, word: &str) -> bool {
    let is_letter = |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
    line.match_indices(word)
        .any(|(at, _)| !is_letter(line[..at].chars().next_back()) && !is_letter(line[at + word.len()..].chars().next()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(path: &str, text: &str) -> Vec<(&'static str, String)> {
        let source = Source { path: path.to_owned(), text: text.to_owned() };
        findings(&[source]).into_iter().map(|found| (found.rule, found.place)).collect()
    }

    #[test]
    fn each_rule_finds_what_it_is_for_and_nothing_else() {
        let long = format!("//! {}\n", "é".repeat(LINE_MAX - 3));
        let full = format!("//! {}\n", "é".repeat(LINE_MAX - 4));
        let many = "//! x\n".repeat(FILE_MAX + 1);
        let unfinished = ["//! x\nfn f() { to", "do!() }\n"].concat();
        let unusual = ["//! at most so ", "many\nstruct As", "ked;\nlet so_", "many = \"so ", "many\";\n"].concat();
        for (path, text, expected) in [
            ("a.rs", "//! x\nfn f() {}\n", vec![]),
            ("a.rs", "fn f() {}\n", vec![("first-lines", "a.rs:1")]),
            ("a.rs", &full, vec![]),
            ("a.rs", &long, vec![("line-length", "a.rs:1")]),
            ("scripts/x", &long, vec![("line-length", "scripts/x:1")]),
            ("a/Cargo.lock", &long, vec![]),
            ("a.rs", &many, vec![("file-length", "a.rs:601")]),
            ("Makefile", &many, vec![]),
            ("a.rs", &unfinished, vec![("forbidden-word", "a.rs:2")]),
            ("a.rs", &unusual, vec![("unusual-word", "a.rs:1"), ("unusual-word", "a.rs:2")]),
        ] {
            let expected: Vec<_> = expected.into_iter().map(|(rule, place)| (rule, place.to_owned())).collect();
            assert_eq!(rules(path, text), expected, "{path}: {}", text.lines().next().unwrap());
        }
    }
}
