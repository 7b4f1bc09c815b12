//! Reading selectors from Mango's JSON, with CouchDB's words for errors. Pure; depth, length and terms are bounded.

use super::fold::Fold;
use super::leaf::{Comparison, Leaf, Pattern, TextTest};
use super::{Node, too_large};
use crate::condition::{Literal, ValueRange, ValueSet};
use crate::error::{Error, Result};
use crate::json::{Kind, Outline, Path, View, minify_naming_repeats};
use crate::limits::{
    INDEX_PARTS_MAX, SELECTOR_BYTES_MAX, SELECTOR_DEPTH_MAX, SELECTOR_PROGRAMS_BYTES_MAX, SELECTOR_TERMS_MAX,
    SELECTOR_VALUES_MAX,
};
use crate::text::{Language, TextQuery};
#[cfg(not(feature = "unicode-collation"))]
use recension_engine::EngineError;

/// Reads a selector.
pub(super) fn selector(text: &[u8]) -> Result<Node> {
    if text.len() > SELECTOR_BYTES_MAX {
        return Err(too_large());
    }
    let text = distinct(text, "invalid_selector")?;
    let outline = Outline::of(&text)?;
    let root = outline.root();
    if root.kind() != Kind::Object {
        let shown: String = text.chars().take(200).collect();
        return Err(bad("invalid_selector_json", format!("Selector must be a JSON object, not: {shown}")));
    }
    let mut reading = Reading { names: Vec::new(), terms: 0, values: 0, programs: 0 };
    if text == "{}" {
        return Ok(Node::All(Vec::new()));
    }
    let node = reading.condition(root, 0)?;
    let nameless = |node: &Node| matches!(node, Node::At(None, leaf) if leaf.paths().is_none());
    let missing = match &node {
        Node::All(nodes) => nodes.iter().any(nameless),
        node => nameless(node),
    };
    if missing {
        return Err(bad("invalid_selector", "One or more conditions is missing a field name.".to_owned()));
    }
    Ok(node)
}

/// The text without its blanks.
///
/// # Errors
/// A member comes twice in an object. Of a document's the last counts; a question that loses a condition has another
/// answer.
pub fn distinct(text: &[u8], error: &'static str) -> Result<String> {
    let (text, repeated) = minify_naming_repeats(text)?;
    match repeated {
        Some(name) => {
            Err(bad(error, format!("{name} is there twice in one object: put conditions on one field in $and.")))
        }
        None => Ok(text),
    }
}

fn bad(error: &'static str, reason: String) -> Error {
    Error::BadSelector { error, reason }
}

/// The types that a value can have.
const TYPES: [&str; 6] = ["array", "boolean", "null", "number", "object", "string"];

struct Reading {
    /// The names on the way to the present place.
    names: Vec<String>,
    terms: usize,
    values: usize,
    programs: usize,
}

impl Reading {
    /// The condition on one value: operators, members below it, or a value that it equals.
    fn condition(&mut self, view: View<'_>, depth: usize) -> Result<Node> {
        self.terms += 1;
        if depth > SELECTOR_DEPTH_MAX || self.terms > SELECTOR_TERMS_MAX {
            return Err(too_large());
        }
        if view.kind() != Kind::Object || view.children().next().is_none() {
            return Ok(self.at(Leaf::Compare(Comparison::Equal, literal(view)?)));
        }
        let mut nodes = view.children().map(|member| self.member(member, depth)).collect::<Result<Vec<_>>>()?;
        if nodes.len() > 1 {
            // Beside other conditions, `$or` of nothing is none.
            nodes.retain(|node| !matches!(node, Node::Any(nodes) if nodes.is_empty()));
        }
        Ok(match nodes.pop() {
            Some(only) if nodes.is_empty() => only,
            last => {
                nodes.extend(last);
                Node::All(nodes)
            }
        })
    }

    fn at(&self, leaf: Leaf) -> Node {
        let path = (!self.names.is_empty()).then(|| Path::of_names(self.names.clone()));
        Node::At(path, leaf)
    }

    fn member(&mut self, view: View<'_>, depth: usize) -> Result<Node> {
        let name = view.name().decode().into_owned();
        if name.starts_with('$') {
            return self.operator(&name, view, depth);
        }
        let before = self.names.len();
        self.names.extend(segments(&name));
        if self.names.iter().skip(before).any(String::is_empty) || (name.is_empty() && before > 0) {
            let shown = self.names.get(..before).unwrap_or_default().iter().map(|name| format!("{name}."));
            return Err(bad("invalid_field_name", format!("Invalid field name: {}{name}", shown.collect::<String>())));
        }
        let node = self.condition(view, depth + 1);
        self.names.truncate(before);
        node
    }

    fn operator(&mut self, name: &str, view: View<'_>, depth: usize) -> Result<Node> {
        let wrong = || {
            let shown: String = view.text().chars().take(200).collect();
            bad("bad_arg", format!("Bad argument for operator {name}: {shown}"))
        };
        match name {
            "$and" => Ok(Node::All(self.nodes(view, depth).ok_or_else(wrong)??)),
            "$or" => Ok(Node::Any(self.nodes(view, depth).ok_or_else(wrong)??)),
            "$nor" => Ok(Node::Any(self.nodes(view, depth).ok_or_else(wrong)??).negated()),
            "$not" if view.kind() == Kind::Object => Ok(self.condition(view, depth + 1)?.negated()),
            "$elemMatch" | "$allMatch" | "$keyMapMatch" if view.kind() == Kind::Object => {
                let names = std::mem::take(&mut self.names);
                let nested = self.condition(view, depth + 1);
                self.names = names;
                let nested = Box::new(nested?);
                Ok(self.at(match name {
                    "$elemMatch" => Leaf::Element(nested),
                    "$allMatch" => Leaf::EveryElement(nested),
                    _ => Leaf::Key(nested),
                }))
            }
            "$where" | "$geoWithin" | "$geoIntersects" | "$near" | "$nearSphere" => {
                Err(bad("not_supported", format!("Unsupported operator: {name}")))
            }
            _ => {
                let leaf = self.leaf(name, view)?;
                Ok(self.at(leaf.ok_or_else(wrong)?))
            }
        }
    }

    fn nodes(&mut self, view: View<'_>, depth: usize) -> Option<Result<Vec<Node>>> {
        let of_array = view.kind() == Kind::Array;
        of_array.then(|| view.children().map(|element| self.condition(element, depth + 1)).collect())
    }

    /// An operator on one value; `None` if its argument is invalid.
    fn leaf(&mut self, name: &str, view: View<'_>) -> Result<Option<Leaf>> {
        let compare = |comparison| Ok(Some(Leaf::Compare(comparison, literal(view)?)));
        let order = |comparison| Ok(Some(Leaf::Compare(comparison, self.bound(view)?)));
        let string = || (view.kind() == Kind::String).then(|| view.string().decode().into_owned());
        let text = |test| Ok(string().map(|text| Leaf::Text(test, text)));
        let folded = |fold: Fold, test| Ok(string().map(|text| Leaf::Folded(fold, test, fold.of(&text))));
        match name {
            "$eq" => compare(Comparison::Equal),
            "$ne" => compare(Comparison::NotEqual),
            "$lt" => order(Comparison::Less),
            "$lte" => order(Comparison::AtMost),
            "$gt" => order(Comparison::Greater),
            "$gte" => order(Comparison::AtLeast),
            "$in" => Ok(self.values(view)?.map(Leaf::OneOf)),
            "$nin" => Ok(self.values(view)?.map(Leaf::NoneOf)),
            "$all" => Ok(self.values(view)?.map(Leaf::HasAll)),
            "$between" => Ok(match self.values(view)?.as_deref() {
                Some([least, greatest]) => {
                    Some(Leaf::Lies(ValueRange::between(least.clone(), greatest.clone()).into()))
                }
                _ => None,
            }),
            "$within" => {
                self.values += view.children().count();
                if self.values > SELECTOR_VALUES_MAX {
                    return Err(too_large());
                }
                Ok(ValueSet::of_json(view).map(Leaf::Lies))
            }
            "$exists" => Ok(match view.text() {
                "true" => Some(Leaf::Exists(true)),
                "false" => Some(Leaf::Exists(false)),
                _ => None,
            }),
            "$type" => Ok(string().filter(|name| TYPES.contains(&name.as_str())).map(Leaf::Type)),
            "$size" => Ok(view.text().parse().ok().map(Leaf::Size)),
            "$mod" => {
                let numbers: Option<Vec<i64>> = (view.kind() == Kind::Array)
                    .then(|| view.children().map(|number| number.text().parse().ok()).collect())
                    .flatten();
                Ok(match numbers.as_deref() {
                    // By zero, no number has a remainder.
                    Some([divisor, rest]) => Some(Leaf::Mod(*divisor, *rest)),
                    _ => None,
                })
            }
            "$regex" => {
                let Some(source) = string() else { return Ok(None) };
                let pattern = Pattern::read(&source)?;
                self.programs += pattern.program;
                if self.programs > SELECTOR_PROGRAMS_BYTES_MAX {
                    Err(too_large())
                } else {
                    Ok(Some(Leaf::Matches(pattern)))
                }
            }
            "$text" => Ok(words(view)?.filter(|leaf| leaf.paths().is_none() || self.names.is_empty())),
            "$beginsWith" => match string() {
                Some(text) => Ok(Some(Leaf::Text(TextTest::Begins, text))),
                None => Err(bad("invalid_operator", format!("Invalid operator: {name}. Its argument is a text."))),
            },
            "$contains" => text(TextTest::Contains),
            "$ibeginsWith" => folded(Fold::Case, TextTest::Begins),
            "$icontains" => folded(Fold::Case, TextTest::Contains),
            "$ieq" => folded(Fold::Case, TextTest::Equals),
            #[cfg(feature = "unicode-collation")]
            "$aibeginsWith" => folded(Fold::Accents, TextTest::Begins),
            #[cfg(feature = "unicode-collation")]
            "$aicontains" => folded(Fold::Accents, TextTest::Contains),
            #[cfg(feature = "unicode-collation")]
            "$aieq" => folded(Fold::Accents, TextTest::Equals),
            #[cfg(not(feature = "unicode-collation"))]
            "$aibeginsWith" | "$aicontains" | "$aieq" => {
                Err(EngineError::not_built_in(format!("the operator {name}"), "unicode-collation").into())
            }
            "$not" | "$elemMatch" | "$allMatch" | "$keyMapMatch" => Ok(None),
            _ => Err(bad("invalid_operator", format!("Invalid operator: {name}"))),
        }
    }

    /// A value that others are above or below. Ids are above all that is no text, as in CouchDB's list of documents by
    /// id, while other texts are below arrays and objects.
    fn bound(&self, view: View<'_>) -> Result<Literal> {
        let of_id = matches!(self.names.as_slice(), [name] if name == "_id");
        if of_id && matches!(view.kind(), Kind::Array | Kind::Object) { Literal::json("null") } else { literal(view) }
    }

    fn values(&mut self, view: View<'_>) -> Result<Option<Vec<Literal>>> {
        if view.kind() != Kind::Array {
            return Ok(None);
        }
        let mut values = Vec::new();
        for element in view.children() {
            self.values += 1;
            if self.values > SELECTOR_VALUES_MAX {
                return Err(too_large());
            }
            values.push(literal(element)?);
        }
        Ok(Some(values))
    }
}

/// `"words"`, or `{"$search": "words", "$language": "english"}`; without a path also `"$fields": ["title", "text"]`.
fn words(view: View<'_>) -> Result<Option<Leaf>> {
    let string = |view: View<'_>| (view.kind() == Kind::String).then(|| view.string().decode().into_owned());
    let (mut search, mut language, mut fields) = (string(view), None, None);
    if view.kind() == Kind::Object {
        for member in view.children() {
            match &*member.name().decode() {
                "$search" => search = string(member),
                "$language" => language = string(member),
                "$fields" if member.kind() == Kind::Array => {
                    let path = |field| string(field).and_then(|name| name.parse::<Path>().ok());
                    fields = Some(member.children().map(path).collect::<Option<Vec<_>>>());
                }
                _ => return Ok(None),
            }
        }
    }
    let Some(search) = search else { return Ok(None) };
    let refused = |error: Error| bad("bad_arg", format!("Bad argument for operator $text: {error}"));
    let language = Language::named(language.as_deref().unwrap_or("plain")).map_err(refused)?;
    let query = TextQuery::new(&search, language).map_err(refused)?;
    Ok(match fields {
        None => Some(Leaf::Words(query)),
        Some(paths) => {
            paths.filter(|paths| !paths.is_empty() && paths.len() <= INDEX_PARTS_MAX).map(|p| Leaf::WordsIn(p, query))
        }
    })
}

/// A number that no document can have: everything would be below it.
fn out_of_range(view: View<'_>) -> Option<String> {
    match view.kind() {
        Kind::Number if view.text().parse::<f64>().is_ok_and(f64::is_infinite) => {
            Some(view.text().chars().take(40).collect())
        }
        Kind::Array | Kind::Object => view.children().find_map(out_of_range),
        _ => None,
    }
}

fn literal(view: View<'_>) -> Result<Literal> {
    if let Some(number) = out_of_range(view) {
        return Err(bad("bad_arg", format!("The number {number} is out of the range that documents have.")));
    }
    Literal::json(view.text())
}

/// Splits a name with dots into a path; `\.` is a dot. An empty name is no path.
fn segments(name: &str) -> Vec<String> {
    if name.is_empty() {
        return Vec::new();
    }
    let mut path = Vec::new();
    let mut segment = String::new();
    let mut characters = name.chars();
    while let Some(c) = characters.next() {
        match c {
            '.' => path.push(std::mem::take(&mut segment)),
            '\\' => segment.extend(characters.next()),
            c => segment.push(c),
        }
    }
    path.push(segment);
    path
}
