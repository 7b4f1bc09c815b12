//! `_changes` within limits: the changes for a user's replica since the moment up to which it was told before.
//! docs/decisions/0070-access.md says why that is right.

use std::fmt;
use std::sync::Arc;

use recension::engine::{Engine, Seq};
use recension::json::quote;
use recension::{AccessChanges, At, ChangeFilter, Changes, CollectionAt, Position, RevId, Revision};

use super::limits::{Limits, Shared, Stamp, Told, document_of};
use crate::changes_query::{Filter, KeptFilter, named_since};
use crate::feed::{self, Feed, Page, Patience, Source};
use recension_app::auth::Session;
use recension_app::auth::standing::Standing;
use recension_app::request::{Request, only};
use recension_wire::answer::Answer;
use recension_wire::error::{ApiError, Result};
use recension_wire::limits::{CHUNK_BYTES, FEED_PAGE};

/// Where a feed stands.
#[derive(Clone, Debug, PartialEq)]
enum Since {
    /// Everything up to a commit was told.
    Told(Seq),
    /// A feed that was read in part: up to a position, among the changes from one commit to another.
    Within(Position, Seq, Seq),
}

impl Since {
    /// Reads what this user was given here. Anything else is refused: an invented moment would tell of the past.
    fn opened(text: &str, limits: &Limits) -> Result<Self> {
        let text = text.trim_matches('"');
        if matches!(text, "" | "0" | "null") {
            return Ok(Since::Told(Seq::ZERO));
        }
        if text == "now" {
            return Ok(Since::Told(limits.db.opened().seq()));
        }
        let (place, seal) = text.rsplit_once('-').unwrap_or_default();
        if limits.seal(place) != seal {
            let reason = "`since` was not given to this user by this database: begin with 0, or with `now`.";
            return Err(ApiError::bad_request(reason));
        }
        Self::parse(place)
    }

    /// As it is given to the user.
    fn sealed(&self, limits: &Limits) -> String {
        let place = self.to_string();
        format!("{place}-{}", limits.seal(&place))
    }

    fn parse(text: &str) -> Result<Self> {
        let bad = || ApiError::bad_request("Malformed sequence supplied in 'since' parameter.");
        let seq = |text: &str| text.parse::<Position>().map(|position| position.seq()).map_err(|_| bad());
        let parts: Vec<&str> = text.split('~').collect();
        match parts.as_slice() {
            [told] => Ok(Since::Told(seq(told)?)),
            [position, from, until] => Ok(Since::Within(position.parse().map_err(|_| bad())?, seq(from)?, seq(until)?)),
            _ => Err(bad()),
        }
    }
}

impl fmt::Display for Since {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Since::Told(seq) => write!(f, "{seq}"),
            Since::Within(position, from, until) => write!(f, "{position}~{from}~{until}"),
        }
    }
}

/// `/{db}/_changes`
pub async fn endpoint(mut request: Request, session: &Session, limits: Shared) -> Result<Answer> {
    only(&request, "GET,HEAD,POST")?;
    let body = request.posted_json().await?;
    let query = &request.query;
    if query.is_true("descending") {
        return Err(ApiError::bad_request("A feed within an access rule goes forwards."));
    }
    let source = Telling {
        feed: Feed::of(query, "Supported `feed` types: normal, continuous, live, longpoll, eventsource")?,
        patience: Patience::of(query)?,
        limit: query.number("limit")?.unwrap_or(u64::MAX).max(1),
        include_docs: query.is_true("include_docs"),
        filter: KeptFilter::of(&request, &body, &limits.db, Some(&*limits))?,
        since: Since::opened(named_since(&request).unwrap_or_default(), &limits)?,
        stamp: None,
        emitted: 0,
        under_way: None,
        begun: false,
        limits,
    };
    let standing = Standing::within_limits(session, &source.limits.db);
    feed::answer(&request.app, source, standing).await
}

/// The feed of a user.
struct Telling {
    feed: Feed,
    patience: Patience,
    limit: u64,
    include_docs: bool,
    filter: KeptFilter,
    limits: Shared,
    since: Since,
    /// What the last round was of, or something before it; `None`: it is not known.
    stamp: Option<Stamp>,
    emitted: u64,
    /// What a page has not come to the end of.
    under_way: Option<Round>,
    /// A page was made: the next round is of a later moment.
    begun: bool,
}

impl Source for Telling {
    type Stands = Since;

    fn feed(&self) -> Feed {
        self.feed
    }

    fn patience(&self) -> Patience {
        self.patience
    }

    fn emitted(&self) -> u64 {
        self.emitted
    }

    fn engine(&self) -> Arc<dyn Engine> {
        Arc::clone(self.limits.db.collection().store().engine())
    }

    fn seen(&self) -> Seq {
        self.stamp.as_ref().map_or(Seq::ZERO, |stamp| stamp.seq)
    }

    /// Reads of four rows.
    fn look(&mut self) -> Option<bool> {
        let now = self.limits.stamp().ok()?;
        let known = self.stamp.replace(now.clone());
        Some(known.is_none_or(|known| !known.is_as(&now)))
    }

    fn page(&mut self) -> Result<Page<Since>> {
        let mut text = String::new();
        let mut round = match self.under_way.take() {
            Some(round) => round,
            None => {
                if std::mem::replace(&mut self.begun, true) {
                    // What changes from here on wakes it. Of the first round it is not known: there is a second.
                    self.stamp = Some(self.limits.stamp()?);
                    self.limits = Arc::new(self.limits.renewed()?);
                }
                Round::of(&self.limits, &self.since, &self.filter)?
            }
        };
        let (mut caught_up, mut looked_at) = (false, 0);
        while self.emitted < self.limit && looked_at < FEED_PAGE && text.len() < CHUNK_BYTES {
            looked_at += 1;
            let Some(id) = round.next()? else {
                caught_up = round.until >= self.limits.db.opened().seq();
                break;
            };
            if let Some(row) = round.row(&self.limits, &id, &self.filter, self.include_docs)? {
                self.feed.push(&row, &round.stands().sealed(&self.limits), self.emitted == 0, &mut text);
                self.emitted += 1;
            }
        }
        self.since = round.stands();
        // A round that was begun by another request may end before the present moment: then there is one more.
        let ended = self.emitted >= self.limit || caught_up && self.feed.ends();
        if !round.ended {
            self.under_way = Some(round);
        }
        Ok(Page { text, ended, caught_up, behind: self.since.clone() })
    }

    fn end(&self, last: &Since) -> Result<String> {
        let pending = u8::from(!matches!(last, Since::Told(_)));
        let last = last.sealed(&self.limits);
        Ok(match self.feed {
            Feed::Normal | Feed::LongPoll => format!("\n],\n\"last_seq\":\"{last}\",\"pending\":{pending}}}\n"),
            Feed::Continuous | Feed::Lines => format!("{{\"last_seq\":\"{last}\",\"pending\":{pending}}}\n"),
            Feed::EventSource => String::new(),
        })
    }
}

/// What is to be told from one commit to another.
struct Round {
    before: CollectionAt,
    now: CollectionAt,
    from: Seq,
    until: Seq,
    /// Documents are looked at that have not changed: the rule or the user's roles have.
    all: bool,
    candidates: Candidates,
    position: Position,
    ended: bool,
}

/// The documents that are looked at.
enum Candidates {
    /// Those that have changed, whosoever they are.
    Changed(Box<Changes>),
    /// Those that the user may see, or might have.
    Indexed(Box<AccessChanges>),
}

impl Round {
    fn of(limits: &Limits, since: &Since, filter: &Filter) -> Result<Self> {
        let collection = limits.db.collection();
        let (from, until, position) = match since {
            Since::Told(from) => (*from, limits.db.opened().seq(), None),
            Since::Within(position, from, until) => (*from, *until, Some(position.clone())),
        };
        let from = from.min(until);
        let now = collection.at(At::Seq(until))?;
        let before = collection.at(At::Seq(from))?;
        let all = limits.changed_between(from, until) && from > Seq::ZERO;
        let position = position.unwrap_or_else(|| if all { Position::START } else { Position::from(from) });
        let candidates = match (filter.ids(), limits.index_of(&now, from)?) {
            (Some(ids), _) => {
                let changes = now.changes(position.clone()).filtered(&ChangeFilter::ids(ids)?);
                Candidates::Changed(Box::new(changes))
            }
            (None, Some((access, marks))) => Candidates::Indexed(Box::new(access.changes(&marks, &position)?)),
            (None, None) => Candidates::Changed(Box::new(now.changes(position.clone()))),
        };
        Ok(Round { before, now, from, until, all, candidates, position, ended: false })
    }

    /// The next document that is to be looked at.
    fn next(&mut self) -> Result<Option<String>> {
        let next = match &mut self.candidates {
            Candidates::Changed(changes) => {
                let change = changes.next().transpose()?;
                change.map(|change| (change.id.clone(), change.position()))
            }
            Candidates::Indexed(changes) => changes.next().transpose()?,
        };
        let Some((id, position)) = next else {
            self.ended = true;
            return Ok(None);
        };
        self.position = position;
        Ok(Some(id))
    }

    /// What is to be told of a document; `None`: nothing. A filter tests what the user may read. What they may not read
    /// any more is told past every filter of contents: the replica may have it from when it said something else.
    fn row(&self, limits: &Limits, id: &str, filter: &Filter, include_docs: bool) -> Result<Option<String>> {
        if !filter.takes_id(id) {
            return Ok(None);
        }
        let mut told = limits.told(&self.now, id)?;
        if self.until < limits.db.opened().seq() {
            // A round that another request began: what the rules of now hide is not told, and told to be gone later.
            told = still_readable(limits, &self.now, id, told)?;
        }
        let before =
            if self.from > Seq::ZERO && self.before.exists() { limits.told(&self.before, id)? } else { Vec::new() };
        if self.all && told == before && self.now.written_at(id)?.is_none_or(|seq| seq <= self.from) {
            return Ok(None);
        }
        let mut revs: Vec<RevId> = Vec::new();
        for own in &told {
            if !filter.asks_for_contents() || self.passes(limits, id, *own, filter)? {
                revs.push(limits.rev(id, *own));
            }
        }
        let passes = !revs.is_empty();
        revs.extend(limits.gone(id, &before, &told, &self.now)?);
        let Some(first) = revs.first() else { return Ok(None) };
        let deleted = if passes { "" } else { ",\"deleted\":true" };
        let best = told.first().filter(|_| include_docs && passes);
        let doc = match best.map_or(Ok(None), |own| revision(limits, &self.now, id, *own))? {
            _ if !include_docs => String::new(),
            Some(best) => format!(",\"doc\":{}", filter.shown(best.to_json(id))),
            None => format!(",\"doc\":{{\"_id\":{},\"_rev\":\"{first}\",\"_deleted\":true}}", quote(id)),
        };
        let revs: Vec<String> = revs.iter().map(|rev| format!("{{\"rev\":\"{rev}\"}}")).collect();
        let seq = self.stands().sealed(limits);
        Ok(Some(format!("{{\"seq\":\"{seq}\",\"id\":{},\"changes\":[{}]{deleted}{doc}}}", quote(id), revs.join(","))))
    }

    /// Whether a leaf that the user may read passes the filter. Each leaf is asked about, as without a rule.
    fn passes(&self, limits: &Limits, id: &str, own: Told, filter: &Filter) -> Result<bool> {
        let leaf = revision(limits, &self.now, id, own)?;
        leaf.map_or(Ok(false), |leaf| filter.takes_document(&document_of(id, &leaf)))
    }

    /// Where a feed stands behind the last document.
    fn stands(&self) -> Since {
        if self.ended { Since::Told(self.until) } else { Since::Within(self.position.clone(), self.from, self.until) }
    }
}

/// Those of the leaves of a document at an earlier moment that the user may read now.
fn still_readable(limits: &Limits, then: &CollectionAt, id: &str, told: Vec<Told>) -> Result<Vec<Told>> {
    let mut still = Vec::with_capacity(told.len());
    for own in told {
        if let Some(revision) = then.get_revision(id, &own.real)?
            && limits.may_read(id, &revision)
            && limits.stands_on(id, &own.real)?
        {
            still.push(own);
        }
    }
    Ok(still)
}

/// The present moment, as a feed's place that a user is given.
pub(super) fn now(limits: &Limits) -> String {
    Since::Told(limits.db.opened().seq()).sealed(limits)
}

/// A leaf as the user is told of it: under their name for it.
pub(super) fn revision(limits: &Limits, at: &CollectionAt, id: &str, told: Told) -> Result<Option<Revision>> {
    let rev = limits.rev(id, told);
    Ok(at.get_revision(id, &told.real)?.map(|revision| Revision { rev, ..revision }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_read_or_refused() {
        let read = |text| Since::parse(text).ok();
        assert_eq!(read("7"), Some(Since::Told(Seq(7))));
        assert_eq!(read("5~3~8"), Some(Since::Within(Position::from(Seq(5)), Seq(3), Seq(8))));
        for text in ["x", "5~3", "5~3~8~9", "~~"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
