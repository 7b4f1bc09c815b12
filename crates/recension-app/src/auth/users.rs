//! Users: the documents of `_users`, each of which is somebody who may log in, and CouchDB's own validation of them.

use std::sync::Arc;

use recension::Document;
use recension::engine::Seq;
use serde_json::{Map, Value};

use super::databases::Database;
use super::proof::Granted;
use super::realm::Realm;
use crate::identity::Identity;
use crate::identity::password::Verifier;
use crate::settings::Live;
use recension_wire::error::{ApiError, Result};
use recension_wire::limits::{PASSWORD_BYTES_MAX, PASSWORD_ITERATIONS_MAX};

/// The database of users.
pub const DATABASE: &str = "_users";

/// What the ids of its documents begin with.
pub const PREFIX: &str = "org.couchdb.user:";

/// Somebody who can log in.
#[derive(Clone, Debug)]
pub struct Account {
    pub identity: Arc<Identity>,
    pub verifier: Verifier,
    pub(crate) basis: Basis,
}

/// The rows that an account was read from. The account holds while they are the same.
#[derive(Clone, Debug)]
pub(crate) struct Basis {
    /// The names of the server admins are in it.
    live: Arc<Live>,
    /// The commit of the user's document; none of a server admin.
    document: Option<Seq>,
}

/// The account of a name: a server admin, or else a user of `_users`. It reads a row, or two.
pub fn find(realm: &Realm, name: &str) -> Result<Option<Account>> {
    let live = realm.settings.live();
    if let Some(verifier) = live.admins.get(name) {
        let (identity, verifier) = (Arc::new(Identity::server_admin(name)), verifier.clone());
        return Ok(Some(Account { identity, verifier, basis: Basis { live, document: None } }));
    }
    let found = document(realm, name, |document| (document.seq, account(name, &document.body)))?;
    let Some((seq, Some((identity, verifier)))) = found else { return Ok(None) };
    Ok(Some(Account { identity: Arc::new(identity), verifier, basis: Basis { live, document: Some(seq) } }))
}

/// Whether an account is unchanged since it was found. It reads a row, or none.
pub(super) fn stands(realm: &Realm, Account { identity, basis, .. }: &Account) -> Result<bool> {
    if !Arc::ptr_eq(&realm.settings.live(), &basis.live) {
        return Ok(false);
    }
    match (basis.document, &identity.name) {
        (None, _) => Ok(true),
        (Some(seq), Some(name)) => Ok(document(realm, name, |document| document.seq)? == Some(seq)),
        (Some(_), None) => Ok(false),
    }
}

/// The identity of an account now; `None` if it is gone, or has another password. It reads a row, or two.
pub(super) fn still(realm: &Realm, account: &Account) -> Result<Option<Arc<Identity>>> {
    if stands(realm, account)? {
        return Ok(Some(Arc::clone(&account.identity)));
    }
    let now = account.identity.name.as_deref().map_or(Ok(None), |name| find(realm, name))?;
    Ok(now.filter(|now| now.verifier == account.verifier).map(|now| now.identity))
}

/// The commit that last wrote or deleted a user's document; `None` if there never was one. It reads no row.
pub(super) fn written_at(realm: &Realm, name: &str) -> Result<Option<Seq>> {
    match users_database(realm)? {
        Some(db) => Ok(db.opened().written_at(&format!("{PREFIX}{name}"))?),
        None => Ok(None),
    }
}

/// Reads what `wanted` takes from a user's document; `None` if there is none.
fn document<T>(realm: &Realm, name: &str, wanted: impl FnOnce(&Document<'_>) -> T) -> Result<Option<T>> {
    let id = format!("{PREFIX}{name}");
    if name.is_empty() || id.len() > recension_wire::limits::USER_ID_BYTES_MAX {
        return Ok(None);
    }
    let Some(db) = users_database(realm)? else { return Ok(None) };
    let document = db.opened().current(&id)?.filter(|document| !document.deleted);
    Ok(document.as_ref().map(wanted))
}

fn users_database(realm: &Realm) -> Result<Option<Database>> {
    match realm.databases.open(DATABASE, Granted::checked()) {
        Ok(db) => Ok(Some(db)),
        Err(error) if error == ApiError::no_database() => Ok(None),
        Err(error) => Err(error),
    }
}

/// The account that a user document describes. It gets no roles that only the server gives.
fn account(name: &str, body: &str) -> Option<(Identity, Verifier)> {
    let document: Map<String, Value> = serde_json::from_str(body).ok()?;
    if document.get("type")?.as_str()? != "user" || document.get("name")?.as_str()? != name {
        return None;
    }
    let roles = document.get("roles").and_then(Value::as_array).into_iter().flatten();
    let roles = roles.filter_map(Value::as_str).filter(|role| !role.starts_with('_')).map(str::to_owned).collect();
    let verifier = Verifier::of_document(&document)?;
    Some((Identity { name: Some(name.to_owned()), roles }, verifier))
}

/// Whether somebody may put this into `_users`: CouchDB's validation, in its order and its words.
///
/// # Errors
/// 403 with what is wrong.
pub(crate) fn validate(
    id: &str,
    new: &Map<String, Value>,
    old: Option<&Map<String, Value>>,
    writer: &Identity,
    admin: bool,
) -> Result<()> {
    let no = |reason: &'static str| Err(ApiError::forbidden(reason));
    let text = |document: &Map<String, Value>, key: &str| document.get(key).and_then(Value::as_str).map(str::to_owned);
    let old_name = old.and_then(|old| text(old, "name"));
    if new.get("_deleted") == Some(&Value::Bool(true)) {
        let own = writer.name.is_some() && writer.name == old_name;
        return if admin || own { Ok(()) } else { no("Only admins may delete other user docs.") };
    }
    if text(new, "type").as_deref() != Some("user") {
        return no("doc.type must be user");
    }
    let Some(name) = text(new, "name").filter(|name| !name.is_empty()) else { return no("doc.name is required") };
    let roles = match new.get("roles") {
        None | Some(Value::Null | Value::Bool(false)) => return no("doc.roles must exist"),
        Some(Value::Array(roles)) => roles,
        Some(_) => return no("doc.roles must be an array"),
    };
    let Some(roles) = roles.iter().map(Value::as_str).collect::<Option<Vec<_>>>() else {
        return no("doc.roles can only contain strings");
    };
    if id.strip_prefix(PREFIX) != Some(name.as_str()) {
        return no("Doc ID must be of the form org.couchdb.user:name");
    }
    if old.is_some() && old_name.as_deref() != Some(&name) {
        return no("Usernames can not be changed.");
    }
    validate_password(new)?;
    if !admin {
        match old {
            Some(_) if writer.name.as_deref() != Some(&name) => {
                return no("You may only update your own user document.");
            }
            Some(old) if !same_roles(old, &roles) => return no("Only _admin may edit roles"),
            None if !roles.is_empty() => return no("Only _admin may set roles"),
            // The names of API tokens: access rules know their bearers by them.
            None if name.starts_with("token:") => {
                return no("Only _admin may make a user whose name begins with token:");
            }
            _ => {}
        }
    }
    if roles.iter().any(|role| role.starts_with('_')) {
        return no("No system roles (starting with underscore) in users db.");
    }
    if name.starts_with('_') {
        return no("Username may not start with underscore.");
    }
    if name.contains(':') {
        return no("Character `:` is not allowed in usernames.");
    }
    Ok(())
}

fn same_roles(old: &Map<String, Value>, new: &[&str]) -> bool {
    let old = old.get("roles").and_then(Value::as_array).into_iter().flatten();
    let mut old: Vec<&str> = old.filter_map(Value::as_str).collect();
    let mut new = new.to_vec();
    old.sort_unstable();
    new.sort_unstable();
    old == new
}

fn validate_password(new: &Map<String, Value>) -> Result<()> {
    let truthy = |key: &str| !matches!(new.get(key), None | Some(Value::Null | Value::Bool(false)));
    match new.get("password") {
        None | Some(Value::Null) => {}
        Some(Value::String(password)) if password.len() <= PASSWORD_BYTES_MAX => {}
        Some(Value::String(_)) => return Err(ApiError::forbidden("Password is too long.")),
        Some(_) => return Err(ApiError::forbidden("Password must be a string.")),
    }
    if truthy("password_sha") && !truthy("salt") {
        return Err(ApiError::forbidden(
            "Users with password_sha must have a salt. See /_utils/script/couch.js for example code.",
        ));
    }
    let scheme = new.get("password_scheme").filter(|_| truthy("password_scheme"));
    match scheme.map(|scheme| scheme.as_str().unwrap_or("?")) {
        None | Some("simple" | "bcrypt") => Ok(()),
        Some("pbkdf2") => {
            let iterations = new.get("iterations");
            if !iterations.is_some_and(Value::is_number) {
                return Err(ApiError::forbidden("iterations must be a number."));
            }
            if iterations.and_then(Value::as_u64).is_none_or(|count| count > u64::from(PASSWORD_ITERATIONS_MAX)) {
                return Err(ApiError::forbidden(format!("iterations must be at most {PASSWORD_ITERATIONS_MAX}.")));
            }
            if !new.get("derived_key").is_some_and(Value::is_string) {
                return Err(ApiError::forbidden("derived_key must be a string."));
            }
            Ok(())
        }
        Some(scheme) => Err(ApiError::forbidden(format!("Password scheme `{scheme}` not supported."))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn map(value: &Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn what_may_be_written_is_what_couchdb_lets_be_written() {
        let ada = || Identity { name: Some("ada".to_owned()), roles: vec!["a".to_owned()] };
        let good = json!({"type":"user","name":"ada","roles":["a"]});
        let with = |key: &str, value: Value| {
            let mut changed = good.clone();
            changed[key] = value;
            changed
        };
        let other = json!({"type":"user","name":"bob","roles":[]});
        let old = Some(&good);
        let id = "org.couchdb.user:ada";
        // who, what is there, what is put, what comes of it
        for (admin, old, new, expected) in [
            (true, None, &good, ""),
            (true, old, &with("roles", json!(["b"])), ""),
            (false, old, &good, ""),
            (false, old, &with("password", json!("new")), ""),
            (false, old, &json!({"_deleted":true}), ""),
            (false, Some(&other), &json!({"_deleted":true}), "Only admins may delete other user docs."),
            (false, None, &json!({"_deleted":true}), "Only admins may delete other user docs."),
            (false, None, &with("roles", json!([])), ""),
            (false, None, &good, "Only _admin may set roles"),
            (false, old, &with("roles", json!(["a", "b"])), "Only _admin may edit roles"),
            (false, old, &with("roles", json!([])), "Only _admin may edit roles"),
            (true, old, &with("roles", json!(["_admin"])), "No system roles (starting with underscore) in users db."),
            (true, old, &with("roles", json!("a")), "doc.roles must be an array"),
            (true, old, &with("roles", json!([1])), "doc.roles can only contain strings"),
            (true, old, &with("roles", Value::Null), "doc.roles must exist"),
            (true, old, &with("type", json!("x")), "doc.type must be user"),
            (true, old, &with("name", json!("")), "doc.name is required"),
            (true, old, &with("name", json!("bob")), "Doc ID must be of the form org.couchdb.user:name"),
            (true, Some(&other), &good, "Usernames can not be changed."),
            (true, old, &with("password", json!(7)), "Password must be a string."),
            (true, old, &with("password_scheme", json!("md5")), "Password scheme `md5` not supported."),
            (true, old, &with("password_scheme", json!("pbkdf2")), "iterations must be a number."),
        ] {
            let old = old.map(map);
            let found = validate(id, &map(new), old.as_ref(), &ada(), admin);
            let reason = found.err().map_or_else(String::new, |error| error.reason.into_owned());
            assert_eq!(reason, expected, "admin {admin}, {new}");
        }
        for (name, expected) in
            [("_ada", "Username may not start with underscore."), ("a:b", "Character `:` is not allowed in usernames.")]
        {
            let new = map(&json!({"type":"user","name":name,"roles":[]}));
            let found = validate(&format!("{PREFIX}{name}"), &new, None, &ada(), true);
            assert_eq!(found, Err(ApiError::forbidden(expected)));
        }
    }

    #[test]
    fn a_document_gives_no_roles_that_are_the_servers() {
        let document = r#"{"type":"user","name":"ada","roles":["a","_admin"],"password_scheme":"simple","salt":"s",
            "password_sha":"00"}"#;
        assert_eq!(account("ada", document).unwrap().0.roles, ["a"]);
        assert!(account("bob", document).is_none());
    }
}
