//! The time range of `--min-ts` and `--max-ts`.

use cells::parse_time;
use sstable::Timestamp;

use crate::failure::UsageError;

/// Parses a time: milliseconds since 1970, or ISO 8601.
///
/// Any number is milliseconds, also one of four or eight digits, which the timestamps of CSV could mean as a date.
pub(crate) fn time(text: &str) -> Result<i64, String> {
    text.parse().or_else(|_| {
        let time = parse_time(text.as_bytes()).map(Timestamp::get);
        time.map_err(|what| format!("{what}, such as 2023-11-14 or 2023-11-14T22:13:20Z"))
    })
}

/// Returns the start (inclusive) and end (exclusive) of the range, as in HBase's `TimeRange`.
///
/// Refuses an empty range.
pub(crate) fn time_range(
    min: Option<i64>,
    max: Option<i64>,
) -> Result<(Timestamp, Timestamp), UsageError> {
    let (from, before) = (min.unwrap_or(0), max.unwrap_or(Timestamp::LATEST.get()));
    if from >= before {
        return Err(UsageError(format!("--min-ts {from} must be less than --max-ts {before}")));
    }
    Ok((Timestamp::new(from), Timestamp::new(before)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_milliseconds_or_a_date() {
        for (text, millis) in [
            ("0", 0),
            ("2023", 2_023),
            ("1700000000000", 1_700_000_000_000),
            ("2023-11-14", 1_699_920_000_000),
            ("2023-11-14T22:13:20Z", 1_700_000_000_000),
        ] {
            assert_eq!(time(text), Ok(millis), "{text}");
        }
        let error = time("14.11.2023").expect_err("no ISO 8601");
        assert!(error.contains("ISO 8601 time, such as 2023-11-14"), "{error}");
    }
}
