//! Where the words stand that a selector asks for: the surroundings of the first ones in each text, with marks around
//! them. Pure.

use super::leaf::Leaf;
use super::{Node, Selector};
use crate::json::{Event, Parser, Path, PathSet, quote};
use crate::limits::HIGHLIGHTS_MAX;
use crate::text::TextQuery;

/// How words are marked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Highlighting {
    /// What stands before a word.
    pub before: String,
    /// What stands behind it.
    pub after: String,
    /// Characters of a text that are shown, about.
    pub chars: usize,
}

impl Default for Highlighting {
    fn default() -> Self {
        Highlighting { before: "<em>".to_owned(), after: "</em>".to_owned(), chars: 150 }
    }
}

/// The texts of a document that have words which were asked for, with marks around these.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Highlights(Vec<(Path, Vec<String>)>);

impl Highlights {
    /// The paths, and the texts at each, at most three.
    pub fn iter(&self) -> impl Iterator<Item = (&Path, &[String])> {
        self.0.iter().map(|(path, texts)| (path, texts.as_slice()))
    }

    /// As JSON: `{"title":["<em>Soups</em>"]}`.
    pub fn to_json(&self) -> String {
        let texts = |texts: &[String]| texts.iter().map(|text| quote(text)).collect::<Vec<_>>().join(",");
        let member = |(path, own): (&Path, &[String])| format!("{}:[{}]", quote(&path.to_string()), texts(own));
        format!("{{{}}}", self.iter().map(member).collect::<Vec<_>>().join(","))
    }

    /// Adds them to a JSON object, as its member `_highlights`.
    pub fn add_to(&self, object: &mut String) {
        if object.pop() == Some('}') {
            let comma = if object.ends_with('{') { "" } else { "," };
            object.push_str(comma);
            object.push_str("\"_highlights\":");
            object.push_str(&self.to_json());
            object.push('}');
        }
    }
}

impl Selector {
    /// The texts of a body at whose paths the selector asks for words, with marks around the words. The texts stand as
    /// they are otherwise: who shows them in HTML has to escape them first, and to choose marks that stay as they are.
    pub fn highlights(&self, body: &str, how: &Highlighting) -> Highlights {
        let mut asked = Vec::new();
        words_of(&self.0, &mut asked);
        let mut found = Highlights::default();
        for (path, query) in asked {
            let mut set = PathSet::default();
            let number = set.add(path);
            for value in set.values(body).get(number).into_iter().flatten() {
                let mut parser = Parser::of_text(value);
                while let Ok(Some(event)) = parser.next_event() {
                    let Event::String(text) = event else { continue };
                    if let Some(marked) = query.highlight(&text.decode(), &how.before, &how.after, how.chars) {
                        found.push(path, marked);
                    }
                }
            }
        }
        found
    }

    /// Whether it asks for words anywhere: else there is nothing to mark.
    pub fn marks_words(&self) -> bool {
        let mut asked = Vec::new();
        words_of(&self.0, &mut asked);
        !asked.is_empty()
    }
}

impl Highlights {
    fn push(&mut self, path: &Path, marked: String) {
        let at = self.0.iter().position(|(known, _)| known == path).unwrap_or_else(|| {
            self.0.push((path.clone(), Vec::new()));
            self.0.len() - 1
        });
        if let Some((_, texts)) = self.0.get_mut(at)
            && texts.len() < HIGHLIGHTS_MAX
            && !texts.contains(&marked)
        {
            texts.push(marked);
        }
    }
}

/// What is asked of words, alternatives included; what must not be there is not marked.
fn words_of<'n>(node: &'n Node, asked: &mut Vec<(&'n Path, &'n TextQuery)>) {
    match node {
        Node::All(nodes) | Node::Any(nodes) => nodes.iter().for_each(|node| words_of(node, asked)),
        Node::At(Some(path), Leaf::Words(query)) => asked.push((path, query)),
        Node::At(None, Leaf::WordsIn(paths, query)) => asked.extend(paths.iter().map(|path| (path, query))),
        Node::At(..) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_marked_wherever_they_were_asked_for() {
        let how = Highlighting { before: "[".to_owned(), after: "]".to_owned(), chars: 60 };
        let body = r#"{"title":"Hot \"soups\"","tags":["cold soup","tea","soup of the day"],"n":1}"#;
        for (selector, expected) in [
            (r#"{"title":{"$text":{"$search":"soup","$language":"english"}}}"#, r#"{"title":["Hot \"[soups]\""]}"#),
            (
                r#"{"$or":[{"tags":{"$text":"soup"}},{"title":{"$text":"hot"}}]}"#,
                r#"{"tags":["cold [soup]","[soup] of the day"],"title":["[Hot] \"soups\""]}"#,
            ),
            (
                r#"{"$text":{"$search":"hot tea","$fields":["title","tags"]}}"#,
                r#"{"title":["[Hot] \"soups\""],"tags":["[tea]"]}"#,
            ),
            (r#"{"$not":{"title":{"$text":"hot"}},"n":1}"#, "{}"),
            (r#"{"n":1}"#, "{}"),
        ] {
            let found = Selector::from_json(selector).unwrap().highlights(body, &how);
            assert_eq!(found.to_json(), expected, "{selector}");
        }
        let mut object = r#"{"_id":"a"}"#.to_owned();
        Highlights::default().add_to(&mut object);
        assert_eq!(object, r#"{"_id":"a","_highlights":{}}"#);
    }
}
