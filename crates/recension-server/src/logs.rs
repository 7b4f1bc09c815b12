//! Logs: one line an event on standard error, for people or as JSON. The filter can be changed at any time.

use std::io::IsTerminal as _;
use std::sync::OnceLock;

use tracing_subscriber::EnvFilter;

use crate::config::{Config, ConfigError};

/// Puts another filter in place.
type Change = Box<dyn Fn(EnvFilter) -> bool + Send + Sync>;

static CHANGE: OnceLock<Change> = OnceLock::new();

/// Begins to log as configured. Only the first call in a process counts.
pub fn init(config: &Config) {
    let level = EnvFilter::try_new(&config.log).unwrap_or_else(|_| EnvFilter::new("info"));
    // Colours are for terminals; files and other programs would have to remove them.
    let colours = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let builder = tracing_subscriber::fmt().with_writer(std::io::stderr).with_target(false).with_ansi(colours);
    macro_rules! begin {
        ($builder:expr) => {{
            let builder = $builder.with_env_filter(level).with_filter_reloading();
            let handle = builder.reload_handle();
            // An error means that the program has a logger of its own already.
            if builder.try_init().is_ok() {
                let _ = CHANGE.set(Box::new(move |level| handle.reload(level).is_ok()));
            }
        }};
    }
    if config.log_json { begin!(builder.json()) } else { begin!(builder) }
}

/// The filter in a configuration's `log`.
///
/// # Errors
/// [`ConfigError`] if it cannot be understood.
pub(crate) fn level_of(config: &Config) -> Result<EnvFilter, ConfigError> {
    EnvFilter::try_new(&config.log).map_err(|error| ConfigError { message: format!("log: {error}") })
}

/// Sets the filter from now on, unless the program has a logger of its own.
pub(crate) fn set_level(level: EnvFilter) {
    if let Some(change) = CHANGE.get()
        && !change(level)
    {
        tracing::warn!("what is logged could not be changed");
    }
}

const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// Refuses a filter that cannot be understood. A lone word must be a level: `tracing` would take it for a target, and
/// log nothing of the server.
///
/// # Errors
/// The reason.
pub(crate) fn check(filter: &str) -> Result<(), String> {
    let wrong = |part: &str, why: &str| {
        let levels = LEVELS.join(", ");
        Err(format!(
            "the log filter {part:?} {why}: it is a level ({levels}), or targets with levels, as in warn,hyper=debug"
        ))
    };
    if filter.trim().is_empty() {
        return wrong(filter, "is empty");
    }
    if let Err(error) = EnvFilter::try_new(filter) {
        return wrong(filter, &format!("cannot be understood ({error})"));
    }
    // Brackets hold spans and fields, with commas of their own.
    let plain = filter.split(',').filter(|_| !filter.contains('['));
    for part in plain.map(str::trim) {
        let level = part.rsplit_once('=').map_or(part, |(_, level)| level);
        if !LEVELS.iter().any(|known| known.eq_ignore_ascii_case(level)) {
            return wrong(part, "names no level");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_of_levels_or_it_is_refused() {
        for filter in ["info", "WARN", "off", "warn,hyper=debug", "recension_server=trace, error", "[span{a=1}]=debug"]
        {
            assert_eq!(check(filter), Ok(()), "{filter}");
        }
        for filter in ["foo", "", " ", "warn,foo", "hyper=loud", "warn,", "=debug=", "hyper", "[x=debug"] {
            let message = check(filter).unwrap_err();
            assert!(message.contains("off, error, warn, info, debug, trace"), "{filter}: {message}");
        }
    }
}
