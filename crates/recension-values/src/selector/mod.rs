//! Selectors: trees of tests of a document, with the semantics of CouchDB's Mango. Plain values; `parse` reads them
//! from JSON, `json` writes them, `narrow` derives the conditions that they imply, `matcher` prepares them for testing.

mod fold;
mod highlight;
mod json;
mod leaf;
mod matcher;
mod narrow;
mod parse;

use crate::collation::Collation;
use crate::condition::{Condition, Literal, ValueSet};
use crate::error::{Error, Result};
use crate::json::{IntoPath, Path, Step};
use crate::limits::{SELECTOR_DEPTH_MAX, SELECTOR_PROGRAMS_BYTES_MAX, SELECTOR_TERM_BYTES, SELECTOR_TERMS_MAX};
use crate::own::{Own, is_reserved};
use crate::text::TextQuery;

pub use self::fold::Fold;
pub use self::highlight::{Highlighting, Highlights};
pub use self::leaf::{Comparison, Leaf, Pattern, TextTest};
pub use self::matcher::SelectorTest;
pub use self::narrow::ElementAsked;
pub use self::parse::distinct;

/// A tree of tests that a document passes or not: what `Query::selecting` takes.
///
/// If a document does not have the path of a test, the test fails, and so does its negation; only [`Selector::absent`]
/// passes. Everything else is as in CouchDB's Mango, whose JSON [`Selector::from_json`] reads.
///
/// ```
/// use recension::{Query, Selector, Store, ValueRange};
/// # fn main() -> recension::Result<()> {
/// let orders = Store::memory()?.collection("orders")?;
/// orders.put("1", r#"{"state":"open","total":7}"#)?;
/// orders.put("2", r#"{"state":"paid","total":70}"#)?;
/// orders.put("3", r#"{"state":"paid","total":7}"#)?;
/// let built = Selector::any([
///     Selector::at("state", ValueRange::equal("open")),
///     Selector::at("total", ValueRange::above(50)),
/// ]);
/// let read = Selector::from_json(r#"{"$or":[{"state":"open"},{"total":{"$gt":50}}]}"#)?;
/// for selector in [built, read] {
///     assert_eq!(orders.count_matching(&Query::new().selecting(selector))?, 2);
/// }
/// # Ok(()) }
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Selector(pub Node);

/// A node of the tree. Negations stand at the leaves only.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Node {
    All(Vec<Node>),
    Any(Vec<Node>),
    /// A test of the value at a path; `None`: of the value itself.
    At(Option<Path>, Leaf),
}

impl Selector {
    /// Reads a selector in the form of CouchDB's Mango: `{"state":"open","total":{"$gt":50}}`.
    ///
    /// Beyond CouchDB's operators there are `$contains` (a part of a string), `$icontains`, `$ieq` and `$ibeginsWith`
    /// (the same ignoring case), `$aicontains`, `$aieq` and `$aibeginsWith` (ignoring case and accents) and `$between`
    /// (`[least, greatest]`).
    ///
    /// # Errors
    /// [`Error::BadSelector`], with CouchDB's words.
    pub fn from_json(text: impl AsRef<[u8]>) -> Result<Self> {
        parse::selector(text.as_ref()).map(Selector)
    }

    /// Documents that all of these select.
    pub fn all(selectors: impl IntoIterator<Item = Selector>) -> Self {
        Selector(Node::All(selectors.into_iter().map(|selector| selector.0).collect()))
    }

    /// Documents that any of these selects.
    pub fn any(selectors: impl IntoIterator<Item = Selector>) -> Self {
        Selector(Node::Any(selectors.into_iter().map(|selector| selector.0).collect()))
    }

    /// Documents that this one does not select, and that have the paths that it tests.
    #[allow(clippy::should_implement_trait)] // `!selector` says less
    #[must_use]
    pub fn not(selector: Selector) -> Self {
        Selector(selector.0.negated())
    }

    /// Documents that none of these selects.
    pub fn none(selectors: impl IntoIterator<Item = Selector>) -> Self {
        Selector::not(Selector::any(selectors))
    }

    /// Documents whose value at `path` is in `values`. On a path with empty brackets, one of the values is.
    pub fn at(path: impl IntoPath, values: impl Into<ValueSet>) -> Self {
        Self::leaf(path, Leaf::Lies(values.into()))
    }

    /// Documents whose value at `path` is another one than `value`.
    pub fn differs(path: impl IntoPath, value: impl Into<Literal>) -> Self {
        Self::leaf(path, Leaf::Compare(Comparison::NotEqual, value.into()))
    }

    /// Documents that have a value at `path`.
    pub fn exists(path: impl IntoPath) -> Self {
        Self::leaf(path, Leaf::Exists(true))
    }

    /// Documents that have no value at `path`.
    pub fn absent(path: impl IntoPath) -> Self {
        Self::leaf(path, Leaf::Exists(false))
    }

    /// Documents whose value at `path` is a string that contains `part`.
    pub fn contains(path: impl IntoPath, part: impl Into<String>) -> Self {
        Self::leaf(path, Leaf::Text(TextTest::Contains, part.into()))
    }

    /// The same, ignoring case.
    pub fn contains_ignoring_case(path: impl IntoPath, part: &str) -> Self {
        Self::leaf(path, Leaf::Folded(Fold::Case, TextTest::Contains, Fold::Case.of(part)))
    }

    /// Documents whose value at `path` is this string, ignoring case.
    pub fn equals_ignoring_case(path: impl IntoPath, text: &str) -> Self {
        Self::leaf(path, Leaf::Folded(Fold::Case, TextTest::Equals, Fold::Case.of(text)))
    }

    /// As [`Selector::contains_ignoring_case`], ignoring accents too: `jose` is in `Don José`.
    #[cfg(feature = "unicode-collation")]
    pub fn contains_ignoring_accents(path: impl IntoPath, part: &str) -> Self {
        Self::leaf(path, Leaf::Folded(Fold::Accents, TextTest::Contains, Fold::Accents.of(part)))
    }

    /// As [`Selector::equals_ignoring_case`], ignoring accents too.
    #[cfg(feature = "unicode-collation")]
    pub fn equals_ignoring_accents(path: impl IntoPath, text: &str) -> Self {
        Self::leaf(path, Leaf::Folded(Fold::Accents, TextTest::Equals, Fold::Accents.of(text)))
    }

    /// Documents whose value at `path` is a string that begins with `text`, ignoring case and accents.
    #[cfg(feature = "unicode-collation")]
    pub fn begins_ignoring_accents(path: impl IntoPath, text: &str) -> Self {
        Self::leaf(path, Leaf::Folded(Fold::Accents, TextTest::Begins, Fold::Accents.of(text)))
    }

    /// Documents whose value at `path` is a string in which a regular expression (of the crate `regex`) finds a match.
    ///
    /// # Errors
    /// [`Error::BadSelector`] if the regular expression is invalid, or too large.
    pub fn matches(path: impl IntoPath, pattern: &str) -> Result<Self> {
        Ok(Self::leaf(path, Leaf::Matches(Pattern::read(pattern)?)))
    }

    /// Documents whose strings at `path`, or within the value there, have the words of a query. An index of words in
    /// the query's language (`IndexSpec::words`) serves it, if it is on the path,
    /// maybe besides others.
    pub fn contains_text(path: impl IntoPath, query: TextQuery) -> Self {
        Self::leaf(path, Leaf::Words(query))
    }

    /// Documents whose strings at some paths, or within the values there, have the words, taken together: each word may
    /// be at another path. An index of words on exactly these paths serves it.
    pub fn contains_text_in<P: IntoPath>(paths: impl IntoIterator<Item = P>, query: TextQuery) -> Self {
        let paths = paths.into_iter().map(IntoPath::into_path).collect();
        Selector(Node::At(None, Leaf::WordsIn(paths, query)))
    }

    /// Documents whose value at `path` is an array of this many elements.
    pub fn of_size(path: impl IntoPath, size: u64) -> Self {
        Self::leaf(path, Leaf::Size(size))
    }

    /// Documents whose value at `path` is an array that has each of these values.
    pub fn has_all<L: Into<Literal>>(path: impl IntoPath, values: impl IntoIterator<Item = L>) -> Self {
        Self::leaf(path, Leaf::HasAll(values.into_iter().map(Into::into).collect()))
    }

    /// Documents whose value at `path` is an array, one element of which is selected.
    pub fn some_element(path: impl IntoPath, selector: Selector) -> Self {
        Self::leaf(path, Leaf::Element(Box::new(selector.0)))
    }

    /// Documents whose value at `path` is an array with at least one element, all of which are selected.
    pub fn every_element(path: impl IntoPath, selector: Selector) -> Self {
        Self::leaf(path, Leaf::EveryElement(Box::new(selector.0)))
    }

    fn leaf(path: impl IntoPath, leaf: Leaf) -> Self {
        Selector(Node::At(Some(path.into_path()), leaf))
    }

    /// The selector in Mango's JSON, every operator written out.
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        self.0.write(&mut out);
        out
    }

    /// Whether it is `$and` of nothing.
    pub fn is_empty_conjunction(&self) -> bool {
        matches!(&self.0, Node::All(nodes) if nodes.is_empty())
    }

    /// The paths that it tests at its top, each once.
    pub fn paths(&self) -> Vec<Path> {
        let mut paths = Vec::new();
        self.0.each_path(&mut |path| {
            if !paths.contains(path) {
                paths.push(path.clone());
            }
        });
        paths
    }

    /// What is left of it without the parts that test a value below the member `name`: it selects every document that
    /// the whole selects, and maybe others. `None`: no part does.
    pub fn without(&self, name: &str) -> Option<Selector> {
        let tests = |node: &Node| {
            let mut found = false;
            node.each_path(&mut |path| found |= matches!(path.steps().first(), Some(Step::Name(own)) if own == name));
            found
        };
        match &self.0 {
            node if !tests(node) => None,
            Node::All(nodes) => Some(Selector(Node::All(nodes.iter().filter(|node| !tests(node)).cloned().collect()))),
            _ => Some(Selector::all([])),
        }
    }

    /// Conditions that every selected document meets, and maybe others; for the filter of an index.
    pub fn conditions(&self) -> Vec<Condition> {
        self.narrowed().conditions
    }

    /// Prepared for testing documents, with this order of strings.
    pub fn test(&self, collation: Collation) -> SelectorTest {
        SelectorTest::of(self, collation)
    }

    /// About how many bytes it takes, prepared for testing documents too.
    pub fn weight(&self) -> usize {
        let mut counts = Counts::default();
        // A selector that is too large is refused where it is used.
        let _ = self.0.check(0, &mut counts);
        SELECTOR_TERM_BYTES * counts.terms + 2 * counts.programs
    }

    pub fn check(&self) -> Result<()> {
        let mut counts = Counts::default();
        self.0.check(0, &mut counts)?;
        let mut checked = Ok(());
        self.0.each_path(&mut |path| {
            if checked.is_ok() {
                checked = path.check();
            }
        });
        checked
    }
}

/// What the parts of a selector come to.
#[derive(Default)]
struct Counts {
    terms: usize,
    programs: usize,
}

impl Node {
    /// The negation, moved to the leaves.
    fn negated(self) -> Self {
        match self {
            Node::All(nodes) => Node::Any(nodes.into_iter().map(Node::negated).collect()),
            Node::Any(nodes) => Node::All(nodes.into_iter().map(Node::negated).collect()),
            Node::At(path, leaf) => Node::At(path, leaf.negated()),
        }
    }

    fn each_path(&self, see: &mut dyn FnMut(&Path)) {
        match self {
            Node::All(nodes) | Node::Any(nodes) => nodes.iter().for_each(|node| node.each_path(see)),
            Node::At(_, leaf) if let Some(paths) = leaf.paths() => paths.iter().for_each(see),
            Node::At(path, _) => path.iter().for_each(see),
        }
    }

    fn check(&self, depth: usize, counts: &mut Counts) -> Result<()> {
        counts.terms += 1;
        if let Node::At(_, Leaf::Matches(pattern)) = self {
            counts.programs += pattern.program;
        }
        let is_small = counts.terms <= SELECTOR_TERMS_MAX && counts.programs <= SELECTOR_PROGRAMS_BYTES_MAX;
        if depth > SELECTOR_DEPTH_MAX || !is_small {
            return Err(too_large());
        }
        match self {
            Node::All(nodes) | Node::Any(nodes) => nodes.iter().try_for_each(|node| node.check(depth + 1, counts)),
            Node::At(_, leaf) => leaf.nested().map_or(Ok(()), |node| node.check(depth + 1, counts)),
        }
    }
}

pub fn too_large() -> Error {
    Error::BadSelector {
        error: "invalid_selector",
        reason: format!(
            "The selector is too large: it may nest {SELECTOR_DEPTH_MAX} deep and have {SELECTOR_TERMS_MAX} terms, and \
             regular expressions of 2 MiB when compiled; ask in parts."
        ),
    }
}

/// Whether a path leads to a part that only the whole document has: `_deleted`, `_attachments`.
fn needs_whole(path: &Path) -> bool {
    is_reserved(path) && Own::of(path).is_none()
}

#[cfg(test)]
mod tests;
