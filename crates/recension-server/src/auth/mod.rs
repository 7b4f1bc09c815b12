//! Who asks, and what they may do. There are two ways to the data, and both go through here: [`Session::database`] and
//! [`Session::server_admin`]. What they answer ([`Database`], [`ServerAdmin`]) cannot be made elsewhere, and the store
//! cannot be reached without one: a handler that forgets to ask for access does not compile.
//!
//! Rooms: `basic.rs` (the header `Authorization: Basic`), `sessions.rs` (`_session` and its cookie), `jwt.rs`,
//! `users.rs` (`_users`, hashing of passwords), `security.rs` (`_security`), `admins.rs` (server admins, the first start).

pub(crate) mod admins;
pub(crate) mod basic;
pub(crate) mod security;

use std::sync::Arc;

use http::HeaderMap;

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
    identity: Identity,
}

/// Proof that the server's admin asks. Only [`Session::server_admin`] makes one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ServerAdmin(());

/// Proof that access was asked for and granted. Only this module makes one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Granted(());

impl Session {
    /// Finds out who asks. The one place where headers become an identity.
    ///
    /// # Errors
    /// 401 where credentials were sent and do not hold.
    pub(crate) fn identify(app: &Arc<App>, headers: &HeaderMap) -> Result<Self> {
        let identity = match basic::identify(app, headers)? {
            Some(identity) => identity,
            // Until there are admins everybody is one, and only this machine is listened to: `admins.rs`.
            None if app.admins.is_empty() => Identity::server_admin(""),
            None => Identity::default(),
        };
        Ok(Session { app: Arc::clone(app), identity })
    }

    /// Who asks.
    #[allow(dead_code)] // for `_session`
    pub(crate) fn identity(&self) -> &Identity {
        &self.identity
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
            return Ok(database.with_writer(true, self.identity.clone()));
        }
        let security = Security::of(&database)?;
        authorize(&self.identity, &security, access)?;
        Ok(database.with_writer(security.is_admin(&self.identity), self.identity.clone()))
    }
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
