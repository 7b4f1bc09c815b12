//! The guard of `_users`: every request for it passes here. Its documents are read and written by their owner and by
//! admins, and made by any member; everything else in it is for its admins. A document is validated and its password
//! hashed before an endpoint sees it, so that no endpoint can store a password.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use http::Method;
use http::header::{CONTENT_TYPE, IF_MATCH};
use http::request::Parts;
use recension::CollectionAt;
use recension::json::quote;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::databases::Database;
use super::proof::Granted;
use super::session::{Access, Session, authorize};
use super::standing::Place;
use super::users::{DATABASE, PREFIX, validate};
use crate::identity::password::Verifier;
use crate::identity::random::new_uuid;
use recension_wire::error::{ApiError, Result};
use recension_wire::head::{header, require_json};
use recension_wire::members::{distinct_members_of, rewritten};
use recension_wire::query::Query;
use recension_wire::request_body::RequestBody;
use recension_wire::route::Target;

/// The session that asks, and its rights in `_users`.
struct Guard<'s> {
    session: &'s Session,
    now: CollectionAt,
    admin: bool,
    member: Result<()>,
}

/// A request, as far as the guard looks at it.
pub struct GuardedRequest<'r> {
    pub head: &'r Parts,
    pub query: &'r Query,
    pub body: &'r mut RequestBody,
}

impl GuardedRequest<'_> {
    /// The whole body, within the bound of the settings.
    pub(super) async fn bytes(&mut self, session: &Session) -> Result<Bytes> {
        let max = session.realm.settings.live().max_request_size;
        self.body.bytes_up_to(&self.head.headers, max).await
    }
}

/// Lets requests for other databases pass; for `_users`, changes bodies and marks the session as let in, or refuses.
pub async fn pass(mut asked: GuardedRequest<'_>, session: &mut Session, target: &Target<'_>) -> Result<()> {
    let method = asked.head.method.clone();
    let reads = matches!(method, Method::GET | Method::HEAD);
    match target {
        // A database is made and dropped by server admins.
        Target::Database { db } if db == DATABASE && method != Method::POST => return Ok(()),
        Target::Database { db }
        | Target::Special { db, .. }
        | Target::Document { db, .. }
        | Target::OfDocument { db, .. }
            if db == DATABASE => {}
        _ => return Ok(()),
    }
    let guard = Guard::of(session)?;
    match target {
        Target::Database { .. } => {
            require_json(asked.head)?;
            let body = asked.bytes(guard.session).await?;
            let mut document = object(&body)?;
            let id = document.get("_id").and_then(Value::as_str).unwrap_or_default().to_owned();
            if !(guard.admin && id.starts_with("_design/")) {
                guard.may_write(&id)?;
                guard.written(&asked, &id, &mut document).await?;
            }
            asked.body.replace(rewritten(&body, &document)?.into());
        }
        Target::Special { name, .. } if name == "_bulk_docs" && guard.admin => {
            let refused = guard.bulk(&mut asked).await?;
            session.refused = Some(Arc::new(refused));
            return Ok(());
        }
        Target::Document { id, .. } | Target::OfDocument { id, .. } if !id.starts_with(PREFIX) => {
            // Design and local documents. Any other id is refused when it is written.
            let own = id.starts_with("_design/") || id.starts_with("_local/");
            if !own && !reads && method != Method::DELETE {
                return Err(ApiError::forbidden("Doc ID must be of the form org.couchdb.user:name"));
            }
            return Ok(());
        }
        Target::OfDocument { name, .. } if name.starts_with('_') => {
            // Endpoints beyond CouchDB show the past, and so old hashes.
            return if reads { Ok(()) } else { Err(ApiError::method_not_allowed("GET,HEAD")) };
        }
        Target::Document { id, .. } => match method.as_str() {
            "GET" | "HEAD" | "DELETE" => {
                guard.may_see(id)?;
                guard.sees_the_present(&asked, id)?;
            }
            "PUT" => {
                guard.may_write(id)?;
                let content_type = header(asked.head, CONTENT_TYPE).unwrap_or_default();
                if content_type.trim_start().to_ascii_lowercase().starts_with("multipart/") {
                    return Err(ApiError::content_type_not_json());
                }
                let body = asked.bytes(guard.session).await?;
                let mut document = object(&body)?;
                guard.written(&asked, id, &mut document).await?;
                asked.body.replace(rewritten(&body, &document)?.into());
            }
            _ => return Err(ApiError::method_not_allowed("DELETE,GET,HEAD,PUT")),
        },
        Target::OfDocument { id, .. } => {
            guard.may_see(id)?;
            guard.sees_the_present(&asked, id)?;
        }
        // Session::database lets only admins use the rest: lists, feeds, and endpoints of the database.
        _ => return Ok(()),
    }
    session.lets_into_users = true;
    Ok(())
}

/// `_users` for who asks, and whether they are a member of it.
pub(super) fn opened(session: &Session) -> Result<(Database, Result<()>)> {
    let db = session.realm.databases.open(DATABASE, Granted::checked())?;
    let security = db.security()?;
    let member = authorize(&session.identity, &security, Access::Member);
    Ok((db.with_writer(security.is_admin(&session.identity), Arc::clone(&session.identity), None), member))
}

impl<'s> Guard<'s> {
    fn of(session: &'s Session) -> Result<Self> {
        let (db, member) = opened(session)?;
        if let Some(entered) = &session.entered {
            entered.database(&db, Place::users(&db, member.is_ok()))?;
        }
        Ok(Guard { session, now: db.now()?, admin: db.is_admins(), member })
    }

    fn is_own(&self, id: &str) -> bool {
        id.strip_prefix(PREFIX).is_some_and(|name| self.session.identity.name.as_deref() == Some(name))
    }

    /// Whether the user may see a document. For members, others' documents do not exist.
    fn may_see(&self, id: &str) -> Result<()> {
        if self.admin || self.is_own(id) {
            return Ok(());
        }
        self.member.clone().and(Err(ApiError::missing()))
    }

    /// Refuses the past of a document to its user: the name may have been somebody else's.
    fn sees_the_present(&self, asked: &GuardedRequest<'_>, id: &str) -> Result<()> {
        let reads = matches!(asked.head.method, Method::GET | Method::HEAD);
        if self.admin || !reads {
            return Ok(());
        }
        if asked.query.get("at").or(asked.query.get("open_revs")).is_some() {
            return Err(ApiError::forbidden("The past of a user's document is for admins."));
        }
        match asked.query.get("rev") {
            Some(rev) if self.current(id)?.is_none_or(|(current, _)| current != rev) => Err(ApiError::missing()),
            _ => Ok(()),
        }
    }

    /// Whether a document may be written or made, before its content is looked at.
    fn may_write(&self, id: &str) -> Result<()> {
        if self.admin || self.is_own(id) {
            return Ok(());
        }
        self.member.clone()?;
        match self.current(id)? {
            Some(_) => Err(ApiError::missing()),
            None => Ok(()),
        }
    }

    fn current(&self, id: &str) -> Result<Option<(String, Map<String, Value>)>> {
        if !id.starts_with(PREFIX) {
            return Ok(None);
        }
        let found = self.now.current(id)?.filter(|document| !document.deleted);
        let read = |document: recension::Document<'_>| {
            (document.rev.to_string(), serde_json::from_str(&document.body).unwrap_or_default())
        };
        Ok(found.map(read))
    }

    /// Validates a document and hashes its password.
    async fn written(&self, asked: &GuardedRequest<'_>, id: &str, document: &mut Map<String, Value>) -> Result<()> {
        let current = self.current(id)?;
        if !self.admin {
            if asked.query.get("new_edits") == Some("false") {
                return Err(ApiError::forbidden("You are not a db or server admin."));
            }
            // The validated revision is the one that is overwritten: a write to another revision is a conflict anyhow.
            let named = document.get("_rev").and_then(Value::as_str).or_else(|| asked.query.get("rev"));
            let named = named.or_else(|| header(asked.head, IF_MATCH).map(|tag| tag.trim().trim_matches('"')));
            if current.as_ref().is_some_and(|(rev, _)| named != Some(rev)) {
                return Err(ApiError::conflict());
            }
        }
        validate(id, document, current.as_ref().map(|(_, old)| old), &self.session.identity, self.admin)?;
        self.hash(document).await
    }

    async fn hash(&self, document: &mut Map<String, Value>) -> Result<()> {
        let Some(Value::String(password)) = document.get("password").cloned() else { return Ok(()) };
        let realm = &self.session.realm;
        let iterations = realm.settings.live().password_iterations;
        let make = move || Verifier::make(&password, new_uuid(), iterations);
        realm.credentials.hash(make).await?.put_into(document);
        Ok(())
    }

    /// Validates and hashes every document of a `_bulk_docs`. Returns the refused ones.
    async fn bulk(&self, asked: &mut GuardedRequest<'_>) -> Result<BTreeMap<String, ApiError>> {
        require_json(asked.head)?;
        let body = asked.bytes(self.session).await?;
        let (mut parts, mut refused) = (Vec::new(), BTreeMap::new());
        for (name, value) in distinct_members_of(&body)? {
            let text = match serde_json::from_str::<Vec<&RawValue>>(value.get()) {
                Ok(documents) if name == "docs" => self.all(&documents, &mut refused).await?,
                _ => value.get().to_owned(),
            };
            parts.push(format!("{}:{text}", quote(&name)));
        }
        asked.body.replace(format!("{{{}}}", parts.join(",")).into());
        Ok(refused)
    }

    /// The same for its documents; returns their array.
    async fn all(&self, documents: &[&RawValue], refused: &mut BTreeMap<String, ApiError>) -> Result<String> {
        let mut all = Vec::with_capacity(documents.len());
        for text in documents.iter().map(|document| document.get()) {
            let mut document = object(text.as_bytes())?;
            let Some(id) = document.get("_id").and_then(Value::as_str).map(str::to_owned) else {
                return Err(ApiError::forbidden("Doc ID must be of the form org.couchdb.user:name"));
            };
            if !(id.starts_with("_design/") || id.starts_with("_local/")) {
                let old = self.current(&id)?.map(|(_, old)| old);
                match validate(&id, &document, old.as_ref(), &self.session.identity, self.admin) {
                    Ok(()) => self.hash(&mut document).await?,
                    Err(error) => drop(refused.insert(id, error)),
                }
            }
            all.push(rewritten(text.as_bytes(), &document)?);
        }
        Ok(format!("[{}]", all.join(",")))
    }
}

/// A body that has to be an object. Endpoints get a body that is made from what was read here, so that both read the
/// same.
fn object(body: &[u8]) -> Result<Map<String, Value>> {
    match serde_json::from_slice(body) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(ApiError::not_a_document()),
        Err(_) => Err(ApiError::bad_json()),
    }
}
