//! Selectors prepared for testing documents: each path once, values as keys. A document's text is read once, and again
//! only within arrays that a test looks into.

use std::borrow::Cow;

use regex::Regex;

use super::fold::Fold;
use super::leaf::{Leaf, TextTest, type_of_name};
use super::{Node, Selector, needs_whole};
use crate::collation::{Collation, JsonType};
use crate::condition::{KeySet, Literal, ValueRange, ValueSet};
use crate::json::{Cursor, Path, PathSet, Text};
use crate::model::Document;
use crate::own::{Own, collation_at};
use crate::text::TextQuery;

/// A selector prepared for testing documents, by [`Selector::test`].
#[derive(Clone, Debug)]
pub struct SelectorTest {
    inner: Nested,
    own: Vec<(usize, Own)>,
    /// It needs parts that only the whole document has.
    whole: bool,
}

#[derive(Clone, Debug)]
struct Nested {
    paths: PathSet,
    test: Test,
}

#[derive(Clone, Debug)]
enum Test {
    All(Vec<Test>),
    Any(Vec<Test>),
    /// The values at the path of this number; `None`: the value itself.
    At {
        path: Option<usize>,
        check: Check,
        of_all: bool,
    },
}

#[derive(Clone, Debug)]
enum Check {
    Lies(KeySet),
    /// The value, or of an array one of its elements.
    OneOf(KeySet),
    Exists(bool),
    Type(Option<JsonType>),
    Size(u64),
    Mod(i64, i64),
    Text(TextTest, String, Option<Fold>),
    Matches(Regex),
    Words(TextQuery),
    WordsIn(PathSet, TextQuery),
    /// Each is in an array; or the array is the one.
    HasAll(Vec<KeySet>, Option<KeySet>),
    Element(Box<Nested>),
    EveryElement(Box<Nested>),
    Key(Box<Nested>),
    Not(Box<Check>),
}

impl SelectorTest {
    pub(super) fn of(selector: &Selector, collation: Collation) -> Self {
        let (mut own, mut whole) = (Vec::new(), false);
        selector.0.each_path(&mut |path| whole |= needs_whole(path));
        let mut paths = PathSet::default();
        let mut number = |path: &Path| match Own::of(path).filter(|_| !whole) {
            None => paths.add(path),
            Some(meant) => {
                let number = paths.add_unlooked(path);
                if !own.contains(&(number, meant)) {
                    own.push((number, meant));
                }
                number
            }
        };
        let test = compiled(&selector.0, collation, true, &mut number);
        SelectorTest { inner: Nested { paths, test }, own, whole }
    }

    /// The same for texts that are not documents: all paths lead into the text.
    pub fn of_texts(selector: &Selector, collation: Collation) -> Self {
        let mut paths = PathSet::default();
        let test = compiled(&selector.0, collation, false, &mut |path| paths.add(path));
        SelectorTest { inner: Nested { paths, test }, own: Vec::new(), whole: true }
    }

    /// Whether the selector selects a text, for [`SelectorTest::of_texts`].
    pub fn selects_text(&self, text: &str) -> bool {
        self.inner.holds(text)
    }

    /// Whether the selector selects a document.
    pub fn selects(&self, document: &Document<'_>) -> bool {
        if self.whole {
            return self.inner.holds(&document.to_json());
        }
        let own: Vec<(usize, String)> =
            self.own.iter().map(|(number, own)| (*number, own.text(&document.id, &document.rev))).collect();
        let mut values = self.inner.paths.values(&document.body);
        for (number, text) in &own {
            if let Some(at) = values.get_mut(*number) {
                *at = vec![text];
            }
        }
        self.inner.test.holds(&document.body, &values, &mut Vec::new())
    }
}

impl Nested {
    fn holds(&self, text: &str) -> bool {
        self.test.holds(text, &self.paths.values(text), &mut Vec::new())
    }

    /// Whether it holds for each element of an array; the array is read once. There are none if it is no array.
    fn of_elements<'t>(&self, array: &'t str, scratch: &mut Vec<u8>) -> impl Iterator<Item = bool> {
        let mut values = Vec::new();
        items(array, b'[', move |cursor: &mut Cursor<'t>| {
            let text = self.paths.fill_at(cursor, &mut values)?;
            Some(self.test.holds(text, &values, scratch))
        })
    }

    /// The same for several texts: a test that looks at each of them, and makes room once.
    fn of_each<'t>(&self, scratch: &mut Vec<u8>) -> impl FnMut(&'t str) -> bool {
        let mut values = Vec::new();
        move |text| {
            self.paths.fill(text, &mut values);
            self.test.holds(text, &values, scratch)
        }
    }
}

fn compiled(node: &Node, collation: Collation, top: bool, number: &mut dyn FnMut(&Path) -> usize) -> Test {
    match node {
        Node::All(nodes) => Test::All(nodes.iter().map(|node| compiled(node, collation, top, number)).collect()),
        Node::Any(nodes) => Test::Any(nodes.iter().map(|node| compiled(node, collation, top, number)).collect()),
        Node::At(path, leaf) => {
            let collation = path.as_ref().filter(|_| top).map_or(collation, |path| collation_at(path, collation));
            let of_all = path.as_ref().is_some_and(Path::is_multiple) && leaf.is_of_all();
            Test::At { path: path.as_ref().map(number), check: Check::of(leaf, collation), of_all }
        }
    }
}

fn nested(node: &Node, collation: Collation) -> Nested {
    let mut paths = PathSet::default();
    let test = compiled(node, collation, false, &mut |path| paths.add(path));
    Nested { paths, test }
}

impl Test {
    fn holds(&self, text: &str, values: &[Vec<&str>], scratch: &mut Vec<u8>) -> bool {
        match self {
            Test::All(tests) => tests.iter().all(|test| test.holds(text, values, scratch)),
            Test::Any(tests) => tests.iter().any(|test| test.holds(text, values, scratch)),
            Test::At { path: None, check, .. } => check.holds(text, scratch),
            Test::At { path: Some(path), check, of_all } => {
                let values = values.get(*path).map(Vec::as_slice).unwrap_or_default();
                match values {
                    [] => matches!(check, Check::Exists(false)),
                    values if *of_all => values.iter().all(|value| check.holds(value, scratch)),
                    values => values.iter().any(|value| check.holds(value, scratch)),
                }
            }
        }
    }
}

impl Check {
    fn of(leaf: &Leaf, collation: Collation) -> Self {
        let keys = |set: &ValueSet| set.test(collation);
        let one_of = |values: &[Literal]| Check::OneOf(keys(&ValueSet::one_of(values.iter().cloned())));
        match leaf {
            Leaf::Compare(comparison, value) => Check::Lies(keys(&comparison.set(value))),
            Leaf::Lies(set) => Check::Lies(keys(set)),
            Leaf::OneOf(values) => one_of(values),
            Leaf::NoneOf(values) => Check::Not(Box::new(one_of(values))),
            Leaf::Exists(wanted) => Check::Exists(*wanted),
            Leaf::Type(name) => Check::Type(type_of_name(name)),
            Leaf::Size(size) => Check::Size(*size),
            Leaf::Mod(divisor, rest) => Check::Mod(*divisor, *rest),
            Leaf::Text(test, text) => Check::Text(*test, text.clone(), None),
            Leaf::Folded(fold, test, text) => Check::Text(*test, text.clone(), Some(*fold)),
            Leaf::Matches(pattern) => Check::Matches(pattern.regex.clone()),
            Leaf::Words(query) => Check::Words(query.clone()),
            Leaf::WordsIn(at, query) => {
                let mut paths = PathSet::default();
                for path in at {
                    paths.add(path);
                }
                Check::WordsIn(paths, query.clone())
            }
            Leaf::HasAll(values) => {
                let one = |value: &Literal| keys(&ValueRange::equal(value.clone()).into());
                let whole = match values.as_slice() {
                    [only] if only.text().starts_with('[') => Some(one(only)),
                    _ => None,
                };
                Check::HasAll(values.iter().map(one).collect(), whole)
            }
            Leaf::Element(node) => Check::Element(Box::new(nested(node, collation))),
            Leaf::EveryElement(node) => Check::EveryElement(Box::new(nested(node, collation))),
            Leaf::Key(node) => Check::Key(Box::new(nested(node, collation))),
            Leaf::Not(leaf) => Check::Not(Box::new(Check::of(leaf, collation))),
        }
    }

    fn holds(&self, value: &str, scratch: &mut Vec<u8>) -> bool {
        match self {
            Check::OneOf(keys) if is_array(value) => {
                elements(value).any(|element| keys.contains_text(element, scratch))
            }
            Check::Lies(keys) | Check::OneOf(keys) => keys.contains_text(value, scratch),
            Check::Exists(wanted) => *wanted,
            Check::Type(of_type) => *of_type == Some(JsonType::of(value)),
            Check::Size(size) => is_array(value) && elements(value).count() as u64 == *size,
            Check::Mod(divisor, rest) => {
                value.parse::<i64>().ok().and_then(|value| value.checked_rem(*divisor)) == Some(*rest)
            }
            Check::Text(test, wanted, None) => string(value).is_some_and(|text| test.holds(&text, wanted)),
            Check::Text(test, wanted, Some(fold)) => {
                string(value).is_some_and(|text| test.holds(&fold.of(&text), wanted))
            }
            Check::Matches(regex) => string(value).is_some_and(|text| regex.is_match(&text)),
            Check::Words(query) => query.holds([value]),
            Check::WordsIn(paths, query) => query.holds(paths.values(value).into_iter().flatten()),
            Check::HasAll(wanted, whole) => {
                let mut has = |keys: &KeySet| elements(value).any(|element| keys.contains_text(element, scratch));
                is_array(value)
                    && (!wanted.is_empty() && wanted.iter().all(&mut has)
                        || whole.as_ref().is_some_and(|whole| whole.contains_text(value, scratch)))
            }
            Check::Element(nested) => nested.of_elements(value, scratch).any(|holds| holds),
            Check::EveryElement(nested) => {
                let mut elements = nested.of_elements(value, scratch).peekable();
                elements.peek().is_some() && elements.all(|holds| holds)
            }
            Check::Key(nested) => names(value).any(nested.of_each(scratch)),
            Check::Not(check) => !check.holds(value, scratch),
        }
    }
}

fn is_array(value: &str) -> bool {
    value.starts_with('[')
}

fn string(value: &str) -> Option<Cow<'_, str>> {
    let raw = value.strip_prefix('"')?.strip_suffix('"')?;
    Some(Text { raw, escaped: raw.contains('\\') }.decode())
}

/// The texts of the elements of an array; none if it is no array.
fn elements(value: &str) -> impl Iterator<Item = &str> {
    items(value, b'[', |cursor| {
        let start = cursor.at;
        cursor.skip_value()?;
        cursor.text.get(start..cursor.at)
    })
}

/// The names of the members of an object, as they stand, with their quotes.
fn names(value: &str) -> impl Iterator<Item = &str> {
    items(value, b'{', |cursor| {
        let start = cursor.at;
        cursor.string()?;
        let name = cursor.text.get(start..cursor.at)?;
        cursor.at += 1;
        cursor.skip_value()?;
        Some(name)
    })
}

fn items<'t, T>(
    value: &'t str,
    opens: u8,
    mut take: impl FnMut(&mut Cursor<'t>) -> Option<T>,
) -> impl Iterator<Item = T> {
    let mut cursor = Cursor::new(value);
    let mut open = cursor.peek() == Some(opens);
    cursor.at = 1;
    std::iter::from_fn(move || {
        if !open || matches!(cursor.peek(), None | Some(b']' | b'}')) {
            return None;
        }
        let item = take(&mut cursor);
        open = item.is_some() && cursor.peek() == Some(b',');
        cursor.at += 1;
        item
    })
}
