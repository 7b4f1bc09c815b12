//! The leaves of a document that a user is told of at a commit, and their names. Both follow from the store's history
//! alone, so that they can be computed again for any commit.

use std::borrow::Cow;
use std::sync::Arc;

use recension::engine::Seq;
use recension::{AccessAt, AccessMarks, At, Collection, CollectionAt, Document, RevId, Revision};
use serde_json::Value;

use super::judge::Judge;
use super::names::Names;
use super::rule::Tests;
use recension_app::auth::databases::Database;
use recension_app::identity::Identity;
use recension_app::identity::security::ACCESS;
use recension_wire::error::{ApiError, Result};
use recension_wire::route::encode;

/// The limits of one user in one database.
pub struct Limits {
    /// Its writes are judged.
    pub(super) db: Database,
    pub(super) names: Names,
    /// The rules that held for the user, each with its first commit; in order.
    times: Vec<(Seq, Tests)>,
    /// The commits that changed the rule.
    rules: Vec<Seq>,
    users: Option<Collection>,
    secret: String,
    /// The commit that removed the last user of the same name.
    reborn: Seq,
}

/// See [`Limits::stamp`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Stamp {
    changed: Seq,
    user: Option<Seq>,
    rule: Option<String>,
    /// The moment that it was read of.
    pub(super) seq: Seq,
}

impl Stamp {
    pub(super) fn is_as(&self, other: &Stamp) -> bool {
        (self.changed, self.user, &self.rule) == (other.changed, other.user, &other.rule)
    }
}

/// A leaf that the user is told of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Told {
    /// The leaf.
    pub(super) real: RevId,
    /// Its number in the chain of names; 0 is its real name.
    pub(super) number: u32,
}

impl Limits {
    /// The limits as they are now. `users`: where users are kept.
    pub(super) fn of(db: Database, users: Option<&Collection>, secret: &str) -> Result<Self> {
        let user = db.writer().clone();
        let Some(name) = user.name.clone() else { return Err(ApiError::not_authorized()) };
        let mut rules = db.collection().settings().history(ACCESS)?;
        rules.reverse();
        let mut roles: Vec<(Seq, Option<Identity>)> = Vec::new();
        let mut reborn = Seq::ZERO;
        if let Some(users) = users {
            for revision in users.at(At::Now)?.history(&format!("org.couchdb.user:{name}"))? {
                let revision = revision?;
                roles.push((revision.seq, identity(&name, &revision)));
                if revision.deleted {
                    // What a former user of the name could see is nobody's business any more.
                    reborn = revision.seq;
                    break;
                }
            }
            roles.reverse();
        }
        let mut moments: Vec<Seq> = rules.iter().map(|(seq, _)| *seq).chain(roles.iter().map(|own| own.0)).collect();
        moments.push(Seq::ZERO);
        moments.sort_unstable();
        moments.dedup();
        let times = moments.into_iter().map(|moment| {
            let rule = rules.iter().rev().find(|(seq, _)| *seq <= moment).and_then(|(_, rule)| rule.as_deref());
            let own = match roles.iter().rev().find(|(seq, _)| *seq <= moment) {
                Some((_, identity)) => identity.as_ref(),
                // The user is kept elsewhere, or was made later.
                None if roles.is_empty() => Some(&user),
                None => None,
            };
            (moment, Tests::of(rule, own))
        });
        let times = times.collect();
        let rules = rules.into_iter().map(|(seq, _)| seq).collect();
        // Another handle on the collection: the judge of a feed that is renewed holds no judge before it.
        let own = db.collection().store().collection(db.name())?.only_existing();
        let judge = Judge::of(own, users.cloned(), user)?;
        let db = db.judged(Arc::new(move |change| judge.may(change)));
        let (names, secret) = (Names::of(secret), secret.to_owned());
        Ok(Limits { names, times, rules, db, users: users.cloned(), secret, reborn })
    }

    /// The database, whose writes are judged.
    pub fn db(&self) -> &Database {
        &self.db
    }

    /// The same as of now.
    pub(super) fn renewed(&self) -> Result<Self> {
        let db = self.db.renewed()?;
        Limits::of(db, self.users.as_ref(), &self.secret)
    }

    /// The tests that held at a commit.
    pub(super) fn tests_at(&self, seq: Seq) -> &Tests {
        let at = self.times.partition_point(|(since, _)| *since <= seq);
        // There always is one from the first commit on.
        &self.times[at.saturating_sub(1)].1
    }

    /// The tests that hold now.
    pub(super) fn tests(&self) -> &Tests {
        self.tests_at(Seq(u64::MAX))
    }

    /// Whether the rule, or the user's roles, changed after a commit, up to another.
    pub(super) fn changed_between(&self, after: Seq, until: Seq) -> bool {
        self.times.iter().any(|(since, _)| *since > after && *since <= until)
    }

    /// The index of access at a moment, and what the user's documents are found by in it that may be told behind a
    /// commit, up to that moment. `None`: every document has to be looked at, since the rule is of another form or has
    /// changed, or the index was not kept.
    pub(super) fn index_of(&self, now: &CollectionAt, after: Seq) -> Result<Option<(AccessAt, AccessMarks)>> {
        let until = now.seq();
        if self.rules.iter().any(|rule| *rule > after && *rule <= until) && after > Seq::ZERO {
            return Ok(None);
        }
        let Some(access) = now.access()?.filter(|access| after == Seq::ZERO || access.since() <= after) else {
            return Ok(None);
        };
        // Nothing was told before the first commit: what counts then is what holds at the end.
        let first = self.tests_at(if after == Seq::ZERO { until } else { after });
        let later = self.times.iter().filter(|(since, _)| *since > after && *since <= until && after > Seq::ZERO);
        let tests: Vec<&Tests> = std::iter::once(first).chain(later.map(|(_, own)| own)).collect();
        let Some(served) = tests.into_iter().map(Tests::served).collect::<Option<Vec<_>>>() else { return Ok(None) };
        if served.iter().any(|served| served.iter().any(|(path, _)| !access.has(path))) {
            return Ok(None);
        }
        let values = served.iter().flat_map(|served| served.iter());
        let values = values.flat_map(|(path, texts)| texts.iter().map(move |text| (path, text.as_str())));
        let marks = access.marks(values);
        Ok(marks.map(|marks| (access, marks)))
    }

    /// Whether a document may be read now.
    pub(super) fn shows(&self, document: &Document<'_>) -> bool {
        document.id.starts_with("_design/") || self.tests().reads().takes(document)
    }

    /// Whether the winner of a document may be read now.
    pub(super) fn shows_winner(&self, at: &CollectionAt, id: &str) -> recension::Result<bool> {
        Ok(at.get(id)?.is_some_and(|document| self.shows(&document)))
    }

    /// What the limits follow from, and the last change of the database: while it is the same, so is what is told.
    pub(super) fn stamp(&self) -> Result<Stamp> {
        let now = self.db.now()?;
        if !now.exists() {
            return Err(ApiError::no_database());
        }
        let user = match (&self.users, &self.db.writer().name) {
            (Some(users), Some(name)) => users.at(At::Now)?.written_at(&format!("org.couchdb.user:{name}"))?,
            _ => None,
        };
        Ok(Stamp { changed: now.counts()?.changed, user, rule: now.setting(ACCESS)?, seq: now.seq() })
    }

    /// Whether a revision may be read now.
    pub(super) fn may_read(&self, id: &str, revision: &Revision) -> bool {
        self.shows(&document_of(id, revision))
    }

    /// The leaves that the user is told of; the best one first.
    pub(super) fn told(&self, at: &CollectionAt, id: &str) -> Result<Vec<Told>> {
        let mut told = Vec::new();
        for (number, leaf) in at.leaves(id)?.into_iter().enumerate().filter(|(_, leaf)| !leaf.deleted) {
            let Some(revision) = at.leaf_revision(id, &leaf, number == 0)? else { continue };
            if let Some(number) = self.number(at, id, &revision)? {
                told.push(Told { real: leaf.rev, number });
            }
        }
        told.sort_by_key(|own| std::cmp::Reverse(self.rev(id, *own)));
        Ok(told)
    }

    /// The number of a leaf in its chain of names as of a commit; `None`: it is not shown.
    fn number(&self, at: &CollectionAt, id: &str, revision: &Revision) -> Result<Option<u32>> {
        if id.starts_with("_design/") {
            return Ok(Some(0));
        }
        let document = document_of(id, revision);
        let mut born = revision.seq;
        if self.changed_between(Seq::ZERO, at.seq()) {
            // The leaf's row may have been written again since.
            for version in at.revisions(id)? {
                let version = version?;
                if version.rev == revision.rev {
                    born = born.min(version.seq);
                }
            }
        }
        let first = std::iter::once(self.tests_at(born));
        let later = self.times.iter().filter(|(since, _)| *since > born && *since <= at.seq()).map(|(_, own)| own);
        let (mut shown, mut ever, mut number) = (false, false, 0);
        for tests in first.chain(later) {
            let now = tests.reads().takes(&document);
            if now != shown && ever {
                number += 1;
            }
            shown = now;
            ever |= now;
        }
        Ok(shown.then_some(number))
    }

    /// The user's name for a leaf.
    pub(super) fn rev(&self, id: &str, told: Told) -> RevId {
        self.names.made_up(id, &told.real, told.number)
    }

    /// Deletions for leaves that a replica was told of at `before` and is not told of at `now`.
    pub(super) fn gone(&self, id: &str, before: &[Told], now: &[Told], at_now: &CollectionAt) -> Result<Vec<RevId>> {
        let mut gone = Vec::new();
        for own in before {
            let mut covered = now.iter().any(|told| told.real == own.real && told.number >= own.number);
            if own.number == 0 {
                for told in now {
                    covered |= at_now.ancestry(id, &told.real)?.is_some_and(|path| path.contains(&own.real));
                }
            }
            if !covered {
                gone.push(self.names.made_up(id, &own.real, own.number + 1));
            }
        }
        Ok(gone)
    }

    /// Whether a revision that the user names may be read now: the rule lets it through, and it is a leaf, or a leaf
    /// that the user is told of stands on it. What a hidden document once said is hidden with it.
    pub(super) fn opens(&self, id: &str, revision: &Revision) -> Result<bool> {
        let at = self.db.opened();
        if !self.may_read(id, revision) {
            return Ok(false);
        }
        if at.leaves(id)?.iter().any(|leaf| leaf.rev == revision.rev) {
            return Ok(true);
        }
        self.stands_on(id, &revision.rev)
    }

    /// Whether a leaf that the user is told of now stands on a revision, or is it.
    pub(super) fn stands_on(&self, id: &str, rev: &RevId) -> Result<bool> {
        let at = self.db.opened();
        for own in self.told(at, id)? {
            if own.real == *rev || at.ancestry(id, &own.real)?.is_some_and(|path| path.contains(rev)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The seal of a text that this user is given here and may send back: nobody else can make it, and it is worth
    /// nothing to others, to a later user of the name, or in another database.
    pub(super) fn seal(&self, text: &str) -> String {
        let (branch, number) = self.db.identity();
        let (branch, number) = (branch.0.to_be_bytes(), number.unwrap_or_default().to_be_bytes());
        let name = self.db.writer().name.as_deref().unwrap_or_default();
        self.names.seal(&[&branch, &number, name.as_bytes(), &self.reborn.0.to_be_bytes(), text.as_bytes()])
    }

    /// The name that a local document of the user has in the database.
    pub(super) fn local(&self, name: &str) -> String {
        let user = encode(self.db.writer().name.as_deref().unwrap_or_default());
        // A later user of the name begins anew.
        format!("user~{user}~{}~{name}", self.reborn)
    }

    /// The revision that a made-up name stands for, and its number.
    pub(super) fn meant(&self, at: &CollectionAt, id: &str, rev: &RevId) -> Result<Option<Told>> {
        if !self.names.is_made_up(id, rev) {
            return Ok(None);
        }
        for leaf in at.leaves(id)? {
            for real in at.ancestry(id, &leaf.rev)?.unwrap_or_default() {
                let number = rev.generation().checked_sub(real.generation()).filter(|number| *number > 0);
                if let Some(number) = number.filter(|number| self.names.made_up(id, &real, *number) == *rev) {
                    return Ok(Some(Told { real, number }));
                }
            }
        }
        Ok(None)
    }
}

/// A revision as a document, for the tests.
pub(super) fn document_of<'r>(id: &'r str, revision: &'r Revision) -> Document<'r> {
    Document {
        id: Cow::Borrowed(id),
        rev: revision.rev,
        seq: revision.seq,
        deleted: revision.deleted,
        body: Cow::Borrowed(&revision.body),
        attachments: revision.attachments.clone(),
    }
}

/// The user's identity by their document as it is now; `None` if they were removed.
pub(super) fn identity_now(users: &Collection, name: &str) -> recension::Result<Option<Identity>> {
    let at = users.at(At::Now)?;
    let id = format!("org.couchdb.user:{name}");
    let Some(rev) = at.get(&id)?.map(|document| document.rev) else { return Ok(None) };
    Ok(at.get_revision(&id, &rev)?.and_then(|revision| identity(name, &revision)))
}

/// The user's identity by a revision of their document; `None` if they were removed.
fn identity(name: &str, revision: &Revision) -> Option<Identity> {
    if revision.deleted {
        return None;
    }
    let body: Value = serde_json::from_str(&revision.body).ok()?;
    let roles = body.get("roles").and_then(Value::as_array).into_iter().flatten();
    let roles = roles.filter_map(Value::as_str).map(str::to_owned).collect();
    Some(Identity { name: Some(name.to_owned()), roles })
}

/// The limits, to be handed about.
pub type Shared = Arc<Limits>;
