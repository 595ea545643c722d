//! Timestamps as text: milliseconds since 1970, or ISO 8601.
//!
//! ```text
//! 1700000000000
//! 2023-11-14T22:13:20Z   2023-11-14 22:13:20.5+01:00   2023-11-14T22:13   2023-11-14
//! ```
//!
//! The basic format of ISO 8601 (`20231114T221320Z`) is not supported. A number of four or eight
//! digits is refused, because it could be a year or a date; with a leading zero it is milliseconds.
//!
//! A time without an offset is in UTC. Fractions of a millisecond are dropped from the timestamp of a cell, and
//! refused in a value.
//!
//! Not by `jiff`, which also takes the basic format, the second 60 and hours without minutes, and refuses more than
//! nine digits of a fraction. A cell may have any 64-bit timestamp: `jiff`, `time` and `chrono` end before the year
//! 292,278,994.

use crate::text::quoted;
use crate::units::Timestamp;

const DAY_MILLIS: i64 = 86_400_000;

/// Parses the timestamp of a cell: milliseconds since 1970, or ISO 8601.
///
/// ```
/// let time = cells::parse_time(b"2023-11-14T22:13:20Z");
/// assert_eq!(time, Ok(cells::Timestamp::new(1_700_000_000_000)));
/// assert_eq!(cells::parse_time(b"1700000000000"), time);
/// ```
///
/// # Errors
///
/// A message if it is neither, could be a date without separators, or is before 1970, which HBase does not accept.
pub fn parse_time(text: &[u8]) -> Result<Timestamp, String> {
    let trimmed = text.trim_ascii();
    let digits = trimmed.strip_prefix(b"-").unwrap_or(trimmed);
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    if is_number && could_be_date(trimmed) {
        let number = String::from_utf8_lossy(trimmed);
        return Err(format!(
            "{} could be a date or milliseconds since 1970; write a date as 2023-11-14, or milliseconds as 0{number}",
            quoted(text)
        ));
    }
    let millis = if is_number {
        std::str::from_utf8(trimmed).ok().and_then(|number| number.parse().ok())
    } else {
        parse_iso(trimmed).map(|time| time.millis)
    };
    match millis {
        Some(millis @ 0..) => Ok(Timestamp::new(millis)),
        Some(_) => {
            Err(format!("{} is a time before 1970, which HBase does not accept", quoted(text)))
        }
        None => {
            Err(format!("{} is neither milliseconds since 1970 nor an ISO 8601 time", quoted(text)))
        }
    }
}

/// Returns whether a number could be meant as a year or as a date without separators.
fn could_be_date(number: &[u8]) -> bool {
    matches!(number.first(), Some(b'1'..=b'9')) && matches!(number.len(), 4 | 8)
}

/// An ISO 8601 time.
#[derive(Clone, Copy)]
pub(crate) struct IsoTime {
    /// Milliseconds since 1970.
    pub(crate) millis: i64,
    /// Whether the text has digits other than zero after the milliseconds.
    pub(crate) has_finer_digits: bool,
}

/// Parses an ISO 8601 time; `None` if the text is invalid.
pub(crate) fn parse_iso(text: &[u8]) -> Option<IsoTime> {
    let mut parser = TimeParser { rest: text, has_finer_digits: false };
    let year = parser.number(4)?;
    let month = parser.byte(b"-").and_then(|_| parser.number(2))?;
    let day = parser.byte(b"-").and_then(|_| parser.number(2))?;
    if !(1..=12).contains(&month) || !(1..=days_in_month(year, month)).contains(&day) {
        return None;
    }
    let mut millis = days_since_1970(year, month, day) * DAY_MILLIS;
    if parser.byte(b"Tt ").is_some() {
        // The offset follows the time of day.
        let of_day = parser.time()?;
        millis += of_day - parser.offset()?;
    }
    let TimeParser { rest, has_finer_digits } = parser;
    rest.is_empty().then_some(IsoTime { millis, has_finer_digits })
}

/// Returns a time in milliseconds since 1970 as ISO 8601: in UTC, with milliseconds.
///
/// Years outside of 0 to 9999 have a sign and at least six digits, as the standard demands.
///
/// ```
/// assert_eq!(cells::time_text(1_700_000_000_123), "2023-11-14T22:13:20.123Z");
/// ```
pub fn time_text(millis: i64) -> String {
    let of_day = millis.rem_euclid(DAY_MILLIS);
    let (seconds, millis_of_second) = (of_day / 1000, of_day % 1000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let date = date_text(millis);
    format!("{date}T{hour:02}:{minute:02}:{second:02}.{millis_of_second:03}Z")
}

/// Returns the date of a time in milliseconds since 1970 as ISO 8601, in UTC and the Gregorian calendar.
///
/// ```
/// assert_eq!(cells::date_text(1_700_000_000_123), "2023-11-14");
/// ```
pub fn date_text(millis: i64) -> String {
    // The inverse of `days_since_1970`.
    let days = millis.div_euclid(DAY_MILLIS) + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    // Days of an era without its leap days: 1,460 is the last day of 4 years, 36,524 of a century.
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    match year {
        0..=9999 => format!("{year:04}-{month:02}-{day:02}"),
        _ => format!("{year:+07}-{month:02}-{day:02}"),
    }
}

/// A parser of times.
struct TimeParser<'t> {
    /// The text that is not yet parsed.
    rest: &'t [u8],
    /// Whether digits other than zero came after the milliseconds.
    has_finer_digits: bool,
}

impl TimeParser<'_> {
    /// Takes the next byte if it is one of `allowed`.
    fn byte(&mut self, allowed: &[u8]) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        if !allowed.contains(first) {
            return None;
        }
        self.rest = rest;
        Some(*first)
    }

    /// Takes a number of exactly `len` digits.
    fn number(&mut self, len: usize) -> Option<i64> {
        let (digits, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        digits.iter().try_fold(0, |number, digit| {
            digit.is_ascii_digit().then(|| number * 10 + i64::from(digit - b'0'))
        })
    }

    /// Takes a time of day, in milliseconds since midnight.
    fn time(&mut self) -> Option<i64> {
        let hour = self.number(2)?;
        let minute = self.byte(b":").and_then(|_| self.number(2))?;
        let mut millis = 0;
        let mut second = 0;
        if self.byte(b":").is_some() {
            second = self.number(2)?;
            if self.byte(b".,").is_some() {
                let len = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
                let (digits, rest) = self.rest.split_at(len);
                self.rest = rest;
                if len == 0 {
                    return None;
                }
                // Missing digits are zero.
                for place in 0..3 {
                    let digit = digits.get(place).map_or(0, |digit| i64::from(digit - b'0'));
                    millis = millis * 10 + digit;
                }
                self.has_finer_digits = digits.iter().skip(3).any(|digit| *digit != b'0');
            }
        }
        let is_time = hour < 24 && minute < 60 && second < 60;
        is_time.then_some(((hour * 60 + minute) * 60 + second) * 1000 + millis)
    }

    /// Takes an offset from UTC, in milliseconds, positive to the east. No offset means UTC.
    fn offset(&mut self) -> Option<i64> {
        if self.rest.is_empty() || self.byte(b"Zz").is_some() {
            return Some(0);
        }
        let sign = if self.byte(b"+-")? == b'-' { -1 } else { 1 };
        let hour = self.number(2)?;
        let minute = if self.rest.is_empty() {
            0
        } else {
            let _ = self.byte(b":");
            self.number(2)?
        };
        (hour < 24 && minute < 60).then_some(sign * (hour * 60 + minute) * 60_000)
    }
}

/// Returns the days since 1970-01-01 in the Gregorian calendar.
///
/// Computes with years that begin in March, so that the leap day is the last day of a year. An era
/// is 400 years, or 146,097 days; 1970-01-01 is day 719,468 since 0000-03-01. Howard Hinnant, "chrono-Compatible
/// Low-Level Date Algorithms": `days_from_civil`; [`date_text`] is `civil_from_days`.
const fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let march_year = if month <= 2 { year - 1 } else { year };
    let era = march_year.div_euclid(400);
    let year_of_era = march_year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

const fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected numbers are the output of `date -d TEXT +%s%3N`.
    #[test]
    fn times_are_milliseconds_or_iso_8601() {
        for (text, millis) in [
            ("0", 0),
            (" 1700000000000 ", 1_700_000_000_000),
            ("1970-01-01", 0),
            ("2000-02-29", 951_782_400_000),
            ("2023-11-14T22:13:20Z", 1_700_000_000_000),
            ("2023-11-14 22:13:20.5", 1_700_000_000_500),
            ("2023-11-14T23:13:20.123456+01:00", 1_700_000_000_123),
            ("2023-11-14T16:43:20-0530", 1_700_000_000_000),
            ("2023-11-15T00:13+02", 1_699_999_980_000),
            ("2100-03-01", 4_107_542_400_000),
        ] {
            assert_eq!(parse_time(text.as_bytes()), Ok(Timestamp::new(millis)), "{text}");
        }
    }

    /// The expected texts are the output of `date -u -d @SECONDS +%FT%T`.
    #[test]
    fn times_of_any_year_are_written_as_iso_8601() {
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
            assert_eq!(time_text(millis), expected, "{millis}");
            assert!(expected.starts_with(&format!("{}T", date_text(millis))), "{millis}");
        }
    }

    #[test]
    fn invalid_times_are_refused() {
        for text in [
            "",
            "now",
            "-",
            "14.11.2023",
            "2023-02-29",
            "2023-13-01",
            "2023-11-14T24:00",
            "2023-11-14T22:13:60",
            "2023-11-14T22:13:20.",
            "2023-11-14T",
            "2023-11-14T22:13:20 UTC",
            "20231114T221320Z",
            "99999999999999999999",
            "2023-11-14T22:13:20+1",
        ] {
            let error = parse_time(text.as_bytes()).expect_err(text);
            assert!(error.ends_with("nor an ISO 8601 time"), "{error}");
        }
        for text in ["2023", "20231114", " 1999 "] {
            let error = parse_time(text.as_bytes()).expect_err(text);
            assert!(error.contains("could be a date or milliseconds"), "{error}");
        }
        assert_eq!(parse_time(b"020231114"), Ok(Timestamp::new(20_231_114)));
        for text in ["-5", "1969-12-31T23:59:59Z"] {
            assert!(parse_time(text.as_bytes()).expect_err(text).contains("before 1970"));
        }
    }
}
