//! What databases begin with: who may use them, and in the one whose documents ask for replications, that nobody sees
//! the passwords of others.

use recension::At;

use super::Databases;
use crate::identity::security::{ACCESS, DEFAULT, SETTING};
use recension_wire::error::Result;
use recension_wire::route::REPLICATOR;

/// A document of `_replicator` is its owner's, as in CouchDB.
const OWN: &str = r#"{"read":{"owner":"$user.name"}}"#;

/// The settings that a database is made with.
pub(super) fn settings(name: &str) -> Vec<(&'static str, &'static str)> {
    let own = (name == REPLICATOR).then_some((ACCESS, OWN));
    [(SETTING, DEFAULT)].into_iter().chain(own).collect()
}

impl Databases {
    /// Does the same for a store of an earlier version, once: an admin may have another rule later, or none.
    pub(crate) fn guard_replications(&self) -> Result<()> {
        let replicator = self.store.collection(REPLICATOR)?.only_existing();
        let now = replicator.at(At::Now)?;
        if now.exists() && now.setting(ACCESS)?.is_none() {
            replicator.settings().set(ACCESS, Some(OWN))?;
        }
        self.set_note("users", super::SYSTEM_MADE)
    }
}
