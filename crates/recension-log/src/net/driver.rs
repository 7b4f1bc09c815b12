//! A runtime for asynchronous drivers, behind calls that wait. It may be called from anywhere, also from another
//! runtime's blocking threads.

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

    /// Waits for the result of `work`, at most for `timeout`; `None` if there is none by then.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        timeout: Duration,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Option<T> {
        let (answer, answered) = mpsc::sync_channel(1);
        self.runtime.as_ref()?.spawn(async move {
            // Late work is dropped, and its connection with it.
            if let Ok(done) = tokio::time::timeout(timeout, work).await {
                let _ = answer.send(done);
            }
        });
        answered.recv().ok()
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // It does not wait, because this may be a task of another runtime.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
