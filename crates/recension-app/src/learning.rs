//! Catching up with the other servers of the store. They all commit to one log, and a client may have heard something
//! from another server a moment ago. A log that does not answer holds up only requests that need it.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::{Duration, Instant};

use http::{HeaderMap, HeaderName, StatusCode};
use recension::engine::Seq;

use crate::auth::databases::Databases;
use recension_wire::answer::Answer;
use recension_wire::error::{ApiError, Result};
use recension_wire::limits::SEQ_WAIT;
use recension_wire::threads::Threads;

/// If somebody has waited so long for the log without an answer, requests that can do without do not ask it.
const SILENT: Duration = Duration::from_millis(250);

/// The newest commit that an answer may show; in a request, what the server that answers must have.
const SEQ: HeaderName = HeaderName::from_static("x-recension-seq");

/// Who asks the log now.
#[derive(Debug)]
pub struct Learning {
    databases: Arc<Databases>,
    threads: Arc<Threads>,
    waiting: Waiting,
}

#[derive(Debug, Default)]
struct Waiting(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    asking: usize,
    /// Since when requests wait without an answer.
    since: Option<Instant>,
}

/// One request that asks.
struct Asking<'w>(&'w Waiting);

impl Waiting {
    fn begin(&self) -> Asking<'_> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.asking += 1;
        state.since.get_or_insert_with(Instant::now);
        Asking(self)
    }

    fn is_silent(&self) -> bool {
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.since.is_some_and(|since| since.elapsed() > SILENT)
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        let mut state = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.asking -= 1;
        // There was an answer, even if it was an error: the others' wait counts from now.
        state.since = (state.asking > 0).then(Instant::now);
    }
}

impl Learning {
    /// Of the servers of a store.
    pub(crate) fn of(databases: &Arc<Databases>, threads: &Arc<Threads>) -> Self {
        Learning { databases: Arc::clone(databases), threads: Arc::clone(threads), waiting: Waiting::default() }
    }

    /// Catches up with everything that was acknowledged on any server before; returns the newest commit.
    async fn learn(&self) -> Result<Seq> {
        let _asking = self.waiting.begin();
        let databases = Arc::clone(&self.databases);
        self.threads.run(move || databases.refresh()).await
    }

    /// Whether an answer may be outdated: it says that something is not there, or may not be done, and there are
    /// commits since `seen`.
    pub async fn is_too_old(&self, status: StatusCode, seen: Seq) -> bool {
        let refuses = [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN, StatusCode::NOT_FOUND].contains(&status);
        refuses && !self.waiting.is_silent() && self.learn().await.is_ok_and(|newest| newest > seen)
    }

    /// Catches up before a request is handled. A request that asks for it fails if the log does not answer. A request
    /// that may write goes on without it: the log itself refuses its commit.
    pub async fn first(&self, asked_for: bool) -> Result<()> {
        match self.learn().await {
            Err(error) if asked_for => Err(error),
            _ => Ok(()),
        }
    }

    /// Waits until this server has what a request asks for at least: what its client was told by another server.
    pub async fn at_least_what_is_asked_for(&self, headers: &HeaderMap) -> Result<()> {
        let Some(asked) = headers.get(SEQ) else { return Ok(()) };
        let asked = asked.to_str().ok().and_then(|text| text.parse().ok()).map(Seq);
        let asked = asked.ok_or_else(|| ApiError::bad_request("X-Recension-Seq is not the number of a commit."))?;
        let databases = &self.databases;
        if databases.head() >= asked {
            return Ok(());
        }
        let before = Seq(asked.0.saturating_sub(1));
        let it_is_there =
            poll_fn(
                |context| if databases.wake_beyond(before, context.waker()) { Poll::Ready(()) } else { Poll::Pending },
            );
        // The log is asked, as it may be a while until it tells.
        let wait = async {
            let _ = self.learn().await;
            it_is_there.await;
        };
        let _ = tokio::time::timeout(SEQ_WAIT, wait).await;
        let head = databases.head();
        if head >= asked { Ok(()) } else { Err(ApiError::behind(asked.0, head.0)) }
    }

    /// Says up to which commit an answer may be.
    pub fn told(&self, answer: Answer) -> Answer {
        answer.with(SEQ, self.databases.head().0.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_silent_while_somebody_waits_in_vain_and_not_when_it_has_answered() {
        let learning = Waiting::default();
        assert!(!learning.is_silent());
        let asking = learning.begin();
        learning.0.lock().unwrap().since = Instant::now().checked_sub(SILENT * 2);
        assert!(learning.is_silent());
        let other = learning.begin();
        assert!(learning.is_silent(), "who comes later waits as long");
        drop(asking);
        assert!(!learning.is_silent(), "it has answered one");
        drop(other);
        assert_eq!(learning.0.lock().unwrap().since, None);
    }
}
