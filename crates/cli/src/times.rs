//! The times that `--min-ts` and `--max-ts` ask for.

use sstable::Timestamp;

use crate::failure::UsageError;

/// Returns the time from which and the one before which cells are wanted, as in HBase's `TimeRange`. Refuses
/// a range without times.
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
