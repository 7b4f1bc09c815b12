//! A database at a URL as a side.

mod client;
mod multipart;
mod url;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Read;

use http::Method;
use recension::json::quote;
use serde_json::value::RawValue;

pub use self::client::HttpOptions;
use self::client::{Answered, Client, FEED, LEAVES, Question};
pub use self::url::without_credentials;
use self::url::{Address, encode, path_of};
use crate::checkpoint::text_of;
use crate::control::Control;
use crate::document::Document;
use crate::end::{Changed, End, Feed, Fetched, Missing, Open, Page, Refusal, Wanted};
use crate::error::{Error, Result};
use crate::limits::{ANSWER_BYTES_MAX, DOCUMENT_ANSWER_BYTES_MAX};

/// A client of one endpoint of a server.
pub(crate) struct Poster {
    client: Client,
}

impl Poster {
    pub(crate) fn new(url: &str, options: HttpOptions) -> Result<Self> {
        Ok(Poster { client: Client::new(Address::parse(url)?, options)? })
    }

    /// Its URL, without credentials.
    pub(crate) fn end(&self) -> &str {
        &self.client.address.url
    }

    /// The bytes of the answer, as they come.
    pub(crate) fn post(&self, body: &str, control: &Control) -> Result<Box<dyn Read + Send>> {
        self.client.open_post(body, control)
    }
}

/// A database at a URL as a side of a replication.
pub struct Http {
    client: Client,
}

impl std::fmt::Debug for Http {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Http").field(&self.client.address.url).finish()
    }
}

impl Http {
    /// The database at `http[s]://[NAME:PASSWORD@]HOST[:PORT]/DATABASE`.
    ///
    /// # Errors
    /// [`Error::BadUrl`]; [`Error::Tls`] if the certificates cannot be read.
    pub fn new(url: &str, options: HttpOptions) -> Result<Self> {
        Ok(Http { client: Client::new(Address::parse(url)?, options)? })
    }

    /// The same for a name and a password that are not in the URL.
    ///
    /// # Errors
    /// As [`Http::new`].
    pub fn with_password(url: &str, name: &str, password: &str, options: HttpOptions) -> Result<Self> {
        let mut address = Address::parse(url)?;
        address.authorization = Some(self::url::basic(name, password));
        Ok(Http { client: Client::new(address, options)? })
    }

    fn read<T: serde::de::DeserializeOwned>(&self, what: &'static str, answer: &Answered) -> Result<T> {
        if !(200..300).contains(&answer.status) {
            return Err(self.client.refused(what, answer));
        }
        serde_json::from_slice(&answer.body).map_err(|error| {
            if serde_json::from_slice::<serde::de::IgnoredAny>(&answer.body).is_err() {
                return Error::NotADatabase {
                    end: self.name(),
                    found: format!("{what} with something else than JSON"),
                };
            }
            Error::NotADatabase { end: self.name(), found: format!("{what} with other JSON ({error})") }
        })
    }

    /// Fetches revisions one by one, from servers without `_bulk_get`.
    fn fetch_one(&self, wanted: &Wanted, attachments: bool, control: &Control) -> Result<Vec<Fetched>> {
        let bytes = if attachments { "&attachments=true" } else { "" };
        let path = format!(
            "{}?open_revs=%5B%22{}%22%5D&revs=true&latest=true{bytes}",
            path_of(&wanted.id),
            encode(&wanted.rev)
        );
        let answer = self.client.ask(Question::get(&path, DOCUMENT_ANSWER_BYTES_MAX), control)?;
        // It must be about the document: it could also be the database that is missing.
        let said = |reason: &str| String::from_utf8_lossy(&answer.body).contains(&format!("\"{reason}\""));
        if answer.status == 404 && (said("missing") || said("deleted")) {
            return Ok(vec![Fetched::Gone]);
        }
        let rows: Vec<Row> = self.read("a document", &answer)?;
        rows.into_iter().map(|row| self.fetched(&wanted.id, row)).collect()
    }

    fn fetched(&self, id: &str, row: Row) -> Result<Fetched> {
        if let Some(text) = row.ok {
            let found = |why| Error::NotADatabase { end: self.name(), found: why };
            return Ok(Fetched::Found(Document::parse(text.get()).map_err(found)?));
        }
        match row.error.as_ref().and_then(|error| error.error.as_deref()) {
            None | Some("not_found" | "undefined") => Ok(Fetched::Gone),
            Some("forbidden" | "unauthorized") => {
                Err(Error::Denied { end: self.name(), status: 403, reason: format!("the document {id:?}") })
            }
            Some(error) => Err(Error::Answer {
                end: self.name(),
                what: "for a document",
                status: 500,
                reason: format!("{id:?}: {error}"),
            }),
        }
    }
}

#[derive(serde::Deserialize)]
struct Row {
    ok: Option<Box<RawValue>>,
    error: Option<RowError>,
}

#[derive(serde::Deserialize)]
struct RowError {
    error: Option<String>,
}

#[derive(serde::Deserialize)]
struct Feeds {
    results: Vec<Change>,
    last_seq: serde_json::Value,
    #[serde(default)]
    pending: Option<u64>,
}

#[derive(serde::Deserialize)]
struct Change {
    id: String,
    changes: Vec<Leaf>,
}

#[derive(serde::Deserialize)]
struct Leaf {
    rev: String,
}

#[derive(serde::Deserialize)]
struct Diff {
    #[serde(default)]
    missing: Vec<String>,
    #[serde(default)]
    possible_ancestors: Vec<String>,
}

#[derive(serde::Deserialize)]
struct Results {
    results: Vec<OfDocument>,
}

#[derive(serde::Deserialize)]
struct OfDocument {
    #[serde(default)]
    id: serde_json::Value,
    docs: Vec<Row>,
}

#[derive(serde::Deserialize)]
struct Outcome {
    #[serde(default)]
    id: Option<String>,
    error: Option<String>,
    #[serde(default)]
    reason: Option<String>,
}

impl End for Http {
    fn name(&self) -> String {
        self.client.address.url.clone()
    }

    fn identity(&self) -> String {
        self.client.address.url.clone()
    }

    fn prepare(&self, create: bool, control: &Control) -> Result<()> {
        let answer = self.client.ask(Question::get("", 64 * 1024), control)?;
        if answer.status == 404 && create {
            let put = Question { method: &Method::PUT, ..Question::get("", 64 * 1024) };
            let made = self.client.ask(put, control)?;
            return match made.status {
                200..=299 | 412 => Ok(()),
                _ => Err(self.client.refused("the creation of the database", &made)),
            };
        }
        if !(200..300).contains(&answer.status) {
            return Err(self.client.refused("the request for its description", &answer));
        }
        let info: serde_json::Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        if info.get("db_name").is_none() || info.get("update_seq").is_none() {
            let found = "something that does not describe a database".to_owned();
            return Err(Error::NotADatabase { end: self.name(), found });
        }
        Ok(())
    }

    fn changes(&self, feed: Feed<'_>) -> Result<Page> {
        let options = feed.options;
        let mut path = format!("_changes?style=all_docs&since={}&limit={}", encode(feed.since), feed.limit);
        // Writing to a String cannot fail.
        let _ = match feed.wait {
            Some(wait) => write!(path, "&feed=longpoll&timeout={}", wait.as_millis()),
            None => write!(path, "&seq_interval={}", feed.limit),
        };
        let mut body = None;
        if let Some(ids) = &options.doc_ids {
            path.push_str("&filter=_doc_ids");
            body = Some(serde_json::json!({ "doc_ids": ids }).to_string());
        } else if let Some(selector) = &options.selector {
            path.push_str("&filter=_selector");
            body = Some(format!("{{\"selector\":{selector}}}"));
        } else if let Some(filter) = &options.filter {
            let _ = write!(path, "&filter={}", encode(filter));
            for (name, value) in &options.query_params {
                let _ = write!(path, "&{}={}", encode(name), encode(value));
            }
        }
        let question = match &body {
            Some(body) => Question::post(&path, body, ANSWER_BYTES_MAX),
            None => Question::get(&path, ANSWER_BYTES_MAX),
        };
        let question = Question { wait: feed.wait.unwrap_or_default(), ..question };
        let feeds: Feeds = self.read(FEED, &self.client.ask(question, feed.control)?)?;
        let caught_up = feeds.pending == Some(0) || feeds.results.len() < feed.limit;
        let changed =
            |change: Change| Changed { id: change.id, revs: change.changes.into_iter().map(|leaf| leaf.rev).collect() };
        let changes = feeds.results.into_iter().map(changed).collect();
        Ok(Page { changes, last_seq: text_of(&feeds.last_seq), caught_up, pending: feeds.pending })
    }

    fn leaves(&self, since: &str, control: &Control) -> Result<Option<Box<dyn Read + Send>>> {
        self.client.open_leaves(&format!("{LEAVES}?since={}", encode(since)), control)
    }

    fn is_empty(&self, control: &Control) -> Result<bool> {
        #[derive(serde::Deserialize)]
        struct Counts {
            doc_count: u64,
            doc_del_count: u64,
        }
        let answer = self.client.ask(Question::get("", 64 * 1024), control)?;
        let counts = serde_json::from_slice::<Counts>(&answer.body);
        Ok(answer.status == 200 && counts.is_ok_and(|counts| counts.doc_count + counts.doc_del_count == 0))
    }

    fn revs_diff(&self, changes: &[Changed], control: &Control) -> Result<Vec<Missing>> {
        let mut asked: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for change in changes {
            asked.entry(&change.id).or_default().extend(change.revs.iter().map(String::as_str));
        }
        let body = serde_json::json!(asked).to_string();
        let answer = self.client.ask(Question::post("_revs_diff", &body, ANSWER_BYTES_MAX), control)?;
        let diffs: BTreeMap<String, Diff> = self.read("_revs_diff", &answer)?;
        let missing =
            |(id, diff): (String, Diff)| Missing { id, revs: diff.missing, ancestors: diff.possible_ancestors };
        Ok(diffs.into_iter().map(missing).collect())
    }

    fn fetch(&self, wanted: &[Wanted], attachments: bool, control: &Control) -> Result<Vec<Fetched>> {
        let rows: Vec<String> = wanted
            .iter()
            .map(|Wanted { id, rev }| format!("{{\"id\":{},\"rev\":{}}}", quote(id), quote(rev)))
            .collect();
        let body = format!("{{\"docs\":[{}]}}", rows.join(","));
        let path = if attachments {
            "_bulk_get?revs=true&latest=true&attachments=true"
        } else {
            "_bulk_get?revs=true&latest=true"
        };
        let most = if wanted.len() == 1 { DOCUMENT_ANSWER_BYTES_MAX } else { ANSWER_BYTES_MAX };
        let answer = match self.client.ask(Question::post(path, &body, most), control) {
            // Fewer at a time give a shorter answer.
            Err(Error::TooLong { .. }) if wanted.len() > 1 => {
                let (first, second) = wanted.split_at(wanted.len() / 2);
                let mut fetched = self.fetch(first, attachments, control)?;
                fetched.extend(self.fetch(second, attachments, control)?);
                return Ok(fetched);
            }
            answer => answer?,
        };
        if matches!(answer.status, 400 | 404 | 405 | 501) {
            let each = wanted.iter().map(|wanted| self.fetch_one(wanted, attachments, control));
            return Ok(each.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect());
        }
        let Results { results } = self.read("_bulk_get", &answer)?;
        let rows = results.into_iter().flat_map(|of| of.docs.into_iter().map(move |row| (text_of(&of.id), row)));
        rows.map(|(id, row)| self.fetched(&id, row)).collect()
    }

    fn attachment(&self, document: &Document, name: &str, control: &Control) -> Result<Box<dyn Read + Send>> {
        let parts: Vec<String> = name.split('/').map(encode).collect();
        let path = format!("{}/{}?rev={}", path_of(&document.id), parts.join("/"), encode(&document.rev));
        self.client.open(&path, control)
    }

    fn write(&self, documents: &[Document], control: &Control) -> Result<Vec<Refusal>> {
        let texts: Vec<&str> = documents.iter().map(|document| &*document.text).collect();
        let body = format!("{{\"new_edits\":false,\"docs\":[{}]}}", texts.join(","));
        let answer = self.client.ask(Question::post("_bulk_docs", &body, ANSWER_BYTES_MAX), control)?;
        match (answer.status, documents) {
            (413, [_, _, ..]) => {
                let (first, second) = documents.split_at(documents.len() / 2);
                let mut refusals = self.write(first, control)?;
                refusals.extend(self.write(second, control)?);
                return Ok(refusals);
            }
            (413, [document]) => return Ok(vec![too_large(document)]),
            _ => {}
        }
        let outcomes: Vec<Outcome> = self.read("_bulk_docs", &answer)?;
        let mut refusals = Vec::new();
        for Outcome { id, error, reason } in outcomes {
            let Some(error) = error else { continue };
            let (id, reason) = (id.unwrap_or_default(), reason.unwrap_or_default());
            // Errors of the server itself, and not of the document, may pass.
            if matches!(
                &*error,
                "internal_server_error" | "service_unavailable" | "timeout" | "error" | "unknown_error"
            ) {
                return Err(Error::Answer {
                    end: self.name(),
                    what: "a write",
                    status: 500,
                    reason: format!("{id:?}: {error}"),
                });
            }
            refusals.push(Refusal { id, error, reason });
        }
        Ok(refusals)
    }

    fn write_attached(
        &self,
        document: &Document,
        known: u32,
        open: &Open<'_>,
        control: &Control,
    ) -> Result<Option<Refusal>> {
        let refused =
            |error: &str, reason| Ok(Some(Refusal { id: document.id.clone(), error: error.to_owned(), reason }));
        let text = match document.following(known) {
            Ok(text) => text,
            Err(reason) => return refused("doc_validation", reason),
        };
        let parts: Vec<_> = document.attachments.iter().filter(|own| own.revpos > known).collect();
        let path = format!("{}?new_edits=false", path_of(&document.id));
        let answer = self.client.again(control, || {
            let mut body = multipart::Related::new(&text, &parts, open);
            let (content_type, length) = (body.content_type(), body.length());
            let answer = self.client.put(&path, &content_type, length, &mut body);
            body.failure().map_or(answer, |error| Err(error.into()))
        })?;
        match answer.status {
            200..=299 => Ok(None),
            412 => refused("missing_stub", String::new()),
            413 => Ok(Some(too_large(document))),
            400 | 403 | 415 | 422 => {
                let reason = self.client.refused("a document", &answer).to_string();
                refused("forbidden", reason)
            }
            _ => Err(self.client.refused("a document", &answer)),
        }
    }

    fn design(&self, name: &str, control: &Control) -> Result<Option<String>> {
        let answer = self.client.ask(Question::get(&format!("_design/{}", encode(name)), ANSWER_BYTES_MAX), control)?;
        // Whoever may not read it may use its filter nevertheless.
        Ok((answer.status == 200).then(|| String::from_utf8_lossy(&answer.body).into_owned()))
    }

    fn local(&self, name: &str, control: &Control) -> Result<Option<String>> {
        let path = format!("_local/{}", encode(name));
        let answer = self.client.ask(Question::get(&path, ANSWER_BYTES_MAX), control)?;
        match answer.status {
            404 => Ok(None),
            200 => Ok(Some(String::from_utf8_lossy(&answer.body).into_owned())),
            _ => Err(self.client.refused("a checkpoint", &answer)),
        }
    }

    fn put_local(&self, name: &str, body: &str, control: &Control) -> Result<()> {
        #[derive(serde::Deserialize)]
        struct Rev {
            #[serde(rename = "_rev")]
            rev: String,
        }
        let path = format!("_local/{}", encode(name));
        for last in [false, false, true] {
            let before = self.local(name, control)?;
            let rev = before.and_then(|text| serde_json::from_str::<Rev>(&text).ok());
            let body = match &rev {
                Some(Rev { rev }) => format!("{{\"_rev\":{},{}", quote(rev), body.trim_start_matches('{')),
                None => body.to_owned(),
            };
            let question = Question { method: &Method::PUT, ..Question::post(&path, &body, 64 * 1024) };
            let answer = self.client.ask(question, control)?;
            match answer.status {
                200..=299 => return Ok(()),
                409 if !last => {}
                _ => return Err(self.client.refused("a checkpoint", &answer)),
            }
        }
        Ok(())
    }
}

fn too_large(document: &Document) -> Refusal {
    let reason = "the document is larger than the target takes".to_owned();
    Refusal { id: document.id.clone(), error: "too_large".to_owned(), reason }
}
