//! Failed log-ins are logged with their addresses. Somebody who guesses passwords could fill a disk with that. Beyond a
//! handful there is therefore one line a second, which says how many were left out.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

use recension_wire::arriving::Address;
use recension_wire::error::ApiError;
use recension_wire::limits::{FAILED_LOG_INS_AT_ONCE, FAILED_LOG_INS_INTERVAL_MS, LOGGED_NAME_CHARS_MAX};

/// How many lines may be written.
#[derive(Debug, Default)]
pub(crate) struct FailedLogIns(Mutex<Option<State>>);

#[derive(Clone, Copy, Debug)]
struct State {
    /// When all places for lines are free again.
    free_at: Instant,
    left_out: u64,
}

impl FailedLogIns {
    /// Logs one, or leaves it out.
    pub(crate) fn note(&self, from: Address, name: Option<&str>, why: &ApiError) {
        let Some(left_out) = self.admit(Instant::now()) else { return };
        let client = from.map_or_else(|| "a unix socket".to_owned(), |address| address.to_string());
        let name = name.map(shown).unwrap_or_default();
        let (status, reason) = (why.status.as_u16(), &why.reason);
        tracing::warn!(%client, %name, status, %reason, left_out, "a log-in failed");
    }

    /// How many were left out before this one; `None` if this one is left out too.
    fn admit(&self, now: Instant) -> Option<u64> {
        let interval = Duration::from_millis(FAILED_LOG_INS_INTERVAL_MS);
        let mut held = self.0.lock();
        let state = held.get_or_insert(State { free_at: now, left_out: 0 });
        let free_at = state.free_at.max(now) + interval;
        if free_at.duration_since(now) > interval * FAILED_LOG_INS_AT_ONCE {
            state.left_out += 1;
            return None;
        }
        state.free_at = free_at;
        Some(std::mem::take(&mut state.left_out))
    }
}

/// A name as a stranger gives it: shortened, and with everything escaped that could deceive a terminal or a reader of
/// logs.
fn shown(name: &str) -> String {
    let mut text: String = name.chars().take(LOGGED_NAME_CHARS_MAX).flat_map(char::escape_default).collect();
    if name.chars().nth(LOGGED_NAME_CHARS_MAX).is_some() {
        text.push_str("...");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_failures_is_a_line_a_second_and_none_is_forgotten() {
        let (failed, start) = (FailedLogIns::default(), Instant::now());
        let flood = |seconds: u64| {
            let now = start + Duration::from_secs(seconds);
            let lines: Vec<u64> = (0..1000).filter_map(|_| failed.admit(now)).collect();
            (lines.len(), lines.iter().sum::<u64>())
        };
        assert_eq!(flood(0), (FAILED_LOG_INS_AT_ONCE as usize, 0));
        let before = 1000 - u64::from(FAILED_LOG_INS_AT_ONCE);
        assert_eq!(flood(1), (1, before));
        assert_eq!(flood(2), (1, 999));
        assert_eq!(flood(1000).0, FAILED_LOG_INS_AT_ONCE as usize, "rest restores");
    }

    #[test]
    fn a_name_is_shown_short_and_harmless() {
        for (name, expected) in [
            ("ada", "ada".to_owned()),
            ("a\nb\u{1b}[31m\"", "a\\nb\\u{1b}[31m\\\"".to_owned()),
            ("é", "\\u{e9}".to_owned()),
            (&"x".repeat(5000), format!("{}...", "x".repeat(LOGGED_NAME_CHARS_MAX))),
        ] {
            assert_eq!(shown(name), expected);
        }
    }
}
