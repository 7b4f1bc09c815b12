//! The parameters of `_find` and `_explain`, with CouchDB's words for invalid ones. Pure.

use std::borrow::Cow;

use http::StatusCode;
use recension::engine::Direction;
use recension::{Cursor, Highlighting, Selector};
use serde_json::value::RawValue;

use super::definition::{mixed, sort_fields};
use super::fields;
use crate::body::{distinct_members_of, members_of};
use recension_app::auth::databases::Database;
use recension_app::auth::partitions::check_name;
use recension_wire::error::{ApiError, Result};

/// The parameters of `_find`.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools)] // the protocol's flags
pub(super) struct Options {
    pub(super) selector: Selector,
    /// The selector is `$and` of nothing, which CouchDB answers with no document.
    pub(super) selects_by_nothing: bool,
    /// A design document, and maybe one of its indexes.
    pub(super) use_index: Option<(String, Option<String>)>,
    pub(super) bookmark: Option<Cursor>,
    pub(super) limit: usize,
    pub(super) skip: usize,
    pub(super) sort: Vec<(String, Direction)>,
    /// The answer is in the order of relevance: `sort` was `["$score"]`.
    pub(super) relevance: bool,
    /// `None`: whole documents.
    pub(super) fields: Option<Vec<String>>,
    /// Documents are answered with the texts in which the words stand that were asked for.
    pub(super) highlight: Option<Highlighting>,
    pub(super) conflicts: bool,
    pub(super) execution_stats: bool,
    pub(super) allow_fallback: bool,
    pub(super) update: bool,
    pub(super) stable: bool,
    pub(super) r: u64,
    /// The partition, if the body names one.
    partition: Option<String>,
}

/// Rows, if no limit is set.
const LIMIT_DEFAULT: usize = 25;

pub(super) fn bad(error: &'static str, reason: impl Into<Cow<'static, str>>) -> ApiError {
    ApiError::new(StatusCode::BAD_REQUEST, error, reason)
}

impl Options {
    pub(super) fn read(body: &[u8]) -> Result<Self> {
        let mut selector = None;
        let mut read = Options {
            selector: Selector::all([]),
            selects_by_nothing: false,
            use_index: None,
            bookmark: None,
            limit: LIMIT_DEFAULT,
            skip: 0,
            sort: Vec::new(),
            relevance: false,
            fields: None,
            highlight: None,
            conflicts: false,
            execution_stats: false,
            allow_fallback: true,
            update: true,
            stable: false,
            r: 1,
            partition: None,
        };
        for (name, value) in distinct_members_of(body)? {
            match name.as_str() {
                "selector" => {
                    let read_selector = Selector::from_json(value.get())?;
                    let everything = members_of(value.get().as_bytes())?.is_empty();
                    read.selects_by_nothing = read_selector.is_empty_conjunction() && !everything;
                    selector = Some(read_selector);
                }
                "use_index" => read.use_index = use_index(value)?,
                "bookmark" => read.bookmark = bookmark(value)?,
                "limit" => read.limit = number(value)?,
                "skip" => read.skip = number(value)?,
                "sort" => {
                    read.sort = sort(value)?;
                    read.relevance = read.sort.iter().any(|(field, _)| field == "$score");
                    if read.relevance && !matches!(value.get(), "[\"$score\"]" | "[{\"$score\":\"desc\"}]") {
                        let reason =
                            "The order of relevance is [\"$score\"]: the most relevant first, and nothing else.";
                        return Err(bad("invalid_sort_field", reason));
                    }
                }
                "fields" => read.fields = fields::names(value)?,
                "highlight" => read.highlight = highlight(value)?,
                "conflicts" => read.conflicts = flag(value)?,
                "execution_stats" => read.execution_stats = flag(value)?,
                "allow_fallback" => read.allow_fallback = flag(value)?,
                "update" => read.update = flag(value)?,
                "stable" => read.stable = flag(value)?,
                "r" => {
                    let wrong =
                        || bad("invalid_pos_integer", format!("{} is not an integer greater than zero", value.get()));
                    read.r = value.get().parse().ok().filter(|r| *r > 0).ok_or_else(wrong)?;
                }
                "partition" => {
                    let wrong = |_| ApiError::illegal_partition("Partition must be a string");
                    let partition: String = serde_json::from_str(value.get()).map_err(wrong)?;
                    read.partition = Some(partition).filter(|partition| !partition.is_empty());
                }
                "stale" => match value.get() {
                    "\"ok\"" => read.update = false,
                    "false" | "\"false\"" => {}
                    other => {
                        let reason = format!("{other} is not \"ok\" or false");
                        return Err(bad("invalid_ok_or_false_value", reason));
                    }
                },
                _ => return Err(bad("invalid_key", format!("Invalid key {name} for this request."))),
            }
        }
        read.selector = selector.ok_or_else(|| bad("missing_required_key", "Missing required key: selector"))?;
        if read.highlight.is_some() && !read.selector.marks_words() {
            return Err(bad("bad_arg", "`highlight`: the selector asks for no words to mark; ask for some with $text"));
        }
        Ok(read)
    }
}

impl Options {
    /// The partition that the path, the query or the body names.
    pub(super) fn partition_of(&self, db: &Database, outside: Option<&str>) -> Result<Option<String>> {
        if outside.is_none() && self.partition.is_some() && !db.is_partitioned()? {
            return Err(ApiError::bad_request("partition specified on non-partitioned db"));
        }
        if outside.is_some() && self.partition.as_deref().is_some_and(|own| Some(own) != outside) {
            return Err(ApiError::illegal_partition("`partition` names another partition than the path"));
        }
        let partition = outside.or(self.partition.as_deref());
        db.check_partition(partition)?;
        partition.map(|name| check_name(name).map(|()| name.to_owned())).transpose()
    }
}

fn flag(value: &RawValue) -> Result<bool> {
    let wrong = || bad("invalid_boolean", format!("Invalid boolean value: {}", value.get()));
    value.get().parse().map_err(|_| wrong())
}

fn number(value: &RawValue) -> Result<usize> {
    let reason = || format!("{} is not an integer greater than or equal to zero", value.get());
    value.get().parse().map_err(|_| bad("invalid_non_neg_integer", reason()))
}

fn sort(value: &RawValue) -> Result<Vec<(String, Direction)>> {
    let fields = sort_fields(value)?;
    if fields.windows(2).any(|pair| matches!(pair, [a, b] if a.1 != b.1)) { Err(mixed()) } else { Ok(fields) }
}

/// `true`, or `{"before": "[", "after": "]", "chars": 100}`, of which any may be left away.
fn highlight(value: &RawValue) -> Result<Option<Highlighting>> {
    let reason = "`highlight` is true, false, or an object with `before` and `after`, texts of 64 bytes at most, and \
                  `chars`, 10 to 10,000";
    let wrong = || bad("bad_arg", reason);
    let mut how = Highlighting::default();
    match value.get() {
        "true" => return Ok(Some(how)),
        "false" | "null" => return Ok(None),
        _ => {}
    }
    for (name, value) in members_of(value.get().as_bytes()).map_err(|_| wrong())? {
        let text =
            || serde_json::from_str::<String>(value.get()).ok().filter(|text| text.len() <= 64).ok_or_else(wrong);
        match name.as_str() {
            "before" => how.before = text()?,
            "after" => how.after = text()?,
            "chars" => {
                how.chars = value.get().parse().ok().filter(|chars| (10..=10_000).contains(chars)).ok_or_else(wrong)?;
            }
            _ => return Err(wrong()),
        }
    }
    Ok(Some(how))
}

fn bookmark(value: &RawValue) -> Result<Option<Cursor>> {
    let wrong = || bad("invalid_bookmark", format!("Invalid bookmark value: {}", value.get()));
    match value.get() {
        "null" | "\"\"" | "\"nil\"" => Ok(None),
        text => {
            let text: String = serde_json::from_str(text).map_err(|_| wrong())?;
            text.parse().map(Some).map_err(|_| wrong())
        }
    }
}

fn use_index(value: &RawValue) -> Result<Option<(String, Option<String>)>> {
    let wrong = || bad("invalid_index_name", format!("Invalid index name: {}", value.get()));
    let names: Vec<String> = match value.get().as_bytes().first() {
        Some(b'"') => {
            let text: String = serde_json::from_str(value.get()).map_err(|_| wrong())?;
            text.strip_prefix("_design/").unwrap_or(&text).split('/').map(str::to_owned).collect()
        }
        Some(b'[') => serde_json::from_str(value.get()).map_err(|_| wrong())?,
        Some(b'n') => Vec::new(),
        _ => return Err(wrong()),
    };
    let mut names = names.into_iter();
    Ok(match (names.next(), names.next(), names.next()) {
        (None, ..) => None,
        (Some(ddoc), name, None) => {
            let ddoc = ddoc.strip_prefix("_design/").unwrap_or(&ddoc);
            Some((format!("_design/{ddoc}"), name))
        }
        _ => return Err(wrong()),
    })
}
