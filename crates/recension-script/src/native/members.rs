//! Finds the members of the document that a function reads if it is left to JavaScript, so that it is given only those.
//! It looks at the function's tokens: the document's name must always be followed by a member's name. Otherwise the
//! function is given the whole document.

use std::collections::BTreeSet;

use recension::json::{Event, JsonError, Parser};
use recension::{Error, MapInput, Result};

use super::lexer::{Kind, tokens};
use super::mapper::whole_text;
use super::names::is_own;

/// The members that a function is given.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Projection(BTreeSet<String>);

impl Projection {
    /// The members that a function reads; `None` if they cannot be determined.
    pub(crate) fn of(code: &str) -> Option<Self> {
        let tokens = tokens(code)?;
        let kinds: Vec<&Kind> = tokens.iter().map(|token| &token.kind).collect();
        // It may be a regular expression, in which quotes open nothing. Only the part before the first one is tokenised
        // correctly.
        if kinds.iter().any(|kind| matches!(kind, Kind::Mark("/" | "/="))) {
            return None;
        }
        // function name(parameter, …   (parameter, …   parameter =>
        let mut at = 0;
        if is_word(kinds.first(), "function") {
            at = 1 + usize::from(matches!(kinds.get(1), Some(Kind::Word(_))));
        }
        at += usize::from(is_mark(kinds.get(at), "("));
        let Some(Kind::Word(parameter)) = kinds.get(at) else { return None };
        if !matches!(kinds.get(at + 1), Some(Kind::Mark("," | ")" | "=>"))) {
            return None;
        }
        let mut members = BTreeSet::from(["_id".to_owned()]);
        for (at, kind) in kinds.iter().enumerate().skip(at + 1) {
            let Kind::Word(word) = kind else { continue };
            let member = is_mark(kinds.get(at - 1), ".");
            if !member && matches!(word.as_str(), "arguments" | "eval" | "delete" | "with" | "import" | "this") {
                return None;
            }
            if matches!(word.as_str(), "constructor" | "Function" | "globalThis") {
                return None;
            }
            if word != parameter || member {
                continue;
            }
            let Some(Kind::Word(name)) = kinds.get(at + 2).filter(|_| is_mark(kinds.get(at + 1), ".")) else {
                return None;
            };
            if is_mark(kinds.get(at - 1), "...") || !is_own(name, true) {
                return None;
            }
            members.insert(name.clone());
        }
        Some(Projection(members))
    }

    /// The part of a document that the function is given.
    pub(crate) fn of_document(&self, input: &MapInput, local_seq: bool) -> Result<String> {
        project(&whole_text(input, local_seq), &self.0).map_err(|error| {
            let reason = format!("a document does not read: {error}");
            Error::Function { error: "os_process_error".to_owned(), reason }
        })
    }
}

/// An object with only some of its members, as they are written.
fn project(text: &str, wanted: &BTreeSet<String>) -> std::result::Result<String, JsonError> {
    let mut parser = Parser::of_text(text);
    let mut out = String::from("{");
    parser.next_event()?;
    loop {
        let before = parser.offset();
        let Some(Event::Key(name)) = parser.next_event()? else { break };
        let is_wanted = wanted.contains(&*name.decode());
        let depth = parser.depth();
        loop {
            parser.next_event()?;
            if parser.depth() <= depth {
                break;
            }
        }
        if is_wanted {
            let member = text.get(before..parser.offset()).unwrap_or_default();
            if out.len() > 1 {
                out.push(',');
            }
            out.push_str(member.trim_start_matches([',', ' ', '\n', '\r', '\t']));
        }
    }
    out.push('}');
    Ok(out)
}

fn is_word(kind: Option<&&Kind>, word: &str) -> bool {
    matches!(kind, Some(Kind::Word(own)) if own == word)
}

fn is_mark(kind: Option<&&Kind>, mark: &str) -> bool {
    matches!(kind, Some(Kind::Mark(own)) if *own == mark)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_projected_document_has_its_members_as_they_stand() {
        let wanted = BTreeSet::from(["a".to_owned(), "é".to_owned()]);
        for (text, projected) in [
            (r#"{"a":1.50,"b":{"a":2},"\u00e9":[{"a":1}],"c":"a"}"#, r#"{"a":1.50,"\u00e9":[{"a":1}]}"#),
            (r#"{"b":[],"a":{}}"#, r#"{"a":{}}"#),
            ("{}", "{}"),
        ] {
            assert_eq!(project(text, &wanted).unwrap(), projected);
        }
    }

    #[test]
    fn members_are_found_or_the_whole_is_handed() {
        for (code, found) in [
            ("function(doc) { for (var i in doc.tags) emit(doc.tags[i], doc.n); }", Some("_id n tags")),
            ("function map(d, x) { d.a.b && emit(d.c.split(',')[0]) }", Some("_id a c")),
            ("(doc) => { let x = new Date(doc.at); emit(x.getTime(), null) }", Some("_id at")),
            ("doc => emit(doc.a * 2 ** 3)", Some("_id a")),
            ("function(doc) { emit(doc, doc.a) }", None),
            ("function(doc) { emit(doc['a']) }", None),
            ("function(doc) { for (var k in doc) emit(k) }", None),
            ("function(doc) { emit(arguments[0].x) }", None),
            ("function(doc) { emit(eval('doc.x')) }", None),
            ("function(doc) { emit(doc.hasOwnProperty('x')) }", None),
            ("function(doc) { emit(delete doc.x) }", None),
            ("function(doc) { emit(`${doc.x}`, doc.x) }", None),
            ("function(doc) { emit(/'/.test(doc.x), doc.y, '') }", None),
            ("function({a}) { emit(a) }", None),
            ("function(...doc) { emit(doc.length) }", None),
            ("function(doc = 1) { emit(doc.a) }", None),
        ] {
            let members = Projection::of(code);
            let shown = members.map(|own| own.0.into_iter().collect::<Vec<_>>().join(" "));
            assert_eq!(shown.as_deref(), found, "{code}");
        }
    }
}
