//! `_changes`: what has changed in a database. `feed.rs` sends it.

use std::iter::Peekable;
use std::sync::Arc;

use recension::engine::{Engine, Seq};
use recension::json::quote;
use recension::{Change, Changes, CollectionAt, Position, RevId};

use super::changes_query::{ChangesQuery, Style};
use super::feed::{self, Feed, Page, Patience, Source};
use super::format::Format;
use super::reading::{Extras, Shown};
use super::sequence::Sequence;
use recension_app::auth::databases::Database;
use recension_app::auth::standing::Standing;
use recension_app::auth::{Access, Session};
use recension_app::request::{Request, only};
use recension_wire::answer::Answer;
use recension_wire::error::{ApiError, Result};
use recension_wire::limits::{CHANGES_LIMIT_DEFAULT, CHUNK_BYTES, FEED_PAGE, PENDING_COUNTED_MAX};

/// `/{db}/_changes`
pub async fn endpoint(mut request: Request, session: &Session, db: &str) -> Result<Answer> {
    let db = session.database(db, Access::Member)?;
    let standing = Standing::in_database(session, &db);
    only(&request, "GET,POST,HEAD")?;
    let mut asked = ChangesQuery::of(&mut request, &db).await?;
    if request.format(&[Format::Lines]) == Format::Lines {
        asked.feed = asked.feed.in_lines();
    }
    if let Some(since) = asked.since.as_ref().map(|since| since.position.seq())
        && since > request.app.databases.head()
    {
        let app = Arc::clone(&request.app);
        // Another server of this store may be ahead of this one. If none is, the store was put back to an older copy,
        // or the position is of another one: only the whole feed has everything that the client may not have.
        if since > request.app.blocking(move || app.databases.refresh()).await? {
            asked.since = Some(Sequence::default());
        }
    }
    Ok(feed::answer(&request.app, Reader::new(db, Arc::new(asked))?, standing).await?.varying("Accept"))
}

/// Where a feed stands.
struct Reader {
    db: Database,
    asked: Arc<ChangesQuery>,
    stands: Sequence,
    emitted: u64,
    /// All changes up to this commit were read.
    seen: Seq,
    /// The collection's last change, when it was last looked at.
    changed: Seq,
    /// The end of a normal feed: later changes are for the next request.
    until: CollectionAt,
    /// Changes that were looked at in this request.
    looked_at: u64,
    /// Some changes were passed over: they do not match the filter.
    passed_over: bool,
    /// The rest of the changes that the last page did not come to.
    under_way: Option<Walk>,
}

/// Changes up to a moment.
struct Walk {
    at: CollectionAt,
    /// All of them match the filter.
    tested: bool,
    /// It ends before changes up to this commit.
    after: Seq,
    /// The number of updates at its end.
    updates: u64,
    changes: Peekable<Changes>,
}

impl Walk {
    fn peek(&mut self) -> Result<Option<&Change>> {
        match self.changes.next_if(std::result::Result::is_err) {
            Some(error) => error.map(|_| None).map_err(ApiError::from),
            None => Ok(self.changes.peek().and_then(|change| change.as_ref().ok()).filter(|c| c.seq > self.after)),
        }
    }

    /// Behind all changes up to its moment.
    fn end(&self, stands: &Position) -> Sequence {
        let position = if stands.seq() < self.at.seq() { self.at.seq().into() } else { stands.clone() };
        Sequence { number: self.updates, position }
    }

    fn next(&mut self) -> Result<Option<Change>> {
        Ok(if self.peek()?.is_some() { self.changes.next().transpose()? } else { None })
    }
}

impl Reader {
    fn new(db: Database, asked: Arc<ChangesQuery>) -> Result<Self> {
        let until = db.now()?;
        let stands = match &asked.since {
            Some(since) => since.clone(),
            None => Sequence { number: until.counts()?.updates(), position: Position::from(until.seq()) },
        };
        Ok(Reader {
            db,
            asked,
            stands,
            emitted: 0,
            seen: Seq::ZERO,
            changed: Seq::ZERO,
            until,
            looked_at: 0,
            passed_over: false,
            under_way: None,
        })
    }

    /// The changes that are to be looked at, from where the feed stands.
    fn walk(&mut self, at: CollectionAt) -> Result<Walk> {
        let counts = at.counts()?;
        (self.seen, self.changed) = (at.seq(), counts.changed);
        let Reader { asked, stands: Sequence { position, .. }, .. } = self;
        let around = asked.filter.around(&at, asked.style)?;
        let all = if asked.descending { at.changes_backward() } else { at.changes(position.clone()) };
        let changes = match &around {
            Some(filter) => all.filtered(filter),
            None => all,
        };
        // A backward feed of ids ends at `since`; other backward feeds ignore it.
        let after = if asked.descending && asked.filter.ids().is_some() { position.seq() } else { Seq::ZERO };
        Ok(Walk { at, tested: around.is_some(), after, updates: counts.updates(), changes: changes.peekable() })
    }

    /// The revisions that the row of a change has. None: the feed does not have the change. What a document says is
    /// asked of each leaf, so that a replication brings the losing ones that the filter lets through, and no other.
    fn revs(&self, walk: &Walk, change: &Change) -> Result<Vec<RevId>> {
        let Reader { asked, .. } = self;
        if asked.style == Style::AllDocs && !walk.tested && asked.filter.asks_for_contents() {
            return asked.filter.leaves(&walk.at, &change.id);
        }
        if !walk.tested && !asked.filter.takes(&walk.at, change)? {
            return Ok(Vec::new());
        }
        Ok(match asked.style {
            Style::MainOnly => vec![change.rev],
            Style::AllDocs => walk.at.leaves(&change.id)?.iter().map(|leaf| leaf.rev).collect(),
        })
    }

    fn push(&mut self, at: &CollectionAt, change: &Change, revs: &[RevId], out: &mut String) -> Result<()> {
        let revs: Vec<String> = revs.iter().map(|rev| format!("{{\"rev\":\"{rev}\"}}")).collect();
        let revs = revs.join(",");
        let deleted = if change.deleted { ",\"deleted\":true" } else { "" };
        let doc = if self.asked.include_docs { format!(",\"doc\":{}", self.doc(at, change)?) } else { String::new() };
        // CouchDB's seqs take time to make, so that clients can ask for them in some rows only. It counts the rows that
        // the limit leaves.
        let left = self.asked.limit.min(CHANGES_LIMIT_DEFAULT).saturating_sub(self.emitted);
        let seq = if left.is_multiple_of(self.asked.seq_interval) {
            format!("\"{}\"", self.stands)
        } else {
            "null".to_owned()
        };
        let row = format!("{{\"seq\":{seq},\"id\":{},\"changes\":[{revs}]{deleted}{doc}}}", quote(&change.id));
        self.asked.feed.push(&row, &self.stands, self.emitted == 0, out);
        self.emitted += 1;
        Ok(())
    }

    fn doc(&self, at: &CollectionAt, change: &Change) -> Result<String> {
        // The feed's row and this read are of the same moment.
        let Some(document) = at.current(&change.id)? else { return Ok("null".to_owned()) };
        let shown = Shown::of_document(&document);
        let extras = Extras { conflicts: self.asked.conflicts, ..Extras::default() };
        Ok(self.asked.filter.shown(self.asked.inline.text(at, shown, extras)?))
    }

    /// How many changes lie behind the position, as CouchDB counts them.
    fn pending(&self, stands: &Sequence) -> Result<u64> {
        if self.asked.filter.is_looked_up() && !self.asked.descending {
            let all = self.asked.since.as_ref().map_or(Ok(0), |since| self.behind(&since.position))?;
            return Ok(all.saturating_sub(self.emitted));
        }
        if self.emitted < self.asked.limit {
            return Ok(0);
        }
        let from_start = self.asked.since.as_ref().is_some_and(|since| since.position == Position::START);
        if (from_start || self.asked.descending) && !self.passed_over && *stands == self.stands {
            return Ok(self.behind(&Position::START)?.saturating_sub(self.looked_at));
        }
        self.behind(&stands.position)
    }

    /// How many changes lie behind a position: known from the counts at the start, otherwise counted up to a bound.
    fn behind(&self, position: &Position) -> Result<u64> {
        if *position == Position::START {
            let counts = self.until.counts()?;
            return Ok(counts.documents + counts.deleted);
        }
        let behind = self.until.changes(position.clone()).take(PENDING_COUNTED_MAX);
        let mut pending = 0;
        for change in behind {
            change?;
            pending += 1;
        }
        Ok(pending)
    }
}

impl Source for Reader {
    type Stands = Sequence;

    fn feed(&self) -> Feed {
        self.asked.feed
    }

    fn patience(&self) -> Patience {
        self.asked.patience
    }

    fn emitted(&self) -> u64 {
        self.emitted
    }

    fn engine(&self) -> Arc<dyn Engine> {
        Arc::clone(self.db.collection().store().engine())
    }

    fn seen(&self) -> Seq {
        self.seen
    }

    /// It reads two rows.
    fn look(&mut self) -> Option<bool> {
        let now = self.db.now().ok().filter(CollectionAt::exists)?;
        self.seen = now.seq();
        let changed = now.counts().ok()?.changed;
        Some(std::mem::replace(&mut self.changed, changed) != changed)
    }

    fn page(&mut self) -> Result<Page<Sequence>> {
        let asked = Arc::clone(&self.asked);
        let mut page = Page {
            text: String::new(),
            ended: self.emitted >= asked.limit,
            caught_up: false,
            behind: self.stands.clone(),
        };
        let mut walk = match self.under_way.take() {
            Some(walk) => walk,
            None => {
                let at = if asked.feed.ends() { self.until.clone() } else { self.db.now()? };
                self.walk(at)?
            }
        };
        self.passed_over |= walk.tested;
        let mut looked_at = 0;
        while self.emitted < asked.limit {
            let Some(change) = walk.next()? else {
                page.caught_up = true;
                break;
            };
            // Between documents of one commit, a position names the document too; behind the last one, the commit is
            // enough.
            let within = walk.peek()?.is_some_and(|next| next.seq == change.seq);
            let position = if within && !asked.descending { change.position() } else { Position::from(change.seq) };
            self.looked_at += 1;
            let number = if asked.descending {
                (walk.updates + 1).saturating_sub(self.looked_at)
            } else {
                self.stands.number.saturating_add(1)
            };
            self.stands = Sequence { number, position };
            let revs = self.revs(&walk, &change)?;
            if !revs.is_empty() {
                self.push(&walk.at, &change, &revs, &mut page.text)?;
            }
            looked_at += 1;
            if looked_at >= FEED_PAGE || page.text.len() >= CHUNK_BYTES {
                break;
            }
        }
        page.ended = self.emitted >= asked.limit;
        page.caught_up |= walk.peek()?.is_none();
        if page.caught_up {
            if !asked.descending && !page.ended {
                self.stands = walk.end(&self.stands.position);
            }
            page.ended |= asked.feed.ends();
        } else if !page.ended {
            self.under_way = Some(walk);
        }
        page.behind = self.stands.clone();
        Ok(page)
    }

    /// The end of the feed, with how many changes lie behind the position.
    fn end(&self, last: &Sequence) -> Result<String> {
        let pending = self.pending(last)?;
        Ok(match self.asked.feed {
            Feed::Normal | Feed::LongPoll => format!("\n],\n\"last_seq\":\"{last}\",\"pending\":{pending}}}\n"),
            Feed::Continuous | Feed::Lines => format!("{{\"last_seq\":\"{last}\",\"pending\":{pending}}}\n"),
            Feed::EventSource => String::new(),
        })
    }
}
