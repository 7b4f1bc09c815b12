//! Where a request was let in. Rights are decided when its head is read. Its body may come an hour later, and a reader
//! may take an hour for a long answer: with each piece of both they are asked again, by the code that decides a new
//! request's rights. If nothing in the store and the settings has changed, asking is a comparison.

use std::sync::Arc;

use parking_lot::Mutex;
use recension::engine::Seq;

use super::databases::Database;
use super::known::unix_seconds;
use super::realm::Realm;
use super::session::Session;
use super::standing::Place;
use crate::identity::security::ACCESS;
use crate::settings::Live;
use recension_wire::error::{ApiError, Result};

/// A moment of the settings and of the store. While it is the same, all rights are.
#[derive(Clone, Debug)]
pub struct Moment {
    live: Arc<Live>,
    head: Seq,
}

impl Moment {
    pub fn of(realm: &Realm) -> Self {
        Moment { live: realm.settings.live(), head: realm.databases.head() }
    }

    pub(super) fn is_as(&self, now: &Moment) -> bool {
        Arc::ptr_eq(&self.live, &now.live) && self.head == now.head
    }
}

/// The places that a request was let in to so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Entered(Arc<Mutex<Vec<Entry>>>);

/// A place, and what was granted there.
#[derive(Clone, Debug)]
struct Entry {
    place: Place,
    /// As an admin of the database.
    admin: bool,
    /// The access rule, which says what a limited user sees.
    rule: Option<String>,
}

impl Entry {
    /// Whether the same would be granted now.
    fn ask(&self, session: &Session) -> Result<()> {
        let Some(db) = self.place.decide(session)? else { return Ok(()) };
        // What was opened for an admin, or within a rule, is not for a member, or within another one.
        let is_same = db.is_admins() == self.admin && (!self.place.is_limited() || rule_of(&db)? == self.rule);
        if is_same { Ok(()) } else { Err(ApiError::rights_changed()) }
    }
}

fn rule_of(db: &Database) -> Result<Option<String>> {
    db.setting(ACCESS)
}

impl Entered {
    /// Notes a database.
    pub(super) fn database(&self, db: &Database, place: Place) -> Result<()> {
        let rule = if place.is_limited() { rule_of(db)? } else { None };
        self.0.lock().push(Entry { place, admin: db.is_admins(), rule });
        Ok(())
    }

    /// Notes what is the server admins'.
    pub(super) fn server(&self) {
        self.0.lock().push(Entry { place: Place::Server, admin: true, rule: None });
    }
}

/// What is asked with each piece of a body.
#[derive(Clone, Debug)]
pub struct Awaited {
    session: Session,
    entered: Entered,
    /// When the rights were known to hold; `None`: it was not noted.
    moment: Option<Moment>,
    /// The second in which the request began.
    began: u64,
}

impl Awaited {
    /// Of a session that was found out after a moment. The session notes from now on where it is let in.
    pub fn of(session: &mut Session, moment: Option<Moment>) -> Self {
        let entered = session.entered.get_or_insert_default().clone();
        Awaited { session: session.clone(), entered, moment, began: unix_seconds() }
    }

    /// Whether all that was granted would be granted to a request that comes now.
    ///
    /// # Errors
    /// The refusal of such a request; 503 if it would get something else.
    pub fn ask(&mut self) -> Result<()> {
        self.is_granted(true)
    }

    /// The same with each piece of an answer: a reader who has other roles since, and is let in by them, reads on.
    pub fn ask_of_answer(&mut self) -> Result<()> {
        self.is_granted(false)
    }

    fn is_granted(&mut self, exactly: bool) -> Result<()> {
        let now = Moment::of(&self.session.realm);
        let ended = self.session.ends_by_itself().is_some_and(|until| until <= unix_seconds());
        if !ended && self.moment.as_ref().is_some_and(|moment| moment.is_as(&now)) {
            return Ok(());
        }
        // A session by cookie does not end while its user sends or reads.
        let session = self.session.again(self.began)?;
        let entries = self.entered.0.lock().clone();
        // What an access rule lets through depends on roles.
        let exactly = exactly || entries.iter().any(|entry| entry.place.is_limited());
        if exactly && session.identity != self.session.identity {
            return Err(ApiError::rights_changed());
        }
        for entry in &entries {
            if exactly { entry.ask(&session)? } else { drop(entry.place.decide(&session)?) }
        }
        self.moment = Some(now);
        Ok(())
    }
}
