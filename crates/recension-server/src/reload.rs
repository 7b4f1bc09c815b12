//! Reloading the configuration while the server runs: on SIGHUP, or when a program asks. All of it is read and checked
//! before any of it holds. If anything is wrong, everything stays as it was.

use std::fmt;
use std::sync::Arc;

use tokio::signal::unix::{SignalKind, signal};

use crate::listen::Tls;
use crate::serve_error::ServeError;
use recension_app::config::{Config, ConfigError};
use recension_app::state::App;
use recension_wire::error::ApiError;

/// The settings that hold at once, by their names in the file. All others hold from the next start on.
const AT_ONCE: [&str; 9] = [
    "admins",
    "cors",
    "log",
    "log_requests",
    "max_document_size",
    "max_request_size",
    "settings",
    "tls_certificate",
    "tls_key",
];

/// Reloads configurations into a running server.
#[derive(Clone)]
pub struct Reloader {
    pub(crate) app: Arc<App>,
    /// The certificates of all listeners that speak TLS.
    pub(crate) certificates: Vec<Arc<Tls>>,
}

impl fmt::Debug for Reloader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reloader")
    }
}

impl Reloader {
    /// Applies a configuration, and reads certificate and key again. Returns the names of the settings that differ and
    /// hold only from the next start on. It reads files.
    ///
    /// # Errors
    /// [`ServeError`]; then nothing has changed.
    pub fn reload(&self, config: &Config) -> Result<Vec<String>, ServeError> {
        let configured = |error: ApiError| ServeError::Configured(error.reason.into_owned());
        let mut later = differing(&self.app.config, config);
        let files = config.tls_certificate.as_deref().zip(config.tls_key.as_deref());
        let read = match files {
            Some((certificate, key)) => {
                self.certificates.iter().map(|tls| tls.read(certificate, key)).collect::<Result<Vec<_>, _>>()?
            }
            None => Vec::new(),
        };
        if files.is_some() != self.app.config.tls_certificate.is_some() {
            later.push("tls_certificate".to_owned());
        }
        self.app.settings.reload(config).map_err(configured)?;
        // From here on nothing fails.
        for (tls, read) in self.certificates.iter().zip(read) {
            tls.put(read);
        }
        self.app.realm.rights.tell();
        Ok(later)
    }
}

/// The names of the settings that differ and do not hold at once.
fn differing(before: &Config, now: &Config) -> Vec<String> {
    let table = |config: &Config| toml::Table::try_from(config).unwrap_or_default();
    let (old, new) = (table(before), table(now));
    let names = old.keys().chain(new.keys().filter(|name| !old.contains_key(*name)));
    let mut differing: Vec<String> =
        names.filter(|name| !AT_ONCE.contains(&name.as_str()) && old.get(*name) != new.get(*name)).cloned().collect();
    // The token is a secret, which TOML leaves out.
    if before.apocrypha.token != now.apocrypha.token {
        differing.push("apocrypha.token".to_owned());
    }
    if before.engine.token != now.engine.token {
        differing.push("engine.token".to_owned());
    }
    differing
}

/// Applies the configuration that `read` gives, whenever the process gets SIGHUP, and logs the result. After this call,
/// the signal does not end the process any more.
pub(crate) fn on_hangup(
    reloader: Reloader,
    read: impl Fn() -> Result<Config, ConfigError> + Send + Sync + 'static,
) -> std::io::Result<()> {
    let mut hangups = signal(SignalKind::hangup())?;
    let read = Arc::new(read);
    tokio::spawn(async move {
        while hangups.recv().await.is_some() {
            let (reloader, read) = (reloader.clone(), Arc::clone(&read));
            let reload = move || reloader.reload(&read().map_err(|error| ServeError::Configured(error.message))?);
            match tokio::task::spawn_blocking(reload).await {
                Ok(Ok(later)) => {
                    tracing::info!("configuration and certificate were read again and hold");
                    if !later.is_empty() {
                        let later = later.join(", ");
                        tracing::warn!(settings = %later, "these have changed, and hold from the next start on");
                    }
                }
                Ok(Err(error)) => tracing::error!(%error, "the configuration was refused; all stays as it was"),
                Err(error) => tracing::error!(%error, "reading the configuration panicked; all stays as it was"),
            }
        }
    });
    Ok(())
}
