//! RFC 3339 times in UTC, to and from microseconds since 1970. Pure: no clock, and no time zones except offsets.

use recension_engine::Timestamp;

const DAY_SECONDS: i64 = 86_400;

/// The time as RFC 3339 in UTC: `2026-11-21T03:40:00Z`, with microseconds if there are any.
pub fn format_time(time: Timestamp) -> String {
    time.to_string()
}

/// Reads what `format_time` writes, other offsets, a blank for the `T`, no seconds, or a day alone.
pub fn parse_time(text: &str) -> Result<Timestamp, &'static str> {
    let not_a_time = "it is neither a commit, nor a time, nor an age";
    let mut rest = Scanner { bytes: text.as_bytes() };
    let year = rest.digits(4).ok_or(not_a_time)?;
    let month = rest.after(b"-").and_then(|()| rest.digits(2)).ok_or(not_a_time)?;
    let day = rest.after(b"-").and_then(|()| rest.digits(2)).ok_or(not_a_time)?;
    if !(1..=12).contains(&month) || day < 1 || day > days_in_month(year, month) {
        return Err("there is no such day");
    }
    let mut seconds = days_from_civil(year, month, day) * DAY_SECONDS;
    let mut micros = 0;
    if !rest.bytes.is_empty() {
        let bad_clock = "after the day comes T and the time, such as T03:40:00Z";
        rest.after(b"Tt ").ok_or(bad_clock)?;
        let hour = rest.digits(2).ok_or(bad_clock)?;
        let minute = rest.after(b":").and_then(|()| rest.digits(2)).ok_or(bad_clock)?;
        let second = match rest.after(b":") {
            Some(()) => rest.digits(2).ok_or(bad_clock)?,
            None => 0,
        };
        // A leap second (60) counts as the first of the next minute.
        if hour > 23 || minute > 59 || second > 60 {
            return Err("there is no such time of day");
        }
        seconds += hour * 3600 + minute * 60 + second;
        if rest.after(b".").is_some() {
            micros = rest.fraction().ok_or(bad_clock)?;
        }
        seconds -= rest.offset().ok_or("a time ends with Z or with an offset such as +01:00")?;
    }
    if !rest.bytes.is_empty() {
        return Err("something follows the time");
    }
    let seconds = u64::try_from(seconds).map_err(|_| "it is before 1970")?;
    Ok(Timestamp(seconds * 1_000_000 + micros))
}

struct Scanner<'t> {
    bytes: &'t [u8],
}

impl Scanner<'_> {
    fn after(&mut self, any_of: &[u8]) -> Option<()> {
        let (first, rest) = self.bytes.split_first()?;
        any_of.contains(first).then(|| self.bytes = rest)
    }

    fn digits(&mut self, count: usize) -> Option<i64> {
        let (digits, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        digits.iter().try_fold(0, |sum, byte| byte.is_ascii_digit().then(|| sum * 10 + i64::from(byte - b'0')))
    }

    /// Digits after the point, as microseconds; digits beyond the sixth are dropped.
    fn fraction(&mut self) -> Option<u64> {
        let count = self.bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, rest) = self.bytes.split_at(count);
        self.bytes = rest;
        let digit = |i| digits.get(i).map_or(0, |byte| u64::from(byte - b'0'));
        (count > 0).then(|| (0..6).fold(0, |sum, i| sum * 10 + digit(i)))
    }

    fn offset(&mut self) -> Option<i64> {
        let Some(&sign) = self.bytes.first() else { return Some(0) };
        self.after(b"Zz+-")?;
        if sign.eq_ignore_ascii_case(&b'z') {
            return Some(0);
        }
        let hours = self.digits(2)?;
        self.after(b":")?;
        let minutes = self.digits(2)?;
        let seconds = hours * 3600 + minutes * 60;
        (hours < 24 && minutes < 60).then_some(if sign == b'-' { -seconds } else { seconds })
    }
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

// Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms": years begin in March there.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_reads_back_what_it_prints() {
        for day in (0..200_000).step_by(7).chain([19_782, 59, 60, 11_016, 47_540]) {
            let time = Timestamp(day * 86_400_000_000 + 86_399_999_999);
            assert_eq!(parse_time(&format_time(time)), Ok(time), "{}", format_time(time));
        }
    }

    #[test]
    fn known_times_print_as_they_should() {
        assert_eq!(format_time(Timestamp(0)), "1970-01-01T00:00:00Z");
        assert_eq!(format_time(Timestamp(951_782_400_000_001)), "2000-02-29T00:00:00.000001Z");
    }
}
