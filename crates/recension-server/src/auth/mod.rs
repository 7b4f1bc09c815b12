//! Identity and rights. There are two ways to the data, and both go through here: [`Session::database`]
//! and [`Session::server_admin`]. What they answer ([`Database`], [`ServerAdmin`]) cannot be made elsewhere, and the
//! store cannot be reached without one: a handler that forgets to ask for access does not compile.
//!
//! Who one is: `evidence.rs` asks `sessions.rs` (the cookie), `jwt.rs` (`Bearer`), `basic.rs` (`Basic`); the names
//! and passwords behind them: `users.rs` (`_users`), `admins.rs`, `credentials.rs` (checking, slowly), `password.rs`
//! (hashes), `throttle.rs` (guessing). What one may do: `security.rs` (`_security`), `users_guard.rs` (`_users`);
//! whether one still may: `standing.rs`. Doors beside HTTP: `doors.rs`.

pub(crate) mod admins;
pub(crate) mod basic;
pub(crate) mod connection;
pub(crate) mod credentials;
pub(crate) mod doors;
pub(crate) mod evidence;
pub(crate) mod failed_log_ins;
pub(crate) mod jwt;
#[cfg(test)]
mod jwt_cases;
mod jwt_text;
pub(crate) mod password;
pub(crate) mod security;
pub(crate) mod sessions;
pub(crate) mod standing;
pub(crate) mod throttle;
pub mod tokens;
pub(crate) mod users;
pub(crate) mod users_guard;

use std::collections::BTreeMap;
use std::sync::Arc;

use http::Method;
use http::request::Parts;

use self::connection::Connection;
use self::evidence::{Evidence, Known};
use self::security::Security;
use crate::databases::Database;
use crate::error::{ApiError, Result};
use crate::state::App;

/// The identity of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Identity {
    /// The name; `None`: anonymous.
    pub(crate) name: Option<String>,
    /// Roles; `_admin` is a server admin's.
    pub(crate) roles: Vec<String>,
}

impl Identity {
    /// A server admin.
    pub(crate) fn server_admin(name: &str) -> Self {
        Identity { name: Some(name.to_owned()), roles: vec!["_admin".to_owned()] }
    }

    /// Whether it is a server admin.
    pub(crate) fn is_server_admin(&self) -> bool {
        self.roles.iter().any(|role| role == "_admin")
    }
}

/// A kind of access to a database.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Access {
    /// A member's: reading, and writing documents other than design documents.
    Member,
    /// What an admin of the database may do.
    Admin,
}

/// A request's identity, from which access is asked for.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    app: Arc<App>,
    identity: Arc<Identity>,
    /// The evidence for the identity.
    evidence: Evidence,
    /// The second from which on the evidence is worth nothing.
    until: Option<u64>,
    /// What an API token confines its bearer to.
    scope: Option<Arc<tokens::Scope>>,
    /// A new cookie that prolongs the session.
    renewed: Option<String>,
    /// The path may be asked for without a name.
    open: bool,
    /// `users_guard.rs` has looked at the request.
    lets_into_users: bool,
    /// Documents of the request that `users_guard.rs` refuses.
    refused: Option<Arc<BTreeMap<String, ApiError>>>,
}

/// Proof that the server's admin asks. Only [`Session::server_admin`] makes one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ServerAdmin(());

/// Proof that access was asked for and granted. Only this module makes one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Granted(());

impl Session {
    /// Finds out the identity of a request. This is the only place that does so. If a request has several kinds of
    /// evidence, the cookie counts first, then the token, then `Basic`.
    ///
    /// # Errors
    /// 401 if credentials were sent and do not hold, or if none were sent and some are required.
    pub(crate) async fn identify(app: &Arc<App>, connection: &Connection, head: &Parts) -> Result<Self> {
        let headers = &head.headers;
        let open = is_open(app, head);
        for evidence in sessions::shown(headers)?.into_iter().chain(jwt::shown(headers)) {
            match evidence.ask(app) {
                Ok(Some(known)) => return Ok(Self::of(app, evidence, known, open)),
                Ok(None) => {}
                Err(refusal) => {
                    credentials::note_failure(app, connection.address(), evidence.user(), &refusal);
                    return Err(refusal);
                }
            }
        }
        if let Some(account) = basic::identify(app, connection, headers).await? {
            let known = Known::as_long_as_it_stands(Arc::clone(&account.identity));
            return Ok(Self::of(app, Evidence::Password(account), known, open));
        }
        Ok(Self::of(app, Evidence::Nothing, nobody(app, open)?, open))
    }

    fn of(app: &Arc<App>, evidence: Evidence, known: Known, open: bool) -> Self {
        let Known { identity, renewed, until, scope } = known;
        let app = Arc::clone(app);
        Session { app, identity, evidence, until, scope, renewed, open, lets_into_users: false, refused: None }
    }

    /// The session of a request that comes now with the same evidence.
    ///
    /// # Errors
    /// As [`Session::identify`].
    fn again(&self) -> Result<Self> {
        Ok(match self.evidence.ask(&self.app)? {
            Some(known) => Self::of(&self.app, self.evidence.clone(), known, self.open),
            None => Self::of(&self.app, Evidence::Nothing, nobody(&self.app, self.open)?, self.open),
        })
    }

    /// The identity.
    pub(crate) fn identity(&self) -> &Identity {
        &self.identity
    }

    /// The kind of evidence for it, in CouchDB's words.
    pub(crate) fn handler(&self) -> Option<&'static str> {
        self.evidence.handler()
    }

    /// The header `Set-Cookie` that prolongs the session, if it is time for it.
    pub(crate) fn renewed(&self) -> Option<&str> {
        self.renewed.as_deref()
    }

    /// Refuses a request that writes, if an API token lets its bearer only read.
    ///
    /// # Errors
    /// 403.
    pub(crate) fn check_scope(&self, method: &Method, target: &crate::route::Target<'_>) -> Result<()> {
        match &self.scope {
            Some(scope) if !scope.permits(method, target) => Err(ApiError::token_only_reads()),
            _ => Ok(()),
        }
    }

    /// The way to what only server admins may do.
    pub(crate) fn server_admin(&self) -> Result<ServerAdmin> {
        if self.identity.is_server_admin() { Ok(ServerAdmin(())) } else { Err(ApiError::not_server_admin()) }
    }

    /// The way to a database. A user whom its access rule limits is refused here and comes in by [`Session::limited`].
    pub(crate) fn database(&self, name: &str, access: Access) -> Result<Database> {
        let database = self.reached(name, access)?;
        if !database.is_admins() && database.setting(security::ACCESS)?.is_some() {
            return Err(ApiError::forbidden("The database has access rules: this is for its admins."));
        }
        Ok(database)
    }

    /// A database whose access rule limits this user. `None`: it has no rule, the rule does not limit the user, or the
    /// user may not use the database at all.
    pub(crate) fn limited(&self, name: &str) -> Result<Option<Database>> {
        if self.identity.is_server_admin() || name == users::DATABASE {
            return Ok(None);
        }
        let Ok(database) = self.reached(name, Access::Member) else { return Ok(None) };
        let limits = !database.is_admins() && database.setting(security::ACCESS)?.is_some();
        Ok(limits.then_some(database))
    }

    /// The collection of users, to look up what their roles were.
    pub(crate) fn collection_of_users(&self, name: &str) -> Result<Option<recension::Collection>> {
        match self.app.databases.open(name, Granted(())) {
            Ok(database) => Ok(Some(database.share())),
            Err(error) if error == ApiError::no_database() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The databases of the server.
    pub(crate) fn databases(&self) -> &crate::databases::Databases {
        &self.app.databases
    }

    fn reached(&self, name: &str, access: Access) -> Result<Database> {
        let database = self.app.databases.open(name, Granted(()))?;
        // A server admin may do everything: nothing has to be read for that.
        if self.identity.is_server_admin() {
            return Ok(database.with_writer(true, Arc::clone(&self.identity), self.refused.clone()));
        }
        if let Some(scope) = &self.scope {
            // A server admin said what the token is for: the database's own members are not asked.
            let admin = scope.rights >= tokens::Rights::Admin;
            return match access {
                _ if !scope.covers(name) => Err(ApiError::token_of_other_databases()),
                Access::Admin if !admin => Err(ApiError::not_admin_of_database()),
                _ => Ok(database.with_writer(admin, Arc::clone(&self.identity), self.refused.clone())),
            };
        }
        let security = Security::of(&database)?;
        let admin = security.is_admin(&self.identity);
        let let_in = name == users::DATABASE && self.lets_into_users && access == Access::Member;
        if !let_in {
            authorize(&self.identity, &security, access)?;
            // Users must not see each other: a request that has not passed the guard is for admins only.
            if name == users::DATABASE && !admin {
                return Err(ApiError::not_admin_of_users());
            }
        }
        Ok(database.with_writer(admin, Arc::clone(&self.identity), self.refused.clone()))
    }
}

/// The database whose documents ask for replications. If only server admins can write to it, the proof that its
/// replications may do what server admins may. `None` if there is no such database.
pub(crate) fn replicator(app: &App, name: &str) -> Result<Option<(Database, Option<ServerAdmin>)>> {
    let database = match app.databases.open(name, Granted(())) {
        Err(error) if error == ApiError::no_database() => return Ok(None),
        database => database?,
    };
    let proof = Security::of(&database)?.is_of_server_admins().then_some(ServerAdmin(()));
    Ok(Some((database, proof)))
}

/// Whether a path may be asked for without a name, whatever the configuration says.
fn is_open(app: &App, head: &Parts) -> bool {
    let path = head.uri.path();
    (head.method == Method::POST && path == "/_session")
        // The log-in page and its stylesheet.
        || path.starts_with("/_utils/-/")
        || path == "/_utils/"
        || (app.settings.live().except_for_up && path == "/_up")
}

/// The identity of a request without evidence: an admin if the configuration wants it so, or nobody.
fn nobody(app: &App, open: bool) -> Result<Known> {
    let live = app.settings.live();
    if live.require_valid_user && !open {
        return Err(ApiError::authentication_required());
    }
    let party = app.config.admin_party && live.admins.is_empty();
    let roles = if party { vec!["_admin".to_owned()] } else { Vec::new() };
    Ok(Known::as_long_as_it_stands(Arc::new(Identity { name: None, roles })))
}

/// Whether an identity may use a database in a way. This is the only place that decides it. Pure.
pub(crate) fn authorize(identity: &Identity, security: &Security, access: Access) -> Result<()> {
    let admin = security.is_admin(identity);
    match access {
        Access::Admin if !admin => Err(ApiError::not_admin_of_database()),
        Access::Member if !admin && !security.is_member(identity) => {
            Err(if identity.name.is_none() { ApiError::not_authorized() } else { ApiError::not_allowed() })
        }
        _ => Ok(()),
    }
}
