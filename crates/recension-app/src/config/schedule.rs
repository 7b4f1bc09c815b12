//! When backups are made and which are kept, as people say it: "every hour, kept for a day". Pure.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// When backups are made, and which are kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Schedule {
    /// The time from one to the next.
    pub(crate) every: Duration,
    /// Those that are kept.
    pub kept: Kept,
}

/// Which backups are kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kept {
    /// The newest, this many of them.
    Newest(usize),
    /// Those that are not older, and the newest one in any case.
    For(Duration),
}

/// Units, the longest first, with their seconds.
const UNITS: [(&str, u64); 5] = [("week", 604_800), ("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1)];

/// What is said of a text that is not understood.
const EXPECTED: &str = "schedule: say for example \"every hour, kept for a day\", \"every 6 hours, kept for 2 weeks\" \
                        or \"every day, 7 kept\"";

impl FromStr for Schedule {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (every, kept) = text.split_once(',').ok_or(EXPECTED)?;
        let every = duration(every.trim().strip_prefix("every").ok_or(EXPECTED)?).ok_or(EXPECTED)?;
        let kept = kept.trim();
        let kept = match (kept.strip_prefix("kept for"), kept.strip_suffix("kept")) {
            (Some(time), _) => Kept::For(duration(time).ok_or(EXPECTED)?),
            (None, Some(number)) => {
                let number = number.trim().parse().ok().filter(|number| *number > 0).ok_or(EXPECTED)?;
                Kept::Newest(number)
            }
            (None, None) => return Err(EXPECTED),
        };
        if matches!(kept, Kept::For(time) if time < every) {
            return Err("schedule: each backup would be given up before the next one is made");
        }
        Ok(Schedule { every, kept })
    }
}

/// `hour`, `an hour`, `6 hours`.
fn duration(text: &str) -> Option<Duration> {
    let mut words = text.split_whitespace();
    let (first, second) = (words.next()?, words.next());
    let (number, unit) = match (first, second, words.next()) {
        (unit, None, None) | ("a" | "an", Some(unit), None) => (1, unit),
        (number, Some(unit), None) => (number.parse().ok().filter(|number: &u64| *number > 0)?, unit),
        _ => return None,
    };
    let unit = unit.strip_suffix('s').unwrap_or(unit);
    let (_, seconds) = UNITS.into_iter().find(|(name, _)| *name == unit)?;
    number.checked_mul(seconds).map(Duration::from_secs)
}

/// A time in its longest unit that fits: `hour`, `6 hours`.
fn said(time: Duration) -> String {
    let seconds = time.as_secs();
    let fits = UNITS.into_iter().find(|(_, of)| seconds > 0 && seconds.is_multiple_of(*of));
    match fits {
        Some((unit, of)) if seconds == of => unit.to_owned(),
        Some((unit, of)) => format!("{} {unit}s", seconds / of),
        None => format!("{seconds} seconds"),
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "every {}, ", said(self.every))?;
        match self.kept {
            Kept::Newest(number) => write!(f, "{number} kept"),
            Kept::For(time) => {
                let time = said(time);
                let one = if time.starts_with(|c: char| c.is_ascii_digit()) {
                    ""
                } else if time.starts_with('h') {
                    "an "
                } else {
                    "a "
                };
                write!(f, "kept for {one}{time}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_are_as_people_say_them() {
        let hours = Duration::from_hours;
        for (text, every, kept, shown) in [
            ("every hour, kept for a day", hours(1), Kept::For(hours(24)), "every hour, kept for a day"),
            ("every 6 hours,kept for 2 weeks", hours(6), Kept::For(hours(336)), "every 6 hours, kept for 2 weeks"),
            ("every day, 7 kept", hours(24), Kept::Newest(7), "every day, 7 kept"),
            ("every 60 minutes, kept for 60 minutes", hours(1), Kept::For(hours(1)), "every hour, kept for an hour"),
            ("every 90 minutes, 1 kept", Duration::from_mins(90), Kept::Newest(1), "every 90 minutes, 1 kept"),
        ] {
            let schedule: Schedule = text.parse().unwrap();
            assert_eq!(schedule, Schedule { every, kept }, "{text}");
            assert_eq!(schedule.to_string(), shown);
            assert_eq!(shown.parse::<Schedule>().unwrap(), schedule);
        }
        for text in [
            "",
            "hourly",
            "every hour",
            "every 0 hours, 7 kept",
            "every hour, 0 kept",
            "every hour, kept for ever",
            "every fortnight, 7 kept",
            "every day, kept for an hour",
            "every 99999999999999999999 weeks, 1 kept",
        ] {
            assert!(text.parse::<Schedule>().is_err(), "{text}");
        }
    }
}
