//! Settings of connections: authentication, durability, patience.

use std::fmt;
use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use recension::engine::Durability;
use recension::engine::budget::Budget;

use crate::limits::{PATIENCE_SECONDS, RECEIVED_BYTES, SENT_BYTES};

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

    /// What the rights of somebody rest on whose password was right; `None`: they last as long as the connection.
    fn standing(&self, _name: &str, _password: &[u8]) -> Option<Box<dyn Standing>> {
        None
    }
}

/// The rights of somebody who was let in, which may end.
pub trait Standing: Send {
    /// Whether they hold. It is asked before each request and each message.
    fn holds(&mut self) -> bool;

    /// Completes when it is time to ask again, though nothing has come.
    fn changed(&mut self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
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
    /// Room for all that is being received, which other doors may share.
    pub receiving: Arc<Budget>,
    /// Room for all that waits to be sent, which other doors may share.
    pub sending: Arc<Budget>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            authenticate: None,
            durability: None,
            patience: Duration::from_secs(PATIENCE_SECONDS),
            receiving: Budget::new(RECEIVED_BYTES),
            sending: Budget::new(SENT_BYTES),
        }
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings").field("durability", &self.durability).finish_non_exhaustive()
    }
}
