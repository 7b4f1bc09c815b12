//! What a feed of changes is asked for, read from the query, the body and a header.

use std::collections::HashSet;
use std::sync::Arc;

use http::{HeaderName, Method};
use recension::document::{Change, ChangeFilter, CollectionAt, Document, Position};
use serde_json::value::RawValue;

use super::body::{elements, member, members_of};
use super::feed::{Feed, Patience};
use super::inline::Inline;
use super::selector::Selector;
use crate::databases::Database;
use crate::error::{ApiError, Result};
use crate::limits::DOC_IDS_MAX;
use crate::query::Query;
use crate::request::Request;

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
    Selector(Arc<Selector>),
}

impl Filter {
    /// The documents that are asked for by id.
    pub(crate) fn ids(&self) -> Option<&[String]> {
        match self {
            Filter::Ids(ids) => Some(ids),
            _ => None,
        }
    }

    /// A way around reading every change, where there is one: documents are looked up by their ids, or found through an
    /// index. The changes that come so need no test any more.
    pub(crate) fn around(&self, at: &CollectionAt) -> Result<Option<ChangeFilter>> {
        Ok(match self {
            Filter::Ids(ids) => Some(ChangeFilter::ids(ids)?),
            Filter::Selector(selector) if !at.indexes().is_empty() => match selector.query() {
                // Without an index the feed is read here, with a pause between two pages.
                Some(query) if at.explain(&query)?.index.is_some() => {
                    let selector = Arc::clone(selector);
                    let test = move |document: &Document<'_>| {
                        selector.matches(&document.id, &document.rev.to_string(), document.deleted, &document.body)
                    };
                    Some(ChangeFilter::matching(query)?.testing(test))
                }
                _ => None,
            },
            _ => None,
        })
    }

    /// Whether the feed has a change.
    pub(crate) fn takes(&self, at: &CollectionAt, change: &Change) -> Result<bool> {
        match self {
            Filter::All | Filter::Ids(_) => Ok(true),
            Filter::Design => Ok(change.id.starts_with("_design/")),
            Filter::Selector(selector) => match at.current(&change.id)? {
                Some(document) => {
                    Ok(selector.matches(&document.id, &document.rev.to_string(), document.deleted, &document.body))
                }
                None => Ok(false),
            },
        }
    }
}

/// What a feed is asked for.
#[derive(Clone, Debug)]
pub(crate) struct ChangesQuery {
    pub(crate) feed: Feed,
    /// `None`: now.
    pub(crate) since: Option<Position>,
    pub(crate) limit: u64,
    pub(crate) descending: bool,
    pub(crate) style: Style,
    pub(crate) include_docs: bool,
    pub(crate) conflicts: bool,
    pub(crate) inline: Inline,
    pub(crate) filter: Filter,
    pub(crate) patience: Patience,
    /// Every how many rows one has a seq.
    pub(crate) seq_interval: u64,
}

impl ChangesQuery {
    /// From a request.
    pub(crate) async fn of(request: &mut Request, db: &Database) -> Result<Self> {
        let body = if *request.method() == Method::POST {
            request.require_json()?;
            request.bytes().await?
        } else {
            bytes::Bytes::new()
        };
        let last_event = request.header(LAST_EVENT_ID).map(str::to_owned);
        Self::read(&request.query, &body, last_event.as_deref(), db)
    }

    fn read(query: &Query, body: &[u8], last_event: Option<&str>, db: &Database) -> Result<Self> {
        let members = if body.iter().all(u8::is_ascii_whitespace) { Vec::new() } else { members_of(body)? };
        let feed = Feed::of(query, "Supported `feed` types: normal, continuous, live, longpoll, eventsource")?;
        let style = match query.get("style") {
            None | Some("main_only") => Style::MainOnly,
            Some("all_docs") => Style::AllDocs,
            Some(_) => return Err(ApiError::bad_request("Supported `style` values: main_only, all_docs")),
        };
        let number = |name: &str| -> Result<Option<u64>> {
            let bad = |_| ApiError::bad_request(format!("Invalid value for {name}."));
            query.get(name).map(|text| text.parse().map_err(bad)).transpose()
        };
        Ok(ChangesQuery {
            feed,
            since: since(last_event.or(query.get("last-event-id")).or(query.get("since")))?,
            limit: number("limit")?.unwrap_or(u64::MAX),
            descending: query.is_true("descending"),
            style,
            include_docs: query.is_true("include_docs"),
            conflicts: query.is_true("conflicts"),
            inline: Inline::in_rows(query.is_true("attachments"), query.is_true("att_encoding_info")),
            filter: filter(query, &members, db)?,
            patience: Patience::of(query)?,
            seq_interval: number("seq_interval")?.unwrap_or(1).max(1),
        })
    }
}

/// A seq as this server gave it; also within quotes, as some clients send it. `None`: now.
pub(crate) fn since(text: Option<&str>) -> Result<Option<Position>> {
    match text.map(|text| text.trim_matches('"')) {
        Some("now") => Ok(None),
        None | Some("" | "0" | "null") => Ok(Some(Position::START)),
        Some(text) => {
            let malformed = |_| ApiError::bad_request("Malformed sequence supplied in 'since' parameter.");
            text.parse().map(Some).map_err(malformed)
        }
    }
}

fn filter(query: &Query, members: &[(String, &RawValue)], db: &Database) -> Result<Filter> {
    let members = members.to_vec();
    match query.get("filter") {
        // CouchDB takes the ids of a body without the filter's name too.
        None | Some("") => match member(&members, "doc_ids") {
            Some(ids) => ids_of(ids),
            None => Ok(Filter::All),
        },
        Some("_doc_ids") => match (member(&members, "doc_ids"), query.get("doc_ids")) {
            (Some(ids), _) => ids_of(ids),
            (None, Some(text)) => ids_of(serde_json::from_str(text).map_err(|_| ApiError::bad_json())?),
            (None, None) => Err(ApiError::bad_request("`doc_ids` filter parameter is not a list of doc ids.")),
        },
        Some("_design") => Ok(Filter::Design),
        Some("_selector") => {
            let selector = member(&members, "selector");
            let selector =
                selector.ok_or_else(|| ApiError::bad_request("Selector must be specified in POST payload"))?;
            Ok(Filter::Selector(Arc::new(Selector::parse(selector.get())?)))
        }
        Some("_view") => Err(ApiError::not_there_yet("The filter _view")),
        Some(name) => {
            let Some((design, _)) = name.split_once('/') else {
                return Err(ApiError::bad_request("filter parameter must be of the form `designname/filtername`"));
            };
            // Functions of design documents come here.
            let found = db.now()?.get(&format!("_design/{design}"))?.is_some();
            Err(if found { ApiError::not_there_yet("Filter functions") } else { ApiError::missing() })
        }
    }
}

fn ids_of(value: &RawValue) -> Result<Filter> {
    let bad = || ApiError::bad_request("`doc_ids` filter parameter is not a list of doc ids.");
    let ids = elements(value).ok_or_else(bad)?;
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
