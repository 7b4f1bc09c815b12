//! The parameters of a list by id, from the query and the body, with CouchDB's words for invalid ones.

use std::ops::Bound;

use bytes::Bytes;
use http::Method;
use recension::engine::Direction;
use recension::{Grouping, ListOptions};
use serde_json::value::RawValue;

use super::body::{Elements, Members, distinct_members_of, elements, member, refuse_misspelt};
use super::inline::Inline;
use recension_app::request::Request;
use recension_wire::error::{ApiError, Result};
use recension_wire::limits::{CHUNK_BYTES, QUERIES_MAX};
use recension_wire::query::Query;

/// The parameters of a list.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools)] // the protocol's flags
pub(crate) struct ListQuery {
    /// Keys as JSON texts: the rows are these, in this order.
    pub(crate) keys: Option<Elements>,
    start: Edge,
    end: Edge,
    inclusive_end: bool,
    pub(crate) descending: bool,
    pub(crate) limit: usize,
    pub(crate) skip: usize,
    pub(crate) include_docs: bool,
    pub(crate) conflicts: bool,
    pub(crate) inline: Inline,
    pub(crate) update_seq: bool,
    /// The columns of a table that are of the documents.
    pub(crate) fields: Option<Vec<String>>,
}

/// A key that a range begins or ends with.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Edge {
    None,
    Id(String),
    /// A key that sorts before all strings.
    BeforeStrings,
    /// A key that sorts behind all strings.
    AfterStrings,
}

impl Edge {
    /// From a key as JSON.
    fn of(text: &str) -> Result<Self> {
        let text = recension::json::minify(text.as_bytes()).map_err(|_| ApiError::bad_json())?;
        Ok(match text.as_bytes().first() {
            Some(b'"') => Edge::Id(serde_json::from_str(&text).map_err(|_| ApiError::bad_json())?),
            Some(b'[' | b'{') => Edge::AfterStrings,
            _ => Edge::BeforeStrings,
        })
    }
}

/// Whether a view is brought up to date before it is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Update {
    Before,
    Never,
    Afterwards,
}

/// Parameters that may stand in the query as text, and in the body as JSON.
pub(crate) struct Parameters<'r> {
    query: &'r Query,
    body: Vec<(String, String)>,
    body_wins: bool,
}

impl<'r> Parameters<'r> {
    /// Of a query, and of the members of a body. The query wins, as in CouchDB.
    pub(crate) fn new(query: &'r Query, body: Vec<(String, String)>) -> Self {
        Parameters { query, body, body_wins: false }
    }

    /// Of one of `queries`, which wins over the query of the request.
    pub(crate) fn of_one(query: &'r Query, body: Vec<(String, String)>) -> Self {
        Parameters { query, body, body_wins: true }
    }

    /// Whether the body has the parameter.
    pub(crate) fn is_in_body(&self, name: &str) -> bool {
        self.body.iter().any(|(own, _)| own == name)
    }

    /// A parameter as JSON text. The keys of a body always win.
    pub(crate) fn get(&self, names: &[&str]) -> Option<&str> {
        let of_body =
            || self.body.iter().rev().find(|(own, _)| names.contains(&own.as_str())).map(|(_, value)| value.as_str());
        let of_query = || names.iter().find_map(|name| self.query.get(name));
        if self.body_wins || names == ["keys"] { of_body().or_else(of_query) } else { of_query().or_else(of_body) }
    }

    /// A parameter that is JSON, minified.
    pub(crate) fn json(&self, name: &str) -> Result<Option<String>> {
        self.json_of(&[name])
    }

    /// The same for a parameter that has several names.
    pub(crate) fn json_of(&self, names: &[&str]) -> Result<Option<String>> {
        self.get(names).map(checked_json).transpose()
    }

    pub(crate) fn flag(&self, name: &str, default: bool) -> Result<bool> {
        match self.get(&[name]) {
            None => Ok(default),
            Some(text) if text.eq_ignore_ascii_case("true") => Ok(true),
            Some(text) if text.eq_ignore_ascii_case("false") => Ok(false),
            Some(text) => {
                Err(ApiError::query_parse(format!("Invalid boolean parameter: \"{}\"", text.trim_matches('"'))))
            }
        }
    }

    pub(crate) fn number(&self, name: &str) -> Result<Option<usize>> {
        let Some(text) = self.get(&[name]) else { return Ok(None) };
        match text.parse::<i64>() {
            Ok(number) if number >= 0 => Ok(Some(usize::try_from(number).unwrap_or(usize::MAX))),
            Ok(_) => Err(ApiError::query_parse(format!("Invalid value for positive integer: \"{text}\""))),
            Err(_) => Err(ApiError::query_parse(format!("Invalid value for integer: \"{}\"", text.trim_matches('"')))),
        }
    }

    /// Whether a view is brought up to date before it is read.
    pub(crate) fn update(&self) -> Result<Update> {
        self.flag("sorted", true)?;
        let word = |name: &str| self.get(&[name]).map(|text| text.trim_matches('"').to_owned());
        if word("stable").is_some_and(|stable| !matches!(&*stable, "true" | "false")) {
            return Err(ApiError::query_parse("Invalid value for `stable`."));
        }
        match word("stale").as_deref() {
            Some("ok") => return Ok(Update::Never),
            Some("update_after") => return Ok(Update::Afterwards),
            Some("false") | None => {}
            Some(_) => return Err(ApiError::query_parse("Invalid value for `stale`.")),
        }
        match word("update").as_deref() {
            None | Some("true") => Ok(Update::Before),
            Some("false") => Ok(Update::Never),
            Some("lazy") => Ok(Update::Afterwards),
            Some(_) => Err(ApiError::query_parse("Invalid value for `update`.")),
        }
    }

    /// How rows are grouped, if they are reduced.
    pub(crate) fn grouping(&self, reduces: bool) -> Result<Option<Grouping>> {
        let group = self.flag("group", false)?;
        let level = match self.get(&["group_level"]).map(|text| text.trim_matches('"')) {
            Some(_) => {
                self.number("group_level")?.map(|level| if level == 0 { Grouping::All } else { Grouping::Level(level) })
            }
            None => None,
        };
        let wanted = self.get(&["reduce"]).is_some() && self.flag("reduce", true)?;
        if wanted && !reduces {
            return Err(ApiError::query_parse("Reduce is invalid for map-only views."));
        }
        if !group && self.get(&["group"]).is_some() && level.is_some_and(|level| level != Grouping::All) {
            return Err(ApiError::query_parse("Can't specify group=false and group_level>0 at the same time"));
        }
        let level = if group { Some(level.unwrap_or(Grouping::Exact)) } else { level };
        if !reduces || !self.flag("reduce", true)? {
            return match level {
                None | Some(Grouping::All) => Ok(None),
                Some(_) => Err(ApiError::query_parse("Invalid use of grouping on a map view.")),
            };
        }
        Ok(Some(level.unwrap_or(Grouping::All)))
    }

    fn edge(&self, names: &[&str]) -> Result<Edge> {
        self.get(names).map_or(Ok(Edge::None), Edge::of)
    }

    /// An edge of a list by id, which an id names if no key does. In a query it stands as it is, in a body as JSON.
    fn edge_or_id(&self, names: &[&str], ids: &[&str]) -> Result<Edge> {
        match (self.edge(names)?, self.get(ids)) {
            (Edge::None, Some(id)) => Ok(Edge::Id(serde_json::from_str(id).unwrap_or_else(|_| id.to_owned()))),
            (edge, _) => Ok(edge),
        }
    }
}

/// A JSON text, minified.
pub(crate) fn checked_json(text: &str) -> Result<String> {
    recension::json::minify(text.as_bytes()).map_err(|_| ApiError::bad_json())
}

impl ListQuery {
    /// From a request; of POST, the body is read too.
    pub(crate) async fn of(request: &mut Request) -> Result<Self> {
        if *request.method() != Method::POST {
            return Self::read(&request.query, &Bytes::new(), Vec::new());
        }
        request.require_json()?;
        let body = request.bytes().await?;
        if body.len() <= CHUNK_BYTES {
            return Self::read(&request.query, &body, distinct_members_of(&body)?);
        }
        // Reading many keys takes long: it runs on a thread that may block.
        let query = request.query.clone();
        request.app.blocking(move || Self::read(&query, &body, distinct_members_of(&body)?)).await
    }

    /// From the query and the members of an object in a body.
    pub(crate) fn read(query: &Query, body: &Bytes, members: Members<'_>) -> Result<Self> {
        Self::of_members(query, body, members, false)
    }

    /// The same for one of `queries`, which wins over the query of the request.
    pub(crate) fn read_one(query: &Query, body: &Bytes, members: Members<'_>) -> Result<Self> {
        Self::of_members(query, body, members, true)
    }

    fn of_members(query: &Query, body: &Bytes, members: Members<'_>, body_wins: bool) -> Result<Self> {
        check_members(&members)?;
        let keys = match member(&members, "keys") {
            Some(keys) => {
                let keys = Elements::of(body.slice_ref(keys.get().as_bytes()));
                Some(keys.ok_or_else(|| ApiError::bad_request("`keys` body member must be an array."))?)
            }
            None => query.get("keys").map(keys_of_query).transpose()?,
        };
        let members = members.into_iter().filter(|(name, _)| name != "keys");
        let body = members.map(|(name, value)| (name, value.get().to_owned())).collect();
        let asked = Parameters { query, body, body_wins };
        // As of a view without a reduction.
        asked.update()?;
        asked.grouping(false)?;
        let key = asked.edge(&["key"])?;
        let start = asked.edge_or_id(&["startkey", "start_key"], &["startkey_docid", "start_key_doc_id"])?;
        let end = asked.edge_or_id(&["endkey", "end_key"], &["endkey_docid", "end_key_doc_id"])?;
        let (start, end) = if key == Edge::None { (start, end) } else { (key.clone(), key) };
        // One key is taken beside a range.
        let several = || keys.clone().is_some_and(|keys| keys.take(2).count() > 1);
        if (start != Edge::None || end != Edge::None) && several() {
            return Err(keys_and_range());
        }
        Ok(ListQuery {
            keys,
            start,
            end,
            inclusive_end: asked.flag("inclusive_end", true)?,
            descending: asked.flag("descending", false)?,
            limit: asked.number("limit")?.unwrap_or(usize::MAX),
            skip: asked.number("skip")?.unwrap_or(0),
            include_docs: asked.flag("include_docs", false)?,
            conflicts: asked.flag("conflicts", false)?,
            inline: Inline::in_rows(asked.flag("attachments", false)?, asked.flag("att_encoding_info", false)?),
            update_seq: asked.flag("update_seq", false)?,
            fields: None,
        })
    }

    /// The rows for the library, without `skip` and `limit`, which the caller counts.
    pub(crate) fn options(&self) -> ListOptions {
        let (start, end) = (Self::bound(&self.start, true), Self::bound(&self.end, self.inclusive_end));
        let (start, end, direction) = if self.descending {
            (Self::lower(end), Self::upper(start), Direction::Backward)
        } else {
            (Self::lower(start), Self::upper(end), Direction::Forward)
        };
        ListOptions { start, end, direction, ..ListOptions::default() }
    }

    /// The rows that come before the first one.
    pub(crate) fn before(&self) -> ListOptions {
        before(self.options())
    }

    /// Whether the range has an id.
    pub(crate) fn has(&self, id: &str) -> bool {
        let ListOptions { start, end, .. } = self.options();
        let above = match &start {
            Bound::Included(start) => id >= start.as_str(),
            Bound::Excluded(start) => id > start.as_str(),
            Bound::Unbounded => true,
        };
        above
            && match &end {
                Bound::Included(end) => id <= end.as_str(),
                Bound::Excluded(end) => id < end.as_str(),
                Bound::Unbounded => true,
            }
    }

    /// An edge as a bound of ids. No id is empty, and none is longer than the longest.
    fn bound(edge: &Edge, inclusive: bool) -> Place {
        match edge {
            Edge::None => Place::Open,
            Edge::Id(id) if inclusive => Place::At(Bound::Included(id.clone())),
            Edge::Id(id) => Place::At(Bound::Excluded(id.clone())),
            Edge::BeforeStrings => Place::First,
            Edge::AfterStrings => Place::Last,
        }
    }

    fn lower(place: Place) -> Bound<String> {
        match place {
            Place::Open | Place::First => Bound::Unbounded,
            Place::At(bound) => bound,
            Place::Last => Bound::Excluded("\u{10ffff}".repeat(512)),
        }
    }

    fn upper(place: Place) -> Bound<String> {
        match place {
            Place::Open | Place::Last => Bound::Unbounded,
            Place::At(bound) => bound,
            Place::First => Bound::Excluded(String::new()),
        }
    }
}

fn keys_of_query(text: &str) -> Result<Elements> {
    let _: &RawValue = serde_json::from_str(text).map_err(|_| ApiError::bad_json())?;
    let not_an_array = || ApiError::bad_request("`keys` parameter must be an array.");
    Elements::of(text.to_owned().into()).ok_or_else(not_an_array)
}

/// The refusal of keys beside a range.
pub(crate) fn keys_and_range() -> ApiError {
    ApiError::query_parse("`keys` is incompatible with `key`, `start_key` and `end_key`")
}

/// The rows before the first of these.
pub(crate) fn before(options: ListOptions) -> ListOptions {
    let all = ListOptions::default();
    let ListOptions { start, end, direction, .. } = options;
    let turned = |bound| match bound {
        Bound::Included(id) => Bound::Excluded(id),
        Bound::Excluded(id) => Bound::Included(id),
        Bound::Unbounded => Bound::Excluded(String::new()),
    };
    match direction {
        Direction::Forward => ListOptions { end: turned(start), ..all },
        Direction::Backward => match end {
            Bound::Unbounded => ListOptions { end: Bound::Excluded(String::new()), ..all },
            end => ListOptions { start: turned(end), ..all },
        },
    }
}

enum Place {
    Open,
    First,
    At(Bound<String>),
    Last,
}

/// What the body of a list or a view may have.
const IN_BODY: [&str; 34] = [
    "att_encoding_info",
    "attachments",
    "conflicts",
    "descending",
    "end_key",
    "end_key_doc_id",
    "end_key_docid",
    "endkey",
    "endkey_docid",
    "fields",
    "group",
    "group_level",
    "include_docs",
    "inclusive_end",
    "key",
    "keys",
    "limit",
    "partition",
    "queries",
    "reduce",
    "skip",
    "sorted",
    "stable",
    "stale",
    "start_key",
    "start_key_doc_id",
    "start_key_docid",
    "startkey",
    "startkey_docid",
    "update",
    "update_seq",
    "seq_interval",
    "callback",
    "timeout",
];

/// Refuses a misspelt member of the body of a list or a view.
pub(crate) fn check_members(members: &Members<'_>) -> Result<()> {
    refuse_misspelt(members.iter().map(|(name, _)| name.as_str()), &IN_BODY)
}

/// The elements of `queries`, of which a request for several lists is made.
pub(crate) fn queries_of(body: &[u8]) -> Result<Vec<&RawValue>> {
    let members = distinct_members_of(body)?;
    let missing = || ApiError::bad_request("POST body must include `queries` parameter.");
    let queries = elements(member(&members, "queries").ok_or_else(missing)?)?;
    let queries = queries.ok_or_else(|| ApiError::bad_request("`queries` member must be an array."))?;
    if queries.len() > QUERIES_MAX {
        return Err(ApiError::bad_request(format!("`queries` has {QUERIES_MAX} elements at most")));
    }
    Ok(queries)
}
