//! Times as text, in ISO 8601 and UTC.

const DAY_MILLIS: i64 = 86_400_000;

/// Returns the number of whole days since 1970.
pub(crate) const fn days(millis: i64) -> i64 {
    millis.div_euclid(DAY_MILLIS)
}

/// Returns a date such as `2023-11-14`.
pub(crate) fn date(millis: i64) -> String {
    // Years begin in March, so that the leap day is the last day of a year. An era is 400 years.
    let days = days(millis) + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

/// Returns a time such as `2023-11-14T22:13:20.500Z`.
pub(crate) fn time(millis: i64) -> String {
    let of_day = millis.rem_euclid(DAY_MILLIS);
    let (hours, minutes) = (of_day / 3_600_000, of_day / 60_000 % 60);
    let (seconds, rest) = (of_day / 1000 % 60, of_day % 1000);
    format!("{}T{hours:02}:{minutes:02}:{seconds:02}.{rest:03}Z", date(millis))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected texts are the output of `date -u --date @SECONDS --iso-8601=seconds`.
    #[test]
    fn times_are_in_iso_8601() {
        for (millis, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_700_000_000_500, "2023-11-14T22:13:20.500Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(time(millis), text);
            assert_eq!(date(millis), text[..10]);
        }
        assert_eq!((days(-1), days(DAY_MILLIS)), (-1, 1));
    }
}
