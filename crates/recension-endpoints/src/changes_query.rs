//! The parameters of a changes feed, from the query, the body and a header.

use std::collections::HashSet;
use std::ops::Deref;
use std::sync::Arc;

use http::HeaderName;
use recension::engine::budget::Holding;
use recension::{
    Change, ChangeFilter, Collation, CollectionAt, Document, Query as Conditions, RevId, Selector, SelectorTest,
};
use recension_script::Script;
use serde_json::value::RawValue;

use super::body::{Members, distinct_members_of, elements, member, refuse_misspelt};
use super::feed::{Feed, Patience};
use super::functions::RequestObject;
use super::inline::Inline;
use super::mango::fields::Fields;
use super::sequence::Sequence;
use super::within::Within;
use recension_app::auth::databases::Database;
use recension_app::functions;
use recension_app::request::Request;
use recension_wire::error::{ApiError, Result};
use recension_wire::limits::DOC_IDS_MAX;
use recension_wire::query::Query;

/// CouchDB's `changes_doc_ids_optimization_threshold`.
const LOOKED_UP_MAX: usize = 100;

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Which revisions a row names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Style {
    MainOnly,
    AllDocs,
}

/// Which changes a feed has.
#[derive(Clone, Debug)]
pub(crate) enum Filter {
    All,
    Ids(Vec<String>),
    Design,
    /// With the fields that the documents of its rows have; `None`: all.
    Selector(Selector, Arc<SelectorTest>, Option<Arc<Fields>>),
    Function(Arc<FilterFunction>),
}

/// A function of a design document by which a feed is filtered: a filter, or the map of a view, which has to emit.
#[derive(Debug)]
pub(crate) struct FilterFunction {
    script: Script,
    /// Its place in the design document, as JSON.
    path: String,
    /// The request object that it is given, as JSON.
    req: String,
}

impl FilterFunction {
    fn takes(&self, document: &Document<'_>) -> Result<bool> {
        let docs = format!("[{}]", document.to_json());
        let members = [("path", self.path.as_str()), ("docs", docs.as_str()), ("req", self.req.as_str())];
        let answer = self.script.ask("filter", &members).map_err(functions::refused)?;
        for line in &answer.log {
            functions::log(line);
        }
        Ok(answer.value.get() == "[true]")
    }
}

impl Filter {
    /// The documents that are asked for by id.
    pub(crate) fn ids(&self) -> Option<&[String]> {
        match self {
            Filter::Ids(ids) => Some(ids),
            _ => None,
        }
    }

    /// Whether CouchDB looks the documents up. It counts what it passed over so as changes that are still to come.
    pub(crate) fn is_looked_up(&self) -> bool {
        match self {
            Filter::Ids(ids) => ids.len() <= LOOKED_UP_MAX,
            Filter::Design => true,
            _ => false,
        }
    }

    /// A shorter way than reading every change, if there is one: documents are looked up by their ids, or through an
    /// index. Changes that come in this way need no test any more. An index has winners alone.
    pub(crate) fn around(&self, at: &CollectionAt, style: Style) -> Result<Option<ChangeFilter>> {
        Ok(match self {
            Filter::Ids(ids) => Some(ChangeFilter::ids(ids)?),
            Filter::Selector(..) if style == Style::AllDocs && at.has_losing_leaves()? => None,
            Filter::Selector(selector, ..) if !at.indexes().is_empty() => {
                let query = Conditions::new().selecting(selector.clone());
                let plan = at.explain(&query)?;
                // Without an index, the feed is read here, with a pause between two pages.
                let by_index = plan.index.is_some() || !plan.union.is_empty();
                by_index.then(|| ChangeFilter::matching(query)).transpose()?
            }
            _ => None,
        })
    }

    /// Whether the feed has a change.
    pub(crate) fn takes(&self, at: &CollectionAt, change: &Change) -> Result<bool> {
        if !self.asks_for_contents() {
            return Ok(self.takes_id(&change.id));
        }
        at.current(&change.id)?.map_or(Ok(false), |document| self.takes_document(&document))
    }

    /// The leaves of a document that the feed has.
    pub(crate) fn leaves(&self, at: &CollectionAt, id: &str) -> Result<Vec<RevId>> {
        at.leaves_passing(id, |document| self.takes_document(document))
    }

    /// Whether it depends on what documents say.
    pub(crate) fn asks_for_contents(&self) -> bool {
        matches!(self, Filter::Function(_) | Filter::Selector(..))
    }

    /// Whether the feed may have a document of this id.
    pub(crate) fn takes_id(&self, id: &str) -> bool {
        match self {
            Filter::Design => id.starts_with("_design/"),
            Filter::Ids(ids) => ids.iter().any(|own| own == id),
            Filter::All | Filter::Selector(..) | Filter::Function(_) => true,
        }
    }

    /// Whether the feed has a document that says this.
    pub(crate) fn takes_document(&self, document: &Document<'_>) -> Result<bool> {
        match self {
            Filter::All | Filter::Ids(_) | Filter::Design => Ok(self.takes_id(&document.id)),
            Filter::Function(function) => function.takes(document),
            Filter::Selector(_, test, _) => Ok(test.selects(document)),
        }
    }

    /// A document as JSON, as its row has it.
    pub(crate) fn shown(&self, document: String) -> String {
        match self {
            Filter::Selector(.., Some(fields)) => fields.of_document(&document),
            _ => document,
        }
    }
}

/// The parameters of a feed.
#[derive(Clone, Debug)]
pub(crate) struct ChangesQuery {
    pub(crate) feed: Feed,
    /// `None`: now.
    pub(crate) since: Option<Sequence>,
    pub(crate) limit: u64,
    pub(crate) descending: bool,
    pub(crate) style: Style,
    pub(crate) include_docs: bool,
    pub(crate) conflicts: bool,
    pub(crate) inline: Inline,
    pub(crate) filter: KeptFilter,
    pub(crate) patience: Patience,
    /// Only one row in this many has a seq.
    pub(crate) seq_interval: u64,
}

impl ChangesQuery {
    /// From a request.
    pub(crate) async fn of(request: &mut Request, db: &Database) -> Result<Self> {
        let body = request.posted_json().await?;
        let query = &request.query;
        let feed = Feed::of(query, "Supported `feed` types: normal, continuous, live, longpoll, eventsource")?;
        let style = match query.get("style") {
            None | Some("main_only") => Style::MainOnly,
            Some("all_docs") => Style::AllDocs,
            Some(_) => return Err(ApiError::bad_request("Supported `style` values: main_only, all_docs")),
        };
        let limit = query.get("limit").map(str::parse).transpose();
        let interval = query.get("seq_interval").map(str::parse).transpose().ok().filter(|every| *every != Some(0));
        Ok(ChangesQuery {
            feed,
            since: Sequence::parse(named_since(request))?,
            limit: limit.map_err(|_| ApiError::bad_request("Invalid value for limit."))?.unwrap_or(u64::MAX),
            descending: query.is_true("descending"),
            style,
            include_docs: query.is_true("include_docs"),
            conflicts: query.is_true("conflicts"),
            inline: Inline::in_rows(query.is_true("attachments"), query.is_true("att_encoding_info")),
            filter: KeptFilter::of(request, &body, db, None)?,
            patience: Patience::of(query)?,
            seq_interval: interval.ok_or_else(|| ApiError::bad_request("invalid_seq_interval"))?.unwrap_or(1),
        })
    }
}

/// The position that a request names. A browser's source of events names it in a header when it connects again.
pub(crate) fn named_since(request: &Request) -> Option<&str> {
    let query = &request.query;
    request.header(LAST_EVENT_ID).or_else(|| query.get("last-event-id")).or_else(|| query.get("since"))
}

/// The filter of an open feed, and the room that it takes.
#[derive(Clone, Debug)]
pub(crate) struct KeptFilter {
    filter: Filter,
    /// Given back with the last of its clones.
    _kept: Arc<Holding>,
}

impl KeptFilter {
    /// From a request with its body.
    pub(crate) fn of(request: &Request, body: &[u8], db: &Database, within: Option<&dyn Within>) -> Result<Self> {
        let filter = Filter::of(request, body, db, within)?;
        let kept = request.app.streams.keep_filter(filter.weight())?;
        Ok(KeptFilter { filter, _kept: Arc::new(kept) })
    }
}

impl Deref for KeptFilter {
    type Target = Filter;

    fn deref(&self) -> &Filter {
        &self.filter
    }
}

impl Filter {
    /// About how many bytes it takes.
    fn weight(&self) -> usize {
        match self {
            Filter::All | Filter::Design => 0,
            Filter::Ids(ids) => ids.iter().map(|id| id.len() + size_of::<String>()).sum(),
            Filter::Selector(selector, ..) => 4 * selector.to_json().len() + selector.weight(),
            Filter::Function(function) => function.req.len() + function.path.len(),
        }
    }

    /// From a request with its body.
    fn of(request: &Request, body: &[u8], db: &Database, within: Option<&dyn Within>) -> Result<Self> {
        let members = if body.iter().all(u8::is_ascii_whitespace) { Vec::new() } else { distinct_members_of(body)? };
        let functional = |design: &str| -> Result<(Script, String)> {
            let own = functions::design(db, design)?;
            own.check_language()?;
            let deadline = request.app.settings.live().function_deadline;
            let functions = request.app.scripts.functions_of(db, deadline)?;
            let script = own.script(&functions);
            Ok((script, RequestObject::of(request, db, None, body, within)?.json()))
        };
        filter(&request.query, &members, &functional, db)
    }
}

fn filter(query: &Query, members: &Members<'_>, request: &Functional<'_>, db: &Database) -> Result<Filter> {
    match query.get("filter") {
        // Like CouchDB, takes the ids of a body even if the filter is not named.
        None | Some("") => {
            if member(members, "selector").is_some() {
                return Err(ApiError::bad_request("A selector is used with filter=_selector."));
            }
            refuse_misspelt(members.iter().map(|(name, _)| name.as_str()), &["doc_ids", "selector"])?;
            for (name, used) in [("doc_ids", "_doc_ids"), ("view", "_view")] {
                if query.get(name).is_some() {
                    return Err(ApiError::bad_request(format!("\"{name}\" is used with filter={used}.")));
                }
            }
            match member(members, "doc_ids") {
                Some(ids) => ids_of(ids),
                None => Ok(Filter::All),
            }
        }
        Some("_doc_ids") => match (member(members, "doc_ids"), query.get("doc_ids")) {
            (Some(ids), _) => ids_of(ids),
            (None, Some(text)) => ids_of(serde_json::from_str(text).map_err(|_| ApiError::bad_json())?),
            (None, None) => Err(ApiError::bad_request("`doc_ids` filter parameter is not a list of doc ids.")),
        },
        Some("_design") => Ok(Filter::Design),
        Some("_selector") => {
            let selector = member(members, "selector");
            let selector =
                selector.ok_or_else(|| ApiError::bad_request("Selector must be specified in POST payload"))?;
            if !selector.get().starts_with('{') {
                return Err(ApiError::bad_request("Selector error: expected a JSON object"));
            }
            // CouchDB tells of what is wrong in a feed's selector with one word for all.
            let selector = Selector::from_json(selector.get());
            let selector = selector.map_err(|error| ApiError::bad_request(ApiError::from(error).reason))?;
            let test = Arc::new(selector.test(Collation::Unicode));
            let fields = member(members, "fields").filter(|value| value.get() != "null").map(Fields::from_json);
            Ok(Filter::Selector(selector, test, fields.transpose()?.flatten().map(Arc::new)))
        }
        Some(name) => function(name, query, request, db),
    }
}

/// The filter function that is named, or the map function of the view.
fn function(name: &str, query: &Query, request: &Functional<'_>, db: &Database) -> Result<Filter> {
    let by_view = name == "_view";
    let named = if by_view { query.get("view").unwrap_or_default() } else { name };
    let parts = named
        .split_once('/')
        .filter(|(design, name)| !design.is_empty() && !name.is_empty() && (by_view || !name.contains('/')));
    let Some((design, name)) = parts else {
        return Err(ApiError::bad_request(if by_view {
            "`view` filter parameter is not provided."
        } else if name.starts_with('_') {
            "unknown builtin filter name"
        } else {
            "`filter` must be of the form `designname/filtername`"
        }));
    };
    let own = functions::design(db, &format!("_design/{design}"))?;
    let path = if by_view { vec!["views", name, "map"] } else { vec!["filters", name] };
    let whole =
        path.split_first().and_then(|(first, rest)| rest.iter().try_fold(own.get(first)?, |at, name| at.get(name)));
    if whole.is_none() {
        let reason = format!("missing json key: {}", if own.get(path[0]).is_none() { path[0] } else { name });
        return Err(ApiError::new(http::StatusCode::NOT_FOUND, "not_found", reason));
    }
    let (script, req) = request(&format!("_design/{design}"))?;
    let path = serde_json::json!(path).to_string();
    Ok(Filter::Function(Arc::new(FilterFunction { script, path, req })))
}

/// From a function's name to its design document's functions and the request object.
type Functional<'f> = dyn Fn(&str) -> Result<(Script, String)> + 'f;

fn ids_of(value: &RawValue) -> Result<Filter> {
    let bad = || ApiError::bad_request("`doc_ids` filter parameter is not a list of doc ids.");
    let ids = elements(value)?.ok_or_else(bad)?;
    if ids.len() > DOC_IDS_MAX {
        return Err(ApiError::bad_request(format!("`doc_ids` has {DOC_IDS_MAX} elements at most")));
    }
    let mut known = HashSet::new();
    let mut unique = Vec::with_capacity(ids.len());
    for id in ids {
        let id: String = serde_json::from_str(id.get()).map_err(|_| bad())?;
        if known.insert(id.clone()) {
            unique.push(id);
        }
    }
    Ok(Filter::Ids(unique))
}
