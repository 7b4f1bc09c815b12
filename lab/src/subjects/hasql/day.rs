//! Days as the clients have them, and as the model has them.

use time::Date;

use super::Day;

/// The Julian day of 1970-01-01.
const EPOCH: i32 = 2_440_588;

/// As the clients have it; none beyond their calendar.
pub(super) fn date(day: Day) -> Option<Date> {
    Date::from_julian_day(day.0.saturating_add(EPOCH)).ok()
}

/// As the model has it.
pub(super) fn day(date: Date) -> Day {
    Day(date.to_julian_day() - EPOCH)
}

/// Out of `YYYY-MM-DD`.
pub(super) fn of_text(text: &str) -> Option<Day> {
    let mut parts = text.splitn(3, '-');
    let (year, month, of_month) = (parts.next()?.parse().ok()?, parts.next()?, parts.next()?.parse().ok()?);
    let month = time::Month::try_from(month.parse::<u8>().ok()?).ok()?;
    Date::from_calendar_date(year, month, of_month).ok().map(day)
}

/// As `YYYY-MM-DD`.
pub(super) fn text(day: Day) -> Option<String> {
    let date = date(day)?;
    Some(format!("{:04}-{:02}-{:02}", date.year(), u8::from(date.month()), date.day()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_the_same_in_every_form() {
        for (number, written) in [(0, "1970-01-01"), (16_369, "2014-10-26"), (11_016, "2000-02-29"), (-1, "1969-12-31")]
        {
            assert_eq!(text(Day(number)).as_deref(), Some(written));
            assert_eq!(of_text(written), Some(Day(number)));
            assert_eq!(date(Day(number)).map(day), Some(Day(number)));
        }
        for wrong in ["", "2014", "2014-13-01", "2014-02-30", "x-1-1"] {
            assert_eq!(of_text(wrong), None, "{wrong}");
        }
    }
}
