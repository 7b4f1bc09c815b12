//! Indexes as design documents define them (`"language":"query"`), and as the store has them. Pure.

use http::StatusCode;
use md5::{Digest as _, Md5};
use recension::engine::Direction;
use recension::json::quote;
use recension::{IndexPart, IndexSpec, Language, Path, Selector};
use serde_json::value::RawValue;

use super::conflicts::CONFLICTS;
use super::options::bad;
use crate::body::{elements, member, members_of};
use recension_wire::error::{ApiError, Result};

/// An index, as a design document defines it.
#[derive(Clone, Debug)]
pub(super) struct Definition {
    /// The id of the design document.
    pub(super) ddoc: String,
    pub(super) name: String,
    /// Fields and directions.
    pub(super) fields: Vec<(String, Direction)>,
    /// The selector of a partial index, as it was given.
    pub(super) partial: Option<String>,
    /// If it is an index of words: the language of the words.
    pub(super) words: Option<Language>,
    /// Whether no two documents may have the same values. CouchDB has no such indexes.
    pub(super) unique: bool,
    /// Whether its design document says that it is of partitions.
    pub(super) partitioned: Option<bool>,
}

impl Definition {
    /// From the index in a request to `_index`, or the map of a design document's view.
    pub(super) fn read(ddoc: &str, name: &str, index: &RawValue) -> Result<Self> {
        let shown = || bad("invalid_index", format!("JSON indexes must be an object, not: {}", index.get()));
        let members = members_of(index.get().as_bytes()).map_err(|_| shown())?;
        let fields =
            member(&members, "fields").ok_or_else(|| bad("missing_required_key", "Missing required key: fields"))?;
        let fields = if fields.get().starts_with('{') {
            // In a design document the fields are an object.
            members_of(fields.get().as_bytes())?
                .into_iter()
                .map(|(name, direction)| Ok((name, direction_of(direction)?)))
                .collect::<Result<Vec<_>>>()?
        } else {
            sort_fields(fields)?
        };
        if fields.windows(2).any(|pair| matches!(pair, [a, b] if a.1 != b.1)) {
            return Err(mixed());
        }
        let partial = member(&members, "partial_filter_selector").map(|selector| selector.get().to_owned());
        let partial = partial.filter(|selector| selector.trim() != "{}");
        if let Some(selector) = &partial {
            Selector::from_json(selector)?;
        }
        let unique = match member(&members, "unique").map(RawValue::get) {
            None | Some("false") => false,
            Some("true") => true,
            Some(other) => return Err(bad("invalid_index", format!("`unique` is true or false, not: {other}"))),
        };
        let (ddoc, name) = (ddoc.to_owned(), name.to_owned());
        Ok(Definition { ddoc, name, fields, partial, words: None, unique, partitioned: None })
    }

    /// The same for an index of words, from a request to `_index` or the `index` of a design document's `indexes`.
    pub(super) fn read_words(ddoc: &str, name: &str, index: &RawValue) -> Result<Self> {
        let shown = || bad("invalid_index", format!("Text indexes must be an object, not: {}", index.get()));
        let members = members_of(index.get().as_bytes()).map_err(|_| shown())?;
        // One of all texts of a document is Lucene's, as CouchDB says where it has no such service.
        let fields = member(&members, "fields").ok_or_else(|| {
            let (status, error) = (StatusCode::SERVICE_UNAVAILABLE, "required index service unavailable");
            ApiError::new(status, error, "text: name the `fields` that have the texts")
        })?;
        let wrong = || bad("invalid_fields", format!("Fields must be an array of strings, not: {}", fields.get()));
        let field = |field: &RawValue| word_field(field).map(|name| (name, Direction::Forward)).ok_or_else(wrong);
        let fields = elements(fields)?.ok_or_else(wrong)?.into_iter().map(field).collect::<Result<Vec<_>>>()?;
        if fields.is_empty() {
            return Err(bad("invalid_fields", "A text index is on one field or more; name those that have the texts."));
        }
        let language = member(&members, "language").map(|language| {
            let wrong = || bad("invalid_index", format!("Invalid language: {}", language.get()));
            let name: String = serde_json::from_str(language.get()).map_err(|_| wrong())?;
            Language::named(&name).map_err(|_| wrong())
        });
        let words = Some(language.transpose()?.unwrap_or_default());
        let (ddoc, name) = (ddoc.to_owned(), name.to_owned());
        Ok(Definition { ddoc, name, fields, partial: None, words, unique: false, partitioned: None })
    }

    /// The design document's member that holds it.
    pub(super) fn member(&self) -> &'static str {
        if self.words.is_some() { "indexes" } else { "views" }
    }

    /// The index's name in the store, for people too. It changes with the definition.
    pub(super) fn stored_name(&self) -> String {
        // Earlier versions took `[]` for a part of a name.
        let elements = self.spec_paths().any(|path| path.is_multiple());
        let form = if elements { "\0elements" } else { "" };
        let hash = Md5::digest(format!("{}\0{}\0{}{form}", self.ddoc, self.name, self.def_json()).as_bytes());
        let hash = recension_app::identity::password::hex(hash.get(..6).unwrap_or_default());
        format!("{STORED_PREFIX}{}/{hash}", self.shown_name())
    }

    /// Its design document and its name, in characters that need no quotes. Names that `_index` made up are hashes: the
    /// fields stand in their place.
    fn shown_name(&self) -> String {
        let plain = |text: &str| -> String {
            let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.') { c } else { '_' };
            text.chars().take(60).map(plain).collect()
        };
        let made_up = |name: &str| name.len() == 40 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        let ddoc = self.ddoc.strip_prefix("_design/").unwrap_or(&self.ddoc);
        let fields = || self.fields.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join("+");
        match (made_up(ddoc), made_up(&self.name)) {
            (true, true) => plain(&fields()),
            (true, false) => plain(&self.name),
            (false, true) => format!("{}/{}", plain(ddoc), plain(&fields())),
            (false, false) => format!("{}/{}", plain(ddoc), plain(&self.name)),
        }
    }

    fn spec_paths(&self) -> impl Iterator<Item = Path> {
        let fields = if self.words.is_some() { &[][..] } else { &self.fields };
        fields.iter().filter_map(|(name, _)| indexed_path(name))
    }

    /// The index for the store; `None` if the store needs none (it is of ids), or can have none: it keeps no index of
    /// what is not in the text of documents (`_conflicts`), which CouchDB makes, and queries do without. Every document
    /// has a revision, so that the other fields serve without it.
    pub(super) fn spec(&self) -> Option<IndexSpec> {
        let not_in_text = |(name, _): &(String, Direction)| name.starts_with('_') && name != "_id" && name != "_rev";
        let tests_conflicts = |selector: Selector| selector.without(CONFLICTS).is_some();
        if self.fields.iter().any(not_in_text) || self.selector().is_some_and(tests_conflicts) {
            return None;
        }
        if let Some(language) = self.words {
            let path = |(name, _): &(String, Direction)| Path::from_segments(segments(name)).ok();
            let paths = self.fields.iter().map(path).collect::<Option<Vec<Path>>>()?;
            return Some(IndexSpec::words(self.stored_name(), paths, language));
        }
        let mut fields = self.fields.clone();
        fields.retain(|(name, _)| name != "_rev");
        // Documents with equal values are in the order of their ids anyway.
        if fields.last().is_some_and(|(name, _)| name == "_id") {
            fields.pop();
        }
        // As in CouchDB, an index that was asked for as descending is read backward where that order is wanted.
        let ascending = |name: &str| Some(IndexPart { path: indexed_path(name)?, direction: Direction::Forward });
        let parts = fields.iter().map(|(name, _)| ascending(name));
        let parts: Vec<IndexPart> = parts.collect::<Option<_>>()?;
        let mut spec = IndexSpec::new(self.stored_name(), parts.first()?.path.clone());
        spec.parts = parts;
        spec.unique = self.unique;
        if let Some(selector) = self.selector() {
            spec.filter = selector.conditions();
        }
        Some(spec)
    }

    /// Whether it has all of the fields.
    pub(super) fn covers(&self, fields: &[String]) -> bool {
        let has = |field: &String| field == "_id" || self.fields.iter().any(|(own, _)| own == field);
        fields.iter().all(has)
    }

    /// The selector of a partial index.
    pub(super) fn selector(&self) -> Option<Selector> {
        self.partial.as_ref().and_then(|text| Selector::from_json(text).ok())
    }

    /// `{"fields":[{"name":"asc"}]}`
    pub(super) fn def_json(&self) -> String {
        if let Some(language) = self.words {
            let field = |(name, _): &(String, Direction)| format!("{{{}:\"string\"}}", quote(name));
            let fields: Vec<String> = self.fields.iter().map(field).collect();
            return format!("{{\"fields\":[{}],\"language\":{}}}", fields.join(","), quote(language.name()));
        }
        let partial = self.partial.as_ref().map(|text| format!(",\"partial_filter_selector\":{text}"));
        let unique = if self.unique { ",\"unique\":true" } else { "" };
        format!("{{\"fields\":[{}]{}{unique}}}", self.fields_json(), partial.unwrap_or_default())
    }

    fn fields_json(&self) -> String {
        let field = |(name, direction): &(String, Direction)| format!("{{{}:\"{}\"}}", quote(name), word(*direction));
        self.fields.iter().map(field).collect::<Vec<_>>().join(",")
    }

    /// The definition as `_index` lists it, in a database whose documents are in partitions or not.
    pub(super) fn to_json(&self, partitioned: bool) -> String {
        format!(
            "{{\"ddoc\":{},\"name\":{},\"type\":\"{}\",\"partitioned\":{},\"def\":{}}}",
            quote(&self.ddoc),
            quote(&self.name),
            if self.words.is_some() { "text" } else { "json" },
            self.partitioned.unwrap_or(partitioned),
            self.def_json()
        )
    }

    /// The view that represents it in its design document, to the letter as CouchDB writes it, so that the document has
    /// the same revision. `given`: the definition as the client gave it.
    pub(super) fn view_json(&self, given: &str) -> String {
        if self.words.is_some() {
            return format!("{{\"index\":{}}}", self.def_json());
        }
        let one = |(name, direction): &(String, Direction)| format!("{}:\"{}\"", quote(name), word(*direction));
        let fields: Vec<String> = self.fields.iter().map(one).collect();
        format!(
            "{{\"map\":{{\"fields\":{{{}}},\"partial_filter_selector\":{}{}}},\"reduce\":\"_count\",\
             \"options\":{{\"def\":{given}}}}}",
            fields.join(","),
            self.partial.as_deref().unwrap_or("{}"),
            if self.unique { ",\"unique\":true" } else { "" }
        )
    }
}

/// A field of an index of words: `"title"`, `{"name":"title","type":"string"}` or `{"title":"string"}`.
fn word_field(field: &RawValue) -> Option<String> {
    if let Ok(name) = serde_json::from_str(field.get()) {
        return Some(name);
    }
    let members = members_of(field.get().as_bytes()).ok()?;
    let string = |value: &RawValue| value.get() == "\"string\"";
    match members.as_slice() {
        [(name, of_type)] if string(of_type) => Some(name.clone()),
        _ if member(&members, "type").is_none_or(string) => serde_json::from_str(member(&members, "name")?.get()).ok(),
        _ => None,
    }
}

/// Prefix of the names of indexes in the store that belong to design documents.
pub(super) const STORED_PREFIX: &str = "_mango/";

fn word(direction: Direction) -> &'static str {
    if direction == Direction::Forward { "asc" } else { "desc" }
}

fn direction_of(value: &RawValue) -> Result<Direction> {
    match value.get() {
        "\"asc\"" => Ok(Direction::Forward),
        "\"desc\"" => Ok(Direction::Backward),
        _ => Err(bad("invalid_sort_field", format!("Invalid sort field: {}", value.get()))),
    }
}

pub(super) fn mixed() -> recension_wire::error::ApiError {
    bad("unsupported_mixed_sort", "Sorts currently only support a single direction for all fields.")
}

/// `["a", {"b":"desc"}]`: fields and directions.
pub(super) fn sort_fields(value: &RawValue) -> Result<Vec<(String, Direction)>> {
    let shown = || bad("invalid_sort_json", format!("Sort must be an array of sort specs, not: {}", value.get()));
    elements(value)?.ok_or_else(shown)?.into_iter().map(sort_field).collect()
}

fn sort_field(value: &RawValue) -> Result<(String, Direction)> {
    let wrong = || bad("invalid_sort_field", format!("Invalid sort field: {}", value.get()));
    if let Ok(name) = serde_json::from_str::<String>(value.get()) {
        return if name.is_empty() { Err(wrong()) } else { Ok((name, Direction::Forward)) };
    }
    match members_of(value.get().as_bytes()).map_err(|_| wrong())?.as_slice() {
        [(name, direction)] => Ok((name.clone(), direction_of(direction).map_err(|_| wrong())?)),
        _ => Err(wrong()),
    }
}

/// The path of an index's field: its names, each with `[]` behind it if the elements of its array are meant. `\[]` is a
/// part of a name, as all brackets are in fields of queries.
fn indexed_path(field: &str) -> Option<Path> {
    let (mut path, mut any) = (String::new(), false);
    let mut rest = field;
    loop {
        let (name, after) = rest.split_at(name_end(rest));
        let elements = name.strip_suffix("[]").filter(|less| !less.is_empty() && !less.ends_with('\\'));
        for name in segments(elements.unwrap_or(name)) {
            for c in name.chars() {
                if matches!(c, '.' | '[' | ']' | '\\') {
                    path.push('\\');
                }
                path.push(c);
            }
        }
        if elements.is_some() {
            any = true;
            path.push_str("[]");
        }
        let Some(next) = after.strip_prefix('.') else { break };
        path.push('.');
        rest = next;
    }
    if any { path.parse().ok() } else { Path::from_segments(segments(field)).ok() }
}

/// Where the first name of a field ends: at a dot that no backslash precedes.
fn name_end(field: &str) -> usize {
    let mut escaped = false;
    let is_end = |(_, c): &(usize, char)| {
        let ends = *c == '.' && !escaped;
        escaped = *c == '\\' && !escaped;
        ends
    };
    field.char_indices().find(is_end).map_or(field.len(), |(at, _)| at)
}

/// The members' names in a field: dots separate them, `\.` is a dot.
pub(super) fn segments(field: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    let mut characters = field.chars();
    while let Some(c) = characters.next() {
        match (c, names.last_mut()) {
            ('.', _) => names.push(String::new()),
            ('\\', Some(last)) => last.extend(characters.next()),
            (c, Some(last)) => last.push(c),
            (_, None) => {}
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_behind_a_name_are_the_elements_of_its_array() {
        for (field, path) in [
            ("state", "state"),
            ("customer.city", "customer.city"),
            ("items[].sku", "items[].sku"),
            ("tags[]", "tags[]"),
            ("a\\.b.tags[]", "a\\.b.tags[]"),
            ("items\\[].sku", "items\\[\\].sku"),
            ("a[0]", "a\\[0\\]"),
            ("[]", "\\[\\]"),
        ] {
            assert_eq!(indexed_path(field), path.parse().ok(), "{field}");
        }
        assert_eq!(indexed_path("a..b"), Path::from_segments(["a", "", "b"]).ok());
    }
}
