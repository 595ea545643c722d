//! The time range of `--min-ts` and `--max-ts`.

use sstable::Timestamp;

use crate::failure::UsageError;

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
