//! Naming a moment: a commit, a time or an age, and reading one from text.
//! Nothing here reads a clock: an age becomes a time when a store resolves it.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::time::{format_time, parse_time};
use recension_engine::{Seq, Timestamp};

/// A moment of a store's life that can be read.
///
/// As text: `now`; a commit, `seq:123` or `123`; a time, `2026-11-21T03:40:00Z` (RFC 3339; UTC if
/// it names no offset; the seconds or all of the clock may be left out, and a day alone is its
/// beginning); an age: `90s`, `10m`, `2h`, `3d`, `1w`, with or without `ago`; a tag, `tag:v1`.
///
/// ```
/// use recension::At;
/// use recension::engine::Seq;
/// # fn main() -> recension::Result<()> {
/// assert_eq!("seq:12".parse::<At>()?, At::Seq(Seq(12)));
/// assert_eq!("2h ago".parse::<At>()?, At::Ago(std::time::Duration::from_hours(2)));
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum At {
    /// The newest commit at the moment of reading.
    #[default]
    Now,
    /// Right after that commit.
    Seq(Seq),
    /// After the last commit made at that time or before.
    Time(Timestamp),
    /// That long before the clock's time at the moment of reading.
    Ago(Duration),
    /// The moment that a tag names.
    Tag(TagName),
}

/// The name of a tag: 1 to 31 bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TagName {
    bytes: [u8; TAG_BYTES_MAX],
    len: u8,
}

const TAG_BYTES_MAX: usize = 31;

impl TagName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(self.bytes.get(..usize::from(self.len)).unwrap_or_default()).unwrap_or_default()
    }
}

impl FromStr for TagName {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let mut bytes = [0; TAG_BYTES_MAX];
        let (true, Some(place)) = (!name.is_empty(), bytes.get_mut(..name.len())) else {
            let why = "after tag: comes the name of a tag, of 1 to 31 bytes";
            return Err(Error::BadMoment { text: name.chars().take(80).collect(), why });
        };
        place.copy_from_slice(name.as_bytes());
        Ok(TagName { bytes, len: name.len() as u8 })
    }
}

impl fmt::Debug for TagName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            At::Now => f.write_str("now"),
            At::Seq(seq) => write!(f, "seq:{seq}"),
            At::Time(time) => f.write_str(&format_time(*time)),
            At::Ago(age) => {
                let seconds = age.as_secs();
                let (unit, of) = UNITS.into_iter().find(|(_, of)| seconds > 0 && seconds % of == 0).unwrap_or(("s", 1));
                write!(f, "{}{unit}", seconds / of)
            }
            At::Tag(name) => write!(f, "tag:{}", name.as_str()),
        }
    }
}

impl FromStr for At {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let bad = |why| Error::BadMoment { text: text.chars().take(80).collect(), why };
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return Err(bad("it is empty"));
        }
        if trimmed.eq_ignore_ascii_case("now") {
            return Ok(At::Now);
        }
        if let Some(name) = trimmed.strip_prefix("tag:") {
            return name.parse().map(At::Tag);
        }
        let digits = trimmed.strip_prefix("seq:").unwrap_or(trimmed);
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        // A sequence of a server's feed, as 7-123, is of the commit behind its number of updates; 2026-11 is a month.
        let digits = match digits.split_once('-') {
            Some((number, seq)) if is_number(number) && (number.len() != 4 || seq.len() > 2) => seq,
            _ => digits,
        };
        if is_number(digits) {
            return digits.parse().map(|seq| At::Seq(Seq(seq))).map_err(|_| bad("the commit's number is too large"));
        }
        if trimmed.starts_with("seq:") {
            return Err(bad("after seq: comes the number of a commit"));
        }
        if trimmed.eq_ignore_ascii_case("yesterday") {
            return Ok(At::Ago(Duration::from_hours(24)));
        }
        if let Some((number, unit_seconds)) = split_age(trimmed) {
            let seconds = number.parse::<u64>().ok().and_then(|number| number.checked_mul(unit_seconds));
            return seconds.map(|age| At::Ago(Duration::from_secs(age))).ok_or_else(|| bad("the age is too large"));
        }
        match parse_time(trimmed) {
            Ok(time) => Ok(At::Time(time)),
            Err(why) => Err(bad(why)),
        }
    }
}

/// Units of ages, the longest first, with their seconds.
const UNITS: [(&str, u64); 4] = [("d", 86_400), ("h", 3600), ("m", 60), ("s", 1)];

/// The digits of an age, and the seconds of its unit; `None` if it is no age.
fn split_age(text: &str) -> Option<(&str, u64)> {
    let text = text.strip_suffix("ago").map_or(text, str::trim_end);
    let unit_at = text.find(|c: char| !c.is_ascii_digit()).filter(|at| *at > 0)?;
    let (number, unit) = text.split_at(unit_at);
    let seconds = match unit.trim_start() {
        "s" | "sec" | "second" | "seconds" => 1,
        "m" | "min" | "minute" | "minutes" => 60,
        "h" | "hour" | "hours" => 3600,
        "d" | "day" | "days" => 86_400,
        "w" | "week" | "weeks" => 7 * 86_400,
        _ => return None,
    };
    Some((number, seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_read_from_text() {
        let micros = 1_795_232_400_000_000; // 2026-11-21T03:40:00Z
        for (text, expected) in [
            ("now", At::Now),
            (" NOW ", At::Now),
            ("123", At::Seq(Seq(123))),
            ("seq:0", At::Seq(Seq(0))),
            ("7-123", At::Seq(Seq(123))),
            ("2026-123", At::Seq(Seq(123))),
            ("2026-11-21T03:40:00Z", At::Time(Timestamp(micros))),
            ("2026-11-21T04:40:00+01:00", At::Time(Timestamp(micros))),
            ("2026-11-21 03:40", At::Time(Timestamp(micros))),
            ("2026-11-21t03:40:00.25z", At::Time(Timestamp(micros + 250_000))),
            ("2026-11-21", At::Time(Timestamp(micros - 13_200_000_000))),
            ("10m", At::Ago(Duration::from_mins(10))),
            ("2h ago", At::Ago(Duration::from_hours(2))),
            ("3 days ago", At::Ago(Duration::from_hours(72))),
            ("Yesterday", At::Ago(Duration::from_hours(24))),
            ("1w", At::Ago(Duration::from_hours(168))),
        ] {
            assert_eq!(text.parse::<At>().unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn an_age_is_shown_as_people_say_it_and_reads_as_itself() {
        for (seconds, shown) in [(0, "0s"), (90, "90s"), (600, "10m"), (7200, "2h"), (86_400, "1d"), (1_209_600, "14d")]
        {
            let at = At::Ago(Duration::from_secs(seconds));
            assert_eq!((at.to_string().as_str(), shown.parse::<At>().unwrap()), (shown, at));
        }
    }

    #[test]
    fn what_names_no_moment_is_refused_with_a_reason() {
        for text in [
            "",
            "seq:",
            "seq:-1",
            "-1",
            "7-",
            "2026-11",
            "7-12-3",
            "ago",
            "h",
            "2026-13-01",
            "2026-02-30",
            "2026-11-21T25:00",
            "99999999999999999999",
            "99999999999999999999h",
            "2026-11-21T03:40:00+1",
            "2026-11-21T03:40:00Zz",
            "1960-01-01",
            "2026-11-21T",
            "2026-11-21T03",
            "2026-11-21T03:40:00.",
            "２026-11-21",
        ] {
            let error = text.parse::<At>().unwrap_err();
            assert!(matches!(error, Error::BadMoment { .. }), "{text}");
        }
    }

    #[test]
    fn a_moment_reads_back_what_it_prints() {
        for at in
            [At::Now, At::Seq(Seq(9)), At::Time(Timestamp(1_795_232_400_250_000)), At::Ago(Duration::from_secs(5))]
        {
            assert_eq!(at.to_string().parse::<At>().unwrap(), at);
        }
    }
}
