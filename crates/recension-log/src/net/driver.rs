//! A runtime for drivers that are asynchronous, behind calls that wait. It may be called from anywhere, also from
//! tasks of
//! another runtime's blocking threads.

use std::future::Future;
use std::sync::mpsc;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

use crate::{LogError, Result};

/// A thread that drives connections.
pub(crate) struct Driver {
    runtime: Option<Runtime>,
}

impl Driver {
    pub(crate) fn start() -> Result<Self> {
        let runtime =
            Builder::new_multi_thread().worker_threads(1).thread_name("recension-driver").enable_all().build();
        let runtime = runtime.map_err(|error| LogError::Unavailable(format!("starting a thread: {error}")))?;
        Ok(Driver { runtime: Some(runtime) })
    }

    /// Waits for what `work` comes to, at most for `timeout`; `None` if it does not come.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        timeout: Duration,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Option<T> {
        let (answer, answered) = mpsc::sync_channel(1);
        self.runtime.as_ref()?.spawn(async move {
            // What is late is dropped, and its connection with it.
            if let Ok(done) = tokio::time::timeout(timeout, work).await {
                let _ = answer.send(done);
            }
        });
        answered.recv().ok()
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // Without waiting: we may be in a task of another runtime.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
