//! Selectors as Mango's JSON: every operator written out, as `_explain` shows them. Pure.

use std::fmt::Write as _;

use super::Node;
use super::fold::Fold;
use super::leaf::{Comparison, Leaf, TextTest};
use crate::condition::Literal;
use crate::json::{Path, Step, quote};

impl Node {
    pub(super) fn write(&self, out: &mut String) {
        match self {
            Node::All(nodes) if nodes.is_empty() => out.push_str("{}"),
            Node::All(nodes) => write_list("$and", nodes, out),
            Node::Any(nodes) => write_list("$or", nodes, out),
            Node::At(None, leaf) => leaf.write(out),
            Node::At(Some(path), leaf) => {
                let _ = write!(out, "{{{}:", quote(&name_of(path)));
                leaf.write(out);
                out.push('}');
            }
        }
    }
}

fn write_list(operator: &str, nodes: &[Node], out: &mut String) {
    let _ = write!(out, "{{\"{operator}\":[");
    for (number, node) in nodes.iter().enumerate() {
        out.push_str(if number == 0 { "" } else { "," });
        node.write(out);
    }
    out.push_str("]}");
}

/// A path as the name of a field.
fn name_of(path: &Path) -> String {
    let segment = |step: &Step| match step {
        Step::Name(name) => name.replace('\\', "\\\\").replace('.', "\\."),
        Step::Item(item) => item.to_string(),
        Step::Each => "[]".to_owned(),
    };
    path.steps().iter().map(segment).collect::<Vec<_>>().join(".")
}

fn list(values: &[Literal]) -> String {
    format!("[{}]", values.iter().map(Literal::text).collect::<Vec<_>>().join(","))
}

impl Leaf {
    fn write(&self, out: &mut String) {
        let text = |test: &TextTest, fold: Option<&Fold>| match (test, fold) {
            (TextTest::Equals, None) => "$eq",
            (TextTest::Begins, None) => "$beginsWith",
            (TextTest::Contains, None) => "$contains",
            (TextTest::Equals, Some(Fold::Case)) => "$ieq",
            (TextTest::Begins, Some(Fold::Case)) => "$ibeginsWith",
            (TextTest::Contains, Some(Fold::Case)) => "$icontains",
            #[cfg(feature = "unicode-collation")]
            (TextTest::Equals, Some(Fold::Accents)) => "$aieq",
            #[cfg(feature = "unicode-collation")]
            (TextTest::Begins, Some(Fold::Accents)) => "$aibeginsWith",
            #[cfg(feature = "unicode-collation")]
            (TextTest::Contains, Some(Fold::Accents)) => "$aicontains",
        };
        let nested = |node: &Node| {
            let mut out = String::new();
            node.write(&mut out);
            out
        };
        let (operator, argument) = match self {
            Leaf::Compare(comparison, value) => {
                let operator = match comparison {
                    Comparison::Equal => "$eq",
                    Comparison::NotEqual => "$ne",
                    Comparison::Less => "$lt",
                    Comparison::AtMost => "$lte",
                    Comparison::Greater => "$gt",
                    Comparison::AtLeast => "$gte",
                };
                (operator, value.text().to_owned())
            }
            Leaf::Lies(values) => ("$within", values.to_json()),
            Leaf::OneOf(values) => ("$in", list(values)),
            Leaf::NoneOf(values) => ("$nin", list(values)),
            Leaf::Exists(wanted) => ("$exists", wanted.to_string()),
            Leaf::Type(name) => ("$type", quote(name)),
            Leaf::Size(size) => ("$size", size.to_string()),
            Leaf::Mod(divisor, rest) => ("$mod", format!("[{divisor},{rest}]")),
            Leaf::Text(test, wanted) => (text(test, None), quote(wanted)),
            Leaf::Folded(fold, test, wanted) => (text(test, Some(fold)), quote(wanted)),
            Leaf::Matches(pattern) => ("$regex", quote(&pattern.source)),
            Leaf::Words(query) => {
                let (text, language) = (quote(query.text()), quote(query.language().name()));
                ("$text", format!("{{\"$search\":{text},\"$language\":{language}}}"))
            }
            Leaf::WordsIn(paths, query) => {
                let (text, language) = (quote(query.text()), quote(query.language().name()));
                let fields: Vec<String> = paths.iter().map(|path| quote(&path.to_string())).collect();
                let fields = fields.join(",");
                ("$text", format!("{{\"$search\":{text},\"$language\":{language},\"$fields\":[{fields}]}}"))
            }
            Leaf::HasAll(values) => ("$all", list(values)),
            Leaf::Element(node) => ("$elemMatch", nested(node)),
            Leaf::EveryElement(node) => ("$allMatch", nested(node)),
            Leaf::Key(node) => ("$keyMapMatch", nested(node)),
            Leaf::Not(leaf) => {
                let mut out = String::new();
                leaf.write(&mut out);
                ("$not", out)
            }
        };
        let _ = write!(out, "{{\"{operator}\":{argument}}}");
    }
}
