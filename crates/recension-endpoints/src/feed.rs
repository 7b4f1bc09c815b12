//! A feed: the rows that there are, and then those that come. Rows are read in pages. Between two pages a feed holds
//! only its position. A waiting feed holds no thread, and the engine's next commit wakes it. After a page was read and
//! before it is sent, the feed asks whether its user may still read it. A page of a moment when that was not so is
//! never sent.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use http::header::CACHE_CONTROL;
use recension::Position;
use recension::engine::{Engine, Seq};
use tokio::time::{Instant, sleep_until};

use super::format::Format;
use recension_app::auth::standing::Standing;
use recension_app::state::App;
use recension_wire::answer::{Answer, Gone, Sink, pieces};
use recension_wire::error::{ApiError, Result};
use recension_wire::limits::FEED_MILLIS_DEFAULT;
use recension_wire::query::Query;

/// How a feed is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Feed {
    Normal,
    /// Like a normal feed, in lines.
    Lines,
    LongPoll,
    Continuous,
    EventSource,
}

impl Feed {
    /// From the query; `reason` is the refusal's.
    pub(crate) fn of(query: &Query, refusal: &'static str) -> Result<Self> {
        match query.get("feed") {
            None | Some("normal") => Ok(Feed::Normal),
            Some("longpoll") => Ok(Feed::LongPoll),
            Some("continuous" | "live") => Ok(Feed::Continuous),
            Some("eventsource") => Ok(Feed::EventSource),
            Some(_) => Err(ApiError::bad_request(refusal)),
        }
    }

    /// Whether its rows are elements of one JSON array.
    pub(crate) fn is_array(self) -> bool {
        matches!(self, Feed::Normal | Feed::LongPoll)
    }

    /// Whether it ends with the rows that there are.
    pub(crate) fn ends(self) -> bool {
        matches!(self, Feed::Normal | Feed::Lines)
    }

    /// The feed in lines, if there is one of the kind.
    pub(crate) fn in_lines(self) -> Self {
        if self == Feed::Normal { Feed::Lines } else { self }
    }

    /// The text before its rows.
    fn beginning(self) -> &'static str {
        if self.is_array() { "{\"results\":[\n" } else { "" }
    }

    fn content_type(self) -> &'static str {
        match self {
            Feed::Normal | Feed::LongPoll | Feed::Continuous => "application/json",
            Feed::Lines => Format::Lines.content_type(),
            Feed::EventSource => "text/event-stream",
        }
    }

    /// Writes a row in the feed's form.
    pub(crate) fn push(self, row: &str, seq: &dyn std::fmt::Display, first: bool, out: &mut String) {
        match self {
            Feed::Normal | Feed::LongPoll => {
                out.push_str(if first { "" } else { ",\n" });
                out.push_str(row);
            }
            Feed::Continuous | Feed::Lines => {
                out.push_str(row);
                out.push('\n');
            }
            Feed::EventSource => {
                for part in ["data: ", row, "\nid: \"", &seq.to_string(), "\"\n\n"] {
                    out.push_str(part);
                }
            }
        }
    }
}

/// How long a feed waits, and how often it sends a heartbeat.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Patience {
    /// Time between heartbeats; `None`: none.
    pub(crate) heartbeat: Option<Duration>,
    /// Time without a row after which the feed ends; `None`: never.
    pub(crate) timeout: Option<Duration>,
}

impl Patience {
    /// From the query: `heartbeat` is `true` or milliseconds, and makes `timeout` void.
    pub(crate) fn of(query: &Query) -> Result<Self> {
        const BAD: &str = "Invalid heartbeat value. Expecting a positive integer value (in milliseconds).";
        let millis = |text: &str| text.parse::<u64>().ok().map(|millis| millis.min(FEED_MILLIS_DEFAULT));
        let heartbeat = match query.get("heartbeat") {
            None | Some("false") => None,
            Some("true") => Some(FEED_MILLIS_DEFAULT),
            Some(text) if text.parse::<i64>().is_ok_and(|millis| millis <= 0) => {
                let reason = "The heartbeat value should be a positive integer (in milliseconds).";
                return Err(ApiError::bad_request(reason));
            }
            Some(text) => Some(millis(text).ok_or_else(|| ApiError::bad_request(BAD))?),
        };
        let timeout = match query.get("timeout") {
            None => FEED_MILLIS_DEFAULT,
            Some(text) => millis(text).ok_or_else(|| ApiError::bad_request("Invalid timeout value."))?,
        };
        let timeout = heartbeat.is_none().then(|| Duration::from_millis(timeout));
        Ok(Patience { heartbeat: heartbeat.map(Duration::from_millis), timeout })
    }
}

/// Some rows of a feed, in its form.
#[derive(Debug)]
pub(crate) struct Page<S = Position> {
    pub(crate) text: String,
    /// The feed ends here: its limit is reached, or nothing more is to come.
    pub(crate) ended: bool,
    /// Every row that there is has been read.
    pub(crate) caught_up: bool,
    /// Where the feed stands behind it.
    pub(crate) behind: S,
}

impl<S> Page<S> {
    fn take_text(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.text).into_bytes()
    }
}

/// The source of a feed's rows.
pub(crate) trait Source: Send + 'static {
    /// Where it stands behind a page.
    type Stands: Send + 'static;

    fn feed(&self) -> Feed;

    fn patience(&self) -> Patience;

    /// How many rows were answered.
    fn emitted(&self) -> u64;

    /// The next rows. It reads, so that it is not for async code.
    fn page(&mut self) -> Result<Page<Self::Stands>>;

    /// What ends the feed where it stands behind the last page that was sent. It reads, too.
    fn end(&self, stands: &Self::Stands) -> Result<String>;

    /// The engine, whose commits wake the feed.
    fn engine(&self) -> Arc<dyn Engine>;

    /// All changes up to this commit were read.
    fn seen(&self) -> Seq;

    /// After a commit: whether there may be new rows; `None`: there will never be any. It reads a few rows.
    fn look(&mut self) -> Option<bool>;
}

/// Answers with a feed.
pub(crate) async fn answer(app: &Arc<App>, mut source: impl Source, mut standing: Standing) -> Result<Answer> {
    let feed = source.feed();
    // The first page is made before the head is sent, so that an error can still be the answer.
    let (first, (page, source, standing)) = app
        .streams
        .make(move || {
            let mut page = source.page()?;
            if !feed.ends() {
                standing.ask()?;
            }
            if feed.ends() && page.ended {
                page.text = format!("{}{}{}", feed.beginning(), page.text, source.end(&page.behind)?);
            }
            Ok((page.take_text(), (page, source, standing)))
        })
        .await?;
    if feed.ends() && page.ended {
        return Ok(Answer::of(http::StatusCode::OK, feed.content_type(), first));
    }
    let (sink, answer) = pieces(app.streams.patience());
    let app = Arc::clone(app);
    tokio::spawn(async move {
        app.metrics.feeds.inc();
        // An error means that the client has gone.
        let _ = run(&app, source, standing, (first, page), sink).await;
        app.metrics.feeds.dec();
    });
    let answer = if feed.ends() { answer } else { answer.that_ask() };
    let mut answer = Answer::streamed(feed.content_type(), answer);
    answer.as_it_is = !feed.ends();
    Ok(if feed == Feed::EventSource { answer.with(CACHE_CONTROL, "no-cache") } else { answer })
}

/// Sends pages as they come, until the feed ends.
async fn run<S: Source>(
    app: &Arc<App>,
    mut source: S,
    mut standing: Standing,
    (mut text, mut page): (Bytes, Page<S::Stands>),
    sink: Sink,
) -> std::result::Result<(), Gone> {
    let feed = source.feed();
    if feed.is_array() {
        sink.send(feed.beginning()).await?;
    }
    let mut timers = Timers::of(source.patience());
    let stands = loop {
        if !text.is_empty() {
            sink.send(std::mem::take(&mut text)).await?;
            timers.rows_were_sent();
        }
        let done = page.ended || (feed == Feed::LongPoll && source.emitted() > 0 && page.caught_up);
        if done || (page.caught_up && !wait(app, &mut source, &mut standing, &sink, &mut timers).await?) {
            break page.behind;
        }
        // Passing over many changes may take long, too.
        timers.beat(feed, &sink).await?;
        sink.ready().await?;
        let (mut from, mut asks) = (source, standing);
        let made = app.streams.make(move || {
            let mut next = from.page()?;
            let holds = feed.ends() || asks.holds()?;
            // The page is not sent to a user who may not read it any more.
            let text = if holds { next.take_text() } else { Vec::new() };
            Ok((text, (next, holds, from, asks)))
        });
        let made = tokio::select! {
            made = made => made,
            () = sink.closed() => return Err(Gone),
        };
        let holds;
        let stood = page.behind;
        match made {
            Ok((next, rest)) => (text, (page, holds, source, standing)) = (next, rest),
            Err(error) => {
                tracing::error!(reason = %error.reason, "a feed was broken off");
                return Err(Gone);
            }
        }
        if !holds {
            tracing::debug!("a feed ends with the rights of who reads it");
            break stood;
        }
    };
    // Without its end, the answer counts as broken off.
    let end = app.streams.read(move || source.end(&stands)).await.map_err(|_| Gone)?;
    sink.send(end).await?;
    sink.finish().await;
    Ok(())
}

/// A time beyond the life of every feed.
const FAR_AWAY: Duration = Duration::from_hours(365 * 24);

/// When a feed without rows sends its next heartbeat, and when it ends.
struct Timers {
    patience: Patience,
    beats: Option<Instant>,
    gives_up: Option<Instant>,
}

impl Timers {
    fn of(patience: Patience) -> Self {
        let mut timers = Timers { patience, beats: None, gives_up: None };
        timers.rows_were_sent();
        timers
    }

    fn rows_were_sent(&mut self) {
        let now = Instant::now();
        self.beats = self.patience.heartbeat.map(|every| now + every);
        self.gives_up = self.patience.timeout.map(|patience| now + patience);
    }

    /// Sends a heartbeat if it is time for one.
    async fn beat(&mut self, feed: Feed, sink: &Sink) -> std::result::Result<(), Gone> {
        if self.beats.is_some_and(|beats| beats <= Instant::now()) {
            sink.send(if feed == Feed::EventSource { "event: heartbeat\ndata: \n\n" } else { "\n" }).await?;
            self.beats = self.patience.heartbeat.map(|every| Instant::now() + every);
        }
        Ok(())
    }
}

/// Waits for a change, sending heartbeats. Returns `false` if the feed is to end.
async fn wait(
    app: &App,
    source: &mut impl Source,
    standing: &mut Standing,
    sink: &Sink,
    timers: &mut Timers,
) -> std::result::Result<bool, Gone> {
    let feed = source.feed();
    let never = Instant::now() + FAR_AWAY;
    loop {
        let (engine, seen) = (source.engine(), source.seen());
        let woken =
            poll_fn(|context| if engine.wake_beyond(seen, context.waker()) { Poll::Ready(()) } else { Poll::Pending });
        let (due, beats, gives_up) = (standing.due(), timers.beats, timers.gives_up);
        tokio::select! {
            () = woken => match source.look() {
                Some(true) => return Ok(true),
                // The commit changed something else.
                Some(false) => {}
                None => return Ok(false),
            },
            () = sleep_until(beats.unwrap_or(never)), if beats.is_some() => timers.beat(feed, sink).await?,
            () = sleep_until(gives_up.unwrap_or(never)), if gives_up.is_some() => return Ok(false),
            // The next page asks for the rights again. It may have no rows.
            () = standing.changed() => return Ok(true),
            () = sleep_until(due) => return Ok(true),
            () = app.stopped() => return Ok(false),
            () = sink.closed() => return Err(Gone),
        }
    }
}
