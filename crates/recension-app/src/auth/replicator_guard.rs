//! Who writes a document of `_replicator` owns it, as in CouchDB: a document that no server admin writes says so before
//! an endpoint sees it. That nobody reads or writes those of others is the database's access rule
//! (`databases/first.rs`). Its replication goes on as long as its owner may write such a document.

use std::sync::Arc;

use http::Method;
use parking_lot::Mutex;
use recension::json::quote;
use serde_json::Value;
use serde_json::value::RawValue;

use super::databases::Database;
use super::entered::Moment;
use super::proof::{Granted, ServerAdmin};
use super::realm::Realm;
use super::session::{Access, Session, authorize};
use super::users;
use super::users_guard::GuardedRequest;
use crate::identity::Identity;
use recension_wire::error::{ApiError, Result};
use recension_wire::members::{member, members_of};
use recension_wire::route::{REPLICATOR, Target};

/// Lets requests for other databases pass, and of server admins.
pub async fn pass(mut asked: GuardedRequest<'_>, session: &Session, target: &Target<'_>) -> Result<()> {
    let note: fn(&[u8], &str) -> Option<Vec<u8>> = match (target, &asked.head.method) {
        (Target::Document { db, id }, &Method::PUT) if db == REPLICATOR && !id.starts_with('_') => owned,
        (Target::Database { db }, &Method::POST) if db == REPLICATOR => owned,
        (Target::Special { db, name, .. }, &Method::POST) if db == REPLICATOR && name == "_bulk_docs" => all_owned,
        _ => return Ok(()),
    };
    if session.identity().is_server_admin() {
        return Ok(());
    }
    // What nobody wrote is nobody's: it has not the rights of a server admin later.
    let name = session.identity().name.as_deref().map_or_else(|| "null".to_owned(), quote);
    let body = asked.bytes(session).await?;
    let owned = note(&body, &name).map(Into::into);
    asked.body.replace(owned.unwrap_or(body));
    Ok(())
}

/// The text of a document with an owner, if it has none.
fn owned(document: &[u8], owner: &str) -> Option<Vec<u8>> {
    let members = members_of(document).ok()?;
    if member(&members, "owner").is_some() {
        return None;
    }
    let open = document.iter().position(|byte| *byte == b'{')?;
    let (before, rest) = document.split_at(open + 1);
    let comma = if members.is_empty() { "" } else { "," };
    Some([before, format!("\"owner\":{owner}{comma}").as_bytes(), rest].concat())
}

/// The same for the documents of `_bulk_docs`. Revisions of other servers stay as they are: their ids are of their
/// contents.
fn all_owned(body: &[u8], owner: &str) -> Option<Vec<u8>> {
    let members = members_of(body).ok()?;
    if members.iter().any(|(name, value)| name == "new_edits" && value.get() != "true") {
        return None;
    }
    let own = |document: &RawValue| {
        let text = document.get();
        let members = members_of(text.as_bytes()).unwrap_or_default();
        let id = member(&members, "_id").and_then(|id| serde_json::from_str::<String>(id.get()).ok());
        let is_of_system = id.is_some_and(|id| id.starts_with('_'));
        let owned = if is_of_system { None } else { owned(text.as_bytes(), owner) };
        owned.unwrap_or_else(|| text.as_bytes().to_vec())
    };
    let mut parts = Vec::with_capacity(members.len());
    for (name, value) in &members {
        let value = match serde_json::from_str::<Vec<&RawValue>>(value.get()) {
            Ok(documents) if name == "docs" => {
                [b"[".as_slice(), &documents.into_iter().map(own).collect::<Vec<_>>().join(&b","[..]), b"]"].concat()
            }
            _ => value.get().as_bytes().to_vec(),
        };
        parts.push([quote(name).as_bytes(), b":", &value].concat());
    }
    Some([b"{".as_slice(), &parts.join(&b","[..]), b"}"].concat())
}

/// Whose a document is that asks for a replication.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DocumentOwner {
    /// A server admin wrote it: it is the server's own, as a setting is.
    Server,
    /// Somebody's, or nobody's.
    Of(Option<String>),
}

impl DocumentOwner {
    /// By the member `owner` of the document.
    pub fn of(owner: Option<&Value>) -> Self {
        owner.map_or(DocumentOwner::Server, |owner| DocumentOwner::Of(owner.as_str().map(str::to_owned)))
    }

    /// The name.
    pub fn name(&self) -> Option<String> {
        match self {
            DocumentOwner::Server => None,
            DocumentOwner::Of(name) => name.clone(),
        }
    }

    /// What asks for them again. If nothing in the store and the settings has changed, that is a comparison.
    pub fn asks(self, realm: &Arc<Realm>) -> impl Fn() -> Result<()> + Send + Sync + 'static {
        let (realm, held) = (Arc::clone(realm), Mutex::new(None::<Moment>));
        move || {
            let now = Moment::of(&realm);
            let mut held = held.lock();
            if !held.as_ref().is_some_and(|held| held.is_as(&now)) {
                self.rights(&realm)?;
                *held = Some(now);
            }
            Ok(())
        }
    }

    /// The rights of now: the proof, if the replication may do what server admins may. That is so if none but they can
    /// write to the database.
    ///
    /// # Errors
    /// The refusal of a request of the owner's that would write the document now.
    pub fn rights(&self, realm: &Realm) -> Result<Option<ServerAdmin>> {
        let database = replicator(realm)?.ok_or_else(ApiError::no_database)?;
        let security = database.security()?;
        let is_served = match self {
            DocumentOwner::Server => true,
            DocumentOwner::Of(name) => {
                let identity = identity_now(realm, name.as_deref())?;
                authorize(&identity, &security, Access::Member)?;
                identity.is_server_admin()
            }
        };
        Ok((is_served && security.is_of_server_admins()).then(ServerAdmin::checked))
    }
}

/// Who has a name now. Who is known by tokens of others alone has no account, and no roles here.
fn identity_now(realm: &Realm, name: Option<&str>) -> Result<Identity> {
    let Some(name) = name else { return Ok(Identity::default()) };
    match users::find(realm, name)? {
        Some(account) => Ok((*account.identity).clone()),
        None if realm.settings.live().jwt.is_empty() => {
            Err(ApiError::forbidden(format!("its owner {name:?} has no account here")))
        }
        None => Ok(Identity { name: Some(name.to_owned()), roles: Vec::new() }),
    }
}

/// The database whose documents ask for replications; `None` if there is none.
pub fn replicator(realm: &Realm) -> Result<Option<Database>> {
    match realm.databases.open(REPLICATOR, Granted::checked()) {
        Err(error) if error == ApiError::no_database() => Ok(None),
        database => database.map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_get_an_owner_where_they_have_none() {
        let bulk = |body: &str| all_owned(body.as_bytes(), r#""ada""#).map(|text| String::from_utf8(text).unwrap());
        let body = r#"{"docs": [{"a":1e400}, {}, {"owner":"b"}, {"_id":"_design/x"}, 1], "w":1}"#;
        let whole = r#"{"docs":[{"owner":"ada","a":1e400},{"owner":"ada"},{"owner":"b"},{"_id":"_design/x"},1],"w":1}"#;
        assert_eq!(bulk(body).as_deref(), Some(whole));
        for same in [r#"{"docs":[{}],"new_edits":false}"#, "[", r#"{"docs":[{}],"new_edits":true,"new_edits":0}"#] {
            assert_eq!(bulk(same), None, "{same}");
        }
        assert_eq!(owned(b" { \"a\":1}", "null").as_deref(), Some(&br#" {"owner":null, "a":1}"#[..]));
    }
}
