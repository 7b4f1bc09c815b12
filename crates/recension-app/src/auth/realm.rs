//! What it takes to know who asks, and what they may do: the databases, the settings, and what checks passwords.

use std::sync::Arc;

use prometheus_client::metrics::counter::Counter;

use super::credentials::Credentials;
use super::databases::Databases;
use super::rights_changes::RightsChanges;
use crate::config::Config;
use crate::settings::Settings;
use recension_wire::error::Result;

/// All that is asked about rights.
#[derive(Debug)]
pub struct Realm {
    pub(crate) databases: Arc<Databases>,
    pub(crate) settings: Arc<Settings>,
    pub credentials: Credentials,
    /// Wakes feeds when rights were changed.
    pub rights: RightsChanges,
    /// Log-ins that failed.
    pub(super) failed_log_ins: Counter,
    /// Whether this server speaks TLS.
    pub(super) has_tls: bool,
    /// Whether everybody is an admin while there is none.
    pub(super) admin_party: bool,
}

impl Realm {
    /// As a server begins: later changes of TLS and `admin_party` hold from the next start on.
    pub(crate) fn new(
        config: &Config,
        databases: &Arc<Databases>,
        settings: &Arc<Settings>,
        failed_log_ins: Counter,
    ) -> Result<Self> {
        Ok(Realm {
            databases: Arc::clone(databases),
            settings: Arc::clone(settings),
            credentials: Credentials::new()?,
            rights: RightsChanges::default(),
            failed_log_ins,
            has_tls: config.tls_certificate.is_some(),
            admin_party: config.admin_party,
        })
    }
}
