//! Catching up with the other servers of the store. They all commit to one log, and a client may have heard something
//! from another server a moment ago. A log that does not answer holds up only requests that need it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use http::StatusCode;
use recension::engine::Seq;

use crate::error::Result;
use crate::state::App;

/// If somebody has waited so long for the log without an answer, requests that can do without do not ask it.
const SILENT: Duration = Duration::from_millis(250);

/// The requests that ask the log now.
#[derive(Debug, Default)]
pub(crate) struct Learning {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    asking: usize,
    /// Since when requests wait without an answer.
    since: Option<Instant>,
}

/// One request that asks.
struct Asking<'l>(&'l Learning);

impl Learning {
    fn begin(&self) -> Asking<'_> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.asking += 1;
        state.since.get_or_insert_with(Instant::now);
        Asking(self)
    }

    fn is_silent(&self) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.since.is_some_and(|since| since.elapsed() > SILENT)
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.asking -= 1;
        // There was an answer, even if it was an error: the others' wait counts from now.
        state.since = (state.asking > 0).then(Instant::now);
    }
}

/// Catches up with everything that was acknowledged on any server before; answers the newest commit.
async fn learn(app: &Arc<App>) -> Result<Seq> {
    let _asking = app.learning.begin();
    let databases = Arc::clone(app);
    app.blocking(move || databases.databases.refresh()).await
}

/// Whether an answer may be outdated: it says that something is not there, or may not be done, and there are commits
/// since `seen`.
pub(crate) async fn is_too_old(app: &Arc<App>, status: StatusCode, seen: Seq) -> bool {
    let refuses = [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN, StatusCode::NOT_FOUND].contains(&status);
    refuses && !app.learning.is_silent() && learn(app).await.is_ok_and(|newest| newest > seen)
}

/// Catches up before a request is handled. A request that asks for it fails if the log does not answer. A request that
/// may write goes on without it: the log itself refuses its commit.
pub(crate) async fn first(app: &Arc<App>, asked_for: bool) -> Result<()> {
    match learn(app).await {
        Err(error) if asked_for => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_silent_while_somebody_waits_in_vain_and_not_when_it_has_answered() {
        let learning = Learning::default();
        assert!(!learning.is_silent());
        let asking = learning.begin();
        learning.state.lock().unwrap().since = Instant::now().checked_sub(SILENT * 2);
        assert!(learning.is_silent());
        let other = learning.begin();
        assert!(learning.is_silent(), "who comes later waits as long");
        drop(asking);
        assert!(!learning.is_silent(), "it has answered one");
        drop(other);
        assert_eq!(learning.state.lock().unwrap().since, None);
    }
}
