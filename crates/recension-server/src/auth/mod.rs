//! Who asks, and what they may do. There are two ways to the data, and both go through here: [`Session::database`] and
//! [`Session::server_admin`]. What they answer ([`Database`], [`ServerAdmin`]) cannot be made elsewhere, and the store
//! cannot be reached without one: a handler that forgets to ask for access does not compile.
//!
//! Who one is: `sessions.rs` (the cookie), `jwt.rs` (`Bearer`), `basic.rs` (`Basic`); the names and passwords behind them:
//! `users.rs` (`_users`), `admins.rs`, `credentials.rs` (checking, slowly), `password.rs` (hashes), `throttle.rs` (guessing).
//! What one may do: `security.rs` (`_security`), `users_guard.rs` (`_users`).

pub(crate) mod admins;
pub(crate) mod basic;
pub(crate) mod connection;
pub(crate) mod credentials;
pub(crate) mod jwt;
pub(crate) mod password;
pub(crate) mod security;
pub(crate) mod sessions;
pub(crate) mod throttle;
pub(crate) mod users;
pub(crate) mod users_guard;

use std::collections::BTreeMap;
use std::sync::Arc;

use http::Method;
use http::request::Parts;

use self::connection::Connection;
use self::security::Security;
use crate::databases::Database;
use crate::error::{ApiError, Result};
use crate::state::App;

/// Who asks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Identity {
    /// The name; none: anonymous.
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

/// What somebody wants with a database.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Access {
    /// Reading, and writing documents that are no design documents: a member's.
    Member,
    /// What an admin of the database may do.
    Admin,
}

/// A request's identity, from which access is asked for.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    app: Arc<App>,
    identity: Arc<Identity>,
    /// How it is known who asks, in CouchDB's words.
    handler: Option<&'static str>,
    /// A cookie that goes on with the session.
    renewed: Option<String>,
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
    /// Finds out who asks. The one place where a request becomes an identity. Of several that it names the cookie's counts,
    /// then the token's.
    ///
    /// # Errors
    /// 401 where credentials were sent and do not hold, or where there have to be some.
    pub(crate) async fn identify(app: &Arc<App>, connection: &Connection, head: &Parts) -> Result<Self> {
        let headers = &head.headers;
        let (identity, handler, renewed) = if let Some((identity, renewed)) = sessions::identify(app, headers)? {
            (identity, Some("cookie"), renewed)
        } else if let Some(identity) = jwt::identify(app, headers)? {
            (Arc::new(identity), Some("jwt"), None)
        } else if let Some(identity) = basic::identify(app, connection, headers).await? {
            (identity, Some("default"), None)
        } else {
            (Arc::new(nobody(app, head)?), None, None)
        };
        let app = Arc::clone(app);
        Ok(Session { app, identity, handler, renewed, lets_into_users: false, refused: None })
    }

    /// Who asks.
    #[allow(dead_code)] // for `_session`
    pub(crate) fn identity(&self) -> &Identity {
        &self.identity
    }

    /// How that is known.
    pub(crate) fn handler(&self) -> Option<&'static str> {
        self.handler
    }

    /// The header `Set-Cookie` that goes on with the session, where it is time for it.
    pub(crate) fn renewed(&self) -> Option<&str> {
        self.renewed.as_deref()
    }

    /// The way to what only server admins may do.
    pub(crate) fn server_admin(&self) -> Result<ServerAdmin> {
        if self.identity.is_server_admin() { Ok(ServerAdmin(())) } else { Err(ApiError::not_server_admin()) }
    }

    /// The way to a database.
    pub(crate) fn database(&self, name: &str, access: Access) -> Result<Database> {
        let database = self.app.databases.open(name, Granted(()))?;
        // A server admin may everything: nothing has to be read for that.
        if self.identity.is_server_admin() {
            return Ok(database.with_writer(true, Arc::clone(&self.identity), self.refused.clone()));
        }
        let security = Security::of(&database)?;
        let admin = security.is_admin(&self.identity);
        let let_in = name == users::DATABASE && self.lets_into_users && access == Access::Member;
        if !let_in {
            authorize(&self.identity, &security, access)?;
            // Users see each other nowhere: what has not passed the guard is for admins.
            if name == users::DATABASE && !admin {
                return Err(ApiError::not_admin_of_users());
            }
        }
        Ok(database.with_writer(admin, Arc::clone(&self.identity), self.refused.clone()))
    }
}

/// Who asks without saying so: an admin where the configuration wants it so, or nobody.
fn nobody(app: &App, head: &Parts) -> Result<Identity> {
    let live = app.settings.live();
    let path = head.uri.path();
    let open = (head.method == Method::POST && path == "/_session") || (live.except_for_up && path == "/_up");
    if live.require_valid_user && !open {
        return Err(ApiError::authentication_required());
    }
    if app.config.admin_party && live.admins.is_empty() {
        return Ok(Identity { name: None, roles: vec!["_admin".to_owned()] });
    }
    Ok(Identity::default())
}

/// Whether somebody may do something with a database: the one place where that is decided. Pure.
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
