//! `--at`: a past moment of the store, by the number of a commit or by time. Pure: the clock and the
//! time zone come in.

use std::fmt;

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, Zoned};

/// A moment to read at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// Right after this commit.
    Seq(u64),
    /// As of this time.
    Time(Timestamp),
}

/// Why a text names no moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AtError {
    text: String,
    why: &'static str,
}

impl fmt::Display for AtError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?} {}; give the number of a commit (1234), a time (2026-11-21T10:00:00Z; without a zone it is \
             local), a date (2026-11-21), or how long ago (\"10 minutes ago\", \"2h ago\")",
            self.text, self.why
        )
    }
}

impl std::error::Error for AtError {}

/// The moment that `text` names for a reader whose clock shows `now`.
pub fn parse(text: &str, now: &Zoned) -> Result<At, AtError> {
    let error = |why| AtError { text: text.to_owned(), why };
    let text = text.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return text.parse().map(At::Seq).map_err(|_| error("is beyond every number of a commit"));
    }
    if text == "now" {
        return Ok(At::Time(now.timestamp()));
    }
    let time = if let Ok(time) = text.parse::<Timestamp>() {
        time
    } else if let Some(civil) = civil(text) {
        let zone: TimeZone = now.time_zone().clone();
        civil.to_zoned(zone).map_err(|_| error("is no time of this time zone"))?.timestamp()
    } else if let Ok(span) = text.parse::<Span>() {
        if !span.is_negative() {
            return Err(error("is a length of time without \"ago\""));
        }
        now.checked_add(span).map_err(|_| error("is too long ago"))?.timestamp()
    } else {
        return Err(error("names no moment"));
    };
    if time < Timestamp::UNIX_EPOCH {
        return Err(error("is before 1970"));
    }
    if time > now.timestamp() {
        return Err(error("is in the future"));
    }
    Ok(At::Time(time))
}

fn civil(text: &str) -> Option<DateTime> {
    // A date alone parses as a date and time, too, at its midnight.
    text.parse::<DateTime>()
        .ok()
        .or_else(|| text.parse::<Date>().ok().map(|date| date.to_datetime(jiff::civil::Time::midnight())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Zoned {
        // 12:00 UTC, read by someone two hours east.
        "2026-11-21T14:00:00+02:00[+02:00]".parse().unwrap()
    }

    #[test]
    fn a_moment_is_a_commit_a_time_or_a_while_ago() {
        let time = |text: &str| At::Time(text.parse().unwrap());
        for (text, at) in [
            ("0", At::Seq(0)),
            ("1234", At::Seq(1234)),
            ("2026-11-21T10:00:00Z", time("2026-11-21T10:00:00Z")),
            ("2026-11-21T10:00:00.123456Z", time("2026-11-21T10:00:00.123456Z")),
            ("2026-11-21T10:00:00+01:00", time("2026-11-21T09:00:00Z")),
            ("2026-11-21 10:00", time("2026-11-21T08:00:00Z")),
            ("2026-11-21", time("2026-11-20T22:00:00Z")),
            ("10 minutes ago", time("2026-11-21T11:50:00Z")),
            ("1h30m ago", time("2026-11-21T10:30:00Z")),
            ("2 days ago", time("2026-11-19T12:00:00Z")),
            ("now", time("2026-11-21T12:00:00Z")),
        ] {
            assert_eq!(parse(text, &now()), Ok(at), "{text}");
        }
    }

    #[test]
    fn what_names_no_moment_is_refused_with_what_would() {
        for (text, why) in [
            ("", "names no moment"),
            ("yesterday", "names no moment"),
            ("2026-13-01", "names no moment"),
            ("10 minutes", "without \"ago\""),
            ("2026-11-21T12:00:01Z", "in the future"),
            ("1969-12-31T23:59:59Z", "before 1970"),
            ("99999999999999999999", "beyond every number"),
            ("-5", "names no moment"),
        ] {
            let message = parse(text, &now()).unwrap_err().to_string();
            assert!(message.contains(why) && message.contains("10 minutes ago"), "{text}: {message}");
        }
    }
}
