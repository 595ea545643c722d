//! Points in time, as people read them.
//!
//! Dates are computed here, because a cell may have any 64-bit timestamp: `jiff`, `time` and `chrono` end before the
//! year 292,278,994.

/// Returns the date of a time in milliseconds since 1970: ISO 8601, in UTC, with milliseconds.
///
/// Years outside of 0 to 9999 have a sign and at least six digits, as the standard demands.
pub(crate) fn date(millis: i64) -> String {
    let (day, of_day) = (millis.div_euclid(DAY_MILLIS), millis.rem_euclid(DAY_MILLIS));
    let (year, month, day) = calendar_day(day);
    let year = match year {
        0..=9999 => format!("{year:04}"),
        _ => format!("{year:+07}"),
    };
    let (seconds, millis) = (of_day / 1000, of_day % 1000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

/// Returns a time as people read it: the milliseconds, and the date.
pub(crate) fn millis_and_date(millis: i64) -> String {
    format!("{millis} ({})", date(millis))
}

const DAY_MILLIS: i64 = 86_400_000;

/// Returns year, month and day of a number of days since 1970-01-01, in the Gregorian calendar.
///
/// Computes with years that begin in March, so that the leap day is the last day of a year. An era
/// is 400 years, or 146,097 days; 1970-01-01 is day 719,468 since 0000-03-01.
const fn calendar_day(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    // Days of an era without its leap days: 1,460 is the last day of 4 years, 36,524 of a century.
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + if month <= 2 { 1 } else { 0 };
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected dates are the output of `date -u -d @SECONDS +%FT%T`.
    #[test]
    fn dates_are_iso_8601_in_utc() {
        for (millis, expected) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
            (1_700_000_000_123, "2023-11-14T22:13:20.123Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (951_868_800_000, "2000-03-01T00:00:00.000Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (1_704_067_199_999, "2023-12-31T23:59:59.999Z"),
            (253_402_300_800_000, "+010000-01-01T00:00:00.000Z"),
            (i64::MAX, "+292278994-08-17T07:12:55.807Z"),
            (i64::MIN, "-292275055-05-16T16:47:04.192Z"),
        ] {
            assert_eq!(date(millis), expected, "{millis}");
        }
        assert_eq!(millis_and_date(0), "0 (1970-01-01T00:00:00.000Z)");
    }
}
