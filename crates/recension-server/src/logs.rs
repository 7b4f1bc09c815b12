//! Logs: one line an event on standard error, for people or as JSON.

use tracing_subscriber::EnvFilter;

use crate::config::Config;

/// Begins to log as configured. The first call of a process counts.
pub fn init(config: &Config) {
    let filter = EnvFilter::try_new(&config.log).unwrap_or_else(|_| EnvFilter::new("info"));
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_target(false);
    // An error means that somebody else logs already, which is as well.
    let _ = if config.log_json { builder.json().try_init() } else { builder.try_init() };
}
