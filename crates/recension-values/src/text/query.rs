//! Queries for words in a text: words, phrases, prefixes of words, and unwanted words. Pure.

use std::fmt::Write as _;

use super::{DocumentWords, Language};
use crate::error::{Error, Result};
use crate::limits::{TEXT_QUERY_BYTES_MAX, TEXT_QUERY_CLAUSES_MAX};

/// A query for words: `hot soup` (both words), `"hot soup"` (one after the other), `sou*` (a word with this prefix),
/// `-cold` (not this word).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TextQuery {
    source: String,
    language: Language,
    pub clauses: Vec<Clause>,
}

/// Words that must stand one after the other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Clause {
    pub words: Vec<String>,
    /// The last one is the prefix of a word.
    pub begins: bool,
    pub negated: bool,
}

impl TextQuery {
    /// Reads a query.
    ///
    /// # Errors
    /// [`Error::BadQuery`] if it has no wanted word, or is beyond a bound: 4 KiB, 64 parts.
    pub fn new(text: &str, language: Language) -> Result<Self> {
        language.built_in()?;
        if text.len() > TEXT_QUERY_BYTES_MAX {
            return Err(Error::BadQuery { why: "a query of words is longer than 4 KiB" });
        }
        let mut clauses = Vec::new();
        let mut rest = text;
        while let Some(next) = part(&mut rest) {
            clauses.extend(clause(next, language));
            if clauses.len() > TEXT_QUERY_CLAUSES_MAX {
                return Err(Error::BadQuery { why: "a query of words has more than 64 parts" });
            }
        }
        if clauses.iter().all(|clause: &Clause| clause.negated) {
            return Err(Error::BadQuery { why: "a query of words names none that must be there" });
        }
        Ok(TextQuery { source: text.to_owned(), language, clauses })
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.source
    }

    /// The language of its words.
    pub fn language(&self) -> Language {
        self.language
    }

    /// Whether values (JSON texts) have the words.
    pub fn holds<'v>(&self, values: impl IntoIterator<Item = &'v str>) -> bool {
        let words = DocumentWords::of(self.language, values);
        self.clauses.iter().all(|clause| {
            let occurs = !clause.occurrences(|_, word, begins| words.places_of(word, begins)).is_empty();
            occurs != clause.negated
        })
    }

    /// A text with `before` and `after` around each matching word, shortened to the surroundings of the first ones: at
    /// most about `chars` characters. `None` if the text has none of them.
    pub fn highlight(&self, text: &str, before: &str, after: &str, chars: usize) -> Option<String> {
        let asked = |word: &str| {
            self.clauses.iter().filter(|clause| !clause.negated).any(|clause| {
                clause.words.iter().enumerate().any(|(at, own)| {
                    own == word || (clause.begins && at + 1 == clause.words.len() && word.starts_with(own.as_str()))
                })
            })
        };
        let hits: Vec<_> = self.language.words(text).filter(|(word, _)| asked(word)).map(|(_, at)| at).collect();
        let first = hits.first()?.start;
        // A text that is short enough is shown whole.
        let is_long = text.chars().nth(chars).is_some();
        let start = text[..first].char_indices().rev().nth(chars / 4).filter(|_| is_long).map_or(0, |(at, _)| at);
        let end = text[start..].char_indices().nth(chars).map_or(text.len(), |(at, _)| start + at);
        let mut out = String::from(if start > 0 { "…" } else { "" });
        let mut at = start;
        for hit in hits.into_iter().filter(|hit| hit.end <= end) {
            // Writing to a String cannot fail.
            let _ = write!(out, "{}{before}{}{after}", &text[at..hit.start], &text[hit.clone()]);
            at = hit.end;
        }
        out.push_str(&text[at..end]);
        out.push_str(if end < text.len() { "…" } else { "" });
        Some(out)
    }
}

/// The next part of a query: a phrase in quotes, or the text up to a blank, maybe with a minus before it.
fn part<'q>(rest: &mut &'q str) -> Option<(bool, &'q str, bool)> {
    let text = rest.trim_start();
    let (negated, text) = match text.strip_prefix('-') {
        Some(text) => (true, text),
        None => (false, text),
    };
    let (part, after, quoted) = match text.strip_prefix('"') {
        Some(text) => {
            let (part, after) = text.split_once('"').unwrap_or((text, ""));
            (part, after, true)
        }
        None => {
            let end = text.find(|c: char| c.is_whitespace() || c == '"').unwrap_or(text.len());
            (&text[..end], &text[end..], false)
        }
    };
    if part.is_empty() && after.is_empty() && !quoted {
        return None;
    }
    *rest = after;
    Some((negated, part, quoted))
}

fn clause((negated, part, _): (bool, &str, bool), language: Language) -> Option<Clause> {
    let begins = part.ends_with('*');
    let mut words: Vec<String> = language.words(part).map(|(word, _)| word).collect();
    // A prefix is not stemmed.
    if begins
        && let Some((last, _)) = Language::Plain.words(part).last()
        && let Some(own) = words.last_mut()
    {
        *own = last;
    }
    (!words.is_empty()).then_some(Clause { words, begins, negated })
}

impl Clause {
    /// The places where the clause begins; `places` tells the places of each word, by its number.
    pub fn occurrences(&self, mut places: impl FnMut(usize, &str, bool) -> Vec<u32>) -> Vec<u32> {
        let last = self.words.len().saturating_sub(1);
        let mut found: Option<Vec<u32>> = None;
        for (at, word) in self.words.iter().enumerate() {
            let own = places(at, word, self.begins && at == last);
            let found = match &mut found {
                None => found.insert(own),
                Some(found) => {
                    found.retain(|begin| own.binary_search(&begin.saturating_add(at as u32)).is_ok());
                    found
                }
            };
            if found.is_empty() {
                return Vec::new();
            }
        }
        found.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_phrases_beginnings_and_what_must_not_be_there() {
        let value = r#"["The quick, brown fox.","It's 3.5 foxes; naïve FOX-terrier"]"#;
        for (text, language, holds) in [
            ("quick fox", Language::Plain, true),
            ("\"quick brown\"", Language::Plain, true),
            ("\"brown quick\"", Language::Plain, false),
            ("\"fox it's\"", Language::Plain, false),
            ("bro*", Language::Plain, true),
            ("\"quick bro*\"", Language::Plain, true),
            ("bro", Language::Plain, false),
            ("fox -cat", Language::Plain, true),
            ("fox -brown", Language::Plain, false),
            ("fox-terrier", Language::Plain, true),
            ("terrier-fox", Language::Plain, false),
            ("NAÏVE 3.5", Language::Plain, true),
            ("foxing", Language::Plain, false),
            ("foxing", Language::English, true),
            ("\"quickly brown", Language::English, true),
        ] {
            let query = TextQuery::new(text, language).unwrap();
            assert_eq!(query.holds([value]), holds, "{text} {language:?}");
        }
        for bad in ["", "  ", "-a", "!!", "\"\"", &"a ".repeat(100), &"a".repeat(5000)] {
            assert!(TextQuery::new(bad, Language::Plain).is_err(), "{bad}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_query_of_any_text_is_refused_or_answered(
            query in "[ \"*a-cé-]{0,12}|\\PC{0,20}",
            text in "[ \"*a-cé-]{0,40}|\\PC{0,40}",
            chars in 0_usize..50,
        ) {
            let Ok(query) = TextQuery::new(&query, Language::English) else { return Ok(()) };
            let json = crate::json::quote(&text);
            if query.holds([json.as_str()]) {
                proptest::prop_assert!(query.highlight(&text, "", "", text.len() + 1).is_some());
            }
            let _ = query.highlight(&text, "[", "]", chars);
        }
    }

    #[test]
    fn what_was_asked_for_is_marked_in_its_surroundings() {
        let query = TextQuery::new("fox* -cat", Language::Plain).unwrap();
        assert_eq!(query.highlight("Two foxes, one Fox.", "[", "]", 100).as_deref(), Some("Two [foxes], one [Fox]."));
        assert_eq!(query.highlight("a cat", "[", "]", 100), None);
        let long = format!("{} fox {}", "é ".repeat(100), "x ".repeat(100));
        let marked = query.highlight(&long, "<b>", "</b>", 40).unwrap();
        assert!(marked.contains("<b>fox</b>") && marked.chars().count() < 60, "{marked}");
    }
}
