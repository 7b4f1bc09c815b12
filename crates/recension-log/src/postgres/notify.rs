//! News of records: NOTIFY and LISTEN, on connections of their own. Only speed depends on it: a node that was not
//! notified asks.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use super::Server;
use super::client::Client;
use crate::{LogError, Position, Result};

/// The least time between two notifications.
const PACE: Duration = Duration::from_millis(5);
/// How long a listener waits before it checks whether it is still wanted.
const LOOK: Duration = Duration::from_millis(250);
/// How long it waits before it connects again.
const AGAIN: Duration = Duration::from_millis(500);

/// Two threads: one notifies, one listens. They end when this is dropped.
pub(super) struct Notifier {
    shared: Arc<Shared>,
    threads: Vec<std::thread::JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    /// The newest record to notify of.
    newest: Mutex<Position>,
    news: Condvar,
    stopping: AtomicBool,
}

impl Notifier {
    pub(super) fn start(server: &Arc<Server>) -> Result<Self> {
        let shared = Arc::new(Shared::default());
        let failed = |error| LogError::Unavailable(format!("starting a thread: {error}"));
        let channel = channel(&server.log);
        let teller = {
            let (shared, server, channel) = (shared.clone(), Arc::downgrade(server), channel.clone());
            std::thread::Builder::new()
                .name("recension-notify".to_owned())
                .spawn(move || tell(&shared, &server, &channel))
        };
        let listener = {
            let (shared, server) = (shared.clone(), Arc::downgrade(server));
            std::thread::Builder::new()
                .name("recension-listen".to_owned())
                .spawn(move || hear(&shared, &server, &channel))
        };
        Ok(Notifier { shared, threads: vec![teller.map_err(failed)?, listener.map_err(failed)?] })
    }

    /// There is a record of ours at `position`.
    pub(super) fn written(&self, position: Position) {
        let mut newest = self.shared.newest.lock();
        *newest = position.max(*newest);
        self.shared.news.notify_all();
    }
}

impl Drop for Notifier {
    fn drop(&mut self) {
        {
            let _newest = self.shared.newest.lock();
            self.shared.stopping.store(true, Ordering::Release);
            self.shared.news.notify_all();
        }
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// The channel of a log. Only the hyphen in its name needs quoting.
fn channel(log: &str) -> String {
    // Names of channels are cut at 63 bytes. Longer ones share a prefix, which only costs a look.
    format!("recension_{log}").chars().take(60).collect()
}

impl Shared {
    fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }

    /// Waits, but only while it is wanted.
    fn pause(&self, pause: Duration) {
        let mut newest = self.newest.lock();
        if !self.is_stopping() {
            self.news.wait_for(&mut newest, pause);
        }
    }
}

fn tell(shared: &Shared, server: &Weak<Server>, channel: &str) {
    let mut told = Position(0);
    let mut client: Option<Client> = None;
    loop {
        let newest = {
            let mut newest = shared.newest.lock();
            shared.news.wait_while(&mut newest, |newest| *newest <= told && !shared.is_stopping());
            *newest
        };
        if shared.is_stopping() {
            return;
        }
        let Some(server) = server.upgrade() else { return };
        if client.is_none() {
            client = server.connect().ok();
        }
        let sent =
            client.as_mut().is_some_and(|client| client.simple(&format!("notify \"{channel}\", '{newest}'")).is_ok());
        drop(server);
        if sent {
            told = newest;
            std::thread::sleep(PACE);
        } else {
            client = None;
            shared.pause(AGAIN);
        }
    }
}

fn hear(shared: &Shared, server: &Weak<Server>, channel: &str) {
    let mut client: Option<Client> = None;
    while !shared.is_stopping() {
        if let Some(open) = &mut client {
            if open.listen(LOOK).is_err() {
                client = None;
            }
        } else {
            let Some(server) = server.upgrade() else { return };
            client = server.connect().ok().and_then(|mut client| {
                client.simple(&format!("listen \"{channel}\"")).ok()?;
                Some(client)
            });
            // Records may have come before we listened.
            if let Ok(newest) = server.newest() {
                server.watch.heard(newest);
            }
            drop(server);
            if client.is_none() {
                shared.pause(AGAIN);
            }
        }
        let newest =
            client.as_mut().and_then(|client| client.notices.drain(..).filter_map(|text| text.parse().ok()).max());
        if let (Some(newest), Some(server)) = (newest, server.upgrade()) {
            server.watch.heard(Position(newest));
        }
    }
}
