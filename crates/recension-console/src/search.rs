//! The one search field of lists: a word or an id, a condition in the command line's language, or a selector of Mango.
//! A mistake is shown in its place, and what finds nothing is explained.

use std::time::{Duration, Instant};

use minijinja::{Value, context};
use recension::conditions::{self, ConditionError};
use recension::{
    Collation, CollectionAt, IndexState, Language, Path, Query, Selector, SelectorTest, TextQuery, ValueRange, json,
};

use recension_pages::links::Parameters;
use recension_wire::error::ApiError;
use recension_wire::members::members_of;

/// What ids of design documents begin with: those are on a page of their own, and in no list of users' documents.
pub(super) const DESIGNS: &str = "_design/";
/// How long documents are counted for a page.
const PATIENCE: Duration = Duration::from_millis(400);
/// Documents that are looked at for names, values and hints.
const LOOKED_AT: usize = 100;
/// What is offered while one types.
const OFFERED_MAX: usize = 60;
/// Members that are offered as facets.
const FACETS_MAX: usize = 8;
/// Different values that a member may have to be offered, and the longest of them in bytes.
const VALUES_MAX: usize = 8;
const VALUE_BYTES_MAX: usize = 40;
/// The words of conditions that are not signs.
const WORDS: [&str; 10] = ["in", "like", "ilike", "ailike", "words", "prefix", "contains", "exists", "missing", "is"];

/// Why a text is no search.
#[derive(Debug)]
pub(super) enum Mistake {
    Condition(ConditionError),
    Other(ApiError),
}

impl From<Mistake> for ApiError {
    fn from(mistake: Mistake) -> Self {
        match mistake {
            Mistake::Condition(error) => {
                let place = error.at() + 1;
                ApiError::bad_request(format!("The search cannot be understood at character {place}: {}", error.what()))
            }
            Mistake::Other(error) => error,
        }
    }
}

impl From<recension::Error> for Mistake {
    fn from(error: recension::Error) -> Self {
        Mistake::Other(error.into())
    }
}

impl From<ApiError> for Mistake {
    fn from(error: ApiError) -> Self {
        Mistake::Other(error)
    }
}

impl Mistake {
    /// As templates have it: what is wrong, and where.
    pub(super) fn values(&self) -> Value {
        match self {
            Mistake::Condition(error) => context! {
                what => format!("The search cannot be understood: {}.", error.what()),
                text => error.text().replace(char::is_control, " "),
                place => format!("{:>width$}", "^", width = error.at() + 1),
            },
            Mistake::Other(error) => context! { what => error.reason.as_ref(), place => () },
        }
    }
}

/// The search field of a list.
pub(super) struct Field<'a> {
    pub(super) text: &'a str,
    pub(super) placeholder: &'static str,
    /// The list's page, and what of its address stays.
    pub(super) path: &'a str,
    pub(super) carried: &'a Parameters,
    pub(super) offers: &'a [String],
}

impl Field<'_> {
    /// As templates have it, with the mistake of its text.
    pub(super) fn values(&self, mistake: Option<&Mistake>) -> Value {
        let carried = self.carried.without(&["q", "after", "before", "page"]);
        let clear = (!self.text.trim().is_empty()).then(|| carried.on(self.path));
        context! {
            path => self.path, text => self.text, placeholder => self.placeholder, offers => self.offers.to_vec(),
            carried => &carried, clear, mistake => mistake.map(Mistake::values),
        }
    }
}

/// A search among rows that are no documents: members of a JSON object, which a page has in memory.
pub(super) enum OfRows {
    Words(String),
    Condition(Box<SelectorTest>),
}

impl OfRows {
    /// What a text means. An empty one, and one that cannot be understood, lets all rows stay.
    pub(super) fn read(text: &str) -> (Self, Option<Mistake>) {
        let text = text.trim();
        if !text.starts_with('{') && is_words(text) {
            return (OfRows::Words(text.trim_matches('"').to_lowercase()), None);
        }
        let selector = if text.starts_with('{') {
            json::minify(text.as_bytes())
                .map_err(recension::Error::from)
                .and_then(Selector::from_json)
                .map_err(Into::into)
        } else {
            conditions::selector(text).map_err(Mistake::Condition)
        };
        match selector {
            Ok(selector) => (OfRows::Condition(Box::new(selector.test(Collation::Unicode))), None),
            Err(mistake) => (OfRows::Words(String::new()), Some(mistake)),
        }
    }

    /// Whether a row is of it.
    pub(super) fn finds(&self, row: &str) -> bool {
        match self {
            OfRows::Condition(test) => test.selects_text(row),
            OfRows::Words(words) => {
                let members = members_of(row.as_bytes()).unwrap_or_default();
                let decoded = |value: &str| serde_json::from_str::<String>(value).unwrap_or_else(|_| value.to_owned());
                words.is_empty() || members.iter().any(|(_, value)| decoded(value.get()).to_lowercase().contains(words))
            }
        }
    }
}

/// Whether a text is words to look for, and no condition.
fn is_words(text: &str) -> bool {
    let quoted =
        text.len() > 1 && text.starts_with('"') && text.ends_with('"') && !text[1..text.len() - 1].contains('"');
    let signs = text.contains(['=', '<', '>', '!', '~', '(', ')']);
    let operator = text.split_whitespace().any(|word| WORDS.contains(&word.to_lowercase().as_str()));
    quoted || !(signs || operator)
}

/// What a text selects; nothing for an empty one.
pub(super) fn selector(text: &str, at: &CollectionAt) -> Result<Option<Selector>, Mistake> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    if text.starts_with('{') {
        let text = json::minify(text.as_bytes()).map_err(recension::Error::from)?;
        return Ok(Some(Selector::from_json(text)?));
    }
    if is_words(text) {
        return words(text, at).map(Some);
    }
    conditions::selector(text).map(Some).map_err(Mistake::Condition)
}

/// A search that another client could send: a selector of Mango, or conditions as one. Words are looked for in the
/// members that there are, and in no selector.
pub(super) fn as_json(text: &str) -> Option<String> {
    let text = text.trim();
    if text.starts_with('{') {
        return json::minify(text.as_bytes()).ok().filter(|text| Selector::from_json(text.as_str()).is_ok());
    }
    let selector = (!text.is_empty() && !is_words(text)).then(|| conditions::selector(text).ok()).flatten()?;
    Some(selector.to_json())
}

/// Another condition beside a search.
pub(super) fn with(text: &str, clause: String) -> String {
    let text = text.trim();
    if text.is_empty() || is_words(text) {
        clause
    } else if text.to_lowercase().contains(" or ") {
        format!("({text}) and {clause}")
    } else {
        format!("{text} and {clause}")
    }
}

/// A member's name as it is written in conditions.
pub(super) fn name_of(member: &str) -> String {
    let plain = |name: &str| {
        let word = |c: char| c.is_alphanumeric() || "_-$@/".contains(c);
        !name.is_empty() && name.chars().all(word) && !name.eq_ignore_ascii_case("not")
    };
    let parts = member.split('.').map(|name| if plain(name) { name.to_owned() } else { json::quote(name) });
    parts.collect::<Vec<_>>().join(".")
}

/// Words, in the members that an index of words has, else in all; and the document whose id it is.
fn words(text: &str, at: &CollectionAt) -> Result<Selector, Mistake> {
    let indexes = at.indexes().into_iter();
    let ready = indexes.filter(|index| index.state == IndexState::Ready && index.spec.filter.is_empty());
    let best = ready.filter(|index| index.spec.words.is_some()).max_by_key(|index| index.spec.parts.len());
    let words = match best.and_then(|index| Some((index.spec.words?, index.spec.parts))) {
        Some((language, parts)) => {
            Selector::contains_text_in(parts.into_iter().map(|part| part.path), TextQuery::new(text, language)?)
        }
        // The whole document is one value.
        None => Selector::contains_text(Path::of_names(Vec::new()), TextQuery::new(text, Language::Plain)?),
    };
    Ok(match at.current(text) {
        Ok(Some(document)) if !document.deleted => Selector::any([Selector::at("_id", ValueRange::equal(text)), words]),
        _ => words,
    })
}

/// How many documents a query has; `None` if counting took too long, with those that were counted.
pub(super) fn count(at: &CollectionAt, query: &Query) -> recension::Result<(u64, bool)> {
    let begun = Instant::now();
    let mut number = 0;
    for selection in at.select(&query.clone().select(["_id"]))? {
        selection?;
        number += 1;
        if number % 256 == 0 && begun.elapsed() > PATIENCE {
            return Ok((number, false));
        }
    }
    Ok((number, true))
}

/// What some documents tell: what can be offered to somebody who types, and why a search finds nothing.
#[derive(Default)]
pub(super) struct Sample {
    bodies: Vec<String>,
}

impl Sample {
    pub(super) fn of(at: &CollectionAt) -> recension::Result<Self> {
        let users = Query::new().leaving_out(DESIGNS).limit(LOOKED_AT);
        let bodies =
            at.find(&users)?.map(|document| Ok(document?.body.into_owned())).collect::<recension::Result<_>>()?;
        Ok(Sample { bodies })
    }

    /// Why nothing was found.
    pub(super) fn hints(&self, text: &str) -> Vec<String> {
        if text.trim_start().starts_with('{') || is_words(text.trim()) {
            return Vec::new();
        }
        let bodies: Vec<&str> = self.bodies.iter().map(String::as_str).collect();
        conditions::hints(text, &bodies)
    }

    /// The members that they have, each with its first values.
    fn members(&self) -> Vec<(String, Vec<String>)> {
        let mut members: Vec<(String, Vec<String>)> = Vec::new();
        for body in &self.bodies {
            for (name, value) in members_of(body.as_bytes()).unwrap_or_default() {
                let at = members.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
                    members.push((name, Vec::new()));
                    members.len() - 1
                });
                let (value, values) = (value.get().to_owned(), &mut members[at].1);
                if values.len() <= VALUES_MAX && !values.contains(&value) {
                    values.push(value);
                }
            }
        }
        members
    }

    /// The names of the members.
    pub(super) fn names(&self) -> Vec<String> {
        self.members().into_iter().map(|(name, _)| name).take(OFFERED_MAX).collect()
    }

    /// The members that have few values, and several documents with one: those that make facets.
    pub(super) fn facets(&self) -> Vec<String> {
        let several = |values: &[String]| is_few(values) && values.len() * 2 <= self.bodies.len();
        let found = self.members().into_iter().filter(|(_, values)| several(values)).map(|(name, _)| name);
        found.take(FACETS_MAX).collect()
    }

    /// Beginnings of conditions: members, and those of their values that are few.
    pub(super) fn offers(&self) -> Vec<String> {
        let members = self.members();
        let offers = members.iter().flat_map(|(name, values)| {
            let name = name_of(name);
            let values = values.iter().filter(|_| is_few(values)).map(|value| format!("{name} = {value}"));
            std::iter::once(format!("{name} ")).chain(values.collect::<Vec<_>>())
        });
        offers.take(OFFERED_MAX).collect()
    }
}

/// Whether values can be offered.
fn is_few(values: &[String]) -> bool {
    values.len() <= VALUES_MAX
        && values.iter().all(|value| value.len() <= VALUE_BYTES_MAX && !value.starts_with(['{', '[']))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use recension::{At, IndexSpec, Store};

    use super::*;

    fn cities(words: bool) -> CollectionAt {
        let cities = Store::memory().unwrap().collection("cities").unwrap();
        if words {
            cities.create_index(IndexSpec::words("w", ["name"], Language::Plain), |_| {}).unwrap();
        }
        for (id, body) in [
            ("lisbon", r#"{"name":"Lisbon","country":"PT","n":3,"tags":["old harbour"]}"#),
            ("porto", r#"{"name":"Porto","country":"PT","n":2,"of":{"note":"near Lisbon"}}"#),
            ("oslo", r#"{"name":"Oslo","country":"NO","n":1}"#),
        ] {
            cities.put(id, body).unwrap();
        }
        cities.at(At::Now).unwrap()
    }

    fn found(text: &str, at: &CollectionAt) -> String {
        let ids = selector(text, at).map(|selector| {
            let query = selector.map_or_else(Query::new, |selector| Query::new().selecting(selector));
            let found = at.find(&query).unwrap().map(|document| document.unwrap().id.to_string());
            let mut ids: Vec<String> = found.collect();
            ids.sort();
            ids.join(" ")
        });
        ids.unwrap_or_else(|mistake| ApiError::from(mistake).reason.to_string())
    }

    #[test]
    fn one_field_takes_words_ids_conditions_and_selectors() {
        let at = cities(false);
        for (text, expected) in [
            ("", "lisbon oslo porto"),
            ("Lisbon", "lisbon porto"),
            ("oslo", "oslo"),
            ("old harbour", "lisbon"),
            ("\"harbour old\"", ""),
            ("harb*", "lisbon"),
            ("n > 1 or name = Oslo", "lisbon oslo porto"),
            ("not country = PT", "oslo"),
            ("name like 'O%'", "oslo"),
            (r#"{"n": {"$gt": 2}}"#, "lisbon"),
        ] {
            assert_eq!(found(text, &at), expected, "{text}");
        }
        for (text, what) in [
            ("n > 1,000,000", "at character 6: expected the end of the number: numbers are written without commas"),
            ("n >> 1", "at character 4: expected a value"),
            ("name like", "at character 10: expected a value"),
            ("{\"a\":", "JSON"),
        ] {
            assert!(found(text, &at).contains(what), "{text}: {}", found(text, &at));
        }
        assert!(as_json("n > 1").unwrap().contains("$within") && as_json("lisbon").is_none());
        assert_eq!(as_json(r#"{"n": 1}"#).as_deref(), Some(r#"{"n":1}"#));
        // With an index of words, what it has is searched, and the id.
        let at = cities(true);
        assert_eq!(found("lisbon", &at), "lisbon");
        assert_eq!(found("harbour", &at), "");
        let query = Query::new().selecting(selector("Oslo", &at).unwrap().unwrap());
        assert!(at.explain(&query).unwrap().summary().contains("index"), "{}", at.explain(&query).unwrap().summary());
        assert_eq!(count(&at, &query).unwrap(), (1, true));
    }

    #[test]
    fn samples_offer_and_explain() {
        let sample = Sample::of(&cities(false)).unwrap();
        let offers = sample.offers();
        assert!(offers.contains(&"name ".to_owned()) && offers.contains(&"country = \"PT\"".to_owned()), "{offers:?}");
        assert_eq!(sample.names(), ["name", "country", "n", "tags", "of"]);
        assert_eq!(sample.facets(), ["tags"; 0], "of three documents none is worth it");
        assert_eq!(sample.hints("nmae = x"), ["no document that was looked at has a member nmae; there is name"]);
        assert_eq!(name_of("a b.c"), "\"a b\".c");
        assert_eq!(with("a = 1 or b = 2", "c = 3".to_owned()), "(a = 1 or b = 2) and c = 3");
        assert_eq!(with("word", "c = 3".to_owned()), "c = 3");
    }

    #[test]
    fn rows_that_are_no_documents_are_searched_alike() {
        let row = r#"{"name":"Orders","documents":12}"#;
        for (text, found, mistaken) in [
            ("", true, false),
            ("ORD", true, false),
            ("documents", false, false),
            ("documents > 10", true, false),
            ("documents > 12 or name = x", false, false),
            (r#"{"name":"Orders"}"#, true, false),
            ("documents >", true, true),
        ] {
            let (rows, mistake) = OfRows::read(text);
            assert_eq!((rows.finds(row), mistake.is_some()), (found, mistaken), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_search_or_refused(text in "[ a-z\"\\\\=<>!~{}é*-]{0,30}( (and|or|like) [a-z=\"]{0,9}){0,2}") {
            let at = Store::memory().unwrap().collection("c").unwrap().at(At::Now).unwrap();
            drop(found(&text, &at));
        }
    }
}
