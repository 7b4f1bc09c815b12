//! `_db_updates`: databases that were made, written to or dropped, with the last event of each kind. `feed.rs` sends
//! it.

use std::cmp::Reverse;
use std::sync::Arc;

use recension::Position;
use recension::engine::{Engine, Seq};
use recension::json::quote;

use super::feed::{self, Feed, Page, Patience, Source};
use super::sequence::Sequence;
use recension_app::auth::standing::Standing;
use recension_app::auth::{ServerAdmin, Session};
use recension_app::request::{Request, only};
use recension_app::state::App;
use recension_wire::answer::Answer;
use recension_wire::error::{ApiError, Result};

/// `/_db_updates`
pub async fn endpoint(request: Request, session: &Session) -> Result<Answer> {
    only(&request, "GET,HEAD")?;
    let proof = session.server_admin()?;
    let query = &request.query;
    if query.get("branch").is_some() {
        let reason = "This feed is of the main line; `/{db}@{branch}/_changes` follows a database of a branch.";
        return Err(ApiError::query_parse(reason));
    }
    let app = Arc::clone(&request.app);
    let since = match Sequence::parse(query.get("since"))?.map(|since| since.position) {
        // As for a feed of changes: it is of a store that has gone back to an older copy.
        Some(since) if since.seq() > app.databases.engine(proof).head() => Seq::ZERO,
        Some(since) => since.seq(),
        None => app.databases.engine(proof).head(),
    };
    let updates = Updates {
        feed: Feed::of(query, "Supported `feed` types: normal, continuous, live, longpoll, eventsource")?,
        patience: Patience::of(query)?,
        limit: query.number("limit")?.unwrap_or(u64::MAX),
        descending: query.flag("descending")?,
        app,
        proof,
        position: since,
        emitted: 0,
        seen: Seq::ZERO,
    };
    feed::answer(&request.app, updates, Standing::of_server_admin(session)).await
}

/// Where the feed stands.
struct Updates {
    app: Arc<App>,
    proof: ServerAdmin,
    feed: Feed,
    patience: Patience,
    limit: u64,
    descending: bool,
    position: Seq,
    emitted: u64,
    seen: Seq,
}

impl Source for Updates {
    type Stands = Position;

    fn feed(&self) -> Feed {
        self.feed
    }

    fn patience(&self) -> Patience {
        self.patience
    }

    fn emitted(&self) -> u64 {
        self.emitted
    }

    /// A page has all that there is: up to three rows for each database that has changed.
    fn page(&mut self) -> Result<Page> {
        let (until, mut events) = self.app.databases.events(self.position, self.proof)?;
        events.sort_unstable();
        if self.descending {
            events.sort_by_key(|event| Reverse(event.seq));
        }
        let mut text = String::new();
        let mut last = self.position;
        for event in events {
            // Events of one commit stay together: the position behind them is that commit's.
            if self.emitted >= self.limit && event.seq != last {
                return Ok(Page { text, ended: true, caught_up: false, behind: self.position.into() });
            }
            let seq = Position::from(event.seq);
            let (name, kind) = (quote(&event.database), event.kind);
            let row = format!("{{\"db_name\":{name},\"type\":\"{kind}\",\"seq\":\"{seq}\"}}");
            self.feed.push(&row, &seq, self.emitted == 0, &mut text);
            self.emitted += 1;
            last = event.seq;
            self.position = self.position.max(event.seq);
        }
        (self.position, self.seen) = (until, until);
        let ended = self.feed.ends() || self.emitted >= self.limit;
        Ok(Page { text, ended, caught_up: true, behind: until.into() })
    }

    fn end(&self, last: &Position) -> Result<String> {
        Ok(match self.feed {
            Feed::Normal | Feed::LongPoll => format!("\n],\"last_seq\":\"{last}\"}}\n"),
            Feed::Continuous | Feed::Lines => format!("{{\"last_seq\":\"{last}\"}}\n"),
            Feed::EventSource => String::new(),
        })
    }

    fn engine(&self) -> Arc<dyn Engine> {
        self.app.databases.engine(self.proof)
    }

    fn seen(&self) -> Seq {
        self.seen
    }

    /// Nearly every commit writes to some database.
    fn look(&mut self) -> Option<bool> {
        Some(true)
    }
}
