//! The parts of a selector that indexes can answer: conditions that every selected document meets, and whether they are
//! all of the selector; and its alternatives, which can be queried one by one. Pure.

use super::leaf::{Leaf, TextTest, type_of_name};
use super::{Node, Selector};
use crate::collation::JsonType;
use crate::condition::{Condition, ValueRange, ValueSet};
use crate::json::{Path, Step};
use crate::limits::{ALTERNATIVES_MAX, NARROWED_CONDITIONS_MAX, RANGES_MAX};
use crate::own::{Own, is_reserved};
use crate::text::TextQuery;

/// The conditions that a selector implies.
#[derive(Default, Debug)]
pub struct Narrowed {
    pub conditions: Vec<Condition>,
    pub absent: Vec<Path>,
    /// Whether the conditions are all of it.
    pub exact: bool,
}

/// A query of words, and the paths whose values must have them, taken together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WordsAsked<'s> {
    pub paths: &'s [Path],
    pub query: &'s TextQuery,
}

/// What a selector asks of one element of an array.
#[derive(Debug)]
pub struct ElementAsked {
    /// The conditions that the element meets, as [`Selector::narrowed`] has them.
    pub conditions: Vec<Condition>,
    /// If one element meets them, and the document all other conditions, the selector selects the document.
    pub exact: bool,
}

impl Node {
    fn words(&self) -> Option<WordsAsked<'_>> {
        match self {
            Node::At(Some(path), Leaf::Words(query)) => Some(WordsAsked { paths: std::slice::from_ref(path), query }),
            Node::At(None, Leaf::WordsIn(paths, query)) => Some(WordsAsked { paths, query }),
            _ => None,
        }
    }
}

impl Selector {
    pub fn narrowed(&self) -> Narrowed {
        let mut narrowed = Narrowed::default();
        narrowed.exact = collect(&self.0, &[], &mut narrowed);
        narrowed
    }

    /// What every selected document has an element for.
    pub fn elements(&self) -> Vec<ElementAsked> {
        let nodes = match &self.0 {
            Node::All(nodes) => nodes.as_slice(),
            node => std::slice::from_ref(node),
        };
        let mut others = Narrowed::default();
        // Not `filter`: each node has its conditions, and whether they are all of it.
        let exact: Vec<bool> = nodes.iter().map(|node| collect(node, &[], &mut others)).collect();
        let asked = nodes.iter().enumerate().filter_map(|(number, node)| {
            let Node::At(Some(path), Leaf::Element(node)) = node else { return None };
            let steps: Vec<Step> = path.steps().iter().cloned().chain([Step::Each]).collect();
            let mut of_element = Narrowed::default();
            let whole = collect(node, &steps, &mut of_element);
            let of_array = |condition: &Condition| condition.path.of_elements().is_some();
            let others = exact.iter().enumerate().all(|(other, exact)| other == number || *exact);
            let exact = whole && others && of_element.conditions.iter().all(of_array);
            of_element.conditions.retain(of_array);
            Some(ElementAsked { conditions: of_element.conditions, exact })
        });
        asked.collect()
    }

    /// The words that every selected document has at some paths.
    pub fn words(&self) -> Vec<WordsAsked<'_>> {
        let nodes = match &self.0 {
            Node::All(nodes) => nodes.as_slice(),
            node => std::slice::from_ref(node),
        };
        nodes.iter().filter_map(Node::words).collect()
    }

    /// Whether it only asks for words at some paths.
    pub fn is_words_alone(&self) -> bool {
        match &self.0 {
            Node::All(nodes) => nodes.len() == 1 && self.words().len() == 1,
            _ => self.words().len() == 1,
        }
    }

    /// Whether it selects whatever one of its alternatives selects.
    pub fn is_alternatives_alone(&self) -> bool {
        match &self.0 {
            Node::All(nodes) => matches!(nodes.as_slice(), [Node::Any(_)]),
            node => matches!(node, Node::Any(_)),
        }
    }

    /// Its alternatives, if it has any: every selected document meets one of them.
    pub fn alternatives(&self) -> Option<Vec<Selector>> {
        let any = match &self.0 {
            Node::Any(nodes) => Some(nodes),
            Node::All(nodes) => nodes.iter().find_map(|node| match node {
                Node::Any(nodes) => Some(nodes),
                _ => None,
            }),
            Node::At(..) => None,
        };
        let nodes = any.filter(|nodes| nodes.len() <= ALTERNATIVES_MAX)?;
        Some(nodes.iter().cloned().map(Selector).collect())
    }
}

/// Adds the conditions that a node implies for the values below `steps`; returns whether they are all of it, where
/// steps into each element of an array mean one element for all of them.
fn collect(node: &Node, steps: &[Step], narrowed: &mut Narrowed) -> bool {
    match node {
        // Not `all`: the conditions of each node are added.
        Node::All(nodes) => nodes.iter().fold(true, |exact, node| collect(node, steps, narrowed) & exact),
        Node::Any(nodes) => collect_any(nodes, steps, narrowed),
        Node::At(path, leaf) => {
            let below = path.as_ref().map(Path::steps).unwrap_or_default();
            let Some(path) = joined(steps, below) else { return false };
            if steps.is_empty() && matches!(leaf, Leaf::Exists(false)) && !path.is_multiple() {
                narrowed.absent.push(path);
                return true;
            }
            match leaf {
                Leaf::HasAll(values) => {
                    let whole = values.len() == 1 && values.iter().any(|value| value.text().starts_with('['));
                    if let (false, Some(path)) = (whole || values.is_empty(), joined(path.steps(), &[Step::Each])) {
                        for value in values.iter().take(NARROWED_CONDITIONS_MAX) {
                            add(path.clone(), ValueRange::equal(value.clone()).into(), narrowed);
                        }
                        return false;
                    }
                    add(path, ValueRange::of_type(JsonType::Array).into(), narrowed);
                    false
                }
                Leaf::Element(node) => {
                    let steps: Vec<Step> = path.steps().iter().cloned().chain([Step::Each]).collect();
                    collect(node, &steps, narrowed);
                    // Different elements of an array may meet the conditions.
                    false
                }
                leaf => match implied(&path, leaf) {
                    Some((values, exact)) => add(path, values, narrowed) && exact,
                    None => false,
                },
            }
        }
    }
}

/// Alternatives on one path become a set.
fn collect_any(nodes: &[Node], steps: &[Step], narrowed: &mut Narrowed) -> bool {
    let mut all: Option<(Path, ValueSet)> = None;
    for node in nodes {
        let Node::At(below, leaf) = node else { return false };
        let below = below.as_ref().map(Path::steps).unwrap_or_default();
        let Some(path) = joined(steps, below) else { return false };
        let Some((values, true)) = implied(&path, leaf) else { return false };
        all = Some(match all {
            None => (path, values),
            Some((known, set)) if known == path && set.len() < RANGES_MAX => (known, set.or(values)),
            Some(_) => return false,
        });
    }
    all.is_some_and(|(path, values)| add(path, values, narrowed))
}

fn add(path: Path, values: ValueSet, narrowed: &mut Narrowed) -> bool {
    let fits = values.len() <= RANGES_MAX && narrowed.conditions.len() < NARROWED_CONDITIONS_MAX;
    if fits {
        narrowed.conditions.push(Condition { path, values });
    }
    fits
}

fn joined(steps: &[Step], below: &[Step]) -> Option<Path> {
    let path = Path::of_steps(steps.iter().chain(below).cloned().collect()).ok()?;
    (!is_reserved(&path) || Own::of(&path).is_some()).then_some(path)
}

/// The values at a path for which a leaf may hold, and whether it holds for all of them.
fn implied(path: &Path, leaf: &Leaf) -> Option<(ValueSet, bool)> {
    let of_type = |of_type| ValueSet::from(ValueRange::of_type(of_type));
    Some(match leaf {
        // On a path to several values, such a test needs all of them.
        leaf if leaf.is_of_all() && path.is_multiple() => (ValueRange::anything().into(), false),
        Leaf::Compare(comparison, value) => (comparison.set(value), true),
        Leaf::Lies(values) => (values.clone(), true),
        Leaf::OneOf(values) if values.len() < RANGES_MAX || Own::of(path).is_some() => {
            let set = ValueSet::one_of(values.iter().cloned());
            // An array passes if its elements do.
            if Own::of(path).is_some() { (set, true) } else { (set.or(of_type(JsonType::Array)), false) }
        }
        Leaf::Exists(true) => (ValueRange::anything().into(), true),
        Leaf::Type(name) => (type_of_name(name).map_or_else(|| ValueSet::one_of([""; 0]), of_type), true),
        Leaf::Text(TextTest::Begins, prefix) => (ValueRange::prefix(prefix.as_str()).into(), true),
        Leaf::Text(TextTest::Equals, text) => (ValueRange::equal(text.as_str()).into(), true),
        Leaf::Text(TextTest::Contains, _) | Leaf::Folded(..) => (of_type(JsonType::String), false),
        Leaf::Matches(pattern) => match pattern.prefix() {
            Some(prefix) => (ValueRange::prefix(prefix).into(), false),
            None => (of_type(JsonType::String), false),
        },
        Leaf::Size(_) | Leaf::EveryElement(_) => (of_type(JsonType::Array), false),
        Leaf::Mod(..) => (of_type(JsonType::Number), false),
        Leaf::Key(_) => (of_type(JsonType::Object), false),
        Leaf::OneOf(_) | Leaf::NoneOf(_) | Leaf::Not(_) | Leaf::Words(_) => (ValueRange::anything().into(), false),
        Leaf::Exists(false) | Leaf::HasAll(_) | Leaf::Element(_) | Leaf::WordsIn(..) => return None,
    })
}
