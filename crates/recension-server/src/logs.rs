//! Logs: one line an event on standard error, for people or as JSON. The filter can be changed at any time.

use std::collections::VecDeque;
use std::io::{self, IsTerminal as _, Write};
use std::sync::OnceLock;

use parking_lot::Mutex;
use tracing_subscriber::EnvFilter;

use crate::config::Config;

/// Puts another filter in place.
type Change = Box<dyn Fn(EnvFilter) -> bool + Send + Sync>;

static CHANGE: OnceLock<Change> = OnceLock::new();

/// The newest lines, for the console.
static RECENT: Mutex<VecDeque<String>> = Mutex::new(VecDeque::new());
/// Lines that are kept, and the longest that is kept whole.
const RECENT_LINES_MAX: usize = 500;
const RECENT_LINE_BYTES_MAX: usize = 2000;

/// Standard error, and the newest lines beside it. What is written at once is a line.
struct Noted;

impl Write for Noted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        note(&String::from_utf8_lossy(bytes));
        io::stderr().write_all(bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// Keeps a line, without its colours.
fn note(line: &str) {
    let mut plain = String::with_capacity(line.len());
    let mut parts = line.trim_end().split('\u{1b}');
    plain.push_str(parts.next().unwrap_or_default());
    parts.for_each(|part| plain.push_str(part.split_once('m').map_or("", |(_, rest)| rest)));
    if let Some((end, _)) = plain.char_indices().find(|(at, _)| *at >= RECENT_LINE_BYTES_MAX) {
        plain.truncate(end);
    }
    let mut recent = RECENT.lock();
    recent.push_back(plain);
    while recent.len() > RECENT_LINES_MAX {
        recent.pop_front();
    }
}

/// The newest lines that were logged, oldest first.
pub(crate) fn recent() -> Vec<String> {
    RECENT.lock().iter().cloned().collect()
}

/// Begins to log as configured. The first call of a process counts.
pub fn init(config: &Config) {
    let level = EnvFilter::try_new(&config.log).unwrap_or_else(|_| EnvFilter::new("info"));
    // Colours are for terminals; files and other programs would have to remove them.
    let colours = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let builder = tracing_subscriber::fmt().with_writer(|| Noted).with_target(false).with_ansi(colours);
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

/// Sets the filter from now on, unless the program has a logger of its own. The filter was checked before.
pub(crate) fn set(filter: &str) {
    if let (Some(change), Ok(level)) = (CHANGE.get(), EnvFilter::try_new(filter))
        && !change(level)
    {
        tracing::warn!("what is logged could not be changed");
    }
}

/// Whether [`set`] has an effect: the logger is this crate's.
pub(crate) fn can_be_set() -> bool {
    CHANGE.get().is_some()
}

/// The filter that a setting names: CouchDB has more names of levels.
pub(crate) fn filter_of(setting: &str) -> &str {
    match setting.trim() {
        "none" => "off",
        "emergency" | "emerg" | "alert" | "critical" | "crit" | "err" => "error",
        "warning" => "warn",
        "notice" => "info",
        filter => filter,
    }
}

/// The levels, from none to all.
pub(crate) const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

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
    // A level alone is not parsed: a CGI program starts for every request.
    if LEVELS.contains(&filter) {
        return Ok(());
    }
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
    fn the_newest_lines_are_kept_without_colours() {
        for number in 0..RECENT_LINES_MAX + 3 {
            note(&format!("\u{1b}[2m2026\u{1b}[0m \u{1b}[33m WARN\u{1b}[0m line {number}\n"));
        }
        note(&"é".repeat(RECENT_LINE_BYTES_MAX));
        let recent = recent();
        assert_eq!(recent.len(), RECENT_LINES_MAX);
        assert_eq!(recent[0], "2026  WARN line 4");
        assert_eq!(recent.last().map(String::len), Some(RECENT_LINE_BYTES_MAX));
    }

    #[test]
    fn levels_of_couchdb_are_levels() {
        let couchdbs = "debug info notice warning warn error err critical crit alert emergency emerg none";
        for name in couchdbs.split(' ') {
            assert_eq!(check(filter_of(name)), Ok(()), "{name}");
        }
        assert_eq!(filter_of(" warn,hyper=debug"), "warn,hyper=debug");
    }

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
