//! The specification of a replication, from a body of `_replicate` or a document of `_replicator`. It has credentials,
//! and therefore no `Debug`.

use std::collections::BTreeMap;

use recension::conditions::similar;
use recension::{ChangeFilter, Collation, Query, Selector};
use recension_replicate::{End, Http, HttpOptions, Local, Options};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::refusal;
use crate::auth::ServerAdmin;
use crate::auth::databases::Databases;
use recension_wire::error::{ApiError, Result};
use recension_wire::members::{Members, member, members_of, refuse_repeated};

/// A side: a URL or the name of a database of this server, with credentials.
#[derive(Clone, PartialEq, Eq)]
struct Side {
    url: String,
    headers: Vec<(String, String)>,
    password: Option<(String, String)>,
}

/// A replication.
#[derive(Clone, PartialEq, Eq)]
pub struct Spec {
    source: Side,
    target: Side,
    pub options: Options,
}

/// A body of `_replicate`.
pub struct ReplicateRequest {
    /// The replication; an error if one is only to be cancelled by its id.
    pub spec: Result<Spec>,
    pub cancel: bool,
    /// The id of the one to cancel.
    pub id: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum SideForm {
    Url(String),
    Object {
        url: String,
        #[serde(default)]
        headers: BTreeMap<String, String>,
        #[serde(default)]
        auth: Auth,
    },
}

#[derive(Deserialize, Default)]
struct Auth {
    basic: Option<Basic>,
}

#[derive(Deserialize)]
struct Basic {
    username: String,
    password: String,
}

#[derive(Deserialize)]
struct Form {
    source: Option<Box<RawValue>>,
    target: Option<Box<RawValue>>,
    #[serde(default)]
    create_target: bool,
    #[serde(default)]
    continuous: bool,
    #[serde(default)]
    cancel: bool,
    doc_ids: Option<Vec<String>>,
    selector: Option<Box<RawValue>>,
    filter: Option<String>,
    query_params: Option<BTreeMap<String, Value>>,
    since_seq: Option<Value>,
    use_checkpoints: Option<bool>,
    worker_batch_size: Option<usize>,
    #[serde(alias = "_local_id", alias = "id")]
    replication_id: Option<String>,
}

fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Refuses a member of an object that would be ignored: a side would be asked as nobody.
fn only_known(what: &str, text: &str, known: &[&str]) -> Result<()> {
    match members_of(text.as_bytes())?.iter().find(|(name, _)| !known.contains(&name.as_str())) {
        None => Ok(()),
        Some((name, _)) => {
            Err(ApiError::bad_request(format!("`{what}` has no member `{name}`; it has {}", known.join(", "))))
        }
    }
}

fn side(name: &str, form: Option<&RawValue>) -> Result<Side> {
    let bad = || ApiError::bad_request(format!("`{name}` must be a URL, a database's name, or an object with a `url`"));
    let form = form.ok_or_else(|| ApiError::bad_request(format!("Missing `{name}`")))?;
    if form.get().starts_with('{') {
        only_known(name, form.get(), &["url", "headers", "auth"])?;
        if let Some(auth) = member(&members_of(form.get().as_bytes())?, "auth").filter(|auth| auth.get() != "null") {
            only_known(&format!("auth of {name}"), auth.get(), &["basic"])?;
        }
    }
    let form: SideForm = serde_json::from_str(form.get()).map_err(|_| bad())?;
    let side = match form {
        SideForm::Url(url) => Side { url, headers: Vec::new(), password: None },
        SideForm::Object { url, headers, auth } => Side {
            url,
            headers: headers.into_iter().collect(),
            password: auth.basic.map(|Basic { username, password }| (username, password)),
        },
    };
    if side.url.is_empty() { Err(bad()) } else { Ok(side) }
}

/// What a replication may have. Those of CouchDB that only say how fast it goes are taken, and mean nothing.
const NAMES: [&str; 25] = [
    "_local_id",
    "cancel",
    "checkpoint_interval",
    "connection_timeout",
    "continuous",
    "create_target",
    "doc_ids",
    "filter",
    "http_connections",
    "id",
    "owner",
    "query_params",
    "replication_id",
    "retries_per_request",
    "selector",
    "since_seq",
    "socket_options",
    "source",
    "target",
    "use_bulk_get",
    "use_checkpoints",
    "user_ctx",
    "worker_batch_size",
    "worker_processes",
    "worker_buffer_size",
];

/// The names of one of them, which is the id of a replication.
const IDS: [&str; 3] = ["replication_id", "_local_id", "id"];

/// What CouchDB's replications may have, and these do not: without it they would not do what was asked.
const NOT_THERE: [&str; 5] = ["create_target_params", "proxy", "source_proxy", "target_proxy", "winning_revs_only"];

/// Where a specification stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In a body of `_replicate`, which has nothing else.
    Body,
    /// In a document of `_replicator`, where people note other things too.
    Document,
}

/// Refuses a member that would be ignored, so that more, or something else, would be replicated than was asked for.
fn check_names(members: &Members<'_>, place: Place) -> Result<()> {
    let says_nothing = |value: &RawValue| matches!(value.get(), "null" | "false" | "\"\"" | "{}");
    let is_size = |name: &str, value: &RawValue| name == "create_target_params" && !value.get().contains("partitioned");
    for (name, value) in members {
        if is_size(name, value) {
            continue;
        }
        if NOT_THERE.contains(&name.as_str()) && !says_nothing(value) {
            return Err(ApiError::bad_request(format!("`{name}`: replications of this server do not have it")));
        }
        if NAMES.contains(&name.as_str()) || NOT_THERE.contains(&name.as_str()) {
            continue;
        }
        let meant = similar(name, NAMES.into_iter());
        let is_own = name.starts_with('_') || meant.is_none();
        if place == Place::Body || !is_own {
            let meant = meant.map_or(String::new(), |meant| format!("; perhaps `{meant}` is meant"));
            return Err(ApiError::bad_request(format!("A replication has no member `{name}`{meant}")));
        }
    }
    Ok(())
}

/// Refuses a member of another type, in CouchDB's words.
fn check_types(members: &Members<'_>) -> Result<()> {
    for (names, first, kind) in [
        (&["doc_ids"][..], &['['][..], "an array"),
        (&["selector", "query_params"], &['{'], "a JSON object"),
        (&["continuous", "create_target", "cancel", "use_checkpoints"], &['t', 'f'], "a boolean"),
        (&["filter"], &['"'], "a string"),
    ] {
        for (name, value) in members.iter().filter(|(name, _)| names.contains(&name.as_str())) {
            if value.get() != "null" && !value.get().starts_with(first) {
                return Err(ApiError::bad_request(format!("parameter `{name}` must be {kind}")));
            }
        }
    }
    Ok(())
}

impl ReplicateRequest {
    /// Reads a body.
    pub fn parse(body: &[u8], place: Place) -> Result<Self> {
        if body.is_empty() {
            return Err(ApiError::bad_request("Missing request body"));
        }
        if serde_json::from_slice::<serde::de::IgnoredAny>(body).is_err() {
            return Err(ApiError::bad_json());
        }
        let members = members_of(body)?;
        refuse_repeated(body)?;
        let ids = members.iter().filter(|(name, _)| IDS.contains(&name.as_str()));
        if ids.count() > 1 {
            let reason = format!("replication_id is there twice: of {}, give one", IDS.join(", "));
            return Err(ApiError::bad_request(reason));
        }
        check_types(&members)?;
        // The parser's message may quote a password.
        let form: Form = match serde_json::from_slice(body) {
            Ok(form) => form,
            Err(error) => {
                let (line, column) = (error.line(), error.column());
                let reason = format!("The replication does not read: see line {line}, column {column}");
                return Err(ApiError::bad_request(reason));
            }
        };
        check_names(&members, place)?;
        let (cancel, id) = (form.cancel, form.replication_id.clone());
        Ok(ReplicateRequest { spec: Spec::of(form), cancel, id })
    }
}

impl Spec {
    fn of(form: Form) -> Result<Self> {
        let (source, target) = (side("source", form.source.as_deref())?, side("target", form.target.as_deref())?);
        let defaults = Options::default();
        let params = form.query_params.unwrap_or_default();
        let options = Options {
            live: form.continuous,
            doc_ids: form.doc_ids,
            selector: form.selector.map(|text| text.get().to_owned()),
            filter: form.filter.filter(|name| !name.is_empty()),
            query_params: params.iter().map(|(name, value)| (name.clone(), text_of(value))).collect(),
            since: form.since_seq.as_ref().map(text_of),
            create_target: form.create_target,
            checkpoints: form.use_checkpoints.unwrap_or(true),
            batch: form.worker_batch_size.map_or(defaults.batch, |batch| batch.clamp(1, defaults.batch)),
        };
        Ok(Spec { source, target, options })
    }

    /// Its two sides. A database of this server needs the proof.
    ///
    /// # Errors
    /// 400 for an invalid side, 403 without the proof, 404 if a database of this server is not there.
    pub(super) fn ends(
        &self,
        databases: &Databases,
        uuid: &str,
        proof: Option<ServerAdmin>,
    ) -> Result<(Box<dyn End>, Box<dyn End>)> {
        let source = self.source.end((databases, uuid), proof, (false, self.options.selector.as_deref()))?;
        let target = self.target.end((databases, uuid), proof, (self.options.create_target, None))?;
        Ok((source, target))
    }

    /// The sides for people to see.
    pub fn shown(&self) -> (String, String) {
        let shown = |side: &Side| recension_replicate::without_credentials(&side.url);
        (shown(&self.source), shown(&self.target))
    }
}

impl Side {
    fn end(
        &self,
        (databases, uuid): (&Databases, &str),
        proof: Option<ServerAdmin>,
        (create, selector): (bool, Option<&str>),
    ) -> Result<Box<dyn End>> {
        if self.url.contains("://") {
            let options = HttpOptions { headers: self.headers.clone(), ..HttpOptions::default() };
            let end = match &self.password {
                Some((name, password)) => Http::with_password(&self.url, name, password, options),
                None => Http::new(&self.url, options),
            };
            return Ok(Box::new(end.map_err(refusal)?));
        }
        let Some(proof) = proof else {
            return Err(ApiError::forbidden(
                "Databases of this server are replicated by their names only if none but server admins can write to \
                 _replicator; give their URLs, with a name and a password",
            ));
        };
        let name = &self.url;
        if name.starts_with('_') {
            return Err(ApiError::forbidden("Databases of the system are replicated by their URLs only."));
        }
        if create {
            match databases.create(name, &[], proof) {
                Err(error) if error.error == "file_exists" => {}
                done => done?,
            }
        }
        let database = databases.served(name, proof).map_err(|error| {
            let reason = format!("could not open {name}");
            if error.error == "not_found" { ApiError::new(error.status, "db_not_found", reason) } else { error }
        })?;
        let local = Local::new(database.share()).identified(format!("{uuid}/{name}"));
        let local = match selector {
            Some(selector) => {
                let selected = Selector::from_json(selector)?.test(Collation::Unicode);
                let every = ChangeFilter::matching(Query::new())?;
                local.filtered(every.testing(move |own| selected.selects(own)))
            }
            None => local,
        };
        Ok(Box::new(local.refusing(move |id| database.may_write(id).err().map(|error| error.reason.into_owned()))))
    }
}
