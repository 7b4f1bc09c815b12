//! Settings of connections: authentication, durability, patience.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use recension::engine::Durability;

use crate::limits::PATIENCE_SECONDS;

/// What comes of an attempt to log in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Attempt {
    /// The name and the password are right.
    Right,
    /// They are not.
    Wrong,
    /// So many came from there that this one has to wait; then it is made again.
    Later(Duration),
    /// So many came from there that this one is refused.
    TooMany,
}

/// Says whether a name and a password are right, and slows those down who guess.
pub trait Authenticate: Send + Sync {
    /// One attempt. A client that gives no name gives `default`. `from` is nothing for a unix socket; `waited`: as long
    /// as [`Attempt::Later`] said.
    fn attempt(&self, from: Option<IpAddr>, name: &str, password: &[u8], waited: bool) -> Attempt;
}

impl<F: Fn(&str, &[u8]) -> bool + Send + Sync> Authenticate for F {
    fn attempt(&self, _: Option<IpAddr>, name: &str, password: &[u8], _: bool) -> Attempt {
        if self(name, password) { Attempt::Right } else { Attempt::Wrong }
    }
}

/// Settings of connections.
#[derive(Clone)]
pub struct Settings {
    /// What `AUTH` asks; without it everybody may do everything.
    pub authenticate: Option<Arc<dyn Authenticate>>,
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
