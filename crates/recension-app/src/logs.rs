//! Logs: one line an event on standard error, for people or as JSON. The filter can be changed at any time. Lines go
//! through a bounded queue to a thread that writes them: who logs never waits for whoever reads them, and never fails.

use std::collections::VecDeque;
use std::io::{self, IsTerminal as _, Write};
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use tracing_subscriber::EnvFilter;

/// Puts another filter in place.
type Change = Box<dyn Fn(EnvFilter) -> bool + Send + Sync>;

static CHANGE: OnceLock<Change> = OnceLock::new();

/// The newest lines, for the console.
static RECENT: Mutex<VecDeque<String>> = Mutex::new(VecDeque::new());
/// Lines that are kept, and the longest that is kept whole.
const RECENT_LINES_MAX: usize = 500;
const RECENT_LINE_BYTES_MAX: usize = 2000;

/// Lines that wait to be written.
const LINES_WAITING_MAX: usize = 1024;
/// How long [`close`] waits for them.
const CLOSED_WITHIN: Duration = Duration::from_secs(2);

/// The queue to standard error, from the first line on.
static LINES: OnceLock<Option<Queue>> = OnceLock::new();

/// Lines on their way.
struct Queue {
    sender: SyncSender<Vec<u8>>,
    state: &'static Waiting,
}

/// Lines that were handed over and are not written yet, and those that were lost since the last that was written.
#[derive(Default)]
struct Waiting {
    lines: Mutex<usize>,
    written: Condvar,
    lost: AtomicU64,
}

static STANDARD_ERROR: Waiting = Waiting { lines: Mutex::new(0), written: Condvar::new(), lost: AtomicU64::new(0) };

impl Queue {
    /// A queue whose lines a thread writes; `None`: the system gives no thread.
    fn to(out: impl Write + Send + 'static, state: &'static Waiting) -> Option<Self> {
        let (sender, lines) = sync_channel(LINES_WAITING_MAX);
        let thread = std::thread::Builder::new().name("recension-stderr".to_owned());
        thread.spawn(move || state.write(&lines, out)).ok()?;
        Some(Queue { sender, state })
    }

    fn push(&self, line: &[u8]) {
        *self.state.lines.lock() += 1;
        if self.sender.try_send(line.to_vec()).is_err() {
            self.state.done(false);
        }
    }
}

impl Waiting {
    fn write(&self, lines: &Receiver<Vec<u8>>, mut out: impl Write) {
        while let Ok(line) = lines.recv() {
            let lost = self.lost.swap(0, Ordering::Relaxed);
            let told = lost == 0 || writeln!(out, "{lost} lines of the log could not be written and are lost").is_ok();
            let written = told && out.write_all(&line).and_then(|()| out.flush()).is_ok();
            if !told {
                self.lost.fetch_add(lost, Ordering::Relaxed);
            }
            self.done(written);
        }
    }

    fn done(&self, written: bool) {
        self.lost.fetch_add(u64::from(!written), Ordering::Relaxed);
        *self.lines.lock() -= 1;
        self.written.notify_all();
    }

    fn wait(&self, patience: Duration) {
        let (until, mut lines) = (Instant::now() + patience, self.lines.lock());
        while *lines > 0 && !self.written.wait_until(&mut lines, until).timed_out() {}
    }
}

/// Waits a moment for the lines that were logged to be written: the process is about to end.
pub fn close() {
    STANDARD_ERROR.wait(CLOSED_WITHIN);
}

/// Standard error, and the newest lines beside it. What is written at once is a line.
struct Noted;

impl Write for Noted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        note(&String::from_utf8_lossy(bytes));
        if let Some(queue) = LINES.get_or_init(|| Queue::to(io::stderr(), &STANDARD_ERROR)) {
            queue.push(bytes);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
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
pub fn recent() -> Vec<String> {
    RECENT.lock().iter().cloned().collect()
}

/// Begins to log what a filter lets through, as lines of text or of JSON. The first call of a process counts.
pub fn init(filter: &str, json: bool) {
    let level = EnvFilter::try_new(filter).unwrap_or_else(|_| EnvFilter::new("info"));
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
    if json { begin!(builder.json()) } else { begin!(builder) }
}

/// Logs what is served, by which version, and where.
pub fn begin_serving(store: &Path, url: &str) {
    tracing::info!(version = env!("CARGO_PKG_VERSION"), store = %store.display(), url, "serving");
}

/// Logs that nothing is served any more.
pub fn end_serving() {
    tracing::info!("stopped");
}

/// Sets the filter from now on, unless the program has a logger of its own. The filter was checked before.
pub fn set(filter: &str) {
    if let (Some(change), Ok(level)) = (CHANGE.get(), EnvFilter::try_new(filter))
        && !change(level)
    {
        tracing::warn!("what is logged could not be changed");
    }
}

/// Whether [`set`] has an effect: the logger is this crate's.
pub fn can_be_set() -> bool {
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
pub const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// Refuses a filter that cannot be understood. A lone word must be a level: `tracing` would take it for a target, and
/// log nothing of the server.
///
/// # Errors
/// The reason.
pub fn check(filter: &str) -> Result<(), String> {
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

    /// Writes once it may, and then fails as often as it is told.
    struct Full(Receiver<bool>, std::sync::Arc<Mutex<Vec<u8>>>);

    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            match self.0.recv() {
                Ok(false) => Err(io::ErrorKind::StorageFull.into()),
                _ => self.1.lock().write(bytes),
            }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_log_that_cannot_be_written_fails_nobody_and_says_how_much_was_lost() {
        let (go_on, may) = sync_channel(1);
        let written = std::sync::Arc::new(Mutex::new(Vec::new()));
        let state: &'static Waiting = Box::leak(Box::default());
        let queue = Queue::to(Full(may, written.clone()), state).unwrap();
        queue.push(b"fails\n");
        go_on.send(false).unwrap();
        state.wait(Duration::from_mins(1));
        // Nobody reads: it waits for none of these.
        (0..LINES_WAITING_MAX + 100).for_each(|_| queue.push(b"line\n"));
        drop(go_on);
        state.wait(Duration::from_mins(1));
        queue.push(b"last\n");
        state.wait(Duration::from_mins(1));
        let text = String::from_utf8(written.lock().clone()).unwrap();
        let lost: u64 =
            text.lines().filter_map(|line| line.split_once(" lines of the log")?.0.parse::<u64>().ok()).sum();
        let lines = text.lines().filter(|line| *line == "line").count() as u64;
        assert_eq!(lost + lines, 1 + LINES_WAITING_MAX as u64 + 100, "{lost}");
        assert!(lost >= 1 && text.ends_with("last\n"));
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
