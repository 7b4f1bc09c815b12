//! A request's identity, and the two ways from it to the data: [`Session::database`] and [`Session::server_admin`].

use std::collections::BTreeMap;
use std::sync::Arc;

use http::Method;
use http::request::Parts;
use parking_lot::Mutex;

use super::connection::Connection;
use super::databases::{Database, Databases};
use super::entered::{Awaited, Entered};
use super::evidence::{self, Evidence};
use super::known::Known;
use super::proof::{Granted, ServerAdmin};
use super::realm::Realm;
use super::scope::{Rights, Scope};
use super::standing::Place;
use super::{basic, log_in, users};
use crate::identity::Identity;
use crate::identity::security::{self, Security};
use recension_wire::error::{ApiError, Result};
use recension_wire::route::Target;

/// A kind of access to a database.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// A member's: reading, and writing documents other than design documents.
    Member,
    /// What an admin of the database may do.
    Admin,
}

/// A request's identity, from which access is asked for.
#[derive(Clone, Debug)]
pub struct Session {
    pub(super) realm: Arc<Realm>,
    pub(super) identity: Arc<Identity>,
    /// The evidence for the identity.
    pub(super) evidence: Evidence,
    /// The second from which on the evidence is worth nothing.
    pub(super) until: Option<u64>,
    /// What an API token confines its bearer to.
    scope: Option<Arc<Scope>>,
    /// A new cookie that prolongs the session.
    renewed: Option<String>,
    /// The path may be asked for without a name.
    open: bool,
    /// `users_guard.rs` has looked at the request.
    pub(super) lets_into_users: bool,
    /// Documents of the request that `users_guard.rs` refuses.
    pub(super) refused: Option<Arc<BTreeMap<String, ApiError>>>,
    /// Where it was let in, if something is still to come or to be sent.
    pub(super) entered: Option<Entered>,
}

impl Session {
    /// Finds out the identity of a request. This is the only place that does so. If a request has several kinds of
    /// evidence, the cookie counts first, then the token, then `Basic`.
    ///
    /// # Errors
    /// 401 if credentials were sent and do not hold, or if none were sent and some are required.
    pub async fn identify(realm: &Arc<Realm>, connection: &Connection, head: &Parts) -> Result<Self> {
        let headers = &head.headers;
        let open = is_open(realm, head);
        for evidence in evidence::shown(headers)? {
            match evidence.ask(realm) {
                Ok(Some(known)) => return Ok(Self::of(realm, evidence, known, open)),
                Ok(None) => {}
                Err(refusal) => {
                    log_in::note_failure(realm, connection.address(), evidence.user(), &refusal);
                    return Err(refusal);
                }
            }
        }
        if let Some(account) = basic::identify(realm, connection, headers).await? {
            let known = Known::as_long_as_it_stands(Arc::clone(&account.identity));
            return Ok(Self::of(realm, Evidence::Password(account), known, open));
        }
        Ok(Self::of(realm, Evidence::Nothing, nobody(realm, open)?, open))
    }

    pub(super) fn of(realm: &Arc<Realm>, evidence: Evidence, known: Known, open: bool) -> Self {
        let Known { identity, renewed, until, scope } = known;
        let realm = Arc::clone(realm);
        let (lets_into_users, refused, entered) = (false, None, None);
        Session { realm, identity, evidence, until, scope, renewed, open, lets_into_users, refused, entered }
    }

    /// The session of a request that comes now with the same evidence. Sessions by cookie end by the clock given.
    ///
    /// # Errors
    /// As [`Session::identify`].
    pub(super) fn again(&self, seconds: u64) -> Result<Self> {
        Ok(match self.evidence.ask_at(&self.realm, seconds)? {
            Some(known) => Self::of(&self.realm, self.evidence.clone(), known, self.open),
            None => Self::of(&self.realm, Evidence::Nothing, nobody(&self.realm, self.open)?, self.open),
        })
    }

    /// The second from which on the evidence is worth nothing, whatever its bearer does.
    pub(super) fn ends_by_itself(&self) -> Option<u64> {
        self.until.filter(|_| !matches!(self.evidence, Evidence::Cookie(_)))
    }

    /// The identity.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// The kind of evidence for it, in CouchDB's words.
    pub fn handler(&self) -> Option<&'static str> {
        self.evidence.handler()
    }

    /// The header `Set-Cookie` that prolongs the session, if it is time for it.
    pub fn renewed(&self) -> Option<&str> {
        self.renewed.as_deref()
    }

    /// Refuses a request that writes, if an API token lets its bearer only read.
    ///
    /// # Errors
    /// 403.
    pub fn check_scope(&self, method: &Method, target: &Target<'_>) -> Result<()> {
        match &self.scope {
            Some(scope) if !scope.permits(method, target) => Err(ApiError::token_only_reads()),
            _ => Ok(()),
        }
    }

    /// The way to what only server admins may do.
    pub fn server_admin(&self) -> Result<ServerAdmin> {
        if !self.identity.is_server_admin() {
            return Err(ApiError::not_server_admin());
        }
        if let Some(entered) = &self.entered {
            entered.server();
        }
        Ok(ServerAdmin::checked())
    }

    /// What asks whether this server admin still is one, for work that goes on after the request. As for bodies, a
    /// cookie does not end meanwhile.
    pub fn asks_for_server_admin(&self) -> impl Fn() -> Result<()> + Send + Sync + 'static {
        let mut own = Session { entered: None, ..self.clone() };
        let awaited = Awaited::of(&mut own, None);
        let entered = own.server_admin().map(drop);
        let awaited = Mutex::new(awaited);
        move || entered.clone().and_then(|()| awaited.lock().ask_of_answer())
    }

    /// Refuses whoever may not read the server's metrics.
    pub fn check_metrics(&self) -> Result<()> {
        if self.scope.as_ref().is_some_and(|scope| scope.rights == Rights::Metrics) {
            return Ok(());
        }
        self.server_admin().map(|_| ())
    }

    /// The way to a database. A user whom its access rule limits is refused here and comes in by [`Session::limited`].
    pub fn database(&self, name: &str, access: Access) -> Result<Database> {
        let database = self.unlimited(name, access)?;
        // Where the guard of `_users` lets somebody in, it has noted so.
        let guarded = self.lets_into_users && name == users::DATABASE;
        if let Some(entered) = self.entered.as_ref().filter(|_| !guarded) {
            entered.database(&database, Place::database(&database, access))?;
        }
        Ok(database)
    }

    fn unlimited(&self, name: &str, access: Access) -> Result<Database> {
        let database = self.reached(name, access)?;
        if !database.is_admins() && database.setting(security::ACCESS)?.is_some() {
            return Err(ApiError::forbidden("The database has access rules: this is for its admins."));
        }
        Ok(database)
    }

    /// The names of the databases that this user may read, and no others.
    pub fn readable(&self) -> Result<Vec<String>> {
        // Some pages are open to whoever has no name yet, even if the server wants one.
        let nobody = self.identity.name.is_none() && !self.identity.is_server_admin();
        if nobody && self.realm.settings.live().require_valid_user {
            return Ok(Vec::new());
        }
        let all = self.realm.databases.names(ServerAdmin::checked())?;
        Ok(all.into_iter().filter(|name| self.unlimited(name, Access::Member).is_ok()).collect())
    }

    /// A database whose access rule limits this user. `None`: it has no rule, the rule does not limit the user, or the
    /// user may not use the database at all.
    ///
    /// Branches are for those whom no rule limits: what a rule hides is found by rows that a branch has as of its fork.
    pub fn limited(&self, name: &str) -> Result<Option<Database>> {
        if self.identity.is_server_admin() || name == users::DATABASE {
            return Ok(None);
        }
        let Ok(database) = self.reached(name, Access::Member) else { return Ok(None) };
        let limits = !database.is_admins() && !database.is_on_branch() && database.setting(security::ACCESS)?.is_some();
        if let Some(entered) = self.entered.as_ref().filter(|_| limits) {
            entered.database(&database, Place::limited(&database))?;
        }
        Ok(limits.then_some(database))
    }

    /// The collection of users, to look up what their roles were.
    pub fn collection_of_users(&self, name: &str) -> Result<Option<recension::Collection>> {
        match self.realm.databases.open(name, Granted::checked()) {
            Ok(database) => Ok(Some(database.share())),
            Err(error) if error == ApiError::no_database() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The databases of the server.
    pub fn databases(&self) -> &Databases {
        &self.realm.databases
    }

    fn reached(&self, name: &str, access: Access) -> Result<Database> {
        let database = match self.realm.databases.open(name, Granted::checked()) {
            // Who may not use the main line's database is not told which branches it has.
            Err(error) if !self.identity.is_server_admin() => {
                if let Some((main, _)) = name.split_once('@') {
                    self.unlimited(main, access)?;
                }
                return Err(error);
            }
            opened => opened?,
        };
        // A server admin may do everything: nothing has to be read for that.
        if self.identity.is_server_admin() {
            return Ok(database.with_writer(true, Arc::clone(&self.identity), self.refused.clone()));
        }
        if database.is_nowhere_else() {
            return Err(ApiError::no_database());
        }
        if let Some(scope) = &self.scope {
            // A server admin said what the token is for: the database's own members are not asked.
            let admin = scope.rights >= Rights::Admin;
            return match access {
                _ if !scope.covers(database.collection().name()) => Err(ApiError::token_of_other_databases()),
                Access::Admin if !admin => Err(ApiError::not_admin_of_database()),
                _ => Ok(database.with_writer(admin, Arc::clone(&self.identity), self.refused.clone())),
            };
        }
        let security = database.security()?;
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

/// Whether a path may be asked for without a name, whatever the configuration says.
fn is_open(realm: &Realm, head: &Parts) -> bool {
    let path = head.uri.path();
    (head.method == Method::POST && path == "/_session")
        // The log-in page and its stylesheet.
        || path.starts_with("/_utils/-/")
        || path == "/_utils/"
        || (realm.settings.live().except_for_up && path == "/_up")
}

/// The identity of a request without evidence: an admin if the configuration wants it so, or nobody.
fn nobody(realm: &Realm, open: bool) -> Result<Known> {
    let live = realm.settings.live();
    if live.require_valid_user && !open {
        return Err(ApiError::authentication_required());
    }
    let party = realm.admin_party && live.admins.is_empty();
    let roles = if party { vec!["_admin".to_owned()] } else { Vec::new() };
    Ok(Known::as_long_as_it_stands(Arc::new(Identity { name: None, roles })))
}

/// Whether an identity may use a database in a way. This is the only place that decides it. Pure.
pub(crate) fn authorize(identity: &Identity, security: &Security, access: Access) -> Result<()> {
    if security.is_admin(identity) {
        return Ok(());
    }
    match (security.is_member(identity), access) {
        (false, _) if identity.name.is_none() => Err(ApiError::not_authorized()),
        (false, _) => Err(ApiError::not_allowed()),
        (true, Access::Admin) => Err(ApiError::not_admin_of_database()),
        (true, Access::Member) => Ok(()),
    }
}
