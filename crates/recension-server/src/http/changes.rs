//! `_changes`: what has changed, once (normal), when there is something (longpoll), or as it comes (continuous,
//! eventsource). Every feed is read in pages: between two of them it is a position, and nothing else. A feed that waits
//! holds no thread, and is woken by the engine's next commit.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;
use std::time::Duration;

use http::header::CACHE_CONTROL;
use recension::document::json::quote;
use recension::document::{Change, CollectionAt, Position};
use recension::engine::Seq;
use tokio::time::{Instant, sleep_until};

use super::changes_query::{ChangesQuery, Feed, Style};
use super::reading::{Extras, Shown};
use crate::answer::{Answer, Gone, Sink, pieces};
use crate::databases::Database;
use crate::dispatch::only;
use crate::error::Result;
use crate::limits::{CHUNK_BYTES, FEED_PAGE, PENDING_COUNTED_MAX};
use crate::request::Request;
use crate::state::App;

/// `/{db}/_changes`
pub(crate) async fn endpoint(mut request: Request, db: Database) -> Result<Answer> {
    only(&request, "GET,POST,HEAD")?;
    let asked = ChangesQuery::of(&mut request, &db).await?;
    let app = Arc::clone(&request.app);
    let mut reader = Reader::new(db, Arc::new(asked))?;
    // The first page is made before the head is sent, so that what cannot be read is a refusal.
    let (first, reader) = app
        .blocking(move || {
            let first = reader.page()?;
            Ok((first, reader))
        })
        .await?;
    let feed = reader.asked.feed;
    if feed == Feed::Normal && first.ended {
        let text = format!("{{\"results\":[\n{}{}", first.text, reader.end()?);
        return Ok(Answer::of(http::StatusCode::OK, "application/json", text));
    }
    let (sink, answer) = pieces();
    tokio::spawn(async move {
        app.metrics.feeds.fetch_add(1, Ordering::Relaxed);
        // Who has gone needs no answer any more.
        let _ = run(&app, reader, first, sink).await;
        app.metrics.feeds.fetch_sub(1, Ordering::Relaxed);
    });
    let content_type = if feed == Feed::EventSource { "text/event-stream" } else { "application/json" };
    let answer = Answer::streamed(content_type, answer);
    Ok(if feed == Feed::EventSource { answer.with(CACHE_CONTROL, "no-cache") } else { answer })
}

/// Sends pages as they come, until the feed ends.
async fn run(app: &Arc<App>, mut reader: Reader, mut page: Page, sink: Sink) -> std::result::Result<(), Gone> {
    let feed = reader.asked.feed;
    if matches!(feed, Feed::Normal | Feed::LongPoll) {
        sink.send("{\"results\":[\n").await?;
    }
    let patience = reader.asked.timeout;
    let mut gives_up = patience.map(|patience| Instant::now() + patience);
    loop {
        let sent = !page.text.is_empty();
        if sent {
            sink.send(std::mem::take(&mut page.text)).await?;
            gives_up = patience.map(|patience| Instant::now() + patience);
        }
        let done = page.ended || (feed == Feed::LongPoll && reader.emitted > 0 && page.caught_up);
        if done || (page.caught_up && !wait(app, &mut reader, &sink, gives_up).await?) {
            break;
        }
        let mut moved = reader;
        match app.blocking(move || Ok((moved.page()?, moved))).await {
            Ok((next, back)) => (page, reader) = (next, back),
            Err(error) => {
                tracing::error!(reason = %error.reason, "a feed was broken off");
                return Err(Gone);
            }
        }
    }
    // Without its end the answer is broken off.
    let end = app.blocking(move || reader.end()).await.map_err(|_| Gone)?;
    sink.send(end).await?;
    sink.finish().await;
    Ok(())
}

/// A time that no feed lives to see.
const FAR_AWAY: Duration = Duration::from_hours(365 * 24);

/// Waits for a change of the database, sending heartbeats. Answers `false` where the feed is to end.
async fn wait(
    app: &App,
    reader: &mut Reader,
    sink: &Sink,
    gives_up: Option<Instant>,
) -> std::result::Result<bool, Gone> {
    let heartbeat = reader.asked.heartbeat;
    let never = Instant::now() + FAR_AWAY;
    let mut beats = heartbeat.map(|every| Instant::now() + every);
    loop {
        let engine = Arc::clone(reader.db.collection().store().engine());
        let seen = reader.seen;
        let woken =
            poll_fn(|context| if engine.wake_beyond(seen, context.waker()) { Poll::Ready(()) } else { Poll::Pending });
        tokio::select! {
            () = woken => match reader.look() {
                Some(true) => return Ok(true),
                // Another database has changed.
                Some(false) => {}
                // The database is no more.
                None => return Ok(false),
            },
            () = sleep_until(beats.unwrap_or(never)), if beats.is_some() => {
                sink.send(if reader.asked.feed == Feed::EventSource { "event: heartbeat\ndata: \n\n" } else { "\n" }).await?;
                beats = heartbeat.map(|every| Instant::now() + every);
            }
            () = sleep_until(gives_up.unwrap_or(never)), if gives_up.is_some() => return Ok(false),
            () = app.stopped() => return Ok(false),
            () = sink.closed() => return Err(Gone),
        }
    }
}

/// Some rows of a feed.
struct Page {
    text: String,
    /// The feed ends here: its limit is reached, or nothing more is to come.
    ended: bool,
    /// All that there is has been read.
    caught_up: bool,
}

/// Where a feed stands.
struct Reader {
    db: Database,
    asked: Arc<ChangesQuery>,
    position: Position,
    emitted: u64,
    /// The commit up to which there is nothing that was not read.
    seen: Seq,
    /// The collection's last change, when it was last looked at.
    changed: Seq,
    /// Where a normal feed ends: what comes later is for the next one.
    until: CollectionAt,
    /// Changes that were looked at in this request.
    looked_at: u64,
}

impl Reader {
    fn new(db: Database, asked: Arc<ChangesQuery>) -> Result<Self> {
        let until = db.now()?;
        let position = asked.since.clone().unwrap_or_else(|| Position::from(until.seq()));
        Ok(Reader { db, asked, position, emitted: 0, seen: Seq::ZERO, changed: Seq::ZERO, until, looked_at: 0 })
    }

    /// Whether the database has changed since the last page; `None`: it is no more. Two reads of single rows.
    fn look(&mut self) -> Option<bool> {
        let now = self.db.now().ok().filter(CollectionAt::exists)?;
        self.seen = now.seq();
        let changed = now.counts().ok()?.changed;
        Some(std::mem::replace(&mut self.changed, changed) != changed)
    }

    /// The next rows. It reads, so that it is not for async code.
    fn page(&mut self) -> Result<Page> {
        let asked = Arc::clone(&self.asked);
        let at = if asked.feed == Feed::Normal { self.until.clone() } else { self.db.now()? };
        (self.seen, self.changed) = (at.seq(), at.counts()?.changed);
        let mut page = Page { text: String::new(), ended: self.emitted >= asked.limit, caught_up: false };
        let mut changes = self.source(&at)?;
        let mut next = changes.next().transpose()?;
        let mut looked_at = 0;
        while let Some(change) = next.take().filter(|_| self.emitted < asked.limit) {
            next = changes.next().transpose()?;
            // Within a commit of several documents a position says where; behind its last one, the commit is enough.
            let within = next.as_ref().is_some_and(|next| next.seq == change.seq);
            let position = if within && !asked.descending { change.position() } else { Position::from(change.seq) };
            if asked.filter.takes(&at, &change)? {
                self.push(&at, &change, &position, &mut page.text)?;
            }
            self.position = position;
            self.looked_at += 1;
            looked_at += 1;
            let enough = looked_at >= FEED_PAGE || page.text.len() >= CHUNK_BYTES;
            if enough && next.is_some() && !asked.descending && asked.filter.ids().is_none() {
                page.ended = self.emitted >= asked.limit;
                return Ok(page);
            }
        }
        page.ended = self.emitted >= asked.limit;
        page.caught_up = next.is_none();
        if page.caught_up {
            if !asked.descending {
                self.position = self.position.clone().max_of(at.seq(), page.ended);
            }
            page.ended |= asked.feed == Feed::Normal;
        }
        Ok(page)
    }

    /// The changes that are to be looked at.
    fn source(&self, at: &CollectionAt) -> Result<Box<dyn Iterator<Item = recension::document::Result<Change>>>> {
        if let Some(ids) = self.asked.filter.ids() {
            return self.of_ids(at, ids);
        }
        if self.asked.descending {
            return Ok(Box::new(at.changes_backward()));
        }
        Ok(Box::new(at.changes(self.position.clone())))
    }

    /// The changes of some documents, by looking at each of them: a feed of few documents reads those only.
    fn of_ids(
        &self,
        at: &CollectionAt,
        ids: &[String],
    ) -> Result<Box<dyn Iterator<Item = recension::document::Result<Change>>>> {
        let mut changes = Vec::new();
        for id in ids {
            if let Some(document) = at.current(id)?
                && document.seq > self.position.seq()
            {
                let collection = Arc::from(at.name());
                let (rev, deleted, seq) = (document.rev, document.deleted, document.seq);
                changes.push(Change { collection, id: id.clone(), seq, rev, deleted });
            }
        }
        changes.sort_by(|a, b| (a.seq, &a.id).cmp(&(b.seq, &b.id)));
        if self.asked.descending {
            changes.reverse();
        }
        Ok(Box::new(changes.into_iter().map(Ok)))
    }

    fn push(&mut self, at: &CollectionAt, change: &Change, position: &Position, out: &mut String) -> Result<()> {
        let revs = match self.asked.style {
            Style::MainOnly => format!("{{\"rev\":\"{}\"}}", change.rev),
            Style::AllDocs => {
                let leaves = at.leaves(&change.id)?;
                let revs: Vec<String> = leaves.iter().map(|leaf| format!("{{\"rev\":\"{}\"}}", leaf.rev)).collect();
                revs.join(",")
            }
        };
        let deleted = if change.deleted { ",\"deleted\":true" } else { "" };
        let doc = if self.asked.include_docs { format!(",\"doc\":{}", self.doc(at, change)?) } else { String::new() };
        let row = format!("{{\"seq\":\"{position}\",\"id\":{},\"changes\":[{revs}]{deleted}{doc}}}", quote(&change.id));
        match self.asked.feed {
            Feed::Normal | Feed::LongPoll => {
                out.push_str(if self.emitted == 0 { "" } else { ",\n" });
                out.push_str(&row);
            }
            Feed::Continuous => {
                out.push_str(&row);
                out.push('\n');
            }
            Feed::EventSource => {
                for part in ["data: ", &row, "\nid: \"", &position.to_string(), "\"\n\n"] {
                    out.push_str(part);
                }
            }
        }
        self.emitted += 1;
        Ok(())
    }

    fn doc(&self, at: &CollectionAt, change: &Change) -> Result<String> {
        // Between the feed's row and this read nothing has changed: both are of one moment.
        let Some(document) = at.current(&change.id)? else { return Ok("null".to_owned()) };
        let shown = Shown {
            id: &document.id,
            rev: document.rev,
            seq: document.seq.0,
            deleted: document.deleted,
            body: &document.body,
            attachments: &document.attachments,
        };
        shown.to_json(at, Extras { conflicts: self.asked.conflicts, ..Extras::default() })
    }

    /// What ends the feed: where it stands, and how many changes lie behind.
    fn end(&self) -> Result<String> {
        let (last, pending) = (&self.position, self.pending()?);
        Ok(match self.asked.feed {
            Feed::Normal | Feed::LongPoll => format!("\n],\n\"last_seq\":\"{last}\",\"pending\":{pending}}}\n"),
            Feed::Continuous => format!("{{\"last_seq\":\"{last}\",\"pending\":{pending}}}\n"),
            Feed::EventSource => String::new(),
        })
    }

    /// Changes behind the position: told from the counts where the feed began at the start, counted up to a bound otherwise.
    fn pending(&self) -> Result<u64> {
        if self.emitted < self.asked.limit {
            return Ok(0);
        }
        let at = &self.until;
        let from_start = self.asked.since.as_ref() == Some(&Position::START);
        if (from_start || self.asked.descending) && self.asked.filter.ids().is_none() {
            let counts = at.counts()?;
            return Ok((counts.documents + counts.deleted).saturating_sub(self.looked_at));
        }
        let behind = at.changes(self.position.clone()).take(PENDING_COUNTED_MAX);
        let mut pending = 0;
        for change in behind {
            change?;
            pending += 1;
        }
        Ok(pending)
    }
}

/// The greater of two positions.
trait MaxOf {
    fn max_of(self, seq: Seq, keep: bool) -> Position;
}

impl MaxOf for Position {
    /// Behind all of commit `seq`, where all up to it was looked at.
    fn max_of(self, seq: Seq, keep: bool) -> Position {
        if keep || self.seq() >= seq { self } else { Position::from(seq) }
    }
}
