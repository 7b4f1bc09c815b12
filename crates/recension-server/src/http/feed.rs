//! A feed: what there is, and then what comes. Rows are read in pages; between two of them a feed is a position, and
//! nothing else. A feed that waits holds no thread, and is woken by the engine's next commit.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;
use std::time::Duration;

use http::header::CACHE_CONTROL;
use recension::engine::{Engine, Seq};
use tokio::time::{Instant, sleep_until};

use super::format::Format;
use crate::answer::{Answer, Gone, Sink, pieces};
use crate::error::{ApiError, Result};
use crate::limits::FEED_MILLIS_DEFAULT;
use crate::query::Query;
use crate::state::App;

/// How a feed is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Feed {
    Normal,
    /// As normal, in lines.
    Lines,
    LongPoll,
    Continuous,
    EventSource,
}

impl Feed {
    /// From the query; the reason is the refusal's.
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

    /// Whether it ends with what there is.
    pub(crate) fn ends(self) -> bool {
        matches!(self, Feed::Normal | Feed::Lines)
    }

    /// The feed in lines, where there is one of the kind.
    pub(crate) fn in_lines(self) -> Self {
        if self == Feed::Normal { Feed::Lines } else { self }
    }

    /// What comes before its rows.
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

    /// A row in its form.
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

/// How long a feed waits, and how it says that it is there.
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
            Some(text) => Some(millis(text).filter(|millis| *millis > 0).ok_or_else(|| ApiError::bad_request(BAD))?),
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
pub(crate) struct Page {
    pub(crate) text: String,
    /// The feed ends here: its limit is reached, or nothing more is to come.
    pub(crate) ended: bool,
    /// All that there is has been read.
    pub(crate) caught_up: bool,
}

/// What a feed reads from.
pub(crate) trait Source: Send + 'static {
    fn feed(&self) -> Feed;

    fn patience(&self) -> Patience;

    /// Rows that were answered.
    fn emitted(&self) -> u64;

    /// The next rows. It reads, so that it is not for async code.
    fn page(&mut self) -> Result<Page>;

    /// What ends the feed. It reads, too.
    fn end(&self) -> Result<String>;

    /// What wakes it.
    fn engine(&self) -> Arc<dyn Engine>;

    /// The commit up to which there is nothing that was not read.
    fn seen(&self) -> Seq;

    /// After a commit: whether there may be rows now; `None`: nothing will come any more. A few reads of single rows.
    fn look(&mut self) -> Option<bool>;
}

/// Answers with a feed.
pub(crate) async fn answer(app: &Arc<App>, mut source: impl Source) -> Result<Answer> {
    // The first page is made before the head is sent, so that what cannot be read is a refusal.
    let (first, source) = app
        .blocking(move || {
            let first = source.page()?;
            Ok((first, source))
        })
        .await?;
    let feed = source.feed();
    if feed.ends() && first.ended {
        let text = format!("{}{}{}", feed.beginning(), first.text, source.end()?);
        return Ok(Answer::of(http::StatusCode::OK, feed.content_type(), text));
    }
    let (sink, answer) = pieces();
    let app = Arc::clone(app);
    tokio::spawn(async move {
        app.metrics.feeds.fetch_add(1, Ordering::Relaxed);
        // Who has gone needs no answer any more.
        let _ = run(&app, source, first, sink).await;
        app.metrics.feeds.fetch_sub(1, Ordering::Relaxed);
    });
    let mut answer = Answer::streamed(feed.content_type(), answer);
    answer.as_it_is = !feed.ends();
    Ok(if feed == Feed::EventSource { answer.with(CACHE_CONTROL, "no-cache") } else { answer })
}

/// Sends pages as they come, until the feed ends.
async fn run(app: &Arc<App>, mut source: impl Source, mut page: Page, sink: Sink) -> std::result::Result<(), Gone> {
    let feed = source.feed();
    if feed.is_array() {
        sink.send(feed.beginning()).await?;
    }
    let patience = source.patience().timeout;
    let mut gives_up = patience.map(|patience| Instant::now() + patience);
    loop {
        let sent = !page.text.is_empty();
        if sent {
            sink.send(std::mem::take(&mut page.text)).await?;
            gives_up = patience.map(|patience| Instant::now() + patience);
        }
        let done = page.ended || (feed == Feed::LongPoll && source.emitted() > 0 && page.caught_up);
        if done || (page.caught_up && !wait(app, &mut source, &sink, gives_up).await?) {
            break;
        }
        let mut moved = source;
        match app.blocking(move || Ok((moved.page()?, moved))).await {
            Ok((next, back)) => (page, source) = (next, back),
            Err(error) => {
                tracing::error!(reason = %error.reason, "a feed was broken off");
                return Err(Gone);
            }
        }
    }
    // Without its end the answer is broken off.
    let end = app.blocking(move || source.end()).await.map_err(|_| Gone)?;
    sink.send(end).await?;
    sink.finish().await;
    Ok(())
}

/// A time that no feed lives to see.
const FAR_AWAY: Duration = Duration::from_hours(365 * 24);

/// Waits for a change, sending heartbeats. Answers `false` where the feed is to end.
async fn wait(
    app: &App,
    source: &mut impl Source,
    sink: &Sink,
    gives_up: Option<Instant>,
) -> std::result::Result<bool, Gone> {
    let heartbeat = source.patience().heartbeat;
    let beat = if source.feed() == Feed::EventSource { "event: heartbeat\ndata: \n\n" } else { "\n" };
    let never = Instant::now() + FAR_AWAY;
    let mut beats = heartbeat.map(|every| Instant::now() + every);
    loop {
        let (engine, seen) = (source.engine(), source.seen());
        let woken =
            poll_fn(|context| if engine.wake_beyond(seen, context.waker()) { Poll::Ready(()) } else { Poll::Pending });
        tokio::select! {
            () = woken => match source.look() {
                Some(true) => return Ok(true),
                // Something else has changed.
                Some(false) => {}
                None => return Ok(false),
            },
            () = sleep_until(beats.unwrap_or(never)), if beats.is_some() => {
                sink.send(beat).await?;
                beats = heartbeat.map(|every| Instant::now() + every);
            }
            () = sleep_until(gives_up.unwrap_or(never)), if gives_up.is_some() => return Ok(false),
            () = app.stopped() => return Ok(false),
            () = sink.closed() => return Err(Gone),
        }
    }
}
