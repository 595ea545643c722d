//! The value of `--error-rate`.

use filter::ErrorRate;

use crate::failure::UsageError;

/// Returns the error rate, which must be between 0 and 1.
pub(super) fn error_rate(rate: f64) -> Result<ErrorRate, UsageError> {
    ErrorRate::new(rate).map_err(|error| UsageError(error.to_string()))
}
