//! Settings of connections: authentication, durability, patience.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use recension::engine::Durability;

use crate::limits::PATIENCE_SECONDS;

/// Checks a name and a password. If a client gives no name, it is `default`.
pub type Authenticate = Arc<dyn Fn(&str, &[u8]) -> bool + Send + Sync>;

/// Settings of connections.
#[derive(Clone)]
pub struct Settings {
    /// The check for `AUTH`; without one, everybody may do everything.
    pub authenticate: Option<Authenticate>,
    /// How durable a write is when it is answered; `None`: as the store has it.
    pub durability: Option<Durability>,
    /// How long a request may take to arrive, and a reply to be taken.
    pub patience: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { authenticate: None, durability: None, patience: Duration::from_secs(PATIENCE_SECONDS) }
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings").field("durability", &self.durability).finish_non_exhaustive()
    }
}
