//! Whether somebody who was let in may still be. A request's rights are decided when it comes. A feed goes on for days
//! and asks again: before it sends anything, when it is told that rights were changed, when a cookie or a token ends,
//! and once a minute. If nothing has changed, asking is a comparison, or a few reads of single rows. Otherwise the code
//! that decides a new request's rights runs again.

use std::future::pending;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::Method;
use recension::engine::{BranchId, Seq};
use tokio::sync::watch;
use tokio::time::Instant;

use super::databases::Database;
use super::known::unix_seconds;
use super::proof::Granted;
use super::session::{Access, Session};
use super::{users, users_guard};
use crate::identity::security::{ACCESS, SETTING};
use crate::settings::Live;
use recension_wire::error::{ApiError, Result};
use recension_wire::limits::{RIGHTS_ASKED_MILLIS_MIN, RIGHTS_ASKED_SECONDS};
use recension_wire::route::Target;

/// Whether a request that succeeds may change rights: those of users, of a database, of the server.
pub fn may_change_rights(method: &Method, target: &Target<'_>) -> bool {
    if matches!(*method, Method::GET | Method::HEAD) {
        return false;
    }
    match target {
        Target::Database { db } => *method == Method::DELETE || db == users::DATABASE,
        Target::Special { db, name, .. } => matches!(&**name, "_security" | "_access") || db == users::DATABASE,
        Target::Document { db, .. } | Target::OfDocument { db, .. } => db == users::DATABASE,
        // A name goes to another branch, or to none.
        Target::Server { name, .. } => matches!(&**name, "_node" | "_tokens" | "_branches"),
        Target::Root | Target::Redirect { .. } => false,
    }
}

/// A database among all that have its name, or had it.
type Which = (BranchId, Option<u32>);

/// The place that somebody was let in to.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// A database, and no other one of its name.
    Database { name: String, which: Which, access: Access },
    /// A database whose access rule limits what somebody sees.
    Limited { name: String, which: Which },
    /// `_users`, by its guard: as a member, or as the owner of a document.
    Users { which: Which, member: bool },
    /// What is the server admins'.
    Server,
}

impl Place {
    pub(super) fn database(db: &Database, access: Access) -> Self {
        Place::Database { name: db.name().to_owned(), which: db.identity(), access }
    }

    pub(super) fn limited(db: &Database) -> Self {
        Place::Limited { name: db.name().to_owned(), which: db.identity() }
    }

    pub(super) fn users(db: &Database, member: bool) -> Self {
        Place::Users { which: db.identity(), member }
    }

    pub(super) fn is_limited(&self) -> bool {
        matches!(self, Place::Limited { .. })
    }

    /// Lets somebody in as a new request would be; returns the database, if it is one.
    ///
    /// # Errors
    /// The refusal of such a request.
    pub(super) fn decide(&self, session: &Session) -> Result<Option<Database>> {
        let (db, which) = match self {
            Place::Server => return session.server_admin().map(|_| None),
            Place::Database { name, which, access } => (session.database(name, *access)?, which),
            Place::Limited { name, which } => {
                let within = session.limited(name)?;
                (within.map_or_else(|| session.database(name, Access::Member), Ok)?, which)
            }
            Place::Users { which, member } => {
                let (db, let_in) = users_guard::opened(session)?;
                if *member {
                    let_in?;
                }
                (db, which)
            }
        };
        if db.identity() == *which { Ok(Some(db)) } else { Err(ApiError::no_database()) }
    }
}

/// Somebody who was let in.
#[derive(Debug)]
pub struct Standing {
    session: Session,
    place: Place,
    /// The rows that the last answer rests on.
    basis: Option<Basis>,
    /// When to ask again.
    due: Instant,
    changes: watch::Receiver<()>,
}

/// The rows that an answer rests on. The answer holds while they are the same.
#[derive(Debug)]
struct Basis {
    live: Arc<Live>,
    /// The store's newest commit. While it is the same, the other members are too.
    head: Seq,
    /// The commit of the user's document, or of the API token.
    user: Option<Seq>,
    which: Option<Which>,
    /// It is on a branch only.
    is_nowhere_else: bool,
    /// `_security` and the access rule.
    security: [Option<String>; 2],
}

impl Basis {
    fn is_as(&self, now: &Basis) -> bool {
        Arc::ptr_eq(&self.live, &now.live)
            && (self.user, self.which, self.is_nowhere_else) == (now.user, now.which, now.is_nowhere_else)
            && self.security == now.security
    }
}

impl Standing {
    /// The standing of somebody who was let in to a database.
    pub fn in_database(session: &Session, db: &Database) -> Self {
        Self::of(session, Place::database(db, Access::Member))
    }

    /// The same of whom an access rule limits.
    pub fn within_limits(session: &Session, db: &Database) -> Self {
        Self::of(session, Place::limited(db))
    }

    /// The standing of a server admin.
    pub fn of_server_admin(session: &Session) -> Self {
        Self::of(session, Place::Server)
    }

    fn of(session: &Session, place: Place) -> Self {
        let changes = session.realm.rights.subscribe();
        Standing { session: session.clone(), place, basis: None, due: Instant::now(), changes }
    }

    /// Whether the rights still hold, as of a moment that is not before this call.
    ///
    /// # Errors
    /// Those of the store.
    pub fn holds(&mut self) -> Result<bool> {
        match self.ask() {
            Ok(()) => Ok(true),
            Err(refusal) if refusal.status.is_client_error() => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The same, with the error that a new request would be refused with.
    pub fn ask(&mut self) -> Result<()> {
        // Changes from here on wake [`Standing::changed`].
        self.changes.borrow_and_update();
        let ended = self.session.until.is_some_and(|until| until <= unix_seconds());
        if ended || !self.is_certain() {
            let now = self.rests_on()?;
            if ended || !self.basis.as_ref().is_some_and(|basis| basis.is_as(&now)) {
                self.decide()?;
            }
            self.basis = Some(now);
        }
        self.due = Instant::now() + self.patience();
        Ok(())
    }

    /// Whether the store and the settings are unchanged since the last answer.
    fn is_certain(&self) -> bool {
        let realm = &self.session.realm;
        let same =
            |basis: &Basis| basis.head == realm.databases.head() && Arc::ptr_eq(&basis.live, &realm.settings.live());
        self.basis.as_ref().is_some_and(same)
    }

    fn rests_on(&self) -> Result<Basis> {
        let realm = &self.session.realm;
        let (live, head) = (realm.settings.live(), realm.databases.head());
        let user = self.session.evidence.written_at(realm)?;
        let (which, is_nowhere_else, security) = match &self.place {
            Place::Database { name, .. } | Place::Limited { name, .. } => {
                let db = realm.databases.open(name, Granted::checked())?;
                (Some(db.identity()), db.is_nowhere_else(), [db.setting(SETTING)?, db.setting(ACCESS)?])
            }
            Place::Users { .. } | Place::Server => (None, false, [None, None]),
        };
        Ok(Basis { live, head, user, which, is_nowhere_else, security })
    }

    /// Decides as a new request would be.
    fn decide(&mut self) -> Result<()> {
        let session = self.session.again(unix_seconds())?;
        self.place.decide(&session)?;
        self.session = session;
        Ok(())
    }

    /// How long the answer is good if no change is announced.
    fn patience(&self) -> Duration {
        let usual = Duration::from_secs(RIGHTS_ASKED_SECONDS);
        let Some(until) = self.session.until else { return usual };
        let left = (UNIX_EPOCH + Duration::from_secs(until)).duration_since(SystemTime::now()).unwrap_or_default();
        left.clamp(Duration::from_millis(RIGHTS_ASKED_MILLIS_MIN), usual)
    }

    /// The latest moment to ask again.
    pub fn due(&self) -> Instant {
        self.due
    }

    /// Completes when a change of rights since the last answer is announced.
    pub async fn changed(&mut self) {
        if self.changes.changed().await.is_err() {
            // No sender is left that could announce any.
            pending::<()>().await;
        }
    }
}
