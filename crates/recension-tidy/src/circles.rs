//! Circles of imports. In a folder of a crate, its files and its folders are siblings; a `mod.rs` is the folder's face
//! and is not one of them. Files of one folder may need each other, but no folder may be in a circle with its siblings.
//! An arrow that `allowed.txt` names is removed first.

use std::collections::{BTreeMap, BTreeSet};

use crate::allowed::Allowed;
use crate::imports::{Crate, Module, read};
use crate::{Finding, Source};

/// The rule's name.
const RULE: &str = "import-circle";

/// A file or a folder among its siblings, by its module.
type Node = Module;
type Arrow = (Node, Node);

/// The arrows between the siblings in one folder.
#[derive(Default)]
struct Floor {
    /// The number of imports of an arrow, and the place of the first.
    arrows: BTreeMap<Arrow, (usize, String)>,
    folders: BTreeSet<Node>,
}

/// The findings of this rule: arrows that close a circle, and allowed arrows that would.
pub fn findings(sources: &[Source], allowed: &Allowed) -> Vec<Finding> {
    let mut found = Vec::new();
    for manifest in sources.iter().filter_map(|source| source.path.strip_suffix("Cargo.toml")) {
        let folder = format!("{manifest}src/");
        for floor in floors(&read(sources, &folder)) {
            let subject = |arrow: &Arrow| format!("{folder}{} -> {folder}{}", arrow.0.join("/"), arrow.1.join("/"));
            for (arrow, circle) in floor.closing(|arrow| allowed.contains(RULE, &subject(arrow))) {
                let (imports, place) = floor.arrows.get(&arrow).cloned().unwrap_or_default();
                let names: Vec<&str> = circle.iter().filter_map(|node| node.last()).map(String::as_str).collect();
                found.push(Finding {
                    rule: RULE,
                    subject: subject(&arrow),
                    place,
                    what: format!(
                        "{} imports from {} ({imports} times), which leads back by {}; move what is shared down",
                        arrow.0.join("::"),
                        arrow.1.join("::"),
                        names.join(", ")
                    ),
                });
            }
        }
    }
    found
}

fn floors(krate: &Crate) -> Vec<Floor> {
    let mut floors: BTreeMap<Module, Floor> = BTreeMap::new();
    for import in &krate.imports {
        let common = import.from.iter().zip(&import.to).take_while(|(a, b)| a == b).count();
        // One of the modules is the face of a folder that the other one is in.
        let (Some(from), Some(to)) = (import.from.get(..=common), import.to.get(..=common)) else { continue };
        let floor = floors.entry(import.from.get(..common).unwrap_or_default().to_vec()).or_default();
        for node in [from, to] {
            if krate.files.keys().any(|module| module.len() > node.len() && module.starts_with(node)) {
                floor.folders.insert(node.to_vec());
            }
        }
        let place = || format!("{}:{}", krate.files.get(&import.from).map_or("", String::as_str), import.line);
        floor.arrows.entry((from.to_vec(), to.to_vec())).or_insert_with(|| (0, place())).0 += 1;
    }
    floors.into_values().collect()
}

impl Floor {
    /// The arrows that close a circle, each with the way back. Of the arrows that are not allowed it takes those with
    /// the fewest imports, until no circle is left. It also takes every allowed arrow that would close a circle again.
    fn closing(&self, is_allowed: impl Fn(&Arrow) -> bool) -> Vec<(Arrow, Vec<Node>)> {
        let (allowed, mut left): (BTreeSet<&Arrow>, BTreeSet<&Arrow>) =
            self.arrows.keys().partition(|arrow| is_allowed(arrow));
        let mut taken = Vec::new();
        while let Some(arrow) = self.weakest(&left) {
            left.remove(arrow);
            taken.push(arrow);
        }
        // An arrow that was taken early may do no harm any more, now that others are gone.
        for arrow in taken.iter().rev() {
            if way(&left, &arrow.1, &arrow.0).is_none() {
                left.insert(arrow);
            }
        }
        let closing = taken.into_iter().chain(allowed);
        closing.filter_map(|arrow| Some((arrow.clone(), way(&left, &arrow.1, &arrow.0)?))).collect()
    }

    /// The arrow with the fewest imports, among those that are in a circle with a folder and start or end at one.
    fn weakest<'a>(&self, arrows: &BTreeSet<&'a Arrow>) -> Option<&'a Arrow> {
        let of_a_folder = |arrow: &Arrow| self.folders.contains(&arrow.0) || self.folders.contains(&arrow.1);
        let count = |arrow: &Arrow| self.arrows.get(arrow).map_or(0, |(count, _)| *count);
        arrows
            .iter()
            .copied()
            .filter(|arrow| of_a_folder(arrow) && way(arrows, &arrow.1, &arrow.0).is_some())
            .min_by_key(|arrow| (count(arrow), *arrow))
    }
}

/// A shortest way along the arrows.
fn way(arrows: &BTreeSet<&Arrow>, from: &Node, to: &Node) -> Option<Vec<Node>> {
    let mut ways = vec![vec![from.clone()]];
    let mut seen = BTreeSet::from([from.clone()]);
    let mut at = 0;
    while let Some(way) = ways.get(at).cloned() {
        let end = way.last()?;
        if end == to {
            return Some(way);
        }
        for next in arrows.iter().filter(|arrow| arrow.0 == *end).map(|arrow| &arrow.1) {
            if seen.insert(next.clone()) {
                ways.push(way.iter().chain([next]).cloned().collect());
            }
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subjects(files: &[(&str, &str)], allowed: &str) -> Vec<String> {
        let source = |path: &str, text: &str| Source { path: path.to_owned(), text: text.to_owned() };
        let mut sources = vec![source("c/Cargo.toml", "")];
        sources.extend(files.iter().map(|(path, text)| source(&format!("c/src/{path}"), text)));
        findings(&sources, &Allowed::parse(allowed).unwrap()).into_iter().map(|found| found.subject).collect()
    }

    #[test]
    fn a_folder_in_a_circle_is_found_and_files_by_themselves_may_be_in_one() {
        let floor = ("low/mod.rs", "");
        for (what, files, expected) in [
            ("down only", vec![floor, ("low/a.rs", ""), ("high.rs", "use crate::low::a::X;")], vec![]),
            (
                "up as well, the rarer one",
                vec![
                    floor,
                    ("low/a.rs", "use crate::high::Y;"),
                    ("high.rs", "use crate::low::a::X; use crate::low::a::Z;"),
                ],
                vec!["c/src/low -> c/src/high"],
            ),
            (
                "by a third",
                vec![
                    floor,
                    ("low/a.rs", "use crate::third::T;"),
                    ("third.rs", "use crate::high::Y;"),
                    ("high.rs", "use crate::low::a::X;"),
                ],
                vec!["c/src/high -> c/src/low"],
            ),
            ("files", vec![("a.rs", "use crate::b::X;"), ("b.rs", "use crate::a::Y;")], vec![]),
            ("the face of its own folder", vec![("low/mod.rs", "use a::X;"), ("low/a.rs", "use super::Y;")], vec![]),
            (
                "what a face exports again counts where it is",
                vec![
                    ("low/mod.rs", "pub mod deep; mod b;\npub use deep::D;"),
                    ("low/deep/mod.rs", "mod d; pub use d::D;"),
                    ("low/deep/d.rs", "use crate::low::b::X; use crate::low::b::Y;"),
                    ("low/b.rs", "use super::D;"),
                ],
                vec!["c/src/low/b -> c/src/low/deep"],
            ),
        ] {
            assert_eq!(subjects(&files, ""), expected, "{what}");
        }
    }

    #[test]
    fn an_allowed_arrow_is_found_as_long_as_it_closes_a_circle() {
        let files = [("low/mod.rs", ""), ("low/a.rs", "use crate::high::Y;"), ("high.rs", "use crate::low::a::X;")];
        for arrow in ["c/src/low -> c/src/high", "c/src/high -> c/src/low"] {
            assert_eq!(subjects(&files, &format!("import-circle {arrow}: because\n")), [arrow]);
        }
        let mended = [("low/mod.rs", ""), ("low/a.rs", ""), ("high.rs", "use crate::low::a::X;")];
        assert!(subjects(&mended, "import-circle c/src/high -> c/src/low: because\n").is_empty());
    }
}
