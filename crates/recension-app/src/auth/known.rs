//! What is known of somebody by their evidence, at the moment.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use super::scope::Scope;
use crate::identity::Identity;

/// What evidence is worth at the moment.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) identity: Arc<Identity>,
    /// A new cookie that prolongs the session.
    pub(super) renewed: Option<String>,
    /// The second since 1970 from which on the evidence is worth nothing.
    pub(super) until: Option<u64>,
    /// What an API token confines its bearer to.
    pub(super) scope: Option<Arc<Scope>>,
}

impl Known {
    /// Knowledge without an end of its own.
    pub(super) fn as_long_as_it_stands(identity: Arc<Identity>) -> Self {
        Known { identity, renewed: None, until: None, scope: None }
    }
}

/// Seconds since the beginning of 1970.
pub(super) fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
