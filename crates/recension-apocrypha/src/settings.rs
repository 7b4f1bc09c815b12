//! Settings of connections: bounds, the token, the trace.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use recension::engine::budget::Budget;

use crate::limits::{
    FRAME_BYTES_MAX, LONG_FRAMES_BYTES_MAX, LONG_REPLIES_BYTES_MAX, PATIENCE_SECONDS, TOKEN_BYTES_MAX,
};

/// A secret that connections have to send. Comparing it takes a time that does not tell how much of it is right.
#[derive(Clone)]
pub struct Token(Arc<[u8]>);

impl Token {
    /// A token; `None` if it is empty, too long, or has a newline in it.
    pub fn new(text: &str) -> Option<Self> {
        let possible = !text.is_empty() && text.len() <= TOKEN_BYTES_MAX && !text.contains('\n');
        possible.then(|| Token(text.as_bytes().into()))
    }

    pub(crate) fn is(&self, other: &str) -> bool {
        let other = other.as_bytes();
        let differences =
            self.0.iter().zip(other.iter().chain(std::iter::repeat(&0))).fold(0, |sum, (a, b)| sum | (a ^ b));
        differences == 0 && self.0.len() == other.len()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

/// Settings of connections.
#[derive(Clone)]
pub struct Settings {
    /// The token that a connection from the network has to send first.
    pub token: Option<Token>,
    /// Longest request, in bytes.
    pub frame_bytes_max: usize,
    /// Room for long requests that are being received, which other doors may share.
    pub receiving: Arc<Budget>,
    /// Room for long replies that wait to be taken, which other doors may share. A further reply is refused, because it
    /// would wait in memory.
    pub sending: Arc<Budget>,
    /// How long a request may pause, and a reply may wait to be taken.
    pub patience: Duration,
    /// Is called with each command and the time that it took.
    pub trace: Option<Trace>,
}

/// Is called with a line.
pub type Trace = Arc<dyn Fn(&str) + Send + Sync>;

impl Default for Settings {
    fn default() -> Self {
        Settings {
            token: None,
            frame_bytes_max: FRAME_BYTES_MAX,
            receiving: Budget::new(LONG_FRAMES_BYTES_MAX),
            sending: Budget::new(LONG_REPLIES_BYTES_MAX),
            patience: Duration::from_secs(PATIENCE_SECONDS),
            trace: None,
        }
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings").field("token", &self.token).finish_non_exhaustive()
    }
}
