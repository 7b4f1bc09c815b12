//! `_changes` within limits: the changes for a user's replica since the moment up to which it was told before.
//! docs/decisions/0070-access.md says why that is right.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use recension::document::json::quote;
use recension::document::{At, Changes, CollectionAt, Position};
use recension::engine::Seq;
use tokio::time::{Instant, sleep_until};

use super::limits::{Limits, Shared};
use crate::answer::Answer;
use crate::dispatch::only;
use crate::error::{ApiError, Result};
use crate::http::feed::Patience;
use crate::http::streaming;
use crate::request::Request;

/// How long a `longpoll` with heartbeats waits; heartbeats are not sent here.
const LONGPOLL: Duration = Duration::from_secs(25);

/// Where a feed stands.
#[derive(Clone, Debug, PartialEq)]
enum Since {
    /// Everything up to a commit was told.
    Told(Seq),
    /// A feed that was read in part: up to a position, among the changes from one commit to another.
    Within(Position, Seq, Seq),
}

impl Since {
    fn parse(text: &str, now: Seq) -> Result<Self> {
        let bad = || ApiError::bad_request("Malformed sequence supplied in 'since' parameter.");
        let seq = |text: &str| text.parse::<Position>().map(|position| position.seq()).map_err(|_| bad());
        let text = text.trim_matches('"');
        if matches!(text, "" | "0" | "null") {
            return Ok(Since::Told(Seq::ZERO));
        }
        if text == "now" {
            return Ok(Since::Told(now));
        }
        let parts: Vec<&str> = text.split('~').collect();
        match parts.as_slice() {
            [told] => Ok(Since::Told(seq(told)?)),
            [position, from, until] => Ok(Since::Within(position.parse().map_err(|_| bad())?, seq(from)?, seq(until)?)),
            _ => Err(bad()),
        }
    }
}

/// `/{db}/_changes`
pub(super) async fn endpoint(request: Request, limits: Shared) -> Result<Answer> {
    only(&request, "GET,HEAD,POST")?;
    let query = &request.query;
    for name in ["filter", "view", "doc_ids"] {
        if query.get(name).is_some() {
            return Err(ApiError::bad_request(format!("A feed within an access rule takes no `{name}`.")));
        }
    }
    if query.is_true("descending") {
        return Err(ApiError::bad_request("A feed within an access rule goes forwards."));
    }
    let waits = match query.get("feed") {
        None | Some("normal") => false,
        Some("longpoll") => true,
        Some(_) => return Err(ApiError::bad_request("Supported `feed` types within an access rule: normal, longpoll")),
    };
    let now = limits.db.opened().seq();
    let since = Since::parse(query.get("since").unwrap_or_default(), now)?;
    let limit = query.number("limit")?.unwrap_or(u64::MAX).max(1);
    let include_docs = query.is_true("include_docs");
    let app = Arc::clone(&request.app);
    let deadline = Instant::now() + Patience::of(query)?.timeout.unwrap_or(LONGPOLL);
    let (mut limits, mut since) = (limits, since);
    loop {
        let (own, from) = (Arc::clone(&limits), since.clone());
        let rows = app.streams.read(move || Rows::of(own, &from, limit, include_docs)).await?;
        let (rows, empty) = app.blocking(move || rows.peeked()).await?;
        if !empty || !waits || Instant::now() >= deadline {
            return streaming::json(&app, "{\"results\":[".to_owned(), rows, "").await;
        }
        // The feed has no rows up to here.
        since = Since::Told(rows.until);
        let engine = Arc::clone(limits.db.collection().store().engine());
        let seen = rows.until;
        let woken =
            poll_fn(|context| if engine.wake_beyond(seen, context.waker()) { Poll::Ready(()) } else { Poll::Pending });
        tokio::select! {
            () = woken => {}
            () = sleep_until(deadline) => {}
            () = app.stopped() => return streaming::json(&app, "{\"results\":[".to_owned(), rows, "").await,
        }
        limits = app.blocking(move || limits.renewed().map(Arc::new)).await?;
    }
}

/// The rows of a feed, and what comes behind them.
struct Rows {
    limits: Shared,
    before: CollectionAt,
    now: CollectionAt,
    from: Seq,
    until: Seq,
    /// All documents are looked at: the rule or the user's roles have changed.
    all: bool,
    changes: Changes,
    position: Position,
    left: u64,
    include_docs: bool,
    /// The first row, which was read ahead.
    first: Option<String>,
    written: u64,
    ended: bool,
}

impl Rows {
    fn of(limits: Shared, since: &Since, limit: u64, include_docs: bool) -> Result<Self> {
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
        let changes = now.changes(position.clone());
        Ok(Rows {
            limits,
            before,
            now,
            from,
            until,
            all,
            changes,
            position,
            left: limit,
            include_docs,
            first: None,
            written: 0,
            ended: false,
        })
    }

    /// With the first row read ahead, and whether there is none.
    fn peeked(mut self) -> Result<(Self, bool)> {
        self.first = self.next_row()?;
        let empty = self.first.is_none();
        Ok((self, empty))
    }

    fn next_row(&mut self) -> Result<Option<String>> {
        if self.left == 0 {
            return Ok(None);
        }
        while let Some(change) = self.changes.next().transpose()? {
            self.position = change.position();
            if let Some(row) = self.row(&self.limits, &change.id)? {
                self.left -= 1;
                return Ok(Some(row));
            }
        }
        self.ended = true;
        Ok(None)
    }

    /// The row of a document; `None` if there is nothing to tell.
    fn row(&self, limits: &Limits, id: &str) -> Result<Option<String>> {
        let told = limits.told(&self.now, id)?;
        let before =
            if self.from > Seq::ZERO && self.before.exists() { limits.told(&self.before, id)? } else { Vec::new() };
        if self.all && told == before && self.now.written_at(id)?.is_none_or(|seq| seq <= self.from) {
            return Ok(None);
        }
        let mut revs: Vec<String> = told.iter().map(|own| limits.rev(id, *own).to_string()).collect();
        revs.extend(limits.gone(id, &before, &told, &self.now)?.iter().map(ToString::to_string));
        if revs.is_empty() {
            return Ok(None);
        }
        let deleted = if told.is_empty() { ",\"deleted\":true" } else { "" };
        let doc = match told.first().filter(|_| self.include_docs) {
            Some(own) => {
                let rev = limits.rev(id, *own);
                let revision = self.now.get_revision(id, &own.real)?;
                let text = revision.map(|revision| recension::document::Revision { rev, ..revision }.to_json(id));
                format!(",\"doc\":{}", text.as_deref().unwrap_or("null"))
            }
            None => String::new(),
        };
        let revs: Vec<String> = revs.iter().map(|rev| format!("{{\"rev\":\"{rev}\"}}")).collect();
        let seq = self.stands();
        Ok(Some(format!("{{\"seq\":\"{seq}\",\"id\":{},\"changes\":[{}]{deleted}{doc}}}", quote(id), revs.join(","))))
    }

    /// The feed's position behind the last row.
    fn stands(&self) -> String {
        if self.ended { self.until.to_string() } else { format!("{}~{}~{}", self.position, self.from, self.until) }
    }
}

impl streaming::Rows for Rows {
    fn write_next(&mut self, out: &mut Vec<u8>) -> Result<bool> {
        if self.written == u64::MAX {
            return Ok(false);
        }
        let row = match self.first.take() {
            Some(row) => Some(row),
            None => self.next_row()?,
        };
        let Some(row) = row else {
            self.written = u64::MAX;
            let pending = u8::from(!self.ended);
            out.extend_from_slice(
                format!("\n],\n\"last_seq\":\"{}\",\"pending\":{pending}}}\n", self.stands()).as_bytes(),
            );
            return Ok(true);
        };
        out.extend_from_slice(if self.written == 0 { b"\n" } else { b",\n" });
        out.extend_from_slice(row.as_bytes());
        self.written += 1;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_read_or_refused() {
        let read = |text| Since::parse(text, Seq(9)).ok();
        assert_eq!(read("0"), Some(Since::Told(Seq::ZERO)));
        assert_eq!(read("now"), Some(Since::Told(Seq(9))));
        assert_eq!(read("\"7\""), Some(Since::Told(Seq(7))));
        assert_eq!(read("5~3~8"), Some(Since::Within(Position::from(Seq(5)), Seq(3), Seq(8))));
        for text in ["x", "5~3", "5~3~8~9", "~~"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
