//! Decides the writes of a limited user. The store asks within each commit, so that what is judged is what is stored:
//! the body as it will be read, on the leaves that it replaces, by the rule and the roles of that moment.

use std::sync::Arc;

use parking_lot::Mutex;
use recension::engine::Seq;
use recension::{At, Collection, Error, Intended};

use super::limits::identity_now;
use super::rule::Tests;
use recension_app::identity::Identity;
use recension_app::identity::security::ACCESS;

/// The judge of one user's writes to one database.
pub(super) struct Judge {
    collection: Collection,
    users: Option<Collection>,
    user: Identity,
    /// The commit of the user's document when the request began.
    of_user: Option<Seq>,
    known: Mutex<Option<Known>>,
}

/// Tests, and what they were made of.
struct Known {
    rule: Option<String>,
    of_user: Option<Seq>,
    tests: Arc<Tests>,
}

impl Judge {
    pub(super) fn of(collection: Collection, users: Option<Collection>, user: Identity) -> recension::Result<Self> {
        let mut judge = Judge { collection, users, user, of_user: None, known: Mutex::new(None) };
        judge.of_user = judge.row_of_user()?;
        Ok(judge)
    }

    fn row_of_user(&self) -> recension::Result<Option<Seq>> {
        match (&self.users, &self.user.name) {
            (Some(users), Some(name)) => users.at(At::Now)?.written_at(&format!("org.couchdb.user:{name}")),
            _ => Ok(None),
        }
    }

    /// The tests of now.
    fn tests(&self) -> recension::Result<Arc<Tests>> {
        let (rule, of_user) = (self.collection.settings().get(ACCESS)?, self.row_of_user()?);
        let mut known = self.known.lock();
        if let Some(known) = &*known
            && known.rule == rule
            && known.of_user == of_user
        {
            return Ok(Arc::clone(&known.tests));
        }
        let changed = of_user != self.of_user;
        let now = match (&self.users, &self.user.name) {
            (Some(users), Some(name)) if changed => identity_now(users, name)?,
            _ => Some(self.user.clone()),
        };
        let tests = Arc::new(Tests::of(rule.as_deref(), now.as_ref()));
        *known = Some(Known { rule, of_user, tests: Arc::clone(&tests) });
        Ok(tests)
    }

    /// Whether a write may take place.
    pub(super) fn may(&self, change: &Intended<'_>) -> recension::Result<()> {
        let Intended { id, new, replaced, winner, keeps_from, .. } = change;
        let tests = self.tests()?;
        let writes = tests.writes();
        let refused = |why: &str| {
            let reason = format!("The access rule of the database does not let you {why}.");
            Err(Error::Refused { id: (*id).to_owned(), unauthorized: false, reason })
        };
        let over_winner = winner.as_ref().is_none_or(|winner| writes.takes(winner));
        if id.starts_with("_design/") || replaced.is_empty() && !over_winner {
            return refused("write this document");
        }
        if replaced.iter().any(|leaf| !writes.takes(leaf)) {
            // Naming a hidden leaf of one's own document says no more than naming one that is not there.
            return match winner.as_ref().filter(|_| over_winner) {
                Some(winner) => Err(Error::conflict(id, None, Some(winner.rev), false)),
                None => refused("write this document"),
            };
        }
        if new.as_ref().is_some_and(|new| !writes.takes(new)) {
            return refused("write this document");
        }
        if keeps_from.as_ref().is_some_and(|leaf| leaf.deleted || !tests.reads().takes(leaf)) {
            return refused("take over attachments of that revision");
        }
        Ok(())
    }
}
