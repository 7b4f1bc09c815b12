//! Numbers, sizes and times as people read them. Pure, but for `now`.

use std::time::{SystemTime, UNIX_EPOCH};

use recension::engine::Timestamp;
use recension::format_time;

/// Seconds of what is counted in, the longest first.
const UNITS: [(u64, &str); 6] =
    [(31_536_000, "year"), (2_592_000, "month"), (604_800, "week"), (86_400, "day"), (3600, "hour"), (60, "minute")];
const SECOND: u64 = 1_000_000;

/// The present.
pub fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(u64::try_from(since.as_micros()).unwrap_or(u64::MAX))
}

/// How long ago it was.
pub fn ago(time: Timestamp, now: Timestamp) -> String {
    let seconds = now.0.saturating_sub(time.0) / SECOND;
    let unit = UNITS.iter().find(|(length, _)| seconds >= *length);
    unit.map_or_else(
        || if seconds < 10 { "just now".to_owned() } else { format!("{seconds} seconds ago") },
        |(length, name)| match seconds / length {
            1 => format!("1 {name} ago"),
            number => format!("{number} {name}s ago"),
        },
    )
}

/// The time to the second, as people and moments of pages have it: `2026-01-31T12:00:00Z`.
pub fn to_the_second(time: Timestamp) -> String {
    format_time(Timestamp(time.0 / SECOND * SECOND))
}

/// A number as people read it.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Bytes as people read them.
pub fn bytes(number: u64) -> String {
    let units = ["B", "kB", "MB", "GB", "TB"];
    let mut unit = 0;
    let mut tenths = u128::from(number) * 10;
    while tenths >= 10_000 && unit + 1 < units.len() {
        tenths /= 1000;
        unit += 1;
    }
    if unit == 0 { format!("{number} B") } else { format!("{}.{} {}", tenths / 10, tenths % 10, units[unit]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_for_people() {
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!((grouped(0).as_str(), grouped(999).as_str()), ("0", "999"));
        for (number, expected) in
            [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (1_550_000, "1.5 MB"), (u64::MAX, "18446744.0 TB")]
        {
            assert_eq!(bytes(number).split('.').next(), expected.split('.').next(), "{number}");
        }
    }

    #[test]
    fn times_are_said_as_people_say_them() {
        let now = Timestamp(1_800_000_000 * SECOND);
        for (seconds, said) in [
            (0, "just now"),
            (59, "59 seconds ago"),
            (60, "1 minute ago"),
            (7199, "1 hour ago"),
            (7200, "2 hours ago"),
            (86_400 * 3, "3 days ago"),
            (86_400 * 800, "2 years ago"),
        ] {
            assert_eq!(ago(Timestamp(now.0 - seconds * SECOND), now), said);
        }
        assert_eq!(ago(Timestamp(now.0 + SECOND), now), "just now", "a clock that is behind");
        assert_eq!(to_the_second(Timestamp(1_999_999)), "1970-01-01T00:00:01Z");
    }
}
