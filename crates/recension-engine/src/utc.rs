//! Times for people: RFC 3339 in UTC. Pure: no clock, and no time zones.

use std::fmt;

use super::Timestamp;

const DAY_SECONDS: u64 = 86_400;

/// RFC 3339 in UTC: `2026-11-21T03:40:00Z`, with microseconds if there are any.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, micros) = (self.0 / 1_000_000, self.0 % 1_000_000);
        let (days, second) = (seconds / DAY_SECONDS, seconds % DAY_SECONDS);
        let (year, month, day) = civil_from_days(days.cast_signed());
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")?;
        if micros > 0 {
            write!(f, ".{micros:06}")?;
        }
        f.write_str("Z")
    }
}

// Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms": years begin in March there.
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}
